"""Finds every file of ours below some paths: link loops survived, raw data and other tools' folders passed over."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from glob import glob
from pathlib import Path

from aoe_reports.formats.ascend import names as ascend
from aoe_reports.formats.ascend.capture import capture_root
from aoe_reports.formats.mindspore.names import UNREAD_KINDS
from aoe_reports.formats.msopprof import tables as msopprof
from aoe_reports.formats.rules import (
    BROKEN_LINK,
    LINK_LOOP,
    NOT_A_FILE,
    NOT_READ,
    NOTHING_FOUND,
    PATH_TOO_DEEP,
    TOO_MUCH_LINKED,
    UNREADABLE,
)
from aoe_reports.formats.sources.archives import is_archive, unpacked
from aoe_reports.formats.sources.found import FileName, FoundFile
from aoe_reports.formats.sources.identify import identify, why
from aoe_reports.formats.sources.objects import (
    ObjectPath,
    absolute_of,
    asked_path,
    look_at_each,
    objects_below,
    path_of,
)
from aoe_reports.formats.vendor import parse_name
from aoe_reports.model.errors import ReadError, UsageError
from aoe_reports.model.findings import EXAMPLES_PER_RULE, Finding, Severity
from aoe_reports.model.texts import join, say


@dataclass(frozen=True, slots=True)
class Discovery:
    """All files of ours below some paths, and what could not be looked at."""

    files: tuple[FoundFile, ...]
    findings: tuple[Finding, ...]
    unreadable: bool
    """Whether something was there (or asked for) and could not be read: exit code 3."""


MAX_DEPTH = 100
"""So many folders below one another are entered: profilers make about ten."""

MAX_LINKED = 200_000
"""So many files and folders are looked at, of one path given, behind links that lead out of it: more is somebody's whole disk."""

_NOT_READ = frozenset({UNREADABLE.name, PATH_TOO_DEEP.name, TOO_MUCH_LINKED.name})
"""Rules by which something that may hold data was not looked at."""


def discover(paths: Sequence[Path], *, max_expanded: int | None = None) -> Discovery:
    """Every file of ours below `paths`, each once, in a stable order.

    Compressed ones may expand to `max_expanded` bytes each; None means MAX_EXPANDED_BYTES.
    """
    files: dict[str, FoundFile] = {}
    findings = Tally()
    for path in paths:
        before = len(files)
        failed = findings.total
        for real, found in _found_below(path, files, findings, max_expanded):
            if real in files:
                before -= 1
            elif found:
                files[real] = found if max_expanded is None else replace(found, max_expanded=max_expanded)
        if len(files) == before and findings.total == failed:
            message = say(
                "no msprof, torch_npu or AOE file here; expected exports (op_summary*.csv, kernel_details.csv, …) "
                "or aoe_result_*.json"
            )
            findings.append(NOTHING_FOUND.found(str(path), message))
    findings.extend(_unread(list(files.values())))
    findings.extend(_without_exports(list(files.values()), paths))
    in_order = tuple(sorted(files.values(), key=lambda file: str(file.path)))
    told = tuple(findings.counted())
    return Discovery(in_order, told, any(finding.rule in _NOT_READ for finding in told))


def _found_below(
    path: Path, known: Collection[str], findings: Tally, max_expanded: int | None
) -> Iterator[tuple[str, FoundFile | None]]:
    """(real path, what it is) of every file below a path; of one that is known not once more."""
    if is_archive(path) and _kind(str(path)) == "file":
        here, real = str(path), _real(str(path))
        for inside in unpacked(path, max_expanded, findings):
            place = real + str(inside).removeprefix(here)
            if _is_entered(inside, path):
                yield place, None if place in known else identify(inside, explicit=False, findings=findings)
        return
    if not isinstance(path, ObjectPath):
        for entry, real in _Walk(path, findings).files():
            yield real, None if real in known else identify(entry, explicit=entry == path, findings=findings)
        return

    def look(entry: ObjectPath) -> tuple[FoundFile | None, list[Finding]]:
        mine: list[Finding] = []
        found = identify(entry, explicit=entry == path, findings=mine) if str(entry) not in known else None
        if found is not None and found.name.kind in ascend.INFO_KINDS:
            with suppress(OSError):  # said when it is read
                os.fspath(entry)
        return found, mine

    every = _objects_below(path, findings)
    for entry, (found, mine) in zip(every, look_at_each(look, every), strict=True):
        findings.extend(mine)
        yield str(entry), found


def _objects_below(path: ObjectPath, findings: Tally) -> list[ObjectPath]:
    """The objects below a URI, without those in folders that are passed over."""
    try:
        every = objects_below(path)
    except OSError as error:
        findings.append(UNREADABLE.found(str(path), why(error)))
        return []
    if not every:
        findings.append(UNREADABLE.found(str(path), say("no such file or folder")))
    return [one for one in every if _is_entered(one, path)]


_RAW = ascend.RAW_FOLDERS | msopprof.RAW_FOLDERS


def _is_of_profiler(folder: str) -> bool:
    """Whether a folder of this name is a capture, in which there is raw data, too."""
    return ascend.is_capture(folder) or folder.startswith(msopprof.FOLDER)


def _is_entered(path: ObjectPath, top: Path) -> bool:
    """Whether none of the folders between is passed over."""
    inside = any(map(_is_of_profiler, top.parts))
    for name in path.parts[len(top.parts) : -1]:
        inside = inside or _is_of_profiler(name)
        if inside and name in _RAW:
            return False
    return True


def _unread(files: Sequence[FoundFile]) -> list[Finding]:
    """The files that are recognised and not read, folder by folder; a warning where nothing else is there."""
    folders: dict[Path, list[str]] = {}
    for file in files:
        if file.name.kind in UNREAD_KINDS:
            folders.setdefault(file.path.parent, []).append(file.name.kind)
    severity: Severity = "info" if any(file.name.kind not in UNREAD_KINDS for file in files) else "warning"
    found = []
    for folder, kinds in sorted(folders.items()):
        message = say(
            "{count} files of MindSpore's own profiler ({kinds}) are recognised, but not read: they repeat or sum up what its "
            "other files hold",
            count=len(kinds),
            kinds=join(", ", sorted(set(kinds))),
        )
        found.append(NOT_READ.found(str(folder), message, severity=severity))
    return found


def _simulated(path: str, beside: Sequence[str]) -> Finding:
    """What `msprof op simulator` wrote; a warning where no table was measured beside it."""
    message = say(
        "what the simulator of `msprof op` wrote (trace.json, code_exe and instr_exe of each core) is recognised, but not read: it "
        "was not measured on a device"
    )
    is_only = not any(name.endswith(".csv") for name in beside)
    return NOT_READ.found(path, message, severity="warning" if is_only else "info")


def _without_exports(files: Sequence[FoundFile], paths: Sequence[Path]) -> list[Finding]:
    """The captures, all of which was looked at, with only files about them: raw data that nobody has parsed, or not yet."""
    kinds: dict[Path, set[str]] = {}
    for file in files:
        if file.name.source in _OF_CAPTURES:
            kinds.setdefault(capture_root(file.path), set()).add(file.name.kind)
    message = say(
        "raw data without exports: it has not been parsed, or not yet (`msprof --export=on --output=PATH`, "
        "`torch_npu.profiler.profiler.analyse(PATH)`)"
    )
    whole = [absolute_of(path) for path in paths]
    raw = [
        root
        for root, found in sorted(kinds.items())
        if found <= ascend.INFO_KINDS and ascend.is_capture(root.name)
        if any(absolute_of(root).is_relative_to(path) for path in whole)
    ]
    return [NOT_READ.found(str(root), message, severity="warning") for root in raw]


_OF_CAPTURES = frozenset({"msprof", "torch_npu", "mindspore"})


def result_files(paths: Sequence[Path]) -> list[tuple[Path, FileName]]:
    """Every AOE result below `paths` by its name alone, in a stable order; what cannot be entered is passed over.

    Of a path that is a file the content may tell, too.
    """
    found: dict[str, tuple[Path, FileName]] = {}
    for path in paths:
        walk: Iterable[tuple[Path, str]] = _Walk(path, Tally()).files()
        if isinstance(path, ObjectPath):
            walk = [(entry, str(entry)) for entry in _objects_below(path, Tally())]
        for entry, real in walk:
            name = parse_name(entry.name)
            if name is None and entry == path and (asked := identify(entry, explicit=True, findings=[])):
                name = asked.name
            if name is not None and name.kind in {"opat", "sgat"}:
                found.setdefault(real, (entry, name))
    return sorted(found.values(), key=lambda pair: str(pair[0]))


class Tally(list[Finding]):
    """Findings of which many say the same: the first EXAMPLES_PER_RULE are kept, the others counted."""

    def __init__(self) -> None:
        super().__init__()
        self.total = 0
        self._more: dict[tuple[str, str, str], int] = {}

    def append(self, finding: Finding) -> None:
        """Keep a finding, or count it."""
        self.total += 1
        key = (finding.severity, finding.rule, finding.message)
        count = self._more[key] = self._more.get(key, -EXAMPLES_PER_RULE) + 1
        if count <= 0:
            super().append(finding)

    def extend(self, findings: Iterable[Finding]) -> None:
        for finding in findings:
            self.append(finding)

    def counted(self) -> Iterator[Finding]:
        """All that was kept, and behind the last one of a kind how many more there are."""
        last = {(finding.severity, finding.rule, finding.message): finding for finding in self}
        for finding in self:
            yield finding
            key = (finding.severity, finding.rule, finding.message)
            if last[key] is finding and self._more[key] > 0:
                more = say("and {count} more: {message}", count=self._more[key], message=finding.message)
                yield replace(finding, message=more)


@dataclass(frozen=True, slots=True)
class _Folder:
    """A folder that waits to be entered."""

    path: str
    real: str
    """Where it really lies."""
    depth: int = 0
    in_capture: bool = False
    """Whether it is one capture's, or lies in it."""
    linked: bool = False
    """Whether a link out of the path given led here."""


class _Walk:
    """Every file below a path, and where it really lies.

    Each real folder is entered once, so a loop of links ends. A link to a folder is followed, unless that folder holds the link or
    the path given: who links a set of data means the set, and not the whole disk.
    """

    def __init__(self, path: Path, findings: Tally) -> None:
        self._path = path
        self._findings = findings
        self._root = _real(str(path))
        self._seen: set[str] = set()
        self._waiting: list[_Folder] = []
        self._links: list[_Folder] = []
        """Entered last: a capture is what it is called where it really lies."""
        self._linked = 0

    def files(self) -> Iterator[tuple[Path, str]]:
        """(path, real path) of every file."""
        kind = _kind(str(self._path))
        if kind == "file":
            yield self._path, self._root
        elif kind != "folder":
            what = say("{what}; expected a file or a folder", what=kind)
            self._findings.append(UNREADABLE.found(str(self._path), what))
        else:
            inside = any(map(_is_of_profiler, absolute_of(self._path).parts))
            self._waiting.append(_Folder(str(self._path), self._root, in_capture=inside))
            while self._waiting or self._links:
                yield from self._enter(self._waiting.pop() if self._waiting else self._links.pop())

    def _enter(self, folder: _Folder) -> Iterator[tuple[Path, str]]:
        """The files of one folder; the folders in it wait."""
        if folder.real in self._seen:
            message = say("this link leads to a folder that has already been read; skipped")
            self._findings.append(LINK_LOOP.found(folder.path, message))
            return
        self._seen.add(folder.real)
        if folder.depth > MAX_DEPTH:
            message = say("more than {limit} nested folders; the content here is not read", limit=MAX_DEPTH)
            self._findings.append(PATH_TOO_DEEP.found(folder.path, message))
            return
        entries = self._entries(folder)
        parent = "" if folder.path == "." else folder.path.rstrip("/") + "/"
        for name, link, is_folder, is_file in entries:
            path = parent + name
            kind = "folder" if is_folder else "file" if is_file else _kind(path)
            if kind == "file":
                yield Path(path), _real(path) if link else f"{folder.real.rstrip('/')}/{name}"
                continue
            self._findings.extend(_odd_entry(path, name, kind, link=link))
            if kind == "folder" and not (folder.in_capture and name in _RAW):
                self._wait(folder, name, path, link=link)
            elif kind == "folder" and name == msopprof.SIMULATOR:
                self._findings.append(_simulated(path, beside=[entry[0] for entry in entries]))

    def _wait(self, folder: _Folder, name: str, path: str, *, link: bool) -> None:
        inside = folder.in_capture or _is_of_profiler(name)
        if not link:
            real = f"{folder.real.rstrip('/')}/{name}"
            self._waiting.append(_Folder(path, real, folder.depth + 1, inside, folder.linked))
            return
        real = _real(path)
        if _holds(real, self._root) or _holds(real, folder.real):
            message = say("this link leads to a folder that contains it; not followed")
            self._findings.append(LINK_LOOP.found(path, message))
            return
        linked = folder.linked or not _holds(self._root, real)
        self._links.append(_Folder(path, real, folder.depth + 1, inside, linked))

    def _entries(self, folder: _Folder) -> list[tuple[str, bool, bool, bool]]:
        """(name, whether it is a link, a folder, a file) of all entries, in a stable order."""
        try:
            with os.scandir(folder.path) as found:
                entries = sorted([(entry.name, *_what(entry)) for entry in found])
        except OSError as error:
            message = say("the folder cannot be read: {why}", why=why(error))
            self._findings.append(UNREADABLE.found(folder.path, message))
            return []
        if not folder.linked:
            return entries
        left = MAX_LINKED - self._linked
        self._linked += len(entries)
        if len(entries) > left:
            message = say(
                "links that lead out of {path} contain more than {limit} files and folders; the rest is not read "
                "(specify the folder itself)",
                limit=MAX_LINKED,
                path=self._path,
            )
            self._findings.append(TOO_MUCH_LINKED.found(folder.path, message))
            self._waiting = [one for one in self._waiting if not one.linked]
            self._links = [link for link in self._links if not link.linked]
        return entries[: max(left, 0)]


def _holds(folder: str, place: str) -> bool:
    """Whether a folder is a place, or above it."""
    return place == folder or place.startswith(folder.rstrip("/") + "/")


def _real(path: str) -> str:
    """Where a path really leads; a link that cannot be followed leads to itself."""
    try:
        return os.path.realpath(path)
    except OSError:  # some of /proc: a link that is there and leads nowhere
        return os.path.abspath(path)


def _what(entry: os.DirEntry[str]) -> tuple[bool, bool, bool]:
    """Whether an entry is a link, a folder, a file, as the folder itself tells."""
    try:
        link = entry.is_symlink()
        return link, not link and entry.is_dir(), not link and entry.is_file()
    except OSError:
        return False, False, False


def _odd_entry(path: str, name: str, kind: str, *, link: bool) -> list[Finding]:
    """What is to be said of an entry that is neither file nor folder, or not what its name says."""
    if kind in {"folder", _SPECIAL}:
        if parse_name(name) is not None:
            message = (
                say("a folder that has the name of an input file; its content is read")
                if kind == "folder"
                else say("has the name of an input file, but is {what}; skipped", what=kind)
            )
            return [NOT_A_FILE.found(path, message)]
        if kind == "folder" or not link:
            return []
    if link:
        message = say("this link is broken or circular; skipped")
        return [BROKEN_LINK.found(path, message)]
    message = say("{what}; expected a file or a folder", what=kind)
    return [UNREADABLE.found(path, message)]


def paths_matching(patterns: Iterable[str]) -> list[Path]:
    """What matches patterns of the shell, each in the order of names. Raises UsageError for one that matches nothing."""
    found: list[Path] = []
    for pattern in patterns:
        matching = [pattern] if Path(pattern).exists() else sorted(glob(pattern, recursive=True))  # noqa: PTH207 -- absolute ones, too
        if not matching and not isinstance(path_of(pattern), ObjectPath):
            raise UsageError(say("{pattern}: nothing matches", pattern=pattern))
        found += [asked_path(path) for path in matching or [pattern]]
    return found


def why_not_read(path: Path) -> str | None:
    """What keeps a path from being read that is named for input; null for a file or a folder. Pipes are never opened."""
    kind = _kind(str(path))
    return None if kind in {"file", "folder"} else say("{what}; expected a file or a folder", what=kind)


def refuse_missing(paths: Iterable[Path]) -> None:
    """Raise a ReadError for a path that is neither a file nor a folder. What is in a bucket is known when it is listed."""
    for path in paths:
        kind = "object" if isinstance(path, ObjectPath) else _kind(str(path))
        if kind not in {"object", "file", "folder"}:
            raise ReadError(path, kind, say("expected a file or a folder"))


_SPECIAL = say("neither a file nor a folder (a pipe or a device)")


def _kind(path: str) -> str:
    """`file`, `folder`, or in words what else it is."""
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116 - of many paths
    except (OSError, ValueError) as error:
        if Path(path).is_symlink():
            return say("this link is broken or circular")
        return say("no such file or folder") if getattr(error, "errno", 0) == errno.ENOENT else why(error)
    return "folder" if stat.S_ISDIR(mode) else "file" if stat.S_ISREG(mode) else _SPECIAL
