"""`demo`: the main job on simulated nights."""

from pathlib import Path
from typing import Annotated

import typer

from aoe_reports.cli.output import exit_code, write

DEFAULT_FOLDER = Path("aoe-reports-demo")


def demo(
    folder: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for nights, history and site.")
    ] = DEFAULT_FOLDER,
) -> None:
    """Write 45 simulated nights, one operator slower from night 38 on, and do the main job over them."""
    from aoe_reports.renderers import RENDERERS
    from aoe_reports.workflows.demo import run_demo

    result = run_demo(folder)
    code = exit_code(result.nightly.findings, reasons=result.nightly.reasons)
    write(RENDERERS["text"](result.nightly.report), None)
    reasons = ", ".join(result.nightly.reasons) or "nothing"
    lines = [
        "",
        f"This is simulated data: operator {result.planted} was made 8 % slower from {result.planted_night} on.",
        f"It was {'found' if result.found else 'NOT found'}. `nightly` as a gate would have ended with exit code {code} ({reasons}).",
        f"Report: {result.folder / 'site' / 'report.html'}",
        f"Pages: {result.folder / 'site' / 'index.html'}",
        "",
    ]
    write("\n".join(lines), None)
    raise typer.Exit(0 if result.found else 1)
