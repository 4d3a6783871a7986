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
