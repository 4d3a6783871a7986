"""Tries all rules on AOE results: on one task, or on a file that was read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from aoe_reports.formats.aoe.result_files import ResultFile
from aoe_reports.formats.aoe.results import TuningResult
from aoe_reports.model.findings import Finding, is_below
from aoe_reports.model.rules import Rule
from aoe_reports.rules.found import Found, findings_of, with_places
from aoe_reports.rules.results import FILE_RULES, RULES
from aoe_reports.rules.results.document import Document, mistaken_keys
from aoe_reports.rules.schema import SCHEMA, is_documented, schema_errors


def check_result(result: TuningResult, path: str = "") -> list[Finding]:
    """What the rules say of one tuning task; nothing of one that was cut off."""
    if result.truncated:
        return []
    found = [(checked.rule, checked.check(result)) for checked in RULES.values()]
    return [finding for rule, faults in found for finding in findings_of(rule, path, faults, result.pointer)]


def check_result_file(file: ResultFile) -> list[Finding]:
    """Everything that is to be said about one result file, reading included, with line and column where there is one."""
    if not file.parsed:
        return list(file.findings)
    return with_places([*file.findings, *_check_read(file)], file.text)


def _check_read(file: ResultFile) -> list[Finding]:
    content, path, fitting, of_task = file.document, str(file.path), file.results, _task_places(file.results)
    shapes: list[tuple[str, str]] = []
    documented = is_documented(file.kind, content) and not file.truncated
    if not documented:
        mistaken = {(at.rpartition("/")[0], expected) for at, _, expected, _ in mistaken_keys(content)}
        shapes = _shape_errors(file, mistaken)
        wrong = {of_task(place) for place, _ in (*mistaken, *shapes)}
        fitting = tuple(task for task in fitting if not task.truncated and task.pointer not in wrong)
    document = Document(file.kind, content, file.results, fitting, documented)
    findings: list[Finding] = []
    for checked in FILE_RULES.values():
        findings += _by_task(checked.rule, path, checked.check(document), of_task)
    for task in fitting:
        findings += check_result(task, path)
    return [*findings, *_by_task(SCHEMA, path, shapes, of_task)]


def _shape_errors(file: ResultFile, mistaken: Collection[tuple[str, str]]) -> list[tuple[str, str]]:
    """(JSON Pointer, message) of schema errors outside of truncated tasks.

    `mistaken`: places and keys that are missing because they have another unit there.
    """
    cut = [result.pointer for result in file.results if result.truncated]
    excused = {(at, f'"{key}" is a required property') for at, key in mistaken}
    return [
        (at, message)
        for at, message in schema_errors(file.kind, file.document)
        if not any(is_below(at, place) for place in cut) and (at, message) not in excused
    ]


def _task_places(tasks: Sequence[TuningResult]) -> Callable[[str], str]:
    """A function that gives the place of the task around a place; of what is in no task, the document's."""
    places = {task.pointer for task in tasks}

    def of_task(place: str) -> str:
        task = place[: place.find("/", 1)] if place.count("/") > 1 else place
        return task if task in places else ""

    return of_task


def _by_task(rule: Rule, path: str, found: Found, of_task: Callable[[str], str]) -> list[Finding]:
    by_task: dict[str, list[tuple[str | None, str]]] = {}
    for at, text in found:
        by_task.setdefault(of_task(at or ""), []).append((at, text))
    return [finding for task, faults in by_task.items() for finding in findings_of(rule, path, faults, task)]
