"""Rules on AOE results: is what the file says possible, and does it agree with itself?

The schema states shapes and types, these rules state values. Each rule is one function in one of the modules that are named at
the end: of a whole document (FILE_RULES) or of one tuning task (RULES).
"""

from __future__ import annotations

from aoe_reports.model.rules import CheckedRule, checked_rules_in
from aoe_reports.rules.found import Found
from aoe_reports.rules.results import (
    counts,
    duplicates,
    improvement,
    keys,
    operators,
    parts_and_whole,
    report_key,
    segments,
    sizes,
    status,
    times,
    units,
    vocabulary,
)
from aoe_reports.rules.results.document import Document
from aoe_reports.rules.results.task import Task

FILE_RULES: dict[str, CheckedRule[Document, Found]] = checked_rules_in(segments, units, keys, vocabulary, sizes)

RULES: dict[str, CheckedRule[Task, Found]] = checked_rules_in(
    report_key, status, counts, duplicates, times, improvement, operators, parts_and_whole
)
