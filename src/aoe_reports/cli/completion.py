"""What a shell offers where a name is typed: those of the store that the words typed so far, the environment or a configuration file name.

A shell may execute what it is offered (bash and zsh evaluate it), so a name with a space, a quote, a sign of the shell or a control
character is not offered. Nothing is said: whatever goes wrong, nothing is offered.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import typer

from aoe_reports.model.options import Completes

VARIABLE = "_AOE_REPORTS_COMPLETE"
"""What the scripts of `--show-completion` set."""


def is_completing() -> bool:
    """Whether a shell asks what could be typed."""
    return os.environ.get(VARIABLE, "").startswith("complete_")


def completer(kind: Completes) -> Callable[[typer.Context, str], list[str]]:
    """What is offered where names of one kind are taken."""

    def complete(ctx: typer.Context, incomplete: str) -> list[str]:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                names = list(_names(kind, ctx))
        except KeyboardInterrupt:
            raise
        except BaseException:  # noqa: BLE001 -- a panic of a library in Rust is no Exception
            return []
        return [name for name in names if name.startswith(incomplete) and is_harmless(name)]

    return complete


def is_harmless(name: str) -> bool:
    """Whether no character of a name means anything to a shell or a terminal."""
    return re.fullmatch(r"[\w./][\w./:@%+=,-]*", name) is not None


def _names(kind: Completes, ctx: typer.Context) -> Iterable[str]:
    if kind == "rules":
        from aoe_reports.jobs.rules import list_rules

        return [rule.rule for rule in list_rules()]
    if kind == "tables":
        from aoe_reports.topics.files.table import list_tables

        return [row.kind for row in list_tables().rows]
    from aoe_reports.history.named import names_in

    store = _store(ctx)
    return [] if store is None else names_in(store, kind)


def _store(ctx: Any) -> str | None:
    """The folder of the store; null where none is named, or one that only a network has."""
    source = ctx.get_parameter_source("store")
    is_default = source is None or source.name in {"DEFAULT", "DEFAULT_MAP"}
    named = (_configured(ctx) if is_default else None) or ctx.params.get("store")
    return None if not named or "://" in named else str(named)


def _configured(ctx: Any) -> str | None:
    """The store that a configuration file names for the command."""
    from aoe_reports.cli.configuration import load_configuration

    root = ctx.find_root()
    if root.params.get("isolated"):
        return None
    load_configuration(root, root.params.get("file"))
    command = tuple(ctx.command_path.removeprefix(root.command_path).split())
    said = root.obj.stated.get((command, "store")) if root.obj is not None else None
    return None if said is None else str(said.value)
