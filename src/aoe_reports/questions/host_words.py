"""What `host` found, in words: the causes with evidence and advice, what is not recorded, and the headline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from aoe_reports.facts.host_activity import Calls, WaitingDevice
from aoe_reports.facts.host_calls import CallGroup
from aoe_reports.facts.host_waits import HOST_CAUSES, WaitCause, WaitingTime
from aoe_reports.facts.sequences import FoundSequence
from aoe_reports.model.texts import N_, Text, count_of, say
from aoe_reports.model.time_units import times_in_one_unit
from aoe_reports.questions.host import HostCause, HostTime

MIN_SHARE = 0.05
"""What takes less of the time of a device is no cause to do anything: launching alone takes some in every job."""
_WAITS = N_(
    {
        "garbage collection": "garbage collection",
        "compilation": "compilation",
        "data loading": "data loading",
        "copying": "copies between host and device",
        "synchronisation": "synchronisation",
        "launching": "launching",
        "launched": "launched already",
        "unknown": "unknown",
    }
)
_GROUPS = N_(
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
_ADVICE = N_(
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
_ABSENT = N_(
    {
        "launches": "launches",
        "task queue": "task queue",
        "data loading": "data loading",
        "garbage collection": "garbage collection",
        "steps": "steps",
        "affinity": "threads by core",
        "copied bytes": "copied bytes",
    }
)


_UNFUSED = N_("unfused operators")


class Cause(NamedTuple):
    """One reason, in words; ns."""

    cause: Text
    time_ns: int
    share: float
    evidence: Text
    advice: Text


def causes_of(device: WaitingDevice, whole: WaitingTime, sequences: Sequence[FoundSequence], steps: int) -> list[Cause]:
    """The reasons that take enough of some time of a device, the longest first; none where what it waited for cannot be told."""
    found: list[Cause] = []
    by_cause = whole.by_cause if device.communication_known else ()
    for cause, ns in zip(HOST_CAUSES, by_cause, strict=False):
        if ns >= MIN_SHARE * whole.length_ns and ns:
            evidence = _evidence(device, whole, cause, steps)
            found.append(Cause(say(_WAITS[cause]), ns, _share(ns, whole.length_ns), evidence, say(_ADVICE[cause])))
    known: dict[str, list[FoundSequence]] = {}
    for one in sequences:
        if one.api is not None:
            known.setdefault(one.api, []).append(one)
    for api, mine in known.items():
        saving = min(sum(one.saving_ns for one in mine), whole.length_ns)
        if saving >= MIN_SHARE * whole.length_ns:
            found.append(_of_sequence(api, mine, saving, _share(saving, whole.length_ns)))
    return sorted(found, key=lambda one: -one.time_ns)


def _evidence(device: WaitingDevice, whole: WaitingTime, cause: WaitCause, steps: int) -> Text:
    ns = whole.by_cause[HOST_CAUSES.index(cause)]
    share = _share(ns, whole.length_ns)
    idle = say("the device waited {time}, {share:.1%} of its time", time=_time(ns), share=share)
    longest = max(
        (one for one in device.calls if one.group == _CALLED.get(cause)), key=lambda one: one.waited_ns, default=None
    )
    if longest is not None and longest.waited_ns:
        calls = count_of(longest.calls, "{number} call of {name}", "{number} calls of {name}", name=_called(longest))
        often = calls
        if steps > 1 and longest.first_step == longest.calls:
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


def _called(one: Calls) -> str:
    if not one.operator:
        return one.name
    return say("{name} for {operator}", name=one.name, operator=one.operator)


def _of_sequence(api: str, mine: Sequence[FoundSequence], saving: int, share: float) -> Cause:
    count, total = sum(one.count for one in mine), sum(one.total_ns for one in mine)
    longest = max(mine, key=lambda one: one.saving_ns)
    sequence = " ".join(longest.types)
    evidence = say(
        "{count:,} times {sequence}, together {total}; at most {saving} less, {share:.1%} of the time",
        count=count,
        sequence=sequence,
        total=_time(total),
        saving=_time(saving),
        share=share,
    )
    advice = say(_ADVICE["sequence"], api=api, sequence=sequence, note=say(longest.note or ""))
    return Cause(say(_UNFUSED), saving, share, evidence, advice)


def headline_of(times: Sequence[HostTime], causes: Sequence[HostCause]) -> str:
    """How much the device that waits most does so, and mostly for what; else what could be fused."""
    told = [one for one in times if one.waited_share is not None]
    wholes = [one for one in told if one.step is None] or told
    worst = max(wholes, key=lambda one: one.waited_share or 0.0, default=None)
    if worst is None:
        return _untold(times)
    several = len({(one.run, one.rank_id, one.device_id) for one in wholes}) > 1 and worst.rank_id is not None
    waited = (
        say("Rank {rank} waited {share:.1%} of its time for the host", rank=worst.rank_id, share=worst.waited_share)
        if several
        else say("The device waited {share:.1%} of its time for the host", share=worst.waited_share)
    )
    mine = [
        one for one in causes if (one.run, one.rank_id, one.device_id) == (worst.run, worst.rank_id, worst.device_id)
    ]
    if mine and mine[0].cause == say(_UNFUSED):
        return say("{waited}. {evidence}.", waited=waited, evidence=mine[0].evidence)
    parts = {cause: getattr(worst, f"{cause.replace(' ', '_')}_ns") for cause in HOST_CAUSES}
    cause = max(parts, key=lambda one: parts[one])
    share = _share(parts[cause], worst.duration_ns)
    unknown = _share(worst.unknown_ns, worst.duration_ns)
    if unknown > share and unknown >= MIN_SHARE:
        return say(
            "{waited}; for {unknown:.1%} of its time it did nothing and cannot be told why: launches are missing.",
            waited=waited,
            unknown=unknown,
        )
    if share < MIN_SHARE:
        return say("{waited}: no cause takes {least:.0%} of it.", waited=waited, least=MIN_SHARE)
    return say("{waited}, mostly for {cause} ({share:.1%}).", waited=waited, cause=say(_WAITS[cause]), share=share)


def _untold(times: Sequence[HostTime]) -> str:
    """Why it cannot be told whether devices wait for their host."""
    idle = max(times, key=lambda one: _share(one.idle_ns, one.duration_ns), default=None)
    if idle is None:
        return ""
    if idle.launches:
        return say("Whether the device waits for the host cannot be told: whose the communication is, is not known.")
    return say(
        "Whether the device waits for the host cannot be told: no launches are recorded. It did nothing for {share:.1%} of its time.",
        share=_share(idle.idle_ns, idle.duration_ns),
    )


def said_of_sequences() -> Text:
    """What the bound of the table of sequences is."""
    return say(
        "Saves at most: from the first begin to the last end of each occurrence, without its longest task, as long as which a fused operator "
        "is taken to be. Share between tasks: the part of that time in which none of its tasks ran."
    )


def not_recorded_of(device: WaitingDevice) -> list[str]:
    """What would be needed to tell more, and is not in the capture; where nothing of a kind happened that looks the same."""
    absent: list[str] = []
    if device.whole.launched is None:
        absent.append("launches")
    if device.task_queue is None:
        absent.append("task queue")
    absent += [group for group in ("data loading", "garbage collection") if group not in device.groups]
    if not device.steps:
        absent.append("steps")
    return [say(_ABSENT[one]) for one in [*absent, "affinity", "copied bytes"]]


def group_in_words(group: CallGroup) -> Text:
    """The name of a group of calls."""
    return say(_GROUPS[group])


def wait_in_words(cause: WaitCause) -> Text:
    """The name of a cause of idle time."""
    return say(_WAITS[cause])


def _share(part: int, whole: int) -> float:
    return round(part / whole, 6) if whole else 0.0


def _time(ns: float) -> Text:
    (time,), unit = times_in_one_unit(ns)
    return say("{time} {unit}", time=time, unit=unit)
