"""How the program ends: no crash looks like a finding, and every end says why in one line."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from commandline import Cli

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

    monkeypatch.setattr("aoe_reports.history.listing.list_history", fail)
    ended = cli("history", "--store", "s")
    assert (ended.code, ended.err.count("\n"), words in ended.err) == (code, 1, True), ended.err
    assert ended.code not in EXPECTED
    assert "Traceback" not in ended.err
    shown = cli("--debug", "history", "--store", "s")
    assert (shown.code, "Traceback" in shown.err) == (code, True)
    assert "interrupted" in ended.err or any("\u4e00" <= one <= "\u9fff" for one in cli("history", "--lang", "zh").err)


@pytest.mark.parametrize("module", ["numpy", "aoe_reports.cli.main"])
def test_a_broken_installation_looks_like_no_finding(tmp_path: Path, module: str) -> None:
    code = f"import sys; sys.modules[{module!r}] = None; sys.argv = ['x', 'demo', '-o', 'd']; import aoe_reports.__main__ as m; m.main()"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert (ended.returncode, ended.stderr.count("\n")) == (70, 1), ended.stderr
