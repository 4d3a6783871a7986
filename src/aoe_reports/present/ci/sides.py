"""Two sides of repeats as JUnit XML and SARIF: one test case, or one result, for each quantity; only what fails is an alarm."""

from __future__ import annotations

import json
from collections.abc import Iterator
from xml.sax.saxutils import escape

from aoe_reports.model.documents import JsonObject
from aoe_reports.model.sides import QuantityVerdict, describe
from aoe_reports.model.version import __version__
from aoe_reports.present.ci.junit import attribute, clean, suite
from aoe_reports.present.ci.sarif import SCHEMA, message_text, place_of
from aoe_reports.present.forms import Shown

SUITE = "aoe-reports ab"
_RULES = {
    "slower": "The candidate is slower than the baseline, and matches a gate.",
    "not-proved-same": "The candidate is not proved to be the same as the baseline, or faster.",
}


def as_junit(shown: Shown) -> Iterator[str]:
    """One suite. What cannot be told is a skipped test, unless it fails the job; damage is a case of its own."""
    rows, failing = shown.answer.rows, [finding for finding in shown.answer.findings if shown.fails(finding)]
    failures = sum(bool(row.fails) for row in rows) + len(failing)
    skipped = sum(row.verdict == "cannot tell" and not row.fails for row in rows)
    counts = f'tests="{len(rows) + len(failing)}" failures="{failures}" errors="0" skipped="{skipped}" time="0"'
    lines = [line for row in rows for line in _case(row)]
    for finding in failing:
        lines += [
            f'    <testcase name={attribute(finding.rule)} classname="input" time="0">',
            f"      <failure message={attribute(finding.message)} type={attribute(finding.rule)}/>",
            "    </testcase>",
        ]
    yield from suite(SUITE, counts, lines)


def _case(row: QuantityVerdict) -> Iterator[str]:
    words, name = describe(row), attribute(" ".join(filter(None, (row.workload, row.name, row.inputs))))
    yield f'    <testcase name={name} classname={attribute(row.scope)} time="0">'
    if row.fails:
        yield f"      <failure message={attribute(words)} type={attribute(row.fails)}/>"
    elif row.verdict == "cannot tell":
        yield f"      <skipped message={attribute(words)}/>"
    else:
        yield f"      <system-out>{escape(clean(words))}</system-out>"
    yield "    </testcase>"


def as_sarif(shown: Shown) -> Iterator[str]:
    """One run; a result for each quantity that fails the job, at the candidate's place."""
    answer = shown.answer
    place = place_of(answer.inputs[-1])
    document = {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": {"name": "aoe-reports", "version": __version__, "rules": [*map(_rule, _RULES)]}},
                "columnKind": "unicodeCodePoints",
                "artifacts": [{"location": {**place}, "roles": ["analysisTarget"]}],
                "results": [_result(row, place) for row in answer.rows if row.fails],
            }
        ],
    }
    yield json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def _rule(name: str) -> JsonObject:
    return {"id": f"ab-{name}", "shortDescription": {"text": _RULES[name]}, "fullDescription": {"text": _RULES[name]}}


def _result(row: QuantityVerdict, place: dict[str, str]) -> JsonObject:
    return {
        "ruleId": f"ab-{row.fails}",
        "ruleIndex": [*_RULES].index(row.fails or ""),
        "level": "error" if row.fails == "slower" else "warning",
        "message": {"text": message_text(describe(row))},
        "locations": [
            {
                "physicalLocation": {"artifactLocation": {**place, "index": 0}},
                "logicalLocations": [
                    {"name": clean(row.name), "fullyQualifiedName": clean(f"{row.workload}/{row.name}")}
                ],
            }
        ],
        "partialFingerprints": {
            "quantity/v1": clean(":".join(filter(None, (row.workload, row.scope, row.name, row.inputs))))
        },
    }
