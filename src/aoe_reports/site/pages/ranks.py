"""The ranks of a run of many: which of them are slow, and in what; and the links between them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
import pyarrow as pa

from aoe_reports.history.site_facts import Floats
from aoe_reports.model.history.advice import StoredLinks
from aoe_reports.model.history.runs import StepTimes
from aoe_reports.model.rows import as_mapping
from aoe_reports.model.topics.stragglers import ComparedRank
from aoe_reports.present.drawings.charts import EMPTY, Figure, heat_legend, heat_map
from aoe_reports.site.amounts import TimeColumn
from aoe_reports.site.cells import Table, about_first, cell, head, with_code
from aoe_reports.site.render import Content, Context
from aoe_reports.site.texts import Texts
from aoe_reports.topics.steps.stragglers import ComparedRun, Wait, compared_run, headline_of, rows_of

SHOWN_TYPES = 24
"""Rows of the map: the operator types that take most time."""
SHOWN_RANKS = 8
EDGES = (-0.10, -0.05, -0.02, 0.02, 0.05, 0.10)
"""Where colours change: a rank's time of a call against the median rank's."""
COLOURS = ("heat-3", "heat-2", "heat-1", "heat0", "heat1", "heat2", "heat3")


def ranks_part(ranks: pa.Table, steps: Sequence[StepTimes], text: Texts) -> Content | tuple[None, None]:
    """What ranks take for a call of each operator type, and which of them are slow, with the same as JSON; None where there are no ranks.

    `ranks` has a row for each rank and operator type: rank_id, device_id, op_type, count, total_ns.
    """
    if not ranks.num_rows:
        return None, None
    ranks = ranks.select(["rank_id", "device_id", "op_type", "count", "total_ns"])
    types, places, ratios = _ratios(pl.DataFrame(ranks))
    said = text(
        "Operator types by rank: the time of a call against the median rank's, {types} types on {ranks} ranks",
        types=len(types),
        ranks=len(places),
    )
    legend = heat_legend([f"{edge:+.0%}" for edge in EDGES], COLOURS)
    if np.isnan(ratios).any():
        legend.append((EMPTY, text("not on this rank")))
    compared = compared_run("", ranks, _waits(ranks, steps))
    headline = headline_of([compared])
    page = {
        "figure": Figure(said, heat_map(types, places, ratios, edges=EDGES, colours=COLOURS, said=said)),
        "legend": legend,
        "said": text.translated(headline),
        "longest": _longest(compared, text),
    }
    return page, {
        "headline": str(headline),
        "rank_count": len(compared.ranks),
        "rows": [as_mapping(row) for row in rows_of(compared, SHOWN_RANKS)],
    }


def _waits(ranks: pa.Table, steps: Sequence[StepTimes]) -> list[Wait]:
    """Communication times of the stored steps; a table of steps names no device where the framework wrote it."""
    devices = dict(zip(ranks["rank_id"].to_pylist(), ranks["device_id"].to_pylist(), strict=True))
    return [
        ((step.rank_id, devices[step.rank_id]), step.steps, round(step.communication_ms * step.steps * 1e6))
        for step in steps
        if step.rank_id in devices and step.steps and step.communication_ms is not None
    ]


def _longest(compared: ComparedRun, text: Texts) -> Table:
    """The first ranks, as `stragglers` lists them."""
    keys = ("computing_us", "median_us", "slower", "lost_us", "slower_types", "state", "op_type")
    about = text("Against ranks that run the same operator types equally often, as `stragglers` does.")
    about = about_first(about, SHOWN_RANKS, len(compared.ranks), text)
    shown = compared.ranks[:SHOWN_RANKS]
    medians = [None if rank.median_ns is None else rank.median_ns / 1000 for rank in shown]
    lost = [None if rank.lost_ns is None else rank.lost_ns / 1000 for rank in shown]
    times = TimeColumn.of("us", [*(rank.computing_ns / 1000 for rank in shown), *medians])
    losses = TimeColumn.of("us", lost)
    rows = [
        [
            head(text.place(rank.rank_id, rank.device_id if rank.rank_id is None else None)),
            times.cell(rank.computing_ns / 1000),
            times.cell(median_us),
            cell(rank.slower, "change"),
            losses.cell(lost_us),
            cell(rank.slower_types or 0, "integer"),
            cell(None if rank.state is None else text.translated(rank.state)),
            cell(rank.op_type),
        ]
        for rank, median_us, lost_us in zip(shown, medians, lost, strict=True)
    ]
    titles = [text.columns(ComparedRank, key)[0] for key in keys]
    for place, column in ((0, times), (1, times), (3, losses)):
        titles[place] = column.title(titles[place][0].removesuffix(" (us)"))
    return Table([(text("Item"), "text"), *titles], rows, with_code(about))


def _ratios(ranks: pl.DataFrame) -> tuple[list[str], list[str], Floats]:
    """(operator types, the longest first; ranks in order; how much longer a call takes there than on the median rank)."""
    place = pl.struct("rank_id", "device_id")
    calls = ranks.group_by("op_type", "rank_id", "device_id").agg(pl.col("count", "total_ns").sum())
    longest = (
        calls.group_by("op_type").agg(pl.col("total_ns").sum()).sort("total_ns", "op_type", descending=[True, False])
    )
    types = longest["op_type"].head(SHOWN_TYPES).to_list()
    places = calls.select(place.alias("place")).unique().unnest("place").sort("rank_id", "device_id")
    numbers = places.with_row_index("column")
    cells = (
        calls.filter(pl.col("op_type").is_in(types))
        .join(numbers, on=["rank_id", "device_id"], nulls_equal=True)
        .select("op_type", "column", (pl.col("total_ns") / pl.col("count")).alias("mean"))
    )
    means = np.full((len(types), places.height), np.nan)
    row_of = {name: row for row, name in enumerate(types)}
    means[[row_of[name] for name in cells["op_type"]], cells["column"].to_numpy()] = cells["mean"].to_numpy()
    named = [str(device if rank is None else rank) for rank, device in places.iter_rows()]
    return types, named, means / np.nanmedian(means, axis=1, keepdims=True) - 1


_MAPPED_RANKS = 64
"""Rows and columns of a map: of more ranks those with the slowest links."""
_LINK_EDGES = (0.5, 0.8, 0.95, 1.05)
"""Where colours change: the bandwidth of a link against the median of its likes; below 0.8 it may be slow."""
_LINK_COLOURS = ("heat3", "heat2", "heat1", "heat0", "heat-1")


def links_part(stored: Sequence[StoredLinks], text: Texts) -> Context | None:
    """A map of each group whose links were compared; None where there is none."""
    maps = [links for links in stored if links.shares]
    if not maps:
        return None
    legend = heat_legend([f"{edge:.0%}" for edge in _LINK_EDGES], _LINK_COLOURS)
    legend.append((EMPTY, text("no such link, or not compared")))
    return {"figures": [_figure(one, text) for one in maps], "legend": legend}


def _figure(links: StoredLinks, text: Texts) -> Figure:
    """A map of links from the rank of a row to the rank of a column."""
    slowest = [
        rank for source, destination, _ in links.shares for rank in (source, destination)
    ]  # the slowest link is first
    ranks = sorted(list(dict.fromkeys(slowest))[:_MAPPED_RANKS])
    place = {rank: number for number, rank in enumerate(ranks)}
    values = np.full((len(ranks), len(ranks)), np.nan)
    for source, destination, share in links.shares:
        if source in place and destination in place:
            values[place[source], place[destination]] = share
    said = text(
        "Links of group {group} over {transport}, from the rank of a row to that of a column: bandwidth against links with the same work, {ranks} ranks, {links} links",
        group=links.group or "–",  # noqa: RUF001 -- what tables print for none
        transport=links.transport,
        ranks=len(ranks),
        links=links.count,
    )
    names = [str(rank) for rank in ranks]
    return Figure(said, heat_map(names, names, values, edges=_LINK_EDGES, colours=_LINK_COLOURS, said=said))
