"""`normalize`: v0.1 records."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import typer

from aoe_reports.cli.guide import guided
from aoe_reports.cli.output import Output, Paths, exit_code, print_findings, write_pieces
from aoe_reports.model.errors import UsageError
from aoe_reports.model.texts import say
from aoe_reports.topics.records.options import RecordOptions

if TYPE_CHECKING:
    from aoe_reports.store import Run


@guided(example="normalize profile --workload net -o records.jsonl", page="records")
def normalize(paths: Paths, chosen: RecordOptions, output: Output = None) -> None:
    """Print benchmark log records as JSON lines. The schema is v0.1; -o FILE accepts .jsonl, .json, .csv or .parquet."""
    from aoe_reports.engine.fleet.executors import executor_here
    from aoe_reports.engine.question import Notes
    from aoe_reports.history.runs.export import records_as_csv, records_as_lines, records_as_list, write_records_parquet
    from aoe_reports.model.findings import in_order
    from aoe_reports.topics.records.runs import read_runs

    suffix = ".jsonl" if output is None else output.suffix
    forms = {".jsonl": records_as_lines, ".json": records_as_list, ".csv": records_as_csv}
    if suffix not in {*forms, ".parquet"}:
        raise UsageError(
            say("-o {output}: expected a name that ends in .jsonl, .json, .csv or .parquet", output=output)
        )
    notes = Notes()

    def runs() -> Iterator[Run]:
        for run in read_runs(paths, chosen, notes, executor=executor_here(chosen)):
            notes.add(run.findings)
            yield run

    if suffix == ".parquet" and output is not None:
        write_records_parquet(runs(), output)
    else:
        write_pieces(forms[suffix](runs()), output)
    findings = in_order(notes.findings)
    print_findings(findings)
    raise typer.Exit(exit_code(findings, unreadable=notes.unreadable, strict=chosen.strict))
