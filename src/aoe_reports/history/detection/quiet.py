"""Quiet series, many at once: most series of a night show nothing, and their verdicts need no closer look.

Of series with equally many nights and no candidate, matrices (series, nights) hold what a closer look would find of each, figure
for figure. Whatever may show anything else (two modes, a suspicion, a run of nights out of line, another scatter) is left to that
closer look: what is asked here is never more than what is asked there, less than rounding.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from aoe_reports.history.detection.candidates import Prepared
from aoe_reports.history.detection.levels import likely_levels, middles
from aoe_reports.history.detection.newest import TOGETHER, suspicion_score
from aoe_reports.history.detection.noise import Noise, Sums, noise_of_sums, scatter_of, smallest_detectable, stand_alone
from aoe_reports.history.detection.verdicts import Verdict, time_of
from aoe_reports.stats import noise
from aoe_reports.stats.modes import ROUNDING, may_have_modes
from aoe_reports.stats.noise import Floats
from aoe_reports.stats.scatter import may_change, off_levels, scatter_segments

Flags = NDArray[np.bool_]


def quiet_verdicts(several: Sequence[Prepared]) -> dict[int, Verdict]:
    """The verdicts on those series that show nothing, by their places."""
    found: dict[int, Verdict] = {}
    by_nights: dict[int, list[int]] = {}
    for place, one in enumerate(several):
        may_be_quiet = not one.parameters.hindsight and len(one.logs) >= one.parameters.least_nights
        if may_be_quiet and not one.candidates and not one.newest and one.switch is None:
            by_nights.setdefault(len(one.logs), []).append(place)
    for places in by_nights.values():
        found |= {places[row]: verdict for row, verdict in _verdicts([several[place] for place in places])}
    return found


@dataclass(frozen=True, slots=True)
class _Table:
    """Series of equally many nights around their levels."""

    ours: Sequence[Prepared]
    logs: Floats
    limits: Floats
    """Of each series, as `levels` and `sigma` are."""
    levels: Floats
    residuals: Floats
    clipped: Floats
    squares: Floats
    sigma: Floats
    sides: Floats
    """Of nights out of line -1 or 1, of others 0."""

    @classmethod
    def of(cls, ours: Sequence[Prepared]) -> _Table:
        logs = np.stack([our.logs for our in ours])
        limits = noise.CLIP * np.array([our.sigma for our in ours])[:, None]
        levels = middles(logs, np.ones(logs.shape[1]), limits)
        residuals = logs - levels[:, None]
        clipped = np.minimum(np.maximum(residuals, -limits), limits)
        squares = np.square(clipped).sum(axis=1)
        sigma = scatter_of(squares, logs.shape[1] - 1)
        outside = np.abs(residuals) > (noise.CLIP * sigma)[:, None]
        sides = np.where(outside, np.sign(residuals), 0.0)
        return cls(ours, logs, limits, levels, residuals, clipped, squares, sigma, sides)


def _verdicts(ours: Sequence[Prepared]) -> Iterator[tuple[int, Verdict]]:
    table = _Table.of(ours)
    noises = _noises(table)
    loud = _has_runs(table) | _has_modes(table) | _has_scatters(table, noises)
    loud |= _has_suspicion(table, noises, ~loud)
    nights = table.logs.shape[1]
    for row in np.flatnonzero(~loud).tolist():
        one, left = ours[row], noises[row]
        verdict = Verdict(
            nights=nights,
            left_out=one.left_out,
            reason=None,
            level=time_of(float(table.levels[row])),
            sigma=left.sigma,
            memory=left.memory,
            rare=left.rare,
            smallest_detectable=smallest_detectable(left, nights, one.parameters.needed(left.certain), one.parameters),
        )
        yield row, verdict


def _noises(table: _Table) -> list[Noise]:
    nights = table.logs.shape[1]
    products = (table.clipped[:, 1:] * table.clipped[:, :-1]).sum(axis=1)
    spikes = stand_alone(table.sides).sum(axis=1)
    rows = zip(table.sigma.tolist(), table.squares.tolist(), products.tolist(), spikes.tolist(), strict=True)
    return [
        noise_of_sums(Sums(nights, 1, *row), one.habits, one.parameters)
        for one, row in zip(table.ours, rows, strict=True)
    ]


def _has_runs(table: _Table) -> Flags:
    """Which series have an episode: adjacent nights out of line on one side."""
    found: Flags = ((table.sides[:, 1:] == table.sides[:, :-1]) & (table.sides[:, 1:] != 0)).any(axis=1)
    return found


def _has_modes(table: _Table) -> Flags:
    """Which series may have two modes, by their nights in line; computed for equal counts at once."""
    inside = table.sides == 0
    found = np.zeros(len(inside), dtype=bool)
    counts = inside.sum(axis=1)
    for count in np.unique(counts):
        rows = np.flatnonzero(counts == count)
        found[rows] = may_have_modes(table.residuals[rows][inside[rows]].reshape(len(rows), count))
    return found


def _has_scatters(table: _Table, noises: Sequence[Noise]) -> Flags:
    found = np.array([our.uneven for our in table.ours])
    rows = np.flatnonzero(found)
    off = off_levels(table.logs[rows])
    found[rows] = may_change(off)
    for row in np.flatnonzero(found[rows]).tolist():
        found[rows[row]] = len(scatter_segments(off[row], noises[rows[row]].memory)) > 1
    return found


def _has_suspicion(table: _Table, noises: Sequence[Noise], wanted: Flags) -> Flags:
    off = np.abs(table.logs[:, -1] - table.levels)
    rows = np.flatnonzero(wanted & (off >= table.sigma))
    rare = np.array([noises[row].rare for row in rows.tolist()])[:, None]
    needed = np.array([suspicion_score(table.ours[row].parameters) for row in rows.tolist()])
    found = np.zeros(len(off), dtype=bool)
    for count, least in ((1, needed), (2, TOGETHER)):
        before = table.logs[rows, :-count]
        sigma = scatter_of(np.square(table.clipped[rows, :-count]).sum(axis=1), before.shape[1] - 1)
        levels = likely_levels(before, np.ones(before.shape[1]), table.limits[rows], table.sigma[rows, None], rare)
        newest = table.logs[rows, -count:] - levels[:, None]
        # memory makes the error of their mean larger, never less; on opposite sides two nights are none
        nearest = np.where(np.sign(newest).sum(axis=1) ** 2 == count**2, np.abs(newest).min(axis=1), 0.0)
        found[rows] |= nearest >= (1 - ROUNDING) * least * sigma
    return found
