"""What a proved difference consists of: the parts of `explain` between the median captures of the sides."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from aoe_reports.engine.question import Notes, Request
from aoe_reports.formats.rules import UNREADABLE
from aoe_reports.jobs.ab.naming import named_alike
from aoe_reports.jobs.ab.repeats import Repeat
from aoe_reports.model.findings import Finding
from aoe_reports.model.history.changes import COMPUTING
from aoe_reports.topics.comparison.compared_runs import RunUnit
from aoe_reports.topics.comparison.explain import ChangePart, Explain, ExplainOptions
from aoe_reports.topics.comparison.explained_runs import ExplainedRun


def median_captures(sides: Sequence[Sequence[Repeat]]) -> tuple[Repeat, Repeat] | None:
    """The capture of each side whose step, else computing time, is the (lower) median; None where a side has none, or several workloads."""
    names, _ = named_alike(sides)
    for scope in ("step", COMPUTING):
        measured = [
            [
                (value.cost, repeat.path, name_of[quantity].workload, repeat)
                for repeat, name_of in zip(side, named, strict=True)
                for quantity, value in repeat.values.items()
                if quantity.scope == scope and repeat.captures
            ]
            for side, named in zip(sides, names, strict=True)
        ]
        if all(measured) and len({workload for side in measured for _, _, workload, _ in side}) == 1:
            before, after = (sorted(side, key=lambda each: each[:2])[(len(side) - 1) // 2][-1] for side in measured)
            return before, after
    return None


class Explained(NamedTuple):
    """Why the step of one capture differs from that of another."""

    parts: Sequence[ChangePart]
    shapes: Mapping[str, str]
    """Of each operator type the input shapes with the largest part of its change."""
    findings: Sequence[Finding]


NOTHING = Explained((), {}, ())


def explained(pair: tuple[Repeat, Repeat], top: int, operators: Collection[str]) -> Explained:
    """The parts of the difference, the largest `top` of each device; of `operators` their shapes. Conditions that differ do not refuse it."""
    question, notes = Explain(), Notes()
    units = [RunUnit(path=repeat.path, captures=repeat.captures) for repeat in pair]
    if units[0].path == units[1].path:
        return NOTHING
    asked = Request(options=ExplainOptions(top=top, force=True), notes=notes, inputs=tuple(unit.path for unit in units))
    runs = [question.map_unit(unit, asked) for unit in units]
    finished = question.finish(list(zip(units, runs, strict=True)), asked)
    before, after = runs
    shapes = _changed_shapes(before, after, operators) if before and after and operators else {}
    findings = [finding for finding in notes.findings if finding.rule == UNREADABLE.name]
    return Explained(finished.tables[0].rows, shapes, findings)


def _changed_shapes(before: ExplainedRun, after: ExplainedRun, operators: Collection[str]) -> dict[str, str]:
    """The input shapes of each operator type that make up the largest part of its change."""
    changes: dict[str, dict[str, float]] = {name: {} for name in operators}
    for sign, run in ((-1, before), (1, after)):
        for side in run.sides.values():
            for (name, shapes, *_), (_, total_ns) in (side.calls or {}).items():
                if name in changes and shapes:
                    of_type = changes[name]
                    of_type[shapes] = of_type.get(shapes, 0.0) + sign * total_ns / side.steps
    return {name: max(by_shape, key=_along(by_shape)) for name, by_shape in changes.items() if by_shape}


def _along(by_shape: Mapping[str, float]) -> Callable[[str], float]:
    """How much shapes add to the change of their type."""
    is_longer = sum(by_shape.values()) >= 0
    return lambda shapes: by_shape[shapes] if is_longer else -by_shape[shapes]
