from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.model.arrays.columns import Ints
from aoe_reports.topics.locations.nests import Nest

Range = tuple[int, int, int]
RANGES = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 30), st.integers(0, 12)), max_size=40)
"""(thread, start, length)."""
MOMENTS = st.lists(st.tuples(st.integers(0, 3), st.integers(-1, 45)), max_size=20)


def _nest(ranges: list[Range]) -> Nest:
    columns = [np.asarray([one[place] for one in ranges], dtype=np.int64) for place in range(3)]
    return Nest(columns[1], columns[1] + columns[2], columns[0])


def _slowly(ranges: list[Range]) -> dict[int, list[tuple[int, int, int]]]:
    """(start, end, place) of each thread's ranges, the outer before the inner, none crossing another."""
    found: dict[int, list[list[int]]] = {}
    for place in sorted(range(len(ranges)), key=lambda place: (ranges[place][1], -ranges[place][2], place)):
        thread, start, length = ranges[place]
        if not length:
            continue
        mine, end = found.setdefault(thread, []), start + length
        for one in reversed(mine):
            if one[0] <= start < one[1] < end:  # they cross
                if end - one[1] < one[1] - start:
                    end = one[1]
                else:
                    one[1] = start
        mine.append([start, end, place])
    return {thread: [(start, end, place) for start, end, place in mine] for thread, mine in found.items()}


def _innermost(ranges: list[Range], thread: int, time: int) -> int:
    around = [place for start, end, place in _slowly(ranges).get(thread, []) if start <= time < end]
    return around[-1] if around else -1


@given(RANGES, MOMENTS)
def test_the_innermost_range_is_that_which_a_slow_search_finds(
    ranges: list[Range], moments: list[tuple[int, int]]
) -> None:
    nest = _nest(ranges)
    threads, times = (np.asarray([one[place] for one in moments], dtype=np.int64) for place in range(2))
    assert nest.innermost(threads, times).tolist() == [_innermost(ranges, *moment) for moment in moments]


@given(RANGES)
def test_the_range_around_each_is_that_in_which_it_begins_and_none_is_around_itself(ranges: list[Range]) -> None:
    nest = _nest(ranges)
    parents, depths = nest.parents, nest.depths
    for mine in _slowly(ranges).values():
        for number, (start, _, place) in enumerate(mine):
            around = [one for one in mine[:number] if one[0] <= start < one[1]]
            assert parents[place] == (around[-1][2] if around else -1)
            assert depths[place] == len(around)


@pytest.mark.parametrize(
    ("inner", "moments", "found"),
    [((0, 9, 10), [8, 9, 18, 19], [0, 1, 1, -1]), ((0, 2, 9), [1, 2, 9, 10], [0, 1, 1, -1])],
)
def test_ranges_that_cross_are_counted_and_the_smaller_part_is_cut_off(
    inner: Range, moments: list[int], found: list[int]
) -> None:
    nest = _nest([(0, 0, 10), inner])
    assert nest.crossing == 1
    assert nest.innermost(np.zeros(len(moments), dtype=np.int64), np.asarray(moments)).tolist() == found


def test_ten_thousand_ranges_within_each_other() -> None:
    depth = 10_000
    start: Ints = np.arange(depth, dtype=np.int64)
    nest = Nest(start, 3 * depth - start, np.zeros(depth, dtype=np.int64))
    assert nest.crossing == 0
    assert nest.depths[-1] == depth - 1
    inside, above = nest.innermost(np.zeros(2, dtype=np.int64), np.asarray([depth + 5, 3 * depth - 2])).tolist()
    assert (inside, above) == (depth - 1, 1)
