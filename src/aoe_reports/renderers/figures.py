"""Charts as SVG, drawn by matplotlib: the same bytes for the same chart, no text taken for markup."""

from __future__ import annotations

import io
import warnings
from typing import Any

import matplotlib as mpl
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from aoe_reports.renderers.values import plain
from aoe_reports.reports.report import BarChart, Chart

_STYLE: dict[Any, Any] = {
    "svg.hashsalt": "aoe-reports",
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "text.parse_math": False,
}
MAX_LABELS = 10


def draw(chart: Chart | BarChart) -> str:
    """The chart as an SVG document."""
    return _draw_bars(chart) if isinstance(chart, BarChart) else _draw_lines(chart)


def _draw_bars(chart: BarChart) -> str:
    """Horizontal bars, the first label on top: names of operators are long."""
    with mpl.rc_context(_STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        count, width = len(chart.labels), 0.8 / max(len(chart.bars), 1)
        figure = Figure(figsize=(9, 1.2 + 0.35 * count), layout="constrained")
        axes = figure.add_subplot()
        for number, (name, values) in enumerate(chart.bars.items()):
            places = [place + (number - (len(chart.bars) - 1) / 2) * width for place in range(count)]
            axes.barh(places, [0.0 if v is None else v for v in values], height=width * 0.9, label=plain(name))
            for place, ends in zip(places, chart.intervals.get(name, ()), strict=False):
                if ends is not None:
                    axes.plot(list(ends), [place, place], color="black", linewidth=1)
        axes.axvline(0, color="black", linewidth=0.8)
        axes.set_yticks(range(count), [_short(plain(label)) for label in chart.labels], fontsize=8)
        axes.invert_yaxis()
        axes.set_xlabel(plain(chart.unit))
        axes.set_title(plain(chart.title), fontsize=10, loc="left")
        figure.legend(fontsize=8, frameon=False, loc="outside upper right", ncols=len(chart.bars))
        return _as_svg(figure)


def _short(label: str) -> str:
    """A long name keeps its end, which tells names apart."""
    return label if len(label) <= MAX_LABEL else "…" + label[-(MAX_LABEL - 1) :]


MAX_LABEL = 48


def _as_svg(figure: Figure) -> str:
    buffer = io.StringIO()
    FigureCanvasSVG(figure)
    figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    return buffer.getvalue()


def _draw_lines(chart: Chart) -> str:
    with mpl.rc_context(_STYLE), warnings.catch_warnings():
        # the reader's own fonts draw the text; that the one for measuring lacks Chinese is no news to anybody
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        figure = Figure(figsize=(9, 3), layout="constrained")
        axes = figure.add_subplot()
        places = range(len(chart.nights))
        for name, values in chart.lines.items():
            axes.plot(
                places, [float("nan") if v is None else v for v in values], marker="o", markersize=3, label=plain(name)
            )
        if chart.marked is not None and chart.marked in chart.nights:
            at = list(chart.nights).index(chart.marked)
            axes.axvline(at - 0.5, color="tab:red", linestyle="--", linewidth=1)
            axes.annotate(
                plain(f"since {chart.marked}"),
                (at - 0.5, 1),
                xycoords=("data", "axes fraction"),
                xytext=(-4, -4),
                textcoords="offset points",
                ha="right",
                va="top",
                color="tab:red",
                fontsize=8,
            )
        step = max(1, -(-len(chart.nights) // MAX_LABELS))
        axes.set_xticks(
            list(places)[::step], [plain(night) for night in chart.nights[::step]], rotation=30, ha="right", fontsize=8
        )
        axes.set_ylabel(plain(chart.unit))
        axes.set_title(plain(chart.title), fontsize=10, loc="left")
        return _as_svg(figure)
