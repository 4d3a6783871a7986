"""What the units of a question returned, kept by what they were: nobody reads twice what has not changed."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

from aoe_reports.engine.fleet.frozen import KIND, freeze, frozen, thaw
from aoe_reports.engine.fleet.keeping import place_of
from aoe_reports.engine.question import Notes, Request
from aoe_reports.formats.sources.found import FoundFile
from aoe_reports.model.findings import Finding
from aoe_reports.model.options import declared
from aoe_reports.model.version import __version__

VERSION = 15
"""Of what is kept: one more whenever a question hands on something else of the same unit."""
MAX_BYTES = 1 << 28
"""What is larger, unpacked, is not read: 5 million rows that are compared come to a fifth of it."""
UnitResult = tuple[tuple[Any] | None, Notes]
"""(what a unit hands on, None where it cannot be read; what was found)."""
_FILE = f"{FoundFile.__module__}:{FoundFile.__qualname__}"


class Partials:
    """What units returned, a file each, named by its key."""

    def __init__(self, where: str | os.PathLike[str]) -> None:
        """In a folder, which is made when something is kept, or below a URI."""
        self._place = place_of(where)
        self.where = os.fspath(where)
        """Where they are, in the words of who asked."""

    def load(self, key: str) -> UnitResult | None:
        """What a unit returned; None where that is not kept, or damaged."""
        data = self._place.read(_name(key), MAX_BYTES)
        if data is None:
            return None
        try:
            with gzip.GzipFile(fileobj=BytesIO(data)) as file:
                text = file.read(MAX_BYTES + 1)
            of, part, findings, unreadable = thaw(text)
        except (OSError, EOFError, TypeError, ValueError, zlib.error):
            return None
        is_whole = (
            of == key  # not a copy of another one
            and (part is None or (isinstance(part, tuple) and len(part) == 1))
            and isinstance(findings, list)
            and all(isinstance(finding, Finding) for finding in findings)
        )
        return (part, Notes(findings, bool(unreadable))) if is_whole else None

    def kept(self, keys: Iterable[str]) -> set[str]:
        """Under which of some keys something is kept: folders are listed, as asking for each takes far longer."""
        wanted = set(keys)
        names = {name for folder in sorted(set(map(_folder, wanted))) for name in self._place.names(folder)}
        return {key for key in wanted if _name(key).rpartition("/")[2] in names}

    def save(self, key: str, result: UnitResult) -> None:
        """Keep what a unit returned: whole, or not at all."""
        part, notes = result
        text = freeze([key, part, notes.findings, notes.unreadable])
        self._place.write(_name(key), gzip.compress(text.encode("ascii"), compresslevel=1, mtime=0))


def _folder(key: str) -> str:
    return key[:2]


def _name(key: str) -> str:
    return f"{_folder(key)}/{key}.json.gz"


class Keys:
    """What tells the units of one question apart: the question, its options, what all units are told, and their files."""

    def __init__(self, question: str, asked: Request[Any]) -> None:
        """Of a question as it was asked."""
        chosen = asked.options
        options = {one.name: getattr(chosen, one.name) for one in declared(type(chosen)) if one.option.scope != "run"}
        common = freeze([VERSION, __version__, question, options, asked.context])
        self._common = sha256(common.encode("ascii")).hexdigest()

    def of(self, unit: Any) -> str:
        """The key of a unit: another one when a file of it has another size or time."""
        told = frozen(unit)
        times = [(os.path.abspath(path), *map(_time, _places(path))) for path in _files(told)]
        mine = freeze([told, times])
        return sha256(f"{self._common}{mine}".encode("ascii")).hexdigest()


def is_readable(result: UnitResult) -> bool:
    """Whether all of a unit could be read; what could not may be there again next time."""
    part, notes = result
    return part is not None and not notes.unreadable


@dataclass(frozen=True, slots=True, kw_only=True)
class CachedReader:
    """Reads a unit that nobody has read yet, and keeps what it returned; one that could not be read is tried again."""

    read: Callable[[Any], UnitResult]
    partials: Partials
    keys: Keys

    def __call__(self, unit: Any) -> UnitResult:
        """What the unit hands on."""
        key = self.keys.of(unit)
        kept = self.partials.load(key)
        if kept is not None and is_readable(kept):
            return kept
        result = self.read(unit)
        self.partials.save(key, result)
        return result


def _files(told: Any) -> Iterator[str]:
    """The paths of the files of a unit."""
    if isinstance(told, dict):
        if told.get(KIND) == _FILE and told["path"][KIND] == "path":  # an object has its version
            yield told["path"]["of"]
        for one in told.values():
            yield from _files(one)
    elif isinstance(told, list):
        for one in told:
            yield from _files(one)


def _places(path: str) -> tuple[str, ...]:
    """A file, and those that a database has beside it while it is written."""
    return (path, f"{path}-wal", f"{path}-journal") if path.endswith(".db") else (path,)


def _time(path: str) -> int | None:
    try:
        return Path(path).stat().st_mtime_ns
    except OSError:
        return None
