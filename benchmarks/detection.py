"""How often the detector cries wolf, how soon it finds a change, and whether the operator behind one is named.

usage: python benchmarks/detection.py [--quiet 1000] [--shifted 300] [--seed 10000] [--noise gauss,heavy,ar,bimodal] [--budgets 10]
                                      [--drift] [--lively] [--looks] [--speed] [--attribution] [--families 50] [--peers 20 [--slow-peers 6]]
The protocol: 365 nights of a series of 100 ms; each night from the 60th on the detector sees the last 120. A change further
than 10 nights from all alarms before it is an alarm; every night with a suspicion is one. Quiet series have no change; shifted
ones get slower in night 200, which is found when a change between night 197 and 210 is told. Noise of 1 %: normal; Student
t(3) with 2 % of nights 10-30 % longer (heavy); AR(1) with memory 0.4 (ar); two modes, 30 % of nights 3 % longer (bimodal).
The series of a table are of one workload; with --alone each is judged as if it had no others.
--budgets are false alarms per 1,000 series-years. --drift: 10 % slower within 60 nights; and a weekly pattern. --lively: a large step after steps of 5-30 % and one night 10-50 % out of line: what is said of it in its fourth and its tenth night.
--peers 20: other detectors on so many quiet and so many shifted series of each noise (`uv sync --group peers`; Apache Otava where it is
installed), asv, which takes 15 ms a look, on --slow-peers. --families 50: noise of other kinds (a week's pattern, two modes that stay, a coarse timer, a change of scatter, bursts, memory
0.7), young series and warm-ups. --looks: whole histories in hindsight. --quiet 0 leaves the protocol out. `new_levels` (one series) and `new_levels_of_all` (a watch), and
`levels_in_hindsight` (one look at one series) are the detector for scripts that call one.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from peers import Look, false_alarms, peers_for, told_within

from aoe_reports.history.changes.attribution import StepNight, attribute_change
from aoe_reports.history.detection.detector import detect_changes, review_history
from aoe_reports.history.detection.verdicts import Parameters, Verdict
from aoe_reports.stats.budget import SUSPECTS_PER_ALARM, WATCHED_NIGHTS, Budget

NIGHTS, CHANGE, NEAR, FIRST = 365, 200, 10, 60
SHIFTS = (0.05, 0.02, 0.01)
NEVER = 999
ALONE = False
"""Whether series are judged as if each were the only one of its workload (`--alone`)."""
Floats = NDArray[np.float64]


def new_levels(values: Floats) -> list[int]:
    """Indexes at which a new level of one series starts."""
    return new_levels_of_all(np.asarray(values)[None, :])[0]


def new_levels_of_all(values: Floats, parameters: Parameters | None = None) -> list[list[int]]:
    """Indexes at which new levels start, a series."""
    return [steps_of(verdict) for verdict in of_one_workload(values, parameters)]


def levels_in_hindsight(values: Floats) -> list[int]:
    """Indexes at which new levels of one series start, when its whole history is looked at once."""
    return steps_of(review_history(np.asarray(values)[None, :])[0])


def steps_of(verdict: Verdict) -> list[int]:
    """Every proved level, those of a drift among them."""
    return [night for change in verdict.changes for night in change.steps]


def noise(rng: np.random.Generator, kind: str) -> Floats:
    """Relative deviations of one series."""
    if kind == "gauss":
        return 0.01 * rng.standard_normal(NIGHTS)
    if kind == "heavy":
        spiked = rng.random(NIGHTS) < 0.02
        return 0.01 * rng.standard_t(3, NIGHTS) / np.sqrt(3) + spiked * rng.uniform(0.1, 0.3, NIGHTS)
    if kind == "ar":
        return remembered(rng, 0.4)
    if kind == "bimodal":
        return 0.007 * rng.standard_normal(NIGHTS) + 0.03 * (rng.random(NIGHTS) < 0.3)
    if kind in FAMILIES:
        return FAMILIES[kind](rng)
    raise SystemExit(f"unknown noise {kind}")


def remembered(rng: np.random.Generator, memory: float) -> Floats:
    """AR(1) noise of 1 %."""
    values = 0.01 * rng.standard_normal(NIGHTS)
    for night in range(1, NIGHTS):
        values[night] = memory * values[night - 1] + np.sqrt(1 - memory**2) * values[night]
    return values


def of_two_modes(rng: np.random.Generator, stay: float) -> Floats:
    """Stays of so many nights on average in one of two modes 3 % apart."""
    return 0.007 * rng.standard_normal(NIGHTS) + 0.03 * (np.cumsum(rng.random(NIGHTS) < 1 / stay) % 2)


def in_bursts(rng: np.random.Generator) -> Floats:
    """One night in a hundred begins a burst of two or three nights 10-30 % longer."""
    values = 0.01 * rng.standard_normal(NIGHTS)
    for night in np.flatnonzero(rng.random(NIGHTS) < 0.01):
        values[night : night + rng.integers(2, 4)] += rng.uniform(0.1, 0.3)
    return values


def on_a_grid(rng: np.random.Generator) -> Floats:
    """What a timer of 1 us makes of 50 us with noise of 1 %."""
    return np.asarray(np.rint(50 * (1 + 0.01 * rng.standard_normal(NIGHTS))) / 50 - 1)


def scattered(rng: np.random.Generator, before: float, after: float) -> Floats:
    """A scatter that changes in the night of the change."""
    return np.asarray(rng.standard_normal(NIGHTS) * np.where(np.arange(NIGHTS) < CHANGE, before, after))


FAMILIES: dict[str, Callable[[np.random.Generator], Floats]] = {
    "weekdays": lambda rng: 0.01 * rng.standard_normal(NIGHTS) + rng.uniform(-0.05, 0.05, 7)[np.arange(NIGHTS) % 7],
    "stays of 3": lambda rng: of_two_modes(rng, 3),
    "stays of 10": lambda rng: of_two_modes(rng, 10),
    "timer": on_a_grid,
    "wider": lambda rng: scattered(rng, 0.005, 0.02),
    "narrower": lambda rng: scattered(rng, 0.02, 0.005),
    "bursts": in_bursts,
    "memory 0.7": lambda rng: remembered(rng, 0.7),
}


def made(kind: str, shift: float, count: int, seed: int) -> Floats:
    """(series, nights) of times in ms."""
    values = np.stack([100 * (1 + noise(np.random.default_rng(seed + row), kind)) for row in range(count)])
    values[:, CHANGE:] *= 1 + shift
    return values


def of_one_workload(values: Floats, parameters: Parameters | None = None) -> list[Verdict]:
    """The verdicts on series that know of each other's noise, unless they are to be judged ALONE."""
    return detect_changes(values, parameters, workloads=None if ALONE else [0] * len(values))


def watch(values: Floats, parameters: Parameters, nights: range) -> Any:
    """Each night with its first index and the verdicts of that night."""
    for night in nights:
        begin = max(0, night + 1 - WATCHED_NIGHTS)
        yield night, begin, of_one_workload(values[:, begin : night + 1], parameters)


def quiet(values: Floats, parameters: Parameters) -> tuple[float, float, float]:
    """(false alarms, suspicions per 1,000 series-years, mean smallest detectable change)."""
    seen: list[list[int]] = [[] for _ in values]
    suspicions, detectable = 0, []
    for _, begin, verdicts in watch(values, parameters, range(FIRST, NIGHTS)):
        for alarms, verdict in zip(seen, verdicts, strict=True):
            suspicions += verdict.suspect is not None
            if verdict.smallest_detectable is not None:
                detectable.append(verdict.smallest_detectable)
            for step in steps_of(verdict):
                if all(abs(begin + step - alarm) > NEAR for alarm in alarms):
                    alarms.append(begin + step)
    per_thousand = 1000 * 365 / len(values) / (NIGHTS - FIRST)
    return sum(map(len, seen)) * per_thousand, suspicions * per_thousand, float(np.mean(detectable or [np.nan]))


def shifted(values: Floats, parameters: Parameters) -> tuple[Floats, Floats, Floats]:
    """(nights until found, until suspected or found, location error) of each series; NEVER where not within 60 nights."""
    found, suspected = np.full(len(values), NEVER), np.full(len(values), NEVER)
    error = np.full(len(values), np.nan)
    for night, begin, verdicts in watch(values, parameters, range(CHANGE, CHANGE + 60)):
        for row, verdict in enumerate(verdicts):
            near = [abs(begin + s - CHANGE) for s in steps_of(verdict) if CHANGE - 3 <= begin + s <= CHANGE + NEAR]
            delay = night - CHANGE + 1
            if near and found[row] == NEVER:
                found[row], error[row] = delay, min(near)
            if (near or (verdict.suspect is not None and verdict.suspect.change > 0)) and suspected[row] == NEVER:
                suspected[row] = delay
    return found, suspected, error


def measure_detection(arguments: argparse.Namespace, budget: float) -> None:
    """Print the protocol's figures for one budget, in false alarms per 1,000 series-years."""
    parameters = Parameters(budget=Budget(budget / 1000))
    print(f"budget {budget:g} false alarms per 1,000 series-years, {SUSPECTS_PER_ALARM * budget:g} suspicions")
    for kind in arguments.noise.split(","):
        alarms, suspicions, detectable = quiet(made(kind, 0.0, arguments.quiet, arguments.seed), parameters)
        print(
            f"  {kind:8s} false alarms {alarms:6.1f}  suspicions {suspicions:7.1f}  smallest detectable {100 * detectable:.2f} %",
            flush=True,
        )
        for shift in SHIFTS if arguments.shifted else ():
            found, suspected, error = shifted(
                made(kind, shift, arguments.shifted, arguments.seed + 500_000), parameters
            )
            shares = "  ".join(f"p{within} {np.mean(found <= within):.3f}" for within in (3, 7, 14, 30))
            located = f"{np.nanmean(error):.2f}" if (found < NEVER).any() else "-"
            print(
                f"    {shift:.0%}  {shares}  median delay {np.median(found):3.0f}  suspected in night "
                f"{np.median(suspected):.0f} (in the first: {np.mean(suspected <= 1):.3f})  location error {located}",
                flush=True,
            )


def measure_drift(seed: int, count: int = 300) -> None:
    """A series that gets 10 % slower within 60 nights: when is it told, when called a drift? And a weekly pattern, alone."""
    nights = np.arange(NIGHTS)
    for kind in ("gauss", "heavy", "ar"):
        quiet_values = made(kind, 0.0, count, seed + 900_000)
        drifting = quiet_values * (1 + 0.1 * np.clip((nights - CHANGE) / 60, 0, 1))
        told, called = np.full(count, NEVER), np.full(count, NEVER)
        for night, begin, verdicts in watch(drifting, Parameters(), range(CHANGE, CHANGE + 90)):
            for row, verdict in enumerate(verdicts):
                slower = [one for one in verdict.changes if one.change > 0 and begin + one.until > CHANGE]
                if slower:
                    told[row] = min(told[row], night - CHANGE + 1)
                if any(one.state == "drift" for one in slower):
                    called[row] = min(called[row], night - CHANGE + 1)
        shares = "  ".join(
            f"night {end}: {np.mean(told <= end):.2f} told, {np.mean(called <= end):.2f} called drift"
            for end in (30, 60, 90)
        )
        print(f"drift of 10 % in 60 nights, {kind:5s} {shares}  median night told {np.median(told):.0f}", flush=True)
    weekend = 1 + 0.02 * (nights % 7 >= 5)
    alarms, suspicions, detectable = quiet(made("gauss", 0.0, count, seed + 900_000) * weekend, Parameters())
    print(
        f"weekends 2 % slower: false alarms {alarms:.1f}  suspicions {suspicions:.1f}  smallest detectable {100 * detectable:.2f} %"
    )


def lively(random: np.random.Generator, nights: int, steps: int, shift: float) -> Floats:
    """Times of a history with so many steps, at least five nights apart, and one night out of line; the last ten are shifted."""
    logs = 0.01 * random.standard_normal(nights + NEAR)
    places: list[int] = []
    while len(places) < steps:
        place = int(random.integers(7, nights - 4))
        places += [place] if all(abs(place - one) >= 5 for one in places) else []
    for place in places:
        logs[place:] += np.log1p(random.choice([-1, 1]) * random.uniform(0.05, 0.3))
    logs[random.integers(1, nights - 1)] += np.log1p(random.choice([-1, 1]) * random.uniform(0.1, 0.5))
    logs[nights:] += np.sign(shift) * np.log1p(abs(shift))
    return np.asarray(100 * np.exp(logs))


def said_of(verdict: Verdict, change: int, shift: float) -> str:
    """What is said of a step: its state, or nothing."""
    newest = [one for one in verdict.changes if one.steps[-1] >= change - 3]
    said = (newest or [verdict.suspect])[-1]
    if said is None or said.change * shift < 0:
        return "nothing"
    return "suspect" if said.state == "suspect" else "proved"


def measure_lively(seed: int, count: int = 1000) -> None:
    """Large steps of lively histories, with and without the guard."""
    for nights, steps in ((35, 2), (70, 3)):
        for shift in (0.08, -0.08, 0.16, -0.16, 1.0, -1.0):
            values = np.stack([lively(np.random.default_rng(seed + row), nights, steps, shift) for row in range(count)])
            text = f"{nights} nights, {steps} steps, {shift:+.0%}:"
            for parameters, name in ((Parameters(guard=np.inf), "without guard"), (Parameters(), "with guard")):
                for night in (4, 10):
                    verdicts = detect_changes(values[:, : nights + night], parameters)
                    said = [said_of(verdict, nights, shift) for verdict in verdicts]
                    shares = ", ".join(f"{said.count(word) / count:.3f} {word}" for word in ("proved", "suspect"))
                    text += f"  {name}, night {night}: {shares}"
            print(text, flush=True)


def measure_families(seed: int, count: int) -> None:
    """Noise of other kinds, series of two weeks, and warm-ups."""
    for kind in FAMILIES:
        alarms, suspicions, _ = quiet(made(kind, 0.0, count, seed), Parameters())
        text = f"{kind:12s} false alarms {alarms:7.1f}  suspicions {suspicions:7.1f}"
        for shift in (0.05, 0.02):
            found, _, _ = shifted(made(kind, shift, count, seed + 500_000), Parameters())
            text += f"  {shift:.0%} " + "  ".join(f"p{within} {np.mean(found <= within):.2f}" for within in (3, 7, 14))
        print(text, flush=True)
    random = np.random.default_rng(seed)
    young = 100 * (1 + 0.01 * random.standard_normal((10 * count, 24)))
    young[:, 14:] *= 1.08
    for end in (3, 7):
        verdicts = detect_changes(young[:, : 14 + end])
        told = np.mean([any(abs(step - 14) <= 3 for step in steps_of(verdict)) for verdict in verdicts])
        print(f"8 % after 14 nights: told by its night {end} {told:.2f}", flush=True)
    for height in (0.1, 0.05):
        warm = 100 * (1 + height * np.maximum(1 - np.arange(60) / 10, 0) + 0.01 * random.standard_normal((count, 60)))
        told_ever = np.zeros(count, dtype=bool)
        for night in range(10, 61):
            told_ever |= [bool(verdict.changes) for verdict in detect_changes(warm[:, :night])]
        print(f"warm-up of {height:.0%} in ten nights: told as a change {np.mean(told_ever):.2f}", flush=True)


def measure_peers(seed: int, count: int, slow: int) -> None:
    """False alarms and found steps of every detector, on the same series."""
    for kind in ("gauss", "heavy", "ar", "bimodal", *FAMILIES):
        looks: dict[str, Look] = {"ours": new_levels_of_all, **peers_for(kind)}
        for name, look in looks.items():
            series = slow if name == "asv" else count
            alarms = false_alarms(look, made(kind, 0.0, series, seed), range(FIRST, NIGHTS), WATCHED_NIGHTS, NEAR)
            rate = 1000 * alarms * 365 / series / (NIGHTS - FIRST)
            text = f"{kind:12s} {name:18s} n {series:3d}  false alarms {rate:7.0f}"
            for shift, nights in ((0.05, 7), (0.02, 14)):
                values = made(kind, shift, series, seed + 500_000)
                told = told_within(look, values, CHANGE, nights, WATCHED_NIGHTS, NEAR)
                text += f"  {shift:.0%} p{nights} {np.mean(told <= nights):.2f}"
            print(text, flush=True)


def measure_looks(seed: int, count: int = 1000) -> None:
    """Whole histories in hindsight: false changes per 1,000 quiet ones, and how often a step in the middle is found."""
    for kind in ("gauss", "heavy", "ar", "bimodal"):
        for nights in (30, 120, 365):
            values = made(kind, 0.0, count, seed + 700_000)[:, :nights]
            false = sum(len(steps_of(verdict)) for verdict in review_history(values))
            text = f"{kind:8s} {nights:3d} nights: false changes {1000 * false / count:5.1f} per 1,000"
            for shift in (0.02, 0.05):
                values[:, nights // 2 :] *= 1 + shift
                found = sum(
                    any(abs(step - nights // 2) <= NEAR // 2 for step in steps_of(verdict))
                    for verdict in review_history(values[:300])
                )
                text += f"  {shift:.0%} found {found / 300:.3f}"
                values[:, nights // 2 :] /= 1 + shift
            print(text, flush=True)


def measure_attribution(before: int, after: int, seeds: int = 200, operators: int = 60) -> None:
    """A slow-down of 20 % in one operator of 60: how often is it ranked first, and do the parts add up?"""
    first = exact = 0
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        means = rng.lognormal(11, 1.2, operators)
        slow = int(rng.integers(operators))
        rows, nights = [], []
        for night in range(before + after):
            side = "before" if night < before else "after"
            factors = 1 + 0.01 * rng.standard_normal(operators)
            if side == "after":
                factors[slow] *= 1.2
            totals = np.rint(means * factors * 5).astype(np.int64)
            rows += [
                (side, str(night), f"T{op % 9}", f"op{op}", "1,2", "FLOAT16", "ND", None, False, 5, int(total))
                for op, total in enumerate(totals)
            ]
            idle = int(rng.integers(1_000_000, 1_100_000))
            nights.append(StepNight(side, str(night), 5, int(totals.sum()) + idle, 0, idle))
        names = ["side", "night", "op_type", "op_name", "input_shapes", "input_data_types", "input_formats"]
        calls = pl.DataFrame(rows, schema=[*names, "repository", "communication", "count", "total_ns"], orient="row")
        found = attribute_change(calls, nights)
        assert found is not None
        first += found.operators[0].op_name == f"op{slow}"
        parts = sum(one.difference_ns for one in found.operators) + (found.free_ns or 0)
        parts += (found.communication_not_overlapped_ns or 0) + found.unattributed_ns
        exact += parts == found.total_ns
    print(
        f"attribution over {before} + {after} nights: ranked first {first / seeds:.3f}, parts equal the whole {exact / seeds:.3f} of {seeds} seeds"
    )


def measure_speed(count: int = 10_000) -> None:
    """CPU and memory of 10,000 series, three in ten of which changed."""
    rng = np.random.default_rng(0)
    values = 100 * (1 + 0.01 * rng.standard_normal((count, NIGHTS)))
    for row in np.flatnonzero(rng.random(count) < 0.3):
        values[row, rng.integers(20, 340) :] *= 1 + rng.choice([-0.05, 0.05, 0.03, -0.02])
    begin = time.process_time()
    changed = sum(bool(verdict.changes) for verdict in detect_changes(values))
    seconds, peak = time.process_time() - begin, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    print(f"{count} series x {NIGHTS} nights: {seconds:.1f} s CPU, peak {peak:.0f} MB, {changed} series changed")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quiet", type=int, default=1000)
    parser.add_argument("--shifted", type=int, default=300)
    parser.add_argument("--seed", type=int, default=10_000)
    parser.add_argument("--noise", default="gauss,heavy,ar,bimodal")
    parser.add_argument("--budgets", default="10")
    parser.add_argument("--alone", action="store_true")
    parser.add_argument("--drift", action="store_true")
    parser.add_argument("--lively", action="store_true")
    parser.add_argument("--families", type=int, default=0, metavar="SERIES")
    parser.add_argument("--peers", type=int, default=0, metavar="SERIES")
    parser.add_argument("--slow-peers", type=int, default=6, metavar="SERIES")
    parser.add_argument("--looks", action="store_true")
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--attribution", action="store_true")
    arguments = parser.parse_args()
    global ALONE  # noqa: PLW0603 -- one switch for all measurements of a run
    ALONE = arguments.alone
    if arguments.speed:
        measure_speed()
    if arguments.attribution:
        measure_attribution(14, 7)
        measure_attribution(14, 3)
        measure_attribution(1, 1)
    if arguments.drift:
        measure_drift(arguments.seed)
    if arguments.lively:
        measure_lively(arguments.seed)
    if arguments.families:
        measure_families(arguments.seed, arguments.families)
    if arguments.peers:
        measure_peers(arguments.seed, arguments.peers, arguments.slow_peers)
    if arguments.looks:
        measure_looks(arguments.seed)
    for budget in map(float, arguments.budgets.split(",") if arguments.quiet else ()):
        measure_detection(arguments, budget)


if __name__ == "__main__":
    main()
