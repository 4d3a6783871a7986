"""What the detector may be told, and what it says of a series."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

from aoe_reports.stats.budget import Budget

State = Literal["suspect", "confirmed", "improved", "recovered", "drift"]
Kind = Literal["scatter-change", "episode", "mode-switch", "warm-up"]
"""What is observed in a series that is no change of its level."""


@dataclass(frozen=True, slots=True)
class Parameters:
    """What the detector may be told; the defaults are those that docs/detection.md gives figures for."""

    budget: Budget = field(default_factory=Budget)
    least_baseline: int = 7
    """Nights before the first change of a series: a week, so that each weekday stood once."""
    least_level: int = 3
    """Nights of a new level before it is confirmed, all of them on its side of the middle when they are three."""
    least_effect: float = 0.005
    """Relative change below which nobody acts; smaller ones are no changes."""
    candidate_share: float = 0.6
    """Of the threshold that a candidate must reach: low enough to lose none, high enough that quiet series have few."""
    memory_margin: float = 0.5
    """Standard errors added to the estimated memory: too little costs alarms, too much costs a night or two."""
    skew_share: float = 0.2
    """Share of the Cornish-Fisher correction for the skewness of short means that is applied."""
    hindsight: bool = False
    """One look at a whole history instead of one every night: thresholds of one look, and steps must beat memory."""
    threshold: float | None = None
    """Instead of the threshold of the budget (for measuring run lengths)."""
    suspicion: float | None = None
    """Instead of the standard scores that the budget asks of a suspicion (for measuring run lengths)."""
    guard: float | None = None
    """Instead of the scatters that the budget asks of a plain step, proved or suspect; infinite: no guard."""

    @property
    def guarded(self) -> float:
        """How many scatters make a plain step."""
        return self.budget.guard if self.guard is None else self.guard

    @property
    def guard_suspicion(self) -> float:
        """How many scatters make the newest four nights suspect."""
        return self.budget.guard_suspicion if self.guard is None else self.guard

    def needed(self, memory: float) -> float:
        """The evidence that a change needs in noise with so much memory."""
        if self.threshold is not None:
            return self.threshold
        return self.budget.look if self.hindsight else self.budget.threshold(memory)

    @property
    def least_nights(self) -> int:
        """Nights without which a series cannot be judged."""
        return self.least_baseline + self.least_level


INTERVAL_SCORE = 1.96
"""Standard errors to either side of a change that are its interval of 95 %."""


@dataclass(frozen=True, slots=True)
class Change:
    """A new level of a series: indexes into its nights, levels in the unit of its values."""

    night: int
    """The first night of the new level, or of the slope."""
    until: int
    """The night after the last one of the level (of the slope)."""
    state: State
    before: float
    after: float
    change: float
    """`after / before - 1`: above 0 is slower."""
    ci_low: float
    ci_high: float
    """95 % interval of `change`."""
    statistic: float
    """Squared standard scores; of a drift the least of its steps. `threshold` is what the budget asked for. Where the guard alone
    proves a change, both are the guard's: squares of distances in scatters."""
    threshold: float
    steps: tuple[int, ...] = ()
    """The nights from which a new level was proved: one, or of a drift all its stairs; of a suspicion none."""


@dataclass(frozen=True, slots=True)
class Observed:
    """What a series does that is no change of its level, and no alarm: indexes into its nights."""

    kind: Kind
    night: int
    until: int | None
    """The night after the last one; None while it lasts."""
    before: float
    after: float
    """Levels in the unit of the values: of an episode that around it and its own, of a warm-up the first and the last one, of two modes
    the one left and the one entered. Of a change of scatter relative scatters."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one series shows: its noise, its changes in the order of nights, and what it could not show."""

    nights: int
    """Nights with a time."""
    left_out: int
    """Values that are no times: zero, negative or infinite. Missing (NaN) is not counted."""
    reason: Literal["no-times", "too-few-nights", "no-direction"] | None
    """Why the series cannot be judged; None when it can."""
    level: float | None
    """Of the newest nights, in the unit of the values."""
    sigma: float | None = None
    """Relative scatter from night to night (clipped); `memory` 0 … 1 is its AR(1) coefficient, `rare` the share of spikes."""
    memory: float | None = None
    rare: float | None = None
    smallest_detectable: float | None = None
    """Relative slow-down that would be confirmed within 14 nights in nine cases of ten; None: no change would be."""
    changes: tuple[Change, ...] = ()
    suspect: Change | None = None
    """The newest one or two nights, when they are out of line: ask for a re-run."""
    observed: tuple[Observed, ...] = ()
    """In the order of nights."""

    @property
    def state(self) -> State | None:
        """What to say of the series now: a suspicion before its newest change."""
        if self.suspect is not None:
            return self.suspect.state
        return self.changes[-1].state if self.changes else None


@dataclass(frozen=True, slots=True)
class Levels:
    """The changes of a series in the order of nights, and the level of its newest nights."""

    changes: tuple[Change, ...]
    level: float | None


LARGEST_LOG = 709.0
"""Of a float64: times and ratios beyond stay finite."""


def relative(step: float) -> float:
    """The relative change that a step of logarithms is."""
    return math.expm1(min(step, LARGEST_LOG))


def time_of(log: float) -> float:
    """The time, in the unit of the values, that a logarithm is of."""
    return math.exp(min(log, LARGEST_LOG))
