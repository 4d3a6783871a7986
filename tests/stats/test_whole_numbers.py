"""What the statistics make of fixed inputs, whole: every number, to nine digits.

What the numbers have to be is tested elsewhere; this notices whether any of them becomes another.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from frames import tasks_of
from whole_texts import assert_recorded

from aoe_reports.stats import noise
from aoe_reports.stats.bootstrap import difference_of_means, means_drawn, widened_percentiles
from aoe_reports.stats.budget import Budget
from aoe_reports.stats.causes import find_causes
from aoe_reports.stats.comparison import Side, choose_calls, compare_calls, compare_values, largest_part
from aoe_reports.stats.grouping import group_and_count, group_tasks, merged, statistic_groups
from aoe_reports.stats.modes import find_modes
from aoe_reports.stats.partition import partition
from aoe_reports.stats.sample import robust_sigma, sample_std
from aoe_reports.stats.weekdays import take_out_weekdays

EXPECTED = Path(__file__).with_name("whole_numbers")


def gauss(seed: int, count: int, sigma: float = 1.0) -> Any:
    """Numbers as good as normal: sums of twelve uniform ones."""
    source = random.Random(seed)
    return np.array([sigma * (sum(source.random() for _ in range(12)) - 6) for _ in range(count)])


def words(value: Any) -> str:
    """Any result as text, with nine digits of each number."""
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name}: {words(one)}" for name, one in value.items()) + "}"
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, Iterable) and not isinstance(value, str):
        return "[" + ", ".join(map(words, value)) + "]"
    return f"{value:.9g}" if isinstance(value, float) else str(value)


def table() -> Any:
    """Series of times: quiet, short, with gaps, with spikes, with a step, a coarse one, none."""
    rows = np.exp(np.stack([gauss(seed, 60, 0.02) for seed in range(8)]))
    rows[1, 9:] = np.nan
    rows[2, ::4] = np.nan
    rows[3, 5::11] *= 1.5
    rows[4, 30:] *= 1.1
    rows[5] = np.round(rows[5] * 50) / 50
    rows[6] = 0.0
    rows[7, 20] = -1.0
    return rows


def of_noise() -> list[Any]:
    logs, nights, lengths = noise.compact(table())
    sigma, memory = noise.estimate(logs, lengths)
    believed = noise.estimate(logs, lengths, noise.known(lengths))
    clipped = noise.clip(logs, lengths, sigma)
    known = [noise.known(count) for count in (0, 1, 9, 10, 20, 60, 365)]
    distances = [noise.scale(np.abs(gauss(3, count))) for count in (1, 2, 3, 10, 31)]
    return [nights[:, :12], lengths, sigma, memory, *believed, clipped[:, :10], clipped.sum(axis=1), noise.running_median(logs[:2, :20])[:, noise.HALF : -noise.HALF], known, distances]  # fmt: skip


def of_modes() -> list[Any]:
    found = []
    for apart in (0.0, 0.03, 0.04, 0.1):
        for rare in (3, 6, 20, 40):
            values = gauss(rare, 80, 0.01)
            values[:rare] += apart
            found += [find_modes(values), find_modes(values, 2.0, 0.2), find_modes(np.round(values, 2))]
    return found


def of_partition() -> list[Any]:
    values = np.stack([gauss(seed, 50) for seed in range(6)])
    values[1, 25:] += 3
    values[2, 10:20] -= 4
    values[3, 47:] += 6
    values[4, 20] += 9
    lengths = np.array([50, 50, 50, 50, 50, 30])
    return [partition(values, lengths, np.full(6, price), least) for price in (4.0, 20.0) for least in (1, 2, 5)]


def of_weekdays() -> list[Any]:
    logs = np.stack([gauss(seed, 70, 0.01) for seed in range(4)])
    nights = np.tile(np.arange(70), (4, 1))
    logs[1] += 0.05 * (nights[1] % 7 == 3)
    logs[2] += 0.03 * np.isin(nights[2] % 7, (5, 6))
    logs[3] += 0.05 * (nights[3] % 7 == 0)
    plain = [take_out_weekdays(logs, nights, np.array([70, 70, length, 70])) for length in (27, 28, 50, 70)]
    return [*((one - logs).round(9)[:, :8] for one in plain), *(one.sum(axis=1) for one in plain)]


def of_bootstrap() -> list[Any]:
    before, after = (np.sort(gauss(seed, 12, 1000) + 50_000).astype(np.int64) for seed in (1, 2))
    intervals = [difference_of_means(before[:count], after, level=level, resamples=200) for count in (5, 12) for level in (0.8, 0.95)]  # fmt: skip
    drawn = [means_drawn(side, gauss(side, count), 50, most=20) for side in (0, 1) for count in (5, 20, 21)]
    some = drawn[0].copy()
    some[:5] = np.nan
    few = some.copy()
    few[:6] = np.nan
    wide = [widened_percentiles(one, size, level=0.95) for one in (drawn[0], some, few) for size in (3, 5, 30)]
    return [intervals, [one[:5] for one in drawn], wide]


def of_budget() -> list[Any]:
    found = []
    for alarms, eligible in ((12.0, 10), (12.0, 1000), (0.5, 100), (1000.0, 3), (12.0, 0)):
        one = Budget.shared(alarms, eligible)
        found.append([one, one.simulated, [one.threshold(memory) for memory in (0.0, 0.2, 0.4, 0.5, 0.6, 0.9)], one.suspicion, one.guard, one.guard_suspicion, one.look])  # fmt: skip
    return found


def of_causes() -> list[Any]:
    labels = [(rank, f"t{kind}", f"o{kind}{number}") for rank in range(3) for kind in range(4) for number in range(kind + 2)]  # fmt: skip
    levels = ((), (0,), (1, 2), (1,), (0, 1, 2), (0, 1))
    scatter, found = gauss(5, len(labels), 0.004), []
    planted: list[list[tuple[tuple[Any, ...], float]]] = [
        [],
        [((None, None, None), 0.08)],
        [((1, None, None), 0.08)],
        [((None, "t2", None), 0.06)],
        [((None, "t3", "o31"), 0.1)],
        [((2, "t3", "o34"), -0.1)],
        [((0, None, None), 0.05), ((None, "t1", None), 0.09)],
        [((None, None, None), 0.04), ((None, "t3", "o30"), 0.2)],
        [((0, "t1", "o10"), 0.1), ((1, "t1", "o11"), -0.12)],
        [((0, "t2", "o20"), 0.04), ((0, "t2", "o21"), 0.09), ((0, "t3", "o30"), -0.05)],
        [((0, None, "o30"), 0.06), ((1, None, "o31"), 0.065), ((2, None, "o32"), 0.07), ((2, "t0", None), 0.02)],
    ]
    for some in planted:
        moved = scatter.copy()
        for asked, size in some:
            moved += [size * all(want in {None, have} for want, have in zip(asked, one, strict=True)) for one in labels]
        errors = np.full(len(labels), 0.006)
        found += [find_causes(labels, levels, moved, errors, np.abs(moved) > times * errors) for times in (4, 0)]
    return found


def calls(factor: float, *more: dict[str, Any]) -> pa.Table:
    rows = [
        {"op_type": kind, "op_name": f"{kind}{number}", "input_shapes": shape, "task_duration_ns": int(factor * (1000 * (number + 1) + 37 * step)), "task_type": core}
        for kind, core in (("MatMul", "AI_CORE"), ("Relu", "AI_VECTOR_CORE"), ("hcom", "HCCL"))
        for number, shape in enumerate(("8,8", "16,16", "4"))
        for step in range(6)
    ]  # fmt: skip
    return tasks_of([*rows, *more])


def of_comparison() -> list[Any]:
    one, other = calls(1.0), calls(1.25, {"op_type": "Gelu", "op_name": "g"}, {"op_name": "MatMul0", "op_type": "MatMul", "input_shapes": "99", "task_duration_ns": 777})  # fmt: skip
    found: list[Any] = []
    for keys in (["op_type"], ["op_type", "op_name"], ["op_name", "input_shapes"]):
        found += [compare_calls([Side(one), Side(other), Side(one)], keys, top) for top in (2, 99)]
    chosen = [choose_calls(one, by, all_tasks=whole).num_rows for by in ("op_type", "communication") for whole in (False, True)]  # fmt: skip
    values = [compare_values(before, after, ("step",)) for before, after in (([5, 6, 7], [9]), ([100, 101, 99, 102, 98], [110, 108, 112, 109, 111]), ([], [3]))]  # fmt: skip
    parts = [largest_part(*one) for one in ((5, 1, 1), (-5, 1, 1), (1, 5, 1), (1, -5, 1), (1, 1, -5), (0, 0, 0), (2, 2, 2), (1, 2, 2))]  # fmt: skip
    return [*found, chosen, values, parts]


def of_grouping() -> list[Any]:
    tasks = calls(1.0)
    found: list[Any] = []
    for keys in (["op_type"], ["task_type", "op_name"], []):
        found += [group_tasks(tasks, keys), group_tasks(tasks, keys, 2, 3), group_and_count(tasks, keys)[1]]
    groups = group_tasks(tasks, ["op_type"])
    sums = pa.table({"op_type": ["a", "b", "a"], "task_type": ["x", "y", "y"], "count": [1, 2, 3], "total_time_ns": [10, 40, 6], "min_time_ns": [10, 15, 1], "max_time_ns": [10, 25, 3], "avg_time_ns": [10, 20, 2]})  # fmt: skip
    return [*found, merged([*groups, *groups]), statistic_groups(sums), statistic_groups(sums, ("op_type",))]


def of_samples() -> list[Any]:
    return [[sample_std(gauss(1, count).tolist()) for count in (0, 1, 2, 5)], [robust_sigma(gauss(1, count).tolist()) for count in (1, 2, 9)]]  # fmt: skip


def test_statistics_of_fixed_inputs_are_these() -> None:
    made = (of_noise, of_modes, of_partition, of_weekdays, of_bootstrap, of_budget, of_causes, of_comparison, of_grouping, of_samples)  # fmt: skip
    texts = {one.__name__: "\n".join(map(words, one())) + "\n" for one in made}
    assert_recorded(EXPECTED, texts, all_of_it=True)
