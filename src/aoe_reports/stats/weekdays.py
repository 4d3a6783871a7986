"""What the day of the week adds to a series: taken out where there is evidence, left where there is none.

Seven nights in a row hold each weekday once, so their median is a level without the pattern; the mean of what each weekday
is off it is the pattern. Values are natural logarithms of times.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from aoe_reports.stats.noise import CLIP, FLOOR, HALF, Floats, Integers, running_median
from aoe_reports.stats.sample import MAD_TO_SIGMA

WEEK = 7
MIN_WEEKS = 4
"""Weeks without which a pattern is not told from chance."""
EVIDENCE = 40.0
"""Of a pattern, in squared standard scores of its six degrees of freedom: quiet series reach it once in a million."""
NEAR = 0.8
"""Nights a week apart differ by less than this much of what neighbours do where there is a pattern: others are not looked at."""
ROUNDS = 4
"""Of estimating: where nights are missing, seven of them hold a weekday twice, and the first median stands on the pattern."""
MAX_DIFFERENCE = 0.3
"""What a difference counts at most while series are looked at at a glance: spikes are no pattern."""


def take_out_weekdays(logs: Floats, days: Integers, lengths: Integers) -> Floats:
    """The series (series, nights), compacted, without the patterns that are proved; `days` number the days of the nights."""
    if logs.shape[1] < MIN_WEEKS * WEEK:
        return logs
    plain = logs
    for row in np.flatnonzero(_suspected(logs, days, lengths)):
        length = int(lengths[row])
        pattern = _pattern(logs[row, :length], days[row, :length] % WEEK)
        if pattern is not None:
            plain = plain.copy() if plain is logs else plain
            plain[row, :length] -= pattern
    return plain


def _suspected(logs: Floats, days: Integers, lengths: Integers) -> Any:
    """Which series may have a pattern, cheaply: most have none."""
    by_day = np.full((len(logs), int(days.max()) + 1), np.nan)
    nights = np.arange(logs.shape[1]) < lengths[:, None]
    by_day[np.nonzero(nights)[0], days[nights]] = logs[nights]
    neighbours, weeks = _mean_difference(by_day, 1), _mean_difference(by_day, WEEK)
    return (weeks < NEAR * neighbours) & (lengths >= MIN_WEEKS * WEEK)


def _mean_difference(by_day: Floats, lag: int) -> Floats:
    differences = np.abs(by_day[:, lag:] - by_day[:, :-lag])
    counted = ~np.isnan(differences)
    total = np.where(counted, np.minimum(differences, MAX_DIFFERENCE), 0.0).sum(axis=1)
    return np.asarray(total / np.maximum(counted.sum(axis=1), 1))


def _pattern(logs: Floats, weekdays: Integers) -> Floats | None:
    """What the weekday of each night adds, with mean 0; None without evidence."""
    _, kinds = np.unique(weekdays, return_inverse=True)  # a store may have no nights at weekends
    inside = slice(HALF, len(logs) - HALF)
    days, counts = kinds[inside], np.bincount(kinds[inside])
    if len(counts) <= kinds.max() or counts.min() < MIN_WEEKS - 1:
        return None
    pattern = np.zeros(len(counts))
    for _ in range(ROUNDS):
        plain = logs - pattern[kinds]
        off = (plain - running_median(plain[None])[0])[inside]
        middles = np.array([np.median(off[days == day]) for day in range(len(counts))])
        rest = off - middles[days]
        limit = CLIP * max(MAD_TO_SIGMA * float(np.median(np.abs(rest))), FLOOR)
        rest = np.clip(rest, -limit, limit)
        pattern = pattern + middles + np.bincount(days, rest) / counts
        pattern -= pattern.mean()
    variance = float(np.square(rest).sum()) / (len(days) - 2 * len(counts))
    evidence = float(np.square(pattern[days]).sum()) / max(variance, FLOOR**2)
    return pattern[kinds] if evidence > EVIDENCE else None
