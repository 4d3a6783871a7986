"""Rows of tables of memory without a size, or whose times cannot be, are left out and reported, each once."""

from __future__ import annotations

from pathlib import Path

import pytest
from commandline import Cli
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aoe_reports.formats.ascend.tables import TABLES
from aoe_reports.formats.csv.summary import TableData, read_table
from aoe_reports.rules.tables.check import check_table

SAMPLES = "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Device Type\n"
EVENTS = (
    "Name,Size(KB),Allocation Time(us),Release Time(us),Duration(us),Allocation Total Allocated(MB),"
    "Allocation Total Reserved(MB),Release Total Allocated(MB),Release Total Reserved(MB),Device Type\n"
)
EVENTS_OF_2025 = (
    "Device_id,Name,Size(KB),Allocation Time(us),Duration(us),Allocation Total Allocated(KB),"
    "Allocation Total Reserved(KB),Release Total Allocated(KB),Release Total Reserved(KB),Device\n"
)


def read(folder: Path, kind: str, text: str) -> TableData:
    path = folder / f"{kind}.csv"
    path.write_text(text, encoding="utf-8")
    return check_table(read_table(path, TABLES[kind]))


def samples(folder: Path, *times: str) -> TableData:
    return read(folder, "memory_record", SAMPLES + "".join(f"PTA,{time},1.5,2.0,NPU:0\n" for time in times))


def events(folder: Path, *pairs: tuple[str, str]) -> TableData:
    return read(folder, "operator_memory", EVENTS + "".join(f"a,1.0,{a},{b},,1.0,2.0,,,NPU:0\n" for a, b in pairs))


def lines(data: TableData, rule: str = "memory-time") -> list[int | None]:
    assert data.rows_read == data.frame.num_rows + data.rows_reported
    return [finding.line for finding in data.findings if finding.rule == rule]


def test_times_that_a_spreadsheet_rounded_are_no_times(tmp_path: Path) -> None:
    data = samples(tmp_path, "1.69512E+15", "1.69512E+15", "1.69513E+15")
    assert (lines(data), data.frame.num_rows) == ([2, 3, 4], 0)


def test_a_whole_number_of_seconds_among_other_times_is_one(tmp_path: Path) -> None:
    data = samples(tmp_path, "1695120000000000.000", "1695120000000001.120", "1695120000000002.380")
    assert (lines(data), data.frame.num_rows) == ([], 3)


def test_times_since_the_device_was_started_may_be_round(tmp_path: Path) -> None:
    assert lines(samples(tmp_path, "10000000", "20000000")) == []


def test_a_sample_without_a_time_is_left_out(tmp_path: Path) -> None:
    data = samples(tmp_path, "1695120000000001.120", "N/A", "")
    assert (lines(data), data.frame.num_rows) == ([3, 4], 1)


def test_an_allocation_may_have_no_release_and_a_release_no_allocation(tmp_path: Path) -> None:
    data = events(tmp_path, ("1695120000000001.120", ""), ("", "1695120000000002.120"), ("", ""))
    assert (lines(data), data.frame.num_rows) == ([4], 2)


def test_nothing_is_released_before_it_is_allocated(tmp_path: Path) -> None:
    early, late = "1695120000000001.120", "1695120000000002.120"
    data = events(tmp_path, (early, late), (late, early), (early, early))
    assert (lines(data), data.frame.num_rows) == ([3], 2)


def test_exporters_without_a_time_of_release_need_that_of_allocation(tmp_path: Path) -> None:
    rows = "0,a,1,1695120000000001.120,5,1,2,1,2,NPU:0\n0,b,1,,5,1,2,1,2,NPU:0\n"
    data = read(tmp_path, "operator_memory", EVENTS_OF_2025 + rows)
    assert (lines(data), data.frame.num_rows) == ([3], 1)


def test_a_row_without_a_size_is_left_out(tmp_path: Path) -> None:
    cells = ["1.0", "", "N/A", "-4.0", "0", "much"]
    rows = [f"a,{cell},1695120000000001.12{place},,,1.0,2.0,,,NPU:0\n" for place, cell in enumerate(cells)]
    data = read(tmp_path, "operator_memory", EVENTS + "".join(rows))
    found = [(finding.rule, finding.line) for finding in data.findings]
    assert sorted(found) == [
        ("csv-unparsable", 7),
        ("missing-value", 3),
        ("missing-value", 4),
        ("negative-value", 5),
    ]
    assert all("the row is left out" in finding.message for finding in data.findings)
    assert (data.frame["size_bytes"].to_pylist(), data.rows_reported) == ([1024, 0], 4)
    rows = [f"PTA,1695120000000001.12{place},{sizes},NPU:0\n" for place, sizes in enumerate(["1.5,", ",2.0", ","])]
    data = read(tmp_path, "memory_record", SAMPLES + "".join(rows))
    assert (lines(data, "memory-size"), data.frame.num_rows) == ([4], 2)


def test_sizes_that_no_sum_of_64_bits_holds_are_refused(tmp_path: Path, cli: Cli) -> None:
    folder = tmp_path / "rank0_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    folder.mkdir(parents=True)
    largest = 2**53 // 1024 - 1
    rows = [f"a,{largest},1695120000000{place:03d}.120,,,1.0,2.0,,,NPU:0\n" for place in range(600)]
    (folder / "operator_memory.csv").write_text(EVENTS + "".join(rows), encoding="utf-8")
    for command in (("memory", tmp_path), ("sql", tmp_path, "FROM memory_event")):
        ended = cli(*command)
        assert "more than 4 EiB" in ended.out + ended.err
        assert ended.code == 3


BYTES = st.integers(0, 2**47 // 512).map(lambda count: 512 * count)


@given(st.lists(BYTES, min_size=1, max_size=40))
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_sizes_are_exact_to_the_byte_in_kb_and_mb(tmp_path: Path, sizes: list[int]) -> None:
    """As exporters in Python print them: the shortest text of a float."""
    rows = [
        f"a,{size / 1024},1695120000000001.{place:03d},,,{size / 2**20},{size / 2**20},,,NPU:0\n"
        for place, size in enumerate(sizes)
    ]
    data = read(tmp_path, "operator_memory", EVENTS + "".join(rows))
    for name in ("size_bytes", "allocation_total_allocated_bytes"):
        assert data.frame[name].to_pylist() == sizes


@pytest.mark.parametrize(("cell", "size"), [("18816.5", 18816 * 1024 + 512), ("0.5", 512), ("192", 196608)])
def test_half_a_kilobyte_is_512_bytes(tmp_path: Path, cell: str, size: int) -> None:
    text = EVENTS + f"a,{cell},1695120000000001.120,,,1.0,2.0,,,NPU:0\n"
    assert read(tmp_path, "operator_memory", text).frame["size_bytes"].to_pylist() == [size]


def test_an_allocation_that_is_in_the_table_twice_counts_once(tmp_path: Path) -> None:
    rows = [
        "a,1.0,10.000,20.000,,1.0,2.0,,,NPU:0",
        "a,1.0,10.000,20.000,,2.0,2.0,,,NPU:0",
        "b,1.0,30.000,,,2.0,2.0,,,NPU:0",
    ]
    data = read(tmp_path, "operator_memory", EVENTS + "".join(f"{row}\n" for row in (*rows, rows[0], rows[2])))
    assert (lines(data, "duplicate-row"), data.frame.num_rows) == ([5, 6], 3)


def test_a_time_of_zero_is_no_time(tmp_path: Path, cli: Cli) -> None:
    """Clocks of profiler tables count since 1970, or since the device was started: nothing is recorded at 0."""
    data = samples(tmp_path, "0", "1695120000000001.120", "0.000")
    assert (lines(data), data.frame.num_rows) == ([2, 4], 1)
    late = "1695120000000002.120"
    data = events(tmp_path, ("0", late), ("1695120000000001.120", late), ("1695120000000001.120", "0"))
    assert (lines(data), data.frame.num_rows) == ([2, 4], 1)
    folder = tmp_path / "rank0_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    folder.mkdir(parents=True)
    (folder / "memory_record.csv").write_text(SAMPLES + f"PTA,0,900.5,2.0,NPU:0\nPTA,{late},1.5,2.0,NPU:0\n", "utf-8")
    ended = cli("memory", tmp_path / "rank0_ascend_pt", "--format", "json")
    assert [row["peak_bytes"] for row in ended.json["devices"]] == [3 << 19]
    assert "a time of 0 or less is none" in ended.out
