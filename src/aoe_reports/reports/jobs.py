"""What a tuning job would run, as a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from aoe_reports.reports.report import Report, Section


def dry_run_report(stages: Sequence[Mapping[str, Any]]) -> Report:
    """A section a stage: where it runs, its environment, its arguments as they would be typed."""
    sections = [Section(str(stage["stage"]), lines=_lines(stage)) for stage in stages]
    return Report("What would be run", "", sections)


def _lines(stage: Mapping[str, Any]) -> list[str]:
    lines = [f"cd {stage['working_folder']}"]
    lines += [f"unset {' '.join(stage['unset'])}"] if stage["unset"] else []
    lines += [f"export {name}={value}" for name, value in stage["environment"].items()]
    return [*lines, stage["command"]]
