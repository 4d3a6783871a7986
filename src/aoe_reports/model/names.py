"""Names that are too long for where they are shown."""

from __future__ import annotations

from collections.abc import Callable


def shorten_middle(text: str, most: int, measure: Callable[[str], int] = len) -> str:
    """The text, or its beginning and its end around an ellipsis: names of operators differ in both.

    `measure` says how much room a text takes, `most` how much there is.
    """
    if len(text) <= most and measure(text) <= most:
        return text
    tail = (most - 1) // 2
    head = most - 1 - tail
    return _fitting(text, head, measure, 1) + "…" + _fitting(text, tail, measure, -1)


def _fitting(text: str, room: int, measure: Callable[[str], int], way: int) -> str:
    """As many characters from the beginning (way 1) or the end (way -1) as there is room for."""
    kept = ""
    for char in text[::way][:room]:
        longer = kept + char
        if measure(longer) > room:
            break
        kept = longer
    return kept[::way]
