"""Calls of the host and waits for it, as `host` lists them."""

from __future__ import annotations

from aoe_reports.model.rows import US, column, row


@row
class Calls:
    """Calls of the host of one kind and name (compilation: and operator), with what the device waited meanwhile."""

    run: str = column("Run", default="")
    rank_id: int | None = column("Rank", "integer", default=None)
    device_id: int | None = column("Device", "integer", default=None)
    group: str
    """Their CallGroup."""
    kind: str = column("Kind", "word", default="")
    """The same in words."""
    name: str = column("Call")
    operator: str | None = column("Operator")
    """The operator that was launched by the queue's thread meanwhile, where calls record that."""
    calls: int = column("Calls", "integer")
    calls_per_step: float | None = column("A step", "number")
    first_step_calls: int | None = column("In the first step", "integer", detail=True)
    """How many of them began in the first step; null without steps."""
    steps: int | None = column("Steps with it", "integer", detail=True)
    """In how many steps any began; null without steps."""
    total_ns: int = column("Time", unit=US)
    longest_ns: int = column("Longest", unit=US, detail=True)
    waited_ns: int = column("Device waited", unit=US)
    """For how long the device waited for the host while a thread that matters to it was in any."""
    fused: str | None = column("Fused form", default=None)


@row
class HostWait:
    """One of the times in which a device waited longest for its host."""

    position: int = column("#", "integer", default=0)
    run: str = column("Run", default="")
    rank_id: int | None = column("Rank", "integer", default=None)
    device_id: int | None = column("Device", "integer", default=None)
    step: int | None = column("Step", "integer")
    start_ns: int = column()
    duration_ns: int = column("Idle", unit=US)
    waited_ns: int = column("For the host", unit=US)
    """For how much of it the host is to blame."""
    cause: str = column("Cause", "word")
    """The cause of most of it, of equal ones the first."""
    before: str | None = column("After task")
    after: str | None = column("Before task")
