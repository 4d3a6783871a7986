"""How rows lie in the one Delta table: partitioned by kind and month, one wide schema, rows of every kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Literal

import pyarrow as pa

from aoe_reports.formats.records.identity import Member
from aoe_reports.formats.records.payloads import NotDecodableError, decode, leave_out, members_of, read_body
from aoe_reports.formats.records.record import JSON_FIELDS, Record, canonical_json
from aoe_reports.formats.records.row import columns_of_records, json_column
from aoe_reports.model.arrays.columns import cells_of
from aoe_reports.model.findings import Finding
from aoe_reports.model.texts import Text, as_fields, from_fields, say

FORMAT = 2
"""Stands in the table's description; a newer one is refused, an older one read, and made this one by the first write.

1 had rows of runs in the months of their records and a transaction a run; 2 has rows of runs together, and parts whose
names hold their hash.
"""

NORMALISER_VERSION = 7
"""Goes up when the same files would become other rows; 3 stores advice with a profile, 4 operators of many ranks over all of them,
5 the picture of a step, 6 shares of the steps that have tasks, 7 the memory of devices."""

PARTITIONS = ["kind", "month"]
"""`kind` is run, record, rank, finding, advice, change, ack or verdict."""

RUNS_MONTH = "all"
"""Where the rows of runs lie: in one place, because every ingest asks all of them whether a run is there already."""

RANK_KIND = "rank"
"""Records of single ranks of a run of many: no history is made of them, so none reads them."""

RUN_KINDS = ("run", "record", "finding", "advice", RANK_KIND)
"""Kinds whose rows make up a run: they come and go with it, in one commit."""

EXTRA_KINDS = frozenset({"change", "ack", "verdict"})
"""Kinds whose rows tell of a run and are no part of it: they stay when it goes."""

KINDS = frozenset({*RUN_KINDS, *EXTRA_KINDS})

_TEXT, _INT, _REAL = pa.string(), pa.int64(), pa.float64()
ROWS = pa.schema(
    [
        # every row
        ("kind", _TEXT),
        ("month", _TEXT),
        ("run_id", _TEXT),
        ("timestamp_ns", _INT),
        ("night", _TEXT),
        # records: the 19 fields of v0.1, objects and the time stamp's own form as canonical JSON …
        ("workload", _TEXT),
        ("engine", _TEXT),
        ("hardware", _TEXT),
        ("runtime_ms_mean", _REAL),
        ("runtime_ms_std", _REAL),
        ("timestamp", _TEXT),
        ("schema_version", _TEXT),
        ("engine_version", _TEXT),
        *((name, _TEXT) for name in JSON_FIELDS),
        ("runtime_raw", _TEXT),
        # … and what is queried
        ("series_id", _TEXT),
        ("metric", _TEXT),
        ("fingerprint", _TEXT),
        ("model", _TEXT),
        ("scope", _TEXT),
        ("source", _TEXT),
        ("phase", _TEXT),
        ("op_type", _TEXT),
        ("op_name", _TEXT),
        ("rank_id", _INT),
        ("device_id", _INT),
        ("count", _INT),
        ("total_ns", _INT),
        # runs
        ("run_kind", _TEXT),
        ("content_hash", _TEXT),
        ("members", _TEXT),
        ("rows", _INT),
        ("status", _TEXT),
        ("normaliser_version", _INT),
        # findings
        ("severity", _TEXT),
        ("rule", _TEXT),
        ("path", _TEXT),
        ("line", _INT),
        ("column", _INT),
        ("pointer", _TEXT),
        ("message", _TEXT),
        # advice, verdicts, changes, acknowledgements: what they are about, their state, the rest as JSON; of a finding what its
        # message was made of
        ("subject", _TEXT),
        ("state", _TEXT),
        ("body", _TEXT),
    ]
)


@dataclass(frozen=True, slots=True)
class RunHeader:
    """What the store knows of one run: enough to tell whether it is there already, and how much of it."""

    run_id: str
    run_kind: Literal["profile", "tuning", "foreign"]
    timestamp_ns: int
    night: str
    model: str
    hardware: str
    content_hash: str
    members: tuple[Member, ...]
    status: str
    path: str
    normaliser_version: int = NORMALISER_VERSION

    @property
    def rows(self) -> int:
        """Rows of all members: of two versions of one run the one with more is the more complete."""
        return sum(member.rows for member in self.members)


@dataclass(frozen=True, slots=True)
class Run:
    """One run as it is stored in one commit."""

    header: RunHeader
    records: Sequence[Record]
    findings: Sequence[Finding]
    body: dict[str, Any] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)
    """Columns that a run has in common with its records: engine, engine_version, hardware_config, runtime_config."""
    advice: Sequence[dict[str, Any]] = ()
    """Rows of kind advice: what the run could gain, and what is worth tuning next."""
    ranks: pa.Table | None = None
    """Records of single ranks (see `ranks_table`), where there are so many that `records` tell of all of them together."""
    rest: Callable[[Run], Run] | None = None
    """Adds what is worked out only once it is certain that the run is to be stored."""
    named_by: str = "option"
    """The source of the name of the workload (topics.records.naming); not stored."""

    def whole(self) -> Run:
        """The run with everything that is stored of it."""
        return self if self.rest is None else self.rest(replace(self, rest=None))


def month_of(timestamp_ns: int) -> str:
    """The partition of a run: its month in UTC."""
    return datetime.fromtimestamp(timestamp_ns // 1_000_000_000, UTC).strftime("%Y-%m")


def rows_of(run: Run) -> pa.Table:
    """All rows of a run, ready to append."""
    header = run.header
    common = {
        "month": month_of(header.timestamp_ns),
        "run_id": header.run_id,
        "timestamp_ns": header.timestamp_ns,
        "night": header.night,
    }
    run_row = {**common, **_run_row(run), "month": RUNS_MONTH}
    findings = [
        {"kind": "finding", **finding.as_dict(), "body": _made_of(finding.message), **common}
        for finding in run.findings
    ]
    advice = [{**advice, **common, "kind": "advice", "model": header.model} for advice in run.advice]
    found = [table_of([run_row]), _records_of(run.records, common), table_of([*findings, *advice])]
    return pa.concat_tables(found if run.ranks is None else [*found, _ranks_of(run.ranks, common)])


def _records_of(records: Sequence[Record], common: Mapping[str, Any]) -> pa.Table:
    alike = {name: [value] * len(records) for name, value in {**common, "kind": "record"}.items()}
    return _table({**columns_of_records(records), **alike}, len(records))


def ranks_table(records: Sequence[Record]) -> pa.Table:
    """Records of single ranks: what tells them apart, and their times."""
    columns = {
        name: cells_of([getattr(record, name) for record in records], ROWS.field(name).type) for name in RANK_COLUMNS
    }
    columns["workload_args"] = cells_of(json_column(record.workload_args for record in records), _TEXT)
    return pa.table(columns)


def _ranks_of(ranks: pa.Table, common: Mapping[str, Any]) -> pa.Table:
    count = ranks.num_rows
    columns = {name: ranks[name] for name in ranks.column_names}
    for name, value in {**common, "kind": RANK_KIND}.items():
        columns[name] = _repeated(value, ROWS.field(name).type, count)
    return pa.table([columns.get(field.name, _repeated(None, field.type, count)) for field in ROWS], schema=ROWS)


_CHUNK = 4096


def _repeated(value: Any, kind: pa.DataType, count: int) -> pa.ChunkedArray:
    chunk = pa.repeat(pa.scalar(value, kind), _CHUNK)
    return pa.chunked_array([*[chunk] * (count // _CHUNK), chunk[: count % _CHUNK]], kind)


def _made_of(message: str) -> str | None:
    if not isinstance(message, Text) or not message.values:
        return None
    try:
        return canonical_json(as_fields(message))
    except ValueError:  # a number that JSON has not
        return None


def message_of(row: Mapping[str, Any]) -> str:
    """The message of a finding's row, as the text that it was made as where the row tells; older rows do not."""
    return remade_message(row) or say(row["message"] or "")


def remade_message(row: Mapping[str, Any]) -> str | None:
    """The message as its row's body makes it again; None where there is no body, or one that makes another message."""
    try:
        text = from_fields(decode(row["body"], list[Any] | str)) if row["body"] else None
    except (ValueError, TypeError, RecursionError):  # not what was written
        return None
    return text if text == row["message"] else None


def table_of(rows: Sequence[dict[str, Any]]) -> pa.Table:
    """Rows as they are stored."""
    intervals = frozenset().union(*rows)
    return _table({name: [row.get(name) for row in rows] for name in ROWS.names if name in intervals}, len(rows))


def _table(columns: Mapping[str, Sequence[Any]], count: int) -> pa.Table:
    made = [
        cells_of(columns[field.name], field.type) if field.name in columns else pa.nulls(count, field.type)
        for field in ROWS
    ]
    return pa.Table.from_arrays(made, schema=ROWS)


CAPTURES = "captures"
"""What the body of a profile's row calls the number of its captures, one a rank: its path is that of the first."""

RANK_COLUMNS = (
    "workload", "hardware", "engine", "runtime_ms_mean", "runtime_ms_std", "model", "scope", "source", "op_type", "op_name",
    "rank_id", "device_id", "count", "total_ns",
)  # fmt: skip
"""What a row of a single rank tells beside its run and its inputs."""

ROW_COUNTS = "rows_of_kind"
"""What the body of a run's row calls the number of its rows of each kind."""


def counts_in(body: str | None) -> dict[str, int] | None:
    """How many rows of each kind belong to a run, as its row says; None where an older version wrote it."""
    told: Any = (read_body(body) or {}).get(ROW_COUNTS)
    try:
        if told is None:
            return None
        return {kind: int(told[kind]) for kind in RUN_KINDS[1:] if kind != RANK_KIND or kind in told}
    except (ValueError, TypeError, LookupError):
        return None


def lacking(run_id: str, kind: str, found: int, told: int) -> str:
    """That a run has not as many rows as its own row says."""
    return say(
        "run {run_id} has {found} rows of kind {kind}, but {told} were stored",
        run_id=run_id,
        kind=kind,
        found=found,
        told=told,
    )


HEADER_COLUMNS = (
    "run_id", "run_kind", "timestamp_ns", "night", "model", "hardware", "content_hash", "members", "status", "path",
    "normaliser_version",
)  # fmt: skip
"""What a header is made of."""


def headers_of(rows: pa.Table) -> list[RunHeader]:
    """Run rows as headers, in the order of their time."""
    found = [header for row in rows.to_pylist() if (header := _header_of(row)) is not None]
    return sorted(found, key=lambda header: (header.timestamp_ns, header.run_id))


def _header_of(row: Mapping[str, Any]) -> RunHeader | None:
    """A run's row as its header; one with unreadable members is left out with a warning."""
    try:
        members = members_of(row["members"])
    except NotDecodableError as error:
        leave_out("members", row, error.args[0])
        return None
    return RunHeader(**{name: row[name] for name in HEADER_COLUMNS if name != "members"}, members=members)


def _run_row(run: Run) -> dict[str, Any]:
    header = run.header
    counts = {"record": len(run.records), "finding": len(run.findings), "advice": len(run.advice)}
    if run.ranks is not None:
        counts[RANK_KIND] = run.ranks.num_rows
    return {
        "kind": "run",
        "run_kind": header.run_kind,
        "model": header.model,
        "hardware": header.hardware,
        "content_hash": header.content_hash,
        "members": canonical_json([[m.identity, m.content_hash, m.rows, m.named] for m in header.members]),
        "rows": header.rows,
        "status": header.status,
        "path": header.path,
        "normaliser_version": header.normaliser_version,
        "body": canonical_json({**run.body, ROW_COUNTS: counts}),
        **{name: canonical_json(value) if isinstance(value, dict) else value for name, value in run.facts.items()},
    }


RECORD_COLUMNS = tuple(
    name for name in ROWS.names[ROWS.names.index("run_id") : ROWS.names.index("run_kind")] if name != "night"
)
"""The columns of a record as it is given to others."""
