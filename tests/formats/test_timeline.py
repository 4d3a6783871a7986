"""Timelines as tables."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from aoe_reports.formats.found import FileName
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
        ('{"traceEvents": []}', "json-shape"),
        ('[{"Iteration ID": 1}]', "json-shape"),
    ],
)
def test_what_is_no_timeline_is_refused_aloud(tmp_path: Path, text: str, rule: str) -> None:
    data = read(tmp_path, text)
    assert [finding.rule for finding in data.findings] == [rule]
    assert data.frame.num_rows == 0


@pytest.mark.parametrize(("dur", "rows", "wrong"), [(0, 1, 0), (0.001, 1, 0), (-0.001, 0, 1)])
def test_an_iteration_may_take_no_time_but_not_less(tmp_path: Path, dur: float, rows: int, wrong: int) -> None:
    event = {"name": "i", "cat": "Iteration Time", "ph": "X", "ts": 1, "dur": dur, "args": {"Iteration ID": 1}}
    part = {**event, "cat": "FP_BP Time", "dur": 0}
    data = read(tmp_path, [event, part], STEPS)
    assert (data.frame.num_rows, data.rows_reported) == (rows, wrong)
    assert data.frame["fp_to_bp_time_ns"].to_pylist() == [0] * rows
