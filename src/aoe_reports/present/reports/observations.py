"""Observations (episodes, changes of scatter, …) as a section: named, but no alarms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from aoe_reports.model.history.changes import SeriesObservation
from aoe_reports.model.report import Section
from aoe_reports.model.rows import column, row, row_from
from aoe_reports.model.texts import say
from aoe_reports.present.reports.night_words import subject_words
from aoe_reports.present.reports.series_cells import series_grid

SHOWN = 20


@row
class _ObservedLine:
    kind: str = column("Observation", "word")
    what: str = column("Item")
    since: str = column("Since")
    until: str | None = column("Until")
    before: float | None = column("Before", "ms")
    after: float | None = column("After", "ms")
    change: float = column("Change", "change")
    scatter_before: float | None = column("Scatter before", "percent")
    scatter_after: float | None = column("Scatter after", "percent")


def observation_sections(observations: Sequence[SeriesObservation], *, every: bool = False) -> Iterator[Section]:
    """What began or ended in the newest nights (`every`: whenever), where there is any."""
    listed = [observation for observation in observations if every or observation.recent]
    if not listed:
        return
    said = [say("These are no changes of level: they fail no gate and are not recorded.")]
    if len(listed) > SHOWN:
        said.append(
            say(
                "The first {shown} of {count} are listed; the JSON output contains all.", shown=SHOWN, count=len(listed)
            )
        )
    shown = [row_from(_ObservedLine, one, what=subject_words(one)) for one in listed[:SHOWN]]
    yield Section("Observed", said, series_grid(_ObservedLine, shown, listed[:SHOWN]))
