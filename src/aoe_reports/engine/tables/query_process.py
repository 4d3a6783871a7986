"""Runs a query of somebody else in a process of its own, which can neither open another file nor take more than it is given."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryFile
from threading import Timer
from typing import IO, TYPE_CHECKING, Any

from aoe_reports.model.errors import AoeReportsError, UsageError
from aoe_reports.model.texts import from_fields, say
from aoe_reports.schema.table import Table

if TYPE_CHECKING:
    import pyarrow as pa

REFUSED, WRONG_QUERY, OUT_OF_MEMORY, DAMAGED = 9, 10, 11, 12
"""Exit codes of the process, with the reason on its standard error: a text of ours as JSON, or what DuckDB says."""
_SERVER = "aoe_reports.engine.tables.query_server"
_MAX_SAID = 1 << 20
"""Bytes that are read of what it says of a failure; a query has at most as many characters."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a query may use."""

    memory_bytes: int = 1 << 30
    seconds: int = 60


@dataclass(frozen=True, slots=True)
class Attached:
    """What attaching a file gave: why it cannot be used, empty where it can; what it says of its own reading, if anything; the tables that it holds."""

    why: str
    notes: str | None = None
    tables: tuple[str, ...] = ()


class DamagedError(AoeReportsError):
    """A file of tables is damaged where the query reads it."""


class QueryProcess:
    """A process that has a query: first it says which tables that needs, then it is given files that hold them, then it has rows.

    Each raises UsageError where the query is refused or wrong, AoeReportsError where it exceeds a limit.
    """

    def __init__(self, process: subprocess.Popen[bytes], said: IO[bytes], limits: Limits) -> None:
        """A process that has been started, and waits for a task; `said` is its standard error, a file, so that it never waits for its reader."""
        self._process = process
        self._said = said
        self._limits = limits
        self._deadline = Timer(0, process.kill)
        self._is_late = False

    def tables(self) -> frozenset[str]:
        """Which of the tables that are allowed the query needs."""
        return frozenset(self._answer())

    def attach(self, path: Path) -> Attached:
        """Let it read a database file, or a folder of Parquet files; of a table that several files hold it reads the union."""
        self.send(str(path))
        why, notes, tables = self._answer()
        return Attached(from_fields(why), notes, tuple(tables))

    def rows(self) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
        """The columns of the query, and its rows, batch by batch: who reads to the end has all."""
        import pyarrow as pa  # noqa: PLC0415 -- while the process starts

        _pipe(self._process.stdin).close()
        try:
            with self._deadline_running():
                reader = pa.ipc.open_stream(self._process.stdout)
        except (ValueError, OSError):  # it ended before it had said which columns there are
            self._raise_failure()
            raise
        return reader.schema, self._batches(reader)

    def send(self, message: Any) -> None:
        """Send it one line; one that has ended says why when it is asked."""
        try:
            _pipe(self._process.stdin).write(json.dumps(message).encode() + b"\n")
            _pipe(self._process.stdin).flush()
        except BrokenPipeError:
            pass

    def close(self) -> None:
        """End it, whatever it does."""
        self._deadline.cancel()
        self._process.kill()

    def _answer(self) -> Any:
        with self._deadline_running():
            line = _pipe(self._process.stdout).readline()
        if not line.endswith(b"\n"):
            self._raise_failure()
        return json.loads(line)

    @contextmanager
    def _deadline_running(self) -> Iterator[None]:
        """End the process if what is waited for takes too long: how long its rows wait for their reader does not count."""
        self._deadline = Timer(self._limits.seconds, self._stop_late)
        self._deadline.daemon = True
        self._deadline.start()
        try:
            yield
        finally:
            self._deadline.cancel()

    def _stop_late(self) -> None:
        self._is_late = True
        self._process.kill()

    def _batches(self, reader: pa.RecordBatchReader) -> Iterator[pa.RecordBatch]:
        try:
            while True:
                with self._deadline_running():
                    batch = next(reader, None)
                if batch is None:
                    break
                yield batch
        except (ValueError, OSError):  # it ended within a batch
            self._raise_failure()
            raise
        self._raise_failure()  # it may have ended between two

    def _raise_failure(self) -> None:
        limits = self._limits
        with self._deadline_running():
            code = self._process.wait()
        self._said.seek(0)
        said = self._said.read(_MAX_SAID).decode(errors="replace").strip()
        if code == REFUSED:
            raise UsageError(from_fields(json.loads(said)))
        if code == WRONG_QUERY:
            raise UsageError(say("sql: {why}", why=said))
        if code == OUT_OF_MEMORY:
            memory = limits.memory_bytes
            raise AoeReportsError(say("sql: the query takes more memory than {limit:,} bytes", limit=memory))
        if code == DAMAGED:
            raise DamagedError(say("sql: a file of tables is damaged ({why})", why=said))
        if self._is_late or code == -signal.SIGXCPU:
            raise AoeReportsError(say("sql: the query was stopped after {seconds} s", seconds=limits.seconds))
        if code:
            raise AoeReportsError(say("sql: {why}", why=said or say("exit code {code}", code=code)))


@contextmanager
def started(query: str, tables: Iterable[Table], limits: Limits) -> Iterator[QueryProcess]:
    """A process for a query that may read some tables; what it needs at its start it does while this one looks for files."""
    pipe, command = subprocess.PIPE, [sys.executable, "-P", "-m", _SERVER]  # no module is taken from the current folder
    with TemporaryFile() as said, subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=said) as process:  # noqa: S603 -- our own module
        running = QueryProcess(process, said, limits)
        try:
            task = {"query": query, "tables": {table.name: table.ddl for table in tables}, "asked_by": os.getpid()}
            running.send({**task, **asdict(limits)})
            yield running
        finally:
            running.close()


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None
    return pipe
