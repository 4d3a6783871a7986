"""Grouping tasks, against plain Python."""

from __future__ import annotations

import statistics

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.formats.tasks import count_of_tasks
from aoe_reports.stats.grouping import _dense, group_and_count, group_codes, group_tasks, is_communication, quantile

tasks = st.lists(
    st.tuples(
        st.sampled_from(["Conv2D", "Add", None]),
        st.sampled_from(["AI_CORE", "AI_CPU"]),
        st.one_of(st.integers(0, 10**6), st.integers(0, 2**61)),
    ),
    min_size=1,
    max_size=60,
)


def frame(rows: list[tuple[str | None, str, int]]) -> pa.Table:
    return pa.table(
        {
            "op_type": pa.array([row[0] for row in rows], pa.string()).dictionary_encode(),
            "task_type": pa.array([row[1] for row in rows], pa.string()).dictionary_encode(),
            "task_duration_ns": pa.array([row[2] for row in rows], pa.int64()),
        }
    )


@given(tasks)
def test_groups_are_those_of_plain_python(rows: list[tuple[str | None, str, int]]) -> None:
    expected: dict[tuple[str | None, str], list[int]] = {}
    for op_type, task_type, duration in rows:
        expected.setdefault((op_type, task_type), []).append(duration)
    groups = group_tasks(frame(rows), ("op_type", "task_type"))
    assert {group.key: (group.count, group.min_ns, group.max_ns) for group in groups} == {
        key: (len(times), min(times), max(times)) for key, times in expected.items()
    }
    for group in groups:
        times = expected[group.key]
        if sum(times) < 2**63:
            assert group.total_ns == sum(times)
            assert group.mean_ns == pytest.approx(sum(times) / len(times))
            assert group.p50_ns == pytest.approx(statistics.median(times))
            if len(times) > 1:
                assert group.std_ns == pytest.approx(statistics.stdev(times), rel=1e-6, abs=1e-3)
            else:
                assert group.std_ns is None


@given(tasks, st.randoms())
def test_the_order_of_rows_changes_nothing(rows: list[tuple[str | None, str, int]], random) -> None:
    shuffled = list(rows)
    random.shuffle(shuffled)
    keys = ("op_type", "task_type")
    assert group_tasks(frame(rows), keys) == group_tasks(frame(shuffled), keys)


@given(st.lists(st.integers(0, 10**9), min_size=1), st.floats(0, 1))
def test_quantiles_are_interpolated_as_numpy_does(values: list[int], q: float) -> None:
    ordered = np.sort(np.asarray(values, dtype=np.int64))
    assert quantile(ordered, q) == pytest.approx(float(np.quantile(ordered, q)), rel=1e-9, abs=1e-6)


def test_groups_of_several_chunks_with_their_own_dictionaries() -> None:
    table = pa.concat_tables([frame([("A", "X", 1)]), frame([("B", "X", 5), ("A", "X", 2)])])
    assert [(group.key[0], group.total_ns) for group in group_tasks(table, ("op_type", "task_type"))] == [
        ("B", 5),
        ("A", 3),
    ]


def test_communication_of_both_ages() -> None:
    column = pa.chunked_array([pa.array(["HCCL", "COMMUNICATION", "AI_CORE", None]).dictionary_encode()])
    assert is_communication(column).tolist() == [True, True, False, False]


many_calls = st.lists(
    st.tuples(
        st.one_of(st.sampled_from(["Conv2D", "Add", None]), st.text("ab", max_size=4)),
        st.sampled_from(["AI_CORE", "AI_CPU"]),
        st.one_of(st.integers(0, 3), st.integers(0, 10**6), st.integers(2**32 - 2, 2**32 + 2), st.integers(0, 2**61)),
        st.one_of(st.just(1), st.integers(1, 40)),
    ),
    min_size=1,
    max_size=60,
)


@given(many_calls, st.sampled_from([("op_type",), ("op_type", "task_type"), ("task_type",)]), st.integers(1, 5))
def test_rows_of_several_calls_are_grouped_as_if_each_call_stood_there(
    rows: list[tuple[str | None, str, int, int]], keys: tuple[str, ...], top: int
) -> None:
    alike = frame([row[:3] for row in rows]).append_column("calls", pa.array([row[3] for row in rows], pa.int64()))
    singly = frame([row[:3] for row in rows for _ in range(row[3])])
    assert group_and_count(alike, keys) == group_and_count(singly, keys)
    assert group_and_count(alike, keys, top) == group_and_count(singly, keys, top)
    assert group_tasks(alike, keys, most_values=10**6) == group_tasks(singly, keys)
    assert (count_of_tasks(alike), count_of_tasks(singly)) == (singly.num_rows, singly.num_rows)


def test_the_deviation_of_many_calls_is_that_of_all_their_times_to_the_digit() -> None:
    random = np.random.default_rng(3)
    times, calls = random.integers(0, 10**6, 5000), random.integers(1, 90, 5000)
    every = np.sort(np.repeat(times, calls)).astype(np.float64)
    expected = (((every - every.mean()) ** 2).sum() / (len(every) - 1)) ** 0.5
    alike = frame([("A", "X", int(time)) for time in times]).append_column("calls", pa.array(calls))
    singly = frame([("A", "X", int(time)) for time in every])
    assert [group.std_ns for table in (alike, singly) for group in group_tasks(table, ("op_type",))] == [expected] * 2


def test_no_task_no_group() -> None:
    assert group_tasks(frame([("A", "X", 1)]).slice(0, 0), ("op_type",)) == []


@given(tasks, st.integers(1, 5))
def test_the_largest_groups_are_those_of_all_groups(rows: list[tuple[str | None, str, int]], top: int) -> None:
    keys = ("op_type", "task_type")
    whole = group_tasks(frame(rows), keys)
    assert group_tasks(frame(rows), keys, top) == whole[:top]
    assert group_and_count(frame(rows), keys, 1)[1] == len(whole)


def test_totals_beyond_64_bits_are_exact() -> None:
    """Three times of 146 years each; their sum, mean and quantiles are those of plain numbers."""
    (group,) = group_tasks(frame([("A", "X", 2**62 + 1)] * 3), ("op_type",))
    assert (group.total_ns, group.mean_ns, group.p50_ns) == (3 * (2**62 + 1), float(2**62), float(2**62))
    first, second = group_tasks(frame([("A", "X", 2**31), *[("B", "Y", 2**31 - 1)] * 4]), ("op_type", "task_type"))
    assert (first.key, first.total_ns, second.key, second.total_ns) == (("B", "Y"), 4 * (2**31 - 1), ("A", "X"), 2**31)


def test_of_equal_totals_the_key_decides_and_no_word_stands_first() -> None:
    rows = [("b", "X", 7), ("a", "Y", 7), (None, "Z", 7), ("a", "X", 7), ("c", "X", 8)]
    keys = [("c", "X"), (None, "Z"), ("a", "X"), ("a", "Y"), ("b", "X")]
    assert [group.key for group in group_tasks(frame(rows), ("op_type", "task_type"))] == keys
    for top in range(1, 7):
        assert [group.key for group in group_tasks(frame(rows), ("op_type", "task_type"), top)] == keys[:top]


def test_the_95th_percentile_lies_between_values() -> None:
    (group,) = group_tasks(frame([("A", "X", 10 * n) for n in range(1, 11)]), ("op_type",))
    assert (group.p50_ns, group.p95_ns) == (55.0, pytest.approx(95.5))
    (one,) = group_tasks(frame([("A", "X", 10)]), ("op_type",))
    assert (one.p50_ns, one.p95_ns, one.std_ns, one.values_ns) == (10.0, 10.0, None, None)


def test_more_combinations_of_words_than_32_bits_tell_apart() -> None:
    """Fifty thousand words in either of two columns: each row is a group of its own, under its own words."""
    count = 50_000
    ones, others = [f"a{number}" for number in range(count)], [f"b{number * 7 % count}" for number in range(count)]
    columns = {"a": pa.array(ones).dictionary_encode(), "b": pa.array(others).dictionary_encode()}
    table = pa.table({**columns, "task_duration_ns": pa.array(range(1, count + 1), pa.int64())})
    groups = group_tasks(table, ("a", "b"), 3)
    assert group_and_count(table, ("a", "b"))[1] == count
    assert [(group.key, group.total_ns) for group in groups] == [((ones[-n], others[-n]), count + 1 - n) for n in (1, 2, 3)]  # fmt: skip


@given(
    numbers=st.lists(st.integers(0, 60), min_size=1, max_size=60),
    factor=st.sampled_from([1, 10**4, 10**9]),
    kind=st.sampled_from([np.int32, np.int64]),
)
def test_numbers_far_apart_become_places_among_those_that_occur(numbers: list[int], factor: int, kind: type) -> None:
    sparse = np.asarray(numbers, dtype=kind) * kind(factor if kind is np.int64 else min(factor, 10**4))
    present, places = _dense(sparse, int(sparse.max()) + (1 << 20))
    expected, place = np.unique(sparse, return_inverse=True)
    assert (present.tolist(), places.tolist()) == (expected.tolist(), place.tolist())


@pytest.mark.parametrize(("rows", "count"), [(0, 0), (3, 1)])
def test_columns_that_tell_nothing_make_one_group_of_all_rows_if_there_are_any(rows: int, count: int) -> None:
    nothing = pa.nulls(rows, pa.dictionary(pa.int32(), pa.string()))
    groups_of, names = group_codes(pa.table({"op_type": nothing, "input_shapes": nothing}), ("op_type", "input_shapes"))
    assert (groups_of.tolist(), names.count) == ([0] * rows, count)
    assert [names[group] for group in range(count)] == [(None, None)] * count


def test_a_column_that_tells_nothing_stands_between_others() -> None:
    words, nothing = pa.array(["b", "a", "b"]).dictionary_encode(), pa.nulls(3, pa.dictionary(pa.int32(), pa.string()))
    table = pa.table({"op_type": words, "input_shapes": nothing, "task_type": words})
    groups_of, names = group_codes(table, ("op_type", "input_shapes", "task_type"))
    assert [names[group] for group in groups_of.tolist()] == [("b", None, "b"), ("a", None, "a"), ("b", None, "b")]


@given(tasks)
def test_all_keys_at_once_are_those_one_by_one(rows: list[tuple[str | None, str, int]]) -> None:
    _, names = group_codes(frame(rows), ("op_type", "task_type"))
    assert list(names) == [names[group] for group in range(names.count)]
