"""`collect`: how to take the profile that a question needs."""

from dataclasses import asdict
from typing import Annotated, Literal

import typer

from aoe_reports.cli.guide import guided
from aoe_reports.cli.language import spoken
from aoe_reports.cli.output import FORM, Output, exit_code, print_findings, show_report, write
from aoe_reports.engine.question import StrictOptions
from aoe_reports.formats.ascend.profiling.recipes import Framework, Question, recipe
from aoe_reports.model.errors import UsageError
from aoe_reports.model.findings import in_order, reasons_of
from aoe_reports.model.options import Option
from aoe_reports.model.rows import as_mapping
from aoe_reports.model.texts import say


@guided(example="collect --framework pytorch --for hotspots", page="tutorial")
def collect(
    framework: Annotated[Framework | None, Option(help="Framework that runs the model.")] = None,
    question: Annotated[
        Question, Option(help="Question that the profile should answer.", flags=("--for",))
    ] = "hotspots",
    check: Annotated[
        str | None,
        Option(
            help="Check a string of profiling_options (empty: the default set).",
            flags=("--check",),
            metavar="JSON",
            only_here=say("what is checked"),
        ),
    ] = None,
    form: Annotated[Literal["text", "json", "markdown"], FORM] = "text",
    output: Output = None,
    *,
    chosen: StrictOptions,
) -> None:
    """Show how to take a profile. Prints a snippet or command, the files that each key produces and how to switch profiling off."""
    if check is not None:
        from aoe_reports.rules.profiling_options import check_options

        options, found = check_options(check)
        rows = [as_mapping(one) for one in options]
        findings = in_order(found)
        reasons = reasons_of(findings, strict=chosen.strict)
        if form == "json":
            from aoe_reports.present.as_json import render_rows

            write(render_rows("collect", [check], rows, findings, reasons), output)
        else:
            from aoe_reports.present.reports.options import options_report

            write(show_report(form, options_report(rows)), output)
            print_findings(findings)
        raise typer.Exit(exit_code(findings, strict=chosen.strict))
    if framework is None:
        raise UsageError(say("collect: expected --framework, or --check"))
    found_recipe = recipe(framework, question)
    if form == "json":
        from aoe_reports.present.as_json import render_rows

        more = asdict(found_recipe)
        settings = more.pop("settings")
        write(render_rows("collect", [], settings, [], [], more), output)
        return
    from aoe_reports.present.recipe import render_markdown, render_text

    write((render_markdown if form == "markdown" else render_text)(found_recipe, spoken()), output)
