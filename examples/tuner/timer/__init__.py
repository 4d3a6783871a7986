"""A tuner that leaves one line an operator: name, type, us before, us after."""

from __future__ import annotations

from pathlib import Path

from aoe_reports.formats.tuner_files import TunerFile, TunerFileKind
from aoe_reports.model.findings import Finding
from aoe_reports.model.rules import Scope

TIMER_ROW = Scope("files of other tuners").rule("timer-row", "error", "a line that is not name, type and two times")


def is_timer(name: str, head: str = "") -> bool:
    """Whether a file is one of this tuner's."""
    return name == "timer.csv" and head.startswith("name,type,before_us,after_us")


def rows_of(path: Path) -> tuple[list[tuple[str, str, float, float]], list[Finding]]:
    """(the lines that can be used, what is wrong with the others)."""
    rows, findings = [], []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines()[1:], start=2):
        try:
            name, kind, before, after = line.split(",")
            rows.append((name, kind, float(before), float(after)))
        except ValueError:
            findings.append(TIMER_ROW.found(str(path), "expected name, type and two times", number))
    return rows, findings


def read_file(path: Path, most: int | None) -> TunerFile:
    """What `check` and `inspect` show."""
    del most
    rows, findings = rows_of(path)
    return TunerFile(len(rows), tuple(row[0] for row in rows), len(rows), None, tuple(findings))


FILES = (TunerFileKind("timer", "csv", is_timer, read_file, (TIMER_ROW,)),)
