"""The cache of captures: a private folder of database files, each of which holds what was read of some exports and never changes."""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Iterable
from pathlib import Path

from aoe_reports.engine.question import ReadOptions
from aoe_reports.formats.sources.owned import delete_left
from aoe_reports.model.classes import record
from aoe_reports.model.errors import AoeReportsError, UsageError
from aoe_reports.model.options import option, options
from aoe_reports.model.rows import column, row
from aoe_reports.model.texts import say

MAX_BYTES = 10_000_000_000
_FILE = re.compile(r"[0-9a-f]{64}-[a-z_]+\.duckdb")


@options
class CacheFolderOptions:
    """Which cache it is."""

    cache: str | None = option(
        default=None,
        help="Folder that keeps what was read of large captures (default: aoe-reports in $XDG_CACHE_HOME or ~/.cache).",
        scope="run",
        only_here=say("where partial results are kept"),
    )


@options
class CacheOptions(CacheFolderOptions, ReadOptions):
    """Options of whatever opens captures as a database."""

    no_cache: bool = option(
        default=False, help="Read all files anew, and keep nothing.", flags=["--no-cache"], scope="run"
    )
    max_cache: int = option(
        default=MAX_BYTES,
        minimum=0,
        help="Largest size of the cache in bytes; what was not used for the longest time goes first.",
        scope="run",
        protects=True,
    )

    @property
    def chosen_cache(self) -> Cache | None:
        """The cache that is used; None where none is wanted."""
        return None if self.no_cache else cache_in(self.cache, self.max_cache)


@row
class CacheContent:
    """What a cache holds, or what was deleted of it."""

    folder: str = column("Folder")
    files: int = column("Files", "integer")
    bytes: int = column("Bytes", "integer")


@record
class Cache:
    """A folder of files by names that say what is in them: the same name is the same content."""

    folder: Path
    max_bytes: int = MAX_BYTES

    def check(self) -> None:
        """Make the folder where there is none. Raises AoeReportsError where it is not private to this user."""
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            found = self.folder.lstat()
        except OSError as error:
            raise AoeReportsError(error.strerror or str(error)) from error
        if not stat.S_ISDIR(found.st_mode):
            raise AoeReportsError(say("it is a link, not a folder"))
        if found.st_uid != os.geteuid() or found.st_mode & 0o077:
            raise AoeReportsError(say("other users have access to it (`chmod 700` takes that away)"))

    def find(self, name: str) -> Path | None:
        """A file that is kept, which is thereby the one used last."""
        path = self.folder / name
        if not path.is_file():
            return None
        with contextlib.suppress(OSError):  # on a disk that cannot be written it is used, too
            os.utime(path)
        return path

    def keep(self, file: Path) -> Path:
        """Move a whole file of this disk into the folder. Returns where it is: where it was if there is no room for it."""
        size = file.stat().st_size
        if size > self.max_bytes:
            return file
        self._shrink(self.max_bytes - size)
        return file.rename(self.folder / file.name)

    def content(self) -> CacheContent:
        """How many files there are, and their size."""
        return _content(self.folder, [one.st_size for _, one in self._files()])

    def clear(self) -> CacheContent:
        """Delete all files, and what killed processes left."""
        deleted = []
        for path, found in self._files():
            path.unlink(missing_ok=True)
            deleted.append(found.st_size)
        delete_left(self.folder)
        return _content(self.folder, deleted)

    def _shrink(self, most: int) -> None:
        """Delete what was not used for the longest time, until no more than some bytes are left."""
        files = sorted(self._files(), key=lambda one: one[1].st_mtime_ns)
        size = sum(found.st_size for _, found in files)
        for path, found in files:
            if size <= most:
                return
            path.unlink(missing_ok=True)
            size -= found.st_size

    def _files(self) -> Iterable[tuple[Path, os.stat_result]]:
        if not self.folder.is_dir():
            return
        for path in self.folder.iterdir():
            if _FILE.fullmatch(path.name):
                with contextlib.suppress(FileNotFoundError):  # another process has deleted it
                    yield path, path.lstat()


def cache_in(folder: str | os.PathLike[str] | None, max_bytes: int = MAX_BYTES) -> Cache | None:
    """The cache in a folder, by default that of this user; None where this user has none. Raises UsageError for a URI."""
    if folder is not None:
        if not os.fspath(folder) or "://" in os.fspath(folder):
            raise UsageError(say("--cache {folder!r}: expected a folder", folder=os.fspath(folder)))
        return Cache(folder=Path(folder).absolute(), max_bytes=max_bytes)
    home = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if not home.is_absolute():  # as the specification wants it
        home = Path(os.path.expanduser("~/.cache"))  # noqa: PTH111 -- never raises
    return Cache(folder=home / "aoe-reports", max_bytes=max_bytes) if home.is_absolute() else None


def _content(folder: Path, sizes: list[int]) -> CacheContent:
    return CacheContent(folder=str(folder), files=len(sizes), bytes=sum(sizes))
