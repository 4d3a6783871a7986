"""`plan`: what is worth tuning."""

from pathlib import Path
from typing import Annotated

import typer

from aoe_reports.cli.guide import guided
from aoe_reports.cli.job_options import Command
from aoe_reports.cli.language import spoken
from aoe_reports.cli.output import Format, notify, path_argument, print_findings, show
from aoe_reports.model.options import Option
from aoe_reports.model.texts import say
from aoe_reports.tuning.options import PlanOptions


@guided(example="plan profile -o plan --soc Ascend910B --budget 3600", page="tuning")
def plan(
    profile: Annotated[Path, path_argument("A profile: one run.")],
    output: Annotated[
        Path,
        Option(
            help="The plan's folder.", flags=("--output", "-o"), metavar="DIR", only_here=say("where output is written")
        ),
    ],
    chosen: PlanOptions,
    command: Command = None,
    form: Annotated[Format, Option(help="Format of the printed output.", flags=("--format",))] = "text",
) -> None:
    """Plan a tuning job from a profile. Lists what is worth tuning, bounded by the whole step, and what is left out and why."""
    import os
    from dataclasses import replace

    from aoe_reports.tuning.plan.planning import make_plan

    here = Path.cwd() if command else None
    options = replace(chosen, command=tuple(command or ()), working_folder=here, language=spoken())
    planned = make_plan(profile, output, options, dict(os.environ))
    answer = planned.answer(profile)
    show(answer, form, None, strict=chosen.strict)
    if form != "json":
        print_findings(answer.findings)
        if planned.files:
            notify(say("plan: {path}", path=planned.files[0]))
    raise typer.Exit(answer.exit_code(strict=chosen.strict))
