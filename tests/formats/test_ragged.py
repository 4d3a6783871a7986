"""Rows of the wrong length: mended where it is certain what they say, never a shifted value."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from damage.bases import as_csv, bases, cells
from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.formats.ascend.tables import TABLES
from aoe_reports.formats.csv.summary import TableData, read_table

HEADER = "Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us)"
GOOD = "a,MatMul,AI_CORE,1,2\nb,Add,AI_VECTOR_CORE,5,6\n"
TRACE = (
    "Iteration ID,FP Start,BP End,Iteration End,Iteration Time(us),FP to BP Time(us),Iteration Refresh(us),"
    "Data Aug Bound(us),Model ID" + ",Reduce Start,Reduce Duration(us)" * 3
)
FIRST = "1,10,20,30,25,10,10,N/A,1"


def read(text: str, kind: str = "op_summary", header: str = HEADER) -> TableData:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        path.write_text(f"{header}\n{text}", newline="")
        return read_table(path, TABLES[kind])


def found(data: TableData) -> list[tuple[str, int | None]]:
    assert data.rows_read == data.frame.num_rows + data.rows_reported
    return [(finding.rule, finding.line) for finding in data.findings]


@pytest.mark.parametrize("name", ["x,y", "x, y", "aten::add(int, int)", "a,b,c,d", "MatMul,x"])
def test_a_name_with_commas_is_put_together(name: str) -> None:
    data = read(f"{GOOD}{name},MatMul,AI_CORE,7,8\n")
    assert found(data) == [("csv-mended-row", 4)]
    assert data.frame.to_pylist()[-1] == {
        "op_name": name, "op_type": "MatMul", "task_type": "AI_CORE", "task_start_ns": 7000, "task_duration_ns": 8000,
    }  # fmt: skip


def test_a_mended_row_stands_in_its_place() -> None:
    data = read(f"x,y,MatMul,AI_CORE,7,8\n{GOOD}")
    assert data.frame["op_name"].to_pylist() == ["x,y", "a", "b"]
    assert [data.line(row) for row in range(3)] == [2, 3, 4]


@pytest.mark.parametrize(
    "row",
    [
        "x,y,Conv,AI_CORE,7,8",  # a type that stands in no other row
        "x,y,MatMul,AI_COR,7,8",
        "7,x,MatMul,AI_CORE,7,8",  # a number may have come from elsewhere
        ",x,MatMul,AI_CORE,7,8",
        "x,,MatMul,AI_CORE,7,8",
        "x,y,MatMul,AI_CORE,soon,8",
        "x,MatMul,Add,AI_CORE,7,8",  # which of them is the type?
        "x,Add,Add,AI_CORE,7,8",
        "x,MatMul,AI_CORE,7,8,9",  # a cell too many at the end
        "x,MatMul,AI_CORE,7,,8",
        "x,MatMul,AI_CORE,7",
        "MatMul,AI_CORE,7,8",
        "x",
        '"x,y,MatMul,AI_CORE,7,8',
    ],
)
def test_what_is_not_certain_stays_out(row: str) -> None:
    data = read(f"{GOOD}{row}\n")
    assert found(data) == [("csv-ragged-row", 4)]
    assert data.frame["op_name"].to_pylist() == ["a", "b"]


@pytest.mark.parametrize(
    "row",
    [
        "N/A,x,MatMul,AI_CORE,7,8",
        "x,N/A,MatMul,AI_CORE,7,8",
        "x,MatMul,N/A,AI_CORE,7,8",  # N/A may have come between the type and the core
        "x,MatMul,,AI_CORE,7,8",
    ],
)
def test_a_cell_without_a_value_is_no_part_of_a_name(row: str) -> None:
    """Where other rows have no type, either, an empty cell that came in would make the type a part of the name."""
    data = read(f"{GOOD}c,N/A,AI_CORE,1,2\n{row}\n")
    assert found(data) == [("csv-ragged-row", 5)]


def test_an_empty_cell_at_the_start_does_not_push_the_level_into_the_name() -> None:
    header = "Level,API Name,Time(us),Count,Avg(us),Min(us),Max(us),Variance"
    good = "acl,a,1,1,1,1,1,0\nnode,launch,1,1,1,1,1,0\n"
    assert found(read(f"{good},acl,b,1,1,1,1,1,0\n", "api_statistic", header)) == [("csv-ragged-row", 4)]
    nulls = "N/A,c,1,1,1,1,1,0\n"
    assert found(read(f"{good}{nulls},acl,b,1,1,1,1,1,0\n", "api_statistic", header)) == [("csv-ragged-row", 5)]


def test_a_number_in_a_name_before_numbers_is_not_certain() -> None:
    header = "Level,API Name,Time(us),Count,Avg(us),Min(us),Max(us),Variance"
    good = "acl,a,1,1,1,1,1,0\nnode,launch,1,1,1,1,1,0\n"
    assert found(read(f"{good}acl,b,5,2,1,1,1,1,0\n", "api_statistic", header)) == [("csv-ragged-row", 4)]
    assert found(read(f"{good}acl,b,c,1,1,1,1,1,0\n", "api_statistic", header)) == [("csv-mended-row", 4)]


def test_nothing_is_mended_where_no_other_row_is_there_to_go_by() -> None:
    assert found(read("x,y,MatMul,AI_CORE,7,8\n")) == [("csv-ragged-row", 2)]


@pytest.mark.parametrize(
    ("row", "starts", "durations"),
    [
        (f"{FIRST},100,1,200,2,N/A", [100, 200], [1, 2]),
        (f"{FIRST},100,1,N/A,N/A", [100], [1]),
        (f"{FIRST},N/A,N/A,N/A", [], []),
    ],
)
def test_reduces_that_were_filled_up_with_too_few_are_missing_ones(row: str, starts: list, durations: list) -> None:
    data = read(f"{FIRST},100,1,200,2,300,3\n{row}\n", "step_trace", TRACE)
    assert found(data) == [("csv-mended-row", 3)]
    last = data.frame.to_pylist()[-1]
    assert last["reduce_start_ns"] == [start * 1000 for start in starts]
    assert last["reduce_duration_ns"] == [duration * 1000 for duration in durations]


@pytest.mark.parametrize(
    "row",
    [
        f"{FIRST},100,1,200,2,300",
        f"{FIRST},100,1,200,2",
        f"{FIRST},100,1,N/A",
        f"{FIRST},N/A,N/A",
        f"{FIRST},100,N/A,N/A,N/A",
        f"{FIRST},N/A,1,200,2,N/A",
        f"{FIRST}",
        "1,10,20,30,25,10,10,N/A,100,1,200,2,300,3",
    ],
)
def test_other_short_iterations_stay_out(row: str) -> None:
    assert found(read(f"{FIRST},100,1,200,2,300,3\n{row}\n", "step_trace", TRACE)) == [("csv-ragged-row", 3)]


@pytest.mark.parametrize("kind", ["op_summary", "kernel_details", "task_time", "step_trace", "api_statistic"])
@given(
    row=st.floats(0, 1, exclude_max=True),
    place=st.floats(0, 1, exclude_max=True),
    cell=st.none() | st.sampled_from(["", "N/A", "0", "1.5", "x", "AI_CORE", "Conv2D", "NO", "a b", "2,3"]),
)
def test_a_cell_more_or_less_never_shifts_a_value(kind: str, row: float, place: float, cell: str | None) -> None:
    """The row is out, or every value of it is what it was; only the name may have a comma more."""
    base = bases()[kind]
    rows = cells(base.data)
    index = 1 + int(row * (len(rows) - 1))
    whole = read_lines(rows, kind, base.data)
    if cell is None:
        del rows[index][int(place * len(rows[index]))]
    else:
        rows[index].insert(int(place * (len(rows[index]) + 1)), cell)
    data = read_lines(rows, kind, base.data)
    before, after = whole.frame.to_pylist(), data.frame.to_pylist()
    name = {"step_trace": None, "api_statistic": "api_name"}.get(kind, "op_name")
    if data.rows_reported:
        del before[index - 1]
        assert after == before
        return
    assert [finding.rule for finding in data.findings] == ["csv-mended-row"]
    if name is not None:
        before[index - 1][name], after[index - 1][name] = None, None
    assert after == before


def read_lines(rows: list[list[str]], kind: str, like: bytes) -> TableData:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        path.write_bytes(as_csv(rows, like))
        return read_table(path, TABLES[kind])


def test_which_columns_are_read_does_not_change_what_a_row_says(tmp_path: Path) -> None:
    header = "Device_id,Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us),Task Wait Time(us),Input Shapes"
    path = tmp_path / "op_summary.csv"
    path.write_text(
        f'{header}\nN/A,N/A0,_,MatMul,MatMul,17.25\t,0.000,0.000,"""1,2;3,4"""\n0,,MatMul,MatMul,17.25\t,0.000,0.000,N/A\n'
    )
    few, every = (read_table(path, TABLES["op_summary"], fields) for fields in (frozenset({"op_type"}), None))
    assert found(few) == found(every)
    assert few.rows_read == every.rows_read == few.frame.num_rows + few.rows_reported
