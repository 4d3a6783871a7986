"""Folders that somebody made to keep us busy: deep, linked in circles, full of pipes, hollow, or blown up. Each is said, and ends."""

from __future__ import annotations

import gzip
import os
import pty
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from commandline import FIXTURES, Cli, Ended

from aoe_reports.formats.sources import discovery, expand, identify
from aoe_reports.formats.sources.discovery import discover

PROFILE = FIXTURES / "msprof" / "valid" / "torch_npu_two_ranks"
KERNELS = PROFILE / "rank0_ascend_pt" / "ASCEND_PROFILER_OUTPUT" / "kernel_details.csv"
HEADER = KERNELS.read_text().splitlines(keepends=True)[0]
COMMANDS = ("inspect", "check", "hotspots", "ingest", "nightly")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder with one healthy file."""
    (tmp_path / "data").mkdir()
    shutil.copy(KERNELS, tmp_path / "data")
    return tmp_path / "data"


@pytest.fixture(params=COMMANDS)
def ask(request: pytest.FixtureRequest, cli: Cli, tmp_path: Path) -> Iterator[object]:
    """Each command that reads folders, as JSON."""
    store = ["--store", tmp_path / "store"] if request.param in {"ingest", "nightly"} else []
    return lambda *args: cli(request.param, *args, *store, "--format", "json")


def of_rule(ended: Ended, rule: str) -> list[dict]:
    return [finding for finding in ended.json["findings"] if finding["rule"] == rule]


def nest(folder: Path, name: str, count: int) -> None:
    """Folders below one another, made one by one: no path leads to the last."""
    here = os.open(folder, os.O_DIRECTORY)
    for _ in range(count):
        os.mkdir(name, dir_fd=here)
        below = os.open(name, os.O_DIRECTORY, dir_fd=here)
        os.close(here)
        here = below
    handle = os.open("kernel_details.csv", os.O_CREAT | os.O_WRONLY, dir_fd=here)
    os.write(handle, KERNELS.read_bytes())
    os.close(handle)
    os.close(here)


def test_folders_below_folders_end_and_what_is_not_read_is_said(ask: Cli, data: Path) -> None:
    nest(data, "d", 400)
    ended = ask(data)
    (finding,) = of_rule(ended, "path-too-deep")
    assert (ended.code, finding["severity"], len(ended.json["rows"]) > 0) == (3, "error", True)
    assert finding["path"] == str(data) + "/d" * 101
    assert finding["message"] == "more than 100 nested folders; the content here is not read"


def test_a_path_longer_than_the_system_takes_is_said(ask: Cli, data: Path) -> None:
    nest(data, "d" * 200, 30)
    ended = ask(data)
    (finding,) = of_rule(ended, "unreadable")
    assert (ended.code, len(ended.json["rows"]) > 0) == (3, True)
    assert finding["message"] == "the folder cannot be read: File name too long"


def test_a_hundred_folders_deep_is_read(cli: Cli, data: Path) -> None:
    nest(data, "d", 100)
    ended = cli("inspect", data, "--format", "json")
    assert (ended.code, len(discover([data]).files)) == (0, 2)


def test_where_a_folder_really_lies_is_not_asked_again_for_each(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What that takes grows with the depth: the square of it for folders below folders."""
    nest(data, "d", 90)
    asked = []
    real = os.path.realpath
    monkeypatch.setattr(os.path, "realpath", lambda *args, **more: asked.append(args) or real(*args, **more))
    assert len(discover([data]).files) == 2
    assert len(asked) <= 2


@pytest.mark.parametrize("target", ["/", "..", "../..", "."])
def test_a_link_to_what_holds_it_is_not_followed(ask: Cli, data: Path, target: str) -> None:
    (data / "below").mkdir()
    shutil.copy(KERNELS, data.parent / "outside.csv")
    (data / "below" / "link").symlink_to(data / "below" / target)
    (data / "direct").symlink_to(target)
    ended = ask(data)
    found = of_rule(ended, "link-loop")
    assert {finding["path"] for finding in found} == {str(data / "below" / "link"), str(data / "direct")}
    assert all("; not followed" in finding["message"] for finding in found)
    assert "outside.csv" not in ended.out
    assert ended.code == 0


def test_linked_data_are_read_and_once_however_many_links_lead_there(cli: Cli, data: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    shutil.copytree(PROFILE, tmp_path / "elsewhere" / "night")
    plain = cli("hotspots", tmp_path / "elsewhere" / "night", "--format", "json").json["rows"]
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "one").symlink_to(tmp_path / "elsewhere" / "night")
    (tmp_path / "links" / "two").symlink_to(tmp_path / "links" / "one")
    (tmp_path / "elsewhere" / "night" / "up").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere" / "night" / "back").symlink_to(tmp_path / "links")
    ended = cli("hotspots", tmp_path / "links", "--format", "json")
    facts = [{key: value for key, value in row.items() if key not in {"path", "run"}} for row in ended.json["rows"]]
    assert facts == [{key: value for key, value in row.items() if key not in {"path", "run"}} for row in plain]
    messages = sorted((Path(found["path"]).name, found["message"]) for found in of_rule(ended, "link-loop"))
    assert messages == [
        ("back", "this link leads to a folder that contains it; not followed"),
        ("one", "this link leads to a folder that has already been read; skipped"),
        ("up", "this link leads to a folder that contains it; not followed"),
    ]


def test_a_link_to_somebodys_whole_disk_ends_and_is_said(
    ask: Cli, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(discovery, "MAX_LINKED", 40)
    for number in range(30):
        (tmp_path / "disk" / f"{number:02}" / "x").mkdir(parents=True)
    (data / "disk").symlink_to(tmp_path / "disk")
    for number in range(60):
        (data / f"own{number}").mkdir()
    ended = ask(data)
    (finding,) = of_rule(ended, "too-much-linked")
    assert (ended.code, len(ended.json["rows"]) > 0) == (3, True)
    assert f"links that lead out of {data} contain more than 40 files and folders; " in finding["message"]
    monkeypatch.setattr(discovery, "MAX_LINKED", 60)
    assert of_rule(ask(data), "too-much-linked") == []


def test_thousands_of_pipes_are_counted_and_none_is_opened(ask: Cli, data: Path) -> None:
    for number in range(1000):
        os.mkfifo(data / f"op_summary_{number:04}.csv")
        (data / f"nowhere{number:04}").symlink_to("nothing")
    ended = ask(data)
    for rule in ("not-a-file", "broken-link"):
        found = of_rule(ended, rule)
        assert len(found) == 21
        assert sum(finding["message"].startswith("and 980 more: ") for finding in found) == 1
    assert len(ended.json["rows"]) > 0
    assert ended.code == 0


def test_a_pipe_named_like_an_info_file_keeps_nobody_waiting(tmp_path: Path) -> None:
    shutil.copytree(PROFILE, tmp_path / "data")
    info = next((tmp_path / "data" / "rank0_ascend_pt").glob("profiler_info*"))
    info.unlink()
    os.mkfifo(info)
    command = [sys.executable, "-m", "aoe_reports", "hotspots", str(tmp_path / "data")]
    assert subprocess.run(command, capture_output=True, timeout=300, check=False).returncode == 0


@pytest.mark.parametrize("name", ["kernel_details.csv", "mine.csv", "trace_view.json", "kernel_details.csv.gz"])
def test_a_hollow_file_of_terabytes_is_refused(ask: Cli, data: Path, name: str) -> None:
    (data / "hollow").mkdir()
    path = data / "hollow" / name
    path.write_bytes(KERNELS.read_bytes())
    os.truncate(path, 1 << 40)
    for place in (data, path):
        ended = ask(place)
        (finding,) = of_rule(ended, "sparse-file")
        assert finding["path"] == str(path)
        assert "never written" in finding["message"]
        assert ended.code == 1
        assert (len(ended.json["rows"]) > 0) == (place == data)


def test_a_large_file_that_was_written_is_read(cli: Cli, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(identify, "SPARSE_FROM_BYTES", 1)
    assert cli("hotspots", data).code == 0
    os.truncate(data / "kernel_details.csv", 1 << 20)
    assert cli("hotspots", data, "--format", "json").rules() == {"sparse-file"}


def test_a_small_file_that_blows_up_is_refused_with_the_option_that_allows_it(
    ask: Cli, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(expand, "RATIO_FROM_BYTES", 1 << 20)
    bomb = data / "bomb" / "kernel_details.csv.gz"
    bomb.parent.mkdir()
    bomb.write_bytes(gzip.compress(HEADER.encode() + b"x" * (8 << 20)))
    assert bomb.stat().st_size < (8 << 20) / 200
    for place in (data, bomb):
        ended = ask(place)
        for finding in of_rule(ended, "expanded-too-large") or pytest.fail("not said"):
            assert "expands to more than 200 times its size" in finding["message"]
            assert "--max-expanded BYTES" in finding["message"]
        assert ended.code == 1
    told = ask(bomb, "--max-expanded", 1 << 30)
    assert of_rule(told, "expanded-too-large") == []
    told = ask(bomb, "--max-expanded", 5 << 20)
    assert "expands to more than 5242880 bytes" in of_rule(told, "expanded-too-large")[0]["message"]
    assert "--max-expanded BYTES" in of_rule(told, "expanded-too-large")[0]["message"]


def test_what_real_exports_compress_to_is_read(cli: Cli, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expand, "RATIO_FROM_BYTES", 1)
    rows = KERNELS.read_text().splitlines(keepends=True)
    (data / "kernel_details.csv").unlink()
    (data / "kernel_details.csv.gz").write_bytes(gzip.compress("".join([rows[0], *rows[1:]]).encode()))
    assert cli("hotspots", data).code == 0
    assert (identify.MAX_EXPANDED_BYTES, expand.MAX_RATIO) == (1 << 30, 200)


def test_findings_of_one_rule_are_listed_to_people_up_to_a_hundred_and_counted(cli: Cli, tmp_path: Path) -> None:
    for number in range(150):
        (tmp_path / f"aoe_result_opat_20260101020304005_pid{number + 1}.json").write_text("[")
    told = cli("check", tmp_path, "--format", "json").json["findings"]
    assert [finding["rule"] for finding in told] == ["json-truncated"] * 150
    more = "…: error: and 50 more of this rule, not listed here [json-truncated]"
    for ended in (cli("check", tmp_path), cli("inspect", tmp_path)):
        lines = [line for line in (ended.out + ended.err).splitlines() if line.endswith("[json-truncated]")]
        assert len(lines) == 101
        assert lines[-1] == more
        assert ended.code == 1
    page = cli("check", tmp_path, "--format", "markdown").out
    assert page.count("and 50 more of this rule, not listed here") == 1


def run_on_terminal(*args: object, **environment: str) -> str:
    """What a command shows on a terminal that is its stderr."""
    leader, follower = pty.openpty()
    command = [sys.executable, "-m", "aoe_reports", *map(str, args)]
    variables = {**os.environ, "TERM": "xterm", "COLUMNS": "60", **environment}
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=follower, env=variables):
        os.close(follower)
        shown = b""
        while True:
            try:
                block = os.read(leader, 4096)
            except OSError:  # nobody has the other side any more
                break
            if not block:
                break
            shown += block
    os.close(leader)
    return shown.decode()


@pytest.mark.slow
@pytest.mark.parametrize("command", ["ingest", "nightly"])
def test_no_progress_is_shown_where_no_line_can_be_written_over(
    cli: Cli, command: str, data: Path, tmp_path: Path
) -> None:
    assert "\x1b" not in run_on_terminal(command, data, "--store", tmp_path / "two", TERM="dumb")
    caught = cli(command, data, "--store", tmp_path / "three").err
    assert [mark for mark in ("reading", "\r", "\x1b") if mark in caught] == []
