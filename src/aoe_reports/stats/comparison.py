"""Two or more captures held against each other: what every group of calls took before and after, and why it differs.

A difference of total times falls into three parts that add up to it exactly: calls with the same inputs that take longer
or shorter, more or fewer calls with the same inputs, and calls whose inputs (shapes, formats, data types) stand on one
side only.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa

from aoe_reports.formats.vendor import TASK_TYPES
from aoe_reports.model.arrays.columns import Ints, Mask, exact_sum, exact_sums_by, integers, keep_where
from aoe_reports.model.groupings import ComparedBy
from aoe_reports.stats.bootstrap import MIN_VALUES, difference_of_means
from aoe_reports.stats.grouping import Names, group_codes, is_communication, sorted_within

State = Literal["both", "new", "vanished"]
Cause = Literal[
    "same", "slower-calls", "faster-calls", "more-calls", "fewer-calls",
    "changed-shapes", "changed-formats", "changed-data-types", "changed-inputs", "new", "vanished",
]  # fmt: skip
LargestPart = Literal["same", "slower-calls", "faster-calls", "more-calls", "fewer-calls", "inputs"]
CAUSES_OF_CALLS: frozenset[LargestPart] = frozenset({"slower-calls", "faster-calls"})
"""Those of calls with the same inputs that take another time."""
Method = Literal["bootstrap", "normal"]

INPUTS: dict[str, Cause] = {
    "input_shapes": "changed-shapes",
    "input_formats": "changed-formats",
    "input_data_types": "changed-data-types",
}
"""What calls of one operator may differ in, and what it is called when it does."""

LEVEL = 0.95
RESAMPLES = 1000
MAX_RESAMPLED = 1000
"""From here on the means of resamples are as good as normally distributed, and that distribution is used itself."""
_Z = 1.959963984540054
"""The normal quantile that belongs to LEVEL."""


@dataclass(frozen=True, slots=True)
class Interval:
    """Where the difference of two means lies (ns), at LEVEL."""

    low: float
    high: float
    method: Method

    @property
    def holds_zero(self) -> bool:
        """Whether the scatter of the values alone explains the difference."""
        return self.low <= 0 <= self.high


@dataclass(frozen=True, slots=True)
class Difference:
    """One group of calls in the baseline and in a candidate; times in ns, a side without such calls has count 0."""

    key: tuple[str | None, ...]
    baseline_count: int
    candidate_count: int
    baseline_ns: int
    candidate_ns: int
    interval: Interval | None = None
    calls_ns: float | None = None
    """The part of the difference that calls with the same inputs make by taking longer (or shorter)."""
    count_ns: float | None = None
    """The part that more (or fewer) calls with the same inputs make."""
    inputs_ns: float | None = None
    """The part of calls whose inputs stand on one side only; null where the inputs are not known."""
    cause: Cause | None = None
    new_inputs: tuple[str, ...] = ()
    """Inputs that only the candidate has, those that take longest first."""
    vanished_inputs: tuple[str, ...] = ()

    @property
    def difference_ns(self) -> int:
        """Candidate - baseline."""
        return self.candidate_ns - self.baseline_ns

    @property
    def ratio(self) -> float | None:
        """`candidate / baseline` of the totals; null where there is no baseline."""
        return self.candidate_ns / self.baseline_ns if self.baseline_ns and self.baseline_count else None

    @property
    def state(self) -> State:
        """Whether such calls are on both sides."""
        return "new" if not self.baseline_count else "both" if self.candidate_count else "vanished"


@dataclass(frozen=True, slots=True)
class Side:
    """The calls of one capture: a row a call (`task_duration_ns`), or a row a type (`count`, `total_time_ns`)."""

    frame: pa.Table
    grouped: bool = False


@dataclass(frozen=True, slots=True)
class Compared:
    """The largest differences of one candidate, and the sums they are part of; times in ns."""

    differences: tuple[Difference, ...]
    groups: int
    baseline_ns: int
    candidate_ns: int
    common_ns: int | None
    """The time of the candidate's calls whose inputs the baseline has, too; null where inputs are not known."""

    @property
    def nothing_common(self) -> bool:
        """Whether it is known that no call of the one side has inputs that one of the other side has."""
        return self.groups > 0 and self.common_ns == 0 and self.candidate_ns != 0 and self.baseline_ns != 0


def compare_calls(sides: Sequence[Side], keys: Sequence[str], top: int) -> list[Compared]:
    """Every side after the first against the first; columns of words `keys`, the largest absolute change first."""
    inputs = [name for name in INPUTS if name not in keys and all(name in side.frame.column_names for side in sides)]
    tables = [side.frame.select([*keys, *inputs]) for side in sides]
    fine_of, fine = group_codes(pa.concat_tables(tables, promote_options="permissive"), [*keys, *inputs])
    groups = _groups_of(fine, len(keys), inputs, known=bool(inputs) or "input_shapes" in keys)
    starts = np.cumsum([0, *(table.num_rows for table in tables)])
    measured = [
        _measured(side, fine_of[begin:end], groups) for side, begin, end in zip(sides, starts, starts[1:], strict=False)
    ]
    return [_compared(measured[0], candidate, groups, top) for candidate in measured[1:]]


@dataclass(frozen=True, slots=True)
class _Groups:
    fine: Names
    keys: int
    inputs: Sequence[str]
    of_fine: Ints
    """The group of each fine one."""
    count: int
    first: Ints
    """The first fine one of each group, and how many fine ones there are."""
    told: Mask
    """Which fine ones have all their inputs told."""
    known: bool
    """Whether anything tells inputs."""
    ranks: list[Ints]
    """The place of each group by the words of each key."""


def _groups_of(fine: Names, keys: int, inputs: Sequence[str], *, known: bool) -> _Groups:
    of_fine, count = _coarse(fine.numbers[:keys], fine.count)
    first = np.searchsorted(of_fine, np.arange(count))
    of_inputs = fine.numbers[keys : keys + len(inputs)]
    return _Groups(
        fine=fine,
        keys=keys,
        inputs=inputs,
        of_fine=of_fine,
        count=count,
        first=np.append(first, fine.count),
        told=np.all([numbers > 0 for numbers in of_inputs], axis=0) if inputs else np.full(fine.count, known),
        known=known,
        ranks=[_ranks(numbers[first], words) for numbers, words in zip(fine.numbers[:keys], fine.words, strict=False)],
    )


@dataclass(frozen=True, slots=True)
class _Measured:
    fine: _Sums
    whole: _Sums
    values: Ints
    """The durations of all calls, sorted within each group; none where only sums are known."""
    bounds: Ints
    """Where the values of each group begin, and where those of the last end."""

    def values_of(self, group: int) -> Ints | None:
        """The sorted durations of one group."""
        return self.values[self.bounds[group] : self.bounds[group + 1]] if len(self.values) else None


def _measured(side: Side, fine_of: Ints, groups: _Groups) -> _Measured:
    fine = _sums(side, fine_of, groups.fine.count)
    whole = _Sums(*(exact_sums_by(groups.of_fine, values, groups.count) for values in (fine.count, fine.total)))
    values = starts = np.zeros(0, dtype=np.int64)
    if not side.grouped and side.frame.num_rows:
        durations, _ = integers(side.frame["task_duration_ns"])
        values, starts = sorted_within(groups.of_fine[fine_of], durations, groups.count)
    return _Measured(fine, whole, values, np.append(starts, len(values)))


def _compared(baseline: _Measured, candidate: _Measured, groups: _Groups, top: int) -> Compared:
    before, after = baseline.whole, candidate.whole
    there = (before.count > 0) | (after.count > 0)
    largest = _largest(np.abs(after.total - before.total), there, groups.ranks, top)
    both = (baseline.fine.count > 0) & (candidate.fine.count > 0)
    return Compared(
        tuple(_difference(group, baseline, candidate, groups) for group in largest),
        int(there.sum()),
        exact_sum(before.total),
        exact_sum(after.total),
        exact_sum(candidate.fine.total[both]) if groups.known and groups.told.all() else None,
    )


def choose_calls(frame: pa.Table, by: ComparedBy, *, all_tasks: bool = False) -> pa.Table:
    """The rows of a table of tasks that are compared: communication apart; sums by type as they are."""
    if "task_type" not in frame.column_names:
        return frame
    frame = _renamed(frame)
    if "task_duration_ns" not in frame.column_names:
        return frame
    communication = is_communication(frame["task_type"])
    if by == "communication":
        return frame.filter(keep_where(communication))
    if communication.any() and not all_tasks:
        return frame.filter(keep_where(~communication))
    return frame


def _renamed(frame: pa.Table) -> pa.Table:
    column = frame["task_type"]
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    if not column.num_chunks:
        return frame
    column = column.unify_dictionaries()
    words = column.chunk(0).dictionary.to_pylist()
    if TASK_TYPES.communication.isdisjoint(words) or TASK_TYPES.communication.issubset(words):
        return frame
    spelled = pa.array(["COMMUNICATION" if word in TASK_TYPES.communication else word for word in words], pa.string())
    chunks = [pa.DictionaryArray.from_arrays(chunk.indices, spelled) for chunk in column.chunks]
    return frame.set_column(frame.column_names.index("task_type"), "task_type", pa.chunked_array(chunks))


def compare_values(baseline: Sequence[int], candidate: Sequence[int], key: tuple[str | None, ...]) -> Difference:
    """Single values (ns) of one thing on two sides, such as the times of all steps."""
    sides = [np.sort(np.asarray(values, dtype=np.int64)) for values in (baseline, candidate)]
    interval = _interval(sides[0], sides[1])
    return Difference(key, len(baseline), len(candidate), sum(baseline), sum(candidate), interval)


@dataclass(frozen=True, slots=True)
class _Sums:
    count: Ints
    total: Ints


def _sums(side: Side, fine_of: Ints, groups: int) -> _Sums:
    if side.grouped:
        columns = (integers(side.frame[name])[0] for name in ("count", "total_time_ns"))
        return _Sums(*(exact_sums_by(fine_of, values, groups) for values in columns))
    durations, _ = integers(side.frame["task_duration_ns"])
    return _Sums(np.bincount(fine_of, minlength=groups), exact_sums_by(fine_of, durations, groups))


def _coarse(numbers: Sequence[Ints], fine: int) -> tuple[Ints, int]:
    """(group of each fine group, number of groups)."""
    if not fine:
        return np.zeros(0, dtype=np.int64), 0
    begins: Mask = np.zeros(fine, dtype=bool)
    for of_key in numbers:
        begins[1:] |= of_key[1:] != of_key[:-1]
    group_of: Ints = np.cumsum(begins)
    return group_of, int(group_of[-1]) + 1


def _largest(sizes: Ints, there: Mask, keys: Sequence[Ints], top: int) -> list[int]:
    """The `top` largest groups in order, ties by key."""
    present = np.flatnonzero(there)
    of_present = sizes[present]
    if top < len(present):
        least = np.sort(of_present)[len(present) - top]
        present, of_present = present[of_present >= least], of_present[of_present >= least]
    _, size = np.unique(of_present, return_inverse=True)  # lexsort takes no exact sums beyond int64
    order = np.lexsort([*(key[present] for key in reversed(keys)), -size])
    return [int(group) for group in present[order][:top]]


def _ranks(numbers: Ints, words: Sequence[str]) -> Ints:
    """The rank of each group's word among all words; a missing word counts as an empty one."""
    place: Ints = np.zeros(len(words) + 1, dtype=np.int64)
    place[np.asarray(sorted(range(len(words)), key=words.__getitem__), dtype=np.int64) + 1] = np.arange(len(words)) + 1
    of_group: Ints = place[numbers]
    return of_group


@dataclass(frozen=True, slots=True)
class _Parts:
    baseline: _Sums
    candidate: _Sums
    begin: int
    end: int
    groups: _Groups

    def split(self) -> tuple[float, float, int]:
        """(what the same calls make by taking longer, what their number makes, what other inputs make)."""
        calls, count, other = [], [], 0
        for i in range(self.begin, self.end):
            before, after = int(self.baseline.total[i]), int(self.candidate.total[i])
            n_before, n_after = int(self.baseline.count[i]), int(self.candidate.count[i])
            if n_before and n_after:
                unchanged = before * n_after / n_before
                calls.append(after - unchanged)
                count.append(unchanged - before)
            else:
                other += after - before
        return math.fsum(calls), math.fsum(count), other

    def only(self, column: int, *, new: bool) -> tuple[str, ...]:
        """The words of one input that stand on one side only, those that take longest first."""
        sums = (self.baseline, self.candidate)
        mine, others = sums[new], sums[not new]
        here = slice(self.begin, self.end)
        numbers = self.groups.fine.numbers[self.groups.keys + column][here]
        present, of = np.unique(numbers, return_inverse=True)
        there, elsewhere = (exact_sums_by(of, side.count[here], len(present)) > 0 for side in (mine, others))
        totals = exact_sums_by(of, mine.total[here], len(present))
        words = self.groups.fine.words[self.groups.keys + column]
        only = [(-int(totals[i]), words[present[i] - 1]) for i in np.flatnonzero(there & ~elsewhere) if present[i]]
        return tuple(word for _, word in sorted(only))

    def changed(self) -> tuple[Cause, tuple[str, ...], tuple[str, ...]]:
        """(which input differs first, those only the candidate has, those only the baseline has)."""
        for column, name in enumerate(self.groups.inputs):
            new, vanished = self.only(column, new=True), self.only(column, new=False)
            if new or vanished:
                return INPUTS[name], new, vanished
        return "changed-inputs", (), ()  # the same words, put together in another way


def _difference(group: int, baseline: _Measured, candidate: _Measured, groups: _Groups) -> Difference:
    begin, end = int(groups.first[group]), int(groups.first[group + 1])
    key = groups.fine[begin][: groups.keys]
    sides = (baseline.whole, candidate.whole)
    counts = (int(sides[0].count[group]), int(sides[1].count[group]))
    totals = (int(sides[0].total[group]), int(sides[1].total[group]))
    if not (counts[0] and counts[1]):
        return Difference(key, *counts, *totals, cause="vanished" if counts[0] else "new")
    interval = _interval(baseline.values_of(group), candidate.values_of(group))
    parts = _Parts(baseline.fine, candidate.fine, begin, end, groups)
    measured = bool(groups.told[begin:end].all())
    calls, count, other = parts.split()
    if not measured and other:  # inputs are told of some calls only: no part of it can be called anything
        return Difference(key, *counts, *totals, interval)
    changed, new, vanished = parts.changed() if measured else (None, (), ())
    inputs = float(other) if measured else None
    cause = _cause(calls, count, other, changed, told=measured, scatters=interval is not None and interval.holds_zero)
    return Difference(key, *counts, *totals, interval, calls, count, inputs, cause, new, vanished)


def _cause(
    calls: float, count: float, other: int, changed: Cause | None, *, told: bool, scatters: bool
) -> Cause | None:
    part = largest_part(calls, count, other)
    if part == "inputs":
        return changed
    if part in CAUSES_OF_CALLS and scatters:
        return None
    return None if part in CAUSES_OF_CALLS and not told else part


def largest_part(calls_ns: float, count_ns: float, inputs_ns: float) -> LargestPart:
    """Which of the three parts of a difference is the largest, and which way it goes; `inputs` before number before times."""
    largest = max(abs(calls_ns), abs(count_ns), abs(inputs_ns))
    if largest < 1:  # less than a nanosecond is what division leaves
        return "same"
    if abs(inputs_ns) == largest:
        return "inputs"
    if abs(count_ns) == largest:
        return "more-calls" if count_ns > 0 else "fewer-calls"
    return "slower-calls" if calls_ns > 0 else "faster-calls"


def _interval(baseline: Ints | None, candidate: Ints | None) -> Interval | None:
    """Where candidate mean - baseline mean lies; values are sorted, so that their order in the files changes nothing."""
    if baseline is None or candidate is None or min(len(baseline), len(candidate)) < MIN_VALUES:
        return None
    sides = (baseline.astype(np.float64), candidate.astype(np.float64))
    if max(map(len, sides)) > MAX_RESAMPLED:
        apart = float(sides[1].mean() - sides[0].mean())
        error = float(sum(side.var() / len(side) for side in sides)) ** 0.5
        return Interval(apart - _Z * error, apart + _Z * error, "normal")
    low, high = difference_of_means(baseline, candidate, level=LEVEL, resamples=RESAMPLES)
    return Interval(low, high, "bootstrap")
