"""What caused an incident: all of a run, a rank, an operator type or an operator, from all series that could have moved with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aoe_reports.history.incidents import Incident, SeriesShift
from aoe_reports.model.changes import IncidentCause
from aoe_reports.stats.causes import Cause, find_causes

if TYPE_CHECKING:
    from aoe_reports.history.examination import Examination

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
    shifts = {one.series: one for one in incident.members}
    leaves, moved, errors = [], [], []
    for index in _operators_of(examined, incident):
        measured = _moved(examined, index, shifts.get(examined.ids[index]), incident.lead.place, ends)
        if measured is not None:
            leaves.append(index)
            moved.append(measured[0])
            errors.append(max(measured[1], LEAST_ERROR))
    certain = np.array([examined.ids[index] in shifts for index in leaves], dtype=bool)
    labels = [(one.rank_id, one.op_type, one.op_name) for one in map(examined.labels.__getitem__, leaves)]
    return [_row(cause) for cause in find_causes(labels, LEVELS, np.array(moved), np.array(errors), certain)]


def _operators_of(examined: Examination, incident: Incident) -> list[int]:
    """The operators of an incident's workload; an operator type only where none of its operators is stored."""
    mine = [index for index in range(len(examined.labels)) if examined.group_of(index) == incident.lead.group]
    apart = [index for index in mine if examined.labels[index].scope in {"op", "communication"}]
    told = {(examined.labels[index].rank_id, examined.labels[index].op_type) for index in apart}
    types = [index for index in mine if examined.labels[index].scope == "op_type"]
    return [*apart, *(i for i in types if (examined.labels[i].rank_id, examined.labels[i].op_type) not in told)]


def _moved(
    examined: Examination, index: int, shift: SeriesShift | None, place: int, ends: tuple[int, int]
) -> tuple[float, float] | None:
    """(the change of a series around a night, its standard error), as logarithms; None without nights on both sides."""
    series = examined.judged_series[index]
    if shift is not None:
        one = shift.shift
        return float(np.log(one.after / one.before)), series.scatter.error(one.before_nights, one.after_nights)
    before = series.logs(max(place - NIGHTS_BEFORE, ends[0], 0), place)
    after = series.logs(place, min(place + NIGHTS_AFTER, ends[1]))
    if not len(before) or not len(after) or series.verdict.sigma is None:
        return None
    change = series.scatter.level(after) - series.scatter.level(before)
    return change, series.scatter.error(len(before), len(after))


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
