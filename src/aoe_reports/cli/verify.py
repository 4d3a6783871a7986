"""`verify`: AOE's claim against the clock."""

from typing import Annotated

from aoe_reports.cli.job_options import PlanFolder
from aoe_reports.cli.language import spoken
from aoe_reports.cli.output import FORM, AnnotatedFormat, Output, reply
from aoe_reports.jobs.verify_options import VerifyOptions
from aoe_reports.present.forms import ANNOTATED_FORMS


def verify(
    folder: PlanFolder, chosen: VerifyOptions, form: Annotated[AnnotatedFormat, FORM] = "text", output: Output = None
) -> None:
    """Verify AOE's claims with two profiles. Verdicts are confirmed, partly, not-reproduced, regressed and not-comparable, with reasons and next steps."""
    from dataclasses import replace

    from aoe_reports.jobs.verify import verify as verify_job

    reply(
        verify_job(folder, replace(chosen, language=spoken())),
        form,
        output,
        strict=chosen.strict,
        forms=ANNOTATED_FORMS,
    )
