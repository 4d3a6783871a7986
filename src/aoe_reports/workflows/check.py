"""Validates everything below some paths: AOE results against schema and rules, tables against their declarations."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from aoe_reports.errors import ReadError
from aoe_reports.findings import Finding, has, in_order
from aoe_reports.readers.discovery import discover
from aoe_reports.readers.identify import FoundFile
from aoe_reports.readers.names import INFO_KINDS
from aoe_reports.results import TuningResult
from aoe_reports.workflows.captures import find_runs, look_at, read_file
from aoe_reports.workflows.crosscheck import cross_check
from aoe_reports.workflows.load import check_tuning

Tell = Callable[[str, TuningResult, Sequence[Finding]], None]
"""Is told of a tuning task: the file's path, the task, everything that was found in the file."""


def check_paths(
    paths: Sequence[Path],
    select: Collection[str],
    ignore: Collection[str],
    max_expanded: int | None = None,
    tell: Tell | None = None,
) -> tuple[list[dict[str, Any]], list[Finding], bool]:
    """(one row a file, findings, whether something could not be read); `select` and `ignore` name rules.

    `tell` is told of every tuning task as its file is read, so that nothing of a file has to be kept.
    """

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
        check = _checker(file, tell)
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


def _checker(file: FoundFile, tell: Tell | None) -> Callable[[FoundFile], tuple[dict[str, Any], list[Finding]]] | None:
    if file.name.source == "aoe":
        return partial(_result, tell=tell)
    if file.name.kind in INFO_KINDS:
        return None  # read, and complained of, with its capture
    return _empty if file.size == 0 and file.name.form != "csv" else _tables


def _result(file: FoundFile, tell: Tell | None) -> tuple[dict[str, Any], list[Finding]]:
    read, findings = check_tuning(file)
    results: Sequence[TuningResult] = read.results
    if tell is not None:
        for result in results:
            tell(str(file.path), result, findings)
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


def _tables(file: FoundFile) -> tuple[dict[str, Any], list[Finding]]:
    """Every table that a file holds, and the events of a timeline."""
    found = dict.fromkeys(finding for kind in file.holds for finding in read_file(file, kind).findings)
    if file.name.timeline:
        found |= dict.fromkeys(look_at(file).findings)
    return _row(file, None), list(found)


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
