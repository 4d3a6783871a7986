"""The scatter of a workload: of its series together two nights tell what one series shows after weeks."""

from __future__ import annotations

import numpy as np
import pytest

from aoe_reports.history.detection.detector import detect_changes
from aoe_reports.stats.scatter import MIN_SERIES, common_scatter

SERIES, NIGHTS, CHANGE = 40, 100, 60


def moves(logs: np.ndarray) -> np.ndarray:
    """What nights are off the night before, of series that scatter by 1."""
    return np.concatenate([np.full((len(logs), 1), np.nan), np.diff(logs, axis=1) / np.sqrt(2)], axis=1)


def white(seed: int, series: int = SERIES) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((series, NIGHTS))


@pytest.mark.parametrize("times", [4.0, 0.25])
def test_a_scatter_that_changed_is_known_within_five_nights_with_its_size(times: float) -> None:
    logs = white(1) * np.where(np.arange(NIGHTS) < CHANGE, 1.0, times)
    found = common_scatter(moves(logs[:, : CHANGE + 5]))
    assert found is not None
    assert found.min() == 1.0
    before, after = found[CHANGE - 1], found[CHANGE + 2]
    assert after / before == pytest.approx(times, rel=0.4)
    assert np.abs(np.flatnonzero(np.diff(found)) + 1 - CHANGE).max() <= 1


@pytest.mark.parametrize("spikes", [0.0, 0.05])
def test_noise_spikes_steps_and_nights_in_common_are_no_change_of_scatter(spikes: float) -> None:
    logs = white(2)
    logs[:, CHANGE:] += 5.0
    logs[:, 80] += 20.0
    logs += 20.0 * (np.random.default_rng(3).random(logs.shape) < spikes)
    assert common_scatter(moves(logs)) is None


@pytest.mark.parametrize("share", [0.4, 0.5, 1.0])
def test_steps_of_many_series_in_one_night_are_no_change_of_scatter(share: float) -> None:
    rng, stepped = np.random.default_rng(7), int(share * SERIES)
    logs = white(8)
    logs[:stepped, CHANGE:] += rng.uniform(5.0, 20.0, (stepped, 1))
    for end in (CHANGE + 1, CHANGE + 2, CHANGE + 3, NIGHTS):
        assert common_scatter(moves(logs[:, :end])) is None


@pytest.mark.parametrize("night", [0, 1, 2, CHANGE, NIGHTS - 3, NIGHTS - 2, NIGHTS - 1])
def test_a_single_calm_night_of_all_series_is_no_change_of_scatter(night: int) -> None:
    calm = moves(white(10))
    calm[:, night] /= 2.5
    assert common_scatter(calm) is None


def test_a_single_noisy_night_of_all_series_has_a_wider_scatter() -> None:
    logs = white(9)
    logs[:, CHANGE] *= 6.0
    found = common_scatter(moves(logs))
    assert found is not None
    # the night after it is off it, too
    assert np.flatnonzero(found > 1.5).tolist() == [CHANGE, CHANGE + 1]


def test_few_series_few_nights_and_coarse_timers_tell_nothing() -> None:
    logs = white(4) * np.where(np.arange(NIGHTS) < CHANGE, 1.0, 4.0)
    assert common_scatter(moves(logs)) is not None
    assert common_scatter(moves(logs[: MIN_SERIES - 1])) is None
    assert common_scatter(moves(logs[:, CHANGE - 9 : CHANGE + 9])) is None
    assert common_scatter(moves(np.rint(logs))) is None


def test_series_that_became_noisier_together_raise_no_alarm_and_their_steps_are_told() -> None:
    rng = np.random.default_rng(5)
    values = 100 * np.exp(rng.standard_normal((SERIES, NIGHTS)) * np.where(np.arange(NIGHTS) < CHANGE, 0.005, 0.02))
    workloads = [0] * SERIES
    nights = range(CHANGE + 3, CHANGE + 20)
    assert not any(one.changes for end in nights for one in detect_changes(values[:, :end], workloads=workloads))
    values[: SERIES // 4, CHANGE + 20 :] *= 1.08
    told = [bool(one.changes) for one in detect_changes(values[:, : CHANGE + 27], workloads=workloads)]
    assert sum(told[: SERIES // 4]) >= 0.8 * SERIES / 4


def test_a_series_that_stays_as_it_was_in_a_noisier_workload_keeps_its_own_scatter() -> None:
    logs = np.random.default_rng(6).standard_normal((SERIES, NIGHTS)) * 0.005
    logs[1:, CHANGE:] *= 4
    logs[0, 90:] += 0.03
    verdict = detect_changes(100 * np.exp(logs[:, :94]), workloads=[0] * SERIES)[0]
    assert [abs(one.night - 90) <= 1 for one in verdict.changes] == [True]


def test_a_regression_of_all_series_with_unlike_scatters_is_told_by_its_third_night() -> None:
    rng = np.random.default_rng(60)
    scatters = np.exp(rng.uniform(np.log(0.002), np.log(0.01), (SERIES, 1)))
    logs = rng.standard_normal((SERIES, NIGHTS)) * scatters
    logs[:, CHANGE:] += np.log(1.08)
    together, alone = (
        detect_changes(100 * np.exp(logs[:, : CHANGE + 3]), workloads=workloads)
        for workloads in ([0] * SERIES, range(SERIES))
    )
    assert sum(bool(one.changes) for one in together) >= sum(bool(one.changes) for one in alone) >= 0.8 * SERIES
    assert all(one.changes or one.suspect for one in together)
