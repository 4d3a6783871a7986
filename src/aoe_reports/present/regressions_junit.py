"""What `regressions` found as JUnit XML: one test case a series; it fails where the series makes the exit code other than 0."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from xml.sax.saxutils import escape

from aoe_reports.model.changes import SeriesChange
from aoe_reports.present.junit import attribute, clean, suite
from aoe_reports.present.reports.changes import Changes, describe_attribution, describe_change

SUITE = "aoe-reports regressions"
OF_NO_SERIES = "store"
"""Class of the test cases for reasons that no series is to blame for."""


def render(changes: Changes) -> str:
    """One suite. A suspicion that fails nothing and a series that cannot be judged are skipped tests: no answer, and not well."""
    cases = [*map(_case_of_series, changes.rows), *(_case_of_reason(r, changes) for r in changes.reasons_of_no_row())]
    failures = sum(bool(row.fails) for row in changes.rows) + len(changes.reasons_of_no_row())
    skipped = sum(_skipped(row) is not None for row in changes.rows)
    counts = f'tests="{len(cases)}" failures="{failures}" errors="0" skipped="{skipped}" time="0"'
    told = _text(finding.as_text() for finding in changes.findings)
    lines = [line for case in cases for line in case]
    return "".join(suite(SUITE, counts, [*lines, *([f"    <system-err>{told}</system-err>"] if told else [])]))


def _case_of_series(row: SeriesChange) -> list[str]:
    """The id stands in the name: two series of one workload (other inputs, another rank) are two cases."""
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
    told = _text([describe_change(row), *describe_attribution(row)])
    if row.fails:
        message = attribute(describe_change(row))
        yield f"      <failure message={message} type={attribute(row.state)}>{told}</failure>"
    else:
        yield f"      <system-out>{told}</system-out>"


def _skipped(row: SeriesChange) -> str | None:
    """Why a series has no answer yet."""
    if row.state is None:
        return str(row.reason) if row.reason else None
    return describe_change(row) if row.state == "suspect" and not row.fails else None


def _case_of_reason(reason: str, changes: Changes) -> list[str]:
    told = next((finding.message for finding in changes.findings if finding.rule == reason), reason)
    return [
        f'    <testcase name={attribute(reason)} classname="{OF_NO_SERIES}" time="0">',
        f"      <failure message={attribute(told)} type={attribute(reason)}/>",
        "    </testcase>",
    ]


def _text(lines: Iterable[str]) -> str:
    return escape("\n".join(map(clean, lines)))
