"""Plots of bars below one another: hotspots, what devices did, what changed, why a step changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import replace
from os.path import commonprefix
from typing import TYPE_CHECKING, TypeVar

from aoe_reports.engine.question import Answer
from aoe_reports.model.names import shorten_middle
from aoe_reports.model.pictures.waterfall import WaterfallPicture
from aoe_reports.model.rows import Field, fields_of
from aoe_reports.model.size_units import size_unit
from aoe_reports.model.texts import N_, Text, join, say
from aoe_reports.present.drawings.waterfall import axis_of, axis_words, value_of
from aoe_reports.present.figures.fonts import BLUE, GREEN, GREY, ORANGE, RED, SKY
from aoe_reports.present.figures.plot import Sheet, longest_of, place_of, unit_for, with_unit
from aoe_reports.present.values import NONE

if TYPE_CHECKING:
    from aoe_reports.model.topics.breakdown import Parts
    from aoe_reports.topics.comparison.compare import Change
    from aoe_reports.topics.device_time.hotspots import Hotspot

T = TypeVar("T")
_ROOM = 0.2
"""The part of an axis that is left free after bars, for words."""


def largest_group(rows: Iterable[T], key: Callable[[T], Hashable], size: Callable[[T], float]) -> list[T]:
    """The rows of one kind that are most together."""
    groups: dict[Hashable, list[T]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return max(groups.values(), key=lambda group: sum(map(size, group)), default=[])


def longest(rows: Sequence[T], most: int, size: Callable[[T], float]) -> list[T]:
    """All rows as they are, of more than `most` the longest, the longest first."""
    return [*rows] if len(rows) <= most else sorted(rows, key=size, reverse=True)[:most]


def column_title(cls: type[object], name: str) -> str:
    """The title of a column."""
    field: Field = next(one for one in fields_of(cls) if one.name == name)
    return field.cell.title


def draw_hotspots(answer: Answer, sheet: Sheet) -> None:
    """A Pareto chart of the rank that computes longest: times, and their cumulative share."""
    every: list[Hotspot] = largest_group(answer.rows, lambda row: (row.run, row.rank_id), lambda row: row.total_ns)
    rows, axes = longest(every, sheet.top, lambda row: row.total_ns), sheet.axes
    size, unit = unit_for(*(row.total_ns for row in rows))
    labels = _labels(rows)
    sheet.grow(len(rows))
    axes.barh(range(len(rows)), [row.total_ns / size for row in rows], color=BLUE)
    sheet.name_rows(labels)
    total = column_title(type(rows[0]), "total_ns")
    axes.set_xlabel(sheet.words(with_unit(total, unit)))
    beside = axes.twiny()
    beside.plot([100 * (row.cumulative_share or 0) for row in rows], range(len(rows)), color=ORANGE, marker="o")
    beside.set_xlim(0, 105)
    beside.spines["top"].set_visible(True)
    beside.set_xlabel(sheet.words(with_unit(column_title(type(rows[0]), "cumulative_share"), "%")))
    described = [f"{name} {row.total_ns / size:,.4g} {unit}" for name, row in zip(labels, rows, strict=True)]
    sheet.describe(
        answer.title, [*place_of(rows[0].run, rows[0].rank_id), *longest_of(len(rows), len(every))], described
    )


def _labels(rows: Sequence[Hotspot | Change]) -> list[str]:
    """The name of each row, with its core where two rows have the same name."""
    names = [" ".join(filter(None, (row.op_name or row.op_type, row.input_shapes, row.location))) for row in rows]
    counts = Counter(names)
    return [
        f"{name} ({row.task_type})" if counts[name] > 1 and row.task_type else name or NONE
        for name, row in zip(names, rows, strict=True)
    ]


ACTIVITIES = N_(
    {
        "computing": "Computing alone",
        "overlapped": "Computing and communication",
        "not overlapped": "Communication not overlapped",
        "free": "Free",
        "unknown": "Not computing (communication is not recorded)",
    }
)
"""What the parts of a bar are."""
_COLOURS = {"computing": BLUE, "overlapped": SKY, "not overlapped": ORANGE, "free": "#bbbbbb", "unknown": "#bbbbbb"}
_HATCHES = {"overlapped": "//", "unknown": ".."}


def draw_breakdown(answer: Answer, sheet: Sheet) -> None:
    """A bar for each step of each device (for its whole time where it has no steps): its parts add up to it. Of many the longest are drawn."""
    stepped = {(row.run, row.rank_id, row.device_id) for row in answer.rows if row.step is not None}
    every: list[Parts] = [
        row for row in answer.rows if row.step is not None or (row.run, row.rank_id, row.device_id) not in stepped
    ]
    rows, axes = longest(every, sheet.top, lambda row: row.end_to_end_ns), sheet.axes
    size, unit = unit_for(*(row.end_to_end_ns for row in rows))
    sheet.grow(len(rows))
    parts = [_activities(row) for row in rows]
    drawn = [kind for kind in ACTIVITIES if any(kind in part for part in parts)]
    left = [0.0] * len(rows)
    for kind in drawn:
        lengths = [part.get(kind, 0) / size for part in parts]
        axes.barh(
            range(len(rows)), lengths, left=left, label=sheet.words(say(ACTIVITIES[kind])), color=_COLOURS[kind],
            hatch=_HATCHES.get(kind), edgecolor="white", linewidth=0.5,
        )  # fmt: skip
        left = [begin + length for begin, length in zip(left, lengths, strict=True)]
    several = len({row.run for row in rows}) > 1
    runs = short_names([row.run for row in rows])
    labels = [_of_step(row, runs[row.run] if several else None) for row in rows]
    sheet.name_rows(labels)
    axes.set_xlabel(sheet.words(with_unit(column_title(type(rows[0]), "end_to_end_ns"), unit)))
    sheet.plot.legend(loc="outside lower center", ncols=2, frameon=False)
    about = [] if several else place_of(rows[0].run, None)
    described = [_shares(row, part, label) for row, part, label in zip(rows, parts, labels, strict=True)]
    sheet.describe(answer.title, [*about, *longest_of(len(rows), len(every))], described)


def _activities(row: Parts) -> dict[str, int]:
    """The parts of a step, which add up to it: in ns, those of none left out."""
    if row.communication_not_overlapped_ns is None or row.free_ns is None:
        times = {"computing": row.computing_ns, "unknown": row.end_to_end_ns - row.computing_ns}
    else:
        overlapped = row.overlapped_ns or 0
        times = {
            "computing": row.computing_ns - overlapped,
            "overlapped": overlapped,
            "not overlapped": row.communication_not_overlapped_ns,
            "free": row.free_ns,
        }
    return {kind: time for kind, time in times.items() if time}


def _of_step(row: Parts, run: str | None) -> Text:
    step = [] if row.step is None else [say("step {step}", step=row.step)]
    named = [*([] if run is None else [run]), *place_of(None, row.rank_id, row.device_id), *step]
    return join(" · ", named or [NONE])


def short_names(runs: Sequence[str]) -> dict[str, str]:
    """Runs without the folder that all of them lie in, and no longer than leaves room for more beside them."""
    shared = commonprefix(runs)  # noqa: RUF071 -- some may be URIs; it ends before a slash
    place = shared.rfind("/") + 1 if len({*runs}) > 1 else 0
    return {run: shorten_middle(run[place:], _RUN_CHARACTERS) for run in runs}


_RUN_CHARACTERS = 24


def _shares(row: Parts, part: dict[str, int], label: Text) -> Text:
    shares = [
        say("{kind} {share:.1%}", kind=say(ACTIVITIES[kind]), share=time / row.end_to_end_ns)
        for kind, time in part.items()
    ]
    return say("{what}: {parts}", what=label, parts=join(", ", shares))


def draw_comparison(answer: Answer, sheet: Sheet) -> None:
    """The largest differences of the two sides whose rows differ most: longer to the right, shorter to the left."""
    every: list[Change] = largest_group(
        answer.rows,
        lambda row: (row.baseline, row.candidate, row.rank_id, row.step, row.metric),
        lambda row: abs(row.difference_ns),
    )
    rows, axes = longest(every, sheet.top, lambda row: abs(row.difference_ns)), sheet.axes
    size, unit = unit_for(*(row.difference_ns for row in rows))
    sheet.grow(len(rows))
    labels, lengths = _labels(rows), [row.difference_ns / size for row in rows]
    axes.barh(range(len(rows)), lengths, color=[RED if one > 0 else BLUE for one in lengths])
    axes.axvline(0, color=GREY, linewidth=1)
    sheet.name_rows(labels)
    axes.set_xlabel(sheet.words(with_unit(column_title(type(rows[0]), "difference_ns"), unit)))
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:+,.6g}" if value else "0")
    first = rows[0]
    about = [say("{baseline} → {candidate}", baseline=first.baseline, candidate=first.candidate)]
    described = [f"{name} {length:+,.4g} {unit}" for name, length in zip(labels, lengths, strict=True)]
    sheet.describe(
        answer.title, [*about, *place_of(None, first.rank_id), *longest_of(len(rows), len(every))], described
    )


_BARS = {"whole": GREY, "longer": RED, "shorter": GREEN, "minor": GREY}


def draw_explanation(answer: Answer, sheet: Sheet) -> None:
    """A waterfall for each picture: the step or the peak before, each part from where the one before ended, what it is after."""
    pictures = [one for one in answer.pictures if isinstance(one, WaterfallPicture)]
    every_axes = sheet.split([len(one.bars) for one in pictures])
    described: list[Text] = []
    for picture, axes in zip(pictures, every_axes, strict=True):
        _draw_waterfall(picture, replace(sheet, axes=axes))
        described += [say("{what}: {time}", what=bar.label, time=value_of(bar, picture.unit)) for bar in picture.bars]
        if picture is not pictures[0]:
            axes.set_title(sheet.words(picture.title), loc="left", fontsize=11)
    first, *others = (picture.title for picture in pictures)
    sheet.describe(first, (), [*others, *described])


def _draw_waterfall(picture: WaterfallPicture, sheet: Sheet) -> None:
    axes = sheet.axes
    begin, most = axis_of(picture)
    size, unit = unit_for(most) if picture.unit == "ns" else size_unit(most)
    for place, bar in enumerate(picture.bars):
        low, high = max(min(bar.start, bar.end), begin), max(bar.start, bar.end)
        hatch = "//" if bar.kind == "shorter" else None
        axes.barh(place, (high - low) / size, left=low / size, color=_BARS[bar.kind], hatch=hatch, edgecolor="white")
        axes.annotate(
            value_of(bar, picture.unit),
            (high / size, place), xytext=(4, 0), textcoords="offset points", va="center",
        )  # fmt: skip
    axes.set_xlim(begin / size, (most + _ROOM * (most - begin)) / size)
    sheet.name_rows([bar.label for bar in picture.bars])
    axes.set_xlabel(sheet.words(say(_AXES[picture.unit], unit=unit, note=axis_words(picture))))


_AXES = N_({"ns": "Time of a step ({unit}; {note})", "bytes": "Peak memory ({unit}; {note})"})
