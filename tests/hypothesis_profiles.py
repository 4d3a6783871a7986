"""How many examples Hypothesis tries: HYPOTHESIS_PROFILE=thorough tries ten times as many.

Each run draws others, so that few a run find as much in time. No test depends on how busy the machine is.
"""

from __future__ import annotations

import os
import random

from hypothesis import HealthCheck, settings

UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
settings.register_profile("usual", UNHURRIED, max_examples=30)
settings.register_profile("thorough", UNHURRIED, max_examples=300)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "usual"))
USUAL = settings().max_examples
FEW = settings(max_examples=USUAL // 3)
"""Where an example takes long."""
MANY = settings(max_examples=USUAL * 10)
"""Where an example takes no time, and few of them show anything."""


def seeds(count: int) -> list[int]:
    """A quarter of so many seeds, others in each run (pytest-randomly prints what repeats them); all of them if thorough."""
    return sorted(random.sample(range(count), -(-count // 4) if USUAL < 300 else count))
