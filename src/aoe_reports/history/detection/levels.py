"""Levels between changes, with the noise that they leave: take a change out and `settle`, and both are those of the rest."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from aoe_reports.history.detection.candidates import Prepared
from aoe_reports.history.detection.noise import Noise, densities, noise_of
from aoe_reports.stats import noise
from aoe_reports.stats.modes import Modes
from aoe_reports.stats.noise import HALF, Floats
from aoe_reports.stats.scatter import MIN_SEGMENT_NIGHTS, off_levels, scatter_around, scatter_segments, speaks_against


def middles(parts: Floats, relative: Any, limit: Any) -> Any:
    """The median of nights, moved to the mean of those clipped around it, each with its weight: along the last axis."""
    level = noise.median(parts)[..., None]
    weights = 1 / (relative * relative)
    total = weights.sum(axis=-1, keepdims=True)
    for _ in range(2):
        off = np.minimum(np.maximum((parts - level) / relative, -limit), limit) * relative
        level = level + (weights * off).sum(axis=-1, keepdims=True) / total
    return level[..., 0]


def likely_levels(parts: Floats, relative: Any, limit: Any, sigma: Any, rare: Any) -> Any:
    """The level that explains nights best where each weighs as much as it is no spike: along the last axis."""
    level = middles(parts, relative, limit)[..., None]
    for _ in range(3):
        scaled = (parts - level) / (sigma * relative)
        regular = np.exp(-0.5 * np.minimum(np.square(scaled), 200.0)) * (1 - rare)
        weights = regular / (regular + rare) / (relative * relative)
        total = weights.sum(axis=-1, keepdims=True)
        # of nothing but spikes the middle stays
        level = np.where(total < 1e-9, level, (weights * parts).sum(axis=-1, keepdims=True) / np.maximum(total, 1e-9))  # noqa: PLR2004
    return level[..., 0]


class Leveled:
    """One series under examination: its logs, the changes still held to be real, its levels, and the noise around them."""

    levels: list[float]
    """Between the changes."""
    residuals: Floats
    clipped: Floats
    """What nights are off their levels, relative to the scatter of their time; clipped at `limit`."""
    noise: Noise
    threshold: float
    """The evidence that each change needs in this noise."""

    def __init__(self, one: Prepared) -> None:
        self.logs, self.changes = one.logs, list(one.candidates)
        self.habits, self.parameters = one.habits, one.parameters
        self.nights = one.nights[: len(one.logs)]
        self.limit = noise.CLIP * one.sigma
        self.segments: list[tuple[int, float]] | None = None
        """(first night, scatter) of each scatter; None where nobody looked: there are no changes for it to explain."""
        self.relative = np.ones(len(self.logs))
        """Of each night its scatter, relative to the least of the series: above 1 where a wider one is proved."""
        self.newest_relative = 1.0
        """The same of the newest nights, as others have it: nights that are to be judged must not widen their own measure."""
        self.settle()
        self._weigh_scatters()

    def _weigh_scatters(self) -> None:
        """Weigh nights by the scatter of their time where it provably changed; a workload shows it first."""
        if not self.changes or self.parameters.hindsight:
            return
        off = off_levels(self.logs)
        self.segments = scatter_segments(off, self.noise.memory)
        common = None if self.habits.scatter is None else self.habits.scatter[self.nights]
        if common is not None and not speaks_against(off, common):
            self.relative = common / common.min()
            self.newest_relative = float(self.relative[-1])
            least = scatter_around(off / self.relative)
        elif len(self.segments) > 1:
            starts, scatters = zip(*self.segments, strict=True)
            least = min(scatters)
            self.relative = np.repeat(np.array(scatters) / least, np.diff([*starts, len(self.logs)]))
            before_newest = off[starts[-1] : -HALF]
            if len(before_newest) >= 2 * MIN_SEGMENT_NIGHTS:  # of fewer, chance has chosen those that are off
                self.newest_relative = max(scatter_around(before_newest) / least, 1.0)
        else:
            return
        self.limit = noise.CLIP * least
        self.settle()

    @property
    def edges(self) -> list[int]:
        """The first nights of the levels, and the night after the last one."""
        return [0, *self.changes, len(self.logs)]

    def settle(self) -> None:
        """Levels between the changes, and the noise around them."""
        residuals = np.empty(len(self.logs))
        self.levels = []
        for start, end in pairwise(self.edges):
            level = float(middles(self.logs[start:end], self.relative[start:end], self.limit))
            self.levels.append(level)
            np.subtract(self.logs[start:end], level, out=residuals[start:end])
        residuals /= self.relative
        clipped = np.minimum(np.maximum(residuals, -self.limit), self.limit)
        self.residuals, self.clipped = residuals, clipped
        # nights of a wider scatter on both sides of the others are no modes
        self.noise = noise_of(
            residuals,
            clipped,
            self.changes,
            self.habits,
            self.parameters,
            may_have_modes=bool((self.relative == 1.0).all()),
        )
        self.threshold = self.parameters.needed(self.noise.certain)

    def stairs(self, first: int, last: int) -> Floats:
        """Of each night from the start of one level to the end of another its level."""
        edges = self.edges[first : last + 2]
        return np.repeat(self.levels[first : last + 1], np.diff(edges))

    def level(self, start: int, end: int) -> float:
        """The level that explains nights best: each weighs as much as it is no spike."""
        part, relative = self.logs[start:end], self.relative[start:end]
        if self.noise.modes is not None:
            return self._level_of_modes(part, self.noise.modes)
        return float(likely_levels(part, relative, self.limit, self.noise.sigma, self.noise.rare))

    def _level_of_modes(self, part: Floats, modes: Modes) -> float:
        """The level where nights have two modes: the best of all places where a night's modes put it, refined by means."""
        starts = np.concatenate([part - modes.lower, part - modes.upper])
        level = float(starts[self.noise.loss(part - starts[:, None]).sum(axis=1).argmin()])
        for _ in range(3):
            near = densities(part - level, modes)
            total = near.sum() + self.noise.rare * len(part)
            level += float(
                (near[0] * (part - level - modes.lower) + near[1] * (part - level - modes.upper)).sum() / total
            )
        return level

    def losses(self, around: float | Floats, start: int, end: int) -> Floats:
        """The loss of each night around a level, or around that of its own, relative to the scatter of its time."""
        return self.noise.loss((self.logs[start:end] - around) / self.relative[start:end])

    def weight(self, start: int, end: int) -> float:
        """How many nights of the least scatter tell as much of a level as those between two edges."""
        return float((1 / np.square(self.relative[start:end])).sum())
