"""The series of a store under one selection: what is active of each, what moved together, what is measured no more."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property

from aoe_reports.history.changes.absent import Absent, absent_in_newest
from aoe_reports.history.changes.causes import merge_across_models
from aoe_reports.history.changes.incidents import SeriesShift, group_incidents
from aoe_reports.history.changes.recorded import Recorded, read_recorded
from aoe_reports.history.changes.stored_attribution import TunedOperator, attribute, tuned_operators
from aoe_reports.history.changes.surroundings import Surroundings
from aoe_reports.history.detection.run import DetectorInput, DetectorRun, odd_nights, run_detector
from aoe_reports.history.detection.verdicts import Change
from aoe_reports.history.options import EVERYTHING, RegressionOptions, View
from aoe_reports.history.runs.clocks import RunOfNight, read_runs
from aoe_reports.history.series.baselines import LevelShift, find_active
from aoe_reports.history.series.pinned import Baseline
from aoe_reports.history.series.stored import StoredSeries
from aoe_reports.model.errors import UsageError
from aoe_reports.model.findings import Finding
from aoe_reports.model.history.changes import MEMORY, StepAttribution
from aoe_reports.model.names import resembling
from aoe_reports.model.texts import Text, join, say
from aoe_reports.stats.budget import WATCHED_NIGHTS
from aoe_reports.store import History


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
        gates=selection.budgeted_gates(),
        declarations=selection.declarations(),
    )
    if detected is None or detected.input != wanted:
        detected = run_detector(history, wanted, runs)
    examined = Examination(
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
    asked = {examined.labels[index].model for index in examined.asked()}
    examined.absent = absent_in_newest(detected, runs, asked)
    examined.findings += examined.absent.findings
    return examined


def _recorded_by(history: History, view: View) -> Recorded:
    recorded = read_recorded(history)
    for series, shifts in recorded.shifts.items():
        recorded.shifts[series] = [shift for shift in shifts if shift.found is None or view.reaches(shift.found)]
    for incident, seen in recorded.incidents.items():
        recorded.incidents[incident] = [one for one in seen if view.reaches(one[0])]
    return recorded


def _chosen_nights(
    history: History, baseline: Baseline, runs: Sequence[RunOfNight], recorded: Recorded
) -> list[str] | None:
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
            "--baseline {baseline}: {uri} has no run {run}; `store history runs` lists them",
            baseline=baseline,
            uri=uri,
            run=name,
        )
    if not nights:
        raise UsageError(missing)
    return sorted(nights)


def _run_of_tag(baseline: Baseline, recorded: Recorded) -> str:
    if baseline.value in recorded.tags:
        return recorded.tags[baseline.value]
    known = join(", ", sorted(recorded.tags)[:20]) if recorded.tags else say("none")
    raise UsageError(
        say(
            "--baseline {baseline}: no run has this name; existing names: {names} (see `store tag`)",
            baseline=baseline,
            names=known,
        )
    )


class Examination(StoredSeries):
    """The series of a store under one selection: what is active of each, and what moved together."""

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
        super().__init__(detected)
        self.history, self.selection, self.view, self.baseline = history, selection, view, baseline
        self.recorded, self.chosen, self.findings = recorded, chosen, findings
        self.absent = Absent()
        self.active_changes = [
            find_active(series, *recorded.of_costs(labels), recorded.expectations_of(labels))
            for series, labels in zip(self.judged_series, self.labels, strict=True)
        ]
        series_by_id = dict(zip(self.ids, self.judged_series, strict=True))
        self.surroundings = Surroundings(history, series_by_id, recorded, tunings)
        first = {name: seen[0][1] for name, seen in recorded.incidents.items() if seen}
        told = {name: (seen.since, seen.since_run) for name, seen in first.items()}
        moved = [
            self._moved(index, shift, series.place(shift.since))
            for index, series in enumerate(self.judged_series)
            for shift in self.active_changes[index].every
        ]
        grouped = group_incidents(moved, told, list(self.suspected.values()))
        self.incidents = merge_across_models(self, self.surroundings, grouped, told)
        self._incident_of = {
            (member.series, member.shift.since): incident.id
            for incident in self.incidents
            for member in incident.members
        }

    def _moved(self, index: int, shift: LevelShift, place: int) -> SeriesShift:
        """A change of a series, as it may belong together with those of others."""
        is_memory = self.labels[index].scope == MEMORY
        impact_ms = 0.0 if is_memory else self.impact_ms(index, shift.before, shift.after)
        return SeriesShift(self.ids[index], self.group(index), self.labels[index], shift, place, impact_ms)

    @cached_property
    def suspected(self) -> dict[int, SeriesShift]:
        """What the newest nights of series show, by their numbers, as if it was proved."""
        return {
            index: self._suspected(index, verdict.suspect)
            for index, verdict in enumerate(self.judged.verdicts)
            if verdict.suspect is not None
        }

    def _suspected(self, index: int, suspect: Change) -> SeriesShift:
        series, nights = self.judged_series[index], self.judged.histories.nights
        shift = LevelShift(
            since=nights[suspect.night],
            since_run=self.judged.histories.runs[index, suspect.night],
            state=suspect.state,
            before=suspect.before,
            after=suspect.after,
            ci_low=suspect.ci_low,
            ci_high=suspect.ci_high,
            before_nights=max(series.verdict.nights - len(nights) + suspect.night, 1),
            after_nights=len(nights) - suspect.night,
            reach=series.scatter.reach(math.log(suspect.after / suspect.before)),
        )
        return self._moved(index, shift, suspect.night)

    def shown(self) -> list[int]:
        """The series that are looked at, with those that they would be beside: what lacks a value is open still."""
        shows, absent = self.view.shows, self.absent.rows
        return [index for index, one in enumerate(self.labels) if index in absent or shows(one)]

    def is_asked(self, index: int) -> bool:
        """Whether a series is of the workload and scope that are asked for."""
        labels, selection = self.labels[index], self.selection
        of_workload = selection.workload in {None, labels.model, labels.workload}
        return of_workload and selection.scope in {None, labels.scope}

    def asked(self) -> list[int]:
        """The series that are looked at, and asked for."""
        return [index for index in self.shown() if self.is_asked(index)]

    def asks_for_unknown(self) -> bool:
        """Whether the store has no series of the workload that is asked for, and has others."""
        wanted = self.selection.workload
        known = (name for label in self.labels for name in (label.model, label.workload))
        return bool(self.labels) and wanted is not None and wanted not in known

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
        return [operator for operator in tuned_operators(self.history) if self.view.reaches(operator.night)]

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
            models = sorted({label.model for label in self.labels})
            near = resembling(workload, models) if self.asks_for_unknown() and workload is not None else None
            if near is not None:
                return say(
                    "no series of {asked} is stored; the stored workload {near!r} has a similar name",
                    asked=asked_for,
                    near=near,
                )
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
