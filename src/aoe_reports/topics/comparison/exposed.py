"""What of a device's time nothing hides: each kernel's own time, communication while nothing computes, idle time by cause.

Each nanosecond is of one part: parts add up to what `breakdown` calls computing, communication not overlapped and free. Where a timeline has
steps, time begins with the first of them: the pause before its first task belongs to it as those between steps belong to the others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal

import numpy as np

from aoe_reports.facts.breakdown import Activity, OfDevice, part_time
from aoe_reports.facts.event_waits import waited_for_events
from aoe_reports.facts.host_calls import HostCall
from aoe_reports.facts.spans import SpansOf, chosen_of
from aoe_reports.formats.spilled import Numbers
from aoe_reports.model.arrays.columns import Ints, Mask, distinct_rows, exact_sum, is_among, order_by, places_by
from aoe_reports.model.arrays.intervals import Intervals, covered_each, union, united
from aoe_reports.model.topics.breakdown import Parts
from aoe_reports.topics.communication.facts import summed

WaitSource = Literal["timeline", "tasks", "steps"]
"""What tells the time of a device: its timeline, a table of tasks with times, a table of steps."""
IdleCause = Literal["host launch", "waiting for an event", "behind the launch", "unknown"] | HostCall
_ORDER: tuple[HostCall, ...] = ("garbage collection", "compilation", "data loading", "synchronisation")
"""Of calls around each other the first counts: what blocks the process, then the narrower one."""


@dataclass(frozen=True, slots=True)
class Ran:
    """What ran under one name: how often, for how long in all, and for how long of it nothing else hid it; ns."""

    calls: int
    total_ns: int
    alone_ns: int

    def __add__(self, other: Ran) -> Ran:
        """Both together."""
        return Ran(self.calls + other.calls, self.total_ns + other.total_ns, self.alone_ns + other.alone_ns)


@dataclass(frozen=True, slots=True)
class Exposed:
    """All time of one device; times in ns."""

    device_id: int | None
    told_by: WaitSource
    whole: Parts
    steps: int
    """How many steps there are; 0 where nothing tells."""
    kernels: Mapping[str, Ran] = field(default_factory=dict)
    """What computes, by name; of several at the same time that which began first. Nothing where a table tells more."""
    communication: Mapping[str, Ran] = field(default_factory=dict)
    """By operator; alone is it beside no computing, of several at the same time that which began first."""
    idle_ns: Mapping[IdleCause, int] = field(default_factory=dict)
    """Time in which nothing ran, by what was waited for."""


def exposed_of(
    activity: Activity, *, kernels: bool, left_out: Mapping[int | None, Collection[int]] = MappingProxyType({})
) -> list[Exposed]:
    """What each device of a timeline did not hide, by its number; with its kernels by name if they are wanted.

    `left_out` are steps by device, of the first and the last ones: nothing that they launched counts.
    """
    devices = activity.break_down(0, left_out)
    found = []
    for device, told in zip(activity.of_devices(), devices, strict=True):
        gone = left_out.get(told.device_id, ())
        every = device.tasks.whole(), device.talk.whole()
        tasks, talk = (chosen_of(spans, activity.not_of_steps(spans, gone)) for spans in every)
        computing = union(tasks["start"], tasks["end"])
        busy = united(computing, union(talk["start"], talk["end"]))
        whole = _since(told.whole, _begin(activity, every, told.whole, gone))
        found.append(
            Exposed(
                device_id=told.device_id,
                told_by="timeline",
                whole=whole,
                steps=len(told.steps),
                kernels=_ran(tasks, NOTHING_RAN, activity.word) if kernels else {},
                communication=_ran(talk, computing, activity.word) if device.told else {},
                idle_ns=_idle(activity, device, busy, whole.start_ns) if device.told else {},
            )
        )
    return found


def _begin(activity: Activity, every: Iterable[Numbers], whole: Parts, left_out: Collection[int]) -> int | None:
    """When the first step began on the host; after steps that are left out not before the device was done with them."""
    first = min((start for step, (start, _) in activity.steps_on_host.items() if step not in left_out), default=None)
    if first is None or not left_out:
        return first
    before = [spans["end"][spans["start"] < whole.start_ns] for spans in every]
    return max([first, *(int(ends.max()) for ends in before if len(ends))])


def _since(whole: Parts, begin_ns: int | None) -> Parts:
    """All time of a device from the begin of the first step on, if that is earlier."""
    if begin_ns is None or begin_ns >= whole.start_ns or not whole.tasks:
        return whole
    free = None if whole.free_ns is None else whole.free_ns + whole.start_ns - begin_ns
    return replace(whole, start_ns=begin_ns, free_ns=free)


def exposed_of_spans(tasks: Numbers, talk: Numbers, words: Sequence[str], steps: int) -> Exposed:
    """The same of a table of tasks, `words` by the numbers of the names in `talk`: nothing tells why the device was idle."""
    computing = union(tasks["start"], tasks["end"])
    whole = part_time(computing, union(talk["start"], talk["end"]), len(tasks["start"]), len(talk["start"]))
    return Exposed(
        device_id=None,
        told_by="tasks",
        whole=whole,
        steps=steps,
        communication=_ran(talk, computing, words.__getitem__),
        idle_ns={"unknown": whole.free_ns} if whole.free_ns else {},
    )


def together(several: Sequence[Exposed]) -> Exposed:
    """Several times of one device as one: iterations in files of their own, or rows of a table of steps; of copies one."""
    different = {(one.whole.start_ns, one.whole.end_to_end_ns, one.whole.computing_ns): one for one in several}
    if several[0].told_by == "timeline":
        several = list(different.values())
    if len(several) == 1:
        return several[0]
    wholes = [one.whole for one in several]
    idle = Counter[IdleCause]()
    for one in several:
        idle.update(one.idle_ns)
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
        kernels=_added(one.kernels for one in several),
        communication=_added(one.communication for one in several),
        idle_ns=idle,
    )


def _added(several: Iterable[Mapping[str, Ran]]) -> dict[str, Ran]:
    found: dict[str, Ran] = {}
    for one in several:
        for name, ran in one.items():
            found[name] = found[name] + ran if name in found else ran
    return found


_NOTHING = np.zeros(0, dtype=np.int64)
NOTHING_RAN = Intervals(_NOTHING, _NOTHING)


def alone(starts: Ints, ends: Ints, beside: Intervals) -> Ints:
    """How much of each span neither a span that began before it nor `beside` covers: together they are the union."""
    order = order_by(starts, -ends)
    found = np.zeros(len(starts), dtype=np.int64)
    if not len(order):
        return found
    begins, until = starts[order], ends[order]
    reach = np.maximum.accumulate(until)
    fresh = np.minimum(np.maximum(begins, np.append(begins[0], reach[:-1])), until)
    found[order] = until - fresh - covered_each(beside, fresh, until)
    return found


def _ran(spans: Numbers, beside: Intervals, word: Callable[[int], str | None]) -> dict[str, Ran]:
    """What ran, by name."""
    lengths, own = spans["end"] - spans["start"], alone(spans["start"], spans["end"], beside)
    found: dict[str, Ran] = {}
    for name, mine in places_by(spans["name"]):
        key = word(name) or ""
        ran = Ran(len(mine), exact_sum(lengths[mine]), exact_sum(own[mine]))
        found[key] = found[key] + ran if key in found else ran
    return found


def _idle(activity: Activity, device: OfDevice, busy: Intervals, begin_ns: int) -> dict[IdleCause, int]:
    """Time between what ran, and before it, by what the span behind it waited for: an event, before anything else."""
    if not len(busy):
        return {}
    starts, ends = np.append(min(begin_ns, int(busy.starts[0])), busy.ends[:-1]), busy.starts
    launched, thread = _launch_behind(activity, device, ends)
    known = thread > _NOBODY
    late = np.clip(np.where(known, launched, starts), starts, ends)
    events = _waited_for_events(activity, device, starts, ends)
    found: Counter[IdleCause] = Counter()
    found["waiting for an event"] = events.total
    found["unknown"] = exact_sum((ends - starts - covered_each(events, starts, ends))[~known])
    found["behind the launch"] = exact_sum((ends - late - covered_each(events, late, ends))[known])
    waits = known & (late > starts)
    others = activity.launching_threads(thread[known])
    feeder, entered = _fed(activity, thread, launched)
    cut = _until_others(activity, others, starts, np.where(thread < 0, starts, np.clip(entered, starts, late)), entered)
    for threads, mine in _by_threads(thread, feeder, waits):
        own = anyone = events
        spent = exact_sum(covered_each(events, starts[mine], late[mine]))
        for kind in _ORDER:
            every = kind == "garbage collection"
            own, anyone = (
                united(taken, _calls_of(activity, kind, of, every=every))
                for taken, of in ((own, set(threads)), (anyone, others | set(threads)))
            )
            until = exact_sum(covered_each(anyone, starts[mine], cut[mine]))
            until += exact_sum(covered_each(own, cut[mine], late[mine]))
            found[kind] += until - spent
            spent = until
        found["host launch"] += exact_sum((late - starts)[mine]) - spent
    return {cause: time for cause, time in found.items() if time}


def _waited_for_events(activity: Activity, device: OfDevice, starts: Ints, ends: Ints) -> Intervals:
    """When the streams of what begins behind gaps waited for events."""
    if not len(activity.event_waits):
        return NOTHING_RAN
    behind = _beginning_at(device.tasks, ends)
    launched = activity.launches_of(behind).start_or_0()
    return waited_for_events(
        activity.event_waits.whole(), starts[np.searchsorted(ends, behind["start"])], behind, launched
    )


def _calls_of(activity: Activity, kind: HostCall, threads: Collection[int], *, every: bool) -> Intervals:
    """When some threads, or all, were in calls of a kind."""
    calls = activity.waits[kind].where(lambda some: np.isin(some["thread"], sorted(threads)) | every)
    return union(calls["start"], calls["end"])


def _until_others(activity: Activity, threads: Collection[int], starts: Ints, ends: Ints, entered: Ints) -> Ints:
    """Until when calls of any thread that launches hold up what was entered then: not from the begin of one on that lasts beyond it.

    What a thread launches while another one is in a call did not wait for that. It may have for one that ended before: the thread that reads
    a value then starts the one of the backward pass.
    """
    cut = ends
    for kind in _ORDER:
        calls = _calls_of(activity, kind, threads, every=False)
        if len(calls):
            place = np.maximum(np.searchsorted(calls.starts, entered, side="left") - 1, 0)
            beyond = (calls.starts[place] < entered) & (calls.ends[place] > entered)
            cut = np.where(beyond, np.minimum(cut, calls.starts[place]), cut)
    until: Ints = np.maximum(cut, starts)
    return until


_NOBODY = -2
"""The thread of a span whose launch is not known; -1 is a thread that is not."""


def _launch_behind(activity: Activity, device: OfDevice, ends: Ints) -> tuple[Ints, Ints]:
    """(when what begins at each of some times was launched, by which thread): of several the one that was launched first."""
    launched, thread = np.zeros(len(ends), dtype=np.int64), np.full(len(ends), _NOBODY, dtype=np.int64)
    for spans in (device.tasks, device.talk):
        behind = _beginning_at(spans, ends)
        launches = activity.launches_of(behind)
        place = np.searchsorted(ends, behind["start"])
        order = order_by(launches.start, launches.thread)[::-1]  # the first is written last
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
    return spans.where(lambda some: is_among(some["start"], moments))


def _fed(activity: Activity, thread: Ints, launched: Ints) -> tuple[Ints, Ints]:
    """(who put what a thread launched into its queue, -1 for nobody, when that was, or when it was launched).

    A thread that launches what others put into a queue is late because they are: who entered something last before the launch.
    """
    feeder, entered = np.full(len(thread), -1, dtype=np.int64), launched.copy()
    queues = np.isin(thread, sorted(activity.emptying))
    queued = [chosen_of(some, np.argsort(some["start"], kind="stable")) for some in activity.queued.blocks()]
    if queued and queues.any():
        starts, threads = (np.concatenate([some[name] for some in queued]) for name in ("start", "thread"))
        order = np.argsort(starts, kind="stable")
        place = np.searchsorted(starts[order], launched, side="right") - 1
        feeds = queues & (place >= 0)
        feeder[feeds], entered[feeds] = threads[order][place[feeds]], starts[order][place[feeds]]
        entered[queues & ~feeds] = 0
    return feeder, entered


def _by_threads(thread: Ints, feeder: Ints, chosen: Mask) -> Iterable[tuple[list[int], Ints]]:
    """(threads of the host, places of the gaps that these were late for)."""
    places = np.flatnonzero(chosen)
    pairs, of = distinct_rows(thread[places], feeder[places])
    for number, pair in enumerate(zip(*(column.tolist() for column in pairs), strict=True)):
        yield [one for one in pair if one >= 0], places[of == number]
