"""Answers as workflow commands of GitHub Actions: an annotation for each finding, highlight, incident or suspected cause."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from aoe_reports.model.findings import SEVERITIES, Finding, Severity
from aoe_reports.model.history.changes import IncidentChange, is_small
from aoe_reports.present.ci.places import below_here, cell, character_column
from aoe_reports.present.forms import Shown
from aoe_reports.present.night import since_with_facts
from aoe_reports.present.reports.changes import Changes, describe_acknowledgement
from aoe_reports.present.reports.incidents import worst_first
from aoe_reports.present.values import plain

KINDS: dict[Severity, str] = {"error": "error", "warning": "warning", "info": "notice"}
MAX_SHOWN = 10
"""GitHub shows so many annotations of one kind for a step; the log has all."""


def render(checked: Shown) -> Iterator[str]:
    """A command a finding, then a line that counts them."""
    answer = checked.answer
    yield from (_command(finding) + "\n" for finding in answer.findings)
    yield _count(len(answer.rows), answer.findings) + "\n"


def as_annotations(shown: Shown) -> Iterator[str]:
    """A command a finding and a highlight, then one with the headline."""
    answer = shown.answer
    yield from (_command(finding) + "\n" for finding in answer.findings)
    for highlight in answer.highlights:
        yield _annotation(KINDS[highlight.severity], highlight.message, {"title": highlight.title}) + "\n"
    if answer.headline:
        kind = KINDS["error" if answer.reasons(strict=shown.strict) else "info"]
        yield _annotation(kind, answer.headline, {"title": answer.title}) + "\n"


def _command(finding: Finding) -> str:
    properties: dict[str, str | int] = {"file": below_here(finding.path) or finding.path}
    if finding.line is not None:
        properties["line"] = finding.line
        if (column := character_column(finding)) is not None:
            properties["col"] = column
    properties["title"] = finding.rule
    number = cell(finding)
    within = f" at {finding.pointer}" if finding.pointer else "" if number is None else f" in column {number}"
    return _annotation(KINDS[finding.severity], finding.message + within, properties)


def _annotation(kind: str, message: str, properties: Mapping[str, str | int]) -> str:
    """A workflow command: an annotation of a kind (error, warning, notice)."""
    ends = str.maketrans({":": "%3A", ",": "%2C"})
    described = ",".join(f"{name}={_data(str(value)).translate(ends)}" for name, value in properties.items())
    return f"::{kind} {described}::{_data(message)}"


def render_regressions(changes: Changes) -> str:
    """An annotation an incident or a suspected cause: errors for what fails, warnings for what is open or suspected, else notices."""
    said = [plain(line) for line in (changes.headline, changes.verdict) if line]
    return "".join(f"{line}\n" for line in (*_commands_of_changes(changes), *said))


def _commands_of_changes(changes: Changes) -> Iterator[str]:
    fails = {row.incident for row in changes.rows if row.fails == "regression"}
    accepted = {row.incident: describe_acknowledgement(row) for row in changes.rows if row.acknowledged is not None}
    for one in worst_first(changes.incidents):
        if one.open or one.new or one.incident in accepted:
            yield _incident(one, accepted.get(one.incident), fails=one.incident in fails)
    for cause in changes.suspicions:
        if not cause.past:
            summary = since_with_facts(cause.title, cause.since, cause.metadata)
            title = "Suspected improvement" if cause.cause.change < 0 else "Suspected change"
            kind = "notice" if cause.cause.change < 0 or is_small(cause.cause.step_share) else "warning"
            yield _annotation(kind, f"{summary}: run the night again", {"title": title})
    for finding in changes.findings:
        yield _annotation(KINDS[finding.severity], finding.message, {"title": finding.rule})


def _incident(change: IncidentChange, accepted: str | None, *, fails: bool) -> str:
    kind, title = (
        ("error", "Regression") if fails else ("warning", "Open incident") if change.open else ("notice", "Change")
    )
    summary = since_with_facts(change.title, change.since, change.metadata)
    series = "1 series" if len(change.members) == 1 else f"{len(change.members)} series"
    words = "" if accepted is None else f", {accepted}"
    return _annotation(kind, f"{summary} (incident {change.incident}, {series}{words})", {"title": title})


def _count(files: int, findings: Sequence[Finding]) -> str:
    severities = Counter(finding.severity for finding in findings)
    counts = {KINDS[severity]: severities[severity] for severity in SEVERITIES}
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
