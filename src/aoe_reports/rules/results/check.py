"""Tries all rules on AOE results: on one task, on a file that was read, on the text of a file."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from aoe_reports.formats.aoe.result_files import MAX_RESULT_BYTES, ResultFile, kind_of, parse_floats, parse_results
from aoe_reports.formats.aoe.results import (
    Kind,
    Outline,
    ReadTask,
    TaskFacts,
    TuningResult,
    outline_of,
    tasks_of_document,
)
from aoe_reports.formats.sources.found import FileName
from aoe_reports.model.documents import object_of
from aoe_reports.model.findings import Finding, is_below
from aoe_reports.model.rules import Rule
from aoe_reports.rules.found import Found, findings_of, with_places
from aoe_reports.rules.results import FILE_RULES, RULES
from aoe_reports.rules.results.document import Document, mistaken_keys, pointer_to
from aoe_reports.rules.results.task import Task, task_of_floats, task_of_result
from aoe_reports.rules.schema import SCHEMA, is_documented, schema_errors


def check_result(result: TuningResult, path: str = "") -> list[Finding]:
    """What the rules say of one tuning task; nothing of one that was cut off."""
    return [] if result.truncated else _check_task(task_of_result(result), path)


def check_result_file(file: ResultFile) -> list[Finding]:
    """Everything that is to be said about one result file, reading included, with line and column where there is one."""
    if not file.parsed:
        return list(file.findings)
    return with_places([*file.findings, *_check_read(file)], file.text)


def check_result_text(
    data: bytes, path: Path, name: FileName, max_bytes: int | None = None
) -> tuple[Outline | None, list[Finding]]:
    """(the outline, all findings) of a file's text: what `check_result_file` says of it.

    Times are read as floats, and the text is read again with every digit where a rule asks for it, or where floats could
    hide something.
    """
    exactly = _Exactly(path, name, data, max_bytes)
    kind = kind_of(name)
    content = _documented(data, kind, max_bytes)
    tasks = _tasks_of_floats(tasks_of_document(content, kind), exactly)
    if not tasks:
        file = exactly.file
        return outline_of(file.results), check_result_file(file)
    document = Document(kind, content, tasks, tasks, is_documented=True, read_exactly=lambda: exactly.file.document)
    return outline_of([task.facts for task in tasks]), with_places(_try_rules(document, str(path)), data)


def _documented(data: bytes, kind: Kind, max_bytes: int | None) -> Any:
    """The document of a text, times as floats, if no key stands twice and its schema names everything in it; else None."""
    if len(data) > (max_bytes or MAX_RESULT_BYTES):
        return None
    try:
        content = parse_floats(data)
    except ValueError:
        return None
    return content if is_documented(kind, content) else None


def _tasks_of_floats(read: Sequence[ReadTask], exactly: _Exactly) -> tuple[Task, ...]:
    """The tasks of a document, times as floats; none where these could hide something."""
    if not all(map(_is_exact_beside_times, read)):
        return ()
    try:
        return tuple([task_of_floats(task, exactly.result(i)) for i, task in enumerate(read)])
    except OverflowError:  # a time is an integer that no float holds
        return ()


def _is_exact_beside_times(task: ReadTask) -> bool:
    """Whether counts are whole numbers, and the tuning time is not so small that the schema may have seen another."""
    tuned = task.basic.get("tuning_time(s)")
    counts = object_of(task.body.get("repo_summary")).values()
    return {int}.issuperset(map(type, counts)) and not (isinstance(tuned, float) and tuned < _SURELY_POSITIVE)


_SURELY_POSITIVE = 1e-300


class _Exactly:
    """A file read with every digit, when somebody asks for it first."""

    def __init__(self, path: Path, name: FileName, data: bytes, max_bytes: int | None) -> None:
        self._source = path, name, data, max_bytes

    @cached_property
    def file(self) -> ResultFile:
        """The file."""
        return parse_results(*self._source)

    def result(self, index: int) -> Callable[[], TuningResult]:
        """What gives one of its tasks."""
        return lambda: self.file.results[index]


def _check_read(file: ResultFile) -> list[Finding]:
    """What is to be said of a document that was read with every digit."""
    content, path = file.document, str(file.path)
    tasks = tuple(map(task_of_result, file.results))
    if is_documented(file.kind, content) and not file.truncated:
        return _try_rules(
            Document(file.kind, content, tasks, tasks, is_documented=True, read_exactly=lambda: content), path
        )
    mistaken = {(pointer_to(place[0] if place else None), expected) for place, _, expected in mistaken_keys(content)}
    of_task = _task_places(file.results)
    shapes = _shape_errors(file, mistaken)
    wrong = {of_task(place) for place, _ in mistaken} | {of_task(place) for place, _ in shapes}
    fitting = tuple(task for task in tasks if not task.facts.truncated and task.facts.pointer not in wrong)
    document = Document(file.kind, content, tasks, fitting, is_documented=False, read_exactly=lambda: content)
    return [*_try_rules(document, path), *_by_task(SCHEMA, path, shapes, of_task)]


def _try_rules(document: Document, path: str) -> list[Finding]:
    """What the rules say of a document and its tasks."""
    findings: list[Finding] = []
    of_file = [(checked.rule, one) for checked in FILE_RULES.values() for one in checked.check(document)]
    for rule, some in groupby(of_file, itemgetter(0)):
        found = [one for _, one in some]
        findings += _by_task(rule, path, found, _task_places([task.facts for task in document.tasks]))
    for task in document.fitting:
        findings += _check_task(task, path)
    return findings


def _check_task(task: Task, path: str) -> list[Finding]:
    found = [(checked.rule, one) for checked in RULES.values() for one in checked.check(task)]
    by_rule = [(rule, [one for _, one in some]) for rule, some in groupby(found, itemgetter(0))] if found else []
    return [finding for rule, some in by_rule for finding in findings_of(rule, path, some, task.facts.pointer)]


def _shape_errors(file: ResultFile, mistaken: Collection[tuple[str, str]]) -> list[tuple[str, str]]:
    """(JSON Pointer, message) of what the schema says of a result file: nothing of a task that was cut off.

    `mistaken` are places and keys that are missing there because they stand there with another unit.
    """
    cut = [result.pointer for result in file.results if result.truncated]
    excused = {(at, f'"{key}" is a required property') for at, key in mistaken}
    return [
        (at, message)
        for at, message in schema_errors(file.kind, file.document)
        if not any(is_below(at, place) for place in cut) and (at, message) not in excused
    ]


def _task_places(tasks: Sequence[TaskFacts]) -> Callable[[str], str]:
    """What tells the place of the task in which a place is; of what is in no task, the document's."""
    places = {task.pointer for task in tasks}

    def of_task(place: str) -> str:
        task = place[: place.find("/", 1)] if place.count("/") > 1 else place
        return task if task in places else ""

    return of_task


def _by_task(rule: Rule, path: str, found: Found, of_task: Callable[[str], str]) -> list[Finding]:
    """Findings of one rule on a file: what is counted in one line is counted for each task alone."""
    by_task: dict[str, list[tuple[str | None, str]]] = {}
    for at, text in found:
        by_task.setdefault(of_task(at or ""), []).append((at, text))
    return [finding for task, mine in by_task.items() for finding in findings_of(rule, path, mine, task)]
