"""Which values of two sides, or of several builds, are of the same quantity: files and folders are often named after repeats or sides, not workloads.

A name, or arguments, are ignored only where they do not distinguish quantities: each side has a single one, and the sides have different ones.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from aoe_reports.jobs.ab.repeats import Quantity, Repeat
from aoe_reports.model.texts import Text, join, say

_COUNTER = re.compile(
    r"(?:[-_. ]|(?<![a-z])(?:run|round|repeat|rep|iter|iteration|try|r))+(\d{1,4})$", re.IGNORECASE | re.ASCII
)
"""A number at the end of a name, behind a separator or a word for repeats: `latency_3`, `run2`, `r2`."""


def named_alike(sides: Sequence[Sequence[Repeat]]) -> tuple[list[list[Mapping[Quantity, Quantity]]], Text | None]:
    """(for each repeat of each side, the common name of each of its quantities; what had to be ignored)."""
    names = [[{quantity: quantity for quantity in repeat.values} for repeat in side] for side in sides]
    ignored = []
    if _are_counters(sides):
        names = _renamed(names, lambda quantity: quantity._replace(workload=_without_counter(quantity.workload)))
        ignored.append(say("numbers at the end of workload names count repeats"))
    workloads = [{quantity.workload for quantity in _named(side)} for side in names if side]
    if _each_has_its_own(workloads):
        names = _renamed(names, lambda quantity: quantity._replace(workload=""))
        ignored.append(say("names of workloads differ between the sides and are ignored"))
    other = _with_other_inputs(names)
    if other:
        names = _renamed(
            names, lambda quantity: quantity._replace(inputs="") if quantity.workload in other else quantity
        )
        ignored.append(say("arguments and configuration differ between the sides and are ignored"))
    return [[*side] for side in names], join("; ", ignored) if ignored else None


_Names = list[list[dict[Quantity, Quantity]]]


def _named(side: Sequence[Mapping[Quantity, Quantity]]) -> Iterator[Quantity]:
    return (quantity for names in side for quantity in names.values())


def _with_other_inputs(names: _Names) -> set[str]:
    """Workloads that each side measures with one set of arguments, which is another one on the other side."""
    inputs: dict[str, dict[int, set[str]]] = {}
    for number, side in enumerate(names):
        for quantity in _named(side):
            inputs.setdefault(quantity.workload, {}).setdefault(number, set()).add(quantity.inputs)
    return {workload for workload, of_sides in inputs.items() if _each_has_its_own([*of_sides.values()])}


def _each_has_its_own(words: Sequence[set[str]]) -> bool:
    """Whether each side has a single word, and not all have the same."""
    return all(len(each) == 1 for each in words) and len(set[str]().union(*words)) > 1


def _renamed(names: _Names, change: Callable[[Quantity], Quantity]) -> _Names:
    return [[{own: change(name) for own, name in of_repeat.items()} for of_repeat in side] for side in names]


def _without_counter(workload: str) -> str:
    head, slash, rest = workload.partition("/")
    return _COUNTER.sub("", head) + slash + rest


def _are_counters(sides: Sequence[Sequence[Repeat]]) -> bool:
    """Whether names end with numbers that count the repeats of each side: 1, 2, 3 … or 0, 1, 2 …, each in one repeat."""
    for side in filter(None, sides):
        numbers = [number for repeat in side for number in _numbers(repeat)]
        if not numbers or sorted(numbers) not in ([*range(len(side))], [*range(1, len(side) + 1)]):
            return False
    return True


def _numbers(repeat: Repeat) -> Iterator[int]:
    """The number at the end of the workload of a repeat; none where it has several workloads or no number."""
    heads = {quantity.workload.partition("/")[0] for quantity in repeat.values}
    counters = [_COUNTER.search(head) for head in heads]
    if len(counters) == 1 and counters[0] is not None:
        yield int(counters[0][1])
