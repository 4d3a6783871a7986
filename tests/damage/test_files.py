"""Damage of one file: something is said, or nothing that is summed has changed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from damage.bases import Base, Read, as_csv, bases, cells, changed_cells, changed_unit, read, undamaged
from hypothesis import assume, example, given
from hypothesis import strategies as st
from hypothesis_profiles import FEW

CSV = [kind for kind, base in bases().items() if base.path.endswith(".csv")]
ALL = list(bases())

places = st.floats(0, 1, exclude_max=True)
"""Where in a file, in a row, in a line of columns."""


def at(place: float, count: int) -> int:
    return int(place * count)


def hold(base: Base, data: bytes, found: Read | None = None) -> None:
    """Something is said, or every sum is what it was."""
    found = found or read(base, data)
    if found.silent:
        before, now = undamaged(base.kind), found.signature(base)
        assert {name: now[name] for name in now if name in before} == {
            name: before[name] for name in now if name in before
        }
        assert now or not before


@pytest.mark.parametrize("kind", ALL)
@FEW
@given(place=places)
def test_cut_anywhere(kind: str, place: float) -> None:
    base = bases()[kind]
    end = at(place, len(base.data.rstrip()))
    data = base.data[:end]
    found = read(base, data)
    if not base.path.endswith(".csv") or (data and not data.endswith(b"\n")):
        assert not found.silent


def test_a_statistic_that_is_cut_between_two_rows_is_noticed_by_its_shares() -> None:
    base = bases()["op_statistic"]
    lines = base.data.splitlines(keepends=True)
    for count in range(3, len(lines)):
        found = read(base, b"".join(lines[:count]))
        assert {finding.rule for finding in found.findings} == {"share-sum"}


@pytest.mark.parametrize("kind", CSV)
@FEW
@given(place=places, cells_too=st.booleans())
def test_a_column_is_dropped(kind: str, place: float, cells_too: bool) -> None:
    base = bases()[kind]
    rows = cells(base.data)
    gone = at(place, len(rows[0]))
    for row in rows if cells_too else rows[:1]:
        del row[gone]
    data = as_csv(rows, base.data)
    hold(base, data)
    if not cells_too:
        assert not read(base, data).silent


@pytest.mark.parametrize("kind", CSV)
@FEW
@given(one=places, other=places)
def test_two_headers_are_swapped(kind: str, one: float, other: float) -> None:
    base = bases()[kind]
    rows = cells(base.data)
    a, b = at(one, len(rows[0])), at(other, len(rows[0]))
    rows[0][a], rows[0][b] = rows[0][b], rows[0][a]
    hold(base, as_csv(rows, base.data))


@pytest.mark.parametrize("kind", CSV)
@FEW
@given(one=places, other=places)
def test_two_columns_are_swapped_whole(kind: str, one: float, other: float) -> None:
    base = bases()[kind]
    rows = cells(base.data)
    a, b = at(one, len(rows[0])), at(other, len(rows[0]))
    for row in rows:
        row[a], row[b] = row[b], row[a]
    found = read(base, as_csv(rows, base.data))
    assert all(finding.rule in {"column-order", "csv-unparsable"} for finding in found.findings)
    if kind != "step_trace" or not found.findings:  # its repeated columns are told apart by their order alone
        assert found.signature(base) == undamaged(kind)


@pytest.mark.parametrize("kind", CSV)
@FEW
@given(place=places)
def test_the_header_stands_in_the_middle_again(kind: str, place: float) -> None:
    base = bases()[kind]
    lines = base.data.splitlines(keepends=True)
    lines.insert(1 + at(place, len(lines)), lines[0])
    found = read(base, b"".join(lines))
    assert not found.silent
    assert found.signature(base) == undamaged(kind)


@pytest.mark.parametrize("kind", CSV)
@FEW
@given(one=places, other=places, cells_too=st.booleans())
def test_a_header_stands_there_twice(kind: str, one: float, other: float, cells_too: bool) -> None:
    """A column once more, or the name of another over it."""
    base = bases()[kind]
    rows = cells(base.data)
    a, b = at(one, len(rows[0])), at(other, len(rows[0]))
    if cells_too:
        for row in rows:
            row.insert(b, row[a])
    else:
        rows[0][b] = rows[0][a]
    hold(base, as_csv(rows, base.data))


@pytest.mark.parametrize("kind", CSV)
@FEW
@given(row=places, place=places, cell=st.none() | st.sampled_from(["", "N/A", "0", "7", "x", "AI_CORE", "1.5", '"']))
def test_a_cell_too_many_or_too_few(kind: str, row: float, place: float, cell: str | None) -> None:
    base = bases()[kind]
    rows = cells(base.data)
    line = rows[1 + at(row, len(rows) - 1)]
    if cell is None:
        del line[at(place, len(line))]
    else:
        line.insert(at(place, len(line) + 1), cell)
    found = read(base, as_csv(rows, base.data))
    assert not found.silent
    assert all(table.rows_reported <= 1 for table in found.tables)


NUMBERS = {
    "op_summary": ("Task Duration(us)", "Task Wait Time(us)"),
    "kernel_details": ("Duration(us)", "Wait Time(us)"),
    "op_statistic": ("Count", "Total Time(us)", "Min Time(us)", "Avg Time(us)", "Max Time(us)", "Ratio(%)"),
    "step_trace": ("Iteration Time(us)", "FP to BP Time(us)", "Iteration Refresh(us)", "Data Aug Bound(us)"),
    "task_time": ("task_time(us)",),
    "api_statistic": ("Time(us)", "Count", "Avg(us)", "Min(us)", "Max(us)"),
    "memory_record": ("Total Allocated(MB)", "Total Reserved(MB)", "Total Active(MB)"),
}
"""Columns of which sums are made."""


@pytest.mark.parametrize("kind", NUMBERS)
@FEW
@given(
    row=places,
    column=places,
    cell=st.sampled_from(
        ["oops", "1,5", "1 5", "--1", "0x10", "inf", "NaN", "1e+2", "-0.001", "-7", "-1e3", "١", "1_000", "\0"]
    ),
)
def test_text_or_a_negative_number_in_a_cell(kind: str, row: float, column: float, cell: str) -> None:
    base = bases()[kind]
    rows = cells(base.data)
    name = NUMBERS[kind][at(column, len(NUMBERS[kind]))]
    rows[1 + at(row, len(rows) - 1)][rows[0].index(name)] = cell
    assume(not (kind == "memory_record" and cell.startswith("-") and cell != "--1"))  # sizes may be negative
    found = read(base, as_csv(rows, base.data))
    assert not found.silent


def damaged(base: Base, place: float, how: str, byte: int) -> bytes:
    where = at(place, len(base.data))
    if how == "flip":
        return base.data[:where] + bytes([byte]) + base.data[where + 1 :]
    if how == "delete":
        return base.data[:where] + base.data[where + 1 :]
    return base.data[:where] + bytes([byte]) + base.data[where:]


bytes_of_weight = st.sampled_from(list(b'",\r\n\t\0 ;:@.-+e"[]{}/\\\xef\xff\x80')) | st.integers(0, 255)


@pytest.mark.parametrize("kind", ALL)
@given(place=places, how=st.sampled_from(["flip", "delete", "insert"]), byte=bytes_of_weight)
@example(place=0.2890625, how="flip", byte=13)
def test_one_byte_is_broken(kind: str, place: float, how: str, byte: int) -> None:
    """One letter or digit inside one cell is another file's to contradict; everything else is seen here."""
    base = bases()[kind]
    data = damaged(base, place, how, byte)
    found = read(base, data)
    if (changed_cells(base, data) or 0) != 1 and not changed_unit(base, data):
        hold(base, data, found)


@pytest.mark.parametrize(("old", "new"), [(b"\nAPP,", b"\n\rPP,"), (b"NPU:0\r\n", b"NPU:\r\r\n")])
def test_a_carriage_return_in_the_place_of_a_letter_is_said(old: bytes, new: bytes) -> None:
    """The parser takes it for an empty line, and the word is another."""
    base = bases()["memory_record"]
    assert old in base.data
    found = read(base, base.data.replace(old, new, 1))
    assert [finding.rule for finding in found.findings] == ["csv-encoding"]
    assert found.findings[0].line == base.data.split(old)[0].count(b"\n") + (2 if old.startswith(b"\n") else 1)


def test_line_ends_that_were_converted_twice_are_no_damage() -> None:
    base = bases()["memory_record"]
    data = base.data.replace(b"\r\n", b"\r\r\n")
    assert data != base.data
    found = read(base, data)
    assert found.silent
    assert found.signature(base) == undamaged("memory_record")


@pytest.mark.parametrize("kind", ALL)
@FEW
@given(place=places, text=st.sampled_from(["矩阵", "算子", "é"]), nul=st.booleans())
def test_other_encodings_and_nul_bytes(kind: str, place: float, text: str, nul: bool) -> None:
    base = bases()[kind]
    where = at(place, len(base.data))
    inserted = b"\0" if nul else text.encode("gbk" if text != "é" else "latin-1")
    data = base.data[:where] + inserted + base.data[where:]
    found = read(base, data)
    if not nul:
        assert not found.silent
    else:
        hold(base, data, found)


JSON = bases()["summary_as_json"]


@FEW
@given(
    row=places, column=places, value=st.none() | st.sampled_from(["x", -1, -0.5, True, [], {}, [1], {"a": 1}, 1e300])
)
def test_a_value_of_a_json_summary_is_something_else(row: float, column: float, value: Any) -> None:
    document = json.loads(JSON.data)
    line = document[at(row, len(document))]
    name = ("Task Duration(us)", "Task Wait Time(us)")[at(column, 2)]
    assume(name == "Task Duration(us)" or value is not None)
    line[name] = value
    assert not read(JSON, json.dumps(document).encode()).silent


@FEW
@given(row=places, column=places, what=st.sampled_from(["drop", "drop everywhere", "rename", "swap", "no row"]))
def test_a_row_of_a_json_summary_has_other_keys(row: float, column: float, what: str) -> None:
    document = json.loads(JSON.data)
    index = at(row, len(document))
    names = list(document[0])
    name = names[at(column, len(names))]
    if what == "no row":
        document[index] = [name]
    elif what == "drop everywhere":
        for line in document:
            del line[name]
    elif what == "swap":
        document[index] = dict(reversed(document[index].items()))
    else:
        value = document[index].pop(name)
        if what == "rename":
            document[index][f"{name} "] = value
    hold(JSON, json.dumps(document).encode())


COMMUNICATION = bases()["communication"]


@FEW
@given(
    key=st.sampled_from(["Elapse Time(ms)", "Transit Time(ms)", "Wait Time(ms)", "Idle Time(ms)", None]),
    value=st.sampled_from(["x", -1, None, [], {}, "drop", "drop", 12.5]),
)
@example(key="Elapse Time(ms)", value=12.5)
def test_a_value_of_communication_is_something_else(key: str | None, value: Any) -> None:
    document = json.loads(COMMUNICATION.data)
    operator = next(iter(document["step50"]["collective"].values()))
    if key is None:
        operator["Communication Time Info"] = value
    elif value == "drop":
        del operator["Communication Time Info"][key]
    else:
        assume(key == "Elapse Time(ms)" or not isinstance(value, float | None))
        operator["Communication Time Info"][key] = value
    hold(COMMUNICATION, json.dumps(document).encode())
