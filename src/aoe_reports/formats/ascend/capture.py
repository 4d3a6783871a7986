"""Puts the files of profilers together as captures: of several exports of one kind the newest is in force, slices are joined."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from aoe_reports.formats.ascend.groups import is_id, members_named, places_of_cluster, places_of_rank
from aoe_reports.formats.ascend.links import links_of_chip, links_of_platform
from aoe_reports.formats.ascend.names import (
    COMMUNICATION_GROUP,
    DEVICE_FOLDER,
    FRAMEWORK_FOLDER,
    INFO_KINDS,
    MERGED_FOLDER,
    MSPROF_INFO,
    NO_TABLES,
    PROFILER_DB,
    PROFILER_INFO,
    PROFILER_METADATA,
    capture_time,
    is_capture,
    is_unique_name,
)
from aoe_reports.formats.capture import Capture, CaptureInfo
from aoe_reports.formats.rules import INFO_FILE, SEVERAL_EXPORTS, SLICE_MISSING, SUPERSEDED
from aoe_reports.formats.sources.found import FoundFile, Writer
from aoe_reports.formats.sources.objects import absolute_of
from aoe_reports.model.documents import JsonObject, object_of
from aoe_reports.model.findings import EXAMPLES_PER_RULE, Finding
from aoe_reports.model.texts import join, say
from aoe_reports.model.timestamps import digits_to_ns

MAX_INFO_BYTES = 16 << 20
_MAX_DIGITS = 16
_LATEST_US = 7_258_118_400_000_000
"""The year 2200 in microseconds: a later time is none."""
SLICES_APART_NS = 3600 * 1_000_000_000
"""Slices of one export are written within this time, one after the other."""


CLUSTER_FOLDER = "cluster_analysis_output"
CLUSTER_KINDS = frozenset({"cluster_step_trace_time", "communication_group"})
"""Where, and under which names, an analysis of several ranks writes."""


def group_captures(files: Iterable[FoundFile]) -> list[Capture]:
    """Profiler files by the capture they belong to, in the order of their paths."""
    by_root: dict[Path, list[FoundFile]] = defaultdict(list)
    for file in files:
        if file.name.kind not in NO_TABLES:
            by_root[capture_root(file.path)].append(file)
    captures = []
    for root, members in sorted(by_root.items()):
        in_force, superseded = newest_exports(members)
        findings = [*(_superseded(file) for file in superseded), *_missing_slices(in_force)]
        info = _with_databases(_read_info(_info_files(root), in_force, findings), in_force)
        if info.host is None and (named := _HOST_NAMED.fullmatch(root.name)):
            info = replace(info, host=_text(named["host"]))
        captures.append(
            Capture(
                root,
                tuple(in_force),
                tuple(superseded),
                info,
                findings=tuple(findings),
                preference=tuple(map(_preference, in_force)),
                profiler=_profiler(root, in_force),
                has_data=any(file.name.kind not in INFO_KINDS for file in in_force),
                measures=any(file.name.kind not in INFO_KINDS and file.name.source != "aoe" for file in in_force),
                of_cluster=all(map(_of_cluster, in_force)),
                named_time=capture_time(root.name) or min((f.name.time for f in in_force if f.name.time), default=None),
                unique_name=root.name if is_unique_name(root.name) else None,
            )
        )
    return captures


def _profiler(root: Path, files: Sequence[FoundFile]) -> Writer:
    if any(file.name.source == "mindspore" for file in files) or root.name.endswith("_ascend_ms"):
        return "mindspore"
    framework = any(file.name.source == "torch_npu" for file in files)
    return "torch_npu" if framework or root.name.endswith("_ascend_pt") else "msprof"


def _of_cluster(file: FoundFile) -> bool:
    """Whether a file was computed from the captures of several ranks."""
    return file.path.parent.name == CLUSTER_FOLDER or file.name.kind in CLUSTER_KINDS


def capture_root(path: Path) -> Path:
    """The folder of the capture that a file belongs to: its *_ascend_pt or *_ascend_ms folder, else its outermost PROF_*.

    (A framework's capture holds msprof's; a folder of several ranks may be called like a capture, too.)
    """
    whole = absolute_of(path)
    root = next((parent for parent in whole.parents if parent.name.endswith(("_ascend_pt", "_ascend_ms"))), None)
    if root is None:
        root = next((parent for parent in reversed(whole.parents) if is_capture(parent.name)), None)
    if root is None:
        root = _above_parts(whole.parent)
    above = len(whole.parents) - len(root.parents) - 1
    return path.parents[above] if above < len(path.parents) and path.parents[above].name else root


def _above_parts(folder: Path) -> Path:
    """The capture's folder where its name tells nothing: above `device_0/summary` and the like, and no higher."""
    if folder.name in {MERGED_FOLDER, FRAMEWORK_FOLDER}:
        return folder.parent
    if folder.name in {"summary", "timeline"} and (
        DEVICE_FOLDER.fullmatch(folder.parent.name) or folder.parent.name == "host"
    ):
        return folder.parent.parent
    return folder.parent if DEVICE_FOLDER.fullmatch(folder.name) else folder


def newest_exports(files: Sequence[FoundFile]) -> tuple[list[FoundFile], list[FoundFile]]:
    """Files in force and superseded ones: of each kind, device, model and iteration the newest export wins.

    An export is one file or several slices, written one after the other with rising numbers.
    """
    in_force = {id(file) for export in _by_export(files) for file in _newest(export)}
    by_path = sorted(files, key=lambda f: str(f.path))
    return [f for f in by_path if id(f) in in_force], [f for f in by_path if id(f) not in in_force]


def _by_export(files: Sequence[FoundFile]) -> Collection[list[FoundFile]]:
    """Files that only the time of their export and their slices tell apart."""
    by_key: dict[tuple[object, ...], list[FoundFile]] = defaultdict(list)
    for file in files:
        by_key[(file.path.parent, *file.name.export)].append(file)
    return by_key.values()


def _newest(group: Sequence[FoundFile]) -> list[FoundFile]:
    """The file or the slices of the newest of several exports."""
    plain = [file for file in group if file.name.other is None]
    chosen = plain or [max(group, key=lambda f: f.path.name)]
    ordered = sorted(chosen, key=lambda f: (f.name.time or "", _slice(f), not f.name.packed, str(f.path)))
    newest = [ordered.pop()]
    while ordered and _slice(ordered[-1]) < _slice(newest[-1]) and _of_one_export(ordered[-1], newest[-1]):
        newest.append(ordered.pop())
    return newest


def _of_one_export(earlier: FoundFile, later: FoundFile) -> bool:
    """Whether two slices were written one after the other."""
    times = [digits_to_ns(file.name.time) for file in (earlier, later)]
    return None in times or (times[1] or 0) - (times[0] or 0) <= SLICES_APART_NS


def _slice(file: FoundFile) -> int:
    """A slice's number; the first part of the Python exporter has none, and no slice 0 behind it."""
    return 0 if file.name.slice is None else file.name.slice


def _superseded(file: FoundFile) -> Finding:
    if file.name.other is None and file.name.time is not None:
        message = say("a newer export of {kind} is used", kind=file.name.kind)
        return SUPERSEDED.found(str(file.path), message)
    message = say(
        "another export of {kind} is used; this file next to it is not used (is it a copy?)", kind=file.name.kind
    )
    return SEVERAL_EXPORTS.found(str(file.path), message)


def _missing_slices(files: Sequence[FoundFile]) -> list[Finding]:
    """Gaps in the numbers of slices: rows are missing. The Python exporter gives its first slice no number."""
    found = []
    for slices in _by_export(files):
        numbered = sorted((file for file in slices if file.name.slice is not None), key=_slice)
        if not numbered:
            continue
        there = {_slice(file) for file in numbered} | {0 for file in slices if file.name.slice is None}
        missing = sorted(set(range(max(there) + 1)) - there)
        if missing:
            numbers = join(", ", (str(number) for number in missing[:EXAMPLES_PER_RULE]))
            kind = numbered[0].name.kind
            message = say("slice {numbers} of {kind} is not present: its rows are missing", numbers=numbers, kind=kind)
            found.append(SLICE_MISSING.found(str(numbered[0].path), message))
    return found


_HOST_NAMED = re.compile(r"(?P<host>.+)_\d+_\d{14,20}_ascend_(?:pt|ms)")
"""A folder that frameworks name after host, process and time, unless somebody chose another name for the host."""
_INFO_NAMES = (PROFILER_INFO, PROFILER_METADATA, MSPROF_INFO, COMMUNICATION_GROUP)


def _info_files(root: Path) -> list[Path]:
    """The info files of a capture, whichever part of it was asked for."""
    found: list[Path] = []
    for folder in (root, *root.glob("device_*"), root / "host", *root.glob("PROF_*/device_*")):
        try:
            found += [
                path
                for path in folder.iterdir()
                if any(name.match(path.name) for name in _INFO_NAMES) and path.is_file()
            ]  # a pipe would never end
        except OSError:
            continue  # no such folder here, or none that may be read: it holds no measurement
    return sorted(found)


def databases_with(capture: Capture, kind: str) -> list[FoundFile]:
    """The databases that hold the events of a timeline which is not here as a file."""
    writers = {"trace_view": {"torch_npu", "mindspore"}, "msprof": {"msprof"}}.get(kind, set())
    if any(file.name.kind == kind for file in capture.timelines):
        return []
    return [
        file for file in capture.files if file.name.kind == PROFILER_DB and file.holds and file.name.source in writers
    ]


def exports_of(capture: Capture, kinds: Sequence[str]) -> list[list[FoundFile]]:
    """The timelines of the first of some kinds that is here, or the databases in its place; slices of one together."""
    for kind in kinds:
        found: dict[tuple[object, ...], list[FoundFile]] = {}
        for file in [file for file in capture.timelines if file.name.kind == kind] or databases_with(capture, kind):
            name = file.name
            found.setdefault((name.form, name.device_id, name.model_id, name.iteration), []).append(file)
        if found:
            return list(found.values())
    return []


def _preference(file: FoundFile) -> int:
    """How early a form is asked.

    Databases come first, then text of the framework, then msprof's (merged before per device), JSON after CSV, timelines last.
    """
    if file.name.form == "db":
        return 0
    if file.name.timeline:
        return 9
    rank = 1 if file.name.source != "msprof" else 3 if file.path.parent.name == MERGED_FOLDER else 5
    return rank + (file.name.form == "json")


def _read_info(paths: Sequence[Path], files: Sequence[FoundFile], findings: list[Finding]) -> CaptureInfo:
    """Read what the info files say; one that is damaged says nothing, which is said."""
    info = CaptureInfo(engine="cann")
    for path in paths:
        document = _load(path)
        if document is None:
            message = say("this info file cannot be read as JSON; its information (rank, time) is not known")
            findings.append(INFO_FILE.found(str(path), message))
        elif found := PROFILER_INFO.match(path.name):
            info = _with_profiler_info(info, document, found["rank"])
        elif PROFILER_METADATA.match(path.name):
            recorded = document.get("parallel_group_info")
            groups, members = places_of_rank(recorded), info.members | members_named(recorded)
            settings = {**info.settings, **_stated_settings(document)}
            info = replace(info, workload=_stated_workload(document), groups=info.groups | groups, settings=settings)
            info = replace(info, members=members)
        elif COMMUNICATION_GROUP.match(path.name):
            recorded = document.get("comm_group_parallel_info")
            members = info.members | members_named(recorded)
            info = replace(info, groups=info.groups | places_of_cluster(recorded), members=members)
        elif found := MSPROF_INFO.match(path.name):
            info = _with_msprof_info(info, document, found["what"], found["device"])
    rank_id = info.rank_id
    if rank_id is None:
        rank_id = next((f.name.rank_id for f in files if f.name.rank_id is not None), None)
    ranks = set(info.ranks.values())
    if rank_id is None and len(ranks) == 1:
        rank_id = ranks.pop()
    return replace(info, rank_id=rank_id)


def _with_databases(info: CaptureInfo, files: Sequence[FoundFile]) -> CaptureInfo:
    """What the databases know and the info files do not say."""
    for file in files:
        if file.name.form == "db" and file.holds:
            from aoe_reports.formats.sqlite import info_of_database  # noqa: PLC0415 -- most captures are text

            known = info_of_database(file.path)
            info = replace(
                info,
                rank_id=known.rank_id if info.rank_id is None else info.rank_id,
                ranks=known.ranks | info.ranks,
                start_ns=info.start_ns or known.start_ns,
                end_ns=info.end_ns or known.end_ns,
                device_type=info.device_type or known.hardware_name,
                groups=info.groups or known.groups,
                members=info.members or known.members,
                nominal_gb_per_s=info.nominal_gb_per_s or links_of_chip(known.hardware_name),
            )
    return info


def _load(path: Path) -> JsonObject | None:
    try:
        if path.stat().st_size > MAX_INFO_BYTES:
            return None
        text = path.read_text(encoding="utf-8", errors="replace")
        document, _ = json.JSONDecoder().raw_decode(text.strip())  # info.json.0 ends in "filesize:1021"
    except (OSError, ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


WORKLOAD_KEYS = ("workload", "model_name")
"""Keys under which `add_metadata` may say in profiler_metadata.json what is measured, the first one first."""


def _stated_workload(document: JsonObject) -> str | None:
    return next((name for key in WORKLOAD_KEYS if (name := (_text(document.get(key)) or "").strip())), None)


_MAX_SETTINGS = 200


def _stated_settings(document: JsonObject) -> dict[str, str]:
    """The texts of an info file by name: variables of the environment, versions, whatever `add_metadata` was given."""
    stated = {**document, **object_of(document.get("ENV_VARIABLES"))}
    told = {name[:200]: text for name in sorted(stated) if (text := _text(stated[name]))}
    return dict(islice(told.items(), _MAX_SETTINGS))


def _with_profiler_info(info: CaptureInfo, document: JsonObject, rank: str | None) -> CaptureInfo:
    config = object_of(document.get("config"))
    common, experimental = object_of(config.get("common_config")), object_of(config.get("experimental_config"))
    end = object_of(document.get("end_info")).get("collectionTimeEnd")
    rank_id = document.get("rank_id")
    return replace(
        info,
        rank_id=rank_id if is_id(rank_id) else int(rank) if rank else None,
        end_ns=end if isinstance(end, int) and 0 < end < _LATEST_US * 1000 else None,
        profiler_level=_text(experimental.get("_profiler_level")),
        aic_metrics=_text(experimental.get("_aic_metrics")),
        engine_version=_text(document.get("cann_version")),
        schedule=_schedule(common.get("schedule")),
        recording=tuple(name for name in _RECORDING if common.get(name) is True),
        settings={**info.settings, **_stated_settings(document)},
    )


_RECORDING = ("with_stack", "with_modules", "profile_memory", "record_shapes", "with_flops")
_SCHEDULE = ("wait", "warmup", "active", "repeat", "skip_first")


def _schedule(told: object) -> dict[str, int]:
    """The schedule as torch_npu writes it down; until 2023 its keys begin with an underscore."""
    stated = {name: object_of(told).get(name, object_of(told).get(f"_{name}")) for name in _SCHEDULE}
    return {name: value for name, value in stated.items() if is_id(value)}


def _with_msprof_info(info: CaptureInfo, document: JsonObject, what: str, device: str | None) -> CaptureInfo:
    if what == "start_info":
        start = _nanoseconds(document.get("collectionTimeBegin"))
        return replace(info, start_ns=min(start, info.start_ns or start)) if start else info
    if what == "end_info":
        end = _nanoseconds(document.get("collectionTimeEnd"))
        return replace(info, end_ns=max(end, info.end_ns or end)) if end else info
    if what == "sample.json":
        return replace(info, aic_metrics=info.aic_metrics or _text(document.get("ai_core_metrics")) or None)
    rank = document.get("rank_id")
    ranks = {int(device): rank} if device is not None and is_id(rank) else {}
    devices = document.get("DeviceInfo")
    first = object_of(devices[0]) if isinstance(devices, list) and devices else {}
    hardware = {
        name: _text(value) or value
        for name in ("ai_core_num", "aiv_num", "aic_frequency", "aiv_frequency", "hwts_frequency")
        if isinstance(value := first.get(name), int | str)
    }
    return replace(
        info,
        ranks=info.ranks | ranks,
        pid=_int(document.get("pid")),
        host=_text(document.get("hostname")) or info.host,
        hardware=info.hardware | hardware,
        nominal_gb_per_s=info.nominal_gb_per_s or links_of_platform(_text(document.get("platform_version"))),
    )


def _text(value: Any) -> str | None:
    return value[:200].encode("utf-8", "replace").decode() if isinstance(value, str) else None


def _nanoseconds(value: Any) -> int | None:
    """Microseconds since the epoch as nanoseconds; None for a time that cannot be one."""
    number = _int(value)
    return number * 1000 if number is not None and 0 < number < _LATEST_US else None


def _int(value: Any) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    text = str(value)
    return int(text) if text.isdecimal() and len(text) <= _MAX_DIGITS else None
