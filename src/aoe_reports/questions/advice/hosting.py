"""Rules on what a timeline tells of the host: why the device waits for it, and sequences that a fused operator replaces."""

from __future__ import annotations

from collections.abc import Iterator

from aoe_reports.facts.host_causes import CAUSE_ADVICE, HostFacts, Replaceable
from aoe_reports.facts.host_waits import HOST_CAUSES, WaitCause
from aoe_reports.model.documents import Json
from aoe_reports.model.texts import capital, say
from aoe_reports.questions.advice.advice import Advice, Facts, Find, Rule, microseconds, share
from aoe_reports.questions.advice.thresholds import Thresholds


def _rule_of(cause: WaitCause) -> str:
    return f"host-{cause.replace(' ', '-')}"


def _waits_for(cause: WaitCause) -> Find:
    def find(facts: Facts, thresholds: Thresholds) -> Iterator[Advice]:
        waited = sum(one.by_cause.get(cause, 0) for one in facts.host)
        length = sum(one.length_ns for one in facts.host)
        if not waited or waited < thresholds.least_step_share * length:
            return
        longest = max(facts.host, key=lambda one: one.by_cause.get(cause, 0))
        evidence: dict[str, Json] = {
            "waited_us": microseconds(waited),
            "share_of_time": share(waited, length),
            **_call_of(longest, cause),
            "source": longest.timeline,
        }
        free = facts.shares.free_ns
        saving = waited if free is None else min(waited, free)
        yield Advice(_rule_of(cause), evidence, capital(say(CAUSE_ADVICE[cause])), saving)

    return find


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
        found |= {"calls_in_first_step": call.first_step, "steps": host.steps}
    return found


def _fusible(facts: Facts, thresholds: Thresholds) -> Iterator[Advice]:
    """Sequences that one fused operator replaces: no more is gained than they are of the critical path."""
    for host in facts.host:
        for one in host.sequences:
            saving = _within_step(facts, one.saving_ns)
            if saving and saving >= thresholds.least_step_share * host.length_ns:
                yield _of_sequence(one, host, saving)


def _of_sequence(one: Replaceable, host: HostFacts, saving: int) -> Advice:
    sequence = " ".join(one.types)
    evidence: dict[str, Json] = {
        "fused_operator": one.api,
        "sequence": sequence,
        "span_us": microseconds(one.span_ns),
        "on_critical_path_us": None if one.path_ns is None else microseconds(one.path_ns),
        "source": host.timeline,
    }
    text = say(CAUSE_ADVICE["sequence"], api=one.api, sequence=sequence, note=say(one.note))
    return Advice(
        "fusible-sequence", evidence, text, saving, op_type=one.types[0], count=one.count, total_ns=one.total_ns
    )


def _optimizer(facts: Facts, thresholds: Thresholds) -> Iterator[Advice]:
    """Steps of optimizers that launch one operator after another while the device waits."""
    for host in facts.host:
        for call, fused in host.optimizers:
            if call.waited_ns and call.waited_ns >= thresholds.least_operator_share * host.length_ns:
                evidence: dict[str, Json] = {
                    "call": call.name,
                    "calls": call.calls,
                    "on_host_us": microseconds(call.total_ns),
                    "waited_in_call_us": microseconds(call.waited_ns),
                    "fused_operator": fused,
                    "source": host.timeline,
                }
                text = say(
                    "{fused} updates all parameters with few launches (op-plugin, API reference of torch_npu)",
                    fused=fused,
                )
                free = facts.shares.free_ns
                yield Advice(
                    "fused-optimizer", evidence, text, call.waited_ns if free is None else min(call.waited_ns, free)
                )


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
        "A device that is quicker than its launches is idle between tasks",
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
