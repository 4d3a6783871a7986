"""`store`: care of the store."""

from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from aoe_reports.cli.command import Group, command_in
from aoe_reports.cli.completion import completer
from aoe_reports.cli.guide import Guide, guided
from aoe_reports.cli.language import LanguageOption
from aoe_reports.cli.output import ChosenForm, Format, Output, reply
from aoe_reports.engine.question import one_table
from aoe_reports.history.options import StoreOptions, VacuumOptions
from aoe_reports.model.rows import Rows


class _Store(Group):
    """The commands of a store."""

    guide = Guide(example="store info --store aoe-history", page="store")


store = typer.Typer(
    name="store",
    cls=_Store,
    help="Maintain the store: contents, integrity, merging, deleting, undoing.",
    rich_markup_mode=None,
    no_args_is_help=True,
)


@store.callback()
def options(language: LanguageOption = "en") -> None:
    """Read the option that all commands of the group share; the command behind looks at it."""
    del language


@command_in(store)
@guided(example="store info --store aoe-history", page="store")
def info(place: StoreOptions, form: ChosenForm = "text", output: Output = None) -> None:
    """Describe the store: runs, records, bytes, files, version, format, last compaction."""
    from aoe_reports.history.care import store_info

    _reply("info", place.store, store_info(place.store), form, output)


@command_in(store)
@guided(example="store verify --store aoe-history", page="store")
def verify(place: StoreOptions, form: ChosenForm = "text", output: Output = None) -> None:
    """Verify the files of the store. Compares every file with its hash and the log; exit 1 when something is damaged or missing, 3 when it cannot be read."""
    from aoe_reports.history.care import verify_store

    verified, findings, unreadable = verify_store(place.store)
    _reply("verify", place.store, verified, form, output, findings=findings, unreadable=unreadable)


@command_in(store)
@guided(example="store compact --store aoe-history", page="store")
def compact(place: StoreOptions, form: ChosenForm = "text", output: Output = None) -> None:
    """Merge small files and sort their rows. Other processes may write at the same time."""
    from aoe_reports.history.care import compact_store

    _reply("compact", place.store, compact_store(place.store), form, output)


@command_in(store)
@guided(example="store vacuum --days 30 --store aoe-history", page="store")
def vacuum(
    chosen: VacuumOptions,
    place: StoreOptions,
    form: ChosenForm = "text",
    output: Output = None,
) -> None:
    """Delete files that no longer belong to the store."""
    from aoe_reports.history.care import vacuum_store

    _reply("vacuum", place.store, vacuum_store(place.store, chosen), form, output)


@command_in(store)
@guided(example="store undo RUN --store aoe-history", page="store")
def undo(
    run: Annotated[
        str,
        typer.Argument(
            help="Id of a run, as `history runs` shows it.", show_default=False, autocompletion=completer("runs")
        ),
    ],
    place: StoreOptions,
    form: ChosenForm = "text",
    output: Output = None,
) -> None:
    """Remove a run from the store. The store records who removed it and when; the run can be ingested again."""
    from aoe_reports.history.care import undo_run

    _reply("undo", place.store, undo_run(place.store, run), form, output)


def _reply(command: str, where: str, done: Any, form: Format, output: Path | None, **more: Any) -> NoReturn:
    """Print the one row that a command answers with; `more` are further fields of the answer."""
    reply(one_table(f"store {command}", "Store", [where], Rows(type=type(done), rows=[done]), **more), form, output)
