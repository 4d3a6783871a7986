"""Charts as SVG, drawn by matplotlib: the same bytes for the same chart, no text taken for markup."""

from __future__ import annotations

import io
import warnings
from typing import Any

import matplotlib as mpl
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from aoe_reports.renderers.values import plain
from aoe_reports.reports.report import Chart

_STYLE: dict[Any, Any] = {
    "svg.hashsalt": "aoe-reports",
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "text.parse_math": False,
}
MAX_LABELS = 10


def draw(chart: Chart) -> str:
    """The chart as an SVG document."""
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
        buffer = io.StringIO()
        FigureCanvasSVG(figure)
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    return buffer.getvalue()
