"""What each check of `doctor` says: a state, what was seen, what to do."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Literal

from aoe_reports.model.errors import reason
from aoe_reports.model.options import STORE_VARIABLE, option, options
from aoe_reports.model.rows import column, row
from aoe_reports.model.texts import N_, say

State = Literal["ok", "warning", "missing", "fault"]
STATES: tuple[State, ...] = N_(("ok", "warning", "missing", "fault"))
"""`missing` is what can be done without: it never changes the exit code."""


@row
class Checkup:
    """One check of this machine."""

    name: str = column("Check")
    state: State = column("State", "state")
    value: str = column("Found", "sentence")
    what_to_do: str | None = column("What to do", "sentence")


@options
class DoctorOptions:
    """What is looked at beside the installation."""

    store: str | None = option(
        default=None,
        help="Folder or URI of the store to check; ./aoe-history where it exists.",
        env=STORE_VARIABLE,
        shared=True,
        names="place",
    )
    site: Path | None = option(default=None, help="Folder of a site to check.", names="place")


def ok(name: str, value: str) -> Checkup:
    """A check that found what it should."""
    return Checkup(name=name, state="ok", value=value, what_to_do=None)


def warning(name: str, value: str, what_to_do: str) -> Checkup:
    """A check that found what may go wrong."""
    return Checkup(name=name, state="warning", value=value, what_to_do=what_to_do)


def missing(name: str, what_for: str, what_to_do: str) -> Checkup:
    """A check that did not find what can be done without."""
    return Checkup(name=name, state="missing", value=say("needed for: {what}", what=what_for), what_to_do=what_to_do)


def fault(name: str, value: str, what_to_do: str) -> Checkup:
    """A check that found what cannot work."""
    return Checkup(name=name, state="fault", value=value, what_to_do=what_to_do)


def each(name: str, checks: Iterable[Callable[[], Iterable[Checkup]]]) -> Iterator[Checkup]:
    """The rows of all checks; what stops one of them is a row, and the others go on: what is broken here may break a check, too."""
    for check in checks:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                yield from check()
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 -- a broken library may raise anything
            yield fault(name, why(error), say("install again what is named above as a fault, then check once more"))


def why(error: BaseException) -> str:
    """What an error says, with its kind, as nobody expected it."""
    return say("{kind}: {why}", kind=type(error).__name__, why=reason(error))
