"""`nightly`: the main job."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from aoe_reports.cli.language import spoken
from aoe_reports.cli.output import FORM, Output, Paths, exit_code, progress_line, show_report, write
from aoe_reports.history.options import EXIT_CODES
from aoe_reports.jobs.nightly_options import NightlyOptions

if TYPE_CHECKING:
    from aoe_reports.jobs.nightly import NightlyResult


def nightly(
    paths: Paths,
    chosen: NightlyOptions,
    form: Annotated[Literal["text", "json", "markdown", "html"], FORM] = "text",
    output: Output = None,
) -> None:
    """Check, normalise, store, compare and report. The comparison uses the history; exit 1 for damage or a regression."""
    from aoe_reports.jobs.nightly import run_nightly
    from aoe_reports.present.as_json import render_rows

    def show(result: "NightlyResult") -> None:
        progress("")  # the report is not written behind what was shown of the work
        if form == "json":
            inputs = [str(path) for path in paths]
            text = render_rows("nightly", inputs, result.rows, result.findings, result.reasons, result.report.data)
        else:
            text = show_report(form, result.report)
        write(text, output)

    with progress_line() as progress:
        result = run_nightly(paths, chosen, language=spoken(), report=show, progress=progress)
    bad = [reason for reason in result.reasons if reason not in {"suspect", "not-enough-data"}]
    code = exit_code(result.findings, unreadable=result.unreadable, strict=chosen.strict, reasons=bad)
    raise typer.Exit(code or next((EXIT_CODES[reason] for reason in result.reasons if reason in EXIT_CODES), 0))
