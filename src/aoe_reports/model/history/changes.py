"""What `regressions` says: rows of series, of incidents, of what a step's change consists of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, get_args

from aoe_reports.model.rows import column, row

RecordScope = Literal[
    "step", "model", "memory", "phase", "computing", "module", "layer", "op_type", "op", "communication", "subgraph"
]
"""What a record is of: a measured time, or memory."""
Scope = Literal[
    "step",
    "model",
    "metric",
    "memory",
    "phase",
    "computing",
    "module",
    "layer",
    "op_type",
    "op",
    "communication",
    "subgraph",
]
"""What a series is of: a measured time, or another number that its records have."""
SCOPES: Final[tuple[Scope, ...]] = get_args(Scope)
"""In the order of lists: a step before its parts."""
WHOLE = frozenset({"step", "model"})
"""Scopes of what is measured as a whole."""
METRIC: Final = "metric"
"""The scope of a number among the `metrics` of records."""
MEMORY: Final = "memory"
"""The scope of the memory of a device: numbers of records of our own, in bytes."""
METRICS = frozenset({METRIC, MEMORY})
"""Scopes of series of numbers, which are no times."""
PHASE: Final = "phase"
"""The scope of the iterations of a server in one phase."""
NOTICED = frozenset({*WHOLE, *METRICS, PHASE})
"""Scopes of what a user notices."""
LOCATED = frozenset({"module", "layer"})
"""Scopes of a place in the program: their time is that of their operators, counted a second time."""
MIN_STEP_SHARE: Final = 0.005
"""What changes a step by less is no headline and fails no default gate: a step scatters by more from night to night."""
COMPUTING: Final = "computing"
"""The scope of what all operators of a rank take together, of a run of many ranks."""


def is_small(step_share: float | None) -> bool:
    """Whether a change is known to be a minor part of a step; where no step is stored nobody knows that."""
    return step_share is not None and abs(step_share) < MIN_STEP_SHARE


def by_effect(step_share: float | None) -> tuple[bool, bool, float]:
    """Sort key by effect on the step: the largest first, an unknown effect before small ones."""
    return is_small(step_share), step_share is None, -abs(step_share or 0.0)


def exceeds(step_share: float | None, other: float | None) -> bool:
    """Whether an effect on a step is known to be larger than another; what nobody knows only exceeds what is known to be small."""
    if other is None:
        return False
    return is_small(other) if step_share is None else abs(step_share) > abs(other)


@row
class Acknowledged:
    """Who accepted a slow-down (`store ack`) or announced it (`store expect`), when and why."""

    kind: str = column()
    id: str = column()
    who: str | None = column()
    when: str = column()
    reason: str = column()


@row
class BaselineLevel:
    """The baseline of the newest level, in the unit of the series."""

    kind: str = column()
    level: float = column()
    nights: int = column()
    until: str | None = column()
    known_bad: Sequence[str] = column(default=())
    """Those of its nights that are known to be worse: of a regression that was reported, accepted or not."""


@row
class PinnedShift:
    """One of the changes that lie between the baseline and the newest level."""

    since: str = column()
    since_run: str | None = column()
    state: str = column()
    before: float = column()
    after: float = column()
    change: float = column()
    ci_low: float = column()
    ci_high: float = column()
    incident: str | None = column()


@row
class Suspicion:
    """What the newest one or two nights show."""

    since: str = column()
    change: float = column()


@row
class ToldFact:
    """A fact that changed where an incident began; `seen`: as first recorded, no more (first-only), or later only."""

    name: str = column()
    before: str | None = column()
    after: str | None = column()
    seen: str = column()


@row
class OperatorChange:
    """What an operator contributes to the change of a step, in us a step."""

    op_type: str | None = column("Operator type")
    op_name: str | None = column("Operator")
    difference_us: float = column("Difference, per step", "us")
    cause: str = column("Cause", "word")
    before_us: float = column("Before, per step", "us", before="difference_us")
    after_us: float = column("After, per step", "us", before="difference_us")
    count_before: float = column()
    count_after: float = column()
    calls_us: float = column()
    count_us: float = column()
    inputs_us: float = column()
    repository_run: str | None = column("Tuned by run", detail=True)
    repository_night: str | None = column("Night of tuning", detail=True)


@row
class MovedCost:
    """What some operators lost, and others gained."""

    from_: Sequence[str] = column()
    to: Sequence[str] = column()
    moved_us: float = column()


@row
class StepAttribution:
    """A change of a step in us a step: operators + communication + free + unattributed = total; the largest changes first."""

    before_us: float = column()
    after_us: float = column()
    total_us: float = column()
    operators_us: float = column()
    other_operators_us: float = column()
    communication_not_overlapped_us: float | None = column()
    free_us: float | None = column()
    unattributed_us: float = column()
    operators: Sequence[OperatorChange] = column()
    communication: Sequence[OperatorChange] = column()
    shifts: Sequence[MovedCost] = column()
    left_out_nights: Sequence[str] = column()


@row
class OwnerChange:
    """What an owner of memory contributes to the change of a peak."""

    name: str | None = column("Owner")
    kind: str | None = column("Kind", "word")
    module: str | None = column("Module")
    since_before: bool = column()
    """Held since before the recording."""
    unexplained: bool = column()
    """The part of a peak that no recorded allocation explains."""
    before_bytes: int = column("Before")
    after_bytes: int = column("After")
    difference_bytes: int = column("Difference")


@row
class PeakAttribution:
    """The change of a peak of memory between two runs: owners + other owners = total, byte for byte; the largest changes first."""

    before_run: str = column()
    after_run: str = column()
    before_bytes: int = column()
    after_bytes: int = column()
    total_bytes: int = column()
    owners: Sequence[OwnerChange] = column()
    other_owners_bytes: int = column()


@row
class SeriesChange:
    """A series and what it does: `before` and `after` in `unit`, `change` is `after / before - 1`.

    Above 0 is slower; of a metric where `better` is higher, below 0 is worse.
    """

    series_id: str = column("Series", before="incident", detail=True)
    workload: str = column("Workload")
    scope: str = column()
    op_type: str | None = column(default=None)
    op_name: str | None = column(default=None)
    metric: str | None = column(default=None)
    unit: str | None = column(default="ms")
    better: str | None = column(default="lower")
    hardware: str | None = column("Hardware", detail=True, default=None)
    rank_id: int | None = column("Rank", "integer", before="hardware", default=None)
    device_id: int | None = column("Device", "integer", before="hardware", default=None)
    state: str | None = column("State", "alarm", before="workload", default=None)
    since_run: str | None = column(default=None)
    since: str | None = column("Since", default=None)
    before: float | None = column("Before", "ms", default=None)
    after: float | None = column("After", "ms", default=None)
    change: float | None = column("Change", "change", default=None)
    ci_low: float | None = column("from", "change", detail=True, default=None)
    ci_high: float | None = column("to", "change", detail=True, default=None)
    smallest_detectable: float | None = column("Minimum detectable effect", "change", detail=True, default=None)
    nights: int = column("Nights", "integer", detail=True)
    left_out: int = column()
    reason: str | None = column("Reason not judged", "word", default=None)
    last_night: str | None = column(default=None)
    ended: bool = column()
    impact_ms: float | None = column("Impact on a run", "ms", default=None)
    incident: str | None = column(default=None)
    first_since: str | None = column(default=None)
    new: bool = column()
    acknowledged: Acknowledged | None = column(default=None)
    baseline: BaselineLevel | None = column(default=None)
    moves: Sequence[PinnedShift] = column()
    suspicion: Suspicion | None = column(default=None)
    metadata: Sequence[ToldFact] = column()
    attribution: StepAttribution | None = column(default=None)
    memory: PeakAttribution | None = column(default=None)
    """Who explains the change of a peak of memory; null of anything else."""
    fails: str | None = column(default=None)
    step_share: float | None = column(default=None)
    """What the change adds to a step, or saves of it, as a share of it, unless something else runs beside it. Null where no step
    is stored, and of a metric."""


@row
class IncidentMember:
    """A change of a series that is part of an incident."""

    series_id: str = column()
    model: str = column()
    workload: str = column()
    scope: str = column()
    op_type: str | None = column()
    op_name: str | None = column()
    rank_id: int | None = column()
    metric: str | None = column(default=None)
    unit: str | None = column(default="ms")
    better: str | None = column(default="lower")
    state: str = column()
    since: str = column()
    before: float = column()
    after: float = column()
    change: float = column()
    impact_ms: float = column()
    open: bool = column()


@row
class IncidentCause:
    """What explains an incident: all of a machine, a run, a rank, an operator type, or one operator (`kind`), longer by one factor."""

    kind: str = column()
    model: str | None = column()
    """Null where it is about several models."""
    rank_id: int | None = column()
    """Null where it is about all ranks."""
    op_type: str | None = column()
    op_name: str | None = column()
    change: float = column()
    followers: int = column()
    """So many of its operators on a rank (`members`) moved and follow it."""
    members: int = column()
    step_share: float | None = column()
    """What the operators that follow it add to their step, or save of it, as a share of it, unless something else runs beside
    them; of the rank where that is most. Null where no step is stored."""


@row
class IncidentChange:
    """Changes that moved together, named by one of them."""

    incident: str = column()
    title: str = column()
    since: str = column()
    since_run: str | None = column()
    since_now: str | None = column()
    model: str | None = column()
    """Null where it is of several models."""
    models: Sequence[str] = column()
    hardware: str | None = column()
    change: float = column()
    better: str | None = column(default="lower")
    """Of what it is named by."""
    impact_ms: float = column()
    open: bool = column()
    new: bool = column()
    """Whether most of it is first reported in the newest night."""
    metadata: Sequence[ToldFact] = column()
    causes: Sequence[IncidentCause] = column()
    """That which explains most first; none where nothing is known of operators."""
    memory: PeakAttribution | None = column(default=None)
    """Of the peak of memory that changed most; null where none of them did."""
    members: Sequence[IncidentMember] = column()


@row
class SuspectedCause:
    """What the newest nights of several series show together, until more nights prove it, or clear it."""

    title: str = column()
    since: str = column()
    models: Sequence[str] = column()
    hardware: str | None = column()
    cause: IncidentCause = column()
    past: bool = column()
    """Whether the newest night shows it no more."""
    metadata: Sequence[ToldFact] = column()
    series: Sequence[str] = column()
    """The suspect series that it explains."""


@row
class SeriesObservation:
    """What a series does that is no change of its level, and no alarm: `kind` is scatter-change, episode, mode-switch or warm-up."""

    kind: str = column("Observation", "word")
    series_id: str = column()
    workload: str = column()
    scope: str = column()
    op_type: str | None = column()
    op_name: str | None = column()
    metric: str | None = column(default=None)
    unit: str | None = column(default="ms")
    better: str | None = column(default="lower")
    hardware: str | None = column()
    rank_id: int | None = column()
    device_id: int | None = column()
    since: str = column("Since")
    until: str | None = column("Until")
    """The last night of it; null while it lasts."""
    recent: bool = column()
    """Whether it began or ended within the newest 14 nights."""
    before: float | None = column("Before", "ms")
    after: float | None = column("After", "ms")
    """Levels in `unit`; null of a change of scatter."""
    change: float = column("Change", "change")
    """`after / before - 1`, of levels or of scatters."""
    scatter_before: float | None = column("Scatter before", "percent")
    scatter_after: float | None = column("Scatter after", "percent")
    """Relative standard deviation from night to night; null of what is no change of scatter."""


@row
class PastNight:
    """One or two nights on which a machine, a model or a rank differed; the night after them was as before."""

    night: str = column()
    last_night: str = column()
    models: Sequence[str] = column()
    hardware: str = column()
    cause: IncidentCause = column()


@row
class GateBudget:
    """What a gate with `alarms<=N/year` allows the series that it watches."""

    gate: str = column()
    false_alarms_per_year: float = column()
    series: int = column()
    eligible: int = column()


@row
class AlarmBudget:
    """How the budget of false alarms was shared."""

    false_alarms_per_year: float = column()
    series: int = column()
    eligible: int = column()
    detector: int = column()
    baseline: str = column()
    whole_history: bool = column()
    gates: Sequence[GateBudget] = column(default=())
    """Gates with a budget of their own: the series that they watch do not share in the store's."""
