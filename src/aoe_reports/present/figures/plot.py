"""A plot of an answer: a figure of matplotlib without pyplot, in the reader's own style, that says in words what it shows."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from aoe_reports.model.names import shorten_middle
from aoe_reports.model.texts import Language, Text, in_value, join, say
from aoe_reports.model.time_units import TIME_UNITS
from aoe_reports.present.figures.charts import MAX_ALT, can_draw
from aoe_reports.present.figures.fonts import drawable, fallbacks
from aoe_reports.present.values import plain

_LABEL_CHARACTERS, _CHARACTERS_AN_INCH = 48, 11
_DESCRIBED = 8
"""So many parts of a plot are in its words."""


class Plot(Figure):
    """A figure to be styled, saved and shown like any of matplotlib; `alt` says in words what it shows, as notebooks do, too."""

    alt: str = ""

    def _repr_png_(self) -> bytes:
        """The picture for notebooks without HTML."""
        buffer = io.BytesIO()
        self.savefig(buffer, format="png", metadata={"Software": None, "Description": self.alt})
        return buffer.getvalue()

    def _repr_html_(self) -> str:
        picture = base64.b64encode(self._repr_png_()).decode()
        return f'<img src="data:image/png;base64,{picture}" alt="{escape(self.alt)}" style="max-width: 100%">'


@dataclass(frozen=True, slots=True)
class Sheet:
    """What a painter draws on: how many rows it may draw, and in which language."""

    plot: Plot
    axes: Axes
    top: int
    language: Language

    def words(self, text: object) -> str:
        """Text as it can be drawn: what no font has is spelled out."""
        return drawable(str(in_value(text, self.language)))

    def label(self, text: object) -> str:
        """The same, as long as fits beside a bar."""
        return shorten_middle(self.words(text), _LABEL_CHARACTERS)

    def describe(self, title: str, about: Sequence[str] = (), parts: Sequence[str] = ()) -> None:
        """Title, what it is about below it, and all of it with the parts that are drawn as words."""
        lines = [self.words(title), *([self.words(join(" · ", about))] if about else [])]
        most = round(self.plot.get_figwidth() * _CHARACTERS_AN_INCH)
        self.plot.suptitle("\n".join(shorten_middle(line, most) for line in lines), x=0.01, ha="left", fontsize=11)
        description = join("; ", [join(" · ", [title, *about]), *parts[:_DESCRIBED]])
        self.plot.alt = shorten_middle(plain(str(in_value(description, self.language))), MAX_ALT)

    def grow(self, rows: int) -> None:
        """Set the height for a number of bars."""
        self.plot.set_size_inches(9, 1.8 + 0.32 * max(rows, 3))

    def split(self, rows: Sequence[int]) -> list[Axes]:
        """Axes below one another with so many bars each, in place of the one."""
        self.grow(sum(rows))
        if len(rows) == 1:
            return [self.axes]
        self.axes.remove()
        self.plot.set_figheight(self.plot.get_figheight() + 0.8 * (len(rows) - 1))
        return [*self.plot.subplots(len(rows), 1, height_ratios=rows)]

    def name_rows(self, labels: Sequence[object]) -> None:
        """Put names beside bars, the first on top."""
        self.axes.set_yticks(range(len(labels)), [self.label(label) for label in labels])
        self.axes.set_ylim(max(len(labels), 3) - 0.5, -0.5)


@contextmanager
def new_sheet(top: int, language: Language) -> Iterator[Sheet]:
    """An empty plot in the reader's own style; words are in the language where a font for it is installed."""
    family = mpl.rcParams["font.family"]
    style: dict[Any, Any] = {
        "font.family": [*([family] if isinstance(family, str) else family), "DejaVu Sans", *fallbacks()],
        "text.parse_math": False,
        "axes.spines.top": False,
        "axes.spines.right": False,
    }
    with mpl.rc_context(style):
        plot = Plot(figsize=(9, 4.5), layout="constrained")
        yield Sheet(plot, plot.add_subplot(), top, language if can_draw(language) else "en")


def unit_for(*times_ns: float) -> tuple[int, str]:
    """(ns, name) of the unit that the largest of some times asks for."""
    largest = max(map(abs, times_ns), default=0)
    return next((one for one in TIME_UNITS if largest >= one[0]), TIME_UNITS[-1])


def with_unit(title: str, unit: str) -> Text:
    """What an axis shows."""
    return say("{what} ({unit})", what=title, unit=unit)


def longest_of(shown: int, count: int) -> list[Text]:
    """That not all rows are drawn, where that is so."""
    return [] if shown == count else [say("the longest {shown} of {count}", shown=shown, count=count)]


def place_of(run: str | None, rank_id: int | None, device_id: int | None = None) -> list[Text]:
    """Whose rows are drawn."""
    words = [] if run is None else [say("run {run}", run=run)]
    if rank_id is not None:
        words.append(say("rank {rank}", rank=rank_id))
    if device_id is not None:
        words.append(say("device {device}", device=device_id))
    return words
