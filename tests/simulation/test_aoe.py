"""The simulated aoe: its results have the members, the order and the omissions of the real writer, and our reader agrees."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from aoe_reports.formats.aoe.operands import product_of
from aoe_reports.formats.aoe.operator_bank_file import read_operator_bank
from aoe_reports.formats.aoe.result_files import read_results
from aoe_reports.rules.results.check import check_result_file
from aoe_reports.simulation import aoe
from aoe_reports.simulation.planted import Planted, write_planted

ASKED = {"tune_ops_name": ["net/a", "net/b"]}


def run(folder: Path, *arguments: str, **environment: str) -> tuple[int, Path]:
    """(exit code, the result file) of a run that tunes two operators."""
    (folder / "asked.json").write_text(json.dumps(ASKED))
    (folder / "plain.onnx").write_bytes(b"model")
    (folder / "bank").mkdir(exist_ok=True)
    given = arguments or ("--framework=5", "--model=plain.onnx", "--job_type=2", "--tune_ops_file=asked.json")
    variables = {"TUNE_BANK_PATH": str(folder / "bank"), "HOME": str(folder), **environment}
    ended = subprocess.run(
        [sys.executable, "-S", aoe.__file__, *given], cwd=folder, env=variables, capture_output=True, check=False
    )
    return ended.returncode, max(
        folder.glob("aoe_result_opat_*.json"), default=folder, key=lambda path: path.stat().st_mtime_ns
    )


def body_of(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text())[1]["OPAT"]


def test_members_come_in_the_order_of_the_writer(tmp_path: Path) -> None:
    _, path = run(tmp_path, STAND_IN="one-failed")
    body = body_of(path)
    assert list(body)[:4] == [
        "opat_tuning_result",
        "repo_summary",
        "repo_modified_operators",
        "tuning_failed_operators",
    ]
    assert (body["opat_tuning_result"], body["tuning_failed_operators"]) == ("tuning successful", ["net/a"])
    (entry,) = body["repo_modified_operators"]
    assert list(entry) == ["op_type", "op_name", "tune_performance"]


@pytest.mark.parametrize("behaviour", ["not-better", "kept-first"])
def test_without_a_change_the_list_is_left_out(tmp_path: Path, behaviour: str) -> None:
    body = body_of(run(tmp_path, STAND_IN=behaviour)[1])
    assert "repo_modified_operators" not in body
    assert body["repo_summary"]["total_num"] == 2
    assert "tuning_failed_operators" not in body


def test_entries_of_one_name_are_one_with_a_key_a_mode(tmp_path: Path) -> None:
    _, path = run(tmp_path, STAND_IN="modes")
    body = body_of(path)
    assert [list(entry["tune_performance"]) for entry in body["repo_modified_operators"]] == [["GA", "AS"]] * 2
    assert body["repo_summary"]["repo_add_num"] == 4
    (result,) = read_results(path).results
    assert [(one.name, one.mode) for one in result.modifications] == [
        ("net/a", "GA"), ("net/a", "AS"), ("net/b", "GA"), ("net/b", "AS"),
    ]  # fmt: skip


def test_times_are_filled_in_where_the_bank_and_the_clock_contradict_each_other(tmp_path: Path) -> None:
    _, path = run(tmp_path, STAND_IN="filler")
    times = body_of(path)["repo_modified_operators"][0]["tune_performance"]["GA"]
    assert times["performance_before_tune(us)"] == times["performance_after_tune(us)"] + 1
    assert all(one.unmeasured for one in read_results(path).results[0].modifications)


@pytest.mark.parametrize(
    ("before", "after", "changed", "times"),
    [
        (134.0, 99.0, True, (134.0, 99.0, "35.35%")),
        (10.0004, 9.9996, True, (11.0, 10.0, "10.00%")),
        (4.0, 4.0, True, (5.0, 4.0, "25.00%")),
        (5.0, 4.0, False, (5.0, 6.0, "-16.67%")),
        (0.0, 3.0, False, (0.0, 3.0, None)),
    ],
)
def test_the_arithmetic_of_the_writer(
    before: float, after: float, changed: bool, times: tuple[float, float, str | None]
) -> None:
    found = aoe.times_of(before, after, changed=changed, update_mode="add")
    said = (
        found["performance_before_tune(us)"],
        found["performance_after_tune(us)"],
        found.get("performance_improvement"),
    )
    assert said == times


def test_an_unknown_time_before_has_no_improvement(tmp_path: Path) -> None:
    _, path = run(tmp_path, STAND_IN="untimed")
    assert "performance_improvement" not in body_of(path)["repo_modified_operators"][0]["tune_performance"]["GA"]


def test_the_status_comes_in_the_end(tmp_path: Path) -> None:
    code, path = run(tmp_path, STAND_IN="killed")
    body = body_of(path)
    assert (code, body["opat_tuning_result"]) == (-9, "tuning incomplete")
    assert "model_result_performance(ms)" not in body
    assert "tuning_time(s)" not in json.loads(path.read_text())[0]["basic"]


@pytest.mark.parametrize(
    "behaviour", ["succeed", "modes", "filler", "untimed", "not-better", "failed", "one-failed", "opat-n"]
)
def test_the_rules_on_results_find_no_error(tmp_path: Path, behaviour: str) -> None:
    found = check_result_file(read_results(run(tmp_path, STAND_IN=behaviour)[1]))
    assert {one.rule for one in found if one.severity == "error"} <= {"tuning-failed"}


def test_what_is_banked_is_updated_only_where_that_is_asked_for(tmp_path: Path) -> None:
    run(tmp_path)
    again = body_of(run(tmp_path)[1])
    assert (again["repo_summary"]["repo_reserved_num"], again["repo_summary"]["repo_hit_num"]) == (2, 2)
    assert "repo_modified_operators" not in again
    updated = body_of(run(tmp_path, REPEAT_TUNE="True")[1])
    assert (updated["repo_summary"]["repo_update_num"], updated["repo_summary"]["total_num"]) == (2, 2)
    assert {
        mode["update_mode"] for one in updated["repo_modified_operators"] for mode in one["tune_performance"].values()
    } == {"update"}


def test_entries_of_the_bank_have_the_key_of_matrix_products(tmp_path: Path) -> None:
    run(tmp_path)
    (path,) = (tmp_path / "bank").rglob("*_runtime_kb.json")
    bank = read_operator_bank(path)
    assert [finding for finding in bank.findings if finding.severity != "info"] == []
    products = [product_of(entry.info) for entry in bank.entries]
    assert [product.shapes[1] for product in products if product is not None] == [(1024, 1024)] * 2


def test_kernels_of_dumped_operators_are_made_without_a_result(tmp_path: Path) -> None:
    (tmp_path / "dumped").mkdir()
    (tmp_path / "dumped" / "MatMulV2_1.json").write_text("{}")
    options = [
        "--job_type=2",
        "--op_tune_mode=fast",
        f"--op_tune_file={tmp_path / 'dumped'}",
        "--soc_version=Ascend910B3",
    ]
    code, result = run(tmp_path, *options, "--precision_mode=must_keep_origin_dtype")
    assert (code, result) == (0, tmp_path)
    assert [path.name for path in (tmp_path / "aoe_workspace" / "op_tune_kernel").iterdir()] == ["MatMulV2_1.o"]
    assert run(tmp_path, *options)[0] == 1


@pytest.mark.parametrize(
    ("planted", "claimed"),
    [("used", 1), ("not-used", 1), ("filler", 1), ("regressed", 1), ("failed", 0), ("not-better", 0), ("kept", 0)],
)
def test_a_planted_outcome_is_what_the_result_says(tmp_path: Path, planted: Planted, claimed: int) -> None:
    loop = write_planted(tmp_path, [(planted, 200.0)])
    _, path = run(tmp_path, "--framework=5", f"--model={loop.model}", "--job_type=2")
    body = body_of(path)
    assert len(body.get("repo_modified_operators", ())) == claimed
    assert body.get("tuning_failed_operators", []) == (["layer1/matmul"] if planted == "failed" else [])
