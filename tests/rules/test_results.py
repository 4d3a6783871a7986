"""The arithmetic of improvement claims."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.formats.aoe.result_files import read_results
from aoe_reports.formats.aoe.results import results_of_document
from aoe_reports.model.findings import is_below
from aoe_reports.rules.results import RULES
from aoe_reports.rules.results.check import check_result_file


def fired(before: str, after: str, claim: str) -> set[str]:
    entry = {
        "op_name": "a",
        "op_type": "conv2d",
        "performance_before_tune(us)": Decimal(before),
        "performance_after_tune(us)": Decimal(after),
        "performance_improvement": claim,
    }
    body = {"opat_tuning_result": "tuning successful", "repo_modified_operators": {"add_repo_operators": [entry]}}
    (result,) = results_of_document([{"basic": {}}, {"OPAT": body}], "opat")
    return {name for name in ("improvement-mismatch", "improvement-convention") if list(RULES[name].check(result))}


@pytest.mark.parametrize(
    ("before", "after", "claim"),
    [
        ("134", "99", "35.35%"),
        ("124", "14", "785.71%"),
        ("5008.928", "4891.762", "2.40%"),  # rounded
        ("5.600486", "3.610442", "55.11%"),  # truncated
        ("4.58434", "2.573203", "78.15%"),  # truncated
    ],
)
def test_claims_of_the_documents_hold_rounded_or_truncated(before: str, after: str, claim: str) -> None:
    assert fired(before, after, claim) == set()


def test_time_saved_is_named_as_the_other_convention() -> None:
    assert fired("124", "14", "88.71%") == {"improvement-convention"}


def test_a_wrong_claim_is_a_mismatch() -> None:
    assert fired("124", "14", "785.80%") == {"improvement-mismatch"}


@given(st.decimals("0.001", 10**6, places=3), st.decimals("0.001", 10**6, places=3))
def test_a_claim_made_by_rounding_or_truncating_never_fires(before: Decimal, after: Decimal) -> None:
    gain = (before / after - 1) * 100
    rounded = gain.quantize(Decimal("0.01"))
    truncated = Decimal(int(gain * 100)) / 100
    for claim in (rounded, truncated):
        assert "improvement-mismatch" not in fired(str(before), str(after), f"{claim:.2f}%")


@pytest.mark.parametrize("value", ["0", "-5", "1E+300", "1E-300", "1E+999999"])
def test_absurd_times_never_raise(value: str) -> None:
    fired(value, "3", "1.00%")
    fired("3", value, "1.00%")


def report_of(*tasks: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    return {f"report_20260101020304005_{i}": task for i, task in enumerate(tasks)}


def test_many_faults_of_one_task_hide_none_of_another(aoe: Path, tmp_path: Path) -> None:
    text = next((aoe / "array_grouped").iterdir()).read_text()
    without_shape, without_summary, well = (json.loads(text) for _ in range(3))
    without_shape[1]["OPAT"]["repo_modified_operators"]["add_repo_operators"] = [{"op_name": str(i)} for i in range(30)]
    del without_summary[1]["OPAT"]["repo_summary"]
    path = tmp_path / "aoe_result_opat_20260101020304005_pid4711.json"
    path.write_text(json.dumps(report_of(without_shape, without_summary, well)))
    file = read_results(path)
    findings = check_result_file(file)
    first, second, third = (result.pointer for result in file.results)
    assert {f.rule for f in findings} == {"schema"}, "no rule is tried on a task of the wrong shape"
    assert [f.message for f in findings if is_below(f.pointer, second)] == ['"repo_summary" is a required property']
    assert not [f for f in findings if is_below(f.pointer, third) or f.pointer is None]
    assert len(findings) == 22
    assert findings[20].pointer == first
    assert findings[20].message.startswith("and ")


def test_wrong_units_of_one_task_say_nothing_of_another(aoe: Path, tmp_path: Path) -> None:
    text = next((aoe / "array_grouped").iterdir()).read_text()
    wrong, well = (json.loads(text) for _ in range(2))
    (entry, *_) = wrong[1]["OPAT"]["repo_modified_operators"]["add_repo_operators"]
    entry["performance_before_tune(ms)"] = entry.pop("performance_before_tune(us)")
    wrong[1]["OPAT"]["repo_modified_operators"]["add_repo_operators"] = [entry] * 30
    path = tmp_path / "aoe_result_opat_20260101020304005_pid4711.json"
    path.write_text(json.dumps(report_of(wrong, well)))
    file = read_results(path)
    findings = check_result_file(file)
    assert len(findings) == 21
    assert all(is_below(finding.pointer, file.results[0].pointer) for finding in findings)


@pytest.mark.parametrize(
    ("hit", "rules"),
    [("5.0", set()), ("6.0", {"hit-sum", "total-sum"}), ("6E0", {"hit-sum", "total-sum"}), ("5E+400", {"schema"})],
)
def test_counts_may_be_written_as_decimals(aoe: Path, tmp_path: Path, hit: str, rules: set[str]) -> None:
    text = next((aoe / "array_grouped").iterdir()).read_text()
    path = tmp_path / "aoe_result_opat_20260101020304005_pid4711.json"
    path.write_text(text.replace('"repo_hit_num": 5', f'"repo_hit_num": {hit}'))
    file = read_results(path)
    assert {finding.rule for finding in check_result_file(file)} == rules
    assert file.results[0].summary.get("repo_hit_num") == (None if rules == {"schema"} else int(float(hit)))


def test_a_count_beyond_all_counting_has_the_wrong_shape(aoe: Path, tmp_path: Path) -> None:
    text = next((aoe / "array_grouped").iterdir()).read_text()
    path = tmp_path / "aoe_result_opat_20260101020304005_pid4711.json"
    path.write_text(text.replace('"total_num": 10', f'"total_num": {"9" * 4000}'))
    file = read_results(path)
    (finding,) = check_result_file(file)
    assert (finding.rule, finding.severity) == ("schema", "error")
    assert "total_num" not in file.results[0].summary


@pytest.mark.parametrize("name", ["basic", "OPAT"])
def test_a_segment_twice_in_one_object_is_two_segments(aoe: Path, tmp_path: Path, name: str) -> None:
    segments = json.loads(next((aoe / "array_grouped").iterdir()).read_text())
    twice = [f'{{"{key}": {json.dumps(value)}}}' for segment in segments for key, value in segment.items()]
    twice = [text[:-1] + f", {text[1:]}" if text.startswith(f'{{"{name}"') else text for text in twice]
    path = tmp_path / "aoe_result_opat_20260101020304005_pid4711.json"
    path.write_text(f"[{', '.join(twice)}]")
    rules = {finding.rule for finding in check_result_file(read_results(path)) if finding.severity != "info"}
    assert rules == {"json-duplicate-key", "segment-count"}


@pytest.mark.parametrize("claim", ["33%", "33.3%", "33.33%", "33.333%"])
def test_a_claim_holds_within_its_own_digits(claim: str) -> None:
    assert fired("4", "3", claim) == set()


@pytest.mark.parametrize("claim", ["35%", "33.5%", "33.36%"])
def test_a_claim_beside_its_own_digits_is_a_mismatch(claim: str) -> None:
    assert fired("4", "3", claim) == {"improvement-mismatch"}


def test_millions_of_digits_are_neither_an_error_nor_a_message(aoe: Path, tmp_path: Path) -> None:
    text = next((aoe / "array_grouped").iterdir()).read_text()
    path = tmp_path / "aoe_result_opat_20260101020304005_pid4711.json"
    long = '"performance_after_tune(us)": 80.' + "0" * 2_500_000
    path.write_text(text.replace('"performance_after_tune(us)": 80', long).replace("50.00%", "70.00%"))
    (finding,) = check_result_file(read_results(path))
    assert finding.rule == "improvement-mismatch"
    assert len(finding.message) < 300


def test_a_time_of_the_model_in_the_wrong_unit_is_an_error(aoe: Path, tmp_path: Path) -> None:
    text = next((aoe / "array_grouped").iterdir()).read_text()
    path = tmp_path / "aoe_result_opat_20260101020304005_pid4711.json"
    path.write_text(text.replace("_performance(ms)", "_performance(us)"))
    findings = check_result_file(read_results(path))
    assert {(finding.rule, finding.pointer) for finding in findings} == {
        ("unit-mismatch", f"/1/OPAT/model_{which}_performance(us)") for which in ("baseline", "result")
    }


@pytest.mark.parametrize("wrong", [0, 1])
def test_a_time_that_cannot_be_is_told_in_whichever_task_it_stands(aoe: Path, tmp_path: Path, wrong: int) -> None:
    text = next((aoe / "array_grouped").iterdir()).read_text()
    tasks = [json.loads(text) for _ in range(2)]
    tasks[wrong][0]["basic"]["tuning_time(s)"] = 1e16
    path = tmp_path / "aoe_result_opat_20260101020304005_pid4711.json"
    path.write_text(json.dumps(report_of(*tasks)))
    (finding,) = check_result_file(read_results(path))
    assert finding.rule == "implausible-time"
    assert finding.message == "the number is outside the range of a time (0 or 10^-9 to 10^15); it is not used"
    assert finding.pointer is not None
    assert finding.pointer.endswith(f"_{wrong}/0/basic/tuning_time(s)")


@pytest.mark.parametrize(
    ("before", "after", "claim", "fits"),
    [
        # before and after are off by half of their last digits at most: 3.95 and 3.05, 4.05 and 2.95
        ("4.0", "3.0", "29.50%", True), ("4.0", "3.0", "29.49%", False),
        ("4.0", "3.0", "37.29%", True), ("4.0", "3.0", "37.30%", False),
        ("4.00", "3.00", "32.95%", True), ("4.00", "3.00", "32.93%", False),
        ("4.00", "3.00", "33.73%", True), ("4.00", "3.00", "33.74%", False),
        ("4", "3", "33.33%", True), ("4", "3", "33.32%", False), ("4", "3", "33.35%", False),
        # a time that is hardly more than its last digit is no less than half of itself
        ("0.4", "0.1", "700.00%", True), ("0.4", "0.1", "800.00%", True), ("0.4", "0.1", "800.02%", False),
    ],
)  # fmt: skip
def test_a_claim_fits_times_within_half_of_their_last_digits(before: str, after: str, claim: str, fits: bool) -> None:
    assert ("improvement-mismatch" in fired(before, after, claim)) is not fits
