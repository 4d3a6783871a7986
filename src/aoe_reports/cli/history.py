"""`history`: what the store holds."""

import json
from typing import Annotated, Literal

import typer

from aoe_reports.cli.guide import guided
from aoe_reports.cli.output import MAX_ROWS, MostRows, Output, reply, write_pieces
from aoe_reports.engine.question import one_table
from aoe_reports.history.options import HistoryOptions, StoreOptions
from aoe_reports.model.errors import UsageError
from aoe_reports.model.options import Option
from aoe_reports.model.texts import say


@guided(example="history runs --last 5 --store aoe-history", page="store")
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
    from aoe_reports.history.runs.listing import list_history, stored_documents

    if form == "jsonl":
        if what != "records" or chosen.last is not None or chosen.run is not None:
            raise UsageError(
                say("--format jsonl outputs whole records; use `history records` without --last and --run")
            )
        documents = stored_documents(place.store, chosen)
        write_pieces((f"{json.dumps(document, ensure_ascii=False)}\n" for document in documents), output)
        return
    found = list_history(place.store, what, chosen)
    reply(one_table("history", "History", [place.store], found), form, output, most=rows)
