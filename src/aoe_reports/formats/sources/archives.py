"""Archives that somebody names: their files are unpacked into a private folder, and read as if the archive was a folder.

All of an archive is used, or nothing of it. Names in it decide nothing about where a file is written.
"""

from __future__ import annotations

import errno
import gzip
import os
import shutil
import stat
import struct
import tarfile
import tempfile
import time
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any, NoReturn, Self

from aoe_reports.formats.ascend.names import READ_ARCHIVE
from aoe_reports.formats.rules import ARCHIVE, ARCHIVE_DAMAGED, EXPANDED_TOO_LARGE, UNREADABLE
from aoe_reports.formats.sources.expand import MAX_RATIO
from aoe_reports.formats.sources.identify import MAX_EXPANDED_BYTES, unreadable_file
from aoe_reports.formats.sources.objects import LocalContent, ObjectPath, hold, object_of
from aoe_reports.formats.sources.owned import TemporaryFolder
from aoe_reports.model.findings import Finding
from aoe_reports.model.texts import join, say

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
    left_out: list[str] = []
    twice: dict[str, None] = {}
    try:
        every = _unpacked(path, max_expanded, left_out, twice)
    except _TooMuchError as error:
        findings.append(EXPANDED_TOO_LARGE.found(str(path), str(error)))
    except _DAMAGE as error:
        message = say("this archive cannot be unpacked ({error}); its content is not used", error=str(error))
        findings.append(ARCHIVE_DAMAGED.found(str(path), message))
    except OSError as error:
        findings.append(_no_room(path) if error.errno in {errno.ENOSPC, errno.EDQUOT} else unreadable_file(path, error))
    else:
        if left_out:
            message = say(
                "{count} members are left out, as links and names that lead out of the archive are not followed: {names}",
                count=len(left_out),
                names=join(", ", left_out[:_NAMED]),
            )
            findings.append(ARCHIVE.found(str(path), message))
        if twice:
            message = say(
                "{count} names appear more than once; the last file of each is used: {names}",
                count=len(twice),
                names=join(", ", [*twice][:_NAMED]),
            )
            findings.append(ARCHIVE.found(str(path), message))
        hold(path, every)
        return every
    return []


_NAMED = 3
"""So many of the members that are left out are named."""


def _no_room(path: Path) -> Finding:
    message = say("no room to unpack it in {folder} (TMPDIR names another folder)", folder=tempfile.gettempdir())
    return UNREADABLE.found(str(path), message)


def _unpacked(path: Path, max_expanded: int | None, left_out: list[str], twice: dict[str, None]) -> list[ObjectPath]:
    told = path.stat()
    left = _Limit(max(MAX_EXPANDED_BYTES, MAX_RATIO * told.st_size) if max_expanded is None else max_expanded)
    folder, version = TemporaryFolder(), f"{told.st_size}-{told.st_mtime_ns}"
    found: dict[str, ObjectPath] = {}
    with _members(path, left) as members:
        for number, member in enumerate(members):
            name = _name_of(member.name)
            same = found.get(_name_of(member.same_as)) if member.same_as else None
            if not name or (member.content is None and same is None):
                left_out.append(member.name)
                continue
            if same is None:
                assert member.content is not None
                time_ns = told.st_mtime_ns if member.time_ns is None else member.time_ns
                place = folder.path / str(number)
                with place.open("wb") as file:
                    shutil.copyfileobj(member.content, file, _BLOCK)
                os.utime(place, ns=(time_ns, time_ns))
                size: int | None = place.stat().st_size
                content: LocalContent | None = LocalContent(place=str(place), folder=folder)
            else:
                content, size, time_ns = same.content, same.size, same.modified_ns
            if name in found:
                twice[name] = None
            one = found[name] = object_of(str(path / name), size, version, time_ns)
            one.content = content  # the last of one name counts, as for whoever unpacks it
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
        return self._left.count_bytes(self._content.read(_BLOCK if size < 0 else min(size, _BLOCK)))


@dataclass(frozen=True, slots=True)
class _Packed:
    """A member of an archive that is no folder."""

    name: str
    content: IO[bytes] | _Counted | None
    """None for a link, or a device."""
    time_ns: int | None
    """When it was changed; None where no file can be from then."""
    same_as: str = ""
    """The member that it is a hard link to."""


@contextmanager
def _members(path: Path, left: _Limit) -> Iterator[Iterator[_Packed]]:
    ending = path.suffix.lower()
    if ending == ".zip":
        with zipfile.ZipFile(path) as zipped:
            yield _of_zip(zipped, left)
    elif ending == ".tar":
        with tarfile.open(path, "r:", tarinfo=_Member, ignore_zeros=True) as archive:
            yield _of_tar(archive, left)
    else:
        with gzip.open(path) as packed:
            plain: Any = _Counted(packed, left)
            with tarfile.open(fileobj=plain, mode="r|", tarinfo=_Member, ignore_zeros=True) as archive:
                yield _of_tar(archive, left)
            while plain.read():  # the checksum is behind the last block
                pass


_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Of the others some take as much memory as the archive says."""
_ENCRYPTED = 1


def _of_zip(archive: zipfile.ZipFile, left: _Limit) -> Iterator[_Packed]:
    before = min((member.header_offset for member in archive.infolist()), default=0)
    if before:  # of two archives, one behind the other, the directory at the end has the files of the last
        raise zipfile.BadZipFile(say("{count} bytes before its first file belong to something else", count=before))
    for member in archive.infolist():
        left.count_member()
        if member.flag_bits & _ENCRYPTED:
            raise zipfile.BadZipFile("encrypted")
        if member.compress_type not in _METHODS:
            raise zipfile.BadZipFile(f"compression method {member.compress_type}")
        if stat.S_ISLNK(member.external_attr >> 16):
            yield _Packed(member.filename, None, None)
        elif not member.filename.endswith(("/", "\\")):
            with archive.open(member) as content:
                yield _Packed(member.filename, _Counted(content, left), _ns_of(_zip_time(member)))


def _zip_time(member: zipfile.ZipInfo) -> float:
    """When a member was changed, in s: as Info-ZIP writes it in UTC, else as the clock on the wall showed it."""
    extra = member.extra
    while len(extra) >= _EXTRA.size:
        kind, size = _EXTRA.unpack_from(extra)
        if kind == _UTC_TIMES and size >= _TIME.size and len(extra) >= _EXTRA.size + _TIME.size:
            told, seconds = _TIME.unpack_from(extra, _EXTRA.size)
            if told & 1:
                return float(seconds)
        extra = extra[_EXTRA.size + size :]
    try:
        return time.mktime((*member.date_time, 0, 0, -1))
    except (OverflowError, ValueError):
        return -1.0


_EXTRA, _TIME = struct.Struct("<HH"), struct.Struct("<Bi")
_UTC_TIMES = 0x5455


def _of_tar(archive: tarfile.TarFile, left: _Limit) -> Iterator[_Packed]:
    while (member := archive.next()) is not None:
        left.count_member()
        if not member.isdir():
            content = archive.extractfile(member) if member.isreg() else None
            yield _Packed(member.name, content, _ns_of(member.mtime), member.linkname if member.islnk() else "")


def _ns_of(seconds: float) -> int | None:
    """A time in whole nanoseconds; None before 1970 and after 2242, which nothing is from."""
    return int(seconds * 1_000_000_000) if 0 <= seconds < 1 << 33 else None


class _Member(tarfile.TarInfo):
    """A file of a tar archive. It says where the archive is cut, which tarfile takes for its end, and refuses what takes memory.

    An archive may have another one behind its end (`cat`, `tar -A`): what is there is read, too, and is refused if it is something else.
    """

    @classmethod
    def fromtarfile(cls, tarfile: Any) -> Self:
        try:
            return super().fromtarfile(tarfile)
        except _END:
            tarfile.has_ended = True
            raise
        except _NOTHING as error:
            if getattr(tarfile, "has_ended", False):
                raise
            raise _READ_ERROR(str(error)) from error
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
_NOTHING = tarfile.EmptyHeaderError  # type: ignore[attr-defined]
_DESCRIBING = frozenset(
    {tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK, tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE}
)


def _name_of(name: str) -> str:
    """A name within the archive; empty for one that would lead out of it. Some tools of Windows divide folders by backslashes."""
    name = name.replace("\\", "/")
    parts = PurePosixPath(name).parts
    return "" if name.startswith("/") or ".." in parts or "\0" in name else "/".join(parts)
