"""What a terminal shows while a command works: one line that is written over, and nothing of it anywhere else."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from commandline import Cli
from screens import screen

from aoe_reports.cli.output import progress_line
from aoe_reports.cli.terminal import ERASE_LINE, guard_terminals, write_control

ERASE = "\r\x1b[K"


@pytest.fixture(autouse=True)
def _ten_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "10")
    monkeypatch.setenv("LINES", "20")
    monkeypatch.setenv("TERM", "xterm")


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("short", "short"),
        ("ninewords", "ninewords"),
        ("ten  words", "ten  word"),
        ("八个字啊啊", "八个字啊"),
        ("a八个字啊", "a八个字啊"),
        ("\x1b[31mred", "\\x1b[31mr"),
    ],
)
def test_a_line_has_the_room_of_the_terminal_and_goes_in_the_end(said: str, shown: str) -> None:
    with screen() as seen, progress_line() as show:
        show(lambda: said)
    assert seen.shown == f"{ERASE}{shown}{ERASE}"


def test_nobody_is_shown_how_far_it_is_where_no_line_can_be_written_over(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with progress_line() as show:
        show(lambda: "words")
    assert capsys.readouterr().err == ""
    monkeypatch.setenv("TERM", "dumb")
    with screen() as seen, progress_line() as show:
        show(lambda: "words")
    assert seen.shown == ""


def test_a_terminal_that_is_gone_ends_nothing() -> None:
    with screen() as seen, progress_line() as show:
        sys.stderr.close()
        show(lambda: "words")
    assert seen.shown == ""


def test_an_error_begins_its_line_anew_on_a_terminal(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    line = f"aoe-reports: error: {tmp_path / 'nothing'}"
    piped = cli("history", "--store", tmp_path / "nothing")
    assert piped.err.startswith(line)
    with screen() as seen:
        cli("history", "--store", tmp_path / "nothing")
    assert seen.shown == f"{ERASE}{piped.err}"
    monkeypatch.setenv("TERM", "dumb")
    with screen() as seen:
        cli("history", "--store", tmp_path / "nothing")
    assert seen.shown == piped.err


def test_what_is_printed_to_a_terminal_is_text_and_only_we_steer_it() -> None:
    with screen() as seen:
        guard_terminals()
        guarded = sys.stderr
        guard_terminals()
        assert sys.stderr is guarded
        assert sys.stderr.write("\x1b[31mred\n") == 9
        sys.stderr.writelines(["one\n", "two\x07\n"])
        write_control(sys.stderr, ERASE_LINE)
        sys.stderr.flush()
    assert seen.shown == f"\\u001b[31mred\none\ntwo\\u0007\n{ERASE}"


def test_what_is_no_terminal_is_not_guarded(capsys: pytest.CaptureFixture[str]) -> None:
    before = sys.stderr
    guard_terminals()
    assert sys.stderr is before
    write_control(sys.stderr, "\x1b[31m")
    assert capsys.readouterr().err == "\x1b[31m"
