"""What rules on AOE results look at: the document, its tuning tasks, and what these claim."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal, NamedTuple

from aoe_reports.formats.aoe.results import MODEL_KEYS, UNIT_OF, Kind, Modification, TuningResult, escape
from aoe_reports.model.rules import Scope
from aoe_reports.model.texts import say

RESULTS = Scope("AOE results")
DOCS = say("AOE result documents, CANN 6.0 to 8.0")
SAMPLES = say("measured on the five documented samples")
WRITER = say("AOE's own writer of operator results (Python of CANN 8.1.RC1)")
"""What the rules apply to, and where their facts come from."""

TIME_KEYS = frozenset({"performance_before_tune", "performance_after_tune"})
_MODEL_KEYS = frozenset({"model_baseline_performance", "model_result_performance"})
UNITS = {kind.upper(): f"({unit})" for kind, unit in UNIT_OF.items()}
"""The unit of single times in each segment."""

Word = Literal["before", "after", "improvement"]


@dataclass(frozen=True, slots=True)
class Document:
    """A result file on which rules are tried."""

    kind: Kind
    """By the name of the file."""
    content: Any
    tasks: tuple[TuningResult, ...]
    fitting: tuple[TuningResult, ...]
    """The tasks that have the right shape."""
    is_documented: bool
    """Whether it fits its schema and has no key that the schema does not name."""

    def segments_of(self, task: TuningResult) -> list[Any]:
        """The segments of one of its tasks."""
        segments = self.content if task.report_key is None else self.content[task.report_key]
        return segments if isinstance(segments, list) else []


def times_in(content: Any) -> Iterator[tuple[str, str, Any, str | None]]:
    """(JSON Pointer, key, value, the segment around it) of every member whose key ends with a unit."""
    waiting: list[tuple[str, Any, str | None]] = [("", content, None)]
    while waiting:
        at, value, segment = waiting.pop()
        if isinstance(value, list):
            waiting += [(f"{at}/{i}", inner, segment) for i, inner in enumerate(value)]
        elif isinstance(value, dict):
            for key, inner in value.items():
                pointer = f"{at}/{escape(key)}"
                if key.endswith(")"):
                    yield pointer, key, inner, segment
                waiting.append((pointer, inner, key if key in UNITS else segment))


def mistaken_keys(content: Any) -> Iterator[tuple[str, str, str, str]]:
    """(JSON Pointer, key, the expected key, the segment around it) of each time in the wrong unit."""
    for at, key, _, segment in times_in(content):
        if segment not in UNITS:
            continue
        stem = key.rpartition("(")[0]
        unit = UNITS[segment] if stem in TIME_KEYS else "(ms)" if stem in _MODEL_KEYS else None
        if unit is not None and key != stem + unit:
            yield at, key, stem + unit, segment


class Claim(NamedTuple):
    """Two times and what AOE says of them: of a modification, or (without a `part`) of the model."""

    part: Modification | None
    pointer: str
    """The place of the modification, or of the task's segment."""
    before: Decimal | None
    after: Decimal | None
    improvement: str | None

    @property
    def has_no_time_before(self) -> bool:
        """Whether AOE has no time before tuning: then it claims no gain, and leaves the improvement out."""
        return self.before == 0 and self.improvement is None

    def key(self, word: Word) -> str:
        """The key of a time, or of the claim itself."""
        if self.part is None:
            return MODEL_KEYS[("before", "after", "improvement").index(word)]
        return "performance_improvement" if word == "improvement" else f"performance_{word}_tune({self.part.unit})"

    def place(self, word: Word) -> str:
        """The JSON Pointer of a time, or of the claim itself."""
        return f"{self.pointer}/{self.key(word)}"


def claims_of(task: TuningResult) -> list[Claim]:
    """The times and the claim of each modification, and those of the model."""
    claims = [Claim(m, m.pointer, m.before, m.after, m.improvement) for m in task.modifications]
    model = (task.model_baseline_ms, task.model_result_ms, task.model_improvement)
    return [*claims, Claim(None, task.segment_pointer, *model)]


def status_at(task: TuningResult) -> str:
    """The place of the status; of the segment where there is none."""
    return f"{task.segment_pointer}/{task.status_key}" if task.status_key else task.segment_pointer


def summary_at(task: TuningResult) -> str:
    """The place of the counts."""
    return f"{task.segment_pointer}/repo_summary"


def printed(value: Decimal) -> str:
    """A time with the digits of the file, as far as anybody reads them."""
    return str(value)[:40]
