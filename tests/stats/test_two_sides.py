"""The difference of two sides with a few repeats each: Student's values, drift, order, outliers, and how often it errs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aoe_reports.stats.noise import FLOOR, Floats
from aoe_reports.stats.two_sides import (
    ERROR,
    MAX_REPEATS,
    Design,
    detectable,
    difference,
    known_noise,
    repeats_needed,
    student,
    student_tail,
)

IN_TURNS = Design((0, 1, 1, 0, 0, 1, 1, 0, 0, 1), in_order=True)
ONE_AFTER_THE_OTHER = Design((0,) * 5 + (1,) * 5, in_order=True)
NOT_KNOWN = Design((0,) * 5 + (1,) * 5, in_order=False)
THREE_IN_TURNS = Design((0, 1, 1, 0, 0, 1), in_order=True)
RESIDUALS = np.array([0.004, -0.009, 0.012, -0.003, 0.006, -0.011, 0.008, 0.002, -0.007, 0.001])
TAILS = (0.05, 0.025, 0.0005)


def interval(logs: Floats, design: Design) -> tuple[Floats, Floats]:
    """The ends of the interval of the effect, for each row."""
    found = difference(np.atleast_2d(logs), design)
    half = np.array([student(int(free), ERROR) for free in found.free]) * found.error
    return found.effect - half, found.effect + half


@pytest.mark.parametrize(
    ("free", "values"),
    [
        (1, (6.3138, 12.7062, 636.6192)),
        (2, (2.9200, 4.3027, 31.5991)),
        (3, (2.3534, 3.1824, 12.9240)),
        (8, (1.8595, 2.3060, 5.0413)),
        (30, (1.6973, 2.0423, 3.6460)),
    ],
)
def test_students_values_are_those_of_printed_tables(free: int, values: tuple[float, ...]) -> None:
    assert [student(free, tail) for tail in TAILS] == pytest.approx(values, rel=5e-5)
    assert [student_tail(value, free) for value in values] == pytest.approx(TAILS, rel=2e-4)


@pytest.mark.parametrize("design", [IN_TURNS, ONE_AFTER_THE_OTHER, Design((0, 0, 0, 1, 1, 1), in_order=True)])
def test_a_drift_is_not_taken_for_an_effect(design: Design) -> None:
    """2 % more from one repeat to the next, and 3 % between the sides."""
    logs = 4.6 + 0.03 * np.array(design.sides) + 0.02 * np.arange(len(design.sides))
    found = difference(logs[None], design)
    assert found.effect[0] == pytest.approx(0.03)
    assert found.drift[0] == pytest.approx(0.02)
    assert found.scatter[0] == FLOOR
    assert found.residuals[0] == pytest.approx(np.zeros(len(logs)))


@pytest.mark.parametrize("slope", [0.001, 0.01, 0.1])
@pytest.mark.parametrize("sides", [(0, 1, 1, 0, 0, 1), (0, 1, 0, 1, 0, 1), (1, 0, 1, 0, 1)])
def test_of_few_repeats_in_turns_no_drift_is_fitted_and_none_decides(sides: tuple[int, ...], slope: float) -> None:
    design = Design(sides, in_order=True)
    assert design.free == len(sides) - 2
    low, high = interval(4.6 + slope * np.arange(len(sides)), design)
    assert low[0] < 0 < high[0]


@pytest.mark.parametrize("design", [IN_TURNS, ONE_AFTER_THE_OTHER, NOT_KNOWN])
def test_one_outlier_does_not_decide(design: Design) -> None:
    """Wherever a repeat takes 25 % longer: least squares would have moved by 5 % and more."""
    low, high = interval(RESIDUALS + 0.25 * np.eye(10), design)
    assert (low < 0).all()
    assert (high > 0).all()
    if design is not ONE_AFTER_THE_OTHER:
        assert np.abs((low + high) / 2).max() < 0.04


def test_an_effect_is_seen_behind_an_outlier() -> None:
    low, _ = interval(RESIDUALS + 0.08 * np.array(IN_TURNS.sides) + 0.25 * np.eye(10), IN_TURNS)
    assert (low > 0).all()


@pytest.mark.parametrize("memory", [0.0, 0.4])
@pytest.mark.parametrize("design", [IN_TURNS, ONE_AFTER_THE_OTHER])
def test_equal_sides_are_seldom_called_different(design: Design, memory: float) -> None:
    """2,000 pairs with noise of 1 %; each end is wrong in 4.5 % of normal noise, and 7 % is six standard errors above that."""
    logs = 0.01 * np.random.default_rng(20261130).standard_normal((2000, 10))
    for repeat in range(1, 10):
        logs[:, repeat] = memory * logs[:, repeat - 1] + math.sqrt(1 - memory**2) * logs[:, repeat]
    low, high = interval(logs, design)
    assert np.mean(low > 0) < 0.07
    assert np.mean(high < 0) < 0.07
    assert np.mean((low > 0) | (high < 0)) > 0.01


def test_one_side_after_the_other_has_a_wider_interval() -> None:
    """In turns the error is that of least squares; one after the other it is wider for the drift, and again for the memory."""
    errors = {}
    for design in (IN_TURNS, ONE_AFTER_THE_OTHER):
        time = np.arange(10) - 4.5
        matrix = np.stack([np.ones(10), np.array(design.sides), time], axis=1)
        least = math.sqrt(np.linalg.inv(matrix.T @ matrix)[1, 1])
        found = difference(RESIDUALS[None], design)
        errors[design] = (found.error[0] / found.scatter[0], least)
    assert errors[IN_TURNS][0] == pytest.approx(errors[IN_TURNS][1])
    wide, least = errors[ONE_AFTER_THE_OTHER]
    assert least > 1.9 * errors[IN_TURNS][1]
    assert 1.05 < wide / least < 1.5


@settings(max_examples=40)
@given(
    effect=st.floats(0, 0.2),
    scatter=st.floats(0.0005, 0.1),
    tail=st.sampled_from([ERROR, ERROR / 10]),
    margin=st.floats(0.001, 0.05),
)
def test_repeats_needed_detect_and_one_less_does_not(effect: float, scatter: float, tail: float, margin: float) -> None:
    def smallest(repeats: int) -> float:
        free = Design((0, 1) * repeats, in_order=True).free
        return detectable(scatter * math.sqrt(2 / repeats), free, tail)

    target = max(effect, margin - effect)
    repeats = repeats_needed(effect, scatter, tail, margin)
    if repeats is None:
        assert smallest(MAX_REPEATS - 1) > target
    else:
        assert smallest(repeats) <= target
        assert repeats == 3 or smallest(repeats - 1) > target


def test_nothing_that_many_repeats_could_prove() -> None:
    assert repeats_needed(0.0, 0.01, ERROR, 0.0) is None


def test_with_known_noise_one_repeat_a_side_is_enough() -> None:
    design = Design((0, 1), in_order=True)
    assert not design.is_enough
    found = known_noise(np.array([[4.6, 4.65], [4.6, 4.6]]), design, np.array([0.01, 0.02]), 30)
    assert found.effect == pytest.approx([0.05, 0.0])
    assert found.error == pytest.approx([1.1 * 0.01 * math.sqrt(2), 1.1 * 0.02 * math.sqrt(2)])
    assert not found.drift.any()


def test_with_known_noise_a_repeat_that_is_off_decides_nothing() -> None:
    """The candidate's second repeat is 20 scatters above its first; beside it two that are both 5 above the baseline."""
    design = Design((0, 1, 1, 0), in_order=True)
    found = known_noise(np.array([[4.6, 4.6, 4.8, 4.6], [4.6, 4.65, 4.65, 4.6]]), design, np.array([0.01, 0.01]), 30)
    assert found.effect == pytest.approx([0.0, 0.05])
    assert found.error == pytest.approx([0.01 * math.sqrt(1.5), 0.01])


@pytest.mark.parametrize("design", [IN_TURNS, ONE_AFTER_THE_OTHER, NOT_KNOWN, THREE_IN_TURNS])
def test_values_that_repeat_to_the_digit_have_a_narrow_interval(design: Design) -> None:
    low, high = interval(np.full(len(design.sides), 4.6), design)
    assert low[0] == pytest.approx(-high[0])
    assert 0 < high[0] < 0.01


def test_the_next_tick_of_a_coarse_timer_is_not_out_of_line() -> None:
    """Ticks of 2 %: 50 50 50 beside 50 51 51 is no proof; 50 50 50 beside 52 52 52 is."""
    ticks = np.array([[50, 50, 51, 50, 50, 51], [50, 52, 52, 50, 50, 52]])
    low, _ = interval(np.log(ticks), THREE_IN_TURNS)
    assert low[0] < 0 < low[1]


@pytest.mark.parametrize(
    ("sides", "interleaving"), [((0, 1, 1, 0), 1.0), ((0, 0, 1, 1), 0.0), ((0, 1, 0, 1), 0.5), ((1, 0, 1, 0, 1), 1.0)]
)
def test_interleaving_says_how_little_side_and_time_have_in_common(sides: tuple[int, ...], interleaving: float) -> None:
    assert Design(sides, in_order=True).interleaving == pytest.approx(interleaving)


def test_a_side_that_scatters_more_is_not_taken_for_as_good_as_the_other() -> None:
    """Five noisy repeats against twenty steady ones: together they look steady, and equal sides would differ in a third of all cases."""
    drawn = np.random.default_rng(20261130)
    sides = drawn.permutation(np.array([0] * 5 + [1] * 20))
    logs = drawn.standard_normal((2000, 25)) * np.where(sides == 0, 0.05, 0.005)
    found = difference(logs, Design(tuple(map(int, sides)), in_order=True))
    tails = np.array([student(int(free), ERROR) for free in found.free])
    assert (np.abs(found.effect) > tails * found.error).mean() < 0.13
