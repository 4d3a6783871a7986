"""`normalize`: v0.1 records."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import typer

from aoe_reports.cli.output import (
    EngineVersion,
    Hardware,
    MaxExpanded,
    Output,
    Paths,
    Raw,
    Strict,
    Workload,
    WorkloadFrom,
    Zone,
    exit_code,
    print_findings,
    run_options,
    write_pieces,
)
from aoe_reports.model.errors import UsageError
from aoe_reports.model.texts import say

if TYPE_CHECKING:
    from aoe_reports.store import Run


def normalize(
    paths: Paths,
    output: Output = None,
    workload: Workload = None,
    workload_from: WorkloadFrom = None,
    hardware: Hardware = None,
    engine_version: EngineVersion = None,
    zone: Zone = None,
    strict: Strict = False,
    max_expanded: MaxExpanded = None,
    raw: Raw = 0,
) -> None:
    """Print benchmark log records (schema v0.1) as JSON lines; -o FILE takes .jsonl, .json or .parquet."""
    from aoe_reports.history.export import records_as_lines, records_as_list, write_records_parquet
    from aoe_reports.history.ingest import Gathered, gather_runs
    from aoe_reports.model.findings import Finding, in_order

    if output is not None and output.suffix not in {".jsonl", ".json", ".parquet"}:
        raise UsageError(say("-o {output}: expected a name that ends in .jsonl, .json or .parquet", output=output))
    gathered = Gathered()
    options = run_options(workload, hardware, engine_version, zone, max_expanded, raw, workload_from=workload_from)
    found: list[Finding] = []

    def runs() -> Iterator[Run]:
        for run in gather_runs(paths, options, gathered):
            found.extend(run.findings)
            yield run

    if output is not None and output.suffix == ".parquet":
        write_records_parquet(runs(), output)
    else:
        as_text = records_as_list if output is not None and output.suffix == ".json" else records_as_lines
        write_pieces(as_text(runs()), output)
    findings = in_order([*gathered.findings, *found])
    print_findings(findings)
    raise typer.Exit(exit_code(findings, unreadable=gathered.unreadable, strict=strict))
