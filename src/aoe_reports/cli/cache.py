"""`cache`: what is kept of captures."""

from typing import NoReturn

import typer

from aoe_reports.cli.command import Group, command_in
from aoe_reports.cli.guide import Guide, guided
from aoe_reports.cli.language import LanguageOption
from aoe_reports.cli.output import ChosenForm, Output, reply
from aoe_reports.engine.question import one_table
from aoe_reports.engine.tables.cache import Cache, CacheContent, CacheFolderOptions, cache_in
from aoe_reports.model.errors import UsageError
from aoe_reports.model.rows import Rows
from aoe_reports.model.texts import say


class _Cache(Group):
    """The commands of the cache."""

    guide = Guide(example="cache info", page="sql")


cache = typer.Typer(
    name="cache",
    cls=_Cache,
    help="Show or clear the cache, which keeps what `sql` and `convert` read of large captures.",
    rich_markup_mode=None,
    no_args_is_help=True,
)


@cache.callback()
def options(language: LanguageOption = "en") -> None:
    """Read the option that all commands of the group share; the command behind looks at it."""
    del language


@command_in(cache)
@guided(example="cache info", page="sql")
def info(place: CacheFolderOptions, form: ChosenForm = "text", output: Output = None) -> None:
    """Describe the cache: folder, files, bytes."""
    _reply("info", _chosen(place).content(), form, output)


@command_in(cache)
@guided(example="cache clear", page="sql")
def clear(place: CacheFolderOptions, form: ChosenForm = "text", output: Output = None) -> None:
    """Delete all files of the cache. Other files in its folder stay."""
    _reply("clear", _chosen(place).clear(), form, output)


def _chosen(place: CacheFolderOptions) -> Cache:
    found = cache_in(place.cache)
    if found is None:
        raise UsageError(say("this user has no folder for a cache; --cache names one"))
    return found


def _reply(command: str, content: CacheContent, form: str, output: Output) -> NoReturn:
    rows = Rows(type=CacheContent, rows=[content])
    reply(one_table(f"cache {command}", say("Cache"), [content.folder], rows), form, output)
