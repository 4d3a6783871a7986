"""`ab`: is the candidate slower than the baseline?"""

from pathlib import Path
from typing import Annotated

import typer

from aoe_reports.cli.command import HAS_DASHES, guided, takes_after_dashes
from aoe_reports.cli.output import FORM, MAX_ROWS, AbFormat, MostRows, Output, path_argument, reply
from aoe_reports.cli.progress import progress_line
from aoe_reports.jobs.ab.options import DEFAULT_MARGIN, AbOptions
from aoe_reports.model.errors import UsageError
from aoe_reports.model.texts import say
from aoe_reports.present.forms import forms_of


@takes_after_dashes("--b")
@guided(example="ab old -- new", page="ab")
def ab(
    ctx: typer.Context,
    chosen: AbOptions,
    paths: Annotated[
        list[Path] | None,
        path_argument(
            "Repeats of the baseline, then -- and repeats of the candidate: captures, records, benchmark results, folders. Exactly two paths need no --."
        ),
    ] = None,
    form: Annotated[AbFormat, FORM] = "text",
    output: Output = None,
    rows: MostRows = MAX_ROWS,
) -> None:
    """Judge whether a candidate is slower than a baseline, by a few repeats of each. Each quantity is slower, faster, the same within a margin, or cannot be told."""
    from aoe_reports.engine.fleet.executors import executor_here
    from aoe_reports.formats.sources.discovery import paths_matching
    from aoe_reports.jobs.ab.answer import compare_sides
    from aoe_reports.jobs.ab.next_builds import plan_builds

    if chosen.next_builds is None and chosen.machines != 1:
        raise UsageError(say("--machines applies to --next"))
    if chosen.next_builds is not None:
        if paths or chosen.a or chosen.b:
            raise UsageError(say("--next takes its repeats from its list"))
        if chosen.gate or chosen.samples or chosen.store is not None or chosen.margin != DEFAULT_MARGIN:
            raise UsageError(say("--next gives no verdict: --gate, --margin, --samples and --store do not apply"))
        if form in {"junit", "sarif"}:
            raise UsageError(say("--next gives no verdict: there is no {form} of it", form=form))
        with progress_line() as progress:
            planned = plan_builds(chosen.next_builds, chosen, executor=executor_here(chosen), progress=progress)
        reply(planned, form, output, strict=chosen.strict, forms=forms_of("annotated", "ab"), most=rows)

    if paths and (chosen.a or (chosen.b and not ctx.meta.get(HAS_DASHES))):
        raise UsageError(
            say("ab: --a and --b take patterns in quotes and no other paths; or give BASELINE... -- CANDIDATE...")
        )
    baseline, candidate = paths_matching([*map(str, paths or ()), *chosen.a]), paths_matching(chosen.b)
    if not (candidate or chosen.a or ctx.meta.get(HAS_DASHES)) and len(baseline) == 2:  # noqa: PLR2004 -- one path a side
        baseline, candidate = baseline[:1], baseline[1:]
    if same := {*baseline} & {*candidate}:
        raise UsageError(say("{path}: is on both sides", path=min(same)))
    if not (baseline and candidate):
        raise UsageError(say("ab: expected BASELINE... -- CANDIDATE..., or --a and --b"))
    with progress_line() as progress:
        answer = compare_sides(baseline, candidate, chosen, executor=executor_here(chosen), progress=progress)
    reply(answer, form, output, strict=chosen.strict, forms=forms_of("annotated", "ab"), most=rows)
