"""What the function of a rule finds, and the findings that this makes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from aoe_reports.formats.json.text import locate
from aoe_reports.model.findings import EXAMPLES_PER_RULE, Finding
from aoe_reports.model.rules import Rule
from aoe_reports.model.texts import join, say

Found = Iterable[tuple[str | None, str]]
"""(JSON Pointer, message) of each place where a rule fires."""


def findings_of(rule: Rule, path: str, found: Found, around: str | None = None) -> list[Finding]:
    """Findings of one rule; after EXAMPLES_PER_RULE of them one line counts the rest, with the place around them all."""
    every = [rule.found(path, text, pointer=at) for at, text in found]
    if len(every) <= EXAMPLES_PER_RULE:
        return every
    more = say("and {count} more of this kind", count=len(every) - EXAMPLES_PER_RULE)
    return [*every[:EXAMPLES_PER_RULE], rule.found(path, more, pointer=around)]


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
