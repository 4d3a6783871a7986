"""What series do that is no change of their level, as `history` lists it: the nights are judged for that."""

from __future__ import annotations

from aoe_reports.history.examination import examine
from aoe_reports.history.observations import observations
from aoe_reports.history.options import HistoryOptions, RegressionOptions
from aoe_reports.model.listings import ListedObservation
from aoe_reports.model.rows import row_from
from aoe_reports.store import History


def listed_observations(history: History, chosen: HistoryOptions) -> list[ListedObservation]:
    """What `regressions` observes in the nights that it looks at, oldest first; of what began on a date or later."""
    found = observations(examine(history, RegressionOptions(workload=chosen.workload, scope=chosen.scope)))
    found.sort(key=lambda one: one.since)
    return [row_from(ListedObservation, one) for one in found if one.since >= (chosen.since or "")]
