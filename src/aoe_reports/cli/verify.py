"""`verify`: a tuner's claim against the clock."""

from pathlib import Path
from typing import Annotated

import typer

from aoe_reports.cli.guide import guided
from aoe_reports.cli.language import spoken
from aoe_reports.cli.output import FORM, AnnotatedFormat, Output, reply
from aoe_reports.formats.sources.objects import ObjectPath, asked_path
from aoe_reports.jobs.options import VerifyOptions
from aoe_reports.model.errors import UsageError
from aoe_reports.model.texts import say
from aoe_reports.present.forms import ANNOTATED_FORMS

Places = Annotated[
    list[Path],
    typer.Argument(
        metavar="DIR | BEFORE AFTER",
        help="A plan's folder; with --claims two profiles, or two folders of repeated captures.",
        show_default=False,
        parser=asked_path,
    ),
]


@guided(example="verify plan --before before --after after", page="tuning")
def verify(
    ctx: typer.Context,
    places: Places,
    chosen: VerifyOptions,
    form: Annotated[AnnotatedFormat, FORM] = "text",
    output: Output = None,
) -> None:
    """Verify a tuner's claims with two profiles. Verdicts are confirmed, partly, not-reproduced, regressed and not-comparable, with reasons and next steps."""
    from dataclasses import replace

    from aoe_reports.jobs.verify import verify as verify_job
    from aoe_reports.jobs.verify_claims import check_claims

    chosen = replace(chosen, language=spoken())
    if chosen.claims:
        source = ctx.get_parameter_source("store")
        before, after = _sides(places, chosen, names_store=source is not None and source.name == "COMMANDLINE")
        answer = check_claims(before, after, chosen)
    else:
        answer = verify_job(_plan_folder(places, chosen), chosen)
    reply(answer, form, output, strict=chosen.strict, forms=ANNOTATED_FORMS)


def _sides(places: list[Path], chosen: VerifyOptions, *, names_store: bool) -> tuple[Path, Path]:
    """BEFORE and AFTER, and nothing that belongs to a plan's folder."""
    if len(places) != len(("BEFORE", "AFTER")):
        raise UsageError(
            say("verify --claims: expected two places, BEFORE and AFTER; found {count}", count=len(places))
        )
    if chosen.before is not None or chosen.after is not None or chosen.results:
        raise UsageError(say("verify --claims: --before, --after and --results belong to a plan's folder"))
    if names_store:  # the environment and a configuration name it for all commands
        raise UsageError(say("verify --claims: nothing is stored; --store belongs to a plan's folder"))
    return places[0], places[1]


def _plan_folder(places: list[Path], chosen: VerifyOptions) -> Path:
    """The folder of a plan, and what belongs to it."""
    if len(places) != 1:
        raise UsageError(say("verify: expected one plan's folder; two profiles are compared with --claims FILE"))
    if chosen.after is None:
        raise UsageError(say("verify: expected --after PROFILE"))
    if chosen.operator:
        raise UsageError(say("verify: --operator is for --claims"))
    if isinstance(places[0], ObjectPath):
        text = say("{uri}: expected a file or folder of this machine, not an object store", uri=places[0])
        raise UsageError(text)
    return places[0]
