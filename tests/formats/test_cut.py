"""A cut holds every event that reaches into its time as it stands in the file, no other one, and no flow with one end."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_events import TRACE, X, bad, flows, metadata, no_surrogates, styles, tasks, write

from aoe_reports.formats.native import library
from aoe_reports.formats.trace import native
from aoe_reports.formats.trace.cutting import texts
from aoe_reports.formats.trace.cutting.beside import Processes, Renamed, members, moved
from aoe_reports.formats.trace.cutting.cut import Cut
from aoe_reports.formats.trace.cutting.survey import ALWAYS, Survey, ranges_at_a_glance, survey
from aoe_reports.formats.trace.cutting.texts import read_texts
from aoe_reports.formats.trace.events import look_at_timeline
from aoe_reports.formats.trace.shape import OddFileError
from aoe_reports.formats.trace.walk import Metadata, Row, as_text, walk_events
from aoe_reports.model.errors import ReadError

ends = st.one_of(st.integers(0, 10**12), st.integers(0, 2 * 10**18), st.just(1690000000123456750))
near = st.integers(-5_000, 5_000)


def cut_lines(path: Path, start: int, end: int) -> tuple[list[bytes], list[bytes], list[Any]]:
    """(metadata, events) of a cut, a line each; the findings."""
    with closing(Cut(start, end)) as cut:
        told = cut.read(path)
        cut.pair_flows()
        lines = ([line.rstrip(b"\n") for line in cut.metadata()], lines_in(cut.events()))
    return *lines, [finding for finding, _ in told.findings]


def lines_in(blocks: Iterable[bytes]) -> list[bytes]:
    return [line for line in b"".join(blocks).split(b"\n") if line]


def value(text: str | bytes) -> Any:
    return json.loads(text, parse_float=Decimal)


def reaches_in(row: Row, start: int, end: int) -> bool:
    begins = row.start_ns
    lasts = begins is not None and (begins >= start or begins + (row.duration_ns or 0) > start)
    return begins is not None and begins < end and lasts


def key_of(event: dict[str, Any]) -> str:
    return json.dumps([event.get("cat"), event.get("name"), event.get("id")])


def expected(path: Path, start: int, end: int) -> tuple[list[Any], list[Any], list[Any]]:
    """(metadata, events, flows) that belong into a cut, by reading event by event."""
    elements = value(path.read_text(encoding="utf-8"))
    kept, flowing, named = [], [], []
    for index, event in walk_events(path):
        if isinstance(event, Metadata):
            named.append(elements[index])
        elif isinstance(event, Row) and reaches_in(event, start, end):
            (flowing if event.phase in "stf" else kept).append(elements[index])
    phases = defaultdict(set)
    for one in flowing:
        phases[key_of(one)].add(one["ph"])
    flowing = [one for one in flowing if "s" in (mine := phases[key_of(one)]) and len(mine) > 1]
    threads = {(as_text(one.get("pid")), as_text(one.get("tid"))) for one in [*kept, *flowing]}
    metadata = []
    for one in named:
        pid, tid = as_text(one.get("pid")), as_text(one.get("tid"))
        wanted = (pid, tid) in threads if one["name"] == "thread_name" else pid in {pid for pid, _ in threads}
        if wanted and repr(one) not in map(repr, metadata):  # alike as it stands: in the same order, too
            metadata.append(one)
    return metadata, kept, flowing


def check(path: Path, start: int, end: int) -> None:
    names, events, findings = cut_lines(path, start, end)
    metadata, kept, flowing = expected(path, start, end)
    assert [value(line) for line in names] == metadata
    assert [value(line) for line in events[: len(kept)]] == kept
    assert sorted(map(str, map(value, events[len(kept) :]))) == sorted(map(str, flowing))
    assert findings == list(look_at_timeline(path).findings)


WAYS = [0, 1 << 20, 64]
"""By the compiled reader, and window by window of so many bytes."""


@pytest.fixture(params=WAYS)
def _windows(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param:
        monkeypatch.setattr(texts, "keep_natively", refused)
        monkeypatch.setattr(texts, "library", lambda: None)
        monkeypatch.setattr(texts, "WINDOW_BYTES", request.param)
    elif library() is None:
        pytest.skip("no compiled reader")


def refused(*_: object) -> None:
    raise OddFileError


@pytest.mark.slow
@pytest.mark.usefixtures("_windows")
@given(st.lists(st.one_of(tasks, flows, metadata), max_size=12).filter(no_surrogates), styles, ends, ends)
def test_what_reaches_in_is_there_as_it_stands_in_the_file(
    tmp_path: Path, events: list[dict[str, Any]], style: Any, start: int, end: int
) -> None:
    path = write(tmp_path, json.dumps(events, **style))
    check(path, min(start, end), max(start, end))
    source = path.read_bytes()
    lines = cut_lines(path, 0, 2**61)[1]
    assert all(line in source for line in lines) or style.get("indent")


@pytest.mark.slow
@pytest.mark.usefixtures("_windows")
@given(st.lists(tasks, min_size=1, max_size=6).filter(no_surrogates), near, near, st.data())
def test_the_ends_of_the_time_are_exact_to_a_nanosecond(
    tmp_path: Path, events: list[dict[str, Any]], before: int, after: int, data: st.DataObject
) -> None:
    path = write(tmp_path, events)
    rows = [row for _, row in walk_events(path) if isinstance(row, Row)]
    times = [row.start_ns + more for row in rows for more in (0, row.duration_ns) if None not in (row.start_ns, more)]  # type: ignore[operator]
    one, other = (data.draw(st.sampled_from(times or [0])) for _ in range(2))
    start, end = sorted((one + before, other + after))
    check(path, start, end)
    check(path, one, one + 1)


@pytest.mark.usefixtures("_windows")
@given(st.lists(st.one_of(tasks, flows, metadata, bad), max_size=12).filter(no_surrogates), ends, ends)
def test_events_that_cannot_be_used_are_left_out_and_told(
    tmp_path: Path, events: list[Any], start: int, end: int
) -> None:
    check_damaged(write(tmp_path, events), min(start, end), max(start, end))


@pytest.mark.usefixtures("_windows")
@given(st.integers(0, len(TRACE) - 1), st.integers(0, 255))
def test_a_changed_byte_is_found_as_by_the_other_readers(tmp_path: Path, at: int, byte: int) -> None:
    check_damaged(write(tmp_path, TRACE[:at] + bytes([byte]) + TRACE[at + 1 :]), 0, 2**61)


@pytest.mark.usefixtures("_windows")
@given(
    st.integers(0, len(TRACE)),
    st.sampled_from(
        [b"]", b"},", b"[", b'"', b"NaN", b"{}", b":inf", b"true", b"1e3", b"\xff", b"},{", b",}", b" , ", b",\n"]
    ),
)
def test_inserted_bytes_are_found_as_by_the_other_readers(tmp_path: Path, at: int, more: bytes) -> None:
    check_damaged(write(tmp_path, TRACE[:at] + more + TRACE[at:]), 0, 2**61)


def check_damaged(path: Path, start: int, end: int) -> None:
    """The findings are those of a look; nothing is handed out that is no JSON, and of what is no list nothing."""
    names, events, findings = cut_lines(path, start, end)
    look = look_at_timeline(path)
    assert findings == list(look.findings)
    every = [value(line) for line in [*names, *events]]
    assert look.usable or every == []
    assert all(isinstance(event, dict) and event.get("ph") for event in every)
    rows = [row for _, row in walk_events(path) if isinstance(row, Row)] if look.usable else []
    inside = [row for row in rows if row.phase not in "stf" and reaches_in(row, start, end)]
    assert len([event for event in every if event["ph"] not in "Mstf"]) == len(inside)


@pytest.mark.parametrize("pid", [7.5, True, [1], {"a": 1}])
def test_whatever_a_process_is_called_by_its_events_are_kept(tmp_path: Path, pid: Any) -> None:
    named = {"ph": "M", "name": "process_name", "pid": pid, "args": {"name": "CANN"}}
    inside = [{**event(phase, us, cat="c", id=1), "pid": pid} for phase, us in (("B", 1), ("s", 2), ("f", 3), ("E", 4))]
    names, events, findings = cut_lines(write(tmp_path, [named, *inside]), 0, 10_000)
    look = look_at_timeline(tmp_path / "trace_view.json")
    assert findings == list(look.findings)
    assert len(names) + len(events) == (0 if not look.usable else sum(look.phases.values()))


@pytest.mark.usefixtures("_windows")
@pytest.mark.parametrize("place", range(4))
def test_a_key_that_stands_twice_is_found_as_by_the_other_readers(tmp_path: Path, place: int) -> None:
    named = {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "CANN"}}
    told = [json.dumps(one) for one in (named, event("B", 1), event("E", 4), event("X", 2, dur=1))]
    told[place] = told[place].replace('"pid": 1', '"pid": 1, "pid": 1')
    check_damaged(write(tmp_path, f"[{','.join(told)}]"), 0, 2**61)


@pytest.mark.usefixtures("_windows")
@pytest.mark.parametrize("phase", ["X", "C", "s"])
@pytest.mark.parametrize(
    "twice", ['"ts": 90000', '"ph": "X"', '"dur": 5', '"id": 7', '"args": {}', '"other": 1, "other": 1']
)
def test_a_key_that_stands_twice_in_any_event_is_told_and_the_event_left_out(
    tmp_path: Path, phase: str, twice: str
) -> None:
    odd = json.dumps({**event(phase, 2, dur=1), "id": 3, "args": {"n": 1}})
    odd = odd.replace('"ph"', f'{twice}, "ph"')
    names, events, findings = cut_lines(write(tmp_path, f"[{json.dumps(event('i', 1))},{odd}]"), 0, 9_000)
    assert (names, [value(line)["ph"] for line in events]) == ([], ["i"])
    (found,) = findings
    assert (found.rule, found.pointer) == ("timeline-event", "/1")
    assert "appears twice" in found.message


def event(phase: str, us: int, **more: Any) -> dict[str, Any]:
    return {"ph": phase, "name": more.pop("name", "a"), "pid": 1, "tid": 1, "ts": us, **more}


def kept(tmp_path: Path, events: list[dict[str, Any]], start_us: int, end_us: int) -> list[dict[str, Any]]:
    path = write(tmp_path, events)
    return [json.loads(line) for line in cut_lines(path, start_us * 1000, end_us * 1000)[1]]


def test_what_begins_before_and_ends_after_is_kept_with_both_of_its_ends_in_order(tmp_path: Path) -> None:
    outer = [event("B", 0, name="outer"), event("E", 100, name="outer")]
    inner = [event("B", 40, name="inner"), event("E", 60, name="inner")]
    early = [event("B", 1, name="early"), event("E", 20, name="early")]
    late = [event("B", 80), event("E", 90)]
    found = kept(tmp_path, [outer[0], *early, *inner, *late, outer[1]], 50, 55)
    assert found == [outer[0], *inner, outer[1]]


def test_what_never_ends_lasts_and_what_never_began_is_a_moment(tmp_path: Path) -> None:
    assert kept(tmp_path, [event("B", 1)], 50, 60) == [event("B", 1)]
    assert kept(tmp_path, [event("B", 70)], 50, 60) == []
    assert kept(tmp_path, [event("E", 55)], 50, 60) == [event("E", 55)]
    assert kept(tmp_path, [event("E", 65)], 50, 60) == []


def test_asynchronous_events_are_paired_by_their_id_not_their_thread(tmp_path: Path) -> None:
    one = [event("b", 0, id="1", cat="c"), event("e", 100, id="1", cat="c", tid=2)]
    other = [event("b", 1, id="2", cat="c"), event("e", 10, id="2", cat="c")]
    assert kept(tmp_path, [one[0], *other, one[1]], 50, 60) == one


def test_too_much_that_never_ends_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aoe_reports.formats.trace.cutting.cut._MAX_OPEN", 3)
    with pytest.raises(ReadError, match="more than 3 events begin that have not ended"):
        kept(tmp_path, [event("B", number) for number in range(5)], 0, 10)


def test_an_arrow_with_an_end_outside_is_left_out_and_one_to_two_tasks_keeps_those_inside(tmp_path: Path) -> None:
    def flow(phase: str, us: int, number: int) -> dict[str, Any]:
        return event(phase, us, id=str(number), cat="HostToDevice")

    inside = [flow("s", 51, 1), flow("f", 52, 1), flow("s", 53, 2), flow("f", 54, 2)]
    outside = [flow("f", 99, 2), flow("s", 55, 3), flow("f", 99, 3), flow("s", 1, 4), flow("f", 56, 4)]
    found = kept(tmp_path, [*outside, *inside], 50, 60)
    assert sorted(found, key=lambda one: one["ts"]) == inside


def test_a_line_end_in_an_event_is_a_blank_in_the_cut(tmp_path: Path) -> None:
    events = [
        {**X, "args": {"a": [1, 2]}},
        {**X, "ph": "s", "id": 1},
        {**X, "ph": "f", "id": 1},
        event("B", 1),
        event("E", 2),
    ]
    path = write(tmp_path, json.dumps(events, indent=2).replace("\n", "\r\n").encode())
    with closing(Cut(0, 10**6)) as cut:
        cut.read(path)
        cut.pair_flows()
        blocks = list(cut.events())
        renamed = list(Renamed("after", 1, 5_000, Processes()).events(blocks))
    lines = lines_in(blocks)
    assert sorted(map(str, map(json.loads, lines))) == sorted(map(str, events))
    assert {json.loads(line)["pid"] for line in lines_in(renamed)} == {1, 2}


@given(st.dictionaries(st.text(max_size=5), st.recursive(st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=5)), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3), max_leaves=8), max_size=5), styles)  # fmt: skip
def test_members_of_an_object_are_found_whatever_is_inside_of_them(data: dict[str, Any], style: Any) -> None:
    text = json.dumps(data, **style).encode(errors="surrogatepass")
    found = {json.loads(key): text[start:end] for key, start, end in members(text)}
    assert {key: json.loads(part) for key, part in found.items()} == data
    assert all(part == part.strip() for part in found.values())


@given(st.integers(0, 2 * 10**18), st.integers(-(10**18), 10**18), st.booleans())
def test_a_moved_time_is_exact(ns: int, shift: int, quoted: bool) -> None:
    us = f"{ns // 1000}.{ns % 1000:03d}"
    text = moved(f'"{us}"'.encode() if quoted else us.encode(), shift) or b""
    assert text.startswith(b'"') == quoted
    assert Decimal(text.strip(b'"').decode()) * 1000 == ns + shift


def test_a_moved_time_keeps_digits_beyond_a_nanosecond() -> None:
    assert moved(b"1690000000123456.7512", 1) == b"1690000000123456.7522"
    assert moved(b"1e3", 5000) == b"1005.000"
    assert moved(b'" 12 "', 1) == b'"12.001"'
    assert moved(b"0." + b"1" * 90, 2000) == b"2." + b"1" * 90


@pytest.mark.parametrize("text", [b"null", b'"x"', b"true", b'"nan"', b"1e99", b"[1]"])
def test_what_is_no_time_is_not_moved(text: bytes) -> None:
    assert moved(text, 5) is None


def test_only_process_flow_and_time_of_an_event_are_replaced() -> None:
    text = rb'{"name":"\u7b97 \"pid\":9","args":{"pid":7,"ts":"1.5","id":1e400}, "pid" : 7 ,"ts":"1.500","id":"5","ph":"s"}'
    processes = Processes()
    processes.take([1, 2, "3"])
    renamed = Renamed("after", 1, 250, processes)
    (block,) = renamed.events([text + b"\n"])
    start = rb'{"name":"\u7b97 \"pid\":9","args":{"pid":7,"ts":"1.5","id":1e400}, "pid" : 4 ,"ts":"1.750","id":"'
    assert block.startswith(start)
    assert block.endswith(b'","ph":"s"}\n')
    assert json.loads(block)["id"] != json.loads(next(Renamed("after", 2, 0, processes).events([text + b"\n"])))["id"]


@given(st.lists(st.one_of(tasks, flows, metadata), max_size=8).filter(no_surrogates), styles, st.data())
def test_ranges_at_a_glance_are_those_of_a_look(
    tmp_path: Path, events: list[dict[str, Any]], style: Any, data: st.DataObject
) -> None:
    for one in [one for one in events if one["ph"] == "X"]:
        if data.draw(st.booleans()):
            one["name"] = f"Step#{data.draw(st.integers(0, 9))}"
            one["args"] = {"name": "Step#7", "more": {"ph": "i", "name": "Step#8"}}
    path = write(tmp_path, json.dumps(events, **style))
    every, told = read_texts(path, lambda: Survey("Step#"), ALWAYS)
    assert every is None or set(ranges_at_a_glance(path, "Step#")) == set(every.ranges)
    quick, told_quickly = survey(path, "Step#", 3)
    assert told_quickly.findings == told.findings
    assert times_told(quick) == times_told(every)


def times_told(found: Survey | None) -> Any:
    return found and (found.start_ns, found.end_ns, found.ranges)


@pytest.mark.skipif(library() is None, reason="no compiled reader")
def test_a_part_of_a_plain_file_is_picked_up_by_the_compiled_reader(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(texts, "_walked_windows", refused)
    monkeypatch.setattr(texts, "_plain_windows", all_at_once)
    path = write(tmp_path, [{**X, "ts": number, "name": f"n{number}"} for number in range(1000)])
    assert [value(line)["name"] for line in cut_lines(path, 17_000, 20_000)[1]][:3] == ["n16", "n17", "n18"]
    monkeypatch.setattr(native, "_ALWAYS_KEPT_BYTES", 0)
    with pytest.raises(LookupError):  # all of it would be looked at twice
        cut_lines(path, 0, 2**61)


def all_at_once(*_: object) -> None:
    raise LookupError


def test_a_range_on_the_edge_of_a_block_is_seen_at_a_glance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    events = [{**X, "name": f"Step#{number}", "args": {"text": "算" * 20}} for number in range(50)]
    path = write(tmp_path, json.dumps(events, ensure_ascii=False))
    monkeypatch.setattr("aoe_reports.formats.trace.cutting.survey._EVENT_BYTES", 400)
    for size in (1, 7, 64, 100, 5000):
        monkeypatch.setattr("aoe_reports.formats.trace.cutting.survey._BLOCK_BYTES", size)
        assert [name for name, _, _ in ranges_at_a_glance(path, "Step#")] == [event["name"] for event in events]
