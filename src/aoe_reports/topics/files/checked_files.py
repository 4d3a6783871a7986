"""How `check` reads one file of each kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from aoe_reports.formats.aoe.bank_file import read_bank
from aoe_reports.formats.aoe.operator_bank_file import read_operator_bank
from aoe_reports.formats.aoe.result_files import parse_results, read_bytes
from aoe_reports.formats.aoe.results import Outline, outline_of
from aoe_reports.formats.ascend.names import AOE_KINDS, INFO_KINDS, RESULT_KINDS
from aoe_reports.formats.memory_files import recordings_of, statements_of
from aoe_reports.formats.memory_files.names import MEMORY_KINDS
from aoe_reports.formats.mindspore.names import UNREAD_KINDS
from aoe_reports.formats.rules import EMPTY_FILE
from aoe_reports.formats.sources.found import FoundFile
from aoe_reports.formats.sources.identify import unreadable_file
from aoe_reports.formats.tuner_files import tuner_file_kind
from aoe_reports.model.findings import Finding
from aoe_reports.model.rows import row_from
from aoe_reports.model.texts import say
from aoe_reports.rules.gradient_bank import check_bank_file
from aoe_reports.rules.operator_bank import check_operator_bank
from aoe_reports.rules.records import check_records_file
from aoe_reports.rules.results.check import check_result_file, check_result_text
from aoe_reports.topics.files.check import CheckedFile, CheckOptions, OneFile, Summarise

_Check = Callable[[FoundFile, CheckOptions, Summarise | None], OneFile]


def check_file(file: FoundFile, chosen: CheckOptions, summarise: Summarise | None) -> OneFile:
    """What one file hands on. Raises ReadError or OSError where it cannot be read."""
    check = checker_of(file)
    assert check is not None, file.name.kind
    return check(file, chosen, summarise)


def not_checked(file: FoundFile, error: Exception) -> OneFile:
    """What a file hands on that cannot be read."""
    return _one(file, [unreadable_file(file.path, error)])


def checker_of(file: FoundFile) -> _Check | None:
    """What checks a file; None where none does."""
    if file.name.kind in AOE_KINDS:
        return _result if file.name.kind in RESULT_KINDS else _bank if file.name.kind == "gdat" else _operator_bank
    if file.name.source == "tuner":
        return _tuner_file
    if file.name.kind in _OF_THEIR_OWN:
        return _OF_THEIR_OWN[file.name.kind]
    if file.name.kind in INFO_KINDS or file.name.kind in UNREAD_KINDS:
        return None  # read, and complained of, with its capture; or not read, which is said of its folder
    return _empty if file.size == 0 and file.name.form != "csv" else _tables


def _result(file: FoundFile, chosen: CheckOptions, summarise: Summarise | None) -> OneFile:
    """An AOE result."""
    data = read_bytes(file.path, chosen.max_size)
    if summarise is None:
        outline, findings = check_result_text(data, file.path, file.name, chosen.max_size)
        return _of_outline(file, outline, findings)
    read = parse_results(file.path, file.name, data, chosen.max_size)
    findings = check_result_file(read)
    details = [summarise(str(file.path), result, findings) for result in read.results]
    return replace(_of_outline(file, outline_of(read.results), findings), details=details)


def _of_outline(file: FoundFile, outline: Outline | None, findings: Sequence[Finding]) -> OneFile:
    if outline is None:
        return _one(file, findings)
    what = {"path": str(file.path), "kind": file.name.kind, "verdict": "pass", "tasks": len(outline.statuses)}
    return OneFile(row=row_from(CheckedFile, outline, **what), findings=findings)


def _bank(file: FoundFile, chosen: CheckOptions, _: Summarise | None) -> OneFile:
    """A gradient bank of AOE."""
    read = read_bank(file.path, file.name, max_bytes=chosen.max_size)
    return _one(file, check_bank_file(read), summary=read.bank.summary() if read.parsed else None)


def _operator_bank(file: FoundFile, chosen: CheckOptions, _: Summarise | None) -> OneFile:
    """A bank of operators."""
    return _one(file, check_operator_bank(read_operator_bank(file.path, max_bytes=chosen.max_size)))


def _tuner_file(file: FoundFile, chosen: CheckOptions, _: Summarise | None) -> OneFile:
    """A file of another tuner than AOE."""
    read = tuner_file_kind(file.name.kind).read(file.path, chosen.max_size)
    return _one(file, read.findings, tasks=read.tasks, tuning_names=read.names, summary=read.summary)


def _recordings(file: FoundFile, _: CheckOptions, __: Summarise | None) -> OneFile:
    """A recording of memory, or a log with lines on it."""
    statements_of(file)
    return _one(file, [finding for recording in recordings_of(file) for finding in recording.findings])


def _records(file: FoundFile, chosen: CheckOptions, _: Summarise | None) -> OneFile:
    """A file of v0.1 records."""
    return _one(file, check_records_file(file.path, chosen.max_size))


_OF_THEIR_OWN: Mapping[str, _Check] = {"record": _records, **dict.fromkeys(MEMORY_KINDS, _recordings)}
"""What checks the kinds that are neither tables of a profiler nor of a tuner."""


def _tables(file: FoundFile, _: CheckOptions, __: Summarise | None) -> OneFile:
    """Every table that a file holds, and the events of a timeline, with the tasks that they are."""
    from aoe_reports.engine.captures import read_file

    found = dict.fromkeys(finding for kind in file.holds for finding in read_file(file, kind).findings)
    if file.name.timeline:
        from aoe_reports.engine.timelines import read_table_of_timeline
        from aoe_reports.rules.tables.check import check_table

        tasks = read_table_of_timeline(file, "task_time", _OF_STREAMS, hashed=False)
        found |= dict.fromkeys(check_table(tasks, complete=False).findings)
    return _one(file, list(found))


_OF_STREAMS = frozenset({"op_name", "task_type", "stream_id", "device_id", "task_start_ns", "task_duration_ns"})
"""What the rules on tasks of a stream take."""


def _empty(file: FoundFile, _: CheckOptions, __: Summarise | None) -> OneFile:
    return _one(file, [EMPTY_FILE.found(str(file.path), say("the file is empty"))])


def _one(file: FoundFile, findings: Sequence[Finding], **known: Any) -> OneFile:
    """What a file hands on, null what is not known of it."""
    row = CheckedFile(path=str(file.path), kind=file.name.kind, verdict="pass", **known)
    return OneFile(row=row, findings=findings)
