"""Rules that are declared in this room: their names and severities, which files that select rules rely on, and their words."""

from __future__ import annotations

from catalogues import CHINESE

from aoe_reports.model.rules import rules_in
from aoe_reports.topics import rules

SEVERITIES = {
    "above-peak": "warning",
    "bank-chip": "warning",
    "comparability-unknown": "warning",
    "counters-disagree": "info",
    "device-unknown": "warning",
    "no-location": "info",
    "no-peers": "info",
    "no-record": "info",
    "no-run": "info",
    "no-timeline": "warning",
    "not-comparable": "error",
    "modules-capped": "info",
    "operators-capped": "info",
    "peak-unknown": "warning",
    "pipeline-bubbles": "info",
    "rank-skew": "info",
    "no-baseline": "error",
    "read-with-care": "warning",
    "batches-apart": "info",
    "tasks-beside-each-other": "info",
    "trimmed": "info",
    "unsteady-steps": "info",
    "raw-capped": "info",
    "repeated-record": "info",
    "compared-by-name": "info",
    "steps-by-place": "info",
    "time-unknown": "warning",
    "time-zone-assumed": "info",
    "workload-conflict": "error",
    "workload-from": "warning",
    "workload-unknown": "info",
}


def test_rules_keep_their_names_and_severities() -> None:
    assert {name: rule.severity for name, rule in rules_in(rules).items()} == SEVERITIES


def test_every_rule_says_why_in_every_language() -> None:
    told = {text for rule in rules_in(rules).values() for text in (rule.on, rule.reason)}
    assert told - CHINESE.keys() == set()
