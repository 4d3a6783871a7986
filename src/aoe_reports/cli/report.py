"""`report`: one night from the stored history, as a page, as a message, as pictures."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from aoe_reports.cli.language import spoken
from aoe_reports.cli.output import FORM, Output, notify, print_findings, show_report, write
from aoe_reports.history.options import EXIT_CODES, StoreOptions
from aoe_reports.jobs.report_options import ReportOptions


def report(
    chosen: ReportOptions,
    place: StoreOptions,
    form: Annotated[Literal["text", "json", "markdown", "html"], FORM] = "text",
    output: Output = None,
) -> None:
    """Report one night from the stored history. Shows what became slower, since when and in which operator, the hotspots and AOE's claims."""
    import logging

    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # that it looks for fonts is no news to anybody

    from aoe_reports.jobs.report import report_night, write_figures
    from aoe_reports.model.texts import say

    made = report_night(place.store, chosen)
    page, figures = made.report, list[dict[str, Any]]()
    if chosen.png is not None:
        from aoe_reports.present.figures import can_draw

        beside = output.parent if output is not None else Path.cwd()
        page, figures = write_figures(page, chosen.png, beside, spoken())
        if figures and not can_draw(spoken()):
            notify(say("{path}: the figures are in English: no font for Chinese is installed", path=chosen.png))
    reasons = made.reasons if chosen.strict_data else []
    if form == "json":
        from aoe_reports.present.as_json import render_rows

        more = {**made.as_data(), "figures": figures}
        text = render_rows("report", [place.store], made.rows, made.findings, reasons, more)
    else:
        text = show_report(form, page)
    write(text, output)
    if form != "json":
        print_findings([finding for finding in made.findings if finding.rule == "not-enough-data"])
    raise typer.Exit(EXIT_CODES["not-enough-data"] if reasons else 0)
