"""`doctor` tells what is broken, by name and with what to do, and is never broken by it."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from commandline import ROOT, Cli

from aoe_reports.jobs.doctor import installation, machine, stores
from aoe_reports.jobs.doctor.checkup import STATES, each, ok
from aoe_reports.jobs.doctor.installation import EXTRAS, dependency, requirement_of, satisfies
from aoe_reports.store import care

GIB = 1 << 30


class Usage(NamedTuple):
    total: int
    used: int
    free: int


def checks(cli: Cli, *arguments: object) -> tuple[int, dict[str, dict[str, Any]], list[str]]:
    """(exit code, the row of each check, reasons)."""
    ended = cli("doctor", *arguments, "--format", "json")
    told = ended.json
    return ended.code, {row["name"]: row for row in told["rows"]}, told["reasons"]


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("AOE_REPORTS_STORE", raising=False)


def test_a_sound_installation_is_told_with_the_bounds_of_the_metadata(cli: Cli) -> None:
    code, rows, reasons = checks(cli)
    assert (code, reasons) == (0, [])
    needed = [requirement_of(line) for line in metadata.requires("aoe-reports") or []]
    for one in needed:
        if one.extra is None:
            assert rows[one.name]["state"] == "ok"
            assert rows[one.name]["value"] == f"{metadata.version(one.name)} (needed: {one.bounds})"
    assert rows["store"]["state"] == "missing"
    assert "`aoe-reports ingest PATH`" in rows["store"]["what_to_do"]


def test_every_optional_part_says_what_it_is_for() -> None:
    extras = {one.extra for one in map(requirement_of, metadata.requires("aoe-reports") or []) if one.extra}
    assert extras == set(EXTRAS)


@pytest.mark.parametrize(
    ("version", "bounds", "expected"),
    [
        ("1.6.6", "<2,>=1.6.6", True),
        ("1.6.5", "<2,>=1.6.6", False),
        ("2.0", "<2,>=1.6.6", False),
        ("2.0.0rc1", "<2", False),
        ("2.0", ">=2.0.0", True),
        ("2.0rc1", ">=2.0", False),
        ("2.0.post1", ">=2.0", True),
        ("10.0", ">=9.1", True),
        ("1.10", ">=1.9", True),
        ("2.4.9", "~=2.4.1", True),
        ("2.5", "~=2.4.1", False),
        ("3.0", "!=3.0", False),
        ("3.1", "==3.*", True),
        ("3.11.7", ">=3.11", True),
        ("1.0+local", ">=1.0", True),
        ("unknown", ">=1.0", True),
        ("1.0", "===1.0", True),
        ("1.0", "", True),
    ],
)
def test_versions_are_held_against_bounds_as_installers_do(version: str, bounds: str, *, expected: bool) -> None:
    assert satisfies(version, bounds) is expected


def test_a_dependency_that_is_too_old_or_absent_is_a_fault_with_the_command_that_gets_it() -> None:
    old = dependency(requirement_of("numpy>=999"))
    assert (old.state, old.value) == ("fault", f"{metadata.version('numpy')} (needed: >=999)")
    assert old.what_to_do is not None
    assert old.what_to_do.endswith("-m pip install 'numpy>=999'`")
    absent = dependency(requirement_of("no-such-thing-here>=1"))
    assert (absent.state, absent.value) == ("fault", "not installed; needed: >=1")
    part = dependency(requirement_of('no-such-thing-here>=1; extra == "fleet"'))
    assert part.state == "missing"
    assert part.value == "needed for: reading the captures of a fleet with the workers of a Dask cluster"
    assert part.what_to_do is not None
    assert part.what_to_do.endswith("-m pip install 'aoe-reports[fleet]'`")


def test_a_copy_beside_the_installed_one_and_a_missing_installation_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation, "__version__", "99.0")
    said = {one.name: one for one in installation.installation()}
    assert said["metadata"].state == "warning"
    assert "but 99.0 runs: two copies are mixed" in said["metadata"].value
    monkeypatch.setattr(installation, "DISTRIBUTION", "not-installed-at-all")
    assert [(one.name, one.state) for one in installation.installation()] == [
        ("not-installed-at-all", "ok"),
        ("metadata", "warning"),
    ]


MODULES = ("numpy", "pyarrow", "deltalake", "msgspec", "jinja2", "matplotlib")
SLOW_TO_IMPORT = ("dask", "distributed", "mcp", "pandas")
"""Empty modules replace them where another module is broken."""


def break_modules(folder: Path, modules: Sequence[str], how: str) -> None:
    """Modules for `run` that cannot be imported."""
    (folder / "first").mkdir()
    for module in (*SLOW_TO_IMPORT, *modules):
        (folder / "first" / f"{module}.py").write_text(f"{how}\n" if module in modules else "")


def check_broken(folder: Path, modules: Sequence[str], how: str) -> None:
    """Where importing some modules ends like this, each of them is a row, and all else is looked at."""
    break_modules(folder, modules, how)
    ended = run(folder, "doctor", "--format", "json")
    rows = {row["name"]: row for row in json.loads(ended.stdout)["rows"]}
    assert (ended.returncode, ended.stderr, rows["TMPDIR"]["state"]) == (1, "", "ok")
    for module in modules:
        assert rows[module]["state"] == "fault"
        assert f"{metadata.version(module)}, but it cannot be imported: " in rows[module]["value"]


@pytest.mark.slow
@pytest.mark.parametrize("modules", [MODULES[::2], MODULES[1::2]])
def test_a_module_that_cannot_be_imported_is_a_row_and_no_traceback(tmp_path: Path, modules: Sequence[str]) -> None:
    check_broken(tmp_path, modules, "raise ImportError('broken', name=__name__)")


@pytest.mark.parametrize("how", ["raise ImportError('broken', name=__name__)", "raise SystemExit(9)"])
def test_where_no_module_can_be_imported_each_is_a_row(tmp_path: Path, how: str) -> None:
    check_broken(tmp_path, MODULES, how)


@pytest.mark.slow
def test_without_the_library_of_the_command_line_it_is_said_plainly(tmp_path: Path) -> None:
    break_modules(tmp_path, ["typer"], "raise ImportError('broken', name=__name__)")
    ended = run(tmp_path, "doctor")
    assert (ended.returncode, ended.stdout) == (70, "")
    first, second = ended.stderr.splitlines()
    assert first == "aoe-reports: error: the command line cannot be imported: broken"
    assert second.startswith(f"typer: {metadata.version('typer')}, but it cannot be imported: ImportError: broken; `")


def test_other_commands_point_to_the_doctor(tmp_path: Path) -> None:
    break_modules(tmp_path, ["deltalake"], "raise ImportError('broken', name=__name__)")
    ended = run(tmp_path, "store", "history", "--store", "x")
    assert (ended.returncode, ended.stdout) == (70, "")
    assert ended.stderr == (
        "aoe-reports: error: deltalake cannot be imported (broken); `aoe-reports doctor` shows what is missing and how "
        "to get it\n"
    )


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command line in a process of its own, with the modules in `first` before all others."""
    environment = {**os.environ, "PYTHONPATH": str(folder / "first")}
    command = [sys.executable, "-m", "aoe_reports", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_a_check_that_fails_itself_stops_no_other() -> None:
    def broken() -> Any:
        yield ok("first", "seen")
        raise ValueError("it is odd")

    rows = list(each("group", [broken, lambda: [ok("last", "seen")]]))
    assert [(one.name, one.state) for one in rows] == [("first", "ok"), ("group", "fault"), ("last", "ok")]
    assert rows[1].value == "ValueError: it is odd"


def test_a_sound_store_is_described(cli: Cli, small_store: Path) -> None:
    code, rows, _ = checks(cli, "--store", small_store)
    assert code == 0
    assert rows["store"]["value"].startswith("store: 16 nights, 19 runs, ")
    names = ("store permissions", "store", "store format", "store room", "compaction", "vacuum", "newest night")
    assert {rows[name]["state"] for name in (*names, "store files")} == {"ok"}
    assert rows["store files"]["value"].endswith(" files are as they were written")


def test_the_usual_store_is_looked_at_unasked(cli: Cli, small_store: Path) -> None:
    small_store.rename("aoe-history")
    assert checks(cli)[1]["store"]["value"].startswith("./aoe-history: 16 nights")


def test_a_truncated_file_is_named(cli: Cli, small_store: Path) -> None:
    (part, *_) = sorted(small_store.rglob("kind=record/**/*.parquet"))
    part.write_bytes(part.read_bytes()[:-100])
    code, rows, reasons = checks(cli, "--store", small_store)
    assert (code, reasons) == (1, ["store files"])
    assert part.name in rows["store files"]["value"]
    assert rows["store files"]["value"].startswith("1 of ")
    assert "`aoe-reports store verify --store store`" in rows["store files"]["what_to_do"]


def test_a_missing_file_is_named(cli: Cli, small_store: Path) -> None:
    (part, *_) = sorted(small_store.rglob("kind=record/**/*.parquet"))
    part.unlink()
    code, rows, _ = checks(cli, "--store", small_store)
    assert (code, rows["store files"]["state"]) == (1, "fault")


def test_a_log_without_its_commits_is_a_fault_and_no_traceback(cli: Cli, small_store: Path) -> None:
    for one in (small_store / "_delta_log").iterdir():
        one.write_bytes(b"")
    code, rows, reasons = checks(cli, "--store", small_store)
    assert (code, reasons) == (1, ["store"])
    assert rows["store"]["state"] == "fault"
    assert rows["TMPDIR"]["state"] == "ok"


def test_a_named_store_that_is_none_is_a_fault(cli: Cli, tmp_path: Path) -> None:
    assert checks(cli, "--store", "nowhere")[::2] == (1, ["store"])
    (tmp_path / "empty").mkdir()
    assert checks(cli, "--store", "empty")[::2] == (1, ["store"])


@pytest.mark.parametrize("name", ["absent", "a file", "empty"])
def test_where_no_store_is_nothing_is_to_be_put_back(cli: Cli, tmp_path: Path, name: str) -> None:
    (tmp_path / "a file").write_text("x")
    (tmp_path / "empty").mkdir()
    what_to_do = checks(cli, "--store", tmp_path / name)[1]["store"]["what_to_do"]
    assert what_to_do.startswith("`aoe-reports ingest PATH` makes one")


@pytest.mark.parametrize(
    ("uri", "what_to_do"),
    [("ftp://example.org/x", "no store can be at ftp://"), ("s3://bucket/x", "check the name of the bucket")],
)
def test_what_lies_elsewhere_is_not_called_damaged(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, uri: str, what_to_do: str
) -> None:
    def refuse(uri: str) -> None:
        raise stores.StoreError(f"{uri}: the store cannot be opened")

    monkeypatch.setattr(stores, "_opened", refuse)
    assert checks(cli, "--store", uri)[1]["store"]["what_to_do"].startswith(what_to_do)


def test_a_folder_for_temporary_files_that_is_not_there_is_a_warning(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path / "absent"))
    row = checks(cli)[1]["TMPDIR"]
    assert row["state"] == "warning"
    assert row["value"].startswith(f"{tmp_path / 'absent'}: no such folder, so temporary files go to ")


def test_a_store_that_may_not_be_written_is_a_warning_and_one_that_may_not_be_read_a_fault(
    cli: Cli, small_store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The system lets root do both, so what it says is stood in for."""
    allowed = os.R_OK | os.X_OK
    monkeypatch.setattr(os, "access", lambda path, mode: mode & ~allowed == 0)
    code, rows, _ = checks(cli, "--store", small_store)
    assert (code, rows["store permissions"]["state"]) == (0, "warning")
    assert rows["store permissions"]["value"].startswith("store: this user may not write it")
    assert rows["store files"]["state"] == "ok"
    assert cli("doctor", "--store", small_store, "--strict").code == 1
    allowed = 0
    code, rows, reasons = checks(cli, "--store", small_store)
    assert (code, reasons, rows["store"]["value"]) == (1, ["store"], "store: this user may not read it")


def test_a_night_ahead_of_the_clock_is_a_warning_from_five_minutes_on(
    cli: Cli, small_store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = json.loads(cli("store", "history", "runs", "--store", small_store, "--format", "json").out)["rows"]
    newest = max(row["timestamp_ns"] for row in runs) / 10**9
    for ahead, state in ((299, "ok"), (301, "warning")):
        monkeypatch.setattr(time, "time", lambda ahead=ahead: newest - ahead)
        row = checks(cli, "--store", small_store)[1]["newest night"]
        assert row["state"] == state
    assert row["value"].endswith("UTC: 5 minutes ahead of this machine")


@pytest.mark.parametrize(("surplus", "state"), [(17, "ok"), (18, "warning")])
def test_small_files_are_a_warning_where_an_ingest_would_have_merged_them(
    cli: Cli, small_store: Path, monkeypatch: pytest.MonkeyPatch, surplus: int, state: str
) -> None:
    monkeypatch.setattr(care, "_surplus", lambda log: surplus)
    row = checks(cli, "--store", small_store)[1]["compaction"]
    assert (row["state"], row["value"]) == (state, f"{surplus} small files more than needed")
    assert row["what_to_do"] == ("`aoe-reports store compact --store store`" if state == "warning" else None)


def test_files_that_are_not_used_are_a_warning_where_they_are_more_than_the_store(cli: Cli, small_store: Path) -> None:
    old = small_store / "kind=record" / "month=2000-01" / "part-old.parquet"
    old.parent.mkdir(parents=True)
    held = cli("store", "info", "--store", small_store, "--format", "json").json["rows"][0]["bytes"]
    for size, state in ((held, "ok"), (held + 1, "warning")):
        old.write_bytes(b"x" * size)
        os.utime(old, (1, 1))
        row = checks(cli, "--store", small_store)[1]["vacuum"]
        assert row["state"] == state
        assert row["value"].startswith("1 file that is no longer used (")


def test_room_is_a_warning_where_it_is_less_than_a_merge_or_an_archive_takes(
    cli: Cli, small_store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = cli("store", "info", "--store", small_store, "--format", "json").json["rows"][0]["bytes"]
    for free, store, temporary in (
        (held - 1, "warning", "warning"),
        (held, "ok", "warning"),
        (GIB - 1, "ok", "warning"),
        (GIB, "ok", "ok"),
    ):
        monkeypatch.setattr(shutil, "disk_usage", lambda path, free=free: Usage(0, 0, free))
        rows = checks(cli, "--store", small_store)[1]
        assert (rows["store room"]["state"], rows["TMPDIR"]["state"]) == (store, temporary)


def test_no_place_for_temporary_files_is_a_fault(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(machine.tempfile, "NamedTemporaryFile", refuse)
    code, rows, reasons = checks(cli)
    assert (code, reasons) == (1, ["TMPDIR"])
    assert rows["TMPDIR"]["value"] == "no temporary file can be written: Permission denied"


def test_a_site_is_held_against_the_store(cli: Cli, small_store: Path) -> None:
    assert cli("site", "-o", "site", "--store", small_store).code == 0
    code, rows, _ = checks(cli, "--site", "site", "--store", small_store)
    assert (code, rows["site"]["state"], rows["site permissions"]["state"]) == (0, "ok", "ok")
    commit = max((small_store / "_delta_log").glob("*.json"))
    later = time.time() + 60
    os.utime(commit, (later, later))
    row = checks(cli, "--site", "site", "--store", small_store)[1]["site"]
    assert (row["state"], row["what_to_do"]) == ("warning", "`aoe-reports site -o site`")
    assert "; the store was written at " in row["value"]


def test_a_folder_that_is_no_site_is_a_fault_and_an_absent_one_is_made_first(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    assert checks(cli, "--site", "mine")[::2] == (1, ["site"])
    code, rows, _ = checks(cli, "--site", "absent")
    assert (code, rows["site"]["state"]) == (0, "missing")
    (tmp_path / "file").write_text("")
    assert checks(cli, "--site", "file")[::2] == (1, ["site"])


def test_configuration_files_are_told_with_how_much_they_set(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "aoe-reports.toml").write_text("lang = 'en'\n[hotspots]\ntop = 3\nby = 'shape'\n")
    value = checks(cli)[1]["configuration"]["value"]
    assert value == f"{tmp_path / 'aoe-reports.toml'}: 3 settings (see `doctor --options`)"
    assert cli("--isolated", "doctor", "--format", "json").json["rows"][-2]["value"] == "no file sets an option"


def test_a_terminal_without_chinese_is_a_warning(tmp_path: Path) -> None:
    for encoding, state in (("ascii", "warning"), ("latin-1", "warning"), ("utf-8", "ok"), ("gb18030", "ok")):
        environment = {**os.environ, "PYTHONIOENCODING": encoding}
        command = [
            sys.executable,
            "-c",
            "from aoe_reports.jobs.doctor.machine import terminal; print(*(one.state for one in terminal()))",
        ]
        ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, cwd=tmp_path)
        assert (encoding, ended.stdout.strip()) == (encoding, state)


@pytest.mark.parametrize(
    ("given", "deciding"),
    [
        ({}, "LANG"),
        ({"LANG": "C"}, "LANG"),
        ({"LANG": "de", "LC_CTYPE": "C"}, "LC_CTYPE"),
        ({"LC_CTYPE": "x", "LC_ALL": "C"}, "LC_ALL"),
    ],
)
def test_the_variable_that_decides_is_the_one_to_set(
    given: dict[str, str], deciding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from aoe_reports.jobs.doctor.machine import terminal

    for name in ("LANG", "LC_CTYPE", "LC_ALL"):
        monkeypatch.delenv(name, raising=False)
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
    (found,) = terminal()
    assert found.value == f"ascii; {deciding} is {given.get(deciding, 'not set')}"
    assert f"`export {deciding}=C.UTF-8`" in (found.what_to_do or "")


@pytest.mark.parametrize(("drawn", "state"), [(True, "ok"), (False, "missing")])
def test_a_font_is_looked_for(cli: Cli, monkeypatch: pytest.MonkeyPatch, state: str, *, drawn: bool) -> None:
    monkeypatch.setattr("aoe_reports.present.figures.can_draw", lambda language: drawn)
    assert checks(cli)[1]["font"]["state"] == state


def test_programs_are_looked_for_on_path(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "msprof").write_text("#!/bin/sh\n")
    (tmp_path / "msprof").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    rows = checks(cli)[1]
    assert (rows["msprof"]["state"], rows["msprof"]["value"]) == ("ok", str(tmp_path / "msprof"))
    assert (rows["aoe"]["state"], rows["aoe"]["value"]) == ("missing", "needed for: `tune run` with AOE")


@pytest.mark.parametrize("built", [True, False])
def test_the_compiled_reader_of_timelines_is_there_or_missing(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, *, built: bool
) -> None:
    monkeypatch.setattr("aoe_reports.formats.native.library", lambda: object() if built else None)
    code, rows, _ = checks(cli)
    row = rows["libreader"]
    assert (row["state"], code) == ("ok" if built else "missing", 0)
    if not built:
        assert row["value"] == "needed for: reading large timelines and tables faster"
        assert row["what_to_do"] == "install Rust (cargo 1.85 or later), then this package again"


def test_an_object_store_is_asked_only_where_it_is_named(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def refuse(uri: str) -> None:
        asked.append(uri)
        raise stores.StoreError("s3://bucket/x: the store cannot be opened: no route to host")

    monkeypatch.setattr(stores, "_opened", refuse)
    checks(cli)
    assert asked == []
    code, rows, _ = checks(cli, "--store", "s3://bucket/x")
    assert (code, asked, "no route to host" in rows["store"]["value"]) == (1, ["s3://bucket/x"], True)


def test_every_form_holds_every_row(cli: Cli, small_store: Path) -> None:
    _, rows, _ = checks(cli, "--store", small_store)
    told = list(csv.DictReader(io.StringIO(cli("doctor", "--store", small_store, "--format", "csv").out)))
    assert [row["name"] for row in told] == list(rows)
    assert {row["state"] for row in told} <= set(STATES)
    for form in ("text", "markdown", "html"):
        out = cli("doctor", "--store", small_store, "--format", form).out
        assert all(re.search(rf"\b{re.escape(name)}\b", out) for name in rows)


def test_the_headline_counts_the_states(cli: Cli) -> None:
    missing = sum(row["state"] == "missing" for row in checks(cli)[1].values())
    assert cli("doctor").out.startswith(f"0 faults, 0 warnings, {missing} optional parts missing\n")


def test_docs_name_every_state() -> None:
    text = (ROOT / "docs" / "doctor.md").read_text()
    assert all(f"| `{state}` |" in text for state in STATES)
