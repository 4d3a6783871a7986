"""What a nightly job may be told."""

from __future__ import annotations

from pathlib import Path

from aoe_reports.history.options import GateOptions, StoreOptions
from aoe_reports.model.options import option, options
from aoe_reports.model.texts import say
from aoe_reports.present.notification import Shape
from aoe_reports.topics.records.options import IngestOptions


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
        help="Shape of the message, where the host of the address does not tell it.",
        only_here=say("where messages go"),
    )
