"""Where the level changed, and how far a mean may lie: against every other way to tell."""

from __future__ import annotations

from itertools import combinations, pairwise
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.stats.bootstrap import (
    MIN_VALUES,
    difference_of_means,
    means_drawn,
    places_drawn,
    times_drawn,
    widened_percentiles,
)
from aoe_reports.stats.partition import BLOCK, partition


def best_of_all(values: list[float], penalty: float, least: int) -> float:
    """The least cost of all partitions."""
    return min(
        cost_of(values, list(cuts), penalty)
        for count in range(len(values) // least)
        for cuts in combinations(range(1, len(values)), count)
        if all(end - start >= least for start, end in zip((0, *cuts), (*cuts, len(values)), strict=True))
    )


def cost_of(values: list[float], cuts: list[int], penalty: float) -> float:
    parts = [values[start:end] for start, end in zip((0, *cuts), (*cuts, len(values)), strict=True)]
    return sum(sum((value - sum(part) / len(part)) ** 2 for value in part) for part in parts) + penalty * len(cuts)


@given(
    st.lists(st.lists(st.integers(-5, 5), min_size=4, max_size=9), min_size=1, max_size=4),
    st.integers(1, 3),
    st.floats(0.1, 20),
)
def test_no_partition_costs_less(series: list[list[int]], least: int, penalty: float) -> None:
    lengths = np.array([len(one) for one in series])
    values = np.full((len(series), lengths.max()), 999.0)
    for place, one in enumerate(series):
        values[place, : len(one)] = one
    found = partition(values, lengths, np.full(len(series), penalty), least)
    for one, cuts in zip(series, found, strict=True):
        ends = [0, *cuts, len(one)]
        assert all(end - start >= least for start, end in pairwise(ends))
        assert cost_of([float(v) for v in one], cuts, penalty) == pytest.approx(best_of_all([float(v) for v in one], penalty, least))  # fmt: skip


def test_each_series_has_its_penalty_and_stands_in_its_place() -> None:
    count = BLOCK + 2
    values = np.tile(np.array([0.0] * 4 + [3.0] * 4), (count, 1))
    values[-1] = np.array([0.0] * 2 + [9.0] * 6)
    penalties = np.where(np.arange(count) % 2, 17.9, 18.1)  # the change saves 18
    penalties[-1] = 1
    found = partition(values, np.full(count, 8), penalties, 2)
    assert found == [[4] if place % 2 else [] for place in range(count - 1)] + [[2]]


@pytest.mark.parametrize("nights", [0, 1, 2, 3])
def test_a_short_series_has_no_change(nights: int) -> None:
    assert partition(np.arange(3.0)[None, :nights] * 9, np.array([nights]), np.array([0.1]), 2) == [[]]


@pytest.mark.parametrize("size", [5, 10, 40])
def test_blocks_are_drawn_as_often_as_there_are(size: int) -> None:
    times = times_drawn(0, size, 4000)
    assert times.shape == (4000, size)
    assert (times.sum(axis=1) == size).all()
    assert times.mean(axis=0) == pytest.approx(np.ones(size), abs=0.15)
    assert (times_drawn(0, size, 4000) == times).all()
    assert (times_drawn(1, size, 4000) != times).any()
    places = places_drawn(0, size, 4000)
    assert (places.min(), places.max(), places.shape) == (0, size - 1, (4000, size))


@pytest.mark.parametrize("count", [50, 51])
def test_means_are_drawn_around_the_mean(count: int) -> None:
    values = np.arange(float(count)) ** 2
    means = means_drawn(0, values, 4000, most=50)
    assert means.mean() == pytest.approx(values.mean(), rel=0.02)
    assert means.std() == pytest.approx(values.std() / count**0.5, rel=0.05)
    drawn = times_drawn(0, count, 4000) @ values / count
    assert bool((means == drawn).all()) is (count <= 50), "single values as long as there are few"


def test_the_difference_of_two_means_lies_where_the_normal_distribution_says() -> None:
    before, after = np.arange(100, 200), np.arange(130, 330)
    low, high = difference_of_means(before, after, level=0.95, resamples=4000)
    error = (before.var() / len(before) + after.var() / len(after)) ** 0.5 * 1.96
    middle = after.mean() - before.mean()
    assert (low, high) == (pytest.approx(middle - error, rel=0.03), pytest.approx(middle + error, rel=0.03))
    narrow = difference_of_means(before, after, level=0.5, resamples=4000)
    assert narrow[1] - narrow[0] == pytest.approx((high - low) * 0.6745 / 1.96, rel=0.05)


STUDENT = {(5, 0.95): 2.7764, (10, 0.95): 2.2622, (30, 0.95): 2.0452, (10, 0.99): 3.2498, (5, 0.8): 1.5332}
"""Quantiles of Student's distribution with one degree less, as tables have them."""


@pytest.mark.parametrize(("size", "level"), STUDENT)
def test_an_interval_of_few_blocks_is_students(size: int, level: float) -> None:
    drawn = np.linspace(-3, 5, 100_001)
    z = NormalDist().inv_cdf((1 + level) / 2)
    wider = STUDENT[size, level] / z * (size / (size - 1)) ** 0.5
    found = widened_percentiles(drawn[::-1], size, level=level)
    assert found == (pytest.approx(1 - 4 * level * wider, rel=0.005), pytest.approx(1 + 4 * level * wider, rel=0.005))


@pytest.mark.parametrize(("unknown", "told"), [(0, True), (10, True), (11, False)])
def test_what_is_missing_in_a_tenth_of_the_resamples_is_not_told(unknown: int, told: bool) -> None:
    drawn: Any = np.arange(100.0)
    drawn[:unknown] = [np.nan, np.inf][unknown % 2]
    assert (widened_percentiles(drawn, 9, level=0.9) is not None) is told


def test_a_mean_needs_five_values() -> None:
    assert MIN_VALUES == 5


@pytest.mark.parametrize(("size", "student"), [(2, 2 + 10 / 4 + 294 / 96 + 1098 / 384), (3, 2 + 10 / 8 + 294 / 384 + 1098 / 3072)])  # fmt: skip
def test_the_expansion_of_students_quantile_at_two_sigma(size: int, student: float) -> None:
    """Cornish and Fisher's for z = 2, reckoned by hand."""
    level = 2 * NormalDist().cdf(2.0) - 1
    found = widened_percentiles(np.linspace(-1, 1, 100_001), size, level=level)
    wider = student / 2 * (size / (size - 1)) ** 0.5
    assert found == (pytest.approx(-level * wider, rel=1e-5), pytest.approx(level * wider, rel=1e-5))
