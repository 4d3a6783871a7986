"""Thresholds of warm-up, tear-down, scatter, drift and outliers, each at its edge."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.model.topics.steps import Step
from aoe_reports.topics.quality.steadiness import Phases, phases_of, series_of, steadiness_of

USUAL = 1_000_000


def test_a_first_step_is_warm_up_from_a_tenth_longer_on() -> None:
    assert phases_of([1_100_000, *[USUAL] * 5]) == Phases()
    assert phases_of([1_100_001, *[USUAL] * 5]) == Phases(warm_up=1)


def test_the_last_step_is_tear_down_from_a_tenth_longer_on() -> None:
    assert phases_of([*[USUAL] * 5, 1_100_000]) == Phases()
    assert phases_of([*[USUAL] * 5, 1_100_001]) == Phases(tear_down=1)


def test_a_step_that_is_cut_off_is_a_tenth_shorter() -> None:
    assert phases_of([900_000, *[USUAL] * 5]) == Phases()
    assert phases_of([899_999, *[USUAL] * 5]) == Phases(warm_up=1, cut_head=True)
    assert phases_of([*[USUAL] * 5, 899_999]) == Phases(tear_down=1, cut_tail=True)


def test_two_steps_tell_nothing_and_three_no_tear_down() -> None:
    assert phases_of([5 * USUAL, USUAL]) == Phases()
    assert phases_of([5 * USUAL, USUAL, USUAL]) == Phases(warm_up=1)
    assert phases_of([USUAL, USUAL, 5 * USUAL]) == Phases()
    assert phases_of([USUAL, USUAL, USUAL, 5 * USUAL]) == Phases(tear_down=1)


def test_at_most_half_are_warm_up() -> None:
    assert phases_of([9 * USUAL, 5 * USUAL, 3 * USUAL, USUAL, USUAL, USUAL]).warm_up == 3
    assert phases_of([9 * USUAL] * 4 + [USUAL] * 2).warm_up == 0


def test_a_long_step_is_no_warm_up_where_later_ones_are_as_long() -> None:
    assert phases_of([3 * USUAL, USUAL, USUAL, USUAL, USUAL, 3 * USUAL, USUAL, USUAL]) == Phases()


def test_where_steps_scatter_by_nature_none_is_unusual_for_its_length() -> None:
    scattered = [40, 10, 25, 18, 31, 12, 28, 22, 15, 33]
    assert phases_of([one * USUAL for one in scattered]) == Phases()


@given(st.lists(st.integers(1, 10**12), max_size=40))
def test_some_step_is_always_usual(durations: list[int]) -> None:
    phases = phases_of(durations)
    assert phases.warm_up + phases.tear_down < max(len(durations), 1)


@given(st.lists(st.integers(1, 10**9), min_size=1, max_size=40), st.integers(2, 1000))
def test_the_unit_of_times_decides_nothing(durations: list[int], factor: int) -> None:
    assert phases_of([factor * one for one in durations]) == phases_of(durations)


def test_scatter_is_a_share_and_what_cannot_be_told_of_two_captures() -> None:
    told = steadiness_of([90, 110, 90, 110, 90, 110])
    assert told.scatter == pytest.approx(0.10954, abs=1e-5)
    # Student's quantile of 10 degrees of freedom is 2.228: 2.228 * 0.10954 * sqrt(2 / 6)
    assert told.detectable == pytest.approx(0.1409, abs=1e-4)
    assert steadiness_of([90, 110]).detectable is None


def test_a_drift_needs_six_steps_in_order() -> None:
    rising = [100, 102, 104, 106, 108, 110]
    assert steadiness_of(rising).drift == pytest.approx(0.10)
    assert steadiness_of(rising[::-1]).drift == pytest.approx(-10 / 110)
    assert steadiness_of(rising[:5]).drift == 0
    assert steadiness_of([102, 100, 104, 106, 108, 110]).drift == 0


def test_a_long_capture_drifts_as_a_short_one() -> None:
    assert steadiness_of([1000 + place for place in range(1001)]).drift == pytest.approx(0.99, abs=0.01)


def test_an_outlier_takes_half_a_step_longer_and_is_rare() -> None:
    assert steadiness_of([100, 100, 150, 100, 100]).outliers == ()
    assert steadiness_of([100, 100, 151, 100, 100]).outliers == (2,)
    assert steadiness_of([100, 100, 151, 100]).outliers == ()
    assert steadiness_of([100, 151, 100, 151, 100]).outliers == ()
    assert steadiness_of([100, 100, 151, 100, 100]).scatter == 0


def test_a_drift_is_held_against_the_first_step_and_never_more_than_all_of_it() -> None:
    falling = [100 - 5 * place for place in range(20)]
    assert steadiness_of(falling).drift == pytest.approx(-0.95)
    assert steadiness_of(falling[::-1]).drift == pytest.approx(19)


def test_what_comes_again_and_again_is_no_tear_down() -> None:
    """Evaluation every ten steps, in the last one, too."""
    evaluated = [3 * USUAL if place % 10 == 9 else USUAL for place in range(20)]
    assert phases_of(evaluated) == Phases()
    assert steadiness_of(evaluated).outliers == (9, 19)
    assert phases_of([*evaluated[:-1], 5 * USUAL]) == Phases(tear_down=1)


def test_what_comes_every_tenth_step_is_an_outlier_however_many_steps_there_are() -> None:
    assert steadiness_of([3 * USUAL if place in {3, 13} else USUAL for place in range(15)]).outliers == (3, 13)
    assert steadiness_of([3 * USUAL if place in {3, 6} else USUAL for place in range(10)]).outliers == ()


def test_of_three_or_four_steps_the_last_tells_how_far_they_scatter() -> None:
    assert phases_of([1_300_000, USUAL, 1_150_000]) == Phases()
    assert phases_of([1_300_000, USUAL, 1_050_000]) == Phases(warm_up=1)
    assert phases_of([1_300_000, 1_150_000, USUAL, 900_000]) == Phases()


def test_steps_of_no_time_have_a_scatter_of_nothing_and_no_share() -> None:
    told = steadiness_of([0, 0, 0, 5, 0, 0])
    assert (told.median_ns, told.scatter, told.drift, told.outliers) == (0, 0, 0, (3,))


def test_of_several_models_the_longest_is_judged() -> None:
    steps = [
        Step(rank_id=0, device_id=0, model_id=model, step=number, duration_ns=ns)
        for model, ns in ((1, 10), (2, 500))
        for number in (2, 1)
    ]
    series = series_of(steps)
    assert series is not None
    assert [(step.model_id, step.step) for step in series.steps] == [(2, 1), (2, 2)]
    assert series_of([]) is None
