"""`store`: care of the store."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from aoe_reports.cli.language import LanguageOption
from aoe_reports.cli.output import DEFAULT_STORE, Format, Output, Store, exit_code, print_findings, render, write
from aoe_reports.findings import Finding, reasons_of

store = typer.Typer(
    name="store",
    help="Care of the store: what it holds, whether it is whole, merging, deleting, undoing, export and import.",
    rich_markup_mode=None,
    no_args_is_help=True,
)
Form = Annotated[Format, typer.Option("--format", help="Form of the output.")]


@store.callback()
def options(language: LanguageOption = "en") -> None:
    """Read the option that all commands of the group share; the command behind looks at it."""
    del language


@store.command()
def info(where: Store = DEFAULT_STORE, form: Form = "text", output: Output = None) -> None:
    """Say what the store holds: runs, records, bytes, files, version, format, last compaction."""
    from aoe_reports.workflows.store import store_info

    _show("info", where, [store_info(where)], form, output)


@store.command()
def verify(where: Store = DEFAULT_STORE, form: Form = "text", output: Output = None) -> None:
    """Read every file and hold it against its hash and the log; exit 1 when something is damaged or missing, 3 when it cannot be read."""
    from aoe_reports.workflows.store import verify_store

    rows, findings, unreadable = verify_store(where)
    reasons = reasons_of(findings)
    write(render(form, "store verify", "Store", [where], rows, findings, reasons, of="store-verify"), output)
    if form != "json":
        print_findings(findings)
    raise typer.Exit(exit_code(findings, unreadable=unreadable))


@store.command()
def compact(where: Store = DEFAULT_STORE, form: Form = "text", output: Output = None) -> None:
    """Merge small files and sort their rows; others may write meanwhile."""
    from aoe_reports.workflows.store import compact_store

    _show("compact", where, [compact_store(where)], form, output)


@store.command()
def vacuum(
    where: Store = DEFAULT_STORE,
    days: Annotated[int, typer.Option(min=0, help="Keep what was in force in the last so many days.")] = 7,
    force: Annotated[bool, typer.Option("--force", help="Fewer than 7 days; nobody may be writing meanwhile.")] = False,
    form: Form = "text",
    output: Output = None,
) -> None:
    """Delete files that are no part of the store any more."""
    from aoe_reports.workflows.store import vacuum_store

    _show("vacuum", where, [vacuum_store(where, days, force=force)], form, output)


@store.command()
def undo(
    run: Annotated[str, typer.Argument(help="Id of a run, as `history runs` shows it.", show_default=False)],
    where: Store = DEFAULT_STORE,
    form: Form = "text",
    output: Output = None,
) -> None:
    """Take a run out of the store, and note who did and when; it can be ingested again."""
    from aoe_reports.workflows.store import undo_run

    _show("undo", where, [undo_run(where, run)], form, output)


@store.command("export")
def export_(
    target: Annotated[Path, typer.Argument(help="A new folder (hive Parquet), .jsonl or .csv.", show_default=False)],
    where: Store = DEFAULT_STORE,
    form: Form = "text",
    output: Output = None,
) -> None:
    """Write every row into files that need no Delta reader."""
    from aoe_reports.workflows.exchange import export_store

    _show("export", where, [{"path": str(target), "rows": export_store(where, target)}], form, output)


@store.command("import")
def import_(
    source: Annotated[Path, typer.Argument(help="What `store export` wrote: folder or .jsonl.", show_default=False)],
    where: Store = DEFAULT_STORE,
    form: Form = "text",
    output: Output = None,
) -> None:
    """Store what an export holds; doing it twice adds nothing. A run with a row that cannot be used is left out: exit 1."""
    from aoe_reports.workflows.exchange import import_store

    done = import_store(source, where)
    row = {"path": str(source), **{name.replace("-", "_"): count for name, count in done.outcomes.items()}}
    _show("import", where, [row], form, output, done.findings)
    raise typer.Exit(exit_code(done.findings))


def _show(
    command: str,
    where: str,
    rows: list[dict[str, Any]],
    form: Format,
    output: Path | None,
    findings: Sequence[Finding] = (),
) -> None:
    reasons = reasons_of(findings)
    write(render(form, f"store {command}", "Store", [where], rows, findings, reasons, of=f"store-{command}"), output)
    if form != "json":
        print_findings(findings)
