"""What `check` and `regressions` found as JUnit XML: one test case a file or series; it fails where that makes the exit code other than 0."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from xml.sax.saxutils import escape, quoteattr

from aoe_reports.model.findings import Finding
from aoe_reports.model.history.changes import SeriesChange
from aoe_reports.present.forms import Shown
from aoe_reports.present.reports.changes import Changes, describe_attribution, describe_change
from aoe_reports.present.values import plain

SUITE = "aoe-reports check"
NO_KIND = "unknown"
"""Class of a test case for what is no checked file: a folder, a file that cannot be opened."""

_NO_XML = re.compile(r"[\ufffe\uffff]")


def render(checked: Shown) -> Iterator[str]:
    """One suite. Reporters show one failure a test case, so its text lists all findings that fail the file."""
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
        yield f"      <failure message={message} type={attribute(failing[0].rule)}>{_text(one.as_text() for one in failing)}</failure>"
    other = [finding for finding in findings if not checked.fails(finding)]
    if other:
        yield f"      <system-out>{_text(one.as_text() for one in other)}</system-out>"
    yield "    </testcase>"


def attribute(text: str) -> str:
    """Text as an attribute of XML, quotes around it."""
    return quoteattr(clean(text))


def clean(text: str) -> str:
    """Text of characters that XML 1.0 allows."""
    return _NO_XML.sub(lambda found: f"\\x{ord(found[0]):02x}", plain(text))


SUITE_OF_SERIES = "aoe-reports regressions"
OF_NO_SERIES = "store"
"""Class of the test cases for reasons that no series is to blame for."""


def render_regressions(changes: Changes) -> str:
    """One suite. A suspicion that fails nothing and a series that cannot be judged are skipped tests: no answer, and not well."""
    cases = [*map(_case_of_series, changes.rows), *(_case_of_reason(r, changes) for r in changes.reasons_of_no_row())]
    failures = sum(bool(row.fails) for row in changes.rows) + len(changes.reasons_of_no_row())
    skipped = sum(_skipped(row) is not None for row in changes.rows)
    counts = f'tests="{len(cases)}" failures="{failures}" errors="0" skipped="{skipped}" time="0"'
    notes = _text(finding.as_text() for finding in changes.findings)
    lines = [line for case in cases for line in case]
    return "".join(
        suite(SUITE_OF_SERIES, counts, [*lines, *([f"    <system-err>{notes}</system-err>"] if notes else [])])
    )


def _case_of_series(row: SeriesChange) -> list[str]:
    """The name has the id: two series of one workload (other inputs, another rank) are two cases."""
    name = attribute(f"{row.workload} [{row.series_id}]")
    lines = list(_outcome(row))
    head = f'    <testcase name={name} classname={attribute(row.scope)} time="0"'
    return [f"{head}/>"] if not lines else [f"{head}>", *lines, "    </testcase>"]


def _outcome(row: SeriesChange) -> Iterator[str]:
    skipped = _skipped(row)
    if skipped is not None:
        yield f"      <skipped message={attribute(skipped)}/>"
    if row.state is None:
        return
    details = _text([describe_change(row), *describe_attribution(row)])
    if row.fails:
        message = attribute(describe_change(row))
        yield f"      <failure message={message} type={attribute(row.state)}>{details}</failure>"
    else:
        yield f"      <system-out>{details}</system-out>"


def _skipped(row: SeriesChange) -> str | None:
    """Why a series has no answer yet."""
    if row.state is None:
        return str(row.reason) if row.reason else None
    return describe_change(row) if row.state == "suspect" and not row.fails else None


def _case_of_reason(reason: str, changes: Changes) -> list[str]:
    message = next((finding.message for finding in changes.findings if finding.rule == reason), reason)
    return [
        f'    <testcase name={attribute(reason)} classname="{OF_NO_SERIES}" time="0">',
        f"      <failure message={attribute(message)} type={attribute(reason)}/>",
        "    </testcase>",
    ]


def _text(lines: Iterable[str]) -> str:
    return escape("\n".join(map(clean, lines)))
