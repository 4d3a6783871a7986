"""`nightly`, `regressions`, `report`, `site`, `demo`: what changed from night to night."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from aoe_reports.cli.command import guided
from aoe_reports.cli.ending import terminable
from aoe_reports.cli.language import spoken, translated
from aoe_reports.cli.output import (
    FORM,
    ChosenForm,
    NightFormat,
    Output,
    Paths,
    notify,
    print_findings,
    reply,
    show,
    write,
)
from aoe_reports.cli.progress import progress_line
from aoe_reports.engine.question import one_table
from aoe_reports.history.options import RegressionOptions, StoreOptions
from aoe_reports.jobs.options import NightlyOptions, ReportOptions
from aoe_reports.model.errors import UsageError
from aoe_reports.model.options import Option
from aoe_reports.model.rows import Rows
from aoe_reports.model.texts import say
from aoe_reports.model.version import __version__
from aoe_reports.present.forms import forms_of
from aoe_reports.site.options import SiteOptions

DEFAULT_FOLDER = Path("aoe-reports-demo")
if TYPE_CHECKING:
    RegressionFormat = str
else:
    RegressionFormat = Literal[tuple(forms_of("regressions"))]  # from which typer takes what may be given


@guided(example="nightly profile --workload net --site site --store aoe-history", page="tutorial")
def nightly(
    paths: Paths,
    chosen: NightlyOptions,
    form: Annotated[NightFormat, FORM] = "text",
    output: Output = None,
) -> None:
    """Check, normalise, store, compare and report. The comparison uses the history; exit 1 for damage or a regression."""
    from aoe_reports.engine.fleet.executors import executor_here
    from aoe_reports.jobs.nightly import run_nightly

    with terminable(), progress_line() as progress:
        answer = run_nightly(
            paths,
            chosen,
            language=spoken(),
            report=lambda answer: show(answer, form, output),
            executor=executor_here(chosen),
            progress=progress,
        )
    raise typer.Exit(answer.exit_code(strict=chosen.strict))


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
    from aoe_reports.present.night import verdict_line
    from aoe_reports.present.reports.changes import Changes
    from aoe_reports.present.reports.regressions import regressions_report

    if incidents_only and form != "openmetrics":
        raise UsageError(say("--incidents-only applies to --format openmetrics"))
    with progress_line() as progress:
        progress(lambda: say("comparing with the history"))
        answer, strict = find_regressions(place.store, chosen), chosen.strict_data
    if form in {"json", "csv"}:
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
    reasons = answer.reasons(strict=strict)
    verdict = ""
    if not chosen.whole_history:
        verdict = verdict_line(
            answer.exit_code(strict=strict),
            reasons,
            gates=chosen.gate,
            changes=answer.rows,
            not_judged=answer.not_judged,
            nothing_judged=answer.nothing_judged,
        )
    changes = Changes(
        rows=answer.rows,
        budget=answer.budget,
        findings=answer.findings,
        reasons=reasons,
        store=place.store,
        version=__version__,
        headline=report.headline,
        verdict=verdict,
        incidents=answer.incidents,
        suspicions=answer.suspicions,
        incidents_only=incidents_only,
    )
    answer = replace(answer, headline=report.headline, sections=report.sections, verdict=verdict)
    reply(answer, form, output, strict=strict, forms=forms_of("regressions"), changes=changes)


@guided(example="report --format html -o night.html --store aoe-history", page="report")
def report(
    chosen: ReportOptions,
    place: StoreOptions,
    form: Annotated[NightFormat, FORM] = "text",
    output: Output = None,
) -> None:
    """Report one night from the stored history. Shows what became slower, since when and in which operator, the hotspots and AOE's claims."""
    import logging

    from aoe_reports.history.rules import NOT_ENOUGH_DATA

    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # that it looks for fonts is no news to anybody

    from aoe_reports.jobs.report import report_night, write_figures
    from aoe_reports.model.texts import say

    answer = report_night(place.store, chosen)
    if chosen.png is not None:
        from aoe_reports.present.figures import can_draw

        beside = output.parent if output is not None else Path.cwd()
        answer = write_figures(answer, chosen.png, beside, spoken())
        if answer.more["figures"] and not can_draw(spoken()):
            notify(say("{path}: the figures are in English: no font for Chinese is installed", path=chosen.png))
    show(answer, form, output, strict=chosen.strict_data)
    if form != "json":
        print_findings([finding for finding in answer.findings if finding.rule == NOT_ENOUGH_DATA.name])
    raise typer.Exit(answer.exit_code(strict=chosen.strict_data))


@guided(example="site -o site --store aoe-history", page="site")
def site(
    chosen: SiteOptions,
    place: StoreOptions,
    form: ChosenForm = "text",
) -> None:
    """Write a folder of static pages, or serve one on 127.0.0.1. They show what changed, since when, by how much and in which operator, for every series and every run."""
    if chosen.serve is not None:
        from aoe_reports.site.serve import serve_folder

        serve_folder(chosen.serve, chosen.port, lambda address: write(f"{address}\n", None))
        return
    if chosen.folder is None:
        raise UsageError(say("site: expected -o DIR, or --serve DIR"))
    from aoe_reports.site.build import BuiltPages, build_site

    built = build_site(
        place.store,
        chosen.folder,
        false_alarms_per_year=chosen.false_alarms_per_year,
        language=spoken(),
        metrics=chosen.metrics,
    )
    reply(one_table("site", "Site", [place.store], Rows(type=BuiltPages, rows=built)), form, None)


@guided(example="demo -o aoe-reports-demo", page="tutorial")
def demo(
    folder: Annotated[
        Path,
        Option(
            help="Folder for nights, history and site.",
            flags=("--output", "-o"),
            only_here=say("where output is written"),
        ),
    ] = DEFAULT_FOLDER,
    tuning: Annotated[
        bool, Option(help="Tune a simulated model instead: plan, run, verify, adopt.", flags=("--tuning",))
    ] = False,
) -> None:
    """Write 45 simulated nights and analyse them. One operator is slower from night 38 on. With --tuning, a tuning loop without a device."""
    if tuning:
        _demonstrate_tuning(folder)
    from aoe_reports.jobs.demo import run_demo

    with progress_line() as progress:
        result = run_demo(folder, spoken(), progress)
    lines = [
        say(
            "Analysed {count} simulated nights; operator {operator} is 8% slower from {night} on.",
            count=result.nights,
            operator=result.planted,
            night=result.planted_night,
        ),
        result.headline if result.found else say("NOT found: {headline}", headline=result.headline),
        say(
            "Open {page} (full report: {report})",
            page=folder / "site" / "index.html",
            report=folder / "site" / "report.html",
        ),
        "",
    ]
    write("\n".join(map(translated, lines)), None)
    raise typer.Exit(0 if result.found else 1)


def _demonstrate_tuning(folder: Path) -> None:
    from aoe_reports.jobs.tuning_demo import run_tuning_demo

    with progress_line() as progress:
        result = run_tuning_demo(folder, spoken(), progress)
    lines: list[str] = [say("Everything here is simulated: aoe, msprof, the model and all times."), ""]
    for number, step in enumerate(result.steps, start=1):
        lines += [f"{number}. {translated(step.title)}", f"   $ {step.command}", f"   {translated(step.found)}", ""]
    for one in result.operators:
        found = {key: say(value) if value else "-" for key, value in (("status", one.status), ("verdict", one.verdict))}
        if one.planted != "untuned":
            lines.append(
                say(
                    "{name}: planted {planted}; tune run: {status}; verify: {verdict}",
                    name=one.name,
                    planted=one.planted,
                    **found,
                )
            )
    agrees = say("as planted") if result.agrees else say("NOT as planted")
    lines += ["", say("Verdict: {verdict}, {agrees} (simulated).", verdict=say(result.verdict), agrees=agrees), ""]
    write("\n".join(map(translated, lines)), None)
    raise typer.Exit(0 if result.agrees else 1)
