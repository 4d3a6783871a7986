"""What AOE reported: every dialect of its result files in one shape. Times are decimals with the file's own digits."""

from __future__ import annotations

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


@dataclass(frozen=True, slots=True)
class TuningResult:
    """One tuning task: what was tuned, its status and counts, the model's times in ms, every modification."""

    kind: Kind
    container: Container
    body: Body | None
    vocabulary: Vocabulary | None
    report_key: str | None
    pointer: str
    tuning_name: str | None
    tuning_time_s: Decimal | None
    status: str | None
    has_segment: bool
    model_baseline_ms: Decimal | None
    model_result_ms: Decimal | None
    model_improvement: str | None
    modifications: tuple[Modification, ...]
    summary: dict[str, int]
    failed_operators: tuple[str, ...]
    failed_listed: bool

    @property
    def failed(self) -> bool:
        """Whether AOE says that tuning failed (an SGAT file says it by leaving its segment out)."""
        return status_of(self.status) == "failed" or (self.kind == "sgat" and not self.has_segment)

    @property
    def complete(self) -> bool:
        """Whether tuning went on to its end, so that its numbers may be used."""
        return self.has_segment and (self.kind == "sgat" or status_of(self.status) == "successful")


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


def status_of(text: str | None) -> str | None:
    """`successful`, `failed` or `incomplete`; None for no status and for one that is not known."""
    if text is None:
        return None
    return STATUSES.get(text) or STATUS_ALIASES.get(text)


def results_of_document(document: Any, kind: Kind) -> list[TuningResult]:
    """Every tuning task of a parsed result file; what has the wrong shape is left out here and found by the schema."""
    if isinstance(document, list):
        return [_result(document, kind, "array", None, "")]
    if isinstance(document, dict):
        return [
            _result(segments, kind, "report", key, "/" + escape(key))
            for key, segments in document.items()
            if isinstance(segments, list)
        ]
    return []


def escape(key: str) -> str:
    """A key as one step of a JSON Pointer (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1")


def _result(segments: list[Any], kind: Kind, container: Container, key: str | None, pointer: str) -> TuningResult:
    basic, _ = _segment(segments, "basic")
    opat, opat_at = _segment(segments, "OPAT")
    sgat, sgat_at = _segment(segments, "SGAT")
    found: Kind = "opat" if opat is not None else "sgat" if sgat is not None else kind
    body = opat if opat is not None else sgat if sgat is not None else {}
    at = f"{pointer}/{opat_at if opat is not None else sgat_at}/{found.upper()}"
    status = body.get("opat_tuning_result", body.get("opat_tune_result"))
    failed = body.get("tuning_failed_operators", body.get("tune_failed_operators"))
    shape, modifications = _operators(body, at) if found == "opat" else ("grouped", _subgraphs(body, at))
    summary = body.get("repo_summary")
    words = {word for word in ("tune", "tuning") if f"opat_{word}_result" in body or f"{word}_failed_operators" in body}
    return TuningResult(
        kind=found,
        container=container,
        body=shape if body else None,
        vocabulary=None if not words else "mixed" if len(words) > 1 else "tune" if words == {"tune"} else "tuning",
        report_key=key,
        pointer=pointer,
        tuning_name=_text((basic or {}).get("tuning_name")),
        tuning_time_s=_decimal((basic or {}).get("tuning_time(s)")),
        status=_text(status),
        has_segment=opat is not None or sgat is not None,
        model_baseline_ms=_decimal(body.get("model_baseline_performance(ms)")),
        model_result_ms=_decimal(body.get("model_result_performance(ms)")),
        model_improvement=_text(body.get("model_performance_improvement")),
        modifications=tuple(modifications),
        summary={k: v for k, v in summary.items() if type(v) is int} if isinstance(summary, dict) else {},
        failed_operators=tuple(name for name in failed if isinstance(name, str)) if isinstance(failed, list) else (),
        failed_listed=bool(failed),
    )


def _segment(segments: list[Any], name: str) -> tuple[dict[str, Any] | None, int]:
    for index, segment in enumerate(segments):
        if isinstance(segment, dict) and isinstance(segment.get(name), dict):
            return segment[name], index
    return None, 0


def _operators(body: dict[str, Any], at: str) -> tuple[Body | None, list[Modification]]:
    operators = body.get("repo_modified_operators")
    at = f"{at}/repo_modified_operators"
    if isinstance(operators, list):
        return "flat", [
            _modification(
                entry, times, "us", mode, times.get("update_mode", "add"), f"{at}/{i}/tune_performance/{mode}"
            )
            for i, entry in enumerate(operators)
            if isinstance(entry, dict)
            for mode, times in _dict(entry.get("tune_performance")).items()
            if isinstance(times, dict)
        ]
    return "grouped", [
        _modification(entry, entry, "us", None, update, f"{at}/{update}_repo_operators/{i}")
        for update, i, entry in _grouped(_dict(operators), "operators")
    ]


def _subgraphs(body: dict[str, Any], at: str) -> list[Modification]:
    at = f"{at}/repo_modified_subgraphs"
    return [
        _modification(entry, entry, "ms", None, update, f"{at}/{update}_repo_subgraphs/{i}")
        for update, i, entry in _grouped(_dict(body.get("repo_modified_subgraphs")), "subgraphs")
    ]


def _grouped(groups: dict[str, Any], what: str) -> list[tuple[str, int, dict[str, Any]]]:
    found = []
    for update in ("add", "update"):
        entries = groups.get(f"{update}_repo_{what}")
        if isinstance(entries, list):
            found += [(update, i, entry) for i, entry in enumerate(entries) if isinstance(entry, dict)]
    return found


def _modification(
    entry: dict[str, Any], times: dict[str, Any], unit: Literal["us", "ms"], mode: str | None, update: Any, at: str
) -> Modification:
    op_type = entry.get("op_type")
    listed = op_type if isinstance(op_type, list) else [op_type]
    types = tuple(kind for kind in listed if isinstance(kind, str))
    return Modification(
        name=_text(entry.get("op_name", entry.get("repo_key"))) or "",
        op_type=types,
        mode=mode,
        update_mode=_text(update) or "add",
        before=_decimal(times.get(f"performance_before_tune({unit})")),
        after=_decimal(times.get(f"performance_after_tune({unit})")),
        unit=unit,
        improvement=_text(times.get("performance_improvement")),
        pointer=at,
    )


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _decimal(value: Any) -> Decimal | None:
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < _LARGEST:
        return Decimal(value)
    if isinstance(value, Decimal) and abs(value.adjusted()) < _DIGITS:
        return value
    return None  # no number, or one of a size that no time has: the schema says so


_DIGITS = 19
_LARGEST = 10**_DIGITS
