"""What a series does that is no change of its level: told by its name, and never an alarm.

A scatter that changed (`stats/scatter`), a run of two or three bad nights that ended, a switch between two modes, and a warm-up.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from aoe_reports.history.detection.candidates import Prepared
from aoe_reports.history.detection.changes import is_back, warmed_up
from aoe_reports.history.detection.levels import Leveled
from aoe_reports.history.detection.verdicts import Kind, Observed, time_of
from aoe_reports.stats import noise
from aoe_reports.stats.habits import LONGEST_RUN
from aoe_reports.stats.scatter import MIN_RATIO, off_levels, scatter_segments

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
    """The first nights, where they got quicker night by night."""
    last = warmed_up(series)
    if last:
        yield "warm-up", 0, series.changes[last - 1], time_of(series.levels[0]), time_of(series.levels[last])


def _episodes(series: Leveled) -> Iterator[_Found]:
    """Runs of two or three nights that lay out on one side, and ended: out of line of their level, or a level that was left again."""
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
    """Where two to LONGEST_RUN nights in a row lie out on one side, with a night in line on either side of them."""
    starts = np.flatnonzero(np.diff(sides)) + 1
    for start, end in pairwise(starts.tolist()):
        if sides[start] and 1 < end - start <= LONGEST_RUN and not sides[start - 1] and not sides[end]:
            yield start, end


def _mode_switch(one: Prepared, series: Leveled) -> Iterator[_Found]:
    """The newest switch of a series that goes to and fro between two modes."""
    if one.switch is not None:
        after = series.levels[-1]
        yield "mode-switch", one.switch.night, len(one.logs), time_of(after - one.switch.step), time_of(after)


def _scatters(one: Prepared, series: Leveled) -> Iterator[_Found]:
    """Where the scatter changed."""
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
