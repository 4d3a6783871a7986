"""`tune`: runs a planned tuning job."""

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from aoe_reports.cli.job_options import AoeOption, Framework, Model, ModelPath, Weight
from aoe_reports.cli.language import spoken, told
from aoe_reports.cli.output import (
    Format,
    Output,
    Strict,
    exit_code,
    notify,
    print_findings,
    render,
    show_report,
    write,
)
from aoe_reports.cli.terminal import ERASE_LINE, write_control
from aoe_reports.engine.question import MAX_ID
from aoe_reports.model.errors import UsageError
from aoe_reports.model.texts import say

if TYPE_CHECKING:
    from aoe_reports.tuning.job import Tuned, Wish
    from aoe_reports.tuning.progress import Progress

_DURATION = re.compile(r"(\d{1,9}(?:\.\d{1,6})?)([smhd]?)", re.ASCII)
_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}


def tune(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A plan's folder.", show_default=False)],
    command: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[-- COMMAND...]",
            help="What trains or infers, where that is what tunes (TensorFlow, MindSpore online).",
            show_default=False,
        ),
    ] = None,
    model: Model = None,
    weight: Weight = None,
    model_path: ModelPath = None,
    framework: Framework = None,
    aoe_option: AoeOption = None,
    working_folder: Annotated[
        Path | None, typer.Option(help="Where the command runs [default: a fresh folder].", show_default=False)
    ] = None,
    device: Annotated[int | None, typer.Option(min=0, max=MAX_ID, help="ASCEND_DEVICE_ID.", show_default=False)] = None,
    bank: Annotated[
        Literal["copy", "empty"] | None,
        typer.Option(help="How the private bank begins [default: as the plan says, copy].", show_default=False),
    ] = None,
    soc: Annotated[
        str | None, typer.Option(help="The chip, where the plan does not name it.", show_default=False)
    ] = None,
    timeout: Annotated[
        str | None, typer.Option(metavar="DURATION", help="End it after 90s, 30m, 2h…", show_default=False)
    ] = None,
    grace: Annotated[
        float, typer.Option(min=0, max=3600, help="Seconds between asking processes to end and ending them.")
    ] = 10.0,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a job that stopped.")] = False,
    restart: Annotated[bool, typer.Option("--restart", help="Begin anew; what is there is put away.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only print what would be run.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Do not pass on what AOE prints.")] = False,
    form: Annotated[Format, typer.Option("--format", help="Form of the output.")] = "text",
    output: Output = None,
    strict: Strict = False,
) -> None:
    """Run a planned tuning job on a private bank: what came of each operator, the tuned bank, how to measure again."""
    from aoe_reports.tuning.job import Wish

    if resume and restart:
        raise UsageError(say("tune: --resume and --restart exclude each other"))
    wish = Wish(
        command=tuple(command or ()),
        working_folder=_absolute(working_folder),
        model=_absolute(model),
        weight=_absolute(weight),
        model_path=_absolute(model_path),
        framework=int(framework) if framework is not None else None,
        device=device,
        options=tuple(aoe_option or ()),
        bank_seed=bank,
        soc=soc,
        resume=resume,
        restart=restart,
        timeout_s=_seconds(timeout),
        grace_s=grace,
        strict=strict,
        language=spoken(),
    )
    if dry_run:
        _print_plan(folder, wish, form, output)
        return
    _run(folder, wish, form, output, quiet=quiet, strict=strict)


def _print_plan(folder: Path, wish: "Wish", form: Format, output: Path | None) -> None:
    from aoe_reports.tuning.job import dry_run as describe

    rows = describe(folder, wish)
    if form in {"json", "csv"}:
        write(render(form, "tune", "What would be run", inputs=[folder], rows=rows, findings=[], reasons=[]), output)
        return
    from aoe_reports.present.reports.jobs import dry_run_report

    write(show_report(form, dry_run_report(rows)), output)


def _run(folder: Path, wish: "Wish", form: Format, output: Path | None, *, quiet: bool, strict: bool) -> None:
    from aoe_reports.model.findings import reasons_of
    from aoe_reports.present.as_json import render_rows
    from aoe_reports.tuning.job import tune as run

    done = run(folder, wish, _Teller(quiet=quiet))
    reasons = _reasons(done) or reasons_of(done.findings, strict=strict)
    if form == "json":
        write(render_rows("tune", [str(folder)], done.rows, done.findings, reasons, done.more), output)
    else:
        _write_report(form, done, output)
        print_findings(done.findings)
        for path in done.more.get("remeasure", ())[-1:]:
            notify(say("measure again: {path}", path=path))
    if done.signal is not None:
        notify(say("told to end: `aoe-reports tune {folder} --resume` goes on", folder=folder))
        raise typer.Exit(128 + done.signal)
    raise typer.Exit(exit_code(done.findings, strict=strict, reasons=reasons))


def _write_report(form: Format, done: "Tuned", output: Path | None) -> None:
    from aoe_reports.present.csv import render_rows
    from aoe_reports.present.reports.jobs import tuned_report

    text = (
        render_rows(done.rows) if form == "csv" else show_report(form, tuned_report(done.rows, done.more.get("status")))
    )
    write(text, output)


def _reasons(done: "Tuned") -> list[str]:
    if not done.failed:
        return []
    return ["preflight"] if done.more.get("status") == "not-run" else ["tuning-failed"]


def _absolute(path: Path | None) -> str | None:
    return None if path is None else str(path.absolute())


def _seconds(text: str | None) -> float | None:
    if text is None:
        return None
    found = _DURATION.fullmatch(text)
    if found is None:
        raise UsageError(say("tune: --timeout {text!r} is no duration; expected for example 90s, 30m, 2h", text=text))
    return float(found[1]) * _SECONDS[found[2]]


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
