"""Findings: their order, how many are listed, what they make of the exit code."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from aoe_reports.model.findings import (
    EXAMPLES_PER_RULE,
    LISTED_PER_RULE,
    SEVERITIES,
    Finding,
    Severity,
    has,
    in_order,
    is_below,
    listed,
    reasons_of,
)
from aoe_reports.model.texts import say

ONE = Finding("error", "b", "path", say("{count} rows", count=3), 2, 3, "/a/0")


def test_findings_stand_by_place_then_severity_then_rule() -> None:
    ordered = [
        replace(ONE, path="o", line=9),
        replace(ONE, line=None, column=9),
        replace(ONE, line=1, column=None),
        replace(ONE, line=1, column=4, pointer=None),
        replace(ONE, line=1, column=4, pointer="/a"),
        replace(ONE, rule="c"),
        replace(ONE, rule="c", severity="warning"),
        replace(ONE, rule="a", severity="info"),
        replace(ONE, severity="info"),
        replace(ONE, severity="info", message="z"),
    ]
    assert in_order([*reversed(ordered), *ordered]) == ordered
    assert in_order([ordered[5], ordered[6]]) == ordered[5:7]


def test_a_finding_keeps_all_of_itself() -> None:
    assert Finding.from_fields(json.loads(json.dumps(ONE.as_fields()))) == ONE
    assert list(ONE.as_dict().values()) == ["error", "b", "path", 2, 3, "/a/0", "3 rows"]
    assert list(ONE.as_dict()) == ["severity", "rule", "path", "line", "column", "pointer", "message"]


@pytest.mark.parametrize(
    ("finding", "text"),
    [
        (ONE, "path:2:3: error: 3 rows at /a/0 [b]"),
        (replace(ONE, pointer=None), "path:2:3: error: 3 rows [b]"),
        (replace(ONE, pointer=""), "path:2:3: error: 3 rows [b]"),
        (replace(ONE, pointer=None, column=None), "path:2: error: 3 rows [b]"),
        (replace(ONE, pointer=None, column=None, line=None), "path: error: 3 rows [b]"),
    ],
)
def test_a_finding_as_a_line(finding: Finding, text: str) -> None:
    assert finding.as_text() == text


@pytest.mark.parametrize("beyond", [-1, 0, 1, 2])
def test_the_first_of_a_rule_are_listed_and_the_rest_counted(beyond: int) -> None:
    count = LISTED_PER_RULE + beyond
    many = [replace(ONE, line=number) for number in range(count)]
    others = [replace(ONE, severity="info", line=number) for number in range(LISTED_PER_RULE)]
    shown = list(listed([*many, *others]))
    assert shown[: min(count, LISTED_PER_RULE)] == many[:LISTED_PER_RULE]
    rest = shown[min(count, LISTED_PER_RULE) + len(others) :]
    said = f"and {beyond} more of this rule, not listed here"
    assert rest == ([Finding("error", "b", "…", said)] if beyond > 0 else [])


@pytest.mark.parametrize("severity", SEVERITIES)
def test_whether_a_severity_is_there(severity: Severity) -> None:
    assert has([replace(ONE, severity=severity)], severity)
    assert not has([replace(ONE, severity=other) for other in SEVERITIES if other != severity], severity)


@pytest.mark.parametrize(
    ("rule", "severity", "strict", "reasons"),
    [
        ("schema", "error", False, ["damage"]),
        ("schema", "warning", False, []),
        ("schema", "warning", True, ["damage"]),
        ("schema", "info", True, []),
        ("tuning-failed", "error", False, ["tuning-failed"]),
        ("subgraph-failed", "error", False, ["tuning-failed"]),
        ("failed-without-list", "error", False, ["tuning-failed"]),
        ("not-comparable", "error", False, ["not-comparable"]),
        ("comparability-unknown", "warning", True, ["not-comparable"]),
        ("comparability-unknown", "warning", False, []),
    ],
)
def test_what_makes_the_exit_code_1(rule: str, severity: Severity, strict: bool, reasons: list[str]) -> None:
    assert reasons_of([replace(ONE, rule=rule, severity=severity)], strict=strict) == reasons


def test_reasons_are_told_together() -> None:
    rules = ("not-comparable", "tuning-failed", "schema")
    assert reasons_of([replace(ONE, rule=rule) for rule in rules]) == ["damage", "tuning-failed", "not-comparable"]


@pytest.mark.parametrize(
    ("pointer", "root", "below"),
    [("/a", "/a", True), ("/a/b", "/a", True), ("/ab", "/a", False), ("/a", "/a/b", False), (None, "", False), ("/a", "", True), ("", "", True)],
)  # fmt: skip
def test_whether_a_pointer_leads_into_a_place(pointer: str | None, root: str, below: bool) -> None:
    assert is_below(pointer, root) is below


def test_so_many_of_a_rule_are_listed() -> None:
    """Twenty of one file, a hundred of all: what people read, and what a store keeps of them."""
    assert (EXAMPLES_PER_RULE, LISTED_PER_RULE) == (20, 100)
