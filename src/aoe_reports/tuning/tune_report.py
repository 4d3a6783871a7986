"""What a tuning job would run, and what came of it in one sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from aoe_reports.model.rows import column, row
from aoe_reports.model.texts import join, say
from aoe_reports.tuning.driver import OutcomeRow


@row
class PlannedRun:
    """One stage that would be run."""

    stage: str = column()
    command: str = column()
    argv: list[str] = column()
    working_folder: str = column()
    environment: Mapping[str, str] = column()
    unset: list[str] = column()
    tune_ops: Mapping[str, list[str]] | None = column()

    def as_typed(self) -> list[str]:
        """Where it runs, its environment and its arguments as they would be typed."""
        lines = [f"cd {self.working_folder}"]
        lines += [f"unset {' '.join(self.unset)}"] if self.unset else []
        lines += [f"export {name}={value}" for name, value in self.environment.items()]
        return [*lines, self.command]


def headline(rows: Sequence[OutcomeRow], status: str) -> str:
    """What the tuner says of operators and of subgraphs: no step was measured."""
    said = []
    for kind, subject in (("operator", "operators: {counts}"), ("subgraph", "subgraphs: {counts}")):
        counts = Counter(one.status for one in rows if one.kind == kind)
        words = (say("{number} {outcome}", number=number, outcome=say(word)) for word, number in counts.items())
        if counts:
            said.append(say(subject, counts=join(", ", words)))
    told = join("; ", said)
    if status != "done":
        return say("Tuning did not finish; {told}.", told=told)
    return say(
        ("Tuned {told}. Times are AOE's own, measured on single operators; the duration of a step was not measured."),
        told=told,
    )
