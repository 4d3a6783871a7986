"""`collect`: how to take the profile that a question needs."""

from dataclasses import asdict
from typing import Annotated, Literal

from aoe_reports.cli.guide import guided
from aoe_reports.cli.language import spoken
from aoe_reports.cli.output import FORM, Output, reply, write
from aoe_reports.engine.question import Answer, StrictOptions, one_table
from aoe_reports.formats.ascend.profiling import Framework, Question, recipe
from aoe_reports.model.errors import UsageError
from aoe_reports.model.findings import in_order
from aoe_reports.model.options import Option
from aoe_reports.model.report import Section
from aoe_reports.model.rows import Rows
from aoe_reports.model.texts import join, say
from aoe_reports.present.as_json import render_rows
from aoe_reports.present.recipe import render_markdown, render_text
from aoe_reports.rules.profiling_options import OptionInForce, check_options


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
        reply(_checked(check), form, output, strict=chosen.strict)
    if framework is None:
        raise UsageError(say("collect: expected --framework, or --check"))
    found = recipe(framework, question)
    if form == "json":
        more = asdict(found)
        write(render_rows("collect", [], more.pop("settings"), [], [], more), output)
        return
    write((render_markdown if form == "markdown" else render_text)(found, spoken()), output)


def _checked(text: str) -> Answer:
    """A line a key that is in force: its value, the files that it yields, what there is to know of it."""
    rows, findings = check_options(text)
    lines = []
    for option in rows:
        known = join("; ", filter(None, (join(", ", option.files), option.note)))
        lines.append(join(": ", filter(None, (f"{option.key}={option.value}", known))))
    table = Rows(type=OptionInForce, rows=rows)
    sections = [Section("", lines=lines)] if lines else []
    return one_table(
        "collect", "Options of the profiler", [text], table, findings=in_order(findings), sections=sections
    )
