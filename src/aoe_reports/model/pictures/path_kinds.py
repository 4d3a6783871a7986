"""What time of a step is, seen from its critical path."""

from __future__ import annotations

from typing import Literal, get_args

from aoe_reports.model.rows import US, column, row
from aoe_reports.model.texts import N_

Kind = Literal["computing", "communication", "other task", "launch", "host", "unexplained wait"]
KINDS: tuple[Kind, ...] = get_args(Kind)
"""Of slices of the device, then of what lies between two slices. Stored pictures hold places in it: new ones come last."""
KIND_WORDS = N_(
    {
        "computing": "computing",
        "communication": "communication",
        "other task": "other task",
        "launch": "launch",
        "host": "host",
        "unexplained wait": "unexplained wait",
    }
)
"""The words for each kind."""


@row
class PathOperator:
    """An operator (a type) in one step: its time on the path, its slack, and what the step gains if it is shortened."""

    position: int = column("#", "integer", default=0)
    run: str = column("Run", default="")
    rank_id: int | None = column("Rank", "integer", default=None)
    device_id: int | None = column("Device", "integer", default=None)
    step: int | None = column("Step", "integer", default=None)
    op_type: str | None = column("Operator type", default=None)
    op_name: str | None = column("Operator")
    kind: str = column("Kind", "word", detail=True)
    tasks: int = column("Tasks", "integer", detail=True)
    total_ns: int = column("Total", unit=US)
    tasks_on_path: int = column("Tasks on path", "integer", detail=True)
    path_ns: int = column("On path", unit=US)
    path_share: float = column("Share of path", "percent")
    slack_ns: int = column("Slack", unit=US)
    """How much longer the one with the least slack could take before the step gets longer."""
    gain_ns: int = column("Gain", unit=US, default=0)
