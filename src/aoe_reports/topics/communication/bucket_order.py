"""Collectives of gradients that nothing hides: when their inputs were ready, why they started later, and what an earlier start would hide.

A collective is launched behind the kernels that produce its inputs, so these are ready when the last kernel that was launched before it has
ended. That it started later is the launch's doing, an earlier collective's of its group, or nothing tells. All-reduce and reduce-scatter
count as collectives of gradients: no timeline tells what is reduced.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aoe_reports.facts.breakdown import Activity, OfDevice
from aoe_reports.facts.launches import clocks_of
from aoe_reports.facts.spans import chosen_of
from aoe_reports.formats.spilled import Numbers
from aoe_reports.model.arrays.columns import Ints, Mask, distinct, exact_sum, order_by
from aoe_reports.model.arrays.intervals import Intervals, covered_each, union
from aoe_reports.model.rules import COMMUNICATION
from aoe_reports.model.texts import say
from aoe_reports.model.topics.communication import LATE_BECAUSE, LATE_WORDS, GradientCollective
from aoe_reports.topics.communication.facts import type_of_operator

GRADIENT_TYPES = frozenset({"allreduce", "reducescatter"})
MIN_SHARE = 0.01
BUCKET_ORDER = COMMUNICATION.rule(
    "bucket-order",
    "info",
    say(
        "collectives of gradients start later than their inputs are ready, and at least {share:.0%} of the time of the device would be hidden if they "
        "did not: a bound, as all ranks would have to",
        share=MIN_SHARE,
    ),
    "torch.nn.parallel.DistributedDataParallel: buckets are reduced in order, each when its gradients are ready",
)
_GROUP = re.compile(r"__(\w+?)_\d+(?:_\d+)?(?:@.*)?$", re.ASCII)
"""Exports of 2023 have one number behind the group (`hcom_allReduce__483_2`)."""


@dataclass(frozen=True, slots=True)
class BucketOrder:
    """The collectives of gradients of one device; ns."""

    device_id: int | None
    length_ns: int
    """From the first begin to the last end of what computes or communicates."""
    exposed_ns: int
    """The time of these collectives beside which nothing computes."""
    hidden_ns: int
    """How much of that would be hidden at most; what those of several groups expose at one time counts once."""
    collectives: tuple[GradientCollective, ...]
    """The exposed ones, those first of which most would be hidden."""
    rank_id: int | None = None

    @property
    def late_because(self) -> str:
        """What those that could be hidden waited for longest, together."""
        sums = dict.fromkeys(LATE_BECAUSE[:3], 0)
        for collective in self.collectives:
            if collective.hidden_ns:
                for cause, ns in zip(
                    sums, (collective.launch_ns, collective.earlier_ns, collective.unknown_ns), strict=True
                ):
                    sums[cause] += ns
        return say(LATE_WORDS[max(sums, key=sums.__getitem__) if any(sums.values()) else "not late"])


def bucket_orders(activity: Activity, step: int | None = None) -> list[BucketOrder]:
    """What the collectives of gradients of each device of a timeline, of one step or of all, could be hidden by; none where it has none."""
    orders = [_order_of(activity, device, step) for device in activity.of_devices() if device.told]
    return [order for order in orders if order is not None]


@dataclass(frozen=True, slots=True)
class _Late:
    """When each collective could start, and why it did later; ns."""

    ready: Ints
    producer: Ints
    launch: Ints
    earlier: Ints


def _order_of(activity: Activity, device: OfDevice, only: int | None) -> BucketOrder | None:
    tasks, talk = (_by_start(spans.whole()) for spans in (device.tasks, device.talk))
    names = [activity.word(number) or "" for number in talk["name"].tolist()]
    types = [type_of_operator(name) for name in names]
    steps = activity.steps_of(talk)
    wanted = np.asarray([one in GRADIENT_TYPES for one in types], dtype=bool)
    mine = np.flatnonzero(wanted if only is None else wanted & (steps == only))
    if not len(mine):
        return None
    lanes = _lanes(names)
    told, late = _lateness(activity, tasks, talk, lanes)
    computing = union(tasks["start"], tasks["end"])
    start, end = talk["start"][mine].astype(np.int64), talk["end"][mine].astype(np.int64)
    exposed = _exposed(computing, start, end)
    ready = np.where(told[mine], late.ready[mine], start)
    moved = _in_order(ready, start, end - start, lanes[mine])
    gains = np.clip(exposed - _exposed(computing, moved, moved + end - start), 0, exposed)
    alone = _exposed_once(computing, start, end)
    begun = np.where(gains > 0, moved, start)  # what gains nothing has no reason to start at another time
    collectives = [
        GradientCollective(
            op_name=names[place],
            op_type=types[place],
            step=int(steps[place]) if steps[place] >= 0 else None,
            start_ns=int(start[row]),
            duration_ns=int(end[row] - start[row]),
            exposed_ns=int(exposed[row]),
            ready_ns=int(ready[row]) if told[place] else None,
            producer=activity.word(int(late.producer[place])) if told[place] else None,
            late_ns=int(start[row] - ready[row]),
            launch_ns=int(late.launch[place]) if told[place] else 0,
            earlier_ns=int(late.earlier[place]) if told[place] else 0,
            unknown_ns=int(start[row] - ready[row] - late.launch[place] - late.earlier[place]) if told[place] else 0,
            hidden_ns=int(gains[row]),
        )
        for row, place in enumerate(mine.tolist())
        if exposed[row] > 0
    ]
    collectives.sort(key=lambda one: (-one.hidden_ns, -one.exposed_ns, one.start_ns, one.op_name))
    return BucketOrder(
        device_id=activity.number_of(device.pid),
        length_ns=_length(activity, (tasks, talk), only),
        exposed_ns=alone,
        hidden_ns=max(alone - _exposed_once(computing, begun, begun + end - start), 0),
        collectives=tuple(collectives),
    )


def _by_start(spans: Numbers) -> Numbers:
    return chosen_of(spans, order_by(spans["start"], spans["end"]))


def _exposed(computing: Intervals, start: Ints, end: Ints) -> Ints:
    found: Ints = end - start - covered_each(computing, start, end)
    return found


def _exposed_once(computing: Intervals, start: Ints, end: Ints) -> int:
    """The time of some collectives beside which nothing computes; what several of them do at one time counts once."""
    whole = union(start, end)
    return exact_sum(_exposed(computing, whole.starts, whole.ends))


def _length(activity: Activity, parts: Sequence[Numbers], only: int | None) -> int:
    """From the first begin to the last end, of what one step launched or of all."""
    mine = [part if only is None else chosen_of(part, activity.steps_of(part) == only) for part in parts]
    begins = [int(part["start"].min()) for part in mine if len(part["start"])]
    return max(int(part["end"].max()) for part in mine if len(part["end"])) - min(begins)


def _lanes(names: Sequence[str]) -> Ints:
    """A number for the group of each collective, as its name tells it (`hcom_allReduce__586_0_1`): collectives of a group run in order."""
    numbers: dict[str, int] = {}
    groups = (found[1] if (found := _GROUP.search(name)) else "" for name in names)
    return np.asarray([numbers.setdefault(group, len(numbers)) for group in groups], dtype=np.int64)


def _lateness(activity: Activity, tasks: Numbers, talk: Numbers, lanes: Ints) -> tuple[Mask, _Late]:
    """(of which collectives the launch is known, when each could start and why it did not)."""
    every = {name: np.concatenate([tasks[name].astype(np.int64), talk[name]]) for name in tasks}
    launches = activity.launches_of(every)
    known = launches.known
    shift, _ = clocks_of(every["start"] - launches.start, known, np.ones(len(known), dtype=bool))
    begun = launches.start + shift
    count = len(tasks["start"])
    start = talk["start"].astype(np.int64)
    ready, producer = _last_ends(begun[:count], tasks, known[:count], begun[count:])
    told = known[count:] & (producer >= 0)
    ready = np.minimum(ready, start)  # what started before does not depend on it
    launched = np.minimum(np.maximum(begun[count:], ready), start)
    before = _end_before(talk, lanes)
    free = np.minimum(np.maximum(before, launched), start)
    return told, _Late(ready, producer, launched - ready, free - launched)


def _last_ends(launched: Ints, tasks: Numbers, known: Mask, moments: Ints) -> tuple[Ints, Ints]:
    """(when the last of all tasks that were launched before each moment ended, the number of its name; -1 for none)."""
    order = np.flatnonzero(known)
    order = order[np.argsort(launched[order], kind="stable")]
    ends = tasks["end"][order].astype(np.int64)
    if not len(ends):
        return np.zeros(len(moments), dtype=np.int64), np.full(len(moments), -1, dtype=np.int64)
    reach = np.maximum.accumulate(ends)
    place = np.searchsorted(launched[order], moments, side="left") - 1
    latest = np.maximum.accumulate(np.where(ends == reach, np.arange(len(ends)), 0))
    at = np.maximum(place, 0)
    producer = np.where(place >= 0, tasks["name"][order][latest[at]], -1).astype(np.int64)
    return reach[at], producer


def _end_before(talk: Numbers, lanes: Ints) -> Ints:
    """When the operator of the same group before each, in the order of their begins, had ended; long ago where there is none."""
    found: Ints = np.full(len(lanes), -(2**62), dtype=np.int64)
    for lane in distinct(lanes).tolist():
        mine = np.flatnonzero(lanes == lane)
        found[mine[1:]] = np.maximum.accumulate(talk["end"][mine].astype(np.int64))[:-1]
    return found


def _in_order(ready: Ints, start: Ints, length: Ints, lanes: Ints) -> Ints:
    """When collectives would start if those of a group went one after the other, in the order in which they are ready; none later than it did."""
    found: Ints = np.zeros(len(ready), dtype=np.int64)
    free: dict[int, int] = {}
    for place in np.lexsort((start, ready)).tolist():
        lane = int(lanes[place])
        begin = max(int(ready[place]), free.get(lane, int(ready[place])))
        found[place] = min(begin, int(start[place]))
        free[lane] = max(free.get(lane, 0), int(found[place] + length[place]))
    return found
