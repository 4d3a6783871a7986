"""False alarms a series and year against the threshold, simulated: written by benchmarks/run_lengths.py, not by hand.

log(alarms a series-year) = intercept - slope * threshold, a Poisson regression over the measured points.
"""

from __future__ import annotations

from typing import NamedTuple


class Fit(NamedTuple):
    """Noise with AR(1) memory: the line through the logarithms of its alarm rates, and what was measured."""

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
