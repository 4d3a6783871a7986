"""What series of one workload tell each other of their noise."""

from __future__ import annotations

import numpy as np
import pytest

from aoe_reports.stats import noise
from aoe_reports.stats.habits import MAX_SPIKES, OWN_WEIGHT, Habits, pool, signs_of

Table = np.ndarray[tuple[int, int], np.dtype[np.float64]]
SERIES, NIGHTS = 40, 120


def logs_of(memory: float, seed: int = 1) -> Table:
    values = 0.01 * np.random.default_rng(seed).standard_normal((SERIES, NIGHTS))
    for night in range(1, NIGHTS):
        values[:, night] = memory * values[:, night - 1] + np.sqrt(1 - memory**2) * values[:, night]
    return values


def habits_of(logs: Table, workloads: list[int] | None) -> list[Habits]:
    lengths = np.full(len(logs), logs.shape[1])
    sigma, _ = noise.estimate(logs, lengths)
    return pool([signs_of(logs, lengths, sigma, noise.clip(logs, lengths, sigma))], workloads)


def test_a_series_without_others_expects_no_memory() -> None:
    (one, *_) = habits_of(logs_of(0.7), None)
    assert (one.memory, one.weight) == (0.0, OWN_WEIGHT)


@pytest.mark.parametrize("memory", [0.0, 0.4, 0.7])
def test_the_memory_of_a_workload_is_that_of_its_series(memory: float) -> None:
    habits = habits_of(logs_of(memory), [0] * SERIES)
    assert len(set(habits)) == 1
    assert habits[0].memory == pytest.approx(memory, abs=0.07)
    assert habits[0].weight > 2 * NIGHTS  # what its series differ by is chance


def test_series_that_differ_tell_each_other_less_than_those_that_do_not() -> None:
    differing = np.concatenate([logs_of(0.0), logs_of(0.8, 2)])
    assert habits_of(differing, [0] * 2 * SERIES)[0].weight < habits_of(logs_of(0.0), [0] * SERIES)[0].weight / 5


def test_workloads_tell_each_other_nothing() -> None:
    together = np.concatenate([logs_of(0.0), logs_of(0.8, 2)])
    assert habits_of(together, [0] * SERIES + [1] * SERIES)[0] == habits_of(logs_of(0.0), [0] * SERIES)[0]


@pytest.mark.parametrize("length", [2, 3])
def test_a_run_that_one_series_had_is_expected_of_all(length: int) -> None:
    logs = logs_of(0.0)
    logs[5, 60 : 60 + length] += 0.2
    shares = habits_of(logs, [0] * SERIES)[0].runs
    assert shares[2] == pytest.approx(1 / logs.size)
    assert shares[3] == (shares[2] if length == 3 else 0)


@pytest.mark.parametrize(("begin", "length"), [(60, 4), (NIGHTS - 2, 2)])
def test_a_level_and_what_has_not_ended_are_no_runs(begin: int, length: int) -> None:
    logs = logs_of(0.0)
    logs[5, begin : begin + length] += 0.2
    assert habits_of(logs, None)[5].runs == (0.0,) * 4


def test_single_nights_are_counted_over_the_workload() -> None:
    logs = logs_of(0.0)
    quiet = habits_of(logs, [0] * SERIES)[0].spikes
    logs[::2, 60] += 0.2
    assert habits_of(logs, [0] * SERIES)[0].spikes - quiet == pytest.approx(20 / logs.size, rel=0.2)


def test_spikes_of_a_workload_are_expected_only_so_often() -> None:
    logs = logs_of(0.0)
    logs[:, 10::20] += 0.2
    assert habits_of(logs, [0] * SERIES)[0].spikes == MAX_SPIKES
