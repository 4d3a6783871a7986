"""Every fixture of recordings of memory, by glob: `check` passes what is valid and names the rule of what is not."""

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


def test_memory_lists_what_logs_state_of_the_rank_that_is_asked_for(cli: Cli) -> None:
    ended = cli("memory", FIXTURES / "memory" / "valid" / "server_logs", "--rank", "1", "--format", "json")
    rows = [(row["what"], row["size_bytes"], row["number"], row["line"]) for row in ended.json["statements"]]
    assert rows == [
        ("weights", 29 << 29, None, 2),
        ("allocation that failed", 3 << 29, None, 9),
        ("whole device", 64 << 30, None, 9),
        ("device, free", 5 << 28, None, 9),
    ]
    assert ended.code == 0


def test_memory_of_a_snapshot_is_that_of_its_allocator(cli: Cli) -> None:
    ended = cli("memory", FIXTURES / "memory" / "valid" / "snapshots", "--format", "json")
    assert [(row["rank_id"], row["peak_bytes"]) for row in ended.json["devices"]] == [(0, 18665472), (1, 18665472)]
    for rank in (0, 1):
        assert sum(row["size_bytes"] for row in ended.json["rows"] if row["rank_id"] == rank) == 18665472


def test_what_a_recording_names_nobody_for_is_not_called_older_than_it(cli: Cli) -> None:
    ended = cli("memory", FIXTURES / "memory" / "invalid" / "memory-exhausted", "--format", "json")
    assert [(row["owner"], row["since_before"]) for row in ended.json["rows"]] == [
        ("allocated for an unknown owner", False)
    ]
