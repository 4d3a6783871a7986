"""A rule with its body, and what its findings look like."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from inspect import cleandoc
from types import ModuleType
from typing import Any, Generic, TypeVar

from aoe_reports.formats.json.text import locate
from aoe_reports.model.findings import EXAMPLES_PER_RULE, Finding, Severity
from aoe_reports.model.rules import Rule
from aoe_reports.model.texts import Text, join, say

Subject = TypeVar("Subject")

Found = Iterable[tuple[str | None, str]]
"""(JSON Pointer, message) of each place where a rule fires."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedRule(Rule, Generic[Subject]):
    """A rule that is one function of what it looks at."""

    check: Callable[[Subject], Found]
    doc: str
    """What it demands, as its function says it."""


def rule(
    severity: Severity, reason: Text, source: Text, *, on: Text
) -> Callable[[Callable[[Subject], Found]], CheckedRule[Subject]]:
    """Make a rule of a function: `hit_sum` is called `hit-sum`, its docstring is its documentation."""

    def declare(check: Callable[[Subject], Found]) -> CheckedRule[Subject]:
        return CheckedRule(
            name=check.__name__.replace("_", "-"),
            severity=severity,
            on=on,
            reason=reason,
            source=source,
            check=check,
            doc=cleandoc(check.__doc__ or ""),
        )

    return declare


def rules_of(*modules: ModuleType) -> dict[str, CheckedRule[Any]]:
    """The rules that some modules declare, by name, in their order."""
    declared = (value for module in modules for value in vars(module).values() if isinstance(value, CheckedRule))
    return {rule.name: rule for rule in declared}


def findings_of(rule: Rule, path: str, found: Found, around: str | None = None) -> list[Finding]:
    """Findings of one rule; after EXAMPLES_PER_RULE of them one line counts the rest, with the place around them all."""
    every = [Finding(rule.severity, rule.name, path, text, pointer=at) for at, text in found]
    if len(every) <= EXAMPLES_PER_RULE:
        return every
    more = say("and {count} more of this kind", count=len(every) - EXAMPLES_PER_RULE)
    return [*every[:EXAMPLES_PER_RULE], Finding(rule.severity, rule.name, path, more, pointer=around)]


def with_places(findings: Sequence[Finding], text: bytes) -> list[Finding]:
    """The same findings with line and column of what their pointers lead to."""
    if not findings:
        return []
    pointers = {f.pointer for f in findings if f.pointer is not None and f.line is None and f.severity != "info"}
    if not pointers:
        return list(findings)
    places = locate(text, pointers)
    return [
        replace(f, line=places[f.pointer][0], column=places[f.pointer][1])
        if f.pointer in places and f.line is None
        else f
        for f in findings
    ]


def listed(names: Sequence[str]) -> str:
    """Some names, and how many more there are."""
    shown = join(", ", names[:EXAMPLES_PER_RULE])
    more = len(names) - EXAMPLES_PER_RULE
    return say("{names} and {count} more", names=shown, count=more) if more > 0 else shown
