"""`plan`, `tune check`, `tune run`, `tune adopt`, `verify`: from a profile to a bank in use."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aoe_reports.cli.command import guided
from aoe_reports.cli.language import spoken, translated
from aoe_reports.cli.output import (
    FORM,
    AnnotatedFormat,
    ChosenForm,
    Format,
    Output,
    notify,
    path_argument,
    print_findings,
    reply,
    show,
    write,
)
from aoe_reports.cli.progress import ProgressLine, progress_line, shows_progress
from aoe_reports.formats.sources.objects import ObjectPath, asked_path
from aoe_reports.jobs.options import VerifyOptions
from aoe_reports.model.errors import AoeReportsError, UsageError
from aoe_reports.model.options import Option
from aoe_reports.model.texts import say
from aoe_reports.present.forms import forms_of
from aoe_reports.tuning.options import AdoptOptions, PlanOptions, PreflightOptions, TuneOptions

if TYPE_CHECKING:
    from aoe_reports.tuning.banks.adopt import InUse
    from aoe_reports.tuning.job.driver import Progress

PlanFolder = Annotated[Path, typer.Argument(metavar="DIR", help="A plan's folder.", show_default=False)]
Command = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[-- COMMAND...]",
        help=(
            "Command that trains or infers, for scenarios in which this command performs the tuning "
            "(TensorFlow, MindSpore online)."
        ),
        show_default=False,
    ),
]
Places = Annotated[
    list[Path],
    typer.Argument(
        metavar="DIR | BEFORE AFTER",
        help="A plan's folder; with --claims two profiles, or two folders of repeated captures.",
        show_default=False,
        parser=asked_path,
    ),
]


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


@guided(example="tune check plan", page="tuning")
def check(folder: PlanFolder, chosen: PreflightOptions, form: ChosenForm = "text", output: Output = None) -> None:
    """Check whether this machine meets the requirements of a tuning job. Shows what is found, what is required and a verdict; what cannot be detected has to be declared."""
    from aoe_reports.tuning.aoe.machine import preflight

    if chosen.describe_host:
        if chosen.host is not None or chosen.declare:
            raise UsageError(say("preflight: --describe-host cannot be combined with --host or --declare"))
        _describe(folder, output)
        return
    answer = preflight(folder, chosen)
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


@guided(example="tune run plan --dry-run", page="tuning")
def run(
    folder: PlanFolder, chosen: TuneOptions, command: Command = None, form: ChosenForm = "text", output: Output = None
) -> None:
    """Run a planned tuning job on a private bank. Reports the result of each operator, the tuned bank and how to measure again."""
    from dataclasses import replace

    from aoe_reports.tuning.job.job import dry_run, tune

    options = replace(chosen, command=tuple(command or ()), language=spoken())
    if options.dry_run:
        reply(dry_run(folder, options), form, output)
    with progress_line() as progress:
        done = tune(folder, options, _Teller(progress, quiet=options.quiet))
    answer = done.answer(folder, strict=options.strict)
    show(answer, form, output, strict=options.strict)
    if form != "json":
        print_findings(answer.findings)
        for path in done.remeasure[-1:]:
            notify(say("measure again: {path}", path=path))
    if done.signal is not None:
        notify(say("received a signal to end: continue with `aoe-reports tune run {folder} --resume`", folder=folder))
        raise typer.Exit(128 + done.signal)
    raise typer.Exit(answer.exit_code(strict=options.strict))


class _Teller:
    """Passes on to stderr what happens: lines, and how far it is, below them on a terminal."""

    def __init__(self, line: ProgressLine, *, quiet: bool) -> None:
        self._progress = line
        self._quiet = quiet

    def note(self, text: str) -> None:
        self._write(text)

    def line(self, text: str) -> None:
        if not self._quiet:
            self._write(text, indent="  ")

    def progress(self, stage: str, progress: "Progress") -> None:
        from aoe_reports.tuning.job.driver import describe_progress

        if shows_progress():
            self._progress(lambda: describe_progress(stage, progress), progress.share)
        else:
            self._write(describe_progress(stage, progress))

    def _write(self, text: str, indent: str = "") -> None:
        """Write a line; if the terminal is gone, the job continues in silence."""
        from contextlib import suppress

        from aoe_reports.present.values import plain

        with suppress(OSError, ValueError):
            sys.stderr.write(f"{indent}{plain(translated(text))}\n")
            sys.stderr.flush()


@guided(example="tune adopt plan", page="tuning")
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


@guided(example="verify plan --before before --after after", page="tuning")
def verify(
    ctx: typer.Context,
    places: Places,
    chosen: VerifyOptions,
    form: Annotated[AnnotatedFormat, FORM] = "text",
    output: Output = None,
) -> None:
    """Verify a tuner's claims with two profiles. Verdicts are confirmed, partly, not-reproduced, regressed, not-comparable and not-used (by CANN's log the bank was not in use), with reasons and next steps."""
    from dataclasses import replace

    from aoe_reports.jobs.verify import verify as verify_job
    from aoe_reports.jobs.verify_claims import check_claims

    chosen = replace(chosen, language=spoken())
    if chosen.claims:
        source = ctx.get_parameter_source("store")
        before, after = _sides(places, chosen, names_store=source is not None and source.name == "COMMANDLINE")
        answer = check_claims(before, after, chosen)
    else:
        answer = verify_job(_plan_folder(places, chosen), chosen)
    reply(answer, form, output, strict=chosen.strict, forms=forms_of("annotated"))


def _sides(places: list[Path], chosen: VerifyOptions, *, names_store: bool) -> tuple[Path, Path]:
    """BEFORE and AFTER, and nothing that belongs to a plan's folder."""
    if len(places) != len(("BEFORE", "AFTER")):
        raise UsageError(
            say("verify --claims: expected two places, BEFORE and AFTER; found {count}", count=len(places))
        )
    if chosen.before is not None or chosen.after is not None or chosen.results or chosen.log is not None:
        raise UsageError(say("verify --claims: --before, --after, --results and --log belong to a plan's folder"))
    if names_store:  # the environment and a configuration name it for all commands
        raise UsageError(say("verify --claims: nothing is stored; --store belongs to a plan's folder"))
    return places[0], places[1]


def _plan_folder(places: list[Path], chosen: VerifyOptions) -> Path:
    """The folder of a plan, and what belongs to it."""
    if len(places) != 1:
        raise UsageError(say("verify: expected one plan's folder; two profiles are compared with --claims FILE"))
    if chosen.after is None:
        raise UsageError(say("verify: expected --after PROFILE"))
    if chosen.operator:
        raise UsageError(say("verify: --operator is for --claims"))
    if isinstance(places[0], ObjectPath):
        text = say("{uri}: expected a file or folder of this machine, not an object store", uri=places[0])
        raise UsageError(text)
    return places[0]
