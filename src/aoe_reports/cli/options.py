"""Options of commands: a parameter whose type is a class of options stands for each of its options.

What only one command has, or has no meaning below the command line, is a parameter that is annotated with its `Option`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import MISSING
from types import GenericAlias
from typing import Annotated, Any, get_args, get_origin

import typer

from aoe_reports.cli.completion import completer
from aoe_reports.model.classes import is_record, without_none
from aoe_reports.model.options import Declared, Option, chosen_of, declared

_DECLARED = "__declared__"


def with_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The command with each option of its classes of options; what all commands have stands last."""
    signature = inspect.signature(command, eval_str=True)
    classes = {
        parameter.name: parameter.annotation
        for parameter in signature.parameters.values()
        if _has_options(parameter.annotation)
    }
    found = {each.name: each for kind in classes.values() for each in declared(kind) if each.option.cli}
    own = {parameter.name: each for parameter in signature.parameters.values() if (each := _own(parameter)) is not None}

    @functools.wraps(command)
    def run(**values: Any) -> Any:
        given = {name: _without_lists(found[name], values.pop(name)) for name in found}
        return command(**values, **{name: chosen_of(kind, **given) for name, kind in classes.items()})

    parameters: list[inspect.Parameter] = []
    for parameter in signature.parameters.values():
        if parameter.name in own:
            parameters.append(parameter_of(own[parameter.name]))
        elif parameter.name not in classes:
            parameters.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))
        else:
            known = {each.name for each in parameters}
            of_class = [each for each in declared(parameter.annotation) if each.option.cli and each.name not in known]
            parameters += map(parameter_of, of_class)
    last = {name for name, each in found.items() if each.option.scope == "run"}
    parameters.sort(key=lambda one: one.name in last)
    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    setattr(run, _DECLARED, found | own)
    return run


def declared_of(command: Callable[..., Any] | None) -> Mapping[str, Declared]:
    """What is known of the options of a command, by parameter."""
    found: Mapping[str, Declared] = getattr(command, _DECLARED, {})
    return found


def declare(command: Callable[..., Any], name: str, option: Option) -> None:
    """Keep what is known of one more option of a command."""
    setattr(
        command,
        _DECLARED,
        {**declared_of(command), name: Declared(name=name, type=Any, annotation=Any, default=None, option=option)},
    )


def parameter_of(one: Declared) -> inspect.Parameter:
    """An option as the command line takes it: several values are a list there."""
    kind: Any = GenericAlias(list, get_args(one.type)[:1]) | None if one.many else one.annotation
    default = inspect.Parameter.empty if one.default is MISSING else None if one.many else one.default
    annotation = Annotated[kind, shown_option(one)]
    return inspect.Parameter(one.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def shown_option(one: Declared) -> Any:
    """What the command line is told of an option that is declared elsewhere."""
    what = one.option
    return typer.Option(
        *what.flags,
        min=what.minimum,
        max=what.maximum,
        help=what.help,
        envvar=what.env,
        metavar=what.metavar,
        autocompletion=None if what.completes is None else completer(what.completes),
        show_default=one.default is not None and one.default is not MISSING and not one.many,
    )


def _own(one: inspect.Parameter) -> Declared | None:
    """The option that a parameter is annotated with."""
    if get_origin(one.annotation) is not Annotated:
        return None
    kind, *more = get_args(one.annotation)
    default = MISSING if one.default is inspect.Parameter.empty else one.default
    found = (each for each in more if isinstance(each, Option))
    return next(
        (
            Declared(name=one.name, type=without_none(kind), annotation=kind, default=default, option=each)
            for each in found
        ),
        None,
    )


def _has_options(annotation: Any) -> bool:
    return is_record(annotation) and bool(declared(annotation))


def _without_lists(one: Declared, value: Any) -> Any:
    return tuple(value or ()) if one.many else value
