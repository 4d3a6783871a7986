"""Which values of two sides are of the same quantity: names of files and folders often tell repeats or sides, not workloads.

A name, or arguments, are ignored only where they cannot tell quantities apart: each side has a single one, and the sides have different ones.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from aoe_reports.jobs.ab.repeats import Quantity, Repeat
from aoe_reports.model.texts import Text, join, say

_COUNTER = re.compile(
    r"(?:[-_. ]|(?<![a-z])(?:run|round|repeat|rep|iter|iteration|try))+(\d{1,4})$", re.IGNORECASE | re.ASCII
)
"""A number at the end of a name, behind a separator or a word for repeats: `latency_3`, `run2`."""


def named_alike(sides: Sequence[Sequence[Repeat]]) -> tuple[list[list[Mapping[Quantity, Quantity]]], Text | None]:
    """(for each repeat of each side, the common name of each of its quantities; what had to be ignored)."""
    names = [[{quantity: quantity for quantity in repeat.values} for repeat in side] for side in sides]
    ignored = []
    if _are_counters(sides):
        names = _renamed(names, "workload", _without_counter)
        ignored.append(say("numbers at the end of workload names count repeats"))
    for field, what in _FIELDS:
        before, after = (_values(side, field) for side in names)
        if len(before) == len(after) == 1 and before != after:
            names = _renamed(names, field, lambda _: "")
            ignored.append(what)
    return [[*side] for side in names], join("; ", ignored) if ignored else None


_FIELDS = (
    ("workload", say("names of workloads differ between the sides and are ignored")),
    ("inputs", say("arguments and configuration differ between the sides and are ignored")),
)
_Names = list[list[dict[Quantity, Quantity]]]


def _values(side: Sequence[Mapping[Quantity, Quantity]], field: str) -> set[str]:
    return {getattr(quantity, field) for names in side for quantity in names.values()}


def _renamed(names: _Names, field: str, change: Callable[[str], str]) -> _Names:
    return [
        [
            {own: name._replace(**{field: change(getattr(name, field))}) for own, name in of_repeat.items()}
            for of_repeat in side
        ]
        for side in names
    ]


def _without_counter(workload: str) -> str:
    head, slash, rest = workload.partition("/")
    return _COUNTER.sub("", head) + slash + rest


def _are_counters(sides: Sequence[Sequence[Repeat]]) -> bool:
    """Whether names end with numbers that count the repeats of each side: 1, 2, 3 … or 0, 1, 2 …, each in one repeat."""
    for side in sides:
        numbers = [number for repeat in side for number in _numbers(repeat)]
        if not numbers or sorted(numbers) not in ([*range(len(side))], [*range(1, len(side) + 1)]):
            return False
    return True


def _numbers(repeat: Repeat) -> Iterator[int]:
    """The number at the end of the workload of a repeat; none where it has several workloads or no number."""
    heads = {quantity.workload.partition("/")[0] for quantity in repeat.values}
    found = [_COUNTER.search(head) for head in heads]
    if len(found) == 1 and found[0] is not None:
        yield int(found[0][1])
