"""The minimum detectable effect: what the threshold of a series would prove in time."""

from __future__ import annotations

import math

from aoe_reports.history.detection.noise import Noise
from aoe_reports.history.detection.verdicts import Parameters, relative
from aoe_reports.stats import noise

POWER_NIGHTS, POWER_SCORE = 14, 1.2816
"""The smallest detectable change is confirmed within two weeks in nine cases of ten (the normal quantile of 0.9)."""
MAX_TAKEN = 0.5
"""Share of the scatter that a mean of few nights with memory may hide: of more nothing is known."""


def smallest_detectable(left: Noise, level: int, threshold: float, parameters: Parameters) -> float | None:
    """The relative slow-down that is confirmed within POWER_NIGHTS nights in nine cases of ten, where `threshold` is asked for.

    `left` is the noise around the newest level, which has so many nights.
    """
    nights = POWER_NIGHTS
    baseline = max(level, parameters.least_baseline)
    gain = left.freedom * relative(threshold / left.freedom)
    most = -2 * math.log(left.rare) / (1 / baseline + 1 / nights)
    if threshold * left.inflation(baseline, nights) > most:
        return None  # every night counts as a spike before the gain is reached
    # where nights remember, their mean takes part of the scatter with it
    taken = min((float(noise.inflation(left.feared, baseline)) - 1) / baseline, MAX_TAKEN)
    step = (math.sqrt(gain) + POWER_SCORE) * left.sigma * math.sqrt(left.variance(baseline, nights) / (1 - taken))
    return max(relative(step), parameters.least_effect)
