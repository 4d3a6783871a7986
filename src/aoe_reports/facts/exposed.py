"""What of a device's time nothing hides: communication while nothing computes, by operator, and idle time, by cause.

Each nanosecond is of one part: parts add up to what `breakdown` calls communication not overlapped and free.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from aoe_reports.facts.breakdown import Activity, OfDevice, Parts, part_time
from aoe_reports.facts.communication import summed
from aoe_reports.facts.host_calls import HostCall
from aoe_reports.facts.spans import EVER, SpansOf, chosen_of
from aoe_reports.formats.spilled import Numbers
from aoe_reports.model.columns import Ints, Mask, exact_sum
from aoe_reports.model.intervals import Intervals, union, united

Told = Literal["timeline", "tasks", "steps"]
"""What tells the time of a device: its timeline, a table of tasks with times, a table of steps."""
IdleCause = Literal["host launch", "behind the launch", "unknown"] | HostCall
_ORDER: tuple[HostCall, ...] = ("garbage collection", "compilation", "data loading", "synchronisation")
"""Of calls around each other the first counts: what blocks the process, then the narrower one."""


@dataclass(frozen=True, slots=True)
class Exposed:
    """All time of one device; times in ns."""

    device_id: int | None
    told_by: Told
    whole: Parts
    steps: int
    """How many steps there are; 0 where nothing tells."""
    step_ns: tuple[int, ...] = ()
    """How long each of them took, from its first task to its last."""
    kernels: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """(count, total) of what computes, by name; nothing where a table tells more."""
    communication_ns: Mapping[str, int] = field(default_factory=dict)
    """What is not overlapped, by the operator that ran; of several at the same time that which began first."""
    communication_calls: Mapping[str, int] = field(default_factory=dict)
    idle_ns: Mapping[IdleCause, int] = field(default_factory=dict)
    """Time in which nothing ran, by what was waited for."""


def exposed_of(activity: Activity, *, kernels: bool) -> list[Exposed]:
    """What each device of a timeline did not hide, by its number; with its kernels by name if they are wanted."""
    steps = activity.break_down(0)
    found = []
    for device, told in zip(activity.of_devices(), steps, strict=True):
        tasks, talk = device.tasks.between(*EVER), device.talk.between(*EVER)
        computing = union(tasks["start"], tasks["end"])
        busy = united(computing, union(talk["start"], talk["end"]))
        words = [activity.word(number) or "" for number in np.unique(talk["name"]).tolist()]
        found.append(
            Exposed(
                device_id=told.device_id,
                told_by="timeline",
                whole=told.whole,
                steps=len(told.steps),
                step_ns=tuple(parts.end_to_end_ns for parts in told.steps.values()),
                kernels=_kernels(tasks, activity) if kernels else {},
                communication_ns=_by_operator(talk, computing, words) if device.told else {},
                communication_calls=_counts(talk, words) if device.told else {},
                idle_ns=_idle(activity, device, busy) if device.told else {},
            )
        )
    return found


def _kernels(tasks: Numbers, activity: Activity) -> dict[str, tuple[int, int]]:
    names, number, counts = np.unique(tasks["name"], return_inverse=True, return_counts=True)
    order = np.argsort(number, kind="stable")
    lengths = np.split((tasks["end"] - tasks["start"])[order], np.cumsum(counts)[:-1])
    return {
        activity.word(name) or "": (count, exact_sum(part))
        for name, count, part in zip(names.tolist(), counts.tolist(), lengths, strict=True)
    }


def exposed_of_spans(tasks: Numbers, talk: Numbers, words: list[str], steps: int) -> Exposed:
    """The same of a table of tasks, `words` by the numbers of the names in `talk`: nothing tells why the device was idle."""
    computing = union(tasks["start"], tasks["end"])
    whole = part_time(computing, union(talk["start"], talk["end"]), len(tasks["start"]), len(talk["start"]))
    words = [words[number] for number in np.unique(talk["name"]).tolist()]
    return Exposed(
        device_id=None,
        told_by="tasks",
        whole=whole,
        steps=steps,
        communication_ns=_by_operator(talk, computing, words),
        communication_calls=_counts(talk, words),
        idle_ns={"unknown": whole.free_ns} if whole.free_ns else {},
    )


def together(several: Sequence[Exposed]) -> Exposed:
    """Several times of one device as one: iterations in files of their own, or rows of a table of steps."""
    if len(several) == 1:
        return several[0]
    wholes = [one.whole for one in several]
    communication, calls, idle = Counter[str](), Counter[str](), Counter[IdleCause]()
    kernels: dict[str, tuple[int, int]] = {}
    for one in several:
        communication.update(one.communication_ns)
        calls.update(one.communication_calls)
        idle.update(one.idle_ns)
        for name, (count, total) in one.kernels.items():
            before = kernels.get(name, (0, 0))
            kernels[name] = before[0] + count, before[1] + total
    return Exposed(
        device_id=several[0].device_id,
        told_by=several[0].told_by,
        whole=Parts(
            start_ns=0,
            end_ns=sum(whole.end_to_end_ns for whole in wholes),
            tasks=sum(whole.tasks for whole in wholes),
            intervals=sum(whole.intervals for whole in wholes),
            computing_ns=sum(whole.computing_ns for whole in wholes),
            communication_ns=summed(whole.communication_ns for whole in wholes),
            overlapped_ns=summed(whole.overlapped_ns for whole in wholes),
            communication_not_overlapped_ns=summed(whole.communication_not_overlapped_ns for whole in wholes),
            free_ns=summed(whole.free_ns for whole in wholes),
        ),
        steps=sum(max(one.steps, 1) for one in several),
        step_ns=tuple(time for one in several for time in one.step_ns or (one.whole.end_to_end_ns,)),
        kernels=kernels,
        communication_ns=communication,
        communication_calls=calls,
        idle_ns=idle,
    )


_NOTHING = np.zeros(0, dtype=np.int64)


def _by_operator(talk: Numbers, computing: Intervals, words: list[str]) -> dict[str, int]:
    """Communication beside no computing, by operator."""
    order = np.lexsort((talk["name"], -talk["end"], talk["start"]))
    starts, ends = talk["start"][order], talk["end"][order]
    if not len(starts):
        return {}
    reach = np.maximum.accumulate(ends)
    fresh = np.maximum(starts, np.append(starts[0], reach[:-1]))  # behind all that began before
    there = fresh < ends
    alone = ends[there] - fresh[there] - covered_between(computing, fresh[there], ends[there])
    _, number = np.unique(talk["name"], return_inverse=True)
    of = number[order][there]
    return {word: exact_sum(alone[of == place]) for place, word in enumerate(words) if (of == place).any()}


def _counts(talk: Numbers, words: list[str]) -> dict[str, int]:
    _, number, counts = np.unique(talk["name"], return_inverse=True, return_counts=True)
    del number
    return dict(zip(words, counts.tolist(), strict=True))


def covered_between(intervals: Intervals, starts: Ints, ends: Ints) -> Ints:
    """How much of each time from a start to an end some intervals cover."""
    return _covered_before(intervals, ends) - _covered_before(intervals, starts)


def _covered_before(intervals: Intervals, times: Ints) -> Ints:
    """How much of all time before each of some times is covered."""
    if not len(intervals):
        return np.zeros(len(times), dtype=np.int64)
    before = np.append(0, np.cumsum(intervals.ends - intervals.starts))
    place = np.searchsorted(intervals.starts, times, side="right")
    last = np.maximum(place - 1, 0)
    inside = np.clip(times - intervals.starts[last], 0, intervals.ends[last] - intervals.starts[last])
    found: Ints = np.where(place > 0, before[last] + inside, 0)
    return found


def _idle(activity: Activity, device: OfDevice, busy: Intervals) -> dict[IdleCause, int]:
    """Time between what ran, by what the span behind it waited for."""
    starts, ends = busy.ends[:-1], busy.starts[1:]
    if not len(starts):
        return {}
    launched, thread = _launch_behind(activity, device, ends)
    known = thread > _NOBODY
    late = np.clip(np.where(known, launched, starts), starts, ends)
    found: Counter[IdleCause] = Counter()
    found["unknown"] = exact_sum((ends - starts)[~known])
    found["behind the launch"] = exact_sum((ends - late)[known])
    waits = known & (late > starts)
    for threads, mine in _by_threads(activity, thread, launched, waits):
        taken = Intervals(_NOTHING, _NOTHING)
        spent = 0
        for kind in _ORDER:
            calls = activity.waits[kind].where(_of_threads(threads, every=kind == "garbage collection"))
            taken = united(taken, union(calls["start"], calls["end"]))
            until = exact_sum(covered_between(taken, starts[mine], late[mine]))
            found[kind] += until - spent
            spent = until
        found["host launch"] += exact_sum((late - starts)[mine]) - spent
    return {cause: time for cause, time in found.items() if time}


def _of_threads(threads: list[int], *, every: bool) -> Callable[[Numbers], Mask]:
    """Which calls are of some threads, or all."""
    return lambda some: np.isin(some["thread"], threads) | every


_NOBODY = -2
"""The thread of a span whose launch is not known; -1 is a thread that is not."""


def _launch_behind(activity: Activity, device: OfDevice, ends: Ints) -> tuple[Ints, Ints]:
    """(when what begins at each of some times was launched, by which thread): of several the one that was launched first."""
    launched, thread = np.zeros(len(ends), dtype=np.int64), np.full(len(ends), _NOBODY, dtype=np.int64)
    for spans in (device.tasks, device.talk):
        behind = _beginning_at(spans, ends)
        launches = activity.launches_of(behind)
        place = np.searchsorted(ends, behind["start"])
        order = np.lexsort((launches.thread, launches.start))[::-1]  # the first is written last
        order = order[launches.known[order]]
        mine, at = place[order], launches.start[order]
        first = np.full(len(ends), np.iinfo(np.int64).max)
        np.minimum.at(first, mine, at)
        earlier = (thread == _NOBODY) | (first < launched)
        of = np.full(len(ends), _NOBODY, dtype=np.int64)
        of[mine] = launches.thread[order]
        better = earlier & (of > _NOBODY)
        launched[better], thread[better] = first[better], of[better]
    return launched, thread


def _beginning_at(spans: SpansOf, moments: Ints) -> Numbers:
    return spans.where(lambda some: np.isin(some["start"], moments))


def _by_threads(activity: Activity, thread: Ints, launched: Ints, chosen: Mask) -> Iterable[tuple[list[int], Ints]]:
    """(threads of the host, places of the gaps that these were late for).

    A thread that launches what others put into a queue is late because they are: who entered something last before the launch.
    """
    feeder = np.full(len(thread), -1, dtype=np.int64)
    queued = [chosen_of(some, np.argsort(some["start"], kind="stable")) for some in activity.queued.blocks()]
    if queued and activity.emptying:
        starts, threads = (np.concatenate([some[name] for some in queued]) for name in ("start", "thread"))
        order = np.argsort(starts, kind="stable")
        place = np.searchsorted(starts[order], launched, side="right") - 1
        feeds = np.isin(thread, sorted(activity.emptying)) & (place >= 0)
        feeder[feeds] = threads[order][place[feeds]]
    places = np.flatnonzero(chosen)
    pairs, of = np.unique(np.stack([thread[places], feeder[places]]), axis=1, return_inverse=True)
    for number, pair in enumerate(pairs.T.tolist()):
        yield [one for one in pair if one >= 0], places[of == number]
