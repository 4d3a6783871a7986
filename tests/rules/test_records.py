"""Files of benchmark log records: one, a list, one a line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commandline import FIXTURES, Cli

from aoe_reports.model.findings import EXAMPLES_PER_RULE
from aoe_reports.rules.records import check_records_file

GOOD = json.loads(next((FIXTURES / "records" / "valid").glob("*.json")).read_text())
BAD = {**GOOD, "runtime_ms_mean": "fast"}


@pytest.mark.parametrize(
    ("name", "text", "places"),
    [
        ("a.json", json.dumps(GOOD), []),
        ("a.json", json.dumps([GOOD, BAD, GOOD]), ["/1/runtime_ms_mean"]),
        ("a.json", json.dumps(BAD), ["/runtime_ms_mean"]),
        ("a.jsonl", f"{json.dumps(GOOD)}\n\n{json.dumps(BAD)}\n", ["/runtime_ms_mean"]),
    ],
)
def test_records_are_found_by_their_content_and_checked(
    cli: Cli, tmp_path: Path, name: str, text: str, places: list[str]
) -> None:
    (tmp_path / name).write_text(text)
    ended = cli("check", tmp_path, "--format", "json")
    assert [(row["kind"], row["verdict"]) for row in ended.json["rows"]] == [("record", "fail" if places else "pass")]
    assert [finding["pointer"] for finding in ended.json["findings"]] == places
    assert ended.code == bool(places)


def test_a_line_that_is_no_record_is_named_by_its_line(cli: Cli, tmp_path: Path) -> None:
    lines = [json.dumps(GOOD), json.dumps(BAD), '{"workload": ', json.dumps(GOOD)[:-1] + ', "workload": 1}', "[] x"]
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    found = cli("check", tmp_path, "--format", "json").json["findings"]
    assert [(f["line"], f["rule"]) for f in found] == [
        (2, "schema"),
        (3, "json-truncated"),
        (4, "json-duplicate-key"),
        (5, "json-syntax"),
    ]


def test_what_normalize_writes_is_checked_and_well(cli: Cli, aoe: Path, tmp_path: Path) -> None:
    for name in ("r.json", "r.jsonl"):
        cli("ingest", "--dry-run", aoe / "array_grouped", "--workload", "net", "--tz", "UTC", "-o", tmp_path / name)
    ended = cli("check", tmp_path, "--format", "json")
    assert [(row["kind"], row["verdict"]) for row in ended.json["rows"]] == [("record", "pass")] * 2
    ended = cli("inspect", tmp_path, "--format", "json")
    told = [(row["kind"], row["source"], row["rows"]) for row in ended.json["rows"]]
    assert (ended.code, told) == (0, [("record", "foreign", 8)] * 2)


def test_many_bad_records_are_counted(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps([BAD] * 100))
    found = cli("check", tmp_path, "--format", "json").json["findings"]
    assert len(found) == 21
    assert any("80 more" in finding["message"] for finding in found)


def said(tmp_path: Path, *documents: object) -> list[tuple[str, str | None]]:
    """(rule, pointer) of what is said of a list of records."""
    path = tmp_path / "r.json"
    path.write_text(json.dumps(list(documents)))
    return [(finding.rule, finding.pointer) for finding in check_records_file(path)]


@pytest.mark.parametrize("time", ["1572282699", 1572282699.5, "20191123003411", "2019-11-23T00:34:11Z"])
def test_a_time_in_a_known_format_is_one(tmp_path: Path, time: object) -> None:
    assert said(tmp_path, {**GOOD, "timestamp": time}) == []


@pytest.mark.parametrize("time", ["yesterday", 15722826, "2019-13-23T00:34:11Z"])
def test_a_time_in_an_unknown_format_is_named(tmp_path: Path, time: object) -> None:
    assert said(tmp_path, GOOD, {**GOOD, "timestamp": time}) == [("timestamp-form", "/1/timestamp")]


@pytest.mark.parametrize("name", ["runtime_ms_mean", "runtime_ms_std"])
@pytest.mark.parametrize(("number", "is_kept"), [(2**53, True), (2**53 + 1, False), (10**400, False), (0.1, True)])
def test_a_number_that_a_float_does_not_hold(tmp_path: Path, name: str, number: float, is_kept: bool) -> None:
    assert said(tmp_path, {**GOOD, name: number}) == ([] if is_kept else [("record-number", f"/0/{name}")])


def test_a_document_that_is_no_record(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_text("3")
    (finding,) = check_records_file(path)
    assert (finding.rule, finding.pointer, finding.message) == ("schema", "", "neither a record nor a list of records")
    assert said(tmp_path, GOOD, 3) == [("schema", "/1")]


@pytest.mark.parametrize("count", [EXAMPLES_PER_RULE - 1, EXAMPLES_PER_RULE, EXAMPLES_PER_RULE + 1])
def test_the_first_bad_records_are_named_by_their_place(tmp_path: Path, count: int) -> None:
    found = said(tmp_path, *[BAD] * count)
    shown = [("schema", f"/{number}/runtime_ms_mean") for number in range(min(count, EXAMPLES_PER_RULE))]
    assert found == (shown if count <= EXAMPLES_PER_RULE else [*shown, ("schema", None)])
