"""`site`: the static dashboard of a store."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from aoe_reports.cli.language import spoken
from aoe_reports.cli.output import DEFAULT_STORE, Store, render, write
from aoe_reports.cli.regressions import Alarms


def site(
    folder: Annotated[
        Path, typer.Option("--output", "-o", help="Folder of the site; it is replaced as a whole.", show_default=False)
    ],
    store: Store = DEFAULT_STORE,
    alarms: Alarms = 12.0,
    form: Annotated[Literal["text", "json"], typer.Option("--format", help="Form of the output.")] = "text",
) -> None:
    """Write a folder of static pages: what changed, since when, how much, which operator; every series, every run."""
    from aoe_reports.site.build import build_site

    built = build_site(store, folder, alarms, spoken())
    write(render(form, "site", "Site", inputs=[store], rows=built.rows, findings=[], reasons=[]), None)
