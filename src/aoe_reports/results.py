"""What AOE reported: every dialect of its result files in one shape. Times are decimals with the file's own digits."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

Kind = Literal["opat", "sgat"]
Container = Literal["array", "report"]
Body = Literal["grouped", "flat", "mixed"]
Vocabulary = Literal["tune", "tuning", "mixed"]


@dataclass(frozen=True, slots=True)
class Modification:
    """One case whose repository entry changed: an operator (in one tuning mode) or a subgraph."""

    name: str
    """The operator's name as AOE prints it, or the subgraph's repo_key."""
    op_type: tuple[str, ...]
    mode: str | None
    update_mode: str
    before: Decimal | None
    after: Decimal | None
    unit: Literal["us", "ms"]
    improvement: str | None
    pointer: str

    @property
    def join_name(self) -> str:
        """The name as msprof knows the operator: without the `_OPAT_<n>` that AOE puts behind it."""
        return join_name(self.name)


_TUNED_COPY = re.compile(r"_OPAT_\d+\Z")


def join_name(name: str) -> str:
    """An operator's name as msprof knows it, of the name that AOE prints."""
    return _TUNED_COPY.sub("", name)


@dataclass(frozen=True, slots=True)
class TuningResult:
    """One tuning task: what was tuned, its status and counts, the model's times in ms, every modification."""

    kind: Kind
    container: Container
    body: Body | None
    vocabulary: Vocabulary | None
    report_key: str | None
    pointer: str
    """Where the task stands in the document (JSON Pointer)."""
    segment_pointer: str
    """Where its OPAT or SGAT segment stands; the task's own place if there is none."""
    tuning_name: str | None
    tuning_time_s: Decimal | None
    status: str | None
    """As AOE wrote it; None where it wrote none (SGAT never does)."""
    status_key: str | None
    has_segment: bool
    model_baseline_ms: Decimal | None
    model_result_ms: Decimal | None
    model_improvement: str | None
    modifications: tuple[Modification, ...]
    summary: dict[str, int]
    failed_operators: tuple[str, ...]
    failed_key: str | None
    """The key under which operators are named as failed; None where none are."""
    present: frozenset[str]
    """Which of INTERRUPTIBLE are there at all, whatever their value."""
    truncated: bool = False
    """Whether the file ended inside of this task: what is here is whole, more of it is missing."""
    ambiguous: bool = False
    """Whether a key stands twice inside of this task: which of its values is the right one cannot be told."""

    @property
    def failed(self) -> bool:
        """Whether AOE says that tuning failed (an SGAT file says it by leaving its segment out)."""
        return status_of(self.status) == "failed" or (self.kind == "sgat" and not self.has_segment)

    @property
    def broken_off(self) -> bool:
        """Whether tuning certainly stopped before its end: its numbers prove nothing."""
        return self.truncated or (self.has_segment and status_of(self.status) == "incomplete")

    @property
    def complete(self) -> bool:
        """Whether tuning went on to its end, so that its numbers may be used."""
        went_well = self.kind == "sgat" or status_of(self.status) == "successful"
        return self.has_segment and went_well and not self.truncated and not self.ambiguous


INTERRUPTIBLE = (
    "tuning_time(s)",
    "model_baseline_performance(ms)",
    "model_result_performance(ms)",
    "model_performance_improvement",
)
"""Keys that tell by being there or not whether a tuning went on to its end."""

STATUSES = {
    "tuning successful": "successful",
    "tuning failed": "failed",
    "tuning incomplete": "incomplete",
    "tune success": "successful",
    "tune failed": "failed",
}
"""Statuses that AOE is documented to write, in both vocabularies."""

STATUS_ALIASES = {"tune tuning incomplete": "incomplete", "tune incomplete": "incomplete"}
"""Statuses that stand in documents only, as slips."""


VOCABULARY_OF: dict[str, Vocabulary] = {
    "opat_tune_result": "tune",
    "tune_failed_operators": "tune",
    "tune success": "tune",
    "tune failed": "tune",
    "opat_tuning_result": "tuning",
    "tuning_failed_operators": "tuning",
    "tuning successful": "tuning",
    "tuning failed": "tuning",
    "tuning incomplete": "tuning",
}
"""The vocabulary that a key or a status belongs to: `tune` is of CANN 6.0, `tuning` of 6.2 and later."""


def vocabulary_of(body: dict[str, Any], status: object) -> Vocabulary | None:
    """The vocabulary of an OPAT segment's keys and status; None where it uses neither."""
    words = {VOCABULARY_OF[word] for word in body if word in VOCABULARY_OF}
    if isinstance(status, str) and status in VOCABULARY_OF:
        words.add(VOCABULARY_OF[status])
    return "mixed" if len(words) > 1 else next(iter(words), None)


@dataclass(frozen=True, slots=True)
class Outline:
    """What a result file is, in one line: its dialect, and the name and status of each task."""

    container: Container
    body: Body | None
    vocabulary: Vocabulary | None
    tuning_names: tuple[str | None, ...]
    statuses: tuple[str | None, ...]


def outline_of(results: Sequence[TuningResult]) -> Outline | None:
    """The outline of a file's tasks; None for a file without one."""
    if not results:
        return None
    bodies = {result.body for result in results} - {None}
    vocabularies = {result.vocabulary for result in results} - {None}
    return Outline(
        results[0].container,
        "mixed" if len(bodies) > 1 else next(iter(bodies), None),
        "mixed" if len(vocabularies) > 1 else next(iter(vocabularies), None),
        tuple(result.tuning_name for result in results),
        tuple(result.status for result in results),
    )


def status_of(text: str | None) -> str | None:
    """`successful`, `failed` or `incomplete`; None for no status and for one that is not known."""
    if text is None:
        return None
    return STATUSES.get(text) or STATUS_ALIASES.get(text)


def results_of_document(document: Any, kind: Kind, *, modified: bool = True) -> list[TuningResult]:
    """Every tuning task of a parsed result file; what has the wrong shape is left out here and found by the schema.

    `modified=False` leaves the modifications out, which are nearly all of the work.
    """
    if isinstance(document, list):
        return [_result(document, kind, "array", None, "", modified=modified)]
    if isinstance(document, dict):
        return [
            _result(segments, kind, "report", key, "/" + escape(key), modified=modified)
            for key, segments in document.items()
            if isinstance(segments, list)
        ]
    return []


def count_members(document: Any) -> int:
    """How many members the objects of a result have together, those that are documented: never more than there are."""
    count = len(document) if isinstance(document, dict) else 0
    for segments in document.values() if isinstance(document, dict) else (document,):
        for segment in _dicts(segments):
            count += len(segment)
            for body in _dicts(segment.values()):
                count += len(body)
                for inner in body.values():
                    count += _count_parts(inner)
    return count


def _count_parts(value: Any) -> int:
    """The members of the counts, of groups of operators or subgraphs, or of a list of operators with their modes."""
    if value.__class__ is dict:
        lists = [inner for inner in value.values() if inner.__class__ is list]
        return len(value) + sum(sum(map(len, _dicts(entries))) for entries in lists)
    if value.__class__ is not list:
        return 0
    count = 0
    for entry in _dicts(value):
        modes = entry.get("tune_performance")
        count += len(entry)
        if modes.__class__ is dict:
            count += len(modes) + sum(map(len, _dicts(modes.values())))
    return count


def _dicts(values: Iterable[Any]) -> list[dict[str, Any]]:
    return [value for value in values if value.__class__ is dict]


def escape(key: str) -> str:
    """A key as one step of a JSON Pointer (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1")


def _result(
    segments: list[Any], kind: Kind, container: Container, key: str | None, pointer: str, *, modified: bool
) -> TuningResult:
    basic, _ = _segment(segments, "basic")
    opat, opat_at = _segment(segments, "OPAT")
    sgat, sgat_at = _segment(segments, "SGAT")
    found: Kind = "opat" if opat is not None else "sgat" if sgat is not None else kind
    body = opat if opat is not None else sgat if sgat is not None else {}
    has_segment = opat is not None or sgat is not None
    at = f"{pointer}/{opat_at if opat is not None else sgat_at}/{found.upper()}" if has_segment else pointer
    status_key = _first_of(body, "opat_tuning_result", "opat_tune_result")
    status = body.get(status_key) if status_key else None
    failed_key = _first_of(body, "tuning_failed_operators", "tune_failed_operators")
    failed = body.get(failed_key) if failed_key else None
    is_flat = found == "opat" and isinstance(body.get("repo_modified_operators"), list)
    shape: Body = "flat" if is_flat else "grouped"
    modifications = _operators(body, at) if found == "opat" else _subgraphs(body, at)
    summary = body.get("repo_summary")
    return TuningResult(
        kind=found,
        container=container,
        body=shape if body else None,
        vocabulary=vocabulary_of(body, status),
        report_key=key,
        pointer=pointer,
        segment_pointer=at,
        tuning_name=_text((basic or {}).get("tuning_name")),
        tuning_time_s=_decimal((basic or {}).get("tuning_time(s)")),
        status=_text(status),
        status_key=status_key,
        has_segment=has_segment,
        model_baseline_ms=_decimal(body.get("model_baseline_performance(ms)")),
        model_result_ms=_decimal(body.get("model_result_performance(ms)")),
        model_improvement=_text(body.get("model_performance_improvement")),
        modifications=tuple(modifications) if modified else (),
        summary=_counts(summary) if isinstance(summary, dict) else {},
        failed_operators=tuple(name for name in failed if isinstance(name, str)) if isinstance(failed, list) else (),
        failed_key=failed_key if failed else None,
        present=frozenset(key for key in INTERRUPTIBLE if key in body or key in (basic or {})),
    )


def _first_of(body: dict[str, Any], *keys: str) -> str | None:
    return next((key for key in keys if key in body), None)


def _segment(segments: list[Any], name: str) -> tuple[dict[str, Any] | None, int]:
    for index, segment in enumerate(segments):
        if isinstance(segment, dict) and isinstance(segment.get(name), dict):
            return segment[name], index
    return None, 0


def _operators(body: dict[str, Any], at: str) -> Iterator[Modification]:
    operators = body.get("repo_modified_operators")
    at = f"{at}/repo_modified_operators"
    if isinstance(operators, list):
        yield from (
            _modification(
                entry, times, "us", mode, times.get("update_mode", "add"), f"{at}/{i}/tune_performance/{mode}"
            )
            for i, entry in enumerate(operators)
            if isinstance(entry, dict)
            for mode, times in _dict(entry.get("tune_performance")).items()
            if isinstance(times, dict)
        )
    for update, i, entry in _grouped(_dict(operators), "operators"):
        yield _modification(entry, entry, "us", None, update, f"{at}/{update}_repo_operators/{i}")


def _subgraphs(body: dict[str, Any], at: str) -> Iterator[Modification]:
    at = f"{at}/repo_modified_subgraphs"
    for update, i, entry in _grouped(_dict(body.get("repo_modified_subgraphs")), "subgraphs"):
        yield _modification(entry, entry, "ms", None, update, f"{at}/{update}_repo_subgraphs/{i}")


def _grouped(groups: dict[str, Any], what: str) -> list[tuple[str, int, dict[str, Any]]]:
    found = []
    for update in ("add", "update"):
        entries = groups.get(f"{update}_repo_{what}")
        if isinstance(entries, list):
            found += [(update, i, entry) for i, entry in enumerate(entries) if isinstance(entry, dict)]
    return found


_TIME_KEYS: dict[str, tuple[str, str]] = {
    unit: (f"performance_before_tune({unit})", f"performance_after_tune({unit})") for unit in ("us", "ms")
}


def _modification(
    entry: dict[str, Any], times: dict[str, Any], unit: Literal["us", "ms"], mode: str | None, update: Any, at: str
) -> Modification:
    before, after = _TIME_KEYS[unit]
    return Modification(
        _text(entry.get("op_name", entry.get("repo_key"))) or "",
        types_of(entry.get("op_type")),
        mode,
        _text(update) or "add",
        _decimal(times.get(before)),
        _decimal(times.get(after)),
        unit,
        _text(times.get("performance_improvement")),
        at,
    )


def types_of(op_type: Any) -> tuple[str, ...]:
    """The operator types of an entry: one, a list, or (the documents leave it open) a list as text, `[A,B]`."""
    if isinstance(op_type, str):
        if not (op_type.startswith("[") and op_type.endswith("]")):
            return (op_type,)
        return tuple(kind.strip() for kind in op_type[1:-1].split(",") if kind.strip())
    return tuple(kind for kind in op_type if isinstance(kind, str)) if isinstance(op_type, list) else ()


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _counts(summary: dict[str, Any]) -> dict[str, int]:
    """The whole numbers of a summary; 2.0 is one, too."""
    counts = {}
    for key, value in summary.items():
        if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
            continue
        if -_MOST < value < _MOST and value == int(value):
            counts[key] = int(value)
    return counts


_MOST = 1 << 64
"""More than anything can be counted to."""


def _decimal(value: Any) -> Decimal | None:
    """A number of a size that a time can have; None for all else."""
    if not isinstance(value, Decimal):
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return None
        value = Decimal(str(value)) if isinstance(value, float) else Decimal(value)
    return value if is_plausible(value) else None


def is_plausible(value: Decimal) -> bool:
    """Whether a number can be a time in s, ms or us: 0, or of 10^-9 to 10^15 (10^15 us are 31 years)."""
    return not value or -9 <= value.adjusted() < 15  # noqa: PLR2004
