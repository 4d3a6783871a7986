"""Memory as SVG: curves over time with steps and the peak, and a stacked bar of who held it then. No script, no style in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from aoe_reports.model.names import shorten_middle
from aoe_reports.model.pictures.memory import MemoryCurve, MemoryPicture, OwnerBar
from aoe_reports.model.size_units import size_unit, size_words
from aoe_reports.model.texts import Language, Text, count_of, in_language, in_value, join, say
from aoe_reports.model.time_units import time_words, unit_of
from aoe_reports.model.topics.memory_words import MEASURE_WORDS
from aoe_reports.present.drawings.charts import round_values
from aoe_reports.present.drawings.step import WIDTH, Drawn, words

_LINE = 32
"""Pixels of a line of text: on a small screen a letter has 26."""
_HEIGHT, _BAR, _BETWEEN = 300, 34, 12
_KEY, _SWATCH = 336, 20
_LABEL_CHARACTERS = 50
_LEFT = 130
"""Pixels left of the curves, for sizes."""
_STEP_ROOM, _LINE_ROOM = 100, 4
"""Pixels that the label of a step takes, and that lines between steps are apart at least."""
_ROOM_ABOVE = 1.06
"""The axis ends a little above the largest size."""
_DESCRIBED = 5


def draw_memory(picture: MemoryPicture, language: Language) -> Drawn:
    """The legend, the curves, the bar and its parts; exact sizes are in titles."""
    parts: list[str] = []
    y = 0
    if picture.curves:
        parts += [*_legend(picture.curves, language), *_chart(picture, _LINE, language)]
        y = 3 * _LINE + _HEIGHT + _LINE + _BETWEEN
    if picture.parts:
        y += _LINE
        parts.append(_said(0, y - 8, in_language(_bar_words(picture), language)))
        parts += _stacked(picture.parts, y, language)
        y += _BAR + _LINE * len(picture.parts) + _BETWEEN
    count = sum(len(curve.at_ns) for curve in picture.curves) + len(picture.parts)
    return Drawn("".join(parts), y, count, count)


def description_of_memory(picture: MemoryPicture) -> Text:
    """What the picture shows, for those who do not see it."""
    held = [
        say("{owner}: {size}", owner=part.label, size=size_words(part.size_bytes))
        for part in picture.parts[:_DESCRIBED]
    ]
    measure = say(MEASURE_WORDS[picture.measure])
    peak = say("Memory over time; {measure}: {peak}.", measure=measure, peak=peak_words(picture))
    return join(" ", [peak, say("Held then by {owners}.", owners=join("; ", held))]) if held else peak


def _bar_words(picture: MemoryPicture) -> Text:
    return say("Held at the peak: {size}", size=size_words(picture.peak_bytes))


def _said(x: float, y: float, text: str, side: str = "") -> str:
    return f'<text class="said{side}" x="{x:.4g}" y="{y:.4g}">{words(text)}</text>'


def _legend(curves: Sequence[MemoryCurve], language: Language) -> Iterator[str]:
    """What each line is, above the chart."""
    for place, curve in enumerate(curves):
        x = place * _KEY
        word = in_language(say(MEASURE_WORDS[curve.measure]), language)
        yield f'<path class="curve {curve.measure}" d="M{x} 18h{_SWATCH + 8}"/>{_said(x + _SWATCH + 16, 24, word)}'


class _Axes:
    """Positions of times and sizes below a line of the picture."""

    def __init__(self, picture: MemoryPicture, top: int) -> None:
        self.most = max([picture.peak_bytes, *(int(curve.size_bytes.max()) for curve in picture.curves), 1])
        self.top, self.bottom = top, top + _HEIGHT
        self._across = (WIDTH - _LEFT) / max(picture.duration_ns, 1)
        self._down = _HEIGHT / (self.most * _ROOM_ABOVE)

    def x(self, at_ns: int) -> float:
        return _LEFT + at_ns * self._across

    def y(self, size_bytes: float) -> float:
        return self.bottom - size_bytes * self._down


def _chart(picture: MemoryPicture, top: int, language: Language) -> Iterator[str]:
    """A line with the peak, one with the steps, and the curves below them."""
    axes = _Axes(picture, top + 2 * _LINE)
    yield from _steps(picture, axes, language)
    scale, unit = size_unit(axes.most)
    sizes = [(size, axes.y(size * scale)) for size in round_values(0, axes.most / scale)]
    yield from (f'<path class="grid" d="M{_LEFT} {y:.1f}H{WIDTH}"/>' for _, y in sizes)
    yield from _curves(picture, axes)
    yield from (_said(_LEFT - 8, y + 8, f"{size:,.6g} {unit}", " end") for size, y in sizes if size)
    yield from _times(picture, axes, language)
    yield from _peak(picture, axes, language)


def _times(picture: MemoryPicture, axes: _Axes, language: Language) -> Iterator[str]:
    """Round times below the curves; numbers of events where the source has no times."""
    scale, unit = unit_of(picture.duration_ns) if picture.has_clock else (1, in_language(say("events"), language))
    for time in round_values(0, picture.duration_ns / scale):
        x = axes.x(round(time * scale))
        side = "" if x < _LEFT + _STEP_ROOM else " end" if x > WIDTH - _STEP_ROOM else " middle"
        yield f'<path class="grid" d="M{x:.1f} {axes.bottom}v6"/>{_said(x, axes.bottom + 26, f"{time:,.6g} {unit}", side)}'


def _steps(picture: MemoryPicture, axes: _Axes, language: Language) -> Iterator[str]:
    """A line where each step begins, and its number where there is room."""
    line = label = float("-inf")
    for step in picture.steps:
        x = axes.x(step.start_ns)
        if x - line >= _LINE_ROOM:
            yield f'<path class="boundary" d="M{x:.1f} {axes.top}V{axes.bottom}"/>'
            line = x
        if step.number is not None and x - label >= _STEP_ROOM and x <= WIDTH - _STEP_ROOM:
            name = in_language(say("step {step}", step=step.number), language)
            yield _said(x + 4, axes.top - 8, name)
            label = x


def _curves(picture: MemoryPicture, axes: _Axes) -> Iterator[str]:
    """Lines of steps; below what is allocated all is filled."""
    for curve in picture.curves:
        path = _path(curve, picture.duration_ns, axes)
        if curve.measure == "allocated":
            begin = axes.x(int(curve.at_ns[0]))
            yield f'<path class="filled" d="{path}V{axes.bottom}H{begin:.1f}z"/>'
        yield f'<path class="curve {curve.measure}" d="{path}"/>'


def _path(curve: MemoryCurve, duration_ns: int, axes: _Axes) -> str:
    """Each size until the next time; the last until the end."""
    points = list(zip(curve.at_ns.tolist(), curve.size_bytes.tolist(), strict=True))
    parts = [f"M{axes.x(points[0][0]):.1f} {axes.y(points[0][1]):.1f}"]
    for (_, before), (at_ns, size) in pairwise(points):
        parts.append(f"H{axes.x(at_ns):.1f}" + (f"V{axes.y(size):.1f}" if size != before else ""))
    return "".join(parts) + f"H{axes.x(duration_ns):.1f}"


def _peak(picture: MemoryPicture, axes: _Axes, language: Language) -> Iterator[str]:
    """A mark on the curve, and above the steps what it is."""
    x, y = axes.x(picture.peak_ns), axes.y(picture.peak_bytes)
    side, aside = (" end", 6) if x > WIDTH / 2 else ("", -6)
    exact = say("{size:,} bytes at +{time}", size=picture.peak_bytes, time=_time_of(picture, exact=True))
    yield (
        f'<path class="boundary" d="M{x:.1f} {axes.top}V{y:.1f}"/>'
        f'<circle class="peak" cx="{x:.1f}" cy="{y:.1f}" r="6"><title>{words(in_language(exact, language))}</title></circle>'
        f"{_said(x + aside, axes.top - _LINE - 8, in_language(peak_words(picture), language), side)}"
    )


def peak_words(picture: MemoryPicture) -> Text:
    """How high the peak is, and when it was."""
    size = size_words(picture.peak_bytes)
    return say("peak {size} at +{time}", size=size, time=_time_of(picture))


def _time_of(picture: MemoryPicture, *, exact: bool = False) -> Text | str:
    if not picture.has_clock:
        return count_of(picture.peak_ns, "{number} event", "{number} events")
    return f"{picture.peak_ns / 1000:,.3f} us" if exact else time_words(picture.peak_ns)


def _stacked(parts: Sequence[OwnerBar], y: int, language: Language) -> Iterator[str]:
    """A bar of all parts, and below it each with its colour, its size and its share."""
    whole = sum(part.size_bytes for part in parts)
    drawn = sum(max(part.size_bytes, 0) for part in parts)
    x = 0.0
    for place, part in enumerate(parts):
        kind = f"part-{place}" if part.kind == "owner" else f"part-{part.kind}"
        label = str(in_value(part.label, language))
        title = words(f"{label}: {part.size_bytes:,} B")
        wide = max(part.size_bytes, 0) * WIDTH / max(drawn, 1)
        yield f'<rect class="{kind}" x="{x:.2f}" y="{y}" width="{wide:.2f}" height="{_BAR}"><title>{title}</title></rect>'
        x += wide
        top = y + _BAR + _LINE * place
        share = f"{size_words(part.size_bytes)}, {part.size_bytes / max(whole, 1):.1%}"
        yield (
            f'<rect class="{kind}" x="0" y="{top + 8}" width="{_SWATCH}" height="{_SWATCH}"/>'
            f'<text class="said" x="{_SWATCH + 10}" y="{top + 24}"><title>{title}</title>{words(shorten_middle(label, _LABEL_CHARACTERS))}</text>'
            f"{_said(WIDTH, top + 24, share, ' end')}"
        )
