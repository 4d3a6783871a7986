"""History: the nights of years in one Delta table. One commit a run; the same run and content once, whatever happens.

Idempotence rests on Delta's application transactions: the version of a run's transaction is read and the rows are
written through the same table handle, so a racing writer makes the commit fail instead of doubling the run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pyarrow.dataset as ds
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake
from deltalake.exceptions import CommitFailedError, DeltaError

from aoe_reports.errors import StoreError, WorkloadConflictError
from aoe_reports.store.layout import PARTITIONS, ROWS, Run, RunHeader, headers_of, rows_of

Outcome = Literal["added", "unchanged", "superseded", "less-complete"]

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
        try:
            if DeltaTable.is_deltatable(uri):
                return cls(uri, DeltaTable(uri))
            if not create:
                raise StoreError(f"{uri}: there is no store; expected one made by `aoe-reports ingest` or `nightly`")
            _refuse_other_folder(uri)
            table = DeltaTable.create(uri, ROWS, mode="ignore", partition_by=PARTITIONS, name="aoe-reports history")
            return cls(uri, table)
        except (DeltaError, OSError, ValueError) as error:
            raise StoreError(f"{uri}: the store cannot be opened: {_first_line(error)}") from error

    def runs(self) -> list[RunHeader]:
        """All runs, oldest first."""
        if self._headers is None:
            self._headers = headers_of(self._read(ds.field("kind") == "run"))
        return self._headers

    def records(self, columns: Sequence[str] | None = None, where: ds.Expression | None = None) -> pa.Table:
        """Records as an Arrow table; `where` filters them, `columns` picks."""
        condition = ds.field("kind") == "record"
        return self._read(condition if where is None else condition & where, columns)

    def findings(self) -> pa.Table:
        """All stored findings."""
        return self._read(ds.field("kind") == "finding")

    def add(self, run: Run) -> Outcome:
        """Store a run in one commit; the same content adds nothing, a more complete version takes its place."""
        for _ in range(MAX_ATTEMPTS):
            try:
                return self._add(run)
            except CommitFailedError:
                self._reload()
            except (DeltaError, OSError) as error:
                raise StoreError(f"{self.uri}: the store cannot be written: {_first_line(error)}") from error
        raise StoreError(f"{self.uri}: {MAX_ATTEMPTS} commits failed because others wrote at the same time")

    def _add(self, run: Run) -> Outcome:
        header = run.header
        known = [stored for stored in self.runs() if _overlaps(stored, header)]
        self._refuse_other_workload(header, known)
        if any(_covers(stored, header) for stored in known):
            return "unchanged"
        if any(stored.rows > header.rows for stored in known):
            return "less-complete"
        done = self._table.transaction_version(header.run_id)
        if done is not None and done % 2 == 1 and not known:
            self._reload()  # somebody else added it since our runs were read
            raise CommitFailedError(header.run_id)
        options: dict[str, Any] = {"mode": "append"}
        if known:
            ids = ", ".join(
                f"'{stored.run_id}'" for stored in {stored.run_id: stored for stored in [*known, header]}.values()
            )
            options = {"mode": "overwrite", "predicate": f"run_id IN ({ids})"}
        version = 1 if done is None else done + 1 + done % 2  # odd: the run is there; even is left for taking it out
        commit = CommitProperties(app_transactions=[Transaction(header.run_id, version)], max_commit_retries=0)
        write_deltalake(self._table, rows_of(run), commit_properties=commit, **options)
        gone = {stored.run_id for stored in known}
        kept = [stored for stored in self.runs() if stored.run_id not in gone]
        self._headers = sorted([*kept, header], key=lambda h: (h.timestamp_ns, h.run_id))
        return "superseded" if known else "added"

    def _refuse_other_workload(self, header: RunHeader, known: Sequence[RunHeader]) -> None:
        for stored in known:
            if stored.model != header.model and stored.content_hash == header.content_hash:
                raise WorkloadConflictError(
                    f"{header.path}: this content is already stored as workload {stored.model!r} (run "
                    f"{stored.run_id}); storing it as {header.model!r} too would count it twice"
                )

    def _read(self, condition: ds.Expression, columns: Sequence[str] | None = None) -> pa.Table:
        try:
            dataset = self._table.to_pyarrow_dataset()
            return dataset.to_table(filter=condition, columns=list(columns) if columns else None)
        except (DeltaError, OSError, pa.ArrowException) as error:
            raise StoreError(f"{self.uri}: the store cannot be read: {_first_line(error)}") from error

    def _reload(self) -> None:
        self._table = DeltaTable(self.uri)
        self._headers = None


def _overlaps(stored: RunHeader, header: RunHeader) -> bool:
    """Whether two versions have a member in common: then they are one run."""
    return stored.run_kind == header.run_kind and bool(
        {member.identity for member in stored.members} & {member.identity for member in header.members}
    )


def _covers(stored: RunHeader, header: RunHeader) -> bool:
    """Whether everything in `header` is stored already, with this content."""
    contents = {member.identity: member.content_hash for member in stored.members}
    return stored.normaliser_version == header.normaliser_version and all(
        contents.get(member.identity) == member.content_hash for member in header.members
    )


def _refuse_other_folder(uri: str) -> None:
    """A store is not made inside a folder that already holds something else."""
    if "://" not in uri and Path(uri).is_dir() and any(Path(uri).iterdir()):
        raise StoreError(f"{uri}: this folder is not empty and is no store; expected an empty or a new folder")
    if "://" not in uri and Path(uri).is_file():
        raise StoreError(f"{uri}: this is a file; expected a folder or a URI for the store")


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:300]
