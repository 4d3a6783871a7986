"""Where assistants may look: below the folders and prefixes that somebody named, whatever links and names say."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from aoe_reports.assistants.refusal import RefusedError
from aoe_reports.assistants.words import meant, neutral
from aoe_reports.formats.ascend.capture import capture_root
from aoe_reports.formats.objects import ObjectPath, asked_path
from aoe_reports.model.errors import UsageError
from aoe_reports.model.texts import say

MOST_ENTRIES = 500_000
"""So many files and folders may lie below what a question is asked of."""
MOST_BYTES = 64 << 30
"""So large they may be together: more takes longer than any call."""


@dataclass(frozen=True, slots=True)
class Places:
    """Real paths of folders, and prefixes in buckets."""

    roots: tuple[str, ...]

    @classmethod
    def of(cls, named: Sequence[str]) -> Places:
        """The places that somebody names. Raises UsageError."""
        return cls(tuple(map(_root_of, named)))

    def find(self, asked: str) -> Path:
        """A path or URI below a root; what is no absolute one is looked for below each root. Raises RefusedError."""
        if not asked or "\0" in asked:
            raise RefusedError("a path is expected, such as one that the tool `files` lists")
        if "://" in asked or isinstance(_asked(asked), ObjectPath):
            return self._object(asked)
        tried = [place for name in dict.fromkeys((asked, meant(asked))) for place in self._where(name)]
        allowed = [real for real in map(os.path.realpath, tried) if self.holds(real)]
        if not allowed:
            raise self._outside(asked)
        real = next((one for one in allowed if os.path.exists(one)), None)  # noqa: PTH110
        if real is None:
            raise RefusedError(f"{neutral(asked)}: no such file or folder below {self._named()}")
        return Path(real)

    def _where(self, name: str) -> list[str]:
        return [name] if os.path.isabs(name) else [os.path.join(root, name) for root in self._folders()]  # noqa: PTH117, PTH118

    def holds(self, real: str) -> bool:
        """Whether a real path is a root, or lies below one."""
        return any(real == root or real.startswith(f"{root.rstrip('/')}/") for root in self._folders())

    def checked(self, asked: str) -> Path:
        """A path below a root, nothing below which leads out. Raises RefusedError."""
        path = self.find(asked)
        if not isinstance(path, ObjectPath):
            base = capture_root(path if path.is_file() else path / "file")
            if not self.holds(str(base)):
                raise self._outside(asked)
            self._look_below(str(base), asked)
        return path

    def _look_below(self, top: str, asked: str) -> None:
        """Refuse where a link leads out of the roots, or too much lies here."""
        waiting, seen, count, size = [top], {top}, 0, 0
        while waiting:
            folder = waiting.pop()
            try:
                entries = [*os.scandir(folder)]
            except OSError:
                continue  # a file, or what is found to be unreadable when it is read
            for entry in entries:
                inner = os.path.realpath(entry.path) if entry.is_symlink() else entry.path
                if not self.holds(inner):
                    raise RefusedError(
                        f"{neutral(entry.path)} is a link that leads out of {self._named()}: nothing here is read"
                    )
                count, size = count + 1, size + _bytes_of(entry)
                if entry.is_dir() and inner not in seen:
                    seen.add(inner)
                    waiting.append(inner)
            if count > MOST_ENTRIES or size > MOST_BYTES:
                raise RefusedError(
                    f"{neutral(asked)}: more than {MOST_ENTRIES:,} files or {MOST_BYTES >> 30} GiB lie here; "
                    "ask about a folder below it"
                )

    def _object(self, asked: str) -> Path:
        found = _asked(asked)
        is_whole = isinstance(found, ObjectPath) and not {"..", "."} & set(asked.split("/")) and asked.isprintable()
        prefixes = [root for root in self.roots if isinstance(_asked(root), ObjectPath)]
        if not is_whole or not any(str(found) == one or str(found).startswith(f"{one}/") for one in prefixes):
            raise self._outside(asked)
        return found

    def _folders(self) -> list[str]:
        return [root for root in self.roots if root.startswith("/")]

    def _named(self) -> str:
        return ", ".join(map(neutral, self.roots))

    def _outside(self, asked: str) -> RefusedError:
        return RefusedError(f"{neutral(asked)}: only what lies below {self._named()} may be read")


def _asked(text: str) -> Path:
    try:
        return asked_path(text)
    except UsageError as error:
        raise RefusedError(neutral(str(error))) from error


def _root_of(named: str) -> str:
    found = asked_path(named)
    if isinstance(found, ObjectPath):
        return str(found).rstrip("/")
    real = os.path.realpath(named)
    if not os.path.isdir(real):  # noqa: PTH112
        raise UsageError(say("--root {path}: no such folder", path=named))
    above = str(capture_root(Path(real) / "file"))
    if above != real:
        raise UsageError(say("--root {path} is a part of the capture {capture}: name that", path=named, capture=above))
    return real


def _bytes_of(entry: os.DirEntry[str]) -> int:
    try:
        found = entry.stat()
    except OSError:
        return 0
    return found.st_size if stat.S_ISREG(found.st_mode) else 0
