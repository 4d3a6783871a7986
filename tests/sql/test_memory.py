"""`memory_event` and `memory_sample` hold each row of the files, compared with Python's own csv, sqlite3 and Decimal."""

from __future__ import annotations

import csv
import os
import sqlite3
from collections import Counter
from collections.abc import Iterator
from decimal import ROUND_HALF_EVEN, Decimal
from pathlib import Path
from typing import Any

import pytest
from commandline import FIXTURES, ROOT, Cli

from aoe_reports.engine.tables.database import open_capture

DATA = Path(os.environ.get("AOE_REPORTS_REAL_DATA", ROOT.parent / "shared" / "data")) / "msprof"
PYTORCH, OLD = DATA / "torch_npu_2025-01", DATA / "torch_npu_2023-09"
REAL = pytest.mark.skipif(not PYTORCH.is_dir(), reason=f"no real exports in {DATA}")
TEXTS = [
    *(FIXTURES / "memory" / "training" / f"rank{rank}_ascend_pt" for rank in (0, 1)),
    *(PYTORCH / "text" / f"level{level}" / f"rank{rank}_ascend_pt" for level in range(3) for rank in (0, 1)),
    *(OLD / f"test_rank_{rank}" for rank in (0, 1)),
]
DATABASES = [PYTORCH / "db" / f"level{level}" / f"rank{rank}_ascend_pt" for level in range(3) for rank in (0, 1)]
EVENT = (
    "owner, size_bytes, allocated_ns, released_ns, reusable_ns, allocation_allocated_bytes, allocation_reserved_bytes, "
    "allocation_active_bytes, release_allocated_bytes, release_reserved_bytes, release_active_bytes"
)
SAMPLE = "component, sampled_ns, allocated_bytes, reserved_bytes, active_bytes"
UNITS = {"KB": 1 << 10, "MB": 1 << 20, "us": 1000}
Row = tuple[Any, ...]


def rows_of(capture: Path, file: str, *headers: str) -> Iterator[tuple[int, Row]]:
    """(number, cells in bytes and ns) of each row of a CSV file; a header that is absent has no values."""
    (path,) = capture.rglob(file)
    with path.open(encoding="utf-8", newline="") as text:
        for number, row in enumerate(csv.DictReader(text), 1):
            known = {name.partition("(")[0]: (cell, name) for name, cell in row.items()}
            yield number, tuple(_value(*known.get(header, ("", ""))) for header in headers)


def _value(cell: str, header: str) -> str | int | None:
    cell = cell.strip()
    unit = header.partition("(")[2].rstrip(")")
    if not cell or not unit:
        return cell.removeprefix("cann::") or None
    return int((Decimal(cell) * UNITS[unit]).to_integral_value(ROUND_HALF_EVEN))


EVENT_HEADERS = (
    "Name",
    "Size",
    "Allocation Time",
    "Release Time",
    "Active Release Time",
    *(f"{end} Total {measure}" for end in ("Allocation", "Release") for measure in ("Allocated", "Reserved", "Active")),
)


@pytest.mark.parametrize("capture", TEXTS, ids=lambda path: "-".join(path.parts[-2:]))
def test_events_and_samples_are_the_rows_of_the_csv_files(capture: Path) -> None:
    if not capture.is_dir():
        pytest.skip(f"no real exports in {DATA}")
    rounded = capture.name == "test_rank_1"  # all of its samples have the time 1.69512E+15
    with open_capture(capture, cache=False) as database:
        events = database.sql(f"SELECT source_row, {EVENT} FROM memory_event ORDER BY source_row").fetchall()
        records = database.sql(
            f"SELECT source_row, {SAMPLE} FROM memory_sample JOIN source USING (source_id) "
            "WHERE kind = 'memory_record' ORDER BY source_row"
        ).fetchall()
        lost = database.sql("SELECT sum(rows_read - rows_loaded - rows_reported) FROM loaded").fetchall()
        rules = {finding.rule for finding in database.findings}
    measures = ("Total Allocated", "Total Reserved", "Total Active")
    assert events == [(number, *row) for number, row in rows_of(capture, "operator_memory.csv", *EVENT_HEADERS)]
    expected = [(n, *row) for n, row in rows_of(capture, "memory_record.csv", "Component", "Timestamp", *measures)]
    assert records == ([] if rounded else expected)
    assert ("memory-time" in rules) == rounded
    assert lost == [(0,)]


@REAL
@pytest.mark.parametrize("capture", DATABASES, ids=lambda path: "-".join(path.parts[-2:]))
def test_events_and_samples_are_the_rows_of_the_database(capture: Path) -> None:
    (path,) = capture.rglob("ascend_pytorch_profiler_*.db")
    with sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True) as source:
        word = "(SELECT value FROM STRING_IDS WHERE id = {})"
        columns = (
            "size, allocationTime, releaseTime, activeReleaseTime, allocationTotalAllocated, allocationTotalReserved, "
            "allocationTotalActive, releaseTotalAllocated, releaseTotalReserved, releaseTotalActive"
        )
        expected = source.execute(f"SELECT {word.format('name')}, {columns}, streamPtr FROM OP_MEMORY").fetchall()
        records = source.execute(
            f"SELECT {word.format('component')}, timestamp, totalAllocated, totalReserved FROM MEMORY_RECORD"
        ).fetchall()
        modules = source.execute(
            "SELECT (SELECT name FROM ENUM_MODULE WHERE id = moduleId), timestampNs, totalReserved FROM NPU_MODULE_MEM"
        ).fetchall()
    with open_capture(capture, cache=False) as database:
        found = database.sql(f"SELECT {EVENT}, stream FROM memory_event ORDER BY source_row").fetchall()
        sampled = database.sql(
            "SELECT component, sampled_ns, allocated_bytes, reserved_bytes FROM memory_sample "
            "WHERE scope = 'allocator' ORDER BY source_row"
        ).fetchall()
        held = database.sql(
            "SELECT component, sampled_ns, reserved_bytes FROM memory_sample WHERE scope = 'component'"
        ).fetchall()
    assert Counter(map(_zero_as_null, found)) == Counter(map(_zero_as_null, map(_whole, expected)))
    assert Counter(sampled) == Counter(map(_whole, records))
    assert Counter(held) == Counter(map(_whole, modules))


def _whole(row: Row) -> Row:
    return tuple(None if cell is None else cell if isinstance(cell, str) else round(cell) for cell in row)


def _zero_as_null(row: Row) -> Row:
    """The exporter writes 0 where it has no time or sum."""
    return tuple(cell or None for cell in row)


def test_the_release_follows_from_the_duration_where_exporters_write_only_that() -> None:
    folder = FIXTURES / "msprof" / "valid" / "merged_with_marks_and_memory"
    with open_capture(folder, cache=False) as database:
        rows = database.sql(
            "SELECT component, owner, released_ns - allocated_ns, device_id FROM memory_event"
        ).fetchall()
        scopes = database.sql("SELECT DISTINCT scope, component FROM memory_sample ORDER BY ALL").fetchall()
    assert rows == [("GE", "Conv2D1", 36_730, 0)]
    assert scopes == [("allocator", "GE"), ("component", "HCCL"), ("component", "SLOG"), ("process", "APP")]


def test_converted_tables_have_the_same_memory(cli: Cli, tmp_path: Path) -> None:
    capture = FIXTURES / "memory" / "training"
    query = "SELECT rank_id, component, count(*), sum(size_bytes)::BIGINT FROM memory_event GROUP BY ALL ORDER BY ALL"
    assert cli("convert", capture, "-o", tmp_path / "tables").code == 0
    with open_capture(capture, cache=False) as read, open_capture(tmp_path / "tables") as converted:
        rows = read.sql(query).fetchall()
        assert len(rows) > 1
        assert converted.sql(query).fetchall() == rows


OTHERS = sorted((FIXTURES / "memory" / "valid").iterdir())


@pytest.mark.parametrize("folder", OTHERS, ids=lambda path: path.name)
def test_recordings_that_no_profiler_made_are_loaded_whole(folder: Path) -> None:
    with open_capture(folder, cache=False) as database:
        counts = database.sql(
            "SELECT table_name, sum(rows_read)::BIGINT, sum(rows_loaded)::BIGINT FROM loaded GROUP BY ALL ORDER BY ALL"
        ).fetchall()
        events, keys = database.sql(
            "SELECT count(*), count(DISTINCT (source_id, source_row)) FROM memory_event"
        ).fetchall()[0]
        (samples,) = database.sql("SELECT count(*) FROM memory_sample").fetchall()[0]
        wrong = database.sql("SELECT count(*) FROM memory_event WHERE released_ns < allocated_ns").fetchall()
    assert counts == [("memory_event", events, events), ("memory_sample", samples, samples)]
    assert events == keys
    assert (events > 0) == (folder.name != "server_logs")
    assert wrong == [(0,)]


def test_damaged_recordings_break_no_query() -> None:
    with open_capture(FIXTURES / "memory" / "invalid", cache=False) as database:
        (events,) = database.sql("SELECT count(*) FROM memory_event").fetchall()[0]
        assert events > 0
        assert {"unreadable", "memory-entry"} <= {finding.rule for finding in database.findings}


def test_two_processes_of_one_device_have_rows_and_sums_of_their_own(cli: Cli, tmp_path: Path) -> None:
    """The documented queries keep them apart: the pool of 4321 is larger, and that of 1234 has a peak of its own."""
    header = "ID,Event,Event Type,Name,Timestamp(ns),Process Id,Thread Id,Device Id,Ptr,Attr"
    blocks = [(1, 1234, 1 << 20, "a"), (2, 4321, 1 << 30, "b"), (3, 1234, 3 << 20, "c"), (4, 4321, 2 << 30, "d")]
    used: Counter[int] = Counter()
    rows = []
    for number, process, size, owner in blocks:
        used[process] += size
        attributes = f"size:{size},total:{used[process]},used:{used[process]},owner:PTA@{owner}"
        time = 1_772_366_400_000_000_000 + number
        rows.append(f'{number},MALLOC,PTA,N/A,{time},{process},{process},0,0x{number:x}000,"{{{attributes}}}"')
    (tmp_path / "memscope_dump_1.csv").write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    (tmp_path / "largest.sql").write_text(documented("Who held memory at the peak"), encoding="utf-8")
    held = cli("sql", tmp_path, "--file", tmp_path / "largest.sql", "--format", "json").json["rows"]
    assert [(row["process_id"], row["peak_bytes"], row["owner"], row["held_bytes"]) for row in held] == [
        (4321, 3 << 30, "PTA@d", 2 << 30),
        (4321, 3 << 30, "PTA@b", 1 << 30),
        (1234, 4 << 20, "PTA@c", 3 << 20),
        (1234, 4 << 20, "PTA@a", 1 << 20),
    ]
    (tmp_path / "sums.sql").write_text(documented("The highest sums of each component"), encoding="utf-8")
    sums = cli("sql", tmp_path, "--file", tmp_path / "sums.sql", "--format", "json").json["rows"]
    assert [(row["process_id"], row["allocated_bytes"]) for row in sums] == [(1234, 4 << 20), (4321, 3 << 30)]


def documented(beginning: str) -> str:
    """The query of docs/sql.md below a sentence."""
    page = (ROOT / "docs" / "sql.md").read_text(encoding="utf-8")
    return page[page.index(beginning) :].partition("```sql\n")[2].partition("```")[0]
