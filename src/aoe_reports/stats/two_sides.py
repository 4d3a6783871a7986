"""Is one side slower than another? The difference of two sides with a few repeats each, on logarithms of their values.

A value is its side's level, plus a linear drift over the session, plus noise. The difference is fitted by least squares on values that
are clipped like Huber's (1964) at CLIP scatters, so that one bad repeat does not decide. Its interval is Student's, made wider where noise
that remembers the repeat before (AR(1), MEMORY) would widen it for the order in which the repeats ran: in turns it does not, one side after
the other it does. docs/ab.md has how often each is wrong.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from aoe_reports.model.arrays.columns import Ints, Mask
from aoe_reports.stats.noise import CLIP, FLOOR, Floats
from aoe_reports.stats.sample import MAD_TO_SIGMA

ERROR = 0.045
"""How often one end of an interval is wrong, in normal noise: it leaves room below the 5 % that other noise may reach."""
POWER = 0.8
"""How often the minimum detectable effect is detected."""
MEMORY = 0.4
"""AR(1) memory from one repeat to the next that intervals allow for."""
MIN_REPEATS, MIN_TOGETHER = 2, 5
"""Repeats of a side, and of both together: of fewer the noise is not known."""
MAX_REPEATS = 1000
"""Of a side: more are never asked for."""
ENOUGH_FOR_DRIFT, IN_TURNS = 7, 0.6
"""Repeats of both sides from which a drift is always fitted; of fewer only where their interleaving is below IN_TURNS."""
COARSE = 0.05
"""Values that are the same, or otherwise apart by at least a step no larger than this, are of a coarse timer."""
OWN_SCATTER, UNEQUAL = 2.0, 2.5
"""A side that scatters so much more than both together is clipped by its own scatter; variances whose logarithms differ by so many of their
standard deviations are not pooled."""
ALONE = 1.1
"""Intervals by a known scatter are so much wider where a side has one repeat: nothing shows whether it is off."""
_FITS, _ROUNDING = 3, 1e-12


@dataclass(frozen=True, slots=True)
class Design:
    """Which side each repeat is of (0 baseline, 1 candidate), in the order in which they ran; `in_order` if that order is known."""

    sides: tuple[int, ...]
    in_order: bool

    @property
    def counts(self) -> tuple[int, int]:
        """Repeats of the baseline and of the candidate."""
        return self.sides.count(0), self.sides.count(1)

    @property
    def free(self) -> int:
        """Degrees of freedom that are left for the noise."""
        return len(self.sides) - 2 - self.has_drift

    @property
    def has_drift(self) -> bool:
        """Whether a drift is fitted. In turns it hardly moves the difference; of few repeats the fit costs more than the drift would."""
        return self.in_order and (len(self.sides) >= ENOUGH_FOR_DRIFT or self.interleaving < IN_TURNS)

    @property
    def is_enough(self) -> bool:
        """Whether the repeats themselves show how large the noise is."""
        return min(self.counts) >= MIN_REPEATS and len(self.sides) >= MIN_TOGETHER

    @property
    def interleaving(self) -> float:
        """1 where the sides ran in turns, 0 where one ran after the other: how little side and time have in common."""
        side = np.array(self.sides, dtype=np.float64)
        time = np.arange(len(side), dtype=np.float64)
        n, m = self.counts
        apart = abs(float(time[side == 1].mean() - time[side == 0].mean()))
        return 1 - apart / ((n + m) / 2)


class Difference(NamedTuple):
    """What the repeats say of several quantities; logarithms, so 0.01 is about 1 %."""

    effect: Floats
    """Candidate - baseline."""
    error: Floats
    """Standard error of the effect."""
    free: Ints
    """Degrees of freedom of the error."""
    scatter: Floats
    """Standard deviation of a repeat."""
    drift: Floats
    """From one repeat to the next; 0 where none is fitted."""
    drift_error: Floats
    residuals: Floats
    """(quantities, repeats): values without level and drift, not clipped."""


def difference(logs: Floats, design: Design) -> Difference:
    """The difference of the sides for each row of `logs` (quantities, repeats), in the order of the design."""
    model = _model(design)
    fit, clipped, floor = _medians(logs, design), logs, _least_scatter(logs)
    own = _own_distances(logs - fit, design)
    for number in range(_FITS):
        together = _median_distance(np.abs(logs - fit), 1 if number == 0 else model.matrix.shape[1] - 1)
        together = np.maximum(together, floor)[:, None]
        limit = CLIP * np.where(own > OWN_SCATTER * together, own, together)
        clipped = fit + np.clip(logs - fit, -limit, limit)
        fit = clipped @ model.solve.T @ model.matrix.T
    coefficients = clipped @ model.solve.T
    squares, unclipped = np.square(clipped - fit), np.abs(logs - clipped) <= _ROUNDING
    scatter = np.maximum(np.sqrt(squares.sum(axis=1) / design.free) / unclipped.mean(axis=1), FLOOR)
    apart, free = _unequal(squares, unclipped, design)
    nothing = np.zeros(len(logs))
    return Difference(
        effect=coefficients[:, 1],
        error=np.maximum(scatter, apart) * model.error,
        free=free,
        scatter=scatter,
        drift=coefficients[:, 2] if design.has_drift else nothing,
        drift_error=scatter * model.drift_error,
        residuals=logs - fit,
    )


def _own_distances(off: Floats, design: Design) -> Floats:
    """How far the repeats of each side usually are off its median."""
    sides = np.array(design.sides)
    own = [_median_distance(np.abs(off[:, sides == side]), 1)[:, None] for side in (0, 1)]
    return np.asarray(np.where(sides == 0, own[0], own[1]))


def _median_distance(distances: Floats, fitted: int) -> Floats:
    """By the median, as a standard deviation; the fit takes as many of the distances away as it has coefficients."""
    return np.asarray(MAD_TO_SIGMA * np.median(np.sort(distances, axis=1)[:, fitted:], axis=1))


def _unequal(squares: Floats, unclipped: Mask, design: Design) -> tuple[Floats, Ints]:
    """(a scatter with which both sides together are as uncertain as the two apart, degrees of freedom: Welch's where the scatters clearly differ)."""
    sides, counts = np.array(design.sides), np.array(design.counts)
    variances = np.stack(
        [
            squares[:, sides == side].sum(axis=1)
            / (counts[side] - 1)
            / np.square(unclipped[:, sides == side].mean(axis=1))
            for side in (0, 1)
        ]
    )
    variances = np.maximum(variances, FLOOR**2)
    of_means = variances / counts[:, None]
    whole = of_means.sum(axis=0)
    welch = np.floor(np.square(whole) / (np.square(of_means) / (counts[:, None] - 1)).sum(axis=0) + _ROUNDING)
    limit = math.exp(UNEQUAL * math.sqrt(float((2 / (counts - 1)).sum())))
    differ = variances.max(axis=0) > limit * variances.min(axis=0)
    free = np.where(differ, np.clip(welch, 1, design.free), design.free).astype(np.int64)
    return np.sqrt(whole / (1 / counts).sum()), free


def known_noise(logs: Floats, design: Design, sigma: Floats, free: int) -> Difference:
    """The same where the repeats are too few, and the scatter of a repeat is known from elsewhere with so many degrees of freedom."""
    sides = np.array(design.sides)
    own = [logs[:, sides == side] for side in (0, 1)]
    levels, counts = zip(*(_level(own[side], np.median(own[1 - side], axis=1), sigma) for side in (0, 1)), strict=True)
    nothing = np.zeros(len(logs))
    fit = np.where(sides == 0, levels[0][:, None], levels[1][:, None])
    return Difference(
        effect=levels[1] - levels[0],
        error=sigma * np.sqrt(1 / counts[0] + 1 / counts[1]) * (ALONE if min(design.counts) == 1 else 1.0),
        free=np.full(len(logs), free, dtype=np.int64),
        scatter=sigma,
        drift=nothing,
        drift_error=nothing + 1,
        residuals=logs - fit,
    )


def _level(own: Floats, other: Floats, sigma: Floats) -> tuple[Floats, Floats]:
    """(the mean of a side's repeats, their number); of repeats too far apart for noise the one nearest to the other side counts alone."""
    far = np.ptp(own, axis=1) > CLIP * math.sqrt(2) * sigma
    nearest = np.take_along_axis(own, np.abs(own - other[:, None]).argmin(axis=1)[:, None], axis=1)[:, 0]
    return np.where(far, nearest, own.mean(axis=1)), np.where(far, 1, own.shape[1])


def _medians(logs: Floats, design: Design) -> Floats:
    sides = np.array(design.sides)
    medians = [np.median(logs[:, sides == side], axis=1)[:, None] for side in (0, 1)]
    return np.asarray(np.where(sides == 0, medians[0], medians[1]))


def _least_scatter(logs: Floats) -> Floats:
    """What values are clipped by at least: of a coarse timer most are the same, and the next value is not out of line."""
    steps = np.diff(np.sort(logs, axis=1), axis=1)
    smallest = np.where(steps > _ROUNDING, steps, np.inf).min(axis=1)
    is_coarse = (steps <= _ROUNDING).any(axis=1) & (smallest <= COARSE)
    return np.maximum(np.where(is_coarse, smallest / 2, FLOOR), FLOOR)


class _Model(NamedTuple):
    matrix: Floats
    solve: Floats
    """Values times this are the coefficients: level, effect, drift."""
    error: float
    """Standard error of the effect, in scatters."""
    drift_error: float


@lru_cache(maxsize=256)
def _model(design: Design) -> _Model:
    count = len(design.sides)
    columns: list[Floats] = [np.ones(count), np.array(design.sides, dtype=np.float64)]
    if design.has_drift:
        columns.append(np.arange(count, dtype=np.float64) - (count - 1) / 2)
    matrix = np.stack(columns, axis=1)
    solve = np.linalg.inv(matrix.T @ matrix) @ matrix.T
    plain = float(solve[1] @ solve[1])
    wider = 1.0
    if design.in_order:
        memory = MEMORY ** np.abs(np.subtract.outer(np.arange(count), np.arange(count)))
        rest = np.eye(count) - matrix @ solve
        wider = max(float(solve[1] @ memory @ solve[1]) / plain / (float(np.trace(rest @ memory)) / design.free), 1.0)
    drift = math.sqrt(float(solve[2] @ solve[2])) if design.has_drift else 1.0
    return _Model(matrix, solve, math.sqrt(plain * wider), drift)


@lru_cache(maxsize=4096)
def student(free: int, tail: float) -> float:
    """The value that Student's t with so many degrees of freedom exceeds in a share `tail` of all cases (0 < tail <= 0.5)."""
    low, high = 0.0, 1.0
    while student_tail(high, free) > tail and high < 1e12:  # noqa: PLR2004 -- far beyond any interval
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if student_tail(middle, free) > tail else (low, middle)
    return high


def student_tail(value: float, free: int) -> float:
    """How often Student's t exceeds a value of at least 0: the finite series for whole degrees of freedom (Abramowitz and Stegun 26.7.3-4)."""
    angle = math.atan(value / math.sqrt(free))
    cosine, odd = math.cos(angle), free % 2
    term = total = cosine if odd else 1.0
    for k in range(3 if odd else 2, free, 2):
        term *= cosine**2 * (k - 1) / k
        total += term
    if not odd:
        return (1 - math.sin(angle) * total) / 2
    inside = angle + (math.sin(angle) * total if free > 1 else 0.0)
    return (1 - 2 / math.pi * inside) / 2


def detectable(error: float, free: int, tail: float) -> float:
    """The smallest effect that is detected in POWER of all cases, as a logarithm."""
    return error * (student(free, tail) + student(free, 1 - POWER))


def repeats_needed(effect: float, scatter: float, tail: float, margin: float) -> int | None:
    """Repeats of each side, in turns, that would prove an effect of this size, or that it is within the margin; None above MAX_REPEATS."""
    inside = margin - abs(effect)
    target = max(abs(effect), inside)
    if target <= 0:
        return None
    low, high = (MIN_TOGETHER + 1) // 2, MAX_REPEATS
    while low < high:
        middle = (low + high) // 2
        free = 2 * middle - 2 - (2 * middle >= ENOUGH_FOR_DRIFT)
        enough = detectable(scatter * math.sqrt(2 / middle), free, tail) <= target
        low, high = (low, middle) if enough else (middle + 1, high)
    return None if low >= MAX_REPEATS else low
