"""Finding: one thing that is wrong, odd or worth knowing in what was read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from aoe_reports.model.documents import JsonObject
from aoe_reports.model.texts import Text, as_fields, from_fields, say

Severity = Literal["error", "warning", "info"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")

EXAMPLES_PER_RULE = 20
"""How many findings of one rule are listed for one file before the rest is counted in one line."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What a rule says about a place; `pointer` is an RFC 6901 JSON Pointer, lines and columns count from 1."""

    severity: Severity
    rule: str
    path: str
    message: str
    line: int | None = None
    column: int | None = None
    pointer: str | None = None

    def as_dict(self) -> JsonObject:
        """The finding as the contract's JSON object."""
        return {
            "severity": self.severity,
            "rule": self.rule,
            "path": self.path,
            "line": self.line,
            "column": self.column,
            "pointer": self.pointer,
            "message": self.message,
        }

    def as_fields(self) -> list[Any]:
        """The finding's fields as a list of JSON values."""
        return [self.severity, self.rule, self.path, as_fields(self.message), self.line, self.column, self.pointer]

    @classmethod
    def from_fields(cls, fields: list[Any]) -> Finding:
        """A finding of its fields."""
        severity, rule, path, message, *place = fields
        return cls(severity, rule, path, from_fields(message), *place)

    @property
    def place(self) -> str:
        """`path:line:column`, without the parts that are not known."""
        return ":".join(str(part) for part in (self.path, self.line, self.column) if part is not None)

    def as_text(self) -> Text:
        """`path:line:column: severity: message [rule]`, without the parts that are not known."""
        values = {"place": self.place, "severity": say(self.severity), "message": self.message, "rule": self.rule}
        if self.pointer:
            return say("{place}: {severity}: {message} at {pointer} [{rule}]", pointer=self.pointer, **values)
        return say("{place}: {severity}: {message} [{rule}]", **values)


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """Findings in a stable order: by place, then severity, then rule; equal ones once."""
    return sorted(set(findings), key=place_of)


def place_of(finding: Finding) -> tuple[object, ...]:
    """What findings are put in order by."""
    return (
        finding.path,
        finding.line or 0,
        finding.column or 0,
        finding.pointer or "",
        SEVERITIES.index(finding.severity),
        finding.rule,
        finding.message,
    )


LISTED_PER_RULE = 100
"""How many findings of one rule people are shown of all files together, before the rest is counted in one line."""


def listed(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Findings as people are shown them: the first of each rule, and at the end how many more there are, exactly."""
    counts: Counter[tuple[Severity, str]] = Counter()
    for finding in findings:
        counts[finding.severity, finding.rule] += 1
        if counts[finding.severity, finding.rule] <= LISTED_PER_RULE:
            yield finding
    for (severity, rule), count in counts.items():
        if count > LISTED_PER_RULE:
            message = say("and {count:,} more of this rule, not listed here", count=count - LISTED_PER_RULE)
            yield Finding(severity, rule, "…", message)


def has(findings: Iterable[Finding], severity: Severity) -> bool:
    """Whether any finding has this severity."""
    return any(finding.severity == severity for finding in findings)


def counts_of(findings: Iterable[Finding]) -> str:
    """How many findings of each severity there are, for programmers: "1 error, 2 warnings"."""
    counts = Counter(finding.severity for finding in findings)
    counted = [f"{counts[one]} {one}{'s' * (counts[one] > 1 and one != 'info')}" for one in SEVERITIES if counts[one]]
    return ", ".join(counted) or "none"


FAILED_TUNING = frozenset({"tuning-failed", "subgraph-failed", "failed-without-list"})
"""Rules by which a result file itself says that tuning failed."""

_COMPARABILITY = frozenset({"not-comparable", "comparability-unknown"})


def reasons_of(findings: Iterable[Finding], *, strict: bool = False) -> list[str]:
    """Why findings make the exit code 1, in the contract's words; with `strict` warnings do, too."""
    counts = {"error", "warning"} if strict else {"error"}
    rules = {finding.rule for finding in findings if finding.severity in counts}
    rules_of = {
        "damage": rules - FAILED_TUNING - _COMPARABILITY,
        "tuning-failed": rules & FAILED_TUNING,
        "not-comparable": rules & _COMPARABILITY,
    }
    return [reason for reason, those in rules_of.items() if those]


def is_below(pointer: str | None, root: str) -> bool:
    """Whether a JSON Pointer leads to a place or into it."""
    return pointer is not None and (pointer == root or pointer.startswith(root + "/"))
