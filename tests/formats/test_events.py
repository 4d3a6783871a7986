"""Every timeline as one frame of events."""

from __future__ import annotations

import json
from collections import Counter
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from made_events import NAMES, NO_OBJECTS, TRACE, X, bad, flows, metadata, no_surrogates, styles, tasks, write

from aoe_reports.formats.trace import json_list
from aoe_reports.formats.trace.events import (
    EVENTS_SCHEMA,
    collect_events,
    look_at_timeline,
    stream_events,
    sum_durations,
)
from aoe_reports.formats.trace.quick import look_quickly, stream_quickly
from aoe_reports.formats.trace.shape import OddFileError
from aoe_reports.formats.trace.walk import batches_by_walking, look_by_walking
from aoe_reports.model.errors import ReadError
from aoe_reports.model.findings import EXAMPLES_PER_RULE


def rows(path: Path, *columns: str) -> list[Any]:
    found = stream_events(path, columns or None).batches.read_all().to_pylist()
    return [row[columns[0]] for row in found] if len(columns) == 1 else found


def is_plain(path: Path) -> bool:
    try:
        look_quickly(path)
    except OddFileError:
        return False
    return True


# what a row holds


def test_a_task_says_where_when_and_what(tmp_path: Path) -> None:
    args = {
        "Model Id": 4294967295, "Task Type": "AI_CORE", "Physic Stream Id": 4, "Task Id": 9, "Batch Id": 0,
        "Subtask Id": 4294967295, "connection_id": 33,
    }  # fmt: skip
    path = write(
        tmp_path,
        [
            {**X, "name": "Conv", "ts": "1736412474712511.620", "dur": 1.5, "args": args},
            {"name": "process_name", "ph": "M", "pid": 7, "tid": 0, "args": {"name": "Ascend Hardware"}},
            {"name": "thread_name", "ph": "M", "pid": 7, "tid": 1, "args": {"name": "Stream 4"}},
        ],
    )
    assert rows(path) == [
        {
            "ph": "X", "name": "Conv", "category": None, "flow_id": None, "connection_id": 33, "pid": "7", "tid": "1",
            "process": "Ascend Hardware", "thread": "Stream 4", "start_ns": 1736412474712511620, "duration_ns": 1500,
            "task_type": "AI_CORE", "stream_id": 4, "task_id": 9, "model_id": None, "batch_id": 0, "subtask_id": None,
            "mode": None, "level": None, "stage_row": False, "args": json.dumps(args, separators=(",", ":")),
        }
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("number", "connection"),
    [
        (33 << 32, 33), (str(33 << 32), 33), (str((33 << 32) + 5), 33), (str((33 << 32) - 1), 33), ("33", 33), (0, 0),
        (str(700_000 << 32), 700_000), ("40004631069296951295", None), (str(11053 << 48), None), ("a-b", None), ("-1", None),
    ],
)  # fmt: skip
def test_a_flow_from_the_host_joins_its_task(tmp_path: Path, number: object, connection: int | None) -> None:
    flow = {"name": "HostToDevice", "ph": "s", "cat": "HostToDevice", "id": number, "pid": 7, "tid": 1, "ts": "1.000"}
    path = write(tmp_path, [flow, {**flow, "cat": "async_npu"}, {**X, "args": {"connection_id": 33}}])
    assert is_plain(path)
    assert rows(path, "connection_id") == [connection, None, 33]
    assert [row["connection_id"] for row in walked(path)] == [connection, None, 33]
    assert rows(path, "flow_id") == [str(number), str(number), None]


@pytest.mark.parametrize(
    ("column", "key"),
    [
        ("stream_id", "Stream Id"), ("stream_id", "Physic Stream Id"), ("stream_id", "stream id"), ("task_id", "task id"),
        ("model_id", "Model ID"), ("model_id", "model id"), ("model_id", "Model Id"),
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    ("value", "number"), [(3, 3), ("17", 17), ("3,4", None), ("N/A", None), (-1, None), (1.5, None)]
)
def test_an_id_is_found_under_each_of_its_names(tmp_path: Path, column: str, key: str, value: object, number: object):
    path = write(tmp_path, [{**X, "args": {key: value}}])
    assert is_plain(path)
    assert rows(path, column) == [number]
    assert [row[column] for row in walked(path)] == [number]


@pytest.mark.parametrize(
    ("ts", "ns"),
    [
        ('"1736412474712511.620"', 1736412474712511620),
        ("1736412474712511.620", 1736412474712511620),
        ("1690000000123456.8", 1690000000123456800),
        ("1736412474712511", 1736412474712511000),
        ("9007199254740993.001", 9007199254740993001 if 9007199254740993001 < 2**61 else None),
        ("8796093022209.127", 8796093022209127),
        ("8796093022209.126", 8796093022209126),
        ("56635912240.3", 56635912240300),
        ("51000123.45600001", 51000123456),
        ("0", 0),
        ("5.1e7", 51000000000),
        ("1E3", 1000000),
        ('"5.1e3"', 5100000),
        ("-5", -5000),
    ],
)
def test_time_stamps_are_exact_to_the_nanosecond(tmp_path: Path, ts: str, ns: int | None) -> None:
    path = write(tmp_path, f'[{{"name":"a","ph":"X","dur":1,"ts":{ts}}}]')
    assert rows(path, "start_ns") == ([] if ns is None else [ns])
    assert [row["start_ns"] for row in walked(path)] == ([] if ns is None else [ns])


def test_long_numbers_are_read_event_by_event(tmp_path: Path) -> None:
    event = '{"name":"\\"ts\\":5","args":{"a":1},"ph":"X","dur":1,"ts" :\n 1690000000123456.789}'
    path = write(tmp_path, f"[{event},{event}]")
    look = look_at_timeline(path)
    assert not look.plain
    assert rows(path, "start_ns", "name", "duration_ns", "args") == [
        {"name": '"ts":5', "start_ns": 1690000000123456789, "duration_ns": 1000, "args": '{"a":1}'}
    ] * 2  # fmt: skip


def test_two_keys_named_ts_do_not_mislead(tmp_path: Path) -> None:
    event = '{"name":"a","args":{"ts":1690000000123456.781},"ph":"X","dur":1,"ts":1690000000123456.789}'
    assert rows(write(tmp_path, f"[{event}]"), "start_ns") == [1690000000123456789]


@pytest.mark.parametrize(
    ("dur", "ns"), [("1.5", 1500), ('"2.5"', 2500), ("0", 0), ("0.0005", 0), ("0.0015", 2), ("1e3", 1000000)]
)
def test_durations_may_be_numbers_or_texts(tmp_path: Path, dur: str, ns: int) -> None:
    path = write(tmp_path, f'[{{"name":"a","ph":"X","ts":"1.000","dur":{dur}}}]')
    assert rows(path, "duration_ns") == [ns]
    assert [row["duration_ns"] for row in walked(path)] == [ns]
    assert sum_durations(path).frame["duration_ns"].to_pylist() == [ns]


@pytest.mark.parametrize("ascii_only", [True, False])
def test_names_come_out_as_they_went_in(tmp_path: Path, ascii_only: bool) -> None:
    events = [{**X, "name": name, "args": {"x": name}} for name in NAMES]
    path = write(tmp_path, json.dumps(events, ensure_ascii=ascii_only))
    assert rows(path, "name") == NAMES
    assert [json.loads(args)["x"] for args in rows(path, "args")] == NAMES
    assert [row["name"] for row in walked(path)] == NAMES


def test_phases_of_every_kind_are_kept_and_the_order_too(tmp_path: Path) -> None:
    events = [{"ph": phase, "name": str(number), "ts": 1} for number, phase in enumerate("BEisftCbnePNOD")]
    path = write(tmp_path, events)
    assert rows(path, "ph") == list("BEisftCbnePNOD")


def test_the_second_copy_of_an_hccl_task_is_marked_and_not_summed(tmp_path: Path) -> None:
    path = write(tmp_path, [X, {**X, "name": "Stage1Step-2"}, {**X, "name": "Stage1Step2x"}])
    assert rows(path, "stage_row") == [False, True, False]
    assert sum(sum_durations(path).frame["duration_ns"].to_pylist()) == 4000
    assert [f.rule for f in look_at_timeline(path).findings] == ["hccl-stage-rows"]
    assert [f.rule for f in sum_durations(path).findings] == ["hccl-stage-rows"]


@pytest.mark.parametrize(
    "data", ["[]", " [ \n ] ", '[{"name":"process_name","ph":"M","pid":1,"args":{"name":"CANN"}}]']
)
def test_a_timeline_without_events_is_legal(tmp_path: Path, data: str) -> None:
    path = write(tmp_path, data)
    look = look_at_timeline(path)
    assert (look.rows, look.findings, look.start_ns) == (0, (), None)
    assert rows(path) == []
    assert sum_durations(path).frame.num_rows == 0


def test_a_look_tells_processes_and_extent(tmp_path: Path) -> None:
    named = {"name": "process_name", "ph": "M", "pid": 7, "args": {"name": "CANN"}}
    look = look_at_timeline(
        write(tmp_path, [named, {**X, "ts": 5}, {**X, "dur": 1}, {"ph": "C", "name": "f", "ts": 0}])
    )
    assert (look.processes, look.start_ns, look.end_ns) == (("CANN",), 1000, 7000)
    assert (look.events, look.phases, look.rows, look.metadata) == (4, {"M": 1, "X": 2, "C": 1}, 3, 1)


def test_the_last_of_two_names_counts(tmp_path: Path) -> None:
    first, last = ({"name": "process_name", "ph": "M", "pid": 7, "args": {"name": name}} for name in "zb")
    path = write(tmp_path, [first, X, last])
    assert rows(path, "process") == ["b"]
    assert sum_durations(path, ["process"]).frame["process"].to_pylist() == ["b"]
    assert look_at_timeline(path).processes == ("b",)


def test_only_columns_that_there_are_can_be_asked_for(tmp_path: Path) -> None:
    path = write(tmp_path, [X])
    assert stream_events(path, ["name", "start_ns"]).batches.schema.names == ["name", "start_ns"]
    with pytest.raises(KeyError):
        stream_events(path, ["nme"])
    with pytest.raises(KeyError):
        sum_durations(path, ["nme"])


@pytest.mark.parametrize(
    "name", ["we[i]rd*?'q\"x{1}.json", "a b;--.json", "~.json", "x=1.json", "算.json", "%s.json.gz"]
)
def test_a_path_is_a_path_and_no_pattern(tmp_path: Path, name: str) -> None:
    write(tmp_path, "[", "weird.json")
    path = write(tmp_path, [X], name)
    assert is_plain(path)
    assert rows(path, "name") == ["a"]


def test_nothing_is_left_beside_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows(write(tmp_path, [X]))
    assert [path.name for path in tmp_path.iterdir()] == ["trace_view.json"]


def test_a_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    for read in (look_at_timeline, sum_durations, stream_events):
        with pytest.raises(ReadError):
            read(tmp_path / "none.json")


def test_a_file_that_changes_between_two_passes_is_an_error(tmp_path: Path) -> None:
    for events in ([X], [X, {**X, "dur": -1}]):
        path = write(tmp_path, events)
        stream = stream_events(path)
        path.write_text("[{")
        with pytest.raises(ReadError):
            list(stream.batches)


# what is left out


@pytest.mark.parametrize(
    "event",
    [
        {**X, "ts": None}, {**X, "ts": "soon"}, {**X, "ts": []}, {**X, "ts": {}}, {**X, "ts": True}, {**X, "ts": "1e400"},
        {**X, "ts": "NaN"}, {**X, "ts": "inf"}, {**X, "ts": "١"}, {**X, "ts": "1" * 50}, {**X, "ts": 10**400},
        {**X, "dur": -1}, {**X, "dur": -0.0001}, {**X, "dur": None}, {**X, "dur": "x"}, {**X, "dur": "nan"},
        {**X, "dur": 2**60}, {**X, "dur": "inf"}, {**X, "dur": [1]}, {**X, "dur": True}, {**X, "dur": 10**400},
        {**X, "name": None}, {**X, "name": 5}, {**X, "name": {"a": 1}}, {**X, "name": True}, {**X, "name": ["a"]},
        {**X, "ph": None}, {**X, "ph": 5}, {**X, "ph": []}, {**X, "ph": ""}, {"name": "a"}, 5, None, "x", [X], True,
        {"ph": "C", "name": "a", "ts": "soon"}, {"ph": "C", "ts": 1, "dur": -5},
    ],
    ids=lambda event: json.dumps(event)[:80],
)  # fmt: skip
def test_an_event_that_cannot_be_used_is_reported(tmp_path: Path, event: object) -> None:
    path = write(tmp_path, [X, event, {**X, "dur": 3}])
    look = look_at_timeline(path)
    assert [(f.rule, f.pointer) for f in look.findings] == [("timeline-event", "/1")]
    assert (look.events, look.rows, look.reported) == (3, 2, 1)
    assert rows(path, "duration_ns") == [2000, 3000]


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
@pytest.mark.parametrize("key", ["ts", "dur", "args", "x"])
def test_an_event_with_what_is_no_number_is_reported(tmp_path: Path, number: str, key: str) -> None:
    bad = json.dumps({**X, key: {"y": ["NUMBER"]} if key == "args" else "NUMBER"}).replace('"NUMBER"', number)
    path = write(tmp_path, f"[{json.dumps(X)}, {bad}]")
    assert [(f.rule, f.pointer) for f in look_at_timeline(path).findings] == [("timeline-event", "/1")]
    assert rows(path, "name") == ["a"]


@pytest.mark.parametrize("end", ['"args":{"y":1 , }}]', '"args":{"y":[1,]}}]', '"x":1\n,\n}]'])
def test_a_comma_behind_the_last_is_no_json(tmp_path: Path, end: str) -> None:
    path = write(tmp_path, f'[{{"ph":"X","name":"a","ts":1,"dur":1,{end}')
    assert [finding.rule for finding in look_at_timeline(path).findings] == ["timeline-event"]
    assert rows(path) == []


@pytest.mark.parametrize("end", ['"x":1},]', '"x":"é"},\t]', '"x":1},\n]\n'])
def test_a_comma_behind_the_last_event_is_a_warning(tmp_path: Path, end: str) -> None:
    path = write(tmp_path, f'[{{"ph":"X","name":"a","ts":1,"dur":1,{end}')
    (finding,) = look_at_timeline(path).findings
    assert (finding.rule, finding.severity) == ("timeline-comma", "warning")
    assert sum(sum_durations(path).frame["count"].to_pylist()) == len(rows(path)) == 1


@pytest.mark.parametrize("between", [",\x0b", "\x0c,", ",,", ",\x00", ";", ",\u00a0"])
def test_what_stands_between_two_events_is_judged_alike_by_all_readers(tmp_path: Path, between: str) -> None:
    path = write(tmp_path, f"[{json.dumps(X)}{between}{json.dumps(X)}]")
    (finding,) = look_at_timeline(path).findings
    assert (finding.rule, finding.severity) == ("json-syntax", "error")
    assert sum_durations(path).findings == (finding,)
    assert sum_durations(path).frame["count"].to_pylist() == [len(rows(path))] == [2]


@pytest.mark.parametrize("odd", ['"x":NaN', '"dur":true', '"x":[1,]', '"cat":"a","cat":"b"', '"args":[]'])
def test_sums_are_of_the_events_that_every_reader_takes(tmp_path: Path, odd: str) -> None:
    path = write(tmp_path, f'[{json.dumps(X)},{{"ph":"X","name":"a","ts":1,"dur":1,{odd}}}]')
    assert sum_durations(path).findings == look_at_timeline(path).findings
    assert sum(sum_durations(path).frame["count"].to_pylist()) == len(rows(path))


def test_a_comma_and_a_bracket_in_a_text_are_read_in_one_pass(tmp_path: Path) -> None:
    told = {**X, "name": "é,]", "args": {"shapes": '[1, ] "}, }', "more": {"text": ",}"}}}
    look = look_quickly(write(tmp_path, [told, X]))
    assert (look.plain, look.rows) == (True, 2)


def test_more_such_texts_than_are_looked_at_are_read_event_by_event(tmp_path: Path) -> None:
    path = write(tmp_path, [{**X, "name": ",]"}] * 1001)
    with pytest.raises(OddFileError):
        look_quickly(path)
    assert (look_at_timeline(path).rows, look_at_timeline(path).findings) == (1001, ())


def test_of_several_names_of_a_process_the_last_is_its_name(tmp_path: Path) -> None:
    def named(name: str, tid: int) -> dict[str, Any]:
        return {"ph": "M", "name": "process_name", "pid": 1, "tid": tid, "args": {"name": name}}

    found = look_quickly(write(tmp_path, [named("first", 1), named("second", 2), named("last", 1)]))
    assert found.names.processes == {"1": "last"}


def test_a_key_that_stands_twice_is_reported(tmp_path: Path) -> None:
    path = write(tmp_path, '[{"ph":"X","name":"a","ts":1,"dur":1,"dur":2}]')
    assert [(f.rule, f.pointer) for f in look_at_timeline(path).findings] == [("timeline-event", "/0")]
    assert rows(path) == []


def test_many_bad_events_are_counted_in_one_line(tmp_path: Path) -> None:
    look = look_at_timeline(write(tmp_path, [X, *[{**X, "dur": -1}] * 50]))
    assert len(look.findings) == EXAMPLES_PER_RULE + 1
    assert look.findings[-1].message.startswith("and 30 more")
    assert look.reported == 50


# files that are no timelines

GOOD = json.dumps([X, {**X, "args": {"b": {"c": 1}, "d": 2}}])


@pytest.mark.parametrize(
    ("data", "rule", "place"),
    [
        (b"", "empty-file", (None, None)),
        (b" \n ", "empty-file", (None, None)),
        (b"[", "json-truncated", (1, 2)),
        (GOOD.encode()[:20], "json-truncated", (1, 21)),
        (b'{"traceEvents": 5}', "json-shape", (1, 1)),
        (b'{"events": []}', "json-shape", (1, 1)),
        (b'{"a": {"traceEvents": []}}', "json-shape", (1, 1)),
        (b"5", "json-shape", (1, 1)),
        (b"hello", "json-syntax", (1, 1)),
        (b'[{"Iteration ID": 1}]', "json-shape", (None, None)),
        (b"[tru", "json-truncated", (1, 5)),
        (b"[truu", "json-syntax", (1, 5)),
        ("[]".encode("utf-16"), "json-encoding", (1, 1)),
        (b"[" * 100_000, "json-syntax", None),
    ],
)
def test_what_is_no_whole_list_gives_a_finding_and_no_rows(tmp_path: Path, data: bytes, rule: str, place) -> None:
    path = write(tmp_path, data)
    look = look_at_timeline(path)
    (finding,) = look.findings
    assert (finding.severity, finding.rule) == ("error", rule)
    if place is not None:
        assert (finding.line, finding.column) == place
    assert (look.events, look.usable) == (0, False)
    assert rows(path) == []
    sums = sum_durations(path)
    assert (sums.frame.num_rows, sums.findings) == (0, look.findings)


@pytest.mark.parametrize("args", ["[" * 5000 + "]" * 5000, "9" * 5000, "1e400", '"' + "x" * (5 << 20) + '"'])
def test_extremes_end_in_rows_or_in_a_finding(tmp_path: Path, args: str) -> None:
    path = write(tmp_path, f'[{{"name":"a","ph":"X","ts":1,"dur":2,"args":{{"x":{args}}}}}]')
    look = look_at_timeline(path)
    assert look.rows == len(rows(path, "name")) == (0 if look.findings else 1)


def test_an_event_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_list, "WINDOW_BYTES", 64)
    monkeypatch.setattr(json_list, "MAX_ELEMENT_BYTES", 1000)
    look = look_at_timeline(write(tmp_path, '[{"name":"' + "x" * 5000 + '",}]'))
    assert [f.rule for f in look.findings] == ["json-too-large"]


OBJECTS = [
    '{{"traceEvents":{list}}}',
    ' {{ "displayTimeUnit" : "ns" , "traceEvents" :\n{list} , "stackFrames": {{}} }} \n',
    '{{"metadata":{{"traceEvents":[1],"a":"}},]"}},"traceEvents":{list},"otherData":{{"a":[{{}},{{}}],"n":15}},"x":1}}',
    '\ufeff{{"traceEvents":{list}}}',
]


@pytest.mark.parametrize("form", OBJECTS)
@pytest.mark.parametrize("window", [16, 100, 1 << 20])
def test_the_events_of_the_object_form_are_those_of_the_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str, window: int
) -> None:
    monkeypatch.setattr(json_list, "WINDOW_BYTES", window)
    bare, wrapped = write(tmp_path, TRACE, "a.json"), write(tmp_path, form.format(list=TRACE.decode()), "b.json")
    assert look_at_timeline(wrapped).findings == ()
    assert rows(wrapped) == rows(bare)
    assert sum_durations(wrapped) == sum_durations(bare)
    assert rows(write(tmp_path, form.format(list="[]"))) == []


@pytest.mark.parametrize(
    ("end", "rule"),
    [
        ("", "json-truncated"), (',"a"', "json-truncated"), (',"a":[1', "json-truncated"), (',"a":1', "json-truncated"),
        (";", "json-syntax"), ("} x", "json-syntax"), ("}}", "json-syntax"), (",5:1}", "json-syntax"), (',"traceEvents":[]}', "json-syntax"),
    ],
)  # fmt: skip
def test_what_follows_the_list_in_an_object_is_judged(tmp_path: Path, end: str, rule: str) -> None:
    path = write(tmp_path, f'{{"traceEvents":{json.dumps([X])}{end}')
    (finding,) = look_at_timeline(path).findings
    assert (finding.rule, finding.severity) == (rule, "error")
    assert len(rows(path)) == 1


WHOLE = json.dumps(X)


@pytest.mark.parametrize(
    ("odd", "place", "why"),
    [
        ('{"ph":tru}', (2, 10), "expected true, false or null"),
        ('{"ph":"X","args":{"a":1,', (2, 25), "expected a key in quotation marks"),
        ('{"ph":"X","name":"a', (3, 1), "a control character inside a string"),
        ('{"ph":"X","name":"a\nb"}', (3, 1), "a control character inside a string"),
        ('{"ph":"X","name":"\\ud800"}', (2, 25), "an escape for half a character"),
        ('{"ph":"X","args":[', (2, 19), "expected a value"),
        ('{"ph":"X","args":01}', (2, 19), "not a valid number"),
        (b'{"ph":"X","zz":"\xb0\xa1"}', (2, 17), "not UTF-8"),
    ],
)
@pytest.mark.parametrize("end", ["]", ""])
def test_broken_text_costs_its_event(
    tmp_path: Path, odd: str | bytes, place: tuple[int, int], why: str, end: str
) -> None:
    odd = odd if isinstance(odd, bytes) else odd.encode()
    more = {**X, "name": "b", "args": {"list": [{"a": 1}, {"b": 2}]}}
    path = write(tmp_path, f"[{WHOLE},\n".encode() + odd + f",\n{json.dumps(more)},{WHOLE}{end}".encode())
    look = look_at_timeline(path)
    (found, *cut) = look.findings
    assert (found.rule, found.pointer) == ("timeline-event", "/1")
    assert (found.line, found.column, found.message) == (*place, f"{why}; the event is left out")
    assert [one.rule for one in cut] == ([] if end else ["json-truncated"])
    assert rows(path, "name") == ["a", "b", "a"]
    assert (look.reported, look.events) == (1, 4)


@pytest.mark.parametrize("window", [64, 300, 1 << 20])
def test_damage_is_seen_alike_however_much_is_read_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, window: int
) -> None:
    events = [WHOLE] * 40
    events[7], events[9], events[20] = WHOLE[:-1], WHOLE[:-8], '{"ph":"X","name":"' + "x" * 500
    path = write(tmp_path, "[" + ",".join(events) + "]")
    whole = look_at_timeline(path)
    monkeypatch.setattr(json_list, "WINDOW_BYTES", window)
    assert look_at_timeline(path) == whole
    assert (whole.rows, whole.reported) == (37, 3)


# both ways of reading against each other, and against Python's own


def walked(path: Path) -> list[dict[str, Any]]:
    batches = list(batches_by_walking(path, look_by_walking(path).names, EVENTS_SCHEMA))
    return pa.Table.from_batches(batches, EVENTS_SCHEMA).to_pylist()


def parsed_args(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**row, "args": row["args"] and json.loads(row["args"])} for row in found]


@given(st.lists(st.one_of(tasks, flows, metadata), max_size=12).filter(no_surrogates), styles)
def test_both_ways_of_reading_agree(tmp_path: Path, events: list[dict[str, Any]], style: dict[str, Any]) -> None:
    path = write(tmp_path, json.dumps(events, **style))
    careful = look_by_walking(path)
    look = look_at_timeline(path)
    assert look.findings == careful.findings
    assert (look.phases, look.start_ns, look.end_ns, look.names) == (
        careful.phases, careful.start_ns, careful.end_ns, careful.names,
    )  # fmt: skip
    if look.plain:
        quickly = pa.Table.from_batches(stream_quickly(path, look.names, EVENTS_SCHEMA), EVENTS_SCHEMA).to_pylist()
        assert parsed_args(quickly) == parsed_args(walked(path))


@pytest.mark.slow
@given(st.lists(st.one_of(tasks, flows, metadata, bad), max_size=12).filter(no_surrogates))
def test_events_are_rows_or_metadata_or_reported(tmp_path: Path, events: list[Any]) -> None:
    if events and isinstance(events[0], dict) and "ph" not in events[0]:
        events = [X, *events]
    path = write(tmp_path, events)
    look = look_at_timeline(path)
    found = rows(path)
    assert look.events == len(events) == len(found) + look.metadata + look.reported
    assert look.reported == len(look.findings)
    usable = [event for event in events if f"/{events.index(event)}" not in {f.pointer for f in look.findings}]
    expected = [event for event in usable if event["ph"] != "M"]
    assert [row["name"] for row in found] == [event.get("name") for event in expected]
    assert [row["start_ns"] for row in found] == [
        int((Decimal(str(event["ts"])) * 1000).to_integral_value(ROUND_HALF_UP)) for event in expected
    ]


@pytest.mark.slow
@given(st.lists(st.one_of(tasks, metadata, bad), max_size=12).filter(no_surrogates))
def test_sums_are_those_of_the_frame(tmp_path: Path, events: list[Any]) -> None:
    path = write(tmp_path, [X, *events])
    by = ("process", "thread", "pid", "tid", "name", "category", "task_type")
    counts, sums = Counter(), Counter()
    for row in rows(path):
        if not row["stage_row"]:
            key = tuple(row[column] for column in by)
            counts[key] += 1
            sums[key] += row["duration_ns"]
    found = sum_durations(path, by)
    assert found.findings == look_at_timeline(path).findings
    assert {tuple(row[column] for column in by): row["count"] for row in found.frame.to_pylist()} == counts
    assert {tuple(row[column] for column in by): row["duration_ns"] for row in found.frame.to_pylist()} == sums
    assert sum(sum_durations(path, ()).frame["duration_ns"].to_pylist()) == sum(sums.values())


def is_json(data: bytes) -> bool:
    def refuse(_: str) -> None:
        raise ValueError

    try:
        return isinstance(json.loads(data.decode(), parse_constant=refuse), list)
    except ValueError:
        return False


def check_damage(folder: Path, data: bytes) -> None:
    path = write(folder, data)
    look, sums, frame = look_at_timeline(path), sum_durations(path), rows(path)
    assert len(frame) == look.rows
    assert sums.findings == look.findings
    tasks_of = [row["duration_ns"] for row in frame if row["ph"] == "X" and not row["stage_row"]]
    assert sum(sums.frame["duration_ns"].to_pylist()) == sum(tasks_of)
    if not is_json(data):
        assert "error" in {finding.severity for finding in look.findings} or [f.rule for f in look.findings] == ["timeline-comma"]  # fmt: skip


def whole_before(end: int) -> int:
    """How many events of TRACE end before some byte."""
    ends, at = [], 1
    for event in json.loads(TRACE):
        at += len(json.dumps(event, ensure_ascii=False).encode())
        ends.append(at)
        at += len(", ")
    return sum(at <= end for at in ends)


@pytest.mark.parametrize("form", ["{list}", '{{"displayTimeUnit": "ns", "traceEvents": {list}'])
def test_of_a_file_cut_anywhere_the_whole_events_are_used(tmp_path: Path, form: str) -> None:
    before, _ = form.format(list="|").encode().split(b"|")
    for end in range(len(TRACE)):
        path = write(tmp_path, before + TRACE[:end])
        (finding,) = look_at_timeline(path).findings
        assert finding.severity == "error"
        if end or not before:
            assert finding.rule == ("json-truncated" if end else "empty-file")
        used = [event for event in json.loads(TRACE)[: whole_before(end)] if event["ph"] != "M"]
        assert [row["name"] for row in rows(path)] == [event["name"] for event in used]
        assert sum(sum_durations(path).frame["duration_ns"].to_pylist()) == sum(1000 * event["dur"] for event in used if event["ph"] == "X")  # fmt: skip
        if before and whole_before(end):
            assert (finding.line, finding.column) == (1, len(before) + end + 1)


@given(st.integers(0, len(TRACE) - 1), st.integers(0, 255))
def test_a_changed_byte_ends_in_no_traceback(tmp_path: Path, at: int, byte: int) -> None:
    check_damage(tmp_path, TRACE[:at] + bytes([byte]) + TRACE[at + 1 :])


@pytest.mark.slow
@given(
    st.integers(0, len(TRACE)),
    st.one_of(st.binary(max_size=4), st.sampled_from([b"]", b"},", b"[", b'"', b"NaN", b"{}"])),
)
@example(at=212, more=b",")
def test_inserted_bytes_end_in_no_traceback(tmp_path: Path, at: int, more: bytes) -> None:
    check_damage(tmp_path, TRACE[:at] + more + TRACE[at:])


@given(st.binary(max_size=40))
def test_any_bytes_end_in_no_traceback(tmp_path: Path, data: bytes) -> None:
    check_damage(tmp_path, data)


LABELS = [
    {"name": "process_name", "ph": "M", "pid": 7, "tid": 0, "args": {"name": "Ascend Hardware"}},
    {"name": "thread_name", "ph": "M", "pid": 7, "tid": 1, "args": {"name": "Stream 4"}},
]
SUMMED = [
    *LABELS,
    {**X, "args": {"Task Type": "AI_CORE"}},
    {**X, "ts": "5.000", "dur": 3.5, "args": {"Task Type": "AI_CORE"}},
    {**X, "tid": 2, "dur": 4, "args": {"Task Type": "AI_CPU"}},
    {**X, "cat": "cpu_op", "dur": 8},
    {**X, "name": "b", "pid": 8, "dur": 16},
    {**X, "ph": "s", "id": 3, "cat": "HostToDevice"},
]


@pytest.mark.parametrize(
    ("columns", "sums"),
    [
        (("name",), {("a",): (4, 17_500), ("b",): (1, 16_000)}),
        (("pid", "name"), {("7", "a"): (4, 17_500), ("8", "b"): (1, 16_000)}),
        (("tid", "name"), {("1", "a"): (3, 13_500), ("2", "a"): (1, 4_000), ("1", "b"): (1, 16_000)}),
        (("category", "pid"), {(None, "7"): (3, 9_500), ("cpu_op", "7"): (1, 8_000), (None, "8"): (1, 16_000)}),
        (("task_type",), {("AI_CORE",): (2, 5_500), ("AI_CPU",): (1, 4_000), (None,): (2, 24_000)}),
    ],
)
def test_a_plain_file_is_summed_in_one_scan(
    tmp_path: Path, columns: tuple[str, ...], sums: dict[tuple[str | None, ...], tuple[int, int]]
) -> None:
    found = sum_durations(write(tmp_path, SUMMED), columns).frame.to_pylist()
    assert {tuple(row[column] for column in columns): (row["count"], row["duration_ns"]) for row in found} == sums


@pytest.mark.parametrize(("count", "fits"), [(8192, True), (8193, False)])
def test_a_sum_beyond_64_bits_is_left_out_aloud(tmp_path: Path, count: int, fits: bool) -> None:
    """Thirteen days each: 8192 of them fit, one more does not; what is short beside them is summed all the same."""
    long = [{**X, "name": "long", "ts": number, "dur": 1125899906842} for number in range(count)]
    sums = sum_durations(write(tmp_path, [*long, {**X, "name": "short"}]), ["name"])
    told = {row["name"]: (row["count"], row["duration_ns"]) for row in sums.frame.to_pylist()}
    assert told == {"short": (1, 2000), **({"long": (count, 1125899906842000 * count)} if fits else {})}
    said = f"the total duration of {count} events exceeds 64 bits of nanoseconds; they are left out"
    assert [finding.message for finding in sums.findings] == ([] if fits else [said])


@pytest.mark.parametrize(
    ("event", "why"),
    [
        (5, "not an event with a 'ph'"),
        ({**X, "ph": None}, "not an event with a 'ph'"),
        ({**X, "name": 5}, "'name' is not text"),
        ({**X, "ts": "soon"}, "'ts' is not a time"),
        ({**X, "dur": -1}, "'dur' is not a duration (>= 0)"),
        ({**X, "dur": "x"}, "'dur' is not a duration (>= 0)"),
        *(({**X, "args": value}, "'args' is not an object") for value in NO_OBJECTS),
        *(({**LABELS[0], "args": value}, "'args' is not an object") for value in NO_OBJECTS),
        ({"ph": "s", "name": "f", "id": 1, "ts": 1, "args": []}, "'args' is not an object"),
        ({key: value for key, value in X.items() if key != "ts"}, "a task without name, ts or dur"),
        ({key: value for key, value in X.items() if key != "dur"}, "a task without name, ts or dur"),
        ({key: value for key, value in X.items() if key != "name"}, "a task without name, ts or dur"),
    ],
)  # fmt: skip
def test_why_an_event_cannot_be_used_is_said(tmp_path: Path, event: object, why: str) -> None:
    path = write(tmp_path, [X, event])
    looks = (look_at_timeline(path), look_by_walking(path))
    assert [[one.message for one in look.findings] for look in looks] == [[f"{why}; the event is left out"]] * 2
    for columns in (("name",), ("name", "args"), ("name", "stream_id")):
        assert len(rows(path, *columns)) == 1
        found = collect_events(path, columns, Kept)
        assert [one.message for one in found[0].findings] == [f"{why}; the event is left out"]
        assert sum(kept.rows for kept in found[1]) == 1
    assert sum_durations(path, ("name",)).frame["count"].to_pylist() == [1]


class Kept:
    """Counts rows."""

    def __init__(self) -> None:
        self.rows = 0

    def add(self, batch: pa.RecordBatch) -> None:
        self.rows += batch.num_rows


@pytest.mark.parametrize("count", [EXAMPLES_PER_RULE, EXAMPLES_PER_RULE + 1, EXAMPLES_PER_RULE + 7])
def test_of_many_events_that_cannot_be_used_the_rest_is_counted(tmp_path: Path, count: int) -> None:
    look = look_at_timeline(write(tmp_path, [X, *[5] * count]))
    rest = count - EXAMPLES_PER_RULE
    said = ["not an event with a 'ph'; the event is left out"] * EXAMPLES_PER_RULE
    said += [f"and {rest} more events that cannot be used"] * (rest > 0)
    assert [one.message for one in look.findings] == said
    assert [one.pointer for one in look.findings] == [f"/{place + 1}" for place in range(len(said))]
    assert (look.events, look.reported, look.rows) == (count + 1, count, 1)


@pytest.mark.parametrize(("dur", "fits"), [("1125899906842.5", True), ("1125899906843", False), ("1e15", False)])
def test_nothing_takes_longer_than_thirteen_days(tmp_path: Path, dur: str, fits: bool) -> None:
    path = write(tmp_path, f'[{json.dumps(X)}, {{"name": "b", "pid": 7, "tid": 1, "ts": 1, "dur": {dur}, "ph": "X"}}]')
    for look in (look_at_timeline(path), look_by_walking(path)):
        assert [one.message for one in look.findings] == ["'dur' is not a duration (>= 0); the event is left out"] * (
            not fits
        )
    long = [1_125_899_906_842_500] if fits else []
    assert rows(path, "duration_ns") == [2000, *long]
    assert sorted(sum_durations(path, ("name",)).frame["duration_ns"].to_pylist()) == [2000, *long]
