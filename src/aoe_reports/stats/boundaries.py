"""Which boundary between neighbouring builds did a level change at? The posterior of each, from the repeats of some builds.

The model is one change of level, at each boundary with the same prior probability. Repeats scatter about their level like Student's t with
TAILS degrees of freedom, so a bad repeat hardly favours either level; repeats of a build count as fewer by what AR(1) memory (MEMORY) takes
from them. Both levels are integrated out on a grid. Two changes are a second model, compared by its Bayes factor.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

import numpy as np

from aoe_reports.stats.noise import CLIP, FLOOR, Floats, Integers, inflation
from aoe_reports.stats.sample import MAD_TO_SIGMA
from aoe_reports.stats.two_sides import MEMORY, MIN_TOGETHER

Builds = Sequence[Sequence[float]]
"""Logarithms of the repeats of each build, oldest first; the first and the last build have some."""

TAILS = 4
_MARGIN, _MAX_LEVELS = 4.0, 2048


class Posterior(NamedTuple):
    """Probability of each boundary if there is one change, and the expected levels before and after it."""

    chances: Floats
    old: Floats
    new: Floats
    several: float
    """Log Bayes factor of two changes over one."""


def posterior(logs: Builds, scatter: float) -> Posterior:
    """The posterior of boundaries, from the evidence between each two neighbours of the measured builds."""
    gaps = np.diff([place for place, values in enumerate(logs) if values])
    levels, likelihood = _likelihood([values for values in logs if values], scatter)
    sides = np.cumsum(likelihood, axis=0)[:-1], np.cumsum(likelihood[::-1], axis=0)[-2::-1]
    old, new = (np.logaddexp.reduce(side, axis=1) - math.log(len(levels)) for side in sides)
    chances = np.repeat(np.exp(old + new - (old + new).max()), gaps)
    before, after = (
        np.repeat(np.exp(side - np.logaddexp.reduce(side, axis=1)[:, None]) @ levels, gaps) for side in sides
    )
    return Posterior(chances / chances.sum(), before, after, _several(levels, likelihood, (old, new), gaps))


def _several(levels: Floats, likelihood: Floats, outer: tuple[Floats, Floats], gaps: Integers) -> float:
    """Log Bayes factor of two changes, with a measured build between them and its level between the outer ones, over one change."""
    old, new = outer[0] + np.log(gaps), outer[1] + np.log(gaps)
    low, high = sorted(float(levels[likelihood[place].argmax()]) for place in (0, -1))
    between = (low < levels) & (levels < high)
    middle, two = np.full(np.count_nonzero(between), -np.inf), -np.inf
    for number in range(1, len(gaps)):  # `middle` has, for each level in the middle, all first changes together
        middle = np.logaddexp(middle, old[number - 1]) + likelihood[number, between]
        two = np.logaddexp(two, np.logaddexp.reduce(middle) + new[number])
    pairs = (gaps.sum() ** 2 - np.square(gaps).sum()) / 2
    one = np.logaddexp.reduce(outer[0] + new) - math.log(gaps.sum())
    return float(two - math.log(pairs * max(len(middle), 1)) - one) if pairs else -math.inf


def _likelihood(measured: Builds, scatter: float) -> tuple[Floats, Floats]:
    """(a grid of levels, the log likelihood of each measured build at each of them); where the grid is too coarse, for a larger scatter."""
    counts = np.array([len(values) for values in measured])
    medians = [median(values) for values in measured]
    low, high = min(medians) - _MARGIN * scatter, max(medians) + _MARGIN * scatter
    steps = (high - low) / scatter * math.sqrt(counts.sum())
    levels = np.linspace(low, high, min(math.ceil(steps) + 1, _MAX_LEVELS))
    off = (np.concatenate(measured)[:, None] - levels) / (scatter * max(steps / (2 * _MAX_LEVELS), 1))
    logs = -(TAILS + 1) / 2 * np.log1p(np.square(off) / TAILS)
    memory = [[inflation(MEMORY, len(values))] for values in measured]
    return levels, np.add.reduceat(logs, np.cumsum(counts) - counts, axis=0) / memory


def pooled_scatter(logs: Builds) -> float | None:
    """Standard deviation of a repeat about its build, at least FLOOR; None where fewer than 3 degrees of freedom are left."""
    repeated = [values for values in logs if len(values) > 1]
    free = sum(map(len, repeated)) - len(repeated)
    if free < MIN_TOGETHER - 2:
        return None
    medians = [median(values) for values in repeated]
    off = np.abs(np.concatenate(repeated) - np.repeat(medians, [len(values) for values in repeated]))
    # as many distances as there are medians are about 0 by construction
    limit = CLIP * max(MAD_TO_SIGMA * median(np.sort(off)[len(repeated) :].tolist()), FLOOR)
    clipped = np.minimum(off, limit)
    return max(math.sqrt(float(np.square(clipped).sum()) / free) / float((off <= limit).mean()), FLOOR)
