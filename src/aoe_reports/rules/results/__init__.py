"""Rules on AOE results: is what the file says possible, and does it agree with itself?

The schema states shapes and types, these rules state values. Each rule is one function in one of the modules that are named at
the end: of a whole document (FILE_RULES) or of one tuning task (RULES).
"""

from __future__ import annotations

from aoe_reports.formats.aoe.results import TuningResult
from aoe_reports.model.rules import CheckedRule, checked_rules_in
from aoe_reports.rules.found import Found
from aoe_reports.rules.results import claims, file_rules, outcome
from aoe_reports.rules.results.document import Document

FILE_RULES: dict[str, CheckedRule[Document, Found]] = checked_rules_in(file_rules)
RULES: dict[str, CheckedRule[TuningResult, Found]] = checked_rules_in(outcome, claims)
