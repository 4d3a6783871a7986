"""One step of a pipeline as SVG: a lane for each stage, its shares above it. No script, no style in it."""

from __future__ import annotations

from collections.abc import Iterator

from aoe_reports.model.pictures.pipeline import PIECE_WORDS, PipelineLane, PipelinePicture
from aoe_reports.model.texts import Language, Text, in_language, in_value, say
from aoe_reports.present.drawings.step import WIDTH, Drawn, words

_LINE = 32
"""Pixels of a line of text: on a small screen a letter has 26."""
_BAR, _SEND, _BETWEEN = 30, 5, 10
_KEY = 336
"""Pixels of a word of the legend."""
_KEYS = 3
"""Entries of the legend in a row."""
_SWATCH = 20


def draw_pipeline(picture: PipelinePicture, language: Language) -> Drawn:
    """What is said, the legend, all lanes; times in titles are exact, in microseconds."""
    parts = []
    y = 0
    for line in picture.lines:
        y += _LINE
        parts.append(f'<text class="said" x="0" y="{y - 8}">{words(str(in_value(line, language)))}</text>')
    drawn = {piece.kind for lane in picture.lanes for piece in lane.pieces}
    for place, (kind, word) in enumerate((kind, word) for kind, word in PIECE_WORDS.items() if kind in drawn):
        x, top = place % _KEYS * _KEY, y + place // _KEYS * _LINE
        parts.append(
            f'<rect class="piece-{kind}" x="{x}" y="{top + 6}" width="{_SWATCH}" height="{_SWATCH}"/>'
            f'<text class="said" x="{x + _SWATCH + 8}" y="{top + _LINE - 8}">{words(in_language(say(word), language))}</text>'
        )
    y += -(-len(drawn) // _KEYS) * _LINE + _BETWEEN
    for lane in picture.lanes:
        parts += [
            (
                f'<text class="said" x="0" y="{y + _LINE - 8}"><title>{words(in_language(_times(lane), language))}</title>'
                f"{words(in_language(_shares(lane, picture), language))}</text>"
            ),
            f'<g class="lane"><rect class="lane-back" x="0" y="{y + _LINE}" width="{WIDTH}" height="{_BAR}"/>',
            *_pieces(lane, picture.duration_ns, y + _LINE, language),
            "</g>",
        ]
        y += _LINE + _BAR + _BETWEEN
    count = sum(len(lane.pieces) for lane in picture.lanes)
    return Drawn("".join(parts), y, count, count)


def description_of_pipeline() -> Text:
    """The picture for who cannot see it."""
    return say(
        "Each lane is a stage, in the order of the pipeline; the step runs to the right. What is lighter is neither computing nor waiting to receive."
    )


def _shares(lane: PipelineLane, picture: PipelinePicture) -> Text:
    return say(
        "rank {rank}: busy {busy:.1%}, waits {waiting:.1%}",
        rank=lane.rank_id,
        busy=lane.busy_ns / picture.duration_ns,
        waiting=lane.waiting_ns / picture.duration_ns,
    )


def _times(lane: PipelineLane) -> Text:
    """What adds up to the step."""
    return say(
        "busy {busy:,.3f} us, waits {waiting:,.3f} us, neither {rest:,.3f} us",
        busy=lane.busy_ns / 1000,
        waiting=lane.waiting_ns / 1000,
        rest=lane.rest_ns / 1000,
    )


def _pieces(lane: PipelineLane, duration_ns: int, y: int, language: Language) -> Iterator[str]:
    """A rectangle for each stretch; what is sent is a line below."""
    scale = WIDTH / duration_ns
    of_kinds = {kind: in_language(say(word), language) for kind, word in PIECE_WORDS.items()}
    for piece in lane.pieces:
        top, high = (y + _BAR - _SEND, _SEND) if piece.kind == "sending" else (y, _BAR)
        title = f"{of_kinds[piece.kind]}, +{piece.start_ns / 1000:,.3f} us, {piece.busy_ns / 1000:,.3f} us"
        yield (
            f'<rect class="piece-{piece.kind}" x="{piece.start_ns * scale:.2f}" y="{top}" width="{max((piece.end_ns - piece.start_ns) * scale, 1):.2f}" '
            f'height="{high}"><title>{words(title)}</title></rect>'
        )
