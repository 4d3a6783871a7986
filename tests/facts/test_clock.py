"""Frequencies of cores: which counters tell one, how long it must be held, and what it is held against."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from frames import tasks_of

from aoe_reports.facts.clock import Clock, measure_clock


def clock_of(rows: list[dict[str, Any]], **chip: Any) -> Clock | None:
    frame = tasks_of(rows)

    def column(name: str) -> Any:
        if name not in frame.column_names:
            return None
        values = frame[name].to_pylist()
        return np.array([value or 0.0 for value in values]), np.array([value is not None for value in values])

    return measure_clock(frame, column, **chip)


def cube(mhz: float, us: float = 100.0, blocks: int = 24, cores: int = 24) -> dict[str, Any]:
    """A task on cube cores at a frequency; the cycles are those of all cores at work."""
    return {"block_num": blocks, "aicore_time_us": us, "aic_total_cycles": mhz * us * blocks / -(-blocks // cores)}


def vector(mhz: float, us: float = 100.0, blocks: int = 48) -> dict[str, Any]:
    return {"task_type": "AI_VECTOR_CORE", "block_num": blocks, "aiv_time_us": us, "aiv_total_cycles": mhz * us * blocks}  # fmt: skip


@pytest.mark.parametrize(("us", "tells"), [(5.0, True), (4.999, False)])
def test_short_tasks_tell_no_frequency(us: float, tells: bool) -> None:
    assert (clock_of([cube(1000, us)] * 3) is not None) is tells
    found = clock_of([cube(1000), cube(900, us)])
    assert found is not None
    assert np.isnan(found.relative).tolist() == [False, not tells]


@pytest.mark.parametrize("lost", ["block_num", "aicore_time_us", "aic_total_cycles"])
def test_without_a_counter_nothing_is_told(lost: str) -> None:
    rows = [{key: value for key, value in cube(1000).items() if key != lost}] * 3
    assert clock_of(rows) is None
    found = clock_of([cube(1000), cube(1000) | {lost: None}, cube(1000) | {lost: 0}])
    assert found is not None
    assert np.isnan(found.relative).tolist() == [False, True, True]


def test_tasks_without_types_tell_nothing() -> None:
    frame = pa.table({"block_num": [24, 24]})
    assert measure_clock(frame, lambda name: (np.full(2, 100.0), np.full(2, fill_value=True))) is None


@pytest.mark.parametrize(("slow", "nominal"), [(19, 2000), (20, 1000)])
def test_a_frequency_is_a_level_where_it_is_held_for_a_twentieth_of_the_time(slow: int, nominal: float) -> None:
    found = clock_of([cube(1000)] * slow + [cube(2000)])
    assert found is not None
    assert found.nominal_mhz == pytest.approx(nominal)
    assert found.relative == pytest.approx([min(1000 / nominal, 1.0)] * slow + [1.0])


def test_a_frequency_is_held_for_the_time_of_its_tasks() -> None:
    found = clock_of([cube(1000)] * 39 + [cube(2000, 400.0)])
    assert found is not None
    assert found.nominal_mhz == pytest.approx(2000)


@pytest.mark.parametrize(("step", "nominal"), [(0.0099, 1), (0.029, 2), (0.031, None)])
def test_frequencies_within_one_percent_are_one(step: float, nominal: int | None) -> None:
    """Three of them, none held for half of the time by itself: neighbours of a class count as held with it."""
    lowest = math.exp(6.9 + 1e-6)
    found = clock_of([cube(lowest * math.exp(step * place)) for place in range(3)], cube_cores=24)
    assert (found is None) is (nominal is None)
    if found is not None and nominal is not None:
        assert found.nominal_mhz == pytest.approx(lowest * math.exp(step * nominal), rel=1e-6)


@pytest.mark.parametrize(("rated", "nominal", "is_rated"), [(1010.0, 1000, False), (1010.1, 1010.1, True), (900.0, 1000, False), (None, 1000, False)])  # fmt: skip
def test_the_rated_frequency_counts_where_it_is_higher_by_more_than_one_percent(
    rated: float | None, nominal: float, is_rated: bool
) -> None:
    found = clock_of([cube(1000)] * 3, cube_cores=24, rated_mhz=rated)
    assert found is not None
    assert (found.nominal_mhz, found.rated) == (pytest.approx(nominal), is_rated)
    assert found.relative == pytest.approx(np.full(3, 1000 / nominal))


@pytest.mark.parametrize(("mhz", "nominal"), [(5000.0, 5000.0), (5001.0, None)])
def test_no_core_runs_at_more_than_5_ghz(mhz: float, nominal: float | None) -> None:
    found = clock_of([cube(mhz)] * 3, cube_cores=24)
    assert found is not None
    assert (found.nominal_mhz, found.rated) == (nominal, False)
    assert found.relative == pytest.approx(np.ones(3))


@pytest.mark.parametrize(("apart", "tells"), [(99.9, True), (100.1, False)])
def test_counters_that_lie_beyond_all_reason_tell_nothing(apart: float, tells: bool) -> None:
    rows = [cube(math.exp(6.0))] * 40 + [cube(math.exp(6.0 + apart))]
    assert (clock_of(rows, cube_cores=24) is not None) is tells


def test_each_kind_of_cores_has_its_counters() -> None:
    mixed = {"task_type": "MIX_AIC", "block_num": 24, "aicore_time_us": 100.0, "aic_total_cycles": 9e6, "aiv_time_us": 100.0, "aiv_total_cycles": 9e6}  # fmt: skip
    found = clock_of([cube(1500), cube(1500), vector(1800), vector(900), mixed])
    assert found is not None
    assert (found.cube_cores, found.vector_cores, found.nominal_mhz) == (24, 48, pytest.approx(1800))
    assert found.relative[:4] == pytest.approx([1.0, 1.0, 1.0, 0.5])
    assert np.isnan(found.relative[4])
    rated = clock_of([cube(1500), vector(1800)], rated_mhz=1600.0)
    assert rated is not None
    assert (rated.nominal_mhz, rated.rated, rated.relative.tolist()) == (pytest.approx(1800), False, pytest.approx([1500 / 1600, 1.0]))  # fmt: skip


def test_the_one_core_of_an_older_chip_counts_as_cube() -> None:
    rows = [{"block_num": blocks, "aicore_time_us": 100.0, "total_cycles": 1e5 * blocks} for blocks in (8, 32, 16)]
    found = clock_of(rows)
    assert found is not None
    assert (found.cube_cores, found.vector_cores, found.nominal_mhz) == (32, None, pytest.approx(1000))
    told = clock_of(rows, cube_cores=32)
    assert told is not None
    assert (told.cube_cores, told.relative.tolist()) == (32, pytest.approx([1.0, 1.0, 1.0]))


@pytest.mark.parametrize(("off", "cores"), [(0.019, 48), (0.021, 24)])
def test_blocks_ran_at_once_where_their_cycles_agree_to_two_percent(off: float, cores: int) -> None:
    rows = [cube(1000)] * 30 + [cube(1000 * (1 - off), blocks=48, cores=48)]
    found = clock_of(rows)
    assert found is not None
    assert found.cube_cores == cores
    assert np.isnan(found.relative[-1]) == (cores == 24)


def test_cycles_of_one_core_tell_no_number_of_cores() -> None:
    rows = [{"block_num": blocks, "aicore_time_us": 100.0, "aic_total_cycles": 1e5} for blocks in (1, 2, 8, 32)]
    found = clock_of(rows)
    assert found is not None
    assert (found.cube_cores, found.nominal_mhz, found.rated) == (None, None, False)


def test_of_more_blocks_than_cores_the_rounds_are_told() -> None:
    """256 blocks on 48 cores take six rounds, and keep 42.67 of them busy."""
    rows = [vector(1800), vector(1800), {**vector(1800), "block_num": 256, "aiv_total_cycles": 1800 * 100 * 256 / 6}]
    found = clock_of(rows, vector_cores=48)
    assert found is not None
    assert found.relative == pytest.approx(np.ones(3))
    assert (found.vector_cores, found.nominal_mhz) == (48, pytest.approx(1800))
