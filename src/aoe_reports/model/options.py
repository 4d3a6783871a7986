"""Options of a question, declared once: the command line, configuration files and Python take them from here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, field
from typing import Any, Literal, TypeVar, dataclass_transform, get_args, get_origin, get_type_hints

from aoe_reports.model.classes import declared_fields, once_a_class, record, without_none
from aoe_reports.model.errors import UsageError
from aoe_reports.model.texts import join, say

T = TypeVar("T")
Scope = Literal["question", "output", "run"]
"""Whose option it is; `--help` shows them in this order."""
SCOPES: tuple[Scope, ...] = get_args(Scope)

_KEY = "option"


@record
class Option:
    """What is known of an option beside its name, type and default."""

    help: str
    minimum: float | None = None
    maximum: float | None = None
    flags: tuple[str, ...] = ()
    """How the command line spells it, where that is not `--` and its name."""
    env: str | None = None
    cli: bool = True
    """Whether the command line has it: thresholds stand in configuration files and in Python only."""
    scope: Scope = "question"


@record
class Declared:
    """An option with its name, its type without None, and its default (`MISSING` where it must be given)."""

    name: str
    type: Any
    annotation: Any
    default: Any
    option: Option

    @property
    def choices(self) -> tuple[str, ...]:
        """The words that it takes; none where it takes any value of its type."""
        return get_args(self.type) if get_origin(self.type) is Literal else ()

    @property
    def key(self) -> str:
        """The long name without dashes, as configuration files spell it."""
        long = max(self.option.flags, key=len, default=f"--{self.name.replace('_', '-')}")
        return long.removeprefix("--")


def option(
    *,
    default: Any,
    help: str,  # noqa: A002 -- the word that typer and argparse have
    minimum: float | None = None,
    maximum: float | None = None,
    flags: Sequence[str] = (),
    env: str | None = None,
    cli: bool = True,
    scope: Scope = "question",
) -> Any:
    """One option of a class of options."""
    what = Option(help=help, minimum=minimum, maximum=maximum, flags=tuple(flags), env=env, cli=cli, scope=scope)
    return field(default=default, metadata={_KEY: what})


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(option,))
def options(cls: type[T]) -> type[T]:
    """A class of options: frozen, all by keyword."""
    return record(cls)


@once_a_class
def declared(cls: type[Any]) -> tuple[Declared, ...]:
    """The options of a class in the order of `--help`: the question's own, those of its output, those of the run."""
    hints = get_type_hints(cls)
    found = [
        Declared(
            name=name,
            type=without_none(hints[name]),
            annotation=hints[name],
            default=one.default,
            option=one.metadata[_KEY],
        )
        for name, one in declared_fields(cls).items()
        if _KEY in one.metadata
    ]
    return tuple(sorted(found, key=lambda one: SCOPES.index(one.option.scope)))


def check_options(chosen: object) -> None:
    """Whether each option has a value that the command line would take, too. Raises UsageError."""
    for one in declared(type(chosen)):
        value = getattr(chosen, one.name)
        if value is None or value is MISSING:
            continue
        if one.choices and value not in one.choices:
            raise UsageError(
                say("{name}: {value!r} is none of {names}", name=one.name, value=value, names=join(", ", one.choices))
            )
        low, high = one.option.minimum, one.option.maximum
        if low is not None and value < low:
            raise UsageError(say("{name}: {value} is less than {limit}", name=one.name, value=value, limit=low))
        if high is not None and value > high:
            raise UsageError(say("{name}: {value} is more than {limit}", name=one.name, value=value, limit=high))


def chosen_of(cls: type[T], values: Mapping[str, Any]) -> T:
    """The options of a class among some values by name."""
    return cls(**{one.name: values[one.name] for one in declared(cls) if one.name in values})
