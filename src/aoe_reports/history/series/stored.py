"""The series of a store with what the detector says of each, by their numbers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from statistics import median_low

import numpy as np
import polars as pl

from aoe_reports.history.changes.incidents import Group
from aoe_reports.history.detection.run import DetectorRun
from aoe_reports.history.series.baselines import JudgedSeries, Scatter
from aoe_reports.history.series.series import SeriesLabels
from aoe_reports.model.history.changes import COMPUTING, PHASE, IncidentChange
from aoe_reports.model.shares import share_of
from aoe_reports.topics.records.from_profile import STEPS_WITH_TASKS_MS

ENDED_NIGHTS = 10
"""A series without a time in so many of the newest nights of its workload is not measured any more: too few to judge one by."""


_Where = tuple[Group, int | None, int | None]
"""A group, a rank, a device."""


class StoredSeries:
    """The series of a store: what each is, what the detector says of it, which of them can move together."""

    def __init__(self, detected: DetectorRun) -> None:
        self.detected = detected
        self.records, self.judged = detected.records, detected.judged
        self.labels = self.judged.histories.labels
        self.ids = [labels.series_id for labels in self.labels]
        self.places = {series_id: index for index, series_id in enumerate(self.ids)}
        self.judged_series = [self._judged_series(index) for index in range(len(self.labels))]
        self._cutoffs = self._find_cutoffs()

    def _judged_series(self, index: int) -> JudgedSeries:
        histories, parameters = self.judged.histories, self.judged.parameters_of(index)
        verdict = self.judged.verdicts[index]
        return JudgedSeries(
            nights=histories.nights,
            costs=histories.costs[index],
            verdict=verdict,
            scatter=Scatter.of(verdict, parameters),
            runs=histories.runs[index],
            parameters=parameters,
        )

    def group(self, index: int) -> Group:
        """What a series has in common with those that can move together with it, and whose nights are one calendar."""
        labels = self.labels[index]
        return Group(labels.model, labels.hardware, labels.engine, labels.source)

    @cached_property
    def by_group(self) -> dict[Group, list[int]]:
        """The series of each group."""
        found: dict[Group, list[int]] = {}
        for index in range(len(self.labels)):
            found.setdefault(self.group(index), []).append(index)
        return found

    def impact_ms(self, index: int, before: float, after: float) -> float:
        """How much longer all calls of a run take, by what they took in the newest one."""
        return self.total_ms(index) * (1 - before / after)

    def step_share(self, operators: Collection[int], factor: float) -> float | None:
        """What operators that take so many times as long as before add to their step, as a share of it; of the rank where that is most.

        Below 0 it is what they save. Null where no step of theirs is stored.
        """
        gained: dict[_Where, float] = {}
        for index in operators:
            where = self._where(index)
            gained[where] = gained.get(where, 0.0) + self.impact_ms(index, 1.0, factor)
        shares = [share_of(gained[where], self._steps_ms[where]) for where in gained.keys() & self._steps_ms.keys()]
        return max((share for share in shares if share is not None), key=abs, default=None)

    @cached_property
    def _steps_ms(self) -> dict[_Where, float]:
        """The steps' total of the newest run with tasks, by rank and device; over all ranks the median."""
        steps = [index for index, labels in enumerate(self.labels) if labels.scope == "step"]
        parts = parts_with_tasks(self.records)
        totals = {index: self.total_ms(index) * parts.get(self.ids[index], 1.0) for index in steps}
        found = {self._where(index): total for index, total in totals.items() if total}
        groups: dict[Group, list[float]] = {}
        for (group, _, _), total in found.items():
            groups.setdefault(group, []).append(total)
        return {(group, None, None): median_low(totals) for group, totals in groups.items()} | found

    def _where(self, index: int) -> _Where:
        labels = self.labels[index]
        return self.group(index), labels.rank_id, labels.device_id

    def total_ms(self, index: int) -> float:
        """What all calls of the newest run took; 0 where that is not known."""
        totals = self.judged.histories.totals_ms[index]
        known = totals[np.isfinite(totals)]
        return float(known[-1]) if len(known) else 0.0

    def _find_cutoffs(self) -> dict[Group, str]:
        """The night since which a series of each group must have a time to count as still measured."""
        times = np.isfinite(self.judged.histories.costs)
        nights = {group: np.flatnonzero(times[mine].any(axis=0)).tolist() for group, mine in self.by_group.items()}
        all_nights = self.judged.histories.nights
        return {group: all_nights[found[-ENDED_NIGHTS:][0]] for group, found in nights.items() if found}

    def has_ended(self, index: int) -> bool:
        """Whether a series is not measured any more."""
        last_night, cutoff = self.judged_series[index].last_night(), self._cutoffs.get(self.group(index))
        return last_night is not None and cutoff is not None and last_night < cutoff


STEP_OF_OPERATORS_NS = pl.coalesce(
    pl.col("metrics").cast(pl.String).str.json_path_match(f"$.{STEPS_WITH_TASKS_MS}").cast(pl.Float64) * 1e6,
    pl.col("total_ns").cast(pl.Float64),
)
"""How long the steps take that have tasks, of records of steps (`metrics`, `total_ns`); 0 where none of them has any."""


def parts_with_tasks(records: pl.DataFrame) -> dict[str, float]:
    """Of series of steps whose newest record has steps without tasks: which part of its time is of steps with tasks."""
    steps = records.filter((pl.col("scope").cast(pl.String) == "step") & (pl.col("total_ns") > 0))
    newest = steps.sort("night", "timestamp_ns", "run_id").group_by("series_id", maintain_order=True).last()
    parts = newest.select(
        pl.col("series_id").cast(pl.String), (STEP_OF_OPERATORS_NS / pl.col("total_ns")).alias("part")
    )
    return dict(parts.filter(pl.col("part") != 1).iter_rows())


_OF_RANKS = frozenset({"step", "communication", COMPUTING, PHASE})


def paged_series(labels: Sequence[SeriesLabels], incidents: Iterable[IncidentChange]) -> frozenset[str]:
    """The series that have a page.

    Where operators are told over all ranks, the steps, computing and communication of single ranks have none, but the first
    rank's, and those that name an incident: a thousand ranks are a thousand pages that nobody opens.
    """
    fleets = {_machine(label) for label in labels if label.scope == COMPUTING}
    first: dict[tuple[object, ...], SeriesLabels] = {}
    paged = set()
    for label in labels:
        if label.rank_id is None or label.scope not in _OF_RANKS or _machine(label) not in fleets:
            paged.add(label.series_id)
            continue
        known = first.setdefault((*_machine(label), label.workload, label.op_type), label)
        if (label.rank_id, label.series_id) < (known.rank_id, known.series_id):
            first[*_machine(label), label.workload, label.op_type] = label
    paged |= {one.series_id for one in first.values()}
    for incident in incidents:
        for model in incident.models:
            paged.add(next(member.series_id for member in incident.members if member.model == model))
    return frozenset(paged)


def _machine(labels: SeriesLabels) -> tuple[str, str, str, str]:
    return labels.model, labels.hardware, labels.engine, labels.source
