"""The links between the ranks of a run: source by destination, against links that did the same."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from aoe_reports.model.advice import StoredLinks
from aoe_reports.model.classes import record
from aoe_reports.site.charts import Figure
from aoe_reports.site.heat import EMPTY, heat_map
from aoe_reports.site.texts import Texts

SHOWN_RANKS = 64
"""Rows and columns of a map: of more ranks those with the slowest links."""
EDGES = (0.5, 0.8, 0.95, 1.05)
"""Where colours change: the bandwidth of a link against the median of its likes; below 0.8 it may be slow."""
COLOURS = ("heat3", "heat2", "heat1", "heat0", "heat-1")


@record
class LinksPart:
    """The maps of a run."""

    figures: Sequence[Figure]
    legend: Sequence[tuple[str, str]]
    """The class of a colour, and what it says."""


def links_part(stored: Sequence[StoredLinks], text: Texts) -> LinksPart | None:
    """A map of each group whose links were compared; None where there is none."""
    maps = [one for one in stored if one.shares]
    if not maps:
        return None
    words = [f"{edge:.0%}" for edge in EDGES]
    spans = [f"< {words[0]}", *(f"{low} … {high}" for low, high in pairwise(words)), f"> {words[-1]}"]
    legend = [*zip(COLOURS, spans, strict=True), (EMPTY, text("no such link, or not compared"))]
    return LinksPart(figures=[_figure(one, text) for one in maps], legend=legend)


def _figure(one: StoredLinks, text: Texts) -> Figure:
    """From the rank of a row to the rank of a column."""
    slowest = [
        rank for source, destination, _ in one.shares for rank in (source, destination)
    ]  # the slowest link is first
    ranks = sorted(list(dict.fromkeys(slowest))[:SHOWN_RANKS])
    place = {rank: number for number, rank in enumerate(ranks)}
    values = np.full((len(ranks), len(ranks)), np.nan)
    for source, destination, share in one.shares:
        if source in place and destination in place:
            values[place[source], place[destination]] = share
    said = text(
        "Links of group {group} over {transport}, from the rank of a row to that of a column: bandwidth against links with the same work, {ranks} ranks, {links} links",
        group=one.group or "–",  # noqa: RUF001 -- what tables print for none
        transport=one.transport,
        ranks=len(ranks),
        links=one.count,
    )
    names = [str(rank) for rank in ranks]
    return Figure(said, heat_map(names, names, values, EDGES, COLOURS, said))
