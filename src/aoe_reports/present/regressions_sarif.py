"""What `regressions` found as SARIF 2.1.0: a result a series that got slower, the store as its place; no clock."""

from __future__ import annotations

import json
import re
from urllib.parse import quote

from aoe_reports.model.changes import METRIC, SeriesChange
from aoe_reports.model.documents import JsonObject
from aoe_reports.model.findings import Finding
from aoe_reports.present.reports.changes import (
    STATES,
    Changes,
    describe_acknowledgement,
    describe_attribution,
    describe_change,
    is_slower,
)
from aoe_reports.present.sarif import LEVELS, SCHEMA, message_text, place_of
from aoe_reports.present.values import plain

_HELP = {
    "confirmed": "Look at the operators that the message names, and at what changed between the run before and this one.",
    "drift": "Look for what grows from night to night: caches, fragmentation, temperatures, data.",
    "suspect": "Run the night again: one more night confirms it or takes it back.",
}
"""The rules: states of a series that got slower, and what to do."""
_FACTS = (
    "series_id", "scope", "op_type", "op_name", "metric", "hardware", "rank_id", "device_id", "since", "since_run",
    "before", "after", "change", "ci_low", "ci_high", "smallest_detectable",
)  # fmt: skip
_URI = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]+://")


def render(changes: Changes) -> str:
    """One run. What got quicker is no problem and no result: code scanning would make an alert of it."""
    store = _store(changes.store)
    invocation = {
        "executionSuccessful": True,
        "toolExecutionNotifications": [_notification(finding) for finding in changes.findings],
    }
    run = {
        "tool": {
            "driver": {
                "name": "aoe-reports",
                "version": changes.version,
                "rules": [_rule(state) for state in _HELP],
                "notifications": [{"id": rule} for rule in sorted({one.rule for one in changes.findings})],
            }
        },
        "invocations": [invocation],
        "columnKind": "unicodeCodePoints",
        "artifacts": [{"location": {**store}, "roles": ["analysisTarget", "directory"]}],
        "results": [
            _result(row, state, store) for row in changes.rows if (state := row.state) in _HELP and is_slower(row)
        ],
    }
    document = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def _rule(state: str) -> JsonObject:
    about = f"A series of measured times is {state}: {STATES[state]}."
    return {
        "id": f"series-{state}",
        "shortDescription": {"text": f"A series is {state}"},
        "fullDescription": {"text": message_text(about)},
        "help": {"text": message_text(f"{about} {_HELP[state]}")},
        "defaultConfiguration": {"level": "note" if state == "suspect" else "warning"},
    }


def _result(row: SeriesChange, state: str, store: dict[str, str]) -> JsonObject:
    """A series; `error` where it makes the exit code other than 0, so that both say the same."""
    words = "; ".join([describe_change(row), *(line.strip() for line in describe_attribution(row))])
    name = row.op_name or row.op_type or row.workload
    return {
        "ruleId": f"series-{state}",
        "ruleIndex": [*_HELP].index(state),
        "level": "error" if row.fails else "note" if state == "suspect" else "warning",
        "message": {"text": message_text(words)},
        "locations": [
            {
                "physicalLocation": {"artifactLocation": {**store, "index": 0}},
                "logicalLocations": [{"name": plain(name), "fullyQualifiedName": plain(row.workload)}],
            }
        ],
        # the same change of the same series is the same alert, night after night
        "partialFingerprints": {"seriesSince/v1": f"{row.series_id}:{row.first_since or row.since}"},
        **_suppressions(row),
        "properties": {name: plain(v) if isinstance(v := getattr(row, name), str) else v for name in _facts_of(row)},
    }


def _facts_of(row: SeriesChange) -> tuple[str, ...]:
    return (*_FACTS, "unit", "better") if row.scope == METRIC else _FACTS


def _suppressions(row: SeriesChange) -> JsonObject:
    """That somebody accepted a change, where somebody did."""
    accepted = describe_acknowledgement(row)
    if accepted is None:
        return {}
    return {"suppressions": [{"kind": "external", "status": "accepted", "justification": plain(accepted)}]}


def _notification(finding: Finding) -> JsonObject:
    return {
        "descriptor": {"id": finding.rule},
        "level": LEVELS[finding.severity],
        "message": {"text": message_text(finding.message)},
    }


def _store(uri: str) -> dict[str, str]:
    """The store's place: its URI, or its folder, which ends with a slash as SARIF wants folders to."""
    if _URI.match(uri):
        return {"uri": quote(uri, safe=":/?#[]@!$&'()*+,;=%~")}
    place = place_of(uri)
    return {**place, "uri": place["uri"].rstrip("/") + "/"}
