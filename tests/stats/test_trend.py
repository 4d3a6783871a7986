"""Mann and Kendall's score, against all pairs."""

from __future__ import annotations

import math
import tracemalloc
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.stats.trend import trend_score


@given(st.lists(st.integers(-5, 5), max_size=150))
def test_it_counts_pairs_that_rise_and_fall(values: list[int]) -> None:
    score = sum((later > earlier) - (later < earlier) for earlier, later in combinations(values, 2))
    count = len(values)
    scale = math.sqrt(count * (count - 1) * (2 * count + 5) / 18) or 1.0
    assert trend_score(np.array(values)) == pytest.approx(math.copysign(max(abs(score) - 1, 0), score) / scale)


def test_many_values_take_little_memory() -> None:
    values = np.arange(20_000) % 77
    tracemalloc.start()
    trend_score(values)
    assert tracemalloc.get_traced_memory()[1] < 8_000_000
    tracemalloc.stop()
