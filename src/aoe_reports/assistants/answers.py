"""What each tool answers, in the process of one call."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import msgspec

from aoe_reports.assistants.calls import MAX_NOTES, Access, Ask, Call, Incident, Runs, Sql, Tables
from aoe_reports.assistants.documents import MAX_ROWS, Document, RefusedError, Table, neutral, plain_table
from aoe_reports.engine.ask import ask
from aoe_reports.engine.question import Answer, Question, Stream
from aoe_reports.engine.rules import NOTHING_MEASURED
from aoe_reports.engine.runs import find_runs, label_of
from aoe_reports.engine.tables.sql import SqlOptions, list_sql_tables, query_captures, rows_of
from aoe_reports.formats.sources.discovery import discover
from aoe_reports.model.documents import JsonObject
from aoe_reports.model.findings import SEVERITIES, Finding
from aoe_reports.model.options import Declared, check_options, declared
from aoe_reports.model.rows import Rows, fields_of
from aoe_reports.schema.tables import TABLES

_MAX_COLUMNS = 100
_EFFECTS = (
    "lost_us", "bound_us", "gain_us", "saving_us", "difference_us", "exposed_us", "waited_us", "time_us", "elapsed_us",
    "elapsed_worst_us", "duration_us", "end_to_end_us", "total_us", "transit_us", "step_us",
)  # fmt: skip
"""Keys of columns that say how large an effect is: the rows of a table are ordered by the first of them that it has, whatever its sign."""


def answer(call: Call, access: Access) -> Document:
    """The answer to a call. Raises RefusedError or AoeReportsError."""
    return _ANSWERS[type(call)](call, access)


def _runs(call: Runs, access: Access) -> Document:
    if call.path:
        return _runs_below(access.places.checked(call.path))
    tables = [plain_table("roots", [{"path": root} for root in access.places.roots])]
    if access.store is not None:
        from aoe_reports.assistants.stored import stored_runs  # noqa: PLC0415 -- polars

        tables.append(plain_table("stored_runs", stored_runs(access.store)))
    counts = ", ".join(f"{table.key}: {table.total:,}" for table in tables)
    return Document("runs", f"{counts}; with `path` what lies there", tables)


def _runs_below(path: Path) -> Document:
    """The captures below a path, and the files that belong to none."""
    discovered = discover([path])
    captures: list[JsonObject] = []
    others = {file.path: file.name.kind for file in discovered.files}
    for run in find_runs(discovered):
        for capture in run:
            for file in (*capture.files, *capture.superseded):
                others.pop(file.path, None)
            info = {"rank_id": capture.info.rank_id, "profiler": capture.profiler, "chip": capture.info.device_type}
            captures.append({"run": label_of(run), "path": str(capture.root), **info})
    runs = len({str(one["run"]) for one in captures})
    files = [{"path": str(path), "kind": kind} for path, kind in others.items()]
    return Document(
        "runs",
        f"{runs:,} runs in {len(captures):,} captures, and {len(files):,} other files below {neutral(str(path))}",
        [plain_table("captures", captures), plain_table("others", files), findings_table(discovered.findings)],
    )


def findings_table(findings: Sequence[Finding]) -> Table:
    """Findings with their files and lines, the gravest first."""
    ordered = sorted(findings, key=lambda one: SEVERITIES.index(one.severity))
    return plain_table("findings", [one.as_dict() for one in ordered[:MAX_ROWS]], len(findings))


def _ask(call: Ask, access: Access) -> Document:
    question = access.questions.get(call.question)
    if question is None:
        raise RefusedError(f"no question {neutral(call.question)!r}; there are {', '.join(access.questions)}")
    if not call.paths:
        return _described(question)
    least = len(question.arguments)
    if len(call.paths) < least or (
        len(call.paths) > least and not any(argument.many for argument in question.arguments)
    ):
        names = ", ".join(argument.name for argument in question.arguments)
        raise RefusedError(f"{question.name} takes {least} paths: {names}")
    options = _options_of(question, call.options, access)
    paths = [access.places.checked(path) for path in call.paths]
    answered = ask(question, paths, replace(options, jobs=1))
    tables = [
        *(plain_table(table.key, largest_first(table)) for table in answered.tables),
        findings_table(answered.findings),
    ]
    if call.table and call.table not in (keys := [table.key for table in tables]):
        raise RefusedError(f"no table {neutral(call.table)!r}; this answer has {', '.join(keys)}")
    errors = [finding for finding in answered.findings if finding.severity == "error"]
    is_absent = bool(errors) and all(finding.rule == NOTHING_MEASURED.name for finding in errors)
    return Document(
        question.name,
        neutral(_headline_of(answered, errors)),
        [table for table in tables if call.table in {"", table.key}],
        [neutral(str(finding.as_text()), 200) for finding in errors[:MAX_NOTES]],
        [NOTHING_MEASURED.name] if is_absent else answered.reasons(),
    )


def _headline_of(answered: Answer, errors: Sequence[Finding]) -> str:
    """The answer in a sentence; where there is no answer, why."""
    why = [str(error.message) for error in errors[:1]]
    return answered.headline or answered.verdict or ": ".join([answered.title, *why])


def largest_first(table: Rows[Any]) -> Sequence[Any]:
    """The rows of all runs and ranks by their effect, where a column of the table says how large it is."""
    names = {field.key: field.name for field in fields_of(table.type)}
    for key in _EFFECTS:
        sizes = [getattr(row, names[key]) for row in table.rows] if key in names else []
        if any(size is not None for size in sizes):
            order = sorted(range(len(sizes)), key=[(size is None, -abs(size or 0)) for size in sizes].__getitem__)
            return [table.rows[number] for number in order]
    return table.rows


def _offered(question: Question[Any, Any]) -> dict[str, Declared]:
    """The options that change the answer: none that writes, waits, starts processes or lifts a limit."""
    return {
        one.key: one
        for one in declared(question.options)
        if one.option.scope == "question"
        and one.option.cli
        and not one.option.only_here
        and not one.option.protects
        and one.option.names in {None, "nothing", "input"}
    }


def _options_of(question: Question[Any, Any], given: Mapping[str, Any], access: Access) -> Any:
    """The options of a question with the given values. Raises RefusedError or UsageError."""
    known = _offered(question)
    values: dict[str, Any] = {}
    for key, value in given.items():
        one = known.get(key.replace("_", "-"))
        if one is None:
            names = ", ".join(known) or "none"
            raise RefusedError(f"{question.name} has no option {neutral(key)!r}; its options: {names}")
        kind = Literal[one.choices] if one.choices else str if one.type is Path else one.type
        try:
            converted = msgspec.convert(value, kind)
        except msgspec.ValidationError as error:
            raise RefusedError(f"{question.name}: {key} takes {_takes(one)}: {neutral(str(error))}") from error
        values[one.name] = access.places.checked(converted) if one.type is Path else converted
    if question.name == "check":
        from aoe_reports.jobs.rules import list_rules  # noqa: PLC0415 -- rules are declared all over the package

        rules = {rule.rule for rule in list_rules()}
        for name in [name for key in ("select", "ignore") for name in values.get(key, ()) if name not in rules]:
            raise RefusedError(f"no rule {neutral(name)!r}; findings name theirs")
    options = question.options(**values)
    check_options(options)
    return options


def _takes(one: Declared) -> str:
    return " | ".join(one.choices) or ("list of str" if one.many else one.type.__name__)


def _described(question: Question[Any, Any]) -> Document:
    """The options and tables of a question."""
    options = [
        {"option": key, "takes": _takes(one), "default": one.default, "meaning": one.option.help}
        for key, one in _offered(question).items()
    ]
    columns = [
        {"table": key, "columns": ", ".join(one.key for one in fields_of(kind))} for key, kind in question.tables
    ]
    headline = inspect.getdoc(question) or question.title
    return Document("ask", headline, [plain_table("options", options), plain_table("tables", columns)])


def _tables(call: Tables, access: Access) -> Document:
    columns = list_sql_tables(call.name or None).rows_of()
    if not call.name and access.store is None:
        columns = replace(columns, rows=[row for row in columns.rows if row.name in TABLES])
    headline = (
        f"{len(columns.rows)} columns" if call.name else f"{len(columns.rows)} tables; `name` lists columns of one"
    )
    return Document("tables", headline, [plain_table(columns.key, columns.rows)])


def _sql(call: Sql, access: Access) -> Document:
    with _queried(call, access) as stream:
        if stream.schema is not None and len(stream.schema) > _MAX_COLUMNS:
            raise RefusedError(f"this query has {len(stream.schema):,} columns; at most {_MAX_COLUMNS} are answered")
        rows = (row for batch in stream.batches for row in rows_of(batch))
        first = [{neutral(name, 60): value for name, value in row.items()} for row in islice(rows, MAX_ROWS)]
        count = len(first) + sum(1 for _ in rows)
        tables = [plain_table("rows", first, count), findings_table(stream.notes.findings)]
    return Document("sql", f"{count:,} rows", tables)


def _queried(call: Sql, access: Access) -> AbstractContextManager[Stream]:
    if call.path:
        return query_captures(access.places.checked(call.path), call.query, SqlOptions())
    if access.store is None:
        raise RefusedError("sql needs path: there is no store")
    from aoe_reports.history.database import query_store  # noqa: PLC0415 -- deltalake

    return query_store(access.store, call.query, SqlOptions())


def _incident(call: Incident, access: Access) -> Document:
    from aoe_reports.assistants.stored import incident_of, incidents_of  # noqa: PLC0415 -- polars

    assert access.store is not None
    return incident_of(call.id, access.store) if call.id else incidents_of(access.store)


_ANSWERS: Mapping[type[Call], Callable[[Any, Access], Document]] = {
    Runs: _runs,
    Ask: _ask,
    Tables: _tables,
    Sql: _sql,
    Incident: _incident,
}
