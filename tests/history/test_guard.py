"""The guard: a large step is told in its fourth night whatever came before, within a share of the budget of its own."""

from __future__ import annotations

import math

import numpy as np
import pytest

from aoe_reports.history.detection.detector import detect_changes
from aoe_reports.history.detection.guard import AROUND, BEFORE, LAG, MIN_NIGHTS, NEW, plain_scores, plain_steps
from aoe_reports.history.detection.verdicts import Change, Parameters, Verdict
from aoe_reports.stats.budget import GUARD_SHARE, SUSPECTS_PER_ALARM, Budget
from aoe_reports.stats.noise import scale
from aoe_reports.stats.run_lengths import FITS, GUARD, SUSPICIONS

NOISE = 0.01
Table = np.ndarray[tuple[int, int], np.dtype[np.float64]]


def lively(nights: int, steps: int, size: float, count: int = 100) -> Table:
    """Series with steps of 5 to 30 %, at least five nights apart, one night 10 to 50 % off, and four nights on another level."""
    return np.stack([one_lively(np.random.default_rng(seed), nights, steps, size) for seed in range(count)])


def one_lively(random: np.random.Generator, nights: int, steps: int, size: float) -> np.ndarray:
    logs = NOISE * random.standard_normal(nights + 4)
    places: list[int] = []
    while len(places) < steps:
        place = int(random.integers(7, nights - 4))
        places += [place] if all(abs(place - one) >= 5 for one in places) else []
    for place in places:
        logs[place:] += np.log1p(random.choice([-1, 1]) * random.uniform(0.05, 0.3))
    logs[random.integers(1, nights - 1)] += np.log1p(random.choice([-1, 1]) * random.uniform(0.1, 0.5))
    logs[nights:] += np.log1p(abs(size)) * math.copysign(1, size)
    return np.asarray(100 * np.exp(logs))


def told(verdict: Verdict, nights: int, size: float) -> Change | None:
    """What is said of the step in night `nights`."""
    newest = [change for change in verdict.changes if change.steps[-1] >= nights - 3]
    said = (newest or [verdict.suspect])[-1]
    return said if said is not None and said.change * size > 0 else None


@pytest.mark.slow
@pytest.mark.parametrize("size", [0.16, -0.16, 1.0, -1.0])
@pytest.mark.parametrize(("nights", "steps"), [(35, 2), (70, 3)])
def test_no_large_step_of_a_lively_history_is_told_by_nobody_in_its_fourth_night(
    nights: int, steps: int, size: float
) -> None:
    said = [told(verdict, nights, size) for verdict in detect_changes(lively(nights, steps, size))]
    assert None not in said
    assert np.mean([one.state != "suspect" for one in said if one is not None]) >= 0.98


@pytest.mark.slow
def test_of_smaller_steps_that_nobody_would_tell_the_guard_leaves_few() -> None:
    values = lively(35, 2, 0.08)
    without, guarded = (
        np.mean([told(verdict, 35, 0.08) is None for verdict in detect_changes(values, parameters)])
        for parameters in (Parameters(guard=math.inf), Parameters())
    )
    assert without > 0.2
    assert guarded < 0.1


def test_the_step_is_told_as_large_as_it_is_and_where_it_is() -> None:
    said = [told(verdict, 70, 1.0) for verdict in detect_changes(lively(70, 3, 1.0))]
    right = [one is not None and one.night == 70 and abs(one.change - 1) < 0.1 for one in said]
    assert np.mean(right) >= 0.97


def scores(logs: Table, threshold: float = 3.0) -> list[dict[int, float]]:
    return plain_scores(logs, np.full(len(logs), logs.shape[1]), threshold, 0.0)


def quiet(count: int, nights: int, seed: int = 0) -> Table:
    return NOISE * np.random.default_rng(seed).standard_normal((count, nights))


def test_four_nights_beyond_are_a_step_and_three_are_none() -> None:
    logs = quiet(1, 60)
    logs[:, 56:] += 0.1
    (found,) = scores(logs)
    assert list(plain_steps(found, 3.0)) == [56]
    assert 6 < found[56] < 12
    assert scores(logs[:, :-1]) == [{}]


def test_one_night_of_the_four_on_the_old_level_is_no_step() -> None:
    logs = quiet(1, 60)
    logs[:, 56:] += 0.1
    logs[:, 58] -= 0.1
    assert scores(logs) == [{}]


def test_a_step_downwards_scores_below_zero() -> None:
    logs = quiet(1, 60)
    logs[:, 40:] -= 0.1
    (found,) = scores(logs)
    assert {math.copysign(1, score) for score in found.values()} == {-1.0}
    assert list(plain_steps(found, 3.0)) == [40]


def test_nights_behind_the_end_of_a_series_are_none_of_its() -> None:
    logs = quiet(1, 60)
    logs[:, 50:] += 0.1
    assert plain_scores(logs, np.array([53]), 3.0, 0.0) == [{}]
    assert plain_scores(logs, np.array([54]), 3.0, 0.0) != [{}]


def test_too_few_nights_do_not_know_their_scatter() -> None:
    logs = quiet(1, MIN_NIGHTS)
    logs[:, -4:] += 0.2
    assert scores(logs) != [{}]
    assert scores(logs[:, 1:]) == [{}]
    longer = np.concatenate([logs[:, 1:], np.zeros((1, 20))], axis=1)
    assert plain_scores(longer, np.array([MIN_NIGHTS - 1]), 3.0, 0.0) == [{}]


@pytest.mark.parametrize(("noisy", "step"), [(slice(0, 50), 10), (slice(80, 160), 120), (slice(110, 160), 150)])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_score_is_the_least_distance_in_scatters_of_all_nights_or_of_those_around(
    noisy: slice, step: int, sign: int
) -> None:
    calm = 0.3 * quiet(1, 160)
    calm[:, noisy] *= 5
    logs = calm.copy()
    logs[:, step:] += sign * 0.3
    differences = np.abs(logs[0, LAG:] - logs[0, :-LAG])
    around = differences[max(step - AROUND, 0) : step + AROUND - LAG]
    assert scale(around) > scale(differences)
    nearest = (logs[0, step : step + NEW] * sign).min() * sign
    expected = (nearest - np.median(logs[0, step - BEFORE : step])) / (scale(around) / math.sqrt(2))
    (found,) = scores(logs, 8.0)
    assert list(found) == [step + later for later in range(NEW)]
    assert found[step] == pytest.approx(expected)


def test_a_step_that_is_found_is_taken_out_of_the_scatter_which_shows_a_smaller_one() -> None:
    logs = quiet(1, 80)
    for step in (30, 35, 40, 45, 50, 55):
        logs[:, step:] += 1.0
    logs[:, 60:] += 0.07
    assert list(plain_steps(scores(logs, 4.0)[0], 4.0)) == [30, 35, 40, 45, 50, 55, 60]


@pytest.mark.parametrize(
    ("beyond", "steps"),
    [
        ({10: 5.0, 11: 6.0, 12: 5.0, 13: 4.0}, [10]),
        ({10: 5.0, 12: 5.0}, [10]),
        ({10: 5.0, 12: 5.0, 13: 5.0}, [10]),
        ({10: 5.0, 11: 5.0, 13: 5.0}, [10, 13]),
        ({10: 5.0, 14: 5.0}, [10, 14]),
        ({10: 5.0, 11: -5.0}, [10, 11]),
        ({10: 3.0, 14: 2.9}, [10]),
        ({10: 2.9, 11: 3.0}, [11]),
        ({7: -3.0, 8: -3.5}, [7]),
    ],
)
def test_nights_that_show_one_step_are_one_step(beyond: dict[int, float], steps: list[int]) -> None:
    assert plain_steps(beyond, 3.0) == {night: beyond[night] for night in steps}


def test_a_plain_step_below_the_least_effect_is_none() -> None:
    values = np.full(60, 100.0)
    values[50:] = 100.46
    assert plain_scores(np.log(values)[None], np.array([60]), 4.0, 0.0) != [{}]
    assert plain_scores(np.log(values)[None], np.array([60]), 4.0, 0.005) == [{}]
    values[25:] *= 1.2
    (found,) = plain_scores(np.log(values)[None], np.array([60]), 4.0, 0.005)
    assert list(plain_steps(found, 4.0)) == [25]


def test_two_steps_of_one_direction_four_nights_apart_are_two() -> None:
    logs = quiet(1, 60)
    logs[:, 40:] += 0.15
    logs[:, 44:] += 0.15
    assert list(plain_steps(scores(logs)[0], 3.0)) == [40, 44]


def test_what_the_guard_alone_proves_carries_its_own_statistic_and_threshold() -> None:
    guarded = Parameters().guarded ** 2
    alone = [
        change
        for verdict in detect_changes(lively(35, 2, 0.16))
        for change in verdict.changes
        if change.threshold == guarded
    ]
    assert alone
    assert all(change.statistic >= change.threshold for change in alone)


def test_the_guard_is_paid_from_the_budget() -> None:
    whole, detectors = Budget(0.01), Budget(0.01 * (1 - GUARD_SHARE))
    lowest = FITS[0]
    assert 0 < GUARD_SHARE <= 0.1
    assert whole.threshold(0.0) == pytest.approx((lowest.intercept - math.log(detectors.rate)) / lowest.slope)
    assert whole.guard == pytest.approx((GUARD.intercept - math.log(0.01 * GUARD_SHARE)) / GUARD.slope)
    assert whole.suspicion**2 == pytest.approx(
        (SUSPICIONS.intercept - math.log(SUSPECTS_PER_ALARM * detectors.rate)) / SUSPICIONS.slope
    )
    assert whole.guard_suspicion < whole.guard < Budget(0.001).guard


def test_quiet_nights_of_any_noise_keep_the_guards_share() -> None:
    """Of 2,000 years a hundredth of an alarm each and a tenth of that: two are asked for, of noise with memory or modes."""
    random = np.random.default_rng(1)
    modes = 0.007 * random.standard_normal((2000, 365)) + 0.03 * (random.random((2000, 365)) < 0.3)
    for logs, most in ((quiet(2000, 365, 2), 1), (np.log1p(modes), 8)):
        found = scores(logs, Budget(0.01).guard)
        assert sum(len(plain_steps(one, Budget(0.01).guard)) for one in found) <= most


@pytest.mark.slow
def test_plain_steps_close_together_break_nothing() -> None:
    random = np.random.default_rng(3)
    for nights in (20, 30, 45):
        levels = np.cumsum((random.random((50, nights)) < 0.2) * random.choice([-0.2, 0.2], (50, nights)), axis=1)
        for parameters in (Parameters(), Parameters(budget=Budget(0.25))):
            for verdict in detect_changes(np.exp(levels + NOISE * random.standard_normal((50, nights))), parameters):
                told = [change.night for change in verdict.changes]
                assert told == sorted(set(told))
