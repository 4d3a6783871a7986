"""Rules on AOE results: is what the file says possible, and does it agree with itself?

The schema states shapes and types, these rules state values. RULES names each with its severity, reason and source.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from aoe_reports.checks.schema import check_schema
from aoe_reports.findings import Finding, Severity, is_below
from aoe_reports.readers.results import ResultFile
from aoe_reports.results import STATUS_ALIASES, STATUSES, Modification, TuningResult, escape, status_of

Found = Iterator[tuple[str, str]]
"""(JSON Pointer, message) of each place where a rule fires."""

IMPROVEMENT_TOLERANCE = Decimal("0.01")
"""Points of a percentage: OPAT rounds the last digit, SGAT truncates it (measured on the documented samples)."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: how bad, why, and where the fact comes from."""

    severity: Severity
    check: Callable[[TuningResult], Found]
    reason: str
    source: str


def check_result_file(file: ResultFile) -> list[Finding]:
    """Everything that is to be said about one result file, reading included."""
    findings = list(file.findings)
    if not file.parsed:
        return findings
    path = str(file.path)
    kind = "sgat" if file.name.kind == "sgat" else "opat"
    found = check_schema(kind, file.document, path)
    findings += found + list(_unit_mismatches(file.document, path))
    broken = [finding.pointer or "" for finding in found]
    for result in file.results:
        findings += _segments(file, result, kind)
        if any(is_below(place, result.pointer) for place in broken):
            continue  # what has the wrong shape is not asked for its values
        for name, rule in RULES.items():
            findings += [Finding(rule.severity, name, path, text, pointer=at) for at, text in rule.check(result)]
    return findings


def _segments(file: ResultFile, result: TuningResult, kind: str) -> Iterator[Finding]:
    """How many segments there are, and whether they are what the file's name says."""
    segments = file.document if result.report_key is None else file.document[result.report_key]
    names = Counter(name for segment in segments if isinstance(segment, dict) for name in segment)
    path = str(file.path)
    for name, least, most in (("basic", 1, 1), ("OPAT", 0, 1), ("SGAT", 0, 1)):
        if not least <= names[name] <= most:
            text = f"{names[name]} segments {name!r}; expected {'exactly' if least else 'at most'} one"
            yield Finding("error", "segment-count", path, text, pointer=result.pointer)
    if result.has_segment and result.kind != kind:
        text = f"the file is named {kind}, its segment is {result.kind.upper()}"
        yield Finding("error", "segment-kind", path, text, pointer=result.pointer)


def _unit_mismatches(document: Any, path: str) -> Iterator[Finding]:
    """Times of operators are in us, times of subgraphs in ms: a key that says otherwise."""
    waiting: list[tuple[str, Any, str | None]] = [("", document, None)]
    while waiting:
        at, value, segment = waiting.pop()
        if isinstance(value, list):
            waiting += [(f"{at}/{i}", inner, segment) for i, inner in enumerate(value)]
        elif isinstance(value, dict):
            for key, inner in value.items():
                inside = key if key in UNITS else segment
                waiting.append((f"{at}/{escape(key)}", inner, inside))
                stem, bracket, unit = key.rpartition("(")
                if stem in _TIME_KEYS and segment in UNITS and bracket + unit != UNITS[segment]:
                    text = f"{key!r} in {segment}; expected {stem}{UNITS[segment]}"
                    yield Finding("error", "unit-mismatch", path, text, pointer=f"{at}/{escape(key)}")


UNITS = {"OPAT": "(us)", "SGAT": "(ms)"}
"""The unit of single times in each segment."""

_TIME_KEYS = frozenset({"performance_before_tune", "performance_after_tune"})


def _status_unknown(result: TuningResult) -> Found:
    if result.status is not None and status_of(result.status) is None:
        yield result.pointer, f"{result.status!r} is no known status; expected one of {', '.join(STATUSES)}"


def _status_alias(result: TuningResult) -> Found:
    if result.status in STATUS_ALIASES:
        yield result.pointer, f"{result.status!r} is a slip of the documents; read as {STATUS_ALIASES[result.status]}"


def _tuning_failed(result: TuningResult) -> Found:
    if status_of(result.status) == "failed":
        operators = ", ".join(result.failed_operators) or "none named"
        yield result.pointer, f"tuning of {result.tuning_name!r} failed; operators: {operators}"


def _tuning_incomplete(result: TuningResult) -> Found:
    if status_of(result.status) == "incomplete":
        yield result.pointer, f"tuning of {result.tuning_name!r} was broken off; its numbers are not used"


def _subgraph_failed(result: TuningResult) -> Found:
    if result.kind == "sgat" and not result.has_segment:
        yield result.pointer, f"no SGAT segment: subgraph tuning of {result.tuning_name!r} failed"


def _nothing_tunable(result: TuningResult) -> Found:
    if result.kind == "opat" and not result.has_segment:
        yield result.pointer, f"no OPAT segment: {result.tuning_name!r} has no operator that can be tuned"


def _nothing_improved(result: TuningResult) -> Found:
    changed = result.summary.get("repo_add_num", 0) + result.summary.get("repo_update_num", 0)
    if result.has_segment and not changed and not result.failed and status_of(result.status) != "incomplete":
        yield result.pointer, f"tuning of {result.tuning_name!r} found nothing better"


def _failed_without_list(result: TuningResult) -> Found:
    if status_of(result.status) == "failed" and not result.failed_listed:
        yield result.pointer, "failed, but no operator is named as failed"


def _list_without_failure(result: TuningResult) -> Found:
    if result.failed_listed and status_of(result.status) not in {"failed", None}:
        yield result.pointer, f"operators are named as failed ({', '.join(result.failed_operators)}), the status is not"


def _hit_sum(result: TuningResult) -> Found:
    hit, reserved, update = (result.summary.get(f"repo_{part}_num") for part in ("hit", "reserved", "update"))
    if hit is not None and reserved is not None and update is not None and hit != reserved + update:
        yield result.pointer, f"repo_hit_num {hit} is not reserved {reserved} + update {update}"


def _total_sum(result: TuningResult) -> Found:
    parts = [result.summary.get(f"repo_{part}_num") for part in ("hit", "add", "unsatisfied")]
    total = result.summary.get("total_num")
    known = [part for part in parts if part is not None]
    if total is not None and len(known) == len(parts) and total != sum(known):
        yield result.pointer, f"total_num {total} is not hit {parts[0]} + add {parts[1]} + unsatisfied {parts[2]}"


def _list_length(result: TuningResult) -> Found:
    for update in ("add", "update"):
        entries = [m for m in result.modifications if m.update_mode == update]
        said = result.summary.get(f"repo_{update}_num")
        counts = {len(entries), len({m.name for m in entries})} if result.body == "flat" else {len(entries)}
        if said is not None and said not in counts:
            yield result.pointer, f"repo_{update}_num is {said}, but {len(entries)} entries are listed"


def _duplicate_operator(result: TuningResult) -> Found:
    seen: dict[tuple[str, str | None], str] = {}
    for modification in result.modifications:
        key = (modification.name, modification.mode)
        if key in seen:
            yield modification.pointer, f"{modification.name!r} stands here and at {seen[key]}"
        seen[key] = modification.pointer
    for (name, _), pointer in seen.items():
        if name in result.failed_operators:
            yield pointer, f"{name!r} is named as failed and as modified"


def _non_positive_time(result: TuningResult) -> Found:
    for at, what, value in _times(result):
        if value <= 0:
            yield at, f"{what} is {value}; expected a time above 0"


def _not_faster(result: TuningResult) -> Found:
    for at, before, after in _pairs(result):
        if after >= before > 0:
            yield at, f"after tuning {after}, before {before}: not faster"


def _improvement(result: TuningResult) -> Iterator[tuple[str, str, bool]]:
    """(place, message, whether it is the other convention) of each claim that its own times do not bear out."""
    claims = [(m.pointer, m.before, m.after, m.improvement) for m in result.modifications]
    claims.append((result.pointer, result.model_baseline_ms, result.model_result_ms, result.model_improvement))
    for at, before, after, claim in claims:
        if before is None or after is None or claim is None or not (_usual(before) and _usual(after)):
            continue
        said = Decimal(claim.strip().removesuffix("%"))
        if _within(said, before, after, speed_up):
            continue
        other = _within(said, before, after, time_saved)
        gain = speed_up(before, after)
        text = f"says {claim}; {before} before and {after} after are a speed-up (before/after - 1) of {gain:.2f}%"
        yield at, text + (f"; {claim} is the time saved (1 - after/before)" if other else ""), other


def _improvement_mismatch(result: TuningResult) -> Found:
    return ((at, text) for at, text, other in _improvement(result) if not other)


def _improvement_convention(result: TuningResult) -> Found:
    return ((at, text) for at, text, other in _improvement(result) if other)


def speed_up(before: Decimal, after: Decimal) -> Decimal:
    """`before/after - 1`, in percent."""
    return (before / after - 1) * 100


def time_saved(before: Decimal, after: Decimal) -> Decimal:
    """`1 - after/before`, in percent."""
    return (1 - after / before) * 100


def _within(said: Decimal, before: Decimal, after: Decimal, gain: Callable[[Decimal, Decimal], Decimal]) -> bool:
    """Whether a claim fits the two times, whose last printed digits may each be off by half."""
    half_before, half_after = _half_digit(before), _half_digit(after)
    low = gain(before - half_before, after + half_after)
    high = gain(before + half_before, max(after - half_after, after / 2))
    return low - IMPROVEMENT_TOLERANCE <= said <= high + IMPROVEMENT_TOLERANCE


def _usual(value: Decimal) -> bool:
    """Whether a time is one that arithmetic can be done on: above 0 and of no absurd size."""
    return Decimal("1e-9") <= value <= Decimal("1e15")


def _half_digit(value: Decimal) -> Decimal:
    exponent = value.as_tuple().exponent
    return Decimal(5).scaleb(exponent - 1) if isinstance(exponent, int) and exponent < 0 else Decimal(0)


def _repo_key(result: TuningResult) -> Found:
    if result.kind == "sgat":
        for modification in result.modifications:
            name = modification.name
            if not (name.isascii() and name.isdecimal() and len(name) <= 20 and int(name) < 2**64):  # noqa: PLR2004
                yield modification.pointer, f"repo_key {name[:60]!r} is no unsigned 64-bit number"


def _times(result: TuningResult) -> Iterator[tuple[str, str, Decimal]]:
    for modification in result.modifications:
        for what, value in (("the time before", modification.before), ("the time after", modification.after)):
            if value is not None:
                yield modification.pointer, what, value
    for what, value in (("the model's baseline", result.model_baseline_ms), ("its result", result.model_result_ms)):
        if value is not None:
            yield result.pointer, what, value


def _pairs(result: TuningResult) -> Iterator[tuple[str, Decimal, Decimal]]:
    pairs: list[tuple[Modification | None, Decimal | None, Decimal | None]] = [
        (m, m.before, m.after) for m in result.modifications
    ]
    pairs.append((None, result.model_baseline_ms, result.model_result_ms))
    for modification, before, after in pairs:
        if before is not None and after is not None:
            yield (modification.pointer if modification else result.pointer), before, after


_DOCS = "AOE result documents, CANN 6.0 to 8.0"
_SAMPLES = "measured on the five documented samples"

RULES: dict[str, Rule] = {
    "status-unknown": Rule("error", _status_unknown, "only the documented statuses tell what happened", _DOCS),
    "status-alias": Rule("warning", _status_alias, "the English page prints 'tune tuning incomplete'", _DOCS),
    "tuning-failed": Rule("error", _tuning_failed, "a failed tuning must not pass as a result", _DOCS),
    "tuning-incomplete": Rule("warning", _tuning_incomplete, "an interrupted run proves nothing", _DOCS),
    "subgraph-failed": Rule("error", _subgraph_failed, "SGAT has no status: failure is a missing segment", _DOCS),
    "nothing-tunable": Rule("info", _nothing_tunable, "no OPAT segment means no operator to tune", _DOCS),
    "nothing-improved": Rule("info", _nothing_improved, "legal, and no bank is then written", _DOCS),
    "failed-without-list": Rule("error", _failed_without_list, "failed operators are listed on failure", _DOCS),
    "list-without-failure": Rule("warning", _list_without_failure, "the list belongs to failures", _DOCS),
    "hit-sum": Rule("warning", _hit_sum, "hit = reserved + update", _SAMPLES),
    "total-sum": Rule("warning", _total_sum, "total = hit + add + unsatisfied", _SAMPLES),
    "list-length": Rule("warning", _list_length, "the counts are those of the lists", _SAMPLES),
    "duplicate-operator": Rule("warning", _duplicate_operator, "one case has one outcome", _DOCS),
    "non-positive-time": Rule("error", _non_positive_time, "no operator takes no time", _DOCS),
    "not-faster": Rule("warning", _not_faster, "only a better policy is stored", _DOCS),
    "improvement-mismatch": Rule("warning", _improvement_mismatch, "every sample is before/after - 1", _SAMPLES),
    "improvement-convention": Rule(
        "warning", _improvement_convention, "the documents say 'time reduced' and print a speed-up", _SAMPLES
    ),
    "repo-key": Rule("error", _repo_key, "a 64-bit hash in decimal digits", _DOCS),
}
