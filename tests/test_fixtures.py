"""Every fixture, by glob: drop a file into fixtures/ and it is tested."""

from __future__ import annotations

from pathlib import Path

import jsonschema
import pytest
from commandline import FIXTURES, Cli

from aoe_reports.schemas import load_schema

VALID = sorted((FIXTURES / "msprof" / "valid").iterdir()) + sorted((FIXTURES / "aoe" / "valid").iterdir())
INVALID = sorted((FIXTURES / "msprof" / "invalid").iterdir()) + sorted((FIXTURES / "aoe" / "invalid").iterdir())


@pytest.mark.parametrize("folder", VALID, ids=lambda path: path.name)
def test_a_valid_fixture_gives_runs_and_no_complaint(folder: Path, cli: Cli, tmp_path: Path) -> None:
    ended = cli(
        "nightly", folder, "--store", tmp_path / "s", "--workload", "w", "--tz", "UTC", "--strict", "--format", "json"
    )
    assert [finding for finding in ended.json["findings"] if finding["severity"] != "info"] == []
    assert ended.json["rows"]
    assert ended.code == 0


@pytest.mark.parametrize("folder", INVALID, ids=lambda path: path.name)
def test_an_invalid_fixture_fires_its_rule(folder: Path, cli: Cli, tmp_path: Path) -> None:
    ended = cli("nightly", folder, "--store", tmp_path / "s", "--workload", "w", "--format", "json")
    found = [finding for finding in ended.json["findings"] if finding["rule"] == folder.name]
    assert found
    assert ended.code == (1 if any(f["severity"] == "error" for f in ended.json["findings"]) else 0)
    assert all(Path(finding["path"]).is_relative_to(folder) for finding in found)


@pytest.mark.parametrize("folder", [f for f in INVALID if f.parent.parent.name == "aoe"], ids=lambda path: path.name)
def test_check_finds_the_same_rule(folder: Path, cli: Cli) -> None:
    assert folder.name in cli("check", folder, "--format", "json").rules()


def test_every_rule_on_results_has_a_fixture() -> None:
    from aoe_reports.checks.results import RULES

    assert set(RULES) <= {folder.name for folder in INVALID}


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
    for folder in VALID:
        assert f"`{folder.name}`" in text
