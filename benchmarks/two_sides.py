"""How often the difference of two sides with a few repeats each is wrong, and how it does beside the best possible test.

usage: python benchmarks/two_sides.py [--pairs 10000] [--seed 20261130] [--noise gauss,heavy,...] [--repeats 3,5,10] [--unequal] [--compact] [--shared | --stored]
Noise as in detection.py, 1 % a repeat; drift is normal noise on times that get 10 % longer in 60 repeats. A timer rounds after the effect.
Orders: ABBA and ABAB (in turns), AABB (one side after the other), and `?`: repeats at random times, and the command does not know them.
Per cell, in %: equal sides called slower, faster; sides that differ by the margin called the same; equal sides called the same; then for
each effect how often it is called slower / how often by the best test (ratio). `!` marks a rate of errors above 5 % + 2 standard errors, and
a ratio below 0.8 where the best test detects at least half. --compact adds tables of the worst rate of errors and +3 %. --unequal: 2 v 3,
3 v 6 and 5 v 10 repeats, without the best test. Seeds less than 10,000 apart share pairs.
--stored: one or two repeats of each side, whose scatter is that of 10, 30 or 100 nights: equal sides called slower, faster; +5 % called slower.
--shared: how often any of a step and PARTS operators is called slower, or faster, where nothing differs and the noise of each is its own.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import product
from typing import NamedTuple

import numpy as np
from detection import noise
from numpy.typing import NDArray

from aoe_reports.stats.noise import FLOOR, known
from aoe_reports.stats.noise import estimate as estimate_scatter
from aoe_reports.stats.two_sides import ERROR, Design, difference, known_noise, student

Floats = NDArray[np.float64]
Sides = NDArray[np.int64]
Mask = NDArray[np.bool_]
MARGIN = math.log(1.02)
EFFECTS = (0.01, 0.02, 0.03, 0.05)
SHOWN = 0.03
DRIFT = math.log(1.1) / 60
TICKS = 50
KINDS = ("gauss", "heavy", "ar", "bimodal", "drift", "memory 0.7", "stays of 3", "bursts", "timer")
ORDERS = ("ABBA", "ABAB", "AABB", "?")
SETTLED = 100
"""Nights that are left out, so that modes and bursts do not all begin in the same state."""
STEP = 0.001
LEVELS = np.arange(-0.1, 0.1, STEP)
"""Levels of the best test, from the median of both sides; the upper ones are for the slower side only."""
BELOW = 140
CHUNK = 500
PARTS = 10


class Sample(NamedTuple):
    """Noise of pairs (pairs, repeats in the order in which they ran), and the side of each repeat."""

    kind: str
    noise: Floats
    sides: Sides

    def logs(self, effect: float) -> Floats:
        """Logarithms of the times, where the candidate is slower by `effect`."""
        logs = np.log1p(np.maximum(self.noise, -0.9)) + self.sides * math.log1p(effect)
        if self.kind == "drift":
            return np.asarray(logs + DRIFT * np.arange(logs.shape[1]))
        return np.log(np.rint(TICKS * np.exp(logs)) / TICKS) if self.kind == "timer" else np.asarray(logs)


def noise_of(kind: str, pairs: int, seed: int) -> Floats:
    """(pairs, nights) of relative deviations; a drift and a timer are put on later."""
    plain = "gauss" if kind in ("drift", "timer") else kind
    first = seed + 100_000 * KINDS.index(kind)
    return np.stack([noise(np.random.default_rng(first + pair), plain)[SETTLED:] for pair in range(pairs)])


def sides_of(order: str, counts: tuple[int, int]) -> list[int]:
    """The side of each repeat; ABAB spreads unequal counts evenly, ABBA is for equal ones."""
    n, m = counts
    if order == "ABBA":
        return ([0, 1, 1, 0] * n)[: 2 * n]
    if order == "ABAB":
        places = [((place + 0.5) / n, 0) for place in range(n)] + [((place + 0.51) / m, 1) for place in range(m)]
        return [side for _, side in sorted(places)]
    return [0] * n + [1] * m


def sample_of(kind: str, values: Floats, order: str, counts: tuple[int, int], seed: int) -> Sample:
    """Pairs of one cell: each size takes nights of its own."""
    total = sum(counts)
    begin = total * (total - 1) // 2 % (values.shape[1] - total)
    sides = np.tile(sides_of(order, counts), (len(values), 1))
    if order == "?":
        sides = np.random.default_rng(seed).permuted(sides, axis=1)
    return Sample(kind, values[:, begin : begin + total], sides)


class Verdicts(NamedTuple):
    """Shares of pairs."""

    slower: float
    faster: float
    same: float


def verdicts_of(sample: Sample, effect: float, order: str) -> Verdicts:
    """What the command says of the pairs."""
    return Verdicts(*(float(np.mean(called)) for called in calls_of(sample, effect, order, ERROR)))


def calls_of(sample: Sample, effect: float, order: str, error: float) -> tuple[Mask, Mask, Mask]:
    """Which pairs are called slower, faster, the same, where each end of an interval may err so often."""
    logs, sides = sample.logs(effect), sample.sides[0]
    if order == "?":
        places = np.argsort(sample.sides, axis=1, kind="stable")
        logs, sides = np.take_along_axis(logs, places, axis=1), np.sort(sides)
    design = Design(tuple(map(int, sides)), order != "?")
    found = difference(logs, design)
    half = np.array([student(int(free), error) for free in found.free]) * found.error
    low, high = found.effect - half, found.effect + half
    same = (low > -MARGIN) & (high < MARGIN)
    return ~same & (low > 0), ~same & (high < 0), same


def shared_errors(kind: str, values: Floats, order: str, count: int) -> tuple[float, float]:
    """How often any of equal quantities is called slower, or faster: a step, and PARTS operators that share half of the error."""
    width = values.shape[1] // (PARTS + 1)
    sides = np.tile(sides_of(order, (count, count)), (len(values), 1))
    slower, faster = np.zeros(len(values), bool), np.zeros(len(values), bool)
    for number in range(PARTS + 1):
        sample = Sample(kind, values[:, number * width : number * width + 2 * count], sides)
        of_one = calls_of(sample, 0.0, order, ERROR / 2 / (PARTS if number else 1))
        slower, faster = slower | of_one[0], faster | of_one[1]
    return float(slower.mean()), float(faster.mean())


def stored_errors(values: Floats, nights: int, count: int) -> tuple[float, float, float]:
    """How often `count` equal repeats of each side are called slower, or faster, and a candidate that is 5 % slower slower, by the scatter of nights."""
    logs = np.log1p(np.maximum(values, -0.9))
    lengths = np.full(len(logs), nights)
    sigmas, _ = estimate_scatter(logs[:, :nights], lengths, known(lengths))
    design = Design(tuple(sides_of("ABBA", (count, count))), True)
    found = known_noise(logs[:, nights : nights + 2 * count], design, np.maximum(sigmas, FLOOR), nights // 2)
    half = student(nights // 2, ERROR) * found.error
    low, high = found.effect - half, found.effect + half
    same = (low > -MARGIN) & (high < MARGIN)
    rates = ~same & (low > 0), ~same & (high < 0), low + math.log(1.05) > 0
    return float(rates[0].mean()), float(rates[1].mean()), float(rates[2].mean())


def evidence(sample: Sample, effects: tuple[float, ...], logs: Floats) -> Floats:
    """The best possible test: log of the likelihood ratio of each effect to none, (effects, pairs).

    Neyman and Pearson: no test with the same error detects more than the likelihood ratio. It knows the family of noise, its parameters, the
    order of the repeats and the size of the effect, and that there is no drift where there is none; only the level (for drift: level and
    slope) is unknown, and is integrated out with a flat prior. No test that is blind to what is unknown does better. Normal
    noise: the integral is known, and leaves the generalised least squares estimate with the known covariance. Others: the integral is a sum
    over LEVELS, and the states between which noise moves (two modes that stay, repeats left in a burst) are summed by the forward algorithm.
    Two approximations: repeats of a burst are taken to be longer by amounts of their own; effects are rounded to 0.1 %.
    Where the command does not know the order this test still does (with normal noise it errs in 5 % of each order), so its power there may be
    out of reach. With drift it allows for any slope, so that a test which takes a small drift for noise may detect a little more.
    """
    if sample.kind in MEMORIES:
        return np.stack([estimate(sample, logs)] * len(effects))
    chunks = [slice(begin, begin + CHUNK) for begin in range(0, len(logs), CHUNK)]
    return np.concatenate([_summed(sample.kind, logs[part], sample.sides[part], effects) for part in chunks], axis=1)


MEMORIES = {"gauss": 0.0, "ar": 0.4, "drift": 0.0, "memory 0.7": 0.7}


def estimate(sample: Sample, logs: Floats) -> Floats:
    """Generalised least squares estimates of the effect, in standard errors; what is known of the noise is exact."""
    pairs, count = logs.shape
    time = np.arange(count)
    columns = [np.ones((pairs, count)), sample.sides.astype(np.float64)]
    if sample.kind == "drift":
        columns.append(np.broadcast_to(time - (count - 1) / 2, (pairs, count)))
    matrix = np.stack(columns, axis=2)
    weights = np.linalg.inv(MEMORIES[sample.kind] ** np.abs(np.subtract.outer(time, time)))
    weighted = weights @ matrix
    covariance = np.linalg.inv(np.swapaxes(matrix, 1, 2) @ weighted)
    effects = np.einsum("pj,pcj,pc->p", covariance[:, 1], weighted, logs)
    return np.asarray(effects / np.sqrt(covariance[:, 1, 1]))


def _normal(values: Floats, sigma: float) -> Floats:
    return np.asarray(np.exp(-np.square(values / sigma) / 2) / sigma / math.sqrt(2 * math.pi))


def _below(values: Floats, sigma: float) -> Floats:
    return np.asarray((1 + np.vectorize(math.erf)(values / sigma / math.sqrt(2))) / 2)


def _heavy(values: Floats) -> Floats:
    """Student t(3) scaled to 1 %; one in fifty is 10-30 % longer on top."""
    scale = 0.01 / math.sqrt(3)

    def below(values: Floats) -> Floats:
        angle = values / scale / math.sqrt(3)
        return np.asarray(0.5 + (np.arctan(angle) + angle / (1 + np.square(angle))) / math.pi)

    plain = 2 / (math.pi * math.sqrt(3)) / np.square(1 + np.square(values / scale) / 3) / scale
    return np.asarray(0.98 * plain + 0.02 * (below(values - 0.1) - below(values - 0.3)) / 0.2)


def _bursting(values: Floats) -> Floats:
    return (_below(values - 0.1, 0.01) - _below(values - 0.3, 0.01)) / 0.2


class States(NamedTuple):
    """How noise moves: densities of its states, the state of the first repeat, and the next state of each."""

    densities: tuple[Callable[[Floats], Floats], ...]
    density_of: tuple[int, ...]
    """Of each state, which of the densities."""
    first: Floats
    moves: Floats


def _alone(density: Callable[[Floats], Floats]) -> States:
    return States((density,), (0,), np.ones(1), np.ones((1, 1)))


def _bursts() -> States:
    """None, three, two, or one repeat left: a burst of two or three begins in one of a hundred; a second within the first is left out."""
    moves = np.array([[0.99, 0.005, 0.005, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0.99, 0.005, 0.005, 0]])
    first = np.linalg.matrix_power(moves, 200)[0]
    return States((lambda x: _normal(x, 0.01), _bursting), (0, 1, 1, 1), first, moves)


MOVES = {
    "heavy": _alone(_heavy),
    "bimodal": _alone(lambda x: 0.7 * _normal(x, 0.007) + 0.3 * _normal(x - 0.03, 0.007)),
    "stays of 3": States(
        (lambda x: _normal(x, 0.007), lambda x: _normal(x - 0.03, 0.007)),
        (0, 1),
        np.array([0.5, 0.5]),
        np.array([[2 / 3, 1 / 3], [1 / 3, 2 / 3]]),
    ),
    "bursts": _bursts(),
    "timer": _alone(lambda x: _normal(x, 0.01)),
}
FINE, REACH = 1e-5, 0.8


@lru_cache
def _table(kind: str) -> Floats:
    """Densities of log noise between -REACH and REACH, (densities, points)."""
    points = np.arange(-REACH, REACH, FINE)
    return np.stack([density(np.expm1(points)) * np.exp(points) for density in MOVES[kind].densities])


def _densities(kind: str, logs: Floats) -> Floats:
    """Densities of a repeat at each level from the median of its pair, (densities, pairs, repeats, levels)."""
    middle = np.median(logs, axis=1)[:, None, None]
    if kind == "timer":
        ticks = np.rint(TICKS * np.exp(logs))[:, :, None]
        level = TICKS * np.exp(middle + LEVELS)
        ends = [((ticks + half) / level - 1) / 0.01 for half in (-0.5, 0.5)]
        return np.asarray(np.maximum(_whole_below(ends[1]) - _whole_below(ends[0]), 1e-300))[None]
    off = logs[:, :, None] - middle - LEVELS
    table = _table(kind)
    places = np.clip(((off + REACH) / FINE + 0.5).astype(np.int64), 0, table.shape[1] - 1)
    return np.maximum(table[:, places], 1e-300)


_BELOW = _below(np.arange(-12, 12, 1e-3), 1.0)


def _whole_below(values: Floats) -> Floats:
    return np.asarray(_BELOW[np.clip(((values + 12) / 1e-3 + 0.5).astype(np.int64), 0, len(_BELOW) - 1)])


def _summed(kind: str, logs: Floats, sides: Sides, effects: tuple[float, ...]) -> Floats:
    densities = _densities(kind, logs)
    none, *others = (
        _likelihood(MOVES[kind], densities, sides, round(math.log1p(effect) / STEP)) for effect in (0, *effects)
    )
    return np.stack(others) - none


def _likelihood(states: States, densities: Floats, sides: Sides, steps: int) -> Floats:
    """Log likelihood of each pair where the candidate's level is so many steps above the baseline's."""
    share = np.broadcast_to(states.first[:, None, None], (len(states.first), len(sides), BELOW))
    total = np.zeros((len(sides), 1, 1))
    which = list(states.density_of)
    for repeat in range(sides.shape[1]):
        if repeat and len(which) > 1:
            share = np.einsum("spl,st->tpl", share, states.moves)
        shifted = densities[:, :, repeat, steps : steps + BELOW]
        at = np.where(sides[:, repeat, None] == 1, shifted, densities[:, :, repeat, :BELOW])
        share = share * at[which]
        largest = np.maximum(share.max(axis=(0, 2), keepdims=True), 1e-290)
        share = share / largest
        total = total + np.log(largest).reshape(-1, 1, 1)
    return np.asarray(total[:, 0, 0] + np.log(share.sum(axis=(0, 2))))


def best_powers(equal: Sample, other: Sample, seed: int) -> list[float]:
    """How often the best test detects each effect when it errs in 5 %: of `equal` is the critical value, of `other` the power.

    Ratios that are the same (a timer) are ordered at random, as in the test of Neyman and Pearson.
    """
    random = np.random.default_rng(seed)
    none = evidence(equal, EFFECTS, equal.logs(0.0))
    powers = []
    for number, effect in enumerate(EFFECTS):
        limit = np.quantile(none[number] + 1e-6 * random.random(none.shape[1]), 0.95)
        ratios = evidence(other, (effect,), other.logs(effect))[0]
        powers.append(float(np.mean(ratios + 1e-6 * random.random(len(ratios)) > limit)))
    return powers


class Cell(NamedTuple):
    """Figures of one noise, number of repeats, and order."""

    kind: str
    counts: tuple[int, int]
    order: str
    errors: tuple[float, float, float]
    """Equal called slower, faster; apart by the margin called the same."""
    same: float
    powers: list[tuple[float, float]]
    """Of each effect: the command's and the best test's."""

    def misses(self, limit: float) -> list[str]:
        """What is worse than it should be."""
        names = ("equal called slower", "equal called faster", "margin called same")
        over = [f"{name} {100 * rate:.1f} %" for name, rate in zip(names, self.errors, strict=True) if rate > limit]
        return over + [
            f"+{effect:.0%} {100 * ours:.0f} of {100 * best:.0f} %"
            for effect, (ours, best) in zip(EFFECTS, self.powers, strict=False)
            if is_weak(ours, best)
        ]


def is_weak(ours: float, best: float) -> bool:
    """Whether the command detects less than 0.8 of what can be detected, where at least half can."""
    return best >= 0.5 and ours < 0.8 * best


def measured(kind: str, values: tuple[Floats, Floats], order: str, counts: tuple[int, int], seed: int) -> Cell:
    """One cell; the best test only where both sides have as many repeats."""
    sample = sample_of(kind, values[0], order, counts, seed)
    equal, margin = verdicts_of(sample, 0.0, order), verdicts_of(sample, 0.02, order)
    errors = (equal.slower, equal.faster, margin.same)
    if counts[0] != counts[1]:
        return Cell(kind, counts, order, errors, equal.same, [])
    best = best_powers(sample_of(kind, values[1], order, counts, seed + 1), sample, seed)
    ours = [verdicts_of(sample, effect, order).slower for effect in EFFECTS]
    return Cell(kind, counts, order, errors, equal.same, list(zip(ours, best, strict=True)))


def cells(arguments: argparse.Namespace) -> Iterator[Cell]:
    """Every cell, of one noise after the other."""
    sizes = [(int(n), int(n)) for n in arguments.repeats.split(",")]
    orders: tuple[str, ...] = ORDERS
    if arguments.unequal:
        sizes, orders = [(2, 3), (3, 6), (5, 10)], ORDERS[1:]
    for kind in arguments.noise.split(","):
        values = (
            noise_of(kind, arguments.pairs, arguments.seed),
            noise_of(kind, arguments.pairs, arguments.seed + 5_000_000),
        )
        for counts in sizes:
            for order in orders:
                yield measured(kind, values, order, counts, arguments.seed)


def whole(cell: Cell, limit: float) -> str:
    """A line with every figure."""
    text = " ".join(f"{100 * rate:5.1f}{'!' if rate > limit else ' '}" for rate in cell.errors)
    text = f"{cell.kind:10s} {cell.counts[0]:2d} v {cell.counts[1]:2d} {cell.order:4s} {text} {100 * cell.same:5.1f} "
    for effect, (ours, best) in zip(EFFECTS, cell.powers, strict=False):
        mark = "!" if is_weak(ours, best) else " "
        text += f"  +{effect:.0%} {100 * ours:3.0f} / {100 * best:3.0f} ({ours / best:.2f}){mark}"
    return text


def compact(made: list[Cell], limit: float) -> Iterator[str]:
    """A table in Markdown for each number of repeats, noise by order: the worst rate of errors, and how often SHOWN is called slower."""
    for counts in sorted({cell.counts for cell in made}):
        yield f"\n| {counts[0]} repeats of each side | {' | '.join(ORDERS)} |"
        yield "|---|" + "---|" * len(ORDERS)
        for kind in dict.fromkeys(cell.kind for cell in made):
            texts = [
                _short(cell, limit)
                for order in ORDERS
                for cell in made
                if (cell.kind, cell.counts, cell.order) == (kind, counts, order)
            ]
            yield f"| {kind} | {' | '.join(texts)} |"


def _short(cell: Cell, limit: float) -> str:
    wrong = f"{100 * max(cell.errors):.1f}"
    ours, best = cell.powers[EFFECTS.index(SHOWN)]
    power = f"{100 * ours:.0f} of {100 * best:.0f}"
    return f"{_marked(wrong, max(cell.errors) > limit)} · {_marked(power, is_weak(ours, best))}"


def _marked(text: str, is_miss: bool) -> str:
    return f"**{text}**" if is_miss else text


def stored(arguments: argparse.Namespace, limit: float) -> Iterator[str]:
    """A line for each noise, number of nights, and number of repeats."""
    for kind in arguments.noise.split(","):
        values = noise_of(kind, arguments.pairs, arguments.seed)
        for nights, count in product((10, 30, 100), (1, 2)):
            slower, faster, detected = (100 * rate for rate in stored_errors(values, nights, count))
            mark = "!" if max(slower, faster) > limit else " "
            yield f"{kind:10s} {nights:3d} nights {count} v {count} {slower:5.1f} {faster:5.1f}{mark}  +5% {detected:3.0f}"


def shared(arguments: argparse.Namespace, limit: float) -> Iterator[str]:
    """A line for each noise, number of repeats, and known order."""
    for kind in arguments.noise.split(","):
        values = noise_of(kind, arguments.pairs, arguments.seed)
        for count, order in product(map(int, arguments.repeats.split(",")), ORDERS[:3]):
            slower, faster = (100 * rate for rate in shared_errors(kind, values, order, count))
            mark = "!" if max(slower, faster) > limit else " "
            yield f"{kind:10s} {count:2d} v {count:2d} {order:4s} {slower:5.1f} {faster:5.1f}{mark}"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=20_261_130)
    parser.add_argument("--noise", default=",".join(KINDS))
    parser.add_argument("--repeats", default="3,5,10")
    parser.add_argument("--unequal", action="store_true")
    parser.add_argument("--compact", action="store_true")
    parser.add_argument("--shared", action="store_true")
    parser.add_argument("--stored", action="store_true")
    arguments = parser.parse_args()
    limit = 0.05 + 2 * math.sqrt(0.05 * 0.95 / arguments.pairs)
    print(f"seed {arguments.seed}, {arguments.pairs} pairs per cell, errors above {100 * limit:.2f} % are marked")
    if arguments.stored or arguments.shared:
        print(*(stored if arguments.stored else shared)(arguments, 100 * limit), sep="\n")
        return
    made = []
    for cell in cells(arguments):
        made.append(cell)
        print(whole(cell, limit), flush=True)
    if arguments.compact and not arguments.unequal:
        print(*compact(made, limit), sep="\n")
    missing = [(cell, cell.misses(limit)) for cell in made]
    print(f"{sum(bool(misses) for _, misses in missing)} of {len(made)} cells miss:")
    for cell, misses in missing:
        if misses:
            print(f"  {cell.kind} {cell.counts[0]} v {cell.counts[1]} {cell.order}: {'; '.join(misses)}")


if __name__ == "__main__":
    main()
