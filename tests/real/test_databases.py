"""Real databases against what they say elsewhere, and against text exports of other runs of the same model."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections import Counter
from pathlib import Path

import pyarrow.compute as pc
import pytest
from commandline import ROOT

from aoe_reports.formats.ascend.tables import TABLES
from aoe_reports.formats.csv.summary import TableData, read_table
from aoe_reports.formats.sqlite import kinds_of_database, read_database, read_database_events
from aoe_reports.rules.forms.statistics import check_statistics
from aoe_reports.rules.tables.check import check_table

DATA = Path(os.environ.get("AOE_REPORTS_REAL_DATA", ROOT.parent / "shared" / "data"))
PYTORCH = DATA / "msprof" / "torch_npu_2025-01"
pytestmark = pytest.mark.skipif(not PYTORCH.is_dir(), reason=f"no real exports in {DATA}")

LEVELS = pytest.mark.parametrize("level", [0, 1, 2])
DETAILED = pytest.mark.parametrize("level", [1, 2])
RANKS = pytest.mark.parametrize("rank", [0, 1])

STEP_US = {
    (0, 0): (8843.91, 89880.576, 25900.158, 16681.808),
    (1, 0): (8903.431, 102108.1, 25258.144, 18055.693),
    (2, 0): (8900.456, 94107.521, 25238.587, 17894.588),
}
"""Computing, communication, free and preparing of step 50, as sqlite3's own shell shows them."""


def folder(form: str, level: int, rank: int) -> Path:
    return PYTORCH / form / f"level{level}" / f"rank{rank}_ascend_pt" / "ASCEND_PROFILER_OUTPUT"


def profiler(level: int, rank: int) -> Path:
    return folder("db", level, rank) / f"ascend_pytorch_profiler_{rank}.db"


def both(kind: str, level: int, rank: int) -> tuple[TableData, TableData]:
    """The table from the database and from text: runs of the same model, an hour apart."""
    stored = read_database(profiler(level, rank), kind)
    printed = read_table(folder("text", level, rank) / f"{kind}.csv", TABLES[kind])
    assert stored.findings == printed.findings == ()
    assert stored.rows_reported == 0
    return stored, printed


def words(data: TableData, *names: str) -> list[tuple]:
    return list(zip(*(data.frame[name].to_pylist() for name in names), strict=True))


def total(data: TableData, name: str) -> int:
    return pc.sum(data.frame[name]).as_py()


def as_in_text(stored: TableData, printed: TableData, *apart: str) -> None:
    """Every declared column of the text is there, of the same type, with as many empty cells."""
    declared = {column.field for column in stored.table.columns if column.type != "share"}
    for name in set(printed.frame.column_names) & declared - set(apart):
        assert stored.frame[name].type == printed.frame[name].type, name
        assert stored.frame[name].null_count == printed.frame[name].null_count, name


@LEVELS
@RANKS
def test_kinds_and_no_findings(level: int, rank: int) -> None:
    kinds, findings = kinds_of_database(profiler(level, rank))
    assert findings == ()
    everywhere = {
        "kernel_details",
        "task_time",
        "api_statistic",
        "memory_record",
        "operator_memory",
        "npu_mem",
        "npu_module_mem",
    }
    assert kinds == everywhere | ({"op_statistic", "communication_statistic"} if level else set())
    analysis, _ = kinds_of_database(folder("db", level, rank) / "analysis.db")
    assert analysis == {"step_trace_time"} | (
        {"communication", "communication_bandwidth", "communication_matrix"} if level else set()
    )


@LEVELS
@RANKS
def test_kernel_details_are_those_of_text(level: int, rank: int) -> None:
    stored, printed = both("kernel_details", level, rank)
    assert stored.frame.num_rows == printed.frame.num_rows == 191
    as_in_text(stored, printed, "op_state", "hf32_eligible")
    # (the word changed in 2024; both mean the same)
    renamed = Counter("COMMUNICATION" if kind == "HCCL" else kind for kind in printed.frame["task_type"].to_pylist())
    assert Counter(stored.frame["task_type"].to_pylist()) == renamed
    same = ["op_type", "step", "block_num"]
    same += ["mix_block_num", "stream_id", "context_id", "model_id"] if level else []
    same += [name for name in printed.frame.column_names if name.startswith(("input_", "output_"))]
    assert Counter(words(stored, *same)) == Counter(words(printed, *same))
    ours, theirs = (Counter(name for (name,) in words(data, "op_name")) for data in (stored, printed))
    assert all(name.startswith("hcom_allReduce__") for name in (ours - theirs) + (theirs - ours))
    counters = {name for name in printed.frame.column_names if name.startswith("ai")} - set(stored.frame.column_names)
    assert not counters


@DETAILED
@RANKS
def test_counters_are_in_the_units_of_text(level: int, rank: int) -> None:
    stored, printed = both("kernel_details", level, rank)
    for name in (
        "aicore_time_us",
        "aiv_time_us",
        "aic_mac_time_us",
        "aic_mac_ratio",
        "aiv_vec_ratio",
        "aiv_total_cycles",
    ):
        ours = sum(value or 0 for value in stored.frame[name].to_pylist())
        theirs = sum(float(value or 0) for value in printed.frame[name].to_pylist())
        assert ours == pytest.approx(theirs, rel=0.05), name
        assert stored.frame[name].null_count == 6, name  # 4 communication operators and 2 random generators


@LEVELS
@RANKS
def test_waits_are_those_that_text_shows(level: int, rank: int) -> None:
    _, printed = both("kernel_details", level, rank)
    starts, lengths, waits = ([value for (value,) in words(printed, name)]
                              for name in ("task_start_ns", "task_duration_ns", "task_wait_ns"))  # fmt: skip
    ours = [
        0,
        *(
            max(start - (before + length), 0)
            for start, before, length in zip(starts[1:], starts, lengths, strict=False)
        ),
    ]
    assert max(abs(one - other) for one, other in zip(ours, waits, strict=True)) <= 1
    stored, _ = both("kernel_details", level, rank)
    assert stored.frame["task_wait_ns"].null_count == 0


@LEVELS
@RANKS
def test_steps_and_tasks_agree(level: int, rank: int) -> None:
    analysis = read_database(folder("db", level, rank) / "analysis.db", "step_trace_time")
    (step,) = analysis.frame.to_pylist()
    tasks = read_database(profiler(level, rank), "kernel_details").frame
    communicates = pc.equal(pc.cast(tasks["task_type"], "string"), "COMMUNICATION").fill_null(fill_value=False)
    # (no task of these captures overlaps another one of its kind, so their union is their sum)
    assert step["computing_ns"] == pc.sum(tasks.filter(pc.invert(communicates))["task_duration_ns"]).as_py()
    assert step["communication_ns"] == pc.sum(tasks.filter(communicates)["task_duration_ns"]).as_py()
    assert step["communication_ns"] == step["overlapped_ns"] + step["communication_not_overlapped_ns"]
    with contextlib.closing(sqlite3.connect(profiler(level, rank))) as connection:
        ((number, start),) = connection.execute("SELECT id, startNs FROM STEP_TIME")
    assert number == step["step"] == 50
    assert step["preparing_ns"] == tasks["task_start_ns"][0].as_py() - start
    if (level, rank) in STEP_US:
        shown = tuple(step[f"{name}_ns"] / 1000 for name in ("computing", "communication", "free", "preparing"))
        assert shown == STEP_US[level, rank]


@DETAILED
@RANKS
def test_op_statistic_is_the_tasks_in_groups_as_in_text(level: int, rank: int) -> None:
    stored, printed = both("op_statistic", level, rank)
    as_in_text(stored, printed)
    keys = ("op_type", "task_type", "count")
    assert Counter(words(stored, *keys)) == Counter(words(printed, *keys))
    tasks = read_database(profiler(level, rank), "kernel_details")
    assert check_statistics([stored], tasks.frame) == []
    assert total(stored, "share") == pytest.approx(1)
    totals = [value for (value,) in words(stored, "total_time_ns")]
    assert totals == sorted(totals, reverse=True)


@DETAILED
@RANKS
def test_api_statistic_has_the_calls_of_text(level: int, rank: int) -> None:
    stored, printed = both("api_statistic", level, rank)
    as_in_text(stored, printed)
    # polling calls depend on the moment
    ours, theirs = (
        {row[:2]: row[2] for row in words(data, "level", "api_name", "count")} for data in (stored, printed)
    )
    assert set(ours) == set(theirs)
    assert sum(ours[key] != theirs[key] for key in ours) < len(ours) / 10


@DETAILED
@RANKS
def test_the_variance_of_text_is_that_of_all_calls(level: int, rank: int) -> None:
    printed = read_table(folder("text", level, rank) / "api_statistic.csv", TABLES["api_statistic"])
    pairs = [row for row in printed.frame.to_pylist() if row["count"] == 2]
    assert len(pairs) > 5
    for row in pairs:
        half = (row["max_time_ns"] - row["min_time_ns"]) / 2000
        assert row["variance"] == pytest.approx(half**2, abs=1e-3)


@LEVELS
@RANKS
def test_memory_is_that_of_text(level: int, rank: int) -> None:
    stored, printed = both("memory_record", level, rank)
    known, theirs = (Counter(word for (word,) in words(data, "component")) for data in (stored, printed))
    assert {**known, "APP": 0} == {**theirs, "APP": 0}
    assert abs(known["APP"] - theirs["APP"]) <= 1  # it is sampled
    for data in (stored, printed):
        largest = pc.max(
            data.frame.filter(pc.equal(pc.cast(data.frame["component"], "string"), "PTA"))["total_reserved_bytes"]
        )
        assert largest.as_py() == 1452 << 20
    stored, printed = both("operator_memory", level, rank)
    as_in_text(stored, printed)
    for name in ("size_bytes", "allocation_total_reserved_bytes"):
        assert total(stored, name) == pytest.approx(total(printed, name), rel=1e-3)
    assert Counter(words(stored, "op_name", "size_bytes", "device")) == Counter(
        words(printed, "op_name", "size_bytes", "device")
    )
    stored, printed = both("npu_module_mem", level, rank)
    as_in_text(stored, printed, "component", "timestamp_ns", "total_reserved_bytes", "device")
    assert pc.max(stored.frame["total_reserved_bytes"]).as_py() == pc.max(printed.frame["total_reserved_bytes"]).as_py()


@DETAILED
@RANKS
def test_communication_is_whole(level: int, rank: int) -> None:
    path = folder("db", level, rank) / "analysis.db"
    operators = read_database(path, "communication")
    rows = {row["op_name"]: row for row in operators.frame.to_pylist()}
    tasks = read_database(profiler(level, rank), "kernel_details").frame.to_pylist()
    own = {row["op_name"]: row for row in tasks if row["task_type"] == "COMMUNICATION"}
    assert rows.keys() == own.keys()
    for name, row in rows.items():
        assert row["elapsed_ns"] == pytest.approx(own[name]["task_duration_ns"], abs=1)
        assert row["start_ns"] == pytest.approx(own[name]["task_start_ns"], abs=50_000)  # another clock, it seems
        assert row["elapsed_ns"] == pytest.approx(row["transit_ns"] + row["wait_ns"] + row["idle_ns"], abs=2)
    bandwidth = read_database(path, "communication_bandwidth")
    assert Counter(word for (word,) in words(bandwidth, "transport")) == {"HCCS": 4, "SDMA": 4}
    for row in bandwidth.frame.to_pylist():
        assert row["bandwidth_gb_per_s"] == pytest.approx(row["transit_bytes"] / row["transit_ns"], rel=1e-4)
    assert read_database(path, "communication_matrix").frame.num_rows == 48


@LEVELS
@RANKS
def test_events_are_those_of_the_timeline(level: int, rank: int) -> None:
    events, findings = read_database_events(profiler(level, rank))
    assert findings == ()
    count = Counter(events["process"].to_pylist())
    assert count["Ascend Hardware"] == (535 if level else 533)
    assert count["Communication"] == 300
    assert count["Python"] >= 2460
    assert min(events["duration_ns"].to_pylist()) >= 0


@LEVELS
@RANKS
def test_checks_find_nothing(level: int, rank: int) -> None:
    for path in (profiler(level, rank), folder("db", level, rank) / "analysis.db"):
        for kind in kinds_of_database(path)[0]:
            data = check_table(read_database(path, kind, hashed=False))
            assert data.findings == ()
            assert data.rows_read == data.frame.num_rows
