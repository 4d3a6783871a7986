"""The two profiles of a verification: what each shows of every operator and step, under common numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from aoe_reports.facts.bounds import StepShares
from aoe_reports.facts.idle import step_of_tasks
from aoe_reports.model.arrays.columns import Ints, Mask, distinct, has_value, integers, keep_where, scalar, words_in
from aoe_reports.model.topics.steps import Step
from aoe_reports.stats.grouping import Names, group_codes, is_communication

KEYS = ("op_type", "op_name", "input_shapes")


@dataclass(frozen=True, slots=True)
class MeasuredSide:
    """One profile: the tasks that compute, the step (block) of each (-1 for none), the length of each step in ns.

    Of several captures that were taken one after another the blocks may be the captures; `step_ns` has the mean step of each then.
    """

    frame: pa.Table
    block_of: Ints
    step_ns: tuple[int, ...]
    shares: StepShares
    captures: int = 0
    """How many repeated captures the blocks are; 0: the blocks are steps."""
    parts: tuple[tuple[int, int], ...] = ()
    """(tasks, steps) of each of several captures, in the order of the tasks; () of one."""

    @property
    def blocks(self) -> int:
        """How many steps, or captures, the tasks are of."""
        return self.captures or len(self.step_ns)

    @property
    def step_us(self) -> float | None:
        """The mean length of a step; null: nothing tells it."""
        if self.step_ns:
            return sum(self.step_ns) / len(self.step_ns) / 1000
        return self.shares.step_us


@dataclass(slots=True)
class Both:
    """Operators (type, name, shapes) of both profiles under common numbers."""

    names: Names
    keys: tuple[str, ...]
    totals: list[Ints]
    counts: list[Ints]
    groups_of: list[Ints]
    captures_with: list[Mask]
    """Which captures of a side have an operator: a row an operator, a column a capture."""
    steps_with: list[Ints]
    """How many steps those captures have; all, of an operator that none has."""
    sides: tuple[MeasuredSide, MeasuredSide]

    def mean(self, side: int, group: int) -> float | None:
        """The mean time of a call in ns; null where there is none."""
        count = int(self.counts[side][group])
        return int(self.totals[side][group]) / count if count else None

    def key(self, group: int, name: str) -> str | None:
        """The word of one operator under one key."""
        return self.names[group][self.keys.index(name)] if name in self.keys else None

    def words(self, name: str) -> list[str | None]:
        """The word of every operator under one key."""
        if name not in self.keys:
            return [None] * self.names.count
        place = self.keys.index(name)
        words: list[str | None] = [None, *self.names.words[place]]
        return [words[number] for number in self.names.numbers[place].tolist()]

    def calls(self, group: int) -> float:
        """How often one operator is called in a step before, of the captures that have it: another may be of another kernel."""
        return int(self.counts[0][group]) / int(self.steps_with[0][group])

    @property
    def by_captures(self) -> bool:
        """Whether the blocks of both sides are repeated captures, so that they differ by all that captures differ by."""
        return all(side.captures for side in self.sides)

    @property
    def common(self) -> Mask:
        """The operators that are in both profiles."""
        found: Mask = (self.counts[0] > 0) & (self.counts[1] > 0)
        return found


def both_sides(before: MeasuredSide, after: MeasuredSide) -> Both:
    """Two profiles with their operators under common numbers."""
    keys = tuple(key for key in KEYS if all(key in side.frame.column_names for side in (before, after)))
    whole = pa.concat_tables([side.frame.select(keys) for side in (before, after)], promote_options="permissive")
    groups_of, names = group_codes(whole, keys)
    cut = before.frame.num_rows
    parts = [groups_of[:cut], groups_of[cut:]]
    totals, counts, present, steps = [], [], [], []
    for side, part in zip((before, after), parts, strict=True):
        durations, _ = integers(side.frame["task_duration_ns"])
        sums: Ints = np.zeros(names.count, dtype=np.int64)
        np.add.at(sums, part, durations)
        totals.append(sums)
        counts.append(np.bincount(part, minlength=names.count).astype(np.int64))
        having = _captures_with(side, part, names.count)
        each = np.asarray([steps for _, steps in side.parts] or [side.shares.steps], dtype=np.int64)
        present.append(having)
        steps.append(np.where(having.any(axis=1), having @ each, each.sum()))
    return Both(
        names=names,
        keys=keys,
        totals=totals,
        counts=counts,
        groups_of=parts,
        captures_with=present,
        steps_with=steps,
        sides=(before, after),
    )


def _captures_with(side: MeasuredSide, groups_of: Ints, count: int) -> Mask:
    """Which captures have which operator."""
    tasks = [number for number, _ in side.parts] or [len(groups_of)]
    having: Mask = np.zeros((count, len(tasks)), dtype=bool)
    having[groups_of, np.repeat(np.arange(len(tasks)), tasks)] = True
    return having


def called(side: MeasuredSide, name: str, other: str) -> MeasuredSide | None:
    """A side with one operator, or one kernel by its function, under another name and type; None where it is not there."""
    frame = side.frame
    found = [words_in(frame[key], {name}) for key in ("op_name", "op_type") if key in frame.column_names]
    mine = next((mask for mask in found if mask.any()), None)
    if mine is None:
        return None
    for key in ("op_name", "op_type"):
        if key in frame.column_names:
            words = pc.if_else(keep_where(mine), scalar(other), frame[key].cast(pa.string()))
            frame = frame.set_column(frame.column_names.index(key), key, words)
    return replace(side, frame=frame)


def repeated(parts: Sequence[MeasuredSide], *, by_captures: bool) -> MeasuredSide:
    """Several captures of one side as one; the blocks are the captures, or all their steps."""
    frame = pa.concat_tables([part.frame for part in parts], promote_options="permissive")
    shares = _summed([part.shares for part in parts])
    sizes = tuple((part.frame.num_rows, part.shares.steps) for part in parts)
    if by_captures:
        block_of = np.repeat(np.arange(len(parts), dtype=np.int64), [part.frame.num_rows for part in parts])
        means = [part.step_us for part in parts]
        lengths = tuple(round(us * 1000) for us in means if us is not None)
        known = lengths if len(lengths) == len(parts) else ()
        return MeasuredSide(frame, block_of, known, shares, captures=len(parts), parts=sizes)
    begins = np.cumsum([0, *(part.blocks for part in parts)])
    blocks = [
        np.where(part.block_of >= 0, part.block_of + begin, -1) for part, begin in zip(parts, begins, strict=False)
    ]
    lengths = tuple(ns for part in parts for ns in part.step_ns)
    return MeasuredSide(frame, np.concatenate(blocks), lengths, shares, parts=sizes)


def _summed(shares: Sequence[StepShares]) -> StepShares:
    """The sums over the steps of several captures; null if one of them lacks a value."""
    return replace(
        shares[0],
        steps=sum(share.steps for share in shares),
        computing_ns=sum(share.computing_ns for share in shares),
        steps_known=all(share.steps_known for share in shares),
        step_ns=_sum([share.step_ns for share in shares]),
        communication_not_overlapped_ns=_sum([share.communication_not_overlapped_ns for share in shares]),
        overlapped_ns=_sum([share.overlapped_ns for share in shares]),
        free_ns=_sum([share.free_ns for share in shares]),
    )


def _sum(parts: Sequence[int | None]) -> int | None:
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None


def common_share(both: Both) -> float | None:
    """The part of the time before that operators take which are in both profiles; null where nothing took any."""
    whole = int(both.totals[0].sum())
    return int(both.totals[0][both.common].sum()) / whole if whole else None


def same_workload_share(before: MeasuredSide, after: MeasuredSide) -> float:
    """The part of the time before that operators take which are in the other profile, too (name, type, shapes)."""
    return common_share(both_sides(before, after)) or 0.0


def side_of_tasks(tasks: pa.Table, steps: Sequence[Step], shares: StepShares) -> MeasuredSide:
    """One profile's side: tasks that compute, each with its step by the export's own column, else by when it began.

    `steps` are those of the same device. Tasks outside of all steps count in sums, and in no resample.
    """
    frame = tasks
    if "task_type" in tasks.column_names:
        talking = is_communication(tasks["task_type"])
        frame = tasks.filter(keep_where(~talking)) if talking.any() else tasks
    told = step_of_tasks(frame)
    if told is not None:
        block_of, lengths = _by_column(tasks, told[1], steps)
    else:
        block_of, lengths = _by_time(frame, steps)
    return MeasuredSide(frame, block_of, lengths, shares)


def _by_column(tasks: pa.Table, numbers: Ints, steps: Sequence[Step]) -> tuple[Ints, tuple[int, ...]]:
    """(the block of each task, the length of each block) by the step numbers beside the tasks."""
    present = distinct(numbers[numbers >= 0])
    block_of: Ints = np.where(numbers >= 0, np.searchsorted(present, numbers), -1)
    told = {step.step: step.duration_ns for step in steps}
    lengths = [told.get(int(number)) for number in present]
    if None in lengths:
        lengths = _spans(tasks, present)
    return block_of, tuple(int(ns) for ns in lengths if ns is not None)


def _by_time(frame: pa.Table, steps: Sequence[Step]) -> tuple[Ints, tuple[int, ...]]:
    """(the block of each task, the length of each block) by start times; no block where they are unknown."""
    timed = sorted((s for s in steps if s.start_ns is not None), key=lambda s: (s.start_ns or 0, s.duration_ns))
    if not timed or not has_value(frame, "task_start_ns"):
        none: Ints = np.full(frame.num_rows, -1, dtype=np.int64)
        return none, tuple(step.duration_ns for step in steps)
    starts, there = integers(frame["task_start_ns"])
    begins = np.asarray([step.start_ns for step in timed], dtype=np.int64)
    ends = begins + np.asarray([step.duration_ns for step in timed], dtype=np.int64)
    place = np.searchsorted(begins, starts, side="right") - 1
    inside = there & (place >= 0) & (starts < ends[np.maximum(place, 0)])
    used = distinct(place[inside])
    block_of: Ints = np.where(inside, np.searchsorted(used, place), -1)
    return block_of, tuple(timed[i].duration_ns for i in used.tolist())


def _spans(tasks: pa.Table, present: Ints) -> list[int | None]:
    """The time from the first to the last task of each step, if no table gives its length."""
    told = step_of_tasks(tasks)
    if told is None or not has_value(tasks, "task_start_ns"):
        return [None] * len(present)
    starts, _ = integers(tasks["task_start_ns"])
    ends = starts + integers(tasks["task_duration_ns"])[0]
    return [int(ends[told[1] == number].max() - starts[told[1] == number].min()) for number in present]
