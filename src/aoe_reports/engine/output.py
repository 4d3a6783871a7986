"""The one place where files leave: whole, or not at all."""

from __future__ import annotations

import ctypes
import errno
import os
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import IO

from aoe_reports.engine.locks import locked_site_of
from aoe_reports.formats.sources.owned import RANDOM, delete, left, make_owned
from aoe_reports.model.errors import NoticeWarning
from aoe_reports.model.texts import say

REPORT_PAGE = "report.html"
REPORT_FILES = {REPORT_PAGE: "html", "report.md": "markdown", "report.json": "json"}
"""What `nightly` leaves beside the pages of a site, and the form of each."""


def write_whole(path: Path, data: str | bytes) -> None:
    """Write a file so that nobody ever sees half of it; a pipe or a device is written to, not replaced."""
    with whole_file(path) as file:
        file.write(data if isinstance(data, bytes) else data.encode("utf-8", "replace"))


def write_among(path: Path, data: bytes) -> None:
    """Write a file so that nobody ever sees half of it, into a folder that is made for files that are written so.

    Looking for what killed runs left takes longer than writing a small file, and longer with each that is there: it is done once
    a process and folder, whatever the names. All files there are ours, so what was left needs no name to be deleted.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.parent not in _cleared:
        _cleared.add(path.parent)
        for name, _ in _marked(path.parent):
            with left(path.parent / name) as is_left:
                if is_left:
                    _delete_left(path.parent / name)
    with locked_site_of(path), _whole_file(path, _new) as file:
        file.write(data)


@contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """A file to write into that takes the place of `path` when all went well, and leaves nothing when not."""
    path = Path(os.path.realpath(path))
    if path.exists() and not path.is_file() and not path.is_dir():
        with path.open("wb") as file:
            yield file
        return
    with locked_site_of(path), _whole_file(path, unfinished) as file:
        yield file


@contextmanager
def _whole_file(path: Path, beside: Callable[[Path], AbstractContextManager[Path]]) -> Iterator[IO[bytes]]:
    with beside(path) as made:
        with made.open("wb") as file:
            yield file
        made.chmod(0o644)
        made.replace(path)


@contextmanager
def unfinished(path: Path) -> Iterator[Path]:
    """An empty file beside `path` that is to take its place; it goes where that does not happen.

    What a killed run left of the same output is deleted, what one left of others is told. Whether a run is gone its lock
    tells: it dies with the process.
    """
    _look_for_leftovers(path)
    with _new(path) as made:
        yield made


@contextmanager
def _new(path: Path) -> Iterator[Path]:
    made, handle = make_owned(path.parent, f".{path.name[:_LONGEST_NAME]}{_MARK}", folder=False)
    try:
        yield made
    except BaseException:
        delete(made)
        raise
    finally:
        os.close(handle)


_MARK = ".aoe-reports-"
_LEFTOVER = re.compile(rf"\.(?P<name>.+){re.escape(_MARK)}{RANDOM}", re.DOTALL)
_LONGEST_NAME = 100
_seen: set[Path] = set()
"""Folders whose leftovers of other outputs this process has told."""
_cleared: set[Path] = set()
"""Folders of nothing but our files whose leftovers this process has deleted."""


def _look_for_leftovers(path: Path) -> None:
    told = path.parent in _seen
    _seen.add(path.parent)
    for name, of in _marked(path.parent):
        mine = of == path.name[:_LONGEST_NAME]
        if mine or not told:
            with left(path.parent / name) as is_left:
                if is_left and mine:
                    _delete_left(path.parent / name)
                elif is_left:
                    _tell_of_left(path.parent / name, of)


def _marked(folder: Path) -> list[tuple[str, str]]:
    """(name, of which output) of all in a folder that may be left over, in order."""
    try:
        names = sorted(entry.name for entry in os.scandir(folder) if _MARK in entry.name)
    except OSError:
        return []
    return [(name, found["name"]) for name in names if (found := _LEFTOVER.fullmatch(name))]


def _delete_left(place: Path) -> None:
    delete(place)
    warnings.warn(NoticeWarning(say("{path}: left over from a killed run; it is deleted", path=place)), stacklevel=2)


def _tell_of_left(place: Path, of: str) -> None:
    message = say(
        "{path}: left over from a killed run; the next run that writes {name} deletes it", path=place, name=of
    )
    warnings.warn(NoticeWarning(message), stacklevel=2)


_AT_FDCWD = -100
_RENAME_EXCHANGE = 2


def exchange_at_once(path: Path, other: Path) -> bool:
    """Exchange the names of two folders in one step (renameat2 of Linux); False where the file system cannot."""
    library = ctypes.CDLL(None, use_errno=True)
    rename = getattr(library, "renameat2", None)
    if rename is None:
        return False
    if rename(_AT_FDCWD, os.fsencode(path), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE) == 0:
        return True
    code = ctypes.get_errno()
    if code not in {errno.EINVAL, errno.ENOSYS, errno.ENOTSUP}:
        raise OSError(code, os.strerror(code), str(other))
    return False


def exchange_names(path: Path, other: Path) -> None:
    """Exchange the names of two folders in one step; where a file system cannot, in three."""
    if exchange_at_once(path, other):
        return
    aside = path.with_name(f"{path.name}.aside")
    other.rename(aside)
    try:
        path.rename(other)
    except BaseException:
        aside.rename(other)
        raise
    aside.rename(path)
