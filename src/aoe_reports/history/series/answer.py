"""The series of a store as an answer: a value a night, and the changes that the detector sees."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from aoe_reports.engine.question import Answer
from aoe_reports.history.changes.examination import Examination, examine
from aoe_reports.history.options import RegressionOptions
from aoe_reports.history.origin import origin_of
from aoe_reports.history.rules import NOT_ENOUGH_DATA
from aoe_reports.model.history.changes import Scope
from aoe_reports.model.history.metrics import value_levels, value_of
from aoe_reports.model.history.series import NightChange, SeriesNight
from aoe_reports.model.rows import Rows, row_from
from aoe_reports.model.texts import say
from aoe_reports.stats.budget import FALSE_ALARMS_PER_YEAR
from aoe_reports.store import History


def read_series(
    store: str | History,
    *,
    workload: str | None = None,
    scope: Scope | None = None,
    false_alarms_per_year: float = FALSE_ALARMS_PER_YEAR,
    whole_history: bool = False,
) -> Answer:
    """Every value of the series of a store, night by night (`rows`), and what the detector says of them (`changes`).

    The nights are those that `aoe-reports regressions` looks at: the newest 120 (WATCHED_NIGHTS), all with `whole_history`; what AOE
    measured itself and captures that were cut off are no nights. All series of the store share the budget of false alarms,
    whatever is asked for. Raises AoeReportsError where there is no store.
    """
    selection = RegressionOptions(
        workload=workload, scope=scope, false_alarms_per_year=false_alarms_per_year, whole_history=whole_history
    )
    history = store if isinstance(store, History) else History.open(store, origin=origin_of("read_series"))
    examined = examine(history, selection)
    nothing = [] if examined.asked() else [NOT_ENOUGH_DATA.found(history.uri, examined.too_little())]
    return Answer(
        command="series",
        title=say("Series"),
        inputs=(history.uri,),
        findings=[*examined.findings, *nothing],
        tables=(
            Rows(type=SeriesNight, rows=[*_nights(examined)], oldest_first=True),
            Rows(type=NightChange, rows=[*_changes(examined)], key="changes", title=say("Changes")),
        ),
    )


def _nights(examined: Examination) -> Iterator[SeriesNight]:
    histories = examined.judged.histories
    for index in examined.asked():
        labels, costs = examined.labels[index], histories.costs[index]
        for place in np.flatnonzero(np.isfinite(costs) & (costs > 0)).tolist():
            yield row_from(
                SeriesNight,
                labels,
                night=histories.nights[place],
                run_id=histories.runs[index, place],
                value=value_of(float(costs[place]), labels.better),
            )


def _changes(examined: Examination) -> Iterator[NightChange]:
    for index in examined.asked():
        verdict, histories = examined.judged.verdicts[index], examined.judged.histories
        for change in (*verdict.changes, *([] if verdict.suspect is None else [verdict.suspect])):
            yield NightChange(
                series_id=examined.ids[index],
                state=change.state,
                since=histories.nights[change.night],
                until=histories.nights[change.until - 1],
                since_run=histories.runs[index, change.night],
                **value_levels(change, examined.labels[index].better),
            )
