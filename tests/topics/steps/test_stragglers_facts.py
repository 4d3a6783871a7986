"""Ranks against ranks of the same work: who is slow, by how much and in what, and who cannot be compared."""

from __future__ import annotations

import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.facts.tasks import TaskSet
from aoe_reports.topics.steps.straggler_facts import (
    MAX_OPERATORS,
    MIN_PEERS,
    ComparedHost,
    ComparedRank,
    compare_hosts,
    find_stragglers,
    median_waits,
    sums_of_types,
)

Row = tuple[int | None, int | None, str | None, int, int]
SCHEMA = pa.schema(
    [
        ("rank_id", pa.int64()),
        ("device_id", pa.int64()),
        ("op_type", pa.string()),
        ("count", pa.int64()),
        ("total_ns", pa.int64()),
    ]
)


def table(rows: Sequence[Row]) -> pa.Table:
    return pa.table(list(map(list, zip(*rows, strict=True))) if rows else [[]] * 5, schema=SCHEMA)


def job(ranks: Sequence[Mapping[str, int]], count: int = 10) -> list[Row]:
    """Each rank's time by operator type."""
    return [(rank, None, name, count, ns) for rank, times in enumerate(ranks) for name, ns in times.items()]


def found(ranks: Sequence[Mapping[str, int]]) -> list[ComparedRank]:
    return find_stragglers(table(job(ranks)))


def of_totals(*totals: int) -> dict[int | None, ComparedRank]:
    """Ranks of one operator type."""
    return {one.rank_id: one for one in found([{"MatMul": total} for total in totals])}


def noisy(ranks: int, types: int = 20, seed: int = 3, noise: float = 0.005) -> list[dict[str, int]]:
    chance = random.Random(seed)
    usual = {f"op{number:02}": 10_000 * (number + 1) for number in range(types)}
    return [{name: round(ns * chance.gauss(1, noise)) for name, ns in usual.items()} for _ in range(ranks)]


def test_a_slow_chip_comes_first_and_all_its_operators_are_slower() -> None:
    ranks = noisy(16)
    ranks[5] = {name: round(ns * 1.06) for name, ns in ranks[5].items()}
    first, *others = found(ranks)
    assert (first.rank_id, first.state, first.cause, first.is_notable) == (5, "slow", "all operators", True)
    assert (first.peers, first.role, first.slower_types, first.types) == (15, 1, 20, 20)
    assert first.slower == pytest.approx(0.06, abs=0.005)
    assert first.lost_ns == first.computing_ns - (first.median_ns or 0) > 0
    assert [loss.op_type for loss in first.operators] == ["op19", "op18", "op17"]
    assert {one.state for one in others} == {"usual"}
    assert [one.lost_ns for one in others] == sorted((one.lost_ns for one in others), reverse=True)
    assert {one.cause for one in others} == {None}


def test_a_single_slow_operator_is_named_and_not_the_chip() -> None:
    ranks = noisy(16)
    ranks[9]["op10"] *= 3
    first, *others = found(ranks)
    assert (first.rank_id, first.state, first.cause) == (9, "slow", "one operator")
    loss = first.operators[0]
    assert (loss.op_type, loss.count, loss.total_ns) == ("op10", 10, ranks[9]["op10"])
    assert loss.slower == pytest.approx(2, abs=0.05)
    assert loss.lost_ns == loss.total_ns - loss.median_ns
    assert {one.state for one in others} == {"usual"}


def test_several_slow_operators_are_neither() -> None:
    ranks = noisy(16)
    for name in ("op10", "op11", "op12"):
        ranks[9][name] *= 2
    first = found(ranks)[0]
    assert (first.rank_id, first.state, first.cause) == (9, "slow", None)
    assert {loss.op_type for loss in first.operators} == {"op10", "op11", "op12"}


@pytest.mark.parametrize("ranks", [5, 16, 256, 1024])
def test_noise_alone_is_nobody(ranks: int) -> None:
    assert {one.state for one in found(noisy(ranks))} == {"usual"}


def test_exact_times_are_integers_beyond_what_a_float_holds() -> None:
    large = 2**60
    ranks = of_totals(large, large + 1, large + 3, large + 7, large + 8)
    assert {one.median_ns for one in ranks.values()} == {large + 3}
    assert [ranks[rank].lost_ns for rank in range(5)] == [-3, -2, 0, 4, 5]


def test_sums_beyond_64_bits_are_exact() -> None:
    ranks = [{"MatMul": 2**62, "Add": 2**62, "Mul": 2**62 + rank} for rank in range(2)]
    assert [(one.rank_id, one.computing_ns) for one in found(ranks)] == [(1, 3 * 2**62 + 1), (0, 3 * 2**62)]


def test_slow_is_more_than_two_percent() -> None:
    """Of ranks without any scatter the share alone decides."""
    assert of_totals(*[100_000] * 5, 102_000)[5].state == "usual"
    assert of_totals(*[100_000] * 5, 102_001)[5].state == "slow"


def test_slow_is_more_than_four_robust_deviations() -> None:
    """The median is 100,000, the median absolute deviation 1,000: four deviations are 5,930."""
    others = [98_000, 99_000, 99_000, 100_000, 101_000, 101_000]
    assert of_totals(*others, 105_930)[6].state == "usual"
    slow = of_totals(*others, 105_931)[6]
    assert (slow.state, slow.median_ns) == ("slow", 100_000)
    assert slow.deviations == pytest.approx(4, abs=0.001)


def test_fewer_than_four_peers_are_no_verdict() -> None:
    four = of_totals(*[100_000] * (MIN_PEERS - 1), 150_000)[MIN_PEERS - 1]
    assert (four.peers, four.state, four.is_notable, four.slower, four.deviations) == (3, None, True, 0.5, None)
    five = of_totals(*[100_000] * MIN_PEERS, 150_000)[MIN_PEERS]
    assert (five.peers, five.state, five.is_notable) == (4, "slow", True)


def test_without_a_verdict_two_percent_are_notable() -> None:
    """Of two ranks the median lies between both."""
    ranks = of_totals(98_000, 102_000)
    assert [(ranks[rank].median_ns, ranks[rank].is_notable) for rank in (0, 1)] == [(100_000, False)] * 2
    assert of_totals(97_998, 102_002)[1].is_notable


@pytest.mark.parametrize(("slower", "cause"), [(4, "all operators"), (3, None)])
def test_all_operators_are_four_in_five(slower: int, cause: str | None) -> None:
    usual = dict.fromkeys("abcde", 100_000)
    first = found([*[usual] * 6, {**usual, **dict.fromkeys("abcde"[:slower], 110_000)}])[0]
    assert (first.rank_id, first.slower_types, first.types, first.cause) == (6, slower, 5, cause)


@pytest.mark.parametrize(("rest", "cause"), [(10_000, "all operators"), (9_999, "one operator")])
def test_one_operator_is_one_without_which_less_than_half_remains(rest: int, cause: str) -> None:
    """30,000 and 10,000 of 200,000 are 20 %; without the first, 10,000 of 100,000 are half of that."""
    usual = {"Add": 100_000, "MatMul": 100_000}
    first = found([*[usual] * 6, {"Add": 100_000 + rest, "MatMul": 130_000}])[0]
    assert (first.rank_id, first.operators[0].op_type, first.cause) == (6, "MatMul", cause)


def test_medians_do_not_add_up() -> None:
    """The last rank takes longest, and each of its operators as long as the median."""
    first = found([{"Add": 100, "MatMul": 10}, {"Add": 10, "MatMul": 100}, {"Add": 100, "MatMul": 100}])[0]
    assert (first.rank_id, first.lost_ns, first.operators, first.cause) == (2, 90, (), None)


def test_a_rank_alone_has_no_peers() -> None:
    (one,) = found([{"MatMul": 5, "Add": 3}])
    assert (one.peers, one.median_ns, one.lost_ns, one.slower, one.state) == (0, None, None, None, None)
    assert (one.computing_ns, one.operators, one.is_notable, one.cause) == (8, (), False, None)


def test_no_row_is_no_rank() -> None:
    assert find_stragglers(table([])) == []


def test_roles_are_compared_each_by_itself() -> None:
    """The last stage of a pipeline computes twice as long, with an operator of its own: nobody of it is slow for that."""
    first = [{"MatMul": 100_000 + rank, "Gather": 50_000} for rank in range(6)]
    last = [{"MatMul": 200_000 + rank, "Softmax": 80_000} for rank in range(6)]
    last[2]["MatMul"] = 240_000
    ranks = {one.rank_id: one for one in found([*first, *last])}
    assert [ranks[rank].role for rank in range(12)] == [1] * 6 + [2] * 6
    assert {one.peers for one in ranks.values()} == {5}
    assert [rank for rank, one in ranks.items() if one.state == "slow"] == [8]


@pytest.mark.parametrize(
    ("counts", "roles"), [((100, 105), 1), ((100, 106), 2), ((1, 2), 2), ((20, 21), 1), ((19, 20), 2)]
)
def test_counts_five_percent_apart_are_the_same_work(counts: tuple[int, int], roles: int) -> None:
    rows = [(rank, None, "MatMul", count, 100) for rank, count in enumerate(counts)]
    assert {one.role for one in find_stragglers(table(rows))} == set(range(1, roles + 1))


def test_what_one_rank_alone_logs_does_not_take_its_peers() -> None:
    usual = {"MatMul": 100_000, "Add": 50_000}
    logging = [{**usual, "IsFinite": 140}, *[usual] * 5]
    assert {(one.role, one.peers) for one in found(logging)} == {(1, 5)}
    assert {one.types for one in found(logging)} == {2}
    heavy = [{**usual, "IsFinite": 160}, *[usual] * 5]
    assert sorted(one.peers for one in found(heavy)) == [0, 4, 4, 4, 4, 4]


def test_a_split_by_one_type_may_split_another() -> None:
    """Counts of Add run in steps of 5 % from 100 to 110; without the rank in the middle, which runs other work, they are apart."""
    rows = [
        (rank, None, name, count, 100)
        for rank, counts in enumerate(((100, 50), (105, 90), (110, 50)))
        for name, count in zip(("Add", "MatMul"), counts, strict=True)
    ]
    assert [one.role for one in sorted(find_stragglers(table(rows)), key=lambda one: one.rank_id or 0)] == [1, 2, 3]


def test_devices_of_one_rank_and_ranks_that_nobody_knows_are_apart() -> None:
    rows: list[Row] = [(None, 0, "Add", 1, 10), (None, 1, "Add", 1, 20), (3, None, "Add", 1, 30), (3, 7, "Add", 1, 40)]
    assert [one.member for one in find_stragglers(table(rows))] == [(3, 7), (3, None), (None, 1), (None, 0)]
    assert [one.member for one in find_stragglers(table(rows[:2]).set_column(0, "rank_id", pa.nulls(2)))] == [(None, 1), (None, 0)]  # fmt: skip


def test_tasks_without_a_type_are_compared_as_a_whole() -> None:
    rows: list[Row] = [(rank, None, None, 10, 100_000 + 50_000 * (rank == 3)) for rank in range(6)]
    first = find_stragglers(table(rows))[0]
    assert (first.rank_id, first.state, first.cause, first.types) == (3, "slow", None, 1)


def test_rows_of_one_rank_and_type_are_added_up() -> None:
    rows = job(noisy(6))
    halves = [(rank, device, name, count // 2, ns // 2) for rank, device, name, count, ns in rows]
    rests = [(rank, device, name, count - count // 2, ns - ns // 2) for rank, device, name, count, ns in rows]
    assert find_stragglers(table([*halves, *rests])) == find_stragglers(table(rows))


rows_of_ranks = st.lists(
    st.tuples(
        st.sampled_from([None, 0, 1, 2, 3, 4, 5, 6]),
        st.sampled_from([None, 0, 1]),
        st.sampled_from([None, "MatMul", "Add", "Mul", "算子"]),
        st.integers(1, 30),
        st.integers(0, 10_000),
    ),
    max_size=60,
)


@given(rows_of_ranks, st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_nothing(rows: list[Row], chance: random.Random) -> None:
    ordered = find_stragglers(table(rows))
    chance.shuffle(rows)
    assert find_stragglers(table(rows)) == ordered
    assert find_stragglers(pa.concat_tables([table(rows[:7]), table(rows[7:])])) == ordered
    words = table(rows).set_column(2, "op_type", table(rows)["op_type"].dictionary_encode())
    assert find_stragglers(words) == ordered


@given(rows_of_ranks)
def test_every_rank_is_there_once_with_all_its_time(rows: list[Row]) -> None:
    ranks = find_stragglers(table(rows))
    assert {one.member for one in ranks} == {(rank, device) for rank, device, *_ in rows}
    assert len({one.member for one in ranks}) == len(ranks)
    assert sum(one.computing_ns for one in ranks) == sum(ns for *_, ns in rows)
    for one in ranks:
        assert one.peers == sum(one.role == other.role for other in ranks) - 1
        assert len(one.operators) <= MAX_OPERATORS
        assert all(loss.lost_ns > 0 for loss in one.operators)
        assert (one.slower_types or 0) <= (one.types or 0)


def test_other_numbers_for_the_same_ranks_change_nothing_else() -> None:
    ranks = noisy(12)
    ranks[4]["op19"] *= 2
    usual = found(ranks)
    moved = find_stragglers(table([(rank * 7 + 3, *rest) for rank, *rest in job(ranks) if rank is not None]))  # type: ignore[misc]
    assert [replace(one, rank_id=(one.rank_id or 0) * 7 + 3) for one in usual] == moved


def test_the_middle_of_what_ranks_of_a_role_wait() -> None:
    ranks = [*of_totals(1, 2, 3).values()]
    assert median_waits(ranks, {(0, None): 10.0, (1, None): 40.0, (9, None): 1.0}) == {1: 25.0}
    assert median_waits(ranks, {}) == {}


def test_only_computing_is_summed() -> None:
    frame = pa.table(
        {
            "op_type": pa.array(["Add", "hcom_allReduce_", None, "Add", "MatMul"]),
            "task_type": pa.array(["AI_CORE", "HCCL", "AI_CORE", "AI_CORE", "AI_CORE"]),
            "task_duration_ns": pa.array([1, 100, 5, 2, None], pa.int64()),
        }
    )
    sums = sums_of_types([TaskSet(3, None, frame)]).to_pylist()
    assert sums == [
        {"rank_id": 3, "device_id": None, "op_type": None, "count": 1, "total_ns": 5},
        {"rank_id": 3, "device_id": None, "op_type": "Add", "count": 2, "total_ns": 3},
    ]
    assert sums_of_types([]).num_rows == 0
    assert sums_of_types([TaskSet(3, None, frame.slice(1, 1))]).num_rows == 0


def test_sums_that_stand_in_are_taken_as_they_are() -> None:
    frame = pa.table(
        {
            "op_type": pa.array(["Add", "Add", "MatMul"]),
            "task_type": pa.array(["AI_CORE", "AI_VECTOR_CORE", "AI_CORE"]),
            "count": pa.array([3, 4, 1], pa.int64()),
            "total_time_ns": pa.array([30, 50, 7], pa.int64()),
        }
    )
    rows = sums_of_types([TaskSet(None, 2, frame, grouped=True)]).to_pylist()
    assert [(row["device_id"], row["op_type"], row["count"], row["total_ns"]) for row in rows] == [(2, "Add", 7, 80), (2, "MatMul", 1, 7)]  # fmt: skip


@pytest.mark.parametrize("kinds", [1, 1024])
def test_a_thousand_ranks_take_less_than_a_second(kinds: int) -> None:
    """Whether they do the same work, or each its own."""
    ranks, types = 1024, 100
    each = np.arange(ranks)[:, None]
    counts = (1 + (each % kinds >> np.arange(types) % 10 & 1)).ravel()
    times = np.random.default_rng(1).integers(1, 10**6, ranks * types)
    names = [f"op{number}" for number in range(types)] * ranks
    sums = pa.table(
        [np.repeat(np.arange(ranks), types), pa.nulls(ranks * types), names, counts, times], names=SCHEMA.names
    )
    before = time.process_time()
    found = find_stragglers(sums)
    assert (len(found), len({one.role for one in found})) == (ranks, kinds)
    assert time.process_time() - before < 1


@pytest.mark.parametrize(("missing", "peers"), [(1, 5), (2, 5), (3, 0), (-1, 0)])
def test_rows_that_were_left_out_take_no_peers(missing: int, peers: int) -> None:
    rows = [
        (rank, device, name, count - missing if (rank, name) == (3, "a") else count, ns)
        for rank, device, name, count, ns in job([{"a": 100, "b": 100}] * 6)
    ]
    (lone,) = [one for one in find_stragglers(table(rows)) if one.rank_id == 3]
    assert lone.peers == peers


@pytest.mark.parametrize(
    ("ranks", "deviations", "state"), [(100, 4.2, "slow"), (10_000, 4.2, "usual"), (10_000, 5.0, "slow")]
)
def test_of_more_ranks_one_has_to_be_further_from_the_others(ranks: int, deviations: float, state: str) -> None:
    usual = np.random.default_rng(5).normal(1_000_000, 10_000, ranks - 1)
    spread = 1.4826 * np.median(np.abs(usual - np.median(usual)))
    slow = np.median(usual) + deviations * spread
    assert of_totals(*map(round, (slow, *usual.tolist())))[0].state == state


def on_hosts(hosts: Mapping[str, Sequence[float]], noise: float = 0.003) -> list[ComparedHost]:
    """Hosts whose ranks take so many times as long as others."""
    chance = random.Random(2)
    places = [(host, share) for host, shares in hosts.items() for share in shares]
    ranks = [{"a": round(10**6 * share * chance.gauss(1, noise))} for _, share in places]
    return compare_hosts(found(ranks), {(rank, None): host for rank, (host, _) in enumerate(places)})


def test_a_host_all_of_whose_ranks_are_slow_is_slow() -> None:
    first, *others = on_hosts({**{f"h{number}": [1.0] * 4 for number in range(3)}, "hot": [1.05] * 4})
    assert (first.host, first.ranks, first.slow_ranks, first.state) == ("hot", 4, 4, "slow")
    assert first.slower == pytest.approx(0.05, abs=0.01)
    assert {one.state for one in others} == {"usual"}


def test_one_slow_rank_does_not_make_its_host_slow() -> None:
    told = on_hosts({**{f"h{number}": [1.0] * 4 for number in range(5)}, "mixed": [1.2, 1.0, 1.0, 1.0]})
    assert {one.host: (one.slow_ranks, one.state) for one in told}["mixed"] == (1, "usual")


def test_of_noisy_ranks_the_host_tells_more_than_each_of_them() -> None:
    first, *_ = on_hosts({**{f"h{number}": [1.0] * 32 for number in range(7)}, "hot": [1.04] * 32}, noise=0.015)
    assert (first.host, first.state) == ("hot", "slow")
    assert first.slow_ranks < first.ranks / 2


@pytest.mark.parametrize("hosts", [{"a": [1.0] * 6}, {"a": [1.0] * 6, "b": [1.0]}, {}])
def test_fewer_than_two_hosts_of_two_ranks_are_not_compared(hosts: Mapping[str, Sequence[float]]) -> None:
    assert on_hosts(hosts) == []
