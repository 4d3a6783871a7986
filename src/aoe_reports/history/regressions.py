"""What got slower or faster in the stored nights, under a budget of false alarms; steps divided over their operators."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from msgspec.structs import asdict as fields_of

from aoe_reports.facts.records.context import UNKNOWN
from aoe_reports.history.baselines import (
    Acceptance,
    ActiveChange,
    JudgedSeries,
    Level,
    LevelShift,
    Scatter,
    find_active,
    ordinal,
)
from aoe_reports.history.detector import Change
from aoe_reports.history.dictionary_encoded import read_coded
from aoe_reports.history.incidents import Incident, SeriesShift, group_incidents
from aoe_reports.history.metadata import COLUMNS as METADATA_COLUMNS
from aoe_reports.history.metadata import NIGHTS as METADATA_NIGHTS
from aoe_reports.history.metadata import changed_metadata
from aoe_reports.history.options import EVERYTHING, RegressionOptions, View
from aoe_reports.history.origin import origin_of
from aoe_reports.history.pinned import Baseline, hold_against
from aoe_reports.history.recorded import News, Recorded, read_recorded, record_news
from aoe_reports.history.series import FACTS, Judged, judge_histories, put_together
from aoe_reports.history.stored_attribution import attribute, tuned_operators
from aoe_reports.model.errors import UsageError
from aoe_reports.model.findings import Finding
from aoe_reports.model.texts import join, say
from aoe_reports.stats.budget import WATCHED_NIGHTS
from aoe_reports.store import History, Where, equals
from aoe_reports.store.layout import ROWS

Row = dict[str, Any]

_COLUMNS = (
    "series_id",
    "night",
    "run_id",
    "timestamp_ns",
    "runtime_ms_mean",
    "count",
    "total_ns",
    "workload_args",
    "metrics",
    *FACTS,
)
_FACTS_OF_ROW = (
    "series_id", "workload", "scope", "op_type", "op_name", "metric", "hardware", "rank_id", "device_id",
)  # fmt: skip
_STATES = ("confirmed", "drift", "suspect", "recovered", "improved")
_GROUP = ("model", "hardware", "engine", "source")
"""What series have in common that can move together, and whose nights are one calendar."""

CLOCK_GAP_DAYS = 365
"""A night further than a year from all others is no gap in a history, but a clock that was wrong."""
TUNINGS_NAMED = 5
ENDED_NIGHTS = 10
"""A series without a time in so many of the newest nights of its workload is not measured any more: too few to judge one by."""


@dataclass(frozen=True, slots=True)
class Regressions:
    """The rows, the incidents, how the budget was shared, what was found on the way, and why the exit code is not 0."""

    rows: list[Row]
    incidents: list[Row]
    budget: Row
    findings: list[Finding]
    reasons: list[str]
    remark: str | None
    """Why nothing can be said, where that is so."""
    detected: DetectorRun
    places: dict[str, int]
    """The row of each series in the histories."""


@dataclass(frozen=True, slots=True)
class DetectorInput:
    """All that the verdicts of the detector depend on."""

    parts: frozenset[str]
    """The files of the store that hold runs and records: another content has another name."""
    false_alarms_per_year: float
    within: int | None
    """So many of the newest nights; None: all of them, in hindsight."""
    until: str | None
    chosen: tuple[str, ...] = ()
    """Nights of the baseline, however old they are."""


@dataclass(frozen=True, slots=True)
class DetectorRun:
    """One run of the detector over a store: whoever asks the same store the same again need not run it again."""

    input: DetectorInput
    stored: pl.DataFrame
    """All records that were read."""
    records: pl.DataFrame
    """Those of them that were judged: not of runs whose clock was wrong."""
    jumps: Mapping[str, Finding]
    """What is said of runs whose clock was wrong, by run."""
    judged: Judged


def find_regressions(
    store: str | History,
    selection: RegressionOptions,
    *,
    command: str = "regressions",
    view: View = EVERYTHING,
    detected: DetectorRun | None = None,
) -> Regressions:
    """Every series of the store that changed; `every` also those that did not, and those that cannot be judged.

    `before` and `after` are milliseconds, `change` is `after / before - 1` (above 0 is slower). All series of the store share
    the budget, whatever is shown of them. Nothing is written, unless `record` asks to remember what changed. What the detector
    said before is taken from `detected` where the store's nights are still the same.
    """
    selection.check()
    history = store if isinstance(store, History) else History.open(store, origin=origin_of(command))
    examined = examine(history, selection, view, detected)
    if selection.record:
        examined.record()
    rows = [row for row in examined.rows() if _is_shown(row, selection)]
    reasons = _mark_failing(rows, selection)
    rows.sort(key=_place_in_history if selection.whole_history else _place)
    findings = [*examined.findings, *([] if selection.whole_history else examined.withdrawals())]
    remark = None
    if not examined.comparable():
        remark = examined.too_little()
        findings.append(Finding("warning", "not-enough-data", history.uri, remark))
        reasons.add("not-enough-data")
    incidents = examined.incident_rows({row["series_id"] for row in rows})
    return Regressions(
        rows=_finished(rows, incidents),
        incidents=incidents,
        budget=_budget_row(examined),
        findings=findings,
        reasons=[name for name in _REASONS if name in reasons],
        remark=remark,
        detected=examined.detected,
        places=examined.places,
    )


_REASONS = ("regression", "suspect", "not-enough-data")


def _mark_failing(rows: Sequence[Row], selection: RegressionOptions) -> set[str]:
    """Why the exit code is not 0, all rows together; each row says for which of the reasons it does."""
    reasons: set[str] = set()
    for row in rows:
        why = _why(row, selection)
        row["fails"] = next(iter(why), None)
        reasons |= why
    return reasons


def _budget_row(examined: Examination) -> Row:
    """How the budget of false alarms was shared."""
    judged, selection = examined.judged, examined.selection
    return {
        "false_alarms_per_year": judged.false_alarms_per_year,
        "series": len(judged.verdicts),
        "eligible": judged.eligible,
        "detector": judged.version,
        "baseline": str(examined.baseline),
        "whole_history": selection.whole_history,
    }


def _finished(rows: Sequence[Row], incidents: Sequence[Row]) -> list[Row]:
    """The rows as people and programs get them: without what only gates ask for, with what else changed at their incidents."""
    rows = [{name: value for name, value in row.items() if name not in {"model", "engine", "source"}} for row in rows]
    changed = {incident["incident"]: incident["metadata"] for incident in incidents}
    for row in rows:
        if row["state"] in {"confirmed", "drift"}:
            row["metadata"] = changed.get(row["incident"], [])
    return list(rows)


def examine(
    history: History, selection: RegressionOptions, view: View = EVERYTHING, detected: DetectorRun | None = None
) -> Examination:
    """Judge the series of a store, and hold each against what was told, acknowledged and announced of it."""
    every = [row for row in _runs(history) if view.reaches(row["night"])]
    runs = [row for row in every if row["run_kind"] != "tuning"]
    tunings = [row for row in every if row["run_kind"] == "tuning"]
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
        detected = _detect(history, wanted, runs)
    findings = _odd_nights(detected, runs, view.series)
    return Examination(
        history,
        selection,
        view,
        detected,
        recorded=recorded,
        baseline=baseline,
        chosen=chosen,
        findings=findings,
        tunings=tunings,
    )


def _recorded_by(history: History, view: View) -> Recorded:
    """What the store remembered by then."""
    recorded = read_recorded(history)
    for series, shifts in recorded.shifts.items():
        recorded.shifts[series] = [shift for shift in shifts if shift.found is None or view.reaches(shift.found)]
    for incident, seen in recorded.incidents.items():
        recorded.incidents[incident] = [one for one in seen if view.reaches(one[0])]
    return recorded


def _odd_nights(detected: DetectorRun, runs: Sequence[Row], series: Collection[str] | None) -> list[Finding]:
    """What is odd about the nights that were judged; of the workloads of `series` alone, where it is given."""
    mixed = _mixed_hardware(detected.judged)
    if series is None:
        return [*detected.jumps.values(), *mixed]
    # what is odd about others' nights is not ours to answer for
    ours = detected.stored.filter(pl.col("series_id").is_in(list(series)))
    models = set(ours["model"].cast(pl.String))
    names = {row["run_id"]: row["model"] for row in runs}
    findings = [finding for run, finding in detected.jumps.items() if names[run] in models]
    return [*findings, *(finding for finding in mixed if finding.path in models)]


def _detect(history: History, wanted: DetectorInput, runs: Sequence[Row]) -> DetectorRun:
    """Read the nights that are wanted, and run the detector over them."""
    stored = _records(history, wanted.within, wanted.chosen, wanted.until)
    records, jumps = _without_jumps(stored, runs, history.uri)
    judged = judge_histories(put_together(records), wanted.false_alarms_per_year, within=wanted.within)
    return DetectorRun(input=wanted, stored=stored, records=records, jumps=jumps, judged=judged)


class Examination:
    """The series of a store under one selection: courses, standings, incidents."""

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
        tunings: Sequence[Row],
    ) -> None:
        self.history, self.selection, self.view, self.detected, self.baseline = (
            history,
            selection,
            view,
            detected,
            baseline,
        )
        self.records, self.judged = detected.records, detected.judged
        self.recorded, self.chosen, self.findings, self.tunings = recorded, chosen, findings, tunings
        facts = self.judged.histories.facts
        self.facts: list[Row] = list(facts.iter_rows(named=True))
        self.places = {row["series_id"]: index for index, row in enumerate(self.facts)}
        self.judged_series = [self._course(index) for index in range(len(self.facts))]
        self.active_changes = [
            find_active(
                course,
                recorded.shifts.get(row["series_id"], ()),
                recorded.acceptances.get(row["series_id"], ()),
                recorded.expectations_of(row),
            )
            for course, row in zip(self.judged_series, self.facts, strict=True)
        ]
        first = {name: seen[0][1] for name, seen in recorded.incidents.items() if seen}
        self.incidents = group_incidents(
            [one for index in range(len(self.facts)) for one in self._shifts_of(index)],
            {name: (seen.since, seen.since_run) for name, seen in first.items()},
        )
        self._incident_of = {
            (one.series, one.shift.since): incident.id for incident in self.incidents for one in incident.members
        }
        self._cutoffs = self._find_cutoffs()
        self._metadata: dict[str, list[Row] | None] = {}
        """What else changed where an incident began, as the nights say now; None where these do not reach so far back."""
        self._tuned: Any = None

    def _course(self, index: int) -> JudgedSeries:
        histories = self.judged.histories
        verdict = self.judged.verdicts[index]
        return JudgedSeries(
            nights=histories.nights,
            values_ms=histories.values_ms[index],
            verdict=verdict,
            scatter=Scatter.of(verdict, self.judged.parameters),
            runs=histories.runs[index],
            parameters=self.judged.parameters,
        )

    def _shifts_of(self, index: int) -> Iterator[SeriesShift]:
        """The changes of a series that hold, as they may belong together with those of others."""
        row = self.facts[index]
        group = tuple(row[name] for name in _GROUP)
        for shift in self.active_changes[index].every:
            place = self.judged_series[index].place(shift.since)
            yield SeriesShift(
                series=row["series_id"],
                group=group,
                facts=row,
                shift=shift,
                place=place,
                impact_ms=self._impact(index, shift.before, shift.after),
            )

    def _impact(self, index: int, before: float, after: float) -> float:
        """How much longer all calls of a run take, by what they took in the newest one (ms)."""
        totals = self.judged.histories.totals_ms[index]
        known = totals[np.isfinite(totals)]
        return float(known[-1] * (1 - before / after)) if len(known) else 0.0

    def _find_cutoffs(self) -> dict[tuple[Any, ...], str]:
        """The night since when a series of each group must have had a time, or it is not measured any more."""
        nights: dict[tuple[Any, ...], set[int]] = {}
        times = np.isfinite(self.judged.histories.values_ms)
        for index, row in enumerate(self.facts):
            nights.setdefault(tuple(row[name] for name in _GROUP), set()).update(np.flatnonzero(times[index]).tolist())
        all_nights = self.judged.histories.nights
        return {group: all_nights[sorted(found)[-ENDED_NIGHTS:][0]] for group, found in nights.items() if found}

    def _has_ended(self, index: int, last_night: str | None) -> bool:
        cutoff = self._cutoffs.get(tuple(self.facts[index][name] for name in _GROUP))
        return last_night is not None and cutoff is not None and last_night < cutoff

    def _is_ours(self, index: int) -> bool:
        return self.view.shows(self.facts[index]["series_id"])

    def rows(self) -> Iterator[Row]:
        """A row a series."""
        if self.selection.whole_history:
            yield from self._rows_of_history()
            return
        for index in range(len(self.facts)):
            if self._is_ours(index):
                yield self._row(index) if self.chosen is None else self._pinned_row(index)

    def _rows_of_history(self) -> Iterator[Row]:
        """A row a change since the first night, as one look shows it."""
        for index, change, told in self.judged.told():
            row = self._common(index)
            row |= {name: told[name] for name in row if name in told}
            if change is not None and self.facts[index]["scope"] == "step":
                row["attribution"] = self._attribute(index, change)
            yield row

    def _common(self, index: int) -> Row:
        """What a row says of its series, whatever it is held against."""
        verdict, facts = self.judged.verdicts[index], self.facts[index]
        suspect = verdict.suspect
        last_night = self.judged_series[index].last_night()
        return {
            **{name: facts[name] for name in (*_FACTS_OF_ROW, "model", "engine", "source")},
            "state": None,
            "since_run": None,
            **dict.fromkeys(("since", "before", "after", "change", "ci_low", "ci_high")),
            "smallest_detectable": verdict.smallest_detectable,
            "nights": verdict.nights,
            "left_out": verdict.left_out,
            "reason": verdict.reason,
            "last_night": last_night,
            "ended": self._has_ended(index, last_night),
            "impact_ms": None,
            "incident": None,
            "first_since": None,
            "new": False,
            "acknowledged": None,
            "baseline": None,
            "moves": [],
            "suspicion": None
            if suspect is None
            else {"since": self.judged.histories.nights[suspect.night], "change": suspect.change},
            "metadata": [],
            "attribution": None,
        }

    def _row(self, index: int) -> Row:
        active, row = self.active_changes[index], self._common(index)
        suspect = self.judged.verdicts[index].suspect
        if suspect is not None and not active.open:
            nights, runs = self.judged.histories.nights, self.judged.histories.runs
            row |= {"state": "suspect", "since": nights[suspect.night], "since_run": runs[index, suspect.night]}
            row |= {name: getattr(suspect, name) for name in ("before", "after", "change", "ci_low", "ci_high")}
            return row
        if active.state is None:
            return row
        first, last_night = active.shifts[0], row["last_night"]
        assert active.before is not None
        assert active.after is not None
        return row | {
            "state": active.state,
            "since": first.since,
            "since_run": first.since_run,
            "before": active.before,
            "after": active.after,
            "change": active.change,
            "ci_low": active.ci_low,
            "ci_high": active.ci_high,
            "impact_ms": self._impact(index, active.before, active.after),
            "incident": self._incident(index, first),
            "first_since": first.first_since or first.since,
            "new": any(shift.found in {None, last_night} for shift in active.shifts),
            "acknowledged": _acknowledged(active),
            "baseline": _baseline_row("segment", active.baseline),
            "moves": [self._shift_row(index, shift) for shift in active.shifts],
            "metadata": [],
            "attribution": self._attribution(index, active),
        }

    def _pinned_row(self, index: int) -> Row:
        """A series held against the baseline that was chosen."""
        course, row, baseline = self.judged_series[index], self._common(index), self.baseline
        assert self.chosen is not None
        newest = None
        chosen = self.chosen
        if baseline.kind == "nights":
            newest = self.judged.parameters.least_level
            times = [night for place, night in enumerate(course.nights) if course.count(place, place + 1)]
            chosen = times[: -newest or None][-baseline.nights :]
        held = hold_against(course, chosen, newest=newest)
        row["baseline"] = _baseline_row(str(baseline), held.baseline)
        if held.baseline is None or held.newest is None:
            row["reason"] = row["reason"] or ("no-baseline" if held.baseline is None else "too-few-nights")
            return row
        before, after = held.baseline.ms, held.newest.ms
        return row | {
            "state": held.state,
            "since": held.since,
            "since_run": None if held.since is None else course.runs[course.place(held.since)],
            "before": before,
            "after": after,
            "change": after / before - 1,
            "ci_low": held.ci_low,
            "ci_high": held.ci_high,
            "impact_ms": self._impact(index, before, after),
        }

    def _incident(self, index: int, shift: LevelShift) -> str | None:
        return self._incident_of.get((self.facts[index]["series_id"], shift.since))

    def _shift_row(self, index: int, shift: LevelShift) -> Row:
        names = ("since", "since_run", "state", "before", "after", "change", "ci_low", "ci_high")
        return {**{name: getattr(shift, name) for name in names}, "incident": self._incident(index, shift)}

    def _attribution(self, index: int, active: ActiveChange) -> Row | None:
        """The newest change of a step over what ran in it; null where the change is none that the detector sees now."""
        if self.facts[index]["scope"] != "step" or not self.judged.verdicts[index].changes:
            return None
        newest: Change = self.judged.verdicts[index].changes[-1]
        if not any(shift.since == self.judged.histories.nights[newest.night] for shift in active.shifts):
            return None
        return self._attribute(index, newest)

    def _attribute(self, index: int, change: Change) -> Row | None:
        if self._tuned is None:
            self._tuned = [one for one in tuned_operators(self.history) if self.view.reaches(one.night)]
        return attribute(self.records, self.judged, index, change, self._tuned)

    def _metadata_around(self, incidents: Iterable[Incident]) -> None:
        """Find what else changed where incidents began, from the nights of the series that names each; one query for all."""
        sides = {}
        for incident in incidents:
            lead = incident.lead
            course = self.judged_series[self.places[lead.series]]
            place = course.place(lead.shift.since)
            before = [run for run in course.runs[:place] if run is not None][-METADATA_NIGHTS:]
            after = [run for run in course.runs[place:] if run is not None][:METADATA_NIGHTS]
            if incident.id not in self._metadata and before and after:
                sides[incident.id] = lead, before, after
            else:
                self._metadata.setdefault(incident.id, None)
        if not sides:
            return
        series = tuple(equals("series_id", name) for name in sorted({lead.series for lead, _, _ in sides.values()}))
        runs = sorted({run for _, before, after in sides.values() for run in (*before, *after)})
        columns = ("series_id", "run_id", *METADATA_COLUMNS)
        where: Where = [series, tuple(equals("run_id", run) for run in runs)]
        rows = pl.DataFrame(self.history.records(columns, where))
        for name, (lead, before, after) in sides.items():
            mine = rows.filter(pl.col("series_id") == lead.series)
            changed = changed_metadata(
                mine.filter(pl.col("run_id").is_in(before)), mine.filter(pl.col("run_id").is_in(after))
            )
            self._metadata[name] = [*changed, *self._tunings_around(lead)]

    def _tunings_around(self, lead: SeriesShift) -> list[Row]:
        """Runs of AOE for the workload between the last night before a change and its first."""
        course = self.judged_series[self.places[lead.series]]
        prior = [
            night for night in course.nights[: lead.place] if course.count(course.place(night), course.place(night) + 1)
        ]
        names = [
            row["run_id"]
            for row in self.tunings
            if row["model"] == lead.facts["model"] and prior[-1:] <= [row["night"]] <= [lead.shift.since]
        ]
        return [{"name": "tuning_runs", "before": None, "after": ", ".join(names[:TUNINGS_NAMED])}] if names else []

    def incident_rows(self, shown: Collection[str]) -> list[Row]:
        """The incidents that rows shown belong to, with all their members."""
        if self.chosen is not None or self.selection.whole_history:
            return []
        wanted = {
            self._incident(self.places[series], shift)
            for series in shown
            if self._shows_shift(self.places[series])
            for shift in self.active_changes[self.places[series]].shifts
        }
        chosen = [incident for incident in self.incidents if incident.id in wanted]
        self._metadata_around(chosen)
        return [self._incident_row(incident) for incident in chosen]

    def _shows_shift(self, index: int) -> bool:
        """Whether the row of a series is about a change, and not about a suspicion."""
        active = self.active_changes[index]
        return active.state is not None and (active.open or self.judged.verdicts[index].suspect is None)

    def _incident_row(self, incident: Incident) -> Row:
        lead = incident.lead
        members = []
        for one in incident.members:
            index = self.places[one.series]
            active = self.active_changes[index]
            told = any(shift.since == one.shift.since for shift in active.shifts)
            members.append(
                {
                    **{
                        name: one.facts[name]
                        for name in ("series_id", "workload", "scope", "op_type", "op_name", "rank_id")
                    },
                    "state": one.shift.state,
                    "since": one.shift.since,
                    "before": one.shift.before,
                    "after": one.shift.after,
                    "change": one.shift.change,
                    "impact_ms": one.impact_ms,
                    "open": told and active.open and not self._has_ended(index, self.judged_series[index].last_night()),
                }
            )
        return {
            "incident": incident.id,
            "title": _title(lead),
            "since": incident.since,
            "since_run": incident.since_run,
            "since_now": incident.since_now if incident.since_now != incident.since else None,
            **{name: lead.facts[name] for name in ("model", "hardware")},
            "change": lead.shift.change,
            "impact_ms": lead.impact_ms,
            "open": any(member["open"] for member in members),
            "metadata": self._facts_of(incident.id),
            "members": members,
        }

    def _facts_of(self, incident: str) -> list[Row]:
        """What else changed there: as first recorded (`seen` is first; first-only: the nights now say otherwise), then what was seen later."""
        now = self._metadata[incident]
        recorded = [
            [fields_of(fact) for fact in seen.metadata] for _, seen in self.recorded.incidents.get(incident, ()) if seen.metadata is not None
        ]  # fmt: skip
        first, *later = [*recorded, now or []]
        told = [{**fact, "seen": "first" if now is None or fact in now else "first-only"} for fact in first]
        known = list(first)
        for fact in (one for facts in later for one in facts):
            if fact not in known:
                known.append(fact)
                told.append({**fact, "seen": "later"})
        return told

    def record(self, command_series: Collection[str] | None = None) -> int:
        """Remember what changed and was not told yet, and what was told and holds no more; how many rows that were."""
        times = dict(self.records.group_by("series_id").agg(pl.col("timestamp_ns").max()).iter_rows())
        news = []
        for index, row in enumerate(self.facts):
            if not self._is_ours(index) or (command_series is not None and row["series_id"] not in command_series):
                continue
            active = self.active_changes[index]
            fresh = [
                replace(shift, incident=self._incident(index, shift)) for shift in active.every if shift.found is None
            ]
            last_night = self.judged_series[index].last_night()
            if (fresh or active.withdrawn) and last_night is not None:
                news.append(
                    News(
                        facts=row,
                        timestamp_ns=times[row["series_id"]],
                        last_night=last_night,
                        shifts=fresh,
                        withdrawn=active.withdrawn,
                    )
                )
        begun = {shift.incident for one in news for shift in one.shifts}
        incidents = [incident for incident in self.incidents if incident.id in begun]
        self._metadata_around(incidents)
        seen = {
            one.id: {"since": one.since, "since_run": one.since_run, "metadata": self._metadata[one.id] or []}
            for one in incidents
        }
        news = [replace(one, seen=seen) for one in news]
        return record_news(self.history, self.recorded, news, self.judged.parameters, self.judged.false_alarms_per_year)

    def withdrawals(self) -> list[Finding]:
        """Changes that were told, and that the nights that are there now do not bear out."""
        found = []
        for index, (row, active) in enumerate(zip(self.facts, self.active_changes, strict=True)):
            if not self._is_ours(index):
                continue
            for shift in active.withdrawn:
                message = say(
                    "{workload} (series {series_id}): a change of {change:+.1%} since {since} was told on "
                    "{found}; the nights that are there now do not bear it out (incident {incident})",
                    workload=row["workload"],
                    series_id=row["series_id"],
                    change=shift.change,
                    since=shift.since,
                    found=shift.found,
                    incident=shift.incident,
                )
                found.append(Finding("warning", "change-withdrawn", self.history.uri, message))
        return found

    def comparable(self) -> bool:
        """Whether anything can be said of any series that is asked for."""
        indexes = self._asked()
        if self.chosen is None:
            return any(self.judged.verdicts[index].reason is None for index in indexes)
        return any(self._pinned_row(index)["change"] is not None for index in indexes)

    def too_little(self) -> str:
        """That, and why, nothing can be said."""
        nights = self.most_nights()
        least = self.judged.parameters.least_nights
        count = len(self.facts)
        message = say(
            "not enough nights yet ({nights} of {least}): no series can be judged; {count} series are stored",
            nights=nights,
            least=least,
            count=count,
        )
        if self.facts and not self._asked():
            workload, scope = self.selection.workload, self.selection.scope
            words = [
                *([] if workload is None else [say("workload {name!r}", name=workload)]),
                *([] if scope is None else [say("scope {name!r}", name=scope)]),
            ]
            asked = join(", ", words) if words else say("these runs")
            message = say("no series of {asked} is stored; {count} others are", asked=asked, count=count)
        elif nights >= least:
            message = say(
                "no series has {baseline} as its baseline and a newer level of three nights",
                baseline=self.baseline,
            )
        return message

    def most_nights(self) -> int:
        """The nights of the longest series that is asked for."""
        return max((self.judged.verdicts[index].nights for index in self._asked()), default=0)

    def _asked(self) -> list[int]:
        """The rows of the series that are ours, and of the workload and scope that are asked for."""
        return [
            index for index, facts in enumerate(self.facts) if self._is_ours(index) and _is_asked(facts, self.selection)
        ]


def _acknowledged(active: ActiveChange) -> Row | None:
    """Who accepted a slow-down, when and why; `kind` is ack or expect."""
    if active.accepted is None:
        return None
    told = asdict(active.accepted)
    kind = "ack" if isinstance(active.accepted, Acceptance) else "expect"
    return {"kind": kind, **{name: told[name] for name in ("id", "who", "when", "reason")}}


def _baseline_row(kind: str, level: Level | None) -> Row | None:
    if level is None:
        return None
    return {"kind": kind, "level": level.ms, "nights": level.nights, "until": level.until}


def _title(lead: SeriesShift) -> str:
    """The step if it moved, else the operator with the largest impact, in words."""
    facts = lead.facts
    kind = facts.get("op_type")
    rank = say(", rank {rank}", rank=facts["rank_id"]) if facts.get("rank_id") is not None else ""
    if facts.get("op_name"):
        known = kind or say("type unknown")
        what = say("operator {name} ({kind}{rank})", name=facts["op_name"], kind=known, rank=rank)
    elif facts.get("scope") == "op_type":
        what = say("operator type {kind}{rank}", kind=kind, rank=rank)
    elif facts.get("scope") == "step":
        what = say("step of {model}{rank}", model=facts.get("model"), rank=rank)
    else:
        what = say("{name}{rank}", name=facts.get("workload"), rank=rank)
    return say("{what} {change:+.1%}", what=what, change=lead.shift.change)


def _records(
    history: History, within: int | None, chosen: Sequence[str] = (), until: str | None = None
) -> pl.DataFrame:
    """Records of the last `within` nights (None: all) up to one and of `chosen` ones, however old they are.

    AOE's own measurements and cut-off captures are no nights.
    """
    measured = [equals("run_kind", "tuning", "!="), equals("status", "incomplete", "!=")]
    if until is not None:
        measured.append(equals("night", until, "<="))
    nights = sorted(set(history.rows("run", ["night"], measured)["night"].to_pylist()))
    where: Where = [equals("source", "aoe", "!="), *([] if until is None else [equals("night", until, "<=")])]
    if within is not None and len(nights) > within:
        where = [*where, (equals("night", nights[-within], ">="), *(equals("night", night) for night in chosen))]
    incomplete = history.rows("run", ["run_id"], [equals("status", "incomplete")])["run_id"].to_pylist()
    columns = [name for name in _COLUMNS if name in ROWS.names]
    return read_coded(history, columns, where).filter(~pl.col("run_id").is_in(incomplete))


def _runs(history: History) -> list[Row]:
    columns = ("run_id", "night", "model", "hardware", "run_kind", "path")
    rows: list[Row] = history.rows("run", columns).to_pylist()
    return sorted(rows, key=lambda row: (row["night"], row["run_id"]))


def _chosen_nights(history: History, baseline: Baseline, runs: Sequence[Row], recorded: Recorded) -> list[str] | None:
    """The nights of a chosen baseline; None where it is the segment of each series."""
    if baseline.kind == "segment":
        return None
    if baseline.kind == "nights":
        return []  # each series has its own
    if baseline.kind == "window":
        nights = sorted({row["night"] for row in runs if baseline.first <= row["night"] <= baseline.last})
        if not nights:
            raise UsageError(say("--baseline {baseline}: {uri} has no night in it", baseline=baseline, uri=history.uri))
        return nights
    run = baseline.value
    if baseline.kind == "tag":
        if run not in recorded.tags:
            known = join(", ", sorted(recorded.tags)[:20]) if recorded.tags else say("none")
            raise UsageError(
                say(
                    "--baseline {baseline}: no run has this name; names are {names} (see `tag`)",
                    baseline=baseline,
                    names=known,
                )
            )
        run = recorded.tags[run].run
    nights = sorted({row["night"] for row in runs if row["run_id"] == run})
    if not nights:
        raise UsageError(
            say(
                "--baseline {baseline}: {uri} has no run {run}; `history runs` lists them",
                baseline=baseline,
                uri=history.uri,
                run=run,
            )
        )
    return nights


def _without_jumps(records: pl.DataFrame, runs: Sequence[Row], store: str) -> tuple[pl.DataFrame, dict[str, Finding]]:
    """(records without those of runs whose clock was wrong, what is said of those, by run).

    A workload's nights fall apart where more than a year lies between two. A part of fewer nights than make a level, beside
    one that is long enough to be judged, is no history: it would be the newest night for ever, or the oldest.
    """
    found = []
    for model in sorted({str(row["model"]) for row in runs}):
        ours = [row for row in runs if str(row["model"]) == model]
        parts = _apart(sorted({row["night"] for row in ours}))
        if max((len(part) for part in parts), default=0) < _LEAST_HISTORY:
            continue
        gone = {night for part in parts if len(part) < _LEAST_LEVEL for night in part}
        found += [row for row in ours if row["night"] in gone]
    if not found:
        return records, {}
    gone_runs = [row["run_id"] for row in found]
    findings = {
        row["run_id"]: Finding(
            "warning",
            "clock-jump",
            row["path"] or store,
            say(
                "run {run_id} of {model} says {night}, more than a year from all other nights of it: it "
                "is held against nothing (`store undo {run_id}` takes it out)",
                run_id=row["run_id"],
                model=row["model"],
                night=row["night"],
            ),
        )
        for row in found
    }
    return records.filter(~pl.col("run_id").is_in(gone_runs)), findings


_LEAST_LEVEL, _LEAST_HISTORY = 3, 10


def _apart(nights: Sequence[str]) -> list[list[str]]:
    """Nights in groups between which more than a year lies."""
    parts: list[list[str]] = []
    for night in nights:
        near = parts and ordinal(night) - ordinal(parts[-1][-1]) <= CLOCK_GAP_DAYS
        if near:
            parts[-1].append(night)
        else:
            parts.append([night])
    return parts


def _mixed_hardware(judged: Judged) -> list[Finding]:
    """Workloads that ran on several kinds of hardware: each kind has series of its own."""
    facts = judged.histories.facts
    kinds: dict[str, set[str]] = {}
    for model, hardware in facts.select("model", "hardware").unique().iter_rows():
        kinds.setdefault(str(model), set()).add(str(hardware))
    return [_of_hardware(model, found) for model, found in sorted(kinds.items()) if len(found) > 1]


def _of_hardware(model: str, kinds: set[str]) -> Finding:
    """Nights that nobody said the hardware of are most likely those of a kind that was named, and were meant to be."""
    names = join(", ", sorted(kinds - {UNKNOWN}))
    if UNKNOWN in kinds:
        message = say(
            "some nights are of unknown hardware, others of {names}: they are never held against each other (see --hardware)",
            names=names,
        )
        return Finding("warning", "hardware-unnamed", model, message)
    message = say("measured on {names}: nights on one are never held against nights on another", names=names)
    return Finding("info", "several-hardware", model, message)


def _is_asked(facts: Mapping[str, Any], selection: RegressionOptions) -> bool:
    of_workload = selection.workload in {None, facts["model"], facts["workload"]}
    return of_workload and selection.scope in {None, facts["scope"]}


def _is_shown(told: Mapping[str, Any], selection: RegressionOptions) -> bool:
    return _is_asked(told, selection) and (selection.every or told["state"] is not None)


def _why(told: Mapping[str, Any], selection: RegressionOptions) -> set[str]:
    """Why a series makes the exit code other than 0: it is slower, nobody accepted that, and it passes a gate."""
    settled = told["acknowledged"] is not None or told["ended"]
    if settled or selection.fail_on == "never" or selection.whole_history:
        return set()
    open_ = told["state"] in {"confirmed", "drift"}
    if open_ and _fails(told, told["change"], selection):
        return {"regression"}
    if selection.fail_on != "suspect":
        return set()
    suspected = told["change"] if told["state"] == "suspect" else None
    if open_ and told["suspicion"] is not None and told["suspicion"]["change"] > 0:
        # what is open passed every gate; with the newest nights on top of it, it may not
        suspected = (1 + told["change"]) * (1 + told["suspicion"]["change"]) - 1
    return {"suspect"} if _fails(told, suspected, selection) else set()


def _fails(told: Mapping[str, Any], change: float | None, selection: RegressionOptions) -> bool:
    slower = change is not None and change > 0
    return slower and any(gate.holds({**told, "change": change}) for gate in selection.gates())


def _place(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """What is to be acted upon first; steps before what they are made of, the largest change first."""
    state = _STATES.index(row["state"]) if row["state"] in _STATES else len(_STATES)
    scope = _SCOPES.index(row["scope"]) if row["scope"] in _SCOPES else len(_SCOPES)
    settled = row["acknowledged"] is not None or row["ended"]
    return state, settled, scope, -abs(row["change"] or 0.0), row["workload"], row["series_id"]


def _place_in_history(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """Steps before what they are made of, each series in the order of nights."""
    scope = _SCOPES.index(row["scope"]) if row["scope"] in _SCOPES else len(_SCOPES)
    return scope, row["workload"], row["series_id"], row["since"] or ""


_SCOPES = ("step", "model", "op_type", "op", "communication", "subgraph")
