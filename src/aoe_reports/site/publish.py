"""A folder that is replaced as a whole: a new generation is made beside it, what did not change is linked, names are exchanged.

Nobody ever sees half of it. Files that somebody else put into the folder are carried over. Where the folder's name cannot
be exchanged (it is a mount point, or nothing may be written beside it), files are replaced one by one, the first page
last.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from aoe_reports.engine.locks import MANIFEST, locked
from aoe_reports.engine.output import exchange_names
from aoe_reports.model.documents import Json, JsonObject
from aoe_reports.site.as_json import as_sorted_json

FIRST_PAGE = "index.html"
Entry = tuple[str, int]
"""What the manifest has of a file: its key and its size."""


@dataclass(slots=True)
class Generation:
    """The generation that is being made, and the one before it."""

    old: Path
    fresh: Path
    known: Mapping[str, Entry]
    """The files of the old one."""
    files: dict[str, Entry] = field(default_factory=dict)
    _folders: set[str] = field(default_factory=set)

    def unchanged(self, name: str, key: str) -> bool:
        """Whether the old generation has this file with the same key."""
        entry = self.known.get(name)
        if entry is None or entry[0] != key:
            return False
        try:
            status = os.lstat(f"{self.old}/{name}")  # tens of thousands: a Path takes as long as the question
        except OSError:
            return False
        return stat.S_ISREG(status.st_mode) and status.st_size == entry[1]

    def keep(self, name: str) -> None:
        """Take a file of the old generation as it is: the same inode where the file system can."""
        self._folder_of(name)
        _link(f"{self.old}/{name}", f"{self.fresh}/{name}")
        self.files[name] = self.known[name]

    def write(self, name: str, key: str, content: bytes) -> None:
        """Write a file that is new or changed."""
        self.files[name] = (key, len(content))
        self._folder_of(name)
        with open(f"{self.fresh}/{name}", "wb") as file:  # noqa: PTH123 -- of thousands of paths
            file.write(content)

    def _folder_of(self, name: str) -> None:
        folder = name.rpartition("/")[0]
        if folder not in self._folders:
            (self.fresh / folder).mkdir(parents=True, exist_ok=True)
            self._folders.add(folder)


def key_of(*facts: Any) -> str:
    """A key that is the same for the same facts: bytes as they are, everything else as JSON."""
    digest = hashlib.sha256()
    for fact in facts:
        content = fact if isinstance(fact, bytes) else as_sorted_json(fact)
        digest.update(b"%d:" % len(content) + content)
    return digest.hexdigest()[:20]


@contextlib.contextmanager
def new_generation(target: Path, facts: JsonObject) -> Iterator[Generation]:
    """Make the next generation of a folder; it takes the old one's place when all went well, and leaves nothing when not.

    `facts` stand in the manifest; a manifest with other ones has no page that may be kept.
    """
    target = Path(os.path.realpath(target))
    with locked(target):
        apart = not os.path.ismount(target) and os.access(target.parent, os.W_OK | os.X_OK)
        home, lead = (target.parent, f".{target.name[:100]}.new-") if apart else (target, ".new-")
        for stale in home.glob(f"{lead}*"):
            shutil.rmtree(stale, ignore_errors=True)
        fresh = Path(tempfile.mkdtemp(dir=home, prefix=lead))
        try:
            by, ours = _manifest(target)
            generation = Generation(target, fresh, ours if by == facts else {})
            yield generation
            made = {"made": facts, "files": generation.files}
            content = msgspec.json.format(as_sorted_json(made), indent=2)
            if _content(target / MANIFEST) == content:
                _link(target / MANIFEST, fresh / MANIFEST)
            else:
                (fresh / MANIFEST).write_bytes(content)
            if apart:
                _carry_over(target, fresh, {*ours, MANIFEST})
                shutil.copymode(target, fresh)
                exchange_names(fresh, target)
            else:
                _replace_files(target, fresh, set(ours))
        finally:
            shutil.rmtree(fresh, ignore_errors=True)


def _manifest(folder: Path) -> tuple[Json, dict[str, Entry]]:
    """What the folder's generation was made by, and its files; nothing where no manifest can be used."""
    try:
        manifest = msgspec.json.decode((folder / MANIFEST).read_bytes())
        files = {name: (key, size) for name, (key, size) in manifest["files"].items()}
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None, {}
    return (manifest.get("made"), files) if all(map(_inside, files)) else (None, {})


def _inside(name: str) -> bool:
    """Whether a name of a manifest stays inside its folder."""
    return not name.startswith("/") and all(part not in {"", ".", ".."} for part in name.split("/"))


def _content(path: Path) -> bytes | None:
    try:
        return None if path.is_symlink() else path.read_bytes()
    except OSError:
        return None


def _link(source: Path | str, target: Path | str) -> None:
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:
        shutil.copy2(source, target)


def _carry_over(old: Path, fresh: Path, ours: set[str]) -> None:
    """Link files of others from the old folder into the new one."""
    for folder, folders, names in os.walk(old):
        below = "" if folder == str(old) else f"{os.path.relpath(folder, old)}/"
        links = [name for name in folders if (Path(folder) / name).is_symlink()]
        for name in [*names, *links]:
            place = f"{below}{name}"
            if place in ours or (fresh / place).exists():
                continue
            (fresh / below).mkdir(parents=True, exist_ok=True)
            if (old / place).is_symlink():
                (fresh / place).symlink_to((old / place).readlink())
            else:
                _link(old / place, fresh / place)


def _replace_files(target: Path, fresh: Path, ours: set[str]) -> None:
    """Put files into the folder one by one, the first page last; then take out what is no more."""
    made = sorted(str(path.relative_to(fresh)) for path in fresh.rglob("*") if path.is_file())
    for name in sorted(made, key=lambda name: (name == MANIFEST, name == FIRST_PAGE)):
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (fresh / name).replace(target / name)
    for name in ours - set(made):
        (target / name).unlink(missing_ok=True)
