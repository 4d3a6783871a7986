"""Has the level of a series changed, since when and by how much?

Candidates come from an exact partition of clipped values (`detection.candidates`). Each must then be proved (`detection.proof`): the
gain in likelihood that two levels have over one, in the noise that is left around them (`detection.levels`, `detection.noise`), must
reach a threshold that belongs to a budget of false alarms (`stats.budget`). What is proved is located on the unclipped values and put
into words (`detection.changes`); what is no change of level has names of its own (`detection.observations`). Beside it a guard (`detection.guard`) sees to it that a large step is told whatever else happened: its
steps need no other proof.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from aoe_reports.history.detection.candidates import Prepared, prepare
from aoe_reports.history.detection.changes import changes_of, observations_of
from aoe_reports.history.detection.levels import Leveled
from aoe_reports.history.detection.newest import plain_suspicion, suspicion
from aoe_reports.history.detection.noise import smallest_detectable
from aoe_reports.history.detection.proof import prove
from aoe_reports.history.detection.quiet import quiet_verdicts
from aoe_reports.history.detection.verdicts import Levels, Parameters, Verdict, time_of
from aoe_reports.stats import noise
from aoe_reports.stats.budget import SERIES_RATE, Budget
from aoe_reports.stats.noise import Floats

VERSION = 11
"""Of the detector: a change is stored with the version and the parameters that found it."""


def detect_changes(
    values: ArrayLike,
    parameters: Parameters | None = None,
    days: Sequence[int] | None = None,
    workloads: Sequence[int] | None = None,
    budgets: Sequence[Budget] | None = None,
) -> list[Verdict]:
    """What each series shows: values (series, nights) are times of any unit, oldest first, NaN where there is none.

    A series is judged by itself: neither the order nor the number of the others matters, except that those of one workload
    (`workloads` numbers that of each series, where given) tell each other of their noise. Nights must be in order; a gap is no
    time that passes. `days` number the days of the nights, for patterns of the week: one after the other unless given.
    `budgets` are those of each series, where they do not all have that of the parameters.
    """
    parameters = parameters or Parameters()
    found: list[Verdict] = []
    for several in prepare(values, parameters, days, workloads, budgets):
        quiet = quiet_verdicts(several)
        found += (quiet.get(place) or judge(one) for place, one in enumerate(several))
    return found


def find_levels(values: ArrayLike, parameters: Parameters) -> list[Levels]:
    """The changes and the newest level that `detect_changes` tells of each series, and nothing else of it."""
    return [_levels(one) for several in prepare(values, parameters) for one in several]


def review_history(values: ArrayLike, false_changes: float = SERIES_RATE) -> list[Verdict]:
    """What the whole history of each series shows when it is looked at once: values as for `detect_changes`.

    `false_changes` is how many a look at one quiet series may show. Thresholds are those of one look, lower than those of
    a look every night; in return levels must explain the nights better than memory alone would.
    """
    return detect_changes(values, Parameters(budget=Budget(false_changes), hindsight=True))


def judge(one: Prepared) -> Verdict:
    """What one series shows, looked at closely."""
    logs, parameters = one.logs, one.parameters
    if len(logs) < parameters.least_nights:
        reason: Literal["no-times", "too-few-nights"] = "too-few-nights" if len(logs) else "no-times"
        return Verdict(nights=len(logs), left_out=one.left_out, reason=reason, level=_young_level(logs))
    series = Leveled(one)
    proof = prove(one, series)
    return Verdict(
        nights=len(logs),
        left_out=one.left_out,
        reason=None,
        level=time_of(series.levels[-1]),
        sigma=series.noise.sigma,
        memory=series.noise.memory,
        rare=series.noise.rare,
        smallest_detectable=smallest_detectable(
            series.noise, series.edges[-1] - series.edges[-2], series.threshold, parameters
        ),
        changes=tuple(changes_of(proof, one.nights)),
        suspect=suspicion(series, one.nights) or plain_suspicion(proof, one.nights),
        observed=observations_of(one, series),
    )


def _levels(one: Prepared) -> Levels:
    if len(one.logs) < one.parameters.least_nights:
        return Levels((), _young_level(one.logs))
    if not one.candidates:  # most series: their noise is asked for by nobody
        return Levels((), time_of(noise.middle(one.logs, noise.CLIP * one.sigma)))
    series = Leveled(one)
    proof = prove(one, series)
    return Levels(tuple(changes_of(proof, one.nights)), time_of(series.levels[-1]))


def _young_level(logs: Floats) -> float | None:
    return time_of(float(np.median(logs))) if len(logs) else None
