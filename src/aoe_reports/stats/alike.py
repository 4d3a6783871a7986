"""Tasks that are alike, as one row: of millions of them few are told apart by their words and by how long they take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from aoe_reports.formats.tasks import CALLS
from aoe_reports.model.arrays.columns import Ints, Mask, column_of, column_of_words, integers, occurring
from aoe_reports.stats.grouping import Names, group_codes

_BITS = 32
"""A number holds a group above so many bits, which hold a duration in ns; longer ones (4 s) are few, and held apart."""
_LONGEST = (1 << _BITS) - 1


@dataclass(frozen=True, slots=True)
class _Part:
    names: pa.Table
    """A row a group."""
    numbers: Ints
    calls: Ints
    long: Counter[tuple[int, int]] = field(default_factory=Counter)
    """How many tasks each (group, duration) stands for whose duration is too long for a number."""


class AlikeTasks:
    """Holds tasks, and those of the same words `keys` and of the same duration as one."""

    def __init__(self, keys: Sequence[str]) -> None:
        self._keys = keys
        self._parts: list[_Part] = []

    def add(self, tasks: pa.Table) -> None:
        """Take in tasks: `task_duration_ns`, none of which is negative, and columns of words."""
        if not tasks.num_rows:
            return
        groups_of, names = group_codes(tasks, self._keys)
        durations = integers(tasks["task_duration_ns"])[0]
        numbers = groups_of.astype(np.int64)
        del groups_of
        far = durations > _LONGEST
        long = Counter(zip(numbers[far].tolist(), durations[far].tolist(), strict=True))
        if long:
            numbers, durations = numbers[~far], durations[~far]
        numbers <<= _BITS
        numbers |= durations
        del durations
        numbers.sort()
        first = np.flatnonzero(_begins(numbers))
        calls = np.diff(first, append=len(numbers))
        self._parts.append(_Part(self._table(names), numbers[first], calls, long))
        while len(self._parts) > 1 and 2 * len(self._parts[-1].numbers) > len(self._parts[-2].numbers):
            self._join_last()  # parts of one size, so that none is joined often

    def merge(self, other: AlikeTasks) -> None:
        """Take in what another one holds."""
        self._parts += other._parts

    def frame(self) -> pa.Table:
        """A row for tasks that are alike, with how many `calls` they are.

        To be asked for once: what was held is let go.
        """
        if not self._parts:
            words = pa.dictionary(pa.int32(), pa.string())
            kinds = {**dict.fromkeys(self._keys, words), "task_duration_ns": pa.int64(), CALLS: pa.int64()}
            return pa.schema(kinds).empty_table()
        self._parts.sort(key=lambda part: len(part.numbers), reverse=True)
        while len(self._parts) > 1:
            self._join_last()
        whole = self._parts.pop()
        groups_of, durations, calls = whole.numbers >> _BITS, whole.numbers, whole.calls
        durations &= _LONGEST
        if whole.long:
            long = np.asarray([(*key, times) for key, times in whole.long.items()], dtype=np.int64)
            groups_of, durations, calls = map(np.append, (groups_of, durations, calls), long.T)
        names = whole.names
        del whole
        rows = column_of(groups_of, np.ones(len(groups_of), dtype=bool))
        columns = {key: names[key].take(rows) for key in self._keys}
        every = np.ones(len(calls), dtype=bool)
        return pa.table({**columns, "task_duration_ns": column_of(durations, every), CALLS: column_of(calls, every)})

    def _join_last(self) -> None:
        second, first = self._parts.pop(), self._parts.pop()
        places, names = group_codes(pa.concat_tables([first.names, second.names]), self._keys)
        groups = np.split(places.astype(np.int64), [first.names.num_rows])
        first, second = (_renamed(part, of_part) for part, of_part in zip((first, second), groups, strict=True))
        calls_of_both, long = (first.calls, second.calls), first.long + second.long
        numbers: Ints = np.concatenate([first.numbers, second.numbers])
        del first, second  # whose numbers are as many again
        numbers <<= 1
        numbers[len(calls_of_both[0]) :] |= 1  # of the second part
        numbers.sort(kind="stable")  # of two that are sorted the quickest
        of_second = (numbers & 1).astype(bool)
        numbers >>= 1
        calls: Ints = np.empty(len(numbers), dtype=np.int64)
        calls[~of_second], calls[of_second] = calls_of_both
        del calls_of_both
        begins = np.flatnonzero(_begins(numbers))
        calls = np.add.reduceat(calls, begins)
        self._parts.append(_Part(self._table(names), numbers[begins], calls, long))

    def _table(self, names: Names) -> pa.Table:
        keys = zip(self._keys, names.numbers, names.words, strict=True)
        columns = {key: column_of_words(numbers - 1, numbers > 0, words.column) for key, numbers, words in keys}
        return pa.table({key: occurring(column) for key, column in columns.items()})


def _renamed(part: _Part, groups: Ints) -> _Part:
    if (groups == np.arange(len(groups))).all():  # nearly always
        return part
    starts = np.searchsorted(part.numbers, np.arange(len(groups)) << _BITS)
    sizes = np.diff(starts, append=len(part.numbers))
    turn = np.argsort(groups)
    ends = np.cumsum(sizes[turn])
    order = np.repeat(starts[turn] - ends + sizes[turn], sizes[turn])
    order += np.arange(len(order))
    numbers: Ints = part.numbers[order] & _LONGEST
    numbers |= np.repeat(groups[turn] << _BITS, sizes[turn])
    long = Counter({(int(groups[group]), duration): calls for (group, duration), calls in part.long.items()})
    return _Part(part.names, numbers, part.calls[order], long)


def _begins(ordered: Ints) -> Mask:
    """Where ordered values change."""
    begins = np.ones(len(ordered), dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=begins[1:])
    return begins
