"""`preflight`: is this machine fit for a tuning job?"""

from pathlib import Path

import typer

from aoe_reports.cli.guide import guided
from aoe_reports.cli.job_options import PlanFolder
from aoe_reports.cli.output import ChosenForm, Output, print_findings, show, write
from aoe_reports.model.errors import UsageError
from aoe_reports.model.texts import say
from aoe_reports.tuning.options import PreflightOptions


@guided(example="preflight plan", page="tuning")
def preflight(folder: PlanFolder, chosen: PreflightOptions, form: ChosenForm = "text", output: Output = None) -> None:
    """Check whether this machine meets the requirements of a tuning job. Shows what is found, what is required and a verdict; what cannot be detected has to be declared."""
    from aoe_reports.tuning.aoe.machine import preflight as check

    if chosen.describe_host:
        if chosen.host is not None or chosen.declare:
            raise UsageError(say("preflight: --describe-host cannot be combined with --host or --declare"))
        _describe(folder, output)
        return
    answer = check(folder, chosen)
    show(answer, form, output, strict=chosen.strict)
    if form == "csv":
        print_findings(answer.findings)
    raise typer.Exit(answer.exit_code(strict=chosen.strict))


def _describe(folder: Path, output: Path | None) -> None:
    import os

    from aoe_reports.tuning.aoe.machine import look_at_host
    from aoe_reports.tuning.aoe.preflight import document_of_host
    from aoe_reports.tuning.plan.folder import read_plan
    from aoe_reports.tuning.plan.plan import to_json

    write(to_json(document_of_host(look_at_host(read_plan(folder), folder, os.environ))), output)
