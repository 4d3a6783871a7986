"""`ingest` and `store`: profiles into the store, what it holds, people's word on changes, its care."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn, TypeVar

import typer

from aoe_reports.cli.command import guided
from aoe_reports.cli.completion import completer
from aoe_reports.cli.ending import terminable
from aoe_reports.cli.output import (
    MAX_ROWS,
    ChosenForm,
    Format,
    MostRows,
    Output,
    Paths,
    exit_code,
    print_findings,
    reply,
    write_pieces,
)
from aoe_reports.cli.progress import progress_line
from aoe_reports.engine.question import one_table
from aoe_reports.history.options import (
    AckOptions,
    ExpectOptions,
    HistoryOptions,
    ReasonOptions,
    StoreOptions,
    TagOptions,
    VacuumOptions,
)
from aoe_reports.model.errors import UsageError
from aoe_reports.model.history.runs import IngestedRun
from aoe_reports.model.options import Option
from aoe_reports.model.rows import Rows
from aoe_reports.model.texts import N_, say
from aoe_reports.topics.records.options import IngestOptions, RecordOptions

if TYPE_CHECKING:
    from aoe_reports.engine.question import Notes
    from aoe_reports.store import Run

_Reason = TypeVar("_Reason", bound=ReasonOptions)


@guided(example="ingest profile --workload net --store aoe-history", page="store")
def ingest(
    paths: Paths,
    place: StoreOptions,
    chosen: IngestOptions,
    dry_run: Annotated[
        bool,
        Option(
            help="Store nothing: print the records as JSON lines (schema v0.1), or write them to -o FILE (.jsonl, .json, .csv, .parquet).",
            flags=("--dry-run",),
            only_here=say("what is not run"),
        ),
    ] = False,
    form: ChosenForm = "text",
    output: Output = None,
    rows: MostRows = MAX_ROWS,
) -> None:
    """Check, normalise and store every run. Repeating the command adds nothing."""
    from aoe_reports.engine.fleet.executors import executor_here
    from aoe_reports.engine.question import Notes
    from aoe_reports.model.findings import in_order

    notes = Notes()
    if dry_run:
        _print_records(paths, chosen, notes, output)
        findings = in_order(notes.findings)
        print_findings(findings)
        raise typer.Exit(exit_code(findings, unreadable=notes.unreadable, strict=chosen.strict))
    from aoe_reports.history.care_words import sentence_on_ingested
    from aoe_reports.history.runs.ingest import ingest as ingest_paths
    from aoe_reports.history.runs.ingest import stored_row

    with terminable(), progress_line() as progress:
        stored = ingest_paths(paths, place.store, chosen, notes, executor=executor_here(chosen), progress=progress)
    findings = in_order([*notes.findings, *(finding for item in stored for finding in item.run.findings)])
    runs = Rows(type=IngestedRun, rows=[stored_row(item) for item in stored], without=frozenset({"step_ms", "status"}))
    done = {"findings": findings, "unreadable": notes.unreadable, "headline": sentence_on_ingested(runs.rows)}
    reply(one_table("ingest", "Stored", paths, runs, **done), form, output, strict=chosen.strict, most=rows)


def _print_records(paths: list[Path], chosen: RecordOptions, notes: Notes, output: Path | None) -> None:
    """Print or write the records of all runs."""
    from aoe_reports.engine.fleet.executors import executor_here
    from aoe_reports.history.runs.export import records_as_csv, records_as_lines, records_as_list, write_records_parquet
    from aoe_reports.topics.records.runs import read_runs

    suffix = ".jsonl" if output is None else output.suffix
    forms = {".jsonl": records_as_lines, ".json": records_as_list, ".csv": records_as_csv}
    if suffix not in {*forms, ".parquet"}:
        raise UsageError(
            say("-o {output}: expected a name that ends in .jsonl, .json, .csv or .parquet", output=output)
        )

    def runs() -> Iterator[Run]:
        for run in read_runs(paths, chosen, notes, executor=executor_here(chosen)):
            notes.add(run.findings)
            yield run

    if suffix == ".parquet" and output is not None:
        write_records_parquet(runs(), output)
    else:
        write_pieces(forms[suffix](runs()), output)


@guided(example="store history runs --last 5 --store aoe-history", page="store")
def history(
    chosen: HistoryOptions,
    place: StoreOptions,
    what: Annotated[
        Literal["runs", "records", "ranks", "changes", "acks", "advice", "verdicts", "observations"],
        typer.Argument(help="Type of entries to list."),
    ] = "runs",
    form: Annotated[
        Literal["text", "json", "jsonl", "csv", "markdown", "html"],
        Option(help="Output format; jsonl: the original v0.1 records, one per line.", flags=("--format",)),
    ] = "text",
    output: Output = None,
    rows: MostRows = MAX_ROWS,
) -> None:
    """List the contents of the store. Oldest first: runs, records, single ranks, recorded changes, acknowledgements, advice, verdicts, observations."""
    from aoe_reports.history.care_words import sentence_on_listed
    from aoe_reports.history.runs.listing import list_history, stored_documents

    if form == "jsonl":
        if what != "records" or chosen.last is not None or chosen.run is not None:
            raise UsageError(
                say("--format jsonl outputs whole records; use `store history records` without --last and --run")
            )
        documents = stored_documents(place.store, chosen)
        write_pieces((f"{json.dumps(document, ensure_ascii=False)}\n" for document in documents), output)
        return
    found = list_history(place.store, what, chosen)
    answer = one_table("history", "History", [place.store], found, headline=sentence_on_listed(found.rows))
    reply(answer, form, output, most=rows)


@guided(example='store ack SERIES --reason "larger batch" --store aoe-history', page="regressions")
def ack(
    subject: Annotated[
        str,
        typer.Argument(
            metavar="SERIES|INCIDENT",
            help="Id of a series or an incident, as `regressions` shows it; with --revoke also of an acknowledgement.",
            show_default=False,
            autocompletion=completer("subjects"),
        ),
    ],
    chosen: AckOptions,
    place: StoreOptions,
    form: ChosenForm = "text",
    output: Output = None,
) -> None:
    """Accept a slow-down as the new level. The baseline moves to that level, and the slow-down no longer fails any gate."""
    from aoe_reports.history.changes.acknowledge import acknowledge

    done = acknowledge(place.store, subject, _with_reason(chosen))
    _reply("ack", N_("Acknowledgement"), place, done, form, output)


@guided(example="store expect net --from 2026-03-01 --change 5% --reason batch", page="regressions")
def expect(
    workload: Annotated[
        str,
        typer.Argument(
            help="A model, a workload or the prefix of several workloads: net, net/step.",
            show_default=False,
            autocompletion=completer("workloads"),
        ),
    ],
    chosen: ExpectOptions,
    place: StoreOptions,
    form: ChosenForm = "text",
    output: Output = None,
) -> None:
    """Announce an expected change. A slow-down of the given size that begins on the given nights is reported as expected and fails no gate."""
    from aoe_reports.history.changes.acknowledge import expect as announce

    chosen = _with_reason(chosen)
    _refuse_empty(workload, "WORKLOAD")
    done = announce(place.store, _storable(workload).rstrip("/"), chosen)
    _reply("expect", N_("Expectation"), place, done, form, output)


@guided(example="store tag release-1 --run RUN --store aoe-history", page="regressions")
def tag(
    name: Annotated[str, typer.Argument(help="The name.", show_default=False)],
    chosen: TagOptions,
    place: StoreOptions,
    form: ChosenForm = "text",
    output: Output = None,
) -> None:
    """Name a run. `--baseline tag:NAME` then finds its night."""
    from aoe_reports.history.changes.acknowledge import tag as name_run

    _refuse_empty(name, "NAME")
    done = name_run(place.store, _storable(name), replace(chosen, who=_storable(chosen.who)))
    _reply("tag", N_("Named run"), place, done, form, output)


def _storable(text: Any) -> Any:
    """A text, where there is one, that can be stored: the odd byte of a command line becomes a question mark."""
    return text if text is None else text.encode("utf-8", "replace").decode()


def _with_reason(chosen: _Reason) -> _Reason:
    _refuse_empty(chosen.reason, "--reason")
    return replace(chosen, reason=_storable(chosen.reason), who=_storable(chosen.who))


def _refuse_empty(text: str, what: str) -> None:
    if not text.strip():
        raise UsageError(say("{what}: expected text that is not empty", what=what))


def _reply(
    command: str, title: str, place: StoreOptions, done: Any, form: Format, output: Path | None, **more: Any
) -> NoReturn:
    """Print the one row that a command answers with; `more` are further fields of the answer."""
    reply(one_table(command, title, [place.store], Rows(type=type(done), rows=[done]), **more), form, output)


def _reply_on_store(
    command: str, place: StoreOptions, done: Any, form: Format, output: Path | None, **more: Any
) -> NoReturn:
    """The same of a command on the whole store, with what it comes to in a sentence."""
    from aoe_reports.history.care_words import sentence_of

    _reply(f"store {command}", N_("Store"), place, done, form, output, headline=sentence_of(done), **more)


@guided(example="store info --store aoe-history", page="store")
def info(place: StoreOptions, form: ChosenForm = "text", output: Output = None) -> None:
    """Describe the store: runs, records, bytes, files, version, format, last compaction."""
    from aoe_reports.history.care import store_info

    _reply_on_store("info", place, store_info(place.store), form, output)


@guided(example="store verify --store aoe-history", page="store")
def verify(place: StoreOptions, form: ChosenForm = "text", output: Output = None) -> None:
    """Verify the files of the store. Compares every file with its hash and the log; exit 1 when something is damaged or missing, 3 when it cannot be read."""
    from aoe_reports.history.care import verify_store

    verified, findings, unreadable = verify_store(place.store)
    _reply_on_store("verify", place, verified, form, output, findings=findings, unreadable=unreadable)


@guided(example="store compact --store aoe-history", page="store")
def compact(place: StoreOptions, form: ChosenForm = "text", output: Output = None) -> None:
    """Merge small files and sort their rows. Other processes may write at the same time."""
    from aoe_reports.history.care import compact_store

    _reply_on_store("compact", place, compact_store(place.store), form, output)


@guided(example="store vacuum --days 30 --store aoe-history", page="store")
def vacuum(
    chosen: VacuumOptions,
    place: StoreOptions,
    form: ChosenForm = "text",
    output: Output = None,
) -> None:
    """Delete files that no longer belong to the store."""
    from aoe_reports.history.care import vacuum_store

    _reply_on_store("vacuum", place, vacuum_store(place.store, chosen), form, output)


@guided(example="store undo RUN --store aoe-history", page="store")
def undo(
    run: Annotated[
        str,
        typer.Argument(
            help="Id of a run, as `store history runs` shows it.", show_default=False, autocompletion=completer("runs")
        ),
    ],
    place: StoreOptions,
    form: ChosenForm = "text",
    output: Output = None,
) -> None:
    """Remove a run from the store. The store records who removed it and when; the run can be ingested again."""
    from aoe_reports.history.care import undo_run

    _reply_on_store("undo", place, undo_run(place.store, run), form, output)
