"""Rows of a store as they are listed: which are asked for, in which order, and what is read of a stored body."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from aoe_reports.history.options import HistoryOptions
from aoe_reports.history.runs.advising import _each_once
from aoe_reports.history.runs.listing import list_history
from aoe_reports.history.runs.stored_advice import listed_rows, read_advice, summary_of, unfit_names
from aoe_reports.store import History
from aoe_reports.store.layout import table_of

DAY = 86_400 * 10**9
FIRST = 1_767_225_600 * 10**9  # 2026-01-01


def stored(folder: Path, *rows: dict[str, Any]) -> str:
    history = History.open(str(folder / "store"), create=True)
    history.add_extra(table_of([{"body": "{}", **row} for row in rows]))
    return str(folder / "store")


def at(day: int) -> dict[str, Any]:
    """The columns that say when."""
    return {"month": "2026-01", "timestamp_ns": FIRST + (day - 1) * DAY}


# What people said, and changes


def change(day: int, name: str, **more: Any) -> dict[str, Any]:
    told = {"kind": "change", "night": f"2026-01-{day:02}", "model": "net", "workload": f"net/{name}", "scope": "op", "subject": name, "state": "confirmed"}  # fmt: skip
    return {**at(day), **told, **more}


CHANGES = (
    change(3, "late"),
    change(1, "b", body=json.dumps({"position": 2})),
    change(1, "b", body=json.dumps({"position": 1, "state": "not this one", "since": "2026-01-01"})),
    change(1, "a", state="suspect"),
    change(1, "a"),
    change(2, "step", scope="step", model="other", workload="other/step"),
    change(2, "no night", night=None, scope=None),
)


@pytest.mark.parametrize(
    ("asked", "names"),
    [
        ({}, ["a", "a", "b", "b", "no night", "step", "late"]),
        ({"workload": "net"}, ["a", "a", "b", "b", "no night", "late"]),
        ({"workload": "other"}, ["step"]),
        ({"workload": "net/b"}, ["b", "b"]),
        ({"workload": "late"}, ["late"]),
        ({"workload": "nothing"}, []),
        ({"scope": "op"}, ["a", "a", "b", "b", "late"]),
        ({"scope": "step", "workload": "other"}, ["step"]),
        ({"scope": "op", "workload": "other"}, []),
        ({"since": "2026-01-02"}, ["no night", "step", "late"]),
        ({"since": "2026-01-03"}, ["late"]),
        ({"since": "2026-01-04"}, []),
        ({"last": 1}, ["late"]),
        ({"last": 9}, ["a", "a", "b", "b", "no night", "step", "late"]),
        ({"since": "2026-01-02", "last": 2}, ["step", "late"]),
    ],
)
def test_changes_that_are_asked_for_are_listed_oldest_first(
    tmp_path: Path, asked: dict[str, Any], names: list[str]
) -> None:
    rows = list_history(stored(tmp_path, *CHANGES), "changes", HistoryOptions(**asked))
    assert [one["subject"] for one in rows.mappings()] == names
    assert len(rows.rows) == len(names)


def test_a_change_is_listed_with_all_that_its_body_says_and_no_column_is_overruled(tmp_path: Path) -> None:
    whole = list_history(stored(tmp_path, *CHANGES), "changes", HistoryOptions()).mappings()
    assert [(one["subject"], one["state"], one.get("position")) for one in whole[:4]] == [
        ("a", "confirmed", None), ("a", "suspect", None), ("b", "confirmed", 1), ("b", "confirmed", 2),
    ]  # fmt: skip
    assert (whole[2]["when"], whole[2]["since"]) == ("2026-01-01T00:00:00+00:00", "2026-01-01")
    assert "model" not in whole[2]


def test_what_people_said_is_no_change(tmp_path: Path) -> None:
    said = {**change(2, "s1"), "kind": "ack", "state": "acknowledged"}
    store = stored(tmp_path, *CHANGES, said)
    assert [one["subject"] for one in list_history(store, "acks", HistoryOptions()).mappings()] == ["s1"]
    assert len(list_history(store, "changes", HistoryOptions()).rows) == len(CHANGES)


# Verdicts


def test_verdicts_of_a_job_begin_with_the_step(tmp_path: Path) -> None:
    rows = [
        {**at(day), "kind": "verdict", "night": f"2026-01-{day:02}", "model": "net", "run_id": job, "scope": scope, "subject": name, "state": "confirmed", "body": json.dumps({"op_name": name})}
        for day, job, scope, name in (
            (2, "v1", "operator", "b"), (2, "v1", "step", "z"), (2, "v1", "operator", "a"), (2, "v0", "operator", "y"),
            (1, "v9", "type", "x"),
        )
    ]  # fmt: skip
    listed = list_history(stored(tmp_path, *rows), "verdicts", HistoryOptions()).rows
    assert [one.op_name for one in listed] == ["x", "y", "z", "a", "b"]


# Advice


def advice(state: str, run: str = "r1", day: int = 1, **body: Any) -> dict[str, Any]:
    columns: dict[str, Any] = {name: body.pop(name) for name in ("rule", "op_name", "rank_id", "count") if name in body}
    told = {"kind": "advice", "night": f"2026-01-{day:02}", "model": "net", "run_id": run, "state": state}
    return {**at(day), **told, **columns, "body": json.dumps(body)}


HEADLINES = [{"headline": "computing first", "rank_id": 0, "step_us": 5.0}, {"headline": "free time first"}]


@pytest.mark.parametrize(
    ("summary", "said", "plan"),
    [
        ({"why_not": None, "headlines": HEADLINES}, "computing first; free time first", None),
        ({"why_not": "no tasks", "headlines": HEADLINES}, "no tasks", None),
        ({"why_not": None}, "", None),
        ({"why_not": None, "plan": {"headline": "tune two"}}, "", "tune two"),
        ({"why_not": None, "plan": {}}, "", "None"),
        ({"why_not": None, "plan": "odd", "headlines": "odd"}, "", None),
    ],
)
def test_a_summary_says_why_there_is_no_advice_or_where_to_look_first(
    tmp_path: Path, summary: dict[str, Any], said: str, plan: str | None
) -> None:
    (row,) = listed_rows(History.open(stored(tmp_path, advice("summary", **summary))), [], None)
    assert (str(row.advice), row.reason) == (said, plan)
    assert row.summary is not None
    assert list(row.summary) == ["why_not", "found", "stated", "devices", "headlines", "plan", "notes"]


def test_advice_is_listed_run_by_run_the_summary_first(tmp_path: Path) -> None:
    rows = [
        advice("candidate", position=1, op_name="c"),
        advice("left-out", position=1, rule="dynamic"),
        advice("msprof", position=1, rule="m"),
        advice("advice", position=2, rule="second"),
        advice("advice", position=1, rule="first"),
        advice("advice", rule="without a place"),
        advice("of tomorrow", rule="odd"),
        advice("summary", why_not=None),
        advice("summary", run="r0", day=2, why_not="x"),
        advice("advice", run="r9", day=1, position=1, rule="other run"),
    ]
    history = History.open(stored(tmp_path, *rows))
    listed = [(one.run, one.state, one.rule or one.op_name) for one in listed_rows(history, [], None)]
    assert listed == [
        ("r1", "summary", None), ("r1", "advice", "without a place"), ("r1", "advice", "first"), ("r1", "advice", "second"),
        ("r1", "msprof", "m"), ("r1", "candidate", "c"), ("r1", "left-out", "dynamic"), ("r9", "advice", "other run"),
        ("r0", "summary", None),
    ]  # fmt: skip
    assert listed_rows(history, [], "other") == []
    assert len(listed_rows(history, [], "net")) == len(listed)
    assert read_advice(history, []) == {}


@pytest.mark.parametrize(
    ("state", "body", "unfit"),
    [
        ("advice", {"position": 1, "share": 0.5, "evidence": "seen"}, []),
        ("advice", {"position": True}, ["position"]),
        ("advice", {"position": 1, "share": "much", "bound_us": 1}, ["share"]),
        ("advice", {"position": 1, "evidence": 5, "of_tomorrow": [1]}, ["evidence"]),
        ("advice", {"share": 0.5}, ["position"]),
        ("summary", {"why_not": None, "found": 3, "headlines": HEADLINES, "notes": ["n"]}, []),
        ("summary", {"why_not": 5}, ["why_not"]),
        ("summary", {"found": 1}, ["why_not"]),
        ("summary", {"why_not": None, "found": True, "devices": "2"}, ["devices", "found"]),
        ("summary", {"why_not": None, "found": False}, ["found"]),
        ("summary", {"why_not": None, "plan": [], "notes": "n"}, ["notes", "plan"]),
        ("summary", {"why_not": None, "headlines": [{"headline": "x", "step_us": "long"}]}, ["headlines"]),
        ("summary", {"why_not": None, "headlines": [{"rank_id": 0.5}]}, ["headlines"]),
        ("summary", {"why_not": None, "headlines": [{"headline": [1]}]}, ["headlines"]),
        ("of tomorrow", {}, ["state"]),
    ],
)
def test_what_is_read_as_nothing_is_named(state: str, body: dict[str, Any], unfit: list[str]) -> None:
    assert unfit_names(advice(state, **body)) == unfit


def test_a_body_that_is_none_is_named_by_nobody() -> None:
    assert unfit_names({**advice("advice"), "body": "[]"}) is None


def test_numbers_of_a_summary_that_are_none_are_zero_or_missing() -> None:
    told = {"found": "x", "stated": 2, "devices": None, "headlines": [{"step_us": "x", "steps": 3, "rank_id": 1.5, "device_id": 1, "free_share": True}, "odd"], "notes": [1, None, [2], "n"]}  # fmt: skip
    assert summary_of({"body": json.dumps(told)}) == {
        "why_not": None, "found": 0, "stated": 2, "devices": 0, "plan": None, "notes": ["1", "None", "list", "n"],
        "headlines": [{"step_us": None, "steps": 3, "rank_id": None, "device_id": 1, "free_share": None}],
    }  # fmt: skip


# What is stored of advice on several devices


def given(
    rule: str, device: int, bound: float | None, name: str | None = None, count: int | None = 1
) -> dict[str, Any]:
    return {"rule": rule, "rank_id": 0, "device_id": device, "bound_us": bound, "op_type": None, "op_name": name, "input_shapes": None, "count": count}  # fmt: skip


def test_the_same_advice_on_several_devices_is_one_and_several_of_one_device_are_several() -> None:
    rows = [
        given("slow-link", 0, 5.0, count=None),
        given("slow-link", 0, 3.0, count=None),
        given("slow-link", 1, 6.0, count=None),
        given("shape", 0, 9.0, "a"),
        given("shape", 1, 8.0, "a"),
        given("shape", 1, 7.0, "b"),
        given("bare", 0, None),
        given("bare", 1, 0.0),
        given("on the step", 0, 1.0, "a", count=None),
        given("on the step", 1, 2.0, "b", count=None),
    ]
    found = [
        (one["rule"], one["op_name"], one["bound_us"], one["device_id"], one["devices"]) for one in _each_once(rows)
    ]
    assert found == [
        ("shape", "a", 9.0, 0, 2), ("shape", "b", 7.0, 1, 1), ("slow-link", None, 6.0, 1, 2), ("slow-link", None, 3.0, 0, 1),
        ("on the step", "b", 2.0, 1, 2), ("bare", None, 0.0, 1, 2),
    ]  # fmt: skip
