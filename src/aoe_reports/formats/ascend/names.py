"""The grammar of file and folder names that profilers and AOE write."""

from __future__ import annotations

import re
from typing import get_args

from aoe_reports.formats.aoe.operator_banks import BankForm, bank_name_of
from aoe_reports.formats.ascend.tables import FILE_KINDS, TIMELINES
from aoe_reports.formats.sources.found import FileName
from aoe_reports.formats.table import NO_ID, Table

FRAMEWORK_FOLDER = "ASCEND_PROFILER_OUTPUT"
"""Where torch_npu and MindSpore put their exports; the names there carry no time stamp."""

MERGED_FOLDER = "mindstudio_profiler_output"
"""Where msprof puts its merged exports since 2023-09."""

PROFILER_DB = "profiler_db"
ANALYSIS_DB = "analysis_db"
_DATABASES = {"msprof": PROFILER_DB, "analysis": ANALYSIS_DB, "cluster_analysis": ANALYSIS_DB}

_TIMELINES = {word: kind for kind in TIMELINES.values() for word in kind.file_kinds}
_WORDS = sorted({*FILE_KINDS, *_TIMELINES, *_DATABASES}, key=len, reverse=True)

# A number with a leading zero is no device: the real op_summary_001.csv is not of "device 1".
_NUMBER = r"0|[1-9]\d{0,%d}"
_EXPORT = re.compile(
    rf"^(?P<kind>{'|'.join(_WORDS)})"
    rf"(?:_(?P<device>{_NUMBER % 2}))?(?:_(?P<model>{_NUMBER % 9}))?(?:_(?P<iteration>{_NUMBER % 8}))?"
    r"(?:_slice_(?P<slice>\d{1,6}))?(?:_(?P<time>\d{14}))?(?:_(?P<other>[^.]{1,64}))?"
    r"\.(?P<form>csv|json|db)(?P<packed>\.gz)?$"
)
_FRAMEWORK_DB = re.compile(r"^ascend_(?:pytorch|mindspore)_profiler(?:_(?P<rank>\d{1,6}))?\.db$")
_AOE = re.compile(r"^aoe_result_(?P<kind>opat|sgat)_(?P<time>\d{8}_?\d{6}_?\d{0,6})_(?:pid)?(?P<pid>\d{1,10})\.json$")
_BANK = re.compile(r"^(?:(?P<soc>[A-Za-z0-9][\w-]{0,62})_|_)?gradient_fusion\.json$", re.ASCII)
_UNIQUE = re.compile(r"^PROF_\d+_\d{14,17}_[A-Z0-9]+$|_\d{14,17}_ascend_(?:pt|ms)$")
_CAPTURE = re.compile(r"^PROF_\d+_\d{14,17}(?:_[A-Z0-9]+)?$|_ascend_(?:pt|ms)$")
_CAPTURE_TIME = re.compile(r"(?:^|_)(?P<time>(?:19|20)\d{12}(?:\d{3})?)(?=_|$)")
PROFILER_INFO = re.compile(r"^profiler_info(?:_(?P<rank>\d{1,6}))?\.json$")
PROFILER_METADATA = re.compile(r"^profiler_metadata\.json$")
COMMUNICATION_GROUP = re.compile(r"^communication_group\.json$")
MSPROF_INFO = re.compile(r"^(?P<what>info\.json|sample\.json|start_info|end_info)(?:\.(?P<device>\d{1,3}))?$")
DEVICE_FOLDER = re.compile(r"device_(?P<device>\d{1,3})")
"""What one device of a capture lies in."""
INFO_KINDS = frozenset(
    {"profiler_info", "profiler_metadata", "communication_group", "info", "sample", "start_info", "end_info"}
)
"""Files that tell about a capture and hold no measurement."""
RESULT_KINDS = frozenset({"opat", "sgat"})
"""Results of AOE."""
OPERATOR_BANKS = frozenset(get_args(BankForm))
"""Banks of operators and of subgraphs: of AOE, and of Auto Tune before it."""
BANK_KINDS = frozenset({*OPERATOR_BANKS, "gdat"})
"""All banks: the bank of gradient tuning is among them."""
AOE_KINDS = RESULT_KINDS | BANK_KINDS
"""What AOE writes that is no table."""
NO_TABLES = frozenset({*AOE_KINDS, "record"})
"""Files of which no table is read; they belong to no capture."""
ARCHIVE_NAME = re.compile(
    r"\.(?:zip|tar|tgz|tbz2?|txz|7z|rar|tar\.(?:gz|bz2|xz|zst)|(?:csv|json|db)\.(?:bz2|xz|zst)|db\.gz)$", re.IGNORECASE
)
READ_ARCHIVE = re.compile(r"\.(?:zip|tar|tar\.gz|tgz)$", re.IGNORECASE)
"""Archives that are read where they are named."""
RAW_FOLDERS = frozenset({"data", "sqlite", "log", "FRAMEWORK"})
"""Folders of raw data inside a capture: never exports."""


def parse_name(name: str, folder: str = "") -> FileName | None:
    """What a file's name (and its folder's) tells, or None for a file that is none of ours."""
    if ours := _aoe_name(name) or _database_name(name):
        return ours
    if COMMUNICATION_GROUP.match(name):  # no export of communication.json
        return FileName("communication_group", "json", "torch_npu")
    match = _EXPORT.match(name)
    return _info_name(name) if match is None else _export_name(match, folder)


def _database_name(name: str) -> FileName | None:
    match = _FRAMEWORK_DB.match(name)
    if match is None:
        return None
    writer = "mindspore" if "mindspore" in name else "torch_npu"
    return FileName(PROFILER_DB, "db", writer, rank_id=_number(match["rank"]))


def _export_name(found: re.Match[str], folder: str) -> FileName | None:
    """An export; None for what only begins with the word of one."""
    word, form = found["kind"], found["form"]
    kind = _kind(word, form)
    if form == "db" and found["packed"]:
        return None  # has to be unpacked first
    if kind is None or (found["other"] is not None and is_plain_word(word)):
        return None  # api_schema.json is somebody else's
    writer = _writer(word, form)
    if writer != "aoe":
        writer = "torch_npu" if writer == "torch_npu" or folder == FRAMEWORK_FOLDER else "msprof"
    return FileName(
        kind,
        {"csv": "csv", "json": "json", "db": "db"}[form],  # type: ignore[arg-type]
        writer,
        device_id=_number(found["device"]),
        model_id=None if found["model"] == str(NO_ID) else _number(found["model"]),
        iteration=_number(found["iteration"]),
        slice=_number(found["slice"]),
        time=found["time"],
        other=found["other"],
        timeline=form == "json" and word in _TIMELINES,
        packed=found["packed"] is not None,
    )


def _aoe_name(name: str) -> FileName | None:
    """What AOE writes: results and banks."""
    if found := _AOE.match(name):
        return FileName(found["kind"], "json", "aoe", time=found["time"], pid=int(found["pid"]))
    if found := _BANK.match(name):
        return FileName("gdat", "json", "aoe", soc=found["soc"])
    if bank := bank_name_of(name):
        return FileName(bank.form, "json", "aoe", time=bank.time, soc=bank.soc)
    return None


def is_plain_word(kind: str) -> bool:
    """Whether other people's files, too, may begin with this word (acl.json, event.csv): their content has to tell."""
    return kind == "gradient_summary" or ("_" not in kind and kind != "msprof")


def tables_of_name(name: str) -> tuple[Table, ...]:
    """The tables that a file of this name may hold; the header tells which of several it is."""
    match = _EXPORT.match(name)
    return FILE_KINDS.get(match["kind"], ()) if match else ()


def _kind(word: str, form: str) -> str | None:
    """The kind of a file that begins with this word; None where no such file has this form."""
    if form == "db":
        return _DATABASES.get(word)
    if form == "json" and word in _TIMELINES:
        return _TIMELINES[word].name
    tables = FILE_KINDS.get(word, ())
    return tables[0].name if tables and (form == "json" or tables[0].form == "csv") else None


def _writer(word: str, form: str) -> str:
    if form == "db":
        return "torch_npu" if word == "analysis" else "msprof"
    if word in FILE_KINDS:
        return FILE_KINDS[word][0].source
    return _TIMELINES[word].source


def _info_name(name: str) -> FileName | None:
    if found := PROFILER_INFO.match(name):
        return FileName("profiler_info", "json", "torch_npu", rank_id=_number(found["rank"]))
    if PROFILER_METADATA.match(name):
        return FileName("profiler_metadata", "json", "torch_npu")
    if found := MSPROF_INFO.match(name):
        kind = found["what"].removesuffix(".json")
        return FileName(kind, "json", "msprof", device_id=_number(found["device"]))
    return None


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
