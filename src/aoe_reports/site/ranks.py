"""The ranks of a run of many: which of them are slow, and in what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
import polars as pl
import pyarrow as pa

from aoe_reports.history.site_facts import Floats
from aoe_reports.model.classes import record
from aoe_reports.model.documents import Json
from aoe_reports.model.rows import as_mapping
from aoe_reports.model.runs import StepTimes
from aoe_reports.model.stragglers import ComparedRank
from aoe_reports.questions.stragglers import ComparedRun, Wait, compared_run, headline_of, rows_of
from aoe_reports.site.cells import Table, cell, head
from aoe_reports.site.charts import Figure
from aoe_reports.site.heat import EMPTY, heat_map
from aoe_reports.site.texts import Texts

SHOWN_TYPES = 24
"""Rows of the map: the operator types that take most time."""
SHOWN_RANKS = 8
EDGES = (-0.10, -0.05, -0.02, 0.02, 0.05, 0.10)
"""Where colours change: a rank's time of a call against the median rank's."""
COLOURS = ("heat-3", "heat-2", "heat-1", "heat0", "heat1", "heat2", "heat3")


@record
class RanksPart:
    """The map of the ranks of a run."""

    figure: Figure
    legend: Sequence[tuple[str, str]]
    """The class of a colour, and what it says."""
    said: str
    """Whom the others wait for."""
    longest: Table
    """The ranks that compute longest against ranks of the same work."""
    told: Mapping[str, Json]
    """The same as JSON has it."""


def ranks_part(ranks: pa.Table, steps: Sequence[StepTimes], text: Texts) -> RanksPart | None:
    """What ranks take for a call of each operator type, and which of them are slow; None where there are no ranks.

    `ranks` has a row for each rank and operator type: rank_id, device_id, op_type, count, total_ns.
    """
    if not ranks.num_rows:
        return None
    types, places, ratios = _ratios(pl.DataFrame(ranks))
    said = text(
        "Operator types by rank: the time of a call against the median rank's, {types} types on {ranks} ranks",
        types=len(types),
        ranks=len(places),
    )
    edges = [f"{edge:+.0%}" for edge in EDGES]
    spans = [
        f"< {edges[0]}",
        *(f"{low} … {high}" for low, high in pairwise(edges)),
        f"> {edges[-1]}",
    ]
    legend = [*zip(COLOURS, spans, strict=True)]
    if np.isnan(ratios).any():
        legend.append((EMPTY, text("not on this rank")))
    compared = compared_run("", ranks, _waits(ranks, steps))
    headline = headline_of([compared])
    return RanksPart(
        figure=Figure(said, heat_map(types, places, ratios, EDGES, COLOURS, said)),
        legend=legend,
        said=text.told(headline),
        longest=_longest(compared, text),
        told={
            "headline": str(headline),
            "rank_count": len(compared.ranks),
            "rows": [as_mapping(row) for row in rows_of(compared, SHOWN_RANKS)],
        },
    )


def _waits(ranks: pa.Table, steps: Sequence[StepTimes]) -> list[Wait]:
    """What the stored steps tell of communication; a table of steps names no device where the framework wrote it."""
    devices = dict(zip(ranks["rank_id"].to_pylist(), ranks["device_id"].to_pylist(), strict=True))
    return [
        ((one.rank_id, devices[one.rank_id]), one.steps, round(one.communication_ms * one.steps * 1e6))
        for one in steps
        if one.rank_id in devices and one.steps and one.communication_ms is not None
    ]


def _longest(compared: ComparedRun, text: Texts) -> Table:
    """The first ranks, as `stragglers` lists them."""
    keys = ("computing_us", "median_us", "slower", "lost_us", "slower_types", "state", "op_type")
    about = text("Against ranks that run the same operator types equally often, as `stragglers` does.")
    if len(compared.ranks) > SHOWN_RANKS:
        first = text("The first {shown} of {count} are listed.", shown=SHOWN_RANKS, count=len(compared.ranks))
        about = text.joined(" ", (about, first))
    rows = [
        [
            head(text.place(one.rank_id, one.device_id if one.rank_id is None else None)),
            cell(one.computing_ns / 1000, "us"),
            cell(None if one.median_ns is None else one.median_ns / 1000, "us"),
            cell(one.slower, "change"),
            cell(None if one.lost_ns is None else one.lost_ns / 1000, "us"),
            cell(one.slower_types or 0, "integer"),
            cell(None if one.state is None else text.told(one.state)),
            cell(one.op_type),
        ]
        for one in compared.ranks[:SHOWN_RANKS]
    ]
    return Table([(text("Item"), "text"), *text.columns(ComparedRank, *keys)], rows, about)


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
