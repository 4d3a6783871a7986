"""`doctor`: will what is installed here work?"""

import typer

from aoe_reports.cli.guide import guided
from aoe_reports.cli.output import ChosenForm, Output, reply
from aoe_reports.engine.question import StrictOptions
from aoe_reports.jobs.doctor.checkup import DoctorOptions


@guided(example="doctor --store aoe-history --site site", page="doctor")
def doctor(
    ctx: typer.Context,
    chosen: DoctorOptions,
    run: StrictOptions,
    form: ChosenForm = "text",
    output: Output = None,
) -> None:
    """Check whether this installation works. Shows versions, optional parts, this machine, the store and the site, and what to do; exit 1 for a fault."""
    from aoe_reports.jobs.doctor.examine import examine

    found = ctx.find_root().obj
    files = [] if found is None else [(str(file.path), _settings(file.table)) for file in found.files]
    reply(examine(chosen, files), form, output, strict=run.strict)


def _settings(table: object) -> int:
    """How many values a file sets."""
    return sum(map(_settings, table.values())) if isinstance(table, dict) else 1
