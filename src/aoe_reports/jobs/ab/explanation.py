"""What a proved difference consists of: the parts of `explain` between the median captures of the sides."""

from __future__ import annotations

from collections.abc import Sequence

from aoe_reports.engine.question import Finished, Notes, Request
from aoe_reports.formats.rules import UNREADABLE
from aoe_reports.jobs.ab.naming import named_alike
from aoe_reports.jobs.ab.repeats import Quantity, Repeat
from aoe_reports.model.findings import Finding
from aoe_reports.topics.comparison.compared_runs import RunUnit
from aoe_reports.topics.comparison.explain import Explain, ExplainOptions


def median_captures(sides: Sequence[Sequence[Repeat]], quantity: Quantity) -> tuple[Repeat, Repeat] | None:
    """The capture of each side whose value is the (lower) median; None where a side has no capture with a value."""
    names, _ = named_alike(sides)
    chosen = []
    for side, named in zip(sides, names, strict=True):
        values = [
            (value.cost, repeat.path, repeat)
            for repeat, name_of in zip(side, named, strict=True)
            for one, value in repeat.values.items()
            if name_of[one] == quantity and repeat.captures
        ]
        if not values:
            return None
        values.sort(key=lambda one: one[:2])
        chosen.append(values[(len(values) - 1) // 2][2])
    return chosen[0], chosen[1]


def explained(pair: tuple[Repeat, Repeat], top: int) -> tuple[Finished | None, list[Finding]]:
    """(why the step of the second differs from that of the first, what was found on the way); conditions that differ do not refuse it."""
    question, notes = Explain(), Notes()
    units = [RunUnit(path=one.path, captures=one.captures) for one in pair]
    if units[0].path == units[1].path:
        return None, []
    asked = Request(options=ExplainOptions(top=top, force=True), notes=notes, inputs=tuple(unit.path for unit in units))
    parts = [(unit, question.map_unit(unit, asked)) for unit in units]
    finished = question.finish(parts, asked)
    return finished, [finding for finding in notes.findings if finding.rule == UNREADABLE.name]
