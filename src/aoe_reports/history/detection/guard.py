"""The guard beside the detector: a step so plain that four nights show it is told, whatever else happened in the history.

The detector weighs a change against all other changes of a series, so a lively history (earlier steps, nights out of line)
can hide a large one for weeks. The guard looks at nothing but the nights around: four nights that all lie on one side of the
level of the seven before them, each further than so many times the scatter. Values are logarithms of times.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import log1p, sqrt

import numpy as np

from aoe_reports.stats.noise import FLOOR, HALF, Floats, Integers, running_median, scale, scales

NEW = 4
"""Nights that must all lie beyond: with fewer, two spikes and a night of the usual noise would be a step."""
BEFORE = 2 * HALF + 1
"""Nights whose median is the level before: it stands though three of them belong to another level."""
LAG = 3
"""Nights between which the scatter is taken: far enough that memory has faded, near enough that few pairs span a step."""
AROUND = 28
"""Nights to either side that make up the scatter around a step, where it is larger than that of all nights."""
MIN_NIGHTS = 20
"""Nights of a series below which its scatter is not known well enough for a median of differences."""
ROUNDS = 4
"""Of taking found steps out of the scatter: each shows smaller ones than the one before."""


def plain_scores(
    logs: Floats, lengths: Integers, threshold: float | Floats, least_effect: float
) -> list[dict[int, float]]:
    """Of each series the nights at which a plain step may begin, with scores: the least of the four distances, in scatters.

    `logs` (series, nights) are compacted: only the first `lengths` of a series count. A score is above 0 where times got
    longer; nights with less than `threshold` (one for all, or one for each), or a change of times below `least_effect`, are left out.
    """
    count, nights = logs.shape
    found: list[dict[int, float]] = [{} for _ in range(count)]
    if nights < MIN_NIGHTS:
        return found
    thresholds = np.broadcast_to(threshold, count)
    distances = _distances(logs)
    far = np.abs(distances) >= np.maximum(thresholds * _scatters(logs, lengths), log1p(least_effect))[:, None]
    for row in np.flatnonzero(far.any(axis=1) & (lengths >= MIN_NIGHTS)).tolist():
        length = int(lengths[row])
        one = distances[row, : length - NEW + 1 - BEFORE]
        large = np.where(np.abs(one) >= log1p(least_effect), one, 0.0)
        found[row] = _scores(logs[row, :length], large, float(thresholds[row]))
    return found


def _scores(logs: Floats, distances: Floats, threshold: float) -> dict[int, float]:
    """The scores of one series; a found step is taken out of the scatter, which may reveal another."""
    differences = np.abs(logs[LAG:] - logs[:-LAG])
    across = np.zeros(len(differences), dtype=bool)
    scores: dict[int, float] = {}
    for _ in range(ROUNDS):
        found = {}
        for place in np.flatnonzero(distances).tolist():
            night = place + BEFORE
            around = slice(max(night - AROUND, 0), night + AROUND - LAG)
            scatter = max(_scatter(differences[~across]), _scatter(differences[around][~across[around]]))
            score = float(distances[place]) / scatter
            if abs(score) >= threshold:
                found[night] = score
        if found.keys() == scores.keys():
            break
        scores = found
        for night in plain_steps(scores, threshold):
            across[max(night - LAG, 0) : night] = True
    return scores


def _scatter(differences: Floats) -> float:
    return max(scale(differences) / sqrt(2), FLOOR) if len(differences) else FLOOR


def plain_steps(scores: Mapping[int, float], threshold: float) -> dict[int, float]:
    """The nights at which steps begin that have at least `threshold`: of the up to NEW nights that show one step the first."""
    steps: dict[int, float] = {}
    newest = -NEW
    for night, score in scores.items():
        same_step = night - newest < NEW and score * steps[newest] > 0
        # a night between them that does not show it is on the new level already: what comes then is another step
        another = night - newest == NEW - 1 and night - 1 not in scores
        if abs(score) >= threshold and (another or not same_step):
            steps[night] = score
            newest = night
    return steps


def distance(logs: Floats, night: int) -> float:
    """How far the nearest of the NEW nights from one on lies from the level before: that of `_distances`, of one night."""
    return float(_distances(logs[None, night - BEFORE : night + NEW])[0, 0])


def _distances(logs: Floats) -> Floats:
    """For each night that has BEFORE nights before it: how far the nearest of the NEW nights from it on lies from their level.

    Above 0 where all of them are above it, below 0 where all are below, else 0.
    """
    levels = running_median(logs)[:, HALF : -HALF - NEW]
    nights = logs.shape[1]
    new = np.stack([logs[:, BEFORE + i : nights - NEW + 1 + i] for i in range(NEW)])
    above, below = new.min(axis=0) - levels, new.max(axis=0) - levels
    return np.where(above > 0, above, np.where(below < 0, below, 0.0))


def _scatters(logs: Floats, lengths: Integers) -> Floats:
    """The scatter of each series, from the median of its differences: steps and spikes are in few of them."""
    if logs.shape[1] <= LAG:
        return np.full(len(logs), FLOOR)
    counted = np.arange(logs.shape[1] - LAG) < (lengths - LAG)[:, None]
    differences = np.sort(np.where(counted, np.abs(logs[:, LAG:] - logs[:, :-LAG]), np.inf), axis=1)
    usual = scales(differences, np.maximum(lengths - LAG, 1))
    scatters: Floats = np.maximum(np.where(lengths > LAG, usual / sqrt(2), 0.0), FLOOR)
    return scatters
