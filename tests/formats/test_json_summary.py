"""Summaries as JSON are the same tables as CSV."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from aoe_reports.formats.ascend.tables import TABLES
from aoe_reports.formats.csv.summary import TableData, read_table
from aoe_reports.formats.json.summary import read_json_summary
from aoe_reports.formats.sources.discovery import discover

ROW = {
    "Device_id": 0, "Op Name": "a,b", "OP Type": "MatMul", "Task Type": "AI_CORE",
    "Task Start Time(us)": "1736412474712511.621\t", "Task Duration(us)": 53.74, "Task Wait Time(us)": "0",
    "Block Dim": 24, "Input Shapes": '"1,2;3,4"', "Context ID": "N/A", "aic_mac_ratio": 0.5,
}  # fmt: skip


def read(tmp_path: Path, document: Any, kind: str = "op_summary", fields: frozenset[str] | None = None) -> TableData:
    path = tmp_path / f"{kind}.json"
    path.write_bytes(document if isinstance(document, bytes) else json.dumps(document).encode())
    data = read_json_summary(path, TABLES[kind], fields)
    assert data.rows_read == data.frame.num_rows + data.rows_reported
    return data


def found(data: TableData) -> list[tuple[str, str | None]]:
    assert all(finding.line is None and finding.column is None for finding in data.findings)
    return [(finding.rule, finding.pointer) for finding in data.findings]


def test_one_row_is_what_its_csv_is(tmp_path: Path) -> None:
    data = read(tmp_path, [ROW])
    path = tmp_path / "op_summary.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([list(ROW), list(ROW.values())])
    as_csv = read_table(path, TABLES["op_summary"])
    assert data.findings == as_csv.findings == ()
    assert data.frame.to_pylist() == as_csv.frame.to_pylist()
    assert data.frame.schema == as_csv.frame.schema
    assert data.frame["task_start_ns"].to_pylist() == [1736412474712511621]


def test_numbers_keep_every_digit(tmp_path: Path) -> None:
    text = json.dumps([ROW]).replace('"1736412474712511.621\\t"', "1736412474712511.621").replace("53.74", "53.7405")
    data = read(tmp_path, text.encode())
    assert data.frame["task_start_ns"].to_pylist() == [1736412474712511621]
    assert data.frame["task_duration_ns"].to_pylist() == [53740]  # half to even


@pytest.mark.parametrize(
    ("content", "rule"),
    [
        (b"", "empty-file"),
        (b" \n", "empty-file"),
        (b"[", "json-truncated"),
        (b'[{"OP Type": 1', "json-truncated"),
        (b"[1 2]", "json-syntax"),
        (b"[{}] x", "json-syntax"),
        (b'[{"OP Type": NaN}]', "json-syntax"),
        (b'[{"a": 1, "a": 2}]', "json-duplicate-key"),
        (b"{}", "json-shape"),
        (b"[1]", "json-shape"),
        (b'"x"', "json-shape"),
        (b"null", "json-shape"),
        (b'[{"OP Type": "x"}]', "missing-column"),
        (b"\xff\xfe", "json-syntax"),
    ],
)
def test_what_is_no_list_of_rows_is_refused_aloud(tmp_path: Path, content: bytes, rule: str) -> None:
    data = read(tmp_path, content)
    assert {finding.rule for finding in data.findings} == {rule}
    assert data.frame.num_rows == 0


def test_an_empty_list_is_a_table_without_rows(tmp_path: Path) -> None:
    data = read(tmp_path, [])
    assert (data.findings, data.rows_read) == ((), 0)


@pytest.mark.parametrize("row", [[], 1, None, {}, {"OP Type": "x"}, dict(reversed(ROW.items())), {**ROW, "more": 1}])
def test_a_row_with_other_keys_is_left_out_and_said(tmp_path: Path, row: Any) -> None:
    data = read(tmp_path, [ROW, row, ROW])
    assert found(data) == [("json-row", "/1")]
    assert (data.rows_read, data.frame.num_rows) == (3, 2)


@pytest.mark.parametrize(
    ("value", "rule"),
    [("x", "csv-unparsable"), (True, "csv-unparsable"), ([], "csv-unparsable"), (1e300, "csv-unparsable"),
     (None, "missing-value"), ("N/A", "missing-value"), ("", "missing-value")],
)  # fmt: skip
def test_a_value_that_cannot_be_used_is_said_with_its_place(tmp_path: Path, value: Any, rule: str) -> None:
    data = read(tmp_path, [ROW, {**ROW, "Task Duration(us)": value}])
    assert found(data) == [(rule, "/1/Task Duration(us)")]
    assert data.frame.num_rows == 1


def test_a_place_is_a_json_pointer(tmp_path: Path) -> None:
    row = {**ROW, "aic_l2_read_bw(GB/s)": 1.5}
    data = read(tmp_path, [row, row, {**row, "aic_l2_read_bw(GB/s)": "x"}])
    assert found(data) == [("csv-unparsable", "/2/aic_l2_read_bw(GB~1s)")]


def test_blanks_before_keys_lose_nothing(tmp_path: Path) -> None:
    header = "pid, tid, category, event_type, payload_type, payload_value, Start_time(ns), End_time(ns), message_type, message"
    row = dict(zip(header.split(","), [1, 2, "0", "marker", "0", "0", 5, 6, "0", "hi"], strict=True))
    (got,) = read(tmp_path, [row], "msprof_tx").frame.to_pylist()
    assert (got["thread_id"], got["start_ns"], got["end_ns"], got["message"]) == (2, 5, 6, "hi")


def test_only_wanted_columns_are_converted(tmp_path: Path) -> None:
    data = read(tmp_path, [ROW], fields=frozenset({"op_type"}))
    assert set(data.frame.column_names) == {"op_type", "task_duration_ns"}


def test_gb18030_is_read_and_said(tmp_path: Path) -> None:
    text = json.dumps([{**ROW, "Op Name": "矩阵"}], ensure_ascii=False).encode("gb18030")
    data = read(tmp_path, text)
    assert [(finding.severity, finding.rule) for finding in data.findings] == [("warning", "json-encoding")]
    assert data.frame["op_name"].to_pylist() == ["矩阵"]


def test_a_byte_order_mark_is_no_damage(tmp_path: Path) -> None:
    assert read(tmp_path, b"\xef\xbb\xbf" + json.dumps([ROW]).encode()).findings == ()


def test_many_findings_of_one_kind_are_counted(tmp_path: Path) -> None:
    data = read(tmp_path, [ROW, *[{**ROW, "Task Duration(us)": "x"}] * 100, *[1] * 100])
    assert {rule for rule, _ in found(data)} == {"csv-unparsable", "json-row"}
    assert len(data.findings) == 42
    assert data.rows_reported == 200


def test_a_file_with_a_plain_word_for_a_name_needs_every_column_of_the_table(tmp_path: Path) -> None:
    whole = {"Name": "a", "Type": "b", "Start Time(us)": 1, "Duration(us)": 2, "Process ID": 3, "Thread ID": 4}
    path = tmp_path / "acl.json"
    path.write_text(json.dumps([whole]))
    assert [file.holds for file in discover([tmp_path]).files] == [("acl",)]
    path.write_text(json.dumps([{"Name": "a", "Type": "b"}]))
    assert discover([tmp_path]).files == ()
