"""Results as AOE's own writer leaves them (CANN 8.1.RC1): what it leaves out, and what it fills in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from commandline import ROOT, Cli

NAME = "aoe_result_opat_20260101020304005_pid4711.json"


def mode(before: float, after: float, update: str = "add", claim: str | None = "") -> dict[str, Any]:
    told = f"{(before - after) / after:.2%}" if claim == "" else claim
    times = {"performance_after_tune(us)": after, "performance_before_tune(us)": before}
    return times | ({} if told is None else {"performance_improvement": told}) | {"update_mode": update}


def operator(name: str, op_type: str | list[str] = "MatMulV2", **modes: dict[str, Any]) -> dict[str, Any]:
    return {"op_type": op_type, "op_name": name, "tune_performance": modes}


def counts(**given: int) -> dict[str, int]:
    words = ("add", "update", "hit", "reserved", "unsatisfied")
    found = {word: given.get(word, 0) for word in words}
    total = found["hit"] + found["add"] + found["unsatisfied"]
    return {"total_num": total, **{f"repo_{word}_num": count for word, count in found.items()}}


def write(
    folder: Path,
    summary: dict[str, int],
    *operators: dict[str, Any],
    status: str = "tuning successful",
    failed: tuple[str, ...] = (),
) -> Path:
    folder.mkdir(exist_ok=True)
    body: dict[str, Any] = {"opat_tuning_result": status, "repo_summary": summary}
    if operators:
        body["repo_modified_operators"] = operators
    if failed:
        body["tuning_failed_operators"] = failed
    (folder / NAME).write_text(json.dumps([{"basic": {"tuning_name": "m", "tuning_time(s)": 5}}, {"OPAT": body}]))
    return folder


def said(cli: Cli, folder: Path) -> tuple[int, dict[str, str]]:
    ended = cli("check", folder, "--format", "json")
    return ended.code, {finding["rule"]: finding["severity"] for finding in ended.json["findings"]}


def test_a_run_that_modified_nothing_has_no_list(cli: Cli, tmp_path: Path) -> None:
    folder = write(tmp_path / "aoe", counts(hit=7, reserved=7))
    assert said(cli, folder) == (0, {"nothing-improved": "info"})
    (finding,) = cli("check", folder, "--format", "json").json["findings"]
    assert finding["message"] == "tuning of 'm' changed nothing: all 7 cases were in the bank"
    assert cli("ingest", "--dry-run", folder).code == 0
    stored = cli("ingest", folder, "--store", tmp_path / "store", "--format", "json")
    assert (stored.code, [row["outcome"] for row in stored.json["rows"]]) == (0, ["added"])


def test_counts_without_the_list_that_they_count_are_a_warning(cli: Cli, tmp_path: Path) -> None:
    assert said(cli, write(tmp_path / "aoe", counts(add=2))) == (0, {"list-length": "warning"})


def test_an_operator_that_failed_in_a_tuning_that_did_not_is_an_info(cli: Cli, tmp_path: Path) -> None:
    folder = write(tmp_path / "aoe", counts(add=1, unsatisfied=1), operator("a", GA=mode(20, 10)), failed=("b",))
    assert said(cli, folder) == (0, {"list-without-failure": "info"})
    folder = write(tmp_path / "aoe", counts(unsatisfied=2), status="tuning failed", failed=("a", "b"))
    assert said(cli, folder) == (1, {"tuning-failed": "error"})


def test_operators_may_have_several_modes_several_types_and_no_name(cli: Cli, tmp_path: Path) -> None:
    first = operator("a", GA=mode(20, 10), RL=mode(9, 6, "update"))
    folder = write(
        tmp_path / "aoe", counts(add=3, update=1, hit=1), first, operator("", ["Conv2D", "Relu"], GA=mode(8, 4))
    )
    assert said(cli, folder) == (0, {}), "operators without a name are merged into one entry"
    records = [json.loads(line) for line in cli("ingest", "--dry-run", folder).out.splitlines()]
    assert [one["runtime_ms_mean"] for one in records] == [0.02, 0.01, 0.009, 0.006, 0.008, 0.004]


def test_without_a_time_before_no_improvement_is_written(cli: Cli, tmp_path: Path) -> None:
    folder = write(tmp_path / "aoe", counts(add=1), operator("a", GA=mode(0, 5, claim=None)))
    assert said(cli, folder) == (0, {"claim-unmeasured": "warning"})
    folder = write(tmp_path / "aoe", counts(add=1), operator("a", GA=mode(0, 5, claim="3.00%")))
    assert said(cli, folder) == (1, {"non-positive-time": "error"})
    folder = write(tmp_path / "aoe", counts(add=1), operator("a", GA=mode(7, 5, claim=None)))
    assert said(cli, folder) == (1, {"schema": "error"}), "above 0 it is always written"


@pytest.mark.parametrize(
    ("before", "after", "unmeasured"),
    [(124.52, 123.52, True), (31.7, 30.7, True), (3, 2, True), (1e9 + 1, 1e9, True), (31.7, 30.701, False), (3.001, 2, False)],
)  # fmt: skip
def test_times_that_differ_by_exactly_1_are_filled_in(
    cli: Cli, tmp_path: Path, before: float, after: float, unmeasured: bool
) -> None:
    folder = write(tmp_path / "aoe", counts(update=1, hit=1), operator("a", GA=mode(before, after, "update")))
    assert said(cli, folder) == (0, {"claim-unmeasured": "warning"} if unmeasured else {})
    first = json.loads(cli("ingest", "--dry-run", folder).out.splitlines()[0])["metadata"]
    claim = None if unmeasured else f"{(before - after) / after:.2%}"
    assert (first.get("unmeasured", False), first["claimed_improvement"]) == (unmeasured, claim)


def test_the_report_counts_no_gain_that_was_filled_in(cli: Cli, tmp_path: Path) -> None:
    folder = write(
        tmp_path / "aoe",
        counts(add=23),
        *(operator(f"o{i}", GA=mode(20, 10)) for i in range(21)),
        *(operator(f"f{i}", GA=mode(50, 49)) for i in range(2)),
    )
    page = cli("check", folder, "--format", "markdown").out
    assert "2 gains are unmeasured: AOE fills in a difference of exactly 1 us." in page
    assert "the other 3 save 10 us together" in page


def test_the_site_shows_that_a_claim_is_unmeasured(cli: Cli, tmp_path: Path) -> None:
    folder = write(tmp_path / "aoe", counts(add=2), operator("a", GA=mode(50, 49)), operator("b", GA=mode(20, 10)))
    assert cli("ingest", folder, "--store", tmp_path / "store").code == 0
    assert cli("site", "--store", tmp_path / "store", "-o", tmp_path / "site").code == 0
    (document,) = (tmp_path / "site" / "runs").glob("2026*.json")
    claims = {one["name"]: (one["unmeasured"], one["speed_up"]) for one in json.loads(document.read_text())["claims"]}
    assert claims == {"a": (True, None), "b": (False, 1.0)}
    assert ">unmeasured<" in document.with_suffix(".html").read_text()


def test_a_claim_that_contradicts_its_own_times_is_an_error_everywhere(cli: Cli, tmp_path: Path) -> None:
    folder = write(tmp_path / "aoe", counts(add=1), operator("a", GA=mode(60, 40, claim="999.00%")))
    assert said(cli, folder) == (1, {"improvement-mismatch": "error"})
    suite = ET.fromstring(cli("check", folder, "--format", "junit").out)
    assert [len(list(suite.iter(word))) for word in ("testcase", "failure")] == [1, 1]
    (run,) = cli("check", folder, "--format", "sarif").json["runs"]
    assert [(one["ruleId"], one["level"]) for one in run["results"]] == [("improvement-mismatch", "error")]
    folder = write(tmp_path / "aoe", counts(add=1), operator("a", GA=mode(60, 40, claim="33.33%")))
    assert said(cli, folder) == (0, {"improvement-convention": "warning"}), "the time saved, as the documents call it"


def _requirements(part: Any) -> list[dict[str, Any]]:
    inner = part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
    own = [part] if isinstance(part, dict) and isinstance(part.get("required"), list) else []
    return [*own, *(one for value in inner for one in _requirements(value))]


@pytest.mark.parametrize("path", sorted((ROOT / "schemas").glob("*.json")), ids=lambda path: path.name)
def test_each_requirement_of_a_schema_says_where_it_is_from(path: Path) -> None:
    found = _requirements(json.loads(path.read_text()))
    assert found
    bare = [one["required"] for one in found if "$comment" not in one]
    assert bare in ([], [["performance_improvement"]] * 2), "of an alternative the other one says it"
