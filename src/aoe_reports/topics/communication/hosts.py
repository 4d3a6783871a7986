"""Hosts whose links to other hosts are slow: the network card, its cable or its port, not each link."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from aoe_reports.model.topics.communication import SLOW_SHARE, Link, SlowHost

MIN_RANKS = 2
"""Of a host with one rank, or one that talks, it is the rank that is slow."""
MIN_OTHERS = 2
"""With only one other host, nothing tells which of the two is slow."""

HostOf = Callable[[str | None, int], str | None]
"""The host of a rank as its group numbers it; null where it is not known."""


def find_slow_hosts(links: Iterable[Link], host_of: HostOf) -> list[SlowHost]:
    """Hosts of several ranks, more than half of whose links to (or from) other hosts are slow; those first that lose most.

    A link has two hosts: the one that loses most is named, and the links of a host that is named blame no other.
    """
    left = [
        _Outside(link, source, destination)
        for link in links
        if link.compared
        and (source := host_of(link.group, link.source_rank)) is not None
        and (destination := host_of(link.group, link.destination_rank)) is not None
        and source != destination
    ]
    found = []
    while worst := max(_slow_hosts(left), key=lambda one: one.lost_ns, default=None):
        found.append(worst)
        slow_links = set(worst.slow_links)
        left = [one for one in left if one.link not in slow_links]
    return found


@dataclass(frozen=True, slots=True)
class _Outside:
    """A link between two hosts."""

    link: Link
    source: str
    destination: str


def _slow_hosts(outside: Sequence[_Outside]) -> Iterator[SlowHost]:
    sides: dict[tuple[str, str], tuple[list[_Outside], list[_Outside]]] = {}
    for one in outside:
        for host, side in ((one.source, 0), (one.destination, 1)):
            sides.setdefault((host, one.link.transport), ([], []))[side].append(one)
    for (host, transport), (sent, received) in sides.items():
        sends = _are_slow([(one.link, one.link.source_rank, one.destination) for one in sent])
        receives = _are_slow([(one.link, one.link.destination_rank, one.source) for one in received])
        if sends or receives:
            mine = [*(sent if sends else ()), *(received if receives else ())]
            links = sorted((one.link for one in mine if one.link.slow), key=lambda link: -(link.lost_ns or 0))
            yield SlowHost(
                host=host,
                transport=transport,
                sends_slowly=sends,
                receives_slowly=receives,
                ranks=len({_own_end(one, host) for one in mine}),
                slow_links=tuple(links),
                compared=len(mine),
                relative_bandwidth_ratio=_middle([one.link for one in mine]),
            )


def _own_end(outside: _Outside, host: str) -> tuple[str | None, int]:
    return outside.link.group, outside.link.source_rank if outside.source == host else outside.link.destination_rank


def _are_slow(links: Sequence[tuple[Link, int, str]]) -> bool:
    """Of one direction, each with the rank of the host and the other host."""
    ranks, others = {(link.group, rank) for link, rank, _ in links}, {other for _, _, other in links}
    if len(ranks) < MIN_RANKS or len(others) < MIN_OTHERS:
        return False
    slow = sum(link.slow for link, _, _ in links)
    return slow * 2 > len(links) and _middle([link for link, _, _ in links]) < SLOW_SHARE


def _middle(links: Sequence[Link]) -> float:
    return median(link.relative_bandwidth_ratio or 0.0 for link in links)
