"""Has the level of a series changed, since when and by how much?

Candidates come from an exact partition of clipped values. Each must then be proved: the gain in likelihood that two levels
have over one, with a bound to what nights out of line can add and with the memory of the noise taken off, must reach a threshold
that belongs to a budget of false alarms. What is proved is located on the unclipped values. Beside it a guard (`guard`) sees
to it that a large step is told whatever else happened: its steps need no other proof.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aoe_reports.history import guard
from aoe_reports.history.guard import plain_steps
from aoe_reports.model.texts import say
from aoe_reports.stats import noise
from aoe_reports.stats.budget import SERIES_RATE, Budget
from aoe_reports.stats.habits import LONGEST_RUN, OWN_WEIGHT, RARE_NIGHTS, Habits, Signs, pool, signs_of
from aoe_reports.stats.modes import Modes, find_modes
from aoe_reports.stats.noise import Floats, Integers
from aoe_reports.stats.partition import partition, two_steps
from aoe_reports.stats.sample import MAD_TO_SIGMA
from aoe_reports.stats.scatter import off_levels, scatter_segments
from aoe_reports.stats.weekdays import take_out_weekdays

VERSION = 6
"""Of the detector: a change is stored with the version and the parameters that found it."""

State = Literal["suspect", "confirmed", "improved", "recovered", "drift"]


@dataclass(frozen=True, slots=True)
class Parameters:
    """What the detector may be told; the defaults are those that docs/detection.md gives figures for."""

    budget: Budget = field(default_factory=Budget)
    least_baseline: int = 7
    """Nights before the first change of a series: a week, so that each weekday stood once."""
    least_level: int = 3
    """Nights of a new level before it is confirmed, all of them on its side of the middle when they are three."""
    least_effect: float = 0.005
    """Relative change below which nobody acts; smaller ones are no changes."""
    candidate_share: float = 0.6
    """Of the threshold that a candidate must reach: low enough to lose none, high enough that quiet series have few."""
    memory_margin: float = 0.5
    """Standard errors added to the estimated memory: too little costs alarms, too much costs a night or two."""
    skew_share: float = 0.2
    """Share of the Cornish-Fisher correction for the skewness of short means that is applied."""
    hindsight: bool = False
    """One look at a whole history instead of one every night: thresholds of one look, and steps must beat memory."""
    threshold: float | None = None
    """Instead of the threshold of the budget (for measuring run lengths)."""
    suspicion: float | None = None
    """Instead of the standard scores that the budget asks of a suspicion (for measuring run lengths)."""
    guard: float | None = None
    """Instead of the scatters that the budget asks of a plain step, proved or suspect; infinite: no guard."""

    @property
    def guarded(self) -> float:
        """How many scatters make a plain step."""
        return self.budget.guard if self.guard is None else self.guard

    @property
    def guard_suspicion(self) -> float:
        """How many scatters make the newest four nights suspect."""
        return self.budget.guard_suspicion if self.guard is None else self.guard

    @property
    def least_nights(self) -> int:
        """Nights without which a series cannot be judged."""
        return self.least_baseline + self.least_level


SERIES_AT_ONCE = 1024
"""More only take more memory."""
MAX_RARE = 0.1
"""What happens every tenth night is no exception: single nights never count less than this makes them."""
FREEDOM = 0.8
"""Share of the nights that count as degrees of freedom of sigma: it comes from clipped residuals."""
DRIFT_NIGHTS = 14
"""Nights of a slope below which it is not told from a step."""
DRIFT_MARGIN = 6.0
"""By how much (twice the log likelihood) a slope must explain better than the proved steps: odds of 20 to 1."""
POWER_NIGHTS, POWER_SCORE = 14, 1.2816
"""The smallest detectable change is confirmed within two weeks in nine cases of ten (the normal quantile of 0.9)."""
MAX_TAKEN = 0.5
"""Share of the scatter that a mean of few nights with memory may hide: of more nothing is known."""
INTERVAL_SCORE = 1.96
WIDER_MARGIN = 8.0
"""By how much (twice the log likelihood) a level must explain its nights better than a wider scatter around the old one."""
REACHES, LONG = (0, 3, 7), 30
"""So many nights before a new level a wider scatter may have begun, and so many nights of the new level are looked at."""
WARM_LEAST, WARM_NIGHTS = 4, 14
"""Nights that a warm-up lasts: in a shorter one no slope is told from a step."""
SWITCHES = 6
"""Between two levels: who went to and fro so often has two modes, and the next switch is no news."""
TOGETHER = 2.0
"""Sigma that two nights must both be off to agree: one spike beside a usual night reaches it once in forty."""


@dataclass(frozen=True, slots=True)
class Change:
    """A new level of a series: indexes into its nights, levels in the unit of its values."""

    night: int
    """The first night of the new level, or of the slope."""
    until: int
    """The night after the last one of the level (of the slope)."""
    state: State
    before: float
    after: float
    change: float
    """`after / before - 1`: above 0 is slower."""
    ci_low: float
    ci_high: float
    """95 % interval of `change`."""
    statistic: float
    """Squared standard scores; of a drift the least of its steps. `threshold` is what the budget asked for. Where the guard alone
    proves a change, both are the guard's: squares of distances in scatters."""
    threshold: float
    steps: tuple[int, ...] = ()
    """The nights from which a new level was proved: one, or of a drift all its stairs; of a suspicion none."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one series shows: its noise, its changes in the order of nights, and what it could not show."""

    nights: int
    """Nights with a time."""
    left_out: int
    """Values that are no times: zero, negative or infinite. Missing (NaN) is not counted."""
    reason: Literal["no-times", "too-few-nights"] | None
    """Why the series cannot be judged; None when it can."""
    level: float | None
    """Of the newest nights, in the unit of the values."""
    sigma: float | None
    """Relative scatter from night to night (clipped); `memory` 0 … 1 is its AR(1) coefficient, `rare` the share of spikes."""
    memory: float | None
    rare: float | None
    smallest_detectable: float | None
    """Relative slow-down that would be confirmed within 14 nights in nine cases of ten; None: no change would be."""
    changes: tuple[Change, ...] = ()
    suspect: Change | None = None
    """The newest one or two nights, when they are out of line: ask for a re-run."""

    @property
    def state(self) -> State | None:
        """What to say of the series now: a suspicion before its newest change."""
        if self.suspect is not None:
            return self.suspect.state
        return self.changes[-1].state if self.changes else None


@dataclass(frozen=True, slots=True)
class Levels:
    """The changes of a series in the order of nights, and the level of its newest nights."""

    changes: tuple[Change, ...]
    level: float | None


def detect_changes(
    values: ArrayLike,
    parameters: Parameters | None = None,
    days: Sequence[int] | None = None,
    workloads: Sequence[int] | None = None,
) -> list[Verdict]:
    """What each series shows: values (series, nights) are times of any unit, oldest first, NaN where there is none.

    A series is judged by itself: neither the order nor the number of the others matters, except that those of one workload
    (`workloads` numbers that of each series, where given) tell each other of their noise. Nights must be in order; a gap is no
    time that passes. `days` number the days of the nights, for patterns of the week: one after the other unless given.
    """
    parameters = parameters or Parameters()
    return [_judge(one, parameters) for one in _each(values, parameters, days, workloads)]


def find_levels(values: ArrayLike, parameters: Parameters, workloads: Sequence[int] | None = None) -> list[Levels]:
    """The changes and the newest level that `detect_changes` tells of each series, and nothing else of it."""
    return [_levels(one, parameters) for one in _each(values, parameters, workloads=workloads)]


def review_history(values: ArrayLike, false_changes: float = SERIES_RATE) -> list[Verdict]:
    """What the whole history of each series shows when it is looked at once: values as for `detect_changes`.

    `false_changes` is how many a look at one quiet series may show. Thresholds are those of one look, lower than those of
    a look every night; in return levels must explain the nights better than memory alone would.
    """
    return detect_changes(values, Parameters(budget=Budget(false_changes), hindsight=True))


@dataclass(frozen=True, slots=True)
class _Prepared:
    """One series before it is judged."""

    logs: Floats
    """Of its times, without gaps; `nights` are their places."""
    nights: Any
    left_out: int
    sigma: float
    candidates: list[int]
    plain: dict[int, float]
    """The steps that the guard proves, with their scores: no other proof is asked of them."""
    newest: float
    """The guard's score of the newest four nights; 0 where they are not even suspect."""
    habits: Habits
    """What is known of its noise beforehand."""


def _each(
    values: ArrayLike,
    parameters: Parameters,
    days: Sequence[int] | None = None,
    workloads: Sequence[int] | None = None,
) -> Iterator[_Prepared]:
    table = np.atleast_2d(np.asarray(values, dtype=np.float64))
    if table.ndim != 2:  # noqa: PLR2004 -- series x nights
        raise ValueError(say("values of {count} dimensions; expected (series, nights)", count=table.ndim))
    numbers = np.arange(table.shape[1]) if days is None else np.array(days, dtype=np.int64) - min(days, default=0)
    numbers = np.append(numbers, 0)  # of what stands behind the last night of a series
    blocks = [
        _block(table[begin : begin + SERIES_AT_ONCE], numbers, parameters)
        for begin in range(0, len(table), SERIES_AT_ONCE)
    ]
    known = pool([block.signs for block in blocks], None if parameters.hindsight else workloads)
    for number, block in enumerate(blocks):
        yield from _prepared(block, known[number * SERIES_AT_ONCE :], parameters)


@dataclass(frozen=True, slots=True)
class _Block:
    """Some series, before what they have in common is known."""

    logs: Floats
    nights: Integers
    lengths: Integers
    left_out: Integers
    sigma: Floats
    memory: Floats
    scaled: Floats
    signs: Signs


def _block(table: Floats, days: Integers, parameters: Parameters) -> _Block:
    logs, nights, lengths = noise.compact(table)
    logs = take_out_weekdays(logs, days[nights], lengths)
    left_out = (~np.isnan(table)).sum(axis=1) - lengths
    sigma, memory = noise.estimate(logs, lengths, 1.0 if parameters.hindsight else noise.known(lengths))
    scaled = noise.clip(logs, lengths, sigma)
    signs = signs_of(logs, lengths, sigma, scaled)
    return _Block(logs, nights, lengths, left_out, sigma, memory, scaled, signs)


def _prepared(block: _Block, habits: Sequence[Habits], parameters: Parameters) -> Iterator[_Prepared]:
    logs, lengths = block.logs, block.lengths
    quiet = parameters.threshold
    if quiet is None:
        quiet = parameters.budget.look if parameters.hindsight else parameters.budget.threshold(0.0)
    # half of the roughly estimated memory, over five nights: a candidate too many costs time, one too few a change
    penalties = quiet * parameters.candidate_share * noise.inflation(block.memory / 2, 5)
    judged = np.where(lengths >= parameters.least_nights, lengths, 0)
    candidates = partition(block.scaled, judged, penalties, 2)
    for row, scores in enumerate(_guard_scores(logs, judged, parameters)):
        plain = plain_steps(scores, parameters.guarded)
        yield _Prepared(
            logs=logs[row, : lengths[row]],
            nights=block.nights[row],
            left_out=int(block.left_out[row]),
            sigma=float(block.sigma[row]),
            candidates=_together(candidates[row], plain, parameters.least_level),
            plain=plain,
            newest=scores.get(int(lengths[row]) - guard.NEW, 0.0),
            habits=habits[row],
        )


def _guard_scores(logs: Floats, lengths: Integers, parameters: Parameters) -> list[dict[int, float]]:
    """What the guard sees. It watches night by night; a look in hindsight has a budget and thresholds of its own."""
    if parameters.hindsight:
        return [{} for _ in logs]
    threshold = min(parameters.guarded, parameters.guard_suspicion)
    return guard.plain_scores(logs, lengths, threshold, parameters.least_effect)


def _together(candidates: Sequence[int], plain: Mapping[int, float], least: int) -> list[int]:
    """Candidates and plain steps in their order; of a candidate and a plain step nearer than a level is long the latter."""
    apart = [one for one in candidates if all(abs(one - step) >= least for step in plain)]
    return sorted([*apart, *plain])


def _judge(one: _Prepared, parameters: Parameters) -> Verdict:
    logs = one.logs
    if len(logs) < parameters.least_nights:
        reason: Literal["no-times", "too-few-nights"] = "too-few-nights" if len(logs) else "no-times"
        return Verdict(
            nights=len(logs),
            left_out=one.left_out,
            reason=reason,
            level=_young_level(logs),
            sigma=None,
            memory=None,
            rare=None,
            smallest_detectable=None,
        )
    examined = _examine(one, parameters)
    return Verdict(
        nights=len(logs),
        left_out=one.left_out,
        reason=None,
        level=_time(examined.levels[-1]),
        sigma=examined.sigma,
        memory=examined.memory,
        rare=examined.rare,
        smallest_detectable=examined.smallest_detectable(),
        changes=tuple(examined.found(one.nights)),
        suspect=examined.suspicion(one.nights) or examined.plain_suspicion(one.nights),
    )


def _levels(one: _Prepared, parameters: Parameters) -> Levels:
    if len(one.logs) < parameters.least_nights:
        return Levels((), _young_level(one.logs))
    if not one.candidates:  # most series: their noise is asked for by nobody
        return Levels((), _time(noise.middle(one.logs, noise.CLIP * one.sigma)))
    examined = _examine(one, parameters)
    return Levels(tuple(examined.found(one.nights)), _time(examined.levels[-1]))


def _young_level(logs: Floats) -> float | None:
    """The level of a series that cannot be judged yet."""
    return _time(float(np.median(logs))) if len(logs) else None


def _examine(one: _Prepared, parameters: Parameters) -> _Examined:
    """A series with the changes that are proved."""
    examined = _Examined(one, parameters)
    examined.prune()
    if parameters.hindsight and examined.changes:
        examined.outdo_memory()
    examined.locate()
    return examined


class _Examined:
    """One series under examination: logs, the changes still held to be real, and the noise that they leave."""

    def __init__(self, one: _Prepared, parameters: Parameters) -> None:
        self.logs = one.logs
        self.limit = noise.CLIP * one.sigma
        self.changes = list(one.candidates)
        self.plain, self.newest = one.plain, one.newest
        self.habits = one.habits
        self.parameters = parameters
        self.statistics: list[float] = []
        self.wandering = _wandering(one)
        self.scatter_changed = False
        self.relative = np.ones(len(self.logs))
        """Of each night its scatter, relative to the least of the series: above 1 where a wider one is proved."""
        self.scores: list[float] = []
        """Of each change what the guard sees of it; 0 where that is nothing."""
        self.settle()
        self._weigh_scatters()

    def _weigh_scatters(self) -> None:
        """Nights weigh as much as the scatter of their time allows, where it is proved that the scatter changed."""
        if not self.changes or self.parameters.hindsight or self.wandering is not None:
            return
        segments = scatter_segments(off_levels(self.logs), self.memory)
        if len(segments) == 1:
            return
        starts, scatters = zip(*segments, strict=True)
        least = min(scatters)
        self.scatter_changed = True
        self.relative = np.repeat(np.array(scatters) / least, np.diff([*starts, len(self.logs)]))
        self.limit = noise.CLIP * least
        self.settle()

    @property
    def edges(self) -> list[int]:
        return [0, *self.changes, len(self.logs)]

    def settle(self) -> None:
        """Levels between the changes, and the noise around them."""
        logs, edges, parameters = self.logs, self.edges, self.parameters
        count = len(logs)
        residuals = np.empty(count)
        self.levels = []
        for start, end in pairwise(edges):
            part = logs[start:end]
            level = self._middle(start, end)
            self.levels.append(level)
            np.subtract(part, level, out=residuals[start:end])
        residuals /= self.relative
        clipped = np.minimum(np.maximum(residuals, -self.limit), self.limit)
        levels = len(self.levels)
        self.freedom = FREEDOM * max(count - levels, 1)
        squares = float(np.square(clipped).sum())
        self.sigma = max(math.sqrt(squares / max(count - levels, 1)), noise.FLOOR)
        self.residuals, self.clipped = residuals, clipped
        products = clipped[1:] * clipped[:-1]
        if self.changes:
            products[np.array(self.changes) - 1] = 0.0
        # a level taken off pulls the correlation down by (1 + 3 r) / n each (Kendall 1954)
        memory = float(products.sum()) / squares if squares > 0 else 0.0
        memory = (memory + levels / count) / max(1 - 3 * levels / count, 0.2)
        # one look at a whole history holds levels against memory themselves (`outdo_memory`)
        known: float = count
        if not parameters.hindsight:
            known = count + self.habits.weight
            memory = (memory * count + self.habits.memory * self.habits.weight) / known
        self.memory = min(max(memory, 0.0), noise.MAX_MEMORY)
        self.feared = min(max(memory + parameters.memory_margin / math.sqrt(known), 0.0), noise.MAX_MEMORY)
        outside = np.abs(residuals) > noise.CLIP * self.sigma
        some = bool(outside.any())
        spikes = int(self._stand_alone(np.where(outside, np.sign(residuals), 0.0)).sum()) if some else 0
        self.rare = min((spikes + self.habits.spikes * RARE_NIGHTS) / (count + RARE_NIGHTS), MAX_RARE)
        core = residuals[~outside] if some else residuals
        self.modes = self._modes(core)
        square = core * core
        variance = float(square.sum()) / max(len(core), 1)
        self.skewness = float((square * core).sum()) / len(core) / variance**1.5 if variance > 0 else 0.0
        given = parameters.threshold
        # memory within its own standard error may be chance: the threshold of noise without memory holds
        certain = max(self.memory - 1 / math.sqrt(known), 0.0)
        # the thresholds of noise with memory are those of memory that the series alone tells
        certain *= (count + OWN_WEIGHT) / known if not parameters.hindsight else 1.0
        if given is not None:
            self.threshold = given
        else:
            self.threshold = parameters.budget.look if parameters.hindsight else parameters.budget.threshold(certain)

    def _modes(self, core: Floats) -> Modes | None:
        """The two modes that are left around the levels; those of all nights where the candidates go to and fro between them."""
        if self.wandering is not None:
            return self.wandering
        # nights of a wider scatter on both sides of the others are no modes
        return None if self.scatter_changed else find_modes(core)

    @staticmethod
    def _stand_alone(sides: Floats) -> NDArray[np.bool_]:
        """Which nights are out of line (sides -1, 1) with no neighbour out on the same side: a run of them is no spike."""
        alone: NDArray[np.bool_] = sides != 0
        together = sides[1:] == sides[:-1]
        alone[1:] &= ~together
        alone[:-1] &= ~together
        return alone

    def _middle(self, start: int, end: int) -> float:
        """The median of nights, moved to the mean of those clipped around it, each with its weight."""
        part, relative = self.logs[start:end], self.relative[start:end]
        level = float(noise.median(part))
        weights = 1 / (relative * relative)
        for _ in range(2):
            off = np.minimum(np.maximum((part - level) / relative, -self.limit), self.limit) * relative
            level += float((weights * off).sum()) / float(weights.sum())
        return level

    def _level(self, start: int, end: int) -> float:
        """The level that explains nights best: each weighs as much as it is no spike."""
        part, relative = self.logs[start:end], self.relative[start:end]
        if self.modes is not None:
            return self._level_of_modes(part, self.modes)
        level = self._middle(start, end)
        for _ in range(3):
            scaled = (part - level) / (self.sigma * relative)
            regular = np.exp(-0.5 * np.minimum(np.square(scaled), 200.0)) * (1 - self.rare)
            weights = regular / (regular + self.rare) / (relative * relative)
            total = float(weights.sum())
            if total < 1e-9:  # noqa: PLR2004 -- nothing but spikes: the middle stays
                break
            level = float((weights * part).sum()) / total
        return level

    def _level_of_modes(self, part: Floats, modes: Modes) -> float:
        """The same where nights have two modes: the best of where either mode of a night may put it, moved to the mean."""
        starts = np.concatenate([part - modes.lower, part - modes.upper])
        level = float(starts[self._loss(part - starts[:, None]).sum(axis=1).argmin()])
        for _ in range(3):
            near = _densities(part - level, modes)
            total = near.sum() + self.rare * len(part)
            level += float(
                (near[0] * (part - level - modes.lower) + near[1] * (part - level - modes.upper)).sum() / total
            )
        return level

    def _loss(self, deviations: Floats) -> Floats:
        """Twice the negative log likelihood of deviations; a spike costs -2 log(rare), however far it is."""
        if self.modes is not None:
            lower, upper = _densities(deviations, self.modes)
            likelihoods: Floats = (1 - self.rare) * (lower + upper) + self.rare
            return -2 * np.log(likelihoods)
        losses = deviations / self.sigma
        # in place: most of the time would go on new memory
        np.minimum(np.square(losses, out=losses), 200.0, out=losses)
        losses *= -0.5
        np.exp(losses, out=losses)
        losses *= 1 - self.rare
        losses += self.rare
        np.log(losses, out=losses)
        losses *= -2
        return losses

    def _prove(self, start: int, change: int, end: int) -> tuple[float, float, float]:
        """(squared standard score of a change between two edges, level before, level after)."""
        before, after = self._level(start, change), self._level(change, end)
        relative = self.relative[start:end]
        stairs = np.repeat([before, after], [change - start, end - change])
        apart = float(self._surprise((self.logs[start:end] - stairs) / relative).sum())
        left, right = self._nights(start, change), self._nights(change, end)
        shares = np.append(_SHARES, right / (left + right))
        centres = before + (after - before) * shares
        together = float(self._surprise((self.logs[start:end] - centres[:, None]) / relative).sum(axis=1).min())
        gain = max(together - apart, 0.0) / self._inflation(left, right)
        gain = min(gain, self._most(min(change - start, end - change)))
        sigma = self.sigma if self.modes is None else self.modes.sigma
        distance = (after - before) ** 2 / (sigma**2 * self._variance(left, right))
        pooled = self._whitens() and self.habits.weight > OWN_WEIGHT
        score = min(gain, distance if pooled else self._normal(distance))
        if score >= self.threshold and not self._beyond_scatter(start, change, end, before, after):
            score = 0.0
        return self._unskewed(score, after - before, change - start, end - change), before, after

    def _whitens(self) -> bool:
        """Whether nights are held against what memory makes of the nights before them."""
        return not self.parameters.hindsight and self.modes is None and self.memory > 0

    def _surprise(self, deviations: Floats) -> Floats:
        """The loss of what each night is off what memory makes of the night before; a night out of line is not remembered."""
        if not self._whitens():
            return self._loss(deviations)
        memory, limit = self.memory, noise.CLIP * self.sigma
        news = deviations.copy()
        news[..., 1:] -= memory * np.minimum(np.maximum(deviations[..., :-1], -limit), limit)
        news[..., 1:] /= math.sqrt(1 - memory * memory)
        return self._loss(news)

    def _most(self, nights: int) -> float:
        """What a level of so few nights can prove where such runs of nights out of line are usual."""
        if self.parameters.hindsight or self.modes is not None:
            return math.inf
        share = self.habits.runs[min(nights, LONGEST_RUN)]
        if not share:
            return math.inf
        return -2 * math.log(min(share, 0.5)) - 2 * math.log(self.rare) * max(nights - LONGEST_RUN, 0)

    def _nights(self, start: int, end: int) -> float:
        """How many nights of the least scatter tell as much of a level as those between two edges."""
        return float((1 / np.square(self.relative[start:end])).sum())

    def _beyond_scatter(self, start: int, change: int, end: int, before: float, after: float) -> bool:
        """Whether two levels explain the nights of the shorter one better than a wider scatter around the other would."""
        if self.parameters.hindsight or self.modes is not None:
            return True
        is_newer = end - change <= change - start
        other = before if is_newer else after
        stairs = np.repeat([before, after], [change - start, end - change])
        nights, relative = self.logs[start:end], self.relative[start:end]
        losses = self._loss((nights - stairs) / relative)
        off = np.abs(nights - other) / relative / self.sigma
        squares = np.square(np.minimum(off, abs(after - before) / self.sigma + noise.CLIP))
        place = change - start
        for reach in REACHES:
            part = (
                slice(max(place - reach, 0), place + LONG) if is_newer else slice(max(place - LONG, 0), place + reach)
            )
            wider = max(float(squares[part].mean()), 1.0)
            if len(squares[part]) * (math.log(wider) + 1) - float(losses[part].sum()) < WIDER_MARGIN:
                return False
        return True

    def _variance(self, before: float, after: float) -> float:
        """Of the difference of two levels, in squared sigma."""
        return float(noise.inflation(self.feared, before) / before + noise.inflation(self.feared, after) / after)

    def _inflation(self, before: float, after: float) -> float:
        """By how much memory inflates a gain in likelihood: not where it is taken off night by night."""
        return 1.0 if self._whitens() else self._variance(before, after) / (1 / before + 1 / after)

    def _normal(self, square: float) -> float:
        """A squared t score as a squared normal score: sigma is an estimate, too."""
        return self.freedom * math.log1p(square / self.freedom)

    def _unskewed(self, square: float, step: float, before: int, after: int) -> float:
        """Lower a score in the direction in which the mean of the shorter level is skewed (Cornish-Fisher)."""
        side = math.copysign(1.0, step) * (1 if after <= before else -1)
        lean = self.parameters.skew_share * side * self.skewness
        if lean <= 0 or square <= 1:
            return square
        corrected = math.sqrt(square) - lean * (square - 1) / (6 * math.sqrt(min(before, after)))
        return max(corrected, 0.0) ** 2

    def prune(self) -> None:
        """Take the weakest change out until each one left is proved."""
        while self.changes:
            edges = self.edges
            self.statistics = [
                self._statistic(start, change, end)
                for start, change, end in zip(edges, edges[1:], edges[2:], strict=False)
            ]
            unproved = [place for place, proof in enumerate(self.statistics) if proof < self.threshold]
            unproved = [place for place in unproved if not self._guarded(place)]
            if not unproved:
                break
            scores = [abs(self.plain.get(change, 0.0)) for change in self.changes]
            del self.changes[min(unproved, key=lambda place: (self.statistics[place], scores[place]))]
            self.settle()
        else:
            self.statistics = []
        self.scores = [self._guarded(place) for place in range(len(self.changes))]

    def _guarded(self, place: int) -> float:
        """The score that the guard gives a change; 0 where it sees none, or one that the levels beside it do not have.

        Where spikes stand close together the nights before a step are none of a level: then there is no such step.
        """
        start, change, end = self.edges[place : place + 3]
        score = self.plain.get(change, 0.0)
        if not score or self.wandering is not None or not self._are_levels(start, change, end):
            return 0.0
        step = math.copysign(1.0, score) * (self.levels[place + 1] - self.levels[place])
        least = max(math.log1p(self.parameters.least_effect), abs(guard.distance(self.logs, change)) / 2)
        return abs(score) if step >= least else 0.0

    def _are_levels(self, start: int, change: int, end: int) -> bool:
        """Whether there are nights enough on both sides of a change."""
        least = self.parameters.least_level if start else self.parameters.least_baseline
        return change - start >= least and end - change >= self.parameters.least_level

    def outdo_memory(self) -> None:
        """Take changes out, the weakest first, as long as memory explains the nights as well as they do."""
        states = [(self._wandering_loss(), list(self.changes), self.statistics)]
        threshold = self.threshold
        while self.changes:
            del self.changes[min(range(len(self.statistics)), key=self.statistics.__getitem__)]
            self.settle()
            edges = self.edges
            self.statistics = [
                self._statistic(start, change, end)
                for start, change, end in zip(edges, edges[1:], edges[2:], strict=False)
            ]
            states.append((self._wandering_loss(), list(self.changes), self.statistics))
        best = min(states, key=lambda state: (state[0] + threshold * len(state[1]), len(state[1])))
        if best[1] != self.changes:
            self.changes, self.statistics = list(best[1]), best[2]
            self.scores = [0.0] * len(self.changes)
            self.settle()

    def _wandering_loss(self) -> float:
        """Twice the negative log likelihood of the nights around their levels as AR(1) noise of the memory that fits best."""
        residuals = self.logs - np.repeat(self.levels, np.diff(self.edges))
        news = residuals[1:] - _MEMORIES[:, None] * residuals[:-1]
        np.abs(news, out=news)
        limits = noise.CLIP * np.maximum(MAD_TO_SIGMA * noise.median(news)[:, None], noise.FLOOR)
        np.minimum(news, limits, out=news)
        squares = np.square(news, out=news).mean(axis=1)
        return len(news[0]) * math.log(max(float(squares.min()), noise.FLOOR**2))

    def _statistic(self, start: int, change: int, end: int) -> float:
        """The squared score of a change; at or below 0 it is none by its form: too short, too small, not shared."""
        parameters = self.parameters
        if not self._are_levels(start, change, end):
            return -1.0
        square, before, after = self._prove(start, change, end)
        if abs(_relative(after - before)) < parameters.least_effect:
            return 0.0
        nights, relative = self.logs[start:end], self.relative[start:end]
        is_new = self._loss((nights - after) / relative) < self._loss((nights - before) / relative)
        own_left, own_right = int((~is_new[: change - start]).sum()), int(is_new[change - start :].sum())
        shared = (
            own_left > (change - start) / 2 and own_right > (end - change) / 2 and own_right >= parameters.least_level
        )
        return square if shared else 0.0

    def locate(self) -> None:
        """Move each change to where the two levels around it explain the nights best."""
        parameters = self.parameters
        for place in range(len(self.changes)):
            start, change, end = self.edges[place : place + 3]
            before, after = self._level(start, change), self._level(change, end)
            nights, relative = self.logs[start:end], self.relative[start:end]
            first = parameters.least_level if start else parameters.least_baseline
            last = end - start - parameters.least_level
            if self.scores[place]:  # the guard's four nights say where it is, too
                first, last = max(first, change - start - guard.NEW + 1), min(last, change - start + guard.NEW - 1)
            gains = np.cumsum(self._loss((nights - before) / relative) - self._loss((nights - after) / relative))
            self.changes[place] = start + first + int(gains[first - 1 : last].argmin())
        if self.changes:
            self.settle()

    def found(self, nights: Any) -> list[Change]:
        """The changes as they are told: slopes put together, returns recognised."""
        edges, told, place = self.edges, [], self._warmed_up()
        while place < len(self.changes):
            last = self._same_direction(place)
            slope = self._slope(place, last)
            if slope is not None:
                start, before, after = slope
                told.append(self._change("drift", nights, (start, edges[last + 2]), before, after, (place, last)))
                place = last + 1
                continue
            before, after = self.levels[place], self.levels[place + 1]
            state: State = "confirmed" if after > before else "improved"
            if state == "improved" and self._returned(told, after, place):
                state = "recovered"
            span = (self.changes[place], edges[place + 2])
            told.append(self._change(state, nights, span, before, after, (place, place)))
            place += 1
        return told

    def _warmed_up(self) -> int:
        """How many changes are the end of a warm-up: the first nights got quicker night by night, and then stayed as they are."""
        last = 0
        while (
            last < len(self.changes) and self.levels[last + 1] < self.levels[last] and self.changes[last] <= WARM_NIGHTS
        ):
            last += 1
        if not last:
            return 0
        nights = self.logs[: self.edges[last + 1]][: 2 * WARM_NIGHTS]
        stairs = np.repeat(self.levels[: last + 1], np.diff(self.edges[: last + 2]))[: len(nights)]
        lengths = np.arange(WARM_LEAST, WARM_NIGHTS + 1)
        falls = np.maximum(1 - np.arange(len(nights)) / lengths[:, None], 0.0)
        falls -= falls.mean(axis=1, keepdims=True)
        heights = falls @ nights / np.square(falls).sum(axis=1)
        lines = nights.mean() + heights[:, None] * falls
        relative = self.relative[: len(nights)]
        warm = float(self._loss((nights - lines) / relative).sum(axis=1).min())
        return last if warm < float(self._loss((nights - stairs) / relative).sum()) else 0

    def _same_direction(self, place: int) -> int:
        """The last of the changes from `place` on that go the same way."""
        steps = np.sign(np.diff(self.levels))
        last = place
        while last + 1 < len(steps) and steps[last + 1] == steps[place]:
            last += 1
        return last

    def _returned(self, told: list[Change], after: float, place: int) -> bool:
        """Whether a level is the one before the newest slow-down again."""
        slower = next((change for change in reversed(told) if change.change > 0), None)
        if slower is None:
            return False
        edges = self.edges
        error = self.sigma * math.sqrt(
            self._variance(edges[place + 1] - edges[place], edges[place + 2] - edges[place + 1])
        )
        return abs(after - math.log(slower.before)) <= max(self.parameters.least_effect, 2 * error)

    def _change(
        self,
        state: State,
        nights: Any,
        span: tuple[int, int],
        before: float,
        after: float,
        places: tuple[int, int],
    ) -> Change:
        edges, (first, last) = self.edges, places
        variance = self._variance(edges[first + 1] - edges[first], edges[last + 2] - edges[last + 1])
        half = INTERVAL_SCORE * self.sigma * math.sqrt(variance)
        until = int(nights[span[1] - 1]) + 1
        statistic, threshold = min(map(self._proof, range(first, last + 1)), key=lambda proof: proof[0] / proof[1])
        return Change(
            night=int(nights[span[0]]),
            until=until,
            state=state,
            before=_time(before),
            after=_time(after),
            change=_relative(after - before),
            ci_low=_relative(after - before - half),
            ci_high=_relative(after - before + half),
            statistic=statistic,
            threshold=threshold,
            steps=tuple(int(nights[edge]) for edge in edges[first + 1 : last + 2]),
        )

    def _proof(self, place: int) -> tuple[float, float]:
        """(statistic, threshold) of a change: the guard's where it alone proves it."""
        if self.statistics[place] >= self.threshold or not self.scores[place]:
            return self.statistics[place], self.threshold
        return self.scores[place] ** 2, self.parameters.guarded**2

    def _slope(self, place: int, last: int) -> tuple[int, float, float] | None:
        """(first night, level before, level at the end) of the slope that explains steps of one direction better."""
        edges = self.edges
        start, end = edges[place], edges[last + 2]
        count = end - start
        # what four nights show as a step is no part of a slope
        if count < 2 * DRIFT_NIGHTS or any(self.scores[place : last + 1]):
            return None
        stairs = np.repeat(self.levels[place : last + 2], np.diff(edges[place : last + 3]))
        nights, relative = self.logs[start:end], self.relative[start:end]
        limits = self.limit * relative
        clipped = stairs + np.minimum(np.maximum(nights - stairs, -limits), limits)
        # level + slope * max(0, t - begin) by least squares, for every begin at once
        begins = np.unique(np.linspace(0, count - DRIFT_NIGHTS, 24).astype(np.int64))
        ramps = np.maximum(np.arange(count) - begins[:, None], 0).astype(np.float64)
        centred = ramps - ramps.mean(axis=1, keepdims=True)
        slopes = (centred * clipped).sum(axis=1) / np.square(centred).sum(axis=1)
        lines = clipped.mean() + slopes[:, None] * centred
        losses = self._loss((nights - lines) / relative).sum(axis=1)
        best = int(losses.argmin())
        # each further step fits chance, too (Zhang and Siegmund 2007, Biometrics 63); the second of two may not be proved yet
        chance = 3 * math.log(count)
        proved = float(self._loss((nights - stairs) / relative).sum()) + (last - place) * chance
        two = two_steps(clipped, self.parameters.least_level)
        stairs_of_two = float(self._loss((nights - two) / relative).sum()) + chance
        if losses[best] >= min(proved - DRIFT_MARGIN, stairs_of_two):
            return None
        return start + int(begins[best]), float(lines[best, 0]), float(lines[best, -1])

    def suspicion(self, nights: Any) -> Change | None:
        """The newest one or two nights, when they are further from the level than chance allows."""
        edges, logs = self.edges, self.logs
        if abs(float(logs[-1]) - self.levels[-1]) < self.sigma:
            return None  # the newest night is in line: the usual case, told at a glance
        asked = self.parameters.suspicion
        needed = self.parameters.budget.suspicion if asked is None else asked
        spiky = self._happened_before(needed)
        for count in (2, 1):
            part, level = logs[-count:], logs[edges[-2] : -count]
            if len(level) < self.parameters.least_level or (count == 1 and spiky):
                continue
            # what is to be judged must not widen its own measure
            squares = float(np.square(self.clipped[:-count]).sum())
            sigma = max(math.sqrt(squares / max(len(logs) - count - len(self.levels), 1)), noise.FLOOR)
            before, after = self._level(edges[-2], len(logs) - count), float(part.mean())
            nearest = float(np.abs(part - before).min())
            error = math.sqrt(self._variance(len(level), count))
            score = math.copysign(math.sqrt(self._normal(((after - before) / sigma / error) ** 2)), after - before)
            # two nights are more than one spike and a usual night: both lie out on the same side
            least = (needed if spiky else TOGETHER) * sigma
            agreed = count == 1 or (abs(float(np.sign(part - before).sum())) == count and nearest > least)
            if abs(score) >= needed and agreed and abs(_relative(after - before)) >= self.parameters.least_effect:
                half = INTERVAL_SCORE * sigma * error
                return Change(
                    night=int(nights[len(logs) - count]),
                    until=int(nights[len(logs) - 1]) + 1,
                    state="suspect",
                    before=_time(before),
                    after=_time(after),
                    change=_relative(after - before),
                    ci_low=_relative(after - before - half),
                    ci_high=_relative(after - before + half),
                    statistic=score**2,
                    threshold=needed**2,
                )
        return None

    def plain_suspicion(self, nights: Any) -> Change | None:
        """The newest four nights, where the guard suspects them and no change that is proved says it."""
        start = len(self.logs) - guard.NEW
        if not self.newest or (self.changes and self.changes[-1] > start - guard.NEW):
            return None
        new, old = self.logs[start:], self.logs[start - guard.BEFORE : start]
        before, after = float(np.median(old)), float(new.mean())
        scatter = guard.distance(self.logs, start) / self.newest
        half = INTERVAL_SCORE * scatter * math.sqrt(1 / len(new) + 1 / len(old))
        return Change(
            night=int(nights[start]),
            until=int(nights[len(self.logs) - 1]) + 1,
            state="suspect",
            before=_time(before),
            after=_time(after),
            change=_relative(after - before),
            ci_low=_relative(after - before - half),
            ci_high=_relative(after - before + half),
            statistic=self.newest**2,
            threshold=self.parameters.guard_suspicion**2,
        )

    def _happened_before(self, needed: float) -> bool:
        """Whether a single night was off as far before: then one is no news, and two must be off as far each."""
        scores = self.residuals / self.sigma
        single = self._stand_alone(np.where(np.abs(scores) > TOGETHER, np.sign(scores), 0.0))
        return bool((single & (np.abs(scores) >= needed))[:-2].any())

    def smallest_detectable(self) -> float | None:
        """The relative slow-down that is confirmed within POWER_NIGHTS nights in nine cases of ten."""
        nights = POWER_NIGHTS
        edges = self.edges
        baseline = max(edges[-1] - edges[-2], self.parameters.least_baseline)
        gain = self.freedom * _relative(self.threshold / self.freedom)
        variance = self._variance(baseline, nights)
        most = -2 * math.log(self.rare) / (1 / baseline + 1 / nights)
        if self.threshold * self._inflation(baseline, nights) > most:
            return None  # every night counts as a spike before the gain is reached
        # where nights remember, their mean takes part of the scatter with it
        taken = min((float(noise.inflation(self.feared, baseline)) - 1) / baseline, MAX_TAKEN)
        step = (math.sqrt(gain) + POWER_SCORE) * self.sigma * math.sqrt(variance / (1 - taken))
        return max(_relative(step), self.parameters.least_effect)


def _wandering(one: _Prepared) -> Modes | None:
    """The two modes of a series whose candidates go to and fro between them; None of any other."""
    logs, candidates = one.logs, one.candidates
    if len(candidates) < SWITCHES:
        return None
    parts = np.split(logs, candidates)
    levels = [float(noise.median(part)) for part in parts]
    off = np.abs(logs - np.repeat(levels, [len(part) for part in parts]))
    sigma = max(noise.scale(off), noise.FLOOR)
    # going to and fro is evidence enough: the modes may be near each other, and one may be rare
    modes = find_modes(logs[off <= noise.CLIP * sigma], 0.0, 0.0)
    if modes is None:
        return None
    middle = modes.mean + (modes.lower + modes.upper) / 2
    switches = sum((before > middle) != (after > middle) for before, after in pairwise(levels))
    apart = (modes.upper - modes.lower) / 2
    near = np.abs(np.abs(logs - middle) - apart) <= noise.CLIP * min(sigma, modes.sigma)
    in_modes = all(part.mean() > 0.5 for part in np.split(near, candidates))  # noqa: PLR2004 -- most nights of each level
    return modes if switches >= SWITCHES and in_modes else None


def _densities(deviations: Floats, modes: Modes) -> Floats:
    """How likely deviations are in either mode."""
    lower, upper = (deviations - modes.lower) / modes.sigma, (deviations - modes.upper) / modes.sigma
    return np.stack([(1 - modes.share) * np.exp(-lower * lower / 2), modes.share * np.exp(-upper * upper / 2)])


LARGEST_LOG = 709.0
"""Of a float64: times and ratios beyond stay finite."""


def _relative(step: float) -> float:
    """The relative change that a step of logarithms is."""
    return math.expm1(min(step, LARGEST_LOG))


def _time(log: float) -> float:
    """The time, in the unit of the values, that a logarithm is of."""
    return math.exp(min(log, LARGEST_LOG))


_SHARES = np.linspace(0.0, 1.0, 33)
"""Where between two levels a common one is looked for."""
_MEMORIES = np.linspace(0.0, noise.MAX_MEMORY, 31)
"""Up to where memory is noise: what is remembered for longer is a level."""
