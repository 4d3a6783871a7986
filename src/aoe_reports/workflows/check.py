"""Validates everything below some paths: AOE results against schema and rules, tables against their declarations."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

from aoe_reports.errors import ReadError
from aoe_reports.findings import Finding, has, in_order
from aoe_reports.readers.discovery import FoundFile, discover
from aoe_reports.results import TuningResult
from aoe_reports.workflows.captures import can_read, find_runs, read_file
from aoe_reports.workflows.load import check_tuning, cross_check


def check_paths(
    paths: Sequence[Path], select: Collection[str], ignore: Collection[str]
) -> tuple[list[dict[str, Any]], list[Finding], bool]:
    """(one row a file, findings, whether something could not be read); `select` and `ignore` name rules."""

    def wanted(finding: Finding) -> bool:
        return (not select or finding.rule in select) and finding.rule not in ignore

    discovery = discover(paths)
    findings = [*discovery.findings, *_not_read(discovery.files)]
    unreadable = discovery.unreadable
    cross = [finding for captures in find_runs(discovery) for capture in captures for finding in cross_check(capture)]
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
        said = [f for f in (*found, *(f for f in cross if f.path == str(file.path))) if wanted(f)]
        verdict = "fail" if has(said, "error") else "warn" if has(said, "warning") else "pass"
        rows.append({**row, "verdict": verdict})
        findings += found
    told = [f for f in (*findings, *cross) if wanted(f) or f.rule == "unreadable"]
    return rows, in_order(told), unreadable


def _not_read(files: Sequence[FoundFile]) -> list[Finding]:
    """A remark on each folder with files of known kinds that are not checked."""
    by_folder: dict[str, set[str]] = {}
    for file in files:
        if _checker(file) is None:
            by_folder.setdefault(str(file.path.parent), set()).add(f"{file.name.kind} ({file.name.form})")
    return [
        Finding("info", "not-read", folder, f"not read, so not checked: {', '.join(sorted(kinds))}")
        for folder, kinds in by_folder.items()
    ]


def _checker(file: FoundFile) -> Callable[[FoundFile], tuple[dict[str, Any], list[Finding]]] | None:
    if file.name.source == "aoe":
        return _result
    if can_read(file):
        return _table
    return _empty if file.size == 0 else None


def _result(file: FoundFile) -> tuple[dict[str, Any], list[Finding]]:
    read, findings = check_tuning(file)
    results: Sequence[TuningResult] = read.results
    row = _row(file, len(results) if results else None)
    if results:
        row |= {
            "container": results[0].container,
            "body": _one({result.body for result in results}),
            "vocabulary": _one({result.vocabulary for result in results}),
            "tuning_names": [result.tuning_name for result in results],
            "statuses": [result.status for result in results],
        }
    return row, findings


def _table(file: FoundFile) -> tuple[dict[str, Any], list[Finding]]:
    data = read_file(file)
    return _row(file, None), list(data.findings)


def _empty(file: FoundFile) -> tuple[dict[str, Any], list[Finding]]:
    return _row(file, None), [Finding("error", "empty-file", str(file.path), "the file is empty")]


def _one(values: set[Any]) -> Any:
    known = {value for value in values if value is not None}
    return "mixed" if len(known) > 1 else next(iter(known), None)


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
        "verdict": None,
    }
