"""Operator types and operators of a run: a row each, with what it takes on each rank, of many ranks on the median, least and worst one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

import polars as pl
import pyarrow as pa

from aoe_reports.history.site_facts import RunDetails
from aoe_reports.model.documents import JsonObject
from aoe_reports.model.history.runs import GroupTotal
from aoe_reports.model.rank_spread import MIN_RANKS, least_and_worst
from aoe_reports.present.drawings.charts import bar
from aoe_reports.present.values import NONE, show
from aoe_reports.site.amounts import TimeColumn, in_own_unit
from aoe_reports.site.cells import Columns, Table, cell, drawn, head
from aoe_reports.site.places import file_name
from aoe_reports.site.texts import Texts

SHOWN = 20
"""Rows of a table; JSON has more operators of a run of one rank."""

Place = tuple[int | None, int | None]
"""(rank, device)."""


@dataclass(slots=True)
class Group:
    """An operator type or an operator in a run, with what it takes in each place."""

    name: str | None
    about: str | None
    """The type of an operator, the core of a type."""
    shapes: str | None
    counts: dict[Place, int] = field(default_factory=dict)
    totals_us: dict[Place, float] = field(default_factory=dict)
    shares: dict[Place, float] = field(default_factory=dict)
    """Of what all compute tasks take there."""
    series: dict[Place, str] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str | None, ...]:
        """What it is of, the same in every place."""
        return self.name, self.about, self.shapes

    @property
    def share(self) -> float:
        """The largest one."""
        return max(self.shares.values(), default=0.0)

    def add(self, row: Mapping[str, Any]) -> None:
        """Count the tasks of a row."""
        place = row["rank_id"], row["device_id"]
        self.counts[place] = self.counts.get(place, 0) + (row["count"] or 0)
        if row["total_us"] is not None:
            self.totals_us[place] = self.totals_us.get(place, 0.0) + row["total_us"]
        if row["share"] is not None:
            self.shares[place] = self.shares.get(place, 0.0) + row["share"]
        if row["series_id"] is not None:
            self.series.setdefault(place, row["series_id"])


@dataclass(frozen=True, slots=True)
class GroupKind:
    """The types or the operators of a run: the columns that name them, and the rows of single ranks where there are many."""

    name: str
    about: str
    rows: Sequence[Mapping[str, Any]]
    of_ranks: pa.Table | None
    steps: int | None
    """The number of steps that they are of; where it is known, times are those of one step."""

    def of_step(self, time_us: float | None) -> float | None:
        """A time of all steps as the page shows it."""
        return None if time_us is None else time_us / (self.steps or 1)

    def title(self, title: str, text: Texts) -> str:
        """The title of a column of such times."""
        return title if self.steps is None else text("{what}, per step", what=title)


def types_of(details: RunDetails, steps: int | None) -> GroupKind:
    """The operator types of a run."""
    return GroupKind("op_type", "task_type", details.types, details.ranks, steps)


def operators_of(details: RunDetails, steps: int | None) -> GroupKind:
    """The operators of a run."""
    return GroupKind("op_name", "op_type", details.operators, details.operator_ranks, steps)


def groups_of(kind: GroupKind) -> list[Group]:
    """The groups that are shown, in the order of their rows."""
    groups: dict[tuple[str | None, ...], Group] = {}
    for row in kind.rows:
        key = row[kind.name], row[kind.about], row.get("input_shapes")
        if key not in groups and len(groups) == SHOWN:
            continue
        groups.setdefault(key, Group(*key)).add(row)
    return list(groups.values())


def times_by_rank(kind: GroupKind, groups: Iterable[Group]) -> dict[tuple[str | None, ...], dict[Place, float]]:
    """What the groups take in each place, in us: of a run of many ranks their rows are those of the median rank."""
    if kind.of_ranks is None:
        return {group.key: group.totals_us for group in groups}
    args = pl.col("workload_args")
    about = args.str.json_path_match("$.task_type") if kind.name == "op_type" else pl.col("op_type")
    shapes = pl.lit(None, pl.String) if kind.name == "op_type" else args.str.json_path_match("$.input_shapes")
    rows = pl.DataFrame(kind.of_ranks).select(
        pl.col(kind.name).alias("name"),
        about.alias("about"),
        shapes.alias("shapes"),
        "rank_id",
        "device_id",
        "total_ns",
    )
    times: dict[tuple[str | None, ...], dict[Place, float]] = {group.key: {} for group in groups}
    for *key, rank, device, total_ns in rows.iter_rows():
        of_group = times.get(tuple(key))
        if of_group is not None and total_ns is not None:
            of_group[rank, device] = of_group.get((rank, device), 0.0) + total_ns / 1000
    return times


@dataclass(frozen=True, slots=True)
class Spread:
    """What one group takes on many ranks, in us, and where it takes least and most."""

    median_us: float
    least_us: float
    least: Place
    worst_us: float
    worst: Place

    @classmethod
    def of(cls, times: Mapping[Place, float]) -> Spread | None:
        """None where nothing is known."""
        if not times:
            return None
        least, worst = least_and_worst({place: times[place] for place in sorted(times, key=_order)})
        return cls(median(times.values()), times[least], least, times[worst], worst)


def _order(place: Place) -> tuple[int, ...]:
    return tuple(-1 if number is None else number for number in place)


def places_of(kind: GroupKind) -> list[Place]:
    """Where the groups ran, by number."""
    if kind.of_ranks is not None:
        rows = pl.DataFrame(kind.of_ranks).select("rank_id", "device_id").unique().rows()
        return sorted(((rank, device) for rank, device in rows), key=_order)
    return sorted({(row["rank_id"], row["device_id"]) for row in kind.rows}, key=_order)


def spreads_as_json(kind: GroupKind) -> list[JsonObject]:
    """The same as the page has it, of a run with more ranks than columns."""
    groups = groups_of(kind)
    times = times_by_rank(kind, groups)
    rows: list[JsonObject] = []
    for group in groups:
        spread = Spread.of(times[group.key])
        if spread is not None:
            rows.append(
                {
                    "name": group.name,
                    "op_type" if kind.name == "op_name" else "task_type": group.about,
                    "input_shapes": group.shapes,
                    "ranks": len(times[group.key]),
                    "median_us": spread.median_us,
                    "least_us": spread.least_us,
                    "least_rank": spread.least[0],
                    "worst_us": spread.worst_us,
                    "worst_rank": spread.worst[0],
                }
            )
    return rows


def groups_table(kind: GroupKind, places: Sequence[Place], pages: frozenset[str], text: Texts, about: str) -> Table:
    """One row a group: a column a rank, or the median, least and worst rank of many."""
    groups = groups_of(kind)
    longest = max((group.share for group in groups), default=0.0)
    if has_spread(places):
        return _spread_table(kind, groups, pages, text, about)
    times = times_by_rank(kind, groups)
    totals = TimeColumn.of("us", (kind.of_step(time) for group in groups for time in times[group.key].values()))
    single = len(places) <= 1
    means = TimeColumn.of("us", map(_mean_us, groups)) if single else None
    titles = [text.columns(GroupTotal, "total_us")[0][0].removesuffix(" (us)")] if single else _titles(places, text)
    columns: Columns = [
        *_first_columns(kind, text), *(totals.title(kind.title(title, text)) for title in titles),
        *([] if means is None else [means.title(text("Mean"))]), *text.columns(GroupTotal, "share"), ("", "text"),
    ]  # fmt: skip
    rows = [
        [
            *_first_cells(group, _own_series(kind, group, places[0] if single and places else None), pages),
            *(
                totals.cell(
                    kind.of_step(times[group.key].get(place)),
                    href=None if single else series_page(group.series.get(place), pages),
                )
                for place in (places or [(None, None)])
            ),
            *([] if means is None else [means.cell(_mean_us(group))]),
            cell(group.share or None, "percent"),
            drawn(bar(group.share, of=longest)),
        ]
        for group in groups
    ]
    return Table(columns, rows, about, stacks=True)


def _spread_table(kind: GroupKind, groups: Sequence[Group], pages: frozenset[str], text: Texts, about: str) -> Table:
    times = times_by_rank(kind, groups)
    spreads = [Spread.of(times[group.key]) for group in groups]
    known = [spread for spread in spreads if spread is not None]
    column = TimeColumn.of(
        "us",
        (kind.of_step(us) for spread in known for us in (spread.median_us, spread.least_us, spread.worst_us)),
    )
    longest = max((group.share for group in groups), default=0.0)
    columns: Columns = [
        *_first_columns(kind, text),
        *(
            column.title(kind.title(title, text))
            for title in (text("Median rank"), text("Least rank"), text("Worst rank"))
        ),
        (text("Worst vs median"), "number"), *text.columns(GroupTotal, "share"), ("", "text"),
    ]  # fmt: skip
    rows = []
    for group, spread in zip(groups, spreads, strict=True):
        if spread is None:
            cells = [cell(None, "us")] * 4
        else:
            links = [series_page(group.series.get(place), pages) for place in (spread.least, spread.worst)]
            cells = [
                column.cell(kind.of_step(spread.median_us)),
                column.cell(kind.of_step(spread.least_us), _place_words(spread.least, text), href=links[0]),
                column.cell(kind.of_step(spread.worst_us), _place_words(spread.worst, text), href=links[1]),
                cell(spread.worst_us / spread.median_us - 1 if spread.median_us else None, "change"),
            ]
        rows.append(
            [
                *_first_cells(group, _own_series(kind, group, None), pages),
                *cells,
                cell(group.share or None, "percent"),
                drawn(bar(group.share, of=longest)),
            ]
        )
    return Table(columns, rows, about, stacks=True)


def has_spread(places: Sequence[Place]) -> bool:
    """Whether there are too many places for a column each."""
    return len(places) >= MIN_RANKS


def _own_series(kind: GroupKind, group: Group, place: Place | None) -> str | None:
    """The series that the name of a group leads to: the one of all ranks, or that of the only place."""
    if kind.of_ranks is not None:
        return next(iter(group.series.values()), None)
    return None if place is None else group.series.get(place)


def _first_columns(kind: GroupKind, text: Texts) -> Columns:
    return [(text.word(kind.name), "text"), *text.columns(GroupTotal, "count")]


def _first_cells(group: Group, series: str | None, pages: frozenset[str]) -> list[str]:
    """Its name, with the type where that is another word, and its tasks on a rank."""
    counts = sorted(set(group.counts.values()))
    tasks = show(counts[0], "integer") if counts else None
    if len(counts) > 1:
        tasks = f"{tasks} … {show(counts[-1], 'integer')}"
    about = (group.about if group.about != group.name else None, group.shapes)
    return [
        head(group.name or NONE, series_page(series, pages), " · ".join(word for word in about if word)),
        cell(tasks, "integer"),
    ]


def _place_words(place: Place, text: Texts) -> str:
    rank, device = place
    return text.place(rank, device if rank is None else None)


def series_page(series_id: str | None, pages: frozenset[str]) -> str | None:
    """The page of a series, seen from that of a run; None where it has none."""
    return f"../series/{file_name(series_id)}.html" if series_id is not None and series_id in pages else None


def _mean_us(group: Group) -> float | None:
    tasks = sum(group.counts.values())
    return sum(group.totals_us.values()) / tasks if tasks and group.totals_us else None


def _titles(places: Sequence[Place], text: Texts) -> list[str]:
    """What columns are called: a rank without its device, where each rank has one device."""
    ranks = [rank for rank, _ in places]
    if None in ranks or len(set(ranks)) < len(ranks):
        return [text.place(*place) or text("not known") for place in places]
    return [text.place(rank, None) for rank in ranks]


def types_about(details: RunDetails, types: GroupKind, places: Sequence[Place], text: Texts) -> str:
    """The sentence above the table of types."""
    shown = len(groups_of(types))
    whole = "" if details.computing_us is None else in_own_unit(details.computing_us, "us")
    said = text(
        "Compute tasks by operator type: {shown} of {count} types, {total} in all."
        if types.steps is None
        else "Compute tasks by operator type: {shown} of {count} types, {total} in {steps} steps.",
        shown=shown,
        count=details.type_count,
        steps=types.steps,
        total=whole or NONE,
    )
    return text.joined(" ", (said, *_about_ranks(details, places, text)))


def operators_about(details: RunDetails, operators: GroupKind, places: Sequence[Place], text: Texts) -> str:
    """The sentence above the table of operators."""
    shown = len(groups_of(operators))
    said = text("The {shown} longest of {count} operators.", shown=shown, count=details.operator_count)
    return text.joined(" ", (said, *_about_ranks(details, places, text)))


def _about_ranks(details: RunDetails, places: Sequence[Place], text: Texts) -> list[str]:
    if len(places) <= 1:
        return []
    if details.ranks is not None:
        said = text(
            "Times are of all calls on one rank, of {count} ranks; a share is that of the median rank.",
            count=len(places),
        )
    else:
        said = text(
            "Times are of all calls on one device, of {count} devices; a share is the largest of any device.",
            count=len(places),
        )
    return [said]
