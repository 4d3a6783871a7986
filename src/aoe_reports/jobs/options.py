"""What is asked of `verify`."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from aoe_reports.history.options import GateOptions, StoreOptions, StrictDataOptions
from aoe_reports.model.options import option, options
from aoe_reports.model.texts import Language, say
from aoe_reports.present.notification import Shape
from aoe_reports.topics.records.options import IngestOptions
from aoe_reports.tuning.options import DeviceOptions, Statistic, flag, store_for

Accept = Literal["confirmed", "partly", "step", "all"]


@options
class VerifyOptions(DeviceOptions):
    """Which profiles are compared, and what a job has to show to pass."""

    claims: tuple[Path, ...] = option(
        default=(),
        metavar="FILE",
        help="Check the claims in a file of any tuner, or in a folder, with BEFORE and AFTER (repeatable).",
        only_here=say("what is compared"),
    )
    operator: tuple[str, ...] = option(
        default=(),
        metavar="NAME",
        help=(
            "With --claims: name of the only claimed operator in the profiles; a second one names it in AFTER "
            "(repeatable)."
        ),
        only_here=say("what is compared"),
    )
    versions: str | None = option(
        default=None,
        metavar="OLD,NEW",
        help="With --claims: the two versions of a table of versions [default: the first and the last one].",
        only_here=say("what is compared"),
    )
    statistic: Statistic = option(
        default="mean",
        help="With --claims: what the claims are about, the mean, P95 or P99 of an operator's calls.",
    )
    after: Path | None = option(
        default=None, metavar="PROFILE", help="A profile with the tuned bank.", only_here=say("what is compared")
    )
    before: Path | None = option(
        default=None,
        metavar="PROFILE",
        help="A profile before tuning [default: the plan's].",
        only_here=say("what is compared"),
    )
    results: tuple[Path, ...] = option(
        default=(), help="AOE's results, if they are not in DIR (repeatable).", only_here=say("the known results")
    )
    accept: Accept = option(
        default="confirmed",
        help=(
            "Acceptance criterion: at least one confirmed gain, a partly confirmed gain, the step itself, every "
            "operator."
        ),
    )
    accept_regressed: tuple[str, ...] = option(
        default=(),
        metavar="NAME",
        help="Accept that this operator (or type) is slower than before; others fail (repeatable).",
        only_here=say("which regressions are accepted"),
    )
    log: Path | None = option(
        default=None,
        help="CANN's log (plog) of AFTER, or a folder of such: which operators used the bank [default: where AFTER and DIR have one].",
        names="place",
        only_here=say("what is compared"),
    )
    store: str | None = store_for(" for the verdicts, not with --claims")
    force: bool = flag("force", "Compare even if a comparison is known not to be valid.", say("what is forced"))
    language: Language = option(default="en", help="Language of the pages in the plan's folder.", cli=False)


@options
class NightlyOptions(GateOptions, IngestOptions, StoreOptions):
    """What is said of the runs, which changes fail the job, and where the pages go."""

    site: Path | None = option(
        default=None, help="Folder for the pages of `site`, and for report.html, .md and .json.", names="place"
    )
    notify: str | None = option(
        default=None,
        help="Post headline, verdict and incidents as one JSON object to this address.",
        env="AOE_REPORTS_NOTIFY",
        metavar="URL",
        only_here=say("where messages go"),
    )
    notify_as: Shape | None = option(
        default=None,
        help="Shape of the message, where the host of the address does not imply it.",
        only_here=say("where messages go"),
    )


@options
class ReportOptions(StrictDataOptions):
    """Which night (None: the newest) of which workload (None: all)."""

    workload: str | None = option(default=None, help="Only this workload.", names="nothing", completes="workloads")
    night: str | None = option(
        default=None, help="The night [default: the newest].", metavar="YYYY-MM-DD", names="nothing", completes="nights"
    )
    png: Path | None = option(
        default=None, help="Also write the figures as PNG files with alt text.", metavar="DIR", names="place"
    )
