"""How evenly the ranks of a group share the operators of experts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pytest

from aoe_reports.facts.parallel import layout_of
from aoe_reports.model.topics.parallel import GroupPlace
from aoe_reports.model.topics.stragglers import ExpertLoad
from aoe_reports.topics.steps.experts import expert_loads, is_of_experts
from aoe_reports.topics.steps.straggler_facts import find_stragglers

NAMES = ["rank_id", "device_id", "op_type", "count", "total_ns"]


def loads_of(
    times: Mapping[str | None, Sequence[int]], groups: int | None = None, devices: bool = False
) -> list[ExpertLoad]:
    """The loads of ranks 0, 1, … whose times are given by type; `groups`: so many ranks have an expert group in common."""
    parts = []
    for op_type, mine in times.items():
        numbers = pa.nulls(len(mine), pa.int64()) if devices else pa.array(range(len(mine)))
        where = pa.array(range(len(mine))) if devices else pa.nulls(len(mine), pa.int64())
        words = pa.array([op_type] * len(mine), pa.string())
        parts.append(pa.table([numbers, where, words, [1] * len(mine), list(mine)], names=NAMES))
    sums = pa.concat_tables(parts)
    count = len(next(iter(times.values())))
    places = {
        rank: (GroupPlace("ep", rank // (groups or 1) * (groups or 1), rank % (groups or 1), groups or 1),)
        for rank in range(count)
    }
    return expert_loads(sums, find_stragglers(sums), layout_of([places] if groups else []))


@pytest.mark.parametrize(
    ("op_type", "is_one"),
    [
        ("GroupedMatmul", True), ("GroupedMatMulSwigluQuant", True), ("grouped_matmul", True), ("MoeTokenPermute", True),
        ("MoeGatingTopK", True), ("MatMulV2", False), ("SmoeLike", False), ("MoeDistributeDispatchV2", False),
        ("MoeDistributeCombine", False), ("GroupedMatMulAlltoAllv", False), ("GroupedMatMulAllReduce", False),
        ("AlltoAllvGroupedMatMul", False),
    ],
)  # fmt: skip
def test_operators_of_experts_are_those_that_do_not_wait_for_others(op_type: str, is_one: bool) -> None:
    assert is_of_experts(op_type) is is_one


def test_the_busiest_rank_of_each_group_is_held_against_its_mean() -> None:
    times = {"GroupedMatmul": [100, 300, 100, 100, 200, 200, 200, 200], "MatMul": [1000] * 8}
    first, second = loads_of(times, 4)
    assert (first.expert_group, first.ranks, first.rank_id, first.max_ns, first.mean_ns) == (0, 4, 1, 300, 150.0)
    assert (first.imbalance, first.extra_ns, first.others, first.computing_ns) == (2.0, 150.0, 1.0, 1150.0)
    assert (second.expert_group, second.imbalance, second.rank_id) == (1, 1.0, 4)
    assert (first.is_uneven, second.is_uneven) == (True, False)


def test_without_groups_the_ranks_of_a_role_are_taken_together_and_one_alone_is_not() -> None:
    (load,) = loads_of({"MoeTokenPermute": [100, 100, 200, 400], "MatMul": [1000] * 4})
    assert (load.expert_group, load.role, load.ranks, load.rank_id, load.imbalance) == (None, 1, 4, 3, 2.0)
    assert loads_of({"GroupedMatmul": [100], "MatMul": [100]}) == []
    assert loads_of({"MatMul": [100, 900], None: [1, 1]}) == []


def test_devices_of_unknown_ranks_are_told_apart() -> None:
    (load,) = loads_of({"GroupedMatmul": [100, 200, 100], "MatMul": [1000] * 3}, devices=True)
    assert (load.rank_id, load.device_id, load.ranks) == (None, 1, 3)


def test_a_rank_to_whose_experts_nothing_is_sent_counts_with_nothing() -> None:
    (load,) = loads_of({"GroupedMatmul": [0, 100, 100, 200], "MatMul": [1000] * 4}, 4)
    assert (load.mean_ns, load.imbalance) == (100.0, 2.0)


@pytest.mark.parametrize(("most", "uneven"), [(1500, True), (1499, False)])
def test_uneven_is_a_fifth_above_the_mean(most: int, uneven: bool) -> None:
    """Of four ranks: most / ((3 * 1166.67 + most) / 4) is 1.2 at 1500."""
    (load,) = loads_of({"GroupedMatmul": [1166, 1167, 1167, most], "MatMul": [1000] * 4}, 4)
    assert load.is_uneven is uneven


def test_a_slow_chip_has_no_uneven_experts() -> None:
    (slow,) = loads_of({"GroupedMatmul": [100, 100, 100, 180], "MatMul": [1000, 1000, 1000, 1800]}, 4)
    assert (round(slow.imbalance, 2), round(slow.rest, 2), slow.is_uneven) == (1.5, 1.5, False)


@pytest.mark.parametrize(("more", "uneven"), [(1020, True), (1000, False)])
def test_experts_that_take_little_are_not_uneven(more: int, uneven: bool) -> None:
    """Twice the mean, and what that is more is about one percent of computing."""
    (load,) = loads_of({"MoeTokenPermute": [0, more], "MatMul": [50_000] * 2}, 2)
    assert (load.imbalance, load.is_uneven) == (2.0, uneven)


@pytest.mark.parametrize("ranks", [8, 256, 1024])
def test_noise_of_a_percent_is_no_imbalance(ranks: int) -> None:
    chance = np.random.default_rng(ranks)
    times = {name: (10**6 * chance.normal(1, 0.01, ranks)).astype(int).tolist() for name in ("GroupedMatmul", "MatMul")}
    assert not any(load.is_uneven for groups in (8, None) for load in loads_of(times, groups))


def test_uneven_groups_come_first_then_what_takes_most_more() -> None:
    even = [10_000, 12_000, 10_000, 10_000]
    times = {"GroupedMatmul": [*even, 100, 100, 1000, 100], "MatMul": [20_000] * 8}
    assert [(load.expert_group, load.is_uneven) for load in loads_of(times, 4)] == [(1, True), (0, False)]
