"""What comes out of files steers neither a terminal nor a spreadsheet; files and pipes get every byte as it is."""

from __future__ import annotations

import csv
import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from commandline import Cli

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


def on_terminal(*arguments: object) -> tuple[int, str]:
    """(exit code, everything that a terminal was given)."""
    control, terminal = pty.openpty()
    command = [sys.executable, "-m", "aoe_reports", *map(str, arguments)]
    with subprocess.Popen(command, stdin=terminal, stdout=terminal, stderr=terminal) as process:
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
        ("normalize", records),
        ("history", "records", "--format", "jsonl", *store),
        ("history", "--format", "json", *store),
        ("history", "--format", "csv", *store),
        ("history", *store),
        ("report", *store),
        ("check", missing),
        ("hotspots", "--by", EVIL, records),
        (EVIL, "--help"),
        ("collect", "--check", missing, "--framework", "pytorch", "--for", "hotspots"),
    ):
        code, shown = on_terminal(*command)
        assert code in {0, 1, 2, 3}, shown
        shown = shown.replace("\r\x1b[K", "")  # ours: a line begins anew
        assert not [name for name in CONTROLS if name in shown], (command, shown)
        assert "u001b[K" not in shown


def test_json_on_a_terminal_is_the_same_json(cli: Cli, records: Path) -> None:
    piped = cli("normalize", records).out
    _, shown = on_terminal("normalize", records)
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
    assert cli("store", "export", tmp_path / "x.csv", *store).code == 0
    text = (tmp_path / "x.csv").read_text()
    assert not [name for name in CONTROLS if name in text]
    cells = [cell for row in csv.reader(text.splitlines()) for cell in row]
    assert not [cell for cell in cells if cell.startswith(("=", "+", "@", "\t"))]
    assert any(cell.startswith("'=cmd") for cell in cells)
    listed = cli("history", "records", "--format", "csv", *store).out  # one guard for both
    assert next(cell for row in csv.reader(listed.splitlines()) for cell in row if "=cmd" in cell) in cells


def test_exports_that_come_back_keep_every_byte(cli: Cli, records: Path, tmp_path: Path) -> None:
    assert cli("ingest", records, "--store", tmp_path / "s").code == 0
    for name in ("rows.jsonl", "folder"):
        assert cli("store", "export", tmp_path / name, "--store", tmp_path / "s").code == 0
        assert cli("store", "import", tmp_path / name, "--store", tmp_path / f"{name}-store").code == 0
        back = cli("history", "records", "--format", "jsonl", "--store", tmp_path / f"{name}-store").out
        assert json.loads(back)["workload"] == EVIL
