"""AOE result files: strict, with the printed digits."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from aoe_reports.formats.aoe.result_files import ResultFile, read_results
from aoe_reports.formats.aoe.results import outline_of, results_of_document
from aoe_reports.formats.sources.found import FileName
from aoe_reports.model.errors import ReadError

NAME = FileName("opat", "json", "aoe")


def read(tmp_path: Path, data: bytes) -> ResultFile:
    path = tmp_path / "aoe_result_opat.json"
    path.write_bytes(data)
    return read_results(path, NAME)


def test_the_printed_digits_are_kept(aoe: Path) -> None:
    path = next((aoe / "array_grouped").iterdir())
    result = read_results(path, NAME).results[0]
    assert [(m.name, m.before, m.after) for m in result.modifications][1] == (
        "head/poolhead/relu",
        Decimal("15.5"),
        Decimal("14.25"),
    )
    assert result.modifications[1].op_type == ("maxpool", "relu")
    assert result.modifications[2].update_mode == "update"
    assert result.summary["total_num"] == 10
    assert result.modifications[0].pointer == "/1/OPAT/repo_modified_operators/add_repo_operators/0"


def test_all_tasks_of_a_report_are_read_with_their_modes(aoe: Path) -> None:
    results = read_results(next((aoe / "report_flat").iterdir()), NAME).results
    assert [(r.container, r.body, len(r.modifications)) for r in results] == [
        ("report", "flat", 2),
        ("report", "grouped", 3),
    ]
    assert [m.mode for m in results[0].modifications] == ["Format", "Schedule"]


def test_every_cut_of_a_file_is_said_and_only_what_is_whole_is_there(aoe: Path, tmp_path: Path) -> None:
    whole = next((aoe / "array_grouped").iterdir()).read_bytes().rstrip()
    (complete,) = read(tmp_path, whole).results
    for cut in range(0, len(whole), 7):
        file = read(tmp_path, whole[:cut])
        assert [finding.rule for finding in file.findings] == ["json-truncated"], cut
        assert file.truncated
        for result in file.results:
            assert result.truncated
            assert not result.complete
            assert result.tuning_name in {None, complete.tuning_name}
            assert set(result.modifications) <= set(complete.modifications)
            assert result.summary.items() <= complete.summary.items()
            assert result.model_result_ms in {None, complete.model_result_ms}
            assert result.status in {None, complete.status}


def test_only_the_last_task_of_a_cut_report_is_unfinished(aoe: Path, tmp_path: Path) -> None:
    whole = next((aoe / "report_flat").iterdir()).read_bytes().rstrip()
    complete = read(tmp_path, whole).results
    second = whole.index(b"report_20260101020404005")
    for cut in range(second + 40, len(whole), 31):
        first, *rest = read(tmp_path, whole[:cut]).results
        assert first == complete[0]
        assert all(result.truncated for result in rest)
    for cut in (second - 4, second, second + 25):
        assert [result.truncated for result in read(tmp_path, whole[:cut]).results] in ([False], [False, True])


def test_a_cut_file_is_not_asked_for_what_it_cannot_know(aoe: Path, tmp_path: Path) -> None:
    from aoe_reports.rules.results.check import check_result_file

    whole = next((aoe / "array_grouped").iterdir()).read_bytes().rstrip()
    for cut in range(0, len(whole), 11):
        assert {f.rule for f in check_result_file(read(tmp_path, whole[:cut]))} <= {"json-truncated"}


@pytest.mark.parametrize("text", ["[NaN]", '[{"a": Infinity}]', "[1,]", "{'a': 1}", "[1] x", "[" * 5000])
def test_what_is_not_json_is_said_with_its_place(tmp_path: Path, text: str) -> None:
    file = read(tmp_path, text.encode())
    assert [finding.rule for finding in file.findings] == ["json-syntax"]
    assert file.findings[0].line == 1


def test_two_equal_report_keys_are_both_read(aoe: Path, tmp_path: Path) -> None:
    task = next((aoe / "array_grouped").iterdir()).read_text()
    file = read(tmp_path, f'{{"report_1_2": {task}, "report_1_2": {task}}}'.encode())
    assert [finding.rule for finding in file.findings] == ["json-duplicate-key"]
    assert len(file.results) == 2


def test_gb18030_and_a_byte_order_mark_are_read(tmp_path: Path) -> None:
    text = json.dumps([{"basic": {"tuning_name": "调优任务"}}], ensure_ascii=False)
    file = read(tmp_path, text.encode("gb18030"))
    assert [finding.rule for finding in file.findings] == ["json-encoding"]
    assert file.results[0].tuning_name == "调优任务"
    assert read(tmp_path, b"\xef\xbb\xbf" + text.encode()).findings == ()


@pytest.mark.parametrize(
    "document",
    [
        None,
        1,
        "x",
        [],
        {},
        [[]],
        [{}],
        [{"OPAT": 3}],
        {"report_1": 4},
        [{"basic": []}, {"OPAT": {"repo_modified_operators": [{"tune_performance": 3}], "repo_summary": []}}],
    ],
)
def test_wrong_shapes_never_raise(tmp_path: Path, document: object) -> None:
    from aoe_reports.rules.results.check import check_result_file

    file = read(tmp_path, json.dumps(document).encode())
    rules = {finding.rule for finding in check_result_file(file)}
    assert rules & {"schema", "segment-count"}


def test_a_task_in_which_a_key_stands_twice_gives_no_numbers(aoe: Path, tmp_path: Path) -> None:
    text = next((aoe / "report_flat").iterdir()).read_text()
    status = '"opat_tuning_result": "tuning successful",'
    first, second = read(
        tmp_path, text.replace(status, status + status.replace("successful", "failed"), 1).encode()
    ).results
    assert (first.ambiguous, first.complete) == (True, False)
    assert (second.ambiguous, second.complete) == (False, True)
    twice = text.replace("report_20260101020404005_140012345678902", "report_20260101020304005_140012345678901")
    assert [result.complete for result in read(tmp_path, twice.encode()).results] == [True, True]


@pytest.mark.parametrize("text", ['{"a": 1, "a": 2, "b": ', '[{"a": 1, "a": 2}, nul', '{"a": 1, "a": 2} x'])
def test_damage_behind_equal_keys_is_said(tmp_path: Path, text: str) -> None:
    assert {finding.rule for finding in read(tmp_path, text.encode()).findings} <= {"json-syntax", "json-truncated"}


def test_a_result_beyond_the_cap_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "aoe_result_opat_20260101020304005_pid4711.json"
    path.write_bytes(b"[" + b" " * 1000 + b"]")
    assert [finding.rule for finding in read_results(path, max_bytes=1001).findings] == ["json-too-large"]
    assert read_results(path, max_bytes=1002).findings == ()


def test_a_pipe_and_a_folder_are_errors_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    with pytest.raises(ReadError, match="not a file"):
        read_results(tmp_path / "pipe.json")
    with pytest.raises(ReadError):
        read_results(tmp_path)


@pytest.mark.parametrize(("text", "types"), [('"[conv2d, relu]"', ("conv2d", "relu")), ('["a", "b"]', ("a", "b"))])
def test_several_operator_types_may_be_a_list_or_its_text(tmp_path: Path, text: str, types: tuple[str, ...]) -> None:
    entry = f'{{"op_name": "x_OPAT_0", "op_type": {text}}}'
    body = f'{{"repo_modified_operators": {{"add_repo_operators": [{entry}]}}}}'
    (modification,) = read(tmp_path, f'[{{"OPAT": {body}}}]'.encode()).results[0].modifications
    assert modification.op_type == types
    assert (modification.name, modification.join_name) == ("x_OPAT_0", "x")


def test_a_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ReadError):
        read_results(tmp_path / "nothing.json", NAME)


def test_a_text_cut_inside_of_a_character_is_cut_and_of_its_encoding(tmp_path: Path) -> None:
    text = json.dumps([{"basic": {"tuning_name": "甲调优任务"}}, {"OPAT": {}}], ensure_ascii=False)
    whole = text.encode()
    for cut in range(len(whole)):
        assert [finding.rule for finding in read(tmp_path, whole[:cut]).findings] == ["json-truncated"], cut
    whole = text.encode("gb18030")
    for cut in range(len(whole) - 20, len(whole)):
        assert [f.rule for f in read(tmp_path, whole[:cut]).findings] == ["json-encoding", "json-truncated"], cut
    begun = read(tmp_path, whole[: whole.index("任".encode("gb18030")) + 1]).findings
    assert [finding.rule for finding in begun] == ["json-encoding", "json-truncated"]


@pytest.mark.parametrize(
    "odd", ["[" * 500 + "]" * 500, '{"a": ' * 900 + "1" + "}" * 900, '"\\ud800"', '{"\\udc00": 1}', "9" * 5000]
)
def test_a_key_twice_makes_nothing_right_that_is_wrong_without(tmp_path: Path, odd: str) -> None:
    twice = read(tmp_path, f'[{{"basic": {{"a": 1, "a": 2, "odd": {odd}}}}}]'.encode())
    once = read(tmp_path, f'[{{"basic": {{"a": 1, "b": 2, "odd": {odd}}}}}]'.encode())
    assert [f.message for f in twice.findings] == [f.message for f in once.findings]
    assert [f.rule for f in twice.findings] == ["json-syntax"]


def test_a_cut_file_with_equal_keys_is_merely_cut_off(aoe: Path, tmp_path: Path) -> None:
    task = next((aoe / "array_grouped").iterdir()).read_text()
    whole = f'{{"report_1_2": {task}, "report_1_2": {task}}}'.encode()
    file = read(tmp_path, whole[:-30])
    assert [finding.rule for finding in file.findings] == ["json-truncated"]
    assert [result.truncated for result in file.results] == [False, True]


def task_of(body: dict[str, Any], *, time: Any = 1, kind: str = "opat") -> Any:
    (result,) = results_of_document([{"basic": {"tuning_name": "x", "tuning_time(s)": time}}, {kind.upper(): body}], kind)  # type: ignore[arg-type]  # fmt: skip
    return result


@pytest.mark.parametrize(
    ("count", "whole"),
    [
        (3, 3), (3.0, 3), (Decimal(3), 3), (Decimal("3.0"), 3), (-3, -3), (2**64 - 1, 2**64 - 1), (2**64, None), (-(2**64), None),
        (3.5, None), (Decimal("3.5"), None), (True, None), ("3", None), (None, None), ([3], None), (Decimal("1E+30"), None),
    ],
)  # fmt: skip
def test_counts_are_whole_numbers_of_some_size(count: Any, whole: int | None) -> None:
    summary = task_of({"repo_summary": {"repo_add_num": count, "total_num": 5}}).summary
    assert summary == ({"total_num": 5} if whole is None else {"repo_add_num": whole, "total_num": 5})


@pytest.mark.parametrize(
    ("time", "told"),
    [
        (0, "0"), (1e-9, "1E-9"), (Decimal("1E-9"), "1E-9"), (Decimal("9.99E-10"), None), (999_999_999_999_999, "999999999999999"),
        (10**15, None), (-1, "-1"), (True, None), ("1", None), (None, None),
    ],
)  # fmt: skip
def test_times_are_of_some_size(time: Any, told: str | None) -> None:
    assert task_of({}, time=time).tuning_time_s == (None if told is None else Decimal(told))


@pytest.mark.parametrize(
    ("kind", "status", "failed", "broken_off", "complete"),
    [
        ("opat", "tuning successful", False, False, True),
        ("opat", "tune success", False, False, True),
        ("opat", "tuning failed", True, False, False),
        ("opat", "tune failed", True, False, False),
        ("opat", "tuning incomplete", False, True, False),
        ("opat", "tune incomplete", False, True, False),
        ("opat", "tune tuning incomplete", False, True, False),
        ("opat", "something else", False, False, False),
        ("opat", None, False, False, False),
        ("sgat", None, False, False, True),
    ],
)
def test_how_a_tuning_ended(kind: str, status: str | None, failed: bool, broken_off: bool, complete: bool) -> None:
    result = task_of({} if status is None else {"opat_tuning_result": status}, kind=kind)
    assert (result.failed, result.broken_off, result.complete) == (failed, broken_off, complete)
    cut = replace(result, truncated=True)
    assert (cut.failed, cut.broken_off, cut.complete) == (failed, True, False)
    assert replace(result, ambiguous=True).complete is False


@pytest.mark.parametrize("kind", ["opat", "sgat"])
def test_a_segment_that_is_missing_means_failure_of_subgraphs(kind: str) -> None:
    (result,) = results_of_document([{"basic": {"tuning_name": "x"}}], kind)  # type: ignore[arg-type]
    assert (result.has_segment, result.failed, result.broken_off, result.complete) == (False, kind == "sgat", False, False)  # fmt: skip


@pytest.mark.parametrize(
    ("bodies", "common"),
    [
        (["tuning"], "tuning"),
        (["tuning", "tuning"], "tuning"),
        (["tuning", "tune"], "mixed"),
        (["tuning", None], "tuning"),
        ([None, None], None),
        ([None], None),
    ],
)
def test_an_outline_tells_what_tasks_have_in_common(bodies: list[str | None], common: str | None) -> None:
    status = {"tuning": {"opat_tuning_result": "tuning successful"}, "tune": {"opat_tune_result": "tune success"}, None: {}}  # fmt: skip
    outline = outline_of([task_of(status[body]) for body in bodies])
    assert outline is not None
    assert (outline.vocabulary, outline.container, outline.tuning_names) == (common, "array", ("x",) * len(bodies))
    assert outline.statuses == tuple({"tuning": "tuning successful", "tune": "tune success", None: None}[body] for body in bodies)  # fmt: skip
    assert outline_of([]) is None


@pytest.mark.parametrize("digits", [40, 41, 4300])
def test_numbers_of_any_length_are_read_where_a_key_stands_twice(aoe: Path, tmp_path: Path, digits: int) -> None:
    text = next((aoe / "array_grouped").iterdir()).read_text()
    twice = text.replace('"total_num": 10', f'"total_num": 10, "total_num": 10, "more": {"7" * digits}')
    file = read(tmp_path, twice.encode())
    assert [finding.rule for finding in file.findings] == ["json-duplicate-key"]
    assert len(file.results) == 1
