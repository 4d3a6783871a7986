"""When slices end that depend on each other: the compiled library and Python say the same."""

from __future__ import annotations

from dataclasses import dataclass
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.formats import native
from aoe_reports.formats.native import library
from aoe_reports.model.arrays.columns import Ints
from aoe_reports.topics.critical_path.facts import ends_of, late_ends

BUILT = pytest.mark.skipif(library() is None, reason="the library is not built for this machine")
TIMES = st.integers(-(2**40), 2**40)


@dataclass
class Some:
    before: Ints
    before_ns: Ints
    cause: Ints
    cause_ns: Ints


@st.composite
def slices(draw: st.DrawFn) -> tuple[Some, Ints, Ints]:
    count = draw(st.integers(0, 12))

    def column(of: st.SearchStrategy[int]) -> Ints:
        return np.asarray([draw(of) for _ in range(count)], dtype=np.int64)

    def behind() -> Ints:
        return np.asarray([draw(st.integers(-1, place - 1)) for place in range(count)], dtype=np.int64)

    return Some(behind(), column(TIMES), behind(), column(TIMES)), column(st.integers(0, 2**40)), column(TIMES)


@BUILT
@given(slices())
def test_the_library_and_python_say_the_same(some: tuple[Some, Ints, Ints]) -> None:
    dependent, length, times = some
    compiled = ends_of(dependent, length, times).tolist(), late_ends(dependent, length, times).tolist()
    with patch.object(native, "library", lambda: None):
        assert (ends_of(dependent, length, times).tolist(), late_ends(dependent, length, times).tolist()) == compiled


def test_a_slice_begins_behind_all_that_it_depends_on() -> None:
    chain = Some(*(np.asarray(column) for column in ([-1, 0, -1, 1], [0, 5, 0, 1], [-1, -1, 0, 2], [0, 0, 2, 3])))
    length, floor = np.asarray([10, 20, 30, 40]), np.asarray([100, 0, 0, 0])
    assert ends_of(chain, length, floor).tolist() == [110, 135, 142, 185]
    assert late_ends(chain, length, np.asarray([2**62, 2**62, 2**62, 200])).tolist() == [125, 159, 157, 200]


@BUILT
def test_what_stands_behind_what_it_depends_on_and_what_no_number_holds_is_left_to_python() -> None:
    one = np.asarray([0])
    later = Some(one, one, np.asarray([-1]), one)
    with pytest.raises(IndexError):
        ends_of(later, one, one)
    alone = Some(np.asarray([-1]), one, np.asarray([-1]), one)
    with pytest.raises(OverflowError):
        ends_of(alone, np.asarray([2**62]), np.asarray([2**62]))
