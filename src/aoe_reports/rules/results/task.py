"""A tuning task as rules look at it: facts, times as floats, and exact times for what floats do not decide."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import repeat
from math import inf
from operator import lt, mul, sub, truediv
from typing import Any, Literal, NamedTuple

from aoe_reports.formats.aoe.results import (
    MODEL_KEYS,
    TIME_KEYS,
    UNIT_OF,
    Modification,
    ReadTask,
    TaskFacts,
    TuningResult,
)
from aoe_reports.model.rules import Scope
from aoe_reports.model.texts import say

RESULTS = Scope("AOE results")
DOCS = say("AOE result documents, CANN 6.0 to 8.0")
SAMPLES = say("measured on the five documented samples")
WRITER = say("AOE's own writer of operator results (Python of CANN 8.1.RC1)")
"""What the rules apply to, and where their facts come from."""

_MIN_BESIDE, _MAX_BESIDE = 99.9901, 100.0099
"""Before/after in percent less the claim, where it is right by a margin: 0.01 points of a percentage are allowed."""

_FLOAT_ERROR = 1e-12
"""More than a difference of floats is beside the exact one, as a share of the longer time."""

Word = Literal["before", "after", "improvement"]


@dataclass(slots=True)
class Columns:
    """A task's modifications, one list a fact. Times are floats, and infinite where there is none that can be used.

    The last of the times and claims is the model's, where the task has one.
    """

    names: list[str]
    updates: list[str]
    op_types: Collection[str]
    """Each type once; a list that is written as one text (`[A,B]`) is one."""
    before: list[float]
    after: list[float]
    claims: list[Any]
    added: int = field(init=False)
    updated: int = field(init=False)
    """How many of `updates` say the one or the other."""
    has_known_updates: bool = field(init=False)
    distinct_names: frozenset[str] = field(init=False)
    is_clearly_faster: bool = field(init=False)
    """Whether each time after tuning is less than the one before: of floats that differ the order is certain."""
    shortest: float = field(init=False)
    longest: float = field(init=False)
    may_be_filled_in: bool = field(init=False)
    """Whether two times of a modification may differ by exactly 1."""

    def __post_init__(self) -> None:
        before, after = self.before, self.after
        self.added, self.updated = self.updates.count("add"), self.updates.count("update")
        self.has_known_updates = self.added + self.updated == len(self.updates)
        self.distinct_names = frozenset(self.names)
        self.is_clearly_faster = all(map(lt, after, before))
        self.shortest = min(after if self.is_clearly_faster else after + before, default=1.0)
        self.longest = max(before if self.is_clearly_faster else after + before, default=1.0)
        error = self.longest * _FLOAT_ERROR
        beside = map(abs, map(sub, map(abs, map(sub, before, after)), repeat(1.0)))
        self.may_be_filled_in = not error < 1 or min(beside, default=1.0) <= error


class Claim(NamedTuple):
    """Two exact times and what AOE says of them; the model's without a modification."""

    part: Modification | None
    before: Decimal | None
    after: Decimal | None
    improvement: str | None


@dataclass(slots=True)
class Task:
    """One tuning task.

    A rule that looks at times may end early where the floats of `columns` show that it has nothing to say. What it says is
    of `exact`, which has all printed digits: asking for it may read the file a second time.
    """

    facts: TaskFacts
    columns: Columns
    tuning_time_s: float | None
    """None where the file tells none; infinite for what cannot be one."""
    read_exactly: Callable[[], TuningResult]
    _bears_out: bool | None = field(default=None, init=False)

    @property
    def exact(self) -> TuningResult:
        """The task with every digit that stands in the file."""
        return self.read_exactly()

    @property
    def claims(self) -> list[Claim]:
        """The exact times and the claim of each modification, and the model's."""
        result = self.exact
        claims = [Claim(m, m.before, m.after, m.improvement) for m in result.modifications]
        claims.append(Claim(None, result.model_baseline_ms, result.model_result_ms, result.model_improvement))
        return claims

    def clearly_bears_out_claims(self) -> bool:
        """Whether every claim fits its two times by a margin."""
        if self._bears_out is None:
            self._bears_out = _clearly_bears_out(self.columns)
        return self._bears_out

    @property
    def status_at(self) -> str:
        """Where the status stands; the segment, where it does not."""
        facts = self.facts
        return f"{facts.segment_pointer}/{facts.status_key}" if facts.status_key else facts.segment_pointer

    @property
    def summary_at(self) -> str:
        """Where the counts stand."""
        return f"{self.facts.segment_pointer}/repo_summary"

    def place_of(self, claim: Claim, word: Word) -> str:
        """Where a time or the claim itself stands."""
        return f"{claim.part.pointer if claim.part else self.facts.segment_pointer}/{key_of(claim, word)}"


def has_no_time_before(claim: Claim) -> bool:
    """Whether AOE has no time before tuning: then it claims no gain, and leaves the improvement out."""
    return claim.before == 0 and claim.improvement is None


def key_of(claim: Claim, word: Word) -> str:
    """The key of a time, or of the claim itself."""
    if claim.part is None:
        return MODEL_KEYS[("before", "after", "improvement").index(word)]
    return "performance_improvement" if word == "improvement" else f"performance_{word}_tune({claim.part.unit})"


def printed(value: Decimal) -> str:
    """A time with the digits of the file, as far as anybody reads them."""
    return str(value)[:40]


def _clearly_bears_out(columns: Columns) -> bool:
    if columns.longest >= columns.shortest * _MAX_RATIO:
        return False
    try:
        claims = list(map(float, "".join(columns.claims).split("%")[:-1]))  # all at once: they are most of the work
        speed_ups = map(truediv, map(mul, columns.before, repeat(100.0)), columns.after)
        beside = list(map(sub, speed_ups, claims))
    except (ArithmeticError, TypeError, ValueError):
        return False
    is_right = min(beside, default=100) > _MIN_BESIDE and max(beside, default=100) < _MAX_BESIDE
    return is_right and len(claims) == len(columns.before)


_MAX_RATIO = 1e6
"""Beyond it floats tell less of a claim than its digits do."""


def task_of_result(result: TuningResult) -> Task:
    """A task of which the exact times are known."""
    parts, has_model = result.modifications, _has_model(result.present)
    columns = Columns(
        names=[part.name for part in parts],
        updates=[part.update_mode for part in parts],
        op_types={op_type for part in parts for op_type in part.op_type},
        before=_floats([*(part.before for part in parts), *([result.model_baseline_ms] if has_model else [])]),
        after=_floats([*(part.after for part in parts), *([result.model_result_ms] if has_model else [])]),
        claims=[*(part.improvement for part in parts), *([result.model_improvement] if has_model else [])],
    )
    tuned = _float(result.tuning_time_s) if "tuning_time(s)" in result.present else None
    return Task(result, columns, tuned, lambda: result)


def task_of_floats(read: ReadTask, read_exactly: Callable[[], TuningResult]) -> Task:
    """A task of a document of which all is documented, whose times were read as floats."""
    facts, entries, model = read.facts, read.entries, [read.body] if _has_model(read.facts.present) else []
    before, after = TIME_KEYS[UNIT_OF[facts.kind]]
    tuned = read.basic.get("tuning_time(s)")
    name = "op_name" if facts.kind == "opat" else "repo_key"
    columns = Columns(
        names=[one[name] for one in entries.named],
        updates=entries.updates,
        op_types=_distinct([one["op_type"] for one in entries.named] if facts.kind == "opat" else []),
        before=[one[before] for one in entries.timed] + [one.get(MODEL_KEYS[0], inf) for one in model],
        after=[one[after] for one in entries.timed] + [one.get(MODEL_KEYS[1], inf) for one in model],
        claims=[one.get("performance_improvement") for one in entries.timed]
        + [one.get(MODEL_KEYS[2]) for one in model],
    )
    return Task(facts, columns, tuned if isinstance(tuned, int | float) else None, read_exactly)


def _has_model(present: frozenset[str]) -> bool:
    return not present.isdisjoint(MODEL_KEYS)


def _distinct(op_types: list[Any]) -> Collection[str]:
    try:
        return set(op_types)
    except TypeError:  # some are lists
        return {name for one in op_types for name in ([one] if isinstance(one, str) else one)}


def _floats(values: Iterable[Decimal | None]) -> list[float]:
    return [_float(value) for value in values]


def _float(value: Decimal | float | None) -> float:
    return inf if value is None else float(value)
