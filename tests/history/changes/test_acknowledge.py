"""People's word on changes, as the store takes it: accepting, announcing, naming, taking back."""

from __future__ import annotations

import json
import shutil
from datetime import date, timedelta
from pathlib import Path

import pytest
from stores import store_at_once

from aoe_reports.history.changes.acknowledge import acknowledge, expect, parse_range, tag
from aoe_reports.history.changes.regressions import find_regressions
from aoe_reports.history.options import AckOptions, ExpectOptions, RegressionOptions, TagOptions
from aoe_reports.model.errors import UsageError
from aoe_reports.model.history.changes import SeriesChange
from aoe_reports.store import History
from aoe_reports.topics.records.options import RecordOptions

FIRST = date(2026, 1, 1)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Forty nights: two series are slower by a tenth since the thirty-first, one is not; nobody may write there."""
    folder = tmp_path_factory.mktemp("words")
    shifts = {"net/a": 0.1, "net/b": 0.1, "net/quiet": 0.0}
    records = [
        {
            "workload": workload, "engine": "cann", "hardware": "npu", "runtime_ms_std": None, "schema_version": "0.1", "metadata": {},
            "runtime_ms_mean": 10.0 * (1 + 0.001 * ((night * 7 + place) % 5)) * (1 + shift * (night >= 30)),
            "timestamp": f"{FIRST + timedelta(days=night)}T02:00:00Z",
        }
        for place, (workload, shift) in enumerate(shifts.items())
        for night in range(40)
    ]  # fmt: skip
    (folder / "records.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    store_at_once([folder / "records.jsonl"], folder / "store", RecordOptions(tz="UTC"))
    return folder / "store"


@pytest.fixture
def store(made: Path, tmp_path: Path) -> str:
    return str(shutil.copytree(made, tmp_path / "store"))


def rows(store: str) -> dict[str, SeriesChange]:
    return {row.workload: row for row in find_regressions(store, RegressionOptions()).rows}


def said(store: str) -> list[str]:
    """Why a job would fail now."""
    return find_regressions(store, RegressionOptions()).reasons()


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("5%", -0.05, 0.05),
        (" 5 % ", -0.05, 0.05),
        ("-5%", -0.05, 0.05),
        ("0..5%", 0.0, 0.05),
        ("-3%..5%", -0.03, 0.05),
        ("-3 .. -1%", -0.03, -0.01),
        ("2.5%", -0.025, 0.025),
        ("-99%..5%", -0.99, 0.05),
        ("5..5%", 0.05, 0.05),
    ],
)
def test_a_range_of_changes_is_read_as_shares(text: str, low: float, high: float) -> None:
    assert parse_range(text) == pytest.approx((low, high))


@pytest.mark.parametrize("text", ["", "5", "x%", "5..3%", "-100%..5%", "..%", "1.2.3%", "100%", "0..5", "1e2%"])
def test_what_is_no_range_is_refused(text: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse_range(text)
    assert str(refused.value) == f"--change {text!r}: expected 5% (slower or faster), 0..5% or -3%..5%"


def test_a_series_is_accepted_once_and_may_be_taken_back(store: str) -> None:
    series = rows(store)["net/a"].series_id
    done = acknowledge(store, series, AckOptions(reason="a new driver", who="me"))
    assert (done.subject, done.outcome, done.series, done.who, done.reason) == (
        series,
        "added",
        1,
        "me",
        "a new driver",
    )
    accepted = rows(store)["net/a"].acknowledged
    assert accepted is not None
    assert (accepted.id, accepted.kind, accepted.who, accepted.reason) == (done.id, "ack", "me", "a new driver")
    assert rows(store)["net/b"].acknowledged is None
    again = acknowledge(store, series, AckOptions(reason="other words", who="you"))
    assert (again.id, again.outcome, again.who, again.reason) == (done.id, "unchanged", "me", "a new driver")
    assert said(store) == ["regression"]
    back = acknowledge(store, done.id, AckOptions(reason="it was wrong", who="you", revoke=True))
    assert (back.id, back.outcome, back.series, back.who) == (done.id, "revoked", None, "you")
    assert rows(store)["net/a"].acknowledged is None
    with pytest.raises(UsageError, match="no active acknowledgement or expectation has this name or refers to it"):
        acknowledge(store, done.id, AckOptions(reason="once more", revoke=True))


def test_an_incident_is_accepted_with_its_series(store: str) -> None:
    incident, *others = find_regressions(store, RegressionOptions()).incidents
    (member,) = incident.members
    done = acknowledge(store, incident.incident, AckOptions(reason="known"))
    assert (done.outcome, done.series, len(others)) == ("added", 1, 1)
    told = {row.series_id: row.acknowledged is not None for row in rows(store).values()}
    assert [series for series, accepted in told.items() if accepted] == [member.series_id]
    acknowledge(store, others[0].incident, AckOptions(reason="known, too"))
    assert said(store) == []
    back = acknowledge(store, incident.incident, AckOptions(reason="not known", revoke=True))
    assert (back.id, back.outcome) == (done.id, "revoked")
    assert said(store) == ["regression"]


def test_what_is_not_slower_and_what_nobody_knows_is_not_accepted(store: str) -> None:
    (quiet,) = (
        row for row in find_regressions(store, RegressionOptions(every=True)).rows if row.workload == "net/quiet"
    )
    with pytest.raises(UsageError, match="no open items: no slow-down is waiting for an acknowledgement"):
        acknowledge(store, quiet.series_id, AckOptions(reason="x"))
    with pytest.raises(UsageError, match="no series or incident of the store has this name; `regressions` lists them"):
        acknowledge(store, "nothing", AckOptions(reason="x"))


def test_an_announced_change_fails_no_job_in_its_range_and_its_nights(store: str) -> None:
    begun = rows(store)["net/a"].since
    for change, since, until, fails in (
        ("5%", begun, None, True),
        ("15%", "2026-02-20", None, True),
        ("15%", "2026-01-02", None, True),
        ("15%", begun, begun, False),
    ):
        done = expect(
            store, "net", ExpectOptions(since=since, change=change, until=until, reason="new compiler", who="me")
        )
        week = (date.fromisoformat(since) + timedelta(days=7)).isoformat()
        assert (done.subject, done.outcome, done.since, done.until, done.who) == (
            "net",
            "added",
            since,
            until or week,
            "me",
        )
        assert done.high == -done.low == float(change.rstrip("%")) / 100
        again = expect(store, "net", ExpectOptions(since=since, change=change, until=until, reason="new compiler"))
        assert (again.id, again.outcome, again.who) == (done.id, "unchanged", "me")
        assert said(store) == (["regression"] if fails else []), (change, since)
    other = expect(store, "net", ExpectOptions(since=begun, change="15%", until=begun, reason="other words"))
    assert other.outcome == "added"
    accepted = rows(store)["net/a"].acknowledged
    assert accepted is not None
    assert accepted.kind != "ack"
    acknowledge(store, "net", AckOptions(reason="no more", revoke=True))
    assert said(store) == ["regression"]


@pytest.mark.parametrize(
    ("since", "until", "said"),
    [
        ("soon", None, "--from 'soon': expected a date such as 2026-01-31"),
        ("2026-01-31", "later", "--until 'later': expected a date such as 2026-01-31"),
        ("2026-01-31", "2026-01-30", "--until 2026-01-30 is before --from 2026-01-31"),
        ("2026-02-30", None, "--from '2026-02-30': expected a date such as 2026-01-31"),
    ],
)
def test_nights_of_an_announcement_are_dates_in_order(store: str, since: str, until: str | None, said: str) -> None:
    with pytest.raises(UsageError) as refused:
        expect(store, "net", ExpectOptions(since=since, until=until, change="5%", reason="x"))
    assert str(refused.value) == said


def test_the_last_week_that_there_is_may_be_announced(store: str) -> None:
    done = expect(store, "net", ExpectOptions(since="9999-12-30", change="5%", reason="x"))
    assert (done.since, done.until) == ("9999-12-30", "9999-12-30")


def test_a_run_is_named_once_and_the_newest_name_counts(store: str) -> None:
    first, second, *_ = sorted(header.run_id for header in History.open(store).runs())
    done = tag(store, "release", TagOptions(run=first, who="me"))
    assert (done.tag, done.run, done.night, done.outcome) == ("release", first, "2026-01-01", "added")
    assert done.workload in {"net/a", "net/b", "net/quiet"}
    assert tag(store, "release", TagOptions(run=first)).outcome == "unchanged"
    assert tag(store, "release", TagOptions(run=second)).outcome == "added"
    assert tag(store, "release", TagOptions(run=first)).outcome == "added"
    with pytest.raises(UsageError, match="--run x: there is no such run; `store history runs` lists them"):
        tag(store, "release", TagOptions(run="x"))
