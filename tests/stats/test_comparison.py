"""Differences taken apart, against plain Python; intervals against what they promise."""

from __future__ import annotations

import random
from collections import defaultdict

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.stats.comparison import Side, compare_calls, compare_values

KEYS = ("op_type", "op_name")
INPUTS = ("input_shapes", "input_formats")
calls = st.lists(
    st.tuples(
        st.sampled_from(["Conv2D", "Add", None]),
        st.sampled_from(["a", "b"]),
        st.sampled_from(["1,2", "3"]),
        st.sampled_from(["ND", "NCHW"]),
        st.one_of(st.integers(0, 10**6), st.integers(0, 2**60)),
    ),
    max_size=40,
)
Row = tuple[str | None, str, str, str, int]


def side(rows: list[Row]) -> Side:
    columns = {
        name: pa.array([row[place] for row in rows], pa.string()).dictionary_encode()
        for place, name in enumerate((*KEYS, *INPUTS))
    }
    return Side(pa.table({**columns, "task_duration_ns": pa.array([row[4] for row in rows], pa.int64())}))


@given(calls, calls)
def test_differences_are_those_of_plain_python(before: list[Row], after: list[Row]) -> None:
    times: dict[tuple[str | None, ...], tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for place, rows in enumerate((before, after)):
        for row in rows:
            times[row[:2]][place].append(row[4])
    (compared,) = compare_calls([side(before), side(after)], KEYS, 1000)
    assert compared.groups == len(times)
    assert (compared.baseline_ns, compared.candidate_ns) == (sum(r[4] for r in before), sum(r[4] for r in after))
    got = {difference.key: difference for difference in compared.differences}
    assert {
        key: (one.baseline_count, one.candidate_count, one.baseline_ns, one.candidate_ns) for key, one in got.items()
    } == {key: (len(a), len(b), sum(a), sum(b)) for key, (a, b) in times.items()}
    for one in got.values():
        if one.state == "both":
            assert one.calls_ns is not None
            assert one.count_ns is not None
            assert one.inputs_ns is not None
            parts = one.calls_ns + one.count_ns + one.inputs_ns
            assert parts == pytest.approx(
                one.difference_ns, rel=1e-9, abs=1e-9 * (one.baseline_ns + one.candidate_ns) + 1
            )
    sizes = [abs(difference.difference_ns) for difference in compared.differences]
    assert sizes == sorted(sizes, reverse=True)


@given(calls, calls, st.randoms(), st.integers(1, 5))
def test_neither_the_order_of_rows_nor_top_changes_anything(before: list[Row], after: list[Row], rng, top: int) -> None:
    whole = compare_calls([side(before), side(after)], KEYS, 1000)[0]
    shuffled = [rng.sample(rows, len(rows)) for rows in (before, after)]
    again = compare_calls([side(rows) for rows in shuffled], KEYS, top)[0]
    assert again.differences == whole.differences[:top]
    assert again.groups == whole.groups


@given(calls, calls, calls)
def test_several_candidates_are_compared_as_each_alone(a: list[Row], b: list[Row], c: list[Row]) -> None:
    together = compare_calls([side(a), side(b), side(c)], KEYS, 1000)
    alone = [compare_calls([side(a), side(other)], KEYS, 1000)[0] for other in (b, c)]
    assert together == alone


@pytest.mark.parametrize("size", [30, 1001])
def test_intervals_hold_the_true_difference_about_as_often_as_they_say(size: int) -> None:
    held = 0
    for seed in range(200):
        draw = np.random.default_rng(seed)
        before, after = draw.normal(100_000, 5_000, size), draw.normal(103_000, 5_000, size)
        interval = compare_values(before.astype(int).tolist(), after.astype(int).tolist(), ("x",)).interval
        assert interval is not None
        held += interval.low <= 3_000 <= interval.high
    assert 0.88 <= held / 200 <= 0.99


def test_both_kinds_of_interval_agree_where_they_meet() -> None:
    noise = random.Random(5)
    values = [[round(noise.gauss(100_000, 9_000)) for _ in range(1000)] for _ in range(2)]
    resampled = compare_values(*values, ("x",)).interval
    normal = compare_values([*values[0], 100_000], values[1], ("x",)).interval
    assert resampled is not None
    assert normal is not None
    assert (resampled.method, normal.method) == ("bootstrap", "normal")
    assert normal.high - normal.low == pytest.approx(resampled.high - resampled.low, rel=0.1)


def test_few_values_have_no_interval() -> None:
    assert compare_values([1, 2, 3, 4], [1, 2, 3, 4, 5], ("x",)).interval is None
    assert compare_values([1] * 5, [1] * 5, ("x",)).interval is not None
