"""Draws the pictures of docs/detection.md with the detector itself: python docs/pictures.py (same input, same bytes)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from aoe_reports.history.detection.detector import detect_changes
from aoe_reports.stats.budget import SERIES_RATE, Budget
from aoe_reports.stats.run_lengths import FITS, LOOKS, SUSPICIONS

DOCS = Path(__file__).parent
NEAR = 40
"""A drift is told within so many nights of where it began."""
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 760, 320, 56, 16, 40, 44
GREY, BLUE, RED, AMBER, GREEN = "#667085", "#1f5fbf", "#c0362c", "#b7791f", "#2f7d4f"
Floats = NDArray[np.float64]
Point = tuple[float, float]


class Plot:
    """Axes with linear scales, and what is drawn into them."""

    def __init__(self, title: str, x: Point, y: Point, names: tuple[str, str]) -> None:
        self.title, self.x, self.y, self.names = title, x, y, names
        self.parts: list[str] = []

    def at(self, x: float, y: float) -> str:
        """Where a point lies, as `x,y`."""
        across = LEFT + (x - self.x[0]) / (self.x[1] - self.x[0]) * (WIDTH - LEFT - RIGHT)
        down = HEIGHT - BOTTOM - (y - self.y[0]) / (self.y[1] - self.y[0]) * (HEIGHT - TOP - BOTTOM)
        return f"{across:.1f},{down:.1f}"

    def dots(self, points: Iterable[Point], colour: str, radius: float = 2.2) -> None:
        """Filled circles."""
        for point in points:
            across, down = self.at(*point).split(",")
            self.parts.append(f'<circle cx="{across}" cy="{down}" r="{radius}" fill="{colour}"/>')

    def line(self, points: Sequence[Point], colour: str, width: float = 2, dashed: bool = False) -> None:
        """A line through points."""
        dashes = ' stroke-dasharray="5 4"' if dashed else ""
        way = " ".join(self.at(*point) for point in points)
        self.parts.append(f'<polyline points="{way}" fill="none" stroke="{colour}" stroke-width="{width}"{dashes}/>')

    def text(self, x: float, y: float, words: str, colour: str = GREY, anchor: str = "start", up: float = 0) -> None:
        """Words beside a point, `up` pixels above it."""
        across, down = self.at(x, y).split(",")
        self.parts.append(
            f'<text x="{across}" y="{float(down) - up:.1f}" fill="{colour}" text-anchor="{anchor}">{escape(words)}</text>'
        )

    def write(
        self, path: Path, x_ticks: Iterable[Point | tuple[float, str]], y_ticks: Iterable[tuple[float, str]]
    ) -> None:
        """The picture as a file."""
        frame = Plot("", self.x, self.y, ("", ""))
        for value, label in y_ticks:
            frame.line([(self.x[0], value), (self.x[1], value)], "#e4e7ec", 1)
            frame.text(self.x[0], value, f"{label} ", anchor="end", up=-4)
        for value, label in x_ticks:
            frame.text(value, self.y[0], str(label), anchor="middle", up=-16)
        frame.text(self.x[1], self.y[0], self.names[0], anchor="end", up=-34)
        frame.text(self.x[0], self.y[1], self.names[1], up=8)
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
            f'font-family="sans-serif" font-size="12">\n<title>{escape(self.title)}</title>\n'
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>\n'
        )
        path.write_text(head + "\n".join([*frame.parts, *self.parts]) + "\n</svg>\n", encoding="utf-8")


def first_night(values: Floats, night: int, *, drift: bool = False) -> int:
    """The night in which a slow-down since about `night` is told first (drift: called so)."""
    for end in range(night + 1, len(values) + 1):
        for change in detect_changes(values[max(0, end - 120) : end])[0].changes:
            since = change.night + max(0, end - 120)
            if change.change > 0 and abs(since - night) <= NEAR and (change.state == "drift" or not drift):
                return end - 1
    raise ValueError(f"no slow-down since night {night} is told")


def draw_steps(path: Path) -> None:
    """A slow-down, its end, a spike, and a suspicion, night by night."""
    values = 100 * (1 + 0.01 * np.random.default_rng(5).standard_normal(120))
    values[60:90] *= 1.05
    values[30] *= 1.12
    values[118:] *= 1.05
    (verdict,) = detect_changes(values)
    plot = Plot("A series with its levels, suspicions and confirmations", (0, 124), (96, 117), ("night", "step, ms"))
    suspected = [end for end in range(20, 121) if detect_changes(values[:end])[0].suspect is not None]
    plot.dots(((night, value) for night, value in enumerate(values)), GREY)
    plot.dots(((end - 1, values[end - 1]) for end in suspected), AMBER, 4)
    edges = [0, *(change.night for change in verdict.changes), 120]
    levels = [verdict.changes[0].before, *(change.after for change in verdict.changes)]
    for (begin, end), level in zip(pairwise(edges), levels, strict=True):
        plot.line([(begin, level), (end, level)], BLUE)
    for change in verdict.changes:
        colour = RED if change.state == "confirmed" else GREEN
        words = f"{change.state} since night {change.night}: {100 * change.change:+.1f}%"
        plot.line([(change.night, 96), (change.night, 113.5)], colour, 1, dashed=True)
        plot.text(change.night, 113.5, words, colour, anchor="end" if colour == RED else "start", up=4)
    told = first_night(values, 60)
    plot.line([(told, 96), (told, 99.5)], RED, 3)
    plot.text(told + 1, 97, f"told in night {told}", RED)
    plot.text(31, values[30], " one night: a suspicion, later a spike", AMBER, up=-4)
    plot.text(118, values[119], "two nights agree: suspect ", AMBER, anchor="end", up=-4)
    ticks = [(night, str(night)) for night in range(0, 121, 20)]
    plot.write(path, ticks, [(ms, str(ms)) for ms in range(96, 117, 4)])


def draw_thresholds(path: Path) -> None:
    """Rates of false alarms against thresholds: the lines of the table, and what was counted."""
    plot = Plot(
        "False alarms of quiet series against the threshold",
        (8, 30),
        (-4, 0.5),
        ("threshold (squared standard scores)", "false alarms a series and year"),
    )
    lines = [
        *((fit, f"memory {fit.memory:g}", colour) for fit, colour in zip(FITS, (BLUE, GREEN, RED), strict=True)),
        (SUSPICIONS, "suspicions", AMBER),
        (LOOKS, "one look (a history)", GREY),
    ]
    for place, (fit, name, colour) in enumerate(lines):
        ends = [
            max(8.0, (fit.intercept - 0.5 * math.log(10)) / fit.slope),
            min(30.0, (fit.intercept + 4 * math.log(10)) / fit.slope),
        ]
        plot.line(
            [(x, (fit.intercept - fit.slope * x) / math.log(10)) for x in ends],
            colour,
            2,
            dashed=fit in {SUSPICIONS, LOOKS},
        )
        plot.dots(((x, math.log10(count / years)) for x, count, years in fit.measured if count), colour, 3.5)
        plot.text(30, 0.25 - 0.3 * place, name, colour, anchor="end")
    plot.line([(8, math.log10(SERIES_RATE)), (30, math.log10(SERIES_RATE))], "#101828", 1, dashed=True)
    needed = Budget(SERIES_RATE).threshold(0.0)
    plot.text(8.2, math.log10(SERIES_RATE), "10 per 1,000 series-years", "#101828", up=-14)
    plot.line([(needed, -4), (needed, math.log10(SERIES_RATE))], BLUE, 1, dashed=True)
    plot.text(needed, -4, f"needs {needed:.1f} without memory ", BLUE, anchor="end", up=6)
    plot.write(path, [(x, str(x)) for x in range(10, 31, 5)], [(y, f"{10.0**y:g}") for y in range(-4, 1)])


def draw_drift(path: Path) -> None:
    """A series that gets slower bit by bit, its stairs, and the slope that explains them better."""
    nights = np.arange(160)
    values = (
        100 * (1 + 0.01 * np.random.default_rng(8).standard_normal(160)) * (1 + 0.1 * np.clip((nights - 60) / 60, 0, 1))
    )
    seen = 130
    change = next(one for one in detect_changes(values[10:seen])[0].changes if one.state == "drift")
    plot = Plot("A drift, the stairs that were proved, and the slope", (0, 164), (96, 116), ("night", "step, ms"))
    plot.dots(((night, value) for night, value in enumerate(values)), GREY)
    begin, end = change.night + 10, change.until + 10
    edges = [begin, *(step + 10 for step in change.steps), end]
    for first, last in pairwise(edges):
        if last > first:
            middle = float(np.median(values[first:last]))
            plot.line([(first, middle), (last, middle)], BLUE, 1.5, dashed=True)
    plot.line([(begin, change.before), (end, change.after)], RED, 2.5)
    told, called = first_night(values, 70), first_night(values, 70, drift=True)
    for night, words, colour, up in (
        (told, f"slower: told in night {told}", BLUE, 4),
        (called, f"called drift in night {called}", RED, 20),
    ):
        plot.line([(night, 96), (night, 114)], colour, 1, dashed=True)
        plot.text(night, 114, f"{words} ", colour, anchor="end", up=up - 12)
    plot.text(
        159, 97, f"as seen in night {seen - 1}: {100 * change.change:+.1f}% since night {begin}", RED, anchor="end"
    )
    plot.write(path, [(night, str(night)) for night in range(0, 161, 20)], [(ms, str(ms)) for ms in range(96, 117, 4)])


def main() -> None:
    """Draw all."""
    draw_steps(DOCS / "detection-steps.svg")
    draw_thresholds(DOCS / "detection-thresholds.svg")
    draw_drift(DOCS / "detection-drift.svg")


if __name__ == "__main__":
    main()
