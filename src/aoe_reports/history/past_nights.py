"""Nights on which everything of a machine, a model or a rank was longer (or shorter) together, and that are past.

A suspicion is told while the newest nights show it, and is forgotten with the night that clears it. Who looks at a history later
asks about such a night: it is found again from the times around it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from aoe_reports.history.causes import MIN_ERROR, explain_moved, operators_of, times_of
from aoe_reports.history.detection.noise import MAX_RARE
from aoe_reports.history.detector_run import DetectorRun
from aoe_reports.history.incidents import Group
from aoe_reports.history.stored_series import StoredSeries
from aoe_reports.history.suspicions import MIN_SERIES, STILL
from aoe_reports.model.changes import PastNight
from aoe_reports.model.columns import Floats
from aoe_reports.stats.causes import CLEAR_SCORES
from aoe_reports.stats.sample import MAD_TO_SIGMA

MAX_LENGTH = 2
"""Nights: three are a level, and the detector tells of it."""
AROUND = 3
"""So many nights on each side say what was usual."""
MIN_CHANGE = 0.01
"""Smaller ones are in every history."""
OUTSTANDING = 5.0
"""By so many scatters of what its operators do together from night to night a night has to stand out."""
_WHOLES = frozenset({"machine", "run", "rank"})


def past_nights(detected: DetectorRun) -> list[PastNight]:
    """Such nights of the store, oldest first."""
    stored = StoredSeries(detected)
    machines: dict[tuple[str, ...], list[Group]] = {}
    for group in stored.by_group:
        machines.setdefault(group[1:], []).append(group)
    found = [one for groups in machines.values() for one in _of_machine(stored, groups)]
    return sorted(found, key=lambda one: (one.night, one.hardware, one.models))


def _of_machine(stored: StoredSeries, groups: Sequence[Group]) -> Iterator[PastNight]:
    leaves = operators_of(stored, groups)
    times = np.log(times_of(stored, leaves))
    by_rank: dict[tuple[Group, int | None], list[int]] = {}
    for row, index in enumerate(leaves):
        by_rank.setdefault((stored.group(index), stored.labels[index].rank_id), []).append(row)
    spans = {span for rows in by_rank.values() if len(rows) >= MIN_SERIES for span in _outstanding(times[rows])}
    if len(spans) > max(MAX_RARE * times.shape[1], 1):  # every Sunday, say
        return
    for first, last in sorted(spans):
        yield from _explained(stored, leaves, times, first, last)


def _outstanding(times: Floats) -> Iterator[tuple[int, int]]:
    """The first and the last column of nights on which most of some operators moved, and after which they moved back."""
    measured = np.flatnonzero(np.isfinite(times).any(axis=0))
    known = times[:, measured]
    if len(measured) < 2 * AROUND:
        return
    steps = _common(known[:, 1:] - known[:, :-1])
    least = max(MIN_CHANGE, OUTSTANDING * MAD_TO_SIGMA * float(np.median(np.abs(steps - np.median(steps)))))
    for length in range(1, MAX_LENGTH + 1):
        back = _common(known[:, length + 1 :] - known[:, : -length - 1])
        for place in np.flatnonzero(np.abs(steps[: len(back)]) >= least).tolist():
            rise, fall = steps[place], -steps[place + length]
            within = steps[place + 1 : place + length]
            if rise * fall > 0 and abs(fall) >= least and (np.abs([back[place], *within]) < STILL * abs(rise)).all():
                yield int(measured[place + 1]), int(measured[place + length])


def _common(moved: Floats) -> Floats:
    """What operators do together from a night to another; 0 where none was measured on both."""
    known = np.isfinite(moved).any(axis=0)
    common = np.zeros(moved.shape[1])
    common[known] = np.nanmedian(moved[:, known], axis=0)
    return common


def _explained(
    stored: StoredSeries, leaves: Sequence[int], times: Floats, first: int, last: int
) -> Iterator[PastNight]:
    """What explains how some nights differ from those around them, where that is a machine, a model or a rank."""
    around = np.concatenate([times[:, max(first - AROUND, 0) : first], times[:, last + 1 : last + 1 + AROUND]], axis=1)
    inside = times[:, first : last + 1]
    rows = np.flatnonzero(np.isfinite(inside).any(axis=1) & np.isfinite(around).any(axis=1)).tolist()
    if not rows:
        return
    mine = [leaves[row] for row in rows]
    moved = np.nanmean(inside[rows], axis=1) - np.nanmedian(around[rows], axis=1)
    scatters = [stored.judged_series[index].scatter for index in mine]
    length = last - first + 1
    errors = np.maximum([scatter.error(2 * AROUND, length) for scatter in scatters], MIN_ERROR)
    models = sorted({stored.labels[index].model for index in mine})
    found = explain_moved(stored, mine, moved, errors, np.abs(moved) > CLEAR_SCORES * errors, models)
    nights = stored.judged.histories.nights
    for cause in found.rows():
        if cause.kind in _WHOLES and cause.followers >= MIN_SERIES and abs(cause.change) >= MIN_CHANGE:
            yield PastNight(
                night=nights[first],
                last_night=nights[last],
                models=models if cause.model is None else [cause.model],
                hardware=stored.labels[mine[0]].hardware,
                cause=cause,
            )
