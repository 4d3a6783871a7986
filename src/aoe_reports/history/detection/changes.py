"""How changes are reported: slopes put together, returns recognised, warm-ups set apart."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from aoe_reports.history.detection.candidates import Prepared
from aoe_reports.history.detection.levels import Leveled
from aoe_reports.history.detection.proof import Proof
from aoe_reports.history.detection.verdicts import INTERVAL_SCORE, Change, Kind, Observed, State, relative, time_of
from aoe_reports.stats import noise
from aoe_reports.stats.habits import LONGEST_RUN
from aoe_reports.stats.noise import FLOOR, Floats
from aoe_reports.stats.partition import two_steps
from aoe_reports.stats.scatter import MIN_RATIO, off_levels, scatter_segments

DRIFT_NIGHTS = 14
"""Nights of a slope below which it is not told from a step."""
DRIFT_MARGIN = 6.0
"""By how much (twice the log likelihood) a slope must explain better than the proved steps: odds of 20 to 1."""
WARM_MIN, WARM_NIGHTS = 4, 14
"""Nights that a warm-up lasts: in a shorter one no slope is told from a step."""
WARM_MARGIN = 4.0
"""By how much (twice the log likelihood) steps must explain the first nights better than a slope: odds of 7 to 1, since times settle when a series is new."""


def changes_of(proof: Proof, nights: Any) -> list[Change]:
    """The changes that are proved, as they are reported; `nights` are the places of the nights of the series."""
    return _Report(proof, nights).changes()


def warmed_up(series: Leveled) -> int:
    """How many changes are the end of a warm-up: the first nights got quicker night by night, and then stayed as they are."""
    levels, last = series.levels, 0
    while last < len(series.changes) and levels[last + 1] < levels[last] and series.changes[last] <= WARM_NIGHTS:
        last += 1
    if not last:
        return 0
    nights = series.logs[: series.edges[last + 1]][: 2 * WARM_NIGHTS]
    stairs, relative = series.stairs(0, last)[: len(nights)], series.relative[: len(nights)]
    passed = np.arange(len(nights))
    falls = np.maximum(1 - passed / np.arange(WARM_MIN, WARM_NIGHTS + 1)[:, None], 0.0)
    # a step nearer to the first night than a change may be is no slope
    drops = (passed < np.arange(1, min(WARM_NIGHTS + 1, len(nights)))[:, None]).astype(np.float64)
    off = np.vstack([_off_best(nights, falls), nights - stairs, _off_best(nights, drops)])
    distances = np.abs(off) / relative
    # a night out of line of all of them tells nothing of any
    beyond = np.maximum(distances.min(axis=0) - series.limit, 0.0)
    squares = np.maximum(np.square(distances - beyond).sum(axis=1), FLOOR**2)
    # each by the scatter that it leaves, which is too small of steps that fit noise
    ratio = float(squares[: len(falls)].min() / squares[len(falls) :].min())
    return last if ratio < math.exp(WARM_MARGIN / len(nights)) else 0


def _off_best(nights: Floats, shapes: Floats) -> Floats:
    """Deviations of nights from each shape (shapes, nights), fitted in level and height by least squares."""
    centred = shapes - shapes.mean(axis=1, keepdims=True)
    heights = centred @ nights / np.square(centred).sum(axis=1)
    off: Floats = nights - nights.mean() - heights[:, None] * centred
    return off


def is_back(series: Leveled, place: int, off: float) -> bool:
    """Whether the level that a change leads to, so far off an earlier one, is that one again."""
    noise, edges = series.noise, series.edges
    error = noise.sigma * math.sqrt(
        noise.variance(edges[place + 1] - edges[place], edges[place + 2] - edges[place + 1])
    )
    return abs(off) <= max(series.parameters.least_effect, 2 * error)


class _Report:
    def __init__(self, proof: Proof, nights: Any) -> None:
        self.proof, self.series, self.nights = proof, proof.series, nights

    def changes(self) -> list[Change]:
        """Slopes put together, returns recognised."""
        series, edges = self.series, self.series.edges
        reported: list[Change] = []
        place = warmed_up(self.series)
        while place < len(series.changes):
            last = self._same_direction(place)
            slope = self._slope(place, last)
            if slope is not None:
                start, before, after = slope
                reported.append(self._change("drift", (start, edges[last + 2]), before, after, (place, last)))
                place = last + 1
                continue
            before, after = series.levels[place], series.levels[place + 1]
            state: State = "confirmed" if after > before else "improved"
            if state == "improved" and self._returned(reported, after, place):
                state = "recovered"
            span = (series.changes[place], edges[place + 2])
            reported.append(self._change(state, span, before, after, (place, place)))
            place += 1
        return reported

    def _same_direction(self, place: int) -> int:
        """The last of the changes from `place` on that go the same way."""
        steps = np.sign(np.diff(self.series.levels))
        last = place
        while last + 1 < len(steps) and steps[last + 1] == steps[place]:
            last += 1
        return last

    def _returned(self, reported: list[Change], after: float, place: int) -> bool:
        slower = next((change for change in reversed(reported) if change.change > 0), None)
        return slower is not None and is_back(self.series, place, after - math.log(slower.before))

    def _change(
        self, state: State, span: tuple[int, int], before: float, after: float, places: tuple[int, int]
    ) -> Change:
        noise, edges, nights, (first, last) = self.series.noise, self.series.edges, self.nights, places
        variance = noise.variance(edges[first + 1] - edges[first], edges[last + 2] - edges[last + 1])
        half = INTERVAL_SCORE * noise.sigma * math.sqrt(variance)
        proofs = map(self.proof.of, range(first, last + 1))
        statistic, threshold = min(proofs, key=lambda proof: proof[0] / proof[1])
        return Change(
            night=int(nights[span[0]]),
            until=int(nights[span[1] - 1]) + 1,
            state=state,
            before=time_of(before),
            after=time_of(after),
            change=relative(after - before),
            ci_low=relative(after - before - half),
            ci_high=relative(after - before + half),
            statistic=statistic,
            threshold=threshold,
            steps=tuple(int(nights[edge]) for edge in edges[first + 1 : last + 2]),
        )

    def _slope(self, place: int, last: int) -> tuple[int, float, float] | None:
        """(first night, level before, level at the end) of the slope that explains steps of one direction better."""
        series, edges = self.series, self.series.edges
        start, end = edges[place], edges[last + 2]
        count = end - start
        # what four nights show as a step is no part of a slope
        if count < 2 * DRIFT_NIGHTS or any(self.proof.scores[place : last + 1]):
            return None
        stairs = series.stairs(place, last + 1)
        nights, limits = series.logs[start:end], series.limit * series.relative[start:end]
        clipped = stairs + np.minimum(np.maximum(nights - stairs, -limits), limits)
        # level + slope * max(0, t - begin) by least squares, for every begin at once
        begins = np.unique(np.linspace(0, count - DRIFT_NIGHTS, 24).astype(np.int64))
        ramps = np.maximum(np.arange(count) - begins[:, None], 0).astype(np.float64)
        centred = ramps - ramps.mean(axis=1, keepdims=True)
        slopes = (centred * clipped).sum(axis=1) / np.square(centred).sum(axis=1)
        lines = clipped.mean() + slopes[:, None] * centred
        losses = series.losses(lines, start, end).sum(axis=1)
        best = int(losses.argmin())
        # each further step fits chance, too (Zhang and Siegmund 2007, Biometrics 63); the second of two may not be proved yet
        chance = 3 * math.log(count)
        proved = float(series.losses(stairs, start, end).sum()) + (last - place) * chance
        if losses[best] >= proved - DRIFT_MARGIN:
            return None
        two = two_steps(clipped, self.proof.parameters.least_level)
        if losses[best] >= float(series.losses(two, start, end).sum()) + chance:
            return None
        return start + int(begins[best]), float(lines[best, 0]), float(lines[best, -1])


NAMED_NIGHTS = 14
"""Nights of each scatter before its change is told: of fewer, three bad nights look the same. The usual night must differ, too."""

_Found = tuple[Kind, int, int, float, float]
"""(kind, first night, the night after the last one, before, after), nights counted in the series."""


def observations_of(one: Prepared, series: Leveled) -> tuple[Observed, ...]:
    """What is observed, in the order of nights."""
    nights, count = one.nights, len(series.logs)
    found = [*_warm_up(series), *_episodes(series), *_mode_switch(one, series), *_scatters(one, series)]
    found.sort(key=lambda each: each[1:3])
    return tuple(
        Observed(
            kind=kind,
            night=int(nights[start]),
            until=None if end == count and kind != "episode" else int(nights[end - 1]) + 1,
            before=before,
            after=after,
        )
        for kind, start, end, before, after in found
    )


def _warm_up(series: Leveled) -> Iterator[_Found]:
    last = warmed_up(series)
    if last:
        yield "warm-up", 0, series.changes[last - 1], time_of(series.levels[0]), time_of(series.levels[last])


def _episodes(series: Leveled) -> Iterator[_Found]:
    """Runs of two or three deviating nights that ended, or a level that was left again."""
    sigma, edges = series.noise.sigma, series.edges
    score = series.parameters.budget.suspicion
    outside = np.where(np.abs(series.residuals) > noise.CLIP * sigma, np.sign(series.residuals), 0.0)
    for level, (first, last) in enumerate(pairwise(edges)):
        for start, end in _runs(outside[first:last]):
            mean = float(series.residuals[first + start : first + end].mean())
            error = sigma * math.sqrt(noise.inflation(series.noise.feared, end - start) / (end - start))
            if abs(mean) >= score * error:
                around, own = series.levels[level], float(series.logs[first + start : first + end].mean())
                yield "episode", first + start, first + end, time_of(around), time_of(own)
    for place, (start, end) in enumerate(pairwise(series.changes)):
        before, own, after = series.levels[place : place + 3]
        if end - start <= LONGEST_RUN and is_back(series, place + 1, after - before):
            yield "episode", start, end, time_of(before), time_of(own)


def _runs(sides: Any) -> Iterator[tuple[int, int]]:
    """Runs of 2 to LONGEST_RUN nights out of line on one side, between nights in line."""
    starts = np.flatnonzero(np.diff(sides)) + 1
    for start, end in pairwise(starts.tolist()):
        if sides[start] and 1 < end - start <= LONGEST_RUN and not sides[start - 1] and not sides[end]:
            yield start, end


def _mode_switch(one: Prepared, series: Leveled) -> Iterator[_Found]:
    if one.switch is not None:
        after = series.levels[-1]
        yield "mode-switch", one.switch.night, len(one.logs), time_of(after - one.switch.step), time_of(after)


def _scatters(one: Prepared, series: Leveled) -> Iterator[_Found]:
    if series.noise.modes is not None:
        return  # nights of a rarer mode are no wider scatter
    segments = series.segments
    if segments is None:
        segments = scatter_segments(off_levels(one.logs), series.noise.memory) if one.uneven else []
    if len(segments) < 2:  # noqa: PLR2004 -- one scatter
        return
    edges = [*(start for start, _ in segments), len(one.logs)]
    off = off_levels(one.logs)
    usual = [noise.scale(np.abs(off[start:end])) for start, end in pairwise(edges)]
    for place in range(1, len(segments)):
        start, after = segments[place]
        end = edges[place + 1]
        enough = min(start - edges[place - 1], end - start) >= NAMED_NIGHTS
        if enough and max(usual[place - 1 : place + 1]) >= MIN_RATIO * min(usual[place - 1 : place + 1]):
            yield "scatter-change", start, end, segments[place - 1][1], after
