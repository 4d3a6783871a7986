"""Commands that are made of questions: arguments, options and help are what the question declares."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from aoe_reports.cli.output import Format, Output, reply, shown_option
from aoe_reports.engine.question import Argument, Question
from aoe_reports.model.options import Declared, chosen_of, declared


def command_of(question: Question[Any, Any]) -> Callable[..., None]:
    """The command that asks a question."""

    def command(ctx: typer.Context, **values: Any) -> None:
        from aoe_reports.engine.ask import ask

        form, output = values.pop("form"), values.pop("output")
        paths = [path for one in question.arguments for path in _listed(values.pop(one.name))]
        chosen = chosen_of(question.options, {**values, **_configured(ctx, question)})
        answer = ask(question, paths, chosen)
        reply(answer, form, output, strict=chosen.strict)

    parameters = _parameters(question)
    command.__name__ = question.name
    command.__doc__ = question.__doc__
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {one.name: one.annotation for one in parameters}
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


def _parameters(question: Question[Any, Any]) -> list[inspect.Parameter]:
    chosen = [one for one in declared(question.options) if one.option.cli]
    form = Annotated[Format, typer.Option("--format", help=question.form_help)]
    return [
        _parameter("ctx", typer.Context),
        *(_argument(one) for one in question.arguments),
        *(_option(one) for one in chosen if one.option.scope != "run"),
        _parameter("form", form, "text"),
        _parameter("output", Output, None),
        *(_option(one) for one in chosen if one.option.scope == "run"),
    ]


def _argument(one: Argument) -> inspect.Parameter:
    kind = list[Path] if one.many else Path
    return _parameter(one.name, Annotated[kind, typer.Argument(help=one.help, show_default=False)])


def _option(one: Declared) -> inspect.Parameter:
    return _parameter(one.name, Annotated[one.annotation, shown_option(one)], one.default)


def _parameter(name: str, annotation: Any, default: Any = inspect.Parameter.empty) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
