"""Rules that several modules check: on rows, and on what forms of the same data say of each other."""

from aoe_reports.model.rules import TABLES

DUPLICATE_ROW = TABLES.rule("duplicate-row", "error", "a duplicate row would be counted twice")
STEP_MISSING = TABLES.rule(
    "step-missing",
    "warning",
    "a gap in the iteration numbers, or tasks and steps that do not refer to each other",
)
FORMS_DISAGREE = TABLES.rule(
    "forms-disagree", "warning", "two forms of the same data differ (tables, databases, timelines)"
)
