"""People's word on changes: accepting a new level, announcing a change, naming a run, taking such a word back."""

from __future__ import annotations

import math
import re
import time
from dataclasses import asdict, replace
from datetime import date, timedelta
from typing import Any

from msgspec import to_builtins

from aoe_reports.formats.records.payloads import Accepted, Acknowledged, Expected
from aoe_reports.history.changes.examination import Examination, examine
from aoe_reports.history.changes.news import record_changes
from aoe_reports.history.changes.recorded import ack_id, ack_rows, read_recorded
from aoe_reports.history.options import AckOptions, ExpectOptions, RegressionOptions, TagOptions, WhoOptions
from aoe_reports.history.origin import origin_of
from aoe_reports.history.series.baselines import Acceptance, limit_of
from aoe_reports.history.series.pinned import is_date
from aoe_reports.model.documents import JsonObject
from aoe_reports.model.errors import UsageError
from aoe_reports.model.history.metrics import value_of
from aoe_reports.model.rows import column, row
from aoe_reports.model.texts import say
from aoe_reports.store import History, equals


@row
class Acknowledgement:
    """What somebody said of a series, an incident or a workload, and what the store did with it."""

    id: str = column("Id")
    subject: str = column("About")
    outcome: str = column("Store", "word")
    series: int | None = column("Series", "integer")
    who: str | None = column("Author")
    reason: str = column("Reason", "sentence")


@row
class Expectation(Acknowledgement):
    """A change that somebody announced; low and high are shares."""

    series: int | None = column()
    since: str = column("From", before="who")
    until: str = column("Until", before="who")
    low: float = column("from", "change", before="who")
    high: float = column("to", "change", before="who")


@row
class Tag:
    """A run that got a name."""

    tag: str = column("Name")
    run: str = column("Run")
    night: str = column("Night")
    workload: str = column("Workload")
    outcome: str = column("Store", "word")


EXPECTED_DAYS = 7
"""How long an announced change is waited for unless told otherwise: an upgrade that slips by more is announced anew."""
_RANGE = re.compile(r"\s*(?:(?P<low>[+-]?[0-9.]+)\s*%?\s*\.\.\s*)?(?P<high>[+-]?[0-9.]+)\s*%\s*")


def acknowledge(store: str, subject: str, chosen: AckOptions) -> Acknowledgement:
    """Accept the level that a series, or all series of an incident, have now; what is not told yet is told with it."""
    if chosen.revoke:
        return _revoke(store, subject, chosen)
    history = History.open(store, origin=origin_of("ack"))
    examined = examine(history, RegressionOptions(metrics=chosen.metrics))
    indexes = _open_series(examined, subject)
    accepted = [_acceptance(examined, index) for index in indexes if examined.active_changes[index].open]
    if not accepted:
        acks = (examined.active_changes[index].accepted for index in indexes)
        active = next((ack for ack in acks if isinstance(ack, Acceptance)), None)
        if active is None:
            raise UsageError(
                say("{subject}: no open items: no slow-down is waiting for an acknowledgement", subject=subject)
            )
        return _answer(subject, "unchanged", id=active.id, who=active.who, reason=active.reason, series=len(indexes))
    record_changes(examined, {one.series_id for one in accepted})
    said = Acknowledged("", _who(history, chosen), chosen.reason, accepted)
    return _store(history, subject, "acknowledged", said, len(accepted))


def _open_series(examined: Examination, subject: str) -> list[int]:
    if subject in examined.places:
        return [examined.places[subject]]
    for incident in examined.incidents:
        if incident.id == subject:
            return sorted({examined.places[member.series] for member in incident.members})
    raise UsageError(
        say("{subject}: no series or incident of the store has this name; `regressions` lists them", subject=subject)
    )


def _acceptance(examined: Examination, index: int) -> Accepted:
    active = examined.active_changes[index]
    limit = value_of(limit_of(active), examined.labels[index].better)
    return Accepted(examined.ids[index], active.shifts[-1].since, limit)


def _revoke(store: str, subject: str, chosen: AckOptions) -> Acknowledgement:
    """Revoke acknowledgements and expectations: one by its id, or all of a series, an incident or a workload."""
    history = History.open(store, origin=origin_of("ack"))
    told = read_recorded(history)
    ids = sorted(name for name, of in told.active.items() if subject in {name, of})
    if not ids:
        raise UsageError(
            say("{subject}: no active acknowledgement or expectation has this name or refers to it", subject=subject)
        )
    who = _who(history, chosen)
    history.add_extra(
        ack_rows(subject, "revoked", {"reason": chosen.reason, "who": who, "ids": [*ids]}, time.time_ns())
    )
    return _answer(subject, "revoked", id=", ".join(ids), who=who, reason=chosen.reason)


def expect(store: str, workload: str, chosen: ExpectOptions) -> Expectation:
    """Announce a change: slow-downs of this size, of this workload, that begin between two nights fail no job."""
    low, high = parse_range(chosen.change)
    since, reason = chosen.since, chosen.reason
    until = _later(since) if chosen.until is None else chosen.until
    for name, night in (("--from", since), ("--until", until)):
        if not is_date(night):
            raise UsageError(say("{name} {night!r}: expected a date such as 2026-01-31", name=name, night=night))
    if until < since:
        raise UsageError(say("--until {until} is before --from {since}", until=until, since=since))
    history = History.open(store, origin=origin_of("expect"))
    said = Expected("", _who(history, chosen), reason, since=since, until=until, low=low, high=high)
    known = read_recorded(history).expectations
    same = [
        one
        for subject, one in known
        if (subject, one.since, one.until, one.low, one.high, one.reason) == (workload, since, until, low, high, reason)
    ]
    if same:
        answer = _answer(workload, "unchanged", id=same[0].id, who=same[0].who, reason=reason)
    else:
        answer = _store(history, workload, "expected", said, None)
    return Expectation(**asdict(answer), since=since, until=until, low=low, high=high)


def parse_range(text: str) -> tuple[float, float]:
    """`5%` (to either side), `0..5%` or `-3%..5%` as shares; UsageError for what is none."""
    found = _RANGE.fullmatch(text)
    try:
        assert found is not None
        high = float(found["high"]) / 100
        low = -abs(high) if found["low"] is None else float(found["low"]) / 100
        high = abs(high) if found["low"] is None else high
    except (AssertionError, ValueError):
        low, high = 1.0, 0.0
    if not (math.isfinite(low) and math.isfinite(high) and -1 < low <= high):
        raise UsageError(say("--change {text!r}: expected 5% (slower or faster), 0..5% or -3%..5%", text=text))
    return low, high


def _later(since: str) -> str:
    if not is_date(since):
        return since  # refused under its own name
    try:
        return (date.fromisoformat(since) + timedelta(days=EXPECTED_DAYS)).isoformat()
    except OverflowError:
        return since


def tag(store: str, name: str, chosen: TagOptions) -> Tag:
    """Give a run a name, by which `--baseline tag:NAME` finds it; the newest of equal names counts."""
    history, run = History.open(store, origin=origin_of("tag")), chosen.run
    found = history.runs([equals("run_id", run)])
    if not found:
        raise UsageError(say("--run {run}: there is no such run; `store history runs` lists them", run=run))
    named = Tag(tag=name, run=run, night=found[0].night, workload=found[0].model, outcome="added")
    if read_recorded(history).tags.get(name) == run:
        return replace(named, outcome="unchanged")
    body: JsonObject = {"run": run, "night": found[0].night, "who": _who(history, chosen)}
    history.add_extra(ack_rows(name, "tag", body, time.time_ns()))
    return named


def _store(
    history: History, subject: str, state: str, said: Acknowledged | Expected, series: int | None
) -> Acknowledgement:
    timestamp_ns = time.time_ns()
    body = to_builtins(said)
    del body["id"]  # which is made of the rest
    name = ack_id(subject, body, timestamp_ns)
    history.add_extra(ack_rows(subject, state, {**body, "id": name}, timestamp_ns))
    return _answer(subject, "added", id=name, who=said.who, reason=said.reason, series=series)


def _who(history: History, chosen: WhoOptions) -> str | None:
    return chosen.who if chosen.who is not None else history.log.origin.user


def _answer(subject: str, outcome: str, **more: Any) -> Acknowledgement:
    return Acknowledgement(**{"series": None, **more}, subject=subject, outcome=outcome)
