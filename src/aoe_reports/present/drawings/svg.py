"""An answer as one SVG picture: a file of its own that needs nothing, light or dark as its reader is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from string import Template
from typing import TYPE_CHECKING, NamedTuple

from aoe_reports.locale import html_tag
from aoe_reports.model.pictures.memory import MemoryPicture
from aoe_reports.model.pictures.pipeline import PipelinePicture
from aoe_reports.model.pictures.roofline import RooflinePicture
from aoe_reports.model.pictures.stacks import StackPicture
from aoe_reports.model.pictures.waterfall import WaterfallPicture
from aoe_reports.model.texts import Language, Text, in_language, in_value, say
from aoe_reports.present.drawings.memory import description_of_memory, draw_memory
from aoe_reports.present.drawings.pipeline import description_of_pipeline, draw_pipeline
from aoe_reports.present.drawings.roofline import description_of_roofline, draw_roofline, legend_of_roofline
from aoe_reports.present.drawings.stack import description_of_stacks, draw_stacks, legend_of_stacks
from aoe_reports.present.drawings.step import WIDTH, Drawn, description_of, draw_step, legend_of, words
from aoe_reports.present.drawings.waterfall import draw_waterfall, legend_of_waterfall
from aoe_reports.present.style import Scheme, tokens
from aoe_reports.present.values import plain

if TYPE_CHECKING:
    from aoe_reports.model.pictures import Picture
    from aoe_reports.present.forms import Shown


def _styled(rules: str) -> str:
    """Rules with the values of the style sheet's colours, `$dark_ink` for one: viewers other than browsers know no variables."""
    schemes: dict[str, Scheme] = {"": "light", "dark_": "dark"}
    colours = {
        f"{prefix}{name.removeprefix('--')}": value
        for prefix, scheme in schemes.items()
        for name, value in tokens(scheme).items()
    }
    return Template(rules).substitute(colours)


_STYLE = _styled("""
svg { --back: $card; --ink: $ink; --soft: $soft; --grid: $grid; font: 12px system-ui, sans-serif; }
.computing { fill: $part1; } .communication { fill: $part2; } .other-task { fill: $part7; }
.whole { fill: $part7; } .longer { fill: $part6; } .shorter { fill: $part5; }
.launch { fill: $part4; } .host { fill: $part5; } .unexplained-wait { fill: $part6; }
.back { fill: var(--back); } .route { fill: var(--ink); } .grid { stroke: var(--grid); }
.tick { fill: var(--soft); } .end { text-anchor: end; } .middle { text-anchor: middle; } .head { fill: var(--ink); }
@media (prefers-color-scheme: dark) {
  svg { --back: $dark_card; --ink: $dark_ink; --soft: $dark_soft; --grid: $dark_grid; }
  .computing { fill: $dark_part1; } .communication { fill: $dark_part2; } .other-task { fill: $dark_part7; }
  .whole { fill: $dark_part7; } .longer { fill: $dark_part6; } .shorter { fill: $dark_part5; }
  .launch { fill: $dark_part4; } .host { fill: $dark_part5; } .unexplained-wait { fill: $dark_part6; }
}
""")
_ROOFLINE_STYLE = _styled(""".roof { stroke: var(--ink); stroke-width: 1.5; } .point { fill-opacity: .75; stroke: var(--back); }
.roof-compute { fill: $part1; } .roof-memory { fill: $part2; } .roof-cache { fill: $part5; }
.roof-small { fill: $part4; } .roof-unbounded { fill: $part7; }
@media (prefers-color-scheme: dark) {
  .roof-compute { fill: $dark_part1; } .roof-memory { fill: $dark_part2; } .roof-cache { fill: $dark_part5; }
  .roof-small { fill: $dark_part4; } .roof-unbounded { fill: $dark_part7; }
}
""")
_PIPELINE_STYLE = _styled(""".said { fill: var(--ink); font-size: 16px; } .lane rect { stroke: var(--back); stroke-width: .5; } .lane .piece-sending { stroke: none; }
.piece-forward { fill: $part1; } .piece-backward { fill: $part5; } .piece-computing { fill: $part7; }
.piece-waiting { fill: $part2; } .piece-sending { fill: var(--ink); } .lane-back { fill: var(--grid); }
@media (max-width: 600px) { .said, .head { font-size: 26px; } }
@media (prefers-color-scheme: dark) {
  .piece-forward { fill: $dark_part1; } .piece-backward { fill: $dark_part5; } .piece-computing { fill: $dark_part7; } .piece-waiting { fill: $dark_part2; }
}
""")
_MEMORY_STYLE = _styled(""".head { font-size: 16px; } .said { fill: var(--ink); font-size: 16px; } .curve { fill: none; stroke-width: 2; } .filled { fill-opacity: .18; } .boundary { stroke: var(--soft); stroke-dasharray: 2 4; }
.peak { fill: var(--ink); stroke: var(--back); stroke-width: 2; } .curve.reserved { stroke: $part7; } .curve.active { stroke: $part2; stroke-dasharray: 6 3; } .curve.allocated { stroke: $part1; } .filled { fill: $part1; }
.part-0 { fill: $part1; } .part-1 { fill: $part2; } .part-2 { fill: $part5; } .part-3 { fill: $part4; } .part-4 { fill: $part6; } .part-5 { fill: $became; }
.part-others { fill: $part7; } .part-before { fill: $part3; } .part-unexplained { fill: $grid; stroke: $soft; }
@media (max-width: 600px) { .said, .head { font-size: 26px; } }
@media (prefers-color-scheme: dark) {
  .curve.reserved { stroke: $dark_part7; } .curve.active { stroke: $dark_part2; } .curve.allocated { stroke: $dark_part1; } .filled { fill: $dark_part1; }
  .part-0 { fill: $dark_part1; } .part-1 { fill: $dark_part2; } .part-2 { fill: $dark_part5; } .part-3 { fill: $dark_part4; } .part-4 { fill: $dark_part6; } .part-5 { fill: $dark_became; }
  .part-others { fill: $dark_part7; } .part-before { fill: $dark_part3; } .part-unexplained { fill: $dark_grid; stroke: $dark_soft; }
}
""")
_STACKS_STYLE = """.flame-frame { fill: #e0a04f; } .flame-module { fill: #6c9fe3; } .flame-operator { fill: #6fbf9a; }
.flame-label { fill: #14181d; font-size: 11px; }
@media (prefers-color-scheme: dark) {
  .flame-frame { fill: #b97f35; } .flame-module { fill: #5287d0; } .flame-operator { fill: #4a9d78; }
}
"""
_HEAD, _KEY, _KEYS, _MARGIN = 24, 150, 24, 12


def render(shown: Shown) -> Iterator[str]:
    """All pictures of an answer below one another; what is said instead where there are none."""
    yield svg_of(shown.answer.pictures, shown.language) + "\n"


class _Sheet(NamedTuple):
    """A picture that is drawn, with what is said of it; `keys` are (class, words) of its legend."""

    title: Text | str
    drawn: Drawn
    keys: Sequence[tuple[str, str]] = ()
    style: str = ""
    about: Text | None = None


def svg_of(pictures: Sequence[Picture], language: Language) -> str:
    """Pictures below one another, each with its title and its legend."""
    sheets = [_sheet(picture, language) for picture in pictures]
    sheets = sheets or [_Sheet(say("nothing here that can be drawn"), Drawn("", 0, 0, 0))]
    parts, top = [], 0
    for sheet in sheets:
        part = f'<text class="head" x="0" y="-8">{_words(sheet.title, language)}</text>\n{sheet.drawn.inner}{_legend(sheet)}'
        parts.append(f'<g transform="translate(0 {top})">{part}</g>' if top else part)
        top += _HEAD + sheet.drawn.height + (_KEYS if sheet.keys else 0) + _MARGIN
    across, down = WIDTH + 2 * _MARGIN, top + _MARGIN
    size = (
        f' width="{across}" height="{down}"' if any(isinstance(one, StackPicture) for one in pictures) else ""
    )  # names in it are to be read: a narrow screen scrolls
    label = "; ".join(_words(sheet.title, language) for sheet in sheets)
    about = " ".join(_words(sheet.about, language) for sheet in sheets if sheet.about is not None)
    described = f"<title>{label}</title><desc>{about}</desc>" if about else ""
    style = "".join(dict.fromkeys(sheet.style for sheet in sheets))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{-_MARGIN} {-_HEAD - _MARGIN} {across} {down}"{size}'
        f' role="img" xml:lang="{html_tag(language)}" aria-label="{label}">{described}\n<style>{_STYLE}{style}</style>\n'
        f'<rect class="back" x="{-_MARGIN}" y="{-_HEAD - _MARGIN}" width="{across}" height="{down}"/>'
        f"{''.join(parts)}\n</svg>"
    )


def description_in(picture: Picture, language: Language) -> str:
    """What a picture shows, for those who do not see it."""
    sheet = _sheet(picture, language)
    said = [sheet.title, *([] if sheet.about is None else [sheet.about])]
    return plain(": ".join(str(in_value(one, language)) for one in said))


def _sheet(picture: Picture, language: Language) -> _Sheet:
    if isinstance(picture, WaterfallPicture):
        drawn, keys = draw_waterfall(picture, language), legend_of_waterfall(picture, language)
        return _Sheet(picture.title, drawn, keys)
    if isinstance(picture, RooflinePicture):
        drawn, keys = draw_roofline(picture, language), legend_of_roofline(picture, language)
        return _Sheet(picture.title, drawn, keys, _ROOFLINE_STYLE, description_of_roofline(picture))
    if isinstance(picture, StackPicture):
        drawn, keys = draw_stacks(picture, language), legend_of_stacks(language)
        return _Sheet(picture.title, drawn, keys, _STACKS_STYLE, description_of_stacks(picture))
    if isinstance(picture, PipelinePicture):
        drawn = draw_pipeline(picture, language)
        return _Sheet(picture.title, drawn, (), _PIPELINE_STYLE, description_of_pipeline())
    if isinstance(picture, MemoryPicture):
        drawn = draw_memory(picture, language)
        return _Sheet(picture.title, drawn, (), _MEMORY_STYLE, description_of_memory(picture))
    keys = [(kind, in_language(say(word), language)) for kind, word in legend_of(picture)]
    return _Sheet(description_of(picture), draw_step(picture, language), keys)


def _words(text: Text | str, language: Language) -> str:
    return words(str(in_value(text, language)))


def _legend(sheet: _Sheet) -> str:
    y = sheet.drawn.height
    return "".join(
        f'<rect class="{kind}" x="{place * _KEY}" y="{y + 4}" width="12" height="12"/>'
        f'<text class="tick" x="{place * _KEY + 18}" y="{y + 14}">{words(word)}</text>'
        for place, (kind, word) in enumerate(sheet.keys)
    )
