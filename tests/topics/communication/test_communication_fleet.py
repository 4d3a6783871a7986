"""Groups over ranks by hand: quantiles, spreads of arrivals, and ranks of slow links."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.model.topics.communication import Link
from aoe_reports.topics.communication.facts import OperatorTime, PeerWait
from aoe_reports.topics.communication.over_ranks import find_slow_ends, groups_over_ranks

COLLECTIVE = OperatorTime(
    rank_id=0, step=1, type="collective", op_name="hcom_allReduce__1_0", op_type="allreduce", group="g", start_ns=0, elapsed_ns=0
)  # fmt: skip


def at(rank: int, waited: int, name: str = "hcom_allReduce__1_0") -> OperatorTime:
    """An operator of one rank that waits so long before its first transfer, and then transfers for 1,000 ns."""
    return replace(
        COLLECTIVE, rank_id=rank, op_name=name, elapsed_ns=waited + 1000, transit_ns=1000, wait_ns=waited, synchronization_ns=waited
    )  # fmt: skip


def link(source: int, destination: int, *, slow: bool, compared: int = 2) -> Link:
    return Link(
        group="g", source_rank=source, destination_rank=destination, transport="HCCS", transit_bytes=10**6,
        transit_ns=200 if slow else 100, transfers=1, compared=compared, slow_in=compared if slow else 0, expected_ns=100,
        compared_ns=200 if slow else 100,
    )  # fmt: skip


@given(st.lists(st.integers(0, 10**9), min_size=3, max_size=20, unique=True))
def test_the_spread_is_that_of_the_arrivals(arrivals: list[int]) -> None:
    last = max(arrivals)
    (found,) = groups_over_ranks(
        [at(rank, last - came) for rank, came in enumerate(arrivals)], sizes={"g": len(arrivals)}
    )
    assert found.skew_worst_ns == last - min(arrivals)
    if found.last_rank is not None:
        assert found.last_rank == arrivals.index(last)
        assert found.waited_for_last_ns == sum(last - came for came in arrivals)
    assert found.wait_worst_ns == last - min(arrivals)


def test_who_is_last_most_often_is_named_with_what_the_others_wait_for_it() -> None:
    times = [
        at(rank, 0 if rank == last else 5000, f"hcom_allReduce__1_{number}")
        for number, last in enumerate((1, 1, 2))
        for rank in range(4)
    ]
    (found,) = groups_over_ranks(times, sizes={"g": 4})
    assert (found.last_rank, found.last_in, found.collectives) == (1, 2, 3)
    assert found.waited_for_last_ns == 2 * 3 * 5000


def test_a_rank_that_was_not_read_is_not_named() -> None:
    (found,) = groups_over_ranks([at(0, 5000), at(1, 5000)], sizes={"g": 8})
    assert (found.last_rank, found.skew_worst_ns) == (None, 5000)
    (alone,) = groups_over_ranks([at(0, 5000)], sizes={"g": 8})
    assert alone.skew_median_ns is None


def test_a_peer_that_a_timeline_names_comes_before_comparisons() -> None:
    wait = PeerWait(rank_id=0, op_name=COLLECTIVE.op_name, group="g", step=1, peer=5, waited_ns=7000, elapsed_ns=8000)
    (found,) = groups_over_ranks([at(0, 10), at(1, 20)], [wait], {"g": 8})
    assert (found.last_rank, found.skew_worst_ns) == (5, 7000)


def test_operators_between_two_ranks_have_no_skew() -> None:
    times = [replace(at(rank, 5000 * rank), type="p2p", op_type="send") for rank in range(2)]
    (found,) = groups_over_ranks(times)
    assert found.skew_median_ns is None
    assert (found.wait_worst_ns, found.wait_worst_rank) == (5000, 1)


def test_a_rank_is_slow_where_all_of_its_compared_links_are() -> None:
    links = [link(0, other, slow=True) for other in (1, 2)]
    (end,) = find_slow_ends(links)
    assert (end.rank, end.sends_slowly, end.receives_slowly, end.lost_ns) == (0, True, False, 200)
    assert find_slow_ends([*links, link(0, 3, slow=False)]) == []
    assert len(find_slow_ends([*links, link(0, 3, slow=False, compared=0)])) == 1, (
        "what was not compared speaks neither way"
    )
    assert find_slow_ends(links[:1]) == [], "one slow link is a link"


def test_a_rank_that_sends_and_receives_slowly_is_one() -> None:
    links = [link(*pair, slow=True) for pair in ((0, 1), (0, 2), (1, 0), (2, 0))]
    (end,) = find_slow_ends([*links, link(1, 2, slow=False), link(2, 1, slow=False)])
    assert (end.rank, end.sends_slowly, end.receives_slowly, end.links) == (0, True, True, 4)
