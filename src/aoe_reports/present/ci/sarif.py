"""What `check` and `regressions` found as SARIF 2.1.0, the way code scanning reads it: relative URIs, every rule, no clock."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import quote, quote_from_bytes

from aoe_reports.formats.sources.objects import ObjectPath, path_of
from aoe_reports.model.documents import JsonObject
from aoe_reports.model.findings import Finding, Severity
from aoe_reports.model.history.changes import METRICS, SeriesChange
from aoe_reports.model.rules import ListedRule
from aoe_reports.model.version import __version__
from aoe_reports.present.ci.places import below_here, cell, character_column
from aoe_reports.present.forms import Shown
from aoe_reports.present.reports.changes import (
    STATES,
    Changes,
    describe_acknowledgement,
    describe_attribution,
    describe_change,
    is_slower,
)
from aoe_reports.present.values import plain

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
LEVELS: dict[Severity, str] = {"error": "error", "warning": "warning", "info": "note"}
ROOT = "%SRCROOT%"
"""What relative URIs are relative to, by the name that code scanning gives the checkout."""


def render(checked: Shown) -> Iterator[str]:
    """One run: its rules, the files that were looked at, a result a finding."""
    files: dict[str, JsonObject] = {}
    for path in dict.fromkeys(row.path for row in checked.answer.rows):
        location = place_of(path)
        files.setdefault(location["uri"], {"location": {**location}, "roles": ["analysisTarget"]})
    for path in dict.fromkeys(finding.path for finding in checked.answer.findings):
        location = place_of(path)
        files.setdefault(location["uri"], {"location": {**location}})
    places = {uri: index for index, uri in enumerate(files)}
    rules = {rule.rule: index for index, rule in enumerate(checked.rules)}
    driver = {"name": "aoe-reports", "version": __version__, "rules": [_rule(rule) for rule in checked.rules]}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "artifacts": list(files.values()),
        "results": [_result(finding, rules, places) for finding in checked.answer.findings],
    }
    document = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    yield json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def _rule(rule: ListedRule) -> JsonObject:
    about = f"Applies to {rule.on}: {rule.reason}"
    return {
        "id": rule.rule,
        "shortDescription": {"text": message_text(rule.reason)},
        "fullDescription": {"text": message_text(about)},
        "help": {"text": message_text(about + (f" ({rule.source})" if rule.source else ""))},
        "defaultConfiguration": {"level": LEVELS[rule.severity]},
        "properties": {"on": rule.on, "source": rule.source},
    }


def _result(finding: Finding, rules: Mapping[str, int], places: Mapping[str, int]) -> JsonObject:
    file = place_of(finding.path)
    physical: JsonObject = {"artifactLocation": {**file, "index": places[file["uri"]]}}
    if finding.line is not None:
        column = character_column(finding)
        physical["region"] = {"startLine": finding.line, **({} if column is None else {"startColumn": column})}
    location: JsonObject = {"physicalLocation": physical}
    if logical := _logical(finding):
        location["logicalLocations"] = [{**logical}]
    return {
        "ruleId": finding.rule,
        "ruleIndex": rules[finding.rule],
        "level": LEVELS[finding.severity],
        "message": {"text": message_text(finding.message)},
        "locations": [location],
    }


def _logical(finding: Finding) -> dict[str, str] | None:
    """The place inside a document (a JSON Pointer), or the column of a table."""
    if finding.pointer:
        pointer = plain(finding.pointer)
        return {"name": pointer.rpartition("/")[2], "fullyQualifiedName": pointer}
    number = cell(finding)
    return None if number is None else {"name": f"column {number}"}


def place_of(path: str) -> dict[str, str]:
    """Where a file or folder is: below the checkout, or absolute; an object by its URI."""
    if isinstance(path_of(path), ObjectPath):
        return {"uri": quote(path, safe="/:")}
    below = below_here(path)
    if below is None:
        return {"uri": Path(os.path.abspath(path)).as_uri()}
    return {"uri": quote_from_bytes(os.fsencode(below)), "uriBaseId": ROOT}


def message_text(text: str) -> str:
    """Text in which nothing is a placeholder (`{0}`) or a link (`[text](target)`) of SARIF."""
    return plain(text).replace("{", "{{").replace("}", "}}").replace("](", "] (")


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


def render_regressions(changes: Changes) -> str:
    """One run. What got quicker is no problem and no result: code scanning would make an alert of it."""
    store = _store(changes.store)
    invocation = {
        "executionSuccessful": True,
        "toolExecutionNotifications": [
            {
                "descriptor": {"id": finding.rule},
                "level": LEVELS[finding.severity],
                "message": {"text": message_text(finding.message)},
            }
            for finding in changes.findings
        ],
    }
    run = {
        "tool": {
            "driver": {
                "name": "aoe-reports",
                "version": changes.version,
                "rules": [_rule_of_state(state) for state in _HELP],
                "notifications": [{"id": rule} for rule in sorted({one.rule for one in changes.findings})],
            }
        },
        "invocations": [invocation],
        "columnKind": "unicodeCodePoints",
        "artifacts": [{"location": {**store}, "roles": ["analysisTarget", "directory"]}],
        "results": [
            _result_of_series(row, state, store)
            for row in changes.rows
            if (state := row.state) in _HELP and is_slower(row)
        ],
    }
    document = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def _rule_of_state(state: str) -> JsonObject:
    about = f"A series of measured times is {state}: {STATES[state]}."
    return {
        "id": f"series-{state}",
        "shortDescription": {"text": f"A series is {state}"},
        "fullDescription": {"text": message_text(about)},
        "help": {"text": message_text(f"{about} {_HELP[state]}")},
        "defaultConfiguration": {"level": "note" if state == "suspect" else "warning"},
    }


def _result_of_series(row: SeriesChange, state: str, store: dict[str, str]) -> JsonObject:
    """A series; `error` where it makes the exit code other than 0, so that both say the same."""
    words = "; ".join([describe_change(row), *(line.strip() for line in describe_attribution(row))])
    name = row.op_name or row.op_type or row.workload
    facts = (*_FACTS, "unit", "better") if row.scope in METRICS else _FACTS
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
        "properties": {name: plain(v) if isinstance(v := getattr(row, name), str) else v for name in facts},
    }


def _suppressions(row: SeriesChange) -> JsonObject:
    accepted = describe_acknowledgement(row)
    if accepted is None:
        return {}
    return {"suppressions": [{"kind": "external", "status": "accepted", "justification": plain(accepted)}]}


def _store(uri: str) -> dict[str, str]:
    """The store's place: its URI, or its folder, which ends with a slash as SARIF wants folders to."""
    if _URI.match(uri):
        return {"uri": quote(uri, safe=":/?#[]@!$&'()*+,;=%~")}
    place = place_of(uri)
    return {**place, "uri": place["uri"].rstrip("/") + "/"}
