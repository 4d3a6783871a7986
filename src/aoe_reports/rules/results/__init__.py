"""Rules on AOE results: is what the file says possible, and does it agree with itself?

The schema states shapes and types, these rules state values. Each rule is one function in one of the modules that are named at
the end: of a whole document (FILE_RULES) or of one tuning task (RULES).
"""

from __future__ import annotations

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
from aoe_reports.rules.rule import CheckedRule, rules_of

FILE_RULES: dict[str, CheckedRule[Document]] = rules_of(segments, units, keys, vocabulary, sizes)

RULES: dict[str, CheckedRule[Task]] = rules_of(
    report_key, status, counts, duplicates, times, improvement, operators, parts_and_whole
)
