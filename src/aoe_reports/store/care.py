"""Care of the store: what it holds, compaction, what may be deleted."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import accumulate

import pyarrow as pa
import pyarrow.compute as pc
from deltalake.exceptions import CommitFailedError
from pyarrow import fs

from aoe_reports.model.errors import StoreError, reason
from aoe_reports.model.rows import column, row
from aoe_reports.model.texts import say
from aoe_reports.store.layout import ROWS, RUNS_MONTH
from aoe_reports.store.log import MAX_ATTEMPTS, Log, wait
from aoe_reports.store.parts import NewFile, StoredFile, now_ms

SURPLUS = 18
"""So many files more than needed are let be before an ingest merges them: each costs a reader half a millisecond."""

SMALL_ROWS = 65_536
SMALL_RUNS = 2048
"""A file with fewer rows is merged with others; rows of runs are read by every ingest, and merged more often."""

AT_ONCE = 500_000
"""Rows that are merged in one commit, and so held in memory."""

ORDER = (
    "model", "workload", "series_id", "timestamp_ns", "run_id", "rule", "path", "line", "column", "message", "state", "body",
)  # fmt: skip
"""How merged rows lie: a query for one workload then opens few row groups."""

DAY_MS = 86_400_000
KEPT_DAYS = 7
"""A file that was taken out of the table stays so long for those who still read an older view of it."""


@row
class StoreInfo:
    """What the store holds."""

    runs: int = column("Runs", "integer")
    records: int = column("Records", "integer")
    bytes: int = column("Bytes", "integer")
    files: int = column("Files", "integer")
    version: int = column("Version", "integer")
    format: int | None = column("Format", "integer")
    last_compaction: str | None = column("Last compaction")


def info(log: Log) -> StoreInfo:
    """What the store holds, without opening one of its files."""
    parts = log.parts()
    merged = max((part.modified_ms for part in parts if part.merged), default=None)
    return StoreInfo(
        runs=sum(part.rows for part in parts if part.kind == "run"),
        records=sum(part.rows for part in parts if part.kind == "record"),
        bytes=sum(part.size for part in parts),
        files=len(parts),
        version=log.version,
        format=log.format,
        last_compaction=None if merged is None else datetime.fromtimestamp(merged // 1000, UTC).isoformat(),
    )


@row
class Compacted:
    """How many files there were and are, and how many rows were merged."""

    files_before: int = column("Files before", "integer")
    files: int = column("Files", "integer")
    rows_merged: int = column("Rows merged", "integer")


def compact_if_needed(log: Log, failed: list[StoreError]) -> Compacted | None:
    """Merge small files of all kinds and months in one commit if there are many, as far as they have few rows together.

    A commit costs as much as merging the rows, so it is done seldom and then for all. Files that cannot be merged are
    told in `failed`, and others are; where somebody else commits meanwhile, it is left for the next time.
    """
    if _surplus(log) < SURPLUS:
        return None
    groups = sorted(_mergeable(log.parts()), key=lambda group: (-len(group), group[0].path))
    batches = deque(_batches(groups, SMALL_ROWS))
    while batches:
        batch = batches.popleft()
        try:
            merged = _merge(log, batch)
        except CommitFailedError:
            log.refresh()
            return None
        except StoreError as error:
            if len(batch) == 1:
                failed.append(error)
            else:
                batches.extendleft([group] for group in reversed(batch))  # one of them is damaged
        else:
            log.clean()
            return merged
    return None


def compact(log: Log) -> Compacted:
    """Merge and sort all that can be; a commit that fails because of others is tried again."""
    before, rows = len(log.parts()), 0
    for attempt in range(MAX_ATTEMPTS):
        try:
            log.upgrade()
            while groups := _mergeable(log.parts(), every=True):
                rows += _merge(log, next(_batches(groups))).rows_merged
            log.checkpoint()
            log.clean()
            return Compacted(files_before=before, files=len(log.parts()), rows_merged=rows)
        except CommitFailedError:
            wait(attempt)
            log.refresh()
    raise StoreError(
        say("{uri}: {count} compactions failed because others wrote at the same time", uri=log.uri, count=MAX_ATTEMPTS)
    )


def _mergeable(parts: Sequence[StoredFile], *, every: bool = False) -> list[list[StoredFile]]:
    groups: dict[tuple[str, str], list[StoredFile]] = {}
    for part in parts:
        if part.rows < (SMALL_ROWS if every else _small(part.kind)) or (every and not part.merged):
            groups.setdefault((part.kind, _home(part.kind, part.month)), []).append(part)
    return [_bounded(group) for group in groups.values() if len(group) > 1 or (every and not _at_home(group[0]))]


def _bounded(group: list[StoredFile]) -> list[StoredFile]:
    """As many files of a group as are merged at once: two at least."""
    rows = list(accumulate(part.rows for part in group))
    return group[: max(2, bisect_right(rows, AT_ONCE))]


def _at_home(part: StoredFile) -> bool:
    return part.merged and part.month == _home(part.kind, part.month)


def _home(kind: str, month: str) -> str:
    """The month that a file's rows belong in: format 1 had rows of runs elsewhere."""
    return RUNS_MONTH if kind == "run" else month


def _small(kind: str) -> int:
    return SMALL_RUNS if kind == "run" else SMALL_ROWS


def _batches(groups: Sequence[list[StoredFile]], most: int = AT_ONCE) -> Iterator[list[list[StoredFile]]]:
    """Groups that are merged together: not too many rows, and one group at least."""
    batch: list[list[StoredFile]] = []
    rows = 0
    for group in groups:
        count = sum(part.rows for part in group)
        if batch and rows + count > most:
            yield batch
            batch, rows = [], 0
        batch.append(group)
        rows += count
    if batch:
        yield batch


def _merge(log: Log, groups: Sequence[list[StoredFile]]) -> Compacted:
    adds = log.folder.write(_sorted_pieces(log, groups), data_change=False)
    gone = [part for group in groups for part in group]
    log.commit(adds, [part.removal(data_change=False) for part in gone])
    return Compacted(files_before=len(gone), files=len(adds), rows_merged=sum(part.rows for part in gone))


def _sorted_pieces(log: Log, groups: Sequence[list[StoredFile]]) -> Iterator[NewFile]:
    for group in groups:
        read = [log.folder.read_checked(part) for part in group]
        whole = pa.concat_tables(read, promote_options="default").unify_dictionaries()
        ordered = whole.take(_order_of(whole))
        for start in range(0, ordered.num_rows, SMALL_ROWS):
            yield NewFile(
                group[0].kind, _home(group[0].kind, group[0].month), ordered.slice(start, SMALL_ROWS), merged=True
            )


def _order_of(rows: pa.Table) -> pa.Array:
    keys = {name: rows[name] for name in ORDER if name in rows.column_names}
    plain = {name: keys[name].cast(ROWS.field(name).type) for name in keys}
    return pc.sort_indices(pa.table(plain), sort_keys=[(name, "ascending") for name in plain])


@row
class Vacuumed:
    """What a vacuum deleted, or would delete."""

    files_deleted: int = column("Files deleted", "integer")
    bytes_deleted: int = column("Bytes", "integer")
    days: int = column("Days kept", "integer")


def _vacuumed(files: Sequence[fs.FileInfo], days: int) -> Vacuumed:
    return Vacuumed(files_deleted=len(files), bytes_deleted=sum(found.size or 0 for found in files), days=days)


def vacuum(log: Log, days: int) -> Vacuumed:
    """Delete files that are no part of the table, were not written lately and were not taken out of it lately."""
    files = _deletable(log, days)
    for found in files:
        if not log.folder.delete(found.path):
            raise StoreError(say("{uri}/{path}: cannot be deleted", uri=log.uri, path=found.path))
    return _vacuumed(files, days)


def _deletable(log: Log, days: int) -> list[fs.FileInfo]:
    since = now_ms() - days * DAY_MS
    kept = {part.path for part in log.parts()} | set(_removed_since(log, since))
    return [
        found
        for found in log.folder.listed()
        if found.path.startswith("kind=") and found.path not in kept and _modified_ms(found) <= since
    ]


@dataclass(frozen=True, slots=True)
class Pending:
    """What care the store waits for."""

    surplus: int
    """Small files more than needed; from `SURPLUS` on an ingest merges them."""
    deletable: Vacuumed
    """What a vacuum would delete now."""


def pending(log: Log) -> Pending:
    """What a compaction and a vacuum would do."""
    return Pending(_surplus(log), _vacuumed(_deletable(log, KEPT_DAYS), KEPT_DAYS))


def _surplus(log: Log) -> int:
    small = [(kind, _home(kind, month)) for kind, month, rows in log.sizes() if (rows or 0) < _small(kind)]
    return len(small) - len(set(small))


def _removed_since(log: Log, since_ms: int) -> Iterator[str]:
    """Files that recent commits took out: commits stay in the log for 30 days."""
    for found in log.folder.listed("_delta_log"):
        if found.extension != "json" or _modified_ms(found) < since_ms:
            continue
        try:
            lines = log.folder.content(found.path).to_pybytes().splitlines()
            removes = [json.loads(line)["remove"] for line in lines if line.startswith(b'{"remove"')]
        except (OSError, ValueError) as error:
            raise StoreError(
                say("{uri}/{path}: a commit cannot be read: {why}", uri=log.uri, path=found.path, why=reason(error))
            ) from error
        yield from (remove["path"] for remove in removes if remove.get("deletionTimestamp", since_ms) >= since_ms)


def _modified_ms(found: fs.FileInfo) -> int:
    return int((found.mtime_ns or 0) // 1_000_000)
