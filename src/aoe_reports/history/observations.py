"""What series do that is no change of their level: told beside the changes, never recorded, and no reason to fail."""

from __future__ import annotations

from collections.abc import Iterator

from aoe_reports.history.detection.verdicts import Observed
from aoe_reports.history.examination import Examination
from aoe_reports.model.changes import METRIC, SeriesObservation
from aoe_reports.model.metrics import value_change, value_of
from aoe_reports.model.rows import row_from

RECENT_NIGHTS = 14
"""Nights in which something must have begun or ended to be listed in a report: what is older was listed then."""


def observations(examined: Examination) -> list[SeriesObservation]:
    """What is observed in the series that are asked for, the newest first."""
    found = [one for index in examined.asked() for one in _of_series(examined, index)]
    found.sort(key=lambda one: (one.workload, one.series_id, one.kind))
    return sorted(found, key=lambda one: one.since, reverse=True)


def _of_series(examined: Examination, index: int) -> Iterator[SeriesObservation]:
    labels, nights = examined.labels[index], examined.judged.histories.nights
    for one in examined.judged.verdicts[index].observed:
        of_scatter = one.kind == "scatter-change"
        yield row_from(
            SeriesObservation,
            labels,
            kind=one.kind,
            metric=labels.metric if labels.scope == METRIC else None,
            since=nights[one.night],
            until=None if one.until is None else nights[one.until - 1],
            recent=_is_recent(one, len(nights)),
            before=None if of_scatter else value_of(one.before, labels.better),
            after=None if of_scatter else value_of(one.after, labels.better),
            change=one.after / one.before - 1
            if of_scatter
            else value_change(one.after / one.before - 1, labels.better),
            scatter_before=one.before if of_scatter else None,
            scatter_after=one.after if of_scatter else None,
        )


def _is_recent(one: Observed, nights: int) -> bool:
    return max(one.night, (one.until or 1) - 1) >= nights - RECENT_NIGHTS
