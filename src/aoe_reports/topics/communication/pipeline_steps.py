"""The steps of a pipeline stage by stage, from timelines: what each computes, waits to receive, sends, and what is left.

A stage waits while it receives and nothing computes, as in the bubbles of step_trace_time, and before its first and after its last task of a
step: the others are still filling or draining the pipeline. A receive lasts until the data is there, so its transfer is within.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from aoe_reports.facts.breakdown import Activity, OfDevice
from aoe_reports.facts.spans import chosen_of
from aoe_reports.formats.spilled import Numbers
from aoe_reports.model.arrays.columns import Ints, Mask, distinct
from aoe_reports.model.arrays.intervals import Intervals, covered_each, union, without
from aoe_reports.model.pictures.pipeline import PieceKind, PipelineLane, PipelinePiece
from aoe_reports.model.rules import COMMUNICATION
from aoe_reports.model.texts import say
from aoe_reports.topics.communication.facts import Transfer, type_of_operator

PIXELS = 800
"""Stretches of a kind that are nearer than one of so many parts of a step are joined."""
MAX_PIECES = 4_000
PIPELINE_STEP = COMMUNICATION.rule(
    "pipeline-step",
    "info",
    say("how much of a step the stages of a pipeline wait, beside what its schedule has to"),
    "Narayanan et al., 2021: Efficient Large-Scale Language Model Training on GPU Clusters Using Megatron-LM; Huang et al., 2019: GPipe",
)
_BOTH = "batchsendrecv"
_RECEIVES, _SENDS = frozenset({"receive", _BOTH}), frozenset({"send", _BOTH})
_MIN = 2
_GROUP = re.compile(r"__(\w+?)_\d+(?:_\d+)?$", re.ASCII)
_KINDS: Mapping[int, PieceKind] = {1: "forward", -1: "backward", 0: "computing"}


@dataclass(frozen=True, slots=True)
class Peers:
    """Between which neighbours point-to-point operators of one rank go, by their names, as far as transfers tell: numbers within the group."""

    pairs: Mapping[str, tuple[int, int]]
    highest: int
    """The highest number that any transfer names; -1 for none."""

    @property
    def own(self) -> int | None:
        """The number of the rank itself, where it has a neighbour on each side."""
        numbers = [set(pair) for pair in self.pairs.values()]
        same = set.intersection(*numbers) if numbers else set()
        return same.pop() if len(same) == 1 else None

    def way(self, name: str, own: int | None, *, sends: bool) -> int:
        """1: to a later stage, -1: to an earlier one, 0: not told."""
        pair = self.pairs.get(name)
        if pair is None or own not in pair:
            return 0
        later = 1 if own == pair[0] else -1
        return later if sends else -later


@dataclass(frozen=True, slots=True, kw_only=True)
class StageStep:
    """One step of one stage; ns, on the clock of its timeline."""

    rank_id: int
    step: int | None
    groups: frozenset[str]
    """Of its point-to-point operators, as their names tell them."""
    start_ns: int
    end_ns: int
    busy_ns: int
    waiting_ns: int
    """To receive, while nothing computes."""
    sends: int
    receives: int
    forward: int | None
    """How many of them are from an earlier stage; null where that is not told of all."""
    is_batched: bool
    """Whether operators send and receive at once: how many micro-batches there are is not told."""
    highest: int
    pieces: tuple[PipelinePiece, ...]

    @property
    def length_ns(self) -> int:
        """From its first begin to its last end."""
        return self.end_ns - self.start_ns


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineStep:
    """One step of all stages of a pipeline that were read, in order."""

    step: int | None
    duration_ns: int
    """From the first begin of any stage to the last end."""
    lanes: tuple[PipelineLane, ...]
    micro_batches: int | None
    has_all_stages: bool
    """Whether no transfer names a rank of its group that was not read."""

    @property
    def waiting_share(self) -> Fraction:
        """The bubbles, of the step of all stages together."""
        return Fraction(sum(lane.waiting_ns for lane in self.lanes), self.duration_ns * len(self.lanes))

    @property
    def least_share(self) -> Fraction | None:
        """The bubbles of the schedule: (p - 1) / (m + p - 1) of a step, all stages and micro-batches alike, no transfer taking time."""
        count = len(self.lanes)
        if self.micro_batches is None or not self.has_all_stages:
            return None
        return Fraction(count - 1, self.micro_batches + count - 1)


def peers_of(transfers: Iterable[Transfer]) -> Peers:
    """Between which ranks operators go; those between stages that are no neighbours are left out: who of them is later is not told."""
    pairs: dict[str, tuple[int, int]] = {}
    highest = -1
    for transfer in transfers:
        if transfer.op_type in {"send", "receive"} and transfer.is_link and not transfer.is_example:
            low, high = sorted((transfer.source_rank, transfer.destination_rank))
            highest = max(highest, high)
            if high - low == 1:
                pairs[transfer.op_name] = low, high
    return Peers(pairs, highest)


def stage_steps(activity: Activity, rank_id: int, peers: Peers, step: int | None) -> list[StageStep]:
    """The steps of one timeline in which its rank sends to another or receives from it, or one of them."""
    devices = [device for device in activity.of_devices() if device.told]
    return [one for device in devices for one in _of_device(activity, device, rank_id, peers, step)]


@dataclass(frozen=True, slots=True)
class _Talk:
    """Point-to-point operators of one step."""

    start: Ints
    end: Ints
    way: Ints
    sends: Mask
    receives: Mask


def _of_device(
    activity: Activity, device: OfDevice, rank_id: int, peers: Peers, step: int | None
) -> Iterator[StageStep]:
    tasks, talk = device.tasks.whole(), device.talk.whole()
    words = {number: activity.word(number) or "" for number in distinct(talk["name"]).tolist()}
    types = {number: type_of_operator(word) for number, word in words.items()}
    numbers = talk["name"].tolist()
    sends = np.asarray([types[one] in _SENDS for one in numbers], dtype=bool)
    receives = np.asarray([types[one] in _RECEIVES for one in numbers], dtype=bool)
    of_task, of_talk = activity.steps_of(tasks), activity.steps_of(talk)
    both = distinct(of_talk[sends | receives]).tolist()
    for number in [one for one in both if one >= 0] or both:
        if step not in {None, number}:
            continue
        mine = of_talk == number
        chosen = mine & (sends | receives)
        names = [words[one] for one in talk["name"][chosen].tolist()]
        start, end = (talk[name][chosen].astype(np.int64) for name in ("start", "end"))
        ways = _ways(peers, names, start, sends[chosen])
        part = _Talk(start, end, ways, sends[chosen], receives[chosen])
        yield StageStep(
            rank_id=rank_id,
            step=number if number >= 0 else None,
            groups=frozenset(match[1] if (match := _GROUP.search(name)) else "" for name in names),
            is_batched=any(type_of_operator(name) == _BOTH for name in names),
            highest=peers.highest,
            **_times_of(chosen_of(tasks, of_task == number), chosen_of(talk, mine), part),
        )


def _ways(peers: Peers, names: Sequence[str], start: Ints, sends: Mask) -> Ints:
    """Where each operator goes. A rank with one neighbour is the first stage if it sends before it receives, else the last."""
    own = peers.own
    known = {peers.pairs[name] for name in names if name in peers.pairs}
    if own is None and len(known) == 1:
        own = next(iter(known))[0 if sends[int(np.argmin(start))] else 1]
    return np.asarray(
        [peers.way(name, own, sends=one) for name, one in zip(names, sends.tolist(), strict=True)], dtype=np.int64
    )


def _times_of(tasks: Numbers, every: Numbers, talk: _Talk) -> dict[str, Any]:
    """The times, counts and pieces of one step of a stage; `every` has all of its communication."""
    computing = union(tasks["start"].astype(np.int64), tasks["end"].astype(np.int64))
    start = min(int(part["start"].min()) for part in (tasks, every) if len(part["start"]))
    end = max(int(part["end"].max()) for part in (tasks, every) if len(part["end"]))
    grain = -(-(end - start) // PIXELS)
    receiving = union(talk.start[talk.receives], talk.end[talk.receives])
    waits = without(receiving, computing)
    sending = union(talk.start[talk.sends], talk.end[talk.sends])
    ways = talk.way[talk.receives]
    return {
        "start_ns": start,
        "end_ns": end,
        "busy_ns": computing.total,
        "waiting_ns": waits.total,
        "sends": int(talk.sends.sum()),
        "receives": int(talk.receives.sum()),
        "forward": None if (ways == 0).any() else int((ways > 0).sum()),
        "pieces": (
            *_stretches(computing, talk, grain),
            *_joined("waiting", waits.starts, waits.ends, np.arange(len(waits)), grain),
            *_joined("sending", sending.starts, sending.ends, np.arange(len(sending)), grain),
        ),
    }


def _cut(whole: Intervals, at: Ints) -> tuple[Ints, Ints]:
    """(starts, ends) of intervals cut at some times."""
    points = distinct(np.concatenate([whole.starts, whole.ends, at]))
    starts, ends = points[:-1], points[1:]
    inside = covered_each(whole, starts, ends) > 0
    return starts[inside], ends[inside]


def _stretches(computing: Intervals, talk: _Talk, grain: int) -> Iterator[PipelinePiece]:
    """Computing cut where something was received or is sent; what it is by where its input is from and its output goes."""
    times = np.concatenate([talk.start[talk.sends], talk.end[talk.receives]])
    ways = np.concatenate([talk.way[talk.sends], talk.way[talk.receives]])
    received = np.arange(len(times)) >= int(talk.sends.sum())
    order = np.lexsort((received, times))
    times, ways, received = times[order], ways[order], received[order]
    starts, ends = _cut(computing, times)
    place = np.searchsorted(times, starts, side="right")
    arrived = np.append(0, np.where(received, ways, 0))[place]
    leaves = np.append(np.where(received, 0, ways), 0)[place]
    way = np.where(arrived == leaves, arrived, np.where(arrived * leaves == 0, arrived + leaves, 0))
    for number, kind in _KINDS.items():
        mine = way == number
        yield from _joined(kind, starts[mine], ends[mine], place[mine], grain)


def _joined(kind: PieceKind, starts: Ints, ends: Ints, stretch: Ints, grain: int) -> Iterator[PipelinePiece]:
    """One piece for all of a stretch, for what is less than a grain behind it, and for stretches that are shorter."""
    of, now = -1, PipelinePiece(kind, 0, 0, 0)
    for start, end, number in zip(starts.tolist(), ends.tolist(), stretch.tolist(), strict=True):
        if now.busy_ns and start - now.end_ns < grain and (number == of or start - now.start_ns < grain):
            now = replace(now, end_ns=end, busy_ns=now.busy_ns + end - start)
            continue
        if now.busy_ns:
            yield now
        of, now = number, PipelinePiece(kind, start, end, end - start)
    if now.busy_ns:
        yield now


def pipeline_step(stages: Sequence[StageStep]) -> PipelineStep | None:
    """The slowest step of a run's pipelines; None where no two stages that were read send to each other."""
    found = [step for mine in _pipelines(stages) if (step := _step_of(mine)) is not None]
    return max(found, key=lambda one: one.duration_ns, default=None)


def _pipelines(stages: Sequence[StageStep]) -> Iterator[list[StageStep]]:
    """The stages of each pipeline in each step: ranks that have a group in common."""
    by_step: dict[int | None, dict[int, StageStep]] = {}
    for one in stages:
        of_step = by_step.setdefault(one.step, {})
        before = of_step.get(one.rank_id)
        of_step[one.rank_id] = one if before is None else max(before, one, key=lambda some: some.length_ns)
    for of_step in by_step.values():
        parts: list[tuple[frozenset[str], list[StageStep]]] = []
        for _, one in sorted(of_step.items()):
            apart = [part for part in parts if not part[0] & one.groups]
            same = [part for part in parts if part[0] & one.groups]
            groups = one.groups.union(*(part[0] for part in same))
            parts = [*apart, (groups, [*(some for part in same for some in part[1]), one])]
        yield from (sorted(mine, key=lambda one: one.rank_id) for _, mine in parts)


def _step_of(stages: Sequence[StageStep]) -> PipelineStep | None:
    sends, receives = (sum(counts) for counts in zip(*((stage.sends, stage.receives) for stage in stages), strict=True))
    start, end = min(stage.start_ns for stage in stages), max(stage.end_ns for stage in stages)
    # stages of one step run beside one another: if some do not, their clocks are apart
    together = max(stage.start_ns for stage in stages) < min(stage.end_ns for stage in stages)
    if len(stages) < _MIN or not sends or not receives or not together:
        return None
    grain = -(-(end - start) // PIXELS)
    while sum(len(stage.pieces) for stage in stages) > MAX_PIECES:
        stages = [replace(stage, pieces=tuple(_coarser(stage.pieces, grain))) for stage in stages]
        grain *= 2
    return PipelineStep(
        step=stages[0].step,
        duration_ns=end - start,
        lanes=tuple(_lane(stage, start, end) for stage in stages),
        micro_batches=_micro_batches(stages),
        has_all_stages=max(stage.highest for stage in stages) < len(stages),
    )


def _coarser(pieces: Sequence[PipelinePiece], grain: int) -> Iterator[PipelinePiece]:
    before: PipelinePiece | None = None
    for piece in pieces:
        if before is not None and before.kind == piece.kind and piece.start_ns - before.start_ns < grain:
            before = replace(before, end_ns=piece.end_ns, busy_ns=before.busy_ns + piece.busy_ns)
            continue
        if before is not None:
            yield before
        before = piece
    if before is not None:
        yield before


def _lane(step: StageStep, start: int, end: int) -> PipelineLane:
    """A stage within the step of all: until it begins, and when it is done, it waits."""
    outside = [(start, step.start_ns), (step.end_ns, end)]
    waits = [PipelinePiece("waiting", begin - start, until - start, until - begin) for begin, until in outside]
    pieces = [replace(some, start_ns=some.start_ns - start, end_ns=some.end_ns - start) for some in step.pieces]
    waiting = step.waiting_ns + end - start - step.length_ns
    return PipelineLane(
        rank_id=step.rank_id,
        busy_ns=step.busy_ns,
        waiting_ns=waiting,
        rest_ns=end - start - step.busy_ns - waiting,
        pieces=(*(some for some in waits if some.busy_ns), *pieces),
    )


def _micro_batches(stages: Sequence[StageStep]) -> int | None:
    """How many there are by the count of receives; None where stages disagree, as with several parts of a model on a stage."""
    if any(stage.is_batched for stage in stages):
        return None
    first, *inner, last = stages
    if first.receives:
        if any(one.receives % 2 for one in inner):
            return None
        each = {first.receives, last.receives, *(one.receives // 2 for one in inner)}
    else:  # nothing comes back: there is no backward
        each = {last.receives, *(one.receives for one in inner)}
    turned = first.forward or (last.forward is not None and last.forward != last.receives)
    return next(iter(each)) if len(each) == 1 and not turned else None
