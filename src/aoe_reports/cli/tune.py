"""`tune`: runs a planned tuning job."""

import sys
from typing import TYPE_CHECKING

import typer

from aoe_reports.cli.job_options import Command, PlanFolder
from aoe_reports.cli.language import spoken, told
from aoe_reports.cli.output import ChosenForm, Output, notify, print_findings, reply, show
from aoe_reports.cli.terminal import ERASE_LINE, write_control
from aoe_reports.model.texts import say
from aoe_reports.tuning.options import TuneOptions

if TYPE_CHECKING:
    from aoe_reports.tuning.progress import Progress


def tune(
    folder: PlanFolder, chosen: TuneOptions, command: Command = None, form: ChosenForm = "text", output: Output = None
) -> None:
    """Run a planned tuning job on a private bank. Reports the result of each operator, the tuned bank and how to measure again."""
    from dataclasses import replace

    from aoe_reports.tuning.job import dry_run
    from aoe_reports.tuning.job import tune as run

    options = replace(chosen, command=tuple(command or ()), language=spoken())
    if options.dry_run:
        reply(dry_run(folder, options), form, output)
    done = run(folder, options, _Teller(quiet=options.quiet))
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
    """Passes on to stderr what happens: a bar on a terminal, lines otherwise."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._bar = ""
        self._terminal = sys.stderr.isatty()

    def note(self, text: str) -> None:
        self._write(f"{told(text)}\n")

    def line(self, text: str) -> None:
        if not self._quiet:
            self._write(f"  {told(text)}\n")

    def progress(self, stage: str, progress: "Progress") -> None:
        from aoe_reports.tuning.progress import describe_progress, draw_progress

        if not self._terminal:
            self._write(told(describe_progress(stage, progress)) + "\n")
            return
        self._bar = told(draw_progress(stage, progress))
        self._write("")

    def _write(self, text: str) -> None:
        """A line above the bar; on a terminal that is gone nothing more can be said, and the job goes on."""
        import contextlib

        from aoe_reports.present.values import plain

        shown = plain(text.removesuffix("\n")) + text[len(text.removesuffix("\n")) :]
        with contextlib.suppress(OSError, ValueError):
            if self._terminal:
                write_control(sys.stderr, f"{ERASE_LINE}{shown}{plain(self._bar)}")
            else:
                sys.stderr.write(shown)
            sys.stderr.flush()
