"""History: the nights of years in one Delta table. One commit a run; the same run and content once, whatever happens.

Idempotence rests on commits that fail when anybody else committed since the table was looked at: whether a run or a
member of it is there is asked of the same view that its rows are committed to, and asked again after every failure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Literal, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from deltalake.exceptions import CommitFailedError
from deltalake.transaction import RemoveAction

from aoe_reports.formats.records.record import canonical_json
from aoe_reports.model.arrays.columns import Mask, codes, keep_where
from aoe_reports.model.errors import StoreError, WorkloadConflictError
from aoe_reports.model.texts import say
from aoe_reports.store.conditions import Where, equals
from aoe_reports.store.layout import (
    EXTRA_KINDS,
    HEADER_COLUMNS,
    ROWS,
    Run,
    RunHeader,
    headers_of,
    month_of,
    rows_of,
    table_of,
)
from aoe_reports.store.log import MAX_ATTEMPTS, Log, Origin, wait
from aoe_reports.store.parts import NewFile, StoredFile

Outcome = Literal["added", "unchanged", "superseded", "renewed", "less-complete"]
_T = TypeVar("_T")
R = TypeVar("R")


@dataclass(slots=True)
class History:
    """The store at one URI."""

    uri: str
    log: Log
    _members: dict[str, pa.Table] = field(default_factory=dict)
    """Members of the runs in each file: what lies in a file never changes."""

    @classmethod
    def open(cls, uri: str, *, create: bool = False, origin: Origin | None = None) -> History:
        """Open the store at a folder or URI; with `create`, make an empty one where there is nothing."""
        return cls(uri, Log.open(uri, origin or Origin(), create=create))

    def runs(self, where: Where = ()) -> list[RunHeader]:
        """All runs, oldest first."""
        return headers_of(self.rows("run", HEADER_COLUMNS, where))

    def records(self, columns: Sequence[str] | None = None, where: Where = ()) -> pa.Table:
        """Records as an Arrow table; `where` are conditions (see `equals`) that all hold, `columns` picks."""
        return self.rows("record", columns, where)

    def coded_rows(self, kind: str, columns: Sequence[str], where: Where = ()) -> Iterator[pa.Table]:
        """Rows of one kind file by file, texts as dictionaries of their own: a fraction of the memory of `rows`."""
        for part in self.log.parts(kind, where):
            yield self.log.folder.read(part, columns, where, coded=True)

    def rows(self, kind: str, columns: Sequence[str] | None = None, where: Where = ()) -> pa.Table:
        """Rows of one kind."""
        names = list(columns) if columns else ROWS.names
        empty = pa.Table.from_batches([], schema=pa.schema([ROWS.field(name) for name in names]))
        parts = self.log.parts(kind, where)
        return pa.concat_tables([empty, *(self.log.folder.read(part, names, where) for part in parts)])

    def read(self, kind: str, row: type[R], where: Where = ()) -> list[R]:
        """Rows of one kind, as a dataclass whose fields are the columns that are wanted."""
        names = [each.name for each in fields(row)]  # type: ignore[arg-type] # a dataclass
        columns = self.rows(kind, names, where).to_pydict()
        return [row(*values) for values in zip(*(columns[name] for name in names), strict=True)]

    def add(self, run: Run, *, renew: bool = False) -> Outcome:
        """Store a run in one commit; the same content adds nothing, a more complete version takes its place.

        With `renew` the same content takes the place of what an older normaliser made of it, too.
        """
        rows = cache(lambda: rows_of(run.whole()))
        return self._until_committed(lambda: self._add(run.header, rows, renew=renew))

    def versions_of(self, header: RunHeader) -> list[RunHeader]:
        """What is stored already of a run: the runs that have a member in common with it."""
        return self._overlapping(header)

    def add_extra(self, rows: pa.Table) -> int:
        """Store rows that are no part of a run (changes, acknowledgements); those that are there already are left out."""
        return self._until_committed(lambda: self._add_extra(rows))

    def undo(self, run_id: str, timestamp_ns: int) -> RunHeader:
        """Take a run out again, and leave a row of kind `change` that tells of it; it can be stored anew."""
        return self._until_committed(lambda: self._undo(run_id, timestamp_ns))

    def _until_committed(self, work: Callable[[], _T]) -> _T:
        for attempt in range(MAX_ATTEMPTS):
            try:
                self.log.upgrade()
                return work()
            except CommitFailedError:
                wait(attempt)
                self.log.refresh()
        raise StoreError(
            say("{uri}: {count} commits failed because others wrote at the same time", uri=self.uri, count=MAX_ATTEMPTS)
        )

    def _add(self, header: RunHeader, rows: Callable[[], pa.Table], *, renew: bool) -> Outcome:
        known = self._overlapping(header)
        _refuse_other_workload(header, known)
        renews = renew and bool(known) and all(_renews(header, stored) for stored in known)
        if not renews:
            if any(_covers(stored, header) for stored in known):
                return "unchanged"
            if not all(_completes(header, stored) for stored in known):
                return "less-complete"
        kept, removes = self._without({stored.run_id for stored in known}) if known else ([], [])
        self._commit([*_pieces(rows()), *kept], removes)
        return "renewed" if renews else "superseded" if known else "added"

    def _add_extra(self, rows: pa.Table) -> int:
        kinds = rows["kind"].unique().to_pylist()
        present = [self.rows(kind) for kind in kinds]
        told = {tuple(row.values()) for table in present for row in table.to_pylist()}
        missing = [row for row in rows.to_pylist() if tuple(row.values()) not in told]
        if missing:
            self._commit(_pieces(table_of(missing)), [])
        return len(missing)

    def _undo(self, run_id: str, timestamp_ns: int) -> RunHeader:
        header = self._stored_run(run_id)
        if header is None:
            raise StoreError(
                say(
                    "{uri}: run {run_id} does not exist; `store history runs` lists the runs",
                    uri=self.uri,
                    run_id=run_id,
                )
            )
        kept, removes = self._without({run_id})
        self._commit([*_pieces(self._change_of(header, timestamp_ns)), *kept], removes)
        return header

    def _stored_run(self, run_id: str) -> RunHeader | None:
        """A run by its id, without its members, so that even a damaged one can be removed."""
        where = [equals("run_id", run_id)]
        names = [name for name in HEADER_COLUMNS if name != "members"]
        tables = [self.log.folder.read_all(part, names, where) for part in self.log.parts("run", where)]
        rows = [row for table in tables for row in table.to_pylist()]
        return RunHeader(**rows[0], members=()) if rows else None

    def _change_of(self, gone: RunHeader, timestamp_ns: int) -> pa.Table:
        """The row that records who removed which run, and when."""
        told = {**self.log.origin.as_metadata(), "night": gone.night, "content_hash": gone.content_hash}
        return table_of(
            [
                {
                    "kind": "change",
                    "month": month_of(timestamp_ns),
                    "run_id": gone.run_id,
                    "timestamp_ns": timestamp_ns,
                    "model": gone.model,
                    "subject": gone.run_id,
                    "state": "undone",
                    "path": gone.path,
                    "body": canonical_json(told),
                }
            ]
        )

    def _commit(self, pieces: Iterable[NewFile], removes: list[RemoveAction]) -> None:
        self.log.commit(self.log.folder.write(pieces), removes)

    def _without(self, run_ids: Collection[str]) -> tuple[list[NewFile], list[RemoveAction]]:
        pieces, removes = [], []
        wanted = tuple(equals("run_id", run_id) for run_id in sorted(run_ids))
        for part in self.log.parts(where=[wanted]):
            if part.kind in EXTRA_KINDS:
                continue
            rows = self.log.folder.read_checked(part, surplus=True)  # else it would be what is left of the run
            gone = pc.is_in(rows["run_id"], pa.array(sorted(run_ids)))
            kept = rows.filter(pc.invert(gone))
            if kept.num_rows < rows.num_rows:
                removes.append(part.removal())
            if 0 < kept.num_rows < rows.num_rows:
                pieces.append(NewFile(part.kind, part.month, kept, part.merged))
        return pieces, removes

    def _overlapping(self, header: RunHeader) -> list[RunHeader]:
        keys = {key for member in header.members for key in (member.identity, member.content_hash)}
        pattern = "|".join(re.escape(key) for key in sorted(keys))
        parts = self.log.parts("run")
        self._members = {part.path: self._members_in(part) for part in parts}
        if not parts:
            return []
        members = pa.concat_tables(self._members.values())
        named = pc.equal(members["run_id"], header.run_id)
        alike = members.filter(pc.or_(named, pc.match_substring_regex(members["members"], pattern)))[
            "run_id"
        ].to_pylist()
        if not alike:
            return []
        found = self.runs([tuple(equals("run_id", run_id) for run_id in sorted(set(alike)))])
        return [stored for stored in found if _overlaps(stored, header)]

    def _members_in(self, part: StoredFile) -> pa.Table:
        known = self._members.get(part.path)
        return self.log.folder.read(part, ("run_id", "members")) if known is None else known


def _pieces(rows: pa.Table) -> Iterator[NewFile]:
    """Rows split by kind and month, a file each."""
    (kind, kinds), (month, months) = codes(rows["kind"]), codes(rows["month"])
    both = kind.astype(np.int64) * (len(months) + 1) + month
    places = [(divmod(place, len(months) + 1), place) for place in np.unique(both).tolist()]
    found = sorted((kinds[at - 1], months[of - 1], place) for (at, of), place in places)
    for one, other, place in found:
        yield NewFile(one, other, _where(rows, both == place))


def _where(rows: pa.Table, mask: Mask) -> pa.Table:
    """The rows of a mask; adjacent rows as a slice, without a copy."""
    places = np.flatnonzero(mask)
    first, last = int(places[0]), int(places[-1])
    return rows.slice(first, len(places)) if last - first + 1 == len(places) else rows.filter(keep_where(mask))


def _refuse_other_workload(header: RunHeader, known: Iterable[RunHeader]) -> None:
    for stored in known:
        if stored.model != header.model:
            raise WorkloadConflictError(
                header.path,
                say(
                    "this run is already stored as workload {model!r} (run {run_id}); storing it as {other!r} "
                    "too would count it twice; remove it with `store undo {run_id}`, then store it under the "
                    "other name",
                    model=stored.model,
                    run_id=stored.run_id,
                    other=header.model,
                ),
                stored.model,
            )


def _overlaps(stored: RunHeader, header: RunHeader) -> bool:
    return stored.run_id == header.run_id or (
        stored.run_kind == header.run_kind
        and any(member.same_as(other) for member in header.members for other in stored.members)
    )


def _covers(stored: RunHeader, header: RunHeader) -> bool:
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
    return header.normaliser_version > stored.normaliser_version and _covers(header, stored)
