"""`nightly`: the main job."""

from typing import Annotated, Literal

import typer

from aoe_reports.cli.ending import terminable
from aoe_reports.cli.guide import guided
from aoe_reports.cli.language import spoken
from aoe_reports.cli.output import FORM, Output, Paths, show
from aoe_reports.cli.progress import progress_line
from aoe_reports.jobs.options import NightlyOptions


@guided(example="nightly profile --workload net --site site --store aoe-history", page="tutorial")
def nightly(
    paths: Paths,
    chosen: NightlyOptions,
    form: Annotated[Literal["text", "json", "markdown", "html"], FORM] = "text",
    output: Output = None,
) -> None:
    """Check, normalise, store, compare and report. The comparison uses the history; exit 1 for damage or a regression."""
    from aoe_reports.engine.fleet.executors import executor_here
    from aoe_reports.jobs.nightly import run_nightly

    with terminable(), progress_line() as progress:
        answer = run_nightly(
            paths,
            chosen,
            language=spoken(),
            report=lambda answer: show(answer, form, output),
            executor=executor_here(chosen),
            progress=progress,
        )
    raise typer.Exit(answer.exit_code(strict=chosen.strict))
