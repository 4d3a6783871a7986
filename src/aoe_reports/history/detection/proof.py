"""Which candidates are proved: the evidence for each is held against what the budget asks for.

Evidence is twice the gain in log likelihood that two levels have over one (the generalised likelihood ratio; Siegmund and
Venkatraman 1995, "Using the generalized likelihood ratio statistic for sequential detection of a change-point"), bounded by what nights
out of line can add, and of a series whose memory its workload does not tell never more than the squared distance of the levels in standard
errors. The weakest candidate is taken out
until each one left is proved (backward elimination), and those are moved to where their levels explain the nights best.
"""

from __future__ import annotations

import math

import numpy as np

from aoe_reports.history.detection import guard
from aoe_reports.history.detection.candidates import Prepared
from aoe_reports.history.detection.levels import Leveled
from aoe_reports.history.detection.verdicts import relative as relative_change
from aoe_reports.stats import noise
from aoe_reports.stats.habits import LONGEST_RUN, OWN_WEIGHT
from aoe_reports.stats.sample import MAD_TO_SIGMA

WIDER_MARGIN = 8.0
"""By how much (twice the log likelihood) a level must explain its nights better than a wider scatter around the old one."""
REACHES, LONG = (0, 3, 7), 30
"""So many nights before a new level a wider scatter may have begun, and so many nights of the new level are looked at."""
PROVING_NIGHTS, PLENTY = 24, 2.0
"""So many nights of a new level have to prove it, unless all of them are that many times what is asked for: what takes longer is more often wandering.

Of public histories 0.84 of the alarms within 20 nights are borne out, and 0.45 of those after 40 (docs/detection.md). Of 120 nights the
last 24 prove a level that is 1.06 sigma off, and the last 60 one of 0.85 (the threshold of memory 0 over the variance of the difference).
"""
_SHARES = np.linspace(0.0, 1.0, 33)
"""Where between two levels a common one is looked for."""
_MEMORIES = np.linspace(0.0, noise.MAX_MEMORY, 31)
"""Up to where memory is noise: what is remembered for longer is a level."""


class Proof:
    """One series, the changes of which are proved one against the other."""

    def __init__(self, one: Prepared, series: Leveled) -> None:
        self.series, self.parameters = series, series.parameters
        self.plain, self.newest = one.plain, one.newest
        self.statistics: list[float] = []
        """Of each change its squared standard score."""
        self.scores: list[float] = []
        """Of each change what the guard sees of it; 0 where that is nothing."""

    def of(self, place: int) -> tuple[float, float]:
        """(statistic, threshold) of a change: the guard's where it alone proves it."""
        threshold = self.series.threshold
        if self.statistics[place] >= threshold or not self.scores[place]:
            return self.statistics[place], threshold
        return self.scores[place] ** 2, self.parameters.guarded**2

    def prune(self) -> None:
        """Take the weakest change out until each one left is proved."""
        series = self.series
        while series.changes:
            self.statistics = self._statistics()
            unproved = [place for place, proof in enumerate(self.statistics) if proof < series.threshold]
            unproved = [place for place in unproved if not self._guarded(place)]
            if not unproved:
                break
            scores = [abs(self.plain.get(change, 0.0)) for change in series.changes]
            del series.changes[min(unproved, key=lambda place: (self.statistics[place], scores[place]))]
            series.settle()
        else:
            self.statistics = []
        self.scores = [self._guarded(place) for place in range(len(series.changes))]

    def outdo_memory(self) -> None:
        """Take changes out, the weakest first, as long as memory explains the nights as well as they do."""
        series = self.series
        states = [(_wandering_loss(series), list(series.changes), self.statistics)]
        threshold = series.threshold
        while series.changes:
            del series.changes[min(range(len(self.statistics)), key=self.statistics.__getitem__)]
            series.settle()
            self.statistics = self._statistics()
            states.append((_wandering_loss(series), list(series.changes), self.statistics))
        best = min(states, key=lambda state: (state[0] + threshold * len(state[1]), len(state[1])))
        if best[1] != series.changes:
            series.changes, self.statistics = list(best[1]), best[2]
            self.scores = [0.0] * len(series.changes)
            series.settle()

    def locate(self) -> None:
        """Move each change to where the two levels around it explain the nights best."""
        series, parameters = self.series, self.parameters
        for place in range(len(series.changes)):
            start, change, end = series.edges[place : place + 3]
            before, after = series.level(start, change), series.level(change, end)
            first = parameters.least_level if start else parameters.least_baseline
            last = end - start - parameters.least_level
            if self.scores[place]:  # the guard's four nights say where it is, too
                first, last = max(first, change - start - guard.NEW + 1), min(last, change - start + guard.NEW - 1)
            gains = np.cumsum(series.losses(before, start, end) - series.losses(after, start, end))
            series.changes[place] = start + first + int(gains[first - 1 : last].argmin())
        if series.changes:
            series.settle()

    def _statistics(self) -> list[float]:
        edges = self.series.edges
        return [
            self._statistic(start, change, end) for start, change, end in zip(edges, edges[1:], edges[2:], strict=False)
        ]

    def _statistic(self, start: int, change: int, end: int) -> float:
        """The squared score of a change; 0 or less if it is too short, too small, or not shared by its nights."""
        series, parameters = self.series, self.parameters
        if not self._are_levels(start, change, end):
            return -1.0
        before, after = series.level(start, change), series.level(change, end)
        square = self._evidence(start, change, end, before, after)
        proving = change + PROVING_NIGHTS
        if proving < end and series.threshold <= square < PLENTY * series.threshold and not parameters.hindsight:
            square = min(square, self._evidence(start, change, proving, before, series.level(change, proving)))
        if abs(relative_change(after - before)) < parameters.least_effect:
            return 0.0
        is_new = series.losses(after, start, end) < series.losses(before, start, end)
        own_left, own_right = int((~is_new[: change - start]).sum()), int(is_new[change - start :].sum())
        shared = (
            own_left > (change - start) / 2 and own_right > (end - change) / 2 and own_right >= parameters.least_level
        )
        return square if shared else 0.0

    def _are_levels(self, start: int, change: int, end: int) -> bool:
        least = self.parameters.least_level if start else self.parameters.least_baseline
        return change - start >= least and end - change >= self.parameters.least_level

    def _evidence(self, start: int, change: int, end: int, before: float, after: float) -> float:
        """The squared standard score of a change from one level to another."""
        series, noise_left = self.series, self.series.noise
        relative = series.relative[start:end]
        stairs = np.repeat([before, after], [change - start, end - change])
        apart = float(noise_left.surprise((series.logs[start:end] - stairs) / relative).sum())
        left, right = series.weight(start, change), series.weight(change, end)
        shares = np.append(_SHARES, right / (left + right))
        centres = before + (after - before) * shares
        off = (series.logs[start:end] - centres[:, None]) / relative
        together = float(noise_left.surprise(off).sum(axis=1).min())
        gain = max(together - apart, 0.0) / noise_left.inflation(left, right)
        gain = min(gain, self._most(min(change - start, end - change)))
        score = gain
        if not noise_left.whitens or series.habits.weight <= OWN_WEIGHT:  # else its workload tells what it remembers
            sigma = noise_left.sigma if noise_left.modes is None else noise_left.modes.sigma
            distance = (after - before) ** 2 / (sigma**2 * noise_left.variance(left, right))
            score = min(gain, noise_left.normal(distance))
        if score >= series.threshold and not self._beyond_scatter(start, change, end, before, after):
            score = 0.0
        return self._unskewed(score, after - before, change - start, end - change)

    def _most(self, nights: int) -> float:
        """The evidence that a level of so few nights can give where such runs are usual."""
        if self.parameters.hindsight or self.series.noise.modes is not None:
            return math.inf
        share = self.series.habits.runs[min(nights, LONGEST_RUN)]
        if not share:
            return math.inf
        return -2 * math.log(min(share, 0.5)) - 2 * math.log(self.series.noise.rare) * max(nights - LONGEST_RUN, 0)

    def _beyond_scatter(self, start: int, change: int, end: int, before: float, after: float) -> bool:
        """Whether two levels explain the shorter one better than a wider scatter around the other."""
        series, sigma = self.series, self.series.noise.sigma
        if self.parameters.hindsight or series.noise.modes is not None:
            return True
        is_newer = end - change <= change - start
        other = before if is_newer else after
        losses = series.losses(np.repeat([before, after], [change - start, end - change]), start, end)
        off = np.abs(series.logs[start:end] - other) / series.relative[start:end] / sigma
        squares = np.square(np.minimum(off, abs(after - before) / sigma + noise.CLIP))
        place = change - start
        for reach in REACHES:
            part = (
                slice(max(place - reach, 0), place + LONG) if is_newer else slice(max(place - LONG, 0), place + reach)
            )
            wider = max(float(squares[part].mean()), 1.0)
            if len(squares[part]) * (math.log(wider) + 1) - float(losses[part].sum()) < WIDER_MARGIN:
                return False
        return True

    def _unskewed(self, square: float, step: float, before: int, after: int) -> float:
        """Lower a score in the direction in which the mean of the shorter level is skewed (Cornish-Fisher)."""
        side = math.copysign(1.0, step) * (1 if after <= before else -1)
        lean = self.parameters.skew_share * side * self.series.noise.skewness
        if lean <= 0 or square <= 1:
            return square
        corrected = math.sqrt(square) - lean * (square - 1) / (6 * math.sqrt(min(before, after)))
        return max(corrected, 0.0) ** 2

    def _guarded(self, place: int) -> float:
        """The guard's score of a change; 0 if it sees none, or if the levels around it do not confirm it.

        Where spikes are close together, the nights before a step are no level.
        """
        series = self.series
        start, change, end = series.edges[place : place + 3]
        score = self.plain.get(change, 0.0)
        if not score or not self._are_levels(start, change, end):
            return 0.0
        step = math.copysign(1.0, score) * (series.levels[place + 1] - series.levels[place])
        least = max(math.log1p(self.parameters.least_effect), abs(guard.distance(series.logs, change)) / 2)
        return abs(score) if step >= least else 0.0


def prove(one: Prepared, series: Leveled) -> Proof:
    """The changes of a series that are proved, where they are."""
    proof = Proof(one, series)
    proof.prune()
    if series.parameters.hindsight and series.changes:
        proof.outdo_memory()
    proof.locate()
    return proof


def _wandering_loss(series: Leveled) -> float:
    """Twice the negative log likelihood of the nights around their levels as AR(1) noise of the memory that fits best."""
    residuals = series.logs - series.stairs(0, len(series.changes))
    news = residuals[1:] - _MEMORIES[:, None] * residuals[:-1]
    np.abs(news, out=news)
    limits = noise.CLIP * np.maximum(MAD_TO_SIGMA * noise.median(news)[:, None], noise.FLOOR)
    np.minimum(news, limits, out=news)
    squares = np.square(news, out=news).mean(axis=1)
    return len(news[0]) * math.log(max(float(squares.min()), noise.FLOOR**2))
