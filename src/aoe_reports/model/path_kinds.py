"""What time of a step is, seen from its critical path."""

from __future__ import annotations

from typing import Literal, get_args

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
"""What people are told."""
