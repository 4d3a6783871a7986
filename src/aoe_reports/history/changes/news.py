"""What a look at a store brings up that the store does not know yet: changes to be remembered, and recorded ones that hold no more."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, replace

import polars as pl
from msgspec import to_builtins

from aoe_reports.formats.records.payloads import Seen
from aoe_reports.formats.records.record import canonical_json
from aoe_reports.history.changes.examination import Examination
from aoe_reports.history.changes.recorded import SHIFT_FIELDS, WITHDRAWN, shift_of_costs
from aoe_reports.history.detection.detector import VERSION
from aoe_reports.history.rules import CHANGE_WITHDRAWN
from aoe_reports.history.series.baselines import LevelShift
from aoe_reports.history.series.series import LABELS
from aoe_reports.model.documents import JsonObject
from aoe_reports.model.findings import Finding
from aoe_reports.model.history.causes import series_name
from aoe_reports.model.history.metrics import value_change
from aoe_reports.model.shares import signed_percent
from aoe_reports.model.texts import say
from aoe_reports.store.layout import month_of, table_of

_LABELS_OF_CHANGE = tuple(name for name in LABELS if name != "phase")
"""What a row of a change says of its series: one that AOE claims, which has a phase, is never judged."""


def record_changes(examined: Examination, only: Collection[str] | None = None) -> int:
    """Remember what changed and was not recorded yet, and what was recorded and holds no more, in one commit; how many rows that were.

    What is there already adds nothing: the same nights make the same rows, whoever looks at them, and when.
    """
    times = dict(examined.records.group_by("series_id").agg(pl.col("timestamp_ns").max()).iter_rows())
    news: dict[int, list[LevelShift]] = {}
    for index in examined.shown():
        active = examined.active_changes[index]
        fresh = [
            replace(shift, incident=examined.incident_of(index, shift)) for shift in active.every if shift.found is None
        ]
        is_news = (fresh or active.withdrawn) and examined.judged_series[index].last_night() is not None
        if is_news and (only is None or examined.ids[index] in only):
            news[index] = fresh
    begun = {shift.incident for fresh in news.values() for shift in fresh}
    incidents = [incident for incident in examined.incidents if incident.id in begun]
    examined.surroundings.read(incidents)
    now = examined.surroundings.now
    seen = to_builtins({one.id: Seen(one.since, one.since_run, now(one.id) or []) for one in incidents})
    rows: list[JsonObject] = []
    for index, fresh in news.items():
        timestamp_ns = times[examined.labels[index].record_series or examined.ids[index]]
        rows += _rows(examined, index, timestamp_ns, fresh, seen)
    return examined.history.add_extra(table_of(rows)) if rows else 0


def _rows(
    examined: Examination, index: int, timestamp_ns: int, fresh: Sequence[LevelShift], seen: JsonObject
) -> Iterator[JsonObject]:
    """The rows of one series: new changes, then recorded ones that no longer hold."""
    labels, judged, last_night = examined.labels[index], examined.judged, examined.judged_series[index].last_night()
    changes = [*fresh, *examined.active_changes[index].withdrawn]
    for place, shift in enumerate(shift_of_costs(change, labels.better) for change in changes):
        is_fresh = place < len(fresh)
        outcome = (
            {"found": last_night, "seen": seen.get(shift.incident or "")} if is_fresh else {"withdrawn": last_night}
        )
        body = {
            **{name: getattr(shift, name) for name in SHIFT_FIELDS},
            **outcome,
            "change": shift.change,
            "detector": VERSION,
            "parameters": asdict(judged.parameters_of(index)),
            "false_alarms_per_year": judged.false_alarms_per_year,
            "position": examined.recorded.counts.get(labels.series_id, 0) + place,
        }
        yield {
            "kind": "change",
            "month": month_of(timestamp_ns),
            "run_id": shift.since_run or "",
            "timestamp_ns": timestamp_ns,
            "night": shift.since,
            **{name: getattr(labels, name) for name in _LABELS_OF_CHANGE},
            "series_id": labels.series_id,
            "subject": labels.series_id,
            "state": shift.state if is_fresh else WITHDRAWN,
            "body": canonical_json(body),
        }


def withdrawals(examined: Examination) -> Iterator[Finding]:
    """Changes that were recorded, and that the nights that are there now do not bear out."""
    for index in examined.shown():
        for shift in examined.active_changes[index].withdrawn:
            message = say(
                "{workload} (series {series_id}): a change of {change} since {since} was reported on "
                "{found}; the current nights do not confirm it (incident {incident})",
                workload=series_name(examined.labels[index]),
                series_id=examined.ids[index],
                change=signed_percent(value_change(shift.change, examined.labels[index].better)),
                since=shift.since,
                found=shift.found,
                incident=shift.incident,
            )
            yield CHANGE_WITHDRAWN.found(examined.history.uri, message)
