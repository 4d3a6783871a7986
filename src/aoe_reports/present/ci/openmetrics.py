"""What `regressions` found as OpenMetrics text, as a textfile collector picks it up: gauges without time stamps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from aoe_reports.model.history.changes import METRICS, WHOLE, IncidentChange, SeriesChange
from aoe_reports.model.history.metrics import loss
from aoe_reports.present.reports.changes import STATES, Changes
from aoe_reports.present.values import plain

PREFIX = "aoe_reports"
LABELS = ("series_id", "workload", "scope", "op_type", "op_name", "hardware", "rank_id", "device_id", "state")
"""Of a series; an empty one is one that the series has not."""
OF_METRICS = ("metric", "unit", "better")
"""More labels, of a metric alone."""


Labels = Mapping[str, str | int | None]


class Sample(NamedTuple):
    """A value under its labels; one that is unknown is None."""

    labels: Labels
    value: float | None


def render(changes: Changes) -> str:
    """All families in a fixed order, each once; a value that is unknown has no sample."""
    lines: list[str] = []
    for name, unit, about, samples in _families(changes):
        lines += [f"# TYPE {PREFIX}_{name} gauge"]
        lines += [f"# UNIT {PREFIX}_{name} {unit}"] if unit else []
        lines += [f"# HELP {PREFIX}_{name} {about}"]
        lines += [f"{PREFIX}_{name}{_labels(labels)} {value!r}" for labels, value in samples if value is not None]
    return "\n".join([*lines, "# EOF", ""])


def _families(changes: Changes) -> Iterator[tuple[str, str, str, Iterable[Sample]]]:
    """Name, unit, help, samples."""
    rows, budget = changes.rows, changes.budget
    if not changes.incidents_only:
        yield from _series_families(rows)
    states = Counter(row.state for row in rows)
    yield "changed_series", "", "Series by state.", [Sample({"state": state}, states[state]) for state in STATES]
    fails = Counter(row.fails for row in rows)
    about = "Series that make the exit code other than 0, by reason."
    yield "failing_series", "", about, [Sample({"reason": one}, fails[one]) for one in ("regression", "suspect")]
    yield from _incident_families(changes)
    accepted = sum(row.acknowledged is not None for row in rows)
    yield "acknowledged_series", "", "Slower series that somebody accepted or announced.", [Sample({}, accepted)]
    yield "stored_series", "", "Series in the store.", [Sample({}, budget.series)]
    yield "eligible_series", "", "Series with enough nights to be judged.", [Sample({}, budget.eligible)]
    about = "False alarms a year that all series together may raise."
    yield "false_alarms_per_year", "", about, [Sample({}, float(budget.false_alarms_per_year))]


def _series_families(rows: Sequence[SeriesChange]) -> Iterator[tuple[str, str, str, Iterable[Sample]]]:
    metrics = [row for row in rows if row.scope in METRICS]
    rows = [row for row in rows if row.scope not in METRICS]
    yield "series_change_ratio", "ratio", "After / before - 1 of a series; above 0 is slower.", _of(rows, "change")
    yield "series_before_seconds", "seconds", "Level of a series before its change.", _of(rows, "before", 1e-3)
    yield "series_after_seconds", "seconds", "Level of a series after its change.", _of(rows, "after", 1e-3)
    about = "The smallest change of a series that would have been found."
    yield "series_smallest_detectable_ratio", "ratio", about, _of(rows, "smallest_detectable")
    about = "The night since which a series is changed (its beginning in UTC)."
    yield "series_since_timestamp_seconds", "seconds", about, [Sample(_series(row), _epoch(row.since)) for row in rows]
    if metrics:
        yield from _metric_families(metrics)


def _metric_families(rows: Sequence[SeriesChange]) -> Iterator[tuple[str, str, str, Iterable[Sample]]]:
    """Metrics in their own units; the label `better` gives the good direction."""
    about = "After / before - 1 of a metric; worse is below 0 where better is higher, else above 0."
    yield "metric_change_ratio", "ratio", about, _of(rows, "change")
    yield "metric_before", "", "Level of a metric before its change, in the unit of its label.", _of(rows, "before")
    yield "metric_after", "", "Level of a metric after its change, in the unit of its label.", _of(rows, "after")
    about = "The smallest loss of a metric that would have been found."
    yield "metric_smallest_detectable_ratio", "ratio", about, _of(rows, "smallest_detectable")
    about = "The night since which a metric is changed (its beginning in UTC)."
    yield "metric_since_timestamp_seconds", "seconds", about, [Sample(_series(row), _epoch(row.since)) for row in rows]


def _incident_families(changes: Changes) -> Iterator[tuple[str, str, str, Iterable[Sample]]]:
    """What changed together, and the steps among the series: for a dashboard that does not list thousands of series."""
    incidents = [(_incident(incident), incident) for incident in changes.incidents]
    about = (
        "Loss of the series that names an incident: after / before - 1, of metrics where higher is better the negative."
        if any(incident.better == "higher" for incident in changes.incidents)
        else "After / before - 1 of the series that names an incident; above 0 is slower."
    )
    lost = [Sample(labels, loss(one.change, one.better)) for labels, one in incidents]
    yield "incident_change_ratio", "ratio", about, lost
    about = "How much longer all calls of a run of that series take."
    impacts = [Sample(labels, round(one.impact_ms * 1e-3, 15)) for labels, one in incidents]
    yield "incident_impact_seconds", "seconds", about, impacts
    about = "The night since which an incident lasts (its beginning in UTC)."
    begun = [Sample(labels, _epoch(one.since)) for labels, one in incidents]
    yield "incident_since_timestamp_seconds", "seconds", about, begun
    count = sum(incident.open for incident in changes.incidents)
    yield "open_incidents", "", "Incidents that nobody accepted.", [Sample({}, count)]
    steps = [row for row in changes.rows if row.scope in WHOLE]
    yield "step_change_ratio", "ratio", "After / before - 1 of a step; above 0 is slower.", _of(steps, "change")
    yield "step_after_seconds", "seconds", "Level of a step after its change.", _of(steps, "after", 1e-3)


def _incident(change: IncidentChange) -> Labels:
    """What stays the same from night to night: titles hold the change, and would make a series of each night."""
    first = change.causes[0] if change.causes else None
    cause = {name: getattr(first, name, None) for name in ("kind", "op_type", "op_name", "rank_id")}
    state = "open" if change.open else "closed"
    return {
        "incident": change.incident,
        "models": ",".join(change.models),
        "hardware": change.hardware,
        **cause,
        "state": state,
    }


def _of(rows: Iterable[SeriesChange], name: str, factor: float = 1.0) -> list[Sample]:
    values = ((_series(row), getattr(row, name)) for row in rows)
    return [Sample(labels, None if value is None else round(value * factor, 15)) for labels, value in values]


def _series(row: SeriesChange) -> Labels:
    more = OF_METRICS if row.scope in METRICS else ()
    return {name: getattr(row, name) for name in (*LABELS, *more)}


def _epoch(night: str | None) -> float | None:
    return None if night is None else datetime.fromisoformat(night).replace(tzinfo=UTC).timestamp()


def _labels(labels: Labels) -> str:
    pairs = ",".join(f'{name}="{_value(value)}"' for name, value in labels.items())
    return f"{{{pairs}}}" if pairs else ""


def _value(value: str | int | None) -> str:
    """A label's value; line ends and escape sequences are spelled out before, as in every other form."""
    text = "" if value is None else plain(str(value))
    return text.replace("\\", "\\\\").replace('"', '\\"')
