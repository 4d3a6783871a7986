"""`demo`: the main job on simulated nights."""

from pathlib import Path
from typing import Annotated

import typer

from aoe_reports.cli.guide import guided
from aoe_reports.cli.language import spoken, translated
from aoe_reports.cli.output import show, write
from aoe_reports.model.options import Option
from aoe_reports.model.texts import say

DEFAULT_FOLDER = Path("aoe-reports-demo")


@guided(example="demo -o aoe-reports-demo", page="tutorial")
def demo(
    folder: Annotated[
        Path,
        Option(
            help="Folder for nights, history and site.",
            flags=("--output", "-o"),
            only_here=say("where output is written"),
        ),
    ] = DEFAULT_FOLDER,
) -> None:
    """Write 45 simulated nights and analyse them. One operator is slower from night 38 on."""
    from aoe_reports.jobs.demo import run_demo

    result = run_demo(folder, spoken())
    show(result.nightly, "text", None)
    code, reasons = result.nightly.exit_code(), ", ".join(result.nightly.reasons()) or say("nothing")
    lines = [
        "",
        say(
            "This is simulated data: operator {operator} was made 8% slower from {night} on.",
            operator=result.planted,
            night=result.planted_night,
        ),
        say("It was found.") if result.found else say("It was NOT found."),
        say("As a gate, `nightly` would have ended with exit code {code} ({reasons}).", code=code, reasons=reasons),
        say("Report: {path}", path=result.folder / "site" / "report.html"),
        say("Pages: {path}", path=result.folder / "site" / "index.html"),
        "",
    ]
    write("\n".join(map(translated, lines)), None)
    raise typer.Exit(0 if result.found else 1)
