"""Patterns of the week are taken out where they are proved, and nothing else is touched."""

from __future__ import annotations

import numpy as np
import pytest

from aoe_reports.stats.weekdays import WEEK, take_out_weekdays

NIGHTS = 84
DAYS = np.broadcast_to(np.arange(NIGHTS) % WEEK, (100, NIGHTS))
LENGTHS = np.full(100, NIGHTS)
PATTERN = np.array([0.05, 0.03, -0.05, 0.0, 0.02, -0.04, -0.01])


def quiet(seed: int) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    return 0.01 * np.random.default_rng(seed).standard_normal((100, NIGHTS))


def test_a_pattern_is_taken_out_and_a_step_stays() -> None:
    logs = quiet(1) + PATTERN[DAYS]
    logs[:, 60:] += 0.2
    plain = take_out_weekdays(logs, DAYS, LENGTHS)
    rest = plain - np.where(np.arange(NIGHTS) < 60, 0.0, 0.2)
    assert rest.std() == pytest.approx(0.01, rel=0.15)
    by_day = [rest[:, day::WEEK].mean() for day in range(WEEK)]
    assert np.ptp(by_day) < 0.005


def test_noise_has_no_pattern() -> None:
    logs = quiet(2)
    assert np.array_equal(take_out_weekdays(logs, DAYS, LENGTHS), logs)


def test_three_weeks_show_no_pattern() -> None:
    logs = (quiet(3) + PATTERN[DAYS])[:, :27]
    assert np.array_equal(take_out_weekdays(logs, DAYS[:, :27], np.full(100, 27)), logs)


def test_what_was_given_is_not_changed() -> None:
    logs = quiet(4) + PATTERN[DAYS]
    given = logs.copy()
    take_out_weekdays(logs, DAYS, LENGTHS)
    assert np.array_equal(logs, given)


def least_taken_out(noise: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    """The least multiple of PATTERN that is taken out of a series of these nights."""
    days = np.arange(len(noise))[None]

    def is_taken(times: float) -> bool:
        logs = (noise + times * PATTERN[days % WEEK]).reshape(1, -1)
        return not np.array_equal(take_out_weekdays(logs, days, np.array([len(noise)])), logs)

    low, high = 0.0, 2.0
    assert is_taken(high)
    while high - low > 1e-7:
        middle = (low + high) / 2
        low, high = (low, middle) if is_taken(middle) else (middle, high)
    return high


@pytest.mark.parametrize(
    ("nights", "seed", "least"),
    [(28, 1, 0.346763), (28, 2, 0.363658), (35, 1, 0.312556), (35, 3, 0.290355), (84, 1, 0.177803), (84, 2, 0.219674)],
)
def test_the_evidence_that_a_pattern_needs(nights: int, seed: int, least: float) -> None:
    """The longer a series the smaller a pattern is proved; what proves it is not to change unnoticed."""
    noise = 0.01 * np.random.default_rng(seed).standard_normal(nights)
    assert least_taken_out(noise) == pytest.approx(least, abs=1e-5)


@pytest.mark.parametrize("nights", [28, 30, 84])
def test_of_a_series_without_noise_the_evidence_is_its_pattern_in_units_of_a_tenth_of_a_percent(nights: int) -> None:
    """40 squared scores over the nights that have three on either side; scatter counts as 0.001 at least."""
    inside = np.arange(3, nights - 3) % WEEK
    pattern = PATTERN - PATTERN.mean()
    assert least_taken_out(np.zeros(nights)) == pytest.approx(0.001 * (40 / np.square(pattern[inside]).sum()) ** 0.5, rel=1e-4)  # fmt: skip


def test_each_series_is_looked_at_over_its_own_nights() -> None:
    logs = np.tile(PATTERN[DAYS[:1]], (3, 1)) + 5.0
    lengths = np.array([NIGHTS, 28, 27])
    logs[1, 28:] = logs[2, 27:] = 0.0
    plain = take_out_weekdays(logs, DAYS[:3], lengths)
    assert plain[0] == pytest.approx(np.full(NIGHTS, 5.0))
    assert plain[1, :28] == pytest.approx(np.full(28, 5.0))
    assert not plain[1, 28:].any()
    assert np.array_equal(plain[2], logs[2])


def test_nights_at_weekends_may_be_missing() -> None:
    days = np.array([day for day in range(NIGHTS) if day % WEEK < 5])
    logs = (PATTERN[days % WEEK] + 0.002 * np.random.default_rng(3).standard_normal(len(days)))[None]
    plain = take_out_weekdays(logs, days[None], np.array([len(days)]))
    assert np.ptp([plain[0, days % WEEK == day].mean() for day in range(5)]) < 0.003
    assert plain.mean() == pytest.approx(logs.mean(), abs=0.003)


def test_spikes_hide_no_pattern() -> None:
    logs = quiet(5)[:1] + PATTERN[DAYS[:1]]
    logs[0, [20, 45]] += 3.0
    plain = take_out_weekdays(logs, DAYS[:1], LENGTHS[:1])
    assert not np.array_equal(plain, logs)
    assert plain[0, [20, 45]] == pytest.approx(logs[0, [20, 45]] - PATTERN[[20 % WEEK, 45 % WEEK]], abs=0.01)
