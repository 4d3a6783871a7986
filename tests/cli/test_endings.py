"""How the program ends: no crash looks like a finding, and every end says why in one line."""

from __future__ import annotations

import io
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from commandline import Cli

from aoe_reports.cli.ending import own_process, past_typer, run_and_exit
from aoe_reports.cli.language import language_from_argv
from aoe_reports.model.errors import LeftOutWarning, NoticeWarning, UsageError


@pytest.fixture(autouse=True)
def _english() -> None:
    language_from_argv([])


EXPECTED = {0, 1, 4, 5}
"""Codes that say something of what was read."""


def panic() -> BaseException:
    """A panic of a library in Rust, as polars raises it: no Exception."""
    return pl.exceptions.PanicException("index out of bounds")


RAISED: dict[str, tuple[Callable[[], BaseException], int, str]] = {
    "an error": (lambda: KeyError("series_id"), 70, "bug in aoe-reports"),
    "an end of file": (EOFError, 70, "bug in aoe-reports"),
    "a recursion": (lambda: RecursionError("maximum recursion depth exceeded"), 70, "bug in aoe-reports"),
    "no memory": (MemoryError, 70, "not enough memory"),
    "a panic": (panic, 70, "bug in aoe-reports"),
    "an interrupt": (KeyboardInterrupt, 130, "interrupted"),
    "an error of the system": (lambda: OSError(28, "No space left on device", "x"), 3, "No space left"),
}


@pytest.mark.parametrize(("raised", "code", "words"), RAISED.values(), ids=RAISED)
def test_whatever_is_raised_ends_with_one_line_and_a_code_of_its_own(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, raised: Callable[[], BaseException], code: int, words: str
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise raised()

    monkeypatch.setattr("aoe_reports.history.runs.listing.list_history", fail)
    ended = cli("store", "history", "--store", "s")
    assert (ended.code, ended.err.count("\n"), words in ended.err) == (code, 1, True), ended.err
    assert ended.code not in EXPECTED
    assert "Traceback" not in ended.err
    shown = cli("--debug", "history", "--store", "s")
    assert (shown.code, "Traceback" in shown.err) == (code, True)
    assert "interrupted" in ended.err or any(
        "\u4e00" <= one <= "\u9fff" for one in cli("store", "history", "--lang", "zh").err
    )


@pytest.mark.parametrize("module", ["numpy", "aoe_reports.cli.main"])
def test_a_broken_installation_looks_like_no_finding(tmp_path: Path, module: str) -> None:
    code = f"import sys; sys.modules[{module!r}] = None; sys.argv = ['x', 'demo', '-o', 'd']; import aoe_reports.__main__ as m; m.main()"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert (ended.returncode, ended.stderr.count("\n")) == (70, 1), ended.stderr


BUG = "; this is a bug in aoe-reports: please report it with the output of --debug\n"


def ended_with(run: Callable[[], object]) -> object:
    with pytest.raises(SystemExit) as ended:
        run_and_exit(run)
    return ended.value.code


@pytest.mark.parametrize(
    ("code", "whole", "partly"),
    [(None, None, 3), (0, 0, 3), (1, 1, 3), (2, 2, 2), (3, 3, 3), (4, 4, 3), (5, 5, 3), (70, 70, 70)],
)
def test_what_is_left_out_of_a_store_ends_with_3_unless_something_worse_happened(
    capsys: pytest.CaptureFixture[str], code: int | None, whole: int | None, partly: int
) -> None:
    def run(*left_out: str) -> None:
        for name in left_out:
            warnings.warn(LeftOutWarning(name), stacklevel=1)
        raise SystemExit(code)

    assert (ended_with(run), capsys.readouterr().err) == (whole, "")
    assert ended_with(lambda: run("row 1", "row 1")) == partly
    assert capsys.readouterr().err == "aoe-reports: warning: row 1\n"


def test_a_command_that_raises_nothing_ends_with_0() -> None:
    assert ended_with(lambda: 7) == 0


@pytest.mark.parametrize(("count", "more"), [(20, 0), (21, 1), (25, 1)])
def test_twenty_rows_that_are_left_out_are_listed(capsys: pytest.CaptureFixture[str], count: int, more: int) -> None:
    def run() -> None:
        for number in range(count):
            warnings.warn(LeftOutWarning(f"row {number}"), stacklevel=1)

    assert ended_with(run) == 3
    last = ["aoe-reports: warning: more items are left out; `store verify` lists all of them"]
    listed = [f"aoe-reports: warning: row {number}" for number in range(20)]
    assert capsys.readouterr().err.splitlines() == [*listed, *last * more]


def test_a_notice_is_a_line_and_no_reason_to_fail(capsys: pytest.CaptureFixture[str]) -> None:
    assert ended_with(lambda: warnings.warn(NoticeWarning("it is moved"), stacklevel=1)) == 0
    assert capsys.readouterr().err == "aoe-reports: it is moved\n"


@pytest.mark.parametrize(
    ("raised", "code", "said"),
    [
        (BrokenPipeError(), 0, ""),
        (KeyboardInterrupt(), 130, "aoe-reports: interrupted\n"),
        (UsageError("it is none"), 2, "aoe-reports: error: it is none\n"),
        (OSError(28, "No space left", "x"), 3, "aoe-reports: error: x: No space left\n"),
        (OSError("odd"), 3, "aoe-reports: error: output: odd\n"),
        (MemoryError(), 70, "aoe-reports: error: there is not enough memory\n"),
        (
            ValueError("a" * 400 + "\nsecond line"),
            70,
            f"aoe-reports: error: internal error (ValueError: {'a' * 300}){BUG}",
        ),
        (
            ValueError(),
            70,
            f"aoe-reports: error: internal error (ValueError: ){BUG}",
        ),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_each_end_has_its_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, raised: BaseException, code: int, said: str
) -> None:
    def run() -> None:
        raise raised

    monkeypatch.setattr(sys, "stdout", io.StringIO())  # whose end nobody reads; what waits in it goes nowhere
    monkeypatch.setattr(sys, "argv", ["aoe-reports"])
    assert (ended_with(run), capsys.readouterr().err) == (code, said)
    assert (ended_with(past_typer()(run)), capsys.readouterr().err) == (code, said), "whatever the library makes of it"


def test_an_interrupt_that_python_swallows_comes_once_more(monkeypatch: pytest.MonkeyPatch) -> None:
    class Dying:
        def __del__(self) -> None:
            raise KeyboardInterrupt

    told: list[object] = []
    before = signal.getsignal(signal.SIGINT)
    monkeypatch.setattr("aoe_reports.cli.ending._swallowed", told)
    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)

    def main() -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        Dying()
        until = time.monotonic() + 60
        while time.monotonic() < until:
            time.sleep(0.001)

    try:
        with pytest.raises(KeyboardInterrupt):
            own_process(main)
        assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN, "nobody disturbs who is leaving"
        assert len(told) == 1
        assert ended_with(lambda: None) == 130, "what was swallowed is told in the end"
    finally:
        signal.signal(signal.SIGINT, before)


def test_what_else_python_swallows_is_shown_as_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    class Dying:
        def __del__(self) -> None:
            raise ValueError("odd")

    shown: list[object] = []
    before = signal.getsignal(signal.SIGINT)
    monkeypatch.setattr(sys, "unraisablehook", lambda unraisable: shown.append(unraisable.exc_type))
    try:
        own_process(lambda: Dying() and None)
    finally:
        signal.signal(signal.SIGINT, before)
    assert shown == [ValueError]


def test_a_handler_of_sigterm_that_was_not_set_from_python_is_no_error(
    cli: Cli, msprof: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_handler, before = signal.signal, signal.getsignal(signal.SIGTERM)

    def set_in_host_program(number: int, handler: Any) -> None:
        set_handler(number, handler)

    monkeypatch.setattr(signal, "signal", set_in_host_program)
    ended = cli("ingest", msprof / "exports_of_2022", "--store", tmp_path / "s")
    set_handler(signal.SIGTERM, before)
    assert (ended.code, ended.err) == (0, "")
