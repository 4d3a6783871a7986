"""`report`: one night from the stored history, as a page, as a message, as pictures."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from aoe_reports.cli.guide import guided
from aoe_reports.cli.language import spoken
from aoe_reports.cli.output import FORM, Output, notify, print_findings, show
from aoe_reports.history.options import StoreOptions
from aoe_reports.jobs.options import ReportOptions


@guided(example="report --format html -o night.html --store aoe-history", page="report")
def report(
    chosen: ReportOptions,
    place: StoreOptions,
    form: Annotated[Literal["text", "json", "markdown", "html"], FORM] = "text",
    output: Output = None,
) -> None:
    """Report one night from the stored history. Shows what became slower, since when and in which operator, the hotspots and AOE's claims."""
    import logging

    from aoe_reports.history.rules import NOT_ENOUGH_DATA

    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # that it looks for fonts is no news to anybody

    from aoe_reports.jobs.report import report_night, write_figures
    from aoe_reports.model.texts import say

    answer = report_night(place.store, chosen)
    if chosen.png is not None:
        from aoe_reports.present.figures import can_draw

        beside = output.parent if output is not None else Path.cwd()
        answer = write_figures(answer, chosen.png, beside, spoken())
        if answer.more["figures"] and not can_draw(spoken()):
            notify(say("{path}: the figures are in English: no font for Chinese is installed", path=chosen.png))
    show(answer, form, output, strict=chosen.strict_data)
    if form != "json":
        print_findings([finding for finding in answer.findings if finding.rule == NOT_ENOUGH_DATA.name])
    raise typer.Exit(answer.exit_code(strict=chosen.strict_data))
