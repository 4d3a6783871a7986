"""Why a device waits for its host, or does more than it needs to: causes with evidence and what to try, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from aoe_reports.facts.host_activity import WaitingDevice
from aoe_reports.facts.host_calls import CallGroup
from aoe_reports.facts.host_waits import HOST_CAUSES, WaitCause, WaitingTime
from aoe_reports.model.by_key import lists_by_key
from aoe_reports.model.shares import share_or_zero
from aoe_reports.model.texts import N_, Text, count_of, say
from aoe_reports.model.time_units import times_in_one_unit
from aoe_reports.model.topics.host import Calls
from aoe_reports.topics.host.fused_operators import fused_optimizer
from aoe_reports.topics.host.sequences import FoundSequence

MIN_SHARE = 0.05
"""What takes less of the time of a device is no cause to do anything: launching alone takes some in every job."""
WAIT_WORDS = N_(
    {
        "garbage collection": "garbage collection",
        "compilation": "compilation",
        "data loading": "data loading",
        "copying": "copies between host and device",
        "synchronisation": "synchronisation",
        "launching": "launching",
        "event wait": "waiting for an event",
        "launched": "launched already",
        "unknown": "unknown",
    }
)
GROUP_WORDS = N_(
    {
        "garbage collection": "garbage collection",
        "compilation": "compilation",
        "data loading": "data loading",
        "copy": "copy",
        "synchronisation": "synchronisation",
        "SyncBN": "SyncBN",
        "optimizer": "optimizer",
    }
)
CAUSE_ADVICE = N_(
    {
        "garbage collection": (
            "Python stops all threads of the process while it collects: raise its thresholds (gc.set_threshold), call gc.freeze() behind the "
            "set-up, or collect between steps at fixed times (CANN, Ascend PyTorch Profiler: gc_detect_threshold)"
        ),
        "compilation": (
            "operators are compiled, or looked up, while the device waits: torch_npu.npu.set_compile_mode(jit_compile=False) uses compiled ones; "
            "with graphs, keep shapes fixed (Ascend Extension for PyTorch, set_compile_mode)"
        ),
        "data loading": (
            "the next batch is not there in time: more num_workers, pin_memory and prefetch_factor of the DataLoader, less work a sample, "
            "faster storage (PyTorch, torch.utils.data)"
        ),
        "copying": (
            "copies hold up what is launched: pin host memory and copy with non_blocking=True, prefetch the next batch on another stream, "
            "keep values on the device (PyTorch, pinned memory)"
        ),
        "synchronisation": (
            "the host waits for the device, and launches nothing meanwhile: call item(), print and comparisons of tensors less often, "
            "synchronise at the end of some steps only, leave out ASCEND_LAUNCH_BLOCKING=1"
        ),
        "launching": (
            "the host launches more slowly than the device computes: bind it to cores of the card's NUMA node (CPU_AFFINITY_CONF), "
            "TASK_QUEUE_ENABLE=2, fused operators, graphs, a larger batch (Ascend Extension for PyTorch, environment variables)"
        ),
        "sequence": "{api} replaces {sequence}: {note} (op-plugin, API reference of torch_npu)",
    }
)
UNFUSED = N_("unfused operators")


@dataclass(frozen=True, slots=True)
class Replaceable:
    """Sequences of tasks that one fused operator replaces; ns."""

    api: str
    note: str
    types: tuple[str, ...]
    """Those of the most frequent form."""
    count: int
    total_ns: int
    span_ns: int
    saving_ns: int
    """What it gives at most: the spans without the longest task of each, and no more than is on the critical path."""
    path_ns: int | None
    """How much of the critical path they are; null where it was not looked at."""


@dataclass(frozen=True, slots=True)
class HostFacts:
    """What one device waited for by its timeline, and which of its sequences could be fused; ns."""

    length_ns: int
    by_cause: Mapping[WaitCause, int]
    """Of HOST_CAUSES; nothing where it cannot be told."""
    longest: Mapping[WaitCause, Calls]
    """The call that the device waited for longest, where one is recorded."""
    steps: int
    """How many steps the host recorded."""
    optimizers: tuple[tuple[Calls, str], ...]
    """Steps of optimizers, each with its fused form, those that the device waited for longest first."""
    sequences: tuple[Replaceable, ...]
    timeline: str
    """The name of its file."""


def host_facts(
    device: WaitingDevice, step: int | None, steps: int, sequences: Sequence[Replaceable], timeline: str
) -> HostFacts | None:
    """The same of all the time of a device, or of one step; None where it has no such step."""
    whole = next((one for one in (device.whole, *device.steps) if one.step == step), None)
    if whole is None:
        return None
    by_cause = whole.by_cause if device.communication_known and whole.tasks > whole.launches_unknown else ()
    return HostFacts(
        length_ns=whole.length_ns,
        by_cause=dict(zip(HOST_CAUSES, by_cause, strict=False)),
        longest={
            cause: call for cause in HOST_CAUSES if (call := _longest(device, cause)) is not None and call.waited_ns
        },
        steps=steps,
        optimizers=tuple((call, fused) for call in device.calls if (fused := fused_optimizer(call.name)) is not None),
        sequences=tuple(sequences),
        timeline=timeline,
    )


def _longest(device: WaitingDevice, cause: WaitCause) -> Calls | None:
    """The call of a kind that the device waited for longest."""
    mine = (call for call in device.calls if call.group == _CALLED.get(cause))
    return max(mine, key=lambda one: one.waited_ns, default=None)


class Cause(NamedTuple):
    """One reason, in words; ns."""

    cause: Text
    time_ns: int
    share: float
    evidence: Text
    advice: Text


def causes_of(device: WaitingDevice, whole: WaitingTime, sequences: Sequence[FoundSequence], steps: int) -> list[Cause]:
    """The reasons that take enough of some time of a device, the longest first; none where what it waited for cannot be told."""
    causes: list[Cause] = []
    by_cause = whole.by_cause if device.communication_known else ()
    for cause, ns in zip(HOST_CAUSES, by_cause, strict=False):
        if ns >= MIN_SHARE * whole.length_ns and ns:
            evidence = _evidence(device, whole, cause, steps)
            causes.append(
                Cause(
                    say(WAIT_WORDS[cause]), ns, share_or_zero(ns, whole.length_ns), evidence, say(CAUSE_ADVICE[cause])
                )
            )
    return sorted([*causes, *causes_of_sequences(sequences, whole.length_ns)], key=lambda one: -one.time_ns)


def causes_of_sequences(sequences: Sequence[FoundSequence], length_ns: int) -> list[Cause]:
    """The fused operators whose sequences take enough of some time, what could save most first."""
    causes: list[Cause] = []
    known = lists_by_key((sequence.api, sequence) for sequence in sequences if sequence.api is not None)
    for api, mine in known.items():
        saving = min(sum(one.saving_ns for one in mine), length_ns)
        if saving >= MIN_SHARE * length_ns:
            causes.append(_of_sequence(api, mine, saving, share_or_zero(saving, length_ns)))
    return sorted(causes, key=lambda one: -one.time_ns)


def _evidence(device: WaitingDevice, whole: WaitingTime, cause: WaitCause, steps: int) -> Text:
    ns = whole.by_cause[HOST_CAUSES.index(cause)]
    share = share_or_zero(ns, whole.length_ns)
    idle = say("the device waited {time}, {share:.1%} of its time", time=_time(ns), share=share)
    longest = _longest(device, cause)
    if longest is not None and longest.waited_ns:
        calls = count_of(longest.calls, "{number} call of {name}", "{number} calls of {name}", name=_called(longest))
        often = calls
        if steps > 1 and longest.first_step_calls == longest.calls:
            often = say("{calls}, all in the first of {steps} steps", calls=calls, steps=steps)
        elif steps > 1:
            often = say("{calls} in {steps} steps", calls=calls, steps=steps)
        return say("{idle}; {calls}", idle=idle, calls=often)
    queue = (
        whole.launched if whole.step is None else None
    )  # that of a step begins with its first launch, behind its wait
    if cause == "launching" and queue is not None and queue.empty_share is not None:
        return say(
            "{idle}; for {empty:.1%} of the time no task waited to run, half of all began within {latency} of their launch",
            idle=idle,
            empty=queue.empty_share,
            latency=_time(queue.p50_ns),
        )
    return idle


_CALLED: Mapping[WaitCause, CallGroup] = {
    "garbage collection": "garbage collection",
    "compilation": "compilation",
    "data loading": "data loading",
    "copying": "copy",
    "synchronisation": "synchronisation",
}


def _called(calls: Calls) -> str:
    if not calls.operator:
        return calls.name
    return say("{name} for {operator}", name=calls.name, operator=calls.operator)


def _of_sequence(api: str, sequences: Sequence[FoundSequence], saving: int, share: float) -> Cause:
    count, total = sum(one.count for one in sequences), sum(one.total_ns for one in sequences)
    longest = max(sequences, key=lambda one: one.saving_ns)
    sequence = " ".join(longest.types)
    evidence = say(
        "{count:,} times {sequence}, together {total}; at most {saving} less, {share:.1%} of the time",
        count=count,
        sequence=sequence,
        total=_time(total),
        saving=_time(saving),
        share=share,
    )
    advice = say(CAUSE_ADVICE["sequence"], api=api, sequence=sequence, note=say(longest.note or ""))
    return Cause(say(UNFUSED), saving, share, evidence, advice)


def _time(ns: float) -> Text:
    (time,), unit = times_in_one_unit(ns)
    return say("{time} {unit}", time=time, unit=unit)
