"""The grammar of file and folder names that profilers and AOE write."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from aoe_reports.tables import TABLES

Source = Literal["msprof", "torch_npu", "mindspore", "aoe"]
Form = Literal["csv", "json", "db"]

MSPROF_KINDS = [
    "acl",
    "acl_statistic",
    "ai_stack_time",
    "aicpu",
    "aicpu_mi",
    "api",
    "api_statistic",
    "communication_statistic",
    "dp",
    "event",
    "fusion_op",
    "ge",
    "ge_op_execute",
    "hccl",
    "hccl_statistic",
    "l2_cache",
    "memory_record",
    "msprof",
    "msprof_tx",
    "msproftx",
    "npu_mem",
    "npu_module_mem",
    "op_statistic",
    "op_summary",
    "operator_memory",
    "prof_rule",
    "runtime_api",
    "static_op_mem",
    "step_trace",
    "task_time",
    "thread_group",
]
FRAMEWORK_KINDS = [
    "analysis",
    "api_statistic",
    "cluster_step_trace_time",
    "communication",
    "communication_matrix",
    "kernel_details",
    "l2_cache",
    "memory_record",
    "npu_module_mem",
    "op_statistic",
    "operator_details",
    "operator_memory",
    "static_op_mem",
    "step_trace_time",
    "trace_view",
]
"""What lies in an ASCEND_PROFILER_OUTPUT folder; its names carry no time stamp."""

FRAMEWORK_FOLDER = "ASCEND_PROFILER_OUTPUT"
_FRAMEWORK_ONLY = frozenset(FRAMEWORK_KINDS) - frozenset(MSPROF_KINDS)

_KIND = "|".join(sorted({*MSPROF_KINDS, *FRAMEWORK_KINDS}, key=len, reverse=True))
# A number with a leading zero is no device: the real op_summary_001.csv is not of "device 1".
_NUMBER = r"0|[1-9]\d{0,%d}"
_EXPORT = re.compile(
    rf"^(?P<kind>{_KIND})"
    rf"(?:_(?P<device>{_NUMBER % 2}))?(?:_(?P<model>{_NUMBER % 9}))?(?:_(?P<iteration>{_NUMBER % 8}))?"
    r"(?:_slice_(?P<slice>\d{1,6}))?(?:_(?P<time>\d{14}))?(?:_(?P<other>[^.]{1,64}))?\.(?P<form>csv|json|db)$"
)
_FRAMEWORK_DB = re.compile(r"^ascend_(?:pytorch|mindspore)_profiler(?:_(?P<rank>\d{1,6}))?\.db$")
_AOE = re.compile(r"^aoe_result_(?P<kind>opat|sgat)_(?P<time>\d{8}_?\d{6}_?\d{0,6})_(?:pid)?(?P<pid>\d{1,10})\.json$")
_UNIQUE = re.compile(r"^PROF_\d+_\d{14,17}_[A-Z0-9]+$|_\d{14,17}_ascend_(?:pt|ms)$")
_CAPTURE = re.compile(r"^PROF_\d+_\d{14,17}(?:_[A-Z0-9]+)?$|_ascend_(?:pt|ms)$")
_CAPTURE_TIME = re.compile(r"(?:^|_)(?P<time>(?:19|20)\d{12}(?:\d{3})?)(?=_|$)")
PROFILER_INFO = re.compile(r"^profiler_info(?:_(?P<rank>\d{1,6}))?\.json$")
MSPROF_INFO = re.compile(r"^(?P<what>info\.json|start_info|end_info)(?:\.(?P<device>\d{1,3}))?$")
OTHER_TOOLS = re.compile(r"^OPPROF_")
RAW_FOLDERS = frozenset({"data", "sqlite", "log", "FRAMEWORK"})
"""Folders of raw data inside a capture: never exports."""


@dataclass(frozen=True, slots=True)
class FileName:
    """What a file's name tells: kind, form, and where the name carries them device, model, iteration, slice, time."""

    kind: str
    form: Form
    source: Source
    device_id: int | None = None
    model_id: int | None = None
    iteration: int | None = None
    slice: int | None = None
    time: str | None = None
    pid: int | None = None
    rank_id: int | None = None
    other: str | None = None

    @property
    def export(self) -> tuple[object, ...]:
        """What one export is of: of several exports with one such key the newest is the one in force."""
        return (self.kind, self.form, self.device_id, self.model_id, self.iteration)


def parse_name(name: str, folder: str = "") -> FileName | None:
    """What a file's name (and its folder's) tells, or None for a file that is none of ours."""
    if found := _AOE.match(name):
        return FileName(found["kind"], "json", "aoe", time=found["time"], pid=int(found["pid"]))
    if found := _FRAMEWORK_DB.match(name):
        source: Source = "mindspore" if "mindspore" in name else "torch_npu"
        return FileName("profiler_db", "db", source, rank_id=_number(found["rank"]))
    found = _EXPORT.match(name)
    if found is None:
        return None
    kind = found["kind"]
    if found["other"] is not None and kind not in TABLES:
        return None  # api_schema.json is somebody else's
    framework = folder == FRAMEWORK_FOLDER or kind in _FRAMEWORK_ONLY
    return FileName(
        kind,
        {"csv": "csv", "json": "json", "db": "db"}[found["form"]],  # type: ignore[arg-type]
        "torch_npu" if framework else "msprof",
        _number(found["device"]),
        _number(found["model"]),
        _number(found["iteration"]),
        _number(found["slice"]),
        found["time"],
        other=found["other"],
    )


def is_capture(folder: str) -> bool:
    """Whether a folder of this name is one capture (PROF_*, *_ascend_pt, *_ascend_ms)."""
    return bool(_CAPTURE.search(folder))


def is_unique_name(folder: str) -> bool:
    """Whether a folder has the full name that profilers make for each capture."""
    return bool(_UNIQUE.search(folder))


def capture_time(folder: str) -> str | None:
    """The digits of the time in a capture's name: `PROF_000001_20260605155111872_X` → `20260605155111872`."""
    found = _CAPTURE_TIME.search(folder)
    return found["time"] if found else None


def _number(digits: str | None) -> int | None:
    return int(digits) if digits is not None else None
