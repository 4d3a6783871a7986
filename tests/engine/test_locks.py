"""One at a time in a folder: whoever comes second is told for whom it waits."""

from __future__ import annotations

import errno
import fcntl
import os
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from aoe_reports.engine import locks
from aoe_reports.engine.locks import MANIFEST, BusyError, locked, locked_at_once, locked_site_of
from aoe_reports.model.errors import NoticeWarning


def is_free(place: Path) -> bool:
    handle = os.open(place, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    else:
        return True
    finally:
        os.close(handle)


def held(place: Path) -> int:
    """A handle by which somebody else holds a folder."""
    handle = os.open(place, os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    return handle


def when_told(monkeypatch: pytest.MonkeyPatch, then: Callable[[], None]) -> list[str]:
    """What is said; at the first word something happens, so that a wait can end."""
    said: list[str] = []

    def warn(message: Warning, *_: object, **__: object) -> None:
        assert isinstance(message, NoticeWarning)
        said.append(str(message))
        if len(said) == 1:
            then()

    monkeypatch.setattr(warnings, "warn", warn)
    return said


def test_a_folder_is_made_and_held_as_long_as_asked(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    with locked(folder):
        assert not is_free(folder)
        with locked(folder), locked(tmp_path / "a" / ".." / "a" / "b"):
            pass
        assert not is_free(folder), "who asked first holds it longest"
    assert is_free(folder)
    with pytest.raises(ZeroDivisionError), locked(folder):
        raise ZeroDivisionError
    assert is_free(folder)
    with locked(folder):
        assert not is_free(folder)


def test_who_waits_says_for_whom(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    handle = held(tmp_path)
    said = when_told(monkeypatch, lambda: os.close(handle))
    with locked(tmp_path):
        assert not is_free(tmp_path)
    assert said == [f"{tmp_path}: process {os.getpid()} is writing there; waiting until it is done"]


def test_who_cannot_be_named_is_another_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    handle = held(tmp_path)
    monkeypatch.setattr(locks, "_owner", lambda _: None)
    said = when_told(monkeypatch, lambda: os.close(handle))
    with locked(tmp_path):
        pass
    assert said == [f"{tmp_path}: another process is writing there; waiting until it is done"]


def test_nobody_owns_what_is_free(tmp_path: Path) -> None:
    assert locks._owner(tmp_path.stat().st_ino) is None
    handle = held(tmp_path)
    assert locks._owner(tmp_path.stat().st_ino) == os.getpid()
    os.close(handle)


def test_the_folder_that_has_the_name_is_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While one waits the folder is replaced: the lock of the one before is worth nothing."""
    folder, before = tmp_path / "site", tmp_path / "before"
    folder.mkdir()
    handle = held(folder)

    def replace() -> None:
        folder.rename(before)
        folder.mkdir()
        os.close(handle)

    when_told(monkeypatch, replace)
    with locked(folder):
        assert not is_free(folder)
        assert is_free(before)


def test_a_folder_whose_exchange_was_killed_gets_its_name_again(tmp_path: Path) -> None:
    aside = tmp_path / ".site.new-x.aside"
    aside.mkdir()
    (aside / "page").touch()
    with locked(tmp_path / "site"):
        assert [path.name for path in (tmp_path / "site").iterdir()] == ["page"]
        assert not aside.exists()
    aside.mkdir()
    with locked(tmp_path / "site"):
        assert aside.exists(), "the name is not free"


@pytest.mark.parametrize("is_folder", [True, False])
def test_who_does_not_wait_is_told_that_somebody_is_at_work(tmp_path: Path, is_folder: bool) -> None:
    place = tmp_path if is_folder else tmp_path / "lock"
    with locked_at_once(place, "busy"):
        with pytest.raises(BusyError, match="busy"), locked_at_once(place, "busy"):
            pass
        assert not is_free(place)
    with locked_at_once(place, "busy"):
        pass
    assert is_free(place)


@pytest.mark.parametrize("code", [errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL])
def test_without_locks_it_goes_on_and_that_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    def no_locks(*_: object) -> None:
        raise OSError(code, "no locks here")

    monkeypatch.setattr(fcntl, "flock", no_locks)
    with pytest.warns(NoticeWarning, match="does not support locks"), locked(tmp_path / "a"):
        pass
    with pytest.warns(NoticeWarning, match=f"^{tmp_path}: this"), locked_at_once(tmp_path / "file", "busy"):
        pass


def test_another_failure_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise OSError(errno.EIO, "broken")

    monkeypatch.setattr(fcntl, "flock", fails)
    for attempt in (locked(tmp_path), locked_at_once(tmp_path, "busy")):
        with pytest.raises(OSError, match="broken"), attempt:
            pass


def test_a_file_is_in_the_nearest_site_around_it(tmp_path: Path) -> None:
    inner = tmp_path / "site" / "pages"
    inner.mkdir(parents=True)
    with locked_site_of(inner / "a.html"):
        assert is_free(inner)
        assert is_free(inner.parent)
    (inner.parent / MANIFEST).touch()
    with locked_site_of(inner / "a.html"):
        assert is_free(inner)
        assert not is_free(inner.parent)
    (inner / MANIFEST).touch()
    with locked_site_of(inner / "a.html"):
        assert not is_free(inner)
        assert is_free(inner.parent)


def test_a_folder_that_goes_while_one_waits_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, before = tmp_path / "site", tmp_path / "before"
    folder.mkdir()
    handle = held(folder)

    def remove() -> None:
        folder.rename(before)
        os.close(handle)

    when_told(monkeypatch, remove)
    with locked(folder):
        assert not is_free(folder)
        assert is_free(before)


def test_what_fails_leaves_nothing_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise OSError(errno.EIO, "broken")

    before = len(list(Path("/proc/self/fd").iterdir()))
    with monkeypatch.context() as patched:
        patched.setattr(fcntl, "flock", fails)
        for attempt in (locked(tmp_path), locked_at_once(tmp_path, "busy")):
            with pytest.raises(OSError, match="broken"), attempt:
                pass
    with locked(tmp_path), pytest.raises(BusyError), locked_at_once(tmp_path, "busy"):
        pass
    (tmp_path / ".site.new-x.aside").mkdir()
    with locked(tmp_path / "site"):
        pass
    assert len(list(Path("/proc/self/fd").iterdir())) == before
