"""What comes out of files steers neither a terminal nor a spreadsheet; files and pipes get every byte as it is."""

from __future__ import annotations

import csv
import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest
from commandline import Cli

from aoe_reports.cli.terminal import screen_of
from aoe_reports.simulation.tuning import TUNED, write_loop

EVIL = "=cmd|' /C calc'!A0\x1b]0;title\x07\x9b31mred\u202etxt.exe\u2028\u200f\U000e0041end"
CONTROLS = ("\x1b", "\x07", "\x9b", "\u202e", "\u2028", "\u200f", "\U000e0041")
RECORD = {
    "schema_version": "0.1", "workload": EVIL, "engine": "e", "hardware": "h", "runtime_ms_mean": 1.5, "runtime_ms_std": None,
    "timestamp": "2026-01-02T03:04:05Z", "metadata": {EVIL: EVIL},
}  # fmt: skip


@pytest.fixture
def records(tmp_path: Path) -> Path:
    path = tmp_path / "records.jsonl"
    path.write_text(json.dumps(RECORD, ensure_ascii=False) + "\n")
    return path


PROGRESS = re.compile(r"\x1b\[\?25[lh]|\x1b\[1A|\r?\x1b\[2K")
COLOURS = re.compile(r"\x1b\[(?:0|1|31|32|33)m")
"""The only control sequences that a terminal is given beside those of a line that begins anew."""


def on_terminal(*arguments: object, columns: int = 200, **environment: str) -> tuple[int, str]:
    """(exit code, everything that a terminal was given)."""
    control, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    command = [sys.executable, "-m", "aoe_reports", *map(str, arguments)]
    variables = {
        name: value for name, value in os.environ.items() if name not in {"COLUMNS", "NO_COLOR", "CLICOLOR_FORCE"}
    }
    variables |= {"TERM": "xterm", **environment}
    with subprocess.Popen(command, stdin=terminal, stdout=terminal, stderr=terminal, env=variables) as process:
        os.close(terminal)
        found = b""
        while True:
            try:
                piece = os.read(control, 65536)
            except OSError:  # nobody is at the other end any more
                break
            found += piece
    os.close(control)
    return process.returncode, found.decode()


def test_no_command_lets_a_file_steer_the_terminal(cli: Cli, records: Path, tmp_path: Path) -> None:
    store = ("--store", tmp_path / "s")
    assert cli("ingest", records, *store).code == 0
    missing = tmp_path / f"no{EVIL.replace('/', '')}"
    for command in (
        ("ingest", "--dry-run", records),
        ("store", "history", "--format", "csv", *store),
        ("report", *store),
        ("check", missing),
        ("hotspots", "--by", EVIL, records),
        (EVIL, "--help"),
    ):
        code, shown = on_terminal(*command)
        assert code in {0, 1, 2, 3}, shown
        shown = COLOURS.sub("", PROGRESS.sub("", shown))
        assert not [name for name in CONTROLS if name in shown], (command, shown)
        assert "u001b[K" not in shown


def test_json_on_a_terminal_is_the_same_json(cli: Cli, records: Path) -> None:
    piped = cli("ingest", "--dry-run", records).out
    _, shown = on_terminal("ingest", "--dry-run", records)
    first = shown.splitlines()[0]
    assert json.loads(first) == json.loads(piped)
    assert EVIL.encode() in json.loads(piped)["workload"].encode()
    assert "\u202e" in piped


def test_chinese_stays_chinese_on_a_terminal(records: Path) -> None:
    _, shown = on_terminal("check", records, "--lang", "zh")
    assert any("\u4e00" <= char <= "\u9fff" for char in shown)
    assert "\\u" not in shown


def test_an_exported_csv_holds_no_command(cli: Cli, records: Path, tmp_path: Path) -> None:
    store = ("--store", tmp_path / "s")
    assert cli("ingest", records, *store).code == 0
    assert cli("store", "history", "records", "--format", "csv", "-o", tmp_path / "x.csv", *store).code == 0
    text = (tmp_path / "x.csv").read_text()
    assert not [name for name in CONTROLS if name in text]
    cells = [cell for row in csv.reader(text.splitlines()) for cell in row]
    assert not [cell for cell in cells if cell.startswith(("=", "+", "@", "\t"))]
    assert any(cell.startswith("'=cmd") for cell in cells)


def test_records_that_come_back_keep_every_byte(cli: Cli, records: Path, tmp_path: Path) -> None:
    assert cli("ingest", records, "--store", tmp_path / "s").code == 0
    lines = ("store", "history", "records", "--format", "jsonl", "--store")
    assert cli(*lines, tmp_path / "s", "-o", tmp_path / "rows.jsonl").code == 0
    assert cli("ingest", tmp_path / "rows.jsonl", "--store", tmp_path / "back").code == 0
    assert json.loads(cli(*lines, tmp_path / "back").out)["workload"] == EVIL


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    """Two operators with long names."""
    header = "Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us)"
    rows = [f"block/{'long/' * 12}{name},Add,AI_CORE,{start},{start}" for name, start in (("a", 10), ("b", 20))]
    folder = tmp_path / "p"
    folder.mkdir()
    (folder / "op_summary_20260101000000.csv").write_text("\n".join([header, *rows, ""]))
    return folder


@pytest.mark.parametrize("columns", [60, 120])
def test_a_table_fits_the_terminal(profile: Path, columns: int) -> None:
    code, shown = on_terminal("hotspots", profile, "--by", "op_name", columns=columns)
    assert code == 0
    lines = [line.rstrip() for line in COLOURS.sub("", shown).splitlines()]
    title = next(number for number, line in enumerate(lines) if line.endswith("Hotspots"))  # behind what was being read
    table = lines[title + 2 :]
    assert [line for line in table if len(line) > columns and "/p" not in line] == []
    assert "…" in shown
    assert ("Left out to fit the terminal: " in shown) == (columns < 120)


def test_a_pipe_gets_every_column_and_no_colour(cli: Cli, profile: Path) -> None:
    ended = cli("hotspots", profile, "--by", "op_name")
    assert "Cumulative" in ended.out
    assert "\x1b" not in ended.out + ended.err


@pytest.mark.parametrize(
    ("environment", "coloured"),
    [
        ({}, True),
        ({"NO_COLOR": "1"}, False),
        ({"NO_COLOR": ""}, True),
        ({"NO_COLOR": "1", "CLICOLOR_FORCE": "1"}, False),
        ({"CLICOLOR": "0"}, False),
        ({"CLICOLOR": "1"}, True),
        ({"CLICOLOR": "0", "CLICOLOR_FORCE": "1"}, True),
        ({"TERM": "dumb"}, False),
    ],
)
def test_the_environment_says_whether_there_are_colours(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], coloured: bool
) -> None:
    for name in ("NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"TERM": "xterm", **environment}.items():
        monkeypatch.setenv(name, value)
    control, terminal = pty.openpty()
    with os.fdopen(terminal, "w") as stream, os.fdopen(control):
        assert screen_of(stream).colour == coloured


def test_a_terminal_shows_errors_in_red(tmp_path: Path) -> None:
    (tmp_path / "op_summary_20260101000000.csv").write_text("Op Name,OP Type\n")
    _, shown = on_terminal("check", tmp_path)
    assert "\x1b[31mfail" in shown
    assert "\x1b[31m: error: \x1b[0m" in shown


def test_colours_that_are_asked_for_reach_a_pipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Cli) -> None:
    (tmp_path / "op_summary_20260101000000.csv").write_text("Op Name,OP Type\n")
    monkeypatch.setenv("CLICOLOR_FORCE", "1")
    assert "\x1b[31mfail" in cli("check", tmp_path).out
    assert cli("check", tmp_path, "--output", tmp_path / "o.txt").out == ""
    assert "\x1b" not in (tmp_path / "o.txt").read_text()
    assert "\x1b" not in cli("check", tmp_path, "--format", "json").out


def test_a_report_that_lists_its_warnings_says_them_once_on_a_terminal(cli: Cli, tmp_path: Path) -> None:
    loop = write_loop(tmp_path / "loop", "faster", 1)
    claims = tmp_path / "claims.csv"
    claims.write_text(f"operator,shapes,before_us,after_us\n{TUNED[0]},,100,80\nnobody,,100,80\n")
    command = ("verify", "--claims", claims, loop.before, loop.after)
    code, shown = on_terminal(*command, columns=80)
    assert code in {0, 1}
    rules = re.findall(r"\[[a-z-]+\]$", COLOURS.sub("", shown).replace("\r", ""), re.MULTILINE)
    assert rules
    assert len(rules) == len(set(rules))
    piped = cli(*command)
    assert all(rule in piped.out and rule in piped.err for rule in rules)
