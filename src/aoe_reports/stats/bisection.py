"""Which builds to measure next, to name the build that brought a change of level: probabilistic bisection.

A build is measured where it halves the posterior of the boundaries (Horstein 1963), so the plan comes back from a wrong look. A boundary is
named at CERTAINTY. Costs are natural logarithms.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

import numpy as np

from aoe_reports.stats.boundaries import Builds, Posterior, pooled_scatter, posterior
from aoe_reports.stats.noise import FLOOR, inflation
from aoe_reports.stats.two_sides import (
    ERROR,
    MAX_REPEATS,
    MEMORY,
    MIN_TOGETHER,
    Design,
    difference,
    repeats_needed,
    student,
)

State = Literal["ends-not-apart", "measure", "found", "no-single-step"]

CERTAINTY = 0.95
SEVERAL = math.log(200)
"""Log Bayes factor from which two changes explain the repeats clearly better than one."""


@dataclass(frozen=True, slots=True)
class Boundary:
    """Between two neighbouring builds, by their places: `after` is the first build with the new level."""

    before: int
    after: int
    probability: float


@dataclass(frozen=True, slots=True)
class Plan:
    """`repeats` more of each of `builds` (places) are to be measured next; None where over MAX_REPEATS would be needed, or no build is left."""

    state: State
    builds: tuple[int, ...]
    repeats: int | None
    rounds: int
    """Expected from here on, with this one."""
    effect: float
    """New level - old level."""
    scatter: float | None
    """Standard deviation of a repeat; None where it is not known."""
    posterior: tuple[Boundary, ...] = ()
    """Of each boundary; none where the ends are not apart."""
    likely: tuple[Boundary, ...] = ()
    """The smallest set that reaches the certainty, most probable first."""


def plan_next(logs: Builds, machines: int = 1) -> Plan:
    """The plan for these builds."""
    scatter = pooled_scatter(logs)
    first, last = len(logs[0]), len(logs[-1])
    ends, design = (0, len(logs) - 1), Design((0,) * first + (1,) * last, in_order=False)
    if scatter is None or not design.is_enough:
        return Plan("ends-not-apart", ends, max((MIN_TOGETHER + 1) // 2 - min(first, last), 1), 1, 0.0, scatter)
    sides = difference(np.array([[*logs[0], *logs[-1]]]), design)
    tail = student(int(sides.free[0]), ERROR)
    effect = float(sides.effect[0])
    if abs(effect) <= tail * float(sides.error[0]):
        needed = repeats_needed(effect, float(sides.scatter[0]), ERROR, 0.0)
        return Plan("ends-not-apart", ends, needed and max(needed - min(first, last), 1), 1, effect, scatter)
    return _search(posterior(logs, scatter), scatter, machines)


def _search(belief: Posterior, scatter: float, machines: int) -> Plan:
    chances, effect = belief.chances, float(belief.chances @ (belief.new - belief.old))
    boundaries = tuple(Boundary(place, place + 1, float(chance)) for place, chance in enumerate(chances))
    ordered = np.argsort(-chances, kind="stable")
    count = min(int(np.searchsorted(np.cumsum(chances[ordered]), CERTAINTY - 1e-9)) + 1, len(chances))
    likely = tuple(boundaries[place] for place in ordered[:count])
    several = belief.several > SEVERAL
    if several or count == 1:
        return Plan("no-single-step" if several else "found", (), None, 0, effect, scatter, boundaries, likely)
    builds = _next_builds(belief, machines)
    entropy = -float(chances @ np.log(np.maximum(chances, 1e-300)))
    rounds = max(math.ceil(entropy / math.log(len(builds) + 1) - 1e-9), 1)
    repeats = look_repeats(effect, scatter, (1 - CERTAINTY) / rounds)
    return Plan("measure", builds, repeats, rounds, effect, scatter, boundaries, likely)


def _next_builds(belief: Posterior, machines: int) -> tuple[int, ...]:
    """Builds that cut the posterior into equal parts; an end instead, where the boundaries disagree more about its level."""
    last = len(belief.chances)

    def disagreement(build: int) -> float:
        level = np.where(np.arange(last) < build, belief.new, belief.old)
        return float(belief.chances @ np.square(level - belief.chances @ level))

    parts = np.arange(1, machines + 1)[:, None] / (machines + 1)
    inner = sorted({int(place) + 1 for place in np.abs(np.cumsum(belief.chances)[:-1] - parts).argmin(axis=1)})
    most = max(map(disagreement, inner))
    return tuple(sorted([*(end for end in (0, last) if disagreement(end) > most), *inner][:machines]))


def look_repeats(effect: float, scatter: float, error: float) -> int | None:
    """Repeats after which the mean of a build is nearer to the wrong level in a share `error` of all cases."""
    needed = (2 * NormalDist().inv_cdf(1 - error) * scatter / max(abs(effect), FLOOR)) ** 2
    return next((count for count in range(1, MAX_REPEATS + 1) if count >= needed * inflation(MEMORY, count)), None)
