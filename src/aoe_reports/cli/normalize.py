"""`normalize`: v0.1 records."""

import typer

from aoe_reports.cli.output import (
    EngineVersion,
    Hardware,
    MaxExpanded,
    Output,
    Paths,
    Strict,
    Workload,
    Zone,
    exit_code,
    run_options,
    say,
    write,
)
from aoe_reports.errors import UsageError


def normalize(
    paths: Paths,
    output: Output = None,
    workload: Workload = None,
    hardware: Hardware = None,
    engine_version: EngineVersion = None,
    zone: Zone = None,
    strict: Strict = False,
    max_expanded: MaxExpanded = None,
) -> None:
    """Print benchmark log records (schema v0.1) as JSON lines; -o FILE takes .jsonl, .json or .parquet."""
    from aoe_reports.findings import in_order
    from aoe_reports.workflows.export import records_text, write_records_parquet
    from aoe_reports.workflows.ingest import Gathered, gather_runs

    if output is not None and output.suffix not in {".jsonl", ".json", ".parquet"}:
        raise UsageError(f"-o {output}: expected a name that ends in .jsonl, .json or .parquet")
    gathered = Gathered()
    options = run_options(workload, hardware, engine_version, zone, max_expanded)
    runs = [item.run for item in gather_runs(paths, options, gathered)]
    findings = in_order([*gathered.findings, *(finding for run in runs for finding in run.findings)])
    if output is not None and output.suffix == ".parquet":
        write_records_parquet(runs, output)
    else:
        write(records_text(runs, as_list=output is not None and output.suffix == ".json"), output)
    say(findings)
    raise typer.Exit(exit_code(findings, unreadable=gathered.unreadable, strict=strict))
