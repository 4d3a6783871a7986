"""Suspicions: the newest nights, when they are further from the level than chance allows, and no change is proved yet."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from aoe_reports.history.detection import guard
from aoe_reports.history.detection.levels import Leveled
from aoe_reports.history.detection.noise import stand_alone
from aoe_reports.history.detection.proof import Proof
from aoe_reports.history.detection.verdicts import INTERVAL_SCORE, Change, Parameters, relative, time_of
from aoe_reports.stats import noise
from aoe_reports.stats.noise import Floats

TOGETHER = 2.0
"""Sigma that two nights must both be off to agree: one spike beside a usual night reaches it once in forty."""


def suspicion(series: Leveled, nights: Any) -> Change | None:
    """The newest one or two nights, when they are further from the level than chance allows."""
    logs = series.logs
    if abs(float(logs[-1]) - series.levels[-1]) < series.noise.sigma * series.newest_relative:
        return None  # the newest night is in line: the usual case, told at a glance
    needed = suspicion_score(series.parameters)
    spiky = _happened_before(series, needed)
    start = series.edges[-2]
    for count in (2, 1):
        before_them = len(logs) - count - start
        if before_them < series.parameters.least_level or (count == 1 and spiky):
            continue
        # what is to be judged must not widen its own measure
        squares = float(np.square(series.clipped[:-count]).sum())
        sigma = max(math.sqrt(squares / max(len(logs) - count - len(series.levels), 1)), noise.FLOOR)
        sigma *= series.newest_relative
        before, part = series.level(start, len(logs) - count), logs[-count:]
        after = float(part.mean())
        error = math.sqrt(series.noise.variance(before_them, count))
        score = math.copysign(math.sqrt(series.noise.normal(((after - before) / sigma / error) ** 2)), after - before)
        # two nights are more than one spike and a usual night: both lie out on the same side
        least = (needed if spiky else TOGETHER) * sigma
        agreed = count == 1 or _agree(part - before, least)
        if abs(score) >= needed and agreed and abs(relative(after - before)) >= series.parameters.least_effect:
            span, half = (len(logs) - count, len(logs)), INTERVAL_SCORE * sigma * error
            return _suspect(nights, span, before, after, half, (score, needed))
    return None


def suspicion_score(parameters: Parameters) -> float:
    """Standard scores that the newest night, or the mean of two, must be off."""
    return parameters.budget.suspicion if parameters.suspicion is None else parameters.suspicion


def plain_suspicion(proof: Proof, nights: Any) -> Change | None:
    """The newest four nights, where the guard suspects them and no change that is proved says it."""
    series, logs = proof.series, proof.series.logs
    start = len(logs) - guard.NEW
    if not proof.newest or (series.changes and series.changes[-1] > start - guard.NEW):
        return None
    new, old = logs[start:], logs[start - guard.BEFORE : start]
    scatter = guard.distance(logs, start) / proof.newest
    half = INTERVAL_SCORE * scatter * math.sqrt(1 / len(new) + 1 / len(old))
    scores = (proof.newest, proof.parameters.guard_suspicion)
    return _suspect(nights, (start, len(logs)), float(np.median(old)), float(new.mean()), half, scores)


def _suspect(
    nights: Any, span: tuple[int, int], before: float, after: float, half: float, scores: tuple[float, float]
) -> Change:
    return Change(
        night=int(nights[span[0]]),
        until=int(nights[span[1] - 1]) + 1,
        state="suspect",
        before=time_of(before),
        after=time_of(after),
        change=relative(after - before),
        ci_low=relative(after - before - half),
        ci_high=relative(after - before + half),
        statistic=scores[0] ** 2,
        threshold=scores[1] ** 2,
    )


def _agree(off: Floats, least: float) -> bool:
    """Whether nights all lie out on one side, each by more than `least`."""
    return abs(float(np.sign(off).sum())) == len(off) and float(np.abs(off).min()) > least


def _happened_before(series: Leveled, needed: float) -> bool:
    """Whether a single night deviated as far before: then two nights must."""
    scores = series.residuals / series.noise.sigma
    single = stand_alone(np.where(np.abs(scores) > TOGETHER, np.sign(scores), 0.0))
    return bool((single & (np.abs(scores) >= needed))[:-2].any())
