"""The cache of captures, through the command line: what it answers, what makes it read anew, and what damages or attacks it."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import duckdb
import pytest
from commandline import FIXTURES, Cli

from aoe_reports.engine.tables import capture_files
from aoe_reports.engine.tables.cache import Cache

COUNT = "SELECT count(*) AS tasks FROM task"
ALL = "SELECT (SELECT count(*) FROM task) AS tasks, (SELECT count(*) FROM event) AS events, (SELECT count(*) FROM source) AS files"
SMALL = "from aoe_reports.engine.tables import capture_files, cache; capture_files.MIN_BYTES = 0; import os, signal\n"
MAIN = "\nfrom aoe_reports.cli.main import main; main()"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a cache that keeps small captures, too."""
    monkeypatch.setattr(capture_files, "MIN_BYTES", 0)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    return tmp_path / "home" / "aoe-reports"


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    """A capture whose files have not changed for long."""
    return _copied("valid/torch_npu_two_ranks", tmp_path / "profile")


def _copied(name: str, folder: Path) -> Path:
    shutil.copytree(FIXTURES / "msprof" / name, folder)
    for file in folder.rglob("*"):
        os.utime(file, (1_700_000_000, 1_700_000_000))
    return folder


def _names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def _parts(folder: Path) -> list[str]:
    return sorted(name.partition("-")[2] for name in _names(folder))


def _run(code: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", SMALL + code + MAIN, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_what_was_read_once_is_not_read_again(cli: Cli, cache: Path, profile: Path) -> None:
    first = cli("sql", profile, ALL, "--format", "json")
    assert (cache.stat().st_mode & 0o777, _parts(cache)) == (
        0o700,
        ["capture.duckdb", "event.duckdb", "task.duckdb"],
    )
    code = "capture_files.CaptureFiles._written = None"  # whatever is read now ends the program
    again = _run(code, "sql", profile, ALL, "--format", "json")
    assert (again.returncode, again.stdout) == (first.code, first.out)


@pytest.mark.slow
def test_duckdb_is_loaded_by_the_process_of_the_query_only(cli: Cli, cache: Path, profile: Path) -> None:
    cli("sql", profile, COUNT)
    ended = _run("import sys; assert 'duckdb' not in sys.modules; sys.modules['duckdb'] = None", "sql", profile, COUNT)
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.slow
def test_findings_and_the_exit_code_are_the_same_from_the_cache_in_every_language(
    cli: Cli, cache: Path, tmp_path: Path
) -> None:
    damaged = _copied("invalid/csv-ragged-row", tmp_path / "damaged")
    query = "SELECT rule, message FROM finding ORDER BY ALL"
    first = cli("sql", damaged, query, "--lang", "zh")
    assert first.code == 1
    assert _names(cache)
    assert cli("sql", damaged, query, "--lang", "zh") == first
    assert cli("sql", damaged, query, "--no-cache", "--lang", "zh") == first


@pytest.mark.slow
@pytest.mark.parametrize("change", ["content", "time", "inode", "another file"])
def test_files_that_changed_are_read_anew(cli: Cli, cache: Path, profile: Path, change: str) -> None:
    cli("sql", profile, COUNT)
    file = next(profile.rglob("kernel_details.csv"))
    text = file.read_text(encoding="utf-8")
    last = text.splitlines()[-1]
    if change == "content":
        file.write_text(text.replace(last, last.replace("1", "2")), encoding="utf-8")
    elif change == "inode":
        file.rename(profile / "old")
        shutil.copy2(profile / "old", file)
        (profile / "old").unlink()
    elif change == "another file":
        shutil.copytree(file.parents[1], profile / "another_ascend_pt")
    os.utime(file, ns=(0, 1_700_000_000_000_000_000 + (change in {"time", "content"})))
    assert cli("sql", profile, "FROM task").out == cli("sql", profile, "FROM task", "--no-cache").out
    assert len(_names(cache)) == 2


@pytest.mark.slow
def test_what_changes_while_it_is_read_or_just_before_is_not_kept(cache: Path, profile: Path) -> None:
    file = next(profile.rglob("kernel_details.csv"))
    code = f"""
from aoe_reports.engine.tables import loading
write = loading.write_part
def changing(*arguments):
    write(*arguments)
    os.utime({str(file)!r}, (1_600_000_000, 1_600_000_000))
loading.write_part = changing"""
    assert _run(code, "sql", profile, COUNT).returncode == 0
    assert list(cache.iterdir()) == []
    os.utime(file, (2**32, 2**32))  # no clock is so far behind
    assert _run("", "sql", profile, COUNT).returncode == 0
    assert list(cache.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["nothing", "garbage", "no tables", "cut", "not complete", "another table"])
def test_a_file_that_cannot_be_used_is_thrown_away_and_said(cli: Cli, cache: Path, profile: Path, damage: str) -> None:
    rows = cli("sql", profile, COUNT).out
    (file,) = cache.iterdir()
    whole = file.read_bytes()
    if damage == "no tables":
        file.unlink()
        duckdb.connect(str(file)).close()
    elif damage in {"not complete", "another table"}:
        with duckdb.connect(str(file)) as database:
            statement = "DELETE FROM reading" if damage == "not complete" else "ALTER TABLE task ADD COLUMN more BIGINT"
            database.execute(statement)
    else:
        file.write_bytes({"nothing": b"", "garbage": b"x" * 100_000, "cut": whole[: len(whole) // 2]}[damage])
    ended = cli("sql", profile, COUNT)
    assert (ended.code, ended.out) == (0, rows)
    assert "[cache-damaged]" in ended.err
    assert ("it does not say that it is complete" in ended.err) == (damage in {"no tables", "not complete"})
    assert (cli("sql", profile, COUNT).err, _names(cache)) == ("", {file.name})


@pytest.mark.slow
@pytest.mark.parametrize("command", ["sql", "convert"])
def test_damage_that_only_the_query_reaches_is_an_error_once(
    cli: Cli, cache: Path, profile: Path, command: str
) -> None:
    arguments = (
        ("sql", profile, "FROM task") if command == "sql" else ("convert", profile, "-o", profile.parent / "x.duckdb")
    )
    rows = cli(*arguments).out
    (file,) = cache.glob("*-task.duckdb")
    whole = file.read_bytes()
    for place in range(12_300, len(whole), 1 << 18):  # a byte of each block
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        if _is_damaged_inside(file):
            break
    ended = cli(*arguments)
    assert (ended.code, ended.out) == (3, "")
    assert "Corrupt database file" in ended.err
    assert (cli(*arguments).out, cli(*arguments).err) == (rows, "")


def _is_damaged_inside(file: Path) -> bool:
    reached = ""
    with duckdb.connect() as connection, contextlib.suppress(duckdb.Error):
        connection.execute(f"ATTACH '{file}' AS file (READ_ONLY)")
        for reached in ("reading", "task", "operator"):
            connection.execute(f"FROM file.{reached}").fetchall()
    return reached == "task"


@pytest.mark.slow
@pytest.mark.parametrize(
    "place", ["from aoe_reports.engine.tables import loading; loading.notes_as_text", "cache.Cache.keep"]
)
def test_a_killed_writer_leaves_nothing_that_is_used(cli: Cli, cache: Path, profile: Path, place: str) -> None:
    killed = _run(f"{place} = lambda *_: os.kill(os.getpid(), signal.SIGKILL)", "sql", profile, COUNT)
    assert killed.returncode == -9
    (left,) = cache.iterdir()
    assert left.is_dir()
    assert cli("sql", profile, COUNT).code == 0
    assert left.name not in _names(cache)
    assert _parts(cache) == ["task.duckdb"]


@pytest.mark.slow
def test_processes_that_fill_it_at_once_answer_the_same(cache: Path, profile: Path) -> None:
    command = [sys.executable, "-c", SMALL + MAIN, "sql", str(profile), ALL, "--format", "csv"]
    pipe = subprocess.PIPE
    processes = [subprocess.Popen(command, stdout=pipe, stderr=pipe) for _ in range(2)]
    assert len({process.communicate() for process in processes}) == 1
    assert {process.returncode for process in processes} == {0}
    assert _parts(cache) == ["capture.duckdb", "event.duckdb", "task.duckdb"]


@pytest.mark.parametrize("folder", ["a link", "open to others", "a file"])
def test_a_folder_that_others_may_have_made_is_not_used(cli: Cli, cache: Path, profile: Path, folder: str) -> None:
    elsewhere = profile.parent / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    cache.parent.mkdir()
    if folder == "a link":
        cache.symlink_to(elsewhere)
    elif folder == "a file":
        cache.touch()
    else:
        cache.mkdir(mode=0o755)
    ended = cli("sql", profile, ALL)
    assert (ended.code, ended.err.count("[cache-not-used]")) == (0, 1)
    assert list(elsewhere.iterdir()) == []


def test_a_cache_that_cannot_be_written_is_said_once(
    cli: Cli, cache: Path, profile: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Cache, "keep", full)
    ended = cli("sql", profile, ALL)
    assert (ended.code, ended.err.count("[cache-not-used]")) == (0, 1)
    assert "No space left on device" in ended.err
    assert list(cache.iterdir()) == []


@pytest.mark.slow
def test_where_no_disk_has_room_both_commands_say_so(cache: Path, profile: Path) -> None:
    code = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))"
    target = profile.parent / "x.duckdb"
    for arguments in (("sql", profile, COUNT), ("convert", profile, "-o", target)):
        ended = _run(code, *arguments)
        assert (ended.returncode, ended.stdout) == (3, "")
        assert "cannot be written" in ended.stderr
        assert "Traceback" not in ended.stderr
    assert list(cache.iterdir()) == []
    assert not target.exists()


@pytest.mark.slow
def test_what_was_not_used_for_longest_goes_first(cli: Cli, cache: Path, profile: Path, tmp_path: Path) -> None:
    cli("sql", profile, COUNT)
    (first,) = cache.iterdir()
    size = first.stat().st_size
    others = [_copied("valid/torch_npu_two_ranks", tmp_path / name) for name in ("second", "third")]
    cli("sql", others[0], COUNT)
    (second,) = set(cache.iterdir()) - {first}
    for age, file in enumerate((second, first)):
        os.utime(file, (1_700_000_000 + age,) * 2)
    cli("sql", profile, COUNT)
    cli("sql", others[1], COUNT, "--max-cache", str(2 * size + size // 2))
    assert (first.exists(), second.exists(), len(_names(cache))) == (True, False, 2)
    cli("sql", others[0], COUNT, "--max-cache", "0")
    assert not second.exists()


def test_small_captures_are_not_kept(cli: Cli, cache: Path, profile: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache.parent))
    assert cli("sql", profile, COUNT).code == 0
    assert not cache.exists()


def test_the_cache_is_shown_and_cleared(cli: Cli, cache: Path, profile: Path) -> None:
    other = profile.parent / "other"
    assert cli("cache", "info", "--format", "json").json["rows"] == [{"folder": str(cache), "files": 0, "bytes": 0}]
    cli("sql", profile, ALL, "--cache", other)
    (other / "mine").touch()
    (row,) = cli("cache", "info", "--cache", other, "--format", "json").json["rows"]
    assert (row["folder"], row["files"], row["bytes"] > 0) == (str(other), 3, True)
    assert cli("cache", "clear", "--cache", other, "--format", "json").json["rows"] == [row]
    assert (_names(other), cache.exists()) == ({"mine"}, False)
    assert cli("cache", "info", "--cache", "s3://bucket/cache").code == 2


def test_nothing_is_kept_where_it_is_not_wanted(cli: Cli, cache: Path, profile: Path) -> None:
    assert cli("sql", profile, COUNT, "--no-cache").code == 0
    assert not cache.exists()


def test_all_tables_are_cleared(cli: Cli, cache: Path, profile: Path) -> None:
    cli("sql", profile, "SELECT count(*) FROM event_args")
    assert "event_args.duckdb" in _parts(cache)
    cli("cache", "clear")
    assert _names(cache) == set()


def test_an_archive_of_the_same_name_and_size_is_another_one(
    cli: Cli, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = []
    for folder in ("one", "other"):
        profile = _copied("valid/torch_npu_two_ranks", tmp_path / folder / "profile")
        if folder == "other":
            shutil.rmtree(next(profile.rglob("ASCEND_PROFILER_OUTPUT")))
        monkeypatch.chdir(tmp_path / folder)
        with tarfile.open("profile.tar", "w") as archive:
            archive.add("profile")
        os.truncate("profile.tar", 1 << 20)  # as tar itself fills up its last record
        os.utime("profile.tar", (1_700_000_000, 1_700_000_000))
        answers.append(cli("sql", "profile.tar", COUNT, "--format", "csv").out)
    assert answers[0] != answers[1]
