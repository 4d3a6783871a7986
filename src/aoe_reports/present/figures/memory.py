"""The plot of memory: curves over time, and below them who held the peak."""

from __future__ import annotations

from matplotlib.axes import Axes

from aoe_reports.engine.question import Answer
from aoe_reports.model.pictures.memory import MemoryPicture, PartKind
from aoe_reports.model.size_units import size_unit, size_words
from aoe_reports.model.texts import say
from aoe_reports.model.topics.memory import Measure
from aoe_reports.model.topics.memory_words import MEASURE_WORDS
from aoe_reports.present.drawings.memory import peak_words
from aoe_reports.present.figures.fonts import BLUE, GREEN, GREY, ORANGE, PINK, RED, SKY
from aoe_reports.present.figures.plot import Sheet, unit_for, with_unit

_COLOURS: dict[Measure, str] = {"reserved": GREY, "active": ORANGE, "allocated": BLUE}
_LINES: dict[Measure, str] = {"reserved": "-", "active": "--", "allocated": "-"}
_OWNERS = (BLUE, ORANGE, GREEN, PINK, RED, SKY)
_OTHERS: dict[PartKind, str] = {"others": GREY, "before": "#bbbbbb", "unexplained": "#eeeeee"}


def draw_memory(answer: Answer, sheet: Sheet) -> None:
    """The memory of the device with the highest peak: a line for each measure, and a bar whose parts add up to the peak."""
    (picture,) = answer.pictures
    assert isinstance(picture, MemoryPicture)
    sheet.axes.remove()
    sheet.plot.set_size_inches(9, 6)
    above, below = sheet.plot.subplots(2, 1, height_ratios=(5, 1))
    _draw_curves(picture, above, sheet)
    _draw_parts(picture, below, sheet)
    described = [say("{owner}: {size}", owner=part.label, size=size_words(part.size_bytes)) for part in picture.parts]
    sheet.describe(picture.title, [peak_words(picture)], described)


def _draw_curves(picture: MemoryPicture, axes: Axes, sheet: Sheet) -> None:
    scale, unit = size_unit(max([picture.peak_bytes, *(int(curve.size_bytes.max()) for curve in picture.curves)]))
    ns, time = unit_for(picture.duration_ns) if picture.has_clock else (1, "")
    for curve in picture.curves:
        colour, line = _COLOURS[curve.measure], _LINES[curve.measure]
        label = sheet.words(say(MEASURE_WORDS[curve.measure]))
        axes.step(
            curve.at_ns / ns, curve.size_bytes / scale, where="post", color=colour, linestyle=line, linewidth=1.2, label=label
        )  # fmt: skip
    for step in picture.steps:
        axes.axvline(step.start_ns / ns, color=GREY, linestyle=":", linewidth=0.8)
    axes.plot([picture.peak_ns / ns], [picture.peak_bytes / scale], color=RED, marker="o", linestyle="none")
    axes.set_ylim(bottom=0)
    axes.set_ylabel(sheet.words(with_unit(say("Memory"), unit)))
    axes.set_xlabel(sheet.words(with_unit(say("Time"), time) if picture.has_clock else say("Events")))
    axes.legend(loc="best", frameon=False)


def _draw_parts(picture: MemoryPicture, axes: Axes, sheet: Sheet) -> None:
    """What is below 0 is named and takes no room."""
    scale, unit = size_unit(picture.peak_bytes)
    begin = 0.0
    for place, part in enumerate(picture.parts):
        length = max(part.size_bytes, 0) / scale
        colour = _OWNERS[place] if part.kind == "owner" else _OTHERS[part.kind]
        label = f"{sheet.label(part.label)}  {size_words(part.size_bytes)}"
        axes.barh(0, length, left=begin, color=colour, edgecolor="white", label=label)
        begin += length
    axes.set_yticks([])
    axes.set_xlabel(sheet.words(with_unit(say("Held at the peak"), unit)))
    if picture.parts:
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -1), ncols=2, frameon=False, fontsize=8)
