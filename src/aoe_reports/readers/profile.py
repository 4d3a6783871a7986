"""Puts the files of profilers together: files into captures, captures of several ranks into one run.

Of several exports of one kind the newest is in force, slices are joined, and of several forms of the same facts
one is chosen; the others are there to be checked against it.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Any

from aoe_reports.readers.discovery import FoundFile
from aoe_reports.readers.names import (
    FRAMEWORK_FOLDER,
    MSPROF_INFO,
    PROFILER_INFO,
    Source,
    capture_time,
    is_capture,
)

MAX_INFO_BYTES = 16 << 20
_MAX_DIGITS = 19
RANKS_APART_NS = 120 * 1_000_000_000
"""Captures of several ranks belong to one job when they were made within this time of each other."""

_PARTS_OF_A_CAPTURE = frozenset({"mindstudio_profiler_output", FRAMEWORK_FOLDER, "summary", "timeline", "host"})

TIMELINE_KINDS = ("step_trace", "task_time")
"""Kinds of which a timeline tells the same as the table."""

TASK_KINDS = ("kernel_details", "op_summary")
"""Kinds that hold every task with its operator, the one that is used first."""


@dataclass(frozen=True, slots=True)
class CaptureInfo:
    """What info files say about a capture; null where there is no such file."""

    rank_id: int | None = None
    pid: int | None = None
    start_ns: int | None = None
    end_ns: int | None = None
    profiler_level: str | None = None
    aic_metrics: str | None = None
    cann_version: str | None = None
    hardware: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Capture:
    """The exports of one capture of one rank: those in force and those that a newer export superseded."""

    root: Path
    files: tuple[FoundFile, ...]
    superseded: tuple[FoundFile, ...]
    info: CaptureInfo

    def of_kind(self, kind: str) -> tuple[FoundFile, ...]:
        """The files in force of one kind that can be read as its table, by device, model, iteration and slice."""
        found = [f for f in self.files if f.name.kind == kind and f.name.form == "csv"]
        if not found and kind in TIMELINE_KINDS:
            found = [f for f in self.files if f.name.kind == kind and f.name.form == "json"]
        return tuple(sorted(found, key=_order))

    def preferred(self, *kinds: str) -> tuple[FoundFile, ...]:
        """The files of the first of these kinds that is there; of a fact told twice, the framework's telling."""
        for kind in kinds:
            files = self.of_kind(kind)
            framework = tuple(f for f in files if f.name.source != "msprof")
            if files:
                return framework or files
        return ()

    @property
    def source(self) -> Source:
        """Which profiler made this capture."""
        if any(f.name.source == "mindspore" for f in self.files) or self.root.name.endswith("_ascend_ms"):
            return "mindspore"
        framework = any(f.name.source == "torch_npu" for f in self.files)
        return "torch_npu" if framework or self.root.name.endswith("_ascend_pt") else "msprof"

    @property
    def named_time(self) -> str | None:
        """The digits of the (local) time in the capture's name, else of the oldest in its files' names."""
        return capture_time(self.root.name) or min((f.name.time for f in self.files if f.name.time), default=None)

    @property
    def modified_ns(self) -> int:
        """When the oldest file was written; the last resort for a time."""
        return min(f.path.stat().st_mtime_ns for f in self.files)


def group_captures(files: Iterable[FoundFile], infos: Iterable[Path]) -> list[Capture]:
    """Profiler files by the capture they belong to, in the order of their paths."""
    by_root: dict[Path, list[FoundFile]] = defaultdict(list)
    for file in files:
        if file.name.source != "aoe":
            by_root[capture_root(file.path)].append(file)
    info_files: dict[Path, list[Path]] = defaultdict(list)
    for path in infos:
        info_files[capture_root(path)].append(path)
    captures = []
    for root, members in sorted(by_root.items()):
        in_force, superseded = newest_exports(members)
        info = _read_info(info_files.get(root, []), in_force)
        captures.append(Capture(root, tuple(in_force), tuple(superseded), info))
    return captures


def capture_root(path: Path) -> Path:
    """The folder of the capture that a file belongs to: its outermost PROF_*, *_ascend_pt or *_ascend_ms folder."""
    for parent in reversed(path.parents):
        if is_capture(parent.name):
            return parent
    root = path.parent
    while root.name in _PARTS_OF_A_CAPTURE or root.name.startswith("device_"):
        root = root.parent
    return root


def newest_exports(files: Sequence[FoundFile]) -> tuple[list[FoundFile], list[FoundFile]]:
    """Files in force and superseded ones: per folder and name without time, the newest time wins (R8)."""
    newest: dict[tuple[object, ...], FoundFile] = {}
    superseded: list[FoundFile] = []
    for file in sorted(files, key=lambda f: (f.name.time or "", str(f.path))):
        key = (file.path.parent, *file.name.export)
        if key in newest:
            superseded.append(newest[key])
        newest[key] = file
    return sorted(newest.values(), key=lambda f: str(f.path)), superseded


def group_runs(captures: Sequence[Capture]) -> list[tuple[Capture, ...]]:
    """Captures by run: neighbours of different known ranks, made at about one time, are one run."""
    runs: list[list[Capture]] = []
    for capture in sorted(captures, key=lambda c: (str(c.root.parent), _made(c) or 0, c.info.rank_id or 0)):
        fitting = next((run for run in reversed(runs) if _same_job(run, capture)), None)
        if fitting is None:
            runs.append([capture])
        else:
            fitting.append(capture)
    ordered = [tuple(sorted(run, key=lambda c: (c.info.rank_id or 0, str(c.root)))) for run in runs]
    return sorted(ordered, key=lambda run: str(run[0].root))


def digits_to_ns(digits: str | None, zone: tzinfo = UTC) -> int | None:
    """`YYYYMMDDHHMMSS[mmm]`, with or without `_`, in a time zone, as UTC nanoseconds; None for no such time."""
    plain = (digits or "").replace("_", "")
    try:
        whole = datetime.strptime(plain[:14], "%Y%m%d%H%M%S").replace(tzinfo=zone)
    except ValueError:
        return None
    fraction = plain[14:23]
    return int(whole.timestamp()) * 1_000_000_000 + (int(fraction.ljust(9, "0")) if fraction else 0)


def _order(file: FoundFile) -> tuple[int | str, ...]:
    name = file.name
    numbers = (name.device_id, name.model_id, name.iteration, name.slice)
    return (*(-1 if number is None else number for number in numbers), str(file.path))


def _made(capture: Capture) -> int | None:
    return capture.info.start_ns or capture.info.end_ns or digits_to_ns(capture.named_time)


def _same_job(run: Sequence[Capture], capture: Capture) -> bool:
    ranks = {member.info.rank_id for member in run}
    rank = capture.info.rank_id
    if rank is None or None in ranks or rank in ranks or run[0].root.parent != capture.root.parent:
        return False
    times = [_made(member) for member in (*run, capture)]
    known = [time for time in times if time is not None]
    return len(known) in {0, len(times)} and (not known or max(known) - min(known) <= RANKS_APART_NS)


def _read_info(paths: Sequence[Path], files: Sequence[FoundFile]) -> CaptureInfo:
    """Read what the info files say; one that is damaged says nothing (it holds no measurement)."""
    facts: dict[str, Any] = {"hardware": {}}
    for path in sorted(paths):
        document = _load(path)
        if found := PROFILER_INFO.match(path.name):
            facts |= _profiler_info(document, found["rank"])
        elif found := MSPROF_INFO.match(path.name):
            facts |= _msprof_info(document, found["what"], facts)
    if facts.get("rank_id") is None:
        facts["rank_id"] = next((f.name.rank_id for f in files if f.name.rank_id is not None), None)
    return CaptureInfo(**facts)


def _load(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > MAX_INFO_BYTES:
            return {}
        text = path.read_text(encoding="utf-8", errors="replace")
        document, _ = json.JSONDecoder().raw_decode(text.strip())  # info.json.0 ends in "filesize:1021"
    except (OSError, ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}


def _profiler_info(document: dict[str, Any], rank: str | None) -> dict[str, Any]:
    experimental = _dict(_dict(document.get("config")).get("experimental_config"))
    end = _dict(document.get("end_info")).get("collectionTimeEnd")
    rank_id = document.get("rank_id")
    return {
        "rank_id": rank_id if _is_id(rank_id) else int(rank) if rank else None,
        "end_ns": _int(end),
        "profiler_level": _text(experimental.get("_profiler_level")),
        "aic_metrics": _text(experimental.get("_aic_metrics")),
        "cann_version": _text(document.get("cann_version")),
    }


def _msprof_info(document: dict[str, Any], what: str, facts: dict[str, Any]) -> dict[str, Any]:
    if what == "start_info":
        start = _int(document.get("collectionTimeBegin"))  # microseconds since the epoch
        return {"start_ns": start * 1000} if start else {}
    if what == "end_info":
        end = _int(document.get("collectionTimeEnd"))
        return {"end_ns": end * 1000} if end else {}
    rank = document.get("rank_id")
    devices = document.get("DeviceInfo")
    device = _dict(devices[0]) if isinstance(devices, list) and devices else {}
    hardware = {
        name: device[name]
        for name in ("ai_core_num", "aiv_num", "aic_frequency", "aiv_frequency", "hwts_frequency")
        if isinstance(device.get(name), str | int)
    }
    return {
        "rank_id": rank if _is_id(rank) else facts.get("rank_id"),
        "pid": _int(document.get("pid")),
        "hardware": facts["hardware"] | hardware,
    }


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str | None:
    return value[:200] if isinstance(value, str) else None


def _is_id(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31


def _int(value: Any) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    text = str(value)
    return int(text) if text.isdecimal() and len(text) <= _MAX_DIGITS else None
