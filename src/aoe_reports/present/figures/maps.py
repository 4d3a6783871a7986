"""Plots over two axes: rooflines, and maps of links and of ranks."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, isfinite
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.colors import TwoSlopeNorm
from matplotlib.ticker import EngFormatter

from aoe_reports.engine.question import Answer
from aoe_reports.model.errors import UsageError
from aoe_reports.model.pictures.roofline import POINT_WORDS, PointKind, RooflinePicture
from aoe_reports.model.shares import signed_percent
from aoe_reports.model.texts import join, say
from aoe_reports.present.drawings.roofline import amount, description_of_roofline
from aoe_reports.present.figures.bars import column_title, largest_group
from aoe_reports.present.figures.fonts import BLUE, GREEN, GREY, ORANGE, PINK, RED
from aoe_reports.present.figures.plot import Sheet, place_of, with_unit
from aoe_reports.present.values import NONE

if TYPE_CHECKING:
    from aoe_reports.model.topics.stragglers import ComparedRank

_POINTS: dict[PointKind, tuple[str, str]] = {
    "compute": (BLUE, "o"),
    "memory": (ORANGE, "s"),
    "cache": (GREEN, "^"),
    "small": (PINK, "v"),
    "unbounded": (GREY, "D"),
}
"""Colour and marker of each kind of operator."""


def draw_roofline(answer: Answer, sheet: Sheet) -> None:
    """FLOP/s over FLOP per byte of the device that computes longest; the larger a marker, the longer its operator takes."""
    picture, axes = next(iter(answer.pictures), None), sheet.axes
    if not isinstance(picture, RooflinePicture) or not picture.points:
        raise UsageError(say("no operator with known FLOPs is here"))
    sheet.plot.set_size_inches(9, 6)
    axes.set_xscale("log")
    axes.set_yscale("log")
    for kind, (colour, marker) in _POINTS.items():
        points = [point for point in picture.points if point.kind == kind]
        if points:
            sizes = [40 + 600 * min(max(point.share, 0.0), 1.0) for point in points]
            axes.scatter(
                [point.intensity for point in points], [point.flops_per_s for point in points], s=sizes, c=colour, marker=marker,
                alpha=0.75, edgecolors="white", label=sheet.words(POINT_WORDS[kind]),
            )  # fmt: skip
    _draw_roofs(picture, sheet)
    axes.yaxis.set_major_formatter(EngFormatter(unit="FLOP/s"))
    axes.set_xlabel(sheet.words(say("arithmetic intensity (FLOP/byte)")))
    axes.grid(visible=True, alpha=0.3)
    for handle in sheet.plot.legend(loc="outside lower center", ncols=3, frameon=False).legend_handles:
        if handle is not None and hasattr(handle, "set_sizes"):
            handle.set_sizes([40])
    sheet.describe(picture.title, (), [description_of_roofline(picture)])


def _draw_roofs(picture: RooflinePicture, sheet: Sheet) -> None:
    """Levels from where the memory feeds them, and the slope that it feeds."""
    axes, rate = sheet.axes, picture.bytes_per_s
    intensities = [point.intensity for point in picture.points]
    knees = [] if rate is None else [roof.flops_per_s / rate for roof in picture.roofs]
    least, most = min([*intensities, *knees]) / 2, max([*intensities, *knees]) * 4
    for roof in picture.roofs:
        begin = least if rate is None else roof.flops_per_s / rate
        axes.plot([begin, most], [roof.flops_per_s] * 2, color=RED, linewidth=1.2)
        label = sheet.words(f"{roof.label} {amount(roof.flops_per_s)}FLOP/s")
        axes.annotate(label, (most, roof.flops_per_s), xytext=(0, 3), textcoords="offset points", ha="right")
    if rate is not None and knees:
        ends = np.array([least, max(knees)])
        axes.plot(ends, ends * rate, color=RED, linewidth=1.2, linestyle="--")
        label = f"{amount(rate)}B/s"
        axes.annotate(label, (ends[0], ends[0] * rate), xytext=(4, -4), textcoords="offset points", va="top")


_MAX_NUMBERS = 12
"""A map of at most so many ranks a side has numbers in its cells."""


def draw_links(answer: Answer, sheet: Sheet) -> None:
    """Bandwidth from rank to rank of the group and transport over which most was sent; slow links have a cross."""
    links = largest_group(
        (row for row in answer.table("links") if row.bandwidth_gb_per_s is not None),
        lambda row: (row.run, row.group, row.transport),
        lambda row: row.transit_bytes,
    )
    if not links:
        raise UsageError(say("no link with a bandwidth is here"))
    first, axes = links[0], sheet.axes
    ranks = sorted({row.source_rank for row in links} | {row.destination_rank for row in links})
    place = {rank: number for number, rank in enumerate(ranks)}
    values = np.full((len(ranks), len(ranks)), np.nan)
    for row in links:
        values[place[row.source_rank], place[row.destination_rank]] = row.bandwidth_gb_per_s
    sheet.plot.set_size_inches(7.5, 6.5)
    image = axes.imshow(values, cmap="cividis", aspect="equal")
    _number_ranks(axes.xaxis, ranks)
    _number_ranks(axes.yaxis, ranks)
    slow = [row for row in links if row.slow]
    axes.scatter(
        [place[row.destination_rank] for row in slow], [place[row.source_rank] for row in slow], marker="x", c=RED, s=80
    )
    if len(ranks) <= _MAX_NUMBERS:
        _write_numbers(axes, values, image, "{:.3g}")
    axes.set_xlabel(sheet.words(column_title(type(first), "destination_rank")))
    axes.set_ylabel(sheet.words(column_title(type(first), "source_rank")))
    sheet.plot.colorbar(image, label=sheet.words(column_title(type(first), "bandwidth_gb_per_s")))
    described = [
        f"{row.source_rank} → {row.destination_rank} {row.bandwidth_gb_per_s:.4g} GB/s"
        for row in sorted(links, key=lambda row: row.bandwidth_gb_per_s or 0.0)
    ]
    about = [*place_of(first.run, None), *([] if first.group is None else [first.group]), first.transport]
    sheet.describe(say("Bandwidth of links"), about, described)


def _number_ranks(axis: Any, ranks: Sequence[int]) -> None:
    step = ceil(len(ranks) / 32)
    axis.set_ticks(range(0, len(ranks), step), [str(rank) for rank in ranks[::step]])


def _write_numbers(axes: Any, values: np.ndarray[Any, Any], image: Any, form: str) -> None:
    """Numbers in cells, dark on light and light on dark."""
    for (row, column), value in np.ndenumerate(values):
        if isfinite(value):
            red, green, blue, _ = image.cmap(image.norm(value))
            light = 0.299 * red + 0.587 * green + 0.114 * blue > 0.5  # noqa: PLR2004 -- weights of ITU-R BT.601
            axes.text(column, row, form.format(value), ha="center", va="center", color="black" if light else "white")


_ROW_OF_RANKS = 16


def draw_ranks(answer: Answer, sheet: Sheet) -> None:
    """How much slower each rank of the largest run computes than its peers; a line is a host, else 16 ranks."""
    rows: list[ComparedRank] = largest_group(answer.rows, lambda row: row.run, lambda _: 1)
    if all(row.slower is None for row in rows):
        raise UsageError(say("no rank has peers to be compared with"))
    axes, lines = sheet.axes, _lines(rows)
    values = np.full((len(lines), max(map(len, lines.values()))), np.nan)
    for line, ranks in enumerate(lines.values()):
        for column, row in enumerate(ranks):
            values[line, column] = np.nan if row.slower is None else 100 * row.slower
            if len(ranks) <= _ROW_OF_RANKS:
                axes.annotate(
                    sheet.words(NONE if row.rank_id is None else row.rank_id), (column, line), ha="center", va="center",
                    fontweight="bold" if row.state == "slow" else "normal",
                )  # fmt: skip
    sheet.plot.set_size_inches(9, 2.2 + 0.4 * len(lines))
    reach = max(float(np.nanmax(np.abs(values))), 1.0)
    image = axes.imshow(values, cmap="PuOr_r", norm=TwoSlopeNorm(0, -reach, reach), aspect="auto", alpha=0.8)
    axes.set_xticks([])
    axes.set_yticks(range(len(lines)), [sheet.label(name) for name in lines])
    title = column_title(type(rows[0]), "slower")
    sheet.plot.colorbar(image, label=sheet.words(with_unit(title, "%")), orientation="horizontal", aspect=60)
    slowest = sorted((row for row in rows if row.slower is not None), key=lambda row: -(row.slower or 0.0))
    described = [join(" ", [*place_of(None, row.rank_id), signed_percent(row.slower or 0.0)]) for row in slowest]
    sheet.describe(answer.title, place_of(rows[0].run, None), described)


def _lines(rows: Sequence[ComparedRank]) -> dict[str, list[ComparedRank]]:
    """Ranks by host; where hosts are not known, 16 ranks a line."""
    ordered = sorted(rows, key=lambda row: (row.rank_id is None, row.rank_id or 0, row.device_id or 0))
    hosts: dict[str, list[ComparedRank]] = {}
    for number, row in enumerate(ordered):
        line = number // _ROW_OF_RANKS
        name = row.host or f"{line * _ROW_OF_RANKS}…{min((line + 1) * _ROW_OF_RANKS, len(rows)) - 1}"
        hosts.setdefault(name, []).append(row)
    return hosts
