"""The same tables from the database form of an export (.db) as from text, and what else only the database tells.

`msprof_*.db`, `ascend_pytorch_profiler*.db`, `ascend_mindspore_profiler*.db`, `analysis.db`, `cluster_analysis.db`.
Nothing is ever written there, and no lock is taken.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from aoe_reports.formats.ascend.groups import members_named, places_of_rank
from aoe_reports.formats.ascend.tables import TABLES
from aoe_reports.formats.csv.summary import TableData
from aoe_reports.formats.sources.digest import sha256_of
from aoe_reports.formats.sqlite.events import EVENT_TYPES, events_of
from aoe_reports.formats.sqlite.flows import FLOW_TYPES, flows_of
from aoe_reports.formats.sqlite.queries import SOURCES
from aoe_reports.formats.sqlite.rules import DB_DAMAGED, DB_INCOMPLETE
from aoe_reports.formats.sqlite.series import Built, Series, Source, Wanted
from aoe_reports.formats.sqlite.source import Cells, CellType, Database, EncodedWords, opened, said_by
from aoe_reports.formats.table import NULL_TOKENS, Column, Match, Table, snake_case
from aoe_reports.model.arrays.columns import Ints, column_of, distinct_rows
from aoe_reports.model.findings import Finding
from aoe_reports.model.texts import Text, say
from aoe_reports.model.topics.parallel import GroupPlace

_MAX_DICTIONARY_BYTES = 2**31 - 1
_OF_FRAMEWORKS = ("PYTORCH_API", "STEP_TIME", "MEMORY_RECORD", "OP_MEMORY", "PYTORCH_CALLCHAINS")
"""Tables that a framework's profiler adds to msprof's."""


@dataclass(frozen=True, slots=True)
class DatabaseInfo:
    """What a database tells about the capture; None (or empty) where it does not."""

    ranks: dict[int, int] = field(default_factory=dict)
    """Rank by device; a rank below 0, which stands for "not distributed", is left out."""
    start_ns: int | None = None
    end_ns: int | None = None
    hardware: dict[int, str] = field(default_factory=dict)
    """Name of the chip by device."""
    groups: dict[int, tuple[GroupPlace, ...]] = field(default_factory=dict)
    """The places of its rank in the groups that split the work of the job."""
    members: frozenset[tuple[int, ...]] = frozenset()
    """The ranks in each of its groups, in their order."""

    @property
    def rank_id(self) -> int | None:
        """The rank, where there is exactly one."""
        return next(iter(self.ranks.values())) if len(set(self.ranks.values())) == 1 else None

    @property
    def hardware_name(self) -> str | None:
        """The chip, where all devices have the same one."""
        names = set(self.hardware.values())
        return names.pop() if len(names) == 1 else None


def kinds_of_database(path: Path) -> tuple[frozenset[str], tuple[Finding, ...]]:
    """Names of the TABLES that this database can give; what is damaged gives none, with a finding."""
    try:
        with opened(path) as database:
            unused = _task_kind_not_meant(database)
            kinds = {kind for kind in SOURCES if kind != unused and _source_of(database, kind) is not None}
            if (lost := _lost_tasks(database, kinds)) is not None:
                raise sqlite3.DatabaseError(lost)
            return frozenset(kinds), (*database.findings, *_incomplete(path, kinds))
    except sqlite3.Error as error:
        return frozenset(), (_damaged(path, error, say("none of it is used")),)


_OF_TASKS = ("COMPUTE_TASK_INFO", "COMMUNICATION_OP", "COMMUNICATION_TASK_INFO", "TASK")
"""Tables whose rows say that the device ran tasks."""


def _lost_tasks(database: Database, kinds: set[str]) -> Text | None:
    """The missing table, if the device ran tasks that cannot be read: the rest alone would show an idle device."""
    ran = next((table for table in _OF_TASKS if database.filled(table)), None)
    if ran is None or ("task_time" in kinds and database.filled("STRING_IDS")):
        return None
    missing = "TASK" if database.filled("STRING_IDS") else "STRING_IDS"
    return say("{table} has rows, but there is no usable table {missing}", table=ran, missing=missing)


def _incomplete(path: Path, kinds: set[str]) -> list[Finding]:
    """What a database of this name has to tell and does not: a lost table must not pass for an idle device."""
    analysis = "analysis" in path.name
    expected = {"step_trace_time", "cluster_step_trace_time"} if analysis else {"task_time"}
    if kinds & expected:
        return []
    missing = "StepTraceTime" if analysis else say("TASK (with STRING_IDS)")
    message = say("no usable table {table} here; its information is missing", table=missing)
    return [DB_INCOMPLETE.found(str(path), message)]


def read_database(path: Path, kind: str, fields: frozenset[str] | None = None, *, hashed: bool = True) -> TableData:
    """One table of a database; only `fields` (canonical names) and what is needed, where given.

    Findings name a table, a column and a rowid, since a database has no lines; where a check asks `TableData.line`, it
    is told the number of the row in the table as it was read here.

    `hashed=False` leaves the file's SHA-256 out (empty). ReadError only where the file cannot be read at all.
    """
    table = TABLES[kind]
    wanted = _wanted(table, fields)
    notes: list[Finding] = []
    built: Built | None = None
    try:
        with opened(path) as database:
            notes = database.findings
            built = _build(database, kind, wanted)
            columns = _columns(table, built, fields)
    except sqlite3.Error as error:
        notes = [*notes, _damaged(path, error, say("no row of {kind} is used", kind=kind))]
        built, columns = None, {}
    digest = sha256_of(path, say("a readable database")) if hashed else ""
    if built is None:
        match = replace(_match(table, [column.headers[0] for column in table.columns]), missing=())
        empty = pa.schema([(column.field, _arrow_type(column)) for column in table.columns]).empty_table()
        return TableData(table=table, path=path, frame=empty, match=match, findings=tuple(notes), sha256=digest)
    frame = pa.table({snake_case(name) if name in built.extra else name: column for name, column in columns.items()})
    headers = [column.headers[0] for column in table.columns if column.field in columns]
    match = _match(table, [*headers, *(name for name in columns if name in built.extra)])
    read = built.rows + built.reported
    return TableData(
        table=table,
        path=path,
        frame=frame,
        match=match,
        findings=tuple(notes),
        rows_read=read,
        rows_reported=built.reported,
        sha256=digest,
        is_text=False,
    )


def info_of_database(path: Path) -> DatabaseInfo:
    """Ranks, times and hardware; a damaged database tells none of them."""
    try:
        with opened(path) as database:
            return _info(database)
    except sqlite3.Error:
        return DatabaseInfo()


def read_database_events(path: Path) -> tuple[pa.Table, tuple[Finding, ...]]:
    """Everything that took time, as the events of a timeline, and what is wrong with them."""
    notes: list[Finding] = []
    try:
        with opened(path) as database:
            notes = database.findings
            columns = {name: _arrow(column, EVENT_TYPES[name]) for name, column in events_of(database).items()}
    except sqlite3.Error as error:
        empty = pa.schema([(name, _EVENT_ARROW[kind]) for name, kind in EVENT_TYPES.items()]).empty_table()
        return empty, (*notes, _damaged(path, error, say("none of its events is used")))
    return pa.table(columns), tuple(notes)


def flows_of_database(path: Path) -> pa.Table:
    """Ends of flows between calls of PyTorch and what they launched; none where it is damaged, which its events tell."""
    try:
        with opened(path) as database:
            return pa.table({name: _arrow(column, FLOW_TYPES[name]) for name, column in flows_of(database).items()})
    except sqlite3.Error:
        return pa.schema([(name, _EVENT_ARROW[kind]) for name, kind in FLOW_TYPES.items()]).empty_table()


_Clocks = list[tuple[int, int, int]]


def clocks_of_database(path: Path) -> tuple[_Clocks, _Clocks, tuple[Finding, ...]]:
    """((device, from when on, MHz) of the clock of the cores, (device, process, ns of its tasks), what is wrong with them)."""
    notes: list[Finding] = []
    try:
        with opened(path) as database:
            notes = database.findings
            clocks = [
                (device, at, mhz)
                for device, at, mhz in _numbers(database, "AICORE_FREQ", "deviceId", "timestampNs", "freq")
            ]
            tasks = _arrays(database, "TASK", "deviceId", "globalPid", "startNs", "endNs")
    except sqlite3.Error as error:
        return [], [], (*notes, _damaged(path, error, say("none of it is used")))
    spent: Counter[tuple[int, int]] = Counter()
    if tasks:
        device, process, start, end = tasks
        whose, of = distinct_rows(device, process)
        took = np.zeros(len(whose[0]), dtype=np.int64)
        np.add.at(took, of, np.maximum(end - start, 0))
        spent.update({(int(one), int(other)): int(ns) for one, other, ns in zip(*whose, took, strict=True)})
    return clocks, [(device, process, ns) for (device, process), ns in sorted(spent.items())], tuple(notes)


def _damaged(path: Path, error: sqlite3.Error, effect: str) -> Finding:
    message = say("the database cannot be read: {why}; {effect}", why=said_by(error), effect=effect)
    return DB_DAMAGED.found(str(path), message)


def _task_kind_not_meant(database: Database) -> str:
    """A framework's database is what it calls kernel_details, msprof's own is op_summary."""
    name = database.path.name.casefold()
    of_framework = name.startswith("ascend") or (
        not name.startswith("msprof") and any(table in database.tables for table in _OF_FRAMEWORKS)
    )
    return "op_summary" if of_framework else "kernel_details"


def _source_of(database: Database, kind: str) -> Source | None:
    for source in SOURCES.get(kind, ()):
        if (
            all(database.has(table, *columns) for table, columns in source.needs.items())
            and database.filled(next(iter(source.needs)))
            and (source.also is None or source.also(database))
        ):
            return source
    return None


def _build(database: Database, kind: str, wanted: Wanted) -> Built:
    source = _source_of(database, kind)
    if source is None:
        sources = SOURCES.get(kind, ())
        source = next((s for s in sources if _lacks(database, s) is None), None)
        if source is None:
            never = say("it never contains {kind}", kind=kind)
            raise sqlite3.DatabaseError(_lacks(database, sources[0]) if sources else never)
    return source.read(database, wanted)


def _lacks(database: Database, source: Source) -> Text | None:
    """What is not there that a source needs."""
    for table, columns in source.needs.items():
        if table not in database.tables:
            return say("no table {table}", table=table)
        for column in columns:
            if not database.has(table, column):
                return say("no column {column} in table {table}", column=column, table=table)
    return None


def _wanted(table: Table, fields: frozenset[str] | None) -> Wanted:
    """Whether a column is asked for by its name; `*` asks for columns that no declaration names."""
    if fields is None:
        return lambda _: True
    names = {column.name for column in table.columns if column.field in fields or column.needed}
    names |= {column.field for column in table.columns if column.field in fields or column.needed}
    if fields - {column.field for column in table.columns}:
        names.add("*")
    return names.__contains__


def _columns(table: Table, built: Built, fields: frozenset[str] | None) -> dict[str, pa.ChunkedArray]:
    """The columns of a table in its own order, and behind them those that it does not declare."""
    columns: dict[str, pa.ChunkedArray] = {}
    for column in table.columns:
        series = built.columns.get(column.field, built.columns.get(column.name))
        if series is not None and (fields is None or column.field in fields or column.needed):
            columns[column.field] = _arrow(series, _cell_type(column))
    for header, cells in built.extra.items():
        if fields is None or snake_case(header) in fields:
            columns[header] = _arrow(cells, "number")
    return columns


def _match(table: Table, headers: Sequence[str]) -> Match:
    """The declaration as it applies to a database: for checks that ask which columns a row needs."""
    match = table.match(headers)
    return replace(match, vintage="", missing=(), doubled=(), unordered=None)


def _cell_type(column: Column) -> CellType:
    if column.type in {"text", "unknown"}:
        return "words"
    return "number" if column.type in {"number", "share"} else "integer"


_WORDS_TYPE = pa.dictionary(pa.int32(), pa.string())
_EVENT_ARROW: dict[CellType, pa.DataType] = {"words": _WORDS_TYPE, "number": pa.float64(), "integer": pa.int64()}


def _arrow_type(column: Column) -> pa.DataType:
    return _EVENT_ARROW[_cell_type(column)]


def _arrow(series: Series, kind: CellType) -> pa.ChunkedArray:
    if isinstance(series, EncodedWords):
        return _dictionary(series)
    assert isinstance(series, Cells)
    if kind == "number":
        return column_of(np.where(series.there, series.values, 0.0).astype(np.float64), series.there)
    return column_of(np.where(series.there, series.ints, 0), series.there)


def _dictionary(words: EncodedWords) -> pa.ChunkedArray:
    """Words as a column that holds each of them once, and only those that occur; no value words are null."""
    numbers: dict[str, int] = {}
    codes = np.full(len(words.words) + 1, -1, dtype=np.int32)  # (the last one is that of -1)
    for place in words.used():
        if (word := words.words[place]) not in NULL_TOKENS:
            codes[place] = numbers.setdefault(word, len(numbers))
    rows = codes[words.places]
    there = rows >= 0
    validity = None if there.all() else pa.py_buffer(np.packbits(there, bitorder="little"))
    indices = pa.Array.from_buffers(
        pa.int32(), len(rows), [validity, pa.py_buffer(np.ascontiguousarray(np.maximum(rows, 0)))]
    )
    return pa.chunked_array([pa.DictionaryArray.from_arrays(indices, _strings(list(numbers)))])


def _strings(words: Sequence[str]) -> pa.Array:
    """Words as Arrow holds them, without `pa.array`, which imports pandas."""
    encoded = [word.encode("utf-8", "replace") for word in words]
    ends = np.cumsum([len(word) for word in encoded], dtype=np.int64)
    if len(ends) and ends[-1] > _MAX_DICTIONARY_BYTES:
        raise sqlite3.DatabaseError(say("its strings exceed 2 GiB in total"))
    offsets = np.concatenate([np.zeros(1, dtype=np.int32), ends.astype(np.int32)])
    return pa.Array.from_buffers(
        pa.string(), len(encoded), [None, pa.py_buffer(offsets), pa.py_buffer(b"".join(encoded))]
    )


def _info(database: Database) -> DatabaseInfo:
    span = _numbers(database, "SESSION_TIME_INFO", "startTimeNs", "endTimeNs")
    ranks = _numbers(database, "RANK_DEVICE_MAP", "deviceId", "rankId")
    groups = _groups(database)
    return DatabaseInfo(
        ranks={device: rank for device, rank in ranks if rank >= 0},
        start_ns=min((start for start, _ in span), default=None),
        end_ns=max((end for _, end in span), default=None),
        hardware=_numbers_and_words(database, "NPU_INFO", "id", "name"),
        groups=places_of_rank(groups),
        members=members_named(groups),
    )


def _groups(database: Database) -> object:
    """The groups that the framework wrote down as JSON in a row of META_DATA."""
    if not database.has("META_DATA", "name", "value"):
        return None
    words = database.fetch("META_DATA", {"name": "words", "value": "words"}, quiet=True).words
    told = dict(zip(words["name"], words["value"], strict=True)).get("parallel_group_info")
    try:
        return json.loads(told or "{}")
    except (ValueError, RecursionError):
        return None


def _numbers(database: Database, table: str, *columns: str) -> list[tuple[int, ...]]:
    """Rows of whole numbers, where a table has all these columns; incomplete rows are reported and left out."""
    return list(zip(*(array.tolist() for array in _arrays(database, table, *columns)), strict=True))


def _arrays(database: Database, table: str, *columns: str) -> list[Ints]:
    """Columns of whole numbers, where a table has all of them; incomplete rows are reported and left out."""
    if not database.has(table, *columns):
        return []
    kinds: dict[str, CellType] = dict.fromkeys(columns, "integer")
    rows = database.fetch(table, kinds, frozenset(columns))
    return [rows.ints(name)[rows.good] for name in columns]


def _numbers_and_words(database: Database, table: str, key: str, value: str) -> dict[int, str]:
    if not database.has(table, key, value):
        return {}
    rows = database.fetch(table, {key: "integer", value: "words"}, frozenset({key}))
    words = rows.words[value]
    return {int(rows.ints(key)[row]): words[row] or "" for row in np.flatnonzero(rows.good).tolist() if words[row]}
