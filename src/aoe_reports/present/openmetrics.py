"""What `regressions` found as OpenMetrics text, as a textfile collector picks it up: gauges without time stamps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from aoe_reports.present.reports.changes import STATES, Changes
from aoe_reports.present.values import plain

PREFIX = "aoe_reports"
LABELS = ("series_id", "workload", "scope", "op_type", "op_name", "hardware", "rank_id", "device_id", "state")
"""Of a series; an empty one is one that the series has not."""

Sample = tuple[Mapping[str, Any], float | None]


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
    yield "series_change_ratio", "ratio", "After / before - 1 of a series; above 0 is slower.", _of(rows, "change")
    yield "series_before_seconds", "seconds", "Level of a series before its change.", _of(rows, "before", 1e-3)
    yield "series_after_seconds", "seconds", "Level of a series after its change.", _of(rows, "after", 1e-3)
    about = "The smallest change of a series that would have been found."
    yield "series_smallest_detectable_ratio", "ratio", about, _of(rows, "smallest_detectable")
    about = "The night since which a series is changed (its beginning in UTC)."
    yield "series_since_timestamp_seconds", "seconds", about, [(_series(row), _epoch(row["since"])) for row in rows]
    states = Counter(row["state"] for row in rows)
    yield "changed_series", "", "Series by state.", [({"state": state}, states[state]) for state in STATES]
    fails = Counter(row["fails"] for row in rows)
    about = "Series that make the exit code other than 0, by reason."
    yield "failing_series", "", about, [({"reason": reason}, fails[reason]) for reason in ("regression", "suspect")]
    accepted = sum(row.get("acknowledged") is not None for row in rows)
    yield "acknowledged_series", "", "Slower series that somebody accepted or announced.", [({}, accepted)]
    yield "stored_series", "", "Series in the store.", [({}, budget["series"])]
    yield "eligible_series", "", "Series with enough nights to be judged.", [({}, budget["eligible"])]
    about = "False alarms a year that all series together may raise."
    yield "false_alarms_per_year", "", about, [({}, float(budget["false_alarms_per_year"]))]


def _of(rows: Iterable[Mapping[str, Any]], name: str, factor: float = 1.0) -> list[Sample]:
    return [(_series(row), None if row[name] is None else round(row[name] * factor, 15)) for row in rows]


def _series(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in LABELS}


def _epoch(night: str | None) -> float | None:
    return None if night is None else datetime.fromisoformat(night).replace(tzinfo=UTC).timestamp()


def _labels(labels: Mapping[str, Any]) -> str:
    told = ",".join(f'{name}="{_value(value)}"' for name, value in labels.items())
    return f"{{{told}}}" if told else ""


def _value(value: Any) -> str:
    """A label's value; line ends and escape sequences are spelled out before, as in every other form."""
    text = "" if value is None else plain(str(value))
    return text.replace("\\", "\\\\").replace('"', '\\"')
