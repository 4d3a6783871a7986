"""Noise and differences against the same reckoned one value at a time."""

from __future__ import annotations

import math
from itertools import pairwise
from statistics import median
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from aoe_reports.stats.comparison import (
    LEVEL,
    MAX_RESAMPLED,
    Difference,
    Side,
    choose_calls,
    compare_calls,
    compare_values,
    largest_part,
)
from aoe_reports.stats.grouping import group_tasks, merged, statistic_groups
from aoe_reports.stats.noise import (
    CLIP,
    FLOOR,
    HALF,
    MAX_MEMORY,
    MAX_TO_SIGMA,
    clip,
    compact,
    estimate,
    running_median,
)
from aoe_reports.stats.sample import MAD_TO_SIGMA, robust_sigma, sample_std

SERIES = st.lists(st.lists(st.floats(-3, 3), min_size=1, max_size=20), min_size=1, max_size=4)


def padded(series: list[list[float]]) -> tuple[Any, Any]:
    """Series of different lengths in one table, 0 behind each."""
    lengths = np.array([len(one) for one in series])
    table = np.zeros((len(series), int(lengths.max())))
    for row, one in zip(table, series, strict=True):
        row[: len(one)] = one
    return table, lengths


def spread_of(series: list[float], lag: int) -> float:
    apart = [abs(after - before) for before, after in zip(series, series[lag:], strict=False)]
    if not apart:
        return 0.0
    ordered, last = sorted(apart), len(apart) - 1
    usual = MAD_TO_SIGMA * ordered[last * 5 // 10]
    if sum(one == other for one, other in pairwise(ordered)) > len(apart) / 2:  # a coarse timer
        usual = max(usual, MAX_TO_SIGMA * ordered[last * 8 // 10])
    limit = CLIP * max(usual, FLOOR)
    return sum(min(one, limit) ** 2 for one in apart) / len(apart)


@example([[1.0, 0.0, 1.0, 1.0, 1.0, 1.0]])
@given(SERIES)
def test_scatter_and_memory_are_those_of_each_series_alone(series: list[list[float]]) -> None:
    sigma, memory = estimate(*padded(series))
    for place, one in enumerate(series):
        near, far = spread_of(one, 1), spread_of(one, 2)
        remembered = min(max(far / near - 1, 0.0), MAX_MEMORY) if near > 0 else 0.0
        assert memory[place] == pytest.approx(remembered, abs=1e-9)
        assert sigma[place] == pytest.approx(max(math.sqrt(near / (2 * (1 - remembered))), FLOOR), rel=1e-6)


@given(SERIES)
def test_a_night_is_held_to_the_seven_around_it(series: list[list[float]]) -> None:
    table, lengths = padded(series)
    sigma = np.linspace(0.1, 1, len(series))
    found = clip(table, lengths, sigma)
    for row, one, scale in zip(found, series, sigma, strict=True):
        scaled = [value / scale for value in one]
        for night, value in enumerate(scaled):
            if len(one) < 2 * HALF + 1:
                expected = value
            else:
                middle = min(max(night, HALF), len(one) - 1 - HALF)
                around = median(scaled[middle - HALF : middle + HALF + 1])
                expected = min(max(value, around - CLIP), around + CLIP)
            assert row[night] == pytest.approx(expected)


@given(st.lists(st.floats(-9, 9), min_size=7, max_size=20))
def test_seven_values_are_sorted(values: list[float]) -> None:
    found = running_median(np.array([values]))[0]
    inner = [median(values[night - 3 : night + 4]) for night in range(3, len(values) - 3)]
    assert found[3:-3].tolist() == inner
    assert found[-3:].tolist() == [0, 0, 0]


@given(st.lists(st.lists(st.sampled_from([1.0, 2.5, math.nan, math.inf, 0.0, -1.0]), min_size=5, max_size=5), min_size=1, max_size=4))  # fmt: skip
def test_gaps_are_closed_and_their_nights_are_kept(rows: list[list[float]]) -> None:
    logs, nights, lengths = compact(np.array(rows))
    for place, row in enumerate(rows):
        usable = [night for night, value in enumerate(row) if value > 0 and math.isfinite(value)]
        assert lengths[place] == len(usable)
        assert nights[place].tolist() == [*usable, *[5] * (5 - len(usable))]
        assert logs[place].tolist() == pytest.approx([*(math.log(row[night]) for night in usable), *[0.0] * (5 - len(usable))])  # fmt: skip


@given(st.lists(st.floats(-100, 100), min_size=1, max_size=9))
def test_spreads_of_samples(values: list[float]) -> None:
    middle = median(values)
    assert robust_sigma(values) == pytest.approx(1.4826 * median(abs(value - middle) for value in values))
    found = sample_std(values)
    assert (found is None) is (len(values) < 2)
    assert found is None or found == pytest.approx(float(np.std(values, ddof=1)), abs=1e-9)


@pytest.mark.parametrize(
    ("parts", "name"),
    [
        ((0.9, -0.9, 0.9), "same"), ((1, 0, 0), "slower-calls"), ((-1, 0, 0), "faster-calls"), ((1, 2, 0), "more-calls"), ((1, -2, 0), "fewer-calls"),
        ((1, 2, -3), "inputs"), ((2, 2, 0), "more-calls"), ((-2, -2, 2), "inputs"), ((3, -2, 2), "slower-calls"),
    ],
)  # fmt: skip
def test_the_largest_part_has_the_name(parts: tuple[float, float, float], name: str) -> None:
    assert largest_part(*parts) == name


@pytest.mark.parametrize(
    ("counts", "times", "state", "ratio"),
    [((2, 3), (10, 15), "both", 1.5), ((0, 3), (0, 15), "new", None), ((2, 0), (10, 0), "vanished", 0.0), ((2, 3), (0, 15), "both", None)],
)  # fmt: skip
def test_a_difference_tells_which_side_has_such_calls(
    counts: tuple[int, int], times: tuple[int, int], state: str, ratio: float | None
) -> None:
    one = Difference(("a",), *counts, *times)
    assert (one.state, one.ratio, one.difference_ns) == (state, ratio, times[1] - times[0])


def calls(*rows: tuple[str, str | None, int]) -> Side:
    kinds, shapes, times = zip(*rows, strict=True) if rows else ((), (), ())
    words = {"op_type": kinds, "input_shapes": shapes}
    return Side(pa.table({**{name: pa.array(values, pa.string()).dictionary_encode() for name, values in words.items()}, "task_duration_ns": pa.array(times, pa.int64())}))  # fmt: skip


def test_a_difference_is_taken_apart_by_inputs() -> None:
    before = calls(("a", "1", 100), ("a", "1", 100), ("a", "old", 7), ("a", "older", 9), ("b", "1", 5))
    after = calls(
        ("a", "1", 130), ("a", "1", 130), ("a", "1", 130), ("a", "new", 40), ("a", "newer", 60), ("c", "1", 1)
    )
    (compared,) = compare_calls([before, after], ["op_type"], 9)
    one, two, three = compared.differences
    assert (one.key, one.calls_ns, one.count_ns, one.inputs_ns, one.cause) == (("a",), 90.0, 100.0, 84.0, "more-calls")
    assert (one.new_inputs, one.vanished_inputs) == (("newer", "new"), ("older", "old"))
    assert (two.key, two.cause, three.key, three.cause) == (("b",), "vanished", ("c",), "new")
    assert (compared.groups, compared.baseline_ns, compared.candidate_ns, compared.common_ns) == (3, 221, 491, 390)
    assert not compared.nothing_common
    (apart,) = compare_calls([calls(("a", "1", 5)), calls(("a", "2", 6), ("b", "1", 9))], ["op_type"], 9)
    assert (apart.nothing_common, apart.differences[-1].cause) == (True, "changed-shapes")


def test_inputs_that_are_not_told_name_no_part() -> None:
    (compared,) = compare_calls([calls(("a", None, 5)), calls(("a", None, 9))], ["op_type"], 9)
    (one,) = compared.differences
    assert (one.inputs_ns, one.cause, one.calls_ns, compared.common_ns) == (None, None, 4.0, None)
    (compared,) = compare_calls([calls(("a", None, 5)), calls(("a", None, 5), ("a", None, 5))], ["op_type"], 9)
    assert compared.differences[0].cause == "more-calls"
    (compared,) = compare_calls([calls(("a", None, 5)), calls(("a", "1", 9))], ["op_type"], 9)
    assert (compared.differences[0].calls_ns, compared.differences[0].cause) == (None, None)


def test_sums_by_type_are_compared_as_sums() -> None:
    def grouped(*rows: tuple[str, int, int]) -> Side:
        return Side(pa.table({"op_type": pa.array([one for one, _, _ in rows]).dictionary_encode(), "count": pa.array([one for _, one, _ in rows], pa.int64()), "total_time_ns": pa.array([one for _, _, one in rows], pa.int64())}), grouped=True)  # fmt: skip

    (compared,) = compare_calls([grouped(("a", 2, 10), ("b", 1, 3)), grouped(("b", 4, 2**62), ("c", 1, 2**62))], ["op_type"], 2)  # fmt: skip
    assert [(one.key, one.candidate_count, one.difference_ns) for one in compared.differences] == [(("c",), 1, 2**62), (("b",), 4, 2**62 - 3)]  # fmt: skip
    assert (compared.groups, compared.candidate_ns, compared.differences[1].interval) == (3, 2**63, None)


@pytest.mark.parametrize(("count", "method"), [(MAX_RESAMPLED, "bootstrap"), (MAX_RESAMPLED + 1, "normal"), (5, "bootstrap"), (4, None)])  # fmt: skip
def test_many_values_need_no_resampling(count: int, method: str | None) -> None:
    before, after = list(range(count)), [3 * value + 10 for value in range(max(count, 20))]
    interval = compare_values(before, after, ("a",)).interval
    assert (interval.method if interval else None) == method
    if interval and method == "normal":
        error = math.sqrt(np.var(before) / len(before) + np.var(after) / len(after)) * 1.959964
        apart = np.mean(after) - np.mean(before)
        assert (interval.low, interval.high) == (pytest.approx(apart - error), pytest.approx(apart + error))
    assert LEVEL == 0.95


def tasks(words: list[str | None], **columns: Any) -> pa.Table:
    return pa.table({"task_type": pa.array(words, pa.string()), **columns})


def test_calls_that_are_compared_are_computing_or_communication() -> None:
    times = {"task_duration_ns": pa.array([1, 2, 3, 4], pa.int64())}
    frame = tasks(["AI_CORE", "HCCL", None, "AI_CPU"], **times)

    def chosen(by: Any, **options: Any) -> list[int]:
        return choose_calls(frame, by, **options)["task_duration_ns"].to_pylist()

    assert chosen("op_type") == [1, 3, 4]
    assert chosen("op_type", all_tasks=True) == [1, 2, 3, 4]
    assert chosen("communication") == [2]
    assert choose_calls(frame, "op_type", all_tasks=True)["task_type"].to_pylist() == ["AI_CORE", "COMMUNICATION", None, "AI_CPU"]  # fmt: skip
    sums = tasks(["AI_CORE", "HCCL"], count=pa.array([1, 2]))
    assert choose_calls(sums, "op_type")["task_type"].to_pylist() == ["AI_CORE", "COMMUNICATION"]
    assert choose_calls(frame.drop_columns(["task_type"]), "communication").num_rows == 4
    assert choose_calls(frame.slice(0, 0), "op_type").num_rows == 0


SUMS = [{"op_type": kind, "task_type": "c", "count": count, "total_time_ns": total, "min_time_ns": 1, "max_time_ns": 9} for kind, count, total in (("b", 2, 10), ("a", 4, 10), ("c", 0, 5), ("d", 1, 11))]  # fmt: skip


def test_groups_of_a_statistic_and_of_several_devices() -> None:
    groups = statistic_groups(pa.Table.from_pylist(SUMS))
    assert [(one.key, one.count, one.mean_ns) for one in groups] == [(("d", "c"), 1, 11.0), (("a", "c"), 4, 2.5), (("b", "c"), 2, 5.0)]  # fmt: skip
    more = statistic_groups(pa.Table.from_pylist([{**SUMS[0], "min_time_ns": None, "max_time_ns": 12}]))
    (both,) = [one for one in merged([*groups, *more]) if one.key == ("b", "c")]
    assert (both.count, both.total_ns, both.min_ns, both.max_ns, both.mean_ns) == (4, 20, 1, 12, 5.0)
    assert len(merged([*groups, *more])) == 3


@pytest.mark.parametrize(("most", "values"), [(2, None), (3, (30, 10, 20))])
def test_single_times_are_in_the_order_of_their_starts(most: int, values: tuple[int, ...] | None) -> None:
    frame = pa.table({"k": pa.array(["a"] * 3).dictionary_encode(), "task_duration_ns": pa.array([10, 20, 30], pa.int64()), "task_start_ns": pa.array([5, 9, 1], pa.int64())})  # fmt: skip
    (group,) = group_tasks(frame, ["k"], None, most)
    assert group.values_ns == values
    assert group_tasks(frame.drop_columns(["task_start_ns"]), ["k"], None, 3)[0].values_ns == (10, 20, 30)
    assert group.std_ns == 10.0
