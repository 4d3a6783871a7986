"""Records as files and stored rows hold them: what comes back is what was there, and what is no such thing is left out."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from commandline import FIXTURES

from aoe_reports.formats.records.files import read_records
from aoe_reports.formats.records.from_document import own_run_of, record_of_document
from aoe_reports.formats.records.identity import Member, content_hash_of, run_id_of
from aoe_reports.formats.records.payloads import (
    MAX_DEPTH,
    WORDS,
    NotDecodableError,
    RecordedChange,
    body_of,
    decode,
    fits_body,
    is_night,
    is_number,
    members_of,
    number_in,
    object_in,
    text_in,
    unfit_names,
    verdict_of,
)
from aoe_reports.formats.records.record import OURS, Record
from aoe_reports.formats.records.row import record_of_row, row_of_record
from aoe_reports.model.errors import LeftOutWarning

GOOD = json.loads(next((FIXTURES / "records" / "valid").glob("*.json")).read_text())
EXACT = '{"timestamp": 1572282699.600123456}'


def read(tmp_path: Path, text: str, name: str = "r.json", most: int | None = None) -> tuple[list[Any], list[Any]]:
    path = tmp_path / name
    path.write_text(text)
    findings: list[Any] = []
    return list(read_records(path, findings, most)), [
        (one.rule, one.severity, one.line, one.column) for one in findings
    ]


def test_entries_of_a_list_know_their_place_and_every_digit_of_their_time(tmp_path: Path) -> None:
    found, wrong = read(tmp_path, f'[{EXACT}, 3, {{"timestamp": "x"}}, {{"timestamp": 1572282700.25}}]')
    assert [(one.pointer, one.line, one.timestamp) for one in found] == [
        ("/0", None, Decimal("1572282699.600123456")),
        ("/1", None, None),
        ("/2", None, "x"),
        ("/3", None, Decimal("1572282700.25")),
    ]
    assert wrong == []


def test_lines_are_read_one_by_one(tmp_path: Path) -> None:
    text = f'{EXACT}\n\n  \n{{"timestamp": 1}}\n{{"a": 1, "a": 2}}\n{{"a" 1}}\n{{"a": \n3'
    found, wrong = read(tmp_path, text, "r.jsonl")
    assert [(one.pointer, one.line, one.timestamp) for one in found] == [
        ("", 1, Decimal("1572282699.600123456")),
        ("", 4, 1),
        ("", 8, None),
    ]
    assert [(rule, severity, line) for rule, severity, line, _ in wrong] == [
        ("json-duplicate-key", "error", 5),
        ("json-syntax", "error", 6),
        ("json-truncated", "error", 7),
    ]


def test_one_record_is_a_file_too(tmp_path: Path) -> None:
    (one,), wrong = read(tmp_path, EXACT)
    assert (one.pointer, one.line, one.timestamp, wrong) == ("", None, Decimal("1572282699.600123456"), [])
    assert read(tmp_path, '{"a":\n 1, }')[1] == [("json-syntax", "error", 2, 5)]
    assert read(tmp_path, "[NaN]")[0] == []


@pytest.mark.parametrize(("most", "is_read"), [(len(EXACT), True), (len(EXACT) - 1, False), (None, True)])
def test_a_file_is_read_up_to_its_limit(tmp_path: Path, most: int | None, is_read: bool) -> None:
    found, wrong = read(tmp_path, EXACT, most=most)
    assert (len(found), [rule for rule, *_ in wrong]) == ((1, []) if is_read else (0, ["json-too-large"]))


@pytest.mark.parametrize(
    ("text", "kind"), [(None, Any), ("", Any), ("{", Any), ("[1]", dict), ('"x"', int), ("1" * 5000, int)]
)
def test_what_is_not_of_its_type_is_not_decoded(text: str | None, kind: Any) -> None:
    with pytest.raises(NotDecodableError):
        decode(text, kind)
    assert decode("[1]", list[int]) == [1]


@pytest.mark.parametrize(("depth", "is_read"), [(MAX_DEPTH, True), (MAX_DEPTH + 1, False)])
@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
def test_a_text_is_nested_up_to_a_depth(depth: int, is_read: bool, opening: str, closing: str) -> None:
    text = opening * depth + "1" + closing * depth
    if is_read:
        decode(text)
    else:
        with pytest.raises(NotDecodableError, match="deeper than 220"):
            decode(text)
    wide = "[" + ",".join(["[]"] * 2 * depth) + "]"
    assert len(decode(wide)) == 2 * depth
    assert decode(json.dumps("[" * 2 * depth)) == "[" * 2 * depth


@pytest.mark.parametrize(
    ("night", "is_one"),
    [("2026-01-31", True), ("2026-02-29", False), ("2024-02-29", True), ("20260131", False), ("2026-1-31", False), ("1678-01-01", True), ("1677-12-31", False), ("2262-04-11", True), ("2262-04-12", False), (20260131, False), (None, False)],
)  # fmt: skip
def test_a_night_is_a_date_that_can_be_stored(night: object, is_one: bool) -> None:
    assert is_night(night) is is_one


@pytest.mark.parametrize(
    ("value", "is_one"),
    [(2**63 - 1, True), (2**63, False), (-(2**63) + 1, True), (-(2**63), False), (True, False), (1.5, True), (float("inf"), False), (float("-inf"), False), (float("nan"), False), ("1", False), (None, False)],
)  # fmt: skip
def test_a_number_is_one_that_every_json_takes(value: Any, is_one: bool) -> None:
    assert is_number(value) is is_one
    assert number_in({"a": value}, "a") == (value if is_one else None)
    assert text_in({"a": value}, "a") == (value if isinstance(value, str) else None)


def nested(depth: int) -> Any:
    return 1 if not depth else [nested(depth - 1)]


@pytest.mark.parametrize(
    ("body", "unfit"),
    [
        ({"modified": 3, "change": 0.5, "who": "me", "reason": None}, []),
        ({"modified": "3", "who": 4, "ids": ["a"], "failed_operators": "x"}, ["modified", "who", "failed_operators"]),
        ({"anything": {"a": [1, None, "x", True]}}, []),
        ({"deep": nested(20), "deeper": nested(21)}, ["deeper"]),
        ({"large": 2**63, "larger": 10**400}, ["larger"]),
        ({"summary": {"a": 1}, "modifications": [{"name": "a", "unit": "us", "before": 1, "after": None}]}, []),
        ({"summary": {"a": "1"}, "modifications": [{"name": "a"}]}, ["summary", "modifications"]),
    ],
)  # fmt: skip
def test_of_a_body_only_what_is_as_it_was_written_is_used(body: dict[str, Any], unfit: list[str]) -> None:
    text = json.dumps(body)
    assert unfit_names(text) == unfit
    assert body_of(text).keys() == body.keys() - unfit
    assert fits_body({name: value for name, value in body.items() if name not in {*unfit, "large"}})
    assert not unfit or not fits_body(body)


@pytest.mark.parametrize("text", [None, "", "[]", "3"])
def test_what_is_no_object_says_nothing(text: str | None) -> None:
    assert unfit_names(text) is None
    assert body_of(text) == {}


@pytest.mark.parametrize(
    ("before", "after", "claimed", "kept"),
    [(100.0, 50.0, -0.5, True), (100.0, 50.0, -0.4, False), (None, 50.0, -0.4, True), (0.0, 50.0, -0.4, False), (100.0, 50.0, None, True)],
)  # fmt: skip
def test_a_verdict_tells_one_claim(before: float | None, after: float, claimed: float | None, kept: bool) -> None:
    body = {"claimed_before_us": before, "claimed_after_us": after, "claimed_change": claimed}
    told = verdict_of(json.dumps(body))
    assert told == (body if kept else {**body, "claimed_before_us": None, "claimed_after_us": None})


def test_an_object_of_a_column_that_is_none_is_left_out_aloud() -> None:
    assert object_in({"a": '{"b": 1}'}, "a") == {"b": 1}
    assert object_in({"a": "{}"}, "a") == object_in({"a": None}, "a") == object_in({}, "a") == {}
    with pytest.warns(LeftOutWarning, match="a of a row about r cannot be used"):
        assert object_in({"a": "[]", "run_id": "r", "workload": "w"}, "a") == {}
    with pytest.warns(LeftOutWarning, match="about w cannot"):
        object_in({"a": "[]", "run_id": "", "workload": "w"}, "a")


FOUND = {"position": 0, "since": "2026-01-01", "since_run": None, "before": 1, "after": 2, "ci_low": -1, "ci_high": 0.5, "before_nights": 0, "after_nights": 0, "reach": 0, "until": None, "incident": "i", "found": "2026-01-02", "memory": 0}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "fits"),
    [
        ({}, True), ({"position": -1}, False), ({"ci_low": -1.001}, False), ({"ci_high": -1}, True), ({"before_nights": -1}, False),
        ({"after_nights": -1}, False), ({"reach": -1}, False), ({"memory": 0.999}, True), ({"memory": 1}, False), ({"memory": -0.1}, False),
        ({"since": "2026-02-30"}, False), ({"until": "x"}, False), ({"until": "2026-03-01"}, True), ({"found": "2026"}, False),
        ({"seen": None}, True), ({"seen": {"since": "x", "since_run": None, "metadata": None}}, False), ({"seen": {"since": "2026-01-01", "since_run": None, "metadata": [{"name": "a", "before": None, "after": "b"}]}}, True),
    ],
)  # fmt: skip
def test_a_change_that_was_found_is_within_its_limits(change: dict[str, Any], fits: bool) -> None:
    text = json.dumps(FOUND | change)
    if fits:
        assert isinstance(decode(text, RecordedChange), RecordedChange)
    else:
        with pytest.raises(NotDecodableError):
            decode(text, RecordedChange)
    assert set(WORDS) == {"acknowledged", "expected", "revoked", "tag"}


def test_a_run_has_members() -> None:
    member = Member("i", "c", 3, named=True)
    assert members_of(json.dumps([list(member)])) == (member,)
    for text in ("[]", "[[1, 2, 3, true]]", f'[["i", "c", {2**63}, true]]', None):
        with pytest.raises(NotDecodableError):
            members_of(text)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [(("i", "c", True), ("i", "d", True), True), (("i", "c", True), ("j", "c", True), False), (("i", "c", False), ("j", "c", True), True), (("i", "c", True), ("j", "c", False), True), (("i", "c", False), ("j", "d", False), False)],
)  # fmt: skip
def test_members_are_versions_of_one(one: tuple[Any, ...], other: tuple[Any, ...], same: bool) -> None:
    first, second = (Member(identity, content, 1, named=named) for identity, content, named in (one, other))
    assert first.same_as(second) is second.same_as(first) is same


def test_names_of_runs_sort_as_their_times() -> None:
    assert run_id_of(1_767_225_600_999_999_999, "abcdef0123456789") == "20260101T000000-abcdef01"
    assert run_id_of(1_767_225_601_000_000_000, "abcdef0123456789") == "20260101T000001-abcdef01"
    assert content_hash_of(["a", "b"]) == content_hash_of(["b", "a"]) != content_hash_of(["ab"])


@pytest.mark.parametrize(
    "change",
    [{}, {"runtime_raw": [{"runtime_ms": 1.5}]}, {"more": [1, {"a": None}]}, {"metadata": {"a": 1, OURS: {"x": 1}}}, {"timestamp": "2019-11-23T00:34:11Z"}, {"runtime_ms_std": None}, {"engine_version": None}],
)  # fmt: skip
def test_a_foreign_record_comes_back_from_its_row(change: dict[str, Any]) -> None:
    document = {**GOOD, **change}
    if change.get("engine_version", "") is None:
        document.pop("metrics", None)
        document.pop("engine_version", None)
    record = record_of_document(document, 5, "net")
    assert isinstance(record, Record)
    assert (record.source, record.timestamp_ns, record.model, record.run_id) == ("foreign", 5, "net", "")
    assert record_of_row(row_of_record(record)) == record
    assert record.as_json() == document
    assert own_run_of(document) is None


def test_a_row_that_is_not_as_it_was_written_is_no_record() -> None:
    row = row_of_record(record_of_document({**GOOD, "more": 1}, 5))
    for beyond in ({"extra": 3}, {"absent": ["workload"]}, {"extra": {"workload": "x"}}):
        with pytest.raises(NotDecodableError):
            record_of_row({**row, "metadata": json.dumps({OURS: beyond})})


OWN = {"run_id": "20260101T000000-abcdef01", "timestamp_ns": 5, "model": "net", "scope": "step", "source": "msprof"}
RUN = {"kind": "profile", "night": "2026-01-01", "status": "ok", "members": [["i", "c", 1, True]], "normaliser_version": 1}  # fmt: skip


@pytest.mark.parametrize(
    ("own", "run", "is_ours"),
    [({}, {}, True), ({}, {"kind": "foreign"}, False), ({}, {"night": "x"}, False), ({}, {"members": []}, False), ({}, {"normaliser_version": None}, False), ({}, {"body": {"who": 3}}, False), ({"source": "foreign"}, {}, False), ({"run_id": "x"}, {}, False), ({"timestamp_ns": -1}, {}, False)],
)  # fmt: skip
def test_a_record_of_ours_tells_of_its_run(own: dict[str, Any], run: dict[str, Any], is_ours: bool) -> None:
    document = {**GOOD, "metadata": {OURS: {**OWN, **own, "run": {**RUN, **run}}}}
    found = own_run_of(document)
    assert (found is not None) is is_ours
    record = record_of_document(document, 9)
    assert record.timestamp_ns == (9 if own else 5)


SAME_SERIES: list[dict[str, Any]] = [
    {"timestamp": 9.0, "timestamp_ns": 9 * 10**9},
    {"runtime_ms_mean": 99.0},
    {"engine_version": "another"},
    {"op_name": "b"},
    {"device_id": 3},
    {"engine_config": {"a": 1}},
    {"compilation_config": {"other": 1}},
    {"model": "another"},
]
OTHER_SERIES: list[dict[str, Any]] = [
    {"workload": "another"},
    {"source": "rocprof"},
    {"phase": "after"},
    {"hardware": "another"},
    {"engine": "another"},
    {"op_type": "Mul"},
    {"rank_id": 3},
    {"rank_id": None},
    {"workload_args": {"input_shapes": "9"}},
    {"compilation_config": {"tune_mode": "opat"}},
]
OURS_OF_A_RANK: dict[str, Any] = {
    "workload": "net/op/a", "engine": "cann", "hardware": "910B", "runtime_ms_mean": 1.0, "runtime_ms_std": None,
    "timestamp": 5.0, "timestamp_ns": 5 * 10**9, "source": "msprof", "scope": "op", "op_type": "Add", "op_name": "a",
    "rank_id": 0, "device_id": 0, "workload_args": {"input_shapes": "8"}, "run_id": "", "model": "net",
}  # fmt: skip


@pytest.mark.parametrize("change", SAME_SERIES)
def test_a_history_is_continued_by_what_is_measured_alike(change: dict[str, Any]) -> None:
    assert Record(**{**OURS_OF_A_RANK, **change}).series_id == Record(**OURS_OF_A_RANK).series_id


@pytest.mark.parametrize("change", OTHER_SERIES)
def test_another_history_is_one_of_something_else(change: dict[str, Any]) -> None:
    assert Record(**{**OURS_OF_A_RANK, **change}).series_id != Record(**OURS_OF_A_RANK).series_id


def test_devices_tell_histories_apart_where_no_rank_does() -> None:
    one, other = (Record(**{**OURS_OF_A_RANK, "rank_id": None, "device_id": device}) for device in (0, 1))
    assert one.series_id != other.series_id


@pytest.mark.parametrize("name", ["engine_config", "compilation_config", "runtime_config"])
def test_every_configuration_of_a_foreign_record_tells_its_history(name: str) -> None:
    foreign = {**OURS_OF_A_RANK, "source": "foreign"}
    assert Record(**{**foreign, name: {"a": 1}}).series_id != Record(**foreign).series_id
    assert Record(**{**OURS_OF_A_RANK, name: {"a": 1}}).series_id == Record(**OURS_OF_A_RANK).series_id
    assert len(Record(**foreign).series_id) == 16
