"""Two sides of simulated captures, `old` and `new`, measured in turns; each operator has its own mean in each run."""

from __future__ import annotations

import random
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from aoe_reports.simulation.tuning import OPERATORS, write_profile

START = datetime(2026, 3, 1, 12, tzinfo=UTC)
IN_TURNS = "abba"
NOISE = 0.01


def write_sides(
    folder: Path,
    factors: Mapping[str, float] | None = None,
    *,
    order: str = IN_TURNS * 3,
    seed: int = 1,
    drift: float = 0.0,
) -> None:
    """One capture for each letter of `order`, ten minutes apart; operators of side b take `factors` of type, and all drift so much a run."""
    counts = {"a": 0, "b": 0}
    for number, side in enumerate(order):
        counts[side] += 1
        noise = random.Random(seed * 1000 + number)
        planted = factors or {}
        means = {
            one.name: (planted.get(one.op_type, 1.0) if side == "b" else 1.0)
            * (1 + noise.gauss(0, NOISE))
            * (1 + drift) ** number
            for one in OPERATORS
        }
        home = folder / ("old" if side == "a" else "new") / f"run{counts[side]}"
        write_profile(home, START + timedelta(minutes=10 * number), noise, factors=means)
