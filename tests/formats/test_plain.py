"""Many columns of a large file, slice by slice, of a CSV file: always what all of it at once gives, or nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from aoe_reports.formats.ascend.tables import TABLES
from aoe_reports.formats.csv import plain, summary
from aoe_reports.formats.csv.summary import TableData, read_table

HEADER = (
    "Device_id,Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us),Block Num,Input Shapes,"
    "aic_mac_ratio,aiv_time(us),Something New,Note"
)


def read_whole(path: Path) -> TableData:
    """What all of a file at once gives."""
    with patch.object(summary, "read_plain", lambda *_, **__: None):
        return read_table(path, TABLES["op_summary"])


def read_sliced(path: Path, slice_bytes: int) -> tuple[TableData, bool]:
    """(what slices of so many bytes give, whether it was by these that the file was read)."""
    taken: list[bool] = []

    def reading(*arguments: Any, **named: Any) -> Any:
        taken.append((found := plain.read_plain(*arguments, **named)) is not None)
        return found

    with (
        patch.object(plain, "LARGE_BYTES", 0),
        patch.object(plain, "SLICE_BYTES", slice_bytes),
        patch.object(summary, "read_plain", reading),
    ):
        return read_table(path, TABLES["op_summary"]), taken == [True]


def facts(data: TableData) -> dict[str, Any]:
    return {
        "types": [(field.name, str(field.type)) for field in data.frame.schema],
        "rows of the frame": data.frame.to_pylist(),
        "findings": data.findings,
        "counts": (data.rows_read, data.rows_reported),
        "rows": data.rows is None or data.rows.tolist(),
        "lines": data.lines is None or data.lines.tolist(),
        "sha256": data.sha256,
    }


def same(folder: Path, body: str, slice_bytes: int, header: str = HEADER) -> bool:
    """Hold both ways against each other; whether slices were taken."""
    path = folder / "op_summary.csv"
    path.write_text(f"{header}\n{body}", encoding="utf-8", newline="")
    sliced, is_taken = read_sliced(path, slice_bytes)
    assert facts(sliced) == facts(read_whole(path))
    return is_taken


words = st.sampled_from(["MatMul", "Add", "AI_CORE", "算子", "N/A", "", " x "])
plain_numbers = st.decimals(0, 99999, places=3).map(str)
counters = st.one_of(plain_numbers, st.sampled_from(["N/A", "", "0", "1"]))
odd_numbers = st.sampled_from(
    [
        "1e+2",
        "1E+2",
        "1e-5",
        "-1.25e-300",
        "1e-4000",
        "nan",
        "inf",
        "-inf",
        "+1",
        " 1.5",
        "0x1A",
        "1_0",
        "abc",
        '"0.5"',
        "1e400",
    ]
)
starts = st.integers(0, 10**15).map(lambda ns: f"{ns // 1000}.{ns % 1000:03}\t")
durations = st.one_of(plain_numbers, st.sampled_from(["0.0005", "12345678.125", "1125899906842.623", "N/A", "-1"]))
names = st.one_of(st.text("abc/_. é", max_size=40), st.sampled_from(['"a,b"', '"""q"""', '""']))
shapes = st.sampled_from(['"""1,2;3,4"""', "N/A", '"1,2"', ""])


def rows_of(numbers: st.SearchStrategy[str]) -> st.SearchStrategy[list[str]]:
    cells = (st.sampled_from(["0", "1", "4294967295"]), names, words, words, starts, durations)
    more = (st.sampled_from(["8", "20", "N/A"]), shapes, numbers, numbers, numbers, st.one_of(words, numbers))
    return st.lists(st.tuples(*cells, *more).map(",".join), min_size=1, max_size=30)


PLAIN = "0,a,MatMul,AI_CORE,17.250\t,2.500,8,N/A,0.5,1.25,{},x"


@given(rows=rows_of(counters), slice_bytes=st.integers(150, 1500), end=st.sampled_from(["\n", "\r\n"]))
def test_rows_as_exporters_write_them(tmp_path: Path, rows: list[str], slice_bytes: int, end: str) -> None:
    same(tmp_path, "".join(row + end for row in rows), slice_bytes)


@given(rows=rows_of(st.one_of(counters, odd_numbers)), slice_bytes=st.integers(150, 1500))
@example(rows=[PLAIN.format("N/A"), PLAIN.format("1.5"), PLAIN.format("N/A")], slice_bytes=150)
@example(rows=[PLAIN.format("N/A"), PLAIN.format("word"), PLAIN.format("N/A")], slice_bytes=150)
@example(rows=[PLAIN.format("1.5"), PLAIN.format("word"), PLAIN.format("2.5")], slice_bytes=150)
@example(rows=[PLAIN.format("word"), PLAIN.format("1.5"), PLAIN.format("2.5")], slice_bytes=150)
@example(rows=[PLAIN.format("1.5"), PLAIN.format("1e+2")], slice_bytes=150)
@example(rows=[PLAIN.format("1.5"), PLAIN.format("nan")], slice_bytes=150)
def test_counters_that_are_odd(tmp_path: Path, rows: list[str], slice_bytes: int) -> None:
    same(tmp_path, "".join(row + "\n" for row in rows), slice_bytes)


edits = st.tuples(
    st.integers(0, 10_000),
    st.integers(0, 3),
    st.sampled_from(["", ",", ",,", '"', '""', '"\n', "\n", "\n\n", "\r", "\r\n", "\0", "x", "é", "N/A", ",N/A"]),
)


@given(rows=rows_of(counters), changes=st.lists(edits, max_size=3), slice_bytes=st.integers(150, 1500))
@example(rows=[PLAIN.format("1")] * 30, changes=[(400, 0, "\n\n")], slice_bytes=300)
@example(rows=[PLAIN.format("1")] * 30, changes=[(400, 0, '"')], slice_bytes=300)
def test_damage_anywhere(
    tmp_path: Path, rows: list[str], changes: list[tuple[int, int, str]], slice_bytes: int
) -> None:
    text = "".join(row + "\n" for row in rows)
    for place, length, put in changes:
        at = place % (len(text) + 1)
        text = text[:at] + put + text[at + length :]
    same(tmp_path, text, slice_bytes)


@pytest.mark.parametrize(
    ("cells", "taken"),
    [
        (["1.5", "N/A", "2.5"], True),
        (["N/A", "N/A", "2.5"], True),
        (["word", "N/A", "other"], True),
        (["1.5", "word", "2.5"], False),
        (["word", "1.5", "word"], False),  # slices are not of one mind, all of it at once is
        (["1.5", "1e+2", "2.5"], False),
        (["1.5", "inf", "2.5"], False),
    ],
)
def test_what_is_read_slice_by_slice(tmp_path: Path, cells: list[str], *, taken: bool) -> None:
    assert same(tmp_path, "".join(PLAIN.format(cell) + "\n" for cell in cells), 100) is taken


def test_a_comma_at_the_end_of_all_lines_makes_no_column(tmp_path: Path) -> None:
    body = (PLAIN.format("1.5") + ",\n") * 5
    assert same(tmp_path, body, 150, HEADER + ",")
    assert "unnamed" not in read_whole(tmp_path / "op_summary.csv").frame.column_names


def test_rows_without_a_duration_are_left_to_who_reports_them(tmp_path: Path) -> None:
    body = (PLAIN.format("1.5") + "\n") * 3
    assert not same(tmp_path, body + body.replace("2.500", "N/A"), 100)


def test_a_line_longer_than_a_slice_is_left_to_who_reads_all_at_once(tmp_path: Path) -> None:
    assert not same(tmp_path, PLAIN.format("1.5") + "y" * 200 + "\n", 100)


def test_small_files_are_read_at_once(tmp_path: Path) -> None:
    path = tmp_path / "op_summary.csv"
    path.write_text(f"{HEADER}\n{PLAIN.format('1.5')}\n")
    assert plain.read_plain(path, len(HEADER) + 1, HEADER.count(",") + 1, []) is None
