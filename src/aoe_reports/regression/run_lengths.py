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
    Fit(0.0, 5.046, 0.4654, ((15.0, 59, 417.8), (17.0, 26, 417.8), (20.0, 5, 417.8))),
    Fit(0.4, 5.182, 0.3764, ((15.0, 261, 417.8), (17.0, 126, 417.8), (20.0, 39, 417.8))),
    Fit(0.6, 5.020, 0.3471, ((15.0, 342, 417.8), (17.0, 181, 417.8), (20.0, 58, 417.8))),
)
