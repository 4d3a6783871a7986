"""`doctor` and `mcp`: whether this installation works, which options are in force, and a server for assistants."""

from __future__ import annotations

from typing import Annotated

import typer

from aoe_reports.cli.command import guided
from aoe_reports.cli.output import ChosenForm, Output, reply, write
from aoe_reports.engine.question import StrictOptions, one_table
from aoe_reports.jobs.doctor.checkup import DoctorOptions
from aoe_reports.model.errors import UsageError
from aoe_reports.model.options import Option, option, options
from aoe_reports.model.rows import Rows
from aoe_reports.model.texts import count_of, say

_READS = say("what assistants may read")


@guided(example="doctor --store aoe-history --site site", page="doctor")
def doctor(
    ctx: typer.Context,
    chosen: DoctorOptions,
    run: StrictOptions,
    shows_options: Annotated[
        bool,
        Option(
            help="Show instead which options of which commands files and the environment set.",
            flags=("--options",),
            only_here=say("additional output"),
        ),
    ] = False,
    every: Annotated[
        bool,
        Option(
            help="With --options: include options that have not been changed.",
            flags=("--all",),
            only_here=say("additional output"),
        ),
    ] = False,
    form: ChosenForm = "text",
    output: Output = None,
) -> None:
    """Check whether this installation works. Shows versions, optional parts, this machine, the store and the site, and what to do; exit 1 for a fault."""
    in_force = ctx.find_root().obj
    files = [] if in_force is None else in_force.files
    if every and not shows_options:
        raise UsageError(say("doctor: --all belongs to --options"))
    if shows_options:
        from aoe_reports.cli.configuration import Setting, settings, settings_of_thresholds

        found = [setting for setting in settings(ctx) if every or setting.source != "default"]
        rows = Rows(type=Setting, rows=[*found, *settings_of_thresholds(ctx)])
        said = count_of(
            len(rows.rows),
            "{number} option is not as it is by default.",
            "{number} options are not as they are by default.",
        )
        paths = [file.path for file in files]
        reply(one_table("config", "Configuration", paths, rows, headline="" if every else said), form, output)
    from aoe_reports.jobs.doctor.examine import examine

    counts = [(str(file.path), _count(file.table)) for file in files]
    reply(examine(chosen, counts), form, output, strict=run.strict)


def _count(table: object) -> int:
    """How many values a file sets."""
    return sum(map(_count, table.values())) if isinstance(table, dict) else 1


@options
class AssistantOptions:
    """What assistants may read, and how long a call may take."""

    root: tuple[str, ...] = option(
        default=(),
        help="Folder or URI prefix below which assistants may read (repeatable).",
        flags=["--root"],
        only_here=_READS,
    )
    store: str | None = option(
        default=None, help="Folder or URI of the store that assistants may read.", only_here=_READS
    )
    seconds: float = option(
        default=120.0, minimum=1, maximum=3600, help="Time limit of one call, in seconds.", protects=True
    )
    skill: bool = option(
        default=False,
        help="Print a skill for assistants (SKILL.md) and exit.",
        flags=["--skill"],
        only_here=say("additional output"),
    )


@guided(example="mcp --root profile --store aoe-history", page="assistants")
def mcp(chosen: AssistantOptions) -> None:
    """Let assistants read profiles and the store. A server of the Model Context Protocol on standard input and output, which only reads."""
    if chosen.skill:
        from aoe_reports.assistants.skill import SKILL

        write(SKILL, None)
        return
    if not chosen.root and chosen.store is None:
        raise UsageError(say("mcp: expected --root DIR, --store URI, or both: what assistants may read"))
    from aoe_reports.assistants.places import Places
    from aoe_reports.cli.menu import every_question
    from aoe_reports.topics.files.check import Check

    places = Places.of(chosen.root)
    try:
        from aoe_reports.assistants.calls import Access
        from aoe_reports.assistants.server import serve
    except ModuleNotFoundError as error:
        raise UsageError(say("mcp needs the SDK of the protocol: pip install 'aoe-reports[mcp]'")) from error
    serve(Access({**every_question(), Check.name: Check()}, places, chosen.store), chosen.seconds)
