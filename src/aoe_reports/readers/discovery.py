"""Finds every file of ours below some paths: link loops survived, raw data and other tools' folders passed over."""

from __future__ import annotations

import csv
import errno
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from aoe_reports.findings import Finding
from aoe_reports.readers.names import (
    MSPROF_INFO,
    OTHER_TOOLS,
    PROFILER_INFO,
    RAW_FOLDERS,
    FileName,
    is_capture,
    parse_name,
)
from aoe_reports.tables import table_of_header

HEAD_BYTES = 64 * 1024
"""How much of a file may be looked at to tell what it is."""


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file of ours: where it lies, what its name (or its content) says it is, its size."""

    path: Path
    name: FileName
    size: int


@dataclass(frozen=True, slots=True)
class Discovery:
    """All files of ours below some paths, and what could not be looked at."""

    files: tuple[FoundFile, ...]
    findings: tuple[Finding, ...]
    unreadable: bool
    """Whether something was there (or asked for) and could not be read: exit code 3."""


def discover(paths: Sequence[Path]) -> Discovery:
    """Every file of ours below `paths`, each once, in a stable order."""
    files: dict[Path, FoundFile] = {}
    findings: list[Finding] = []
    unreadable = False
    for path in paths:
        before = len(files)
        failed = len(findings)
        for entry in _walk(path, findings):
            real = Path(os.path.realpath(entry))
            if real in files:
                before -= 1
            elif PROFILER_INFO.match(entry.name) or MSPROF_INFO.match(entry.name):
                continue  # read with its capture
            elif found := _identify(entry, explicit=entry == path, findings=findings):
                files[real] = found
        unreadable = unreadable or any(finding.rule == "unreadable" for finding in findings[failed:])
        if len(files) == before and len(findings) == failed:
            message = "no msprof, torch_npu or AOE file here; expected exports (op_summary*.csv, kernel_details.csv, …)"
            findings.append(Finding("error", "nothing-found", str(path), message + " or aoe_result_*.json"))
    in_order = tuple(sorted(files.values(), key=lambda file: str(file.path)))
    return Discovery(in_order, tuple(findings), unreadable)


def _walk(path: Path, findings: list[Finding]) -> Iterator[Path]:
    """Every file below a path; each real folder is entered once, so a loop of links ends."""
    kind = _kind(path)
    if kind != "folder":
        if kind == "file":
            yield path
        else:
            what = f"{kind}; expected a file or a folder"
            findings.append(Finding("error", "unreadable", str(path), what))
        return
    seen: set[Path] = set()
    waiting = [path]
    while waiting:
        folder = waiting.pop()
        real = Path(os.path.realpath(folder))
        if real in seen:
            message = "this link leads to a folder that is read already; passed over"
            findings.append(Finding("warning", "link-loop", str(folder), message))
            continue
        seen.add(real)
        for entry in _entries(folder, findings):
            inside = Path(entry.path)
            kind = _kind(inside)
            if kind == "folder" and not _passed_over(folder, entry.name):
                waiting.append(inside)
            elif kind == "file":
                yield inside
            elif kind != "folder" and inside.is_symlink():
                message = "this link leads nowhere or in a circle; passed over"
                findings.append(Finding("warning", "broken-link", entry.path, message))
            elif kind not in {"folder", _SPECIAL}:
                findings.append(Finding("error", "unreadable", entry.path, f"{kind}; expected a file or a folder"))


_SPECIAL = "neither a file nor a folder (a pipe or a device)"


def _kind(path: Path) -> str:
    """`file`, `folder`, or in words what else it is."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError) as error:
        if path.is_symlink():
            return "this link leads nowhere or in a circle"
        return {errno.ENOENT: "no such file or folder"}.get(getattr(error, "errno", 0) or 0, _why(error))
    return "folder" if stat.S_ISDIR(mode) else "file" if stat.S_ISREG(mode) else _SPECIAL


def _why(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)


def _entries(folder: Path, findings: list[Finding]) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        findings.append(Finding("error", "unreadable", str(folder), f"the folder cannot be read: {_why(error)}"))
        return []


def _passed_over(folder: Path, name: str) -> bool:
    """Folders of another tool, and raw data inside a capture."""
    inside = any(is_capture(part) for part in Path(os.path.abspath(folder)).parts)
    return bool(OTHER_TOOLS.match(name)) or (inside and name in RAW_FOLDERS)


def _identify(path: Path, *, explicit: bool, findings: list[Finding]) -> FoundFile | None:
    """Tell what a file is by its name, else (CSV and JSON) by its head."""
    name = parse_name(path.name, path.parent.name)
    suffix = path.suffix.lower()
    try:
        size = path.stat().st_size
        if name is None and suffix in {".csv", ".json"} | ({suffix} if explicit else set()):
            with path.open("rb") as file:
                name = _by_content(file.read(HEAD_BYTES))
        elif name is not None:
            with path.open("rb"):
                pass
    except OSError as error:
        if name is not None or explicit:
            findings.append(Finding("error", "unreadable", str(path), f"the file cannot be read: {_why(error)}"))
        return None
    if name is None and explicit:
        message = "neither its name nor its content is of a kind that is known here; see `aoe-reports table --list`"
        findings.append(Finding("error", "unknown-file", str(path), message))
    return FoundFile(path, name, size) if name else None


def _by_content(head: bytes) -> FileName | None:
    """Tell a table by its header, an AOE result by its words; None for what is neither."""
    text = head.decode("utf-8-sig", errors="replace").lstrip()
    if text.startswith(("[", "{")):
        if '"basic"' in text and '"tuning_name"' in text:
            kind = "sgat" if '"SGAT"' in text else "opat"
            return FileName(kind, "json", "aoe")
        return None
    try:
        header = next(csv.reader([text.split("\n", 1)[0]]), [])
    except csv.Error:
        return None
    table = table_of_header(header)
    if table is None:
        return None
    return FileName(table.name, "csv", "torch_npu" if table.source == "torch_npu" else "msprof")
