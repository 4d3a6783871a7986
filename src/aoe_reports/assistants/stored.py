"""What the store of nights tells an assistant: runs, workloads, series, incidents. Nothing is written."""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from aoe_reports.assistants.documents import MOST_ROWS, Document, Hint, findings_table, plain_table, table_of
from aoe_reports.assistants.hints import ask
from aoe_reports.assistants.places import Places
from aoe_reports.assistants.questions import told_warnings
from aoe_reports.assistants.refusal import RefusedError
from aoe_reports.assistants.words import neutral
from aoe_reports.history.listing import list_history
from aoe_reports.history.options import HistoryOptions, RegressionOptions
from aoe_reports.history.regressions import Regressions, find_regressions
from aoe_reports.model.changes import IncidentChange, SeriesChange, SeriesObservation
from aoe_reports.model.documents import JsonObject
from aoe_reports.model.errors import LeftOutWarning
from aoe_reports.model.listings import ListedRun
from aoe_reports.model.rows import Rows, as_mapping
from aoe_reports.present.night import night_headline
from aoe_reports.present.reports.incidents import worst_first

_OF_SERIES = (
    "series_id", "workload", "scope", "op_type", "op_name", "metric", "unit", "better", "rank_id", "state", "since", "since_run",
    "before", "after", "change", "nights", "last_night", "reason", "incident",
)  # fmt: skip
"""What is listed of a series: the rest is told by its incident."""


def listed(store: str, what: str, workload: str | None) -> Document:
    """A list of what the store holds."""
    with warnings.catch_warnings(record=True) as left_out:
        warnings.simplefilter("always", LeftOutWarning)
        document = _LISTS[what](store, workload)
    return replace(document, notes=(*document.notes, *told_warnings(left_out))[:3])


def _runs(store: str, workload: str | None) -> list[ListedRun]:
    """Newest first."""
    return list(reversed(list_history(store, "runs", HistoryOptions(workload=workload)).rows))


def _list_runs(store: str, workload: str | None) -> Document:
    runs = _runs(store, workload)
    return Document(
        answers="history runs",
        headline=f"{len(runs):,} runs, the newest first",
        tables=(table_of(Rows(type=ListedRun, rows=runs)),),
        hints=(Hint("history", {}, "what got slower in these nights"),),
    )


def _list_workloads(store: str, workload: str | None) -> Document:
    runs: dict[tuple[str, str | None], list[ListedRun]] = defaultdict(list)
    for one in _runs(store, workload):
        runs[one.workload, one.hardware].append(one)
    rows: list[JsonObject] = [
        {
            "workload": name,
            "hardware": hardware,
            "runs": len(of),
            "first_night": of[-1].night,
            "last_night": of[0].night,
        }
        for (name, hardware), of in runs.items()
    ]
    return Document(
        answers="history workloads",
        headline=f"{len(rows):,} workloads",
        tables=(plain_table("rows", rows[:MOST_ROWS], len(rows)),),
        hints=(Hint("history", {}, "what got slower in these nights"),),
    )


def _list_series(store: str, workload: str | None) -> Document:
    answer = find_regressions(store, RegressionOptions(workload=workload, every=True))
    rows = [{key: as_mapping(one)[key] for key in _OF_SERIES} for one in answer.rows[:MOST_ROWS]]
    fields = {one.key: one for one in _fields(SeriesChange)}
    table = plain_table("series", rows, len(answer.rows), fields)
    return Document(
        answers="history series",
        headline=f"{len(answer.rows):,} series; those with a state changed",
        tables=(table, findings_table(answer.findings)),
        hints=_to_incident(answer.incidents),
    )


def _fields(kind: type[Any]) -> Sequence[Any]:
    from aoe_reports.model.rows import fields_of  # noqa: PLC0415

    return fields_of(kind)


def _list_incidents(store: str, workload: str | None) -> Document:
    answer = find_regressions(store, RegressionOptions(workload=workload))
    incidents = worst_first(answer.incidents)
    rows = [_incident_row(one) for one in incidents[:MOST_ROWS]]
    suspected: list[JsonObject] = [
        {"title": one.title, "since": one.since, "series": len(one.series), "past": one.past}
        for one in answer.suspicions
    ]
    headline = night_headline(
        answer.rows,
        incidents=answer.incidents,
        suspicions=answer.suspicions,
        remark=answer.remark,
        not_measured=answer.not_measured,
    )
    return Document(
        answers="history incidents",
        headline=neutral(headline, 300),
        tables=(
            plain_table("incidents", rows, len(incidents)),
            plain_table("suspicions", suspected, len(suspected)),
            findings_table(answer.findings),
        ),
        notes=() if answer.remark is None else (neutral(answer.remark),),
        hints=_to_incident(incidents),
    )


def _list_observations(store: str, workload: str | None) -> Document:
    answer = find_regressions(store, RegressionOptions(workload=workload))
    return Document(
        answers="history observations",
        headline=f"{len(answer.observations):,} series do something that is no change of their level, and no alarm",
        tables=(table_of(Rows(type=SeriesObservation, rows=answer.observations)),),
        hints=_to_incident(answer.incidents),
    )


_LISTS: Mapping[str, Callable[[str, str | None], Document]] = {
    "incidents": _list_incidents,
    "runs": _list_runs,
    "workloads": _list_workloads,
    "series": _list_series,
    "observations": _list_observations,
}
LISTS = tuple(_LISTS)


def _incident_row(one: IncidentChange) -> JsonObject:
    """An incident in one row."""
    keys = ("incident", "title", "since", "since_run", "change", "impact_ms", "open", "new", "hardware")
    return {**{key: as_mapping(one)[key] for key in keys}, "series": len(one.members)}


def _to_incident(incidents: Sequence[IncidentChange]) -> tuple[Hint, ...]:
    return tuple(
        Hint("incident", {"id": one.incident}, "what changed, its cause, and what to compare") for one in incidents[:1]
    )


def explained(store: str, incident: str, places: Places) -> Document:
    """One incident: what moved, its causes, what else changed, and the two runs to compare. Raises RefusedError."""
    answer = find_regressions(store, RegressionOptions())
    one = next((one for one in answer.incidents if one.incident == incident), None)
    if one is None:
        raise RefusedError(
            f"no incident {neutral(incident, 60)!r}; `history` lists them (ids change where nights are added)"
        )
    runs = _runs_around(store, one)
    members = [as_mapping(member) for member in one.members[:MOST_ROWS]]
    compared = [as_mapping(run) for run in runs]
    return Document(
        answers="incident",
        headline=neutral(one.title, 300),
        tables=(
            plain_table("incident", [_incident_row(one)], 1),
            plain_table("runs", compared, len(runs)),
            plain_table("changed_facts", [as_mapping(fact) for fact in one.metadata], len(one.metadata)),
            *_attribution_of(answer, one),
            plain_table("causes", [as_mapping(cause) for cause in one.causes], len(one.causes)),
            plain_table("series", members, len(one.members)),
        ),
        notes=("`runs` are the last night before it and its first night: compare them",) if runs else (),
        hints=_to_comparison(runs, places),
    )


def _attribution_of(answer: Regressions, one: IncidentChange) -> list[Any]:
    """How the change of a step is divided over its operators, where it is."""
    ids = {member.series_id for member in one.members}
    found = next((row.attribution for row in answer.rows if row.series_id in ids and row.attribution is not None), None)
    if found is None:
        return []
    parts = [as_mapping(part) for part in found.operators]
    return [plain_table("operators", parts, len(parts))]


def _runs_around(store: str, one: IncidentChange) -> list[ListedRun]:
    """(the last run before, the first run since) of the workload that changed; none where the store does not tell them."""
    runs = _runs(store, None)
    since = next((run for run in runs if run.run == one.since_run), None)
    if since is None:
        return []
    before = [
        run for run in runs if run.workload == since.workload and run.kind == since.kind and run.night < since.night
    ]
    return [before[0], since] if before else [since]


def _to_comparison(runs: Sequence[ListedRun], places: Places) -> tuple[Hint, ...]:
    """`explain` of the two runs, where their captures still lie below a root."""
    if len(runs) != 2:  # noqa: PLR2004
        return ()
    try:
        paths = [str(places.find(run.path)) for run in runs]
    except RefusedError:
        return ()
    return (ask("explain", paths, "the night before it and its first night: why the step changed"),)
