"""Two modes are found where they are far apart, and not in noise, spikes or the steps of a coarse timer."""

from __future__ import annotations

import numpy as np
import pytest

from aoe_reports.stats.modes import find_modes

RANDOM = np.random.default_rng(11)
NOISE = RANDOM.standard_normal((200, 120))


def share_of_two(values: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> float:
    return float(np.mean([find_modes(one) is not None for one in values]))


def test_two_modes_are_found_where_they_are() -> None:
    upper = np.random.default_rng(12).random((200, 120)) < 0.3
    values = 0.007 * NOISE + 0.03 * upper
    assert share_of_two(values) > 0.95
    modes = find_modes(values[0])
    assert modes is not None
    assert modes.upper - modes.lower == pytest.approx(0.03, abs=0.004)
    assert modes.share == pytest.approx(upper[0].mean(), abs=0.05)
    assert modes.sigma == pytest.approx(0.007, rel=0.25)
    assert (1 - modes.share) * modes.lower + modes.share * modes.upper == pytest.approx(0, abs=1e-12)


def test_one_mode_is_one() -> None:
    assert share_of_two(0.01 * NOISE) == 0


def test_spikes_are_no_mode() -> None:
    values = 0.01 * NOISE
    values[:, ::30] += 0.3
    assert share_of_two(values) == 0


def test_steps_of_a_coarse_timer_are_no_modes() -> None:
    assert share_of_two(np.log(np.rint(50 * (1 + 0.005 * NOISE)))) == 0


def test_few_nights_show_none() -> None:
    assert find_modes(np.tile([0.0, 1.0, 0.001], 6)) is None
