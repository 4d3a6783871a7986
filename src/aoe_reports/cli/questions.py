"""Commands that are made of questions: arguments, options and help are what the question declares."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aoe_reports.cli.command import guided
from aoe_reports.cli.output import (
    MAX_ROWS,
    AnnotatedFormat,
    DrawnFormat,
    Format,
    MostRows,
    Output,
    StackFormat,
    notify,
    path_argument,
    print_findings,
    reply,
)
from aoe_reports.cli.progress import progress_line
from aoe_reports.engine.question import Argument, CaptureOptions, Question, exit_code_of
from aoe_reports.model.errors import UsageError
from aoe_reports.model.findings import in_order
from aoe_reports.model.options import Option, declared
from aoe_reports.model.texts import say
from aoe_reports.present.forms import forms_of

if TYPE_CHECKING:
    from aoe_reports.engine.ask import Progress

_MANIFEST = Annotated[
    Path | None,
    Option(
        help="Write what is to be read to this file, for `fleet map` and `fleet reduce`, and read no capture.",
        only_here=say("where output is written"),
    ),
]


def command_of(question: Question[Any, Any]) -> Callable[..., None]:
    """The command that asks a question."""
    may_be_mapped = issubclass(question.options, CaptureOptions)

    def command(
        ctx: typer.Context, form: Format, output: Path | None, chosen: Any, *, rows: int, **arguments: Any
    ) -> None:
        from aoe_reports.engine.ask import ask
        from aoe_reports.engine.fleet.executors import executor_here

        paths = [path for argument in question.arguments for path in _listed(arguments[argument.name])]
        chosen = replace(chosen, **_configured(ctx, question))
        if form == "svg" and question.for_picture is not None:
            chosen = replace(chosen, **{question.for_picture: True})
        with progress_line() as progress:
            if may_be_mapped and arguments["manifest"] is not None:
                if output is not None:
                    raise UsageError(say("--manifest reads nothing: give --output to `fleet reduce`"))
                raise typer.Exit(_written_down(question, paths, chosen, arguments["manifest"], progress))
            answer = ask(question, paths, chosen, executor=executor_here(chosen), progress=progress)
        reply(answer, form, output, strict=chosen.strict, forms=forms_of("annotated", "stacks"), most=rows)

    option = Option(help=question.form_help, flags=("--format",))
    parameters = [
        _parameter("ctx", typer.Context),
        *(_argument(argument) for argument in question.arguments),
        _parameter("chosen", question.options),
        _parameter("form", _forms_of(question, option), "text"),
        _parameter("output", Output, None),
        _parameter("rows", MostRows, MAX_ROWS),
        *([_parameter("manifest", _MANIFEST, None)] if may_be_mapped else []),
    ]
    command.__name__ = question.name
    command.__doc__ = question.__doc__
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return guided(example=question.example, page=question.page)(command) if question.example else command


def _written_down(question: Question[Any, Any], paths: list[Path], chosen: Any, to: Path, progress: Progress) -> int:
    """Write the manifest, and say what was found on the way; the exit code, which is that of the answer where there is nothing to read."""
    from aoe_reports.engine.fleet.manifest import manifest_of, write_manifest

    manifest = manifest_of(question, paths, chosen, progress=progress)
    write_manifest(to, manifest)
    count, notes = len(manifest.asked.units), manifest.asked.notes
    notify(say("{path}: {count:,} captures to be read", path=to, count=count))
    print_findings(in_order(notes.findings))
    return 0 if count else exit_code_of(notes.findings, unreadable=notes.unreadable, strict=chosen.strict)


def _configured(ctx: typer.Context, question: Question[Any, Any]) -> dict[str, Any]:
    """The options that stand in configuration files only."""
    from aoe_reports.cli.configuration_files import THRESHOLDS

    if not any(one.name == THRESHOLDS for one in declared(question.options)):
        return {}
    from aoe_reports.cli.configuration import thresholds_of

    thresholds = thresholds_of(ctx)
    return {} if thresholds is None else {THRESHOLDS: thresholds}


def _forms_of(question: Question[Any, Any], option: Option) -> Any:
    """The option that says in which form an answer is shown."""
    if question.has_picture:
        return Annotated[StackFormat, option] if question.has_stacks else Annotated[DrawnFormat, option]
    return Annotated[AnnotatedFormat, option] if question.has_highlights else Annotated[Format, option]


def _listed(value: Path | list[Path] | None) -> list[Path]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _argument(argument: Argument) -> inspect.Parameter:
    kind = list[Path] if argument.many else Path
    annotation: Any = Annotated[kind, path_argument(argument.help)]
    if argument.needed:
        return _parameter(argument.name, annotation)
    return _parameter(argument.name, Annotated[kind | None, path_argument(argument.help)], None)


def _parameter(name: str, annotation: Any, default: Any = inspect.Parameter.empty) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
