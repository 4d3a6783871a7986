"""Every fixture, by glob: drop a file into fixtures/ and it is tested."""

from __future__ import annotations

import re
from pathlib import Path

import jsonschema
import pytest
from commandline import FIXTURES, Cli

from aoe_reports.formats.ascend.tables import TIMELINES
from aoe_reports.formats.ascend.tables.system import SYSTEM_TABLES
from aoe_reports.formats.schemas import load_schema
from aoe_reports.formats.sources.discovery import discover
from aoe_reports.formats.vendor import TABLES
from aoe_reports.jobs.rules import list_rules

VALID = sorted((FIXTURES / "msprof" / "valid").iterdir()) + sorted((FIXTURES / "aoe" / "valid").iterdir())
RULE_FOLDERS = [
    folder
    for source in ("msprof", "rocprof", "aoe", "records", "benchmarks")
    for folder in sorted((FIXTURES / source / "invalid").iterdir())
    if folder.is_dir()
]
CHECKED = [
    *sorted((FIXTURES / "rocprof" / "valid").iterdir()),
    *sorted((FIXTURES / "mindspore" / "valid").iterdir()),
    *sorted((FIXTURES / "msopprof" / "valid").iterdir()),
    *sorted((FIXTURES / "msserviceprofiler" / "valid").iterdir()),
    *sorted((FIXTURES / "benchmarks" / "valid").iterdir()),
    *(f for f in VALID if f.parent.parent.name == "msprof"),
]
"""Whatever tells no time of day is stored with a warning, so only `check` has nothing to say of it."""
INVALID = [
    case
    for folder in RULE_FOLDERS
    for case in sorted(f for f in folder.iterdir() if f.is_dir() and re.fullmatch("[a-z_]+", f.name)) or [folder]
]

ONLY_CHECKED = {
    "phase-unknown",
    "interval-mismatch",
    "memory-time",
    "total-mismatch",
    "forms-disagree/steps",
    "forms-disagree/task_time",
    "json-row/document",
    "step-missing/no_row",
}
"""Damage in what no report is made of: `check` looks there, `ingest` does not."""


def rule_of(case: Path) -> str:
    return next(folder.name for folder in RULE_FOLDERS if case.is_relative_to(folder))


def name_of(case: Path) -> str:
    return case.name if case in RULE_FOLDERS else f"{case.parent.name}/{case.name}"


@pytest.mark.parametrize("folder", VALID, ids=lambda path: path.name)
def test_a_valid_fixture_gives_runs_and_no_complaint(folder: Path, cli: Cli, tmp_path: Path) -> None:
    ended = cli(
        "ingest", folder, "--store", tmp_path / "s", "--workload", "w", "--tz", "UTC", "--strict", "--format", "json"
    )
    assert [finding for finding in ended.json["findings"] if finding["severity"] != "info"] == []
    assert ended.json["rows"]
    assert ended.code == 0


@pytest.mark.parametrize("folder", CHECKED, ids=lambda path: path.name)
def test_check_has_nothing_to_say_of_a_valid_fixture(folder: Path, cli: Cli) -> None:
    ended = cli("check", folder, "--strict", "--format", "json")
    assert [finding for finding in ended.json["findings"] if finding["severity"] != "info"] == []
    assert {row["verdict"] for row in ended.json["rows"]} == {"pass"}
    assert ended.code == 0


IMPLIED = {"failed-without-list": {"tuning-failed"}, "status-alias": {"tuning-incomplete"}}
"""Rules that cannot fire alone."""


@pytest.mark.parametrize("folder", INVALID, ids=name_of)
def test_an_invalid_fixture_fires_its_rule(folder: Path, cli: Cli, tmp_path: Path) -> None:
    """A result fires no other one."""
    rule = rule_of(folder)
    answers = [cli("check", folder, "--format", "json")]
    if folder.is_relative_to(FIXTURES / "aoe"):
        assert answers[0].rules() == {rule} | IMPLIED.get(rule, set())
    if name_of(folder) not in ONLY_CHECKED:
        answers.append(cli("ingest", folder, "--store", tmp_path / "s", "--workload", "w", "--format", "json"))
    for ended in answers:
        found = [finding for finding in ended.json["findings"] if finding["rule"] == rule]
        assert found
        assert ended.code == (1 if any(f["severity"] == "error" for f in ended.json["findings"]) else 0)
        assert all(Path(finding["path"]).is_relative_to(folder) for finding in found)


def test_every_rule_on_results_has_a_fixture() -> None:
    rules = {one.rule for one in list_rules() if one.on in {"AOE results", "gradient banks"}}
    assert rules <= {folder.name for folder in RULE_FOLDERS}


@pytest.mark.parametrize("folder", [f for f in VALID if f.parent.parent.name == "aoe"], ids=lambda p: p.name)
def test_check_has_nothing_at_all_to_say_of_a_valid_result(folder: Path, cli: Cli) -> None:
    ended = cli("check", folder, "--format", "json")
    assert ended.json["findings"] == []
    assert {row["verdict"] for row in ended.json["rows"]} == {"pass"}


READ = {
    "all files", "all JSON files", "AOE results, records", "tables", "timelines", "databases", "records", "runs", "comparisons",
    "the store",
}  # fmt: skip
"""What reading and storing are about."""

NO_SMALL_TEXT = {
    "json-too-large", "csv-syntax", "archive-damaged", "expanded-too-large",
    "unreadable", "nothing-found", "unknown-file", "not-a-file", "broken-link", "link-loop", "sparse-file", "path-too-deep", "too-much-linked",
    "db-damaged", "db-incomplete", "db-value", "db-dangling-id", "db-journal",
    "repeated-export", "superseded", "several-exports", "hccl-stage-rows", "inexact-timestamp", "info-file",
    "less-complete", "stands-in", "no-run", "no-record", "nothing-measured", "operators-capped", "modules-capped",
    "repeated-record", "raw-capped", "older-normaliser", "workload-unknown", "workload-conflict",
    "workload-alike", "workload-changed", "workload-continued", "workload-from", "workload-unchecked", "time-unknown", "time-zone-assumed",
    "rank-skew", "no-baseline", "read-with-care", "trimmed", "unsteady-steps", "batches-apart", "pipeline-bubbles", "no-timeline", "no-location", "no-peers", "peak-unknown", "above-peak", "counters-disagree", "device-unknown", "not-comparable", "comparability-unknown", "compared-by-name", "steps-by-place", "memory-unexplained", "memory-disagrees", "memory-open",
    "store-missing", "store-truncated", "store-damaged", "store-unreadable", "store-log", "store-doubled", "store-half-run", "store-body", "store-row", "store-not-covered", "store-not-compacted", "not-enough-data",
    "nothing-selected", "tasks-beside-each-other", "workload-resembles", "expected-absent", "clock-ahead", "clock-jump", "several-hardware", "hardware-unnamed", "metric-units", "baseline-known-bad", "change-withdrawn", "advice-limited", "plan-unknown",
}  # fmt: skip
"""Rules that take a large file, a database, links, a store, words, a second capture or another command: they are tested elsewhere."""


def test_every_rule_that_a_small_text_can_break_has_a_fixture() -> None:
    rules = {one.rule for one in list_rules() if one.on in READ}
    assert rules >= NO_SMALL_TEXT
    assert rules - NO_SMALL_TEXT <= {folder.name for folder in RULE_FOLDERS}


def test_every_table_and_timeline_is_in_some_valid_fixture() -> None:
    files = discover(
        [
            FIXTURES / source / "valid"
            for source in ("msprof", "rocprof", "mindspore", "msopprof", "msserviceprofiler", "aoe", "memory")
        ]
    ).files
    tables = {kind for file in files for kind in file.holds}
    counters = {table.name for table in SYSTEM_TABLES}
    elsewhere = {"task_time_statistic", "os_runtime_statistic", "pytorch_operator_view"}
    assert set(TABLES) - counters - elsewhere <= tables
    assert (
        {"thread_group", "ge", "runtime_api", "acl", "ge_op_execute", "ai_stack_time", "hccl"}
        <= {file.name.kind for file in files if file.name.timeline}
        <= set(TIMELINES)
    )


@pytest.mark.parametrize("path", sorted((FIXTURES / "records" / "valid").glob("*.json")), ids=lambda path: path.name)
def test_a_valid_record_fits_the_schema(path: Path) -> None:
    import json

    jsonschema.validate(json.loads(path.read_text()), load_schema("record"))


@pytest.mark.parametrize("path", sorted((FIXTURES / "records" / "invalid").glob("*.json")), ids=lambda path: path.name)
def test_an_invalid_record_does_not(path: Path) -> None:
    import json

    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(json.loads(path.read_text()), load_schema("record"))


def test_the_readme_of_the_fixtures_names_every_folder() -> None:
    text = (FIXTURES / "README.md").read_text()
    for folder in [*VALID, *CHECKED]:
        assert f"`{folder.name}`" in text
