"""Series that are judged many at once are judged as each would be on a closer look, to the last figure."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.history.detection.candidates import prepare
from aoe_reports.history.detection.detector import detect_changes, judge
from aoe_reports.history.detection.quiet import quiet_verdicts
from aoe_reports.history.detection.verdicts import Parameters
from aoe_reports.stats.budget import Budget

SERIES, NIGHTS, CHANGE = 40, 120, 80
Noise = Callable[[np.random.Generator], np.ndarray]


def _white(rng: np.random.Generator) -> np.ndarray:
    return 0.01 * rng.standard_normal((SERIES, NIGHTS))


def _remembered(rng: np.random.Generator) -> np.ndarray:
    values = _white(rng)
    for night in range(1, NIGHTS):
        values[:, night] += 0.5 * values[:, night - 1]
    return values


def _heavy(rng: np.random.Generator) -> np.ndarray:
    spiked = rng.random((SERIES, NIGHTS)) < 0.02
    return 0.006 * rng.standard_t(3, (SERIES, NIGHTS)) + spiked * rng.uniform(0.1, 0.3, (SERIES, NIGHTS))


def _bursts(rng: np.random.Generator) -> np.ndarray:
    values = _white(rng)
    for series, night in zip(*np.nonzero(rng.random((SERIES, NIGHTS)) < 0.01), strict=True):
        values[series, night : night + rng.integers(2, 4)] += 0.15
    return values


NOISES: dict[str, Noise] = {
    "normal": _white,
    "remembered": _remembered,
    "heavy": _heavy,
    "bursts": _bursts,
    "two modes": lambda rng: 0.7 * _white(rng) + 0.03 * (rng.random((SERIES, NIGHTS)) < 0.3),
    "stays": lambda rng: 0.7 * _white(rng) + 0.03 * (np.cumsum(rng.random((SERIES, NIGHTS)) < 0.2, axis=1) % 2),
    "weekdays": lambda rng: _white(rng) + rng.uniform(-0.05, 0.05, 7)[np.arange(NIGHTS) % 7],
    "coarse timer": lambda rng: np.rint(50 * (1 + _white(rng))) / 50 - 1,
    "wider": lambda rng: _white(rng) * np.where(np.arange(NIGHTS) < CHANGE, 0.5, 2.0),
    "narrower": lambda rng: _white(rng) * np.where(np.arange(NIGHTS) < CHANGE, 2.0, 0.5),
    "constant": lambda rng: np.zeros((SERIES, NIGHTS)) * rng.random(),
    "steps": lambda rng: _white(rng) + (np.arange(NIGHTS) >= CHANGE) * rng.choice([0.0, 0.01, 0.05], (SERIES, 1)),
}


def _made(kind: str, seed: int, nights: int, gaps: float) -> np.ndarray:
    rng = np.random.default_rng(seed)
    values = 100 * (1 + NOISES[kind](rng))[:, NIGHTS - nights :]
    values[rng.random(values.shape) < gaps] = np.nan
    return np.asarray(values)


@pytest.mark.slow
@given(
    kind=st.sampled_from(sorted(NOISES)),
    seed=st.integers(0, 10_000),
    nights=st.integers(5, NIGHTS),
    gaps=st.sampled_from([0.0, 0.1]),
    rate=st.sampled_from([0.25, 0.01, 1e-5]),
    one_workload=st.booleans(),
)
def test_verdicts_of_many_at_once_are_those_of_a_closer_look(
    *, kind: str, seed: int, nights: int, gaps: float, rate: float, one_workload: bool
) -> None:
    values, parameters = _made(kind, seed, nights, gaps), Parameters(budget=Budget(rate))
    workloads = [0] * SERIES if one_workload else None
    (several,) = prepare(values, parameters, workloads=workloads)
    closely = [judge(one) for one in several]
    for place, verdict in quiet_verdicts(several).items():
        assert repr(verdict) == repr(closely[place])
    assert detect_changes(values, parameters, workloads=workloads) == closely


@pytest.mark.parametrize(("kind", "share"), [("normal", 0.9), ("remembered", 0.7), ("weekdays", 0.8)])
def test_most_quiet_series_need_no_closer_look(kind: str, share: float) -> None:
    (several,) = prepare(_made(kind, 1, NIGHTS, 0.0), Parameters())
    assert len(quiet_verdicts(several)) >= share * SERIES
