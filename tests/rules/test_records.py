"""Files of benchmark log records: one, a list, one a line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commandline import FIXTURES, Cli

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
        cli("normalize", aoe / "array_grouped", "--workload", "net", "--tz", "UTC", "-o", tmp_path / name)
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
