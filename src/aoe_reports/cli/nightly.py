"""`nightly`: the main job."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from aoe_reports.cli.language import spoken
from aoe_reports.cli.output import (
    EngineVersion,
    Hardware,
    MaxExpanded,
    Output,
    Paths,
    Raw,
    Renew,
    Strict,
    Workload,
    WorkloadFrom,
    Zone,
    exit_code,
    progress_line,
    show_report,
    write,
)
from aoe_reports.history.options import EXIT_CODES, GateOptions, StoreOptions

if TYPE_CHECKING:
    from aoe_reports.jobs.nightly import NightlyResult


def nightly(
    paths: Paths,
    place: StoreOptions,
    gates: GateOptions,
    site: Annotated[
        Path | None,
        typer.Option(help="Folder for the pages of `site`, and for report.html, .md and .json.", show_default=False),
    ] = None,
    workload: Workload = None,
    workload_from: WorkloadFrom = None,
    hardware: Hardware = None,
    engine_version: EngineVersion = None,
    zone: Zone = None,
    form: Annotated[
        Literal["text", "json", "markdown", "html"], typer.Option("--format", help="Form of the output.")
    ] = "text",
    output: Output = None,
    strict: Strict = False,
    max_expanded: MaxExpanded = None,
    raw: Raw = 0,
    renew: Renew = False,
) -> None:
    """Check, normalise, store, compare with the history, report; exit 1 for damage or a regression."""
    from aoe_reports.jobs.nightly import Strictness, run_nightly
    from aoe_reports.present.as_json import render_rows
    from aoe_reports.questions.records.options import IngestOptions

    options = IngestOptions(
        strict=strict,
        max_expanded=max_expanded,
        workload=workload,
        workload_from=workload_from,
        hardware=hardware,
        engine_version=engine_version,
        tz=zone,
        raw=raw,
        renew=renew,
    )

    def show(result: "NightlyResult") -> None:
        progress("")  # the report is not written behind what was shown of the work
        if form == "json":
            inputs = [str(path) for path in paths]
            text = render_rows("nightly", inputs, result.rows, result.findings, result.reasons, result.report.data)
        else:
            text = show_report(form, result.report)
        write(text, output)

    with progress_line() as progress:
        result = run_nightly(
            paths,
            place.store,
            site,
            options,
            gates=gates,
            strictness=Strictness(strict, gates.strict_data),
            language=spoken(),
            report=show,
            progress=progress,
        )
    bad = [reason for reason in result.reasons if reason not in {"suspect", "not-enough-data"}]
    code = exit_code(result.findings, unreadable=result.unreadable, strict=strict, reasons=bad)
    raise typer.Exit(code or next((EXIT_CODES[reason] for reason in result.reasons if reason in EXIT_CODES), 0))
