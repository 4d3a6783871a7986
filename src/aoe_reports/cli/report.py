"""`report`: one night from the stored history, as a page, as a message, as pictures."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from aoe_reports.cli.language import spoken
from aoe_reports.cli.output import DEFAULT_STORE, Output, Store, notify, print_findings, show_report, write
from aoe_reports.cli.regressions import Alarms, StrictData


def report(
    store: Store = DEFAULT_STORE,
    workload: Annotated[str | None, typer.Option(help="Only this workload.", show_default=False)] = None,
    night: Annotated[
        str | None, typer.Option(metavar="YYYY-MM-DD", help="The night [default: the newest].", show_default=False)
    ] = None,
    png: Annotated[
        Path | None,
        typer.Option(
            "--png", metavar="DIR", help="Write the figures as PNG files with alt text, too.", show_default=False
        ),
    ] = None,
    alarms: Alarms = 12.0,
    strict_data: StrictData = False,
    form: Annotated[
        Literal["text", "json", "markdown", "html"], typer.Option("--format", help="Form of the output.")
    ] = "text",
    output: Output = None,
) -> None:
    """Report one night from the stored history: what got slower, since when, which operator; hotspots, AOE's claims."""
    import logging

    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # that it looks for fonts is no news to anybody

    from aoe_reports.jobs.report import ReportOptions, report_night, write_figures
    from aoe_reports.model.texts import say

    made = report_night(store, ReportOptions(workload, night, alarms))
    page, figures = made.report, list[dict[str, Any]]()
    if png is not None:
        from aoe_reports.present.figures import can_draw

        beside = output.parent if output is not None else Path.cwd()
        page, figures = write_figures(page, png, beside, spoken())
        if figures and not can_draw(spoken()):
            notify(say("{path}: the figures are in English: no font for Chinese is installed", path=png))
    reasons = made.reasons if strict_data else []
    if form == "json":
        from aoe_reports.present.as_json import render_rows

        text = render_rows("report", [store], made.rows, made.findings, reasons, {**made.as_data(), "figures": figures})
    else:
        text = show_report(form, page)
    write(text, output)
    if form != "json":
        print_findings([finding for finding in made.findings if finding.rule == "not-enough-data"])
    raise typer.Exit(4 if reasons else 0)
