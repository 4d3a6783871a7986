"""The process that runs a query of somebody else: its task and its files come line by line, its answers and rows go the same way."""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import sys
from itertools import count
from pathlib import Path
from typing import Any, NoReturn

import duckdb
import pyarrow as pa

from aoe_reports.engine.tables.attachments import Attachments
from aoe_reports.engine.tables.query import check_query
from aoe_reports.engine.tables.query_process import DAMAGED, OUT_OF_MEMORY, REFUSED, WRONG_QUERY
from aoe_reports.model.errors import UsageError
from aoe_reports.model.texts import as_fields

_ROWS_AT_ONCE = 10_000
_OF_DAMAGE = frozenset({duckdb.Error, duckdb.IOException, duckdb.FatalException, duckdb.InternalException})
"""What DuckDB raises where a file is not as it was written: a wrong checksum is an error of no other kind."""
_PR_SET_PDEATHSIG = 1
"""Linux: the signal that a process gets when the one that started it ends, however it does."""
_RESERVED_BYTES = 1 << 30
"""Address space that DuckDB and Arrow take beside what the query may use: code, stacks, arenas of the allocator."""


def _serve() -> NoReturn:
    """Answer one task, and end at once: what DuckDB would tidy up after it ran out of memory may never end."""
    task = json.loads(sys.stdin.readline())
    if sys.platform == "linux":
        _end_with(task["asked_by"])
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    cpu_seconds = 2 * task["seconds"] + 5  # on two processors a query is stopped by its deadline first
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds + 5))  # the first is SIGXCPU, the second SIGKILL
    resource.setrlimit(resource.RLIMIT_AS, (task["memory_bytes"] + _RESERVED_BYTES,) * 2)
    try:
        _answer(sorted(check_query(task["query"], task["tables"])))
        connection = _connected(task)
        _write_rows(connection, task["query"])
        _end(0)
    except UsageError as error:
        _end(REFUSED, json.dumps(as_fields(error.args[0])))
    except (duckdb.OutOfMemoryException, MemoryError):
        _end(OUT_OF_MEMORY)
    except duckdb.Error as error:
        _end(DAMAGED if type(error) in _OF_DAMAGE else WRONG_QUERY, str(error))
    except (pa.ArrowException, OSError) as error:  # what DuckDB says while Arrow takes its rows
        if getattr(error, "errno", None) is not None:
            raise
        if "Corrupt database file" in str(error):
            _end(DAMAGED, str(error))
        _end(OUT_OF_MEMORY if "Out of Memory Error" in str(error) else WRONG_QUERY, str(error))


def _end(code: int, why: str = "") -> NoReturn:
    sys.stderr.write(why)
    sys.stderr.flush()
    os._exit(code)


def _end_with(process: int) -> None:
    """End this process with the one that started it, which may have ended already."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != process:
        os._exit(0)


def _connected(task: dict[str, Any]) -> duckdb.DuckDBPyConnection:
    """A connection that sees the files that are named line by line, and nothing else."""
    config: dict[str, str | bool | int | float | list[str]] = {
        "allow_community_extensions": False,
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "max_temp_directory_size": "0B",
        "memory_limit": f"{task['memory_bytes']}B",
        "threads": min(2, os.cpu_count() or 1),
    }
    connection = duckdb.connect(":memory:", config=config)
    attachments = Attachments(connection, task["tables"])
    for line in sys.stdin:
        attached = attachments.add(Path(json.loads(line)))
        _answer([as_fields(attached.why), attached.notes, attached.tables])
    attachments.lock()
    return connection


def _answer(value: Any) -> None:
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


def _write_rows(connection: duckdb.DuckDBPyConnection, query: str) -> None:
    reader = connection.sql(query).to_arrow_reader(_ROWS_AT_ONCE)
    names = _distinct(reader.schema.names)
    schema = pa.schema([field.with_name(name) for field, name in zip(reader.schema, names, strict=True)])
    with os.fdopen(1, "wb") as out, pa.ipc.new_stream(out, schema) as writer:
        for batch in reader:
            writer.write_batch(batch.rename_columns(names))


def _distinct(names: list[str]) -> list[str]:
    """Names of columns, where one that is there again gets a number, as DuckDB numbers them in a table."""
    distinct: dict[str, None] = {}
    for name in names:
        others = (f"{name}_{number}" for number in count(1))
        new = (
            next(other for other in others if other not in names and other not in distinct)
            if name in distinct
            else name
        )
        distinct[new] = None
    return [*distinct]


if __name__ == "__main__":
    _serve()
