"""The links of each group as a map, source by destination: what one looks at to see a slow rank, host or link."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from aoe_reports.model.topics.communication import Link

MAX_MAPS = 4
"""Of more groups those with the slowest links."""
MAX_LINKS = 1024
"""Of more links of a group the slowest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkMap:
    """The compared links of one group over one transport."""

    group: str | None
    transport: str
    count: int
    """How many links of the group were compared."""
    shares: tuple[tuple[int, int, float], ...]
    """Source, destination, and the bandwidth as a share of the median of links with the same work; the slowest first."""


def link_maps(links: Iterable[Link]) -> list[LinkMap]:
    """Maps of the groups whose links were compared, that with the slowest link first."""
    found: dict[tuple[str | None, str], list[tuple[float, int, int]]] = {}
    for link in links:
        share = link.relative_bandwidth_ratio
        if share is not None:
            mine = found.setdefault((link.group, link.transport), [])
            mine.append((share, link.source_rank, link.destination_rank))
    maps = [
        LinkMap(
            group=group,
            transport=transport,
            count=len(mine),
            shares=tuple((source, destination, share) for share, source, destination in sorted(mine)[:MAX_LINKS]),
        )
        for (group, transport), mine in found.items()
    ]
    return sorted(maps, key=lambda one: (one.shares[0][2], one.group or "", one.transport))[:MAX_MAPS]
