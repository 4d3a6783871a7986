"""`check` for CI systems: JUnit XML, SARIF, workflow commands of GitHub."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes
from xml.etree import ElementTree as ET

import pytest
from commandline import FIXTURES, Cli
from documents import check_sarif_schema

RESULT = "aoe_result_opat_20260101020304005_pid4711.json"
INVALID = FIXTURES / "aoe" / "invalid"
FORMATS = ("junit", "sarif", "github")
ODD = "a b%2F#?&=+ 中文 é \x1b[31m\x7f <script>]]> [red]\n::error::x\r##[error]y,z:\t\udcff {0} [l](http://x)"


@pytest.fixture
def odd(tmp_path: Path) -> Path:
    """Damaged results below a folder with every odd character that a name may have; the names stand in messages, too."""
    folder = tmp_path / ODD.replace("/", "\u2044")
    folder.mkdir()
    for rule in ("tuning-failed", "hit-sum", "json-syntax"):
        (folder / rule).mkdir()
        shutil.copy(INVALID / rule / RESULT, folder / rule)
    text = (INVALID / "tuning-failed" / RESULT).read_text()
    (folder / "named").mkdir()
    escaped = json.dumps(ODD.replace("\udcff", "\ufffe\uffff"))[1:-1]
    (folder / "named" / RESULT).write_text(text.replace("fixture", escaped))
    return folder


def _read(text: str) -> ET.Element:
    return ET.fromstring(text)


def _sarif(cli: Cli, *paths: object) -> dict[str, Any]:
    document = cli("check", *paths, "--format", "sarif").json
    check_sarif_schema(document)
    return document["runs"][0]


@pytest.mark.parametrize(
    ("paths", "options", "code"),
    [
        (["aoe/valid/report_flat"], [], 0),
        (["aoe/invalid/tuning-failed"], [], 1),
        (["aoe/invalid/hit-sum"], ["--strict"], 1),
        (["aoe/valid/report_flat", "no such thing"], [], 3),
        (["msprof/invalid/csv-ragged-row"], ["--ignore", "csv-ragged-row"], 0),
    ],
)
def test_the_form_changes_no_exit_code(cli: Cli, paths: list[str], options: list[str], code: int) -> None:
    for form in FORMATS:
        ended = cli("check", *(FIXTURES / path for path in paths), *options, "--format", form)
        assert (ended.code, ended.err) == (code, "")


@pytest.mark.parametrize("form", FORMATS)
def test_the_bytes_are_the_same_each_time_and_in_a_file(cli: Cli, form: str, tmp_path: Path) -> None:
    first, second = INVALID / "hit-sum", FIXTURES / "msprof" / "invalid" / "csv-ragged-row"
    text = cli("check", first, second, "--format", form).out
    assert text == cli("check", second, first, "--format", form).out
    cli("check", first, second, "--format", form, "-o", tmp_path / "new" / "out")
    assert (tmp_path / "new" / "out").read_text() == text


@pytest.mark.parametrize("form", FORMATS)
def test_rules_are_no_results(cli: Cli, form: str) -> None:
    ended = cli("check", "--rules", "--format", form)
    assert (ended.code, ended.out) == (2, "")


@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
def test_junit_has_a_case_a_file_and_says_everything(cli: Cli, strict: bool) -> None:
    arguments = [FIXTURES / "aoe", FIXTURES / "msprof" / "invalid", *(["--strict"] if strict else [])]
    document = cli("check", *arguments, "--format", "json").json
    suite = _read(cli("check", *arguments, "--format", "junit").out)
    assert suite.tag == "testsuites"
    cases = {case.attrib["name"]: case for case in suite.iter("testcase")}
    rows = {row["path"]: row for row in document["rows"]}
    assert {path: case.attrib["classname"] for path, case in cases.items() if path in rows} == {
        path: row["kind"] for path, row in rows.items()
    }
    failing = {"fail", "warn"} if strict else {"fail"}
    assert {path for path, case in cases.items() if path in rows and case.find("failure") is not None} == {
        path for path, row in rows.items() if row["verdict"] in failing
    }
    for element in (suite, *suite):
        assert int(element.attrib["tests"]) == len(cases) == len(list(suite.iter("testcase")))
        assert int(element.attrib["failures"]) == len(list(suite.iter("failure")))
    for finding in document["findings"]:
        bad = finding["severity"] == "error" or (strict and finding["severity"] == "warning")
        place = cases[finding["path"]].find("failure" if bad else "system-out")
        assert place is not None
        assert f"{finding['message']}" in (place.text or "")


def test_junit_gives_what_is_no_checked_file_a_case_of_its_own(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    suite = _read(cli("check", FIXTURES / "aoe" / "valid", tmp_path / "empty", tmp_path / "x", "--format", "junit").out)
    failed = {case.attrib["name"]: case[0].attrib["type"] for case in suite.iter("testcase") if len(case)}
    assert failed == {str(tmp_path / "empty"): "nothing-found", str(tmp_path / "x"): "unreadable"}


def test_junit_survives_every_character(cli: Cli, odd: Path) -> None:
    ended = cli("check", odd, "--format", "junit")
    suite = _read(ended.out)
    assert suite.attrib["tests"] == "4"
    assert {case.attrib["classname"] for case in suite.iter("testcase")} == {"opat"}
    assert "<script" not in ended.out
    assert not re.search(r"[^\n\x20-\x7e\xa0-\ud7ff\ue000-\ufffd]", ended.out)
    ended.out.encode()


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["aoe", "msprof/invalid"])
def test_sarif_is_what_the_standard_says(cli: Cli, folder: str) -> None:
    run = _sarif(cli, FIXTURES / folder, FIXTURES / "nothing")
    document = cli("check", FIXTURES / folder, FIXTURES / "nothing", "--format", "json").json
    findings = document["findings"]
    checked = [artifact for artifact in run["artifacts"] if artifact.get("roles") == ["analysisTarget"]]
    assert len(checked) == len(document["rows"])
    rules = run["tool"]["driver"]["rules"]
    assert "informationUri" not in run["tool"]["driver"]
    assert [rule["id"] for rule in rules] == [
        row["rule"] for row in cli("check", "--rules", "--format", "json").json["rows"]
    ]
    assert len(run["results"]) == len(findings)
    levels = {"error": "error", "warning": "warning", "info": "note"}
    for result, finding in zip(run["results"], findings, strict=True):
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"] == finding["rule"]
        assert result["level"] == levels[finding["severity"]]
        (location,) = result["locations"]
        place = location["physicalLocation"]
        assert place.get("region", {}).get("startLine") == finding["line"]
        assert (
            run["artifacts"][place["artifactLocation"]["index"]]["location"]["uri"] == place["artifactLocation"]["uri"]
        )
        if finding["pointer"]:
            assert location["logicalLocations"][0]["fullyQualifiedName"] == finding["pointer"]


def test_sarif_counts_characters_in_json_and_names_columns_of_tables(cli: Cli) -> None:
    (syntax,) = _sarif(cli, INVALID / "json-syntax")["results"]
    assert syntax["locations"][0]["physicalLocation"]["region"].keys() == {"startLine", "startColumn"}
    first, *_ = _sarif(cli, FIXTURES / "msprof" / "invalid" / "negative-duration")["results"]
    assert first["locations"][0]["physicalLocation"]["region"] == {"startLine": 7}
    assert first["locations"][0]["logicalLocations"] == [{"name": "column 10"}]


def test_sarif_locates_files_from_the_working_directory(cli: Cli, odd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(odd.parent)
    for given in (odd, Path(odd.name), Path("..") / odd.parent.name / odd.name):
        run = _sarif(cli, given)
        places = [artifact["location"] for artifact in run["artifacts"]]
        assert {place["uriBaseId"] for place in places} == {"%SRCROOT%"}
        assert all(re.fullmatch(r"(?:[A-Za-z0-9._~/-]|%[0-9A-F]{2})+", place["uri"]) for place in places)
        assert all(Path(os.fsdecode(unquote_to_bytes(place["uri"]))).is_file() for place in places)
        assert {place["uri"][0] for place in places} == {"a"}
    monkeypatch.chdir(FIXTURES)
    for artifact in _sarif(cli, odd)["artifacts"]:
        scheme, path = artifact["location"]["uri"].split("://")
        assert scheme == "file"
        assert Path(os.fsdecode(unquote_to_bytes(path))).is_file()


def test_sarif_takes_no_name_for_a_placeholder_or_a_link(cli: Cli, odd: Path) -> None:
    texts = [result["message"]["text"] for result in _sarif(cli, odd / "named")["results"]]
    assert any("{{0}} [l] (http://x)" in text for text in texts)
    assert not any(re.search(r"[\x00-\x1f\x7f]|(?<!\{)\{\d|\]\(", text) for text in texts)


def _unescaped(text: str) -> str:
    for escape, char in (("%3A", ":"), ("%2C", ","), ("%0D", "\r"), ("%0A", "\n"), ("%25", "%")):
        text = text.replace(escape, char)
    return text


def test_github_gets_a_command_a_finding_and_a_count(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(FIXTURES)
    arguments = ("aoe", "msprof/invalid/negative-duration", "msprof/invalid/csv-ragged-row")
    document = cli("check", *arguments, "--format", "json").json
    *commands, last = cli("check", *arguments, "--format", "github").out.splitlines()
    for command, finding in zip(commands, document["findings"], strict=True):
        _, head, message = command.split("::", 2)
        kind, _, properties = head.partition(" ")
        told = {name: _unescaped(value) for name, value in (part.split("=", 1) for part in properties.split(","))}
        assert kind == {"info": "notice"}.get(finding["severity"], finding["severity"])
        assert (told["file"], told["title"]) == (finding["path"], finding["rule"])
        assert told.get("line") == (None if finding["line"] is None else str(finding["line"]))
        assert _unescaped(message).startswith(finding["message"])
    severities = [finding["severity"] for finding in document["findings"]]
    errors, warnings, infos = (severities.count(name) for name in ("error", "warning", "info"))
    assert last == (
        f"{len(document['rows'])} files checked: {errors} errors, {warnings} warnings, {infos} notices; "
        "GitHub shows 10 annotations of each kind a step, the log above has all"
    )


def test_github_is_given_no_command_by_a_name(cli: Cli, odd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(odd)
    (odd / "::error::x").mkdir()
    shutil.copy(INVALID / "hit-sum" / RESULT, odd / "::error::x")
    for paths in ([Path()], [odd], ["::error::x", "named"]):
        ended = cli("check", *paths, "--format", "github")
        *commands, last = ended.out.splitlines()
        assert ended.err == ""
        assert last.endswith("notices")
        for command in commands:
            assert re.match(
                r"::(?:error|warning|notice) file=[^:,]+,(?:line=\d+,)?(?:col=\d+,)?title=[a-z-]+::", command
            )
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", ended.out)


def test_github_names_files_as_they_are(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "100%,\n中:x"
    folder.mkdir()
    shutil.copy(INVALID / "hit-sum" / RESULT, folder)
    monkeypatch.chdir(tmp_path)
    out = cli("check", folder, "--format", "github").out
    assert out.startswith(f"::warning file=100%25%2C%0A中%3Ax/{RESULT},line=46,col=25,title=hit-sum::")
