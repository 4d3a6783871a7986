"""What comes first in the morning: changes by effect on the step, what is only suspected, what got better."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, Literal

from aoe_reports.history.site_facts import SeriesFacts, StoreFacts
from aoe_reports.model.history.changes import NOTICED, IncidentChange, SeriesChange, is_small
from aoe_reports.model.history.changes import by_effect as by_step_share
from aoe_reports.model.history.metrics import loss
from aoe_reports.present.reports.incidents import is_open, is_suspected
from aoe_reports.site.cells import MINOR

Group = Literal["new", "ongoing", "acknowledged", "recovered", "improved", "suspect"]
Tone = Literal["bad", "odd", "good", "calm"]
GROUPS: Final[tuple[Group, ...]] = ("new", "ongoing", "suspect", "acknowledged", "recovered", "improved")
"""In the order in which they are read: what wants somebody to act comes first."""
OPEN: Final[tuple[Group, ...]] = ("new", "ongoing")
"""Slower, and nobody accepted it."""
TONES: Final[dict[Group, Tone]] = {
    "new": "bad", "ongoing": "bad", "suspect": "odd", "acknowledged": "calm", "recovered": "good", "improved": "good",
}  # fmt: skip

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
    """The series of each group, the largest effect on the step first."""
    groups: dict[Group, list[SeriesFacts]] = {key: [] for key in GROUPS}
    for series in facts.series:
        group = group_of(series.row, facts.nights)
        if group is not None:
            groups[group].append(series)
    for members in groups.values():
        members.sort(key=lambda series: (*by_effect_on_step(series.row), series.id))
    return groups


def group_of_incident(
    incident: IncidentChange, members: Iterable[SeriesFacts], nights: Sequence[str], *, is_open: bool
) -> Group | None:
    """The group of an incident: of what is open by its first night, else the most urgent of its series; None of what is past."""
    if is_open:
        return "new" if incident.since in nights[-NEW_NIGHTS:] else "ongoing"
    groups = {group_of(one.row, nights) for one in members if one.row.incident == incident.incident}
    return next((group for group in GROUPS[2:] if group in groups), None)


def state_of(row: SeriesChange) -> str:
    """The state of a series in a word; an accepted slow-down is acknowledged."""
    lost = None if row.change is None else loss(row.change, row.better)
    return slower_word(row.state or row.reason or "unchanged", lost, accepted=row.acknowledged is not None)


def slower_word(state: str, lost: float | None, *, accepted: bool) -> str:
    """The state of a series, or that what it lost (above 0: it is worse) is acknowledged."""
    slower = state in {"confirmed", "drift"} and (lost or 0.0) > 0
    return "acknowledged" if accepted and slower else state


def step_effect(row: SeriesChange) -> float | None:
    """What a change adds to a step, as a share of it: of what is measured as a whole the change itself."""
    return row.change if row.scope in NOTICED else row.step_share


def is_minor(row: SeriesChange) -> bool:
    """Whether a change is known to be a minor part of a step: no page shows it in a colour."""
    return is_small(step_effect(row))


def look_of(row: SeriesChange) -> str:
    """The class of the colour of a change: worse, better, or too small to matter; empty where nothing changed."""
    if row.change is None:
        return ""
    if is_minor(row):
        return MINOR
    if row.state == "suspect":
        return SUSPECT
    return "slower-word" if loss(row.change, row.better) > 0 else "quicker-word"


SUSPECT = "suspect-word"
"""The look of what more nights have to prove."""


def by_effect_on_step(row: SeriesChange) -> tuple[object, ...]:
    """Sort key: what changed first, of that the largest effect on the step; an unknown one before small ones."""
    return row.state is None, *by_step_share(step_effect(row))


def tone_of(rows: Sequence[SeriesChange]) -> Tone:
    """The colour of the headline, by what changes add to a step or save of it, not by the number of series."""
    large = [row for row in rows if not is_minor(row)]
    if any(map(is_open, large)):
        return "bad"
    if any(map(is_suspected, large)):
        return "odd"
    return "good" if any(map(_is_better, large)) else "calm"


def _is_better(row: SeriesChange) -> bool:
    return row.state not in {None, "suspect"} and (row.state == "recovered" or loss(row.change or 0.0, row.better) < 0)


def effect_lower_bound(series: SeriesFacts) -> float | None:
    """The end of the 95 % interval of a change that is nearer to no change, times the share of the step; 0 where the interval holds 0.

    None where no step is known.
    """
    low, high = series.row.ci_low, series.row.ci_high
    share = 1.0 if series.row.scope == "step" else series.share_of_step
    if share is None:
        return None
    if low is None or high is None or low <= 0 <= high:
        return 0.0
    return (low if low > 0 else high) * share
