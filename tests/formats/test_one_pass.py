"""Reading a timeline in one pass, as parts at the same time, gives what event by event gives: with the compiled reader and without it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_events import TRACE, X, bad, flows, metadata, no_surrogates, styles, tasks, write

from aoe_reports.formats.trace import cuts, native, scan
from aoe_reports.formats.trace.cuts import parts_of
from aoe_reports.formats.trace.events import (
    EVENTS_SCHEMA,
    TimelineLook,
    collect_events,
    look_at_timeline,
    stream_events,
)
from aoe_reports.formats.trace.quick import collect_quickly
from aoe_reports.formats.trace.shape import OddFileError

COLUMNS = EVENTS_SCHEMA.names
FEW = ["ph", "name", "start_ns"]
asked = st.sampled_from([COLUMNS, FEW])
"""All columns, or those that few questions want: each example is read for one of them."""


class Kept:
    """Keeps all that it takes in."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []

    def add(self, batch: pa.RecordBatch) -> None:
        self.rows += batch.to_pylist()


def check(path: Path, *counts: int, asked: Sequence[list[str]] = (COLUMNS, FEW)) -> None:
    """One pass, in so many parts, tells the same of a file, and of every event, as two passes do."""
    careful = look_at_timeline(path)
    for columns in asked:
        expected = stream_events(path, columns, careful).batches.read_all().to_pylist()
        for count in counts:
            with pytest.MonkeyPatch.context() as without:
                without.setattr(native, "library", lambda: None)
                check_one(path, count, columns, careful, expected)
            if native.library() is not None:
                check_one(path, count, columns, careful, expected)


def check_one(
    path: Path, count: int, columns: list[str], careful: TimelineLook, expected: list[dict[str, Any]]
) -> None:
    look, collectors = collect_events(path, columns, Kept, count)
    rows = [row for part in collectors for row in part.rows]
    assert list(map(_comparable, rows)) == list(map(_comparable, expected))
    assert (look.events, look.phases, look.reported, look.findings) == (
        careful.events, careful.phases, careful.reported, careful.findings,
    )  # fmt: skip
    assert (look.start_ns, look.end_ns, look.stage_rows, look.names, look.usable) == (
        careful.start_ns, careful.end_ns, careful.stage_rows, careful.names, careful.usable,
    )  # fmt: skip


def _comparable(row: dict[str, Any]) -> dict[str, Any]:
    """A row with what `args` say, however they are written, without what a flow is called, and with its id as a text:
    the compiled reader gives whole numbers."""
    args = {"args": json.loads(row["args"])} if row.get("args") is not None else {}
    flow = {"flow_id": str(row["flow_id"])} if row.get("flow_id") is not None else {}
    return {**row, **args, **flow, **({"name": None} if row.get("ph") in {"s", "t", "f"} else {})}


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuts, "MIN_PART_BYTES", 1)


@pytest.mark.slow
@given(st.lists(st.one_of(tasks, flows, metadata), max_size=12).filter(no_surrogates), styles, st.integers(1, 4), asked)
def test_events_as_exporters_write_them(
    tmp_path: Path, events: list[dict[str, Any]], style: Any, count: int, columns: list[str]
) -> None:
    check(write(tmp_path, json.dumps(events, **style)), count, asked=[columns])


@pytest.mark.slow
@given(st.lists(st.one_of(tasks, flows, metadata, bad), max_size=12).filter(no_surrogates), st.integers(1, 3), asked)
def test_events_that_cannot_be_used_are_reported_as_before(
    tmp_path: Path, events: list[Any], count: int, columns: list[str]
) -> None:
    check(write(tmp_path, events), count, asked=[columns])


@given(st.integers(0, len(TRACE) - 1), st.integers(0, 255), st.integers(1, 3), asked)
def test_a_changed_byte(tmp_path: Path, at: int, byte: int, count: int, columns: list[str]) -> None:
    check(write(tmp_path, TRACE[:at] + bytes([byte]) + TRACE[at + 1 :]), count, asked=[columns])


@given(
    st.integers(0, len(TRACE)),
    st.sampled_from([b"]", b"},", b"[", b'"', b"NaN", b"{}", b":inf", b"true", b"1e3", b"\xff", b"},{", b" , "]),
    st.integers(1, 3),
    asked,
)
def test_inserted_bytes(tmp_path: Path, at: int, more: bytes, count: int, columns: list[str]) -> None:
    check(write(tmp_path, TRACE[:at] + more + TRACE[at:]), count, asked=[columns])


@pytest.mark.parametrize("end", range(0, len(TRACE), 7))
def test_a_file_cut_anywhere(tmp_path: Path, end: int) -> None:
    check(write(tmp_path, TRACE[:end]), 1, 2, 3)


ODD = [
    ("pid", True), ("pid", 1.5), ("tid", "007"), ("pid", " 7"), ("pid", -7), ("pid", 2**64), ("tid", None), ("tid", [1]), ("pid", "1_0"), ("pid", "1e1"), ("tid", "0x1A"),
    ("dur", "1_000"), ("dur", None), ("dur", True), ("dur", "2"), ("dur", " 2"), ("dur", "0x10"), ("dur", -1),
    ("ts", "-1.5"), ("ts", "1e3"), ("ts", "1,5"), ("ts", 1736412474712511.62), ("ts", "1736412474712511.62"), ("ts", "9" * 25), ("ts", ""),
    ("ts", "1.0005"), ("ts", "9000000000000.125"), ("name", 5), ("name", None), ("name", "5"), ("name", "true"), ("name", "[1]"),
    ("ph", "XX"), ("ph", ""), ("ph", "\u7b97"), ("ph", 5), ("args", "text"), ("args", [1]), ("args", {"connection_id": 1.5}),
    ("args", {"connection_id": "12 "}), ("args", {"connection_id": "0x1A"}),
    ("args", {"connection_id": "1_000"}), ("args", {"connection_id": "1e3"}), ("args", {"connection_id": "1 2"}), ("args", {"connection_id": -5}),
    ("args", {"connection_id": 2**63}), ("args", {"connection_id": {"a": 1}}), ("args", {"connection_id": True}),
    ("args", {"Task Type": 5}), ("args", {"Task Type": ["a"]}), ("cat", 5), ("name", "Stage1Step2"), ("name", ""),
]  # fmt: skip


@pytest.mark.parametrize(("key", "value"), ODD)
def test_an_odd_value(tmp_path: Path, key: str, value: object) -> None:
    check(write(tmp_path, [X, {**X, key: value}, {**X, "ts": "7.125"}]), 1, 2)


@pytest.mark.parametrize(
    ("now", "then"),
    [
        ('"pid": 7', '"pid": 7.0'), ('"pid": 7', '"pid": 1e3'), ('"pid": 7', '"pid" : 7.5'), ('"pid": 7', '"pid":\t7.5'), ('"pid": 7', '"pid":  7'),
        ('"pid": 7', '"pid": -0'), ('"pid": 7', '"p\\u0069d": 7.5'), ('"tid": 2', '"tid": 2 '), ('"tid": 2', '"tid": 2.5e0\n'),
        ('"dur": 2.5', '"dur":true'), ('"dur": 2.5', '"d\\u0075r": true'), ('"dur": 2.5', '"dur" :false'), ('"dur": 2.5', '"dur": 2.5e0'),
        ('"pid": 7', '"gpid": 7.5, "pid": 7'), ('"name": "', '"name": "\\"pid\\": 7.5'),
    ],
)  # fmt: skip
def test_a_number_as_no_exporter_writes_it(tmp_path: Path, now: str, then: str) -> None:
    plain = json.dumps({**X, "pid": 7, "tid": 2, "dur": 2.5})
    changed = plain.replace(now, then)
    assert changed != plain
    check(write(tmp_path, f"[{plain}, {changed}, {plain}]"), 1, 2)


@pytest.mark.parametrize(
    ("event", "bare"),
    [({}, True), ({"pid": "7"}, False), ({"tid": 2.5}, False), ({"dur": "2"}, False), ({"args": {"tid": "no"}}, False)],
)
def test_what_lets_numbers_be_read_as_such(tmp_path: Path, event: dict[str, Any], bare: bool) -> None:
    path = write(tmp_path, [X, {**X, "pid": 7, "tid": 2, "dur": 2.5, **event}, X])
    assert scan.glance_at(path).bare_numbers == bare


@pytest.mark.parametrize(
    "flow",
    ["12", "4294967296", "4294967295", str(5 << 32), str((5 << 32) - 1), str(1 << 48), str((3 << 48) + (7 << 32)), str(2**63), str(2**64), str(2**64 - 1), str(10**18), str((5 << 48) - 1), " 7", "x", ""],
)  # fmt: skip
def test_the_id_of_a_flow(tmp_path: Path, flow: str) -> None:
    event = {"ph": "s", "name": "f", "cat": "HostToDevice", "id": flow, "ts": "1.000", "pid": 1, "tid": 2}
    check(write(tmp_path, [event, {**event, "cat": "other"}, {**event, "id": int(flow)} if flow.isdecimal() else X]), 2)


@pytest.mark.parametrize("key", ["cat", "id", "tid", "args", "name", "ts"])
def test_a_key_that_stands_twice(tmp_path: Path, key: str) -> None:
    text = json.dumps({**X, "cat": "c", "id": "5", "args": {}})
    twice = text[:-1] + f', "{key}": {json.dumps(X.get(key, "6"))}}}'
    check(write(tmp_path, f"[{text}, {twice}]"), 1)


NAMED = {"ph": "M", "name": "process_name", "pid": 7, "tid": 0, "args": {"name": "CANN"}}


@pytest.mark.parametrize(
    "events",
    [
        [X, NAMED, X, {**NAMED, "args": {"name": "Ascend Hardware"}}, X],  # the last name counts
        [X] * 30 + [NAMED],
        [X, {**X, "args": {"a": {"ph": "M", "name": "process_name", "pid": 7, "args": {"name": "no"}}}}, NAMED],
        [X, {"args": {"pad": "x" * 40_000, "name": "far"}, "ph": "M", "name": "process_name", "pid": 7}, X],
    ],
)
def test_names_may_stand_anywhere(tmp_path: Path, events: list[Any]) -> None:
    check(write(tmp_path, events), 1, 2, 3)


@pytest.mark.parametrize("style", [{}, {"separators": (",", ":")}, {"indent": 2}])
def test_parts_hold_each_byte_once(tmp_path: Path, style: Any) -> None:
    path = write(tmp_path, json.dumps([X] * 50, **style))
    found = parts_of(path, 4)
    assert len(found) == 4
    assert [part.start for part in found] == [0, *(part.end + 1 for part in found[:-1])]
    assert found[-1].end == path.stat().st_size
    assert all(path.read_bytes()[part.end : part.end + 1] == b"," for part in found[:-1])


def test_a_cut_inside_of_a_value_is_no_cut(tmp_path: Path) -> None:
    """What looks like the end of an event stands in its arguments: parts are no lists then, and nothing of them is used."""
    inside = {**X, "args": {"list": [{"a": 1}, {"b": 2}] * 200}}
    path = write(tmp_path, [X, inside, X])
    with pytest.raises(OddFileError):
        collect_quickly(path, frozenset(COLUMNS), Kept, 2)
    check(path, 2)
    text = {**X, "name": '},{"x":' * 300}
    path = write(tmp_path, [X, text, X])
    with pytest.raises(OddFileError):
        collect_quickly(path, frozenset(COLUMNS), Kept, 2)
    check(path, 2)


def test_what_is_plain_is_read_in_one_pass(tmp_path: Path) -> None:
    path = write(tmp_path, TRACE)
    look, (first, second) = collect_quickly(path, frozenset(COLUMNS), Kept, 2)
    assert look.events == 4
    assert len(first.rows) + len(second.rows) == 3
    assert first.rows
    assert second.rows


@pytest.mark.parametrize(("blanks", "is_odd"), [(3 << 10, False), (9 << 10, True)])
def test_no_more_of_a_file_is_held_than_an_event_may_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, blanks: int, is_odd: bool
) -> None:
    monkeypatch.setattr(scan, "_BLOCK_BYTES", 1 << 10)
    monkeypatch.setattr(scan, "_MAX_BLOCK_BYTES", 8 << 10)
    path = tmp_path / "trace_view.json"
    name = json.dumps({"ph": "M", "name": "process_name", "pid": 7, "args": {"name": "CANN"}})
    path.write_text(f"[{' ' * blanks}{name}]")
    if is_odd:
        with pytest.raises(OddFileError):
            scan.glance_at(path)
    else:
        assert scan.glance_at(path).names.processes == {"7": "CANN"}
