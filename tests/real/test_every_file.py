"""Every real export is recognised and read without an error, to the last row; skipped where there are none."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from decimal import ROUND_HALF_EVEN, Decimal
from pathlib import Path
from typing import Any

import pytest
from real.test_oracles import DATA

from aoe_reports.engine.captures import look_at, read_file
from aoe_reports.formats.ascend.names import INFO_KINDS
from aoe_reports.formats.csv.summary import TableData
from aoe_reports.formats.sources.discovery import discover
from aoe_reports.formats.sources.found import FoundFile
from aoe_reports.formats.vendor import TABLES
from aoe_reports.model.findings import Finding

MSPROF = DATA / "msprof"
pytestmark = pytest.mark.skipif(not MSPROF.is_dir(), reason=f"no real exports in {MSPROF}")

FOLDERS = sorted(
    {path.parent for path in MSPROF.rglob("*") if path.suffix in {".csv", ".json"} and path.stat().st_size}
    - {path.parent for path in MSPROF.rglob("profiler_info*")}
)
ROUNDED = "torch_npu_2023-09/test_rank_1/ASCEND_PROFILER_OUTPUT/memory_record.csv"
"""A spreadsheet saved it: no time of it is one."""
RAGGED = {
    "torch_npu_2023-09/test_rank_0/ASCEND_PROFILER_OUTPUT/kernel_details.csv",
    "torch_npu_2023-09/test_kernel_parse/op_summary_1.csv",
}
"""Files with one row of 31 cells under a header of 32, on line 17."""
NOT_OURS = (".done", ".db-shm", ".db-wal", ".md")

SUMS: dict[str, tuple[str, str]] = {
    # table: (header, field); a sum of whole nanoseconds, bytes, or counts
    "kernel_details": ("Duration(us)", "task_duration_ns"),
    "op_summary": ("Task Duration(us)", "task_duration_ns"),
    "op_statistic": ("Total Time(us)", "total_time_ns"),
    "api_statistic": ("Time(us)", "total_time_ns"),
    "task_time": ("task_time(us)", "task_duration_ns"),
    "step_trace_time": ("Free", "free_ns"),
    "operator_details": ("Host Total Duration(us)", "host_total_duration_ns"),
    "operator_memory": ("Size(KB)", "size_bytes"),
    "memory_record": ("Total Reserved(MB)", "total_reserved_bytes"),
    "npu_module_mem": ("Total Reserved(MB)", "total_reserved_bytes"),
    "static_op_mem": ("Size(KB)", "size_bytes"),
    "l2_cache": ("Task Id", "task_id"),
}


def every_file() -> list[FoundFile]:
    return list(discover([MSPROF]).files)


def short(path: Path) -> str:
    return path.relative_to(MSPROF).as_posix()


def test_every_file_is_recognised() -> None:
    found = discover([MSPROF])
    known = {file.path for file in found.files}
    left = {path for path in MSPROF.rglob("*") if path.is_file()} - known
    assert {short(path) for path in left if not path.name.endswith(NOT_OURS)} == set()
    assert {finding.rule for finding in found.findings} <= {"db-journal", "not-read"}
    assert not found.unreadable


@pytest.fixture(scope="module")
def read() -> dict[Path, list[TableData]]:
    return {file.path: [read_file(file, kind) for kind in file.holds] for file in every_file() if file.size}


def test_nothing_is_wrong_with_any_but_the_known_rows(read: dict[Path, list[TableData]]) -> None:
    wrong: dict[str, list[Finding]] = {}
    for path, tables in read.items():
        for data in tables:
            assert data.rows_read == data.frame.num_rows + data.rows_reported
            if found := [finding for finding in data.findings if finding.severity != "info"]:
                wrong.setdefault(short(path), []).extend(found)
    assert {name: [(f.rule, f.line) for f in found] for name, found in wrong.items()} == {
        **{name: [("csv-ragged-row", 17)] for name in RAGGED},
        "mindspore_profiler/run_1/normal_run/profiler/flops_1.txt": [("csv-truncated", 200)],
        ROUNDED: [("memory-time", line) for line in range(2, 23)],
    }


def test_files_without_a_byte_are_the_ones_that_show_names() -> None:
    empty = {short(file.path) for file in every_file() if not file.size}
    assert empty
    assert all(name.startswith("name_patterns/") for name in empty)


def test_every_timeline_is_whole() -> None:
    timelines = [file for file in every_file() if file.name.timeline and file.size]
    assert len(timelines) > 10
    for file in timelines:
        look = look_at(file)
        assert [finding for finding in look.findings if finding.severity == "error"] == []
        assert look.events == len(json.loads(file.path.read_bytes()))


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: short(path) if MSPROF.is_dir() else "")
def test_rows_and_one_exact_sum_of_each_table(folder: Path, read: dict[Path, list[TableData]]) -> None:
    """Against Python's own csv, json and Decimal, which know nothing of the tables."""
    told: dict[str, tuple[int, int]] = {}
    expected: dict[str, tuple[int, int]] = {}
    for file in every_file():
        if file.path.parent != folder or not file.size or file.name.form == "db" or file.name.timeline:
            continue
        for data in read[file.path]:
            if data.table.name in SUMS:
                header, field = SUMS[data.table.name]
                cells = list(raw_cells(file.path, header))
                if short(file.path) == ROUNDED:
                    cells = [None] * len(cells)
                add(expected, data.table.name, len(cells), cells)
                add(told, data.table.name, data.rows_read, data.frame[field].to_pylist())
    assert told == expected


def add(sums: dict[str, tuple[int, int]], name: str, rows: int, values: list[int | None]) -> None:
    count, total = sums.get(name, (0, 0))
    sums[name] = (count + rows, total + sum(value for value in values if value is not None))


def raw_cells(path: Path, header: str) -> Iterator[int | None]:
    """One column of a file as whole ns, bytes or numbers; None for a missing value and for a row of the wrong length."""
    factor = 1 if "(" not in header and header != "Free" else {"KB": 1024, "MB": 1 << 20}.get(header[-3:-1], 1000)
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.reader(file)
        names = next(rows)
        for row in rows:
            cell = row[names.index(header)].strip() if len(row) == len(names) else ""
            yield int((Decimal(cell) * factor).to_integral_value(ROUND_HALF_EVEN)) if cell not in {"", "N/A"} else None


def test_communication_is_what_the_document_says(read: dict[Path, list[TableData]]) -> None:
    documents = [path for path in read if path.name == "communication.json"]
    assert len(documents) == 6
    for path in documents:
        times, bandwidths = read[path]
        elapsed, sizes = zip(*operators(json.loads(path.read_bytes(), parse_float=Decimal)), strict=True)
        assert times.frame["elapsed_ns"].to_pylist() == [rounded(ms, 1_000_000) for ms in elapsed]
        flat = [rounded(size, 1_000_000) for of_one in sizes for size in of_one]
        assert bandwidths.frame["transit_bytes"].to_pylist() == flat


def operators(document: dict[str, Any]) -> Iterator[tuple[Any, list[Any]]]:
    for types in document.values():
        for named in types.values():
            for name, facts in named.items():
                if name != "Total Op Info":
                    transports = facts["Communication Bandwidth Info"].values()
                    yield (
                        facts["Communication Time Info"]["Elapse Time(ms)"],
                        [t["Transit Size(MB)"] for t in transports],
                    )


def rounded(value: Any, factor: int) -> int:
    return int((Decimal(value) * factor).to_integral_value(ROUND_HALF_EVEN))


def test_every_kind_with_a_table_was_read(read: dict[Path, list[TableData]]) -> None:
    kinds = {data.table.name for tables in read.values() for data in tables if data.frame.num_rows}
    assert len(kinds) > 15
    assert kinds <= set(TABLES)
    assert not kinds & INFO_KINDS
