"""Which values of two sides are of the same quantity: names of files and folders often tell repeats or sides, not workloads."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from aoe_reports.jobs.ab.repeats import Quantity, Repeat
from aoe_reports.model.texts import Text, say
from aoe_reports.stats.two_sides import MIN_REPEATS

_NUMBER = re.compile(r"[-_. ]?(?:run|round|repeat|rep|iter|iteration|try|r)?[-_. ]?\d{1,4}$", re.IGNORECASE | re.ASCII)
"""What tells repeats apart at the end of a name: `latency_3`, `serve-run2`."""

_Rule = Callable[[Quantity], Quantity]


def _short(quantity: Quantity) -> Quantity:
    head, slash, rest = quantity.workload.partition("/")
    return quantity._replace(workload=_NUMBER.sub("", head) + slash + rest)


def _nameless(quantity: Quantity) -> Quantity:
    return quantity._replace(workload="")


def _any_inputs(quantity: Quantity) -> Quantity:
    return quantity._replace(inputs="")


def _as_it_is(quantity: Quantity) -> Quantity:
    return quantity


_RULES: tuple[tuple[_Rule, Text | None], ...] = (
    (_as_it_is, None),
    (_short, say("numbers at the end of workload names are ignored: they count repeats")),
    (_any_inputs, say("arguments and configuration differ between the sides and are ignored")),
    (_nameless, say("names of workloads differ between the sides and are ignored")),
    (
        lambda quantity: _any_inputs(_nameless(quantity)),
        say("names of workloads, arguments and configuration differ between the sides and are ignored"),
    ),
)
"""From the strictest on; the first by which some quantity has repeats on both sides counts."""


def named_alike(sides: Sequence[Sequence[Repeat]]) -> tuple[list[list[Mapping[Quantity, Quantity]]], Text | None]:
    """(for each repeat of each side, the common name of each of its quantities; what had to be ignored)."""
    for least in (MIN_REPEATS, 1):
        for rule, ignored in _RULES:
            if _repeats_in_common(sides, rule) >= least:
                return [[{one: rule(one) for one in repeat.values} for repeat in side] for side in sides], ignored
    return [[{one: one for one in repeat.values} for repeat in side] for side in sides], None


def _repeats_in_common(sides: Sequence[Sequence[Repeat]], rule: _Rule) -> int:
    """How many repeats the side with fewer has of the quantity that has most on both; 0 where one repeat has two of one name."""
    counts: list[dict[Quantity, int]] = []
    for side in sides:
        found: dict[Quantity, int] = {}
        for repeat in side:
            names = [rule(one) for one in repeat.values]
            if len(set(names)) < len(names):
                return 0
            for name in names:
                found[name] = found.get(name, 0) + 1
        counts.append(found)
    return max((min(counts[0][name], counts[1][name]) for name in counts[0].keys() & counts[1].keys()), default=0)
