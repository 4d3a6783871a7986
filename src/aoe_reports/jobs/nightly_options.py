"""What a nightly job may be told."""

from __future__ import annotations

from pathlib import Path

from aoe_reports.history.options import GateOptions, StoreOptions
from aoe_reports.model.options import option, options
from aoe_reports.questions.records.options import IngestOptions


@options
class NightlyOptions(GateOptions, IngestOptions, StoreOptions):
    """What is said of the runs, which changes fail the job, and where the pages go."""

    site: Path | None = option(
        default=None, help="Folder for the pages of `site`, and for report.html, .md and .json.", names="site"
    )
