"""Validates everything below some paths: AOE results against schema and rules, tables against their declarations."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from aoe_reports.engine.spool import Spool
from aoe_reports.formats.aoe.bank_file import read_bank
from aoe_reports.formats.aoe.result_files import parse_results, read_bytes
from aoe_reports.formats.aoe.results import Outline, TuningResult, outline_of
from aoe_reports.formats.ascend.names import AOE_KINDS, INFO_KINDS, UNREAD_KINDS
from aoe_reports.formats.discovery import Discovery, discover
from aoe_reports.formats.found import FoundFile
from aoe_reports.formats.identify import why
from aoe_reports.formats.tuner_files import tuner_file_kind
from aoe_reports.model.errors import ReadError
from aoe_reports.model.findings import Finding, has, in_order, place_of
from aoe_reports.model.rows import as_mapping
from aoe_reports.model.texts import join, say
from aoe_reports.rules.gradient_bank import check_bank_file
from aoe_reports.rules.records import check_records_file
from aoe_reports.rules.results.check import check_result_file, check_result_text

Row = dict[str, Any]


Tell = Callable[[str, TuningResult, Sequence[Finding]], None]
"""Is told of a tuning task: the file's path, the task, everything that was found in the file."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which rules are asked for, how much is read, and who is told of each tuning task as its file is read."""

    select: frozenset[str] = frozenset()
    ignore: frozenset[str] = frozenset()
    max_expanded: int | None = None
    max_size: int | None = None
    tell: Tell | None = None
    watched: bool = False
    """Whether AOE may still be writing: a result that ends before its document does is then no error."""

    def takes(self, finding: Finding) -> bool:
        """Whether a finding is asked for; that something cannot be read is always said."""
        if finding.rule == "unreadable":
            return True
        return (not self.select or finding.rule in self.select) and finding.rule not in self.ignore


@dataclass(slots=True)
class Outcome:
    """One row a file, all findings in order, and whether something could not be read."""

    rows: Spool[Row] = field(default_factory=lambda: Spool(dict, dict))
    findings: Spool[Finding] = field(default_factory=lambda: Spool(Finding.as_fields, Finding.from_fields))
    unreadable: bool = False


def check_paths(paths: Sequence[Path], wanted: Wanted | None = None) -> Outcome:
    """Check every file below some paths, file by file: however many they are, little of them is held."""
    wanted = wanted or Wanted()
    discovery = discover(paths, max_expanded=wanted.max_expanded)
    cross = _cross_checked(discovery)
    outcome = Outcome(unreadable=discovery.unreadable)
    rest = in_order(finding for finding in (*discovery.findings, *cross) if wanted.takes(finding))
    told = _check_files(discovery.files, _by_path(cross), wanted, outcome)
    last: Finding | None = None
    for finding in heapq.merge(told, rest, key=place_of):
        if finding != last:
            outcome.findings.append(finding)
        last = finding
    return outcome


def _check_files(
    files: Iterable[FoundFile], cross: dict[str, list[Finding]], wanted: Wanted, outcome: Outcome
) -> Iterator[Finding]:
    """Check file after file: its row into the outcome, its findings (in order) handed on."""
    for file in files:
        check = _checker(file)
        if check is None:
            continue
        try:
            row, found = check(file, wanted)
        except (ReadError, OSError) as error:
            outcome.unreadable = True
            message = join("; ", (error.what, error.expected)) if isinstance(error, ReadError) else why(error)
            row, found = _row(file, None), [Finding("error", "unreadable", str(file.path), message)]
        if wanted.watched and file.name.source == "aoe":
            found = [replace(f, severity="warning") if f.rule == "json-truncated" else f for f in found]
        told = in_order(finding for finding in found if wanted.takes(finding))
        said = [*told, *(finding for finding in cross.get(str(file.path), ()) if wanted.takes(finding))]
        row["verdict"] = "fail" if has(said, "error") else "warn" if has(said, "warning") else "pass"
        outcome.rows.append(row)
        yield from told


def _cross_checked(discovery: Discovery) -> list[Finding]:
    """What the forms of one run say of each other."""
    if not any(file.name.source not in {"aoe", "tuner", "foreign"} for file in discovery.files):
        return []
    from aoe_reports.engine.captures import find_runs
    from aoe_reports.questions.crosscheck import cross_check

    return [finding for captures in find_runs(discovery) for capture in captures for finding in cross_check(capture)]


def _by_path(findings: Iterable[Finding]) -> dict[str, list[Finding]]:
    by_path: dict[str, list[Finding]] = {}
    for finding in findings:
        by_path.setdefault(finding.path, []).append(finding)
    return by_path


_Check = Callable[[FoundFile, Wanted], tuple[Row, list[Finding]]]


def _checker(file: FoundFile) -> _Check | None:
    if file.name.kind in AOE_KINDS:
        return _bank if file.name.kind == "gdat" else _result
    if file.name.kind == "record":
        return _records
    if file.name.source == "tuner":
        return _tuner_file
    if file.name.kind in INFO_KINDS or file.name.kind in UNREAD_KINDS:
        return None  # read, and complained of, with its capture; or not read, which is said of its folder
    return _empty if file.size == 0 and file.name.form != "csv" else _tables


def _result(file: FoundFile, wanted: Wanted) -> tuple[Row, list[Finding]]:
    """An AOE result."""
    data = read_bytes(file.path, wanted.max_size)
    if wanted.tell is None:
        outline, findings = check_result_text(data, file.path, file.name, wanted.max_size)
        return _result_row(file, outline), findings
    read = parse_results(file.path, file.name, data, wanted.max_size)
    findings = check_result_file(read)
    for result in read.results:
        wanted.tell(str(file.path), result, findings)
    return _result_row(file, outline_of(read.results)), findings


def _result_row(file: FoundFile, outline: Outline | None) -> Row:
    if outline is None:
        return _row(file, None)
    return _row(file, len(outline.statuses)) | {
        "container": outline.container,
        "body": outline.body,
        "vocabulary": outline.vocabulary,
        "tuning_names": list(outline.tuning_names),
        "statuses": list(outline.statuses),
    }


def _bank(file: FoundFile, wanted: Wanted) -> tuple[Row, list[Finding]]:
    """A gradient bank of AOE."""
    read = read_bank(file.path, file.name, max_bytes=wanted.max_size)
    return _row(file, None) | {"summary": as_mapping(read.bank.summary()) if read.parsed else None}, check_bank_file(
        read
    )


def _tuner_file(file: FoundFile, wanted: Wanted) -> tuple[Row, list[Finding]]:
    """A file of another tuner than AOE."""
    read = tuner_file_kind(file.name.kind).read(file.path, wanted.max_size)
    return _row(file, read.tasks) | {"tuning_names": list(read.names), "summary": read.summary}, list(read.findings)


def _records(file: FoundFile, wanted: Wanted) -> tuple[Row, list[Finding]]:
    """A file of v0.1 records."""
    return _row(file, None), check_records_file(file.path, wanted.max_size)


def _tables(file: FoundFile, _: Wanted) -> tuple[Row, list[Finding]]:
    """Every table that a file holds, and the events of a timeline."""
    from aoe_reports.engine.captures import look_at, read_file

    found = dict.fromkeys(finding for kind in file.holds for finding in read_file(file, kind).findings)
    if file.name.timeline:
        found |= dict.fromkeys(look_at(file).findings)
    return _row(file, None), list(found)


def _empty(file: FoundFile, _: Wanted) -> tuple[Row, list[Finding]]:
    return _row(file, None), [Finding("error", "empty-file", str(file.path), say("the file is empty"))]


def _row(file: FoundFile, tasks: int | None) -> Row:
    return {
        "path": str(file.path),
        "kind": file.name.kind,
        "container": None,
        "body": None,
        "vocabulary": None,
        "tasks": tasks,
        "tuning_names": [],
        "statuses": [],
        "summary": None,
        "verdict": None,
    }
