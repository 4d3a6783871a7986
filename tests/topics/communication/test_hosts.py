"""Slow hosts by hand: two ranks, two other hosts, more than half of the links; a link blames one host."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

from aoe_reports.model.topics.communication import Link
from aoe_reports.topics.communication.facts import Transfer, ranks_of_numbers
from aoe_reports.topics.communication.hosts import find_slow_hosts


def link(source: int, destination: int, *, slow: bool, compared: int = 2) -> Link:
    took = 200 if slow else 100
    return Link(
        group="g", source_rank=source, destination_rank=destination, transport="RDMA", transit_bytes=10**6, transit_ns=took,
        transfers=1, compared=compared, slow_in=compared if slow else 0, expected_ns=100, compared_ns=took,
    )  # fmt: skip


def host_of(group: str | None, rank: int) -> str | None:
    """Two ranks a host; the last is on none."""
    return f"h{rank // 2}" if rank < 8 else None


def mesh(*slow: tuple[int, int], ranks: int = 8) -> list[Link]:
    return [link(*pair, slow=pair in slow) for pair in permutations(range(ranks), 2)]


def outside(host: int, ranks: int = 8) -> list[tuple[int, int]]:
    return [
        pair
        for pair in permutations(range(ranks), 2)
        if len({pair[0] // 2, pair[1] // 2}) > 1 and host in {p // 2 for p in pair}
    ]


def test_a_slow_host_is_named_and_blames_no_other() -> None:
    (found,) = find_slow_hosts(mesh(*outside(2)), host_of)
    assert (found.host, found.transport, found.sends_slowly, found.receives_slowly, found.ranks) == (
        "h2",
        "RDMA",
        True,
        True,
        2,
    )
    assert (found.links, found.compared, found.relative_bandwidth_ratio, found.lost_ns) == (24, 24, 0.5, 2400)


def test_a_host_may_be_slow_one_way() -> None:
    sent = [pair for pair in outside(1) if pair[0] // 2 == 1]
    (found,) = find_slow_hosts(mesh(*sent), host_of)
    assert (found.host, found.sends_slowly, found.receives_slowly, found.compared) == ("h1", True, False, 12)


def test_more_than_half_of_the_links_of_two_ranks_must_be_slow() -> None:
    of_one_rank = [pair for pair in outside(2) if 4 in pair]
    assert find_slow_hosts(mesh(*of_one_rank), host_of) == [], "half of the links: it is the rank"
    more = [*of_one_rank, (5, 0), (0, 5)]
    (found,) = find_slow_hosts(mesh(*more), host_of)
    assert (found.host, found.links, found.compared) == ("h2", 14, 24)
    alone = [one for one in mesh(*of_one_rank) if 5 not in (one.source_rank, one.destination_rank)]
    assert find_slow_hosts(alone, host_of) == [], "one rank that talks is a rank"


def test_of_two_hosts_neither_is_named() -> None:
    assert find_slow_hosts(mesh(*outside(1, 4), ranks=4), host_of) == []


def test_links_inside_of_a_host_and_those_not_compared_say_nothing() -> None:
    assert find_slow_hosts([link(4, 5, slow=True), link(5, 4, slow=True)], host_of) == []
    untold = [replace(one, compared=0, expected_ns=None, compared_ns=None) for one in mesh(*outside(2))]
    assert find_slow_hosts(untold, host_of) == []
    nowhere = [link(8, other, slow=True) for other in range(8)]
    assert find_slow_hosts(nowhere, host_of) == []


def test_the_host_that_loses_most_comes_first() -> None:
    slow = [*outside(2), *outside(0)]
    links = [replace(one, compared_ns=400) if one.slow and 4 <= one.source_rank < 6 else one for one in mesh(*slow)]
    assert [one.host for one in find_slow_hosts(links, host_of)] == ["h2", "h0"]


def transfer(rank: int, source: int, destination: int = 9, transport: str = "RDMA") -> Transfer:
    return Transfer(
        rank_id=rank, step=1, type="collective", op_name="x", op_type="allreduce", group="g", source_rank=source,
        destination_rank=destination, transport=transport, transit_bytes=1, transit_ns=1,
    )  # fmt: skip


def test_the_rank_of_a_number_is_told_by_its_own_links_where_that_is_certain() -> None:
    assert ranks_of_numbers([transfer(16, 0), transfer(24, 1)]) == {("g", 0): 16, ("g", 1): 24}
    assert ranks_of_numbers([transfer(16, 0), transfer(16, 1)]) == {}, "a rank has one number"
    assert ranks_of_numbers([transfer(16, 0), transfer(24, 0)]) == {}, "a number has one rank"
    assert ranks_of_numbers([transfer(16, 3, 3, "LOCAL")]) == {}
