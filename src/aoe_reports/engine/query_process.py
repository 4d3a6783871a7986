"""Runs a query of somebody else in a process of its own, which can neither open another file nor take more than it is given."""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path
from threading import Timer

import duckdb
import pyarrow as pa

from aoe_reports.model.errors import AoeReportsError, UsageError
from aoe_reports.model.texts import say

_ROWS_AT_ONCE = 10_000
_WRONG_QUERY, _OUT_OF_MEMORY = 10, 11
"""Exit codes of the process, with what DuckDB says on its standard error."""
_PR_SET_PDEATHSIG = 1
"""Linux: the signal that a process gets when the one that started it ends, however it does."""
_RESERVED_BYTES = 1 << 30
"""Address space that DuckDB and Arrow take beside what the query may use: code, stacks, arenas of the allocator."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a query may use."""

    memory_bytes: int = 1 << 30
    seconds: int = 60


@contextmanager
def running(database: Path, query: str, limits: Limits) -> Iterator[tuple[pa.Schema, Iterator[pa.RecordBatch]]]:
    """The columns of a query over a database file, and its rows, batch by batch; the query has been checked.

    Both raise UsageError where DuckDB refuses it, AoeReportsError where it exceeds a limit: who reads to the end has all rows.
    """
    command, pipe = [sys.executable, "-m", __name__], subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe) as process:  # noqa: S603 -- our own module
        deadline = Timer(limits.seconds, process.kill)
        deadline.daemon = True
        deadline.start()
        try:
            task = {"database": str(database), "query": query, "asked_by": os.getpid(), **asdict(limits)}
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(json.dumps(task).encode())
            process.stdin.close()
            try:
                reader = pa.ipc.open_stream(process.stdout)
            except (pa.ArrowInvalid, OSError):  # it ended before it had said which columns there are
                _raise_failure(process, limits)
                raise
            yield reader.schema, _batches(reader, process, limits)
        finally:
            deadline.cancel()
            process.kill()


def _batches(
    reader: pa.RecordBatchReader, process: subprocess.Popen[bytes], limits: Limits
) -> Iterator[pa.RecordBatch]:
    try:
        yield from reader
    except (pa.ArrowInvalid, OSError):  # it ended within a batch
        _raise_failure(process, limits)
        raise
    _raise_failure(process, limits)  # it may have ended between two


def _raise_failure(process: subprocess.Popen[bytes], limits: Limits) -> None:
    assert process.stderr is not None
    said = process.stderr.read().decode(errors="replace").strip()
    code = process.wait()
    if code == _WRONG_QUERY:
        raise UsageError(say("sql: {why}", why=said))
    if code == _OUT_OF_MEMORY:
        raise AoeReportsError(say("sql: the query takes more memory than {limit:,} bytes", limit=limits.memory_bytes))
    if code < 0:
        raise AoeReportsError(say("sql: the query was stopped after {seconds} s", seconds=limits.seconds))
    if code:
        raise AoeReportsError(say("sql: {why}", why=said or say("exit code {code}", code=code)))


def _serve() -> int:
    """The process itself: a task as JSON on standard input, rows as a stream of Arrow on standard output."""
    task = json.load(sys.stdin)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != task["asked_by"]:  # it has ended already
            return 0
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (2 * task["seconds"],) * 2)
    resource.setrlimit(resource.RLIMIT_AS, (task["memory_bytes"] + _RESERVED_BYTES,) * 2)
    config: dict[str, str | bool | int | float | list[str]] = {
        "access_mode": "READ_ONLY",
        "allow_community_extensions": False,
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "enable_external_access": False,
        "lock_configuration": True,
        "max_temp_directory_size": "0B",
        "memory_limit": f"{task['memory_bytes']}B",
        "threads": min(2, os.cpu_count() or 1),
    }
    try:
        connection = duckdb.connect(task["database"], config=config)
        reader = connection.sql(task["query"]).to_arrow_reader(_ROWS_AT_ONCE)
        names = _distinct(reader.schema.names)
        schema = pa.schema([field.with_name(name) for field, name in zip(reader.schema, names, strict=True)])
        with os.fdopen(1, "wb") as out, pa.ipc.new_stream(out, schema) as writer:
            for batch in reader:
                writer.write_batch(batch.rename_columns(names))
    except (duckdb.OutOfMemoryException, MemoryError):
        return _OUT_OF_MEMORY
    except duckdb.Error as error:
        sys.stderr.write(str(error))
        return _WRONG_QUERY
    except (pa.ArrowException, OSError) as error:  # what DuckDB says while Arrow takes its rows
        if getattr(error, "errno", None) is not None:
            raise
        sys.stderr.write(str(error))
        return _OUT_OF_MEMORY if "Out of Memory Error" in str(error) else _WRONG_QUERY
    return 0


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
    os._exit(_serve())
