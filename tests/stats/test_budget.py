"""Budgets and the thresholds that keep them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.stats.budget import Budget
from aoe_reports.stats.run_lengths import FITS, GUARD, LOOKS, SUSPICIONS, Fit


def test_a_budget_is_shared_by_the_eligible_series() -> None:
    assert Budget.shared(12, 1200).rate == 0.01
    assert Budget.shared(12, 0).rate == 12


@pytest.mark.parametrize("rate", [0.0, -1.0, math.nan, math.inf])
def test_what_is_no_rate_is_refused(rate: float) -> None:
    with pytest.raises(ValueError, match="expected a number above 0"):
        Budget(rate)


@given(st.floats(1e-9, 100), st.floats(1e-9, 100), st.floats(0, 1))
def test_fewer_alarms_need_more_proof(one: float, other: float, memory: float) -> None:
    low, high = sorted((one, other))
    assert Budget(low).threshold(memory) >= Budget(high).threshold(memory)
    assert Budget(low).suspicion >= Budget(high).suspicion


@pytest.mark.parametrize("rate", [0.001, 0.01, 0.02])
def test_detector_and_guard_share_the_alarms_and_ten_times_as_many_suspicions(rate: float) -> None:
    def raised(fit: Fit, threshold: float) -> float:
        return math.exp(fit.intercept - fit.slope * threshold)

    budget = Budget(rate)
    alarms = raised(FITS[0], budget.threshold(0)), raised(GUARD, budget.guard)
    assert alarms == pytest.approx((0.9 * rate, 0.1 * rate))
    suspicions = raised(SUSPICIONS, budget.suspicion**2), raised(GUARD, budget.guard_suspicion)
    assert suspicions == pytest.approx((9 * rate, rate))


def test_a_rate_beyond_what_was_simulated_says_so() -> None:
    assert Budget(0.01).simulated
    assert not Budget(1.0).simulated
    assert Budget(1.0).threshold(0) == Budget(0.25).threshold(0)


def test_the_table_says_what_was_measured() -> None:
    """Each line passes through its own points: within three standard errors of the alarms counted."""
    for fit in FITS:
        assert fit.measured
        for threshold, alarms, years in fit.measured:
            expected = years * math.exp(fit.intercept - fit.slope * threshold)
            assert abs(alarms - expected) <= 3 * math.sqrt(expected) + 0.25 * expected


@pytest.mark.parametrize("fit", [*FITS, SUSPICIONS, GUARD, LOOKS], ids=lambda fit: f"{fit.measured[0][0]}-{fit.memory}")
def test_a_line_is_the_regression_of_its_points(fit: Fit) -> None:
    """Poisson regression: alarms, and alarms times their thresholds, add up to those that the line expects."""
    intercept, slope = fit.intercept, fit.slope
    for _ in range(20):
        sums = [0.0] * 5
        for threshold, alarms, years in fit.measured:
            expected = years * math.exp(intercept - slope * threshold)
            parts = (alarms - expected, (alarms - expected) * threshold, expected, expected * threshold, expected * threshold**2)  # fmt: skip
            sums = [one + part for one, part in zip(sums, parts, strict=True)]
        apart, apart_at, whole, at, at_twice = sums
        area = whole * at_twice - at**2
        intercept += (apart * at_twice - apart_at * at) / area
        slope += (apart * at - apart_at * whole) / area
    assert (fit.intercept, fit.slope) == (pytest.approx(intercept, abs=0.001), pytest.approx(slope, abs=0.0001))


def test_memories_are_simulated_in_order() -> None:
    assert [fit.memory for fit in FITS] == [0.0, 0.4, 0.6]
    assert {fit.memory for fit in (SUSPICIONS, GUARD, LOOKS)} == {0.0}


def regression(points: tuple[tuple[float, int, float], ...]) -> tuple[float, float]:
    """(intercept, slope) of the Poisson regression of counts over thresholds, by Newton's method from the first two points."""
    (one, a, of_one), (other, b, of_other), *_ = points
    slope = math.log(a / of_one * of_other / b) / (other - one)
    intercept = math.log(a / of_one) + slope * one
    for _ in range(50):
        expected = [years * math.exp(intercept - slope * at) for at, _, years in points]
        off = [count - mean for (_, count, _), mean in zip(points, expected, strict=True)]
        first, second = sum(off), -sum(at * one_off for (at, _, _), one_off in zip(points, off, strict=True))
        whole = sum(expected)
        mixed = -sum(at * mean for (at, _, _), mean in zip(points, expected, strict=True))
        squares = sum(at * at * mean for (at, _, _), mean in zip(points, expected, strict=True))
        share = whole * squares - mixed * mixed
        intercept += (squares * first - mixed * second) / share
        slope += (whole * second - mixed * first) / share
    return intercept, slope


@pytest.mark.parametrize("fit", [*FITS, SUSPICIONS, GUARD, LOOKS], ids=lambda fit: f"{fit.measured[0][0]}-{fit.memory}")
def test_each_line_is_the_regression_of_its_points(fit: Fit) -> None:
    intercept, slope = regression(fit.measured)
    assert (fit.intercept, fit.slope) == (pytest.approx(intercept, abs=6e-4), pytest.approx(slope, abs=6e-5))


def test_a_store_shows_no_more_suspicions_however_many_alarms_it_may_raise() -> None:
    assert Budget.shared(12, 36).suspicion == Budget.shared(24, 36).suspicion
    assert Budget.shared(0.5, 36).suspicion == Budget(0.5 / 36).suspicion > Budget.shared(1, 36).suspicion
    assert Budget.shared(12, 36).guard_suspicion > Budget(12 / 36).guard_suspicion
