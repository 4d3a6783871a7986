"""Rules of runs: each is declared as the docs list it."""

from __future__ import annotations

import pytest
from tables_of_docs import rules_of_docs

from aoe_reports.engine import rules
from aoe_reports.model.rules import Rule, rules_in


@pytest.mark.parametrize("rule", rules_in(rules).values(), ids=lambda rule: rule.name)
def test_docs_list_a_rule_of_runs_as_it_is_declared(rule: Rule) -> None:
    assert rules_of_docs()[rule.name] == [rule.severity, rule.on, rule.reason, rule.source]
