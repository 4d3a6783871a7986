"""Two modes are found where they are far apart, and not in noise, spikes or the steps of a coarse timer."""

from __future__ import annotations

import numpy as np
import pytest

from aoe_reports.stats.modes import MIN_SHARE, Modes, find_modes

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


def two_levels(lower: int, upper: int, apart: float = 0.1) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Nights on two levels; on each they are spread evenly over 0.02, so that none repeats."""
    return np.concatenate([np.linspace(-0.01, 0.01, lower), apart + np.linspace(-0.01, 0.01, upper)])


@pytest.mark.parametrize(("nights", "told"), [(20, True), (19, False)])
def test_twenty_nights_are_enough(nights: int, told: bool) -> None:
    assert (find_modes(two_levels(nights - 8, 8)) is not None) is told


def is_cut_between(modes: Modes | None) -> bool:
    """Whether the modes are the two levels, and not one of them with nights of the other."""
    return modes is not None and modes.upper - modes.lower == pytest.approx(0.1)


@pytest.mark.parametrize(("rare", "told"), [(3, True), (2, False)])
@pytest.mark.parametrize("upper", [True, False])
@pytest.mark.parametrize("least_share", [MIN_SHARE, 0.01])
def test_the_rarer_mode_has_a_tenth_of_the_nights_and_three_at_least(
    rare: int, told: bool, upper: bool, least_share: float
) -> None:
    sides = (30 - rare, rare) if upper else (rare, 30 - rare)
    modes = find_modes(two_levels(*sides), least_share=least_share)
    assert is_cut_between(modes) is told
    if modes is not None and told:
        assert modes.share == pytest.approx(sides[1] / 30)
        assert modes.mean == pytest.approx(0.1 * sides[1] / 30)


@pytest.mark.parametrize(("rare", "told"), [(4, True), (3, False)])
def test_a_tenth_is_rounded_up(rare: int, told: bool) -> None:
    assert is_cut_between(find_modes(two_levels(31 - rare, rare))) is told


@pytest.mark.parametrize(("share", "told"), [(0.15, True), (0.2, False)])
def test_how_rare_a_mode_may_be_is_asked_for(share: float, told: bool) -> None:
    values = two_levels(34, 6)
    assert is_cut_between(find_modes(values, least_share=share)) is told
    assert find_modes(values, apart=100.0) is None


@pytest.mark.parametrize(("times", "told"), [(3.501, True), (3.499, False)])
def test_modes_lie_three_and_a_half_widths_apart(times: float, told: bool) -> None:
    """The width is that of both around their own means, of so many nights less two."""
    values = two_levels(15, 15, 0.0)
    width = (np.square(values).sum() / 28) ** 0.5
    modes = find_modes(two_levels(15, 15, times * width))
    assert (modes is not None) is told
    if modes is not None:
        assert modes.sigma == pytest.approx(width)


def test_modes_without_width_are_taken_to_scatter_by_a_tenth_of_a_percent() -> None:
    ramp = np.linspace(-1e-9, 1e-9, 15)
    modes = find_modes(np.concatenate([ramp, 0.0036 + ramp]))
    assert modes is not None
    assert modes.sigma == 0.001
    assert find_modes(np.concatenate([ramp, 0.0034 + ramp])) is None


@pytest.mark.parametrize(("repeated", "told"), [(15, True), (16, False)])
def test_a_timer_is_coarse_where_more_than_half_of_the_nights_repeat(repeated: int, told: bool) -> None:
    """Of thirty nights so many are like the one before, in the order of their times."""
    values = two_levels(16, 14)
    values[:16] = values[0]
    values[16 : 16 + repeated - 14] = values[16]
    assert (np.diff(values) == 0).sum() == repeated
    assert (find_modes(values) is not None) is told
