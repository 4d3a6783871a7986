"""`tune`: runs a planned tuning job."""

import sys
from typing import TYPE_CHECKING

import typer

from aoe_reports.cli.guide import guided
from aoe_reports.cli.job_options import Command, PlanFolder
from aoe_reports.cli.language import spoken, translated
from aoe_reports.cli.output import ChosenForm, Output, notify, print_findings, reply, show
from aoe_reports.cli.progress import ProgressLine, progress_line, shows_progress
from aoe_reports.model.texts import say
from aoe_reports.tuning.options import TuneOptions

if TYPE_CHECKING:
    from aoe_reports.tuning.job.driver import Progress


@guided(example="tune plan --dry-run", page="tuning")
def tune(
    folder: PlanFolder, chosen: TuneOptions, command: Command = None, form: ChosenForm = "text", output: Output = None
) -> None:
    """Run a planned tuning job on a private bank. Reports the result of each operator, the tuned bank and how to measure again."""
    from dataclasses import replace

    from aoe_reports.tuning.job.job import dry_run
    from aoe_reports.tuning.job.job import tune as run

    options = replace(chosen, command=tuple(command or ()), language=spoken())
    if options.dry_run:
        reply(dry_run(folder, options), form, output)
    with progress_line() as progress:
        done = run(folder, options, _Teller(progress, quiet=options.quiet))
    answer = done.answer(folder, strict=options.strict)
    show(answer, form, output, strict=options.strict)
    if form != "json":
        print_findings(answer.findings)
        for path in done.remeasure[-1:]:
            notify(say("measure again: {path}", path=path))
    if done.signal is not None:
        notify(say("received a signal to end: continue with `aoe-reports tune {folder} --resume`", folder=folder))
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
        """Write a line; on a terminal that is gone nothing more can be said, and the job goes on."""
        from contextlib import suppress

        from aoe_reports.present.values import plain

        with suppress(OSError, ValueError):
            sys.stderr.write(f"{indent}{plain(translated(text))}\n")
            sys.stderr.flush()
