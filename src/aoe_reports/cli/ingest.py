"""`ingest`: into the store, once."""

from typing import Annotated

import typer

from aoe_reports.cli.output import (
    DEFAULT_STORE,
    EngineVersion,
    Format,
    Hardware,
    MaxExpanded,
    Output,
    Paths,
    Raw,
    Renew,
    Store,
    Strict,
    Workload,
    WorkloadFrom,
    Zone,
    progress_line,
    reply,
    run_options,
)
from aoe_reports.engine.question import one_table
from aoe_reports.model.rows import Rows


def ingest(
    paths: Paths,
    store: Store = DEFAULT_STORE,
    workload: Workload = None,
    workload_from: WorkloadFrom = None,
    hardware: Hardware = None,
    engine_version: EngineVersion = None,
    zone: Zone = None,
    form: Annotated[Format, typer.Option("--format", help="Form of the output.")] = "text",
    output: Output = None,
    strict: Strict = False,
    max_expanded: MaxExpanded = None,
    raw: Raw = 0,
    renew: Renew = False,
) -> None:
    """Check, normalise and store every run; doing it twice adds nothing."""
    from aoe_reports.history.ingest import Gathered, StoredRow, stored_row
    from aoe_reports.history.ingest import ingest as ingest_paths
    from aoe_reports.model.findings import in_order

    options = run_options(
        workload, hardware, engine_version, zone, max_expanded, raw, renew=renew, workload_from=workload_from
    )
    with progress_line() as progress:
        gathered = Gathered(progress=progress)
        stored = ingest_paths(paths, store, options, gathered)
    findings = in_order([*gathered.findings, *(finding for item in stored for finding in item.run.findings)])
    rows = Rows(type=StoredRow, rows=[stored_row(item) for item in stored])
    answer = one_table("ingest", "Stored", paths, rows, findings=findings, unreadable=gathered.unreadable)
    reply(answer, form, output, strict=strict)
