"""The quick ways of reading few columns, by the compiled reader and without it: always what the thorough way gives, or nothing."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from aoe_reports.formats.ascend.tables import TABLES
from aoe_reports.formats.convert import nanoseconds
from aoe_reports.formats.csv import cells, scan, summary
from aoe_reports.formats.csv.cells import Vocabulary, plain_nanoseconds
from aoe_reports.formats.csv.parse import BLOCK_BYTES
from aoe_reports.formats.csv.structure import MARGIN, Block
from aoe_reports.formats.csv.summary import TableData, read_table

HEADER = "Device_id,Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us),Task Wait Time(us),Input Shapes"
CELLS = HEADER.count(",") + 1
TABLE = TABLES["op_summary"]
FIELDS = frozenset({"op_type", "task_type", "task_duration_ns"})


def thorough(path: Path, fields: frozenset[str] = FIELDS) -> TableData:
    with patch.object(summary, "scan", lambda *_: None):
        return read_table(path, TABLE, fields, hashed=False)


def quick(path: Path, block_bytes: int, fields: frozenset[str] = FIELDS) -> tuple[TableData, bool]:
    """(what is read where blocks are so small, whether it was the quick way that read it)."""
    scans = []

    def scanned(*arguments: Any) -> Any:
        scans.append(scan.scan(*arguments, block_bytes=block_bytes))
        return scans[-1]

    with patch.object(summary, "scan", scanned):
        data = read_table(path, TABLE, fields, hashed=False)
    return data, bool(scans) and scans[0] is not None


def listed(numbers: np.ndarray | None) -> list[int] | None:
    return None if numbers is None else numbers.tolist()


def facts(data: TableData) -> dict:
    return {
        "types": [(field.name, str(field.type)) for field in data.frame.schema],
        "rows of the frame": data.frame.to_pylist(),
        "findings": data.findings,
        "counts": (data.rows_read, data.rows_reported),
        "rows": listed(data.rows),
        "lines": listed(data.lines),
    }


def same(tmp_path: Path, body: bytes, block_bytes: int, fields: frozenset[str] = FIELDS, header: str = HEADER) -> bool:
    """Hold both ways against each other; whether the quick one was taken."""
    path = tmp_path / "op_summary.csv"
    path.write_bytes(header.encode() + b"\n" + body)
    data, taken = quick(path, block_bytes, fields)
    assert facts(data) == facts(thorough(path, fields))
    return taken


words = st.sampled_from(
    [
        "MatMul",
        "Add",
        "N/A",
        "",
        "Conv2D",
        "AI_CORE",
        "AI_VECTOR_CORE",
        "算子",
        "é",
        "TransData_with_a_longer_name",
        " x ",
    ]
)
durations = st.one_of(
    st.decimals(0, 99999, places=3).map(str),
    st.sampled_from(
        ["0", "1", "12.5", "0.001", "12345678.125", "N/A", "", " 3.5", "3.5\t", "1.2345", "1e3", "1e+2", "-1", "nan"]
    ),
    st.sampled_from([".5", "5.", "1.2.3", "9" * 17, "1125899906842.624", "1125899906842.623", "0.0005", "12/5.000"]),
)
names = st.one_of(
    st.text("abc/_. é", max_size=90), st.sampled_from(['"a,b"', '"""q"""', '""', '"he said ""x"", then"', "n" * 200])
)
shapes = st.sampled_from(['"""1,2;3,4"""', "N/A", '"1,2"', ""])
rows = st.tuples(
    st.sampled_from(["0", "1", "host"]), names, words, words, st.just("17.25\t"), durations, durations, shapes
).map(",".join)
bodies = st.lists(rows, min_size=1, max_size=30)
blocks = st.integers(200, 1500)


@given(rows=bodies, block_bytes=blocks, end=st.sampled_from(["\n", "\r\n"]))
def test_rows_as_exporters_write_them(tmp_path: Path, rows: list[str], block_bytes: int, end: str) -> None:
    same(tmp_path, "".join(row + end for row in rows).encode(), block_bytes)


edits = st.tuples(
    st.integers(0, 10_000),
    st.integers(0, 3),
    st.sampled_from(["", ",", ",,", '"', '""', '"\n', "\n", "\n\n", "\r", "\r\n", "\0", "x", " ", "é", "N/A", ",N/A"]),
)


@given(rows=bodies, changes=st.lists(edits, max_size=3), block_bytes=blocks, end=st.sampled_from(["\n", "\r\n"]))
@example(rows=["0,a,T,C,1,2.5,0,s"] * 30, changes=[(400, 0, ",")], block_bytes=300, end="\n")
@example(rows=["0,a,T,C,1,2.5,0,s"] * 30, changes=[(400, 0, "\n\n")], block_bytes=300, end="\n")
@example(rows=["0,a,T,C,1,2.5,0,s"] * 30, changes=[(400, 0, '"')], block_bytes=300, end="\r\n")
def test_damage_anywhere(
    tmp_path: Path, rows: list[str], changes: list[tuple[int, int, str]], block_bytes: int, end: str
) -> None:
    text = "".join(row + end for row in rows)
    for place, length, put in changes:
        at = place % (len(text) + 1)
        text = text[:at] + put + text[at + length :]
    same(tmp_path, text.encode(), block_bytes)


@given(rows=bodies, cut=st.integers(0, 10_000), block_bytes=blocks)
def test_a_file_that_is_cut_anywhere(tmp_path: Path, rows: list[str], cut: int, block_bytes: int) -> None:
    body = "".join(row + "\n" for row in rows).encode()
    same(tmp_path, body[: cut % (len(body) + 1)], block_bytes)


@given(
    rows=bodies,
    fields=st.sets(st.sampled_from(["device_id", "op_type", "task_type", "task_wait_ns", "input_shapes"])),
    block_bytes=blocks,
)
def test_any_columns(tmp_path: Path, rows: list[str], fields: set[str], block_bytes: int) -> None:
    same(tmp_path, "".join(row + "\n" for row in rows).encode(), block_bytes, frozenset(fields))


PLAIN = 'operator_{0},T{0},AI_CORE,1{0}.25\t,{0}.125,0,"""1,2"""\n'
PLAIN_HEADER = "Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us),Task Wait Time(us),Input Shapes"


def plain_rows(count: int = 200) -> list[str]:
    return [PLAIN.format(number % 37) for number in range(count)]


def taken_for(tmp_path: Path, text: str | list[str]) -> bool:
    return same(tmp_path, "".join(text).encode(), 1000, header=PLAIN_HEADER)


def test_rows_without_a_surprise_are_read_quickly(tmp_path: Path) -> None:
    assert taken_for(tmp_path, plain_rows())


@pytest.mark.parametrize(
    "odd", ["a,T,AI_CORE,1,N/A,0,s\n", "a,T,AI_CORE,1,,0,s\n", "a,T,AI_CORE,1,many,0,s\n", "a,算子,AI_CORE,1,2.5,0,s\n"]
)
def test_cells_without_a_number_are_read_quickly_too(tmp_path: Path, odd: str) -> None:
    lines = plain_rows()
    assert taken_for(tmp_path, [*lines[:60], odd, *lines[60:150], odd, odd, *lines[150:]])


@pytest.mark.parametrize(
    "odd",
    [
        "a,T,AI_CORE,1,2.5,0\n",
        "a,T,AI_CORE,1,2.5,0,s,s\n",
        "split(1,2),T1,AI_CORE,1,2.5,0,N/A\n",
        "\n",
        "\n\n\n",
        "x\n",
        'a,T,AI_CORE,1,"2.5",0,s\n',
        'a"b,T,AI_CORE,1,2.5,0,s\n',
        'a"b",T,AI_CORE,1,2.5,0,s\n',
        'a"b,c",T,AI_CORE,1,2.5,0,s\n',
        '"a" b,T,AI_CORE,1,2.5,0,s\n',
        '"a\nb",T,AI_CORE,1,2.5,0,s\n',
        "a\rb,T,AI_CORE,1,2.5,0,s\n",
        "a,T,AI_CORE,1,2.5,0,s\r\n",
        "a\0,T,AI_CORE,1,2.5,0,s\n",
        "a" * 2000 + ",T,AI_CORE,1,2.5,0,s\n",
        'a,T,AI_CORE,1,2.5,0,"s\n',
        "a,T,AI_CORE,1,2.5",
    ],
)
def test_what_is_odd_is_left_to_the_thorough_way(tmp_path: Path, odd: str) -> None:
    lines = plain_rows()
    assert not taken_for(tmp_path, [*lines[:150], odd, *lines[150:]] if odd.endswith("\n") else [*lines, odd])


@pytest.mark.parametrize("name", ['x"b,c"', '"b,c"x', 'x"b,c"x', '"b""c"x'])
def test_a_quote_inside_a_cell_is_seen_wherever_it_stands(tmp_path: Path, name: str) -> None:
    lines = plain_rows(40)
    for before in range(70):
        odd = f"{'n' * before},T,AI_CORE,1,2.5,0,s\n{name},T,AI_CORE,1,2.5,0,s\n"
        assert not taken_for(tmp_path, [*lines[:20], odd, *lines[20:]])


def test_a_header_of_another_encoding_is_left_to_the_thorough_way(tmp_path: Path) -> None:
    path = tmp_path / "op_summary.csv"
    path.write_bytes(f"{PLAIN_HEADER},算子\n".encode("gb18030") + "".join(plain_rows()).replace("\n", ",1\n").encode())
    data, taken = quick(path, 1000)
    assert not taken
    assert facts(data) == facts(thorough(path))


def test_bytes_of_another_encoding_are_left_to_the_thorough_way(tmp_path: Path) -> None:
    text = "".join([*plain_rows(), "算子,T,AI_CORE,1,2.5,0,s\n"]).encode("gb18030")
    assert not same(tmp_path, text, 1000, header=PLAIN_HEADER)


def test_a_byte_order_mark_and_line_ends_of_windows(tmp_path: Path) -> None:
    text = "".join(plain_rows()).replace("\n", "\r\n")
    assert same(tmp_path, text.encode(), 1000, header="\ufeff" + PLAIN_HEADER + "\r")
    assert same(tmp_path, text.encode(), 1000, header=PLAIN_HEADER + "\r")


def test_more_words_than_can_be_numbered_are_left_to_the_thorough_way(tmp_path: Path) -> None:
    lines = [PLAIN.format(number) for number in range(cells.MAX_WORDS + 100)]
    assert not taken_for(tmp_path, lines)


def test_names_far_apart_and_cells_longer_than_a_window(tmp_path: Path) -> None:
    long = f"{'n' * 700},T,{'C' * 200},1,2.5,0,s\n"
    assert taken_for(tmp_path, [*plain_rows(20), long, *plain_rows(20), long])


@pytest.mark.parametrize(("length", "is_quick"), [(8000, True), (9000, False), (40_000, False)])
def test_very_long_cells(tmp_path: Path, length: int, *, is_quick: bool) -> None:
    long = f"{'n' * length},T,AI_CORE,1,2.5,0,s\n"
    text = "".join([*plain_rows(1500), long, *plain_rows(1500)])
    assert same(tmp_path, text.encode(), 1 << 16, header=PLAIN_HEADER) is is_quick


@given(texts=st.lists(words | st.text("ab", max_size=30), min_size=1, max_size=60), mixing=st.integers(0, 2))
@example(texts=["abcdefghijklmno", "abcdefghhijklmno"], mixing=1)
def test_words_of_one_hash_stay_apart(texts: list[str], mixing: int) -> None:
    mixes = [
        cells.mixed,
        lambda parts, lengths: np.zeros(len(lengths), dtype=np.uint64),
        lambda parts, lengths: lengths.astype(np.uint64) << 48,
    ]
    vocabulary = Vocabulary(mixes[mixing])
    numbers = []
    parts = (texts[:1], texts, texts[::-1])
    for part in parts:
        block, starts, ends = laid_out(part)
        found = vocabulary.numbers(block, starts, ends)
        assert found is not None
        numbers.append(found)
    column = vocabulary.column(np.concatenate(numbers))
    column.validate(full=True)
    expected = [None if text in {"", "N/A"} else text for part in parts for text in part]
    assert column.to_pylist() == expected


def laid_out(texts: list[str]) -> tuple[Block, np.ndarray, np.ndarray]:
    """A block in which these cells stand, and where."""
    parts = [text.encode() for text in texts]
    block = Block(sum(map(len, parts)) + len(parts))
    starts, ends, at = [], [], MARGIN
    for part in parts:
        block.data[at : at + len(part) + 1] = part + b","
        starts.append(at)
        ends.append(at + len(part))
        at += len(part) + 1
    return block, np.asarray(starts), np.asarray(ends)


digits = st.text("0123456789", max_size=17)
numbers = st.one_of(
    st.tuples(digits, digits).map(".".join), digits, st.text("0123456789./ e+-:", max_size=18), durations
)


@given(texts=st.lists(numbers, min_size=1, max_size=40), factor=st.sampled_from([1, 1000, 10**6, 10**9]))
@example(texts=["0.000", "9999.999", "10000.000", "0.0", "1.", ".1", "1", "", "99999999.99999999"], factor=1000)
def test_plain_numbers_are_exact(texts: list[str], factor: int) -> None:
    values, plain = plain_nanoseconds(*laid_out(texts), factor)
    for text, value, is_plain in zip(texts, values.tolist(), plain.tolist(), strict=True):
        if is_plain:
            assert Decimal(text) * factor == value == nanoseconds(text, factor)


@pytest.mark.parametrize("text", ["0.000", "1.5", "7", "12345.125", "123456789.125", "123456789012", "2.25"])
def test_usual_numbers_are_plain(text: str) -> None:
    assert plain_nanoseconds(*laid_out([text]), 1000)[1].all()


def test_blocks_of_the_usual_size(tmp_path: Path) -> None:
    lines = plain_rows(60_000)
    lines[25_000] = lines[25_000].replace(".125,", ".12345,")
    assert same(tmp_path, "".join(lines).encode(), BLOCK_BYTES, header=PLAIN_HEADER)


exported = st.tuples(
    st.sampled_from(["MatMul", "Add", "Conv2D"]),
    st.sampled_from(["AI_CORE", "AI_VECTOR_CORE", "N/A"]),
    st.decimals(0, 99999, places=3).map(str),
    st.sampled_from(["0", "17", "N/A"]),
)
"""What exporters write: words that come again, and three decimals of a microsecond."""
LAST = {
    "words": (
        "Op Name,OP Type,Task Start Time(us),Task Duration(us),Task Wait Time(us),Task Type",
        "{0},{0},1,{2},0.5,{1}",
    ),
    "a duration": (
        "Op Name,OP Type,Task Type,Task Start Time(us),Task Wait Time(us),Task Duration(us)",
        "{0},{0},{1},1,0.5,{2}",
    ),
    "a counter": (HEADER.partition(",")[2].replace("Input Shapes", "Context ID"), "{0},{0},{1},1,{2},0.5,{3}"),
}


@given(
    last=st.sampled_from(sorted(LAST)),
    rows=st.lists(exported, min_size=8, max_size=30),
    keep=st.integers(0, 60),
    end=st.sampled_from(["\n", "\r\n"]),
)
def test_a_file_that_is_cut_in_its_last_row_holds_no_value_that_the_whole_one_has_not(
    tmp_path: Path, last: str, rows: list[tuple[str, ...]], keep: int, end: str
) -> None:
    header, row = LAST[last]
    path = tmp_path / "op_summary.csv"
    # every word stands in some row above the last one
    above = [
        ("MatMul", "AI_CORE", "1.500", "0"),
        ("Add", "AI_VECTOR_CORE", "2.500", "17"),
        ("Conv2D", "N/A", "3.500", "N/A"),
    ]
    lines = [row.format(*cells) for cells in [*above, *rows]]
    body = "".join(line + end for line in lines[:-1])
    path.write_bytes(f"{header}\n{body}{lines[-1]}{end}".encode())
    whole = thorough(path, FIELDS | {"context_id"}).frame.to_pylist()
    path.write_bytes(f"{header}\n{body}{(lines[-1] + end)[: max(keep, 1)]}".encode())
    for fields in (FIELDS, FIELDS | {"context_id"}, None):
        data = read_table(path, TABLE, fields, hashed=False)
        assert data.rows_read == data.frame.num_rows + data.rows_reported == len(lines)
        for cut, true in zip(data.frame.to_pylist(), whole, strict=False):
            assert all(cut[name] in {true[name], None} for name in cut if name in true)
        assert data.frame.num_rows >= len(lines) - 1
        assert path.read_bytes().endswith(b"\n") or "csv-truncated" in {f.rule for f in data.findings}
    if keep >= len(lines[-1]) and last == "a duration":
        assert data.frame.num_rows == len(lines)


@given(rows=bodies, block_bytes=blocks, missing=st.integers(1, 12))
def test_rows_that_do_not_end_with_a_line_end(tmp_path: Path, rows: list[str], block_bytes: int, missing: int) -> None:
    body = "".join(f"{row}\n" for row in rows).encode()
    assert not same(tmp_path, body[:-missing] or b"x", block_bytes)
    path = tmp_path / "op_summary.csv"
    some, every = quick(path, block_bytes)[0], read_table(path, TABLE)
    cut = [f for f in some.findings if f.rule == "csv-truncated"]
    assert cut == [f for f in every.findings if f.rule == "csv-truncated"]
    assert some.rows_read == every.rows_read


STARTS: dict[str, tuple[list[str], tuple[int, int] | None, bool]] = {
    "rising": ([f"{100 + n}.250" for n in range(50)], (100_250, 149_250), True),
    "falling": ([f"{150 - n}.250" for n in range(50)], None, True),
    "one twice": ([f"{100 + n % 49}.250" for n in range(50)], None, False),
}


@pytest.mark.parametrize("starts", STARTS)
def test_what_is_seen_on_the_way_tells_the_first_and_last_start_where_they_rise(tmp_path: Path, starts: str) -> None:
    path = tmp_path / "op_summary.csv"
    cells, span, differ = STARTS[starts]
    path.write_text(PLAIN_HEADER + "\n" + "".join(f"a,T,AI_CORE,{cell},2.5,0,s\n" for cell in cells))
    data, taken = quick(path, 1000)
    assert taken
    assert (data.frame.num_rows, data.span, data.rows_differ) == (50, span, differ)


def test_starts_of_more_and_more_digits_are_not_compared(tmp_path: Path) -> None:
    path = tmp_path / "op_summary.csv"
    path.write_text(PLAIN_HEADER + "\n" + "".join(f"a,T,AI_CORE,{9 + n}.250,2.5,0,s\n" for n in range(50)))
    data, _ = quick(path, 1000)
    assert (data.rows_differ, data.span) == (True, None)


@pytest.mark.parametrize("start", ["N/A", "soon"])
def test_where_a_start_is_missing_nobody_knows_whether_a_row_stands_there_twice(tmp_path: Path, start: str) -> None:
    path = tmp_path / "op_summary.csv"
    rows = [f"a,T,AI_CORE,{100 + n}.250,2.5,0,s\n" for n in range(50)]
    path.write_text(PLAIN_HEADER + "\n" + "".join([*rows, *[f"a,T,AI_CORE,{start},2.5,0,s\n"] * 2]))
    data, taken = quick(path, 1000)
    assert taken
    assert (data.span, data.rows_differ, data.findings) == (None, False, ())


def test_rows_that_are_left_out_stand_there_twice_for_nobody(tmp_path: Path) -> None:
    path = tmp_path / "op_summary.csv"
    rows = [f"a,T,AI_CORE,{100 + n}.250,2.5,0,s\n" for n in range(50)]
    path.write_text(PLAIN_HEADER + "\n" + "".join([*rows, *["a,T,AI_CORE,160.250,N/A,0,s\n"]]))
    data, taken = quick(path, 1000)
    assert taken
    assert (data.frame.num_rows, data.rows_reported, data.rows_differ) == (50, 1, True)


def test_a_scan_tells_what_it_is(tmp_path: Path) -> None:
    path = tmp_path / "op_summary.csv"
    path.write_text(PLAIN_HEADER + "\n" + "".join(plain_rows()))
    fields = TABLE.match(PLAIN_HEADER.split(",")).fields
    wanted = [field for field in fields if field.name in FIELDS]
    unknown = scan.scan(path, len(PLAIN_HEADER) + 1, len(fields), wanted, block_bytes=1000)
    assert unknown is not None
    assert (unknown.frame.num_rows, unknown.span, unknown.differ) == (200, None, False)
