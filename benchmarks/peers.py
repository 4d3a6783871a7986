"""Other detectors on the series of benchmarks/detection.py, and what is possible at best where the noise is known.

Each is a function of a table (series, nights) that gives the indexes at which new levels start, for each series.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Look = Callable[[Floats], list[list[int]]]

SIGMA, LEVEL = 0.01, 100.0
"""Of the noise of normal and remembering series: what the limits know."""
MIN_NIGHTS = 3
"""Of a new level, for all of them."""
KERNEL_PENALTY = 6.0
"""Of KernelCPD, which has no default: of 4, 6, 8 … the least without a false alarm in 20 other series of normal noise (seed 60,000)."""
GLR_THRESHOLD = 22.0
"""Squared standard scores of some 10 false alarms in 1,000 series-years: 362, 141, 66 and 21 at 14, 16, 18 and 20.5 in 400 series of
normal noise (seed 70,000)."""
CUSUM_SHIFT, CUSUM_THRESHOLD = 2.0, 4.78
"""In sigma: the step that it is best for, and the limit with a false alarm in 73,000 nights on each side, which is 10 in 1,000 years
on both, by Siegmund's approximation (Siegmund 1985, "Sequential Analysis", 2.52)."""


def kernel_cpd(values: Floats) -> list[list[int]]:
    """Of ruptures, with its Gaussian kernel (Arlot, Celisse and Harchaoui 2019)."""
    kernels = importlib.import_module("ruptures")
    return [
        kernels.KernelCPD(kernel="rbf", min_size=MIN_NIGHTS).fit(np.log(one)).predict(pen=KERNEL_PENALTY)[:-1]
        for one in values
    ]


def asv_steps(values: Floats) -> list[list[int]]:
    """asv's step detection with its defaults (L1 potts functional)."""
    steps = importlib.import_module("asv.step_detect")
    return [[int(step[0]) for step in steps.detect_steps(list(one))[1:]] for one in values]


def otava(values: Floats) -> list[list[int]]:
    """Apache Otava with its defaults (E-divisive means with a t test)."""
    analysis = importlib.import_module("otava.analysis")
    return [[int(one.index) for one in analysis.compute_change_points(row.tolist())[0]] for row in values]


def glr(memory: float) -> Look:
    """The limit: likelihood ratio of one change with levels unknown, scatter and memory known (Siegmund and Venkatraman 1995)."""

    def look(values: Floats) -> list[list[int]]:
        logs = np.log(values / LEVEL) / SIGMA
        news = (logs[:, 1:] - memory * logs[:, :-1]) / np.sqrt(1 - memory**2)
        count = news.shape[1]
        before = np.arange(MIN_NIGHTS, count - MIN_NIGHTS + 1)
        sums = np.cumsum(news, axis=1)
        left, total = sums[:, before - 1], sums[:, -1:]
        steps = (total - left) / (count - before) - left / before
        scores = np.square(steps) * before * (count - before) / count
        best = scores.argmax(axis=1)
        return [
            [int(before[place]) + 1] if row[place] >= GLR_THRESHOLD else []
            for row, place in zip(scores, best, strict=True)
        ]

    return look


def cusum(values: Floats) -> list[list[int]]:
    """The limit where the level before is known, too: Page's cumulative sums (1954), for steps of CUSUM_SHIFT either way."""
    scores = np.log(values / LEVEL) / SIGMA
    return [_cusum(row) for row in scores.tolist()]


def _cusum(row: list[float]) -> list[int]:
    """Where the newest sum that is beyond the limit began."""
    sums, begun = [0.0, 0.0], [0, 0]
    for night, score in enumerate(row):
        for side, sign in enumerate((1.0, -1.0)):
            if sums[side] <= 0:
                sums[side], begun[side] = 0.0, night
            sums[side] += sign * score - CUSUM_SHIFT / 2
    return [begun[side] for side in (0, 1) if sums[side] > CUSUM_THRESHOLD]


def peers_for(kind: str) -> dict[str, Look]:
    """Those that are installed, and the limits that are known for a kind of noise."""
    packages: dict[str, tuple[str, Look]] = {
        "KernelCPD": ("ruptures", kernel_cpd),
        "Otava": ("otava", otava),
        "asv": ("asv", asv_steps),
    }
    found = {name: look for name, (package, look) in packages.items() if importlib.util.find_spec(package)}
    memory = {"gauss": 0.0, "ar": 0.4, "memory 0.7": 0.7}.get(kind)
    if memory is not None:
        found["GLR, known noise"] = glr(memory)
    if kind == "gauss":
        found["CUSUM, known level"] = cusum
    return found


def false_alarms(look: Look, values: Floats, nights: range, window: int, near: int) -> int:
    """Changes of quiet series further than so many nights from all alarms before, looked at every night."""
    seen: list[list[int]] = [[] for _ in values]
    for begin, changes in _each_night(look, values, nights, window):
        for alarms, found in zip(seen, changes, strict=True):
            for step in found:
                if all(abs(begin + step - alarm) > near for alarm in alarms):
                    alarms.append(begin + step)
    return sum(map(len, seen))


def told_within(look: Look, values: Floats, change: int, nights: int, window: int, near: int) -> Any:
    """Of each series the night of a step in which it is told, counted from 1; more than `nights` where it is not."""
    told = np.full(len(values), nights + 1)
    for night, (begin, changes) in enumerate(_each_night(look, values, range(change, change + nights), window), 1):
        for row, found in enumerate(changes):
            if any(change - 3 <= begin + step <= change + near for step in found):
                told[row] = min(told[row], night)
    return told


def _each_night(look: Look, values: Floats, nights: range, window: int) -> Any:
    for night in nights:
        begin = max(0, night + 1 - window)
        yield begin, look(values[:, begin : night + 1])
