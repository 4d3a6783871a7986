"""What `report` may be told."""

from __future__ import annotations

from pathlib import Path

from aoe_reports.history.options import StrictDataOptions
from aoe_reports.model.options import option, options


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
