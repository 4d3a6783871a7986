"""The table's log: opening, what is in force, commits that fail when anybody else committed in between."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, Schema
from deltalake.exceptions import CommitFailedError, DeltaError, TableNotFoundError
from deltalake.transaction import AddAction, PostCommitHookProperties, RemoveAction
from pyarrow import fs

from aoe_reports.engine.objects import FAILURES, object_store
from aoe_reports.model.documents import JsonObject
from aoe_reports.model.errors import ForeignStoreError, StoreError, reason
from aoe_reports.model.texts import join, say
from aoe_reports.store.commits import IN_FORCE, PREVIOUS, Commit, commit_path, read_commit, statistics_in
from aoe_reports.store.conditions import Where
from aoe_reports.store.digest import digest_of, line_of, lines_of
from aoe_reports.store.layout import FORMAT, PARTITIONS, ROWS
from aoe_reports.store.parts import BOUNDED, Folder, StoredFile, hash_in, now_ms, parts_of, possible
from aoe_reports.store.surplus import Surplus, surplus_in, without_surplus

MAX_ATTEMPTS = 60
LONGEST_WAIT = 0.5

PROPERTIES = {
    # a reader pays 0.3 ms for each commit behind the checkpoint, and more for one that merged; a checkpoint costs 2 ms
    "delta.checkpointInterval": "3",
    # every opening unpacks what the log says of every file: the columns that queries ask for, no others
    "delta.dataSkippingStatsColumns": ",".join(BOUNDED),
    # removed files are remembered in checkpoints for this long; `store vacuum` reads commits instead, which stay 30 days
    "delta.deletedFileRetentionDuration": "interval 1 minutes",
}
_DESCRIPTION = re.compile(r"aoe-reports history, format (\d+)")


@dataclass(frozen=True, slots=True)
class Origin:
    """Who commits: the command, the version of aoe-reports, and the user where the surroundings tell."""

    command: str = "python"
    version: str | None = None
    user: str | None = None

    def as_metadata(self) -> dict[str, str]:
        """What stands in Delta's commit metadata."""
        known = {"command": self.command, "aoe_reports_version": self.version, "user": self.user}
        return {name: value for name, value in known.items() if value is not None}


@dataclass(slots=True)
class Log:
    """The log of the table at one URI, and the folder that its files lie in."""

    uri: str
    folder: Folder
    origin: Origin
    _table: DeltaTable
    _checked: bool = field(default=True)
    """Whether what is in force is held against what the last commit says of it; only who looks for damage does not."""
    _last: Commit | None = field(default=None)
    _actions: pa.Table | None = field(default=None)
    _lines: dict[bytes, bytes] | None = field(default=None)
    _parts: dict[str | None, list[StoredFile]] = field(default_factory=dict)
    _surplus: Surplus | None = field(default=None)
    _behind: bool = field(default=False)
    _current: bool = field(default=False)

    @classmethod
    def open(
        cls, uri: str, origin: Origin, *, create: bool = False, version: int | None = None, checked: bool = True
    ) -> Log:
        """Open the log at a folder or URI; with `create`, make an empty table where there is nothing."""
        place = _location(uri)
        for attempt in range(MAX_ATTEMPTS):
            try:
                table = DeltaTable(place, version=version)
            except TableNotFoundError as error:
                if not create:
                    raise StoreError(say("{uri}: {why}", uri=uri, why=_why_not_there(uri))) from error
                _create(uri, place, origin)
            except FAILURES as error:
                # somebody else may be making it right now
                if attempt >= CREATION_ATTEMPTS or not create:
                    raise StoreError(
                        say("{uri}: the store cannot be opened: {why}", uri=uri, why=reason(error))
                    ) from error
                wait(attempt)
            else:
                log = cls(uri, cls.folder_of(uri), origin, table, checked)
                _refuse_newer_format(uri, log.format)
                if version is None:
                    log.refuse_damaged_commit()
                return log
        raise StoreError(say("{uri}: the store cannot be opened", uri=uri))

    @staticmethod
    def folder_of(uri: str) -> Folder:
        """The files at a URI, whether or not they are a table."""
        return Folder(uri, _files(_location(uri)))

    @property
    def version(self) -> int:
        """The commit that this view of the table is of."""
        return int(self._table.version())

    @property
    def format(self) -> int | None:
        """The format of the store; None where the table is not ours."""
        written = _DESCRIPTION.fullmatch(self._table.metadata().description or "")
        return None if written is None else int(written[1])

    def parts(self, kind: str | None = None, where: Where = ()) -> list[StoredFile]:
        """The files in force, of one kind or of all, that may hold what is asked for."""
        actions = self._in_force()
        if where:
            return [part for part in self._seen(possible(actions, kind, where)) if part.may_hold(where)]
        if kind not in self._parts:
            self._parts[kind] = self._seen(possible(actions, kind, ()))
        return self._parts[kind]

    def _seen(self, actions: pa.Table) -> list[StoredFile]:
        """Files as readers see them; a damage check sees them unchanged."""
        if self._surplus is None:
            kinds = _kinds_of_others(self._in_force()) if self._checked else set()
            self._surplus = surplus_in(self.folder, self._unseen, kinds)
        return [without_surplus(part, self._surplus) for part in parts_of(actions)]

    def _unseen(self, kind: str) -> list[StoredFile]:
        return parts_of(possible(self._in_force(), kind, ()))

    def sizes(self) -> list[tuple[str, str, int]]:
        """Kind, month and rows of each file in force."""
        columns = ("partition.kind", "partition.month", "num_records")
        return list(zip(*(self._in_force()[name].to_pylist() for name in columns), strict=True))

    def lines(self) -> dict[bytes, bytes]:
        """For the path of each file in force all that the log says of it."""
        actions = self._in_force()
        if self._lines is None:
            with self._told("read"):
                self._lines = lines_of(actions)
        return self._lines

    def _in_force(self) -> pa.Table:
        if self._behind:
            self.refresh()
        if self._actions is None:
            with self._told("read"):
                self._actions = pa.RecordBatchReader.from_stream(self._table.get_add_actions(flatten=True)).read_all()
            self._refuse_other_files()
        return self._actions

    def _refuse_other_files(self) -> None:
        """Refuse a view that has other files or other metadata than the last commit states."""
        told = self._last.in_force if self._last and self._checked else None
        if told is not None and told != digest_of(self.lines().values()):
            self._actions = None
            raise StoreError(
                say(
                    "{uri}: the table's log is damaged: the active files differ from those that commit {version} "
                    "states; see `store verify`",
                    uri=self.uri,
                    version=self.version,
                )
            )

    def refresh(self) -> None:
        """See what was committed since."""
        try:
            self._table.update_incremental()
        except FAILURES:
            with self._told("read"):
                self._table = DeltaTable(_location(self.uri))  # commits that it would read are in a checkpoint by now
        self._actions, self._lines, self._parts, self._behind, self._surplus = None, None, {}, False, None
        _refuse_newer_format(self.uri, self.format)
        self.refuse_damaged_commit()

    def commit(self, adds: list[AddAction], removes: list[RemoveAction]) -> None:
        """Commit files; CommitFailedError where anybody committed since this view: what was looked up may not hold now."""
        try:
            properties = self._properties(adds, removes)
        except (CommitFailedError, StoreError):
            for add in adds:
                self.folder.delete(add.path)
            raise
        before = self.version
        try:
            self._table.create_write_transaction(
                [*adds, *removes],
                "append",
                self._table.schema(),
                PARTITIONS,
                commit_properties=properties,
                # looking for commits that are too old takes as long as all the rest; see `clean`
                post_commithook_properties=PostCommitHookProperties(cleanup_expired_logs=False),
            )
        except FAILURES as error:
            self.refresh()
            mine, present = {add.path for add in adds}, {part.path for part in self.parts()}
            if mine & present:
                return  # it was committed, and what failed came after: a checkpoint, an answer
            for path in mine:
                self.folder.delete(path)
            if self.version == before:
                raise StoreError(
                    say("{uri}: the store cannot be written: {why}", uri=self.uri, why=reason(error))
                ) from error
            raise CommitFailedError(str(error)) from error
        self._behind = True

    def _properties(self, adds: Iterable[AddAction] = (), removes: Iterable[RemoveAction] = ()) -> CommitProperties:
        """Metadata of the next commit, which fails if another commit came first."""
        added, gone = {add.path.encode(): _line(add) for add in adds}, {remove.path.encode() for remove in removes}
        present = self.lines()
        if gone - set(present) or set(added) & set(present):
            raise CommitFailedError("the files in force are others than those that were looked at")
        after = {path: line for path, line in present.items() if path not in gone} | added
        facts: JsonObject = {
            **self.origin.as_metadata(),
            "adds": len(added),
            "removes": len(gone),
            IN_FORCE: digest_of(after.values()),
        }
        if self._last is not None:
            facts[PREVIOUS] = self._last.sha256
        return CommitProperties(custom_metadata=facts, max_commit_retries=0)

    def upgrade(self) -> None:
        """Give a store of an older version what this one has; its columns are added, no file is touched."""
        if self._current:
            return
        for change in self._missing():
            with self._told("write"):
                change(self._properties())
            self.refresh()
        self._current = True

    def _missing(self) -> list[Callable[[CommitProperties], None]]:
        """Changes still required in the table's description, a commit each."""
        present = {column.name for column in self._table.schema().fields}
        missing = [name for name in ROWS.names if name not in present]
        changes: list[Callable[[CommitProperties], None]] = []
        if missing:
            columns = Schema.from_arrow(pa.schema([ROWS.field(name) for name in missing])).fields
            changes.append(lambda facts: self._table.alter.add_columns(columns, commit_properties=facts))
        if self.format != FORMAT:
            changes += [
                lambda facts: self._table.alter.set_table_properties(PROPERTIES, commit_properties=facts),
                lambda facts: self._table.alter.set_table_description(_description(), commit_properties=facts),
            ]
        return changes

    def checkpoint(self) -> None:
        """Write what is in force into one file, so that opening reads few commits."""
        self._in_force()
        with self._told("write"):
            self._table.create_checkpoint()

    def clean(self) -> None:
        """Let Delta delete commits of more than 30 days ago, when there are so many that looking for them pays."""
        (old,) = self.folder.files.get_file_info([commit_path(max(0, self.version - MANY_COMMITS))])
        if old.mtime_ns is not None and old.mtime_ns // 1_000_000 < now_ms() - LOG_RETENTION_MS:
            with self._told("write"):
                self._table.cleanup_metadata()

    @contextmanager
    def _told(self, work: Literal["read", "write"]) -> Iterator[None]:
        """Errors of deltalake as ours; a conflicting commit is none."""
        try:
            yield
        except CommitFailedError:
            raise
        except FAILURES as error:
            told = (
                say("{uri}: the store cannot be read: {why}", uri=self.uri, why=reason(error))
                if work == "read"
                else say("{uri}: the store cannot be written: {why}", uri=self.uri, why=reason(error))
            )
            raise StoreError(told) from error

    def refuse_damaged_commit(self) -> None:
        """Refuse a table whose last commit is empty or cut off: Delta would open it, and miss what it said."""
        path = commit_path(self.version)
        try:
            self._last = read_commit(self.folder.content(path).to_pybytes())
            problem = self._last.problem
        except FileNotFoundError:
            self._last = None  # Delta found what it needs in a checkpoint
            return
        except OSError as error:
            problem = reason(error)
        if problem:
            raise StoreError(
                say("{uri}/{path}: {problem}; see `store verify`", uri=self.uri, path=path, problem=problem)
            )


CREATION_ATTEMPTS = 10
MANY_COMMITS = 100
LOG_RETENTION_MS = 30 * 86_400_000


def wait(attempt: int) -> None:
    """Step aside for other writers: longer each time, and not in step with them."""
    time.sleep(random.uniform(0, min(LONGEST_WAIT, 0.02 * (attempt + 1))))  # noqa: S311 -- no secret


def _kinds_of_others(actions: pa.Table) -> set[str]:
    """Kinds with a file of another program or an older version."""
    places = zip(actions["path"].to_pylist(), actions["partition.kind"].to_pylist(), strict=True)
    return {kind for path, kind in places if kind is not None and hash_in(path) is None}


def _line(add: AddAction) -> bytes:
    """The log's entry on a file that is added."""
    told = {
        "path": add.path,
        "partitionValues": add.partition_values,
        "size": add.size,
        "modificationTime": add.modification_time,
        "stats": add.stats,
    }
    return line_of(told, statistics_in(told))


def _description() -> str:
    return f"aoe-reports history, format {FORMAT}"


def _create(uri: str, place: str, origin: Origin) -> None:
    _refuse_other_folder(uri)
    try:
        DeltaTable.create(
            place,
            ROWS,
            mode="ignore",
            partition_by=PARTITIONS,
            name="aoe-reports",
            description=_description(),
            configuration=PROPERTIES,
            commit_properties=CommitProperties(custom_metadata={**origin.as_metadata(), IN_FORCE: digest_of(())}),
        )
    except CommitFailedError:
        return  # somebody else made it
    except (DeltaError, OSError) as error:
        raise StoreError(say("{uri}: the store cannot be created: {why}", uri=uri, why=reason(error))) from error


def _location(uri: str) -> str:
    """A folder's path or a URI, if Delta can keep a table there."""
    found = sorted(set(str(Path(uri).absolute())) & set(_UNFIT)) if "://" not in uri else []
    if found:
        raise StoreError(
            say(
                "{uri}: Delta cannot store a table in a path that contains {found}; expected a path without it",
                uri=uri,
                found=join(" ", found),
            )
        )
    if "://" not in uri and Path(uri).is_file():
        raise StoreError(say("{uri}: this is a file; expected a folder or a URI for the store", uri=uri))
    return uri


_UNFIT = "%[]\\"
"""Characters in a path at which delta-rs 1.6 panics or looks elsewhere (tried one by one)."""


def _files(place: str) -> fs.FileSystem:
    if "://" in place and not place.startswith("file://"):
        return object_store(place)
    path = place.removeprefix("file://")
    return fs.SubTreeFileSystem(str(Path(path).absolute()), fs.LocalFileSystem())


def _refuse_newer_format(uri: str, written: int | None) -> None:
    if written is None:
        raise ForeignStoreError(say("{uri}: this is some other Delta table; expected a store of aoe-reports", uri=uri))
    if written > FORMAT:
        raise ForeignStoreError(
            say(
                "{uri}: this store has format {written}, but this version of aoe-reports reads up to {known}; a "
                "newer version of aoe-reports is needed",
                uri=uri,
                written=written,
                known=FORMAT,
            )
        )


def _why_not_there(uri: str) -> str:
    try:
        if "://" not in uri and (Path(uri) / "_delta_log").is_dir():
            list((Path(uri) / "_delta_log").iterdir())
    except OSError as error:
        return say("the store cannot be opened: {why}", why=reason(error))
    return say("the store does not exist; expected one created by `aoe-reports ingest` or `nightly`")


def _refuse_other_folder(uri: str) -> None:
    try:
        if "://" not in uri and Path(uri).is_dir() and {path.name for path in Path(uri).iterdir()} - {"_delta_log"}:
            raise StoreError(
                say("{uri}: this folder is not empty and is not a store; expected an empty or a new folder", uri=uri)
            )
    except OSError as error:
        raise StoreError(say("{uri}: the store cannot be created: {why}", uri=uri, why=reason(error))) from error
