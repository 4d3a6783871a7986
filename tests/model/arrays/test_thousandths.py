"""Numbers are the same after they were kept as thousandths."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.model.arrays.thousandths import narrowed, widened

any_number = st.floats() | st.integers(-(10**10), 10**10).map(lambda number: number / 1000) | st.integers().map(float)


@given(st.lists(any_number))
def test_what_comes_back_is_what_was_kept(numbers: list[float]) -> None:
    values = np.asarray(numbers, dtype=np.float64)
    found = widened(narrowed(values))
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, values)


@pytest.mark.parametrize(
    ("numbers", "kind"),
    [
        ([0.214, 1.0, 32.767], np.int16),
        ([32.768], np.int32),
        ([-2147483.647], np.int32),
        ([2147483.648], np.float64),
        ([0.0001], np.float64),
        ([np.nextafter(0.214, 1)], np.float64),
        ([float("inf")], np.float64),
        ([], np.int16),
        ([0.5] * (1 << 15) + [32.768], np.int32),
        ([32.768] + [0.5] * (1 << 15), np.int32),
        ([0.5] * (1 << 15) + [0.0001], np.float64),
    ],
)
def test_as_few_bits_as_hold_them(numbers: list[float], kind: type[np.generic]) -> None:
    assert narrowed(np.asarray(numbers, dtype=np.float64)).dtype == kind


@given(st.lists(st.integers(-(2**31), 2**31 - 1), min_size=1, max_size=5), st.integers(1, 3))
def test_what_comes_back_is_what_was_kept_of_many_slices(thousandths: list[int], slices: int) -> None:
    values = np.resize(np.asarray(thousandths, dtype=np.float64) / 1000, slices * (1 << 15) + 7)
    np.testing.assert_array_equal(widened(narrowed(values)), values)
