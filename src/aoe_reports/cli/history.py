"""`history`: what the store holds."""

from typing import Annotated, Literal

import typer

from aoe_reports.cli.output import DEFAULT_STORE, Format, Output, Store, render, write


def history(
    what: Annotated[Literal["runs", "records"], typer.Argument(help="What to list.")] = "runs",
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
    last: Annotated[int | None, typer.Option(min=1, help="Only the newest N.", show_default=False)] = None,
    form: Annotated[Format, typer.Option("--format", help="Form of the output.")] = "text",
    output: Output = None,
) -> None:
    """List the runs or the records in the store, oldest first."""
    from aoe_reports.workflows.history import list_history

    rows = list_history(store, what, workload=workload, scope=scope, since=since, last=last)
    write(render(form, "history", "History", [store], rows, [], [], of=what), output)
