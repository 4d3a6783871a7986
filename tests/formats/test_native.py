"""The compiled reader of timelines: what it proves is what is read event by event; what it does not prove it leaves to others."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_events import NAMES, TRACE, X, args, bad, flows, ids, metadata, names, no_surrogates, styles, tasks, write

from aoe_reports.formats import native as compiled
from aoe_reports.formats.trace import cuts, native
from aoe_reports.formats.trace.events import EVENTS_SCHEMA, collect_events
from aoe_reports.formats.trace.json_list import NotAList
from aoe_reports.formats.trace.native import collect_natively
from aoe_reports.formats.trace.shape import LATEST_NS, LONGEST_US, OddFileError, wanted_schema
from aoe_reports.formats.trace.walk import batches_by_walking, look_by_walking

pytestmark = pytest.mark.skipif(compiled.library() is None, reason="the compiled reader was not built")
COLUMNS = [*EVENTS_SCHEMA.names, "frequency_mhz"]


class Kept:
    """Keeps all that it takes in."""

    def __init__(self) -> None:
        self.batches: list[pa.RecordBatch] = []

    def add(self, batch: pa.RecordBatch) -> None:
        self.batches.append(batch)

    @property
    def rows(self) -> list[dict[str, Any]]:
        return [row for batch in self.batches for row in batch.to_pylist()]


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuts, "MIN_PART_BYTES", 1)


def read(path: Path, count: int = 1, columns: Sequence[str] = COLUMNS) -> list[dict[str, Any]] | None:
    """The rows of a file of which all is proved, None else: they and what is told of the file are what walking through it gives."""
    try:
        look, collectors = collect_natively(path, frozenset(columns), Kept, count)
    except OddFileError:
        return None
    rows = [row for part in collectors for row in part.rows]
    careful = look_by_walking(path)
    assert careful.usable
    assert (careful.reported, careful.findings) == (0, ())
    schema = wanted_schema(columns)
    expected = pa.Table.from_batches(batches_by_walking(path, careful.names, schema), schema).to_pylist()
    for row in (*rows, *expected):  # of args what they say, however it is written
        if row.get("args") is not None:
            row["args"] = json.loads(row["args"])
    for row in rows:
        if isinstance(row.get("flow_id"), int):  # each has one text alone
            row["flow_id"] = str(row["flow_id"])
    for row in expected:
        if row.get("ph") in {"s", "t", "f"}:  # what a flow is called is not handed on
            row["name"] = None
    assert rows == expected
    assert (look.events, look.phases, look.start_ns, look.end_ns, look.stage_rows, look.names) == (
        careful.events, careful.phases, careful.start_ns, careful.end_ns, careful.stage_rows, careful.names,
    )  # fmt: skip
    return rows


def proves(tmp_path: Path, event: dict[str, Any] | str) -> bool:
    """Whether a file with such an event among plain ones is proved; what is read of it is right."""
    text = event if isinstance(event, str) else json.dumps(event)
    plain = json.dumps(X)
    return read(write(tmp_path, f"[{plain}, {text}, {plain}]")) is not None


@given(st.lists(st.one_of(tasks, flows, metadata), max_size=12).filter(no_surrogates), styles, st.integers(1, 4))
def test_what_is_proved_is_right(tmp_path: Path, events: list[dict[str, Any]], style: Any, count: int) -> None:
    read(write(tmp_path, json.dumps(events, **style)), count)


exact = st.one_of(
    st.integers(0, LATEST_NS // 1000 - 1),
    st.integers(0, LATEST_NS - 1).map(lambda ns: f"{ns // 1000}.{ns % 1000:03d}"),
    st.tuples(st.integers(0, 10**9), st.text("0123456789", min_size=1, max_size=9)).map(lambda two: f"{two[0]}.{two[1]}"),
)  # fmt: skip
plain_tasks = st.fixed_dictionaries(
    {"ph": st.just("X"), "name": names, "ts": exact, "dur": st.integers(0, 10**9).map(lambda ns: ns / 1000)},
    optional={"pid": ids, "tid": ids, "args": args, "cat": names},
)


@given(st.lists(plain_tasks, min_size=1, max_size=12).filter(no_surrogates), styles, st.integers(1, 4))
def test_plain_events_are_proved(tmp_path: Path, events: list[dict[str, Any]], style: Any, count: int) -> None:
    text = json.dumps(events, **style)
    if "\\ud" not in text and "e-" not in text and "e+" not in text:
        path = write(tmp_path, text)
        assert read(path) is not None
        read(path, count)  # a cut inside of a text is no cut


@pytest.mark.parametrize(
    ("ids", "are_numbers"),
    [
        ([7, "8", None, 0, 10**18 - 1], True),
        ([7, None, "8", "x", 9], False),
        ([7, "007"], False),
        ([10**18, 7], False),
        (["", 7], False),
        ([" 7", 7], False),
        ([-7], False),
    ],
)
def test_ids_of_flows_are_numbers_where_all_are_texts_of_some(
    tmp_path: Path, ids: list[Any], are_numbers: bool
) -> None:
    flow = {"ph": "s", "cat": "HostToDevice", "ts": 1, "pid": 1, "tid": 2}
    path = write(tmp_path, json.dumps([X, *({**flow, "id": one} for one in ids)]))
    assert read(path) is not None
    _, (kept,) = collect_natively(path, frozenset(COLUMNS), Kept, 1)
    assert pa.types.is_integer(kept.batches[0].schema.field("flow_id").type) is are_numbers


def test_keys_in_any_order_are_the_same(tmp_path: Path) -> None:
    """More orders of keys than are remembered, and more keys behind one."""
    chance = random.Random(20261127)
    events = []
    for number in range(3000):
        told = {"Task Type": "AI_CORE", "Task Id": number, f"key {number}": number, f"key {number % 40}, again": None}
        event = {**X, "args": dict(chance.sample(sorted(told.items(), key=str), len(told))), f"extra {number % 50}": 1}
        events.append(dict(chance.sample(sorted(event.items(), key=str), len(event))))
    rows = read(write(tmp_path, json.dumps(events)))
    assert rows is not None
    assert len(rows) == len(events)


@pytest.mark.parametrize(("count", "proved"), [(64, True), (65, False)])
def test_an_object_of_many_members_is_left_to_others(tmp_path: Path, count: int, proved: bool) -> None:
    assert proves(tmp_path, {**X, "args": {f"key {number}": number for number in range(count)}}) is proved


@pytest.mark.parametrize("blank", ["", " ", "  ", "\n", " \t"])
def test_a_key_twice_is_left_to_others_whatever_is_around_it(tmp_path: Path, blank: str) -> None:
    text = json.dumps({**X, "args": {}})
    assert proves(tmp_path, text.replace('"dur":', f'{blank}"dur"{blank}:{blank}'))
    assert not proves(tmp_path, text.replace('"dur":', f'"dur": 1,{blank}"dur"{blank}:{blank}'))
    assert not proves(tmp_path, f'{text[:-1]},{blank}"args"{blank}:{blank}{{}}}}')


def test_damage_anywhere_is_never_taken_for_plain(tmp_path: Path) -> None:
    """A thousand files in which bytes are changed, left out, put in or said twice."""
    chance = random.Random(20261126)
    more = [{**X, "args": {"Task Type": "AI_CORE", "connection_id": 7}}] * 3
    data = json.dumps([*json.loads(TRACE), *more], ensure_ascii=False).encode()
    assert read(write(tmp_path, data)) is not None
    proved = 0
    for _ in range(1000):
        changed = bytearray(data)
        for _ in range(chance.choice([1, 1, 1, 2, 5])):
            at, length = chance.randrange(len(changed)), chance.choice([1, 1, 2, 30])
            kind = chance.randrange(4)
            if kind == 0:
                changed[at] = chance.randrange(256)
            elif kind == 1:
                del changed[at : at + length]
            elif kind == 2:
                changed[at:at] = chance.choice(
                    [b'"', b",", b"}", b"]", b"{", b"[", b"\\", b"0", b"-", b"e5", b"\xff", b" ", b"null", b"\\u0061"]
                )
            else:
                changed[at:at] = changed[at : at + length]
        proved += read(write(tmp_path, bytes(changed)), chance.randrange(1, 4)) is not None
    assert 50 < proved < 500


@given(st.lists(st.one_of(tasks, flows, metadata, bad), max_size=6).filter(no_surrogates), st.data())
def test_a_changed_byte_anywhere(tmp_path: Path, events: list[Any], data: st.DataObject) -> None:
    text = json.dumps(events, ensure_ascii=False).encode()
    at = data.draw(st.integers(0, len(text) - 1))
    read(write(tmp_path, text[:at] + data.draw(st.binary(max_size=2)) + text[at + 1 :]), 2)


@pytest.mark.parametrize("end", range(len(TRACE)))
def test_a_file_that_is_cut_off_is_not_proved(tmp_path: Path, end: int) -> None:
    assert read(write(tmp_path, TRACE[:end])) is None


@pytest.mark.parametrize(
    ("key", "value", "ns"),
    [
        ("ts", "0", 0), ("ts", "007.5", 7500), ("ts", "1.0004", 1000), ("ts", "1.0005", 1001), ("ts", "1.00049999999999", 1000),
        ("ts", "1736412474712511.620", 1736412474712511620), ("ts", 1736412474712511.5, 1736412474712511500), ("ts", f"{LATEST_NS // 1000 - 1}", LATEST_NS // 1000 * 1000 - 1000),
        ("dur", 0, 0), ("dur", "2.5", 2500), ("dur", 0.0005, 0), ("dur", 0.0015, 2), ("dur", 2.00050001, 2001), ("dur", int(LONGEST_US) - 1, (int(LONGEST_US) - 1) * 1000),
        ("dur", 562949953421.311, 562949953421311), ("dur", 562949953421.313, 562949953421313),
    ],
)  # fmt: skip
def test_times_are_exact(tmp_path: Path, key: str, value: object, ns: int) -> None:
    rows = read(write(tmp_path, [{**X, key: value}]))
    assert rows is not None
    assert rows[0]["start_ns" if key == "ts" else "duration_ns"] == ns


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("ts", -1), ("ts", "1e3"), ("ts", ""), ("ts", "1."), ("ts", ".5"), ("ts", " 1"), ("ts", "1_0"), ("ts", "9" * 20), ("ts", LATEST_NS // 1000 + 1), ("ts", None), ("ts", True), ("ts", []),
        ("dur", -1), ("dur", "1e3"), ("dur", 1e22), ("dur", LONGEST_US), ("dur", None), ("dur", False),
        ("name", 5), ("name", None), ("name", True), ("ph", "XX"), ("ph", ""), ("ph", "1"), ("ph", 5), ("ph", None),
        ("pid", 1.5), ("pid", True), ("pid", {}), ("cat", 1.5), ("id", 1.5), ("args", "text"), ("args", [1]), ("args", {"Task Type": 1.5}), ("args", {"connection_id": True}),
    ],
)  # fmt: skip
def test_what_is_out_of_the_ordinary_is_not_proved(tmp_path: Path, key: str, value: object) -> None:
    assert not proves(tmp_path, {**X, key: value})


@pytest.mark.parametrize(
    "text",
    [
        '{"ph":"X","name":"a","ts":1,"dur":2,"pid":-0}', '{"ph":"X","name":"a","ts":1,"dur":02}', '{"ph":"X","name":"a","ts":1,"dur":2,}', '{"ph":"X","name":"a","ts":1,"dur":NaN}',
        '{"ph":"X","name":"a","ts":1,"dur":2,"ts":1}', '{"ph":"X","name":"a","ts":1,"dur":2,"x":1,"x":1}', '{"ph":"X","name":"a","ts":1,"dur":2,"args":{"x":1,"x":1}}',
        '{"ph":"X","name":"a","ts":1,"dur":2,"args":{},"args":{}}', '{"ph":"X","name":"a","ts":1,"dur":2,"x":{"y":[{"z":1,"z":2}]}}', '{"ph":"X","n\\u0061me":"a","ts":1,"dur":2}',
        '{"ph":"X","name":"\\ud800","ts":1,"dur":2}', '{"ph":"X","name":"\\q","ts":1,"dur":2}', '{"ph":"X","name":"\t","ts":1,"dur":2}', '{"ph":"X","name":"a","ts":1,"dur":2,"x":nul}',
        '{"ph":"X","name":"a","ts":1,"dur":2,"x":' + "[" * 40 + "]" * 40 + "}", '{"ph":"X" "name":"a","ts":1,"dur":2}', "5", "null", "{}", "[]", '{"ph":"X","name":"a","ts":1,"dur":2}}',
    ],
)  # fmt: skip
def test_what_is_no_plain_json_is_not_proved(tmp_path: Path, text: str) -> None:
    assert not proves(tmp_path, text)


@pytest.mark.parametrize("name", [*NAMES, "\u7b97\U0001f600", "/\b\f\n\r\t"])
@pytest.mark.parametrize("ensure_ascii", [True, False])
def test_texts_with_escapes_are_read(tmp_path: Path, name: str, ensure_ascii: bool) -> None:
    event = {**X, "name": name, "pid": name, "cat": name, "args": {"Task Type": name}}
    is_pair = ensure_ascii and "\U0001f600" in name
    assert proves(tmp_path, json.dumps(event, ensure_ascii=ensure_ascii)) != is_pair


@pytest.mark.parametrize("before", ["\ufeff", "", " \n\t\r"])
@pytest.mark.parametrize("behind", ["", "\n", " x", "[]"])
def test_what_stands_around_the_list(tmp_path: Path, before: str, behind: str) -> None:
    is_plain = before != "\ufeff" and not behind.strip()
    assert (read(write(tmp_path, f"{before}[{json.dumps(X)}]{behind}")) is not None) == is_plain
    assert read(write(tmp_path, f"{before}[]{behind}")) == ([] if is_plain else None)


def test_a_file_that_is_no_text_is_not_proved(tmp_path: Path) -> None:
    event = json.dumps({**X, "name": "#"}).encode()
    for odd in (b"\xff", b"\xe7\xae", b"\xc0\x80", b"\xed\xa0\x80"):
        assert read(write(tmp_path, b"[" + event.replace(b"#", odd) + b"]")) is None
    assert read(write(tmp_path, b"[" + event.replace(b"#", "\u7b97".encode()) + b"]")) is not None


def test_more_than_one_batch_with_more_words_than_are_numbered(tmp_path: Path) -> None:
    """Dictionaries begin anew, and letters of several bytes stand where one read ends and the next begins."""
    events: list[dict[str, Any]] = [
        {**X, "name": "\u7b97" * 9, "pid": number % 40_000, "tid": number % 7} for number in range(90_000)
    ]
    events += [
        {"ph": "M", "name": "process_name", "pid": pid, "args": {"name": "CANN"}} for pid in range(0, 40_000, 1000)
    ]
    path = write(tmp_path, json.dumps(events, ensure_ascii=False))
    rows = read(path, 2, ["name", "pid", "tid", "process", "thread", "start_ns"])
    assert rows is not None
    assert sum(row["process"] == "CANN" for row in rows) == sum(number % 40_000 % 1000 == 0 for number in range(90_000))


def test_batches_outlive_the_file(tmp_path: Path) -> None:
    path = write(tmp_path, [{**X, "name": f"task {number}", "pid": number % 3} for number in range(1000)])
    _, (kept,) = collect_natively(path, frozenset(COLUMNS), Kept, 1)
    column = kept.batches[0].column("name").slice(10, 5)
    kept.batches.clear()
    assert column.to_pylist() == [f"task {number}" for number in range(10, 15)]


def test_a_collector_that_fails_ends_the_reading(tmp_path: Path) -> None:
    class Failing(Kept):
        def add(self, batch: pa.RecordBatch) -> None:
            raise NotAList(compiled.library, "no")  # type: ignore[arg-type]

    path = write(tmp_path, [X] * 200_000)
    with pytest.raises(NotAList):
        collect_natively(path, frozenset(COLUMNS), Failing, 4)


@pytest.mark.parametrize("content", [None, b"no library"])
def test_without_the_library_files_are_read_in_other_ways(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes | None
) -> None:
    library = tmp_path / "other.so"
    if content is not None:
        library.write_bytes(content)
    monkeypatch.setattr(compiled, "LIBRARY", library)
    monkeypatch.setattr(native, "library", compiled.library.__wrapped__)
    assert native.library() is None
    path = write(tmp_path, [X])
    with pytest.raises(OddFileError):
        collect_natively(path, frozenset(COLUMNS), Kept, 1)
    look, _ = collect_events(path, ["name"], Kept)
    assert look.events == 1


@pytest.mark.parametrize("column", ["stream_id", "task_id"])
def test_a_digit_that_is_written_as_an_escape_is_a_digit(tmp_path: Path, column: str) -> None:
    key = {"stream_id": "Stream Id", "task_id": "Task Id"}[column]
    path = write(tmp_path, f'[{json.dumps(X)[:-1]},"args":{{"{key}":"\\u0035"}}}}]')
    assert read(path) is None
    _, collectors = collect_events(path, [column], Kept)
    assert [row[column] for part in collectors for row in part.rows] == [5]
