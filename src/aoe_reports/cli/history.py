"""`history`: what the store holds."""

import json
from typing import Annotated, Literal

import typer

from aoe_reports.cli.output import DEFAULT_STORE, Output, Store, render, write, write_pieces
from aoe_reports.model.errors import UsageError
from aoe_reports.model.texts import say


def history(
    what: Annotated[
        Literal["runs", "records", "changes", "acks", "advice", "verdicts"], typer.Argument(help="What to list.")
    ] = "runs",
    store: Store = DEFAULT_STORE,
    workload: Annotated[
        str | None, typer.Option(help="Only this model, or this record's workload.", show_default=False)
    ] = None,
    scope: Annotated[
        Literal["model", "step", "op_type", "op", "communication", "subgraph"] | None,
        typer.Option(help="Only records of this scope.", show_default=False),
    ] = None,
    since: Annotated[
        str | None, typer.Option(help="Only nights from this date on (YYYY-MM-DD).", show_default=False)
    ] = None,
    run: Annotated[
        str | None, typer.Option(help="Only this run, of runs, records or advice.", show_default=False)
    ] = None,
    last: Annotated[int | None, typer.Option(min=1, help="Only the newest N.", show_default=False)] = None,
    form: Annotated[
        Literal["text", "json", "jsonl", "csv", "markdown", "html"],
        typer.Option("--format", help="Form of the output; jsonl: the records of v0.1 themselves, one a line."),
    ] = "text",
    output: Output = None,
) -> None:
    """List what is in the store, oldest first: runs, records, changes that were told, what people said of them, advice, verdicts."""
    from aoe_reports.history.listing import list_history, stored_documents

    if form == "jsonl":
        if what != "records" or last is not None or run is not None:
            raise UsageError(
                say("--format jsonl gives whole records; expected `history records` without --last and --run")
            )
        documents = stored_documents(store, workload=workload, scope=scope, since=since)
        write_pieces((f"{json.dumps(document, ensure_ascii=False)}\n" for document in documents), output)
        return
    rows = list_history(store, what, workload=workload, scope=scope, since=since, last=last, run=run)
    write(
        render(
            form,
            "history",
            "History",
            inputs=[store],
            rows=rows,
            findings=[],
            reasons=[],
            of="history_advice" if what == "advice" else what,
        ),
        output,
    )
