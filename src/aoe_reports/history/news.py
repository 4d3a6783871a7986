"""What a look at a store brings up that the store does not know yet: changes to be remembered, and told ones that hold no more."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

import polars as pl

from aoe_reports.formats.records.payloads import Seen
from aoe_reports.history.examination import Examination
from aoe_reports.history.recorded import News, record_news
from aoe_reports.history.rules import CHANGE_WITHDRAWN
from aoe_reports.model.causes import series_name
from aoe_reports.model.findings import Finding
from aoe_reports.model.metrics import value_change
from aoe_reports.model.texts import say


def record_changes(examined: Examination, only: Collection[str] | None = None) -> int:
    """Remember what changed and was not told yet, and what was told and holds no more; how many rows that were."""
    news = [one for one in _news(examined) if only is None or one.labels.series_id in only]
    begun = {shift.incident for one in news for shift in one.shifts}
    incidents = [incident for incident in examined.incidents if incident.id in begun]
    examined.surroundings.read(incidents)
    seen = {one.id: Seen(one.since, one.since_run, examined.surroundings.now(one.id) or []) for one in incidents}
    told = [replace(one, seen=seen) for one in news]
    return record_news(examined.history, examined.recorded, told, examined.judged.false_alarms_per_year)


def _news(examined: Examination) -> Iterator[News]:
    times = dict(examined.records.group_by("series_id").agg(pl.col("timestamp_ns").max()).iter_rows())
    for index in examined.shown():
        active, last_night = examined.active_changes[index], examined.judged_series[index].last_night()
        fresh = [
            replace(shift, incident=examined.incident_of(index, shift)) for shift in active.every if shift.found is None
        ]
        if (fresh or active.withdrawn) and last_night is not None:
            yield News(
                labels=examined.labels[index],
                timestamp_ns=times[examined.labels[index].record_series or examined.ids[index]],
                last_night=last_night,
                parameters=examined.judged.parameters_of(index),
                shifts=fresh,
                withdrawn=active.withdrawn,
            )


def withdrawals(examined: Examination) -> Iterator[Finding]:
    """Changes that were told, and that the nights that are there now do not bear out."""
    for index in examined.shown():
        for shift in examined.active_changes[index].withdrawn:
            message = say(
                (
                    "{workload} (series {series_id}): a change of {change:+.1%} since {since} was reported on "
                    "{found}; the current nights do not confirm it (incident {incident})"
                ),
                workload=series_name(examined.labels[index]),
                series_id=examined.ids[index],
                change=value_change(shift.change, examined.labels[index].better),
                since=shift.since,
                found=shift.found,
                incident=shift.incident,
            )
            yield CHANGE_WITHDRAWN.found(examined.history.uri, message)
