"""Real timelines against a plain computation; skipped where they are not there (they are not part of the project)."""

from __future__ import annotations

import json
import os
from collections import Counter
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from commandline import ROOT

from aoe_reports.formats.trace.events import EVENTS_SCHEMA, look_at_timeline, stream_events, sum_durations

DATA = Path(os.environ.get("AOE_REPORTS_REAL_DATA", ROOT.parent / "shared" / "data")) / "msprof"
FOLDERS = ["msprof_2023-08/**/timeline", "torch_npu_2025-01/text/**", "msprof_2026-06/**"]
PATHS = sorted(
    path
    for folder in FOLDERS
    for path in DATA.glob(f"{folder}/*.json")
    if path.parent.name == "timeline" or path.name.startswith(("trace_view", "msprof_"))
)
pytestmark = pytest.mark.skipif(not PATHS, reason=f"no real timelines in {DATA}")


@pytest.mark.parametrize("path", PATHS, ids=[str(path.relative_to(DATA)) for path in PATHS])
def test_a_real_timeline_is_read_as_it_is(path: Path) -> None:
    events = json.loads(path.read_text(encoding="utf-8"), parse_float=Decimal)
    tasks = [event for event in events if event["ph"] == "X"]
    look = look_at_timeline(path)
    assert look.findings == ()
    assert look.plain
    assert look.phases == Counter(event["ph"] for event in events)
    starts = [int(Decimal(str(event["ts"])) * 1000) for event in events if event["ph"] != "M"]
    frame = pa.Table.from_batches(stream_events(path, look=look).batches, EVENTS_SCHEMA)
    assert frame["start_ns"].to_pylist() == starts
    assert look.start_ns == min(int(Decimal(str(event["ts"])) * 1000) for event in tasks)
    named = {str(event["pid"]): event["args"]["name"] for event in events if event["name"] == "process_name"}
    totals: Counter[tuple[str | None, str]] = Counter()
    for event in tasks:
        totals[named.get(str(event["pid"])), event["name"]] += round(event["dur"] * 1000)
    sums = sum_durations(path, ("process", "name")).frame.to_pylist()
    assert {(row["process"], row["name"]): row["duration_ns"] for row in sums} == totals
    assert sum(row["count"] for row in sums) == len(tasks)


@pytest.mark.parametrize("path", [path for path in PATHS if path.name == "trace_view.json"])
def test_the_connection_of_a_flow_is_that_of_its_task(path: Path) -> None:
    columns = ["ph", "category", "pid", "tid", "start_ns", "connection_id"]
    frame = pa.Table.from_batches(stream_events(path, columns).batches).to_pylist()
    connections = {(row["pid"], row["tid"], row["start_ns"], row["connection_id"]) for row in frame if row["ph"] == "X"}
    ends = [row for row in frame if row["ph"] == "f" and row["category"] == "HostToDevice"]
    sure = [row for row in ends if row["connection_id"] is not None]
    assert len(ends) > len(sure) == 28
    assert {(row["pid"], row["tid"], row["start_ns"], row["connection_id"]) for row in sure} <= connections
