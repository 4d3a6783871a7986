"""Links and ranks that were made slow are found by name; what only looks slow is not; nothing is counted twice."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoe_reports import find_slow_links, find_slow_ranks
from aoe_reports.model.topics.communication import share_of_waiting
from aoe_reports.topics.communication.facts import (
    GroupRanks,
    OperatorTime,
    PeerWait,
    find_awaited_ranks,
    find_bandwidth_mismatches,
    links_of,
    number_of_step,
    operator_times,
    operators_of_steps,
    summed,
    transfers_of_matrix,
    type_of_operator,
)

MEGABYTE = 1_000_000
Pair = tuple[int, int]


def row(source: int, destination: int, speed: float, size: int = 20 * MEGABYTE, **more: Any) -> dict[str, Any]:
    """A row of the matrix; speed in GB/s."""
    return {
        "rank_id": source, "step": "step1", "type": "collective", "op_name": "hcom_allReduce__1_0", "group": "g",
        "source_rank": source, "destination_rank": destination, "transport": "HCCS", "transit_bytes": size,
        "transit_ns": round(size / speed), "bandwidth_gb_per_s": speed, "hccl_op_name": None, **more,
    }  # fmt: skip


def mesh(ranks: int) -> list[Pair]:
    return [(one, other) for one in range(ranks) for other in range(ranks) if one != other]


def frame(rows: Iterable[dict[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist(list(rows))


def named(links: Iterable[Any]) -> list[Pair]:
    return [(link.source_rank, link.destination_rank) for link in links]


@given(st.integers(2, 6), st.data())
def test_the_link_that_was_made_slow_is_found_by_name(ranks: int, data: st.DataObject) -> None:
    pairs = mesh(ranks) if ranks > 2 else [(0, 1), (1, 0), (0, 2)]
    slow = data.draw(st.sampled_from(pairs))
    share = data.draw(st.floats(0.2, 0.75))
    noise = data.draw(st.lists(st.floats(0.98, 1.02), min_size=len(pairs), max_size=len(pairs)))
    rows = [row(*pair, 20 * n * (share if pair == slow else 1)) for pair, n in zip(pairs, noise, strict=True)]
    (link,) = find_slow_links(frame(rows))
    assert (link.source_rank, link.destination_rank, link.group, link.transport) == (*slow, "g", "HCCS")
    assert link.relative_bandwidth_ratio == pytest.approx(share, rel=0.05)
    assert link.lost_ns > 0


@given(st.integers(3, 6), st.data())
def test_links_that_differ_by_noise_are_not_slow(ranks: int, data: st.DataObject) -> None:
    pairs = mesh(ranks)
    noise = data.draw(st.lists(st.floats(0.95, 1.05), min_size=len(pairs), max_size=len(pairs)))
    assert find_slow_links(frame(row(*pair, 20 * n) for pair, n in zip(pairs, noise, strict=True))) == []


def test_every_link_of_a_slow_port_is_found() -> None:
    rows = [row(*pair, 9 if pair[0] == 3 else 19) for pair in mesh(4)]
    assert named(find_slow_links(frame(rows))) == [(3, 0), (3, 1), (3, 2)]


def test_a_link_that_was_slow_once_is_not_a_slow_link() -> None:
    rows = [
        row(*pair, 8 if pair == (0, 1) and number == 0 else 19, op_name=f"hcom_allReduce__1_{number}")
        for number in range(9)
        for pair in mesh(4)
    ]
    assert find_slow_links(frame(rows)) == []
    link = next(link for link in links_of(transfers_of_matrix(frame(rows))[0]) if named([link]) == [(0, 1)])
    assert (link.compared, link.slow_in) == (9, 1)


@pytest.mark.parametrize(("slow_in", "slow"), [(4, []), (5, [(0, 1)])])
def test_a_link_is_slow_that_is_out_of_line_in_more_than_half_of_the_operators(slow_in: int, slow: list[Pair]) -> None:
    rows = [
        row(*pair, 8 if pair == (0, 1) and number < slow_in else 19, op_name=f"hcom_allReduce__1_{number}")
        for number in range(8)
        for pair in mesh(4)
    ]
    assert named(find_slow_links(frame(rows))) == slow


@pytest.mark.parametrize(("speed", "slow"), [(15.5, True), (15.6, False)])
def test_a_slow_link_is_three_scatters_off(speed: float, slow: bool) -> None:
    """The others lie 1 GB/s around 20: below 20 - 3 x 1.4826 a link is out of line."""
    speeds = [speed, *[19] * 5, *[21] * 6]
    found = find_slow_links(frame(row(*pair, one) for pair, one in zip(mesh(4), speeds, strict=True)))
    assert named(found) == [mesh(4)[0]] * slow


@pytest.mark.parametrize(("size", "slow"), [(20 * MEGABYTE, True), (20 * MEGABYTE - 1, False)])
def test_links_are_compared_that_carried_half_as_much_at_least(size: int, slow: bool) -> None:
    rows = [row(*pair, 6, size) if pair == (0, 1) else row(*pair, 19, 40 * MEGABYTE) for pair in mesh(4)]
    assert named(find_slow_links(frame(rows))) == [(0, 1)] * slow


@pytest.mark.parametrize("size", [16_000, 499_999])
def test_small_messages_tell_nothing_of_bandwidth(size: int) -> None:
    assert find_slow_links(frame(row(*pair, 2 if pair == (0, 1) else 10, size) for pair in mesh(4))) == []


def test_half_a_megabyte_tells_of_bandwidth() -> None:
    rows = [row(*pair, 2 if pair == (0, 1) else 10, 500_000) for pair in mesh(4)]
    assert named(find_slow_links(frame(rows))) == [(0, 1)]


def test_links_that_carried_less_are_not_compared_with_those_that_carried_more() -> None:
    rows = [row(*pair, 6, 2 * MEGABYTE) if pair == (0, 1) else row(*pair, 19, 40 * MEGABYTE) for pair in mesh(4)]
    assert find_slow_links(frame(rows)) == []


def test_links_of_other_transports_are_other_links() -> None:
    rows = [row(*pair, 6, transport="PCIE") if pair == (0, 1) else row(*pair, 19) for pair in mesh(4)]
    assert find_slow_links(frame(rows)) == []


def test_where_all_links_differ_none_is_out_of_line() -> None:
    rows = [row(*pair, 10 + 2 * number) for number, pair in enumerate(mesh(3))]
    assert find_slow_links(frame(rows)) == []


def test_of_two_links_nothing_tells_which_is_slow() -> None:
    assert find_slow_links(frame([row(0, 1, 5), row(1, 0, 19)])) == []


def test_pairs_of_a_pipeline_are_compared_by_the_type_of_their_operators() -> None:
    rows = [
        row(
            0,
            1,
            5 if pair == 2 else 24,
            type="p2p",
            op_name=f"hcom_send__{pair}_0",
            group=f"pair{pair}",
            transport="RDMA",
        )
        for pair in range(5)
    ]
    (link,) = find_slow_links(frame(rows))
    assert (link.group, link.transport) == ("pair2", "RDMA")


def test_a_copy_on_one_device_is_no_link_and_no_time_is_no_bandwidth() -> None:
    local = [row(rank, rank, 1, transport="LOCAL") for rank in range(4)]
    dead = [{**row(0, 9, 1), "transit_ns": 0}, {**row(0, 8, 1), "transit_bytes": 0}]
    links = links_of(transfers_of_matrix(frame([*local, *dead, *(row(*pair, 19) for pair in mesh(4))]))[0])
    assert [link for link in links if link.slow] == []
    assert {link.bandwidth_gb_per_s for link in links if link.destination_rank in {8, 9}} == {None}


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 10**12), st.integers(0, 10**12)), max_size=30
    )
)
def test_no_byte_and_no_nanosecond_is_lost(told: list[tuple[int, int, int, int]]) -> None:
    rows = [
        {**row(source, destination, 1), "transit_bytes": size, "transit_ns": time}
        for source, destination, size, time in told
    ]
    if not rows:
        return
    transfers, repeated = transfers_of_matrix(frame(rows))
    links = links_of(transfers)
    assert len(transfers) + repeated == len(rows)
    assert sum(link.transit_bytes for link in links) == sum(entry[2] for entry in told)
    assert sum(link.transit_ns or 0 for link in links) == sum(entry[3] for entry in told)
    assert sum(link.transfers for link in links) == len(rows)


def summaries(*names: str) -> list[dict[str, Any]]:
    sizes = {"total": 30, "top1": 20, "middle": 10, "bottom1": 10, "bottom2": 20}
    return [
        row(0, 1, 10, sizes[name] * MEGABYTE, op_name=f"allreduce-{name}", hccl_op_name=f"op{sizes[name]}")
        for name in names
    ]


def test_the_best_and_the_worst_operators_are_parts_of_the_total() -> None:
    transfers, repeated = transfers_of_matrix(frame(summaries("top1", "middle", "total", "bottom1")))
    assert [(one.transit_bytes, one.is_example) for one in transfers] == [(30 * MEGABYTE, False)]
    assert repeated == 3


def test_without_a_total_each_example_counts_once() -> None:
    transfers, repeated = transfers_of_matrix(frame(summaries("top1", "middle", "bottom1", "bottom2")))
    assert sorted(one.transit_bytes for one in transfers) == [10 * MEGABYTE, 20 * MEGABYTE]
    assert all(one.is_example for one in transfers)
    assert repeated == 2


def time(rank: int, wait: int, transit: int = 1000, number: int = 0, **more: Any) -> dict[str, Any]:
    """A row of `communication`; ns."""
    return {
        "rank_id": rank, "step": "step1", "type": "collective", "op_name": f"hcom_allReduce__1_{number}", "group": "g",
        "start_ns": 0, "elapsed_ns": wait + transit, "transit_ns": transit, "wait_ns": wait, "synchronization_ns": wait,
        "idle_ns": 0, **more,
    }  # fmt: skip


@given(st.integers(2, 8), st.integers(1, 5), st.data())
def test_the_rank_that_was_made_slow_is_found_by_name(ranks: int, count: int, data: st.DataObject) -> None:
    slow = data.draw(st.integers(0, ranks - 1))
    late = data.draw(st.integers(500, 10**9))
    rows = [time(rank, 0 if rank == slow else late, 1000, number) for number in range(count) for rank in range(ranks)]
    (awaited,) = find_slow_ranks(frame(data.draw(st.permutations(rows))))
    assert (awaited.rank, awaited.group, awaited.operators, awaited.of_operators) == (slow, "g", count, count)
    assert awaited.is_always_the_same == (count > 1)  # of one operator nobody can say that
    assert awaited.waited_ns == awaited.of_ns == late * (ranks - 1) * count
    assert awaited.longest_ns == late * count  # they wait at the same time


def test_a_rank_that_is_late_now_and_then_is_not_the_slow_one() -> None:
    rows = [time(rank, 0 if rank == number % 4 else 5000, 1000, number) for number in range(4) for rank in range(4)]
    assert find_slow_ranks(frame(rows)) == []
    awaited = find_awaited_ranks(operator_times(frame(rows)))
    assert sorted((one.rank, one.operators, one.of_operators) for one in awaited) == [(rank, 1, 4) for rank in range(4)]


@pytest.mark.parametrize(("of_another", "slow"), [(2000, []), (1999, [0])])
def test_a_slow_rank_is_waited_for_more_than_half_of_the_time(of_another: int, slow: list[int]) -> None:
    """In two of three operators the other rank waits for rank 0, in the third rank 0 waits for that one."""
    waits = [(0, 1000), (0, 1000), (of_another, 0)]
    rows = [time(rank, wait, 1000, number) for number, pair in enumerate(waits) for rank, wait in enumerate(pair)]
    assert [awaited.rank for awaited in find_slow_ranks(frame(rows))] == slow


def test_little_waiting_is_none() -> None:
    assert find_awaited_ranks(operator_times(frame([time(0, 250), time(1, 0)]))) == []
    assert len(find_awaited_ranks(operator_times(frame([time(0, 251), time(1, 0)])))) == 1


def test_waiting_for_a_transfer_is_not_waiting_for_a_rank() -> None:
    rows = [time(0, 5000, synchronization_ns=0), time(1, 0, synchronization_ns=0)]
    assert find_awaited_ranks(operator_times(frame(rows))) == []


@pytest.mark.parametrize(
    "rows",
    [
        [time(0, 5000), time(1, 4000)],
        [time(0, 5000), time(1, 0, elapsed_ns=5000)],
        [time(0, 5000), time(1, 0), time(2, 0)],
    ],
    ids=["all wait", "the last stands idle", "two came last"],
)
def test_a_rank_that_is_not_known_is_not_guessed(rows: list[dict[str, Any]]) -> None:
    (awaited,) = find_awaited_ranks(operator_times(frame(rows)))
    assert awaited.rank is None
    assert not awaited.slow
    assert awaited.waited_ns == sum(entry["synchronization_ns"] for entry in rows)


def test_the_last_of_a_whole_group_is_the_one() -> None:
    operators = operator_times(frame([time(0, 5000), time(1, 0, elapsed_ns=5000)]))
    (awaited,) = find_awaited_ranks(operators, groups={"g": GroupRanks(2)})
    assert (awaited.rank, awaited.waited_ns) == (1, 5000)


def test_one_rank_and_operators_between_two_ranks_are_not_compared() -> None:
    assert find_awaited_ranks(operator_times(frame([time(0, 5000)]))) == []
    assert find_awaited_ranks(operator_times(frame([time(0, 5000, type="p2p"), time(1, 0, type="p2p")]))) == []


def test_the_peer_that_a_timeline_names_is_believed_first() -> None:
    operators = operator_times(frame([time(0, 5000), time(1, 0)]))
    waits = [PeerWait(rank, "hcom_allReduce__1_0", "g", 1, 5, 80_000, 90_000) for rank in (0, 1)]
    (awaited,) = find_awaited_ranks(operators, waits)
    assert (awaited.number, awaited.operators, awaited.waited_ns, awaited.slow) == (5, 1, 160_000, True)
    assert (awaited.rank, awaited.is_absent, awaited.waited_by) == (None, False, ((0, 80_000), (1, 80_000)))
    known = {"g": GroupRanks(6, frozenset({0, 1}), {0: 8, 1: 9, 5: 13})}
    (awaited,) = find_awaited_ranks(operators, waits, known)
    assert (awaited.rank, awaited.number, awaited.is_absent) == (13, 5, True)
    short = [PeerWait(0, "hcom_allReduce__1_0", "g", 1, 5, 100, 90_000)]
    assert find_awaited_ranks(operators, short) == []


def test_operators_of_other_steps_and_groups_are_other_operators() -> None:
    rows = [time(0, 5000), time(1, 0, step="step2"), time(1, 0, group="other")]
    assert find_awaited_ranks(operator_times(frame(rows))) == []


def test_times_that_are_not_told_are_null() -> None:
    (operator,) = operator_times(frame([time(0, 1, transit_ns=None)]))
    assert operator == OperatorTime(0, 1, "collective", "hcom_allReduce__1_0", "allreduce", "g", 0, 1001, None, 1, 1, 0)
    assert share_of_waiting(1, None) is None
    assert share_of_waiting(0, 0) is None
    assert share_of_waiting(1, 3) == 0.25
    assert (summed([1, None]), summed([]), summed([1, 2])) == (None, None, 3)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("hcom_allReduce__586_0_1", "allreduce"), ("hcom_reduceScatter__483_4", "reducescatter"),
        ("allreduce-top1", "allreduce"), ("reduce-total", "reduce"), ("hcom_send__822_0", "send"),
        ("Default/AllReduce-op534_0", "allreduce"), ("hcom_alltoallvc__1_0", "alltoallvc"),
        ("hcom_batchSendRecv__1_0", "batchsendrecv"), ("", "other"), ("\x1b[31m", "other"),
    ],
)  # fmt: skip
def test_the_type_of_an_operator(name: str, kind: str) -> None:
    assert type_of_operator(name) == kind


@pytest.mark.parametrize(
    ("text", "number"),
    [("step50", 50), ("50", 50), ("step", None), (None, None), ("step٣", None), ("step" + "9" * 12, None)],
)
def test_the_number_of_a_step(text: str | None, number: int | None) -> None:
    assert number_of_step(text) == number


def test_a_bandwidth_that_is_not_volume_by_time_is_told() -> None:
    good = row(0, 1, 19.1, bandwidth_gb_per_s=round(20 * MEGABYTE / round(20 * MEGABYTE / 19.1), 4))
    tiny = {**row(0, 1, 1), "transit_bytes": 40, "transit_ns": 1620, "bandwidth_gb_per_s": 0.0247}
    none = {**row(0, 1, 1), "transit_bytes": 0, "transit_ns": 0, "bandwidth_gb_per_s": 0.0}
    silent = {**row(0, 1, 1), "bandwidth_gb_per_s": None}
    assert find_bandwidth_mismatches(frame([good, tiny, none, silent])) == []
    for change in ({"bandwidth_gb_per_s": 18.0}, {"transit_ns": 0}, {"transit_bytes": 19 * MEGABYTE}):
        assert len(find_bandwidth_mismatches(frame([{**good, **change}]))) == 1
    assert math.isfinite(links_of(transfers_of_matrix(frame([good]))[0])[0].bandwidth_gb_per_s or math.nan)


@pytest.mark.parametrize(("share", "slow"), [(0.79, True), (0.81, False)])
def test_where_slow_begins(share: float, slow: bool) -> None:
    rows = [row(*pair, 19 * (share if pair == (0, 1) else 1)) for pair in mesh(4)]
    assert bool(find_slow_links(frame(rows))) == slow


def test_others_wait_for_the_last_one_by_as_much_as_they_wait_longer() -> None:
    rows = [time(0, 5000), time(1, 800), time(2, 4000)]
    (awaited,) = find_awaited_ranks(operator_times(frame(rows)), groups={"g": GroupRanks(3)})
    assert (awaited.rank, awaited.operators, awaited.of_operators) == (1, 1, 1)
    assert awaited.waited_ns == (5000 - 800) + (4000 - 800)


def test_links_stand_by_their_share_then_by_their_time_then_by_name() -> None:
    """Those that are compared with none come last, the longest first."""
    compared = [row(*pair, speed) for pair, speed in zip(mesh(3), (20, 10, 20, 5, 20, 20), strict=True)]
    alone = [
        row(*pair, 20, size, op_name=f"hcom_send__{pair[0]}_1_1", transport="SDMA")
        for pair, size in (((0, 1), MEGABYTE), ((2, 0), 3 * MEGABYTE), ((1, 0), 3 * MEGABYTE))
    ]
    transfers, _ = transfers_of_matrix(frame([*alone, *compared]))
    found = [(link.source_rank, link.destination_rank, link.transport) for link in links_of(transfers)]
    assert found == [
        (1, 2, "HCCS"), (0, 2, "HCCS"), (0, 1, "HCCS"), (1, 0, "HCCS"), (2, 0, "HCCS"), (2, 1, "HCCS"),
        (1, 0, "SDMA"), (2, 0, "SDMA"), (0, 1, "SDMA"),
    ]  # fmt: skip


def test_operators_of_a_step_are_read_from_milliseconds() -> None:
    """The times of `hccl_raw` are its first numbers: all, transfer, waiting; what is no number is counted."""
    cells = ['{"stream_8_0_allReduce": [2.5, 1.25, 0.000001], "stream_8_1_send": [1, -1, 0]}', "no JSON", None]
    frame = pa.table({"step": ["1", "2", None], "operators": cells})
    operators, unusable = operators_of_steps(3, frame)
    assert unusable == [1, 1, 0]
    assert [(one.rank_id, one.step, one.op_name, one.transit_ns, one.wait_ns, one.elapsed_ns) for one in operators] == [
        (3, "1", "allReduce", 1_250_000, 1, 1_250_001)
    ]
