"""The result of `regressions` for the formats of CI systems and dashboards, and sentences about a change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from aoe_reports.model.findings import Finding
from aoe_reports.model.history.causes import series_name
from aoe_reports.model.history.changes import MEMORY, METRICS, AlarmBudget, IncidentChange, SeriesChange, SuspectedCause
from aoe_reports.model.history.memory_words import owners_in_words
from aoe_reports.model.history.metrics import BYTE_UNIT, TIME_UNIT, loss

STATES: Mapping[str, str] = {
    "confirmed": "slower since a night: at least three nights say so, and the proof is what the budget of false alarms asks for",
    "drift": "a little slower (or faster) every night: a slope explains the nights better than steps do",
    "suspect": "the newest one or two nights are out of line; ten times as many of these may be wrong as of confirmed changes",
    "recovered": "faster again, back at the level before the last slow-down",
    "improved": "faster",
}
"""What may be said of a series, and what it means."""


@dataclass(frozen=True, slots=True)
class Changes:
    """The rows of `regressions` with the budget, findings, why the exit code is not 0, and what was looked at by which version."""

    rows: Sequence[SeriesChange]
    """`fails` of each says for which reason it makes the exit code other than 0; null where it does not."""
    budget: AlarmBudget
    findings: Sequence[Finding]
    reasons: Sequence[str]
    store: str
    version: str
    """The version of aoe-reports."""
    headline: str = ""
    verdict: str = ""
    incidents: Sequence[IncidentChange] = ()
    suspicions: Sequence[SuspectedCause] = ()
    incidents_only: bool = False
    """Whether a dashboard gets incidents and steps, and no other series: they may be thousands."""

    def reasons_of_no_row(self) -> list[str]:
        """Reasons for the exit code that none of the rows is to blame for."""
        failing = {row.fails for row in self.rows}
        return [reason for reason in self.reasons if reason not in failing]


def is_slower(row: SeriesChange) -> bool:
    """Whether a series changed for the worse."""
    return row.state is not None and loss(row.change or 0.0, row.better) > 0


def describe_change(row: SeriesChange) -> str:
    """A changed series in one sentence."""
    parts = [f"{series_name(row)}: {row.state}"]
    if row.change is not None:
        parts.append(f"{_level(row, row.before)} to {_level(row, row.after)} ({row.change:+.2%}{_interval(row)})")
    if row.since is not None:
        parts.append(f"since {row.since} (run {row.since_run})")
    if row.smallest_detectable is not None:
        parts.append(f"smallest detectable change {row.smallest_detectable:.2%}")
    accepted = describe_acknowledgement(row)
    if accepted is not None:
        parts.append(accepted)
    if row.ended:
        parts.append(f"not measured since {row.last_night}")
    return ", ".join(parts)


def describe_acknowledgement(row: SeriesChange) -> str | None:
    """Who accepted or announced a slow-down, when and why; None where nobody did."""
    accepted = row.acknowledged
    if not accepted:
        return None
    word = "accepted" if accepted.kind == "ack" else "expected"
    who = f" by {accepted.who}" if accepted.who else ""
    return f"{word}{who} on {accepted.when[:10]} ({accepted.id}): {accepted.reason}"


def _level(row: SeriesChange, value: float | None) -> str:
    if row.scope == MEMORY and row.unit == BYTE_UNIT and value is not None:
        return f"{value:,.0f} bytes"
    known = row.unit if row.scope in METRICS else TIME_UNIT
    return f"{value:.6g} {known}" if known else f"{value:.6g}"


def _interval(row: SeriesChange) -> str:
    low, high = row.ci_low, row.ci_high
    return "" if low is None or high is None else f", {low:+.2%} to {high:+.2%}"


def describe_attribution(row: SeriesChange) -> Iterator[str]:
    """The breakdown of the change of a step, a line a part, or the owners of that of a peak of memory; nothing where it is not known."""
    owners = owners_in_words(row.memory)
    if owners is not None:
        yield owners
    attribution = row.attribution
    if not attribution:
        return
    yield f"a step takes {attribution.total_us:+,.3f} us: operators {attribution.operators_us:+,.3f}"
    for operator in attribution.operators:
        tuned = f", tuned by AOE in run {operator.repository_run}" if operator.repository_run else ""
        yield f"  {operator.op_name or operator.op_type} {operator.difference_us:+,.3f} us ({operator.cause}{tuned})"
    if attribution.operators and attribution.other_operators_us:
        yield f"  other operators {attribution.other_operators_us:+,.3f} us"
    for part_us, words in (
        (attribution.communication_not_overlapped_us, "communication that is not overlapped"),
        (attribution.free_us, "free time"),
        (attribution.unattributed_us, "unattributed"),
    ):
        if part_us is not None:
            yield f"  {words} {part_us:+,.3f} us"
    for shift in attribution.shifts:
        yield f"  moved from {', '.join(shift.from_)} to {', '.join(shift.to)}: {shift.moved_us:,.3f} us"
