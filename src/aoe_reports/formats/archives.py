"""Archives that somebody names: their files are unpacked into a private folder, and read as if the archive was a folder.

All of an archive is used, or nothing of it. Names in it decide nothing about where a file is written.
"""

from __future__ import annotations

import gzip
import os
import shutil
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Any, NoReturn, Self

from aoe_reports.formats.ascend.names import READ_ARCHIVE
from aoe_reports.formats.expand import MAX_RATIO
from aoe_reports.formats.identify import MAX_EXPANDED_BYTES, unreadable_file
from aoe_reports.formats.objects import Held, ObjectPath, hold, object_of
from aoe_reports.formats.owned import TemporaryFolder
from aoe_reports.formats.rules import EXPANDED_TOO_LARGE, GZIP_DAMAGED
from aoe_reports.model.findings import Finding
from aoe_reports.model.texts import say

MAX_MEMBERS = 100_000
"""So many files of one archive are unpacked: a run of ten thousand ranks has more, and lies in a folder."""
_MAX_HEADER_BYTES = 1 << 20
"""What describes a file in a tar archive is held in memory; none needs so much."""
_BLOCK = 1 << 20
_DAMAGE = (
    tarfile.TarError, zipfile.BadZipFile, gzip.BadGzipFile, zlib.error, EOFError, RuntimeError, ValueError,
)  # fmt: skip
"""What the libraries raise for content that is no archive, is cut, changed, encrypted, or packed in another way."""


class _TooMuchError(Exception):
    """The archive holds more than may be unpacked."""


def is_archive(path: Path) -> bool:
    """Whether a file is unpacked where it is named."""
    return READ_ARCHIVE.search(path.name) is not None and not isinstance(path, ObjectPath)


def unpacked(path: Path, max_expanded: int | None, findings: list[Finding]) -> list[ObjectPath]:
    """The files of an archive, by their names in it; what is wrong with it is added to the findings, and nothing of it used.

    It may expand to `max_expanded` bytes; None means 1 GiB, or MAX_RATIO times its size where that is more.
    """
    try:
        every = _unpacked(path, max_expanded)
    except _TooMuchError as error:
        findings.append(EXPANDED_TOO_LARGE.found(str(path), str(error)))
    except _DAMAGE as error:
        message = say("this archive cannot be unpacked ({error}); its content is not used", error=str(error))
        findings.append(GZIP_DAMAGED.found(str(path), message))
    except OSError as error:
        findings.append(unreadable_file(path, error))
    else:
        hold(path, every)
        return every
    return []


def _unpacked(path: Path, max_expanded: int | None) -> list[ObjectPath]:
    told = path.stat()
    left = _Limit(max(MAX_EXPANDED_BYTES, MAX_RATIO * told.st_size) if max_expanded is None else max_expanded)
    folder = TemporaryFolder()
    found: dict[str, ObjectPath] = {}
    with _members(path, left) as members:
        for number, (name, content) in enumerate(members):
            place = folder.path / str(number)
            with place.open("wb") as file:
                shutil.copyfileobj(content, file, _BLOCK)
            os.utime(place, ns=(told.st_mtime_ns, told.st_mtime_ns))
            version = f"{told.st_size}-{told.st_mtime_ns}"
            one = found[name] = object_of(str(path / name), place.stat().st_size, version, told.st_mtime_ns)
            one.held = Held(place=str(place), folder=folder)  # the last of one name counts, as for whoever unpacks it
    return sorted(found.values(), key=str)


class _Limit:
    """How many files, and bytes, may still be unpacked."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._bytes = 0
        self._members = 0

    def count_member(self) -> None:
        """One more file. _TooMuchError for one too many."""
        self._members += 1
        if self._members > MAX_MEMBERS:
            raise _TooMuchError(
                say("more than {limit} files in one archive; none is used (unpack it)", limit=MAX_MEMBERS)
            )

    def count_bytes(self, data: bytes) -> bytes:
        """Some more bytes, the same. _TooMuchError where these are too many."""
        self._bytes += len(data)
        if self._bytes > self._limit:
            what = say(
                "expands to more than {limit} bytes; none of it is used (--max-expanded BYTES sets the limit)",
                limit=self._limit,
            )
            raise _TooMuchError(what)
        return data


class _Counted:
    """What expands while it is read, as far as that is allowed."""

    def __init__(self, content: IO[bytes] | gzip.GzipFile, left: _Limit) -> None:
        self._content = content
        self._left = left

    def read(self, size: int = -1) -> bytes:
        """Some bytes."""
        return self._left.count_bytes(self._content.read(_BLOCK if size < 0 else min(size, _BLOCK)))


_Readable = IO[bytes] | _Counted


@contextmanager
def _members(path: Path, left: _Limit) -> Iterator[Iterator[tuple[str, _Readable]]]:
    """(name, content) of every file of an archive; links and devices are none."""
    ending = path.suffix.lower()
    if ending == ".zip":
        with zipfile.ZipFile(path) as zipped:
            yield _of_zip(zipped, left)
    elif ending == ".tar":
        with tarfile.open(path, "r:", tarinfo=_Member) as archive:
            yield _of_tar(archive, left)
    else:
        with gzip.open(path) as packed:
            plain: Any = _Counted(packed, left)
            with tarfile.open(fileobj=plain, mode="r|", tarinfo=_Member) as archive:
                yield _of_tar(archive, left)
            while plain.read():  # behind the last file is the checksum
                pass


_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Of the others some take as much memory as the archive says."""


def _of_zip(archive: zipfile.ZipFile, left: _Limit) -> Iterator[tuple[str, _Readable]]:
    for member in archive.infolist():
        left.count_member()
        if member.compress_type not in _METHODS:
            raise zipfile.BadZipFile(f"compression method {member.compress_type}")
        name = _name_of(member.filename)
        if name and not member.is_dir() and not stat.S_ISLNK(member.external_attr >> 16):
            with archive.open(member) as content:
                yield name, _Counted(content, left)


def _of_tar(archive: tarfile.TarFile, left: _Limit) -> Iterator[tuple[str, _Readable]]:
    while (member := archive.next()) is not None:
        left.count_member()
        name = _name_of(member.name)
        content = archive.extractfile(member) if name and member.isreg() else None
        if content is not None:
            yield name, content


class _Member(tarfile.TarInfo):
    """A file of a tar archive. It says where the archive is cut, which tarfile takes for its end, and refuses what takes memory."""

    @classmethod
    def fromtarfile(cls, tarfile: Any) -> Self:
        """The next one."""
        try:
            return super().fromtarfile(tarfile)
        except _END:
            raise
        except _HEADER_ERROR as error:
            raise _READ_ERROR(str(error)) from error

    def _proc_member(self, archive: Any) -> Self:
        if self.type in _DESCRIBING and self.size > _MAX_HEADER_BYTES:
            raise _READ_ERROR("header too long")
        found: Self = super()._proc_member(archive)  # type: ignore[misc] # what tarfile says is to be overridden
        return found

    def _refuse(self, *_: object) -> NoReturn:
        raise _READ_ERROR("sparse file")

    _proc_sparse = _proc_gnusparse_00 = _proc_gnusparse_01 = _proc_gnusparse_10 = _refuse


_READ_ERROR, _HEADER_ERROR = tarfile.ReadError, tarfile.HeaderError
_END = tarfile.EOFHeaderError  # type: ignore[attr-defined]
_DESCRIBING = frozenset(
    {tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK, tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE}
)


def _name_of(name: str) -> str:
    """A name within the archive; empty for one that would lead out of it."""
    parts = PurePosixPath(name).parts
    return "" if name.startswith("/") or ".." in parts or "\0" in name else "/".join(parts)
