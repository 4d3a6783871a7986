"""History: the nights of years in one Delta table. One commit a run; the same run and content once, whatever happens.

Idempotence rests on Delta's application transactions: the version of a run's transaction is read and the rows are
written through the same table handle, so a racing writer makes the commit fail instead of doubling the run.
"""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake
from deltalake.exceptions import CommitFailedError, DeltaError

from aoe_reports.errors import StoreError, WorkloadConflictError
from aoe_reports.store.layout import FORMAT, PARTITIONS, ROWS, Run, RunHeader, headers_of, rows_of

Outcome = Literal["added", "unchanged", "superseded", "renewed", "less-complete"]

MAX_ATTEMPTS = 20


@dataclass(slots=True)
class History:
    """The store at one URI."""

    uri: str
    _table: DeltaTable
    _headers: list[RunHeader] | None = None

    @classmethod
    def open(cls, uri: str, *, create: bool = False) -> History:
        """Open the store at a folder or URI; with `create`, make an empty one where there is nothing."""
        place = _location(uri)
        for attempt in range(MAX_ATTEMPTS):
            try:
                if DeltaTable.is_deltatable(place):
                    return cls(uri, _of_our_format(uri, DeltaTable(place)))
                if not create:
                    raise StoreError(
                        f"{uri}: there is no store; expected one made by `aoe-reports ingest` or `nightly`"
                    )
                _refuse_other_folder(uri)
                DeltaTable.create(
                    place, ROWS, mode="ignore", partition_by=PARTITIONS, name="aoe-reports", description=FORMAT
                )
            except (DeltaError, OSError, ValueError) as error:
                # somebody else may be making it right now
                if attempt == MAX_ATTEMPTS - 1 or not create:
                    raise StoreError(f"{uri}: the store cannot be opened: {_first_line(error)}") from error
                _wait(attempt)
        raise StoreError(f"{uri}: the store cannot be opened")

    def runs(self) -> list[RunHeader]:
        """All runs, oldest first."""
        if self._headers is None:
            self._headers = headers_of(self._read(equals("kind", "run")))
        return self._headers

    def records(self, columns: Sequence[str] | None = None, where: Sequence[str] = ()) -> pa.Table:
        """Records as an Arrow table; `where` are SQL conditions (see `equals`) that all hold, `columns` picks."""
        return self._read(" AND ".join([equals("kind", "record"), *where]), columns)

    def add(self, run: Run, *, renew: bool = False) -> Outcome:
        """Store a run in one commit; the same content adds nothing, a more complete version takes its place.

        With `renew` the same content takes the place of what an older normaliser made of it, too.
        """
        for attempt in range(MAX_ATTEMPTS):
            try:
                return self._add(run, fresh=attempt > 0, renew=renew)
            except CommitFailedError:
                _wait(attempt)
                self._reload()
            except (DeltaError, OSError) as error:
                raise StoreError(f"{self.uri}: the store cannot be written: {_first_line(error)}") from error
        raise StoreError(f"{self.uri}: {MAX_ATTEMPTS} commits failed because others wrote at the same time")

    def _add(self, run: Run, *, fresh: bool, renew: bool) -> Outcome:
        header = run.header
        known = [stored for stored in self.runs() if _overlaps(stored, header)]
        self._refuse_other_workload(header, known)
        renews = renew and bool(known) and all(_renews(header, stored) for stored in known)
        if not renews and any(_covers(stored, header) for stored in known):
            return "unchanged"
        if not renews and not all(_completes(header, stored) for stored in known):
            return "less-complete"
        done = self._table.transaction_version(header.run_id)
        if done is not None and done % 2 == 1 and not known and not fresh:
            raise CommitFailedError(header.run_id)  # perhaps somebody else added it since our runs were read
        options: dict[str, Any] = {"mode": "append"}
        if known:
            ids = sorted({header.run_id, *(stored.run_id for stored in known)})
            options = {"mode": "overwrite", "predicate": " OR ".join(equals("run_id", run_id) for run_id in ids)}
        version = 1 if done is None else done + 1 + done % 2  # odd: the run is there; even is left for taking it out
        commit = CommitProperties(app_transactions=[Transaction(header.run_id, version)], max_commit_retries=0)
        write_deltalake(self._table, rows_of(run), commit_properties=commit, **options)
        gone = {stored.run_id for stored in known}
        kept = [stored for stored in self.runs() if stored.run_id not in gone]
        self._headers = sorted([*kept, header], key=lambda h: (h.timestamp_ns, h.run_id))
        return "renewed" if renews else "superseded" if known else "added"

    def _refuse_other_workload(self, header: RunHeader, known: Sequence[RunHeader]) -> None:
        for stored in known:
            if stored.model != header.model:
                raise WorkloadConflictError(
                    f"{header.path}: this run is already stored as workload {stored.model!r} (run "
                    f"{stored.run_id}); storing it as {header.model!r} too would count it twice"
                )

    def _read(self, condition: str, columns: Sequence[str] | None = None) -> pa.Table:
        names = list(columns) if columns else ROWS.names
        try:
            # Delta's own engine: Arrow's datasets would read through Python objects on threads that outlive us
            rows = pa.table(self._table.scan(columns=names, predicate=condition))
        except (DeltaError, OSError, pa.ArrowException) as error:
            raise StoreError(f"{self.uri}: the store cannot be read: {_first_line(error)}") from error
        return rows.cast(pa.schema([ROWS.field(name) for name in names]))

    def _reload(self) -> None:
        self._table = DeltaTable(_location(self.uri))
        self._headers = None


def equals(column: str, value: str, sign: str = "=") -> str:
    """A condition on a text column, with the value quoted as SQL wants it."""
    quoted = value.replace("'", "''")
    return f"{column} {sign} '{quoted}'"


def _location(uri: str) -> str:
    """A folder's path or a URI, if Delta can keep a table there."""
    found = sorted(set(str(Path(uri).absolute())) & set(_UNFIT)) if "://" not in uri else []
    if found:
        raise StoreError(f"{uri}: Delta cannot keep a table in a path with {' '.join(found)}; expected one without")
    return uri


_UNFIT = "%[]\\"
"""Characters in a path at which delta-rs 1.6 panics or looks elsewhere (tried one by one)."""


def _wait(attempt: int) -> None:
    """Step aside for other writers: longer each time, and not in step with them."""
    time.sleep(random.uniform(0, 0.02 * (attempt + 1)))  # noqa: S311 -- no secret


def _overlaps(stored: RunHeader, header: RunHeader) -> bool:
    """Whether two versions have a member in common, or a run's own records came back: then they are one run."""
    return stored.run_id == header.run_id or (
        stored.run_kind == header.run_kind
        and any(member.same_as(other) for member in header.members for other in stored.members)
    )


def _covers(stored: RunHeader, header: RunHeader) -> bool:
    """Whether everything in `header` is stored already, with this content."""
    return all(
        any(member.same_as(other) and member.content_hash == other.content_hash for other in stored.members)
        for member in header.members
    )


def _completes(header: RunHeader, stored: RunHeader) -> bool:
    """Whether `header` may take the place of `stored`: it has every member and more rows.

    Of two versions with as many rows one always wins, whichever comes first: else they would replace each other for ever.
    """
    whole = all(any(member.same_as(other) for other in header.members) for member in stored.members)
    return whole and (header.rows, header.content_hash) > (stored.rows, stored.content_hash)


def _renews(header: RunHeader, stored: RunHeader) -> bool:
    """Whether `header` is what a newer normaliser makes of the same content."""
    return header.normaliser_version > stored.normaliser_version and _covers(header, stored)


def _of_our_format(uri: str, table: DeltaTable) -> DeltaTable:
    """The table, if this version can read what is in it."""
    written = table.metadata().description
    if written != FORMAT:
        raise StoreError(f"{uri}: this is {written or 'some other Delta table'!r}; this version reads {FORMAT!r}")
    return table


def _refuse_other_folder(uri: str) -> None:
    """A store is not made inside a folder that already holds something else."""
    if "://" in uri:
        return
    if Path(uri).is_file():
        raise StoreError(f"{uri}: this is a file; expected a folder or a URI for the store")
    if Path(uri).is_dir() and {path.name for path in Path(uri).iterdir()} - {"_delta_log"}:
        raise StoreError(f"{uri}: this folder is not empty and is no store; expected an empty or a new folder")


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:300]
