"""Unfinished and temporary files that belong to one process: its lock on them dies with it, so what killed ones left is told apart."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import shutil
import stat
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

RANDOM = "[0-9a-z_]{8}"
"""What `make_owned` puts behind a prefix, as a regular expression."""
_PREFIX = "aoe_reports-files-"


def make_owned(parent: Path, prefix: str, *, folder: bool) -> tuple[Path, int]:
    """A new file or folder, and a handle that has its lock; another run may take one without a lock for a leftover."""
    while True:
        if folder:
            name = tempfile.mkdtemp(dir=parent, prefix=prefix)
            try:
                handle = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            except FileNotFoundError:  # taken for a leftover before it had its lock
                continue
        else:
            handle, name = tempfile.mkstemp(dir=parent, prefix=prefix)
        taken = False
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:  # else no locks here: then nobody gets one, and nothing is deleted
            taken = error.errno in {errno.EWOULDBLOCK, errno.EAGAIN}
        if not taken and os.path.lexists(name):
            return Path(name), handle
        delete(Path(name))
        os.close(handle)


@contextmanager
def left(place: Path) -> Iterator[bool]:
    """Whether nobody writes into it any more: its lock can be had. It is held meanwhile: one who has just made it makes another."""
    try:
        handle = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        yield False
        return
    try:
        yield _takes(handle)
    finally:
        os.close(handle)


def _takes(handle: int) -> bool:
    found = os.fstat(handle)
    if not (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)) or found.st_uid != os.geteuid():
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def delete(place: Path) -> None:
    """Remove a file, or a folder with all that is in it, as far as that can be done."""
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            place.unlink(missing_ok=True)


class TemporaryFolder:
    """A private folder among the temporary files of this machine, or in another folder; it goes with the last who holds this."""

    def __init__(self, parent: Path | None = None) -> None:
        """Make it, and remove those that killed processes of this user left, once a process."""
        parent = Path(tempfile.gettempdir()) if parent is None else parent
        _clear(parent)
        self.path, handle = make_owned(parent, _PREFIX, folder=True)
        self.remove = weakref.finalize(self, _end, self.path, handle)


def _end(place: Path, handle: int) -> None:
    delete(place)
    os.close(handle)


@cache
def _clear(parent: Path) -> None:
    delete_left(parent, _PREFIX)


def delete_left(parent: Path, prefix: str = _PREFIX) -> None:
    """Remove what killed processes left of what `make_owned` made with a prefix, without one of temporary folders."""
    mark = re.compile(re.escape(prefix) + RANDOM)
    with contextlib.suppress(OSError), os.scandir(parent) as entries:
        for entry in entries:
            if mark.fullmatch(entry.name):
                with left(Path(entry.path)) as is_left:
                    if is_left:
                        delete(Path(entry.path))
