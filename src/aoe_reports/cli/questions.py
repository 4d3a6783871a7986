"""Commands that are made of questions: arguments, options and help are what the question declares."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from aoe_reports.cli.output import MOST_ROWS, AnnotatedFormat, Format, MostRows, Output, reply
from aoe_reports.cli.progress import progress_line
from aoe_reports.engine.question import Argument, Question
from aoe_reports.model.options import Option, declared
from aoe_reports.present.forms import ANNOTATED_FORMS


def command_of(question: Question[Any, Any]) -> Callable[..., None]:
    """The command that asks a question."""

    def command(
        ctx: typer.Context, form: Format, output: Path | None, chosen: Any, *, rows: int, **arguments: Any
    ) -> None:
        from aoe_reports.engine.ask import ask

        paths = [path for one in question.arguments for path in _listed(arguments[one.name])]
        with progress_line() as progress:
            answer = ask(question, paths, replace(chosen, **_configured(ctx, question)), progress=progress)
        reply(answer, form, output, strict=chosen.strict, forms=ANNOTATED_FORMS, most=rows)

    option = Option(help=question.form_help, flags=("--format",))
    form = Annotated[AnnotatedFormat, option] if question.has_highlights else Annotated[Format, option]
    parameters = [
        _parameter("ctx", typer.Context),
        *(_argument(one) for one in question.arguments),
        _parameter("chosen", question.options),
        _parameter("form", form, "text"),
        _parameter("output", Output, None),
        _parameter("rows", MostRows, MOST_ROWS),
    ]
    command.__name__ = question.name
    command.__doc__ = question.__doc__
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return command


def _configured(ctx: typer.Context, question: Question[Any, Any]) -> dict[str, Any]:
    """The options that stand in configuration files only."""
    from aoe_reports.cli.configuration_files import THRESHOLDS

    if not any(one.name == THRESHOLDS for one in declared(question.options)):
        return {}
    from aoe_reports.cli.configuration import thresholds_of

    found = thresholds_of(ctx)
    return {} if found is None else {THRESHOLDS: found}


def _listed(value: Path | list[Path]) -> list[Path]:
    return value if isinstance(value, list) else [value]


def _argument(one: Argument) -> inspect.Parameter:
    kind = list[Path] if one.many else Path
    return _parameter(one.name, Annotated[kind, typer.Argument(help=one.help, show_default=False)])


def _parameter(name: str, annotation: Any, default: Any = inspect.Parameter.empty) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
