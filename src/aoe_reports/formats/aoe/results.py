"""What AOE reported: every dialect of its result files in one shape. Times are decimals with the file's own digits."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal, TypeGuard, TypeVar

from aoe_reports.model.documents import JsonObject, object_of, text_of

Kind = Literal["opat", "sgat"]
Word = TypeVar("Word", bound=str)
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

    @property
    def unmeasured(self) -> bool:
        """Whether AOE filled in the gain.

        Its writer (Python of CANN 8.1.RC1) sets one of the times to the other + 1 where the change of the bank and the measured
        times contradict each other.
        """
        if self.unit != "us" or self.before is None or self.after is None:
            return False  # of subgraphs the writer is not public
        return abs(self.before - self.after) == 1


_TUNED_COPY = re.compile(r"_OPAT_\d+\Z")


def join_name(name: str) -> str:
    """An operator's name as msprof knows it, of the name that AOE prints."""
    return _TUNED_COPY.sub("", name)


@dataclass(slots=True, kw_only=True)
class TuningResult:
    """One tuning task: its dialect, what was tuned, its status and counts, the model's times in ms, every modification."""

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
    status: str | None
    """As AOE wrote it; None where it wrote none (SGAT never does)."""
    status_key: str | None
    has_segment: bool
    summary: dict[str, int]
    failed_operators: tuple[str, ...]
    failed_key: str | None
    """The key under which operators are named as failed; None where none are."""
    present: frozenset[str]
    """Which of INTERRUPTIBLE are there at all, whatever their value."""
    tuning_time_s: Decimal | None
    model_baseline_ms: Decimal | None
    model_result_ms: Decimal | None
    model_improvement: str | None
    modifications: tuple[Modification, ...] = ()
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


MODEL_KEYS = ("model_baseline_performance(ms)", "model_result_performance(ms)", "model_performance_improvement")
"""The keys of the model's time before tuning, after it, and of what AOE says of them."""

INTERRUPTIBLE = ("tuning_time(s)", *MODEL_KEYS)
"""Keys that tell by being there or not whether a tuning went on to its end."""

REPORT_KEY = re.compile(r"report_\d{8}_?\d{6}_?\d{0,6}_\d+", re.ASCII)
"""The key of one task in a report file: a time and a thread id."""

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


def vocabulary_of(body: JsonObject, status: object) -> Vocabulary | None:
    """The vocabulary of an OPAT segment's keys and status; None where it uses neither."""
    words = {VOCABULARY_OF[word] for word in body if word in VOCABULARY_OF}
    if isinstance(status, str) and status in VOCABULARY_OF:
        words.add(VOCABULARY_OF[status])
    return "mixed" if len(words) > 1 else next(iter(words), None)


@dataclass(slots=True)
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
    return Outline(
        results[0].container,
        _common([result.body for result in results]),
        _common([result.vocabulary for result in results]),
        tuple([result.tuning_name for result in results]),
        tuple([result.status for result in results]),
    )


def _common(words: Sequence[Word | None]) -> Word | Literal["mixed"] | None:
    first, *others = words
    if not others:
        return first
    found = {*words} - {None}
    return "mixed" if len(found) > 1 else found.pop() if found else None


def status_of(text: str | None) -> str | None:
    """`successful`, `failed` or `incomplete`; None for no status and for one that is not known."""
    if text is None:
        return None
    return STATUSES.get(text) or STATUS_ALIASES.get(text)


def results_of_document(document: Any, kind: Kind) -> list[TuningResult]:
    """Every tuning task of a parsed result file; what has the wrong shape is left out here and found by the schema."""
    if isinstance(document, list):
        return [_task(document, kind, "array", None, "")]
    if isinstance(document, dict):
        return [
            _task(segments, kind, "report", key, "/" + escape(key))
            for key, segments in document.items()
            if isinstance(segments, list)
        ]
    return []


def escape(key: str) -> str:
    """A key as one step of a JSON Pointer (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1")


def _task(segments: list[Any], kind: Kind, container: Container, key: str | None, pointer: str) -> TuningResult:
    basic, _ = _segment(segments, "basic")
    found, segment, below = _tuned_segment(segments, kind)
    basic, body = basic or {}, segment or {}
    status_key = _first_of(body, "opat_tuning_result", "opat_tune_result")
    failed_key = _first_of(body, "tuning_failed_operators", "tune_failed_operators")
    status, failed = body.get(status_key or ""), body.get(failed_key or "")
    modified = body.get(f"repo_modified_{WHAT[found]}")
    flat = modified if found == "opat" and isinstance(modified, list) else None
    at = f"{pointer}{below}/repo_modified_{WHAT[found]}"
    return TuningResult(
        kind=found,
        container=container,
        body=None if modified is None else "grouped" if flat is None else "flat",
        vocabulary=vocabulary_of(body, status),
        report_key=key,
        pointer=pointer,
        segment_pointer=pointer + below,
        tuning_name=text_of(basic.get("tuning_name")),
        status=text_of(status) if status_key else None,
        status_key=status_key,
        has_segment=segment is not None,
        summary=_counts(object_of(body.get("repo_summary"))),
        failed_operators=_texts(failed),
        failed_key=failed_key if failed else None,
        present=frozenset([name for name in INTERRUPTIBLE if name in body or name in basic]),
        tuning_time_s=_decimal(basic.get("tuning_time(s)")),
        model_baseline_ms=_decimal(body.get(MODEL_KEYS[0])),
        model_result_ms=_decimal(body.get(MODEL_KEYS[1])),
        model_improvement=text_of(body.get(MODEL_KEYS[2])),
        modifications=tuple(_grouped(object_of(modified), found, at) if flat is None else _flat(flat, at)),
    )


def _tuned_segment(segments: list[Any], kind: Kind) -> tuple[Kind, JsonObject | None, str]:
    """(what was tuned, the segment that tells of it, where that stands below the task); `kind` where there is none."""
    kinds: tuple[Kind, ...] = ("opat", "sgat")
    for found in kinds:
        segment, index = _segment(segments, found.upper())
        if segment is not None:
            return found, segment, f"/{index}/{found.upper()}"
    return kind, None, ""


def _first_of(body: JsonObject, *keys: str) -> str | None:
    for key in keys:
        if key in body:
            return key
    return None


def _segment(segments: list[Any], name: str) -> tuple[JsonObject | None, int]:
    for index, segment in enumerate(segments):
        if isinstance(segment, dict) and isinstance(inner := segment.get(name), dict):
            return inner, index
    return None, 0


def _flat(operators: list[Any], at: str) -> Iterator[Modification]:
    for i, operator in enumerate(operators):
        times = operator.get("tune_performance") if isinstance(operator, dict) else None
        for mode, one in times.items() if isinstance(times, dict) else ():
            if isinstance(one, dict):
                pointer = f"{at}/{i}/tune_performance/{mode}"
                yield _modification("opat", operator, one, one.get("update_mode", "add"), mode, pointer)


def _grouped(groups: JsonObject, kind: Kind, at: str) -> Iterator[Modification]:
    for update in ("add", "update"):
        key = f"{update}_repo_{WHAT[kind]}"
        entries = groups.get(key)
        for i, entry in enumerate(entries if isinstance(entries, list) else ()):
            if isinstance(entry, dict):
                yield _modification(kind, entry, entry, update, None, f"{at}/{key}/{i}")


Unit = Literal["us", "ms"]
UNIT_OF: dict[Kind, Unit] = {"opat": "us", "sgat": "ms"}
"""The unit of the times of modifications."""

WHAT: dict[Kind, str] = {"opat": "operators", "sgat": "subgraphs"}
"""What is modified."""


def _modification(
    kind: Kind, named: JsonObject, timed: JsonObject, update: Any, mode: str | None, pointer: str
) -> Modification:
    """The modification whose names and types are in `named`, and whose times are in `timed`."""
    unit = UNIT_OF[kind]
    return Modification(
        name=text_of(named.get("op_name", named.get("repo_key"))) or "",
        op_type=types_of(named.get("op_type")),
        mode=mode,
        update_mode=text_of(update) or "add",
        before=_decimal(timed.get(f"performance_before_tune({unit})")),
        after=_decimal(timed.get(f"performance_after_tune({unit})")),
        unit=unit,
        improvement=text_of(timed.get("performance_improvement")),
        pointer=pointer,
    )


def types_of(op_type: Any) -> tuple[str, ...]:
    """The operator types of an entry: one, a list, or (the documents leave it open) a list as text, `[A,B]`."""
    if isinstance(op_type, str):
        if not (op_type.startswith("[") and op_type.endswith("]")):
            return (op_type,)
        return tuple(kind.strip() for kind in op_type[1:-1].split(",") if kind.strip())
    return _texts(op_type)


def _texts(value: Any) -> tuple[str, ...]:
    """The texts of a list; none of anything else."""
    return tuple(one for one in value if isinstance(one, str)) if isinstance(value, list) else ()


def _counts(summary: JsonObject) -> dict[str, int]:
    """The whole numbers of a summary; 2.0 is one, too."""
    counts = {key: count for key, count in summary.items() if type(count) is int and -_MAX < count < _MAX}
    if len(counts) == len(summary):
        return counts
    return {key: int(value) for key, value in summary.items() if _is_count(value)}


def _is_count(value: Any) -> TypeGuard[float]:
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
        return False
    return -_MAX < value < _MAX and value == int(value)


_MAX = 1 << 64
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
