"""Which changes come first in the morning: new, ongoing, acknowledged, recovered, improved; what is only suspected apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from aoe_reports.history.site_facts import SeriesFacts, StoreFacts
from aoe_reports.model.history.changes import SeriesChange
from aoe_reports.model.history.metrics import loss
from aoe_reports.present.reports.incidents import is_open, is_suspected, matters

Group = Literal["new", "ongoing", "acknowledged", "recovered", "improved", "suspect"]
Tone = Literal["bad", "odd", "calm"]
GROUPS: tuple[Group, ...] = ("new", "ongoing", "suspect", "acknowledged", "recovered", "improved")
"""In the order in which they are read: what wants somebody to act comes first."""

NEW_NIGHTS = 7
"""A slow-down that began in the last week is new: confirmed after three nights or a few more, and seen by every weekday's reader."""


def group_of(row: SeriesChange, nights: Sequence[str]) -> Group | None:
    """The group of a row of `regressions`; None where nothing changed. `nights` are all dates with a run."""
    state, change = row.state, row.change
    if state is None or change is None:
        return None
    if state == "suspect":
        return "suspect"
    if state == "recovered":
        return "recovered"
    if loss(change, row.better) < 0:
        return "improved"
    if row.acknowledged:
        return "acknowledged"
    return "new" if row.since in nights[-NEW_NIGHTS:] else "ongoing"


def grouped(facts: StoreFacts) -> dict[Group, list[SeriesFacts]]:
    """The series of each group in the order in which they are read."""
    groups: dict[Group, list[SeriesFacts]] = {key: [] for key in GROUPS}
    for series in facts.series:
        group = group_of(series.row, facts.nights)
        if group is not None:
            groups[group].append(series)
    for members in groups.values():
        members.sort(key=by_effect)
    return groups


def state_of(row: SeriesChange) -> str:
    """The state of a series in a word; an accepted slow-down is acknowledged."""
    lost = None if row.change is None else loss(row.change, row.better)
    return slower_word(row.state or row.reason or "unchanged", lost, accepted=row.acknowledged is not None)


def slower_word(state: str, lost: float | None, *, accepted: bool) -> str:
    """The state of a series, or that what it lost (above 0: it is worse) is acknowledged."""
    slower = state in {"confirmed", "drift"} and (lost or 0.0) > 0
    return "acknowledged" if accepted and slower else state


def tone_of(rows: Sequence[SeriesChange]) -> Tone:
    """The colour of the headline, by what slow-downs add to a step, not by the number of series."""
    large = [row for row in rows if matters(row)]
    if any(map(is_open, large)):
        return "bad"
    return "odd" if any(map(is_suspected, large)) else "calm"


def sure_change(row: SeriesChange) -> float:
    """The end of the 95 % interval that is nearer to no change; 0 where the interval holds it."""
    low, high = row.ci_low, row.ci_high
    if low is None or high is None or low <= 0 <= high:
        return 0.0
    return low if low > 0 else high


def sure_effect(series: SeriesFacts) -> float | None:
    """The sure change times the share of the step: effect, confidence and weight in one number; None where no step is known."""
    share = 1.0 if series.row.scope == "step" else series.share_of_step
    return None if share is None else sure_change(series.row) * share


def by_effect(series: SeriesFacts) -> tuple[float, float, str, str]:
    """Order within a group: the largest sure effect first; where it is not known, the largest sure change."""
    effect = sure_effect(series)
    return (-abs(effect or 0.0), -abs(sure_change(series.row)), str(series.row.workload), series.id)
