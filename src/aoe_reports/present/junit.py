"""What `check` found as JUnit XML: one test case a file; it fails where the file does."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from xml.sax.saxutils import escape, quoteattr

from aoe_reports.model.findings import Finding
from aoe_reports.present.forms import Shown
from aoe_reports.present.values import plain

SUITE = "aoe-reports check"
NO_KIND = "unknown"
"""Class of a test case for what is no checked file: a folder, a file that cannot be opened."""

_NO_XML = re.compile(r"[\ufffe\uffff]")


def render(checked: Shown) -> Iterator[str]:
    """One suite; reporters show one failure a test case, so it tells all findings that fail the file."""
    by_path: dict[str, list[Finding]] = {}
    for finding in checked.answer.findings:
        by_path.setdefault(finding.path, []).append(finding)
    kinds: dict[str, str] = {row.path: row.kind for row in checked.answer.rows}
    kinds |= {path: NO_KIND for path in by_path if path not in kinds}
    failures = sum(any(map(checked.fails, findings)) for findings in by_path.values())
    counts = f'tests="{len(kinds)}" failures="{failures}" errors="0" skipped="0" time="0"'
    lines = (line for path, kind in kinds.items() for line in _case(path, kind, by_path.get(path, []), checked))
    yield from suite(SUITE, counts, lines)


def suite(name: str, counts: str, lines: Iterable[str]) -> Iterator[str]:
    """A document of one suite."""
    yield f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="{name}" {counts}>\n'
    yield f'  <testsuite name="{name}" {counts}>\n'
    yield from (f"{line}\n" for line in lines)
    yield "  </testsuite>\n</testsuites>\n"


def _case(path: str, kind: str, findings: Sequence[Finding], checked: Shown) -> Iterator[str]:
    name = attribute(path)
    attributes = f'name={name} classname={attribute(kind)} file={name} time="0"'
    if not findings:
        yield f"    <testcase {attributes}/>"
        return
    yield f"    <testcase {attributes}>"
    failing = [finding for finding in findings if checked.fails(finding)]
    if failing:
        rest = f" (and {len(failing) - 1} more)" if len(failing) > 1 else ""
        message = attribute(failing[0].message + rest)
        yield f"      <failure message={message} type={attribute(failing[0].rule)}>{_lines(failing)}</failure>"
    other = [finding for finding in findings if not checked.fails(finding)]
    if other:
        yield f"      <system-out>{_lines(other)}</system-out>"
    yield "    </testcase>"


def _lines(findings: Sequence[Finding]) -> str:
    return escape("\n".join(clean(finding.as_text()) for finding in findings))


def attribute(text: str) -> str:
    """Text as an attribute of XML, quotes around it."""
    return quoteattr(clean(text))


def clean(text: str) -> str:
    """Text of characters that XML 1.0 allows."""
    return _NO_XML.sub(lambda found: f"\\x{ord(found[0]):02x}", plain(text))
