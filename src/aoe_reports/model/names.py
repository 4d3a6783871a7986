"""Names that are too long for where they are shown, and names that resemble each other."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

RESEMBLANCE = 0.8
"""Names resemble each other from this ratio of common letters on: one wrong letter of five, or two swapped ones of ten."""


def near_names(name: str, known: Iterable[str], most: int = 1) -> list[str]:
    """The known names that a misspelt one may mean, the nearest first; case does not count."""
    from difflib import get_close_matches  # noqa: PLC0415 -- only for a name that is not known

    by_case = {one.casefold(): one for one in known}
    return [by_case[near] for near in get_close_matches(name.casefold(), by_case, n=most)]


def resembling(name: str, known: Iterable[str]) -> str | None:
    """The known name that resembles one most which somebody chose freely, as of a workload, and may mean as it is.

    Names on purpose are those that differ by a number (`llama-7b`, `llama-70b`), and siblings (`net-fp16`, `net-bf16`): of names with
    equally many parts only the parts that differ are compared.
    """
    from difflib import SequenceMatcher  # noqa: PLC0415 -- only for a name that is not known

    def plain(text: str) -> str:
        return re.sub(r"\d+", "", text.casefold())

    def ratio_to(one: str) -> float:
        parts = [re.split(r"[-_./]", text.casefold()) for text in (name, one)]
        if len(parts[0]) == len(parts[1]):
            differing = [pair for pair in zip(*parts, strict=True) if pair[0] != pair[1]]
            return min((SequenceMatcher(None, *pair).ratio() for pair in differing), default=1.0)
        return SequenceMatcher(None, name.casefold(), one.casefold()).ratio()

    ratios = [(ratio_to(one), one) for one in known if name.casefold() == one.casefold() or plain(name) != plain(one)]
    ratio, nearest = max(ratios, default=(0.0, ""))
    return nearest if ratio >= RESEMBLANCE else None


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
