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


def test_means_of_resamples_give_the_interval_that_they_always_gave() -> None:
    """Draws have fixed seeds: the same values give the same interval, in whatever order they are."""
    before, after = [100, 110, 90, 105, 95, 120], [130, 125, 140, 135, 128, 150, 122]
    interval = compare_values(before, after, ("x",)).interval
    assert interval is not None
    assert interval == compare_values(before[::-1], sorted(after), ("x",)).interval
    assert (interval.low, interval.high) == (pytest.approx(18.8268, abs=1e-4), pytest.approx(38.9298, abs=1e-4))


@pytest.mark.parametrize("lost", [0, 1])
def test_inputs_are_compared_where_both_sides_tell_them(lost: int) -> None:
    """Where one side has no column of formats, formats are no difference."""
    sides = [side([("A", "a", "1", "ND", 5)]), side([("A", "a", "1", "NCHW", 9)])]
    (compared,) = compare_calls(sides, ("op_type",), 9)
    assert compared.differences[0].cause == "changed-formats"
    assert (compared.differences[0].new_inputs, compared.differences[0].vanished_inputs) == (("NCHW",), ("ND",))
    sides[lost] = Side(sides[lost].frame.drop_columns(["input_formats"]))
    (compared,) = compare_calls(sides, ("op_type",), 9)
    (one,) = compared.differences
    assert (one.cause, one.calls_ns, one.count_ns, one.inputs_ns) == ("slower-calls", 4.0, 0.0, 0.0)


def test_inputs_put_together_in_another_way_are_changed_inputs() -> None:
    before = side([("A", "a", "1", "ND", 5), ("A", "a", "2", "NCHW", 5)])
    after = side([("A", "a", "1", "NCHW", 5), ("A", "a", "2", "ND", 9)])
    (compared,) = compare_calls([before, after], ("op_type",), 9)
    (one,) = compared.differences
    assert (one.cause, one.new_inputs, one.vanished_inputs, one.inputs_ns) == ("changed-inputs", (), (), 4.0)
    assert compared.common_ns == 0


def test_calls_by_shape_have_their_inputs_in_the_key() -> None:
    (compared,) = compare_calls([side([("A", "a", "1", "ND", 5)]), side([("A", "a", "1", "ND", 7)])], ("op_type", *INPUTS), 9)  # fmt: skip
    (one,) = compared.differences
    assert (one.key, one.cause, one.calls_ns, one.inputs_ns, compared.common_ns) == (("A", "1", "ND"), "slower-calls", 2.0, 0.0, 7)  # fmt: skip
    bare = [Side(one.frame.select(["op_type", "task_duration_ns"])) for one in (side([("A", "a", "1", "ND", 5)]), side([("A", "a", "1", "ND", 7)]))]  # fmt: skip
    (compared,) = compare_calls(bare, ("op_type",), 9)
    assert (compared.differences[0].cause, compared.differences[0].calls_ns, compared.common_ns) == (None, 2.0, None)


def test_differences_of_one_size_are_in_the_order_of_their_keys() -> None:
    before = side([(kind, name, "1", "ND", 10) for kind in ("b", "a", None) for name in ("y", "x")])
    after = side([(kind, name, "1", "ND", 15) for kind in (None, "a", "b") for name in ("x", "y")])
    keys = [(kind, name) for kind in (None, "a", "b") for name in ("x", "y")]
    for top in (1, 3, 6, 9):
        (compared,) = compare_calls([before, after], ("op_type", "op_name"), top)
        assert [one.key for one in compared.differences] == keys[:top]
        assert compared.groups == 6


def test_nothing_is_common_only_where_both_sides_took_time() -> None:
    nothing = side([])
    some = side([("A", "a", "1", "ND", 5)])
    free = side([("A", "a", "2", "ND", 0)])
    for sides, told in (((some, nothing), False), ((nothing, some), False), ((some, free), False), ((nothing, nothing), False)):  # fmt: skip
        (compared,) = compare_calls(sides, KEYS, 9)
        assert compared.nothing_common is told
    (compared,) = compare_calls([some, side([("A", "a", "2", "ND", 1)])], KEYS, 9)
    assert compared.nothing_common
