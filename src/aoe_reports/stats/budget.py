"""How sure must a change be, so that so many false alarms a year are all there are?

A budget of N false alarms a year over E eligible series allows each N / E. Which threshold of the statistic keeps that rate
when it is looked at every night is a question of run lengths; `run_lengths` answers it from simulations.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass

from aoe_reports.model.texts import say
from aoe_reports.stats.run_lengths import FITS, GUARD, LOOKS, SUSPICIONS, Fit

FALSE_ALARMS_PER_YEAR = 12.0
"""Bearable unless told otherwise: one a month over the whole store."""
SERIES_RATE = 0.01
"""Alarms a series and year where no budget was asked for: one in two centuries."""
SUSPECTS_PER_ALARM = 10.0
"""A suspicion costs a re-run of a night, not an engineer's morning: it may be wrong ten times as often as an alarm."""
SUSPICIONS_PER_YEAR = 10.0
"""Of a whole store at most, however many alarms it may raise: quiet stores show one in less than three nights of a hundred."""
GUARD_SHARE = 0.1
"""Of the false alarms and suspicions that are bearable, those of the guard (`guard`); the rest are the detector's."""
HIGHEST_RATE, LOWEST_RATE = 0.25, 1e-6
"""Above, thresholds would fall below what was simulated; below, the fit is stretched over more than it was measured on."""
WATCHED_NIGHTS = 120
"""How far back the detector looks each night: thresholds were simulated for that, and older changes have been told."""


@dataclass(frozen=True, slots=True)
class Budget:
    """False alarms that one series may raise in a year."""

    rate: float = SERIES_RATE
    suspicions: float | None = None
    """Suspicions that it may raise in a year; SUSPECTS_PER_ALARM times the alarms unless given."""

    def __post_init__(self) -> None:
        """Refuse what is no rate."""
        if not (math.isfinite(self.rate) and self.rate > 0):
            raise ValueError(say("false alarms per year: {rate}; expected a number above 0", rate=self.rate))

    @classmethod
    def shared(cls, false_alarms_per_year: float, eligible: int) -> Budget:
        """The share of one series in what all `eligible` series may raise together."""
        suspicions = min(false_alarms_per_year * SUSPECTS_PER_ALARM, SUSPICIONS_PER_YEAR)
        return cls(false_alarms_per_year / max(eligible, 1), suspicions / max(eligible, 1))

    @property
    def simulated(self) -> bool:
        """Whether the rate lies where thresholds are known; beyond it the nearest known one is used."""
        return LOWEST_RATE <= self.rate <= HIGHEST_RATE

    def threshold(self, memory: float) -> float:
        """The statistic (squared standard scores) that a change must reach in noise with AR(1) memory (0 … 1)."""
        memories = [fit.memory for fit in FITS]
        thresholds = [self._threshold(fit, 1 - GUARD_SHARE) for fit in FITS]
        if memory <= memories[0]:
            return thresholds[0]
        if memory >= memories[-1]:
            return thresholds[-1]
        right = bisect_left(memories, memory)
        share = (memory - memories[right - 1]) / (memories[right] - memories[right - 1])
        return thresholds[right - 1] + share * (thresholds[right] - thresholds[right - 1])

    @property
    def suspicion(self) -> float:
        """Standard scores that one night, or the mean of two, must be off to be suspect."""
        return math.sqrt(self._threshold(SUSPICIONS, (1 - GUARD_SHARE) * self._suspects_per_alarm))

    @property
    def guard(self) -> float:
        """How many scatters four nights must all lie off, at least, to be a plain step."""
        return self._threshold(GUARD, GUARD_SHARE)

    @property
    def guard_suspicion(self) -> float:
        """How many scatters the newest four nights must all lie off, at least, to be suspect."""
        return self._threshold(GUARD, GUARD_SHARE * self._suspects_per_alarm)

    @property
    def _suspects_per_alarm(self) -> float:
        """Suspicions per alarm, within the simulated rates."""
        if self.suspicions is None:
            return SUSPECTS_PER_ALARM
        rate = min(max(self.rate, LOWEST_RATE), HIGHEST_RATE)
        return min(max(self.suspicions, LOWEST_RATE), HIGHEST_RATE * SUSPECTS_PER_ALARM) / rate

    @property
    def look(self) -> float:
        """The statistic that a change must reach in one look at a whole history that may show `rate` false ones."""
        return self._threshold(LOOKS, 1.0)

    def _threshold(self, fit: Fit, times: float) -> float:
        rate = min(max(self.rate, LOWEST_RATE), HIGHEST_RATE) * times
        return (fit.intercept - math.log(rate)) / fit.slope
