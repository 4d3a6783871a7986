"""`--jobs`: several processes print what one prints."""

from __future__ import annotations

from pathlib import Path

import pytest
from commandline import FIXTURES, Cli


def test_two_processes_print_what_one_prints(cli: Cli, msprof: Path) -> None:
    paths = [msprof / name for name in ("communication_of_four_ranks", "merged_two_devices", "torch_npu_two_ranks")]
    alone = cli("advise", *paths)
    assert cli("advise", *paths, "--jobs", "2") == alone
    assert len(alone.out) > 500


def test_files_are_checked_in_two_processes_as_in_one(cli: Cli) -> None:
    paths = [FIXTURES / "aoe" / "invalid", FIXTURES / "msprof" / "invalid" / "csv-ragged-row"]
    assert cli("check", *paths, "--jobs", "2") == cli("check", *paths)


def test_there_is_at_least_one_process(cli: Cli, msprof: Path) -> None:
    assert cli("hotspots", msprof / "ten_iterations", "--jobs", "0").code == 2


def test_a_file_that_came_with_data_starts_no_processes(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "aoe-reports.toml").write_text("jobs = 1000\n")
    monkeypatch.chdir(tmp_path)
    ended = cli("hotspots", ".")
    assert (ended.code, "a project file cannot set this" in ended.err) == (2, True)
