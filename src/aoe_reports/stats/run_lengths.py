"""False alarms of quiet series against the threshold, simulated: written by benchmarks/run_lengths.py, not by hand.

log(rate) = intercept - slope * threshold, a Poisson regression over the measured points.
"""

from __future__ import annotations

from typing import NamedTuple


class Fit(NamedTuple):
    """Noise with AR(1) memory: the line through the logarithms of its rates, and what was measured."""

    memory: float
    intercept: float
    slope: float
    measured: tuple[tuple[float, int, float], ...]
    """(threshold, alarms, series-years watched)."""


FITS = (
    Fit(0.0, 5.685, 0.4869, ((15.0, 65, 334.2), (17.0, 27, 334.2), (20.0, 5, 334.2))),
    Fit(0.4, 4.768, 0.3491, ((15.0, 204, 334.2), (17.0, 113, 334.2), (20.0, 33, 334.2))),
    Fit(0.6, 4.729, 0.3224, ((15.0, 296, 334.2), (17.0, 165, 334.2), (20.0, 57, 334.2))),
)
"""Alarms a series and year, watched every night."""
SUSPICIONS = Fit(0.0, 4.431, 0.4812, ((9.0, 907, 835.6), (10.89, 397, 835.6), (12.96, 134, 835.6), (16.0, 27, 835.6)))
"""Suspicions a series and year; the threshold is a squared standard score."""
GUARD = Fit(0.0, 4.828, 2.6097, ((3.0, 396, 7780.8), (3.5, 90, 7780.8), (4.0, 31, 7780.8), (4.5, 11, 7780.8)))
"""Alarms of the guard a series and year, of noise with memory and of noise with two modes together; the threshold is a score."""
LOOKS = Fit(0.0, 2.437, 0.5067, ((10.0, 998, 13500), (12.0, 313, 13500), (14.0, 136, 13500), (17.0, 35, 13500)))
"""False changes a look at a whole history: (threshold, false changes, histories), of noise without and with memory together."""
