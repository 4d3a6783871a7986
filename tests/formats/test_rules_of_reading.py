"""Rules of reading files: each is declared as the docs list it."""

from __future__ import annotations

import pytest
from tables_of_docs import rules_of_docs

from aoe_reports.formats import rules
from aoe_reports.formats.csv import rules as rules_of_csv
from aoe_reports.formats.sqlite import rules as rules_of_sqlite
from aoe_reports.formats.trace import rules as rules_of_trace
from aoe_reports.model.rules import Rule, rules_in

RULES = rules_in(rules, rules_of_csv, rules_of_sqlite, rules_of_trace)


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.name)
def test_docs_list_a_rule_of_reading_as_it_is_declared(rule: Rule) -> None:
    assert rules_of_docs()[rule.name] == [rule.severity, rule.on, rule.reason, rule.source]
