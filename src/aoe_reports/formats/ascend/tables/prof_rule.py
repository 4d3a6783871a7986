"""prof_rule: msprof's own advice of 2022."""

from __future__ import annotations

from aoe_reports.formats.table import Table, integer, text
from aoe_reports.model.texts import say

PROF_RULE = Table(
    name="prof_rule",
    title=say("msprof's own advice: rule, suggestion, operators concerned"),
    columns=(
        integer("device_id", "device_id", optional=True),
        text("section", "section"),
        text("rule_type", "Rule Type"),
        text("rule_description", "Rule Description", optional=True),
        text("rule_subtype", "Rule Subtype", optional=True),
        text("suggestion", "Rule Suggestion"),
        text("operators", "Tuning Data", optional=True),
    ),
    vintages=(("2022-03", "Rule Type"),),
    form="document",
)
