"""The detector in noise of other kinds: weekdays, two modes, a coarse timer, series that are still young."""

from __future__ import annotations

import numpy as np
import pytest

from aoe_reports.history.detection.detector import detect_changes

Table = np.ndarray[tuple[int, int], np.dtype[np.float64]]
COUNT, NIGHTS, CHANGE = 60, 120, 100
WEEKDAYS = np.array([0.05, 0.03, -0.05, 0.0, 0.02, -0.04, -0.01])


def gauss(seed: int, nights: int = NIGHTS) -> Table:
    return np.random.default_rng(seed).standard_normal((COUNT, nights))


def found(values: Table, change: int) -> float:
    """The share of series of which a change near a night is told."""
    return float(
        np.mean(
            [
                any(change - 3 <= one.night <= change + 10 for one in verdict.changes)
                for verdict in detect_changes(values)
            ]
        )
    )


def changed(values: Table) -> float:
    """The share of series of which any change is told."""
    return float(np.mean([bool(verdict.changes) for verdict in detect_changes(values)]))


def test_a_step_as_large_as_the_pattern_of_the_week_is_told_in_a_week() -> None:
    values = 100 * np.exp(0.01 * gauss(1) + WEEKDAYS[np.arange(NIGHTS) % 7])
    assert changed(values) == 0
    values[:, CHANGE:] *= 1.05
    assert found(values[:, : CHANGE + 7], CHANGE) >= 0.95


def test_missing_nights_do_not_shift_the_week() -> None:
    values = 100 * np.exp(0.01 * gauss(2) + WEEKDAYS[np.arange(NIGHTS) % 7])
    values[:, CHANGE:] *= 1.05
    values[np.random.default_rng(3).random(values.shape) < 0.1] = np.nan
    assert found(values[:, : CHANGE + 8], CHANGE) >= 0.95


def test_the_week_is_that_of_the_calendar() -> None:
    """A store without nights at weekends: the pattern of five days."""
    days = [day for day in range(NIGHTS * 7 // 5) if day % 7 < 5]
    values = 100 * np.exp(0.01 * gauss(11) + WEEKDAYS[np.array(days) % 7])
    values[:, CHANGE:] *= 1.05
    told = [[one.night for one in verdict.changes] for verdict in detect_changes(values, days=days)]
    assert np.mean([any(abs(night - CHANGE) <= 3 for night in one) for one in told]) >= 0.95


def two_modes(seed: int, stay: float) -> Table:
    """Nights that stay in one of two modes 3 % apart, so many nights on average."""
    switches = np.random.default_rng(seed).random((COUNT, NIGHTS)) < 1 / stay
    return 100 * (1 + 0.007 * gauss(seed + 1) + 0.03 * (np.cumsum(switches, axis=1) % 2))


def test_a_step_smaller_than_the_modes_are_apart_is_told() -> None:
    values = 100 * (1 + 0.007 * gauss(4) + 0.03 * (np.random.default_rng(5).random((COUNT, NIGHTS)) < 0.3))
    assert changed(values) == 0
    values[:, CHANGE:] *= 1.02
    assert found(values[:, : CHANGE + 14], CHANGE) >= 0.7


@pytest.mark.parametrize(("stay", "most"), [(3, 0.02), (8, 0.02)])
def test_the_next_switch_between_two_modes_is_no_change(stay: float, most: float) -> None:
    assert changed(two_modes(6, stay)) <= most


def test_a_slow_down_that_comes_back_is_told_again() -> None:
    """Slower, recovered, and slower again: three switches are three changes, not a mode."""
    values = 100 * (1 + 0.007 * gauss(8))
    values[:, 30:60] *= 1.05
    values[:, CHANGE:] *= 1.05
    assert found(values, CHANGE) >= 0.98


def test_a_timer_of_one_microsecond_hides_no_step_and_makes_none() -> None:
    values = 50 * (1 + 0.01 * gauss(9))
    assert changed(np.rint(values)) <= 0.02
    values[:, CHANGE:] *= 1.05
    assert found(np.rint(values[:, : CHANGE + 7]), CHANGE) >= 0.95


def test_two_weeks_of_nights_are_enough_for_a_large_step() -> None:
    values = 100 * (1 + 0.01 * gauss(10, 21))
    values[:, 14:] *= 1.08
    assert found(values[:, :17], 14) >= 0.7
    assert found(values, 14) >= 0.95


def test_a_step_of_all_series_of_a_young_workload_is_no_memory_of_it() -> None:
    values = 100 * (1 + 0.01 * np.random.default_rng(3).standard_normal((200, 17)))
    values[:, 14:] *= 1.08
    verdicts = detect_changes(values, workloads=[row // 20 for row in range(200)])
    assert np.mean([bool(one.changes) for one in verdicts]) >= 0.85


@pytest.mark.parametrize("height", [0.05, 0.1])
def test_a_warm_up_in_the_first_ten_nights_is_no_improvement(height: float) -> None:
    falling = height * np.maximum(1 - np.arange(60) / 10, 0)
    values = 100 * (1 + falling + 0.01 * gauss(12, 60))
    told = [changed(values[:, :nights]) for nights in (12, 16, 21, 30, 60)]
    assert max(told) <= 0.05


@pytest.mark.parametrize(("night", "least"), [(8, 0.9), (14, 0.95)])
def test_an_improvement_in_the_first_nights_is_one(night: int, least: float) -> None:
    values = 100 * (1 + 0.01 * gauss(13, 40))
    values[:, night:] *= 0.95
    assert found(values, night) >= least


@pytest.mark.parametrize(("before", "after"), [(0.005, 0.02), (0.02, 0.005)])
def test_a_change_of_scatter_is_seldom_a_change_of_level(before: float, after: float) -> None:
    values = 100 * (1 + gauss(14) * np.where(np.arange(NIGHTS) < CHANGE - 40, before, after))
    told = [changed(values[:, :nights]) for nights in (CHANGE - 35, CHANGE - 25, CHANGE, NIGHTS)]
    assert max(told) <= 0.07


def test_a_step_in_the_wider_half_is_told() -> None:
    values = 100 * (1 + gauss(15) * np.where(np.arange(NIGHTS) < 50, 0.005, 0.02))
    values[:, CHANGE:] *= 1.05
    told = [[one.night for one in verdict.changes] for verdict in detect_changes(values)]
    assert np.mean([any(abs(night - CHANGE) <= 10 for night in one) for one in told]) >= 0.95


def remembered(seed: int, memory: float, nights: int = NIGHTS) -> Table:
    values = 0.01 * gauss(seed, nights)
    for night in range(1, nights):
        values[:, night] = memory * values[:, night - 1] + np.sqrt(1 - memory**2) * values[:, night]
    return np.asarray(100 * (1 + values))


def test_a_step_in_noise_that_remembers_is_told_in_a_week() -> None:
    values = remembered(16, 0.7)
    values[:, CHANGE:] *= 1.05
    assert found_together(values[:, : CHANGE + 7], CHANGE) >= 0.65


def test_two_percent_in_noise_that_remembers_are_told_in_two_weeks_where_the_workload_knows_its_memory() -> None:
    values = remembered(17, 0.4)
    values[:, CHANGE:] *= 1.02
    assert found_together(values[:, : CHANGE + 14], CHANGE) >= 0.25


def found_together(values: Table, change: int) -> float:
    """The share of series of one workload of which a change near a night is told."""
    verdicts = detect_changes(values, workloads=[0] * len(values))
    return float(
        np.mean([any(change - 3 <= one.night <= change + 10 for one in verdict.changes) for verdict in verdicts])
    )


def test_a_burst_that_a_workload_knows_is_no_level_and_what_stays_longer_is_one() -> None:
    values = 100 * (1 + 0.01 * gauss(19))
    for series in range(0, COUNT, 2):
        values[series, series : series + 3] *= 1.2
    values[1::2, CHANGE:] *= 1.2  # the first of these series
    told = [
        np.mean([bool(one.changes) for one in detect_changes(values[:, :nights], workloads=workloads)[1::2]])
        for nights, workloads in ((CHANGE + 3, None), (CHANGE + 3, [0] * COUNT), (CHANGE + 6, [0] * COUNT))
    ]
    assert told[0] >= 0.8
    assert told[1] <= 0.05
    assert told[2] >= 0.95


def test_series_of_other_workloads_say_nothing() -> None:
    values = np.concatenate([remembered(20, 0.0), remembered(21, 0.8)])
    workloads = [0] * COUNT + [1] * COUNT
    assert detect_changes(values, workloads=workloads)[:COUNT] == detect_changes(values[:COUNT], workloads=[0] * COUNT)


def test_three_nights_are_a_level_where_the_workload_is_used_to_spikes() -> None:
    random = np.random.default_rng(23)
    usual = random.standard_t(3, (COUNT, NIGHTS)) / np.sqrt(3)
    spikes = (random.random((COUNT, NIGHTS)) < 0.02) * random.uniform(0.1, 0.3, (COUNT, NIGHTS))
    values = 100 * (1 + 0.01 * usual + spikes)
    values[:, CHANGE:] *= 1.05
    assert found_together(values[:, : CHANGE + 3], CHANGE) >= 0.25


def test_noise_that_remembers_has_a_smallest_detectable_change_and_it_is_detected() -> None:
    values = remembered(23, 0.7)
    seen = detect_changes(values[:, : CHANGE + 6], workloads=[0] * COUNT)
    shifts = np.array([verdict.smallest_detectable or np.nan for verdict in seen])
    assert not np.isnan(shifts).any()
    values[:, CHANGE + 6 :] *= 1 + shifts[:, None]
    assert found_together(values, CHANGE + 6) >= 0.8


@pytest.mark.parametrize("nights", [1, 2, 3])
def test_a_step_of_eight_sigma_is_suspect_until_it_is_told(nights: int) -> None:
    # its own nights are no wider scatter that would excuse them
    values = 100 * np.exp(0.01 * gauss(11))
    values[:, CHANGE:] *= 1.08
    assert all(verdict.changes or verdict.suspect for verdict in detect_changes(values[:, : CHANGE + nights]))


def test_nights_of_a_series_whose_scatter_grew_weeks_ago_are_suspect_by_that_scatter() -> None:
    values = 100 * np.exp(gauss(12) * np.where(np.arange(NIGHTS) < 60, 0.0025, 0.01))
    values[:, 20:] *= 1.05  # a change, so that its scatter is looked at
    nights = range(80, NIGHTS, 2)
    suspected = [bool(one.suspect) for end in nights for one in detect_changes(values[:, :end])]
    assert np.mean(suspected) <= 0.005
