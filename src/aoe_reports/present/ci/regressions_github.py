"""What `regressions` found as workflow commands of GitHub Actions: an annotation an incident, or a cause of suspicions."""

from __future__ import annotations

from collections.abc import Iterator

from aoe_reports.model.history.changes import IncidentChange, is_small
from aoe_reports.present.ci.github import KINDS, command
from aoe_reports.present.night import since_with_facts
from aoe_reports.present.reports.changes import Changes, describe_acknowledgement
from aoe_reports.present.reports.incidents import worst_first
from aoe_reports.present.values import plain


def render(changes: Changes) -> str:
    """Errors for what fails, warnings for what is open or suspected, notices for what got quicker; then headline and verdict."""
    said = [plain(line) for line in (changes.headline, changes.verdict) if line]
    return "".join(f"{line}\n" for line in (*_commands(changes), *said))


def _commands(changes: Changes) -> Iterator[str]:
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
            yield command(kind, f"{summary}: run the night again", {"title": title})
    for finding in changes.findings:
        yield command(KINDS[finding.severity], finding.message, {"title": finding.rule})


def _incident(one: IncidentChange, accepted: str | None, *, fails: bool) -> str:
    kind, title = (
        ("error", "Regression") if fails else ("warning", "Open incident") if one.open else ("notice", "Change")
    )
    summary = since_with_facts(one.title, one.since, one.metadata)
    series = "1 series" if len(one.members) == 1 else f"{len(one.members)} series"
    words = "" if accepted is None else f", {accepted}"
    return command(kind, f"{summary} (incident {one.incident}, {series}{words})", {"title": title})
