"""The rule on cases that are listed twice."""

from __future__ import annotations

from aoe_reports.model.texts import say
from aoe_reports.rules.found import Found
from aoe_reports.rules.results.task import DOCS, RESULTS, Task


@RESULTS.rule("duplicate-operator", "warning", "one case has one outcome", DOCS).checked_by
def duplicate_operator(task: Task) -> Found:
    """No operator (in one mode) or subgraph is listed twice, or as failed and as modified."""
    names = task.columns.distinct_names
    if len(names) == len(task.columns.names) and names.isdisjoint(task.facts.failed_operators):
        return
    seen: dict[tuple[str, str | None], str] = {}
    for part in task.exact.modifications:
        key = (part.name, part.mode)
        if key in seen:
            yield part.pointer, say("{name!r} appears here and at {place}", name=part.name[:200], place=seen[key])
        seen[key] = part.pointer
    failed = set(task.facts.failed_operators)
    for (name, _), pointer in seen.items():
        if name in failed:
            yield pointer, say("{name!r} is listed as failed and as modified", name=name[:200])
