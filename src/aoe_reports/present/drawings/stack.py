"""A flame graph as SVG: a rectangle for each frame, as wide as the device time launched in it; callers are below. No script, no style in it."""

from __future__ import annotations

from html import escape

from aoe_reports.model.names import shorten_middle
from aoe_reports.model.pictures.stacks import MODULE, StackNode, StackPicture
from aoe_reports.model.texts import N_, Language, Text, count_of, in_language, join, say
from aoe_reports.present.drawings.step import WIDTH, Drawn, words
from aoe_reports.present.values import plain

_ROW, _GAP = 16, 1
_MIN = 0.5
"""Pixels: from frame to frame, between two of them, and what is narrower is not drawn."""
_CHARACTER, _INSET = 7.4, 3
"""Pixels: what a character takes, and what is left free before and behind a label."""
_MIN_LABEL = 8
"""Characters of a name that is shortened."""
_DESCRIBED = 5
_MAX, _LONGEST = 3000, 400
"""Frames that are drawn, the widest, and characters of a title: a browser shows a file of a megabyte at once."""
_KINDS = N_({"operator": "operator", "module": "module", "frame": "Python frame"})


def draw_stacks(picture: StackPicture, language: Language) -> Drawn:
    """All stacks that are wide enough; exact times are in titles."""
    begins, depths = _placed(picture)
    inner = {node.parent for node in picture.nodes}
    scale = WIDTH / picture.total_ns if picture.total_ns else 0.0
    wide = [place for place, node in enumerate(picture.nodes) if node.total_ns * scale >= _MIN]
    if len(wide) > _MAX:  # a caller is as wide as what it calls, and stands before it: none loses its caller
        wide = sorted(sorted(wide, key=lambda place: -picture.nodes[place].total_ns)[:_MAX])
    height = (max((depths[place] for place in wide), default=0) + 1) * _ROW
    parts = [
        _frame(
            picture.nodes[place], begins[place] * scale, height - (depths[place] + 1) * _ROW, picture, place in inner
        )
        for place in wide
    ]
    if len(wide) < len(picture.nodes):
        note = count_of(
            len(picture.nodes) - len(wide),
            "{number} frame is too narrow to be drawn",
            "{number} frames are too narrow to be drawn",
        )
        parts.append(f'<text class="tick end" x="{WIDTH}" y="-8">{words(in_language(note, language))}</text>')
    return Drawn("".join(parts), height, len(wide), len(picture.nodes))


def _placed(picture: StackPicture) -> tuple[list[int], list[int]]:
    """(begin of each frame in ns, its depth); the frames of one caller lie side by side, ordered by name."""
    count = len(picture.nodes)
    begins, depths, taken = [0] * count, [0] * count, {-1: 0}
    order = sorted(range(count), key=lambda place: (picture.nodes[place].parent, picture.nodes[place].name))
    for place in order:
        node = picture.nodes[place]
        if node.parent >= 0:
            depths[place] = depths[node.parent] + 1
            taken.setdefault(node.parent, begins[node.parent])
        begins[place] = taken[node.parent]
        taken[node.parent] += node.total_ns
    return begins, depths


def _frame(node: StackNode, x: float, y: int, picture: StackPicture, calls: bool) -> str:
    width = node.total_ns * WIDTH / picture.total_ns
    kind = "module" if node.name.startswith(MODULE) else "frame" if calls else "operator"
    title = (
        f"{shorten_middle(node.name, _LONGEST)}: {node.total_ns / 1000:,.3f} us, {node.total_ns / picture.total_ns:.1%}"
    )
    short = _label(plain(node.name.removeprefix(MODULE)), int((width - 2 * _INSET) / _CHARACTER))
    label = f'<text class="flame-label" x="{x + _INSET:.2f}" y="{y + 12}">{escape(short)}</text>' if short else ""
    return (
        f'<g><title>{words(title)}</title><rect class="flame-{kind}" x="{x:.2f}" y="{y}" '
        f'width="{max(width - _GAP / 2, _MIN / 2):.2f}" height="{_ROW - _GAP}"/>{label}</g>'
    )


def _label(name: str, most: int) -> str:
    """As much of a name as fits; a file matters more than its folders, and a few letters say nothing."""
    if len(name) > most and "): " in name:
        name = name.rpartition("/")[2]
    return shorten_middle(name, most) if most >= min(_MIN_LABEL, len(name)) else ""


def legend_of_stacks(language: Language) -> list[tuple[str, str]]:
    """(class, words) of each kind of frame."""
    return [(f"flame-{kind}", in_language(words, language)) for kind, words in _KINDS.items()]


def description_of_stacks(picture: StackPicture) -> Text:
    """What the picture shows, for who does not see it."""
    if not picture.nodes:
        return picture.title
    own = sorted((node for node in picture.nodes if node.own_ns), key=lambda node: -node.own_ns)[:_DESCRIBED]
    shares = [say("{name}: {share:.1%}", name=node.name, share=node.own_ns / picture.total_ns) for node in own]
    return say(
        "A flame graph: callers below, what they call above, widths are device time. Most of it: {most}.",
        most=join("; ", shares),
    )
