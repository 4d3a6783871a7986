"""Which groups and stages ranks belong to, and what stages of a pipeline compute."""

from __future__ import annotations

import pyarrow as pa
import pytest

from aoe_reports.facts.parallel import layout_of
from aoe_reports.facts.steps import stages_of_cluster
from aoe_reports.formats.ascend.groups import places_of_cluster, places_of_rank
from aoe_reports.model.topics.parallel import GroupPlace
from aoe_reports.topics.steps.pipeline import longest_of, stages_of
from aoe_reports.topics.steps.straggler_facts import find_stragglers


def test_the_place_of_a_rank_is_that_among_the_members_in_their_order() -> None:
    group = {"group_name": "PP", "group_rank": 1, "global_ranks": [9, 4, 7]}
    assert places_of_rank({"a": group}) == {4: (GroupPlace("pp", 4, 1, 3),)}


def test_members_in_the_file_of_a_cluster_are_sorted() -> None:
    assert places_of_cluster([{"pg_name": "exp", "rank_set": [6, 2]}]) == {
        2: (GroupPlace("ep", 2, 0, 2),), 6: (GroupPlace("ep", 2, 1, 2),),
    }  # fmt: skip


def test_the_same_group_twice_is_one_and_two_of_a_kind_are_none() -> None:
    same = [{"pg_name": "ep", "rank_set": [0, 1]}, {"pg_name": "exp", "rank_set": [0, 1]}]
    assert set(places_of_cluster(same)) == {0, 1}
    assert set(places_of_cluster([*same, {"pg_name": "ep", "rank_set": [1, 2]}])) == {0, 2}


def test_groups_are_counted_by_their_lowest_ranks_and_the_first_word_counts() -> None:
    own = {5: (GroupPlace("tp", 4, 1, 2),)}
    others = {rank: (GroupPlace("tp", rank // 2 * 2, rank % 2, 2),) for rank in range(4)} | {5: ()}
    layout = layout_of([own, others])
    assert layout.numbers == {("tp", 0): 0, ("tp", 2): 1, ("tp", 4): 2}
    assert layout.groups("tp") == {0: [0, 1], 1: [2, 3], 2: [5]}
    assert (layout.stages, layout.groups("pp")) == ({}, {})


def test_a_table_of_stages_is_asked_where_no_group_is_a_pipeline() -> None:
    assert layout_of([{}], [{}, {0: 0, 1: 1}]).stages == {0: 0, 1: 1}
    assert layout_of([{3: (GroupPlace("pp", 1, 1, 2),)}], [{3: 7}]).stages == {3: 1}


@pytest.mark.parametrize(
    ("index", "stages"),
    [
        (["(2, 3)", "(0, 1)", "(0, 1)"], {0: 0, 1: 0, 2: 1, 3: 1}),
        (["(10,)", "(9,)"], {9: 0, 10: 1}),
        (["(0, 1)"], {}),
        (["(0, 1)", "(1, 2)"], {}),
        (["(0, 1)", "a, 2", None], {}),
    ],
)
def test_stages_of_a_cluster_are_in_the_order_of_their_lowest_ranks(
    index: list[str | None], stages: dict[int, int]
) -> None:
    frame = pa.table({"type": ["rank", *["stage"] * len(index)], "index": pa.array(["7", *index], pa.string())})
    assert stages_of_cluster(frame) == stages


@pytest.mark.parametrize(("time", "longest"), [(105.0, 2), (104.9, None)])
def test_a_stage_is_longer_from_five_percent_above_the_median_of_stages(time: float, longest: int | None) -> None:
    stages = stages_of({0: 100.0, 1: 90.0, 2: 100.0, 3: 100.0, 4: time, 5: time}, {0: 0, 1: 0, 2: 1, 3: 1, 4: 2, 5: 2})
    found = longest_of(stages)
    assert (None if found is None else found.stage) == longest
    assert [(one.computing_ns, one.busiest) for one in stages] == [(95.0, 0), (100.0, 2), (time, 4)]


def test_a_rank_of_an_unknown_stage_leaves_none_to_compare() -> None:
    assert stages_of({0: 1.0, 1: 1.0, 2: 1.0}, {0: 0, 1: 1}) == ()


def sums_of(calls: list[int], a_call: float = 10.0) -> pa.Table:
    columns = [range(len(calls)), pa.nulls(len(calls)), ["a"] * len(calls), calls, [int(n * a_call) for n in calls]]
    return pa.table(columns, names=["rank_id", "device_id", "op_type", "count", "total_ns"])


def roles(calls: list[int], stages: dict[int, int]) -> list[int]:
    return [one.role for one in sorted(find_stragglers(sums_of(calls), stages), key=lambda one: one.rank_id or 0)]


def test_stages_of_the_same_work_are_peers_and_a_rank_follows_most_of_its_stage() -> None:
    two = {0: 0, 1: 0, 2: 0, 3: 1, 4: 1, 5: 1}
    assert roles([100, 100, 100, 100, 100, 100], two) == [1] * 6
    assert roles([100, 100, 200, 100, 100, 100], two) == [1] * 6
    assert roles([100, 100, 100, 200, 200, 100], two) == [1, 1, 1, 2, 2, 2]
    assert roles([100, 200, 400, 100, 100, 100], two) == [1, 1, 1, 2, 2, 2], "no two of the first stage are alike"
    assert roles([100, 100, 200, 100, 100, 100], {}) == [1, 1, 2, 1, 1, 1]


@pytest.mark.parametrize(("slower", "cause"), [(1.0290, "more calls"), (1.0292, "one operator")])
def test_more_calls_are_the_cause_where_they_take_half_of_the_excess(slower: float, cause: str) -> None:
    calls = [10_000] * 5 + [10_300]
    times = [100_000_000] * 5 + [round(103_000_000 * slower)]
    columns = [range(6), pa.nulls(6), ["a"] * 6, calls, times]
    other = [range(6), pa.nulls(6), ["b"] * 6, [1] * 6, [10] * 6]
    names = ["rank_id", "device_id", "op_type", "count", "total_ns"]
    first = find_stragglers(pa.concat_tables([pa.table(columns, names=names), pa.table(other, names=names)]))[0]
    assert (first.rank_id, first.state, first.cause, round(first.more_calls, 4)) == (5, "slow", cause, 0.03)
