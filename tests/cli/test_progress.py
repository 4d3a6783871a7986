"""What a terminal shows while a command works: one line below what is printed, and nothing of it anywhere else."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from commandline import ROOT, Cli
from screens import Screen, screen

from aoe_reports.cli import progress
from aoe_reports.cli.progress import progress_line
from aoe_reports.cli.terminal import begin_line, guard_terminals, write_control

BEGINS = "\r\x1b[2K"
"""What rich writes before a line that replaces another."""


@pytest.fixture(autouse=True)
def _a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    monkeypatch.setenv("LINES", "20")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(progress, "_PATIENCE_S", 0.01)
    monkeypatch.setattr(progress, "_EVERY_S", 0.01)


def until(happened: Callable[[], bool]) -> None:
    """Wait for what the line does on its own."""
    ends = time.monotonic() + 30
    while not happened():
        assert time.monotonic() < ends
        time.sleep(0.005)


def lines_of(seen: Screen) -> list[str]:
    """What is on a terminal in the end, of which only what is used here is understood."""
    lines, row = [""], 0
    for piece in re.findall(r"\r|\n|\x1b\[2K|\x1b\[K|\x1b\[1A|\x1b\[[0-9;?]*[a-z]|[^\r\n\x1b]+", seen.shown):
        if piece == "\n":
            row += 1
            lines += [""] * (row == len(lines))
        elif piece == "\x1b[1A":
            row -= 1
        elif piece in {"\x1b[2K", "\x1b[K"}:
            lines[row] = ""
        elif piece[0] not in "\r\x1b":
            lines[row] += piece
    return lines


def frames_of(seen: Screen) -> list[str]:
    """The lines that were shown, one after the other, without the time."""
    return re.findall(r"0:00:\d\d (.*?)(?=[\r\n])", seen.shown)


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("short", "short"),
        ("ninewords", "ninewords"),
        ("ten  words", "ten  wor…"),
        ("八个字啊啊", "八个字啊…"),
        ("a八个字啊", "a八个字啊"),
        ("a八个字啊啊", "a八个字 …"),
        ("\x1b[31mred", "\\x1b[31m…"),
        ("\x07\u202e", "\\x07\\x20…"),
        ("[red]x[/]", "[red]x[/]"),
    ],
)
def test_a_line_has_the_room_of_the_terminal_and_goes_in_the_end(said: str, shown: str) -> None:
    with screen() as seen, progress_line() as show:
        show(lambda: said)
        until(lambda: show._shown is not None)
    assert {frame.rstrip() for frame in frames_of(seen)} == {shown}
    assert lines_of(seen) == ["", ""]


def test_a_line_tells_the_time_and_is_written_only_if_it_changes() -> None:
    with screen() as seen, progress_line() as show:
        show(lambda: "one")
        until(lambda: show._shown is not None)
        time.sleep(0.2)
        show(lambda: "two")
        until(lambda: show._shown[1] == "two")
        show._began -= 3600
        until(lambda: show._shown[0].startswith("1:00:"))
    assert seen.shown.count(f"{BEGINS}0:00") <= 2
    assert re.search(r"0:00:0\d one\r\x1b\[2K0:00:0\d two", seen.shown)
    assert "1:00:0" in seen.shown
    assert seen.shown.startswith("\x1b[?25l\x1b[?25h"), "who is killed leaves a cursor"


def test_a_part_that_is_known_is_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    with screen() as seen, progress_line() as show:
        show(lambda: "half", 0.5)
        until(lambda: show._shown is not None)
    assert {frame.rstrip() for frame in frames_of(seen)} == {f"{'━' * 12}{' ' * 12} half"}
    assert not re.findall(r"\x1b\[[0-9;]*m", seen.shown)
    monkeypatch.delenv("NO_COLOR")
    with screen() as seen, progress_line() as show:
        show(lambda: "half", 0.5)
        until(lambda: show._shown is not None)
    assert re.search(r"\x1b\[[0-9;]+m━", seen.shown)


def test_what_is_quick_shows_nothing_and_makes_no_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_PATIENCE_S", 30)
    asked: list[int] = []
    with screen() as seen, progress_line() as show:
        for number in range(10_000):
            show(lambda number=number: str(asked.append(number)))
    assert (seen.shown, asked) == ("", [])


@pytest.mark.parametrize("kind", ["dumb", "unknown"])
def test_nobody_is_shown_how_far_it_is_where_no_line_can_be_written_over(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    with progress_line() as show:
        show(lambda: "words")
        time.sleep(0.1)
    assert capsys.readouterr().err == ""
    monkeypatch.setenv("TERM", kind)
    with screen() as seen, progress_line() as show:
        show(lambda: "words")
        time.sleep(0.1)
    assert seen.shown == ""


def test_a_terminal_that_is_gone_ends_nothing() -> None:
    with screen() as seen, progress_line() as show:
        sys.stderr.close()
        show(lambda: "words")
        time.sleep(0.1)
    assert seen.shown == ""
    with screen(), progress_line() as show:
        show(lambda: "words")
        until(lambda: show._shown is not None)
        sys.stderr.close()
        show(lambda: "more")
        time.sleep(0.1)


def test_what_is_printed_meanwhile_is_whole_and_above_the_line() -> None:
    with screen() as seen:
        guard_terminals()
        with progress_line() as show:
            for number in range(3):
                show(lambda number=number: f"step {number}")
                until(lambda: show._shown is not None)
                sys.stderr.write(f"a line of more than 20 columns {number}\x1b\n")
            until(lambda: show._shown is not None)
            write_control(sys.stderr, "a\x1b[31mb")
            time.sleep(0.1)
            assert show._shown is None, "a line that does not end yet is left alone"
            sys.stderr.write("c\n")
            until(lambda: show._shown is not None)
        sys.stderr.write("last\n")
    told = [f"a line of more than 20 columns {number}\\u001b" for number in range(3)]
    assert [line for line in lines_of(seen) if line] == [*told, "abc", "last"]
    assert "a\x1b[31mbc\n" in seen.shown


def test_ctrl_c_leaves_one_clean_line(tmp_path: Path) -> None:
    script = f"""
import os, signal, sys, threading, time
from pathlib import Path
import aoe_reports.history.changes.regressions as regressions
from aoe_reports.cli import progress

write, shown = sys.stderr.write, threading.Event()

def seen(text):
    count = write(text)
    if "comparing" in text:
        sys.stderr.flush()
        shown.set()
    return count

def slow(*_):
    assert shown.wait(60)
    os.write(2, b"^C")
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(30)

sys.stderr.write = seen
regressions.find_regressions, progress._PATIENCE_S, progress._EVERY_S = slow, 0.01, 0.01
sys.argv = ["aoe-reports", "regressions", "--store", {str(tmp_path)!r}]
from aoe_reports.__main__ import main
main()
"""
    with screen() as seen:
        ended = subprocess.run(
            [sys.executable, "-c", script],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=sys.stderr, check=False,
            env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "COLUMNS": "80"},
        )  # fmt: skip
    assert ended.returncode == 130
    assert "comparing with the history^C" in seen.shown
    assert [line for line in lines_of(seen) if line] == ["aoe-reports: interrupted"]


def test_an_error_is_the_same_on_a_terminal(cli: Cli, tmp_path: Path) -> None:
    piped = cli("store", "history", "--store", tmp_path / "nothing")
    assert piped.err.startswith(f"aoe-reports: error: {tmp_path / 'nothing'}")
    with screen() as seen:
        cli("store", "history", "--store", tmp_path / "nothing")
    assert seen.shown == piped.err


def test_what_is_printed_to_a_terminal_is_text_and_only_we_steer_it(monkeypatch: pytest.MonkeyPatch) -> None:
    with screen() as seen:
        guard_terminals()
        guarded = sys.stderr
        guard_terminals()
        assert sys.stderr is guarded
        assert sys.stderr.write("\x1b[31mred\n") == 9
        sys.stderr.writelines(["one\n", "two\x07\n"])
        begin_line(sys.stderr)
        monkeypatch.setenv("TERM", "dumb")
        begin_line(sys.stderr)
        sys.stderr.flush()
    assert seen.shown == "\\u001b[31mred\none\ntwo\\u0007\n\r\x1b[K"


def test_what_is_no_terminal_is_not_guarded(capsys: pytest.CaptureFixture[str]) -> None:
    before = sys.stderr
    guard_terminals()
    assert sys.stderr is before
    write_control(sys.stderr, "\x1b[31m")
    begin_line(sys.stderr)
    assert capsys.readouterr().err == "\x1b[31m"
