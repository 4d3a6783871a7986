"""A roofline as SVG: FLOP/s over FLOP per byte, both logarithmic; a circle for each operator. No script, no style in it."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, floor, log10, sqrt

from aoe_reports.model.pictures.roofline import POINT_WORDS, RooflinePicture, RooflinePoint
from aoe_reports.model.texts import Language, Text, count_of, in_language, join, say
from aoe_reports.present.drawings.step import WIDTH, Drawn, words

_LEFT, _RIGHT, _TOP, _HEIGHT = 76, 12, 14, 420
"""Pixels: beside and above the plot, and its height."""
_BELOW = 44
_MIN_RADIUS, _MAX_RADIUS = 3.0, 16.0
"""Pixels: the radius of an operator that takes next to nothing, and of one that takes all of the time."""
_PREFIXES = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))


class _Axes:
    """Positions of values: the axes span whole decades around all points."""

    def __init__(self, picture: RooflinePicture) -> None:
        intensities = [point.intensity for point in picture.points]
        rates = [point.flops_per_s for point in picture.points] + [roof.flops_per_s for roof in picture.roofs]
        if picture.bytes_per_s is not None:
            intensities += [roof.flops_per_s / picture.bytes_per_s for roof in picture.roofs]
        self.x = _decades(intensities)
        self.y = _decades(rates)

    def at(self, intensity: float, flops_per_s: float) -> tuple[float, float]:
        """Pixels of a place in the plot."""
        x = (log10(intensity) - self.x[0]) / (self.x[1] - self.x[0])
        y = (log10(flops_per_s) - self.y[0]) / (self.y[1] - self.y[0])
        return _LEFT + x * (WIDTH - _LEFT - _RIGHT), _TOP + (1 - y) * _HEIGHT


def _decades(values: list[float]) -> tuple[int, int]:
    known = [value for value in values if value > 0] or [1.0]
    first, last = floor(log10(min(known))), ceil(log10(max(known)) + 0.05)
    return first, max(last, first + 1)


def draw_roofline(picture: RooflinePicture, language: Language) -> Drawn:
    """Roofs, operators, axes; exact figures are in titles."""
    axes = _Axes(picture)
    parts = [*_grid(axes, language), *_roofs(picture, axes)]
    order = sorted(picture.points, key=lambda one: -one.share)  # the small ones above the large
    parts += [_circle(one, axes, language) for one in order]
    if picture.left_out:
        note = count_of(
            picture.left_out, "{number} row without FLOPs is not drawn", "{number} rows without FLOPs are not drawn"
        )
        parts.append(f'<text class="tick end" x="{WIDTH}" y="-8">{words(in_language(note, language))}</text>')
    return Drawn("".join(parts), _TOP + _HEIGHT + _BELOW, len(picture.points), len(picture.points) + picture.left_out)


_DESCRIBED = 5
"""So many operators are in words, those of most time."""


def description_of_roofline(picture: RooflinePicture) -> Text:
    """What the picture shows, for who does not see it."""
    roofs = join(", ", [f"{roof.label} {amount(roof.flops_per_s)}FLOP/s" for roof in picture.roofs])
    memory = "" if picture.bytes_per_s is None else say(", memory {rate}B/s", rate=amount(picture.bytes_per_s))
    most = sorted(picture.points, key=lambda one: -one.share)[:_DESCRIBED]
    return say(
        "FLOP/s over FLOP per byte, both logarithmic. Roofs: {roofs}{memory}. {operators}.",
        roofs=roofs or say("not known"),
        memory=memory,
        operators=join("; ", map(_told, most)) if most else say("No operator with known FLOPs"),
    )


def legend_of_roofline(picture: RooflinePicture, language: Language) -> list[tuple[str, str]]:
    """(class, words) of each kind of operator that is drawn, in order."""
    drawn = {point.kind for point in picture.points}
    return [(f"roof-{kind}", in_language(words, language)) for kind, words in POINT_WORDS.items() if kind in drawn]


def _grid(axes: _Axes, language: Language) -> Iterator[str]:
    left, right, bottom = _LEFT, WIDTH - _RIGHT, _TOP + _HEIGHT
    for decade in range(axes.x[0], axes.x[1] + 1):
        x = axes.at(10.0**decade, 10.0 ** axes.y[0])[0]
        yield f'<line class="grid" x1="{x:.2f}" x2="{x:.2f}" y1="{_TOP}" y2="{bottom}"/>'
        yield f'<text class="tick middle" x="{x:.2f}" y="{bottom + 16}">{10.0**decade:g}</text>'
    for decade in range(axes.y[0], axes.y[1] + 1):
        y = axes.at(10.0 ** axes.x[0], 10.0**decade)[1]
        yield f'<line class="grid" x1="{left}" x2="{right}" y1="{y:.2f}" y2="{y:.2f}"/>'
        yield f'<text class="tick end" x="{left - 6}" y="{y + 4:.2f}">{amount(10.0**decade)}FLOP/s</text>'
    axis = in_language(say("arithmetic intensity (FLOP/byte)"), language)
    yield f'<text class="tick middle" x="{(left + right) / 2:.2f}" y="{bottom + 34}">{words(axis)}</text>'


def _roofs(picture: RooflinePicture, axes: _Axes) -> Iterator[str]:
    least, most = 10.0 ** axes.x[0], 10.0 ** axes.x[1]
    for roof in picture.roofs:
        begin = least
        if picture.bytes_per_s is not None:
            begin = max(roof.flops_per_s / picture.bytes_per_s, least)
        (x1, y), (x2, _) = axes.at(begin, roof.flops_per_s), axes.at(most, roof.flops_per_s)
        label = f"{roof.label} {amount(roof.flops_per_s)}FLOP/s"
        yield f'<line class="roof" x1="{x1:.2f}" x2="{x2:.2f}" y1="{y:.2f}" y2="{y:.2f}"><title>{words(label)}</title></line>'
        yield f'<text class="tick end" x="{x2:.2f}" y="{y - 4:.2f}">{words(label)}</text>'
    if picture.bytes_per_s is not None and picture.roofs:
        highest = max(roof.flops_per_s for roof in picture.roofs)
        begin = max(least, 10.0 ** axes.y[0] / picture.bytes_per_s)
        start, end = axes.at(begin, begin * picture.bytes_per_s), axes.at(highest / picture.bytes_per_s, highest)
        label = f"{amount(picture.bytes_per_s)}B/s"
        yield (
            f'<line class="roof" x1="{start[0]:.2f}" y1="{start[1]:.2f}" x2="{end[0]:.2f}" y2="{end[1]:.2f}">'
            f"<title>{label}</title></line>"
            f'<text class="tick" x="{(start[0] + end[0]) / 2 + 8:.2f}" y="{(start[1] + end[1]) / 2 + 14:.2f}">{label}</text>'
        )


def _circle(point: RooflinePoint, axes: _Axes, language: Language) -> str:
    x, y = axes.at(point.intensity, point.flops_per_s)
    radius = _MIN_RADIUS + (_MAX_RADIUS - _MIN_RADIUS) * sqrt(min(max(point.share, 0.0), 1.0))
    return (
        f'<circle class="roof-{point.kind} point" cx="{x:.2f}" cy="{y:.2f}" r="{radius:.2f}">'
        f"<title>{words(in_language(_told(point), language))}</title></circle>"
    )


def _told(point: RooflinePoint) -> Text:
    return say(
        "{name}: {intensity:,.3g} FLOP/byte, {rate}FLOP/s, {share:.1%} of the computing time",
        name=point.label,
        intensity=point.intensity,
        rate=amount(point.flops_per_s),
        share=point.share,
    )


def amount(value: float) -> str:
    """A number with the prefix of its unit, which follows."""
    scale, prefix = next((one for one in _PREFIXES if value >= one[0]), _PREFIXES[-1])
    return f"{value / scale:,.4g} {prefix}"
