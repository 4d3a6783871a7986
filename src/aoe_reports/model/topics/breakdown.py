"""What a device did, and where it computed nothing, as `breakdown` lists it."""

from __future__ import annotations

from aoe_reports.model.rows import US, column, derived, row
from aoe_reports.model.texts import say


@row
class Parts:
    """What a device did in one step, or, without a step, in all of its time; what is communication is null where that cannot be known."""

    run: str = column("Run", default="")
    rank_id: int | None = column("Rank", "integer", default=None)
    device_id: int | None = column("Device", "integer", default=None)
    step: int | None = column("Step", "integer", default=None)
    start_ns: int = column()
    end_ns: int

    @derived("End to end", unit=US)
    def end_to_end_ns(self) -> int:
        """From the first start to the last end."""
        return self.end_ns - self.start_ns

    computing_ns: int = column("Computing", unit=US)
    communication_ns: int | None = column("Communication", unit=US, default=None)
    overlapped_ns: int | None = column("Overlapped", unit=US, detail=True, default=None)
    communication_not_overlapped_ns: int | None = column(
        "Not overlapped", unit=US, before="overlapped_ns", default=None
    )
    free_ns: int | None = column("Free", unit=US, default=None)
    tasks: int = column()
    """Tasks that compute."""
    intervals: int
    """Intervals that the unions were made of, communication among them."""


@row
class Gap:
    """Time between two tasks in which nothing computed, and why."""

    position: int = column("#", "integer", default=0)
    run: str = column("Run", default="")
    rank_id: int | None = column("Rank", "integer", default=None)
    device_id: int | None = column("Device", "integer", default=None)
    step: int | None = column("Step", "integer")
    """The step of the task behind it."""
    start_ns: int = column()
    duration_ns: int = column("Gap", unit=US)
    communication_ns: int | None = column("Communication in gap", unit=US, detail=True)
    """For how much of it communication ran."""
    before: str | None = column("After task")
    after: str | None = column("Before task")
    launch: str | None = column()
    """The host's call that launched the task behind the gap."""
    launched_after_ns: int | None = column(unit=US)
    """How long after the gap's begin that call began; negative: before."""
    communication: str | None = column()
    """The communication operator that ran longest in it."""
    host_call: str | None = column()
    """Where such calls make up the cause: the one that the launching host was in for the longest of it."""
    host_call_ns: int | None = column(unit=US)
    """For how much of it the host was in calls of that kind."""
    event_wait: str | None
    """Where such tasks make up the cause: the one that the stream of the task behind the gap waited in for the longest of it."""
    event_wait_ns: int | None
    """For how much of it that stream waited for events."""
    cause: str = column("Cause", "word")

    @property
    def free_ns(self) -> int:
        """For how much of it no communication ran that is known."""
        return self.duration_ns - (self.communication_ns or 0)

    @derived("Why", "sentence")
    def reason(self) -> str:
        """The cause with its evidence."""
        if self.cause == "host launched late":
            return self._launched_late()
        if self.host_call_ns is not None:
            share = self.host_call_ns / self.duration_ns
            return say("{cause}: {share:.1%} of it, {call}", cause=self.cause, share=share, call=_named(self.host_call))
        if self.event_wait_ns is not None:
            share = self.event_wait_ns / self.duration_ns
            return say("waits for an event: {share:.1%} of it, {task}", share=share, task=_named(self.event_wait))
        if self.cause == "waiting for communication":
            share, longest = (self.communication_ns or 0) / self.duration_ns, _named(self.communication)
            return say("waiting for communication: {share:.1%} of it, longest {longest}", share=share, longest=longest)
        return say("unknown")

    def _launched_late(self) -> str:
        late = self.launched_after_ns or 0
        behind = late - self.duration_ns
        known = {"call": self.launch or say("its call"), "late": late / 1000}
        if behind <= 0:
            return say("host launched late: {call} began {late:.3f} us after the start of the gap", **known)
        return say(
            (
                "host launched late: {call} began {late:.3f} us after the start of the gap, {behind:.3f} us "
                "after the task: the clocks of host and device differ"
            ),
            behind=behind / 1000,
            **known,
        )


def _named(what: str | None) -> str:
    return what or say("unnamed")
