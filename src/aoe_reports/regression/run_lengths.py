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
    Fit(0.0, 5.802, 0.5635, ((13.0, 90, 417.8), (16.0, 19, 417.8), (19.0, 2, 417.8))),
    Fit(0.2, 5.460, 0.4757, ((13.0, 204, 417.8), (16.0, 46, 417.8), (19.0, 13, 417.8))),
    Fit(0.4, 5.461, 0.4606, ((13.0, 245, 417.8), (16.0, 65, 417.8), (19.0, 14, 417.8))),
    Fit(0.6, 5.407, 0.4425, ((13.0, 299, 417.8), (16.0, 72, 417.8), (19.0, 24, 417.8))),
)
