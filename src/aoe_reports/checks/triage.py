"""Tells from floats alone that no rule has anything to find out in a result: only the others are looked at exactly.

Of thousands of files most are well, or failed in an orderly way. What is called clear here is so by a margin; what is not is no verdict, only a
reason to look closer. The rules themselves are in `results.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Any

from aoe_reports.checks.results import (
    CLEARLY_WITHIN,
    REPORT_KEY,
    RULES,
    check_broken_file,
    failed_text,
    unknown_types,
    with_places,
)
from aoe_reports.checks.schema import fits_schema
from aoe_reports.findings import Finding
from aoe_reports.operators import is_tunable
from aoe_reports.readers.names import FileName
from aoe_reports.readers.quick_json import NotPlainError, has_members, parse_floats, repeats_no_key
from aoe_reports.readers.results import ResultFile
from aoe_reports.results import (
    Body,
    Outline,
    Vocabulary,
    count_members,
    escape,
    outline_of,
    results_of_document,
    types_of,
)

_PARTS_MARGIN = 1.099
_LONGEST = 9e14
_SHORTEST = 2e-9
"""Times that are plausible by a margin: at the limits a float may be on the other side than its digits."""

_BASIC = {"tuning_name", "tuning_time(s)"}
_MODEL = ("model_baseline_performance(ms)", "model_result_performance(ms)", "model_performance_improvement")
_ENDS: tuple[tuple[str, str, str | None, Vocabulary], ...] = (
    ("opat_tuning_result", "tuning successful", None, "tuning"),
    ("opat_tuning_result", "tuning failed", "tuning_failed_operators", "tuning"),
    ("opat_tune_result", "tune success", None, "tune"),
    ("opat_tune_result", "tune failed", "tune_failed_operators", "tune"),
)
"""How a tuning of operators ends: the key of the status, the status, the key of the failed operators, whose words."""

_END_OF: dict[tuple[frozenset[str], str], tuple[str, str, str | None, Vocabulary]] = {
    (frozenset({end[0], "repo_modified_operators", "repo_summary", *model, *([end[2]] if end[2] else [])}), end[1]): end
    for end in _ENDS
    for model in ((), _MODEL)
}
"""The end that an OPAT segment tells of, by its keys and its status."""

_SGAT_KEYS = {*_MODEL, "repo_modified_subgraphs", "repo_summary"}
_counts = itemgetter(
    "repo_hit_num", "repo_reserved_num", "repo_update_num", "repo_add_num", "repo_unsatisfied_num", "total_num"
)
_in_ms = itemgetter("performance_before_tune(ms)", "performance_after_tune(ms)", "performance_improvement")
_in_us = itemgetter("performance_before_tune(us)", "performance_after_tune(us)", "performance_improvement")
_model = itemgetter(*_MODEL)
_op_name = itemgetter("op_name")
_op_type = itemgetter("op_type")
_repo_key = itemgetter("repo_key")

_KNOWN: dict[str, bool] = {}
"""Whether operator types that were looked up can be tuned."""

_MOST_REMEMBERED = 10_000

Times = tuple[float, float, str]
"""Time before, time after, claim."""


@dataclass(frozen=True, slots=True)
class Clear:
    """A document that fits its schema and of which only this is to be said."""

    outline: Outline
    said: tuple[tuple[str, str, str], ...]
    """(rule, JSON Pointer, message): tunings that failed in an orderly way, operator types that are in no list."""


def look(data: bytes, path: Path, name: FileName) -> tuple[Outline | None, list[Finding]] | None:
    """(the outline, all findings) of the text of a result; None if it has to be read and checked exactly."""
    try:
        document = parse_floats(data)
    except NotPlainError:
        return None
    if not fits_schema(name.kind, document):
        return _broken(document, data, path, name)
    found = clear(document, name.kind)
    if found is None or not has_members(data, count_members(document)):
        return None
    told = [Finding(RULES[rule].severity, rule, str(path), text, pointer=at) for rule, at, text in found.said]
    return found.outline, with_places(told, data)


def _broken(document: Any, data: bytes, path: Path, name: FileName) -> tuple[Outline | None, list[Finding]] | None:
    """What is to be said if no task has the right shape: only shapes are looked at then, for which floats will do."""
    if not repeats_no_key(data, document):
        return None
    results = tuple(results_of_document(document, name.kind, modified=False))  # type: ignore[arg-type]
    findings = check_broken_file(ResultFile(path, name, results, document, (), "", parsed=True, text=data))
    if findings is None or any(_FRACTION.search(finding.message) for finding in findings):
        return None  # a number is told with the digits that stand in the file
    return outline_of(results), findings


_FRACTION = re.compile(r"[0-9](?:[.eE]|[0-9]{15})")


def clear(document: Any, kind: str) -> Clear | None:
    """What is to be said of a parsed result that fits its schema; None if rules have to look at it."""
    is_array = isinstance(document, list)
    tasks = {"": document} if is_array else document
    names, statuses, said = [], [], []
    bodies: set[Body] = set()
    vocabularies: set[Vocabulary] = set()
    for key, segments in tasks.items():
        if not is_array and not REPORT_KEY.fullmatch(key):
            return None
        task = _clear_task(segments, kind)
        if task is None:
            return None
        names.append(task.name)
        statuses.append(task.status)
        bodies.add(task.body)
        if task.vocabulary is not None:
            vocabularies.add(task.vocabulary)
        if task.said:
            at = "" if is_array else f"/{escape(key)}"
            said += [(rule, f"{at}/1/OPAT/{place}", text) for rule, place, text in task.said]
    if len(vocabularies) > 1:
        return None
    body: Body = bodies.pop() if len(bodies) == 1 else "mixed"
    container = "array" if is_array else "report"
    words = vocabularies.pop() if vocabularies else None
    outline = Outline(container, body, words, tuple(names), tuple(statuses))  # type: ignore[arg-type]
    return Clear(outline, tuple(said))


@dataclass(slots=True)
class _Task:
    name: str
    status: str | None
    body: Body
    vocabulary: Vocabulary | None
    said: list[tuple[str, str, str]]
    """(rule, key in the segment, message)."""


def _clear_task(segments: Any, kind: str) -> _Task | None:
    """One task of two segments, `basic` and the one of its kind, which went well."""
    if list(map(len, segments)) != [1, 1]:
        return None
    basic, body = segments[0].get("basic"), segments[1].get(kind.upper())
    if basic is None or body is None or basic.keys() != _BASIC or not _is_time(basic["tuning_time(s)"]):
        return None
    name = basic["tuning_name"]
    return _clear_subgraphs(body, name) if kind == "sgat" else _clear_operators(body, name)


def _clear_subgraphs(body: dict[str, Any], tuning_name: str) -> _Task | None:
    parts = _grouped(body["repo_modified_subgraphs"], "subgraphs", 4) if body.keys() == _SGAT_KEYS else None
    if parts is None:
        return None
    keys = list(map(_repo_key, parts.entries))
    if not all(map(_is_key, keys)) or not _clear_body(body, keys, map(_in_ms, parts.entries), parts, 1):
        return None
    return _Task(tuning_name, None, "grouped", None, [])


def _clear_operators(body: dict[str, Any], tuning_name: str) -> _Task | None:
    status = body.get("opat_tuning_result") or body.get("opat_tune_result") or ""
    end, modified = _END_OF.get((frozenset(body), status)), body["repo_modified_operators"]
    if end is None:
        return None
    flat = modified.__class__ is list
    parts = _flat(modified) if flat else _grouped(modified, "operators", 5)
    if parts is None:
        return None
    names = list(map(_op_name, parts.entries))
    if not _clear_body(body, names, map(_in_us, parts.times), parts, 1000):
        return None
    status_key, _, failed_key, words = end
    said = []
    if failed_key is not None:
        failed = body[failed_key]
        if not failed or not set(names).isdisjoint(failed):
            return None
        said.append(("tuning-failed", status_key, failed_text(tuning_name, failed)))
    if (strange := _strange(map(_op_type, parts.entries))) is not None:
        said.append(("op-type-unknown", "repo_modified_operators", strange))
    return _Task(tuning_name, status, "flat" if flat else "grouped", words, said)


@dataclass(slots=True)
class _Parts:
    """The operators or subgraphs of a task, where the times of each stand, how many were added and updated."""

    entries: list[Any]
    times: list[Any]
    added: int
    updated: int


def _grouped(groups: dict[str, Any], what: str, keys: int) -> _Parts | None:
    added, updated = groups.get(f"add_repo_{what}"), groups.get(f"update_repo_{what}")
    if len(groups) != (added is not None) + (updated is not None):
        return None
    entries = (added or []) + (updated or [])
    if set(map(len, entries)) != {keys}:
        return None
    return _Parts(entries, entries, len(added or ()), len(updated or ()))


def _flat(entries: list[Any]) -> _Parts | None:
    every = []
    updates = {"add": 0, "update": 0}
    for entry in entries:
        modes = entry["tune_performance"]
        if len(entry) != 3 or len(modes) != 1:  # noqa: PLR2004 -- several modes of one operator are counted in two ways
            return None
        (times,) = modes.values()
        update = times["update_mode"]
        if len(times) != 4 or update not in updates:  # noqa: PLR2004
            return None
        updates[update] += 1
        every.append(times)
    return _Parts(entries, every, updates["add"], updates["update"])


def _clear_body(body: dict[str, Any], names: list[str], times: Iterable[Times], parts: _Parts, per_ms: int) -> bool:
    """Whether every sum, time and claim of a segment holds."""
    if len(set(names)) != len(names) or not _counted(body["repo_summary"], parts.added, parts.updated):
        return False
    saved = _saved(times)
    if saved is None:
        return False
    return "model_baseline_performance(ms)" not in body or _clear_model(body, saved / per_ms)


def _counted(summary: dict[str, Any], added: int, updated: int) -> bool:
    """Whether all sums hold, and something was improved."""
    counts = _counts(summary)
    hit, reserved, update, add, unsatisfied, total = counts
    return (
        len(summary) == 6  # noqa: PLR2004
        and set(map(type, counts)) == {int}  # of large floats the last digits are gone
        and add == added
        and update == updated
        and hit == reserved + update
        and total == hit + add + unsatisfied
        and add + update > 0
    )


def _saved(times: Iterable[Times]) -> float | None:
    """What all parts save together; None if one of them is not clear."""
    saved = 0.0
    for before, after, claim in times:
        if not _SHORTEST <= after < before <= _LONGEST:
            return None
        if not -CLEARLY_WITHIN < (before / after - 1) * 100 - float(claim[:-1]) < CLEARLY_WITHIN:
            return None
        saved += before - after
    return saved


def _clear_model(body: dict[str, Any], saved_ms: float) -> bool:
    baseline, result, claim = _model(body)
    whole = _saved([(baseline, result, claim)])
    return whole is not None and whole <= saved_ms * _PARTS_MARGIN and saved_ms <= whole * _PARTS_MARGIN


def _is_time(value: float) -> bool:
    return value == 0 or _SHORTEST <= value <= _LONGEST


def _is_key(key: str) -> bool:
    return key.isascii() and key.isdecimal() and len(key) <= 20 and int(key) < 2**64  # noqa: PLR2004


def _strange(op_types: Iterable[Any]) -> str | None:
    """What is to be said of operator types that are in no list."""
    every = list(op_types)
    names = {op_type for op_type in every if op_type.__class__ is str}
    if len(names) < len(every):
        names.update(name for op_type in every if op_type.__class__ is not str for name in op_type)
    strange: set[str] = set()
    for name in names:
        known = _KNOWN.get(name)
        if known is None:
            known = _look_up(name)
        if not known:
            strange.update(types_of(name))
    return unknown_types(strange) if strange else None  # only those of a list that are strange are named


def _look_up(name: str) -> bool:
    """Whether a type can be tuned, to be remembered; a list as text is no one type."""
    known = all(map(is_tunable, types_of(name)))
    if len(_KNOWN) < _MOST_REMEMBERED:
        _KNOWN[name] = known
    return known
