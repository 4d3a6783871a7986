"""Rules as they are declared: what a finding of one is, and which rules modules have."""

from __future__ import annotations

import dataclasses
from types import ModuleType
from typing import get_args

import pytest

from aoe_reports.model.findings import EXAMPLES_PER_RULE, SEVERITIES, Finding, Severity
from aoe_reports.model.history.runs import TuningClaim
from aoe_reports.model.rules import (
    ALL_FILES,
    COMMUNICATION,
    COMPARISONS,
    DATABASES,
    JSON_FILES,
    RECORDS,
    RUNS,
    TABLES,
    THE_STORE,
    TIMELINES,
    Scope,
    checked_rules_in,
    rules_in,
)
from aoe_reports.model.texts import say

RULE = Scope("clocks").rule("late", "warning", "a clock that is late", "arithmetic")


def test_a_rule_tells_what_it_is_on_and_why() -> None:
    assert (RULE.name, RULE.severity, RULE.on, RULE.reason, RULE.source) == (
        "late",
        "warning",
        "clocks",
        "a clock that is late",
        "arithmetic",
    )
    assert Scope("clocks").rule("late", "info", "why").source == ""
    assert Scope("clocks").rule("late", "info", say("{count} times", count=3)).reason == "3 times"


def test_a_finding_is_as_severe_as_its_rule_unless_told_otherwise() -> None:
    assert RULE.found("a", "b") == Finding("warning", "late", "a", "b")
    assert RULE.found("a", "b", 2, 3, pointer="/x") == Finding("warning", "late", "a", "b", 2, 3, "/x")
    for severity in SEVERITIES:
        assert RULE.found("a", "b", severity=severity) == Finding(severity, "late", "a", "b")
    assert get_args(Severity) == SEVERITIES == ("error", "warning", "info")


def test_rules_are_found_by_name_in_their_order() -> None:
    @RULE.checked_by
    def check(hour: int) -> bool:
        return hour > 12

    early = Scope("clocks").rule("early", "info", "why")
    one, other = ModuleType("one"), ModuleType("other")
    one.__dict__.update(check=check, number=3)
    other.__dict__.update(early=early)
    assert rules_in(one, other) == {"late": RULE, "early": early}
    assert checked_rules_in(other, one) == {"late": check}
    assert check.check(13)
    assert not check.check(12)


@pytest.mark.parametrize(
    ("scope", "on"),
    [
        (ALL_FILES, "all files"),
        (JSON_FILES, "all JSON files"),
        (TABLES, "tables"),
        (TIMELINES, "timelines"),
        (DATABASES, "databases"),
        (RECORDS, "records"),
        (RUNS, "runs"),
        (COMMUNICATION, "communication"),
        (COMPARISONS, "comparisons"),
        (THE_STORE, "the store"),
    ],
)
def test_what_rules_apply_to(scope: Scope, on: str) -> None:
    assert scope.rule("a", "info", "b").on == on


@pytest.mark.parametrize(("before", "after", "saved"), [(5.0, 3.0, 2.0), (None, 3.0, -3.0), (5.0, None, 5.0), (None, None, 0.0), (3.0, 5.0, -2.0)])  # fmt: skip
def test_a_claim_saves_what_it_makes_shorter(before: float | None, after: float | None, saved: float) -> None:
    claim = TuningClaim(
        run="r",
        scope="op",
        name=None,
        op_type=None,
        speed_up=None,
        claimed_before_us=before,
        claimed_after_us=after,
        unmeasured=False,
    )
    assert claim.saved_us == saved
    assert dataclasses.replace(claim, unmeasured=True).saved_us == 0.0


@pytest.mark.parametrize(("more", "said"), [(0, None), (1, "and 1 more of this kind"), (7, "and 7 more of this kind")])
def test_findings_beyond_the_examples_are_counted(more: int, said: str | None) -> None:
    places = [(f"{line}", line) for line in range(EXAMPLES_PER_RULE + more)]
    *examples, last = RULE.found_at("path", places)
    assert [one.line for one in (*examples, last)] == [*range(EXAMPLES_PER_RULE), *([None] if more else [])]
    assert last.message == (said or str(EXAMPLES_PER_RULE - 1))
