"""What a finding can name: each rule is declared once, beside the code that finds it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Generic, TypeVar

from aoe_reports.model.findings import EXAMPLES_PER_RULE, Finding, Severity
from aoe_reports.model.rows import column, row
from aoe_reports.model.texts import Text, say

Subject = TypeVar("Subject")
Result_co = TypeVar("Result_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: how bad it is where it fires, on what, why, and where the fact comes from."""

    name: str
    severity: Severity
    on: Text
    reason: Text
    source: Text

    def found(
        self,
        path: str,
        message: str,
        line: int | None = None,
        column: int | None = None,
        *,
        pointer: str | None = None,
        severity: Severity | None = None,
    ) -> Finding:
        """A finding of this rule, of its severity unless another is given."""
        return Finding(severity or self.severity, self.name, path, message, line, column, pointer=pointer)

    def found_at(self, path: str, places: Iterable[tuple[str, int | None]]) -> list[Finding]:
        """Findings of (message, line); after EXAMPLES_PER_RULE of them one counts the rest."""
        every = [self.found(path, message, line) for message, line in places]
        if len(every) <= EXAMPLES_PER_RULE:
            return every
        more = say("and {count} more of this kind", count=len(every) - EXAMPLES_PER_RULE)
        return [*every[:EXAMPLES_PER_RULE], self.found(path, more)]

    def checked_by(self, check: Callable[[Subject], Result_co]) -> CheckedRule[Subject, Result_co]:
        """Join the rule to the function that tries it: a decorator."""
        return CheckedRule(self, check)


@dataclass(frozen=True, slots=True)
class CheckedRule(Generic[Subject, Result_co]):
    """A rule that is one function of what it looks at."""

    rule: Rule
    check: Callable[[Subject], Result_co]


@dataclass(frozen=True, slots=True)
class Scope:
    """What some rules apply to."""

    on: str

    def rule(self, name: str, severity: Severity, reason: str, source: str = "") -> Rule:
        """Declare a rule; the catalogues take its texts from here."""
        on, reason, source = (text if isinstance(text, Text) else say(text) for text in (self.on, reason, source))
        return Rule(name, severity, on, reason, source)


ALL_FILES = Scope("all files")
JSON_FILES = Scope("all JSON files")
TABLES = Scope("tables")
TIMELINES = Scope("timelines")
DATABASES = Scope("databases")
RECORDS = Scope("records")
RUNS = Scope("runs")
COMMUNICATION = Scope("communication")
COMPARISONS = Scope("comparisons")
THE_STORE = Scope("the store")


def rules_in(*modules: ModuleType) -> dict[str, Rule]:
    """The rules that some modules declare, by name."""
    return {name: one.rule for name, one in checked_rules_in(*modules).items()} | {
        value.name: value for module in modules for value in vars(module).values() if isinstance(value, Rule)
    }


def checked_rules_in(*modules: ModuleType) -> dict[str, CheckedRule[Any, Any]]:
    """The rules that are functions of some modules, by name, in their order."""
    values = (value for module in modules for value in vars(module).values())
    return {value.rule.name: value for value in values if isinstance(value, CheckedRule)}


@row
class ListedRule:
    """A rule as it is listed."""

    rule: str = column("Rule")
    severity: Severity = column("Severity", "word")
    on: str = column("Applies to", "sentence")
    reason: str = column("Reason", "sentence")
    source: str = column("Source", "sentence")
