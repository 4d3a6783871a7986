"""One at a time in a folder: whoever comes second waits, and says for whom. A lock dies with its process, so none is ever stale."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import glob
import os
import re
import warnings
from collections.abc import Iterator
from pathlib import Path

from aoe_reports.model.errors import AoeReportsError, NoticeWarning
from aoe_reports.model.texts import say

MANIFEST = "manifest.json"
"""The file that makes a folder a site."""

_held: set[str] = set()
"""Folders that this process has locked."""
_NO_LOCKS = frozenset({errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EINVAL, errno.EBADF})
"""What file systems say that know no such locks."""


class BusyError(AoeReportsError):
    """Somebody else is at work where only one may be, and is not waited for."""


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Make a folder where there is none, and be alone in it: among those who ask for it so, on this machine or a file server.

    Where the file system has no locks, it is said, and everybody goes on. Within itself a process may ask again.
    """
    name = os.path.realpath(folder)
    if name in _held:
        yield
        return
    handle = _lock(Path(name), folder)
    _held.add(name)
    try:
        yield
    finally:
        _held.discard(name)
        os.close(handle)


@contextlib.contextmanager
def locked_at_once(place: Path, busy: str) -> Iterator[None]:
    """Be the only one who holds a folder, or a file that is made for it; whoever comes second does not wait: BusyError says `busy`.

    A file is locked by file servers, too, which take no folder for that. Without locks it is said, and everybody goes on.
    """
    is_folder = place.is_dir()
    flags = os.O_RDONLY | os.O_DIRECTORY if is_folder else os.O_RDWR | os.O_CREAT
    handle = os.open(place, flags | os.O_CLOEXEC, 0o644)
    try:
        if not _takes(handle, place if is_folder else place.parent):
            raise BusyError(busy)
        yield
    finally:
        os.close(handle)


def locked_site_of(path: Path) -> contextlib.AbstractContextManager[None]:
    """Be alone in the site that a file lies in, if it lies in one: a site is replaced as a whole, and files in it would be lost."""
    for folder in path.absolute().parents:
        if (folder / MANIFEST).is_file() and os.access(folder, os.R_OK):
            return locked(folder)
    return contextlib.nullcontext()


def _lock(place: Path, folder: Path) -> int:
    """A handle of the folder that has the lock: of the folder that has the name by then, not of one that was replaced."""
    while True:
        _put_back(place)
        place.mkdir(parents=True, exist_ok=True)
        handle = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            _wait_for(handle, folder)
            if _is_still(place, handle):
                return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)


def _put_back(place: Path) -> None:
    """Give a folder its name again if an exchange in steps was killed after the first of them; one at work holds the lock."""
    if place.exists():
        return
    for aside in place.parent.glob(f".{glob.escape(place.name[:100])}.new-*.aside"):
        with contextlib.suppress(FileNotFoundError):
            handle = os.open(aside, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                _wait_for(handle, place)
                if not place.exists():
                    aside.rename(place)
            finally:
                os.close(handle)


def _takes(handle: int, folder: Path) -> bool:
    """Take a lock without waiting; whether nobody else has it, as far as the file system tells."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _NO_LOCKS:
            told = say(
                "{folder}: this file system does not support locks: only one job at a time may write there",
                folder=folder,
            )
            warnings.warn(NoticeWarning(told), stacklevel=2)
        elif error.errno in {errno.EWOULDBLOCK, errno.EAGAIN}:
            return False
        else:
            raise
    return True


def _wait_for(handle: int, folder: Path) -> None:
    if not _takes(handle, folder):
        owner = _owner(os.fstat(handle).st_ino)
        who = say("another process") if owner is None else say("process {number}", number=owner)
        warnings.warn(
            NoticeWarning(say("{folder}: {who} is writing there; waiting until it is done", folder=folder, who=who)),
            stacklevel=2,
        )
        fcntl.flock(handle, fcntl.LOCK_EX)


def _is_still(place: Path, handle: int) -> bool:
    try:
        return os.path.samestat(place.stat(), os.fstat(handle))
    except FileNotFoundError:
        return False


_LOCK = re.compile(r"\d+: FLOCK +ADVISORY +WRITE (?P<process>\d+) \S+:(?P<inode>\d+) ")


def _owner(inode: int) -> int | None:
    """The process that has locked a file, as far as Linux tells."""
    with contextlib.suppress(OSError):
        for found in _LOCK.finditer(Path("/proc/locks").read_text(encoding="ascii", errors="replace")):
            if int(found["inode"]) == inode:
                return int(found["process"])
    return None
