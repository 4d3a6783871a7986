"""Finds every file of ours below some paths: link loops survived, raw data and other tools' folders passed over."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from aoe_reports.findings import Finding, Severity
from aoe_reports.readers.identify import FoundFile, identify, why
from aoe_reports.readers.names import OTHER_TOOLS, RAW_FOLDERS, UNREAD_KINDS, FileName, is_capture, parse_name
from aoe_reports.texts import join, say


@dataclass(frozen=True, slots=True)
class Discovery:
    """All files of ours below some paths, and what could not be looked at."""

    files: tuple[FoundFile, ...]
    findings: tuple[Finding, ...]
    unreadable: bool
    """Whether something was there (or asked for) and could not be read: exit code 3."""


def discover(paths: Sequence[Path], *, max_expanded: int | None = None) -> Discovery:
    """Every file of ours below `paths`, each once, in a stable order.

    Compressed ones may expand to `max_expanded` bytes each; None means MAX_EXPANDED_BYTES.
    """
    files: dict[str, FoundFile] = {}
    findings: list[Finding] = []
    unreadable = False
    for path in paths:
        before = len(files)
        failed = len(findings)
        for entry, real in _walk(path, findings):
            if real in files:
                before -= 1
            elif found := identify(entry, explicit=entry == path, findings=findings):
                files[real] = found if max_expanded is None else replace(found, max_expanded=max_expanded)
        unreadable = unreadable or any(finding.rule == "unreadable" for finding in findings[failed:])
        if len(files) == before and len(findings) == failed:
            message = say(
                "no msprof, torch_npu or AOE file here; expected exports (op_summary*.csv, kernel_details.csv, …) "
                "or aoe_result_*.json"
            )
            findings.append(Finding("error", "nothing-found", str(path), message))
    findings += _unread(list(files.values()))
    in_order = tuple(sorted(files.values(), key=lambda file: str(file.path)))
    return Discovery(in_order, tuple(findings), unreadable)


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
            "{count} files of MindSpore's own profiler ({kinds}), which are no exports of msprof: recognised, but not "
            "read yet; nothing here is made of them",
            count=len(kinds),
            kinds=join(", ", sorted(set(kinds))),
        )
        found.append(Finding(severity, "not-read", str(folder), message))
    return found


def result_files(paths: Sequence[Path]) -> list[tuple[Path, FileName]]:
    """Every AOE result below `paths` by its name alone, in a stable order; what cannot be entered is passed over.

    Of a path that is a file the content may tell, too.
    """
    found: dict[str, tuple[Path, FileName]] = {}
    for path in paths:
        for entry, real in _walk(path, []):
            name = parse_name(entry.name)
            if name is None and entry == path and (asked := identify(entry, explicit=True, findings=[])):
                name = asked.name
            if name is not None and name.kind in {"opat", "sgat"}:
                found.setdefault(real, (entry, name))
    return sorted(found.values(), key=lambda pair: str(pair[0]))


def _walk(path: Path, findings: list[Finding]) -> Iterator[tuple[Path, str]]:
    """Every file below a path, and where it really lies; each real folder is entered once, so a loop of links ends."""
    kind = _kind(path)
    if kind != "folder":
        if kind == "file":
            yield path, os.path.realpath(path)
        else:
            what = say("{what}; expected a file or a folder", what=kind)
            findings.append(Finding("error", "unreadable", str(path), what))
        return
    seen: set[str] = set()
    waiting = [path]
    linked: list[Path] = []  # entered last: a capture is what it is called where it really lies
    while waiting or linked:
        folder = waiting.pop() if waiting else linked.pop()
        real = os.path.realpath(folder)
        if real in seen:
            message = say("this link leads to a folder that is read already; passed over")
            findings.append(Finding("warning", "link-loop", str(folder), message))
            continue
        seen.add(real)
        for entry in _entries(folder, findings):
            kind, place = _look_at(entry, real)
            findings += _odd_entry(entry, kind)
            if kind == "folder" and not _passed_over(folder, entry.name):
                (linked if entry.is_symlink() else waiting).append(Path(entry.path))
            elif kind == "file":
                yield Path(entry.path), place


def _look_at(entry: os.DirEntry[str], real: str) -> tuple[str, str]:
    """(what an entry of the folder `real` is, where it really lies)."""
    if entry.is_symlink():
        return _kind(Path(entry.path)), os.path.realpath(entry.path)
    return _kind_of_entry(entry), f"{real}/{entry.name}"


def _odd_entry(entry: os.DirEntry[str], kind: str) -> list[Finding]:
    """What is to be said of an entry that is neither file nor folder, or not what its name says."""
    if kind == "file":
        return []
    if kind in {"folder", _SPECIAL}:
        if parse_name(entry.name) is not None:
            message = (
                say("named like a file that is read here, but a folder; what is in it is read")
                if kind == "folder"
                else say("named like a file that is read here, but {what}; passed over", what=kind)
            )
            return [Finding("warning", "not-a-file", entry.path, message)]
        if kind == "folder" or not entry.is_symlink():
            return []
    if entry.is_symlink():
        message = say("this link leads nowhere or in a circle; passed over")
        return [Finding("warning", "broken-link", entry.path, message)]
    message = say("{what}; expected a file or a folder", what=kind)
    return [Finding("error", "unreadable", entry.path, message)]


def _kind_of_entry(entry: os.DirEntry[str]) -> str:
    """`file` or `folder` without asking the disk again, or in words what else it is."""
    try:
        return "folder" if entry.is_dir() else "file" if entry.is_file() else _SPECIAL
    except OSError as error:
        return why(error)


_SPECIAL = say("neither a file nor a folder (a pipe or a device)")


def _kind(path: Path) -> str:
    """`file`, `folder`, or in words what else it is."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError) as error:
        if path.is_symlink():
            return say("this link leads nowhere or in a circle")
        return say("no such file or folder") if getattr(error, "errno", 0) == errno.ENOENT else why(error)
    return "folder" if stat.S_ISDIR(mode) else "file" if stat.S_ISREG(mode) else _SPECIAL


def _entries(folder: Path, findings: list[Finding]) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        message = say("the folder cannot be read: {why}", why=why(error))
        findings.append(Finding("error", "unreadable", str(folder), message))
        return []


def _passed_over(folder: Path, name: str) -> bool:
    """Folders of another tool, and raw data inside a capture."""
    inside = any(is_capture(part) for part in Path(os.path.abspath(folder)).parts)
    return bool(OTHER_TOOLS.match(name)) or (inside and name in RAW_FOLDERS)
