"""Timelines as tables."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from aoe_reports.formats.sources.found import FileName
from aoe_reports.formats.trace.rows import read_timeline

STEPS = FileName("step_trace", "json", "msprof", device_id=0, model_id=2)
TASKS = FileName("task_time", "json", "msprof")


def read(tmp_path: Path, data: object, name: FileName = TASKS):
    path = tmp_path / "timeline.json"
    path.write_text(data if isinstance(data, str) else json.dumps(data))
    return read_timeline(path, name)


def test_iterations_carry_device_and_model_of_the_name(msprof: Path) -> None:
    path = next((msprof / "ten_iterations_timeline").rglob("step_trace_0_2_1.json"))
    rows = read_timeline(path, STEPS).frame.to_pylist()
    assert [row["iteration_id"] for row in rows] == list(range(1, 11))
    assert {(row["device_id"], row["model_id"]) for row in rows} == {(0, 2)}
    assert rows[0]["iteration_time_ns"] == 47_587_810


@pytest.mark.parametrize(("ts", "ns"), [("1736412474712511.620", 1736412474712511620), (5.5, 5500), (7, 7000)])
def test_time_stamps_of_every_age_are_exact(tmp_path: Path, ts: object, ns: int) -> None:
    event = {"name": "a", "ph": "X", "ts": ts, "dur": 1, "args": {"Task Type": "AI_CORE"}}
    assert read(tmp_path, [event]).frame["task_start_ns"].to_pylist() == [ns]


@pytest.mark.parametrize("ts", [None, "soon", [], {}, True, "1e400", "NaN"])
def test_an_event_without_a_time_is_reported_not_counted(tmp_path: Path, ts: object) -> None:
    good = {"name": "a", "ph": "X", "ts": 1, "dur": 1, "args": {"Task Type": "AI_CORE"}}
    data = read(tmp_path, [good, {**good, "ts": ts}, {**good, "dur": -1}, 5])
    assert data.frame.num_rows == 1
    assert [(f.rule, f.pointer) for f in data.findings] == [
        ("timeline-event", "/1"),
        ("timeline-event", "/2"),
        ("timeline-event", "/3"),
    ]
    assert (data.rows_read, data.rows_reported) == (4, 3)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("", "empty-file"),
        ("[{", "json-truncated"),
        ("[1 2]", "json-syntax"),
        ('{"events": []}', "json-shape"),
        ('[{"Iteration ID": 1}]', "json-shape"),
    ],
)
def test_what_is_no_timeline_is_refused_aloud(tmp_path: Path, text: str, rule: str) -> None:
    data = read(tmp_path, text)
    assert data.findings[-1].rule == rule
    assert data.frame.num_rows == 0


@pytest.mark.parametrize(("dur", "rows", "wrong"), [(0, 1, 0), (0.001, 1, 0), (-0.001, 0, 1)])
def test_an_iteration_may_take_no_time_but_not_less(tmp_path: Path, dur: float, rows: int, wrong: int) -> None:
    event = {"name": "i", "cat": "Iteration Time", "ph": "X", "ts": 1, "dur": dur, "args": {"Iteration ID": 1}}
    part = {**event, "cat": "FP_BP Time", "dur": 0}
    data = read(tmp_path, [event, part], STEPS)
    assert (data.frame.num_rows, data.rows_reported) == (rows, wrong)
    assert data.frame["fp_to_bp_time_ns"].to_pylist() == [0] * rows


ITERATION = {
    "name": "i", "cat": "Iteration Time", "ph": "X", "ts": 10, "dur": 5,
    "args": {"Iteration ID": 1, "FP Start": "11", "BP End": "N/A"},
}  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({}, None),
        ({"ph": "M"}, None),
        ({"args": {"Iteration ID": 1, "FP Start": "", "BP End": None}}, None),
        ({"cat": None}, "an event without a 'cat'"),
        ({"cat": 5}, "an event without a 'cat'"),
        ({"cat": "something else"}, None),
        ({"cat": "FP_BP Time", "dur": -1}, "a 'FP_BP Time' without its iteration or dur (>= 0)"),
        ({"cat": "FP_BP Time", "args": {}}, "a 'FP_BP Time' without its iteration or dur (>= 0)"),
        ({"cat": "Iteration Refresh", "dur": "x"}, "a 'Iteration Refresh' without its iteration or dur (>= 0)"),
        ({"args": {}}, "an iteration without number, ts or dur (>= 0)"),
        ({"ts": None}, "an iteration without number, ts or dur (>= 0)"),
        ({"dur": -1}, "an iteration without number, ts or dur (>= 0)"),
        ({"args": {"Iteration ID": 1, "FP Start": "soon"}}, "an iteration whose 'FP Start' is not a time"),
        ({"args": {"Iteration ID": 1, "FP Start": "N/A", "BP End": "late"}}, "an iteration whose 'BP End' is not a time"),
        ({"ph": 7}, "not an event with a 'ph'"),
    ],
)  # fmt: skip
def test_why_an_event_of_iterations_cannot_be_used(tmp_path: Path, changes: dict[str, object], why: str | None) -> None:
    first = {**ITERATION, "args": {"Iteration ID": 7}}
    data = read(tmp_path, [first, {**ITERATION, **changes}, {**ITERATION, "args": {"Iteration ID": 9}}], STEPS)
    assert [(one.rule, one.pointer, one.message) for one in data.findings] == (
        [] if why is None else [("timeline-event", "/1", f"{why}; the event is left out")]
    )
    used = why is None and changes.get("cat", "Iteration Time") == "Iteration Time" and changes.get("ph") != "M"
    assert data.frame["iteration_id"].to_pylist() == ([7, 1, 9] if used else [7, 9]), "the others are read"


def test_an_iteration_has_the_parts_of_its_number(tmp_path: Path) -> None:
    parts = [
        {**ITERATION, "cat": category, "dur": dur, "args": {"Iteration ID": number}}
        for category, dur, number in (("FP_BP Time", 3, 1), ("Iteration Refresh", 2, 1), ("FP_BP Time", 9, 2))
    ]
    (row,) = read(tmp_path, [parts[2], ITERATION, *parts[:2]], STEPS).frame.to_pylist()
    assert row == {
        "device_id": 0, "model_id": 2, "iteration_id": 1, "fp_start_ns": 11_000, "bp_end_ns": None,
        "iteration_end_ns": 15_000, "iteration_time_ns": 5_000, "fp_to_bp_time_ns": 3_000, "iteration_refresh_ns": 2_000,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"args": {}}, None),
        ({"args": {"Task Type": 5}}, "a task whose type is not text"),
        ({"args": ["AI_CORE"]}, "'args' is not an object"),
        ({"ph": "M", "args": "AI_CORE"}, "'args' is not an object"),
        ({"name": 5}, "a task without name, ts or dur (>= 0)"),
        ({"ts": "soon"}, "a task without name, ts or dur (>= 0)"),
        ({"dur": -0.001}, "a task without name, ts or dur (>= 0)"),
    ],
)
def test_why_a_task_cannot_be_used(tmp_path: Path, changes: dict[str, object], why: str | None) -> None:
    task = {"name": "a", "ph": "X", "ts": 1, "dur": 2, "args": {"Task Type": "AI_CORE", "Stream Id": 3, "Task Id": 4}}
    other = {**task, "args": {"Task Type": "AI_CPU", "Physic Stream Id": 5}}
    data = read(tmp_path, [task, {**task, **changes}, other])
    assert [(one.pointer, one.message) for one in data.findings] == (
        [] if why is None else [("/1", f"{why}; the event is left out")]
    )
    told = [(row["task_type"], row["stream_id"], row["task_id"], row["task_stop_ns"]) for row in data.frame.to_pylist()]
    assert told == [("AI_CORE", 3, 4, 3000), ("AI_CPU", 5, None, 3000)]
