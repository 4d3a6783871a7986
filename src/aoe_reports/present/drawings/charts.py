"""Charts as inline SVG: no script, no style attribute; colours come from classes, words are escaped."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from markupsafe import Markup
from msgspec import json

from aoe_reports.model.arrays.columns import Floats, Ints
from aoe_reports.model.names import shorten_middle
from aoe_reports.present.drawings.step import words as as_text
from aoe_reports.present.values import width as text_width

WIDTH, HEIGHT = 960, 240
_LEFT, _RIGHT, _TOP, _BOTTOM = 72, 12, 26, 26
BUCKETS = 440
"""Columns of pixels that a line is drawn over: of more nights each column keeps its least and its greatest value."""


@dataclass(frozen=True, slots=True)
class Level:
    """A level of a history: the columns [start, until) it holds for, its value at both ends (a slope's differ)."""

    start: int
    until: int
    first: float
    last: float


@lru_cache(maxsize=256)
def days_of(nights: tuple[str, ...]) -> Ints:
    """Dates as numbers of days (ordinals)."""
    return np.array([date.fromisoformat(night).toordinal() for night in nights], dtype=np.int64)


class Figure(NamedTuple):
    """A chart under its title."""

    title: str
    svg: Markup


@dataclass(frozen=True, slots=True)
class Frame:
    """The size of a chart of a history; `span` are its first and its last day, where those of the values are not."""

    width: int
    height: int
    span: tuple[int, int] | None = None


LARGE = Frame(WIDTH, HEIGHT)


class Noted(NamedTuple):
    """What a chart of a history marks: (column, label) of nights, (first day, how many) of missing dates, the baseline."""

    versions: Sequence[tuple[int, str]] = ()
    past: Sequence[tuple[int, str]] = ()
    """Single nights that differed."""
    incidents: Sequence[tuple[int, str]] = ()
    gaps: Sequence[tuple[int, int]] = ()
    baseline: float | None = None


def history_chart(
    days: Ints,
    values: Floats,
    levels: Sequence[Level],
    sigma: float | None,
    *,
    changes: Sequence[int],
    words: str,
    noted: Noted = Noted(),  # noqa: B008 -- it never changes
    frame: Frame = LARGE,
    unit: str = "",
) -> Markup:
    """A history: days (date ordinals) and values (NaN for none) in a unit, its levels, the columns of its changes.

    Around each level lies the band of 95 % of quiet nights: 1.96 sigma (relative) to both sides.
    """
    known = np.isfinite(values)
    if not known.any():
        return Markup()
    across = np.asarray(days, dtype=np.float64)
    times = values[known]
    spread = math.exp(1.96 * sigma) if sigma is not None else 1.0
    ends = [end for level in levels for end in (level.first, level.last)]
    marked = [] if noted.baseline is None else [noted.baseline]
    low = min(float(times.min()), min(ends, default=math.inf) / spread, *marked)
    high = max(float(times.max()), max(ends, default=-math.inf) * spread, *marked)
    ticks = _enough_ticks(low, high, 4 if frame.height >= HEIGHT else 2)
    low, high = min(low, ticks[0]), max(high, ticks[-1])
    first, last = frame.span or (int(days[0]), int(days[-1]))
    x = _Axis(first, max(last, first + 1), _LEFT, frame.width - _RIGHT)
    y = _Axis(low, high if high > low else low + 1, frame.height - _BOTTOM, _TOP)
    drawn = [
        f'<text class="tick" x="0" y="{_TOP - 14}">{as_text(unit)}</text>' if unit else "",
        *_frame(ticks, x, y, first, last),
        *(_band(level, across, x, y, spread) for level in levels if sigma is not None),
        *(f'<path class="baseline" d="M{_LEFT} {y(level):.1f}H{x.end}"/>' for level in marked),
        *(_gap(start, count, x, y) for start, count in noted.gaps),
        *_lines(across[known], times, x, y, broken=bool(noted.gaps)),
        *(_level(level, across, x, y) for level in levels),
        *(f'<path class="mark" d="M{x(across[column]):.0f} {_TOP}V{y.start}"/>' for column in changes),
        *(_labelled(x(across[column]), label, 0, x, y) for column, label in noted.versions),
        *(_labelled(x(across[column]), label, 1, x, y) for column, label in noted.past),
        *(_labelled(x(across[column]), label, 2, x, y) for column, label in noted.incidents),
    ]
    lead = f'<svg viewBox="0 0 {frame.width} {frame.height}" class="chart" role="img" aria-label="{as_text(words)}">'
    return Markup(lead + "".join(drawn) + "</svg>")


@dataclass(frozen=True, slots=True)
class _Axis:
    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: Any) -> Any:
        return self.start + (value - self.low) * ((self.end - self.start) / (self.high - self.low))


def _frame(ticks: Sequence[float], x: _Axis, y: _Axis, first: int, last: int) -> Iterator[str]:
    """Lines and numbers of the values, and dates below."""
    for tick in ticks:
        yield (
            f'<path class="grid" d="M{_LEFT} {y(tick):.0f}H{x.end}"/>'
            f'<text class="tick end" x="{_LEFT - 8}" y="{y(tick) + 4:.0f}">{tick:,.6g}</text>'
        )
    for day, label, side in _dates(first, last, inner=x.end > WIDTH / 2):
        yield f'<text class="tick {side}" x="{x(day):.0f}" y="{y.start + _BOTTOM - 7}">{label}</text>'


def _gap(start: int, count: int, x: _Axis, y: _Axis) -> str:
    """Dates without a run, on the axis; those beyond its ends are not seen."""
    left, right = max(x(start - 0.5), x.start), min(x(start + count - 0.5), x.end)
    return f'<path class="gap" d="M{left:.1f} {y.start - 2}H{right:.1f}"/>' if left < right else ""


def _level(level: Level, across: Floats, x: _Axis, y: _Axis) -> str:
    left, right = x(across[level.start]), x(across[level.until - 1])
    return f'<path class="level" d="M{left:.0f} {y(level.first):.1f}L{right:.0f} {y(level.last):.1f}"/>'


def _band(level: Level, across: Floats, x: _Axis, y: _Axis, spread: float) -> str:
    left, right = x(across[level.start]), x(across[level.until - 1])
    return (
        f'<path class="band" d="M{left:.0f} {y(level.first * spread):.1f}L{right:.0f} {y(level.last * spread):.1f}'
        f'V{y(level.last / spread):.1f}L{left:.0f} {y(level.first / spread):.1f}Z"/>'
    )


def _labelled(at: float, label: str, line: int, x: _Axis, y: _Axis) -> str:
    """A night with a label, to the side where there is room; labels of one kind share a line."""
    side, aside = ("end", -4) if at > (x.end + _RIGHT) / 2 else ("start", 4)
    return (
        f'<path class="noted" d="M{at:.0f} {_TOP}V{y.start}"/>'
        f'<text class="tick {side}" x="{at + aside:.0f}" y="{_TOP + 10 + 14 * line}">{as_text(label)}</text>'
    )


def _lines(across: Floats, values: Floats, x: _Axis, y: _Axis, *, broken: bool) -> Iterator[str]:
    """The nights as lines, where `broken` one for each run of dates; a night alone is a dot.

    More than fit are drawn by the least and the greatest of each column of pixels.
    """
    width = 1.0
    if len(values) > 2 * BUCKETS:
        width += (across[-1] - across[0]) / BUCKETS
        starts = _buckets(across.tobytes())
        pairs = np.empty((len(starts), 2))
        pairs[:, 0], pairs[:, 1] = np.minimum.reduceat(values, starts), np.maximum.reduceat(values, starts)
        across, values = np.repeat(across[starts], 2), pairs.ravel()
    places = np.empty((len(values), 2), dtype=np.int64)
    places[:, 0], places[:, 1] = np.rint(x(across)), np.rint(y(values))
    for part in np.split(places, np.flatnonzero(np.diff(across) > width) + 1) if broken else [places]:
        if len(part) == 1:
            yield f'<circle class="dot" cx="{part[0, 0]}" cy="{part[0, 1]}" r="3"/>'
        else:
            points = json.encode(part.ravel().tolist())[1:-1].decode()  # numbers and commas
            yield f'<polyline class="line" points="{points}"/>'


@lru_cache(maxsize=64)
def _buckets(across: bytes) -> Any:
    """Where each column of pixels begins among the nights: most series share them."""
    nights = np.frombuffer(across, dtype=np.float64)
    return np.unique(np.searchsorted(nights, np.linspace(nights[0], nights[-1], BUCKETS + 1)[:-1]))


def round_values(low: float, high: float, wanted: int = 4) -> list[float]:
    """Round numbers between two values."""
    span = high - low
    if not (span > 0 and math.isfinite(span)):
        return [low]
    raw = span / wanted
    size = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * size for factor in (1, 2, 2.5, 5, 10) if factor * size >= raw)
    first = math.ceil(low / step)
    return [round(number * step, 12) for number in range(first, math.floor(high / step) + 1)] or [low]


MIN_TICKS = 3


def _enough_ticks(low: float, high: float, wanted: int) -> list[float]:
    """Round numbers between two values, more than wanted where those would be fewer than MIN_TICKS."""
    choices = (round_values(low, high, count) for count in range(wanted, 2 * MIN_TICKS + 1))
    return max(choices, key=lambda ticks: min(len(ticks), MIN_TICKS))


FEW_DAYS = 10
"""Over fewer days only the ends are named."""


@lru_cache(maxsize=256)
def _dates(first: int, last: int, *, inner: bool = True) -> Sequence[tuple[int, str, str]]:
    """Dates under a chart: the first, the last, and where there is room some between."""
    if first == last:
        return [(first, date.fromordinal(first).isoformat(), "start")]
    between = range(1, 5) if inner and last - first >= FEW_DAYS else ()
    shown = [(first, "start"), *((first + (last - first) * place // 5, "middle") for place in between), (last, "end")]
    return [(day, date.fromordinal(day).isoformat(), side) for day, side in shown]


CARD_WIDTH, CARD_HEIGHT = 420, 88
CARD_SPAN = 0.04
"""Of the level: what a card shows at least from its bottom to its top."""
_CARD_LEFT, _CARD_TOP, _CARD_BOTTOM = 66, 8, 66


def card_chart(
    days: Ints,
    values: Floats,
    levels: Sequence[Level],
    sigma: float | None,
    *,
    changes: Sequence[int],
    words: str,
    in_words: Callable[[float], str],
    span: tuple[int, int],
    versions: Sequence[int] = (),
    past: Sequence[int] = (),
) -> Markup:
    """A history for a card: the nights, the band of normal ones, level shifts, new versions (ticks below) and bad nights (rings).

    `in_words` says a value with its unit, `span` is the first and the last day of all cards; dates without a night leave a gap.
    A card shows CARD_SPAN of its level or more: a change of 1% looks small beside one of 10%.
    """
    spread = math.exp(1.96 * sigma) if sigma is not None else 1.0
    bounds = [end * factor for one in levels for end in (one.first, one.last) for factor in (spread, 1 / spread)]
    low, high = min([float(values.min()), *bounds]), max([float(values.max()), *bounds])
    missing = CARD_SPAN * float(np.median(values)) - (high - low)
    low, high = low - max(missing, 0.0) / 2, high + max(missing, 0.0) / 2
    x = _Axis(span[0], max(span[1], span[0] + 1), _CARD_LEFT, CARD_WIDTH - 6)
    y = _Axis(low, high if high > low else low + 1, _CARD_BOTTOM, _CARD_TOP)
    across = np.asarray(days, dtype=np.float64)
    drawn = [
        *(_band(one, across, x, y, spread) for one in levels if sigma is not None),
        *_lines(across, values, x, y, broken=True),
        *(_level(one, across, x, y) for one in levels),
        *(f'<path class="mark" d="M{x(across[at]):.0f} {_CARD_TOP - 4}V{_CARD_BOTTOM + 2}"/>' for at in changes),
        *(f'<path class="version" d="M{x(across[at]) - 4:.0f} {_CARD_BOTTOM + 10}l4 -8l4 8z"/>' for at in versions),
        *(f'<circle class="odd-night" cx="{x(across[at]):.0f}" cy="{y(values[at]):.0f}" r="4.5"/>' for at in past),
        f'<circle class="dot" cx="{x(across[-1]):.0f}" cy="{y(values[-1]):.1f}" r="3"/>',
        f'<text class="tick end" x="{_CARD_LEFT - 6}" y="{_CARD_TOP + 4}">{as_text(in_words(high))}</text>',
        f'<text class="tick end" x="{_CARD_LEFT - 6}" y="{_CARD_BOTTOM + 4}">{as_text(in_words(low))}</text>',
        f'<text class="tick" x="{_CARD_LEFT}" y="{CARD_HEIGHT - 5}">{date.fromordinal(span[0]).isoformat()}</text>',
        f'<text class="tick end" x="{CARD_WIDTH - 4}" y="{CARD_HEIGHT - 5}">{date.fromordinal(span[1]).isoformat()}</text>',
    ]
    lead = f'<svg viewBox="0 0 {CARD_WIDTH} {CARD_HEIGHT}" class="history" role="img" aria-label="{as_text(words)}">'
    return Markup(lead + "".join(drawn) + "</svg>")


SPARK_WIDTH, SPARK_HEIGHT = 220, 44


_LEVELS = np.frombuffer(b"0123456789abcdefghijklmnopqrstuvwxyz", dtype=np.uint8)[: SPARK_HEIGHT - 9]
"""What the heights of a coded sparkline are called: digits of base 36, a pixel each."""


def code_of(values: Floats) -> str:
    """Values as the heights of a sparkline, a digit each; what `sparkline` and `assets/list.js` draw."""
    if not len(values):
        return ""
    low, high = float(values.min()), float(values.max())
    heights = np.rint((values - low) * ((len(_LEVELS) - 1) / (high - low if high > low else 1.0)))
    return _LEVELS[heights.astype(np.int64)].tobytes().decode()


def sparkline(code: str, mark: int, words: str = "") -> Markup:
    """A small line of coded values; `mark` is the place of a change, -1 for none. Without words it is hidden: its row says the same."""
    if not code:
        return Markup()
    x = _Axis(0, max(len(code) - 1, 1), 3, SPARK_WIDTH - 3)
    places = [f"{int(x(place) + 0.5)} {SPARK_HEIGHT - 5 - int(digit, 36)}" for place, digit in enumerate(code)]
    marked = f'<path class="mark" d="M{int(x(mark) + 0.5)} 2V{SPARK_HEIGHT - 2}"/>' if mark >= 0 else ""
    last_x, last_y = places[-1].split(" ")
    seen = f'role="img" aria-label="{as_text(words)}"' if words else 'aria-hidden="true"'
    return Markup(
        f'<svg viewBox="0 0 {SPARK_WIDTH} {SPARK_HEIGHT}" class="spark" {seen}>{marked}'
        f'<polyline class="line" points="{" ".join(places)}"/><circle class="dot" cx="{last_x}" cy="{last_y}" r="2.5"/></svg>'
    )


def bar(share: float, kind: str = "bar", of: float = 1.0) -> Markup:
    """One bar in a table cell, beside the number that it shows."""
    width = 100 * min(max(share / of if of else 0.0, 0.0), 1.0)
    return Markup(
        f'<svg class="cellbar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="track" width="100" height="8"/><rect class="{kind}" width="{width:.2f}" height="8"/></svg>'
    )


def pair(before: float | None, after: float | None, most: float | None = None) -> Markup:
    """Two bars in a table cell, before above after; the longest bar is `most`, else the longer one. Nothing where one is not known."""
    if before is None or after is None:
        return Markup()
    most = max(before, after) if most is None else most
    rects = [
        f'<rect class="{kind}" y="{top}" width="{100 * max(value, 0) / most if most else 0:.2f}" height="6"/>'
        for value, kind, top in ((before, "was", 0), (after, "became", 8))
    ]
    return Markup(
        f'<svg class="cellbar two" viewBox="0 0 100 14" preserveAspectRatio="none" aria-hidden="true">{"".join(rects)}</svg>'
    )


def waterfall(parts: Sequence[tuple[str, float]], whole: tuple[str, float], words: str, unit: str = "us") -> Markup:
    """Differences that add up to a whole, one below the other, each from where the one before ended; the axis names the unit."""
    total = whole[1]
    edges = [0.0]
    for _, size in parts:
        edges.append(edges[-1] + size)
    low, high = min(*edges, total, 0.0), max(*edges, total, 0.0)
    if high - low < MIN_DIFFERENCE:
        return Markup()
    x = _Axis(low, high, _NAMES + 10, WIDTH - 90)
    rows = [(name, edges[place], edges[place + 1], size) for place, (name, size) in enumerate(parts)]
    rows.append((whole[0], 0.0, total, total))
    bottom = _BAR_ROW * len(rows) + 8
    drawn = [
        *_axis_below(round_values(low, high), x, bottom, unit),
        f'<path class="zero" d="M{x(0.0):.1f} 0V{bottom}"/>',
    ]
    for place, (name, start, end, size) in enumerate(rows):
        top = _BAR_ROW * place + 6
        left, right = sorted((x(start), x(end)))
        kind = "longer" if size > 0 else "shorter"
        shown = f"{size:+,.1f}" if abs(size) >= 1 else f"{size:+,.3f}"
        drawn.append(
            f'{_name_of_bar(name, top)}<rect class="{kind}" x="{left:.1f}" y="{top}" width="{max(right - left, 1):.1f}" height="16"/>'
            f'<text class="tick" x="{right + 6:.1f}" y="{top + 12}">{shown}</text>'
        )
    return _framed(drawn, bottom + _AXIS, words)


def ranking(rows: Sequence[tuple[str, float, str]], words: str) -> Markup:
    """Bars from the longest to the shortest, each (name, length, words behind it)."""
    longest = max((length for _, length, _ in rows), default=0.0)
    room = max((_wide(behind) for _, _, behind in rows), default=0.0) + 12
    x = _Axis(0.0, longest if longest > 0 else 1.0, _NAMES + 10, WIDTH - room)
    drawn = []
    for place, (name, length, behind) in enumerate(rows):
        top = _BAR_ROW * place + 6
        right = x(max(length, 0.0))
        drawn.append(
            f'{_name_of_bar(name, top)}<rect class="bar" x="{_NAMES + 10}" y="{top}" width="{right - _NAMES - 10:.1f}" height="16"/>'
            f'<text class="tick" x="{right + 6:.1f}" y="{top + 12}">{as_text(behind)}</text>'
        )
    return _framed(drawn, _BAR_ROW * len(rows) + 8, words)


@dataclass(frozen=True, slots=True)
class Bars:
    """Bars of one colour: a value for each label, or none, and the ends of its interval where they are known."""

    kind: str
    values: Sequence[float | None]
    intervals: Sequence[tuple[float, float] | None] = ()


def grouped(labels: Sequence[str], groups: Sequence[Bars], words: str, unit: str) -> Markup:
    """Bars of several colours below each other for each label, their intervals as lines; the axis names the unit."""
    ends = [end for group in groups for interval in group.intervals if interval for end in interval]
    known = [value for group in groups for value in group.values if value is not None]
    low, high = min([*known, *ends, 0.0]), max([*known, *ends, 0.0])
    x = _Axis(low, high if high > low else low + 1, _NAMES + 10, WIDTH - 30)
    row = _GROUPED_BAR * len(groups) + 10
    bottom = row * len(labels) + 4
    drawn = [
        *_axis_below(round_values(low, high), x, bottom, unit),
        f'<path class="zero" d="M{x(0.0):.1f} 0V{bottom}"/>',
    ]
    for place, label in enumerate(labels):
        drawn.append(_name_of_bar(label, row * place + 4 + (row - 26) // 2))
        for number, group in enumerate(groups):
            top = row * place + 6 + _GROUPED_BAR * number
            interval = group.intervals[place] if place < len(group.intervals) else None
            drawn += _bar_and_interval(group.kind, group.values[place], interval, top, x)
    return _framed(drawn, bottom + _AXIS, words)


def _bar_and_interval(
    kind: str, value: float | None, interval: tuple[float, float] | None, top: int, x: _Axis
) -> Iterator[str]:
    if value is not None:
        left, right = sorted((x(0.0), x(value)))
        yield f'<rect class="{kind}" x="{left:.1f}" y="{top}" width="{right - left:.1f}" height="{_GROUPED_BAR - 2}"/>'
    if interval is not None:
        yield f'<path class="interval" d="M{x(interval[0]):.1f} {top + _GROUPED_BAR / 2 - 1:g}H{x(interval[1]):.1f}"/>'


_NAMES, _BAR_ROW, _GROUPED_BAR, _AXIS = 300, 24, 11, 36
"""Pixels: what names of bars take, from bar to bar, from one to the next of a group, what an axis below takes."""


def _name_of_bar(name: str, top: int) -> str:
    return f'<text class="tick end" x="{_NAMES}" y="{top + 12}"><title>{as_text(name)}</title>{as_text(shorten_middle(name, SHOWN_NAME, text_width))}</text>'


def _wide(text: str) -> float:
    """About the pixels that a text takes."""
    return _CHARACTER * text_width(text)


_CHARACTER = 6.6


def _axis_below(ticks: Sequence[float], x: _Axis, bottom: int, unit: str) -> Iterator[str]:
    """Round values below bars, and the unit below these."""
    for tick in ticks:
        yield (
            f'<path class="grid" d="M{x(tick):.1f} 0V{bottom}"/>'
            f'<text class="tick middle" x="{x(tick):.1f}" y="{bottom + 14}">{tick:,.6g}</text>'
        )
    yield f'<text class="tick middle" x="{(x.start + x.end) / 2:.0f}" y="{bottom + 30}">{as_text(unit)}</text>'


def _framed(drawn: Iterable[str], height: int, words: str) -> Markup:
    """A chart of bars with its description."""
    return Markup(
        f'<svg viewBox="0 0 {WIDTH} {height}" class="chart" role="img" aria-label="{as_text(words)}">{"".join(drawn)}</svg>'
    )


MIN_DIFFERENCE = 1e-6
"""A thousandth of a nanosecond, in us: there is nothing to draw."""
SHOWN_NAME = 44
"""Characters of a name beside a chart; the table below has it whole."""


_LABEL, _MAP_TOP, _MAP_WIDTH, _ROW = 200, 4, 960, 15
"""Pixels: what names take, what is free above, the whole, a row."""
EMPTY = "heatless"
"""The class of cells without a value."""
_LONGEST_NAME = 26


def heat_map(
    rows: Sequence[str],
    columns: Sequence[str],
    values: Floats,
    *,
    edges: Sequence[float],
    colours: Sequence[str],
    said: str,
) -> Markup:
    """An SVG picture of `values` (rows x columns): the first colour below the first edge, and so on; nan has none.

    Cells of one colour that stand side by side are one.
    """
    chosen = np.where(np.isnan(values), len(colours), np.searchsorted(edges, values, side="right"))
    wide = (_MAP_WIDTH - _LABEL) / max(len(columns), 1)
    paths: dict[int, list[str]] = {}
    for row, line in enumerate(chosen.tolist()):
        start = 0
        for column in range(1, len(line) + 1):
            if column == len(line) or line[column] != line[start]:
                x, y = _LABEL + start * wide, _MAP_TOP + row * _ROW
                width = (column - start) * wide
                paths.setdefault(line[start], []).append(f"M{x:.1f} {y}h{width:.1f}v{_ROW - 1}h-{width:.1f}z")
                start = column
    names = (*colours, EMPTY)
    drawn = [f'<path class="{names[colour]}" d="{"".join(cells)}"/>' for colour, cells in sorted(paths.items())]
    drawn += [
        f'<text class="tick" x="0" y="{_MAP_TOP + row * _ROW + _ROW - 4}">{as_text(_shortened(name))}</text>'
        for row, name in enumerate(rows)
    ]
    bottom = _MAP_TOP + len(rows) * _ROW
    ends = [(_LABEL, "start", columns[0]), (_MAP_WIDTH, "end", columns[-1])]
    drawn += [
        f'<text class="tick" x="{x}" y="{bottom + 14}" text-anchor="{at}">{as_text(name)}</text>'
        for x, at, name in ends
    ]
    return Markup(
        f'<svg viewBox="0 0 {_MAP_WIDTH} {bottom + 18}" role="img" aria-label="{as_text(said)}">{"".join(drawn)}</svg>'
    )


def heat_legend(edges: Sequence[str], colours: Sequence[str]) -> list[tuple[str, str]]:
    """(class of a colour, what it says) of a map, by its edges in words."""
    spans = [f"< {edges[0]}", *(f"{low} … {high}" for low, high in pairwise(edges)), f"> {edges[-1]}"]
    return list(zip(colours, spans, strict=True))


def _shortened(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"
