"""How often `ab --next` names the right build in simulated histories whose truth is known, and how much it measures for that.

usage: python benchmarks/bisection.py [--histories 1000] [--seed 20261130] [--machines 1]
Each history has 64 builds, both ends measured 5 times, and a change at a random boundary. The plan is followed until it
names a boundary, says that there is no single step, wants more than MAX_REPEATS more repeats of the ends, or has asked for
MAX_ROUNDS rounds. A repeat scatters by 1 %: gauss; heavy (Student's t with 3 degrees of freedom, and 2 % of the repeats 10
to 30 % slower); ar (memory 0.4 from one repeat of a look to the next); bimodal (30 % of the repeats in a mode that is 2 %
slower). Rows `none` have no change, `two` two changes of this size (either is right), `drift` a change that is spread
evenly over all boundaries. Open: more than 1,000 repeats a build would be needed, or MAX_ROUNDS are over. Looks are
builds between the ends, with each time that one is measured again. Prints shares of histories and means of what is measured.
"""

from __future__ import annotations

import argparse
import math
from collections import Counter

import numpy as np

from aoe_reports.stats.bisection import plan_next

BUILDS, ENDS, MAX_ROUNDS, MAX_REPEATS = 64, 5, 40, 50
NOISE, NOISES = 0.01, ("gauss", "heavy", "ar", "bimodal")
CASES = (
    ("one", 0.02), ("one", 0.03), ("one", 0.05), ("none", 0.0), ("two", 0.02), ("two", 0.03), ("two", 0.05),
    ("drift", 0.03), ("drift", 0.05),
)  # fmt: skip


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--histories", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=20261130)
    parser.add_argument("--machines", type=int, default=1)
    arguments = parser.parse_args()
    print("change    noise     right%  wrong%  no single step%  ends not apart%  open%  builds  looks  repeats  rounds")
    for changes, effect in CASES:
        for noise in NOISES:
            generator = np.random.default_rng(arguments.seed)
            runs = [follow(generator, noise, changes, effect, arguments.machines) for _ in range(arguments.histories)]
            said = Counter(run[0] for run in runs)
            share = [100 * said[word] / len(runs) for word in ("right", "wrong", "no-single-step", "ends-not-apart", "open")]  # fmt: skip
            means = np.mean([run[1:] for run in runs], axis=0)
            name = f"{effect:.0%}" if changes == "one" else f"{changes} {effect:.0%}" if effect else changes
            print(f"{name:9s} {noise:8s}" + "{:7.1f} {:7.1f} {:16.1f} {:16.1f} {:6.1f}".format(*share)
                  + "{:8.1f} {:6.1f} {:8.1f} {:7.1f}".format(*means), flush=True)  # fmt: skip


def follow(generator: np.random.Generator, noise: str, changes: str, effect: float, machines: int) -> tuple[str, int, int, int, int]:  # fmt: skip
    """(how the plan ends, builds measured between the ends, looks at them, all repeats, rounds)."""
    at = generator.choice(np.arange(1, BUILDS), size={"one": 1, "two": 2}.get(changes, 0), replace=False)
    levels = effect * (np.arange(BUILDS)[:, None] >= at).sum(axis=1)
    if changes == "drift":
        levels = effect * np.arange(BUILDS) / (BUILDS - 1)
    logs: list[list[float]] = [[] for _ in range(BUILDS)]
    for end in (0, BUILDS - 1):
        logs[end] = list(levels[end] + repeats_of(generator, noise, ENDS))
    looks = rounds = 0
    while True:
        plan = plan_next(logs, machines=machines)
        too_many = plan.state == "ends-not-apart" and (plan.repeats or 0) > MAX_REPEATS
        if plan.repeats is None or too_many or rounds == MAX_ROUNDS:
            break
        rounds += 1
        for build in plan.builds:
            looks += 0 < build < BUILDS - 1
            logs[build] += list(levels[build] + repeats_of(generator, noise, plan.repeats))
    ended = "open" if plan.state == "measure" else plan.state
    if ended == "found":
        ended = "right" if plan.likely[0].after in at else "wrong"
    return ended, sum(map(bool, logs[1:-1])), looks, sum(map(len, logs)), rounds


def repeats_of(generator: np.random.Generator, noise: str, count: int) -> np.ndarray:
    """So many repeats of a build, one after the other: what their logarithms are off its level."""
    if noise == "heavy":
        spikes = np.where(generator.random(count) < 0.02, np.log1p(generator.uniform(0.1, 0.3, count)), 0.0)
        return NOISE * generator.standard_t(3, count) / math.sqrt(3) + spikes
    normal = NOISE * generator.standard_normal(count)
    if noise == "bimodal":
        return normal + 0.02 * (generator.random(count) < 0.3)
    if noise == "ar":
        for place in range(1, count):
            normal[place] = 0.4 * normal[place - 1] + math.sqrt(1 - 0.4**2) * normal[place]
    return normal


if __name__ == "__main__":
    main()
