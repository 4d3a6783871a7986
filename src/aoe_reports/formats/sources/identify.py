"""Tells what one file is: by its name, and where others may be called so, too, by its head."""

from __future__ import annotations

import os
import re
from pathlib import Path

from aoe_reports.formats.ascend.names import ARCHIVE_NAME, NO_TABLES, READ_ARCHIVE
from aoe_reports.formats.benchmarks import mindie, pickles
from aoe_reports.formats.benchmarks.registry import LOG_BYTES, begins_as_benchmark, is_benchmark_log
from aoe_reports.formats.memory_files.names import is_memory_log, is_snapshot, log_name, snapshot_name
from aoe_reports.formats.msserviceprofiler import tables as msserviceprofiler
from aoe_reports.formats.records.forms import is_header_of_records, is_parquet_of_records
from aoe_reports.formats.rules import ARCHIVE, NOT_READ, SPARSE_FILE, UNKNOWN_FILE, UNREADABLE
from aoe_reports.formats.sources.found import TUNER, FileName, FoundFile
from aoe_reports.formats.sources.head import head_of, header_of
from aoe_reports.formats.sources.objects import ObjectPath
from aoe_reports.formats.table import table_of_header
from aoe_reports.formats.tuner_files import kind_of_tuner_file
from aoe_reports.formats.vendor import TABLES, parse_name, vendor_of
from aoe_reports.model.errors import ReadError, of_the_system
from aoe_reports.model.findings import Finding
from aoe_reports.model.texts import Text, join, say

MAX_EXPANDED_BYTES = 1 << 30
"""How far one compressed file may expand unless told otherwise."""

SPARSE_FROM_BYTES = 256 << 20
"""A text of this size that was never written as a whole is not read: a hole costs nothing to make, and hours to read."""

_LOOKED_INTO = frozenset({".csv", ".json", ".jsonl", ".parquet", ".log", *pickles.ENDINGS})
_LOGS = frozenset({".log", ".txt", ".out"})
_RECORD = re.compile(r'"runtime_ms_mean"\s*:')
"""Every benchmark log record (schema v0.1) has it; quoted inside of a text, as in a Delta log, it looks otherwise."""
_OUTPUT = re.compile(r'\{\s*"command"\s*:')
"""What a command of ours printed as JSON: rows that are named like fields of records are none."""

_UNREAD = (
    (
        re.compile(r"cluster_communication(_matrix)?\.json"),
        say(
            "the analysis of a cluster repeats what communication.json and communication_matrix.json of each rank hold"
        ),
    ),
    (re.compile(r"fusion_result\.json"), say("which fusion rules of graphs took effect, without times")),
    (
        re.compile(r"communicator_group\.json"),
        say("groups of ranks as a simulator of networks takes them; profilers write communication_group.json"),
    ),
    *msserviceprofiler.UNREAD,
)
"""Files of the platform of which nothing is read, and why; each by its name."""

_PACKED = say(
    "an archive of this kind is not read; unpack it first (.zip, .tar, .tar.gz and .tgz are read where they are named)"
)
_PACKED_IN_BUCKET = say("an archive in a bucket is not read; fetch it and name the file")
_PACKED_IN_ARCHIVE = say("an archive in an archive is not read; unpack the outer one and name this one")
_PACKED_BESIDE = say("an archive is read only where it is named itself, as it may hold what lies beside it")


def _why_packed(path: Path) -> Text:
    """Why an archive is not read where it lies."""
    if isinstance(path, ObjectPath):
        return _PACKED_IN_BUCKET if path.is_uri else _PACKED_IN_ARCHIVE
    return _PACKED_BESIDE if READ_ARCHIVE.search(path.name) else _PACKED


def why(error: Exception) -> str:
    """What the operating system says, without its number."""
    return of_the_system(getattr(error, "strerror", None) or str(error))


def unreadable_file(path: object, error: Exception) -> Finding:
    """That something cannot be read, and why; of the file that the error names, where it names one."""
    if isinstance(error, ReadError):
        return UNREADABLE.found(str(error.path), join("; ", (error.what, error.expected)), error.line)
    return UNREADABLE.found(str(getattr(error, "filename", None) or path), why(error))


def identify(path: Path, *, explicit: bool, findings: list[Finding]) -> FoundFile | None:
    """Tell what a file is by its name, and where that is not enough by its head."""
    name = parse_name(path.name, path.parent.name)
    unread = next((reason for pattern, reason in _UNREAD if pattern.fullmatch(path.name)), None)
    if unread is not None:
        findings.append(_not_read(path, unread, explicit=explicit))
        return None
    if name is None and not (explicit or path.suffix.lower() in _LOOKED_INTO or kind_of_tuner_file(path.name, "")):
        if ARCHIVE_NAME.search(path.name):
            findings.append(ARCHIVE.found(str(path), say("{why}; skipped", why=_why_packed(path))))
        return None
    if name is None and ARCHIVE_NAME.search(path.name):
        why_not = _why_packed(path) if isinstance(path, ObjectPath) else _PACKED
        message = say("{why}; only files and folders are read", why=why_not)
        findings.append(UNREADABLE.found(str(path), message))
        return None
    try:
        file = _identified(path, name, findings, explicit=explicit)
    except OSError as error:
        if name is not None or explicit:
            message = say("the file cannot be read: {why}", why=why(error))
            findings.append(UNREADABLE.found(str(path), message))
        return None
    return file


def _not_read(path: Path, reason: Text, *, explicit: bool) -> Finding:
    """What is recognised; an error where it was given by name."""
    rule = UNKNOWN_FILE if explicit else NOT_READ
    return rule.found(str(path), say("recognised, but not read: {why}", why=reason))


def _identified(path: Path, name: FileName | None, findings: list[Finding], *, explicit: bool) -> FoundFile | None:
    """What a file is: by its name alone where no other file is called so, else by its head."""
    size = path.stat().st_size
    if not _is_database(name) and is_sparse(path, size):
        findings.append(SPARSE_FILE.found(str(path), NEVER_WRITTEN))
        return None
    if name is None and _is_pickle(path, explicit=explicit):
        if not is_snapshot(head_of(path)):
            findings.append(_not_read(path, pickles.WHY_NOT, explicit=explicit))
            return None
        name = snapshot_name(path.name, "pickle")
    found = _by_content(path, size) if name is None else FoundFile(path, name, size)
    if found is not None and found.name.source != TUNER and found.name.kind not in NO_TABLES:  # said when they are read
        found = vendor_of(found.name.source).identify(found, findings) or _called_alike(found)
    if found is None and explicit:
        message = say("neither its name nor its content matches a known kind; see `aoe-reports table --list`")
        findings.append(UNKNOWN_FILE.found(str(path), message))
    return found


def _called_alike(file: FoundFile) -> FoundFile | None:
    """Records or claims of a tuner that somebody gave the name of a profiler's table."""
    if file.name.form != "csv" or file.name.packed or file.size == 0:
        return None
    alike = _by_content(file.path, file.size)
    return alike if alike is not None and not alike.holds else None


def _is_database(name: FileName | None) -> bool:
    """Whether pages that were never written may be in order: a database reads only those that it needs."""
    return name is not None and name.form == "db"


def is_sparse(path: Path, size: int) -> bool:
    """Whether a part of a large file was never written; a file system that does not know says no, and so does one that compresses."""
    if size < SPARSE_FROM_BYTES or isinstance(path, ObjectPath):
        return False
    with path.open("rb") as file:
        try:
            return os.lseek(file.fileno(), 0, os.SEEK_HOLE) < size
        except OSError:
            return False


NEVER_WRITTEN = say(
    "parts of this file were never written (a sparse file: truncated or preallocated); its content is not used"
)


def _by_content(path: Path, size: int) -> FoundFile | None:
    """Tell a table by its header, an AOE result, gradient bank or records by their words."""
    if path.suffix.lower() == ".parquet":
        of_records = is_parquet_of_records(path)
        return FoundFile(path, FileName("record", "parquet", "foreign"), size) if of_records else None
    text = head_of(path)
    name = _by_words(text, path)
    if name is None and path.suffix.lower() in _LOGS:
        name = _of_log(path, size)
    is_json = text.startswith(("[", "{"))
    header = [] if name is not None or is_json else header_of(text)
    if is_header_of_records(header) or mindie.is_header(header):
        return FoundFile(path, FileName("record", "csv", "foreign"), size)
    table = table_of_header(header, TABLES.values()) if header else None
    if table is None:
        name = name or _of_tuner(path, text)
        return None if name is None else FoundFile(path, name, size)
    writer = "msprof" if table.source == "both" else table.source
    # a proper name goes before what merely looks like one
    return FoundFile(path, FileName(table.name, "csv", writer, other=path.stem), size, (table.name,))


def _of_log(path: Path, size: int) -> FileName | None:
    """What a log has: results of a benchmark, else lines on memory; both are printed near its beginning or its end."""
    if _has_results(path, size):
        return FileName("record", "txt", "foreign")
    with path.open("rb") as file:
        head = file.read(_STARTING_BYTES)
        file.seek(max(size - LOG_BYTES, 0))
        return log_name(path.name) if is_memory_log(head) or is_memory_log(file.read(LOG_BYTES)) else None


_STARTING_BYTES = 512 * 1024
"""Within so much of its log a server says how its memory is divided, below the weights that it loads."""
_ACROSS = 256
"""Bytes that are looked at twice, so that a line across the border of two looks is seen."""


def _has_results(path: Path, size: int) -> bool:
    """Whether a benchmark printed its results at the beginning or the end of a log."""
    with path.open("rb") as file:
        head = file.read(LOG_BYTES)
        if size > len(head):
            file.seek(max(size - LOG_BYTES, len(head) - _ACROSS))  # one may lie across the border
            return is_benchmark_log(head, file.read(LOG_BYTES))
        return is_benchmark_log(head, b"")


def _is_pickle(path: Path, *, explicit: bool) -> bool:
    """Whether a file is one; in a folder only one that is called so is looked at."""
    if not explicit and path.suffix.lower() not in pickles.ENDINGS:
        return False
    with path.open("rb") as file:
        return pickles.is_pickle(file.read(pickles.HEAD_BYTES))


def _of_tuner(path: Path, head: str) -> FileName | None:
    """What a tuner declares a file to be; None for what is nobody's."""
    kind = kind_of_tuner_file(path.name, head)
    return FileName(kind.kind, kind.form, TUNER) if kind is not None else None


def _by_words(text: str, path: Path) -> FileName | None:
    """Distinguish an AOE result, a gradient bank, a snapshot of memory and records."""
    if '"basic"' in text and '"tuning_name"' in text:  # however it begins: a damaged one may lack its first bracket
        return FileName("sgat" if '"SGAT"' in text else "opat", "json", "aoe")
    if not text.startswith(("[", "{")):
        return None
    if '"modelhash"' in text and '"gradientSize"' in text:
        return FileName("gdat", "json", "aoe")
    if is_snapshot(text, mark='"'):
        return snapshot_name(path.name, "json")
    is_record = (_RECORD.search(text) or begins_as_benchmark(text)) and not _OUTPUT.match(text)
    return FileName("record", "json", "foreign") if is_record else None
