"""What caused an incident: all of a run, a rank, an operator type or an operator, from all series that could have moved with it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aoe_reports.history.examination import Examination
from aoe_reports.history.incidents import Incident
from aoe_reports.model.changes import IncidentCause
from aoe_reports.model.columns import Floats
from aoe_reports.stats.causes import Cause, find_causes

NIGHTS_BEFORE, NIGHTS_AFTER = 14, 7
"""The levels around an incident are those of so many nights: what is further away may have been another change."""
LEAST_ERROR = 0.003
"""No level is known better: a few nights that are alike by chance do not make an operator a witness of its own."""

_RANK, _TYPE, _NAME = range(3)
LEVELS = ((), (_RANK,), (_TYPE, _NAME), (_TYPE,), (_RANK, _TYPE, _NAME), (_RANK, _TYPE))
"""What a cause can be about: everything, a rank, an operator, an operator type, one of them on one rank."""


def causes_of(examined: Examination, incident: Incident, ends: tuple[int, int]) -> list[IncidentCause]:
    """The causes that explain what moved, the one that explains most first; none where only sums of operators moved.

    `ends` are the places of the incidents before and after it.
    """
    shifts = {examined.places[one.series]: one.shift for one in incident.members}
    leaves, moved, nights = _moved(examined, _operators_of(examined, incident), incident.lead.place, ends)
    errors = np.full(len(leaves), LEAST_ERROR)
    for place, index in enumerate(leaves):
        scatter, (before, after), shift = examined.judged_series[index].scatter, nights[place], shifts.get(index)
        if shift is not None:
            moved[place] = np.log(shift.after / shift.before)
            before, after = shift.before_nights, shift.after_nights
        errors[place] = max(scatter.error(before, after), LEAST_ERROR)
    labels = [(one.rank_id, one.op_type, one.op_name) for one in map(examined.labels.__getitem__, leaves)]
    certain = np.array([index in shifts for index in leaves], dtype=bool)
    return [_row(cause) for cause in find_causes(labels, LEVELS, moved, errors, certain)]


def _operators_of(examined: Examination, incident: Incident) -> list[int]:
    """The operators of an incident's workload; an operator type only where none of its operators is stored."""
    mine = examined.by_group[incident.lead.group]
    apart = [index for index in mine if examined.labels[index].scope in {"op", "communication"}]
    told = {(examined.labels[index].rank_id, examined.labels[index].op_type) for index in apart}
    types = [index for index in mine if examined.labels[index].scope == "op_type"]
    judged = [*apart, *(i for i in types if (examined.labels[i].rank_id, examined.labels[i].op_type) not in told)]
    return [index for index in judged if examined.judged.verdicts[index].sigma is not None]


def _moved(
    examined: Examination, indexes: Sequence[int], place: int, ends: tuple[int, int]
) -> tuple[list[int], Floats, list[list[int]]]:
    """(the series that have nights on both sides of a place, the change of each (logarithm), how many nights those are)."""
    values = examined.judged.histories.values_ms[list(indexes)]
    spans = slice(max(place - NIGHTS_BEFORE, ends[0], 0), place), slice(place, min(place + NIGHTS_AFTER, ends[1]))
    sides = [np.where(values[:, span] > 0, values[:, span], np.nan) for span in spans]
    nights = np.stack([np.isfinite(side).sum(axis=1) for side in sides], axis=1)
    has_both = nights.min(axis=1) > 0
    before, after = (np.log(np.nanmedian(side[has_both], axis=1)) for side in sides)
    kept = [index for index, is_kept in zip(indexes, has_both.tolist(), strict=True) if is_kept]
    return kept, np.asarray(after - before), nights[has_both].tolist()


def _row(cause: Cause) -> IncidentCause:
    rank, op_type, op_name = cause.labels
    kind = "operator" if op_name else "op-type" if op_type else "run" if rank is None else "rank"
    return IncidentCause(
        kind=kind,
        rank_id=rank,
        op_type=op_type,
        op_name=op_name,
        change=float(np.expm1(cause.size)),
        followers=len(cause.followers),
        members=len(cause.members),
    )
