"""Rules on what a timeline tells of the host: why the device waits for it, and sequences that a fused operator replaces."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from aoe_reports.facts.host_waits import HOST_CAUSES, WaitCause
from aoe_reports.model.by_key import lists_by_key
from aoe_reports.model.documents import Json
from aoe_reports.model.shares import share_or_zero
from aoe_reports.model.texts import capital, say
from aoe_reports.topics.advice.advice import Advice, Facts, Find, Rule, microseconds
from aoe_reports.topics.advice.thresholds import Thresholds
from aoe_reports.topics.host.causes import CAUSE_ADVICE, HostFacts, Replaceable


def _rule_of(cause: WaitCause) -> str:
    return f"host-{cause.replace(' ', '-')}"


def _waits_for(cause: WaitCause) -> Find:
    def find(facts: Facts, thresholds: Thresholds) -> Iterator[Advice]:
        waited, length = sum(one.by_cause.get(cause, 0) for one in facts.host), _length(facts)
        saving = _within_free(facts, waited)
        if not waited or waited < thresholds.least_step_share * length or _is_outside(facts, saving, thresholds):
            return
        longest = max(facts.host, key=lambda one: one.by_cause.get(cause, 0))
        evidence: dict[str, Json] = {
            "waited_us": microseconds(waited),
            "share_of_time": share_or_zero(waited, length),
            **_call_of(longest, cause),
            "source": longest.timeline,
        }
        yield Advice(_rule_of(cause), evidence, capital(say(CAUSE_ADVICE[cause])), saving)

    return find


def _is_outside(facts: Facts, saving_ns: int, thresholds: Thresholds) -> bool:
    """Whether too little of it is within the steps of a table: a timeline may be longer than they are together."""
    shares = facts.shares
    return shares.source == "step_trace_time" and saving_ns < thresholds.least_step_share * min(
        shares.step_ns or 0, _length(facts)
    )


def _call_of(host: HostFacts, cause: WaitCause) -> dict[str, Json]:
    """The call that was waited for longest, where one is recorded."""
    call = host.longest.get(cause)
    if call is None:
        return {}
    found: dict[str, Json] = {
        "call": call.name,
        "operator": call.operator,
        "calls": call.calls,
        "waited_in_call_us": microseconds(call.waited_ns),
    }
    if host.steps > 1:
        found |= {"calls_in_first_step": call.first_step_calls, "steps": host.steps}
    return found


def _fusible(facts: Facts, thresholds: Thresholds) -> Iterator[Advice]:
    """Sequences that one fused operator replaces, over all timelines: no more is gained than they are of the critical path."""
    by_api = lists_by_key((sequence.api, (sequence, host)) for host in facts.host for sequence in host.sequences)
    for mine in by_api.values():
        saving = _within_step(facts, sum(one.saving_ns for one, _ in mine))
        if saving and saving >= thresholds.least_step_share * _length(facts):
            yield _of_sequence(mine, saving)


def _length(facts: Facts) -> int:
    """How long all timelines of a device last."""
    return sum(host.length_ns for host in facts.host)


def _of_sequence(mine: Sequence[tuple[Replaceable, HostFacts]], saving: int) -> Advice:
    longest, host = max(mine, key=lambda pair: pair[0].saving_ns)
    on_path = [one.path_ns for one, _ in mine if one.path_ns is not None]
    sequence = " ".join(longest.types)
    evidence: dict[str, Json] = {
        "fused_operator": longest.api,
        "sequence": sequence,
        "span_us": microseconds(sum(one.span_ns for one, _ in mine)),
        "on_critical_path_us": microseconds(sum(on_path)) if len(on_path) == len(mine) else None,
        "source": host.timeline,
    }
    text = say(CAUSE_ADVICE["sequence"], api=longest.api, sequence=sequence, note=say(longest.note))
    return Advice(
        "fusible-sequence",
        evidence,
        text,
        saving,
        op_type=longest.types[0],
        count=sum(one.count for one, _ in mine),
        total_ns=sum(one.total_ns for one, _ in mine),
    )


def _optimizer(facts: Facts, thresholds: Thresholds) -> Iterator[Advice]:
    """Steps of optimizers that launch one operator after another while the device waits, over all timelines."""
    by_name = lists_by_key((call.name, (call, fused, host)) for host in facts.host for call, fused in host.optimizers)
    for name, mine in by_name.items():
        waited = sum(call.waited_ns for call, _, _ in mine)
        saving = _within_free(facts, waited)
        if not saving or saving < thresholds.least_operator_share * _length(facts):
            continue
        _, fused, longest = max(mine, key=lambda one: one[0].waited_ns)
        evidence: dict[str, Json] = {
            "call": name,
            "calls": sum(call.calls for call, _, _ in mine),
            "on_host_us": microseconds(sum(call.total_ns for call, _, _ in mine)),
            "waited_in_call_us": microseconds(waited),
            "fused_operator": fused,
            "source": longest.timeline,
        }
        text = say(
            "{fused} updates all parameters with few launches (op-plugin, API reference of torch_npu)", fused=fused
        )
        yield Advice("fused-optimizer", evidence, text, saving)


def _within_free(facts: Facts, waited_ns: int) -> int:
    """No more idle time can be saved than there is: in the steps of a table, or in all; steps that tasks tell leave out what lies between them."""
    shares = facts.shares
    if shares.free_ns is None or (shares.steps_known and shares.source != "step_trace_time"):
        return waited_ns
    return min(waited_ns, shares.free_ns)


def _within_step(facts: Facts, saving_ns: int) -> int:
    """A fused operator saves time of computing that nothing hides, and time between tasks."""
    shares = facts.shares
    if shares.free_ns is None:
        return saving_ns
    return min(saving_ns, shares.bound_saving_ns + shares.free_ns)


_TITLES: dict[WaitCause, tuple[str, str]] = {
    "garbage collection": (
        say("the device waits while Python collects garbage"),
        "A collection stops all threads, those that launch among them",
    ),
    "compilation": (
        say("the device waits while operators are compiled"),
        "What is compiled in a step is launched only behind that",
    ),
    "data loading": (
        say("the device waits for the next batch"),
        "A batch that is not there in time holds up all that is launched for it",
    ),
    "copying": (
        say("the device waits for copies between host and device"),
        "A copy that blocks lets the host launch nothing meanwhile",
    ),
    "synchronisation": (
        say("the device waits because the host waited for it"),
        "Behind a synchronisation the device has nothing to do until the next launch arrives",
    ),
    "launching": (
        say("the host launches more slowly than the device works"),
        "A device that is faster than its launches is idle between tasks",
    ),
}
_SOURCE = say("same as `host`: what threads that launch were in while the device was idle")

HOSTING_RULES = (
    *(
        Rule(_rule_of(cause), *_TITLES[cause], _SOURCE, ("least_step_share",), _waits_for(cause))
        for cause in HOST_CAUSES
    ),
    Rule(
        "fusible-sequence",
        say("a sequence of operators that one fused operator replaces"),
        "Each operator of a sequence is launched, and writes to memory what the next one reads",
        say("same as `host`: API reference of torch_npu (op-plugin); bound by the critical path, as `critical-path`"),
        ("least_step_share",),
        _fusible,
    ),
    Rule(
        "fused-optimizer",
        say("a step of an optimizer that has a fused form"),
        "An optimizer that updates tensor after tensor launches as many operators, while the device waits",
        say("same as `host`: API reference of torch_npu (torch_npu.optim)"),
        ("least_operator_share",),
        _optimizer,
    ),
)
