"""`regressions`: what got slower or faster in the store."""

from dataclasses import replace
from typing import Annotated, Literal

import typer

from aoe_reports.cli.guide import guided
from aoe_reports.cli.output import FORM, Output, print_findings, reply, write
from aoe_reports.cli.progress import progress_line
from aoe_reports.history.options import RegressionOptions, StoreOptions
from aoe_reports.model.errors import UsageError
from aoe_reports.model.options import Option
from aoe_reports.model.texts import say

RegressionFormat = Literal[
    "text", "json", "csv", "markdown", "html", "junit", "sarif", "github", "openmetrics", "grafana"
]


@guided(example='regressions --gate "scope=step,effect>=3%" --store aoe-history', page="regressions")
def regressions(
    chosen: RegressionOptions,
    place: StoreOptions,
    *,
    form: Annotated[RegressionFormat, FORM] = "text",
    output: Output = None,
    incidents_only: Annotated[
        bool, Option(help="Only incidents and steps, no other series (openmetrics).", flags=("--incidents-only",))
    ] = False,
) -> None:
    """Detect regressions and improvements. Shows since when, by how much, and which operators caused the change, for the stored nights."""
    from aoe_reports.history.changes.regressions import find_regressions
    from aoe_reports.present import REGRESSION_RENDERERS, RENDERERS
    from aoe_reports.present.night import verdict_line
    from aoe_reports.present.reports.regressions import regressions_report

    if incidents_only and form != "openmetrics":
        raise UsageError(say("--incidents-only applies to --format openmetrics"))
    with progress_line() as progress:
        progress(lambda: say("comparing with the history"))
        answer, strict = find_regressions(place.store, chosen), chosen.strict_data
    if form not in RENDERERS and form not in REGRESSION_RENDERERS:
        reply(answer, form, output, strict=strict)
    report = regressions_report(
        answer.rows,
        incidents=answer.incidents,
        suspicions=answer.suspicions,
        observations=answer.observations,
        budget=answer.budget,
        remark=answer.remark,
        not_measured=answer.not_measured,
    )
    code, why = answer.exit_code(strict=strict), answer.reasons(strict=strict)
    verdict = ""
    if not chosen.whole_history:
        verdict = verdict_line(
            code,
            why,
            gates=chosen.gate,
            changes=answer.rows,
            not_judged=answer.not_judged,
            nothing_judged=answer.nothing_judged,
        )
    if form in RENDERERS:
        answer = replace(answer, headline=report.headline, sections=report.sections, verdict=verdict)
        reply(answer, form, output, strict=strict)
    from aoe_reports.model.version import __version__
    from aoe_reports.present.reports.changes import Changes

    changes = Changes(
        rows=answer.rows,
        budget=answer.budget,
        findings=answer.findings,
        reasons=answer.reasons(strict=strict),
        store=place.store,
        version=__version__,
        headline=report.headline,
        verdict=verdict,
        incidents=answer.incidents,
        suspicions=answer.suspicions,
        incidents_only=incidents_only,
    )
    write(REGRESSION_RENDERERS[form](changes), output)
    if form not in {"junit", "sarif", "github"}:  # those tell them themselves
        print_findings(answer.findings)
    raise typer.Exit(answer.exit_code(strict=strict))
