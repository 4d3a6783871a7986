"""Objects in a bucket as paths: they are listed with their sizes, and fetched into a private folder when they are opened.

Whoever reads a file by its path reads an object, too; what is said of it names its URI. A file in an archive is one whose content is held
already.
"""

from __future__ import annotations

import errno
import io
import os
import stat
import tempfile
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path, PosixPath
from threading import Lock
from typing import Any, TypeVar

from aoe_reports.formats.sources.bucket import (
    Listed,
    bytes_of,
    folder_in,
    object_at,
    objects_in,
    refuse_credentials,
    uri_of,
)
from aoe_reports.formats.sources.head import HEAD_BYTES
from aoe_reports.formats.sources.owned import TemporaryFolder
from aoe_reports.model.texts import say

T = TypeVar("T")
SCHEME = "s3:"
MAX_OBJECTS = 1_000_000
"""So many objects below one path are listed: a hundred thousand ranks of ten files, which take 600 MB."""
AT_ONCE = 16
"""So many objects are looked at at a time: an answer takes 10 to 30 ms from far away, and 3 ms of work here."""
AHEAD = 10_000
MAX_FETCHED_BYTES = 64 << 30
"""So much is held in the private folder at one time; an object that is larger is not fetched."""
PIECE_BYTES = 8 << 20
"""So much of an object is asked for at once: an answer may take 30 s, and one that is lost costs no more than that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalContent:
    """Where the content of an object lies."""

    place: str
    folder: TemporaryFolder | None = None
    """Stays while somebody has this; None in other processes than the one that made it."""

    def is_of(self, path: ObjectPath) -> bool:
        """Whether it is still there, on this machine, and nobody else's."""
        try:
            found = os.stat(self.place, follow_symlinks=False)  # noqa: PTH116 -- not a path of the object
        except OSError:
            return False
        mine = stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid()
        return mine and (found.st_size, found.st_mtime_ns) == (path.size, path.modified_ns)


class ObjectPath(PosixPath):
    """`s3://bucket/key`, or `archive.zip/name`, as a path. To open it, or to hand it to a library, fetches it."""

    size: int | None = None
    """In bytes; None for what was not listed."""
    version: str | None = None
    """The tag by which a server tells one content from another (etag)."""
    modified_ns: int = 0
    content: LocalContent | None = None
    """Its content on this machine, where it was fetched before it is read."""

    def __str__(self) -> str:
        return super().__str__().replace(f"{SCHEME}/", f"{SCHEME}//", 1)

    def __fspath__(self) -> str:
        """Where the content lies on this machine, now that somebody wants it."""
        return _folder().fetched(self)

    def __reduce__(self) -> tuple[Any, ...]:
        """As what it is made of again, also by another process of this machine."""
        content = None if self.content is None else LocalContent(place=self.content.place)
        return _with_content, (str(self), self.size, self.version, self.modified_ns, content)

    @property
    def root(self) -> str:
        return f"{SCHEME}//{''.join(self.parts[1:2])}"

    @property
    def key(self) -> str:
        return "/".join(self.parts[2:])

    @property
    def is_uri(self) -> bool:
        """Whether it is in a bucket; else in an archive."""
        return self.parts[:1] == (SCHEME,)

    def absolute(self) -> ObjectPath:
        """Itself: a URI does not depend on a folder."""
        return self

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        """Size and time as they were listed."""
        del follow_symlinks
        one = _folder().known(self)
        seconds = one.modified_ns // 1_000_000_000
        times = {"st_atime_ns": one.modified_ns, "st_mtime_ns": one.modified_ns, "st_ctime_ns": one.modified_ns}
        return os.stat_result((stat.S_IFREG | 0o400, 0, 0, 1, 0, 0, one.size or 0, seconds, seconds, seconds), times)

    def open(
        self,
        mode: str = "r",
        buffering: int = -1,
        encoding: str | None = None,
        errors: str | None = None,
        newline: str | None = None,
    ) -> Any:
        """The content; while files are only looked at, no more of it is fetched than is read."""
        if mode == "rb" and _folder().looking:
            return io.BufferedReader(_Beginning(_folder().known(self)), HEAD_BYTES)
        return open(self, mode, buffering, encoding, errors, newline)  # noqa: PTH123 -- this is the path's open

    def is_file(self) -> bool:
        return self.size is not None

    def iterdir(self) -> Generator[ObjectPath, None, None]:
        yield from _folder().entries(self)

    def glob(self, pattern: str) -> Iterator[ObjectPath]:  # type: ignore[override] # later versions have options
        """What lies below and fits a pattern without `**`."""
        first, _, rest = pattern.partition("/")
        for entry in self.iterdir():
            if fnmatchcase(entry.name, first):
                yield from entry.glob(rest) if rest else (entry,)


def path_of(path: str | os.PathLike[str]) -> Path:
    """A path, or the URI of objects: `s3://bucket/prefix`, also where two slashes have become one."""
    if isinstance(path, ObjectPath):
        return path
    text = os.fspath(path)
    scheme, _, rest = text.partition(":/")
    return ObjectPath(f"{SCHEME}//{rest.lstrip('/')}") if scheme.lower() in {"s3", "s3a"} else Path(text)


def asked_path(path: str | os.PathLike[str]) -> Path:
    """The path that somebody asks for. UsageError for a URI with credentials, before anything names it."""
    found = path_of(path)
    if isinstance(found, ObjectPath):
        refuse_credentials(str(found))
    return found


def object_of(uri: str, size: int | None, version: str | None, modified_ns: int) -> ObjectPath:
    """An object as it was listed."""
    path = ObjectPath(uri)
    path.size, path.version, path.modified_ns = size, version, modified_ns
    return path


def _with_content(
    uri: str, size: int | None, version: str | None, modified_ns: int, content: LocalContent | None
) -> ObjectPath:
    path = object_of(uri, size, version, modified_ns)
    path.content = content
    return path


def absolute_of(path: Path) -> Path:
    """The path from the root of the file system, without `..`; a URI is whole as it is."""
    return path if isinstance(path, ObjectPath) and path.is_uri else Path(os.path.abspath(str(path)))


class _Beginning(io.RawIOBase):
    """An object of which parts are read; whoever needs a real file gets the whole."""

    def __init__(self, path: ObjectPath) -> None:
        self._path = path
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, place: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._path.size or 0}[whence]
        self._position = max(base + place, 0)
        return self._position

    def readinto(self, buffer: Any) -> int:
        data = _folder().part(self._path, self._position, len(buffer))
        buffer[: len(data)] = data
        self._position += len(data)
        return len(data)

    def fileno(self) -> int:
        self._whole = open(self._path, "rb")  # noqa: SIM115, PTH123 -- closed with this one
        return self._whole.fileno()

    def close(self) -> None:
        if hasattr(self, "_whole"):
            self._whole.close()
        super().close()


class _Fetched:
    """What was listed and fetched, in a private folder that is made at the first fetch."""

    def __init__(self, *, holds: bool = False) -> None:
        self.holds = holds
        """Whether what was fetched stays as long as the paths that it was fetched for."""
        self.failures: dict[str, OSError] = {}
        """Why objects that were listed could not be fetched."""
        self.looking = False
        """Whether files are only looked at, to tell what they are."""
        self._folder: TemporaryFolder | None = None
        self._places: dict[tuple[str, str | None], str] = {}
        self._held = 0
        self._lock = Lock()
        self._folders: dict[str, dict[str, ObjectPath]] = {}
        self._listed: list[str] = []

    def below(self, top: ObjectPath) -> list[ObjectPath]:
        """Every object below a folder, or the one that it is. Raises OSError."""
        found = [_of_listed(top.root, one) for one in objects_in(top.root, top.key, MAX_OBJECTS)]
        for uri in [uri for uri in self.failures if uri.startswith(str(top))]:  # it may be there again
            del self.failures[uri]
        self.hold(top, found)
        return sorted(found, key=str)

    def hold(self, top: Path, every: Sequence[ObjectPath]) -> None:
        """Remember all that lies below a place."""
        for path in every:
            self._put(path, top)
        self._listed.append(str(top))

    def _put(self, path: ObjectPath, top: Path) -> None:
        """Remember an object and the folders that lead to it."""
        entry = path
        while str(entry) != str(top):
            folder = entry.parent
            known = self._folders.setdefault(str(folder), {})
            is_known = entry.name in known
            known[entry.name] = entry
            if is_known:
                return
            entry = folder

    def entries(self, folder: ObjectPath) -> list[ObjectPath]:
        """What a folder holds: of one that was not listed it is asked, without those below it."""
        here = str(folder)
        if here not in self._folders and not self._is_listed(here):
            found, folders = folder_in(folder.root, folder.key)
            every = [_of_listed(folder.root, one) for one in found]
            every += [ObjectPath(uri_of(folder.root, prefix)) for prefix in folders]
            self._folders[here] = {entry.name: entry for entry in every}
        return list(self._folders.get(here, {}).values())

    def part(self, path: ObjectPath, start: int, length: int) -> bytes:
        """Some bytes of an object; a small one is fetched as a whole, as it may be read again."""
        size = path.size or 0
        if size <= HEAD_BYTES or _key(path) in self._places:
            with open(self.fetched(path), "rb") as file:  # noqa: PTH123
                file.seek(start)
                return file.read(length)
        end = min(start + length, size)
        return bytes(_bytes_of(path, (start, end))) if start < end else b""

    def fetched(self, path: ObjectPath) -> str:
        """Where the content of an object lies. Raises OSError."""
        one = self.known(path)
        uri = str(one)
        if uri in self.failures:
            raise self.failures[uri]
        if _key(one) not in self._places:
            if one.content is not None and one.content.is_of(one):
                return one.content.place
            try:
                self._fetch(one)
            except OSError as error:
                self.failures[uri] = error
                raise
        return self._places[_key(one)]

    def known(self, path: ObjectPath) -> ObjectPath:
        """An object with its size, as it was listed or is told now. FileNotFoundError where there is none."""
        if path.size is not None:
            return path
        listed = self._folders.get(str(path.parent), {}).get(path.name)
        if listed is None and not self._is_listed(str(path)):
            found = object_at(path.root, path.key)
            listed = None if found is None else _of_listed(path.root, found)
        if listed is None or listed.size is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
        return listed

    def _is_listed(self, place: str) -> bool:
        """Whether all that lies at a place was listed."""
        return any(place.startswith(f"{top}/") for top in self._listed)

    def _fetch(self, path: ObjectPath) -> None:
        if not path.is_uri:
            raise FileNotFoundError(errno.ENOENT, say("what was unpacked of the archive is not here"), str(path))
        size = path.size or 0
        if size > MAX_FETCHED_BYTES:
            what = say("at most {limit} bytes are fetched; this object is larger", limit=MAX_FETCHED_BYTES)
            raise OSError(errno.EFBIG, what, str(path))
        with self._lock:
            if self._held + size > MAX_FETCHED_BYTES and not self.looking:
                self.forget()
            if self._folder is None:
                self._folder = TemporaryFolder()
            folder = self._folder
            self._held += size
            handle, place = tempfile.mkstemp(dir=folder.path)
        try:
            with open(handle, "wb") as file:  # noqa: PTH123
                file.writelines(
                    _bytes_of(path, (start, min(start + PIECE_BYTES, size))) for start in range(0, size, PIECE_BYTES)
                )
            os.utime(place, ns=(path.modified_ns, path.modified_ns))
        except BaseException:
            os.unlink(place)  # noqa: PTH108
            raise
        self._places[_key(path)] = place
        if self.holds:
            path.content = LocalContent(place=place, folder=folder)

    def thin_out(self, path: ObjectPath) -> None:
        """Remove one object, which nobody has open, where there is no room for many more."""
        if self._held > MAX_FETCHED_BYTES // 2 and (place := self._places.pop(_key(path), None)) is not None:
            self._held -= path.size or 0
            Path(place).unlink()

    def forget(self) -> None:
        """Remove what was fetched; who has opened a file of it keeps that."""
        if self._folder is not None:
            self._folder.remove()
        self._folder, self._places, self._held = None, {}, 0


def _key(path: ObjectPath) -> tuple[str, str | None]:
    return str(path), path.version


_FOLDER: ContextVar[_Fetched | None] = ContextVar("fetched", default=None)


@cache
def _of_process() -> _Fetched:
    """For whoever reads outside of a block: its folder lasts as long as the process."""
    return _Fetched()


def _folder() -> _Fetched:
    return _FOLDER.get() or _of_process()


@contextmanager
def fetching(*, holds: bool = False) -> Iterator[dict[str, OSError]]:
    """Objects that are opened within lie in a folder that is gone at the end; yields why which could not be fetched.

    Where it `holds`, the folder is gone with the last path of what was fetched: whoever reads that again finds it there.
    """
    mine = _Fetched(holds=holds)
    token = _FOLDER.set(mine)
    try:
        yield mine.failures
    finally:
        _FOLDER.reset(token)
        if not holds:
            mine.forget()


def look_at_each(look: Callable[[ObjectPath], T], every: Sequence[ObjectPath]) -> Iterator[T]:
    """What a look at each object gives, in their order; several at a time, as most of it is waiting for answers.

    Of what is opened meanwhile no more is fetched than is read.
    """
    here = _folder()

    def one(path: ObjectPath) -> T:
        try:
            return look(path)
        finally:
            here.thin_out(path)

    here.looking = True
    try:
        with ThreadPoolExecutor(AT_ONCE, initializer=_FOLDER.set, initargs=(here,)) as pool:
            for start in range(0, len(every), AHEAD):
                yield from pool.map(one, every[start : start + AHEAD])
    finally:
        here.looking = False


def objects_below(top: ObjectPath) -> list[ObjectPath]:
    """Every object below a URI, in a stable order. Raises OSError."""
    return _folder().below(top)


def hold(top: Path, every: Sequence[ObjectPath]) -> None:
    """Remember all that lies below a place, whose content is held."""
    _folder().hold(top, every)


def _of_listed(root: str, one: Listed) -> ObjectPath:
    return object_of(uri_of(root, one.key), one.size, one.version, one.modified_ns)


def _bytes_of(path: ObjectPath, span: tuple[int, int]) -> memoryview:
    return bytes_of(path.root, path.key, path.version, span)
