"""The data of the night report: plain facts of one night, from a store or a job."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from aoe_reports.model.findings import Finding
from aoe_reports.model.history.advice import AdviceSummary, StoredAdviceRow, StoredCandidate
from aoe_reports.model.history.changes import (
    NOTICED,
    WHOLE,
    AlarmBudget,
    IncidentChange,
    SeriesChange,
    SeriesObservation,
    SuspectedCause,
    by_effect,
    exceeds,
    is_small,
)
from aoe_reports.model.history.listings import ListedVerdict
from aoe_reports.model.history.metrics import TIME_UNIT
from aoe_reports.model.history.runs import IngestedRun, Stored, TuningClaim
from aoe_reports.model.rows import column, row
from aoe_reports.present.reports.incidents import is_open, is_slower, is_suspected, matters


@dataclass(frozen=True, slots=True)
class Trend:
    """The history of the series that the report is about, up to its night."""

    series_id: str
    workload: str
    model: str
    rank_id: int | None
    device_id: int | None
    nights: Sequence[str]
    values: Sequence[float]
    metric: str | None = None
    """Of a metric its name."""
    unit: str | None = TIME_UNIT
    better: str | None = "lower"


@row
class TypeTime:
    """What the tasks of one operator type on one kind of core took in a run."""

    position: int = column("#", "integer")
    op_type: str | None = column("Operator type")
    task_type: str | None = column("Core")
    count: int = column("Tasks", "integer")
    total_us: float = column("Total", "us")
    mean_us: float | None = column("Mean", "us")
    share: float | None = column("Share of computing", "percent")


@dataclass(frozen=True, slots=True)
class Hotspots:
    """The operator types of one run: those of all its ranks together, or of many ranks each on its median rank."""

    run: str
    model: str
    ranks: int
    types: Sequence[TypeTime]
    total_us: float
    of_median: bool = False


@dataclass(frozen=True, slots=True)
class StoredAdviceOfRun:
    """The advice and the next plan that are stored with one run."""

    run: str
    model: str
    summary: AdviceSummary
    advice: Sequence[StoredAdviceRow]
    stated: Sequence[StoredAdviceRow]
    candidates: Sequence[StoredCandidate]


@row
class TuningRun:
    """A run of AOE, with what it claims of the model."""

    night: str = column("Night")
    run: str = column("Run", before="status")
    workload: str = column("Workload", before="run")
    tuning_name: str | None = column("Task", before="workload")
    kind: str | None = column("Mode", before="workload")
    status: str = column("Status", "state")
    modified: int | None = column("Changed", "integer")
    before_ms: float | None = column("Model before, claimed", "ms")
    after_ms: float | None = column("Model after, claimed", "ms")
    speed_up: float | None = column("Claimed speed-up (before/after - 1)", "change")


@row
class StoredRun:
    """A run of the night, as the store has it; its step is that of the slowest rank."""

    night: str = column()
    run: str = column("Run")
    kind: str = column("Kind", "word")
    workload: str = column("Workload")
    hardware: str | None = column("Hardware")
    step_ms: float | None = column("Step", "ms")
    status: str | None = column("Status", "state")
    path: str | None = column("Path")


@dataclass(frozen=True, slots=True)
class Job:
    """What only the job knows that read the night."""

    read: Sequence[IngestedRun]
    """The runs that were read, with what the store did with each."""
    simulated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Night:
    """The data of one night report."""

    night: str | None
    """None: nothing is stored."""
    workload: str | None = None
    """The workload that the report is limited to."""
    changes: Sequence[SeriesChange] = ()
    """Rows of `regressions`."""
    incidents: Sequence[IncidentChange] = ()
    suspicions: Sequence[SuspectedCause] = ()
    """What the newest nights of several series show together."""
    observations: Sequence[SeriesObservation] = ()
    """What series do that is no change of their level."""
    budget: AlarmBudget | None = None
    """How the budget of false alarms was shared; None where nothing was measured."""
    remark: str | None = None
    """Why nothing can be said of changes, where that is so."""
    least_nights: int = 0
    """From how many nights on a series can be judged."""
    trend: Trend | None = None
    hotspots: Hotspots | None = None
    advised: StoredAdviceOfRun | None = None
    """What was stored of advice with the newest profile of the night that has some."""
    tunings: Sequence[TuningRun] = ()
    claims: Sequence[Stored[TuningClaim]] = ()
    verdicts: Sequence[ListedVerdict] = ()
    """What `verify` stored of that night."""
    runs: Sequence[StoredRun] = ()
    findings: Sequence[Finding] = ()
    """What is to be known of the comparison, and what was wrong with what was read."""
    others: Sequence[str] = ()
    """Other workloads with a run that night."""
    later: Sequence[str] = ()
    """Nights after the newest with a measurement: of AOE's own runs, or of other workloads."""
    missing: Sequence[str] = ()
    """Models that were measured with these the last time, and are not tonight."""
    absent: Sequence[str] = ()
    """What else was expected tonight, such as a rank, in a few words each."""
    job: Job | None = None

    @property
    def not_measured(self) -> list[str]:
        """All that was expected tonight, and is absent."""
        return [*self.missing, *self.absent]

    @property
    def lead(self) -> SeriesChange | None:
        """The row that the report is about."""
        return lead_of(self.changes)


def lead_of(changes: Sequence[SeriesChange]) -> SeriesChange | None:
    """The row that a report is about: a step that got slower, else the operator with the largest effect on one that did.

    What the newest night shows is it where its effect is larger. Where nothing is open or suspected, what got slower and was
    accepted, else a step that changed; None where there is none of all that.
    """
    slower = foremost(list(filter(is_open, changes)))
    suspected = foremost([row for row in changes if is_suspected(row) and matters(row)])
    if suspected is not None and (slower is None or leads(suspected.since, suspected.step_share, slower)):
        return suspected
    slower = slower or foremost(list(filter(is_slower, changes)))
    return slower or next((row for row in changes if row.state is not None and row.scope in NOTICED), None)


def leads(since: str | None, step_share: float | None, slower: SeriesChange) -> bool:
    """Whether a suspicion is of another night than a slow-down, and has a larger effect."""
    return since != slower.since and exceeds(step_share, slower.step_share)


def foremost(rows: Sequence[SeriesChange]) -> SeriesChange | None:
    """The first step of some rows, else the first metric or phase, else the operator or layer with the largest effect on a step."""
    whole = next((row for scopes in (WHOLE, NOTICED) for row in rows if row.scope in scopes), None)
    return whole or min(rows, key=_effect_of_part, default=None)


def _effect_of_part(row: SeriesChange) -> tuple[Any, ...]:
    """What is not small first, operators and layers before what they are part of."""
    is_part = row.scope not in {"op", "layer"}
    return is_small(row.step_share), is_part, by_effect(row.step_share), -abs(row.impact_ms or 0.0)


def is_news(row: SeriesChange) -> bool:
    """Whether a change is news: open and suspected changes are until they are settled, others in their first night."""
    return is_open(row) or row.state == "suspect" or (row.state is not None and (row.new or row.incident is None))
