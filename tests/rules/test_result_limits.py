"""Every rule on results at its limits: what it says of a sound document after one change."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from documents import FIXTURES

from aoe_reports.formats.aoe.result_files import parse_results
from aoe_reports.formats.sources.found import FileName
from aoe_reports.model.findings import EXAMPLES_PER_RULE, Finding
from aoe_reports.rules.results.check import check_result_file

GONE = object()
GROUPED, FLAT, SUBGRAPHS = "array_grouped", "array_flat", "array_subgraphs"
OPAT, SGAT = "/1/OPAT", "/1/SGAT"
OPERATORS = f"{OPAT}/repo_modified_operators"
FIRST, SECOND, THIRD = (f"{OPERATORS}/{place}" for place in ("add_repo_operators/0", "add_repo_operators/1", "update_repo_operators/0"))  # fmt: skip
FLAT_FIRST, FLAT_SECOND = f"{OPERATORS}/0/tune_performance/Format", f"{OPERATORS}/1/tune_performance/Schedule"
SUBGRAPH = f"{SGAT}/repo_modified_subgraphs/add_repo_subgraphs/0"
BEFORE, AFTER, CLAIM = "performance_before_tune(us)", "performance_after_tune(us)", "performance_improvement"
BASELINE, RESULT, GAIN = (f"model_{key}" for key in ("baseline_performance(ms)", "result_performance(ms)", "performance_improvement"))  # fmt: skip
STATUS = "opat_tuning_result"


def changed(fixture: str, changes: dict[str, Any]) -> tuple[bytes, str]:
    """(the text of a sound fixture after some changes by JSON Pointer, its kind)."""
    (path,) = (FIXTURES / "valid" / fixture).iterdir()
    document = copy.deepcopy(json.loads(path.read_text()))
    for pointer, value in changes.items():
        *steps, last = [int(step) if step.isdigit() else step for step in pointer[1:].split("/")]
        inside = document
        for step in steps:
            inside = inside[step]
        if value is GONE:
            del inside[last]
        elif isinstance(inside, list) and last == len(inside):
            inside.append(value)
        else:
            inside[last] = value
    return json.dumps(document).encode(), "sgat" if "sgat" in path.name else "opat"


def findings(fixture: str, changes: dict[str, Any]) -> list[Finding]:
    text, kind = changed(fixture, changes)
    path, name = Path("aoe_result.json"), FileName(kind, "json", "aoe")
    return check_result_file(parse_results(path, name, text))


def said(fixture: str, changes: dict[str, Any]) -> set[tuple[str, str | None]]:
    """(rule, pointer) of what is said."""
    return {(finding.rule, finding.pointer) for finding in findings(fixture, changes)}


def entry(name: str, before: float = 4, after: float = 2, claim: str = "100.00%") -> dict[str, Any]:
    return {"op_name": name, "op_type": "add", BEFORE: before, AFTER: after, CLAIM: claim}


WITH_IT = {"failed-without-list": ("tuning-failed",), "status-alias": ("tuning-incomplete",)}
"""What cannot occur without something else."""


@pytest.mark.parametrize("folder", sorted((FIXTURES / "invalid").iterdir()), ids=lambda folder: folder.name)
def test_a_fixture_of_a_rule_fires_no_other(folder: Path) -> None:
    for path in folder.glob("aoe_result_*.json"):
        found = check_result_file(parse_results(path, FileName(path.name[11:15], "json", "aoe"), path.read_bytes()))
        assert {finding.rule for finding in found} == {folder.name, *WITH_IT.get(folder.name, ())}


SUMMARY = f"{OPAT}/repo_summary"


@pytest.mark.parametrize("step", [-1, 1])
@pytest.mark.parametrize(
    ("count", "rules"),
    [
        ("repo_hit_num", {"hit-sum": "repo_hit_num", "total-sum": "total_num"}),
        ("repo_reserved_num", {"hit-sum": "repo_hit_num"}),
        ("repo_unsatisfied_num", {"total-sum": "total_num"}),
        ("total_num", {"total-sum": "total_num"}),
        ("repo_add_num", {"total-sum": "total_num", "list-length": "repo_add_num"}),
        ("repo_update_num", {"hit-sum": "repo_hit_num", "list-length": "repo_update_num"}),
    ],
)
def test_each_count_is_in_its_sums(count: str, rules: dict[str, str], step: int) -> None:
    sound = {"repo_hit_num": 5, "repo_reserved_num": 4, "repo_unsatisfied_num": 3, "total_num": 10, "repo_add_num": 2, "repo_update_num": 1}  # fmt: skip
    changes = {f"{SUMMARY}/{count}": sound[count] + step}
    assert said(GROUPED, changes) == {(rule, f"{SUMMARY}/{place}") for rule, place in rules.items()}


def test_an_operator_with_two_modes_counts_once_or_each_time() -> None:
    mode = {AFTER: 50, BEFORE: 60, CLAIM: "20.00%", "update_mode": "add"}
    two = {f"{OPERATORS}/0/tune_performance/Schedule": mode}
    assert said(FLAT, two) == set()
    sums = {f"{SUMMARY}/repo_add_num": 3, f"{SUMMARY}/total_num": 10}
    assert said(FLAT, two | sums) == set()
    for added in (1, 4):
        sums = {f"{SUMMARY}/repo_add_num": added, f"{SUMMARY}/total_num": 7 + added}
        assert said(FLAT, two | sums) == {("list-length", f"{SUMMARY}/repo_add_num")}


def test_a_mode_of_update_that_nobody_knows_belongs_to_no_count() -> None:
    changes = {f"{FLAT_FIRST}/update_mode": "added", f"{SUMMARY}/repo_add_num": 1, f"{SUMMARY}/total_num": 8}
    assert said(FLAT, changes) == {("update-mode", f"{FLAT_FIRST}/update_mode")}
    assert said(FLAT, {f"{FLAT_FIRST}/update_mode": "update"}) == {
        ("list-length", f"{SUMMARY}/repo_add_num"),
        ("list-length", f"{SUMMARY}/repo_update_num"),
    }


@pytest.mark.parametrize(
    ("before", "after", "claim", "rules"),
    [
        (120, 119.999, "0.00%", set()),
        (120, 120, "0.00%", {"not-faster": AFTER}),
        (120, 120.001, "0.00%", {"not-faster": AFTER}),
        (0, 80, "50.00%", {"non-positive-time": BEFORE}),
        (120, 0, "50.00%", {"non-positive-time": AFTER}),
        (1e-9, 5e-10, "100.00%", {"implausible-time": AFTER}),
        (2e-9, 1e-9, "100.00%", set()),
        (2.2e-9, 2e-9, "10.00%", set()),
    ],
)
def test_times_of_an_operator(before: float, after: float, claim: str, rules: dict[str, str]) -> None:
    changes = {f"{FIRST}/{key}": value for key, value in ((BEFORE, before), (AFTER, after), (CLAIM, claim))}
    quiet = {f"{OPAT}/{key}": GONE for key in (BASELINE, RESULT, GAIN)}
    assert said(GROUPED, changes | quiet) == {(rule, f"{FIRST}/{key}") for rule, key in dict(rules).items()}


@pytest.mark.parametrize(
    ("baseline", "result", "gain", "rules"),
    [
        (12.5, 12.5, "0.00%", {}),  # the model as a whole may take as long
        (12.5, 12.500001, "0.00%", {"not-faster": RESULT}),
        (0, 12.4, "0.43%", {"non-positive-time": BASELINE}),
        (12.5, 0, "0.43%", {"non-positive-time": RESULT, "parts-and-whole": ""}),
    ],
)
def test_times_of_the_model(baseline: float, result: float, gain: str, rules: dict[str, str]) -> None:
    changes = {f"{OPAT}/{BASELINE}": baseline, f"{OPAT}/{RESULT}": result, f"{OPAT}/{GAIN}": gain}
    assert said(GROUPED, changes) == {(rule, f"{OPAT}/{key}".rstrip("/")) for rule, key in rules.items()}


@pytest.mark.parametrize(("time", "fires"), [(1e15, True), (9.99e14, False), (9e14, False), (1e-9, False), (9.9e-10, True)])  # fmt: skip
def test_a_tuning_time_within_its_range(time: float, fires: bool) -> None:
    place = "/0/basic/tuning_time(s)"
    assert said(GROUPED, {place: time}) == ({("implausible-time", place)} if fires else set())


@pytest.mark.parametrize(
    ("saved", "fires"),
    [(10.999, False), (11, False), (11.001, True), (9.091, False), (9.09, True), (1, True), (0, False), (-1, False)],
)
@pytest.mark.parametrize(("fixture", "kind"), [(GROUPED, "opat"), (SUBGRAPHS, "sgat")])
def test_what_parts_save_is_a_tenth_beside_the_whole_at_most(
    fixture: str, kind: str, saved: float, fires: bool
) -> None:
    """Two parts save 4 ms and 6 ms, one of them in another mode 1 ms: only the best of each counts."""
    at = f"/1/{kind.upper()}"
    scale, unit = (1000, "us") if kind == "opat" else (1, "ms")
    key, what = ("op_name", "operators") if kind == "opat" else ("repo_key", "subgraphs")
    parts = [
        {
            key: name,
            f"performance_before_tune({unit})": 10 * scale,
            f"performance_after_tune({unit})": (10 - less) * scale,
        }
        | {CLAIM: f"{(10 / (10 - less) - 1) * 100:.2f}%"}
        | ({"op_type": "add"} if kind == "opat" else {})
        for name, less in (("1", 4), ("2", 1), ("2", 6))
    ]
    changes = {
        f"{at}/repo_modified_{what}": {f"add_repo_{what}": parts},
        f"{at}/{BASELINE}": 100,
        f"{at}/{RESULT}": round(100 - saved, 6),
        f"{at}/{GAIN}": f"{(100 / (100 - saved) - 1) * 100:.2f}%",
    }
    found = [finding for finding in findings(fixture, changes) if finding.rule == "parts-and-whole"]
    assert [finding.pointer for finding in found] == ([at] if fires else [])
    if fires:
        assert found[0].message == f"the modified {what} save 10 ms in total, the model {saved} ms"


@pytest.mark.parametrize("missing", [BASELINE, RESULT])
def test_parts_are_compared_with_a_whole_that_is_known(missing: str) -> None:
    changes = {f"{OPAT}/{RESULT}": 5, f"{OPAT}/{GAIN}": "150.00%"}
    assert said(GROUPED, changes) == {("parts-and-whole", OPAT)}
    assert "parts-and-whole" not in {rule for rule, _ in said(GROUPED, changes | {f"{OPAT}/{missing}": GONE})}
    assert ("parts-and-whole", OPAT) in said(GROUPED, {f"{OPAT}/{RESULT}": 5, f"{OPAT}/{GAIN}": GONE})


@pytest.mark.parametrize(
    ("claim", "fires"),
    [("33.33%", False), ("33.34%", False), ("33.32%", True), ("33.35%", True), ("25.00%", True), ("about 33%", False)],
)
@pytest.mark.parametrize("at", [f"{FLAT_FIRST}", f"{FLAT_SECOND}"])
def test_a_claim_is_a_hundredth_of_a_percent_beside_its_times_at_most(at: str, claim: str, fires: bool) -> None:
    changes = {f"{at}/{BEFORE}": 40, f"{at}/{AFTER}": 30, f"{at}/{CLAIM}": claim}
    rule = "improvement-convention" if claim == "25.00%" else "improvement-mismatch"
    assert {(r, p) for r, p in said(FLAT, changes) if r != "schema"} == ({(rule, f"{at}/{CLAIM}")} if fires else set())


def test_a_claim_of_the_model_is_held_against_its_times() -> None:
    changes = {f"{OPAT}/{GAIN}": "0.95%"}
    assert said(GROUPED, changes) == {("improvement-mismatch", f"{OPAT}/{GAIN}")}


@pytest.mark.parametrize(
    ("key", "fires"),
    [("18446744073709551615", False), ("18446744073709551616", True), ("0", False), ("0x1f", True), ("", True), ("٣", True), ("000000000000000000001", True)],
)  # fmt: skip
def test_the_key_of_a_subgraph_has_64_bits(key: str, fires: bool) -> None:
    found = said(SUBGRAPHS, {f"{SUBGRAPH}/repo_key": key})
    assert (("repo-key", f"{SUBGRAPH}/repo_key") in found) is fires
    assert found == set() or fires


def test_a_case_has_one_outcome() -> None:
    assert said(GROUPED, {f"{SECOND}/op_name": "block1/conv"}) == {("duplicate-operator", SECOND)}
    failed = {f"{OPAT}/tuning_failed_operators": ["head/matmul"]}
    assert said(GROUPED, failed) == {
        ("duplicate-operator", THIRD),
        ("list-without-failure", f"{OPAT}/tuning_failed_operators"),
    }
    twice = {f"{OPERATORS}/1/op_name": "block1/Softmax_OPAT_0", f"{SUMMARY}/repo_add_num": 1, f"{SUMMARY}/total_num": 8}
    assert said(FLAT, twice) == set(), "two modes of one operator"


INTERRUPTED = {"/0/basic/tuning_time(s)": GONE, f"{OPAT}/{RESULT}": GONE, f"{OPAT}/{GAIN}": GONE, f"{OPAT}/{STATUS}": "tuning incomplete"}  # fmt: skip


def test_what_an_interrupted_run_leaves_out() -> None:
    told = {("tuning-incomplete", f"{OPAT}/{STATUS}")}
    assert said(GROUPED, INTERRUPTED) == told
    assert said(GROUPED, {**INTERRUPTED, f"{OPAT}/{RESULT}": 12.446584}) == told | {("interrupted-fields", OPAT)}
    assert said(GROUPED, {**INTERRUPTED, f"{OPAT}/{GAIN}": "0.43%"}) == told | {("interrupted-fields", OPAT)}
    assert said(GROUPED, {**INTERRUPTED, "/0/basic/tuning_time(s)": 1}) == told | {("interrupted-fields", OPAT)}


def test_what_a_complete_run_has() -> None:
    assert said(GROUPED, {"/0/basic/tuning_time(s)": GONE}) == {("interrupted-fields", "")}
    for key in (RESULT, GAIN):
        assert said(GROUPED, {f"{OPAT}/{key}": GONE}) == {("interrupted-fields", OPAT)}
    assert said(GROUPED, {f"{OPAT}/{key}": GONE for key in (BASELINE, RESULT, GAIN)}) == set()
    assert said(SUBGRAPHS, {"/0/basic/tuning_time(s)": GONE}) == {("tuning-incomplete", "")}


def test_statuses_and_the_lists_of_what_failed() -> None:
    at, named = f"{OPAT}/{STATUS}", f"{OPAT}/tuning_failed_operators"
    failed = {at: "tuning failed"}
    assert said(GROUPED, failed) == {("tuning-failed", at), ("failed-without-list", at)}
    assert said(GROUPED, failed | {named: ["z"]}) == {("tuning-failed", at)}
    assert said(GROUPED, {named: ["z"]}) == {("list-without-failure", named)}
    assert said(GROUPED, {at: "tuned"}) == {("status-unknown", at)}
    assert said(GROUPED, {**INTERRUPTED, at: "tune tuning incomplete"}) == {
        ("tuning-incomplete", at),
        ("status-alias", at),
    }


def test_a_segment_that_is_missing_means_failure_of_subgraphs_only() -> None:
    assert said(GROUPED, {"/1": GONE}) == {("nothing-tunable", "")}
    assert said(SUBGRAPHS, {"/1": GONE}) == {("subgraph-failed", "")}


@pytest.mark.parametrize(("added", "updated", "fires"), [(0, 0, True), (1, 0, False), (0, 1, False), (1, 1, False)])
def test_nothing_better_was_found(added: int, updated: int, fires: bool) -> None:
    changes = {f"{SUMMARY}/repo_add_num": added, f"{SUMMARY}/repo_update_num": updated}
    found = {rule for rule, _ in said(GROUPED, changes)}
    assert ("nothing-improved" in found) is fires
    unfinished = {**INTERRUPTED, **changes}
    assert "nothing-improved" not in {rule for rule, _ in said(GROUPED, unfinished)}
    failed = {f"{OPAT}/{STATUS}": "tuning failed", **changes}
    assert "nothing-improved" not in {rule for rule, _ in said(GROUPED, failed)}


def test_types_that_are_not_tuned_are_listed_once_each_in_order() -> None:
    changes = {f"{FIRST}/op_type": "zzz", f"{SECOND}/op_type": ["aaa", "relu", "zzz"]}
    (finding,) = findings(GROUPED, changes)
    assert (finding.rule, finding.pointer) == ("op-type-unknown", OPERATORS)
    assert finding.message.endswith(": aaa, zzz")


@pytest.mark.parametrize("count", [EXAMPLES_PER_RULE, EXAMPLES_PER_RULE + 1, EXAMPLES_PER_RULE + 2])
def test_the_first_of_many_are_named_and_the_rest_counted(count: int) -> None:
    names = [f"t{number:02}" for number in range(count)]
    (finding,) = findings(GROUPED, {f"{FIRST}/op_type": names})
    shown = finding.message.partition(": ")[2]
    rest = count - EXAMPLES_PER_RULE
    assert shown == ", ".join(names[:EXAMPLES_PER_RULE]) + (f" and {rest} more" if rest else "")
    many = {f"{OPERATORS}/add_repo_operators": [entry(str(number), claim="1.00%") for number in range(count)]}
    sums = {f"{SUMMARY}/repo_add_num": count, f"{SUMMARY}/total_num": 8 + count, f"{OPAT}/{RESULT}": 12.5, f"{OPAT}/{GAIN}": "0.00%"}  # fmt: skip
    found = findings(GROUPED, many | sums)
    assert len(found) == EXAMPLES_PER_RULE + (1 if rest else 0)
    assert {finding.rule for finding in found} == {"improvement-mismatch"}
    if rest:
        assert (found[-1].message, found[-1].pointer) == (f"and {rest} more of this kind", "")


@pytest.mark.parametrize(
    ("key", "fires"),
    [
        ("report_20260101020304005_1", False),
        ("report_20260101_020304_005_140012345678901", False),
        ("report_20260101020304_1", False),
        ("report_2026010102030_1", True),
        ("report_20260101020304005", True),
        ("report_20260101020304_0000001_1", True),
        ("a/b", True),
    ],
)
def test_the_key_of_a_report_is_a_time_and_a_thread(key: str, fires: bool) -> None:
    (path,) = (FIXTURES / "valid" / "report_grouped").iterdir()
    (task,) = json.loads(path.read_text()).values()
    text = json.dumps({key: task}).encode()
    found = check_result_file(parse_results(path, FileName("opat", "json", "aoe"), text))
    pointer = "/" + key.replace("/", "~1")
    assert [(finding.rule, finding.pointer) for finding in found] == ([("report-key", pointer)] if fires else [])


def test_segments_of_a_task_are_one_of_each() -> None:
    body = json.loads(changed(GROUPED, {})[0])[1]
    assert ("segment-count", "") in said(GROUPED, {"/2": body})
    assert ("segment-count", "") in said(GROUPED, {"/0": GONE})
    assert ("segment-count", "") in said(GROUPED, {"/2": {"basic": {"tuning_name": "x"}}})
    assert "segment-count" not in {rule for rule, _ in said(GROUPED, {"/2": {"note": {}}})}


def test_vocabularies_do_not_mix() -> None:
    assert ("mixed-vocabulary", OPAT) in said(GROUPED, {f"{OPAT}/{STATUS}": "tune success"})
    old, new = (json.loads(next((FIXTURES / "valid" / name).iterdir()).read_text()) for name in ("report_grouped_tune_words", "report_grouped"))  # fmt: skip
    (first,), (second,) = old.values(), new.values()
    text = json.dumps({f"report_20260101020304005_{n}": task for n, task in enumerate((first, second, second))})
    found = check_result_file(parse_results(Path("x"), FileName("opat", "json", "aoe"), text.encode()))
    assert [(finding.rule, finding.pointer) for finding in found] == [("mixed-vocabulary", "/report_20260101020304005_1/1/OPAT")]  # fmt: skip
    assert [finding.message for finding in found] == [
        "this task uses the wording 'tuning ...', the one at /report_20260101020304005_0/1/OPAT the wording 'tune ...'"
    ]


def test_keys_that_nobody_documents_are_named_by_their_place() -> None:
    assert said(GROUPED, {f"{OPAT}/a~0b": 1}) == {("unknown-key", f"{OPAT}/a~00b")}
    assert said(GROUPED, {f"{FIRST}/cost": 1, "/0/basic/device": {}}) == {
        ("unknown-key", f"{FIRST}/cost"),
        ("unknown-key", "/0/basic/device"),
    }


def test_a_time_in_the_unit_of_another_kind() -> None:
    wrong = {f"{SUBGRAPH}/performance_before_tune(ms)": GONE, f"{SUBGRAPH}/performance_before_tune(us)": 5500}
    (finding,) = findings(SUBGRAPHS, wrong)
    assert (finding.rule, finding.pointer) == ("unit-mismatch", f"{SUBGRAPH}/performance_before_tune(us)")
    assert finding.message == "'performance_before_tune(us)' in SGAT; expected performance_before_tune(ms)"


def test_findings_stand_at_the_line_and_column_of_their_place() -> None:
    text, _ = changed(GROUPED, {f"{SUMMARY}/total_num": 11})
    lines = json.dumps(json.loads(text), indent=2)
    (finding,) = check_result_file(parse_results(Path("x"), FileName("opat", "json", "aoe"), lines.encode()))
    (line,) = (number for number, one in enumerate(lines.splitlines(), 1) if '"total_num"' in one)
    assert finding.line == line
    assert lines.splitlines()[line - 1][(finding.column or 0) - 1 :].startswith(("11", '"total_num"'))
    info = {f"{FIRST}/op_type": "zzz"}
    assert [finding.line for finding in findings(GROUPED, info)] == [None], "what is only told needs no place"


@pytest.mark.parametrize("wrong", [0, 1, 2])
def test_one_key_of_several_has_more_than_64_bits(wrong: int) -> None:
    keys = ["1", "18446744073709551615", "42"]
    keys[wrong] = "18446744073709551616"
    parts = [{"repo_key": key, "performance_before_tune(ms)": 4, "performance_after_tune(ms)": 2, CLAIM: "100.00%"} for key in keys]  # fmt: skip
    at = "/1/SGAT/repo_modified_subgraphs"
    found = [finding for finding in findings(SUBGRAPHS, {at: {"add_repo_subgraphs": parts}}) if finding.rule == "repo-key"]  # fmt: skip
    assert [finding.pointer for finding in found] == [f"{at}/add_repo_subgraphs/{wrong}/repo_key"]
    assert found[0].message == "repo_key '18446744073709551616' is not an unsigned 64-bit number"


@pytest.mark.parametrize(
    ("saved", "fires"), [(10.999, False), (11.001, True), (12.5, True), (9.09, True), (9.1, False)]
)
def test_what_different_parts_save_is_held_against_the_whole(saved: float, fires: bool) -> None:
    parts = [entry("a", 10_000, 6_000, "66.67%"), entry("b", 10_000, 4_000, "150.00%")]
    changes = {
        f"{OPAT}/repo_modified_operators": {"add_repo_operators": parts},
        f"{OPAT}/{BASELINE}": 100,
        f"{OPAT}/{RESULT}": round(100 - saved, 6),
        f"{OPAT}/{GAIN}": f"{(100 / (100 - saved) - 1) * 100:.2f}%",
    }
    assert (("parts-and-whole", OPAT) in said(GROUPED, changes)) is fires


@pytest.mark.parametrize(("count", "length"), [(1, 60), (1, 61), (EXAMPLES_PER_RULE, 3), (EXAMPLES_PER_RULE + 2, 3)])
def test_types_that_aoe_does_not_tune_are_named_up_to_sixty_letters(count: int, length: int) -> None:
    names = [f"{letter}{'x' * (length - 1)}" for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[:count]]
    found = [one for one in findings(GROUPED, {f"{FIRST}/op_type": names}) if one.rule == "op-type-unknown"]
    shown = ", ".join(name[:60] for name in names[:EXAMPLES_PER_RULE])
    more = f" and {count - EXAMPLES_PER_RULE} more" if count > EXAMPLES_PER_RULE else ""
    said = f"not in the published (incomplete) lists of operators that AOE tunes: {shown}{more}"
    assert [(one.severity, one.pointer, one.message) for one in found] == [("info", OPERATORS, said)]
