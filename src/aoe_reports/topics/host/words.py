"""What `host` found, in words: what is not recorded, and the headline."""

from __future__ import annotations

from collections.abc import Sequence

from aoe_reports.facts.host_activity import WaitingDevice
from aoe_reports.facts.host_waits import HOST_CAUSES
from aoe_reports.model.shares import share_or_zero
from aoe_reports.model.texts import N_, Text, join, say
from aoe_reports.topics.host.causes import MIN_SHARE, UNFUSED, WAIT_WORDS
from aoe_reports.topics.host.host import HostCause, HostSequence, HostTime

TIMELINE = "timeline"
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


def headline_of(times: Sequence[HostTime], causes: Sequence[HostCause], sequences: Sequence[HostSequence]) -> str:
    """How much the device that waits most does so, and mostly for what; else what could be fused."""
    told = [time for time in times if time.waited_share is not None]
    wholes = [one for one in told if one.step is None] or told
    worst = max(wholes, key=lambda one: one.waited_share or 0.0, default=None)
    if worst is None:
        return _untold(times) if times else _of_tables(causes, sequences)
    return _with_event_waits(_of_host(worst, wholes, causes), worst)


def _of_host(worst: HostTime, wholes: Sequence[HostTime], causes: Sequence[HostCause]) -> str:
    several = len({(whole.run, whole.rank_id, whole.device_id) for whole in wholes}) > 1 and worst.rank_id is not None
    waited = (
        say("Rank {rank} waited {share:.1%} of its time for the host", rank=worst.rank_id, share=worst.waited_share)
        if several
        else say("The device waited {share:.1%} of its time for the host", share=worst.waited_share)
    )
    mine = [
        one for one in causes if (one.run, one.rank_id, one.device_id) == (worst.run, worst.rank_id, worst.device_id)
    ]
    if mine and mine[0].cause == say(UNFUSED):
        return say("{waited}. {evidence}.", waited=waited, evidence=mine[0].evidence)
    parts = {cause: getattr(worst, f"{cause.replace(' ', '_')}_ns") for cause in HOST_CAUSES}
    cause = max(parts, key=lambda one: parts[one])
    share = share_or_zero(parts[cause], worst.duration_ns)
    unknown = share_or_zero(worst.unknown_ns, worst.duration_ns)
    if unknown > share and unknown >= MIN_SHARE:
        return say(
            "{waited}; for {unknown:.1%} of its time it was idle for an unknown reason: launches are missing.",
            waited=waited,
            unknown=unknown,
        )
    if share < MIN_SHARE:
        return say("{waited}: no cause takes {least:.0%} of it.", waited=waited, least=MIN_SHARE)
    return say("{waited}, mostly for {cause} ({share:.1%}).", waited=waited, cause=say(WAIT_WORDS[cause]), share=share)


def _untold(times: Sequence[HostTime]) -> str:
    """Why it cannot be told whether devices wait for their host."""
    idle = max(times, key=lambda one: share_or_zero(one.idle_ns, one.duration_ns), default=None)
    if idle is None:
        return ""
    if idle.launches:
        return say(
            "It is unknown whether the device waits for the host: the device of the communication is not recorded."
        )
    said = say(
        "It is unknown whether the device waits for the host: no launches are recorded. It did nothing for {share:.1%} of its time.",
        share=share_or_zero(idle.idle_ns, idle.duration_ns),
    )
    return _with_event_waits(said, idle)


def _with_event_waits(said: str, time: HostTime) -> str:
    """With for how long the device waited for events, if that is long: no faster host shortens it."""
    share = share_or_zero(time.event_wait_ns, time.duration_ns)
    if share < MIN_SHARE:
        return said
    return say("{said} It waited {share:.1%} of its time for an event.", said=said, share=share)


def _of_tables(causes: Sequence[HostCause], sequences: Sequence[HostSequence]) -> str:
    """What tables of tasks tell where there is no timeline."""
    if not sequences:
        return ""
    told = say("It is unknown whether the device waits for the host: there is no timeline.")
    if not causes:
        return told
    first = max(causes, key=lambda one: one.share)
    return say("{told} {evidence}.", told=told, evidence=first.evidence)


def said_of_sequences(sequences: Sequence[HostSequence]) -> list[Text]:
    """What the bound of the table of sequences is, and which are told by tables."""
    tables = sorted({sequence.told_by for sequence in sequences} - {TIMELINE})
    bound = say(
        "Saves at most: from the first begin to the last end of each occurrence, without its longest task, as long as which a fused operator "
        "is taken to be. Share between tasks: the part of that time in which none of its tasks ran."
    )
    if not tables:
        return [bound]
    by_tables = say(
        "Sequences come from {tables}, in the order in which the device ran the tasks: what launched them, and whether the host was slow, is not "
        "known.",
        tables=join(", ", tables),
    )
    return [by_tables, bound]


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
