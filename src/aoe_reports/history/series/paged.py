"""Which series have a page of their own: of a fleet's ranks, those that something is told of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from aoe_reports.history.series.series import SeriesLabels
from aoe_reports.model.history.changes import COMPUTING, PHASE, IncidentChange

_OF_RANKS = frozenset({"step", "communication", COMPUTING, PHASE})


def paged_series(labels: Sequence[SeriesLabels], incidents: Iterable[IncidentChange]) -> frozenset[str]:
    """The series that have a page.

    Where operators are told over all ranks, the steps, computing and communication of single ranks have none, but the first
    rank's, and those that name an incident: a thousand ranks are a thousand pages that nobody opens.
    """
    fleets = {_machine(one) for one in labels if one.scope == COMPUTING}
    first: dict[tuple[object, ...], SeriesLabels] = {}
    paged = set()
    for one in labels:
        if one.rank_id is None or one.scope not in _OF_RANKS or _machine(one) not in fleets:
            paged.add(one.series_id)
            continue
        known = first.setdefault((*_machine(one), one.workload, one.op_type), one)
        if (one.rank_id, one.series_id) < (known.rank_id, known.series_id):
            first[*_machine(one), one.workload, one.op_type] = one
    paged |= {one.series_id for one in first.values()}
    for incident in incidents:
        for model in incident.models:
            paged.add(next(member.series_id for member in incident.members if member.model == model))
    return frozenset(paged)


def _machine(one: SeriesLabels) -> tuple[str, str, str, str]:
    return one.model, one.hardware, one.engine, one.source
