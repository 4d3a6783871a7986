"""A timeline of any length: what waits in files, and is looked at window by window, tells what all of it at once does."""

from __future__ import annotations

import tempfile
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.facts import breakdown, spans
from aoe_reports.facts.breakdown import EVENT_COLUMNS, Activity, DeviceBreakdown
from aoe_reports.formats import spilled
from aoe_reports.formats.spilled import SpilledColumns

PIDS = [(4211 << 10) | 3, (4211 << 10) | 5]
TIMES = st.integers(0, 60)
LENGTHS = st.integers(0, 9)
CONNECTIONS = st.integers(-1, 6)
NAMES = st.sampled_from(["a", "b", "c"])
THREADS = st.sampled_from(["Thread 1", "Thread 2"])
PLACES = st.sampled_from(PIDS)


def made(process: str, **columns: Any) -> Any:
    kinds = {"start_ns": TIMES, "duration_ns": LENGTHS, "name": NAMES, "thread": THREADS, "pid": PLACES}
    return st.fixed_dictionaries(
        {"ph": st.just("X"), "process": st.just(process), "stage_row": st.just(False), **kinds, **columns}
    )


ROWS = st.lists(
    st.one_of(
        made("Ascend Hardware", task_type=st.just("AI_CORE"), connection_id=CONNECTIONS),
        made("Communication", thread=st.just("Group 0 Communication"), connection_id=CONNECTIONS),
        made("CANN", connection_id=CONNECTIONS),
        made("CANN", name=st.sampled_from(["AscendCL@aclrtSynchronizeStream", "Enqueue@a", "Dequeue@a"])),
        made("python", name=st.sampled_from(["ProfilerStep#1", "ProfilerStep#2", "ProfilerStep#3"])),
        made("CANN", ph=st.sampled_from(["s", "f"]), category=st.just("HostToDevice"), flow_id=st.sampled_from("1234")),
    ),
    max_size=40,
)


def told(rows: list[dict[str, Any]], cut: int, gaps: int) -> list[DeviceBreakdown]:
    """What two activities, one behind the other, tell together."""
    kinds = dict.fromkeys(EVENT_COLUMNS, pa.string())
    kinds |= dict.fromkeys(("connection_id", "start_ns", "duration_ns"), pa.int64()) | {"stage_row": pa.bool_()}
    whole = [{**row, "pid": str(row["pid"])} for row in rows]
    first, second = Activity(), Activity()
    for number, row in enumerate(whole):
        (first if number < cut else second).add(pa.RecordBatch.from_pylist([row], pa.schema(list(kinds.items()))))
    first.merge(second)
    return first.break_down(gaps)


@given(ROWS, st.integers(0, 40), st.integers(0, 5), st.integers(1, 4), st.integers(1, 3), st.sampled_from([0, 4, 100]))
def test_files_and_windows_change_nothing(
    rows: list[dict[str, Any]], cut: int, gaps: int, window: int, sampled: int, many: int
) -> None:
    whole = told(rows, cut, gaps)
    with (
        patch.object(spilled, "BLOCK_ROWS", 3),
        patch.object(spans, "WINDOW_SPANS", window * sampled),
        patch.object(spans, "_SAMPLED", sampled),
        patch.object(breakdown, "_MANY_MORE", many),
        patch.object(breakdown, "_AT_ONCE", window),
    ):
        assert told(rows, cut, gaps) == whole


def test_rows_come_back_in_their_order_and_blocks_out_of_range_are_left_out() -> None:
    columns = SpilledColumns("start", "name")
    with patch.object(spilled, "BLOCK_ROWS", 2):
        for number in range(5):
            columns.add(start=np.asarray([number * 10]), name=np.asarray([number]))
    assert len(columns) == 5
    assert [block["name"].tolist() for block in columns.blocks()] == [[0, 1], [2, 3], [4]]
    assert [block["name"].tolist() for block in columns.blocks()] == [[0, 1], [2, 3], [4]]
    assert [block["name"].tolist() for block in columns.blocks(("start", 11, 25))] == [[2, 3], [4]]
    assert {name: values.tolist() for name, values in columns.whole().items()} == {
        "start": [0, 10, 20, 30, 40],
        "name": [0, 1, 2, 3, 4],
    }
    columns.clear()
    assert (len(columns), list(columns.blocks())) == (0, [])


def test_a_full_disk_is_told(monkeypatch: pytest.MonkeyPatch) -> None:

    monkeypatch.setattr(spilled, "BLOCK_ROWS", 2)
    monkeypatch.setattr("tempfile.TemporaryFile", lambda: Path("/dev/full").open("wb", buffering=0))  # noqa: SIM115
    columns = SpilledColumns("start")
    with pytest.raises(OSError, match=f"No space left on device: '{tempfile.gettempdir()}'"):
        columns.add(start=np.zeros(2, dtype=np.int64))


@given(st.lists(st.lists(st.integers(0, 4), max_size=7), min_size=1, max_size=4))
def test_rows_of_others_are_taken_behind_all_with_the_numbers_that_they_have_here(parts: list[list[int]]) -> None:
    ours = np.asarray([1, 2, 3, 4, 0])
    with patch.object(spilled, "BLOCK_ROWS", 3):
        every = [SpilledColumns("start", "name") for _ in parts]
        for columns, names in zip(every, parts, strict=True):
            for name in names:
                columns.add(start=np.asarray([name]), name=np.asarray([name]))
        for before, behind in reversed(list(pairwise(every))):
            before.take(behind, {"name": ours})
    expected = [((name + place) % 5, name) for place, names in enumerate(parts) for name in names]
    found = [
        (name, start) for block in every[0].blocks() for name, start in zip(block["name"], block["start"], strict=True)
    ]
    assert found == expected
    assert [len(columns) for columns in every] == [len(expected), *(0 for _ in parts[1:])]
    for whole in (every[0].whole(), every[0].release()):
        assert [*zip(whole["name"].tolist(), whole["start"].tolist(), strict=True)] == expected
    assert len(every[0]) == 0


def test_columns_of_which_blocks_are_of_other_sizes_are_whole() -> None:
    columns = SpilledColumns("start")
    with patch.object(spilled, "BLOCK_ROWS", 2):
        for kind in (np.int16, np.int64, np.int32):
            columns.add(start=np.asarray([-1, np.iinfo(kind).max], dtype=kind))
    columns.add(start=np.asarray([7], dtype=np.int16))
    assert columns.whole()["start"].tolist() == [-1, 2**15 - 1, -1, 2**63 - 1, -1, 2**31 - 1, 7]
    assert SpilledColumns("start").whole()["start"].tolist() == []
