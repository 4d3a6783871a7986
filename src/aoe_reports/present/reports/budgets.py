"""The budgets of gates in words."""

from __future__ import annotations

from collections.abc import Iterator

from aoe_reports.model.changes import AlarmBudget
from aoe_reports.model.texts import Text, say


def gate_budgets(budget: AlarmBudget) -> Iterator[Text]:
    """A sentence for each gate with a budget of its own."""
    for one in budget.gates:
        yield say(
            "Gate {gate}: {eligible} of these series have a budget of their own instead; together they may raise {alarms:g} false "
            "alarms a year.",
            gate=one.gate,
            eligible=one.eligible,
            alarms=one.false_alarms_per_year,
        )
