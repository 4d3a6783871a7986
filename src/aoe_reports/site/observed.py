"""What a series does that is no change of its level, as a table of its page."""

from __future__ import annotations

from collections.abc import Sequence

from aoe_reports.model.changes import SeriesObservation
from aoe_reports.site.cells import Table, cell, changed, head, level
from aoe_reports.site.texts import Texts


def observed_table(observations: Sequence[SeriesObservation], text: Texts) -> Table:
    """What a series does that is no change of its level."""
    names = ("kind", "since", "until", "before", "after", "change", "scatter_before", "scatter_after")
    cells = [
        [
            head(text.told(one.kind)),
            cell(one.since),
            cell(one.until),
            level(one.before, one),
            level(one.after, one),
            changed(one.change, better=one.better),
            cell(one.scatter_before, "percent"),
            cell(one.scatter_after, "percent"),
        ]
        for one in observations
    ]
    return Table(list(text.columns(SeriesObservation, *names)), cells)
