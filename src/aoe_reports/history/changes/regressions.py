"""What got slower or faster in the stored nights, under a budget of false alarms; steps divided over their operators."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from operator import and_
from typing import Any

from aoe_reports.engine.question import Answer
from aoe_reports.history.changes.examination import Examination, examine
from aoe_reports.history.changes.gate import Gate
from aoe_reports.history.changes.missing import Missing, findings_of_missing, missing_in_newest
from aoe_reports.history.changes.news import record_changes, withdrawals
from aoe_reports.history.changes.rows import incident_rows, known_bad_baselines, observations, series_rows
from aoe_reports.history.changes.suspicions import suspected_causes
from aoe_reports.history.detection.run import DetectorRun
from aoe_reports.history.options import EVERYTHING, EXIT_CODES, STRICT_REASONS, RegressionOptions, View
from aoe_reports.history.origin import origin_of
from aoe_reports.history.rules import NOT_ENOUGH_DATA, NOTHING_SELECTED
from aoe_reports.history.runs.clocks import read_runs
from aoe_reports.history.series.series import SeriesLabels
from aoe_reports.model.classes import record
from aoe_reports.model.history.changes import (
    MEMORY,
    NOTICED,
    SCOPES,
    AlarmBudget,
    GateBudget,
    IncidentChange,
    SeriesChange,
    SeriesObservation,
    SuspectedCause,
    by_effect,
)
from aoe_reports.model.history.expected import EXPECTED_ABSENT
from aoe_reports.model.history.metrics import PEAK_ALLOCATED, PEAK_PROCESS, loss
from aoe_reports.model.rows import Rows, as_mapping
from aoe_reports.model.texts import Text, say
from aoe_reports.store import History

_STATES = ("confirmed", "drift", "suspect", "recovered", "improved")


@record
class Regressions(Answer):
    """The rows, the incidents, how the budget was shared, what was found on the way, and why the exit code is not 0."""

    incidents: Sequence[IncidentChange]
    suspicions: Sequence[SuspectedCause]
    observations: Sequence[SeriesObservation]
    """What series do that is no change of their level."""
    budget: AlarmBudget
    missing: Sequence[str]
    """Models that were expected on the newest night, and did not run."""
    absent: Sequence[str]
    """What else was expected on it, in a few words each."""
    why: Sequence[str]
    """The reasons, as keys of `EXIT_CODES`."""
    remark: str | None
    """Why nothing can be said, where that is so."""
    not_judged: Sequence[str]
    """Why no gate could be judged, where that is so; else which of several gates could not."""
    nothing_judged: bool
    """Whether no gate could be judged."""
    detected: DetectorRun
    places: Mapping[str, int]
    """The row of each series in the histories."""

    @property
    def not_measured(self) -> list[str]:
        """Models, ranks and others that were expected on the newest night."""
        return [*self.missing, *self.absent]

    def reasons(self, *, strict: bool = False) -> list[str]:
        """Why the exit code is not 0; with `strict` too few nights and missing data are reasons, too."""
        return [name for name in self.why if name not in STRICT_REASONS or strict]

    def exit_code(self, *, strict: bool = False) -> int:
        """That of the gravest reason."""
        return next((EXIT_CODES[name] for name in self.reasons(strict=strict)), 0)


def find_regressions(
    store: str | History,
    selection: RegressionOptions,
    *,
    command: str = "regressions",
    view: View = EVERYTHING,
    detected: DetectorRun | None = None,
) -> Regressions:
    """Every series of the store that changed; `every` also those that did not, and those that cannot be judged.

    All series of the store share the budget, whatever is shown of them. Nothing is written, unless `record` asks to remember
    what changed. What the detector said before is taken from `detected` where the store's nights are still the same.
    """
    selection.check()
    history = store if isinstance(store, History) else History.open(store, origin=origin_of(command))
    examined = examine(history, selection, view, detected)
    if selection.record:
        record_changes(examined)
    asked = [*series_rows(examined)]
    rows = _shown_rows(examined, asked, selection)
    why = {row.fails for row in rows}
    findings = [*examined.findings, *([] if selection.whole_history else withdrawals(examined))]
    is_whole = (view.series, selection.workload, selection.scope) == (None, None, None)  # else no others are waited for
    missing: Missing = missing_in_newest(read_runs(history), view.until) if is_whole else {}
    findings += findings_of_missing(missing, history.uri)
    findings += known_bad_baselines((row for _, row in asked), str(examined.baseline))
    remark = None if _is_comparable(examined) else examined.too_little()
    not_judged = _not_judged(examined, remark)
    if examined.asks_for_unknown():
        findings += [NOTHING_SELECTED.found(history.uri, message) for message in not_judged]
        why.add(NOTHING_SELECTED.name)
    else:
        findings += [NOT_ENOUGH_DATA.found(history.uri, message) for message in not_judged]
        why |= {NOT_ENOUGH_DATA.name} if not_judged else set()
    if any(finding.rule == EXPECTED_ABSENT.name for finding in findings):
        why.add("expected-absent")
    incidents = incident_rows(examined, {row.series_id for row in rows})
    suspicions = suspected_causes(examined)
    observed = observations(examined)
    budget = _budget(examined)
    return Regressions(
        command="regressions",
        title="Regressions",
        inputs=(store if isinstance(store, str) else store.uri,),
        findings=findings,
        tables=(Rows(type=SeriesChange, rows=_with_metadata(rows, incidents)),),
        more={
            "budget": as_mapping(budget),
            "incidents": [as_mapping(incident) for incident in incidents],
            "suspicions": [as_mapping(suspicion) for suspicion in suspicions],
            "observations": [as_mapping(one) for one in observed],
            "not_judged": not_judged,
        },
        incidents=incidents,
        suspicions=suspicions,
        observations=observed,
        budget=budget,
        missing=list(missing),
        absent=examined.absent.names,
        why=[name for name in EXIT_CODES if name in why],
        remark=remark,
        not_judged=not_judged,
        nothing_judged=remark is not None or 0 < len(not_judged) == len(selection.gate),
        detected=examined.detected,
        places=examined.places,
    )


def _shown_rows(
    examined: Examination, asked: Sequence[tuple[int, SeriesChange]], selection: RegressionOptions
) -> list[SeriesChange]:
    rows = [
        replace(row, fails=_why(row, examined.labels[index], selection))
        for index, row in asked
        if selection.every or row.state is not None
    ]
    if selection.whole_history:  # each series in the order of nights
        return sorted(rows, key=lambda row: (_index(SCOPES, row.scope), row.workload, row.series_id, row.since or ""))
    return sorted(rows, key=_place)


def _budget(examined: Examination) -> AlarmBudget:
    judged = examined.judged
    return AlarmBudget(
        false_alarms_per_year=judged.false_alarms_per_year,
        series=len(judged.verdicts),
        eligible=judged.eligible,
        detector=judged.version,
        baseline=str(examined.baseline),
        whole_history=examined.selection.whole_history,
        gates=list(_gate_budgets(examined)),
    )


def _gate_budgets(examined: Examination) -> Iterator[GateBudget]:
    selection = examined.selection
    if not selection.budgeted_gates():
        return
    can_be_judged = [verdict.reason is None for verdict in examined.judged.verdicts]
    for text, gate in zip(selection.gate, selection.gates(), strict=True):
        if gate.alarms_per_year is not None:
            watched = [gate.watches(label) for label in examined.labels]
            yield GateBudget(
                gate=text,
                false_alarms_per_year=gate.alarms_per_year,
                series=sum(watched),
                eligible=sum(map(and_, watched, can_be_judged)),
            )


def _is_comparable(examined: Examination) -> bool:
    if examined.chosen is None:
        return any(examined.judged.verdicts[index].reason is None for index in examined.asked())
    return any(row.change is not None for _, row in series_rows(examined))


def _not_judged(examined: Examination, remark: Text | None) -> list[Text]:
    """Why no series is judged, else the gates without a series that can be judged."""
    if remark is not None or examined.selection.whole_history:
        return [] if remark is None else [remark]
    judged = [examined.labels[index] for index in examined.asked() if examined.judged.verdicts[index].reason is None]
    gates = zip(examined.selection.gate, examined.selection.gates(), strict=False)
    return [
        say("no series that {gate} watches can be judged", gate=text)
        for text, gate in gates
        if not any(map(gate.watches, judged))
    ]


def _with_metadata(rows: Sequence[SeriesChange], incidents: Sequence[IncidentChange]) -> list[SeriesChange]:
    """The rows of slow-downs with what else changed at their incidents."""
    changed = {incident.incident: incident.metadata for incident in incidents}
    return [
        replace(row, metadata=changed.get(row.incident or "", ())) if row.state in {"confirmed", "drift"} else row
        for row in rows
    ]


def _why(row: SeriesChange, labels: SeriesLabels, selection: RegressionOptions) -> str | None:
    """Why a series fails the job: it is slower, nobody accepted that, and it matches a gate."""
    if _is_settled(row) or selection.fail_on == "never" or selection.whole_history:
        return None
    gates, is_open = selection.gates(), row.state in {"confirmed", "drift"}
    if is_open and _fails(labels, row, row.change, row.step_share, gates):
        return "regression"
    if selection.fail_on != "suspect":
        return None
    suspected, share = row.change if row.state == "suspect" else None, row.step_share
    if is_open and row.change is not None and row.suspicion is not None and loss(row.suspicion.change, row.better) > 0:
        # what is open passed every gate; with the newest nights on top of it, it may not
        suspected = (1 + row.change) * (1 + row.suspicion.change) - 1
        share = None if share is None or not row.change else share * suspected / row.change
    return "suspect" if _fails(labels, row, suspected, share, gates) else None


def _is_settled(row: SeriesChange) -> bool:
    return row.acknowledged is not None or row.ended


def _fails(
    labels: SeriesLabels, row: SeriesChange, change: float | None, step_share: float | None, gates: Sequence[Gate]
) -> bool:
    lost = None if change is None else loss(change, labels.better)
    return lost is not None and lost > 0 and any(gate.holds(labels, lost, row.before, step_share) for gate in gates)


def _place(row: SeriesChange) -> tuple[Any, ...]:
    """Most urgent first: steps before their parts, then by the effect on a step."""
    state, scope = _index(_STATES, row.state), _index(SCOPES, row.scope)
    whole = scope if row.scope in NOTICED else len(SCOPES)
    effect = by_effect(row.step_share)
    is_cause = row.scope != MEMORY or row.metric in {PEAK_ALLOCATED, PEAK_PROCESS}  # others follow these
    return (
        state,
        _is_settled(row),
        whole,
        effect,
        scope,
        not is_cause,
        -abs(row.change or 0.0),
        row.workload,
        row.series_id,
    )


def _index(words: Sequence[str], word: str | None) -> int:
    return words.index(word) if word in words else len(words)
