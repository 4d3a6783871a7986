"""The series of a store under one selection: what is active of each, what moved together, what is measured no more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from aoe_reports.history.baselines import JudgedSeries, LevelShift, Scatter, find_active
from aoe_reports.history.detector import Change
from aoe_reports.history.detector_run import DetectorInput, DetectorRun, RunOfNight, odd_nights, read_runs, run_detector
from aoe_reports.history.incidents import SeriesShift, group_incidents
from aoe_reports.history.options import EVERYTHING, RegressionOptions, View
from aoe_reports.history.pinned import Baseline
from aoe_reports.history.recorded import Recorded, read_recorded
from aoe_reports.history.stored_attribution import TunedOperator, attribute, tuned_operators
from aoe_reports.history.surroundings import Surroundings
from aoe_reports.model.changes import StepAttribution
from aoe_reports.model.errors import UsageError
from aoe_reports.model.findings import Finding
from aoe_reports.model.texts import Text, join, say
from aoe_reports.stats.budget import WATCHED_NIGHTS
from aoe_reports.store import History

_GROUP = ("model", "hardware", "engine", "source")
"""What series have in common that can move together, and whose nights are one calendar."""
ENDED_NIGHTS = 10
"""A series without a time in so many of the newest nights of its workload is not measured any more: too few to judge one by."""


def examine(
    history: History, selection: RegressionOptions, view: View = EVERYTHING, detected: DetectorRun | None = None
) -> Examination:
    """Judge the series of a store, and hold each against what was told, acknowledged and announced of it."""
    every = [run for run in read_runs(history) if view.reaches(run.night)]
    runs = [run for run in every if run.run_kind != "tuning"]
    recorded = _recorded_by(history, view)
    baseline = selection.held_against()
    chosen = _chosen_nights(history, baseline, runs, recorded)
    wanted = DetectorInput(
        parts=frozenset(part.path for kind in ("run", "record") for part in history.log.parts(kind)),
        false_alarms_per_year=selection.false_alarms_per_year,
        within=None if selection.whole_history else WATCHED_NIGHTS,
        until=view.until,
        chosen=tuple(chosen or ()),
    )
    if detected is None or detected.input != wanted:
        detected = run_detector(history, wanted, runs)
    return Examination(
        history,
        selection,
        view,
        detected,
        recorded=recorded,
        baseline=baseline,
        chosen=chosen,
        findings=odd_nights(detected, runs, view.series),
        tunings=[run for run in every if run.run_kind == "tuning"],
    )


def _recorded_by(history: History, view: View) -> Recorded:
    """What the store remembered by then."""
    recorded = read_recorded(history)
    for series, shifts in recorded.shifts.items():
        recorded.shifts[series] = [shift for shift in shifts if shift.found is None or view.reaches(shift.found)]
    for incident, seen in recorded.incidents.items():
        recorded.incidents[incident] = [one for one in seen if view.reaches(one[0])]
    return recorded


def _chosen_nights(
    history: History, baseline: Baseline, runs: Sequence[RunOfNight], recorded: Recorded
) -> list[str] | None:
    """The nights of a chosen baseline; None where it is the segment of each series."""
    if baseline.kind == "segment":
        return None
    if baseline.kind == "nights":
        return []  # each series has its own
    uri = history.uri
    if baseline.kind == "window":
        nights = {run.night for run in runs if baseline.first <= run.night <= baseline.last}
        missing = say("--baseline {baseline}: {uri} has no night in this range", baseline=baseline, uri=uri)
    else:
        name = _run_of_tag(baseline, recorded) if baseline.kind == "tag" else baseline.value
        nights = {run.night for run in runs if run.run_id == name}
        missing = say(
            "--baseline {baseline}: {uri} has no run {run}; `history runs` lists them",
            baseline=baseline,
            uri=uri,
            run=name,
        )
    if not nights:
        raise UsageError(missing)
    return sorted(nights)


def _run_of_tag(baseline: Baseline, recorded: Recorded) -> str:
    if baseline.value in recorded.tags:
        return recorded.tags[baseline.value].run
    known = join(", ", sorted(recorded.tags)[:20]) if recorded.tags else say("none")
    raise UsageError(
        say(
            "--baseline {baseline}: no run has this name; existing names: {names} (see `tag`)",
            baseline=baseline,
            names=known,
        )
    )


class Examination:
    """The series of a store under one selection, by their numbers."""

    def __init__(
        self,
        history: History,
        selection: RegressionOptions,
        view: View,
        detected: DetectorRun,
        *,
        recorded: Recorded,
        baseline: Baseline,
        chosen: Sequence[str] | None,
        findings: list[Finding],
        tunings: Sequence[RunOfNight],
    ) -> None:
        self.history, self.selection, self.view, self.detected, self.baseline = (
            history,
            selection,
            view,
            detected,
            baseline,
        )
        self.records, self.judged = detected.records, detected.judged
        self.recorded, self.chosen, self.findings = recorded, chosen, findings
        self.labels = self.judged.histories.labels
        self.ids = [labels.series_id for labels in self.labels]
        self.places = {series_id: index for index, series_id in enumerate(self.ids)}
        self.judged_series = [self._judged_series(index) for index in range(len(self.labels))]
        self.active_changes = [
            find_active(
                series,
                recorded.shifts.get(labels.series_id, ()),
                recorded.acceptances.get(labels.series_id, ()),
                recorded.expectations_of(labels),
            )
            for series, labels in zip(self.judged_series, self.labels, strict=True)
        ]
        first = {name: seen[0][1] for name, seen in recorded.incidents.items() if seen}
        self.incidents = group_incidents(
            [one for index in range(len(self.labels)) for one in self._shifts_of(index)],
            {name: (seen.since, seen.since_run) for name, seen in first.items()},
        )
        self._incident_of = {
            (one.series, one.shift.since): incident.id for incident in self.incidents for one in incident.members
        }
        self._cutoffs = self._find_cutoffs()
        series_by_id = dict(zip(self.ids, self.judged_series, strict=True))
        self.surroundings = Surroundings(history, series_by_id, recorded, tunings)

    def _judged_series(self, index: int) -> JudgedSeries:
        histories, parameters = self.judged.histories, self.judged.parameters
        verdict = self.judged.verdicts[index]
        return JudgedSeries(
            nights=histories.nights,
            values_ms=histories.values_ms[index],
            verdict=verdict,
            scatter=Scatter.of(verdict, parameters),
            runs=histories.runs[index],
            parameters=parameters,
        )

    def _group(self, index: int) -> tuple[Any, ...]:
        """What a series has in common with those that can move together with it."""
        return tuple(getattr(self.labels[index], name) for name in _GROUP)

    @cached_property
    def by_group(self) -> dict[tuple[Any, ...], list[int]]:
        """The series of each group."""
        found: dict[tuple[Any, ...], list[int]] = {}
        for index in range(len(self.labels)):
            found.setdefault(self._group(index), []).append(index)
        return found

    def _shifts_of(self, index: int) -> Iterator[SeriesShift]:
        """The changes of a series that hold, as they may belong together with those of others."""
        for shift in self.active_changes[index].every:
            yield SeriesShift(
                series=self.ids[index],
                group=self._group(index),
                labels=self.labels[index],
                shift=shift,
                place=self.judged_series[index].place(shift.since),
                impact_ms=self.impact_ms(index, shift.before, shift.after),
            )

    def impact_ms(self, index: int, before: float, after: float) -> float:
        """How much longer all calls of a run take, by what they took in the newest one."""
        totals = self.judged.histories.totals_ms[index]
        known = totals[np.isfinite(totals)]
        return float(known[-1] * (1 - before / after)) if len(known) else 0.0

    def _find_cutoffs(self) -> dict[tuple[Any, ...], str]:
        """The night since when a series of each group must have had a time, or it is not measured any more."""
        times = np.isfinite(self.judged.histories.values_ms)
        nights = {group: np.flatnonzero(times[mine].any(axis=0)).tolist() for group, mine in self.by_group.items()}
        all_nights = self.judged.histories.nights
        return {group: all_nights[found[-ENDED_NIGHTS:][0]] for group, found in nights.items() if found}

    def has_ended(self, index: int) -> bool:
        """Whether a series is not measured any more."""
        last_night, cutoff = self.judged_series[index].last_night(), self._cutoffs.get(self._group(index))
        return last_night is not None and cutoff is not None and last_night < cutoff

    def shown(self) -> list[int]:
        """The series that are looked at."""
        return [index for index, series_id in enumerate(self.ids) if self.view.shows(series_id)]

    def is_asked(self, index: int) -> bool:
        """Whether a series is of the workload and scope that are asked for."""
        labels, selection = self.labels[index], self.selection
        of_workload = selection.workload in {None, labels.model, labels.workload}
        return of_workload and selection.scope in {None, labels.scope}

    def asked(self) -> list[int]:
        """The series that are looked at, and asked for."""
        return [index for index in self.shown() if self.is_asked(index)]

    def incident_of(self, index: int, shift: LevelShift) -> str | None:
        """The incident that a change of a series is part of."""
        return self._incident_of.get((self.ids[index], shift.since))

    def attribution(self, index: int, change: Change) -> StepAttribution | None:
        """A change of a step over what ran in it; None of what is no step, and where nothing tells of that."""
        if self.labels[index].scope != "step":
            return None
        return attribute(self.records, self.judged, index, change, self._tuned)

    @cached_property
    def _tuned(self) -> list[TunedOperator]:
        return [one for one in tuned_operators(self.history) if self.view.reaches(one.night)]

    def too_little(self) -> Text:
        """That, and why, nothing can be said."""
        asked, count = self.asked(), len(self.labels)
        nights = max((self.judged.verdicts[index].nights for index in asked), default=0)
        least = self.judged.parameters.least_nights
        if self.labels and not asked:
            workload, scope = self.selection.workload, self.selection.scope
            words = [
                *([] if workload is None else [say("workload {name!r}", name=workload)]),
                *([] if scope is None else [say("scope {name!r}", name=scope)]),
            ]
            asked_for = join(", ", words) if words else say("these runs")
            return say("no series of {asked} is stored; {count} other series are stored", asked=asked_for, count=count)
        if nights >= least:
            return say(
                "no series has {baseline} as its baseline and a newer level of three nights", baseline=self.baseline
            )
        return say(
            "not enough nights yet ({nights} of {least}): no series can be judged; {count} series are stored",
            nights=nights,
            least=least,
            count=count,
        )
