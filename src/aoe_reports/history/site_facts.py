"""What pages are made of: plain facts of series and runs, as the store has them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from aoe_reports.formats.sources.objects import path_of
from aoe_reports.model.findings import Finding
from aoe_reports.model.history.advice import AdviceSummary, LeftOutRow, StoredAdviceRow, StoredCandidate, StoredLinks
from aoe_reports.model.history.changes import (
    AlarmBudget,
    IncidentChange,
    PastNight,
    SeriesChange,
    SeriesObservation,
    SuspectedCause,
)
from aoe_reports.model.history.listings import ListedVerdict
from aoe_reports.model.history.runs import StepTimes, Stored, TuningClaim
from aoe_reports.model.pictures.step import NoPicture, StepPicture
from aoe_reports.store import History, Where
from aoe_reports.store.layout import CAPTURES, message_of
from aoe_reports.topics.records.context import UNKNOWN

_COMMIT = re.compile(r"(?:^|[._-])(?:commit|revision|git)", re.IGNORECASE)
Floats = np.ndarray[Any, np.dtype[np.float64]]
Days = np.ndarray[Any, np.dtype[np.int64]]


def speed_up(before: float | None, after: float | None) -> float | None:
    """How much faster something got, as before / after - 1; None where a side is not known."""
    return before / after - 1 if before and after else None


PARTS = ("computing", "communication_not_overlapped", "free")
"""What a step is divided into."""


@dataclass(frozen=True, slots=True)
class PlacedShift:
    """A level shift: columns into the series' own nights, levels in the unit of the series, `change` as after / before - 1."""

    start: int
    until: int
    state: str
    before: float
    after: float
    change: float
    ci_low: float
    ci_high: float


@dataclass(frozen=True, slots=True)
class SeriesFacts:
    """One series: the row that `regressions` prints, and its whole history."""

    row: SeriesChange
    model: str
    engine: str
    source: str
    nights: tuple[str, ...]
    """Dates with a time, oldest first."""
    values: Floats
    """In the unit of its row."""
    runs: tuple[str, ...]
    """The newest run of each night."""
    shifts: tuple[PlacedShift, ...]
    level: float | None
    """Of the newest nights."""
    sigma: float | None
    """Relative scatter from night to night."""
    watched: int
    """So many of the newest nights were judged."""
    share_of_step: float | None
    """Time in the newest run over the time of its steps; None where the store cannot tell."""
    step_series: str | None
    """The series of the step of the same run, rank and device."""
    hindsight: tuple[PlacedShift, ...] = ()
    """Changes of the whole history looked at once, as `regressions --whole-history` tells them; the watch's are `shifts`."""
    hindsight_level: float | None = None
    """Of the newest nights, by the same look."""
    has_page: bool = True
    observations: tuple[SeriesObservation, ...] = ()
    """What it does that is no change of its level, of the nights that were judged."""
    input_shapes: str | None = None
    """Of an operator, as its newest record has them."""
    parts: Mapping[str, Floats] = field(default_factory=dict)
    """Of a step the mean ms of its parts in each of its nights, NaN where unknown; by their names in PARTS."""

    @property
    def id(self) -> str:
        """Its identity."""
        return self.row.series_id


@dataclass(frozen=True, slots=True)
class RunFacts:
    """One run as the store's row has it, with what was found wrong in it."""

    run_id: str
    kind: str
    night: str
    timestamp_ns: int
    model: str
    hardware: str
    status: str
    path: str
    facts: Mapping[str, str]
    """What else is known of how it ran: one level of names and texts."""
    body: Mapping[str, Any]
    findings: Sequence[Finding] = ()
    content: str = ""
    """What its records come from: content hash and version of the normaliser."""

    @property
    def folder(self) -> str:
        """Where all of its ranks lie; of what older versions stored, and of no profile, nobody knows more than its path."""
        return str(path_of(self.path).parent) if self.body.get(CAPTURES, 1) != 1 else self.path

    @property
    def has_folder(self) -> bool:
        """Whether it is known where all of its ranks lie."""
        return CAPTURES in self.body

    @property
    def versions(self) -> tuple[str, ...]:
        """The versions that it names: of its engine, and of what it ran (a commit, a revision)."""
        names = sorted(name for name in self.facts if name == "engine_version" or _COMMIT.search(name))
        return tuple(self.facts[name] for name in names if self.facts[name] != UNKNOWN)

    @property
    def known_facts(self) -> dict[str, str]:
        """What it is and how it ran, as far as that is known."""
        facts = {"kind": self.kind, "status": self.status, "hardware": self.hardware, **self.facts}
        return {name: value for name, value in facts.items() if value != UNKNOWN}

    @property
    def is_tuning(self) -> bool:
        """Whether it is a run of AOE, which measured nothing."""
        return self.kind == "tuning"

    @property
    def claimed_ms(self) -> tuple[float | None, float | None]:
        """The time of the model before and after, as AOE claims it."""
        return self.body.get("model_baseline_ms"), self.body.get("model_result_ms")


def stored_findings(history: History, where: Where = ()) -> dict[str, list[Finding]]:
    """What was found wrong in each run."""
    names = ("severity", "rule", "path", "line", "column", "pointer")
    found: dict[str, list[Finding]] = defaultdict(list)
    for row in history.rows("finding", ("run_id", "message", "body", *names), where).to_pylist():
        found[row["run_id"]].append(Finding(message=message_of(row), **{name: row[name] for name in names}))
    return found


def differing_facts(before: RunFacts, after: RunFacts) -> Iterator[tuple[str, str | None, str | None]]:
    """What is known of how two runs ran and differs: the name, what it was, what it became."""
    for name in sorted({*before.facts, *after.facts}):
        was, became = (None if side.facts.get(name) == UNKNOWN else side.facts.get(name) for side in (before, after))
        if was != became:
            yield name, was, became


@dataclass(frozen=True, slots=True)
class Claim:
    """What AOE says it changed: the model, an operator or a subgraph."""

    scope: str
    name: str
    before_us: float
    after_us: float
    unmeasured: bool = False
    """Whether AOE filled in the gain."""


@dataclass(frozen=True, slots=True)
class Groups:
    """The types, operators and communications of one run, each with all that it took."""

    keys: tuple[tuple[Any, ...], ...] = ()
    """scope, rank_id, device_id, op_type, op_name, workload_args as JSON, in order: the same in two runs is the same work."""
    counts: Sequence[int | None] = ()
    totals_ns: Sequence[int] = ()


@dataclass(frozen=True, slots=True)
class HeldMemory:
    """Who holds part of a peak."""

    name: str | None
    kind: str | None
    module: str | None
    size_bytes: int
    since_before: bool = False
    unexplained: bool = False
    others: int = 0
    """So many owners that the record does not name hold it together."""


@dataclass(frozen=True, slots=True)
class RunMemory:
    """The memory of one device in a run, from its record."""

    rank_id: int | None
    device_id: int | None
    series_id: str | None
    """That of its record, from which those of its metrics follow."""
    component: str
    peak_bytes: int
    """The most that was allocated; where that is not recorded, the most that was reserved."""
    allocated_bytes: int | None
    reserved_bytes: int | None
    process_bytes: int | None
    """The most that the process held."""
    growth_bytes_per_step: float | None
    growth_rank: int | None
    """Of several ranks that which grows most."""
    owners: Sequence[HeldMemory]
    """They add up to the peak."""
    ranks: int | None = None
    """It is the one with the highest peak of so many ranks, which have no records of their own."""


@dataclass(frozen=True, slots=True)
class RunDetails:
    """The records of one run, as far as its page shows them."""

    steps: Sequence[StepTimes] = ()
    types: Sequence[Mapping[str, Any]] = ()
    """Operator types by total, as JSON has them: a site has tens of thousands, and none has to become a `GroupTotal`."""
    operators: Sequence[Mapping[str, Any]] = ()
    """The longest operators; a type or an operator of several ranks has a row for each of them."""
    type_count: int = 0
    """Different ones: a type of two ranks is one."""
    operator_count: int = 0
    computing_us: float | None = None
    """All compute tasks of all ranks."""
    claims: Sequence[Stored[TuningClaim]] = ()
    groups: Groups = Groups()
    """Everything of the run that can be held against another run."""
    memory: Sequence[RunMemory] = ()
    untimed: int = 0
    """Records that tell no total and are in no group."""
    ranks: pa.Table | None = None
    """Of a run of many ranks: rank_id, device_id, op_type, workload_args, count, total_ns of each operator type on each rank."""
    operator_ranks: pa.Table | None = None
    """The same of its longest operators, with op_name."""


@dataclass(frozen=True, slots=True)
class RunAdvice:
    """What was stored of advice when a run was: the summary, and rows in order."""

    summary: AdviceSummary
    advice: Sequence[StoredAdviceRow] = ()
    stated: Sequence[StoredAdviceRow] = ()
    """That of msprof."""
    candidates: Sequence[StoredCandidate] = ()
    left_out: Sequence[LeftOutRow] = ()
    links: Sequence[StoredLinks] = ()
    picture: StepPicture | NoPicture | None = None
    """One step of it; runs that older versions stored have none."""


@dataclass(frozen=True, slots=True)
class StoreFacts:
    """Everything but the records of single runs."""

    series: Sequence[SeriesFacts]
    """In the order in which `regressions` tells of them."""
    runs: Sequence[RunFacts]
    """Oldest first."""
    verdicts: Sequence[Stored[ListedVerdict]]
    budget: AlarmBudget
    nights: Sequence[str]
    """Every date with a run, oldest first."""
    watched_nights: int
    regressions: Sequence[SeriesChange] = ()
    """The rows that `regressions` prints: series that changed."""
    remark: str | None = None
    """Why nothing can be said of changes, where that is so."""
    findings: Sequence[Finding] = ()
    by_id: Mapping[str, RunFacts] = field(default_factory=dict)
    claims: Mapping[str, Sequence[Claim]] = field(default_factory=dict)
    """Of each tuning run what AOE says it changed."""
    failed: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Of each tuning run the operators that AOE says it failed on, by the names that profiles know."""
    incidents: Mapping[str, IncidentChange] = field(default_factory=dict)
    """What changed together, by its name, as `regressions` tells it."""
    suspicions: Sequence[SuspectedCause] = ()
    """What the newest nights of several series show together."""
    past_nights: Sequence[PastNight] = ()
    """Nights on which a machine, a model or a rank differed, oldest first."""
    missing: Sequence[str] = ()
    """Models that were expected on the newest night, and did not run."""
    absent: Sequence[str] = ()
    """What else was expected on it, in a few words each."""

    def slowest_of(self, model: str) -> SeriesFacts | None:
        """The series of the longest step of a model, for want of steps of the whole model."""
        measured = [series for series in self.series if series.model == model and series.nights]
        steps = [series for series in measured if series.row.scope == "step"]
        wholes = steps or [series for series in measured if series.row.scope == "model"]
        return max(wholes, key=lambda series: (series.values[-1], series.id), default=None)
