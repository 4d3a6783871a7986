"""`check`: is what was read right?"""

import sys
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aoe_reports.cli.language import spoken, told
from aoe_reports.cli.output import (
    CheckFormat,
    MaxExpanded,
    Output,
    Strict,
    exit_code,
    notify,
    print_findings,
    render,
    show_report,
    write,
    write_pieces,
)
from aoe_reports.model.errors import UsageError
from aoe_reports.model.findings import Finding, listed, reasons_of
from aoe_reports.model.texts import say

if TYPE_CHECKING:
    from aoe_reports.formats.aoe.results import TuningResult


def check(
    paths: Annotated[list[Path] | None, typer.Argument(help="Files or folders.", show_default=False)] = None,
    form: Annotated[CheckFormat, typer.Option("--format", help="Form of the output.")] = "text",
    select: Annotated[list[str] | None, typer.Option(help="Only this rule (repeatable).", show_default=False)] = None,
    ignore: Annotated[list[str] | None, typer.Option(help="Not this rule (repeatable).", show_default=False)] = None,
    rules: Annotated[bool, typer.Option("--rules", help="List every rule.")] = False,
    output: Output = None,
    strict: Strict = False,
    max_expanded: MaxExpanded = None,
    max_size: Annotated[
        int | None,
        typer.Option(
            min=1, help="Bytes of the largest AOE result that is read (256 MiB unless told).", show_default=False
        ),
    ] = None,
    watch: Annotated[
        bool,
        typer.Option("--watch", help="Follow a tuning run until all its results are there (or Ctrl-C), then check."),
    ] = False,
    interval: Annotated[float, typer.Option(min=0.05, help="Seconds between two looks of --watch.")] = 1.0,
) -> None:
    """Validate AOE results, gradient banks and records against schemas and rules, tables against their declarations."""
    from aoe_reports.model.version import __version__
    from aoe_reports.present import CHECK_RENDERERS
    from aoe_reports.present.reports.checked import Checked
    from aoe_reports.present.reports.tuning import TuningTask, summarise
    from aoe_reports.questions.check import Wanted, check_paths

    is_named = rules or select or ignore or form in CHECK_RENDERERS
    known = _known_rules() if is_named else {}  # they are declared all over the package: importing that takes its time
    if rules:
        if form in CHECK_RENDERERS:
            raise UsageError(
                say("check: --rules has no format {form}; expected text, json, csv, markdown or html", form=form)
            )
        write(
            render(form, "check", "Rules", inputs=[], rows=list(known.values()), findings=[], reasons=[], of="rules"),
            output,
        )
        return
    if not paths:
        raise UsageError(say("check: expected a PATH, or --rules"))
    tasks: list[TuningTask] = []

    def tell(path: str, result: "TuningResult", found: Sequence[Finding]) -> None:
        tasks.append(summarise(path, result, found))

    wanted = Wanted(
        frozenset(_names(select, known)),
        frozenset(_names(ignore, known)),
        max_expanded,
        max_size,
        tell if form in {"markdown", "html"} else None,
        watched=watch,
    )
    if watch:
        _follow(paths, interval, max_size)
    outcome = check_paths(paths, wanted)
    rows, findings, unreadable = outcome.rows, outcome.findings, outcome.unreadable
    checked = Checked(rows, findings, list(known.values()), strict, __version__)
    if form == "csv":
        print_findings(findings)
    write_pieces(_pieces(form, paths, checked, tasks), output)
    raise typer.Exit(exit_code(findings, unreadable=unreadable, strict=strict))


def _known_rules() -> dict[str, dict[str, Any]]:
    from aoe_reports.jobs.rules import list_rules

    return {rule["rule"]: rule for rule in list_rules()}


def _pieces(form: CheckFormat, paths: list[Path], checked: Any, tasks: Sequence[Any]) -> Iterator[str]:
    """What was found in one of the formats, piece by piece where thousands of files fit into it."""
    from aoe_reports.present import CHECK_RENDERERS
    from aoe_reports.present.reports.checked import check_report
    from aoe_reports.present.values import plain

    rows, findings = checked.rows, checked.findings
    reasons = reasons_of(findings, strict=checked.strict)
    if form == "json":
        from aoe_reports.present.as_json import render_pieces

        yield from render_pieces("check", [str(path) for path in paths], [rows], lambda: (findings, reasons))
    elif form == "csv":
        from aoe_reports.present.csv import render_pieces as csv_pieces

        yield from csv_pieces(rows)
    elif form == "text":
        from aoe_reports.present.reports.language import report_in
        from aoe_reports.present.reports.rows import rows_report
        from aoe_reports.present.text import render_pieces as text_pieces

        yield from text_pieces(report_in(rows_report("check", "Checked", rows), spoken()))
        yield from (plain(told(finding.as_text())) + "\n" for finding in listed(findings))
    elif form in CHECK_RENDERERS:
        yield CHECK_RENDERERS[form](checked)
    else:
        yield show_report(form, check_report(checked, tasks))


def _follow(paths: list[Path], interval: float, max_size: int | None) -> None:
    """Tell of each change of the results below some paths until all are there, or somebody says that it is enough."""
    import signal

    from aoe_reports.formats.discovery import result_files
    from aoe_reports.jobs.watch import watch as watch_results

    for path in paths:
        if not path.exists():
            raise UsageError(say("check --watch: {path}: no such file or folder", path=path))
        if not path.is_dir() and not result_files([path]):
            raise UsageError(
                say("check --watch: {path}: no AOE result, neither by its name nor by its content", path=path)
            )

    def tell(path: Path, text: str) -> None:
        notify(say("{path}: {text}", path=path, text=text))
        sys.stderr.flush()

    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        watch_results(paths, tell, interval_s=interval, max_size=max_size)
    except KeyboardInterrupt:
        notify(say("told to end: what is there is checked"))
    finally:
        signal.signal(signal.SIGTERM, before)


def _names(given: list[str] | None, known: Collection[str]) -> list[str]:
    """The rules that an option names."""
    names = [name.strip() for part in given or [] for name in part.split(",") if name.strip()]
    for name in names:
        if name not in known:
            raise UsageError(say("check: no rule {name!r}; `aoe-reports check --rules` lists them", name=name))
    return names
