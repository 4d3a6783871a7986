"""Every rule of advice, and what they say together of one device."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from aoe_reports.facts.bounds import StepShares
from aoe_reports.topics.advice.advice import Advice, Facts, Rule
from aoe_reports.topics.advice.communicating import COMMUNICATING_RULES
from aoe_reports.topics.advice.computing import COMPUTING_RULES
from aoe_reports.topics.advice.hosting import HOSTING_RULES
from aoe_reports.topics.advice.launching import LAUNCHING_RULES
from aoe_reports.topics.advice.memory import MEMORY_RULES
from aoe_reports.topics.advice.overall import OVERALL_RULES, headline
from aoe_reports.topics.advice.roofs import ROOF_RULES
from aoe_reports.topics.advice.thresholds import Thresholds

__all__ = ["RULES", "Advice", "Facts", "Rule", "Thresholds", "find_advice", "headline", "in_order", "within_step"]

RULES: dict[str, Rule] = {
    rule.id: rule
    for rule in (
        *OVERALL_RULES,
        *HOSTING_RULES,
        *COMMUNICATING_RULES,
        *ROOF_RULES,
        *COMPUTING_RULES,
        *LAUNCHING_RULES,
        *MEMORY_RULES,
    )
}


def find_advice(facts: Facts, thresholds: Thresholds | None = None) -> list[Advice]:
    """All advice on one device, what could gain most first; what has no bound last. There may be none."""
    chosen = thresholds or Thresholds()
    return in_order(within_step(one, facts.shares) for rule in RULES.values() for one in rule.find(facts, chosen))


def within_step(advice: Advice, shares: StepShares) -> Advice:
    """The same with a bound that no damaged or contradictory table makes less than nothing, or more than the steps."""
    saving, whole = advice.saving_ns, shares.step_ns
    if saving is None:
        return advice
    bound = max(0, saving if whole is None else min(saving, whole))
    return advice if bound == saving else replace(advice, saving_ns=bound)


def in_order(advice: Iterable[Advice]) -> list[Advice]:
    """What could gain most first, what has no bound last; of equal bounds the whole before its parts, as rules stand."""
    places = {rule: place for place, rule in enumerate(RULES)}
    return sorted(advice, key=lambda one: (one.order[0], places[one.rule], *one.order[1:]))
