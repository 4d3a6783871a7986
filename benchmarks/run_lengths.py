"""How many false alarms a series raises in a year, for thresholds and for noise with memory: writes run_lengths.py.

usage: python benchmarks/run_lengths.py [--series 1000] [--seed 1] [--write]
Series of Gaussian noise (AR(1) memory 0, 0.4, 0.6; 1 % scatter) without any change are looked at every night over the last
120 nights, for 305 nights. A change further than 10 nights from all alarms before it is an alarm. log(rate) over the
threshold is a straight line to good measure; it is fitted by Poisson regression. With --write the table of the package is
replaced (src/aoe_reports/regression/run_lengths.py). Takes half an hour of one core.
"""

from __future__ import annotations

import argparse
import math
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from aoe_reports.regression.budget import WATCHED_NIGHTS
from aoe_reports.regression.detector import Parameters, detect_changes

TABLE = Path(__file__).parents[1] / "src/aoe_reports/regression/run_lengths.py"
FIRST, NIGHTS, NEAR = 60, 365, 10
MEMORIES = (0.0, 0.4, 0.6)
THRESHOLDS = (15.0, 17.0, 20.0)

HEAD = '''"""False alarms a series and year against the threshold, simulated: written by benchmarks/run_lengths.py, not by hand.

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
'''


def noise_with_memory(memory: float, series: int, seed: int) -> NDArray[np.float64]:
    """(series, nights) of AR(1) noise with a standard deviation of 1."""
    steps = np.random.default_rng(seed).standard_normal((NIGHTS, series))
    values = np.empty_like(steps)
    values[0] = steps[0]
    for night in range(1, NIGHTS):
        values[night] = memory * values[night - 1] + math.sqrt(1 - memory**2) * steps[night]
    return values.T


def count_alarms(values: NDArray[np.float64], parameters: Parameters) -> int:
    """Alarms of series that never change."""
    seen: list[list[int]] = [[] for _ in values]
    for night in range(FIRST, values.shape[1]):
        begin = max(0, night + 1 - WATCHED_NIGHTS)
        for alarms, verdict in zip(seen, detect_changes(values[:, begin : night + 1], parameters), strict=True):
            for change in verdict.changes:
                if all(abs(begin + change.night - alarm) > NEAR for alarm in alarms):
                    alarms.append(begin + change.night)
    return sum(map(len, seen))


def fit(measured: list[tuple[float, int, float]]) -> tuple[float, float]:
    """(intercept, slope) of log(alarms / years) = intercept - slope * threshold, by Newton's method."""
    thresholds, alarms, years = (np.array(column, dtype=np.float64) for column in zip(*measured, strict=True))
    design = np.stack([np.ones_like(thresholds), -thresholds], axis=1)
    answer = np.array([math.log(max(alarms.sum(), 1) / years.sum()) + 0.5 * thresholds.mean(), 0.5])
    for _ in range(50):
        expected = years * np.exp(design @ answer)
        step = np.linalg.solve(design.T @ (expected[:, None] * design), design.T @ (alarms - expected))
        answer = answer + np.clip(step, -1, 1)
    return float(answer[0]), float(answer[1])


def main() -> None:
    """Simulate, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--series", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    years = arguments.series * (NIGHTS - FIRST) / 365
    text = HEAD
    for memory in MEMORIES:
        values = 100 * np.exp(0.01 * noise_with_memory(memory, arguments.series, arguments.seed + round(100 * memory)))
        measured = []
        for threshold in THRESHOLDS:
            begin = time.process_time()
            alarms = count_alarms(values, Parameters(threshold=threshold))
            measured.append((threshold, alarms, round(years, 1)))
            rate, seconds = 1000 * alarms / years, time.process_time() - begin
            print(
                f"memory {memory} threshold {threshold:5.1f}: {rate:7.1f} per 1,000 series-years {seconds:5.0f} s",
                flush=True,
            )
        intercept, slope = fit(measured)
        points = ", ".join(map(repr, measured))
        text += f"    Fit({memory}, {intercept:.3f}, {slope:.4f}, ({points})),\n"
        print(f"memory {memory}: log rate = {intercept:.3f} - {slope:.4f} threshold", flush=True)
    if arguments.write:
        TABLE.write_text(text + ")\n", encoding="utf-8")


if __name__ == "__main__":
    main()
