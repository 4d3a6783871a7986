"""Records of many ranks: which rank stands for all of them, what is said of the others, what stays as it is."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.formats.records.record import Record
from aoe_reports.model.history.changes import RecordScope
from aoe_reports.topics.records.context import RunContext
from aoe_reports.topics.records.over_ranks import over_ranks

CONTEXT = RunContext("20260101T000000-00000000", 0, "net", source="msprof")


def timed(rank: int, mean_ms: float, name: str = "conv", scope: RecordScope = "op", count: int = 2) -> Record:
    """A record of a rank."""
    return Record(
        **CONTEXT.fields(),
        workload=f"net/{scope}/{name}",
        runtime_ms_mean=mean_ms,
        runtime_ms_std=None,
        scope=scope,
        source="msprof",
        op_type=name,
        op_name=name if scope == "op" else None,
        rank_id=rank,
        device_id=rank,
        count=count,
        total_ns=round(mean_ms * count * 1e6),
    )


@pytest.mark.parametrize(
    ("means", "median", "p95", "slowest"),
    [
        ([3.0], 3.0, 3.0, (3.0, 0)),
        ([3.0, 1.0], 1.0, 3.0, (3.0, 0)),
        ([1.0, 5.0, 3.0], 3.0, 5.0, (5.0, 1)),
        ([*map(float, range(20))], 9.0, 18.0, (19.0, 19)),
        ([*map(float, range(21))], 10.0, 19.0, (20.0, 20)),
        ([2.0, 2.0, 2.0], 2.0, 2.0, (2.0, 2)),
    ],
)
def test_the_median_rank_stands_for_all(
    means: list[float], median: float, p95: float, slowest: tuple[float, int]
) -> None:
    records = [timed(rank, mean) for rank, mean in enumerate(means)]
    found, single = over_ranks(records, 0)
    (whole,) = [one for one in found if one.scope == "op"]
    assert single == records
    assert (whole.runtime_ms_mean, whole.rank_id, whole.device_id) == (median, None, None)
    assert whole.metrics == {
        "ranks": len(means),
        "p95_rank_ms_mean": p95,
        "slowest_rank_ms_mean": slowest[0],
        "slowest_rank": slowest[1],
    }
    assert whole.total_ns == round(median * 2 * 1e6)


def test_up_to_so_many_ranks_nothing_changes_and_all_of_it_only_once() -> None:
    records = [timed(rank, 1.0 + rank) for rank in range(3)]
    assert over_ranks(records, 3) == (records, [])
    once, single = over_ranks(records, 2)
    assert single == records
    assert over_ranks(once, 2) == (once, [])


def test_what_a_rank_computes_is_the_sum_of_its_types_or_else_of_its_operators() -> None:
    types = [timed(0, 1.0, "conv", "op_type", 3), timed(0, 4.0, "relu", "op_type", 1)]
    records = [*types, timed(0, 9.0), timed(1, 2.0, count=5)]
    found = {one.rank_id: one for one in over_ranks(records, 1)[0] if one.scope == "computing"}
    assert {rank: (one.count, one.total_ns, one.runtime_ms_mean) for rank, one in found.items()} == {
        0: (4, 7_000_000, 1.75),
        1: (5, 10_000_000, 2.0),
    }
    assert {(one.workload, one.op_type, one.op_name) for one in found.values()} == {("net/computing", None, None)}


def test_other_inputs_and_other_types_are_other_operators() -> None:
    records = [timed(rank, 1.0) for rank in range(2)]
    records += [replace(one, workload_args={"input_shapes": "8,8"}) for one in records]
    records += [replace(one, op_type="other") for one in records[:2]]
    found = [one for one in over_ranks(records, 1)[0] if one.scope == "op"]
    assert [(one.op_type, dict(one.workload_args), one.metrics["ranks"]) for one in found] == [
        ("conv", {}, 2),
        ("conv", {"input_shapes": "8,8"}, 2),
        ("other", {}, 2),
    ]


@given(st.permutations(range(7)), st.lists(st.integers(1, 5), min_size=7, max_size=7))
def test_the_order_of_ranks_changes_nothing_and_steps_and_communication_stay(
    order: list[int], means: list[int]
) -> None:
    steps = [replace(timed(rank, 1.0, scope="step"), op_type=None) for rank in range(7)]
    talk = [timed(rank, 1.0, "allReduce", "communication") for rank in range(7)]
    operators = [timed(rank, float(mean)) for rank, mean in enumerate(means)]
    found = [
        one
        for one in over_ranks([*steps, *talk, *(operators[rank] for rank in order)], 2)[0]
        if one.scope != "computing"
    ]
    assert found[:14] == [*steps, *talk]
    assert found[14:] == over_ranks(operators, 2)[0][7:]
