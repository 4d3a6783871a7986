"""What grows from step to step: planted leaks, caches and warm-up; healthy runs have none of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from statistics import mean

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis_profiles import seeds
from planted_memory import (
    HEALTHY,
    MIB,
    PLANTED,
    Block,
    Planted,
    event_frame_of,
    planted,
    sample_frame_of,
    write_planted,
)

from aoe_reports.engine.captures import find_captures
from aoe_reports.engine.question import Notes
from aoe_reports.formats.sources.discovery import discover
from aoe_reports.model.topics.memory import Growth
from aoe_reports.topics.memory.growth import growth_of
from aoe_reports.topics.memory.reading import read_memory

PLANTED_SEEDS, HEALTHY_SEEDS = 7, 15
"""Of each kind: 126 planted and 240 healthy recordings in all; each run tries some."""
MAX_WRONG = {"leak without a pace": 1, "growth without a pace": 1, "growth of any size": 1}
"""Chance may let few later steps keep something, so that growth slows, or most steps, as in a leak; a healthy run never has a leak."""
FILLING = {"cache of many shapes", "queue"}
"""Healthy kinds in which something does fill."""


def _growth(case: Planted) -> tuple[Growth, ...]:
    return growth_of(*case.frames(), case.run.steps, "PTA+GE").rows


def _meanings(case: Planted) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
    """(owner, meaning) of owners, (measure, meaning) of the pool; reserved memory grows beside much else."""
    found = _growth(case)
    pool = {(growth.measure, growth.meaning) for growth in found if growth.owner is None}
    is_compared = any(measure == "reserved" for measure, _ in case.pool)
    return (
        {(growth.owner, growth.meaning) for growth in found if growth.owner is not None},
        {pair for pair in pool if pair[0] == "allocated" or is_compared},
    )


def _kept_by_step(case: Planted, owner: str) -> list[int]:
    """What an owner allocates in each step and never releases, row by row."""
    kept = Counter[int]()
    for block in case.run.blocks:
        if block.owner == owner and block.allocated_ns is not None and block.released_ns is None:
            kept[next(number for number, _, end in case.run.steps if block.allocated_ns <= end)] += block.size
    return [kept[number] for number, _, _ in case.run.steps]


@pytest.mark.parametrize("kind", PLANTED)
def test_what_is_planted_is_found_with_its_owner_and_meaning(kind: str) -> None:
    wrong = []
    for seed in seeds(PLANTED_SEEDS):
        case = planted(kind, seed)
        found = _meanings(case)
        if found != (set(case.owners.items()), set(case.pool)):
            wrong.append((seed, *found))
    assert len(wrong) <= MAX_WRONG.get(kind, 0), wrong


@pytest.mark.parametrize("kind", HEALTHY)
def test_nothing_leaks_in_healthy_runs(kind: str) -> None:
    leaks = {
        seed: [growth for growth in _growth(planted(kind, seed)) if growth.meaning == "leak"]
        for seed in seeds(HEALTHY_SEEDS)
    }
    assert not any(leaks.values()), leaks


@pytest.mark.parametrize(
    "kind", ["leak", "leak of a graph", "leak beside a saw", "leak of varying steps", "leak after warm-up"]
)
def test_bytes_a_step_are_the_mean_of_what_is_kept(kind: str) -> None:
    for seed in seeds(PLANTED_SEEDS):
        case = planted(kind, seed)
        for growth in _growth(case):
            if growth.owner is not None and growth.meaning == "leak":
                kept = dict(
                    zip((number for number, _, _ in case.run.steps), _kept_by_step(case, growth.owner), strict=True)
                )
                expected = mean(kept[number] for number in range(growth.first_step, growth.last_step + 1))
                assert growth.bytes_per_step == pytest.approx(expected)
                assert growth.low <= growth.bytes_per_step <= growth.high


@pytest.mark.parametrize("kind", sorted(HEALTHY.keys() - FILLING))
def test_nothing_that_is_allocated_grows_or_fills_in_healthy_runs(kind: str) -> None:
    for seed in seeds(HEALTHY_SEEDS):
        rows = [row for row in _growth(planted(kind, seed)) if row.measure == "allocated"]
        assert {row.meaning for row in rows} <= {"warm-up"}, (seed, rows)


def test_intervals_hold_the_planted_bytes_in_nine_of_ten_recordings() -> None:
    kinds = ("leak with everything", "leak every few steps", "leak beside releases", *IRREGULAR)
    holds = []
    for case in (planted(kind, seed) for kind in kinds for seed in range(100, 112)):
        assert case.bytes_per_step is not None
        rows = [row for row in _growth(case) if row.owner == "aten::stack" and row.meaning in {"leak", "grows"}]
        holds += [row.low <= case.bytes_per_step <= row.high for row in rows]
    assert len(holds) > 50
    assert mean(holds) >= 0.9


IRREGULAR = ("growth without a pace", "growth of any size")


def test_half_of_all_steps_at_random_are_not_without_a_word() -> None:
    """50 MiB with a chance of 0.2 to 0.5 in 60 steps: nothing is said of none."""
    for kind in IRREGULAR:
        for seed in seeds(PLANTED_SEEDS):
            assert _growth(planted(kind, seed)), (kind, seed)


def test_few_walks_up_and_down_grow() -> None:
    """Some end higher than they began: one in twenty has a row."""
    said = []
    for seed in range(100, 200):
        changes = np.random.default_rng(seed).normal(0, 20, 40)
        said.append(growth_of(*_levels(*(1000 + np.cumsum(changes).astype(int)).tolist())).rows)
    assert sum(bool(rows) for rows in said) <= 8


def test_steps_outside_the_recording_are_not_judged() -> None:
    """A recording that ends before the steps do shows a leak to its end, and no cache that has filled."""
    events, samples, steps = _levels(*(1000 + 10 * step for step in range(14)))
    more = [(number, 10 * number, 10 * number + 9) for number in (*range(-5, 0), *range(14, 40))]
    assert growth_of(events, samples, [*more, *steps]) == growth_of(events, samples, steps)


def test_a_reserve_that_rises_in_a_line_grows_and_fills_no_cache() -> None:
    steps = [(step, 10 * step, 10 * step + 9) for step in range(14)]
    samples = sample_frame_of([(10 * step + 5, (1000, 2000 + 50 * step, None)) for step in range(14)])
    (growth,) = growth_of(event_frame_of([]), samples, steps).rows
    assert (growth.measure, growth.meaning, growth.bytes_per_step) == ("reserved", "grows", 50)


def test_warm_up_says_its_amount() -> None:
    (growth,) = [row for row in _growth(planted("warm-up", 1)) if row.owner is None and row.measure == "allocated"]
    assert growth.total_bytes == growth.bytes_per_step * (growth.last_step - growth.first_step + 1)


@pytest.mark.parametrize(
    ("levels", "steps", "reason"),
    [
        (range(100, 110), [], "no steps"),
        ((), [(1, 0, 9), (2, 10, 19)], "no levels"),
        (range(100, 103), None, "few steps"),
        (range(100, 120), None, None),
        ([100] * 20, None, None),
    ],
    ids=["no step", "nothing is recorded", "three steps", "a leak", "steady"],
)
def test_what_could_not_be_judged_says_why(
    levels: Sequence[int], steps: list[tuple[int, int, int]] | None, reason: str | None
) -> None:
    events, samples, of_levels = _levels(*levels)
    assert growth_of(events, samples, of_levels if steps is None else steps).not_judged == reason


def _levels(*levels: int) -> tuple[pa.Table, pa.Table, list[tuple[int, int, int]]]:
    """Samples alone: what is allocated in the midst of each step."""
    samples = sample_frame_of([(10 * step + 5, (level, None, None)) for step, level in enumerate(levels)])
    return event_frame_of([]), samples, [(step, 10 * step, 10 * step + 9) for step in range(len(levels))]


@pytest.mark.parametrize("count", range(9))
def test_few_steps_say_nothing(count: int) -> None:
    found = growth_of(*_levels(*(1000 + 10 * step for step in range(count)))).rows
    assert [growth.meaning for growth in found] == ["leak"] * (count >= 8)


def test_samples_alone_show_a_leak() -> None:
    (growth,) = growth_of(*_levels(*(1000 + 10 * step for step in range(12)))).rows
    assert (growth.owner, growth.meaning, growth.bytes_per_step, growth.low, growth.high) == (None, "leak", 10, 10, 10)


@given(st.lists(st.integers(0, 50), min_size=8, max_size=20))
def test_levels_that_end_where_they_began_have_no_leak(levels: list[int]) -> None:
    assert all(
        growth.meaning != "leak" for growth in growth_of(*_levels(*(1000 + level for level in levels), 1000)).rows
    )


def test_the_order_of_rows_changes_nothing() -> None:
    case = planted("leak with everything", 3)
    events, samples = case.frames()
    order = np.random.default_rng(1).permutation(events.num_rows)
    assert growth_of(
        events.take(order), samples.take(np.arange(samples.num_rows)[::-1]), case.run.steps[::-1], "PTA+GE"
    ).rows == _growth(case)


@pytest.mark.parametrize(
    ("kind", "seed"), [("leak with everything", 1), ("leak by replacement", 2), ("warm-up", 1), ("lengths", 4)]
)
def test_files_of_torch_npu_show_the_same_growth(kind: str, seed: int, tmp_path: Path) -> None:
    case = planted(kind, seed)
    write_planted(case, tmp_path)
    ((capture,),) = find_captures(discover([tmp_path]))
    (read,) = read_memory(capture, Notes()).devices
    assert read.memory.growth == _growth(case)
    assert read.memory.explained == 1.0


def test_an_allocation_at_the_begin_of_a_step_is_of_that_step() -> None:
    """One is kept in each of ten steps, exactly as the step begins: the first step is the one that begins then."""
    steps = [(number, number * 10, number * 10 + 10) for number in range(10)]
    blocks = [Block("a", MIB, 0, is_small=False, allocated_ns=number * 10, released_ns=None) for number in range(10)]
    (growth,) = [one for one in growth_of(event_frame_of(blocks), sample_frame_of([]), steps).rows if one.owner == "a"]
    assert (growth.meaning, growth.first_step, growth.bytes_per_step) == ("leak", 0, MIB)
