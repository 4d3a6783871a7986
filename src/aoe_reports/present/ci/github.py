"""Answers as workflow commands of GitHub Actions: an annotation a finding, or what an answer tells by itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from aoe_reports.model.findings import SEVERITIES, Finding, Severity
from aoe_reports.present.ci.places import below_here, cell, character_column
from aoe_reports.present.forms import Shown
from aoe_reports.present.values import plain

KINDS: dict[Severity, str] = {"error": "error", "warning": "warning", "info": "notice"}
MAX_SHOWN = 10
"""Annotations of one kind that GitHub shows for one step; the others stand in its log only."""


def render(checked: Shown) -> Iterator[str]:
    """A command a finding, then a line that counts them."""
    answer = checked.answer
    yield from (_command(finding) + "\n" for finding in answer.findings)
    yield _count(len(answer.rows), answer.findings) + "\n"


def as_annotations(shown: Shown) -> Iterator[str]:
    """A command a finding and a highlight, then one with the headline."""
    answer = shown.answer
    yield from (_command(finding) + "\n" for finding in answer.findings)
    for one in answer.highlights:
        yield command(KINDS[one.severity], one.message, {"title": one.title}) + "\n"
    if answer.headline:
        kind = KINDS["error" if answer.reasons(strict=shown.strict) else "info"]
        yield command(kind, answer.headline, {"title": answer.title}) + "\n"


def _command(finding: Finding) -> str:
    properties: dict[str, str | int] = {"file": below_here(finding.path) or finding.path}
    if finding.line is not None:
        properties["line"] = finding.line
        if (column := character_column(finding)) is not None:
            properties["col"] = column
    properties["title"] = finding.rule
    number = cell(finding)
    within = f" at {finding.pointer}" if finding.pointer else "" if number is None else f" in column {number}"
    return command(KINDS[finding.severity], finding.message + within, properties)


def command(kind: str, message: str, properties: Mapping[str, str | int]) -> str:
    """A workflow command: an annotation of a kind (error, warning, notice)."""
    told = ",".join(f"{name}={_property(str(value))}" for name, value in properties.items())
    return f"::{kind} {told}::{_data(message)}"


def _count(files: int, findings: Sequence[Finding]) -> str:
    found = Counter(finding.severity for finding in findings)
    counts = {KINDS[severity]: found[severity] for severity in SEVERITIES}
    said = ", ".join(_number(count, kind) for kind, count in counts.items())
    line = f"{_number(files, 'file')} checked: {said}"
    if max(counts.values()) > MAX_SHOWN:
        line += f"; GitHub shows {MAX_SHOWN} annotations of each kind a step, the log above has all"
    return line


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}" + ("" if count == 1 else "s")


def _data(text: str) -> str:
    """Text behind the second `::`: line ends as GitHub escapes them, other control characters spelled out."""
    return plain(text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A"))


def _property(text: str) -> str:
    """Text in a property: the characters that end it are escaped, too."""
    return _data(text).replace(":", "%3A").replace(",", "%2C")
