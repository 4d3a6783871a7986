"""Rules of tuning: each is declared as the docs list it."""

from __future__ import annotations

import pytest
from tables_of_docs import rules_of_docs

from aoe_reports.model.rules import Rule, rules_in
from aoe_reports.tuning import rules
from aoe_reports.tuning import triton as rules_of_triton
from aoe_reports.tuning.aoe import preflight
from aoe_reports.tuning.banks import adopt

RULES = rules_in(rules, adopt, preflight, rules_of_triton)


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.name)
def test_docs_list_a_rule_of_tuning_as_it_is_declared(rule: Rule) -> None:
    assert rules_of_docs()[rule.name] == [rule.severity, rule.on, rule.reason, rule.source]
