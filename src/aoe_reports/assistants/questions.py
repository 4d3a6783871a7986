"""A question, asked for an assistant; and what may be asked, from the declarations of questions and rules."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from aoe_reports.assistants.arguments import chosen, kind_of, offered
from aoe_reports.assistants.documents import Document, Table, findings_table, plain_table, table_of
from aoe_reports.assistants.hints import hints_of
from aoe_reports.assistants.places import Places
from aoe_reports.assistants.refusal import RefusedError
from aoe_reports.assistants.words import neutral
from aoe_reports.engine.ask import ask
from aoe_reports.engine.question import Answer, Question
from aoe_reports.model.documents import JsonObject
from aoe_reports.model.errors import LeftOutWarning
from aoe_reports.model.rows import fields_of

Questions = Mapping[str, Question[Any, Any]]
MOST_PATHS = 20
MOST_NOTES = 3


def asked(
    question: Question[Any, Any], paths: Sequence[str], options: Mapping[str, Any], table: str | None, places: Places
) -> Document:
    """The answer to a question. Raises RefusedError."""
    if not 1 <= len(paths) <= MOST_PATHS:
        raise RefusedError(f"{question.name} is asked of 1 to {MOST_PATHS} paths")
    one_each = [one for one in question.arguments if not one.many]
    if len(paths) < len(question.arguments) or (one_each == list(question.arguments) and len(paths) != len(one_each)):
        names = ", ".join(one.name for one in question.arguments)
        raise RefusedError(f"{question.name} is asked of {len(question.arguments)} paths: {names}")
    found = [places.checked(path) for path in paths]
    told = chosen(question.options, options, places, of=question.name)
    if question.name == "check":
        _check_rules([*told.select, *told.ignore])
    with warnings.catch_warnings(record=True) as left_out:
        warnings.simplefilter("always", LeftOutWarning)
        answer = ask(question, found, replace(told, jobs=1))
    document = document_of(answer)
    document = replace(document, notes=(*document.notes, *told_warnings(left_out))[:MOST_NOTES])
    document = replace(document, hints=hints_of(question.name, [str(path) for path in found], options, document))
    return document if table is None else replace(document, tables=_only(document.tables, table))


def document_of(answer: Answer) -> Document:
    """An answer with its findings, which have files and lines."""
    gravest = [one for one in answer.findings if one.severity == "error"]
    return Document(
        answers=answer.command,
        headline=neutral(answer.headline or answer.verdict or answer.title, 300),
        tables=(*map(table_of, answer.tables), findings_table(answer.findings)),
        notes=tuple(neutral(str(one.as_text()), 200) for one in gravest[:MOST_NOTES]),
        more={"reasons": list(answer.reasons()), "unreadable": answer.unreadable or None},
    )


def told_warnings(caught: Sequence[warnings.WarningMessage]) -> list[str]:
    """What readers of the store leave out, in their words."""
    return [neutral(str(one.message), 200) for one in caught if issubclass(one.category, LeftOutWarning)]


def _only(tables: Sequence[Table], key: str) -> tuple[Table, ...]:
    found = tuple(one for one in tables if one.key == key)
    if not found:
        raise RefusedError(f"no table {neutral(key, 60)!r}; this answer has {', '.join(one.key for one in tables)}")
    return found


def _check_rules(names: Sequence[str]) -> None:
    from aoe_reports.jobs.rules import list_rules  # noqa: PLC0415 -- they are declared all over the package

    known = {one.rule for one in list_rules()} if names else set()
    for name in names:
        if name not in known:
            raise RefusedError(f"no rule {neutral(name, 60)!r}; the tool `describe` without a name lists them")


def described(questions: Questions, name: str | None) -> Document:
    """The options and tables of a question, a rule, or the list of both."""
    from aoe_reports.jobs.rules import list_rules  # noqa: PLC0415

    rules = list_rules()
    if name is not None and name in questions:
        return _question(questions[name])
    if name is not None:
        one = next((one for one in rules if one.rule == name), None)
        if one is None:
            raise RefusedError(
                f"neither a question nor a rule is called {neutral(name, 60)!r}; `describe` without a name lists them"
            )
        rows: list[JsonObject] = [
            {"rule": one.rule, "severity": one.severity, "on": one.on, "reason": one.reason, "source": one.source}
        ]
        return Document(
            answers="describe", headline=f"{one.rule}: {one.reason}", tables=(plain_table("rules", rows, 1),)
        )
    listed: list[JsonObject] = [{"question": key, "answers": first_sentence(one)} for key, one in questions.items()]
    named: list[JsonObject] = [{"rule": one.rule, "severity": one.severity, "on": one.on} for one in rules]
    return Document(
        answers="describe",
        headline=f"{len(listed)} questions, {len(named)} rules",
        tables=(plain_table("questions", listed, len(listed)), plain_table("rules", named, len(named))),
    )


def _question(question: Question[Any, Any]) -> Document:
    options: list[JsonObject] = [
        {
            "option": key,
            "takes": kind_of(one),
            "default": None if one.default is None else str(one.default),
            "says": one.option.help,
        }
        for key, one in offered(question.options).items()
    ]
    columns: list[JsonObject] = [
        {"table": key, "columns": ", ".join(one.key for one in fields_of(kind))} for key, kind in question.tables
    ]
    paths: list[JsonObject] = [{"path": one.name, "says": one.help, "many": one.many} for one in question.arguments]
    return Document(
        answers="describe",
        headline=inspect.getdoc(question) or question.title,
        tables=(
            plain_table("options", options, len(options)),
            plain_table("paths", paths, len(paths)),
            plain_table("tables", columns, len(columns)),
        ),
    )


def first_sentence(question: Question[Any, Any]) -> str:
    """What a question answers, in one sentence."""
    return (inspect.getdoc(question) or question.title).split(". ")[0].split(": ")[0].rstrip(".")
