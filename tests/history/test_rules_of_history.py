"""Rules that are declared in this room: their names and severities, which files that select rules rely on, and their words."""

from __future__ import annotations

from catalogues import CHINESE

from aoe_reports.history import rules
from aoe_reports.model.rules import rules_in

SEVERITIES = {
    "advice-limited": "info",
    "baseline-known-bad": "info",
    "change-withdrawn": "warning",
    "clock-ahead": "warning",
    "clock-jump": "warning",
    "hardware-unnamed": "warning",
    "less-complete": "warning",
    "metric-units": "warning",
    "not-enough-data": "warning",
    "nothing-selected": "warning",
    "older-normaliser": "info",
    "plan-unknown": "warning",
    "several-hardware": "info",
    "store-body": "error",
    "store-not-compacted": "warning",
    "store-row": "error",
    "workload-alike": "warning",
    "workload-changed": "warning",
    "workload-continued": "info",
    "workload-resembles": "warning",
    "workload-unchecked": "warning",
}


def test_rules_keep_their_names_and_severities() -> None:
    assert {name: rule.severity for name, rule in rules_in(rules).items()} == SEVERITIES


def test_every_rule_says_why_in_every_language() -> None:
    told = {text for rule in rules_in(rules).values() for text in (rule.on, rule.reason)}
    assert told - CHINESE.keys() == set()
