"""Validates everything below some paths: AOE results against schema and rules, tables against their declarations."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

from aoe_reports.checks.bank import check_bank_file
from aoe_reports.checks.results import RULES, check_result_file, with_places
from aoe_reports.checks.triage import triage
from aoe_reports.errors import ReadError
from aoe_reports.findings import Finding, has, in_order
from aoe_reports.readers.bank import read_bank
from aoe_reports.readers.discovery import discover
from aoe_reports.readers.identify import FoundFile
from aoe_reports.readers.names import INFO_KINDS
from aoe_reports.readers.results import parse_results, read_bytes
from aoe_reports.results import Outline, outline_of
from aoe_reports.workflows.captures import find_runs, look_at, read_file
from aoe_reports.workflows.crosscheck import cross_check


def check_paths(
    paths: Sequence[Path], select: Collection[str], ignore: Collection[str], max_expanded: int | None = None
) -> tuple[list[dict[str, Any]], list[Finding], bool]:
    """(one row a file, findings, whether something could not be read); `select` and `ignore` name rules."""

    def wanted(finding: Finding) -> bool:
        return (not select or finding.rule in select) and finding.rule not in ignore

    discovery = discover(paths, max_expanded=max_expanded)
    findings = list(discovery.findings)
    unreadable = discovery.unreadable
    cross = [finding for captures in find_runs(discovery) for capture in captures for finding in cross_check(capture)]
    by_path: dict[str, list[Finding]] = {}
    for finding in cross:
        by_path.setdefault(finding.path, []).append(finding)
    rows = []
    for file in discovery.files:
        check = _checker(file)
        if check is None:
            continue
        try:
            row, found = check(file)
        except (ReadError, OSError) as error:
            unreadable = True
            row, found = _row(file, None), [Finding("error", "unreadable", str(file.path), str(error))]
        said = [f for f in (*found, *by_path.get(str(file.path), ())) if wanted(f)]
        verdict = "fail" if has(said, "error") else "warn" if has(said, "warning") else "pass"
        rows.append({**row, "verdict": verdict})
        findings += found
    told = [f for f in (*findings, *cross) if wanted(f) or f.rule == "unreadable"]
    return rows, in_order(told), unreadable


def _checker(file: FoundFile) -> Callable[[FoundFile], tuple[dict[str, Any], list[Finding]]] | None:
    if file.name.source == "aoe":
        return _bank if file.name.kind == "gdat" else _result
    if file.name.kind in INFO_KINDS:
        return None  # read, and complained of, with its capture
    return _empty if file.size == 0 and file.name.form != "csv" else _tables


def _result(file: FoundFile) -> tuple[dict[str, Any], list[Finding]]:
    """An AOE result; of most one look tells that they are well."""
    data = read_bytes(file.path)
    clear = triage(data, file.name.kind)
    if clear is not None:
        path = str(file.path)
        said = [Finding(RULES[rule].severity, rule, path, text, pointer=at) for rule, at, text in clear.said]
        return _result_row(file, clear.outline), with_places(said, data)
    read = parse_results(file.path, file.name, data)
    return _result_row(file, outline_of(read.results)), check_result_file(read)


def _result_row(file: FoundFile, outline: Outline | None) -> dict[str, Any]:
    if outline is None:
        return _row(file, None)
    return _row(file, len(outline.statuses)) | {
        "container": outline.container,
        "body": outline.body,
        "vocabulary": outline.vocabulary,
        "tuning_names": list(outline.tuning_names),
        "statuses": list(outline.statuses),
    }


def _bank(file: FoundFile) -> tuple[dict[str, Any], list[Finding]]:
    """A gradient bank of AOE."""
    read = read_bank(file.path, file.name)
    return _row(file, None) | {"summary": read.bank.summary() if read.parsed else None}, check_bank_file(read)


def _tables(file: FoundFile) -> tuple[dict[str, Any], list[Finding]]:
    """Every table that a file holds, and the events of a timeline."""
    found = dict.fromkeys(finding for kind in file.holds for finding in read_file(file, kind).findings)
    if file.name.timeline:
        found |= dict.fromkeys(look_at(file).findings)
    return _row(file, None), list(found)


def _empty(file: FoundFile) -> tuple[dict[str, Any], list[Finding]]:
    return _row(file, None), [Finding("error", "empty-file", str(file.path), "the file is empty")]


def _row(file: FoundFile, tasks: int | None) -> dict[str, Any]:
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
