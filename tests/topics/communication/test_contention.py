"""Computing beside communication: what is planted is found with its size, and nothing where nothing is."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.topics.communication.contention import find_contention

SEEDS = 20


def tasks(rows: list[tuple[str | None, str, str, int, int]]) -> pa.Table:
    """Rows of (type, core, shapes, start, duration)."""
    columns = list(zip(*rows, strict=True)) if rows else [()] * 5
    return pa.table(
        {
            "op_type": pa.array(columns[0], pa.string()),
            "op_name": pa.array([f"{one}_{place}" for place, one in enumerate(columns[0])], pa.string()),
            "task_type": pa.array(columns[1], pa.string()),
            "input_shapes": pa.array(columns[2], pa.string()),
            "task_start_ns": pa.array(columns[3], pa.int64()),
            "task_duration_ns": pa.array(columns[4], pa.int64()),
        }
    )


def planted(seed: int, slower: float) -> pa.Table:
    """200 tasks of four types, half of them beside an all-reduce, where MatMul takes longer."""
    random = np.random.default_rng(seed)
    rows: list[tuple[str | None, str, str, int, int]] = []
    at = 0
    for block in range(20):
        begin = at
        for place in range(10):
            kind = ("MatMul", "Add", "Softmax", "LayerNorm")[place % 4]
            mean = 100_000 if kind == "MatMul" else 20_000
            length = round(mean * random.normal(1, 0.01) * (1 + slower if block % 2 and kind == "MatMul" else 1))
            rows.append((kind, "AI_CORE", "1,2", at, length))
            at += length + 500
        if block % 2:
            rows.append(("hcom_allReduce_", "HCCL", "", begin, at - begin))
    return tasks(rows)


@pytest.mark.parametrize("seed", range(0, SEEDS, 5))
def test_what_is_planted_is_found_first_with_its_size(seed: int) -> None:
    found = find_contention(planted(seed, 0.2), 20)
    assert found is not None
    first = found.operators[0]
    assert (first.op_type, first.is_slower) == ("MatMul", True)
    assert first.slowdown == pytest.approx(0.2, abs=0.02)
    assert found.lost_ns == pytest.approx(first.beside * 20_000, rel=0.15)
    assert (found.slower, found.beside_ns) == (1, found.compared_ns)


def test_where_nothing_is_slower_next_to_nothing_is_told() -> None:
    told = [find_contention(planted(seed, 0.0), 20) for seed in range(SEEDS)]
    assert sum(one.slower for one in told if one is not None) <= 0.02 * 4 * SEEDS
    assert all(one is not None and one.lost_ns <= 0.002 * one.computing_ns for one in told)


def healthy(seed: int, kind: str) -> pa.Table:
    """Tasks that take as long beside communication as without: of two clusters by chance, or longer and longer, communication later."""
    random = np.random.default_rng(seed)
    rows: list[tuple[str | None, str, str, int, int]] = []
    at = 0
    for block in range(40):
        begin = at
        for place in range(12):
            usual = 1.0 + 0.05 * block / 40 if kind == "drift" else random.choice([1.0, 1.2])
            length = round(50_000 * usual * random.normal(1, 0.002))
            rows.append((["MatMul", "Add", "Softmax", "LayerNorm"][place % 4], "AI_CORE", "1,2", at, length))
            at += length + 500
        if block >= 20 if kind == "drift" else block % 2:
            rows.append(("hcom_allReduce_", "HCCL", "", begin, at - begin))
    return tasks(rows)


@pytest.mark.parametrize("kind", ["clusters", "drift"])
def test_two_clusters_and_what_gets_slower_by_itself_are_no_contention(kind: str) -> None:
    told = [find_contention(healthy(seed, kind), 20) for seed in range(SEEDS)]
    assert sum(one.slower for one in told if one is not None) <= 0.02 * 4 * SEEDS
    assert any(operator.lost_ns for one in told if one is not None for operator in one.operators)


@pytest.mark.parametrize(("beside", "slower"), [((61, 62, 63, 64, 65), True), ((40, 62, 63, 64, 65), False)])
def test_of_few_calls_all_are_slower_beside_or_nothing_is_told(beside: tuple[int, ...], *, slower: bool) -> None:
    lengths = [50, 51, 52, 53, 54]
    rows = [("A", "AI_CORE", "1", place * 200, length) for place, length in enumerate(lengths)]
    rows += [("A", "AI_CORE", "1", place * 200 + 100, length) for place, length in enumerate(beside)]
    talk = [("hcom", "HCCL", "", place * 200 + 100, 70) for place in range(5)]
    found = find_contention(tasks([*rows, *talk]), 20)
    assert found is not None
    (one,) = found.operators
    assert (one.is_slower, one.lost_ns, found.slower) == (slower, 55, int(slower))


def test_too_few_calls_tell_nothing() -> None:
    rows = [("A", "AI_CORE", "1", place * 100, 50) for place in range(9)]
    talk = ("hcom", "HCCL", "", 500, 400)
    found = find_contention(tasks([*rows, talk]), 20)
    assert found is not None
    assert (found.operators, found.compared_ns) == ([], 0)


def test_without_communication_or_times_nothing_is_told() -> None:
    assert find_contention(tasks([("A", "AI_CORE", "1", 0, 5)]), 20) is None
    assert find_contention(tasks([]), 20) is None


def test_half_a_task_beside_communication_counts_and_less_is_neither() -> None:
    base = [("A", "AI_CORE", "1", place * 100, 50) for place in range(20)]
    half = [(*base[place][:3], place * 100, 50) for place in range(20)]
    talk = [("hcom", "HCCL", "", place * 100 + 25, 25) for place in range(6)]
    talk += [("hcom", "HCCL", "", place * 100 + 26, 24) for place in range(6, 12)]
    found = find_contention(tasks([*half, *talk]), 20)
    assert found is not None
    (one,) = found.operators
    assert (one.beside, one.alone, one.is_slower, one.lost_ns) == (6, 8, False, 0)


spans = st.lists(
    st.tuples(st.sampled_from(["A", "B", None]), st.booleans(), st.integers(0, 500), st.integers(0, 60)), max_size=60
)


@given(spans)
def test_every_sum_is_within_computing(rows: list[tuple[str | None, bool, int, int]]) -> None:
    table = tasks([(kind, "HCCL" if talks else "AI_CORE", "1", start, length) for kind, talks, start, length in rows])
    found = find_contention(table, 20)
    if found is not None:
        assert found.computing_ns == sum(length for _, talks, _, length in rows if not talks)
        assert 0 <= found.compared_ns <= found.beside_ns <= found.computing_ns
        brute = 0
        busy = {at for _, talks, start, length in rows if talks for at in range(start, start + length)}
        for _, talks, start, length in rows:
            covered = sum(at in busy for at in range(start, start + length))
            brute += length if not talks and length and 2 * covered >= length else 0
        assert found.beside_ns == brute
