"""The noise of nights: what is out of line counts as far as three scatters."""

from __future__ import annotations

import numpy as np
import pytest

from aoe_reports.stats.noise import clip, estimate, known

NIGHTS = np.array([25])


@pytest.mark.parametrize("out", [-9.0, -3.01, -3.0, -1.0, 2.99, 3.0, 3.01, 50.0])
def test_a_night_is_clipped_at_three_scatters_from_its_neighbours(out: float) -> None:
    logs = np.zeros((1, 25))
    logs[0, 12] = out * 0.01
    clipped = clip(logs, NIGHTS, np.array([0.01]))
    assert clipped[0, 12] == pytest.approx(np.clip(out, -3, 3))
    assert np.delete(clipped[0], 12).tolist() == [0.0] * 24


def test_a_step_adds_no_more_to_the_scatter_than_three_of_it() -> None:
    """Nights one after the other differ by 1 %, once by 50 %: that one counts as three robust deviations."""
    logs = np.cumsum([[0.01 * (-1) ** night for night in range(25)]], axis=1)
    logs[0, 12:] += 0.5
    sigma, memory = estimate(logs, NIGHTS)
    assert memory[0] == 0
    assert sigma[0] == pytest.approx(np.sqrt((23 * 0.01**2 + (3 * 1.4826 * 0.01) ** 2) / 24 / 2))


def test_nights_never_remember_more_than_nine_tenths() -> None:
    """Nights that only rise: their differences at two nights are four times those at one."""
    _, memory = estimate(np.arange(25.0)[None, :] * 0.01, NIGHTS)
    assert memory.tolist() == [0.9]


def test_a_coarse_timer_is_not_taken_for_silence() -> None:
    """A timer of 1 us at 50 us with 1 % of noise: most neighbours are the same, and the scatter is more than half a step."""
    times = np.rint(50 * (1 + 0.01 * np.random.default_rng(3).standard_normal((200, 120))))
    sigma, _ = estimate(np.log(times), np.full(200, 120))
    assert np.quantile(sigma, 0.05) > 0.009
    assert np.median(sigma) == pytest.approx(np.log(times).std(axis=1).mean(), rel=0.15)


def test_of_few_nights_memory_is_believed_less() -> None:
    few, many = known(np.array([17, 120]))
    assert few < 0.7
    assert 0.9 < many < 1
