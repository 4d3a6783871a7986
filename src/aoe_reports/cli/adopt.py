"""`adopt`: puts a proven bank into use."""

from typing import TYPE_CHECKING

import typer

from aoe_reports.cli.guide import guided
from aoe_reports.cli.job_options import PlanFolder
from aoe_reports.cli.output import ChosenForm, Output, notify, print_findings, show
from aoe_reports.model.errors import AoeReportsError
from aoe_reports.model.texts import say
from aoe_reports.tuning.options import AdoptOptions

if TYPE_CHECKING:
    from aoe_reports.tuning.banks.adopt import InUse


@guided(example="adopt plan", page="tuning")
def adopt(folder: PlanFolder, chosen: AdoptOptions, form: ChosenForm = "text", output: Output = None) -> None:
    """Put a job's private bank into use. `verify` must have confirmed it; the old bank is kept, and no process sees a partial bank."""
    import os

    from aoe_reports.tuning.banks.adopt import adopt as put_into_use

    done = put_into_use(folder, os.environ, chosen)
    answer = done.answer(folder, strict=chosen.strict)
    try:
        show(answer, form, output)
    except (AoeReportsError, OSError):
        _say_what_is_in_use(done.in_use)
        raise
    if form != "json":
        print_findings(answer.findings)
        _say_what_is_in_use(done.in_use)
    raise typer.Exit(answer.exit_code(strict=chosen.strict))


def _say_what_is_in_use(in_use: "InUse") -> None:
    if in_use.adopted:
        notify(say("now in use: the tuned bank ({path})", path=in_use.bank))
    for backup in in_use.backups:
        notify(say("kept: {path}", path=backup))
