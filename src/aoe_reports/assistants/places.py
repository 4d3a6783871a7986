"""Where assistants may look: below the folders and prefixes that somebody named, whatever links and names say."""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from aoe_reports.assistants.documents import RefusedError, neutral
from aoe_reports.formats.ascend.capture import capture_root
from aoe_reports.formats.sources.objects import ObjectPath, asked_path
from aoe_reports.model.errors import UsageError
from aoe_reports.model.texts import say

MAX_ENTRIES = 500_000
"""So many files and folders may lie below a path."""
MAX_BYTES = 64 << 30
"""So large they may be together: more takes longer than any call."""
_SPELLED = re.compile(r"(?:\\u[0-9a-f]{4})+")
"""Characters of a name as `neutral` spells them out."""


@dataclass(frozen=True, slots=True)
class Places:
    """Real paths of folders, and prefixes in buckets."""

    roots: tuple[str, ...]

    @classmethod
    def of(cls, named: Sequence[str]) -> Places:
        """The places that somebody names. Raises UsageError."""
        return cls(tuple(map(_root_of, named)))

    def checked(self, named: str) -> Path:
        """A path below a root; no link below it leads out. Raises RefusedError or UsageError."""
        path = self._find(named)
        if not isinstance(path, ObjectPath):
            base = str(capture_root(path if path.is_file() else path / "file"))
            if not self._holds(base):
                raise self._outside(named)
            self._look_below(base, named)
        return path

    def _find(self, named: str) -> Path:
        """A path or URI below a root; a relative path is looked for below each root."""
        names = (named, _SPELLED.sub(lambda found: json.loads(f'"{found[0]}"'), named))
        if not named or any("\0" in name for name in names):
            raise RefusedError("a path is expected, such as one that the tool `runs` lists")
        if "://" in named or isinstance(asked_path(named), ObjectPath):
            return self._object(named)
        tried = [os.path.join(root, name) for name in names for root in self._folders()]  # noqa: PTH118
        allowed = [real for real in map(os.path.realpath, tried) if self._holds(real)]
        if not allowed:
            raise self._outside(named)
        real = next((one for one in allowed if os.path.exists(one)), None)  # noqa: PTH110
        if real is None:
            raise RefusedError(f"{neutral(named)}: no such file or folder below {self._named()}")
        return Path(real)

    def _object(self, named: str) -> Path:
        path = asked_path(named)
        is_whole = isinstance(path, ObjectPath) and not {"..", "."} & set(named.split("/")) and named.isprintable()
        prefixes = [root for root in self.roots if not root.startswith("/")]
        if not is_whole or not any(str(path) == prefix or str(path).startswith(f"{prefix}/") for prefix in prefixes):
            raise self._outside(named)
        return path

    def _look_below(self, top: str, named: str) -> None:
        """Refuse where a link leads out of the roots, or too much lies here."""
        waiting, seen, count, size = [top], {top}, 0, 0
        while waiting:
            try:
                entries = [*os.scandir(waiting.pop())]
            except OSError:
                continue  # a file, or a folder whose reader reports that it is unreadable
            for entry in entries:
                inner = os.path.realpath(entry.path) if entry.is_symlink() else entry.path
                if not self._holds(inner):
                    raise RefusedError(
                        f"{neutral(entry.path)} is a link that leads out of {self._named()}: nothing here is read"
                    )
                count, size = count + 1, size + _bytes_of(entry)
                if entry.is_dir() and inner not in seen:
                    seen.add(inner)
                    waiting.append(inner)
            if count > MAX_ENTRIES or size > MAX_BYTES:
                raise RefusedError(
                    f"{neutral(named)}: more than {MAX_ENTRIES:,} files or {MAX_BYTES >> 30} GiB lie here; "
                    "ask about a folder below it"
                )

    def _folders(self) -> list[str]:
        return [root for root in self.roots if root.startswith("/")]

    def _holds(self, real: str) -> bool:
        """Whether a real path is a root, or lies below one."""
        return any(real == root or real.startswith(f"{root.rstrip('/')}/") for root in self._folders())

    def _named(self) -> str:
        return ", ".join(map(neutral, self.roots))

    def _outside(self, named: str) -> RefusedError:
        return RefusedError(f"{neutral(named)}: only what lies below {self._named()} may be read")


def _root_of(named: str) -> str:
    path = asked_path(named)
    if isinstance(path, ObjectPath):
        return str(path).rstrip("/")
    real = os.path.realpath(named)
    if not os.path.isdir(real):  # noqa: PTH112
        raise UsageError(say("--root {path}: no such folder", path=named))
    above = str(capture_root(Path(real) / "file"))
    if above != real:
        raise UsageError(say("--root {path} is a part of the capture {capture}: name that", path=named, capture=above))
    return real


def _bytes_of(entry: os.DirEntry[str]) -> int:
    try:
        status = entry.stat()
    except OSError:
        return 0
    return status.st_size if stat.S_ISREG(status.st_mode) else 0
