"""How many false alarms a quiet series raises, for thresholds and for noise with memory: writes run_lengths.py.

usage: python benchmarks/run_lengths.py [--part alarms,suspicions,guard,looks] [--series 400] [--seed 1] [--write]
Series of Gaussian noise (1 % scatter) without any change. alarms: AR(1) memory 0, 0.4, 0.6; looked at every night over the last
120 nights, for 305 nights; a change further than 10 nights from all alarms before it is an alarm. suspicions: the same without
memory; every night with a suspicion counts. guard: the plain steps
of series with memory 0.4 and of series with two modes (30 % of the nights 3 % longer), from the 11th night on, counted as alarms
are. looks: whole histories of 30, 120 and 365 nights with memory 0, 0.4 and 0.8 are
looked at once, in hindsight; every change told is a false one. log(rate) over the threshold is a straight line to good measure;
it is fitted by Poisson regression. With --write the parts asked for are replaced in the table of the package
(src/aoe_reports/stats/run_lengths.py). Takes a quarter of an hour of one core.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from aoe_reports.history.detection.detector import detect_changes
from aoe_reports.history.detection.guard import plain_scores, plain_steps
from aoe_reports.history.detection.verdicts import Parameters
from aoe_reports.stats.budget import WATCHED_NIGHTS
from aoe_reports.stats.run_lengths import FITS, GUARD, LOOKS, SUSPICIONS, Fit

TABLE = Path(__file__).parents[1] / "src/aoe_reports/stats/run_lengths.py"
FIRST, NIGHTS, NEAR = 60, 365, 10
MEMORIES, THRESHOLDS = (0.0, 0.4, 0.6), (15.0, 17.0, 20.0)
SUSPICION_SCORES = (3.0, 3.3, 3.6, 4.0)
GUARD_FIRST, GUARD_SCORES = 10, (3.0, 3.5, 4.0, 4.5)
LOOK_NIGHTS, LOOK_MEMORIES, LOOK_THRESHOLDS = (30, 120, 365), (0.0, 0.4, 0.8), (10.0, 12.0, 14.0, 17.0)
Measured = tuple[float, int, float]

HEAD = '''"""False alarms of quiet series against the threshold, simulated: written by benchmarks/run_lengths.py, not by hand.

log(rate) = intercept - slope * threshold, a Poisson regression over the measured points.
"""

from __future__ import annotations

from typing import NamedTuple


class Fit(NamedTuple):
    """Noise with AR(1) memory: the line through the logarithms of its rates, and what was measured."""

    memory: float
    intercept: float
    slope: float
    measured: tuple[tuple[float, int, float], ...]
    """(threshold, alarms, series-years watched)."""


FITS = (
{alarms}
)
"""Alarms a series and year, watched every night."""
SUSPICIONS = {suspicions}
"""Suspicions a series and year; the threshold is a squared standard score."""
GUARD = {guard}
"""Alarms of the guard a series and year, of noise with memory and of noise with two modes together; the threshold is a score."""
LOOKS = {looks}
"""False changes a look at a whole history: (threshold, false changes, histories), of noise without and with memory together."""
'''


def quiet_series(memory: float, series: int, seed: int, nights: int = NIGHTS) -> NDArray[np.float64]:
    """(series, nights) of times with AR(1) noise of 1 %."""
    steps = np.random.default_rng(seed + round(100 * memory)).standard_normal((nights, series))
    values = np.empty_like(steps)
    values[0] = steps[0]
    for night in range(1, nights):
        values[night] = memory * values[night - 1] + math.sqrt(1 - memory**2) * steps[night]
    return np.asarray(100 * np.exp(0.01 * values.T))


def two_modes(series: int, seed: int, nights: int = NIGHTS) -> NDArray[np.float64]:
    """(series, nights) of times with noise of 0.7 %, three nights in ten 3 % longer."""
    random = np.random.default_rng(seed)
    return np.asarray(
        100 * (1 + 0.007 * random.standard_normal((series, nights)) + 0.03 * (random.random((series, nights)) < 0.3))
    )


def count_plain_steps(values: NDArray[np.float64], score: float) -> int:
    """Plain steps that the guard sees in series that never change."""
    logs = np.log(values)
    seen: list[list[int]] = [[] for _ in values]
    for night in range(GUARD_FIRST, values.shape[1]):
        begin = max(0, night + 1 - WATCHED_NIGHTS)
        watched = logs[:, begin : night + 1]
        lengths = np.full(len(watched), watched.shape[1])
        for alarms, scores in zip(seen, plain_scores(watched, lengths, score, 0.0), strict=True):
            for step in plain_steps(scores, score):
                if all(abs(begin + step - alarm) > NEAR for alarm in alarms):
                    alarms.append(begin + step)
    return sum(map(len, seen))


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


def count_suspicions(values: NDArray[np.float64], parameters: Parameters) -> int:
    """Nights with a suspicion, of series that never change."""
    return sum(
        verdict.suspect is not None
        for night in range(FIRST, values.shape[1])
        for verdict in detect_changes(values[:, max(0, night + 1 - WATCHED_NIGHTS) : night + 1], parameters)
    )


def count_in_hindsight(values: NDArray[np.float64], threshold: float) -> int:
    """Changes that one look at each whole history tells."""
    parameters = Parameters(hindsight=True, threshold=threshold)
    return sum(len(verdict.changes) for verdict in detect_changes(values, parameters))


def fit(memory: float, measured: list[Measured]) -> Fit:
    """The line log(alarms / years) = intercept - slope * threshold, by Newton's method."""
    thresholds, alarms, years = (np.array(column, dtype=np.float64) for column in zip(*measured, strict=True))
    design = np.stack([np.ones_like(thresholds), -thresholds], axis=1)
    fall, start = np.polyfit(thresholds, np.log((alarms + 0.5) / years), 1)
    answer = np.array([start, -fall])
    for _ in range(50):
        expected = years * np.exp(design @ answer)
        step = np.linalg.solve(design.T @ (expected[:, None] * design), design.T @ (alarms - expected))
        answer = answer + np.clip(step, -1, 1)
    line = Fit(memory, round(float(answer[0]), 3), round(float(answer[1]), 4), tuple(measured))
    print(f"memory {memory}: log rate = {line.intercept} - {line.slope} threshold", flush=True)
    return line


def report(what: str, threshold: float, alarms: int, years: float) -> Measured:
    """Print what was counted, and tell (threshold, alarms, series-years)."""
    print(f"{what} threshold {threshold:5.2f}: {1000 * alarms / years:7.1f} per 1,000", flush=True)
    return threshold, alarms, round(years, 1)


def measure_alarms(series: int, seed: int) -> tuple[Fit, ...]:
    """Alarms of a nightly watch, a line for each memory."""
    years = series * (NIGHTS - FIRST) / 365
    lines = []
    for memory in MEMORIES:
        values, measured = quiet_series(memory, series, seed), []
        for threshold in THRESHOLDS:
            alarms = count_alarms(values, Parameters(threshold=threshold, guard=math.inf))
            measured.append(report(f"memory {memory}", threshold, alarms, years))
        lines.append(fit(memory, measured))
    return tuple(lines)


def measure_suspicions(series: int, seed: int) -> Fit:
    """Suspicions of a nightly watch of noise without memory."""
    years = series * (NIGHTS - FIRST) / 365
    values, measured = quiet_series(0.0, series, seed), []
    for score in SUSPICION_SCORES:
        alarms = count_suspicions(values, Parameters(suspicion=score, guard=math.inf))
        measured.append(report("suspicions", round(score**2, 2), alarms, years))
    return fit(0.0, measured)


def measure_guard(series: int, seed: int) -> Fit:
    """Plain steps in noise with memory 0.4 and in noise with two modes: one line for both, each with the same weight."""
    years = 2 * series * (NIGHTS - GUARD_FIRST) / 365
    noises, measured = (quiet_series(0.4, series, seed), two_modes(series, seed)), []
    for score in GUARD_SCORES:
        alarms = sum(count_plain_steps(values, score) for values in noises)
        measured.append(report("guard", score, alarms, years))
    return fit(0.0, measured)


def measure_looks(series: int, seed: int) -> Fit:
    """False changes of one look at a history: one line for all lengths and memories, each with the same weight."""
    measured = []
    for threshold in LOOK_THRESHOLDS:
        alarms = 0
        for nights in LOOK_NIGHTS:
            for memory in LOOK_MEMORIES:
                found = count_in_hindsight(quiet_series(memory, series, seed, nights), threshold)
                report(f"  {nights} nights, memory {memory}", threshold, found, series)
                alarms += found
        measured.append(report("looks", threshold, alarms, len(LOOK_NIGHTS) * len(LOOK_MEMORIES) * series))
    return fit(0.0, measured)


def written(line: Fit) -> str:
    """A line as source text."""
    return f"Fit({line.memory}, {line.intercept}, {line.slope}, {line.measured!r})"


def main() -> None:
    """Simulate, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", default="alarms,suspicions,guard,looks")
    parser.add_argument("--series", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    parts = arguments.part.split(",")
    if unknown := set(parts) - {"alarms", "suspicions", "guard", "looks"}:
        raise SystemExit(f"--part {sorted(unknown)}: expected alarms, suspicions, guard, looks")
    series, seed = arguments.series, arguments.seed
    alarms = measure_alarms(series, seed) if "alarms" in parts else FITS
    suspicions = measure_suspicions(series, seed) if "suspicions" in parts else SUSPICIONS
    guard = measure_guard(series, seed) if "guard" in parts else GUARD
    looks = measure_looks(series, seed) if "looks" in parts else LOOKS
    if arguments.write:
        text = HEAD.replace("{alarms}", "\n".join(f"    {written(line)}," for line in alarms))
        text = text.replace("{suspicions}", written(suspicions)).replace("{looks}", written(looks))
        text = text.replace("{guard}", written(guard))
        TABLE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
