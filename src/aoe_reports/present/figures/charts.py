"""Charts as PNG files, drawn by matplotlib: the same bytes for the same chart, no text taken for markup."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from itertools import accumulate, pairwise
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.text import Text

from aoe_reports.model.names import shorten_middle
from aoe_reports.model.report import Chart, Ranking, Waterfall
from aoe_reports.model.texts import Language, in_language, in_value
from aoe_reports.present.drawings.of_reports import mark_words
from aoe_reports.present.figures.fonts import BLUE, GREY, RED, drawable, fallbacks, glyphs
from aoe_reports.present.reports.language import drawing_in
from aoe_reports.present.values import plain, wide_characters


@dataclass(frozen=True, slots=True)
class Picture:
    """A chart as a PNG file, and what it shows in words: in English, as everything for programs is."""

    png: bytes
    alt: str
    width: int
    """In pixels, as the height is."""
    height: int


def draw_png(chart: Chart | Ranking | Waterfall, language: Language = "en") -> Picture:
    """The chart as a picture for messages: legible at half its size, its words in the file's metadata, too.

    What the metadata say is in the language; so is what is drawn, where `can_draw` it.
    """
    described = shorten_middle(plain(in_language(chart.description, language)), MAX_ALT)
    drawn = language if can_draw(language) else "en"
    with _fixed_style(_PICTURE):
        figure = _paint(drawing_in(chart, drawn), lambda text: drawable(in_value(text, drawn)))
        FigureCanvasAgg(figure)
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png", metadata={"Software": None, "Description": described})
    wide, high = (round(inches * _DPI) for inches in figure.get_size_inches())
    return Picture(buffer.getvalue(), shorten_middle(plain(chart.description), MAX_ALT), wide, high)


def can_draw(language: Language) -> bool:
    """Whether a font is installed that has a language's characters: without one there would be boxes."""
    return glyphs() >= set(map(ord, in_language(_SAMPLE, language)))


_SAMPLE = "communication"
"""A word that charts show."""


MAX_ALT = 4000
"""Characters: a screen reader says it all."""
_DPI = 100
_PICTURE: dict[Any, Any] = {
    "figure.dpi": _DPI,
    "savefig.dpi": _DPI,
    "figure.figsize": (12, 6),
    "font.family": ["DejaVu Sans"],
    "font.size": 16,  # 11 pixels at half size
    "axes.spines.top": False,
    "axes.spines.right": False,
    "text.parse_math": False,
}
_SUBTITLE_SIZE, _TITLE_SIZE = 15, 20


@contextmanager
def _fixed_style(style: dict[Any, Any]) -> Iterator[None]:
    """Draw with our own style, whatever the user's matplotlibrc says."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(style)
        if len(fallbacks()):
            mpl.rcParams["font.family"] = ["DejaVu Sans", *fallbacks()]
        yield


def _paint(chart: Chart | Ranking | Waterfall, spell: Callable[[str], str]) -> Figure:
    figure = Figure(layout=ConstrainedLayoutEngine(rect=(0.005, 0.01, 0.985, 0.84)))
    axes = figure.add_subplot()
    title = figure.suptitle("", x=0.01, y=0.97, ha="left", va="top", fontsize=_TITLE_SIZE, fontweight="bold")
    subtitle = figure.text(0.01, 0.895, "", ha="left", va="top", fontsize=_SUBTITLE_SIZE, color=GREY)
    _fit(title, spell(chart.title))
    _fit(subtitle, spell(chart.subtitle))
    if isinstance(chart, Chart):
        _paint_history(axes, chart, spell)
    elif isinstance(chart, Ranking):
        _paint_ranking(axes, chart, spell)
    else:
        _paint_waterfall(axes, chart, spell)
    return figure


_LINE_PIXELS, _LINE_CHARACTERS = 1170, 200


def _fit(place: Text, words: str, pixels: float = _LINE_PIXELS) -> None:
    """Put words in a line of the picture, shortened in the middle until they fit."""
    most = min(len(words), _LINE_CHARACTERS)
    place.set_text(shorten_middle(words, most))
    while (taken := _taken(place)) > pixels and most > 1:
        most = min(int(most * pixels / taken), most - 1)
        place.set_text(shorten_middle(words, most))


def _taken(place: Text) -> float:
    """The pixels that a text takes; without a font for Chinese a character is measured as a box, which is narrower."""
    measured = place.get_window_extent().width
    if fallbacks():
        return measured
    return measured + wide_characters(place.get_text()) * _BOX_LACKS * float(place.get_fontsize()) * _DPI / 72


_BOX_LACKS = 0.4
"""The part of a square that the box lacks in width."""


DOTTED = 70
"""Up to so many nights, dots are large."""
GAP_DAYS = 7
"""A week-end, or a holiday, is no gap."""
_DATES = 6


def _paint_history(axes: Axes, chart: Chart, spell: Callable[[str], str]) -> None:
    """Times over days: nights without a run are gaps on the axis, not missing."""
    days = [date.fromisoformat(night).toordinal() for night in chart.nights]
    place = dict(zip(chart.nights, days, strict=True))
    for values in chart.lines.values():
        known = [(day, value) for day, value in zip(days, values, strict=True) if value is not None]
        size = 6 if len(known) <= DOTTED else 3
        axes.plot(*zip(*with_gaps(known), strict=True), color=BLUE, linewidth=2, marker="o", markersize=size)
    for number, (first, last, value) in enumerate(chart.levels):
        ends = [place[first] - 0.5, place[last] + 0.5]
        axes.plot(ends, [value, value], color=RED if number else GREY, linewidth=5, alpha=0.8, solid_capstyle="butt")
    if chart.marked in place:
        at = place[chart.marked] - 0.5
        _paint_mark(axes, at, spell(mark_words(chart)), late=at > (days[0] + days[-1]) / 2)
    span = days[-1] - days[0]
    shown = sorted({days[0] + span * number // (_DATES - 1) for number in range(_DATES)})
    axes.set_xticks(shown, [date.fromordinal(day).isoformat() for day in shown], fontsize=14)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.6g}")
    axes.set_ylabel(spell(chart.unit))
    axes.grid(axis="y", color="#dddddd", linewidth=1)
    axes.set_axisbelow(True)
    low, high = axes.get_ylim()
    axes.set_ylim(low - 0.03 * (high - low), high + 0.12 * (high - low))  # the words at the mark stand above the line


def with_gaps(known: Sequence[tuple[float, float]]) -> Iterator[tuple[float, float]]:
    """Values by day; a line through them is broken where nothing ran."""
    for (earlier, _), (day, value) in pairwise([*known[:1], *known]):
        if day - earlier > GAP_DAYS:
            yield day, math.nan
        yield day, value


def _paint_mark(axes: Axes, at: float, words: str, *, late: bool) -> None:
    """A line where something changed, its words on the side that has more room."""
    axes.axvline(at, color=RED, linestyle="--", linewidth=2)
    axes.annotate(
        words, (at, 1), xycoords=("data", "axes fraction"), xytext=(-8 if late else 8, 0),
        textcoords="offset points", ha="right" if late else "left", va="top", color=RED, fontweight="bold",
    )  # fmt: skip
    axes.margins(x=0.03)


_ACROSS, _LABEL_PIXELS, _WORDS_PIXELS = 1140, 430, 520
"""Pixels: what labels, bars and the words behind them share, and the most that labels and words take of it."""


def _paint_ranking(axes: Axes, chart: Ranking, spell: Callable[[str], str]) -> None:
    places = range(len(chart.values))
    axes.barh(places, chart.values, height=0.7, color=BLUE)
    taken = _name_rows(axes, chart.labels, spell)
    words, needed = _fitted(axes, [spell(word) for word in chart.words], _WORDS_PIXELS)
    for place, value, one in zip(places, chart.values, words, strict=True):
        axes.annotate(
            one, (value, place), xytext=(8, 0), textcoords="offset points", va="center", fontsize=_SUBTITLE_SIZE
        )
    room = _ACROSS - taken
    axes.set_xlim(0, (max([*chart.values, 0]) or 1) * room / (room - needed))
    axes.set_xticks([])
    axes.spines["bottom"].set_visible(False)


def _paint_waterfall(axes: Axes, chart: Waterfall, spell: Callable[[str], str]) -> None:
    """Each part from where the one before ended, then the whole from 0."""
    edges = list(accumulate((size for _, size in chart.parts), initial=0.0))
    starts, whole = edges[:-1], chart.whole[1]
    for place, (start, (_, size)) in enumerate(zip(starts, chart.parts, strict=True)):
        colour, hatch = (RED, "") if size > 0 else (BLUE, "//")
        _paint_part(axes, place, start, size, color=colour, hatch=hatch, fontweight="normal")
        axes.plot([start + size] * 2, [place - 0.33, place + 1.33], color="#999999", linewidth=1)
    _paint_part(axes, len(starts), 0.0, whole, color=GREY, hatch="", fontweight="bold")
    axes.axvline(0, color="black", linewidth=1)
    bars = [*chart.parts, chart.whole]
    across = _ACROSS - _name_rows(axes, [name for name, _ in bars], spell)
    _, needed = _fitted(axes, [f"{size:+,.1f}" for _, size in bars], _WORDS_PIXELS)
    low, high = min(*edges, whole), max(*edges, whole)
    room = (high - low) or 1.0
    axes.set_xlim(low - 0.03 * room, low + room * across / (across - 1.2 * needed))
    axes.spines["left"].set_visible(False)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:+,.6g}" if value else "0")
    axes.set_xlabel(spell(chart.unit))


def _paint_part(axes: Axes, place: int, start: float, size: float, *, color: str, hatch: str, fontweight: str) -> None:
    axes.barh(place, size, left=start, height=0.66, color=color, hatch=hatch, edgecolor="white")
    axes.annotate(
        f"{size:+,.3f}" if abs(size) < 1 else f"{size:+,.1f}",
        (max(start, start + size), place), xytext=(8, 0), textcoords="offset points", va="center",
        fontweight=fontweight, color=color,
    )  # fmt: skip


_MIN_ROWS = 4
"""One bar is not to fill the picture."""


def _name_rows(axes: Axes, labels: Sequence[str], spell: Callable[[str], str]) -> float:
    """Put names beside the bars; returns their width in pixels."""
    names, taken = _fitted(axes, [spell(label) for label in labels], _LABEL_PIXELS)
    axes.set_yticks(range(len(names)), names)
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(max(len(names), _MIN_ROWS) - 0.5, -0.5)
    return taken


def _fitted(axes: Axes, lines: Sequence[str], pixels: float) -> tuple[list[str], float]:
    """Lines shortened to a width in pixels, and the width of the longest."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    probe, fitted, widest = figure.text(0, 0, ""), [], 0.0
    for line in lines:
        _fit(probe, line, pixels)
        fitted.append(probe.get_text())
        widest = max(widest, _taken(probe) + _SPACE)
    probe.remove()
    return fitted, widest


_SPACE = 15
"""Pixels between a bar and its words."""
