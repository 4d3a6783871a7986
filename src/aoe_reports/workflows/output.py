"""The one place where files leave: whole, or not at all."""

from __future__ import annotations

import ctypes
import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from aoe_reports.workflows.locks import locked_site_of

REPORT_PAGE = "report.html"
REPORT_FILES = {REPORT_PAGE: "html", "report.md": "markdown", "report.json": "json"}
"""What `nightly` leaves beside the pages of a site, and the form of each."""


def write_whole(path: Path, data: str | bytes) -> None:
    """Write a file so that nobody ever sees half of it; a pipe or a device is written to, not replaced."""
    with whole_file(path) as file:
        file.write(data if isinstance(data, bytes) else data.encode("utf-8", "replace"))


@contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """A file to write into that takes the place of `path` when all went well, and leaves nothing when not."""
    path = Path(os.path.realpath(path))
    if path.exists() and not path.is_file() and not path.is_dir():
        with path.open("wb") as file:
            yield file
        return
    with locked_site_of(path), _whole_file(path) as file:
        yield file


@contextmanager
def _whole_file(path: Path) -> Iterator[IO[bytes]]:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:100]}.")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


_AT_FDCWD = -100
_RENAME_EXCHANGE = 2


def exchange_at_once(one: Path, other: Path) -> bool:
    """Exchange the names of two folders in one step (renameat2 of Linux); False where the file system cannot."""
    library = ctypes.CDLL(None, use_errno=True)
    rename = getattr(library, "renameat2", None)
    if rename is None:
        return False
    if rename(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE) == 0:
        return True
    code = ctypes.get_errno()
    if code not in {errno.EINVAL, errno.ENOSYS, errno.ENOTSUP}:
        raise OSError(code, os.strerror(code), str(other))
    return False


def exchange_names(one: Path, other: Path) -> None:
    """Exchange the names of two folders in one step; where a file system cannot, in three."""
    if exchange_at_once(one, other):
        return
    aside = one.with_name(f"{one.name}.aside")
    other.rename(aside)
    try:
        one.rename(other)
    except BaseException:
        aside.rename(other)
        raise
    aside.rename(one)
