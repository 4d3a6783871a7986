"""Files leave whole or not at all, and what a killed run left goes."""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import tempfile
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aoe_reports.engine import output
from aoe_reports.engine.output import exchange_at_once, exchange_names, unfinished, whole_file, write_among, write_whole
from aoe_reports.model.errors import NoticeWarning

MARK = ".aoe-reports-"


@pytest.fixture(autouse=True)
def new_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing has been told yet."""
    monkeypatch.setattr(output, "_seen", set())
    monkeypatch.setattr(output, "_cleared", set())


def marked(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if MARK in path.name)


@pytest.mark.parametrize("data", [b"\x00\xff", "é", "a\udc80"])
def test_a_file_is_there_with_all_that_was_written(tmp_path: Path, data: str | bytes) -> None:
    path = tmp_path / "a.txt"
    path.write_text("before")
    write_whole(path, data)
    assert path.read_bytes() == (data if isinstance(data, bytes) else data.encode("utf-8", "replace"))
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    assert list(tmp_path.iterdir()) == [path]


def test_a_failure_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("before")

    def fail() -> None:
        with whole_file(path) as file:
            file.write(b"half")
            file.flush()
            assert path.read_text() == "before"
            (made,) = marked(tmp_path)
            assert made.startswith(f".a.txt{MARK}")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write_whole(tmp_path / "link", "x")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "x"


def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append((tmp_path / "pipe").read_bytes()))
    reader.start()
    write_whole(tmp_path / "pipe", "x")
    reader.join()
    assert read == [b"x"]
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def test_a_folder_that_is_in_the_way_is_no_pipe(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError):
        write_whole(tmp_path / "folder", "x")
    assert marked(tmp_path) == []


@pytest.fixture
def leftover(tmp_path: Path) -> Path:
    """What a killed run left of `a.txt`: marked, and without a lock."""
    path = tmp_path / f".a.txt{MARK}0a1b2c_z"
    path.write_text("half")
    return path


def told_when_written(path: Path) -> list[str]:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        write_whole(path, "x")
    assert all(issubclass(one.category, NoticeWarning) for one in told)
    return [str(one.message) for one in told]


def test_what_is_left_of_the_same_output_is_deleted(leftover: Path, tmp_path: Path) -> None:
    assert told_when_written(tmp_path / "a.txt") == [f"{leftover}: left over from a killed run; it is deleted"]
    assert not leftover.exists()


def test_a_folder_that_is_left_is_deleted_with_what_it_holds(leftover: Path, tmp_path: Path) -> None:
    leftover.unlink()
    leftover.mkdir()
    (leftover / "inside").touch()
    assert len(told_when_written(tmp_path / "a.txt")) == 1
    assert not leftover.exists()


def test_what_is_left_of_another_output_is_told_once(leftover: Path, tmp_path: Path) -> None:
    said = f"{leftover}: left over from a killed run; the next run that writes a.txt deletes it"
    assert told_when_written(tmp_path / "b.txt") == [said]
    assert told_when_written(tmp_path / "b.txt") == []
    assert leftover.exists()
    assert len(told_when_written(tmp_path / "a.txt")) == 1, "but it is deleted when its time comes"


def test_what_is_being_written_is_no_leftover(leftover: Path, tmp_path: Path) -> None:
    with leftover.open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert told_when_written(tmp_path / "a.txt") == []
    assert leftover.exists()
    with unfinished(tmp_path / "c.txt") as made:
        assert told_when_written(tmp_path / "c.txt") == []
        assert made.exists()


@pytest.mark.parametrize("name", [".a.txt.aoe-reports-0a1b2c_", ".a.txt.aoe-reports-0a1b2c_zz", "a.txt.aoe-reports-0a1b2c_z", ".a.txt.aoe-reports-0a1b2c_Z"])  # fmt: skip
def test_another_name_is_no_leftover(tmp_path: Path, name: str) -> None:
    (tmp_path / name).touch()
    assert told_when_written(tmp_path / "a.txt") == []
    assert (tmp_path / name).exists()


def test_links_and_pipes_of_that_name_stay(leftover: Path, tmp_path: Path) -> None:
    leftover.unlink()
    leftover.symlink_to(tmp_path / "elsewhere")
    os.mkfifo(tmp_path / f".a.txt{MARK}00000000")
    assert told_when_written(tmp_path / "a.txt") == []
    assert len(marked(tmp_path)) == 2


@pytest.mark.parametrize("length", [99, 100, 101, 200])
def test_a_long_name_is_found_by_its_beginning(tmp_path: Path, length: int) -> None:
    name = "n" * length
    left = tmp_path / f".{name[:100]}{MARK}00000000"
    left.touch()
    with pytest.warns(NoticeWarning, match="it is deleted"), unfinished(tmp_path / name) as made:
        assert made.name.startswith(f".{name[:100]}{MARK}")
    assert not left.exists()


@pytest.fixture(params=[True, False], ids=["at once", "in steps"])
def folders(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Path, Path]]:  # fmt: skip
    if not request.param:
        monkeypatch.setattr(output, "exchange_at_once", lambda *_: False)
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / name).touch()
    yield tmp_path / "one", tmp_path / "other"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "other"]


def test_two_folders_exchange_their_names(folders: tuple[Path, Path]) -> None:
    one, other = folders
    exchange_names(one, other)
    assert [path.name for folder in (one, other) for path in folder.iterdir()] == ["other", "one"]


def test_an_exchange_that_fails_leaves_both(folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = folders
    with pytest.raises(OSError, match="No such file"):
        exchange_at_once(one.with_name("nothing"), other)
    if output.exchange_at_once is not exchange_at_once:
        with pytest.raises(FileNotFoundError):
            exchange_names(one.with_name("nothing"), other)
    assert [path.name for folder in (one, other) for path in folder.iterdir()] == ["one", "other"]


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_nothing_stays_open(tmp_path: Path) -> None:
    (tmp_path / f".x{MARK}0a1b2c_z").touch()
    told_when_written(tmp_path / "a.txt")
    before = open_files()
    for number in range(3):
        told_when_written(tmp_path / "a.txt")
        with unfinished(tmp_path / "c.txt") as made:
            made.rename(tmp_path / f"c{number}.txt")
        with pytest.raises(ZeroDivisionError), unfinished(tmp_path / "b.txt"):
            raise ZeroDivisionError
    assert open_files() == before


def test_every_leftover_is_looked_at(tmp_path: Path) -> None:
    """Some that are being written, or are none, hide none behind them."""
    (tmp_path / ".a.txt.aoe-reports-odd").touch()
    held = tmp_path / f".a.txt{MARK}00000000"
    held.touch()
    (tmp_path / f".a.txt{MARK}11111111").symlink_to(tmp_path / "gone")
    for name in ("a.txt", "b.txt"):
        (tmp_path / f".{name}{MARK}zzzzzzzz").touch()
    with held.open() as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        assert told_when_written(tmp_path / "a.txt") == [
            f"{tmp_path}/.a.txt{MARK}zzzzzzzz: left over from a killed run; it is deleted",
            f"{tmp_path}/.b.txt{MARK}zzzzzzzz: left over from a killed run; the next run that writes b.txt deletes it",
        ]


def test_what_is_left_among_files_of_ours_is_deleted_by_the_first_that_is_written(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "ab"
    write_among(folder / "a", b"1")
    left = folder / f".b{MARK}0a1b2c_z"
    left.touch()
    write_among(folder / "c", b"2")
    assert left.exists(), "once a process is enough"
    output._cleared.clear()
    with pytest.warns(NoticeWarning, match="it is deleted"):
        write_among(folder / "c", b"3")
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == {"a": b"1", "c": b"3"}
    shutil.rmtree(tmp_path / "new")
    write_among(folder / "d", b"4")
    assert [file.name for file in folder.iterdir()] == ["d"]


def test_a_new_file_that_another_run_takes_for_a_leftover_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    make = tempfile.mkstemp

    def taken_at_once(**more: Any) -> tuple[int, str]:
        handle, name = make(**more)
        made.append(name)
        if len(made) < 3:
            other = os.open(name, os.O_RDONLY)
            fcntl.flock(other, fcntl.LOCK_EX)
            if len(made) == 1:  # deleted, and the lock is free again
                Path(name).unlink()
                os.close(other)
        return handle, name

    monkeypatch.setattr(tempfile, "mkstemp", taken_at_once)
    write_among(tmp_path / "a", b"1")
    assert len(made) == 3
    assert (tmp_path / "a").read_bytes() == b"1"
