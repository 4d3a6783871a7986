"""Runs cases of the command line in a folder of their own, and holds what they print against what they printed before.

A case is its own key: command lines joined by ` && `, run one behind the other in a folder that holds copies of the
fixtures. A line is a command of `aoe-reports` with its arguments, or one of `copy FROM TO`, `write PATH TEXT` and
`show PATH...`, which print or prepare files. Whatever a case writes goes below `out`, which is empty when it begins.

Nothing of the package is used but its command line: what is inside may move without a case noticing.
"""

from __future__ import annotations

import contextlib
import difflib
import functools
import hashlib
import io
import os
import random
import re
import secrets
import shlex
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from unittest import mock

import typer
from goldens.cases import CASES, DEMO, FULL, REAL, ROOT
from goldens.timeline import write_timelines
from museum.headers import EXHIBITS
from museum.writer import cells_of, csv_text, default_style, json_text, place_of
from planted_modules import write_planted

from aoe_reports.present.style import style_sheet

HERE = Path(__file__).parent
DIGESTS = HERE / "digests.txt"
WRITTEN_OUT = HERE / "full"

LENGTH = 72
"""Of the folder's path, whatever TMPDIR says: tables of text are as wide as the paths in them."""
MTIME_S = 1_760_000_000
"""When every file was written: where a file has no time in it, its run is dated by this."""
NOW_S = 1_772_668_800
"""What the clock says while a case runs; each look is a millisecond later."""
ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "TZ": "UTC",
    "LANG": "C.UTF-8",
    "COLUMNS": "100",
    "AOE_REPORTS_USER": "golden",
}
_PARAMETERS = functools.cache(typer.main.get_params_from_function)
"""What options a function has is looked up in its signature each time a command line is made: half of the time otherwise."""
SHOWN_KEYS = 20
SHOWN_CHARACTERS = 6_000


class Clock:
    """The same times in every run: what is stored tells when, and ids of what people said are made of it."""

    def __init__(self) -> None:
        self.looks = 0

    def time_ns(self) -> int:
        self.looks += 1
        return NOW_S * 10**9 + self.looks * 10**6

    def time(self) -> float:
        return self.time_ns() / 1e9


class Place:
    """A folder with copies of all that cases read."""

    def __init__(self, folder: Path) -> None:
        fill = LENGTH - len(f"{folder}/")
        assert fill > 0, f"{folder} is too long: set TMPDIR to a shorter one"
        self.root = folder / ("g" * fill)
        self.version = ""
        self.ready: str | None = None
        """The lines before the last one of a case, while that runs."""
        for name in ("home", "configuration"):
            (self.root / name).mkdir(parents=True)
        for name in (
            "msprof",
            "msopprof",
            "msserviceprofiler",
            "aoe",
            "banks",
            "triton",
            "msoptuner",
            "claims",
            "records",
            "benchmarks",
            "serving",
            "memory",
        ):
            shutil.copytree(ROOT / "fixtures" / name, self.root / name)
        _write_museum(self.root / "museum")
        write_timelines(self.root / "timelines")
        write_planted(self.root / "planted", "golden")
        _set_times(self.root)
        self.version = self.run("--version").splitlines()[1].split()[-1]

    def run(self, key: str) -> str:
        """What a case prints, masked."""
        if " demo/" in key and not (self.root / "demo").exists():
            for line in DEMO:
                self._line(line, Clock())
        if " real/" in key and not (self.root / "real").exists():
            shutil.copytree(REAL, self.root / "real", ignore=shutil.ignore_patterns("tcpd", "asv"))
            _set_times(self.root / "real")
        shutil.rmtree(self.root / "out", ignore_errors=True)
        (self.root / "out").mkdir()
        clock = Clock()
        *before, last = key.split(" && ")
        printed = [f"$ {line}\n{self._line(line, clock)}" for line in before]
        self.ready = " && ".join(before)
        try:
            return "".join([*printed, f"$ {last}\n{self._line(last, clock)}"])
        finally:
            self.ready = None

    def _line(self, line: str, clock: Clock) -> str:
        name, *arguments = shlex.split(line)
        if name == "copy":
            if not (self.root / arguments[0]).is_dir():
                return "[no such folder]\n"
            shutil.copytree(self.root / arguments[0], self.root / arguments[1])
            return ""
        if name == "write":
            path = self.root / arguments[0]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(arguments[1], encoding="utf-8")
            return ""
        if name == "show":
            return "".join(self._shown(self.root / one) for one in arguments)
        out, err, code = self._called([name, *arguments], clock)
        return self.masked(f"{out}[stderr]\n{err}[exit code {code}]\n")

    def _shown(self, path: Path) -> str:
        """A file's text; of a folder, what each file below it hashes to."""
        if not path.is_dir():
            return f"{self.masked(path.read_text('utf-8'))}\n" if path.exists() else "[no such file]\n"
        # a site's manifest holds a hash of the program's own source, which pages show by themselves
        found = sorted(one for one in path.rglob("*") if one.is_file() and one.name != "manifest.json")
        texts = ((one, self.masked(one.read_bytes().decode("utf-8", "surrogateescape"))) for one in found)
        return "".join(f"{self.masked(str(one.relative_to(path)))} {digest_of(text)}\n" for one, text in texts)

    def _called(self, arguments: list[str], clock: Clock) -> tuple[str, str, object]:
        """What the command line prints and ends with."""
        from aoe_reports.cli.main import main

        out, err, before = _stream(), _stream(), Path.cwd()
        environment = {
            **ENVIRONMENT,
            "HOME": str(self.root / "home"),
            "XDG_CONFIG_HOME": str(self.root / "configuration"),
        }
        code: object = "none: it came back"
        os.chdir(self.root)
        try:
            with (
                mock.patch.dict(os.environ, environment, clear=True),
                mock.patch.object(sys, "argv", ["aoe-reports", *arguments]),
                mock.patch.object(time, "time_ns", clock.time_ns),
                mock.patch.object(time, "time", clock.time),
                mock.patch.object(typer.main, "get_params_from_function", _PARAMETERS),
                contextlib.redirect_stdout(out),
                contextlib.redirect_stderr(err),
                warnings.catch_warnings(),
            ):
                warnings.simplefilter("error")  # as in the other tests; else it would matter who was warned first
                time.tzset()
                main()
        except SystemExit as ended:
            code = ended.code or 0
        finally:
            os.chdir(before)
            time.tzset()
        return _text_of(out), _text_of(err), code

    def masked(self, text: str) -> str:
        """A text without what differs from one run, version or processor to the next: sums differ in their last digits."""
        text = _LONG_FLOAT.sub(lambda found: f"{float(found[0]):.10g}", text)
        text = text.replace(str(self.root), "<folder>").replace(str(ROOT), "<project>")
        if (sheet := style_sheet()) in text:  # a colour that changes changes no report
            text = _DIGEST.sub("'sha256-<style sheet>'", text.replace(sheet, "<style sheet>"), count=1)
        if self.version:
            text = re.sub(rf"(?<![\w.]){re.escape(self.version)}(?![\w.])", "<version>", text)
        return text


_LONG_FLOAT = re.compile(r"(?<![\w.])-?\d+\.\d{11,}(?:e[-+]?\d+)?(?![\w.])")


_DIGEST = re.compile(r"'sha256-[^']*'")


def _stream() -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="")


def _text_of(stream: io.TextIOWrapper) -> str:
    stream.flush()
    return stream.buffer.getvalue().decode("utf-8", "surrogateescape")  # type: ignore[attr-defined]


def _write_museum(folder: Path) -> None:
    """A file under every header there ever was, as CSV and, where the exporter has it, as JSON."""
    for name, exhibit in {f"{one}": one for one in EXHIBITS}.items():
        style = default_style(exhibit)
        rows = cells_of(exhibit, 5, style, set(range(len(exhibit.header))), random.Random(name))
        written = {"csv": csv_text(exhibit, rows, style)}
        if not exhibit.torch_npu and not exhibit.aoe and len(set(exhibit.header)) == len(exhibit.header):
            written["json"] = json_text(exhibit, rows, style)
        for form, content in written.items():
            path = place_of(exhibit, form, folder / name / form)
            path.parent.mkdir(parents=True)
            path.write_bytes(content)


def _set_times(folder: Path) -> None:
    for path in [folder, *folder.rglob("*")]:
        os.utime(path, (MTIME_S, MTIME_S))


@contextlib.contextmanager
def new_place() -> Iterator[Place]:
    """A place that is gone afterwards."""
    folder = (
        Path(tempfile.gettempdir()).resolve() / f"goldens-{secrets.token_hex(4)}"
    )  # Markdown would escape a _ in it
    folder.mkdir(mode=0o700)
    try:
        yield Place(folder)
    finally:
        shutil.rmtree(folder)


def digest_of(text: str) -> str:
    """Of what a case printed."""
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def runnable(keys: Iterable[str]) -> list[str]:
    """Those whose inputs are here: the real files are no part of the project."""
    return [key for key in keys if REAL.is_dir() or " real/" not in key]


def read_digests() -> dict[str, str]:
    """What was written down, by key."""
    if not DIGESTS.exists():
        return {}
    lines = DIGESTS.read_text("utf-8").splitlines()
    return dict(line.rsplit("  ", 1) for line in lines)


def write_digests(digests: Mapping[str, str]) -> None:
    """Write down what every case of the list has; what is no case any more goes."""
    known = {key for keys in CASES.values() for key in keys}
    lines = sorted(f"{key}  {digest}\n" for key, digest in digests.items() if key in known)
    DIGESTS.write_text("".join(lines), encoding="utf-8")


def run_group(group: str, place: Place) -> dict[str, str]:
    """What every case of a group prints."""
    return {key: place.run(key) for key in runnable(CASES[group])}


def differences(group: str, texts: Mapping[str, str]) -> str:
    """What a group says otherwise than before, for people; empty if nothing."""
    known = read_digests()
    differ = [key for key, text in texts.items() if known.get(key) != digest_of(text)]
    differ += [f"full/{name}" for name, key in FULL.items() if key in texts and texts[key] != _written_out(name)]
    if not differ:
        return ""
    more = [f"... and {len(differ) - SHOWN_KEYS} more"] if len(differ) > SHOWN_KEYS else []
    lines = [f"{len(differ)} of {len(texts)} cases of {group} differ:", *differ[:SHOWN_KEYS], *more, ""]
    return "\n".join([*lines, _told_of(differ[0], texts)])


def _told_of(differing: str, texts: Mapping[str, str]) -> str:
    key = FULL[differing.removeprefix("full/")] if differing.startswith("full/") else differing
    was = next((_written_out(name) for name, one in FULL.items() if one == key), None)
    if was is not None and was != texts[key]:
        lines = difflib.unified_diff(was.splitlines(), texts[key].splitlines(), "before", "now", lineterm="")
        return "\n".join(lines)[:SHOWN_CHARACTERS]
    shown = f"python tests/goldens/run.py --show {shlex.quote(key)}"
    again = f"The text as it is now follows; in a checkout of before, `{shown}` prints what it was."
    return f"{again}\n{texts[key][:SHOWN_CHARACTERS]}"


def _written_out(name: str) -> str:
    path = WRITTEN_OUT / name
    return path.read_bytes().decode("utf-8", "surrogateescape") if path.exists() else ""


def write_out(texts: Mapping[str, str]) -> None:
    """Write the whole text of the cases that have a file of their own."""
    for name, key in FULL.items():
        if key in texts:
            (WRITTEN_OUT / name).write_bytes(texts[key].encode("utf-8", "surrogateescape"))
