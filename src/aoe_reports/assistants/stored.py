"""What the store of nights answers: its runs, what got slower or faster, and why. Nothing is written."""

from __future__ import annotations

from collections.abc import Sequence

from aoe_reports.assistants.answers import findings_table
from aoe_reports.assistants.documents import Document, RefusedError, neutral, plain_table
from aoe_reports.history.changes.regressions import find_regressions
from aoe_reports.history.options import HistoryOptions, RegressionOptions
from aoe_reports.history.runs.listing import list_history
from aoe_reports.model.documents import JsonObject
from aoe_reports.model.history.changes import IncidentChange
from aoe_reports.model.history.listings import ListedRun
from aoe_reports.model.rows import as_mapping
from aoe_reports.present.night import night_headline
from aoe_reports.present.reports.incidents import worst_first


def stored_runs(store: str) -> Sequence[ListedRun]:
    """The runs of a store, the newest first."""
    return list_history(store, "runs", HistoryOptions()).rows[::-1]


def incidents_of(store: str) -> Document:
    """All incidents, the worst first."""
    regressions = find_regressions(store, RegressionOptions())
    incidents = worst_first(regressions.incidents)
    headline = night_headline(
        regressions.rows,
        incidents=incidents,
        suspicions=regressions.suspicions,
        remark=regressions.remark,
        not_measured=regressions.not_measured,
    )
    return Document(
        "incidents",
        neutral(headline),
        [
            plain_table("incidents", [*map(_row, incidents)]),
            plain_table(
                "suspicions",
                [{"title": suspicion.title, "since": suspicion.since} for suspicion in regressions.suspicions],
            ),
            findings_table(regressions.findings),
        ],
    )


def _row(change: IncidentChange) -> JsonObject:
    keys = ("incident", "title", "since", "since_run", "change", "impact_ms", "open", "new", "hardware")
    return {key: as_mapping(change)[key] for key in keys}


def incident_of(name: str, store: str) -> Document:
    """One incident: what changed, its causes, and the two runs to compare. Raises RefusedError."""
    regressions = find_regressions(store, RegressionOptions())
    one = next((incident for incident in regressions.incidents if incident.incident == name), None)
    if one is None:
        raise RefusedError(f"no incident {neutral(name)!r}; `incident` without id lists them (ids change with nights)")
    runs = _runs_around(stored_runs(store), one.since_run)
    series = {member.series_id for member in one.members}
    attributions = (row.attribution for row in regressions.rows if row.series_id in series and row.attribution)
    operators = next((attribution.operators for attribution in attributions), ())
    return Document(
        "incident",
        neutral(one.title),
        [
            plain_table("incident", [_row(one)]),
            plain_table("runs", runs),
            plain_table("changed_facts", one.metadata),
            plain_table("operators", operators),
            plain_table("causes", one.causes),
            plain_table("series", one.members),
        ],
        ["`runs` are the last night before it and its first night: ask explain with their paths"],
    )


def _runs_around(runs: Sequence[ListedRun], since_run: str | None) -> list[ListedRun]:
    """The last run before a change and its first run, of the same workload, as far as the store has them."""
    since = next((run for run in runs if run.run == since_run), None)
    if since is None:
        return []
    same = [run for run in runs if (run.workload, run.kind) == (since.workload, since.kind)]
    return [*[run for run in same if run.night < since.night][:1], since]
