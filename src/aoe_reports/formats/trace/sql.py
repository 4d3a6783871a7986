"""Trace events through duckdb, for files in which every event is as the exporters write them.

Nothing here judges an event: a query that fails, or an answer that holds something odd, sends the file to `walk`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from aoe_reports.formats.ascend.tables.timelines import FLOW_CATEGORY
from aoe_reports.formats.sources.owned import TemporaryFolder
from aoe_reports.formats.table import NO_ID
from aoe_reports.formats.trace.parts import PartFiles
from aoe_reports.formats.trace.scan import glance_at
from aoe_reports.formats.trace.shape import (
    EXACT_US,
    INTEGER_ARGS,
    LATEST_NS,
    LONGEST_US,
    NO_ID_COLUMNS,
    PACKED_FLOW,
    RAW_FLOW,
    SEPARATOR,
    STAGE_ROW,
    TEXT_ARGS,
    THREE_DECIMALS_US,
    Names,
    OddFileError,
    TimelineLook,
    text_array,
)
from aoe_reports.model.errors import ReadError
from aoe_reports.model.texts import say

MEMORY_LIMIT = "256MB"
MAX_EVENT_BYTES = 2 << 20
"""duckdb keeps buffers of twice this size."""
BATCH_ROWS = 1 << 15

START = "TRY_CAST(TRY_CAST(ts AS DECIMAL(22, 3)) * 1000 AS BIGINT)"
"""Exact for texts and for whole numbers; another number has gone through a float64."""
DURATION = "CAST(us * 1000 AS BIGINT)"

ODD = f"""coalesce(
    ph <> 'M' AND (
        (ts IS NOT NULL AND (start IS NULL OR abs(start) >= {LATEST_NS}))
        OR (dur IS NOT NULL AND duration IS NULL)
        OR (ph = 'X' AND (name IS NULL OR start IS NULL OR duration IS NULL))
        OR ((ascii(name) < 58 OR ascii(name) IN (91, 123)) AND json_valid(name))
        OR name IN ('true', 'false', 'NaN', 'nan', 'inf', 'Infinity')
    ), false
) OR coalesce(ascii(args) <> 123, false)"""
"""Whether an event has to be looked at by itself."""
INEXACT = f"""ph <> 'M' AND start >= {EXACT_US * 1000} AND NOT exact AND (
    (ts[-4] <> '.' AND (contains(ts, '.') OR contains(ts, 'e')))
    OR (start < {THREE_DECIMALS_US * 1000} AND contains(ts, '.'))
)"""
"""Whether its start has gone through a float64 that does not hold it."""
TIMED = f"""(
    SELECT *, {START} AS start, CASE WHEN us >= 0 AND us < {LONGEST_US!r} THEN {DURATION} END AS duration
    FROM (SELECT *, TRY_CAST(dur AS DOUBLE) AS us FROM {{events}})
)"""  # noqa: S608 -- of constants
COPY = f"coalesce(ph = 'X' AND starts_with(name, 'Stage') AND regexp_full_match(name, '{STAGE_ROW}'), false)"

LOOK = f"""
SELECT ph, what, what_pid, what_tid, last(what_name) FILTER (what_name IS NOT NULL), count(*), min(start) FILTER (ph = 'X'),
    max(start + duration) FILTER (ph = 'X'), count(*) FILTER (stage), count(*) FILTER (odd), count(*) FILTER (inexact),
    count(cat) + count(id) -- nobody asks: a key that stands twice is only seen in a column that is read
FROM (
    SELECT ph, cat, id, start, duration,
        CASE WHEN ph = 'M' AND name IN ('process_name', 'thread_name') THEN name END AS what,
        CASE WHEN what IS NOT NULL THEN pid END AS what_pid,
        CASE WHEN what = 'thread_name' THEN tid END AS what_tid,
        CASE WHEN what IS NOT NULL THEN args ->> '$.name' END AS what_name,
        {COPY} AS stage, {ODD} AS odd, {INEXACT} AS inexact
    FROM {TIMED}
)
GROUP BY ph, what, what_pid, what_tid
"""  # noqa: S608 -- of constants

_ALL = dict.fromkeys(("ph", "name", "cat", "id", "ts", "dur", "pid", "tid"), "VARCHAR") | {"args": "JSON"}
_COLUMNS = {
    "ph": "ph",
    "name": "name",
    "category": "cat",
    "flow_id": "id",
    "pid": "pid",
    "tid": "tid",
    "process": "coalesce(pid, '')",
    "thread": f"concat(pid, chr({ord(SEPARATOR)}), tid)",
    "start_ns": START,
    "duration_ns": "CAST(TRY_CAST(dur AS DOUBLE) * 1000 AS BIGINT)",
    "stage_row": COPY,
    "args": "CAST(args AS VARCHAR)",
}
_FLOW_CONNECTION = f"""
CASE WHEN cat = '{FLOW_CATEGORY}' THEN CASE
    WHEN flow < {RAW_FLOW} THEN CAST(flow AS BIGINT)
    WHEN flow < {PACKED_FLOW} OR (flow >> 32) & 65535 <> 0
        THEN CAST((flow >> 32) + CASE WHEN flow & {RAW_FLOW - 1} = {RAW_FLOW - 1} THEN 1 ELSE 0 END AS BIGINT)
END END
"""

TEXTS = r"""(
    SELECT ph, name, cat, id, CASE WHEN exact THEN text ELSE parsed END AS ts, dur, pid, tid, args, exact
    FROM (
        SELECT unnest(event), event.ts AS parsed, text,
            coalesce(once AND TRY_CAST(text AS DOUBLE) = TRY_CAST(event.ts AS DOUBLE), false) AS exact
        FROM (
            SELECT event, NOT contains(substr(json, place + 4), '"ts"') AS once,
                regexp_extract(substr(json, place, 50), '^"ts"\s*:\s*"?(-?[0-9][-+0-9.eE]*)', 1) AS text
            FROM (
                SELECT json, json_transform(json, '{structure}') AS event, strpos(json, '"ts"') AS place
                FROM read_json_objects('{source}', {options})
            )
        )
    )
)"""
"""Events with their time stamps as they are written, where those are numbers too long for a float64."""


class InexactError(OddFileError):
    """All there is to it: time stamps that have gone through a float64."""


def look_by_sql(path: Path) -> TimelineLook:
    """What `look_at_timeline` tells of a file without surprises; OddFileError else."""
    glance_at(path)
    try:
        return _look(path, from_text=False)
    except InexactError:
        return _look(path, from_text=True)


def _look(path: Path, *, from_text: bool) -> TimelineLook:
    phases: dict[str, int] = {}
    names = Names()
    starts, ends, stage_rows, unsure = [], [], 0, 0
    for row in _rows(path, LOOK, from_text=from_text):
        ph, what, pid, tid, name, count, start, end, stages, odd, inexact, _ = row
        if odd or ph is None or not (len(ph) == 1 and ph.isascii() and ph.isalpha()):
            raise OddFileError
        phases[ph] = phases.get(ph, 0) + count
        names.learn(what, pid, tid, name)
        stage_rows += stages
        unsure += inexact
        if start is not None:
            starts.append(start)
            ends.append(end)
    if unsure:
        raise OddFileError if from_text else InexactError
    return TimelineLook(
        events=sum(phases.values()),
        phases=phases,
        start_ns=min(starts, default=None),
        end_ns=max(ends, default=None),
        stage_rows=stage_rows,
        names=names,
        from_text=from_text,
    )


def batches_by_sql(path: Path, look: TimelineLook, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """The frame of a file that `look_by_sql` has found plain."""
    query = _frame_query(schema)
    with connected() as connection, _opened(path) as source:
        try:
            reader = connection.sql(
                query.replace("{events}", events_of(source, from_text=look.from_text))
            ).to_arrow_reader(BATCH_ROWS)
            for batch in reader:
                yield _with_names(batch, look.names, schema)
        except (duckdb.Error, UnicodeError) as error:
            what = say("the content has just changed")
            raise ReadError(path, what, say("expected a file that is not being written")) from error


def _frame_query(schema: pa.Schema) -> str:
    """The query for some columns of the frame; a step at a time, so that each text is cast once."""
    asked = set(schema.names)
    steps, columns = frame_columns(asked)
    query = "{events}"
    for step in steps:
        query = f"(SELECT *{''.join(f', {text} AS {name}' for name, text in step.items())} FROM {query})"  # noqa: S608 -- of constants
    chosen = ", ".join(f'{columns[name]} AS "{name}"' for name in schema.names)
    return f"SELECT {chosen} FROM {query} WHERE ph <> 'M'"  # noqa: S608 -- of constants


def frame_columns(asked: set[str]) -> tuple[list[dict[str, str]], dict[str, str]]:
    """(what each step adds to the events, by name; what each column of the frame is after them)."""
    keys = [key for column, some in (TEXT_ARGS | INTEGER_ARGS).items() if column in asked for key in some]
    args = {key: f"found[{number}]" for number, key in enumerate(keys, 1)}
    texts, numbers, columns = {}, {}, dict(_COLUMNS)
    for column, some in TEXT_ARGS.items():
        columns[column] = f"coalesce({', '.join(args.get(key, 'NULL') for key in some)})"
    for column, some in INTEGER_ARGS.items():
        if column in asked:
            text, number = f"{column}_text", f"{column}_number"
            texts[text] = f"coalesce({', '.join(args[key] for key in some)})"
            numbers[number] = _digits(text, "BIGINT")
            absent = f" AND {number} <> {NO_ID}" if column in NO_ID_COLUMNS else ""
            columns[column] = f"CASE WHEN {number} >= 0{absent} THEN {number} END"
    if "connection_id" in asked:
        texts["flow"] = _digits("id", "UBIGINT")
        columns["connection_id"] = f"CASE WHEN ph = 'X' THEN {columns['connection_id']} ELSE {_FLOW_CONNECTION} END"
    paths = ", ".join("'$.\"" + key + "\"'" for key in keys)
    found = {"found": f"json_extract_string(args, [{paths}])"} if keys else {}
    return [found, texts, numbers], columns


def _digits(text: str, kind: str) -> str:
    """A text of digits as a number; a cast alone would take 0x1A, 1_000 and 1e3, too."""
    return f"CASE WHEN regexp_full_match({text}, '[0-9 ]*') THEN TRY_CAST({text} AS {kind}) END"


def _with_names(batch: pa.RecordBatch, names: Names, schema: pa.Schema) -> pa.RecordBatch:
    import pyarrow.compute as pc  # noqa: PLC0415 -- takes 10 MB, which a sum does without

    columns = []
    for spec in schema:
        column = batch.column(spec.name)
        if spec.name in {"process", "thread"}:
            known = names.processes if spec.name == "process" else names.threads
            indices = pc.index_in(column, value_set=text_array(list(known)))
            column = pa.DictionaryArray.from_arrays(indices, text_array(list(known.values())))
        columns.append(column)
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _rows(path: Path, query: str, *, from_text: bool = False) -> list[tuple[Any, ...]]:
    with connected() as connection, _opened(path) as source:
        try:
            return connection.sql(query.replace("{events}", events_of(source, from_text=from_text))).fetchall()
        except (duckdb.Error, UnicodeError) as error:
            raise OddFileError from error


def events_of(source: str, *, from_text: bool = False) -> str:
    """What duckdb reads the events of a file from, metadata among them."""
    options = f"format='array', compression='uncompressed', maximum_object_size={MAX_EVENT_BYTES}"
    if from_text:
        structure = json.dumps(_ALL)
        return TEXTS.replace("{structure}", structure).replace("{source}", source).replace("{options}", options)
    columns = ", ".join(f"{name}: '{kind}'" for name, kind in _ALL.items())
    options += ", hive_partitioning=false, filename=false"
    return f"(SELECT *, false AS exact FROM read_json('{source}', columns={{{columns}}}, {options}))"  # noqa: S608 -- of constants


@contextmanager
def _opened(path: Path) -> Iterator[str]:
    """A name for the open file that duckdb takes as it is: in a path it would see patterns and quotes."""
    try:
        with path.open("rb") as file:
            yield f"/dev/fd/{file.fileno()}"
    except OSError as error:
        raise ReadError(path, error.strerror or str(error), say("a timeline was expected")) from error


@contextmanager
def connected() -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection of its own to the process's database: results of two never mix."""
    with _database().cursor() as connection:
        connection.execute("SET enable_progress_bar = false")  # it would write between what a command prints
        yield connection


@cache
def _database() -> duckdb.DuckDBPyConnection:
    """A database in memory that downloads nothing and keeps what does not fit with the other temporary files.

    One a process: to open one takes 12 ms, a third of what a timeline of 2 MB takes.
    """
    database = duckdb.connect(
        config={
            "threads": 1,  # a list is parsed by one thread anyway, and rows stay in the order of the file
            "memory_limit": MEMORY_LIMIT,
            "temp_directory": str(_spilled().path),
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
        }
    )
    database.register_filesystem(PartFiles())
    return database


@cache
def _spilled() -> TemporaryFolder:
    """Where the database keeps what does not fit; the next run removes that of a killed process."""
    return TemporaryFolder()
