"""Where device time goes: tasks grouped by operator type, operator or shape."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from aoe_reports.formats.tasks import calls_of
from aoe_reports.formats.vendor import TASK_TYPES
from aoe_reports.model.arrays.columns import Dictionary, Ints, Mask, SomeRows, codes, integers, words_in


@dataclass(frozen=True, slots=True)
class Group:
    """The tasks of one group; times in ns: exact sums, quantiles linearly interpolated, std of the sample."""

    key: tuple[str | None, ...]
    count: int
    total_ns: int
    min_ns: int | None
    max_ns: int | None
    mean_ns: float
    std_ns: float | None = None
    p50_ns: float | None = None
    p95_ns: float | None = None
    values_ns: tuple[int, ...] | None = None
    """The single times in their order, where they were asked for."""


def is_communication(task_type: pa.ChunkedArray) -> Mask:
    """Where a task is communication."""
    return words_in(task_type, TASK_TYPES.communication)


def has_communication(tasks: pa.Table) -> bool:
    """Whether any task is communication; not without a column of types of tasks."""
    return "task_type" in tasks.column_names and bool(is_communication(tasks["task_type"]).any())


def group_tasks(
    tasks: pa.Table | SomeRows, keys: Sequence[str], top: int | None = None, most_values: int = 0
) -> list[Group]:
    """Tasks (`task_duration_ns` and columns of words `keys`) grouped; the longest total first, ties by key.

    With `top` only so many groups are made. Groups of at most `most_values` tasks carry the single times, unless the rows are `alike`:
    such rows count as often as they have `calls`.
    """
    return group_and_count(tasks, keys, top, most_values)[0]


def group_and_count(
    tasks: pa.Table | SomeRows, keys: Sequence[str], top: int | None = None, most_values: int = 0
) -> tuple[list[Group], int]:
    """The same, and how many groups there are without `top`."""
    if tasks.num_rows == 0:
        return [], 0
    groups_of, names = group_codes(tasks, keys)
    ordered, starts, calls = _ordered_within(
        groups_of, integers(tasks["task_duration_ns"])[0], names.count, calls_of(tasks)
    )
    bounds = np.append(starts, len(ordered))
    counts = np.diff(bounds) if calls is None else np.add.reduceat(calls, starts)
    if int(ordered.max()) * int(counts.sum()) >= _INT64_MAX:
        ordered = ordered.astype(object)  # slow, and exact
    times = ordered if calls is None else ordered * calls
    totals = np.add.reduceat(times, starts, dtype=None if ordered.dtype == object else np.int64)
    del times
    singly = most_values > 0 and calls is None
    in_time = integers(tasks["task_duration_ns"])[0][_order_in_time(tasks, groups_of)] if singly else ordered
    del groups_of  # 4 bytes a task
    groups = []
    for i in largest(totals, top):
        count, start, end = int(counts[i]), int(bounds[i]), int(bounds[i + 1])
        values = ordered[start:end] if calls is None else Repeated(ordered[start:end], calls[start:end])
        mean = float(totals[i] / count)
        groups.append(
            Group(
                key=names[i],
                count=count,
                total_ns=int(totals[i]),
                min_ns=int(ordered[start]),
                max_ns=int(ordered[end - 1]),
                mean_ns=mean,
                std_ns=float((_squares(values, mean, 0, len(values)) / (len(values) - 1)) ** 0.5)
                if count > 1
                else None,
                p50_ns=quantile(values, 0.5),
                p95_ns=quantile(values, 0.95),
                values_ns=tuple(in_time[start:end].tolist()) if singly and count <= most_values else None,
            )
        )
    return in_order(groups)[:top], names.count


class Repeated:
    """Sorted values that occur several times each, as if every one stood there."""

    def __init__(self, values: Ints, calls: Ints) -> None:
        self._values = values
        self._ends = np.cumsum(calls)

    def __len__(self) -> int:
        return int(self._ends[-1])

    def __getitem__(self, place: int | slice) -> Any:
        """One value, or those from one place to another as they would stand there."""
        if not isinstance(place, slice):
            return self._values[np.searchsorted(self._ends, place, side="right")]
        start, stop, _ = place.indices(len(self))
        first, last = np.searchsorted(self._ends, [start, stop - 1], side="right").tolist()
        ends = np.minimum(self._ends[first : last + 1], stop)
        return np.repeat(self._values[first : last + 1], np.diff(ends, prepend=start))


Ordered = Ints | Repeated
"""Sorted values."""


def _squares(ordered: Ordered, mean: float, start: int, count: int) -> Any:
    """The sum of the squares of what some values are apart from the mean.

    Halves are added as numpy adds them, to the same digit, and few values are held at a time.
    """
    if count > _AT_ONCE:
        half = count // 2 - count // 2 % 8
        return _squares(ordered, mean, start, half) + _squares(ordered, mean, start + half, count - half)
    apart = ordered[start : start + count].astype(np.float64)
    apart -= mean
    apart *= apart
    return apart.sum()


_AT_ONCE = 1 << 16


def _order_in_time(tasks: pa.Table | SomeRows, groups_of: Ints) -> Ints:
    """The rows by group and start time, else in file order."""
    if "task_start_ns" not in tasks.column_names:
        return np.argsort(groups_of, kind="stable")
    return np.lexsort((integers(tasks["task_start_ns"])[0], groups_of))


def largest(totals: Ints, top: int | None) -> list[int]:
    """The groups among the `top` largest totals; all that tie with the last of them, so that keys may decide."""
    if top is None or top >= len(totals):
        return list(range(len(totals)))
    least = np.partition(totals, len(totals) - top)[len(totals) - top]
    return np.flatnonzero(totals >= least).tolist()


def statistic_groups(statistic: pa.Table, keys: Sequence[str] = ("op_type", "task_type")) -> list[Group]:
    """The rows of a table of sums (op_statistic) as groups: it tells no spread and no quantiles, so those are null."""
    rows = statistic.to_pylist()
    return in_order(
        Group(
            tuple(row[key] for key in keys),
            row["count"],
            row["total_time_ns"],
            row["min_time_ns"],
            row["max_time_ns"],
            row["total_time_ns"] / row["count"],
        )
        for row in rows
        if row["count"] > 0
    )


def in_order(groups: Any) -> list[Group]:
    """Groups by falling total; equal totals by key, so the order never depends on threads or input order."""
    return sorted(groups, key=lambda group: (-group.total_ns, tuple(part or "" for part in group.key)))


def quantile(ordered: Ordered, q: float) -> float:
    """The q-quantile of sorted values, linearly interpolated."""
    position = (len(ordered) - 1) * q
    low = int(position)
    high = min(low + 1, len(ordered) - 1)
    return float(ordered[low]) + (float(ordered[high]) - float(ordered[low])) * (position - low)


@dataclass(frozen=True, slots=True)
class Names:
    """The keys of all groups, each put into words only when asked for."""

    count: int
    numbers: list[Ints]
    words: list[Dictionary]

    def __getitem__(self, group: int) -> tuple[str | None, ...]:
        pairs = zip(self.numbers, self.words, strict=True)
        return tuple(words[int(numbers[group]) - 1] if numbers[group] else None for numbers, words in pairs)

    def __iter__(self) -> Iterator[tuple[str | None, ...]]:
        """All of them in order, column by column: 741,000 groups of four columns take 0.3 s, and one by one 3.8."""
        words_by_number = [(None, *words) for words in self.words]
        columns = zip(self.numbers, words_by_number, strict=True)
        return zip(*(map(words.__getitem__, numbers.tolist()) for numbers, words in columns), strict=True)


def group_codes(tasks: pa.Table | SomeRows, keys: Sequence[str]) -> tuple[Ints, Names]:
    """A dense group number for each row, and each group's key."""
    groups_of: Ints = np.zeros(tasks.num_rows, dtype=np.int32)
    count = 1
    numbers: list[Ints] = []
    words: list[Dictionary] = []
    for key in keys:
        of_key, words_of_key = codes(tasks[key])
        width = len(words_of_key) + 1
        if width == 1 and tasks.num_rows:  # it tells nothing
            numbers.append(np.zeros(count, dtype=np.int32))
            words.append(words_of_key)
            continue
        if count * width > _INT32_MAX:
            groups_of = groups_of.astype(np.int64)
        sparse = of_key if count == 1 else groups_of * width + of_key
        present, groups_of = _dense(sparse, count * width)  # never more words than an int32 holds, kept for every row
        numbers = [*(before[present // width] for before in numbers), (present % width).astype(np.int32, copy=False)]
        words.append(words_of_key)
        count = len(present)
    return groups_of, Names(count, numbers, words)


def _dense(sparse: Ints, size: int) -> tuple[Ints, Ints]:
    """The codes below `size` that occur, ascending, and each row's index among them; of many by a hash table, as np.unique sorts all rows."""
    if size <= max(
        4 * len(sparse), 1 << 16
    ):  # of 1,000,000 rows with as many codes a fifth of the time of the hash table
        occurs = np.zeros(size, dtype=bool)
        occurs[sparse] = True
        return np.flatnonzero(occurs), (np.cumsum(occurs, dtype=sparse.dtype) - 1)[sparse]
    encoded = pa.array(sparse).dictionary_encode()
    different: Ints = encoded.dictionary.to_numpy()
    order = np.argsort(different)
    rank: Ints = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    return different[order], rank[encoded.indices.to_numpy()]


def sorted_within(groups_of: Ints, values: Ints, groups: int) -> tuple[Ints, Ints]:
    """(values ordered by group, then by size; where each group begins)."""
    ordered, starts, _ = _ordered_within(groups_of, values, groups, None)
    return ordered, starts


def _ordered_within(groups_of: Ints, values: Ints, groups: int, calls: Ints | None) -> tuple[Ints, Ints, Ints | None]:
    """The same with the number of calls of each value, where known.

    One sort of one integer if all keys fit into it.
    """
    bits = int(values.max()).bit_length()
    low = 0 if calls is None else int(calls.max()).bit_length()
    whole = low + bits + groups.bit_length()
    if values.min() >= 0 and whole < _INT64_BITS:
        kind = np.dtype(np.uint32 if whole <= _UINT32_BITS else np.int64)
        packed: Any = groups_of.astype(kind)
        packed <<= bits
        packed |= values.astype(kind, copy=False)
        del values  # 8 bytes a task
        if calls is not None:
            packed <<= low
            packed |= calls.astype(kind, copy=False)
        packed.sort()
        starts: Ints = np.searchsorted(packed, np.arange(groups, dtype=kind) << (bits + low))
        if calls is not None:
            calls = (packed & ((1 << low) - 1)).astype(np.int64, copy=False)
            packed >>= low
        packed &= (1 << bits) - 1
        return packed, starts, calls
    order = np.lexsort((values, groups_of))
    starts = np.searchsorted(groups_of[order], np.arange(groups))
    return values[order], starts, None if calls is None else calls[order]


_UINT32_BITS = 32
_INT64_MAX = 2**63 - 1
_INT32_MAX = 2**31 - 1
_INT64_BITS = 63


def merged(groups: Sequence[Group]) -> list[Group]:
    """Groups of several devices, one a key; quantiles and spread do not survive it."""
    found: dict[tuple[str | None, ...], Group] = {}
    for group in groups:
        old = found.get(group.key)
        if old is None:
            found[group.key] = group
            continue
        count, total = old.count + group.count, old.total_ns + group.total_ns
        bounds = [n for n in (old.min_ns, group.min_ns, old.max_ns, group.max_ns) if n is not None]
        found[group.key] = Group(
            key=group.key,
            count=count,
            total_ns=total,
            min_ns=min(bounds, default=None),
            max_ns=max(bounds, default=None),
            mean_ns=total / count,
        )
    return list(found.values())
