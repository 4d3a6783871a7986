"""Rows of runs: what became of one that was ingested, what it took, what AOE claims of it, what was measured of that."""

from __future__ import annotations

from typing import Generic, TypeVar

from aoe_reports.model.classes import record
from aoe_reports.model.documents import JsonObject
from aoe_reports.model.rows import column, row


@row
class IngestedRun:
    """One run: its properties, its records, and the outcome in the store; its step is the longest of its ranks."""

    night: str = column("Night")
    run: str = column("Run")
    kind: str = column("Kind", "word")
    workload: str = column("Workload")
    hardware: str | None = column()
    records: int = column("Records", "integer")
    step_ms: float | None = column("Step", "ms")
    outcome: str = column("Store", "word", detail=True)
    status: str | None = column("Status", "word")
    path: str = column("Path", detail=True)


@row
class TuningClaim:
    """What AOE claims of the model, an operator or a subgraph that it tuned."""

    run: str = column("Run")
    scope: str = column()
    name: str | None = column("Operator or subgraph")
    op_type: str | None = column("Operator type")
    claimed_before_us: float | None = column("Claimed before", "us")
    claimed_after_us: float | None = column("Claimed after", "us")
    speed_up: float | None = column("Claimed speed-up (before/after - 1)", "change")
    """Null where AOE filled in the gain, too."""
    unmeasured: bool = column()
    """Whether AOE filled in the gain."""

    @property
    def saved_us(self) -> float:
        """By how much it got quicker; 0 where no gain was measured."""
        if self.unmeasured:
            return 0.0
        return (self.claimed_before_us or 0.0) - (self.claimed_after_us or 0.0)


@row
class StepTimes:
    """The mean step of a device in a run, from its records; the breakdown where it is known."""

    rank_id: int | None = column()
    device_id: int | None = column()
    series_id: str | None = column()
    workload: str = column()
    steps: int | None = column()
    step_ms: float | None = column("Step", "ms")
    std_ms: float | None = column("Std", "ms", detail=True)
    computing_ms: float | None = column("Computing", "ms")
    communication_ms: float | None = column("Non-overlapped communication", "ms")
    free_ms: float | None = column("Free", "ms")


STEP_PARTS = ("computing", "communication", "free")
"""The parts of a step that make up all of it."""


@row
class GroupTotal:
    """What an operator type or an operator took on a device in a run; its share is of the tasks there."""

    rank_id: int | None = column()
    device_id: int | None = column()
    op_type: str | None = column()
    op_name: str | None = column()
    task_type: str | None = column()
    input_shapes: str | None = column()
    count: int | None = column("Tasks", "integer")
    total_us: float | None = column("Total", "us")
    mean_us: float | None = column("Mean", "us")
    share: float | None = column("Share", "percent")
    series_id: str | None = column()


R_co = TypeVar("R_co", covariant=True)


@record
class Stored(Generic[R_co]):
    """A row that the store has: what is shown of it, and all of it as JSON has it, in the order in which it was stored."""

    row: R_co
    document: JsonObject
