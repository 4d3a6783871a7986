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
    exit_code,
    print_findings,
    progress_line,
    render,
    run_options,
    write,
)
from aoe_reports.findings import reasons_of


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
    from aoe_reports.findings import in_order
    from aoe_reports.workflows.ingest import Gathered
    from aoe_reports.workflows.ingest import ingest as ingest_paths
    from aoe_reports.workflows.nightly import run_row

    options = run_options(
        workload, hardware, engine_version, zone, max_expanded, raw, renew=renew, workload_from=workload_from
    )
    with progress_line() as progress:
        gathered = Gathered(progress=progress)
        stored = ingest_paths(paths, store, options, gathered)
    findings = in_order([*gathered.findings, *(finding for item in stored for finding in item.run.findings)])
    rows = [run_row(item) for item in stored]
    reasons = reasons_of(findings, strict=strict)
    write(render(form, "ingest", "Stored", paths, rows, findings, reasons), output)
    if form != "json":
        print_findings(findings)
    raise typer.Exit(exit_code(findings, unreadable=gathered.unreadable, strict=strict))
