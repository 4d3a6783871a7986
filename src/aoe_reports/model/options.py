"""Options of a question, declared once: the command line, configuration files and Python take them from here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import MISSING, field
from typing import Any, Literal, TypeVar, dataclass_transform, get_args, get_origin, get_type_hints

from aoe_reports.model.classes import declared_fields, once_a_class, record, without_none
from aoe_reports.model.errors import UsageError
from aoe_reports.model.texts import join, say

T = TypeVar("T")
Scope = Literal["question", "output", "run"]
"""Whose option it is; `--help` shows them in this order."""
SCOPES: tuple[Scope, ...] = get_args(Scope)

Names = Literal["nothing", "place"]
"""What a free text or a path names: nothing (it is a word), or a file, a folder or a URI."""

Completes = Literal["workloads", "runs", "nights", "baselines", "subjects", "rules", "tables"]
"""Which names a shell offers for a value: of a store (`subjects` are series, incidents and acknowledgements), or of this program."""

STORE_VARIABLE = "AOE_REPORTS_STORE"
"""The variable of the environment that names the store, for every command that has one."""
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
    """Whether the command line has it: thresholds are only in configuration files and in Python."""
    scope: Scope = "question"
    metavar: str | None = None
    """What the command line shows for a value, where that is not its type."""
    shared: bool = False
    """Whether it means the same for every command: a configuration file may set it once for all."""
    only_here: str = ""
    """Why only the command line has it; empty where a configuration file may set it."""
    names: Names | None = None
    """What a value that is no number, flag or choice can name: a project's file sets it only where that is nothing."""
    completes: Completes | None = None
    """Which names a shell offers for a value."""
    protects: bool = False
    """Whether it protects from hostile data: a project's file, which may have come with it, does not set it."""


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
    def many(self) -> bool:
        """Whether it may be given several times: it is a tuple then."""
        return get_origin(self.type) is tuple

    @property
    def key(self) -> str:
        """The long name without dashes, as configuration files spell it."""
        long = max(self.option.flags, key=len, default=f"--{self.name.replace('_', '-')}")
        return long.removeprefix("--")


def option(*, default: Any = MISSING, help: str, flags: Sequence[str] = (), **more: Any) -> Any:  # noqa: A002 -- typer's word
    """One option of a class of options, without a default where it must be given; `more` are fields of `Option`."""
    return field(default=default, metadata={_KEY: Option(help=help, flags=tuple(flags), **more)})


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(option,))
def options(cls: type[T]) -> type[T]:
    """A class of options: frozen, all by keyword."""
    return record(cls)


@once_a_class
def declared(cls: type[Any]) -> tuple[Declared, ...]:
    """The options of a class in the order of `--help`: the question's own, those of its output, those of the run."""
    hints = get_type_hints(cls)
    known = [
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
    return tuple(sorted(known, key=lambda one: SCOPES.index(one.option.scope)))


def check_options(chosen: object) -> None:
    """Whether each option has a value that the command line would take, too. Raises UsageError."""
    for one in declared(type(chosen)):
        value = getattr(chosen, one.name)
        if value is None or value is MISSING:
            continue
        if one.choices and value not in one.choices:
            raise UsageError(
                say(
                    "{name}: {value!r} is not one of {names}", name=one.name, value=value, names=join(", ", one.choices)
                )
            )
        low, high = one.option.minimum, one.option.maximum
        if low is not None and not value >= low:  # nan is neither less nor more
            raise UsageError(say("{name}: {value} is less than {limit}", name=one.name, value=value, limit=low))
        if high is not None and value > high:
            raise UsageError(say("{name}: {value} is more than {limit}", name=one.name, value=value, limit=high))


def chosen_of(cls: type[T], /, **values: Any) -> T:
    """The options of a class among some values by name."""
    return cls(**{one.name: values[one.name] for one in declared(cls) if one.name in values})
