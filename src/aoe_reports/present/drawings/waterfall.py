"""The parts of a change as SVG: bars below one another, each from where the one above ends. No script, no style in it."""

from __future__ import annotations

from aoe_reports.model.names import shorten_middle
from aoe_reports.model.pictures.waterfall import BAR_WORDS, BarUnit, WaterfallBar, WaterfallPicture
from aoe_reports.model.size_units import size_words
from aoe_reports.model.texts import Language, Text, in_language, in_value, say
from aoe_reports.model.time_units import difference_words, time_words
from aoe_reports.model.topics.memory_words import signed_size
from aoe_reports.present.drawings.step import BAR, ROW, TOP, WIDTH, Drawn, words

_LABEL, _VALUE = 380, 110
"""Pixels: of what a bar is called, of its value after it."""
_LABEL_CHARACTERS = 56
ROOM = 0.08
"""So much of what the bars span is left free before the first: the axis does not begin at 0, or parts would not be seen."""


def draw_waterfall(picture: WaterfallPicture, language: Language) -> Drawn:
    """All bars, their values after them; exact ones are in titles."""
    begin, most = axis_of(picture)
    scale = (WIDTH - _LABEL - _VALUE) / max(most - begin, 1)
    axis = in_language(axis_words(picture), language)
    parts = [f'<text class="tick end" x="{WIDTH}" y="-8">{words(axis)}</text>']
    for row, bar in enumerate(picture.bars):
        y = TOP + ROW * row
        label = str(in_value(bar.label, language))
        left = (max(min(bar.start, bar.end), begin) - begin) * scale
        right = (max(bar.start, bar.end) - begin) * scale
        exact = f"{bar.end - bar.start:+,}" if bar.kind != "whole" else f"{bar.end:,}"
        parts.append(
            f'<text class="tick" x="0" y="{y + BAR - 4}"><title>{words(label)}</title>{words(shorten_middle(label, _LABEL_CHARACTERS))}</text>'
            f'<rect class="{bar.kind}" x="{_LABEL + left:.2f}" y="{y}" width="{max(right - left, 1):.2f}" height="{BAR}">'
            f"<title>{words(label)}: {exact} {picture.unit}</title></rect>"
            f'<text class="tick" x="{_LABEL + right + 6:.2f}" y="{y + BAR - 4}">{words(value_of(bar, picture.unit))}</text>'
        )
    return Drawn("".join(parts), TOP + ROW * len(picture.bars), len(picture.bars), len(picture.bars))


def axis_of(picture: WaterfallPicture) -> tuple[int, int]:
    """The levels at which the axis begins and ends."""
    levels = [level for bar in picture.bars for level in (bar.start, bar.end) if bar.kind != "whole" or level]
    least, most = min(levels, default=0), max(levels, default=1)
    return max(least - round(max(most - least, 1) * ROOM), 0), most


def axis_words(picture: WaterfallPicture) -> Text:
    """Where the axis begins, in words."""
    begin = axis_of(picture)[0]
    return say("bars begin at {time}", time=time_words(begin) if picture.unit == "ns" else size_words(begin))


def legend_of_waterfall(picture: WaterfallPicture, language: Language) -> list[tuple[str, str]]:
    """(class, words) of each kind of bar that is drawn, in order."""
    drawn = {bar.kind for bar in picture.bars}
    return [
        (kind, in_language((picture.whole or said) if kind == "whole" else said, language))
        for kind, said in BAR_WORDS[picture.unit].items()
        if kind in drawn
    ]


def value_of(bar: WaterfallBar, unit: BarUnit) -> str:
    """The value after a bar; that of a part has a sign."""
    value = bar.end - bar.start
    if bar.kind == "whole":
        return time_words(value) if unit == "ns" else size_words(value)
    return difference_words(value) if unit == "ns" else signed_size(value)
