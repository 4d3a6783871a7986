"""The picture of a step as SVG: lanes below one another, a rectangle for what is at least a pixel apart. No script, no style in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from aoe_reports.model.names import shorten_middle
from aoe_reports.model.pictures.blocks import Blocks, merged, read_blocks
from aoe_reports.model.pictures.path_kinds import KIND_WORDS, KINDS, Kind
from aoe_reports.model.pictures.step import PictureLane, StepPicture
from aoe_reports.model.texts import N_, Language, Text, capital, count_of, in_language, in_value, join, say
from aoe_reports.present.values import plain

WIDTH, LABEL, PLOT = 1008, 192, 800
"""Pixels: of the whole, of the names of lanes, of the step."""
ROW, BAR, TOP = 26, 16, 6
"""Pixels: from lane to lane, of a rectangle, above the first lane."""
_MARK = 3
"""Pixels of the line under what the critical path passes."""
_INSET, _LABEL_CHARACTERS = 8, 24
_TICKS, _TICK_ROOM = 5, 30
"""About so many ticks on the axis; the text of one near the end ends at its tick."""
_MS, _US = 1_000_000, 1_000

CLASSES = {kind: kind.replace(" ", "-") for kind in KINDS}
"""The class of each kind, by which style sheets colour it."""
_ROLES = N_(
    {
        "path": "Critical path",
        "idle": "Idle device",
        "host": "{name}: launches",
        "device": "{name}",
        "communication": "{name}: communication",
    }
)


@dataclass(frozen=True, slots=True)
class Drawn:
    """The elements of an SVG picture, its height, its number of rectangles and of the slices in them."""

    inner: str
    height: int
    blocks: int
    slices: int


def draw_step(picture: StepPicture, language: Language) -> Drawn:
    """All lanes and the axis below them; times in titles are exact, in microseconds."""
    pixel_ns = -(-picture.duration_ns // PLOT)
    lanes = [(lane, merged(read_blocks(lane.cells), pixel_ns)) for lane in picture.lanes]
    of_kinds = {kind: in_language(say(KIND_WORDS[kind]), language) for kind in KINDS}
    parts = ['<g class="axis">', *_axis(picture.duration_ns, TOP + ROW * len(lanes)), "</g>"]
    for row, (lane, blocks) in enumerate(lanes):
        label = label_of(lane, language)
        y = TOP + ROW * row
        parts += [
            f'<text class="tick" x="{_INSET}" y="{y + BAR - 4}"><title>{words(label)}</title>{words(shorten_middle(label, _LABEL_CHARACTERS))}</text>',
            f'<g class="lane" data-lane="{row}">',
            *_rectangles(blocks, picture, y, of_kinds),
            "</g>",
        ]
    slices, count = sum(lane.count for lane in picture.lanes), sum(len(blocks) for _, blocks in lanes)
    return Drawn("".join(parts), TOP + ROW * len(lanes) + 24, count, slices)


def geometry() -> dict[str, int]:
    """What a script has to know to draw lanes alike."""
    return {"top": TOP, "row": ROW, "bar": BAR, "mark": _MARK}


def label_of(lane: PictureLane, language: Language) -> str:
    """The label of a lane."""
    says_itself = lane.role == "communication" and "communication" in lane.name.casefold()
    label = _ROLES["device" if says_itself else lane.role]
    return in_language(say(label, name=lane.name) if lane.name else say(label), language)


def _rectangles(blocks: Blocks, picture: StepPicture, y: int, of_kinds: dict[Kind, str]) -> Iterator[str]:
    scale = PLOT / picture.duration_ns
    rows = (blocks.start, blocks.end, blocks.kind, blocks.on_path, blocks.name, blocks.count, blocks.busy)
    route: list[str] = []
    for start, end, number, on_path, name, count, busy in zip(*(column.tolist() for column in rows), strict=True):
        kind = KINDS[number]
        x, wide = LABEL + start * scale, max((end - start) * scale, 1)
        title = title_of(picture.names[name] if name >= 0 else of_kinds[kind], start, busy, count)
        yield f'<rect class="{CLASSES[kind]}" x="{x:.2f}" y="{y}" width="{wide:.2f}" height="{BAR}"><title>{words(title)}</title></rect>'
        if on_path:
            route.append(f"M{x:.2f} {y + BAR + 1}h{wide:.2f}v{_MARK}h-{wide:.2f}z")
    if route:
        yield f'<path class="route" d="{"".join(route)}"/>'


def title_of(name: str, start_ns: int, busy_ns: int, count: int) -> str:
    """Operator, start since the begin of the step, duration; of several that are drawn as one how many."""
    title = f"{name}, +{start_ns / 1000:,.3f} us, {busy_ns / 1000:,.3f} us"
    return f"{title}, ×{count}" if count > 1 else title  # noqa: RUF001 -- the sign for times


def _axis(duration_ns: int, bottom: int) -> Iterator[str]:
    """Round times below the lanes, with lines through them."""
    size, unit = (_MS, "ms") if duration_ns >= _MS else (_US, "us")
    step = _round_step(duration_ns / size / _TICKS)
    at = 0.0
    while at * size <= duration_ns:
        x = LABEL + at * size * PLOT / duration_ns
        side = "start" if at == 0 else "end" if x > LABEL + PLOT - _TICK_ROOM else "middle"
        yield (
            f'<path class="grid" d="M{x:.1f} {TOP}V{bottom}"/>'
            f'<text class="tick {side}" x="{x:.1f}" y="{bottom + 14}">{at:,.10g} {unit}</text>'
        )
        at = round(at + step, 12)


def _round_step(raw: float) -> float:
    """The least of 1, 2, 2.5 and 5 times a power of ten that is no less."""
    power = 1e-3
    while power * 10 <= raw:
        power *= 10
    return next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= raw or factor == 10)  # noqa: PLR2004


def description_of(picture: StepPicture) -> Text:
    """The picture in one sentence: whose step, how long, what its critical path consists of."""
    path = next((lane for lane in picture.lanes if lane.role == "path"), None)
    times = dict.fromkeys(KINDS, 0)
    blocks = read_blocks("" if path is None else path.cells)
    for number, busy in zip(blocks.kind.tolist(), blocks.busy.tolist(), strict=True):
        times[KINDS[number]] += busy
    parts = [
        say("{kind} {share:.1%}", kind=say(KIND_WORDS[kind]), share=time / picture.duration_ns)
        for kind, time in sorted(times.items(), key=lambda one: -one[1])
        if time
    ]
    return say(
        "{what}: {duration:,.3f} ms; its critical path: {parts}",
        what=capital(_place_of(picture)),
        duration=picture.duration_ns / 1e6,
        parts=join(", ", parts),
    )


def _place_of(picture: StepPicture) -> Text:
    named = [say("the whole timeline") if picture.step is None else say("step {step}", step=picture.step)]
    if picture.rank_id is not None:
        named.append(say("rank {rank}", rank=picture.rank_id))
    if picture.device_id is not None:
        named.append(say("device {device}", device=picture.device_id))
    return join(", ", named)


def notes_on(picture: StepPicture, drawn: Drawn) -> list[Text]:
    """How the step was chosen, what is merged into one rectangle, and what is left out."""
    notes = []
    if picture.steps > 1:
        notes.append(say("It is the step of median duration among {steps}.", steps=picture.steps))
    notes.append(
        say(
            "{slices:,} slices are drawn as {blocks:,} rectangles: what begins within a pixel is one, and its title says how "
            "many it stands for. Titles have start and duration; a line below a rectangle marks the critical path.",
            slices=drawn.slices,
            blocks=drawn.blocks,
        )
    )
    if picture.lanes_left_out:
        notes.append(
            say(
                "{lanes} more lanes with {slices:,} slices are not drawn.",
                lanes=picture.lanes_left_out,
                slices=picture.slices_left_out,
            )
        )
    if picture.launched_before:
        notes.append(
            count_of(
                picture.launched_before,
                "{number} task was launched before the step began.",
                "{number} tasks were launched before the step began.",
            )
        )
    return notes


def legend_of(picture: StepPicture) -> list[tuple[str, str]]:
    """(class, word in English) of each kind that is drawn, in order."""
    drawn = {number for lane in picture.lanes for number in read_blocks(lane.cells).kind.tolist()}
    return [(CLASSES[kind], KIND_WORDS[kind]) for place, kind in enumerate(KINDS) if place in drawn]


def words(text: object) -> str:
    """Text as an element of a picture has it."""
    return escape(plain(str(text)))


def as_sentences(texts: Sequence[Text], language: Language) -> list[str]:
    """Sentences in a language."""
    return [str(in_value(text, language)) for text in texts]
