"""Stacks as lines of text, `frame;frame;frame nanoseconds`: what speedscope and flamegraph.pl read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from aoe_reports.model.pictures.stacks import StackPicture
from aoe_reports.present.values import plain

if TYPE_CHECKING:
    from aoe_reports.present.forms import Shown

_BATCH = 1000
"""Lines that are written together."""


def render(shown: Shown) -> Iterator[str]:
    """A line for each stack in which something was launched; the lines' numbers add up to the device time of all tasks."""
    for picture in shown.answer.pictures:
        if isinstance(picture, StackPicture):
            yield from _lines(picture)


def _lines(picture: StackPicture) -> Iterator[str]:
    names: list[str] = []
    lines: list[str] = []
    for place, node in enumerate(picture.nodes):
        names.append(_name(node.name))
        if node.own_ns:
            frames = [names[place]]
            above = node.parent
            while above >= 0:
                frames.append(names[above])
                above = picture.nodes[above].parent
            lines.append(f"{';'.join(reversed(frames))} {node.own_ns}\n")
        if len(lines) == _BATCH:
            yield "".join(lines)
            lines.clear()
    yield "".join(lines)


def _name(frame: str) -> str:
    """A frame without what separates frames and lines in this form."""
    return plain(frame).replace(";", ":").strip() or "(no name)"
