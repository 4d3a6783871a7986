"""`collect`, `table`, `trace`: how to take a profile, and what is in one."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

import typer

from aoe_reports.cli.command import guided
from aoe_reports.cli.completion import completer
from aoe_reports.cli.language import spoken
from aoe_reports.cli.output import (
    FORM,
    MAX_ROWS,
    MostRows,
    Output,
    Paths,
    StreamFormat,
    end_stream,
    path_argument,
    print_findings,
    refuse_printed_parquet,
    reply,
    show_stream,
    write,
    write_bytes,
    write_pieces,
)
from aoe_reports.cli.progress import progress_line
from aoe_reports.engine.question import Answer, ReadOptions, StrictOptions, one_table
from aoe_reports.formats.ascend.profiling import Framework, Question, recipe
from aoe_reports.model.errors import UsageError
from aoe_reports.model.findings import in_order
from aoe_reports.model.options import Option
from aoe_reports.model.report import Section
from aoe_reports.model.rows import Rows
from aoe_reports.model.texts import join, say
from aoe_reports.present.as_json import render_rows
from aoe_reports.present.forms import FORMS, Shown
from aoe_reports.present.recipe import render_markdown, render_text
from aoe_reports.rules.profiling_options import OptionInForce, check_options
from aoe_reports.topics.files.trace import TraceOptions

_GZIP = 31


@guided(example="collect --framework pytorch --for hotspots", page="tutorial")
def collect(
    framework: Annotated[Framework | None, Option(help="Framework that runs the model.")] = None,
    question: Annotated[
        Question, Option(help="Question that the profile should answer.", flags=("--for",))
    ] = "hotspots",
    check: Annotated[
        str | None,
        Option(
            help="Check a string of profiling_options (empty: the default set).",
            flags=("--check",),
            metavar="JSON",
            only_here=say("what is checked"),
        ),
    ] = None,
    form: Annotated[Literal["text", "json", "markdown"], FORM] = "text",
    output: Output = None,
    *,
    chosen: StrictOptions,
) -> None:
    """Show how to take a profile. Prints a snippet or command, the files that each key produces and how to switch profiling off."""
    if check is not None:
        reply(_checked(check), form, output, strict=chosen.strict)
    if framework is None:
        raise UsageError(say("collect: expected --framework, or --check"))
    found = recipe(framework, question)
    if form == "json":
        more = asdict(found)
        write(render_rows("collect", [], more.pop("settings"), [], [], more), output)
        return
    write((render_markdown if form == "markdown" else render_text)(found, spoken()), output)


def _checked(text: str) -> Answer:
    """A line a key that is in force: its value, the files that it yields, what there is to know of it."""
    rows, findings = check_options(text)
    lines = []
    for option in rows:
        known = join("; ", filter(None, (join(", ", option.files), option.note)))
        lines.append(join(": ", filter(None, (f"{option.key}={option.value}", known))))
    table = Rows(type=OptionInForce, rows=rows)
    sections = [Section("", lines=lines)] if lines else []
    return one_table(
        "collect", "Options of the profiler", [text], table, findings=in_order(findings), sections=sections
    )


@guided(example="table kernel_details profile --format json", page="tables")
def table(
    kind: Annotated[
        str | None,
        typer.Argument(
            help="Kind of table, as shown by `--list`.", show_default=False, autocompletion=completer("tables")
        ),
    ] = None,
    path: Annotated[Path | None, path_argument("File or folder.")] = None,
    form: Annotated[StreamFormat, FORM] = "csv",
    listed: Annotated[
        bool, Option(help="List every kind that can be read.", flags=("--list",), only_here=say("additional output"))
    ] = False,
    output: Output = None,
    rows: MostRows = MAX_ROWS,
    *,
    chosen: ReadOptions,
) -> None:
    """Print one table or timeline. Names and units are canonical (durations in us, time stamps in ns)."""
    from aoe_reports.topics.files.table import list_tables, stream_table

    if listed:
        shown = "json" if form == "json" else "text"
        write_pieces(FORMS[shown].render(Shown(answer=list_tables(), strict=chosen.strict, language=spoken())), output)
        return
    if kind is None or path is None:
        raise UsageError(say("table: expected a KIND and a PATH, or --list"))
    refuse_printed_parquet("table", form, output)
    stream = stream_table(kind, path, chosen)
    show_stream(stream, form, output, title=kind, strict=chosen.strict, most=rows)
    end_stream(stream, form, strict=chosen.strict)


@guided(example="trace profile --step 7 -o step.json", page="trace")
def trace(paths: Paths, chosen: TraceOptions, output: Output = None) -> None:
    """Cut a part out of timelines. Prints a Chrome trace for Perfetto, chrome://tracing and MindStudio Insight; several runs stand side by side and begin together."""
    from aoe_reports.topics.files.cutting import traced

    with progress_line() as progress, traced(paths, chosen, progress) as found:
        if found.cuttings:
            pieces = _as_list(found.lines())
            if output is None:
                write_pieces((piece.decode() for piece in pieces), None)
            else:
                write_bytes(_packed(pieces) if output.suffix == ".gz" else pieces, output)
        print_findings(in_order(found.notes.findings))
        raise typer.Exit(found.exit_code(strict=chosen.strict))


def _as_list(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Lines with an event each as a JSON list."""
    before = b"[\n"
    for block in lines:
        yield before + block[:-1].replace(b"\n", b",\n")
        before = b",\n"
    yield b"\n]\n"


def _packed(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Pieces as a gzip file, without a time: the same events are the same bytes."""
    packer = zlib.compressobj(wbits=_GZIP)
    for piece in pieces:
        yield packer.compress(piece)
    yield packer.flush()
