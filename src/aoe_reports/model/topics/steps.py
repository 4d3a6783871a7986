"""A step of a rank, as `steps` lists it."""

from __future__ import annotations

from aoe_reports.model.rows import US, column, row


@row
class Step:
    """One step of one device of a run; null where the export does not have it."""

    run: str = column("Run", default="")
    rank_id: int | None = column("Rank", "integer")
    device_id: int | None = column("Device", "integer")
    model_id: int | None = column("Model", "integer", default=None)
    step: int | None = column("Step", "integer")
    start_ns: int | None = column(default=None)
    duration_ns: int = column("Duration", unit=US)
    fp_bp_ns: int | None = column("FP to BP", unit=US, default=None)
    iteration_refresh_ns: int | None = column("Refresh", unit=US, detail=True, default=None)
    data_aug_bound_ns: int | None = column("Data aug", unit=US, detail=True, default=None)
    computing_ns: int | None = column("Computing", unit=US, default=None)
    communication_ns: int | None = column("Communication", unit=US, default=None)
    communication_not_overlapped_ns: int | None = column("Not overlapped", unit=US, default=None)
    overlapped_ns: int | None = column("Overlapped", unit=US, detail=True, default=None)
    free_ns: int | None = column("Free", unit=US, default=None)
    stage_ns: int | None = column("Stage", unit=US, default=None)
    """The step without its bubbles."""
    bubble_ns: int | None = column("Bubble", unit=US, default=None)
    """What a stage of a pipeline waits to receive from another one."""

    @property
    def has_parts(self) -> bool:
        """Whether all of its time is known: computing, communication that nothing hides, and nothing of both."""
        return None not in {self.computing_ns, self.communication_not_overlapped_ns, self.free_ns}

    def is_of(self, rank_id: int | None, device_id: int | None, step: int | None) -> bool:
        """Whether it is of this rank, device and number; None: of any."""
        asked = ((rank_id, self.rank_id), (device_id, self.device_id), (step, self.step))
        return all(wanted in {None, own} for wanted, own in asked)
