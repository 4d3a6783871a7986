"""What a tuning job would run, as a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from aoe_reports.model.report import Report, Section
from aoe_reports.model.texts import join, say
from aoe_reports.present.reports.rows import rows_report


def dry_run_report(stages: Sequence[Mapping[str, Any]]) -> Report:
    """A section a stage: where it runs, its environment, its arguments as they would be typed."""
    sections = [Section(str(stage["stage"]), lines=_lines(stage)) for stage in stages]
    return Report("What would be run", "", sections)


def tuned_report(rows: Sequence[Mapping[str, Any]], status: str | None) -> Report:
    """What came of a job, with what AOE says of operators and of subgraphs in front: no step was measured."""
    report = rows_report("tune", "What came of it", rows)
    return replace(report, headline=_headline(rows, status)) if rows else report


def _headline(rows: Sequence[Mapping[str, Any]], status: str | None) -> str:
    said = []
    for kind, subject in (("operator", "operators: {counts}"), ("subgraph", "subgraphs: {counts}")):
        counts = Counter(row["status"] for row in rows if row["kind"] == kind)
        words = (say("{number} {outcome}", number=number, outcome=say(word)) for word, number in counts.items())
        if counts:
            said.append(say(subject, counts=join(", ", words)))
    told = join("; ", said)
    if status != "done":
        return say("Tuning did not come to its end; {told}.", told=told)
    return say(
        "Tuned {told}. Times are AOE's own, of operators by themselves; how long a step takes was not measured.",
        told=told,
    )


def _lines(stage: Mapping[str, Any]) -> list[str]:
    lines = [f"cd {stage['working_folder']}"]
    lines += [f"unset {' '.join(stage['unset'])}"] if stage["unset"] else []
    lines += [f"export {name}={value}" for name, value in stage["environment"].items()]
    return [*lines, stage["command"]]
