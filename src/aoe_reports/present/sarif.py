"""What `check` found as SARIF 2.1.0, the way code scanning reads it: relative URIs, every rule, no clock."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import quote, quote_from_bytes

from aoe_reports.formats.objects import ObjectPath, path_of
from aoe_reports.model.documents import JsonObject
from aoe_reports.model.findings import Finding, Severity
from aoe_reports.model.rules import ListedRule
from aoe_reports.model.version import __version__
from aoe_reports.present.forms import Shown
from aoe_reports.present.places import below_here, cell, character_column
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
