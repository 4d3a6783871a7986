"""Every fixture of recordings of memory, by glob: `check` passes what is valid and tells the rule of what is not."""

from __future__ import annotations

from pathlib import Path

import pytest
from commandline import FIXTURES, Cli

VALID = sorted((FIXTURES / "memory" / "valid").iterdir())
INVALID = sorted((FIXTURES / "memory" / "invalid").iterdir())


@pytest.mark.parametrize("folder", VALID, ids=lambda path: path.name)
def test_check_has_nothing_to_say_of_a_valid_recording(folder: Path, cli: Cli) -> None:
    ended = cli("check", folder, "--strict", "--format", "json")
    assert [finding for finding in ended.json["findings"] if finding["severity"] != "info"] == []
    assert ended.json["rows"]
    assert {row["verdict"] for row in ended.json["rows"]} == {"pass"}


@pytest.mark.parametrize("folder", [one for one in INVALID if one.name != "refused"], ids=lambda path: path.name)
def test_check_tells_the_damage_of_a_recording(folder: Path, cli: Cli) -> None:
    ended = cli("check", folder, "--strict", "--format", "json")
    assert {finding["rule"] for finding in ended.json["findings"] if finding["severity"] != "info"} == {folder.name}
    assert ended.code == 1


def test_a_pickle_that_would_run_code_is_not_read_and_says_why(cli: Cli) -> None:
    ended = cli("check", FIXTURES / "memory" / "invalid" / "refused")
    assert "may run code" in ended.out + ended.err
    assert ended.code == 3
