"""What is known of the noise of a series before it is looked at closely: from itself, and from the others of its workload.

Series of one workload share a machine, a scheduler and a way to measure. Of few nights a series alone says little of its memory
and nothing of what happens once a year, so both are shrunk towards what its workload shows (empirical Bayes; Efron and Morris
1975, "Data analysis using Stein's estimator"): the more, the less its series differ.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from aoe_reports.stats.noise import FLOOR, MEMORY_VARIANCE, Floats, Integers, spread
from aoe_reports.stats.scatter import common_scatter

LONGEST_RUN = 3
"""Nights out of line in a row that are no level: the median of the seven around them stays where it is."""
OWN_WEIGHT = 1 / MEMORY_VARIANCE
"""Nights that the belief in no memory weighs, where a series has no others."""
RATIO_VARIANCE, RATIO_GROWTH = 2.0, 2.2
"""Of the memory that differences of neighbours show, times the nights: of noise without memory, and with memory 1 so much more."""
MIN_VARIANCE = 0.002
"""Of memory between the series of a workload: they are never all alike, and their own nights never count for nothing."""
RARE, RARE_NIGHTS = 0.002, 60.0
"""Share of spiked nights expected before any was seen, and the nights that this expectation weighs."""
MAX_SPIKES = 0.008
"""Share that a workload may make its series expect: each shows its own spikes soon enough, and by more no three nights would ever be
a level."""
MIN_SERIES, MIN_NIGHTS = 3, 10
"""Of a workload, below which it tells nothing; nights of a series, below which it is none of them."""
NEWEST = 3
"""Nights that tell nothing of memory yet: a step of all series in the newest ones looks like memory of the workload, which would hide it."""
NO_DISTANCE = 1e-9
"""In sigma: what rounding leaves of a night that is not out of line."""


class Habits(NamedTuple):
    """What is expected of the noise of a series."""

    memory: float
    weight: float
    """Nights that `memory` weighs beside those of the series."""
    spikes: float
    """Share of single nights out of line; weighs RARE_NIGHTS nights."""
    runs: tuple[float, ...]
    """Of each number of nights up to LONGEST_RUN the share of nights with which a run of that many or more out of line begins; 0
    where none was seen, and for less than two."""
    scatter: Floats | None = None
    """Of each night of the table the scatter of the workload, relative to the least; None where it did not change."""


class Signs(NamedTuple):
    """What each series shows of its habits."""

    nights: Integers
    memory: Floats
    runs: Integers
    """(length, series): ended runs of nights out of line on one side, of just 1, 2 … LONGEST_RUN nights."""
    moves: Floats | None = None
    """(series, nights of the table) as `common_scatter.moves_of` has them, where series tell each other of their noise."""


def signs_of(logs: Floats, lengths: Integers, sigma: Floats, clipped: Floats) -> Signs:
    """What series (series, nights) show; `clipped` as `noise.clip` makes them, in units of sigma."""
    older = np.maximum(lengths - NEWEST, 0)
    near, far = (np.maximum(spread(logs, older, lag), FLOOR**2) for lag in (1, 2))
    beyond = logs / sigma[:, None] - clipped
    outside = (np.abs(beyond) > NO_DISTANCE) & (np.arange(logs.shape[1]) < lengths[:, None])
    sides = np.where(outside, np.sign(beyond), 0.0)
    runs = np.stack([_runs(sides, lengths, count) for count in range(1, LONGEST_RUN + 1)])
    return Signs(lengths, far / near - 1, runs)


def _runs(sides: Floats, lengths: Integers, count: int) -> Integers:
    width = max(sides.shape[1] - count, 0)
    padded = np.pad(sides, ((0, 0), (1, 0)))
    first = padded[:, 1 : 1 + width]
    found = (first != 0) & (padded[:, :width] != first) & (sides[:, count:] == 0)
    for later in range(1, count):
        found &= sides[:, later : later + width] == first
    found &= np.arange(width) + count < lengths[:, None]
    return np.asarray(found.sum(axis=1))


def pool(blocks: Sequence[Signs], workloads: Sequence[int] | None) -> list[Habits]:
    """The habits of each series; `workloads` numbers the workload of each: without it a series tells of itself alone."""
    if not blocks:
        return []
    nights = np.concatenate([block.nights for block in blocks])
    memory = np.concatenate([block.memory for block in blocks])
    runs = np.concatenate([block.runs for block in blocks], axis=1)
    own = np.cumsum(runs[:0:-1], axis=0)[::-1] / np.maximum(nights, 1)
    habits = [Habits(0.0, OWN_WEIGHT, RARE, (0.0, 0.0, *shares)) for shares in own.T.tolist()]
    if workloads is None:
        return habits
    of_each = np.asarray(workloads)
    for workload in np.unique(of_each):
        members = np.flatnonzero((of_each == workload) & (nights >= MIN_NIGHTS))
        if len(members) >= MIN_SERIES:
            shared = _shared(nights[members], memory[members], runs[:, members])
            moves = [block.moves[mine] for block, mine in _by_block(blocks, members) if block.moves is not None]
            if moves:
                shared = shared._replace(scatter=common_scatter(np.concatenate(moves)))
            for member in members.tolist():
                habits[member] = shared
    return habits


def _by_block(blocks: Sequence[Signs], members: Integers) -> Iterator[tuple[Signs, Integers]]:
    first = 0
    for block in blocks:
        yield block, members[(members >= first) & (members < first + len(block.nights))] - first
        first += len(block.nights)


def _shared(nights: Integers, memory: Floats, runs: Integers) -> Habits:
    total = int(nights.sum())
    mean = max(float((memory * nights).sum()) / total, 0.0)
    chance = RATIO_VARIANCE + RATIO_GROWTH * mean
    # a variance within its own standard error of chance is chance
    certain = float(memory.var(ddof=1)) / (1 + math.sqrt(2 / (len(nights) - 1)))
    between = certain - chance * float((1 / nights).mean())
    counts = runs.sum(axis=1).tolist()
    return Habits(
        memory=mean,
        weight=1 / (max(between, MIN_VARIANCE) + chance / total),
        spikes=min((counts[0] + RARE * RARE_NIGHTS) / (total + RARE_NIGHTS), MAX_SPIKES),
        runs=(0.0, 0.0, *(sum(counts[length:]) / total for length in range(1, LONGEST_RUN))),
    )
