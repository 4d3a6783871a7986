"""`check`: is what was read right?"""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Annotated

import typer

from aoe_reports.cli.output import CheckFormat, MaxExpanded, Output, Strict, exit_code, render, say, write
from aoe_reports.errors import UsageError
from aoe_reports.findings import Finding, reasons_of
from aoe_reports.results import TuningResult


def check(
    paths: Annotated[list[Path] | None, typer.Argument(help="Files or folders.", show_default=False)] = None,
    form: Annotated[CheckFormat, typer.Option("--format", help="Form of the output.")] = "text",
    select: Annotated[list[str] | None, typer.Option(help="Only this rule (repeatable).", show_default=False)] = None,
    ignore: Annotated[list[str] | None, typer.Option(help="Not this rule (repeatable).", show_default=False)] = None,
    rules: Annotated[bool, typer.Option("--rules", help="List every rule.")] = False,
    output: Output = None,
    strict: Strict = False,
    max_expanded: MaxExpanded = None,
) -> None:
    """Validate AOE results against schema and rules, and tables of the profiler against their declarations."""
    from aoe_reports import __version__
    from aoe_reports.renderers import CHECK_RENDERERS, RENDERERS
    from aoe_reports.renderers.values import plain
    from aoe_reports.reports.checked import Checked, check_report
    from aoe_reports.reports.tuning import TuningTask, summarise
    from aoe_reports.workflows.check import check_paths
    from aoe_reports.workflows.rules import list_rules

    known = {rule["rule"]: rule for rule in list_rules()}
    if rules:
        if form in CHECK_RENDERERS:
            raise UsageError(f"check: --rules has no format {form}; expected text, json, csv, markdown or html")
        write(render(form, "check", "Rules", [], list(known.values()), [], [], of="rules"), output)
        return
    if not paths:
        raise UsageError("check: expected a PATH, or --rules")
    chosen, left_out = _names(select, known), _names(ignore, known)
    tasks: list[TuningTask] = []

    def tell(path: str, result: TuningResult, found: Sequence[Finding]) -> None:
        tasks.append(summarise(path, result, found))

    rows, findings, unreadable = check_paths(
        paths, chosen, left_out, max_expanded, tell if form in {"markdown", "html"} else None
    )
    checked = Checked(rows, findings, list(known.values()), strict, __version__)
    if form in CHECK_RENDERERS:
        text = CHECK_RENDERERS[form](checked)
    elif form in {"markdown", "html"}:
        text = RENDERERS[form](check_report(checked, tasks))
    else:
        text = render(form, "check", "Checked", paths, rows, findings, reasons_of(findings, strict=strict))
    if form == "text":
        text += "".join(plain(finding.as_text()) + "\n" for finding in findings)
    elif form == "csv":
        say(findings)
    write(text, output)
    raise typer.Exit(exit_code(findings, unreadable=unreadable, strict=strict))


def _names(given: list[str] | None, known: Collection[str]) -> list[str]:
    """The rules that an option names."""
    names = [name.strip() for part in given or [] for name in part.split(",") if name.strip()]
    for name in names:
        if name not in known:
            raise UsageError(f"check: no rule {name!r}; `aoe-reports check --rules` lists them")
    return names
