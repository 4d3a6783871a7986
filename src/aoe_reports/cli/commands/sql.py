"""`sql`, `convert`, `cache`: captures and stores as tables of a database, and what is kept of them."""

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from aoe_reports.cli.command import guided
from aoe_reports.cli.output import (
    FORM,
    MAX_ROWS,
    ChosenForm,
    MostRows,
    Output,
    StreamFormat,
    end_stream,
    path_argument,
    print_findings,
    refuse_printed_parquet,
    reply,
    show_stream,
)
from aoe_reports.engine.question import Stream, exit_code_of, one_table
from aoe_reports.engine.tables.cache import Cache, CacheContent, CacheFolderOptions, CacheOptions, cache_in
from aoe_reports.engine.tables.sql import SqlOptions
from aoe_reports.formats.sources.objects import asked_path
from aoe_reports.history.options import AlarmOptions, StoreOptions
from aoe_reports.model.errors import UsageError
from aoe_reports.model.findings import in_order
from aoe_reports.model.options import Option, declared
from aoe_reports.model.rows import Rows
from aoe_reports.model.texts import count_of, say


@guided(example='sql profile "SELECT core, sum(duration_ns) FROM task GROUP BY 1"', page="sql")
def sql(
    ctx: typer.Context,
    place: StoreOptions,
    alarms: AlarmOptions,
    path: Annotated[
        str | None,
        typer.Argument(
            help="File or folder, or what `convert` wrote; without it the query is about the store. With `--tables` the name of a table.",
            show_default=False,
        ),
    ] = None,
    query: Annotated[str | None, typer.Argument(help="One SELECT.", show_default=False)] = None,
    file: Annotated[
        Path | None,
        Option(help="Read the query from this file; - is standard input.", only_here=say("what is asked")),
    ] = None,
    tables: Annotated[
        bool,
        Option(help="List the tables, or the columns of one.", flags=("--tables",), only_here=say("additional output")),
    ] = False,
    form: Annotated[StreamFormat, FORM] = "text",
    output: Output = None,
    rows: MostRows = MAX_ROWS,
    *,
    chosen: SqlOptions,
) -> None:
    """Query captures, or a store of nights, in SQL. Tables and columns are documented; the query can read nothing else."""
    from aoe_reports.engine.tables.sql import list_sql_tables, read_query

    if tables:
        if form == "parquet":
            raise UsageError(say("sql --tables: the form parquet is not available here"))
        reply(list_sql_tables(path), form, output, strict=chosen.strict, most=rows)
    if query is None and file is None and path is not None and len(path.split()) > 1:  # no path, then: a query
        path, query = None, path
    if (query is None) == (file is None):
        raise UsageError(
            say("sql: expected a QUERY (or --file), before it the PATH of captures or none for the store; or --tables")
        )
    _refuse_options_of_others(ctx, of_store=path is None)
    refuse_printed_parquet("sql", form, output)
    text = read_query(file) if file is not None else query or ""
    with _asked(path, text, chosen, place.store, alarms) as stream:
        show_stream(stream, form, output, title=say("Query"), strict=chosen.strict, most=rows)
    end_stream(stream, form, strict=chosen.strict)


def _refuse_options_of_others(ctx: typer.Context, *, of_store: bool) -> None:
    """Raise UsageError for an option that is typed and changes nothing."""
    classes = (CacheOptions,) if of_store else (AlarmOptions, StoreOptions)
    others = {one.name for options in classes for one in declared(options)} - {"strict"}
    for param in ctx.command.params:
        source = ctx.get_parameter_source(param.name or "")
        if param.name in others and source is not None and source.name == "COMMANDLINE":
            option = param.opts[0]
            raise UsageError(
                say("sql: without PATH the query is about a store; {option} is about captures", option=option)
                if of_store
                else say("sql: PATH names captures; {option} is about a store", option=option)
            )


def _asked(
    path: str | None, query: str, chosen: SqlOptions, store: str, alarms: AlarmOptions
) -> AbstractContextManager[Stream]:
    """The rows of a query over the captures of a path, or over the store."""
    if path is None:
        from aoe_reports.history.database import query_store

        return query_store(store, query, chosen, alarms)
    from aoe_reports.engine.tables.sql import query_captures

    return query_captures(asked_path(path), query, chosen)


@guided(example="convert profile -o capture.duckdb", page="sql")
def convert(
    path: Annotated[Path, path_argument("File or folder, or what `convert` wrote.")],
    output: Annotated[
        Path,
        Option(
            help="A file whose name ends with .duckdb, or a new folder for one Parquet file a table.",
            flags=("--output", "-o"),
            only_here=say("where output is written"),
        ),
    ],
    *,
    chosen: CacheOptions,
) -> None:
    """Write the tables of captures as a DuckDB file or as Parquet, for other tools. `sql --tables` describes them."""
    from aoe_reports.engine.tables.database import save_captures

    notes = save_captures(path, output, chosen)
    print_findings(in_order(notes.findings))
    raise typer.Exit(exit_code_of(notes.findings, unreadable=notes.unreadable, strict=chosen.strict))


@guided(example="cache info", page="sql")
def info(place: CacheFolderOptions, form: ChosenForm = "text", output: Output = None) -> None:
    """Describe the cache: folder, files, bytes."""
    _reply("info", _chosen(place).content(), form, output)


@guided(example="cache clear", page="sql")
def clear(place: CacheFolderOptions, form: ChosenForm = "text", output: Output = None) -> None:
    """Delete all files of the cache. Other files in its folder stay."""
    _reply("clear", _chosen(place).clear(), form, output)


def _chosen(place: CacheFolderOptions) -> Cache:
    cache = cache_in(place.cache)
    if cache is None:
        raise UsageError(say("this user has no folder for a cache; --cache names one"))
    return cache


def _reply(command: str, content: CacheContent, form: str, output: Output) -> NoReturn:
    rows = Rows(type=CacheContent, rows=[content])
    files = count_of(content.files, "{number:,} file", "{number:,} files")
    headline = say(
        "{files} deleted, {bytes:,} bytes." if command == "clear" else "{files}, {bytes:,} bytes.",
        files=files,
        bytes=content.bytes,
    )
    reply(one_table(f"cache {command}", say("Cache"), [content.folder], rows, headline=headline), form, output)
