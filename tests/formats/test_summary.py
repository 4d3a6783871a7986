"""Summary CSV: every row is in the frame or in the findings, every number exact."""

from __future__ import annotations

import csv
import hashlib
import io
from decimal import ROUND_HALF_EVEN, Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.formats.ascend.tables import TABLES
from aoe_reports.formats.csv.summary import TableData, read_table
from aoe_reports.model.errors import ReadError
from aoe_reports.model.findings import EXAMPLES_PER_RULE
from aoe_reports.rules.tables.check import check_table

HEADER = "Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us),Task Wait Time(us)"
TABLE = TABLES["op_summary"]


def read(tmp_path: Path, text: str | bytes, header: str = HEADER, **kwargs) -> TableData:
    path = tmp_path / "op_summary.csv"
    data = text if isinstance(text, bytes) else text.encode()
    path.write_bytes(header.encode() + b"\n" + data if header else data)
    return check_table(read_table(path, TABLE, **kwargs))


def found(data: TableData) -> list[tuple[str, int | None, int | None]]:
    return [(finding.rule, finding.line, finding.column) for finding in data.findings]


def test_times_are_exact_nanoseconds(tmp_path: Path) -> None:
    data = read(tmp_path, "a,T,AI_CORE,1736412474712511.621\t,53.7415,0\n")
    assert data.frame["task_start_ns"].to_pylist() == [1736412474712511621]
    assert data.frame["task_duration_ns"].to_pylist() == [53742]  # half to even
    assert data.findings == ()


def test_missing_words_are_null(tmp_path: Path) -> None:
    data = read(tmp_path, 'N/A,,"",N/A,1,N/A\n')
    row = data.frame.to_pylist()[0]
    assert [row[name] for name in ("op_name", "op_type", "task_type", "task_start_ns", "task_wait_ns")] == [None] * 5


def test_the_id_that_means_none_is_null(tmp_path: Path) -> None:
    data = read(tmp_path, "a,T,AI_CORE,1,2,3,4294967295\nb,T,AI_CORE,1,2,3,7\n", HEADER + ",Model ID")
    assert data.frame["model_id"].to_pylist() == [None, 7]


def test_shapes_keep_their_quotes_once(tmp_path: Path) -> None:
    data = read(tmp_path, 'a,T,AI_CORE,1,2,3,"""1,2;3,4"""\n', HEADER + ",Input Shapes")
    assert data.frame["input_shapes"].to_pylist() == ["1,2;3,4"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a,T,AI_CORE,1,2,3\nb,T,AI_CORE,1,2\n", [("csv-ragged-row", 3, None)]),
        ("a,T,AI_CORE,1,2,3\n5,x,T,AI_CORE,1,2,3\n", [("csv-ragged-row", 3, None)]),
        ("a,T,AI_CORE,1,2,3\nb,T,AI_CORE,1,2,\n", []),
        ("a,T,AI_CORE,1,2,3\nb,T,AI_CORE,1,oops,3\n", [("csv-unparsable", 3, 5)]),
        ("a,T,AI_CORE,1,2,3\nb,T,AI_CORE,1,inf,3\n", [("csv-unparsable", 3, 5)]),
        ("a,T,AI_CORE,1,2,3\nb,T,AI_CORE,1,nan,3\n", [("csv-unparsable", 3, 5)]),
        ("a,T,AI_CORE,1,2,3\nb,T,AI_CORE,1,1e300,3\n", [("csv-unparsable", 3, 5)]),
        ("a,T,AI_CORE,1,2,3\nb,T,AI_CORE,1,N/A,3\n", [("missing-value", 3, 5)]),
        ("a,T,AI_CORE,1,2,3\nb,T,AI_CORE,1,-1,3\n", [("negative-duration", 3, 5)]),
        ("a,T,AI_CORE,1,2,3\nb,T,AI_CORE,1", [("csv-truncated", 3, None)]),
    ],
)
def test_a_row_that_cannot_be_used_is_reported_and_left_out(tmp_path: Path, text: str, expected: list) -> None:
    data = read(tmp_path, text)
    assert found(data) == expected
    assert data.frame.num_rows + data.rows_reported == data.rows_read == 2
    assert data.frame["op_name"].to_pylist() == (["a"] if expected else ["a", "b"])


def test_a_bad_cell_of_no_weight_costs_the_cell_only(tmp_path: Path) -> None:
    data = read(tmp_path, "a,T,AI_CORE,soon,2,3\n")
    assert found(data) == [("csv-unparsable", 2, 4)]
    assert data.frame.to_pylist()[0]["task_start_ns"] is None
    assert (data.rows_read, data.rows_reported) == (1, 0)


def test_lines_are_physical_where_cells_hold_line_ends_and_lines_are_empty(tmp_path: Path) -> None:
    data = read(tmp_path, '"a\nb",T,AI_CORE,1,2,3\n\nc,T,AI_CORE,1,bad,3\n')
    assert found(data) == [("csv-spread-row", 2, None), ("csv-unparsable", 5, 5)]
    assert (data.rows_read, data.rows_reported, data.frame.num_rows) == (2, 2, 0)


def test_stray_quotes_that_swallow_rows_are_found(tmp_path: Path) -> None:
    data = read(
        tmp_path, 'a,T,AI_CORE,1,2,3\n"b,T,AI_CORE,1,2,3\nc,T,AI_CORE,1,2,3\nd",T,AI_CORE,1,2,3\ne,T,AI_CORE,1,2,3\n'
    )
    assert found(data) == [("csv-spread-row", 3, None)]
    assert data.frame["op_name"].to_pylist() == ["a", "e"]


@pytest.mark.parametrize("stamp", ["1e-999999999", "1e999999999", "9" * 40, "nan", "1e400"])
def test_absurd_time_stamps_neither_end_the_process_nor_pass(tmp_path: Path, stamp: str) -> None:
    data = read(tmp_path, f"a,T,AI_CORE,{stamp},2,3\nb,T,AI_CORE,5,2,3\n")
    assert [finding[0] for finding in found(data)] == ["csv-unparsable"]
    assert data.frame["task_start_ns"].to_pylist() == [None, 5000]


@pytest.mark.parametrize("stamp", ["1.68e+18", "1736412474712511.1234567", " 12 "])
def test_time_stamps_in_other_forms_are_exact_too(tmp_path: Path, stamp: str) -> None:
    from decimal import ROUND_HALF_EVEN, Decimal

    data = read(tmp_path, f"a,T,AI_CORE,{stamp},2,3\n", HEADER.replace("Task Start Time(us)", "Task Start Time(ns)"))
    expected = int(Decimal(stamp.strip()).to_integral_value(ROUND_HALF_EVEN))
    assert data.frame["task_start_ns"].to_pylist() == [expected]


@pytest.mark.parametrize("number", ["1e30", "1.5", "99999999999999999999", "9223372036854775808"])
def test_integers_that_do_not_fit_are_said(tmp_path: Path, number: str) -> None:
    data = read(tmp_path, f"a,T,AI_CORE,1,2,3,{number}\n", HEADER + ",Block Num")
    assert found(data) == [("csv-unparsable", 2, 7)]


def test_an_open_quote_is_said_to_swallow_lines(tmp_path: Path) -> None:
    data = read(tmp_path, 'a,T,AI_CORE,1,2,3\nb,"T,AI_CORE,1,2,3\nc,T,AI_CORE,1,2,3\n')
    assert found(data) == [("csv-ragged-row", 3, None)]
    assert "an unclosed quote takes in the content of the next lines" in data.findings[0].message
    assert data.frame["op_name"].to_pylist() == ["a"]


def test_gbk_is_read_and_said(tmp_path: Path) -> None:
    data = read(tmp_path, "a,T,AI_CORE,1,2,3\n矩阵,T,AI_CORE,1,2,3\n".encode("gbk"))
    assert data.frame["op_name"].to_pylist() == ["a", "矩阵"]
    assert [(f.severity, *rest) for f, rest in zip(data.findings, found(data), strict=True)] == [
        ("warning", "csv-encoding", 3, None)
    ]


def test_gbk_in_a_column_that_is_not_wanted_is_found_too(tmp_path: Path) -> None:
    text = "矩阵,T,AI_CORE,1,2,3\n".encode("gbk")
    assert found(read(tmp_path, text, fields=frozenset({"op_type"}))) == [("csv-encoding", 2, None)]


def test_bytes_of_no_encoding_refuse_the_file(tmp_path: Path) -> None:
    data = read(tmp_path, b"\xff\xff\xff,T,AI_CORE,1,2,3\n")
    assert found(data) == [("csv-encoding", 2, None)]
    assert data.frame.num_rows == 0


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-16", "utf-32-le", "utf-32-be", "utf-32"])
@pytest.mark.parametrize("fields", [None, frozenset({"op_type"})])
def test_utf_16_and_utf_32_are_said_once(tmp_path: Path, encoding: str, fields: frozenset[str] | None) -> None:
    text = f"{HEADER}\na,T,AI_CORE,1,2,3\n".encode(encoding)
    data = read(tmp_path, text, header="", fields=fields)
    assert found(data) == [("csv-encoding", 1, None)]
    form = encoding[:6].upper() + ("BE" if encoding.endswith("be") else "LE")
    assert data.findings[0].message == (
        f"the text is {form}, not UTF-8: convert it (iconv -f {form} -t UTF-8); the file is not used"
    )
    assert data.findings[0].severity == "error"
    assert data.frame.num_rows == 0
    converted = tmp_path / "converted.csv"
    converted.write_bytes(text.decode(form).encode())  # what iconv makes of it
    assert read_table(converted, TABLE).frame["op_name"].to_pylist() == ["a"]


@pytest.mark.parametrize(("separator", "name"), [(";", "semicolons"), ("\t", "tabs"), ("|", "bars")])
def test_another_separator_is_said_once(tmp_path: Path, separator: str, name: str) -> None:
    path = tmp_path / "op_statistic_20260101.csv"
    text = "Device_id,OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),Ratio(%)\n0,Add,AI_CORE,1,1,1,1,1,100\n"
    path.write_text(text)
    whole = read_table(path, TABLES["op_statistic"])
    assert (whole.frame.num_rows, whole.findings) == (1, ())
    path.write_text(text.replace(",", separator))
    data = read_table(path, TABLES["op_statistic"])
    assert data.frame.num_rows == 0
    (found,) = data.findings
    assert (found.rule, found.severity, found.line) == ("csv-separator", "error", 1)
    assert found.message.startswith(f"the columns are separated by {name}, not by commas: ")
    path.write_text(f"a{separator}b\n1{separator}2\n")
    assert {one.rule for one in read_table(path, TABLES["op_statistic"]).findings} == {"missing-column"}


def test_another_separator_is_said_of_a_header_that_misses_a_column(tmp_path: Path) -> None:
    path = tmp_path / "op_statistic_20260101.csv"
    path.write_text("Device_id;OP Type;Core Type;Count\n0;Add;AI_CORE;1\n")
    (found,) = read_table(path, TABLES["op_statistic"]).findings
    assert (found.rule, found.line) == ("csv-separator", 1)
    assert found.message.startswith("the columns are separated by semicolons, not by commas: ")


@pytest.mark.parametrize("first", ["sep=,", "sep=;", "SEP=\t", "sep=|"])
def test_a_line_that_names_the_separator_for_excel_is_one_finding(tmp_path: Path, first: str) -> None:
    separator = first[-1]
    text = "Device_id,OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),Ratio(%)\n0,Add,AI_CORE,1,1,1,1,1,100\n"
    path = tmp_path / "op_statistic_20260101.csv"
    path.write_text(f"{first}\n{text.replace(',', separator)}")
    data = read_table(path, TABLES["op_statistic"])
    (found,) = data.findings
    assert (data.frame.num_rows, found.rule, found.severity, found.line) == (0, "csv-separator", "error", 1)
    assert found.message.startswith(f"the first line names the separator for Excel ({first}")


def test_zeros_in_place_of_a_header_are_not_utf_16(tmp_path: Path) -> None:
    assert {rule for rule, *_ in found(read(tmp_path, b"\0" * 100 + b"\na,T,AI_CORE,1,2,3\n", header=""))} == {
        "missing-column"
    }


def test_a_projection_sees_ragged_rows(tmp_path: Path) -> None:
    data = read(tmp_path, "a,T,AI_CORE,1,2,3\n7,a,T,AI_CORE,1,2,3\n", fields=frozenset({"op_type"}))
    assert found(data) == [("csv-ragged-row", 3, None)]
    assert set(data.frame.column_names) == {"op_type", "task_duration_ns"}


def test_an_empty_file_and_a_lone_header(tmp_path: Path) -> None:
    assert found(read(tmp_path, b"", header="")) == [("empty-file", None, None)]
    assert found(read(tmp_path, b"")) == []
    assert found(read(tmp_path, HEADER, header="")) == [("csv-truncated", 1, None)]


def test_a_renamed_column_is_named_with_what_stands_in_its_place(tmp_path: Path) -> None:
    data = read(tmp_path, "a,T,AI_CORE,1,2,3\n", HEADER.replace("Task Duration", "Elapsed"))
    assert found(data) == [("missing-column", 1, 5)]
    assert "'Elapsed(us)'" in data.findings[0].message


def test_many_findings_of_one_kind_are_counted_not_listed(tmp_path: Path) -> None:
    data = read(tmp_path, "a,T,AI_CORE,1,bad,3\n" * 1000)
    assert len(data.findings) == 21
    assert "980 more" in data.findings[-1].message
    assert data.rows_reported == 1000


def test_a_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="no such"):
        read_table(tmp_path / "no such.csv", TABLE)


def test_rows_longer_than_a_block_and_files_of_many_blocks(tmp_path: Path) -> None:
    text = "".join(f"op{i},T,AI_CORE,{i},1.001,0\n" for i in range(60_000)) + "x,T,AI_CORE,1,2\n"
    data = read(tmp_path, text)
    assert (data.frame.num_rows, found(data)) == (60_000, [("csv-ragged-row", 60_002, None)])
    assert found(read(tmp_path, "x" * (3 << 20) + ",T,AI_CORE,1,2,3\n")) == [("csv-syntax", None, None)]


cells = st.one_of(
    st.decimals(min_value=-10, max_value=10**9, places=4, allow_nan=False).map(str),
    st.sampled_from(["N/A", "", "1e3", " 5 ", "7\t", "x", "--1", "0x10", "１", "1,5", '"', "1.", ".5", "-0.0", "inf"]),
)
names = st.text(alphabet=st.characters(exclude_characters="\r\n\0", exclude_categories=["Cs"]), max_size=12)


@given(rows=st.lists(st.tuples(names, cells, st.integers(-2, 2)), max_size=20))
def test_rows_read_are_rows_summed_plus_rows_reported(rows: list[tuple[str, str, int]], tmp_path: Path) -> None:
    """Against Python's csv and Decimal: same sum, and nothing lost without a word."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    expected, usable = 0, 0
    for start, (name, cell, ragged) in enumerate(rows):
        row = [name, "T", "AI_CORE", str(start), cell, "3"] + ["x"] * max(0, ragged)
        row = row[: len(row) + min(0, ragged)]
        writer.writerow(row)
        value = _decimal(cell)
        if ragged == 0 and value is not None and value >= 0:
            expected += int((value * 1000).to_integral_value(ROUND_HALF_EVEN))
            usable += 1
    data = read(tmp_path, buffer.getvalue())
    assert data.rows_read == len(rows)
    assert data.frame.num_rows == usable
    assert data.frame.num_rows + data.rows_reported == data.rows_read
    assert sum(data.frame["task_duration_ns"].to_pylist()) == expected
    assert bool(data.findings) == (usable != len(rows))


def _decimal(cell: str) -> Decimal | None:
    text = cell.strip(" \t")
    if not text.isascii() or text in {"N/A", "", "x", "--1", "0x10", "1,5", '"', "inf"}:
        return None
    return Decimal(text)


def test_a_table_is_read_with_its_hash_unless_told_otherwise(tmp_path: Path) -> None:
    path = tmp_path / "op_summary.csv"
    path.write_text(f"{HEADER}\na,T,AI_CORE,1,2,0\n")
    assert read_table(path, TABLE).sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert read_table(path, TABLE, hashed=False).sha256 == ""
    fields = frozenset({"op_type"})
    assert read_table(path, TABLE, fields).sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize(("header", "text", "line"), [("", "", None), ("", "\n", 1), ("", "\na,b\n", 1)])
def test_a_file_without_a_header_is_said_to_be_empty_or_to_begin_with_something_else(
    tmp_path: Path, header: str, text: str, line: int | None
) -> None:
    (finding,) = read(tmp_path, text, header).findings
    what = "the first line does not contain a header" if line else "the file is empty"
    assert (finding.rule, finding.line) == ("empty-file", line)
    assert finding.message == f"{what}; expected the header of op_summary"


@pytest.mark.parametrize("where", ["header", "row", "last"])
def test_a_nul_byte_is_told_with_its_line_wherever_it_stands(tmp_path: Path, where: str) -> None:
    header = HEADER + (",x\0" if where == "header" else "")
    extra = ",1" if where == "header" else ""
    rows = [f"a,T,AI_CORE,1,2,0{extra}", f"b,T,AI_CORE,4,2,0{extra}"]
    place = {"header": 1, "row": 2, "last": 3}[where]
    if where != "header":
        rows[place - 2] = rows[place - 2].replace(",T,", ",T\0,")
    data = read(tmp_path, "\n".join([*rows, ""]), header)
    said = "there is a NUL byte here, as after a crash: the content that it replaced is lost, words may be wrong"
    assert [(finding.message, finding.line) for finding in data.findings if finding.rule == "csv-encoding"] == [(said, place)]  # fmt: skip


@pytest.mark.parametrize(
    "count", [1, EXAMPLES_PER_RULE - 1, EXAMPLES_PER_RULE, EXAMPLES_PER_RULE + 1, EXAMPLES_PER_RULE + 9]
)
@pytest.mark.parametrize(("cell", "rule"), [("soon", "csv-unparsable"), ("", "missing-value")])
def test_the_first_of_many_odd_cells_are_named_and_the_rest_counted(
    tmp_path: Path, count: int, cell: str, rule: str
) -> None:
    data = read(
        tmp_path, "".join(f"a,T,AI_CORE,{number},{cell},0\n" for number in range(count)) + "b,T,AI_CORE,99,1,0\n"
    )
    rest = max(count - EXAMPLES_PER_RULE, 0)
    named = [(rule, line, 5) for line in range(2, min(count, EXAMPLES_PER_RULE) + 2)]
    assert found(data) == [*named, *([(rule, EXAMPLES_PER_RULE + 2, 5)] if rest else [])]
    assert (data.frame.num_rows, data.rows_reported) == (1, count)
    last = data.findings[-1].message
    assert (last == f"and {rest} more of this kind from here on, all left out") is (rest > 0)


@pytest.mark.parametrize("more", [0, 1, 3])
def test_of_rows_that_are_mended_the_rest_is_counted_too(tmp_path: Path, more: int) -> None:
    names = [f"a,b{number}" for number in range(EXAMPLES_PER_RULE + more)]
    data = read(tmp_path, "x,T,AI_CORE,1,2,0\n" + "".join(f"{name},T,AI_CORE,9,5,0\n" for name in names))
    assert data.frame["op_name"].to_pylist() == ["x", *names]
    told = [finding.message for finding in data.findings]
    said = [f"the exporter did not quote a comma in {name!r}; the cell was joined again" for name in names]
    assert told == [*said[:EXAMPLES_PER_RULE], *([f"and {more} more rows repaired in the same way"] if more else [])]
    assert [finding.line for finding in data.findings][-1] == EXAMPLES_PER_RULE + 2 + (more > 0)


ROWS = ["a,Add,AI_CORE,1,2,0", "b,Add,AI_CORE,2,2,0", "c,Add,AI_CORE,3,2,0"]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (f"{ROWS[0]}\n{ROWS[1]}\n", []),
        (f"\r{ROWS[0]}\n{ROWS[1]}\n", [2]),
        (f"{ROWS[0]}\n{ROWS[1]}\r\r\n{ROWS[2]}\n", [3]),
        (f"\r{ROWS[0]}\n{ROWS[1]}\r\r\n{ROWS[2]}\n", [2, 3]),
        (f"{ROWS[0]}\r\n{ROWS[1]}\r\n", []),
    ],
)
def test_a_carriage_return_beside_a_row_is_told_with_its_line(tmp_path: Path, text: str, lines: list[int]) -> None:
    data = read(tmp_path, text)
    said = [(one.line, one.message) for one in data.findings if one.rule == "csv-encoding"]
    why = "there is a carriage return here without a line end: the content that it replaced is lost, words may be wrong"
    assert said == [(line, why) for line in lines]


def test_carriage_returns_that_a_conversion_put_into_every_line_are_none(tmp_path: Path) -> None:
    header = HEADER + "\r\r"
    data = read(tmp_path, "".join(f"{row}\r\r\n" for row in ROWS), header)
    assert (data.findings, data.frame.num_rows) == ((), 3)


def test_cells_over_several_lines_may_hold_carriage_returns(tmp_path: Path) -> None:
    path = tmp_path / "operator_details.csv"
    header = ",".join(column.headers[0] for column in TABLES["operator_details"].columns)
    cells = ["1"] * len(TABLES["operator_details"].columns)
    stack = next(place for place, one in enumerate(TABLES["operator_details"].columns) if one.name == "call_stack")
    cells[stack] = '"first\r\nsecond\r\r\n\rthird"'
    path.write_bytes((header + "\n" + ",".join(cells) + "\n").encode())
    data = read_table(path, TABLES["operator_details"])
    assert [one.rule for one in data.findings] == []


def test_columns_that_a_name_tells_stand_beside_those_of_the_file(tmp_path: Path) -> None:
    data = read(tmp_path, f"{ROWS[0]}\n{ROWS[1]}\n").with_constants({"device_id": 3, "task_duration_ns": 7})
    assert data.frame["device_id"].to_pylist() == [3, 3]
    assert data.frame["task_duration_ns"].to_pylist() == [2000, 2000], "what the file tells counts"


@pytest.mark.parametrize(
    ("header", "rule", "place", "message", "rows"),
    [
        ("Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(MB)", "unit-mismatch", 5, "'Task Duration(MB)': no exporter writes this column in this unit (or not beside the others); no row of this file is used", 0),
        ("Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us),Blok Dim", "column-unknown", 6, "'Blok Dim' is unknown; is it 'Block Num', which is missing here?", 1),
        ("Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us),Task Duration(us)", "duplicate-column", 6, "'Task Duration(us)' occurs twice in the header; it cannot be determined which one is right: no row of this file is used", 0),
        ("Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us),OP Type", "duplicate-column", 6, "'OP Type' occurs twice in the header; it cannot be determined which one is right: the first one is used", 1),
    ],
)  # fmt: skip
def test_what_is_odd_about_a_header_is_said_with_its_column(
    tmp_path: Path, header: str, rule: str, place: int, message: str, rows: int
) -> None:
    data = read(tmp_path, ",".join(["a", "Add", "AI_CORE", "1", "2", "3"][: header.count(",") + 1]) + "\n", header)
    assert [(one.rule, one.line, one.column, one.message) for one in data.findings] == [(rule, 1, place, message)]
    assert data.frame.num_rows == rows
