"""Tasks of a timeline are the same however its events are cut into batches and parts."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.facts.timeline_tasks import TimelineTasks, event_columns
from aoe_reports.formats.trace.events import EVENTS_SCHEMA

DEVICE, OVERLAP = 4711 << 10 | 14 << 5, 4711 << 10 | 16 << 5
SCHEMA = pa.schema([EVENTS_SCHEMA.field(name) for name in sorted(event_columns(None))])
events = st.fixed_dictionaries(
    {
        "ph": st.sampled_from("XXXsf"), "name": st.sampled_from(["a", "b", "long"]), "stage_row": st.booleans(),
        "process": st.sampled_from(["Ascend Hardware", "Ascend Hardware", "Overlap Analysis", "CANN", None]),
        "start_ns": st.integers(0, 2**60), "duration_ns": st.integers(0, 10**9),
        "task_type": st.sampled_from(["AI_CORE", "EVENT_WAIT", None]), "stream_id": st.one_of(st.none(), st.integers(0, 9)),
        "task_id": st.one_of(st.none(), st.integers(0, 9)), "device": st.integers(0, 2),
    }
)  # fmt: skip


def batch(rows: list[dict[str, Any]]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([{name: row[name] for name in SCHEMA.names} for row in rows], SCHEMA)


ALWAYS = ("op_name", "task_type", "task_duration_ns")
WANTED = {(): (), ("device_id",): ("device_id",), ("task_stop_ns", "task_id"): ("task_id", "task_start_ns", "task_stop_ns"), ("stream_id", "task_start_ns"): ("stream_id", "task_start_ns")}  # fmt: skip
"""What is held besides ALWAYS where some columns are wanted."""


@given(
    st.lists(events, max_size=20),
    st.lists(st.integers(0, 20), max_size=4),
    st.integers(0, 4),
    st.sampled_from(sorted(WANTED)),
)
def test_tasks_however_they_come(
    rows: list[dict[str, Any]], cuts: list[int], halves: int, wanted: tuple[str, ...]
) -> None:
    for row in rows:
        row["pid"] = str((OVERLAP if row["process"] == "Overlap Analysis" else DEVICE) | row["device"])
    bounds = sorted([0, *(min(cut, len(rows)) for cut in cuts), len(rows)])
    first, second, short = TimelineTasks(), TimelineTasks(), TimelineTasks(wanted=wanted)
    for number, (start, end) in enumerate(pairwise(bounds)):
        (first if number <= halves else second).add(batch(rows[start:end]))
        short.add(batch(rows[start:end]).select(sorted(event_columns(wanted))))
    first.merge(second)
    whole = [row for row in rows if row["ph"] == "X" and not row["stage_row"]]
    related = any(row["process"] == "Overlap Analysis" for row in whole)
    expected = [
        {
            "op_name": row["name"], "task_type": row["task_type"], "stream_id": row["stream_id"], "task_id": row["task_id"],
            "task_start_ns": row["start_ns"], "task_duration_ns": row["duration_ns"],
            "device_id": row["device"] if related else None, "task_stop_ns": row["start_ns"] + row["duration_ns"],
        }
        for row in whole
        if row["process"] == "Ascend Hardware" and row["task_type"] is not None
    ]  # fmt: skip
    assert first.frame().to_pylist() == expected
    assert short.frame().to_pylist() == [
        {name: value for name, value in row.items() if name in {*ALWAYS, *WANTED[wanted]}} for row in expected
    ]


@given(
    st.lists(events, max_size=20),
    st.lists(st.integers(0, 20), max_size=4),
    st.integers(0, 4),
    st.sets(st.sampled_from(["op_name", "device_id", "task_type", "task_duration_ns", "op_type"])),
)
def test_tasks_that_are_alike_are_counted(
    rows: list[dict[str, Any]], cuts: list[int], halves: int, wanted: set[str]
) -> None:
    """In the columns that are wanted; type and duration are always told."""
    for row in rows:
        row["pid"] = str((OVERLAP if row["process"] == "Overlap Analysis" else DEVICE) | row["device"])
        row["duration_ns"] %= 3
    asked = {*wanted, "calls"}
    singly, first, second = TimelineTasks(), TimelineTasks(wanted=asked), TimelineTasks(wanted=asked)
    for number, (start, end) in enumerate(pairwise(sorted([0, *(min(cut, len(rows)) for cut in cuts), len(rows)]))):
        singly.add(batch(rows[start:end]))
        (first if number <= halves else second).add(batch(rows[start:end]).select(sorted(event_columns(asked))))
    first.merge(second)
    assert first.differ() == singly.differ()
    columns = sorted({*(wanted - {"op_type"}), "task_type", "task_duration_ns"})
    expected = Counter(tuple(row[name] for name in columns) for row in singly.frame().to_pylist())
    frame = first.frame()
    assert sorted(frame.column_names) == sorted([*columns, "calls"])
    told: Counter[tuple[Any, ...]] = Counter()
    for row in frame.to_pylist():
        told[tuple(row[name] for name in columns)] += row["calls"]
    assert told == expected
    of_process = [*({*columns} - {"device_id"}), *(["pid"] if "device_id" in columns else [])]
    named = [{**row, "op_name": row["name"], "task_duration_ns": row["duration_ns"]} for row in rows if _is_task(row)]
    assert frame.num_rows == len({tuple(row[name] for name in of_process) for row in named})


def test_what_each_task_has_of_its_own_is_told_of_none_that_are_alike() -> None:
    with pytest.raises(KeyError, match="step, task_start_ns"):
        TimelineTasks(wanted={"op_name", "task_start_ns", "step", "calls"})


@given(st.lists(events, max_size=12), st.lists(st.integers(0, 12), max_size=4), st.lists(st.integers(0, 12), max_size=3), st.booleans())  # fmt: skip
def test_only_tasks_that_cannot_be_copies_are_known_to_differ(
    rows: list[dict[str, Any]], cuts: list[int], again: list[int], rising: bool
) -> None:
    """What starts together is compared within a batch; batches that overlap in time tell nothing."""
    rows = [{**row, "pid": str(DEVICE), "start_ns": row["start_ns"] % 8} for row in rows]
    rows += [rows[place] for place in again if place < len(rows)]
    if rising:
        rows.sort(key=lambda row: row["start_ns"])
    bounds = sorted([0, *(min(cut, len(rows)) for cut in cuts), len(rows)])
    tasks = TimelineTasks(wanted=())
    for start, end in pairwise(bounds):
        tasks.add(batch(rows[start:end]).select(sorted(event_columns(()))))
    names = ("name", "task_type", "start_ns", "duration_ns")
    mine = [tuple(row[name] for name in names) for row in rows if _is_task(row)]
    if len(set(mine)) < len(mine):
        assert not tasks.differ()
    elif len({start for _, _, start, _ in mine}) == len(mine) and (rising or len({*bounds}) <= 2):
        assert tasks.differ()


def test_a_start_before_time_began_is_for_who_sees_all_starts() -> None:
    row = {"ph": "X", "name": "a", "stage_row": False, "process": "Ascend Hardware", "task_type": "AI_CORE", "pid": str(DEVICE), "stream_id": 1, "task_id": 1, "duration_ns": 5}  # fmt: skip
    told = []
    for first in (0, -1):
        tasks = TimelineTasks(wanted=())
        tasks.add(batch([{**row, "start_ns": start} for start in (first, 7)]).select(sorted(event_columns(()))))
        told.append(tasks.differ())
    assert told == [True, False]


def _is_task(row: dict[str, Any]) -> bool:
    return bool(
        row["ph"] == "X"
        and not row["stage_row"]
        and row["process"] == "Ascend Hardware"
        and row["task_type"] is not None
    )
