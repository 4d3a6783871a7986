"""What the store holds, as rows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import groupby
from typing import Any, Literal

from aoe_reports.formats.records.payloads import NotDecodableError, body_of, leave_out, verdict_of
from aoe_reports.formats.records.record import Record
from aoe_reports.formats.records.row import record_of_row
from aoe_reports.history.options import HistoryOptions
from aoe_reports.history.runs.export import documents_of
from aoe_reports.history.runs.stored_advice import listed_rows
from aoe_reports.model.classes import record
from aoe_reports.model.errors import UsageError
from aoe_reports.model.history.listings import (
    ListedAdvice,
    ListedChange,
    ListedObservation,
    ListedRecord,
    ListedRun,
    ListedVerdict,
    ListedWord,
)
from aoe_reports.model.rows import Rows, fields_of
from aoe_reports.model.texts import say
from aoe_reports.store import History, Run, Where, equals
from aoe_reports.store.layout import RANK_KIND, RECORD_COLUMNS

What = Literal["runs", "records", "ranks", "changes", "acks", "advice", "verdicts", "observations"]
_COLUMNS = (
    "night", "run_id", "timestamp_ns", "workload", "model", "scope", "source", "phase", "op_type", "op_name", "rank_id",
    "device_id", "hardware", "engine_version", "runtime_ms_mean", "runtime_ms_std", "count", "total_ns", "series_id",
)  # fmt: skip


@record
class Bodies(Rows[Any]):
    """Rows whose stored bodies say more than people are shown: JSON and CSV hold all of it."""

    whole: Sequence[Mapping[str, Any]] = ()

    def mappings(self) -> list[dict[str, Any]]:
        """All that stands in them."""
        return list(map(dict, self.whole))


def list_history(store: str | History, what: What, chosen: HistoryOptions) -> Rows[Any]:
    """Runs, records, single ranks, told changes (by the night since which), what people said of them, advice, verdicts of `verify`.

    Observations of the detector are in no row of the store: they are what the nights show now.

    Oldest first, `last` keeps the newest; `run` is asked of runs, records, ranks and advice.
    """
    workload, scope, since, run = chosen.workload, chosen.scope, chosen.since, chosen.run
    newest = slice(None if chosen.last is None else -chosen.last, None)
    _refuse_no_date(since)
    if run is not None and what not in {"runs", "records", "ranks", "advice"}:
        raise UsageError(
            say("--run applies to runs, records, ranks and advice; {what} do not belong to a run", what=what)
        )
    history = store if isinstance(store, History) else History.open(store)
    where: list[Any] = [] if since is None else [equals("night", since, ">=")]
    where += [] if run is None else [equals("run_id", run)]
    if what == "runs":
        return Rows(type=ListedRun, rows=_runs(history, workload, where)[newest], oldest_first=True)
    if what in {"records", "ranks"}:
        rows = _records(history, workload, scope, where, kind=RANK_KIND if what == "ranks" else "record")
        return Rows(type=ListedRecord, rows=rows[newest], oldest_first=True)
    if what == "advice":
        return Rows(type=ListedAdvice, rows=listed_rows(history, where, workload)[newest], oldest_first=True)
    if what == "verdicts":
        return Rows(type=ListedVerdict, rows=verdict_rows(history, where, workload, scope)[newest], oldest_first=True)
    if what == "observations":
        from aoe_reports.history.changes.rows import listed_observations  # noqa: PLC0415 -- polars takes as long as the rest

        return Rows(type=ListedObservation, rows=listed_observations(history, chosen)[newest], oldest_first=True)
    kind: type[Any] = ListedChange if what == "changes" else ListedWord
    whole = _words(history, what, workload, scope, since)[newest]
    names = [one.name for one in fields_of(kind)]
    rows = [kind(**{name: row.get(name) for name in names}) for row in whole]
    return Bodies(type=kind, rows=rows, oldest_first=True, whole=whole)


def stored_documents(store: str, chosen: HistoryOptions) -> Iterator[dict[str, Any]]:
    """Records as the JSON objects they were, run by run, oldest first."""
    workload, scope, since = chosen.workload, chosen.scope, chosen.since
    _refuse_no_date(since)
    history = History.open(store)
    where = [*_conditions(workload, scope), *([] if since is None else [equals("night", since, ">=")])]
    rows = history.records((*RECORD_COLUMNS, "night"), where).to_pylist()
    rows.sort(key=lambda row: (row["run_id"], *_place(row)))
    by_run = {run_id: list(of_run) for run_id, of_run in groupby(rows, lambda row: row["run_id"])}
    for header in history.runs():
        run = Run(header, list(_sound_records(by_run.get(header.run_id, []))), [])
        yield from documents_of(run, whole=workload is None and scope is None)


def _sound_records(rows: Sequence[Mapping[str, Any]]) -> Iterator[Record]:
    for row in rows:
        try:
            yield record_of_row(row)
        except NotDecodableError as error:
            leave_out(say("the record"), row, error.args[0])


def _refuse_no_date(since: str | None) -> None:
    if since is not None and not re.fullmatch(r"\d{4}-\d\d-\d\d", since):
        raise UsageError(say("--since {since!r}: expected a date such as 2026-01-31", since=since))


def _runs(history: History, workload: str | None, where: Where) -> list[ListedRun]:
    return [
        ListedRun(
            night=header.night,
            run=header.run_id,
            kind=header.run_kind,
            workload=header.model,
            hardware=header.hardware,
            status=header.status,
            time=_time(header.timestamp_ns),
            timestamp_ns=header.timestamp_ns,
            members=len(header.members),
            path=header.path,
        )
        for header in history.runs(where)
        if workload in {None, header.model}
    ]


def _records(history: History, workload: str | None, scope: str | None, where: Where, kind: str) -> list[ListedRecord]:
    rows = history.rows(kind, _COLUMNS, [*where, *_conditions(workload, scope)]).to_pylist()
    rows.sort(key=_place)
    return [ListedRecord(run=row.pop("run_id"), **row) for row in rows]


def _place(row: dict[str, Any]) -> tuple[Any, ...]:
    rank = -1 if row["rank_id"] is None else row["rank_id"]
    return row["timestamp_ns"], row["workload"], row["phase"] != "before", row["series_id"] or "", rank, row["run_id"]


_ABOUT = ("night", "timestamp_ns", "state", "subject", "workload", "scope", "op_type", "op_name", "hardware", "rank_id")


def _words(
    history: History, what: What, workload: str | None, scope: str | None, since: str | None
) -> list[dict[str, Any]]:
    """Rows of changes (undone runs are such, too) or of acknowledgements, with what stands in their bodies."""
    found = []
    for row in history.rows("change" if what == "changes" else "ack", (*_ABOUT, "model", "body")).to_pylist():
        model, body = row.pop("model"), body_of(row.pop("body"))
        if workload not in {None, model, row["workload"], row["subject"]} or scope not in {None, row["scope"]}:
            continue
        if since is not None and (row["night"] or _time(row["timestamp_ns"])[: len("2026-01-31")]) < since:
            continue
        more = {name: value for name, value in body.items() if name not in row}
        found.append({"when": _time(row["timestamp_ns"]), **more, **row})
    found.sort(key=lambda row: (row["timestamp_ns"], str(row["subject"]), row.get("position") or 0, str(row["state"])))
    return found


VERDICT = ("run_id", "night", "timestamp_ns", "model", "hardware", "rank_id", "scope", "subject", "state", "body")
"""The columns that rows of kind verdict have."""
_OF_VERDICT = (
    "op_type", "op_name", "input_shapes", "claimed_before_us", "claimed_after_us", "measured_before_us", "measured_after_us",
    "claim", "claimed_change", "change", "ci_low", "ci_high", "reason", "verdict_of_job", "bank_digest",
)  # fmt: skip


def verdict_rows(
    history: History, where: Where, workload: str | None = None, scope: str | None = None
) -> list[ListedVerdict]:
    """What `verify` said, oldest first: the step, then types and operators by name."""
    rows = history.rows("verdict", VERDICT, where).to_pylist()
    rows.sort(key=lambda row: (row["timestamp_ns"], row["run_id"], row["scope"] != "step", str(row["subject"])))
    return [listed_verdict(row) for row in rows if workload in {None, row["model"]} and scope in {None, row["scope"]}]


def listed_verdict(row: Mapping[str, Any]) -> ListedVerdict:
    """What one of them says."""
    body: Any = verdict_of(row["body"])
    return ListedVerdict(
        job=row["run_id"],
        workload=row["model"],
        verdict=row["state"],
        **{name: row[name] for name in ("night", "timestamp_ns", "hardware", "rank_id", "scope")},
        **{name: body.get(name) for name in _OF_VERDICT},
    )


def _time(timestamp_ns: int) -> str:
    return datetime.fromtimestamp(timestamp_ns // 1_000_000_000, UTC).isoformat()


def _conditions(workload: str | None, scope: str | None) -> Where:
    of_scope = [] if scope is None else [equals("scope", scope)]
    return of_scope if workload is None else [*of_scope, (equals("model", workload), equals("workload", workload))]
