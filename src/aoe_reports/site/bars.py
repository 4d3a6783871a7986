"""Bars one below the other, as a list: names and times are text that wraps, so a narrow page needs no other picture."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from markupsafe import Markup

from aoe_reports.model.pictures.waterfall import WaterfallPicture
from aoe_reports.model.texts import in_value
from aoe_reports.present.drawings.waterfall import axis_of, axis_words, legend_of_waterfall, value_of
from aoe_reports.site.cells import words
from aoe_reports.site.texts import Texts

WIDE = 1000
"""Units across."""


class Bar(NamedTuple):
    """One row of a chart: what it is of, its pieces, and the time behind them."""

    label: str
    pieces: Sequence[tuple[str, float, float]]
    """(class, from, to), both as shares of the width."""
    value: str
    said: str = ""
    """What a reader without pictures is told; empty where label and value say everything."""


def bars(rows: Iterable[Bar]) -> Markup:
    """The list."""
    return Markup(f'<ol class="bars">{"".join(map(_row, rows))}</ol>')


def _row(bar: Bar) -> str:
    seen = f'role="img" aria-label="{words(bar.said)}"' if bar.said else 'aria-hidden="true"'
    pieces = "".join(
        f'<rect class="{kind}" x="{WIDE * start:.1f}" width="{max(WIDE * (end - start), 2):.1f}" height="10"/>'
        for kind, start, end in bar.pieces
    )
    return (
        f'<li><span class="what">{words(bar.label)}</span><svg viewBox="0 0 {WIDE} 10" preserveAspectRatio="none" {seen}>'
        f'{pieces}</svg><span class="value">{words(bar.value)}</span></li>'
    )


def stacked_bars(rows: Sequence[tuple[str, Sequence[tuple[str, float]], str, str]]) -> Markup:
    """Wholes of parts on one scale: of each its label, its (class, size) parts, its size in words, and all in a sentence."""
    most = max((sum(size for _, size in parts) for _, parts, _, _ in rows), default=0.0) or 1.0
    made = []
    for label, parts, value, said in rows:
        pieces, start = [], 0.0
        for kind, size in parts:
            if size > 0:
                pieces.append((kind, start / most, (start + size) / most))
                start += size
        made.append(Bar(label, pieces, value, said))
    return bars(made)


class WaterfallFigure(NamedTuple):
    """The change of a step as bars, where they begin, and (class, words) of each kind of bar."""

    bars: Markup
    axis: str
    legend: Sequence[tuple[str, str]]


def waterfall_figure(picture: WaterfallPicture, text: Texts) -> WaterfallFigure:
    """What a page shows of a picture."""
    axis = text.translated(axis_words(picture))
    return WaterfallFigure(waterfall_bars(picture, text), axis, legend_of_waterfall(picture, text.language))


def waterfall_bars(picture: WaterfallPicture, text: Texts) -> Markup:
    """The change of a step: the step before, each part from where the one above it ends, the step after."""
    begin, most = axis_of(picture)
    scale = max(most - begin, 1)

    def at(level: int) -> float:
        return (max(level, begin) - begin) / scale

    return bars(
        Bar(
            str(in_value(bar.label, text.language)),
            [(bar.kind, at(min(bar.start, bar.end)), at(max(bar.start, bar.end)))],
            value_of(bar, picture.unit),
        )
        for bar in picture.bars
    )
