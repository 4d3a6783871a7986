"""Parts: the Parquet files of the store. Page checksums inside, the hash of the whole in the name: no damage is silent."""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from deltalake.transaction import AddAction, RemoveAction
from pyarrow import fs

from aoe_reports.model.arrays.columns import scalar
from aoe_reports.model.documents import JsonObject
from aoe_reports.model.errors import StoreError, reason
from aoe_reports.model.texts import say
from aoe_reports.store.conditions import AnyOf, Where, alternatives, columns_of, matching, may_hold, undecided
from aoe_reports.store.layout import PARTITIONS, ROWS
from aoe_reports.store.usable import only_usable

BOUNDED = ("run_id", "timestamp_ns", "night", "model")
"""Columns whose least and greatest value stand in the table's log: a query opens only the files that may hold it."""

LONGEST_BOUND = 64
ROW_GROUP = 8192
CODEC = "snappy"
"""Every reader knows it; a file is a fifth larger than with zstd and read in two thirds of the time."""

_MERGED = "merged"
_NAME = re.compile(rf"(?:part|{_MERGED})-[0-9a-f]{{32}}-(?P<hash>[0-9a-f]{{64}})\.parquet")


def hash_in(path: str) -> str | None:
    """The hash in the name of a file; None where some other program wrote it."""
    name = _NAME.fullmatch(path.rpartition("/")[2])
    return None if name is None else name["hash"]


@dataclass(frozen=True, slots=True)
class StoredFile:
    """One file of the table, as its log knows it."""

    path: str
    kind: str
    month: str
    rows: int
    size: int
    modified_ms: int
    bounds: dict[str, tuple[Any, Any]]
    nulls: dict[str, int | None]
    """Rows of each bounded column that have no value, as far as it is known."""
    surplus: frozenset[str] = frozenset()
    """Runs whose rows other files have already: readers leave out the rows of this file (see `store.surplus`)."""

    @property
    def hash(self) -> str | None:
        """The hash in its name; None where some other program wrote it."""
        return hash_in(self.path)

    @property
    def merged(self) -> bool:
        """Whether compaction wrote it."""
        return self.path.rpartition("/")[2].startswith(_MERGED)

    def may_hold(self, where: Where) -> bool:
        """Whether any row may fit."""
        return may_hold(where, self.bounds)

    def undecided(self, where: Where) -> list[AnyOf]:
        """What has to be asked of its rows."""
        return undecided(where, {name: ends for name, ends in self.bounds.items() if self.nulls[name] == 0})

    def removal(self, *, data_change: bool = True) -> RemoveAction:
        """What takes it out of the table; the file stays until vacuum."""
        values: dict[str, str | None] = {"kind": self.kind, "month": self.month}
        return RemoveAction(
            self.path, data_change=data_change, deletion_timestamp=now_ms(), size=self.size, partition_values=values
        )


@dataclass(frozen=True, slots=True)
class NewFile:
    """Rows of one kind and month that become one file."""

    kind: str
    month: str
    rows: pa.Table
    merged: bool = False


@dataclass(frozen=True, slots=True)
class Folder:
    """The files below a store, on a disk or in an object store."""

    uri: str
    files: fs.FileSystem

    def write(self, pieces: Iterable[NewFile], *, data_change: bool = True) -> list[AddAction]:
        """Write new files; what makes them parts of the table is a commit. None stays where one cannot be written."""
        written: list[AddAction] = []
        try:
            for piece in pieces:
                content = _parquet(piece.rows)
                path = _path_for(piece, content)
                # unescaped: Delta's reader takes escaped pairs of surrogates for other letters
                stats = json.dumps(statistics_of(piece.rows), ensure_ascii=False)
                values: dict[str, str | None] = {"kind": piece.kind, "month": piece.month}
                written.append(AddAction(path, content.size, values, now_ms(), data_change, stats))
                self._write(path, content)
        except BaseException:  # Ctrl-C, too: what no commit names is nobody's
            for add in written:
                self.delete(add.path)
            raise
        return written

    def _write(self, path: str, content: pa.Buffer) -> None:
        try:
            self.files.create_dir(path.rpartition("/")[0], recursive=True)
            with self.files.open_output_stream(path) as file:
                file.write(content)
        except OSError as error:
            raise StoreError(
                say("{uri}: the store cannot be written: {why}", uri=self.uri, why=reason(error))
            ) from error

    def delete(self, path: str) -> bool:
        """Delete a file, if it can be."""
        with contextlib.suppress(OSError):
            self.files.delete_file(path)
            return True
        return False

    def read(self, part: StoredFile, columns: Sequence[str], where: Where = (), *, coded: bool = False) -> pa.Table:
        """Rows of a part that fit and can be used, the others are left out aloud; `coded` gives texts as dictionaries."""
        return only_usable(self.read_all(part, columns, where, coded=coded), part.kind, f"{self.uri}/{part.path}")

    def read_all(self, part: StoredFile, columns: Sequence[str], where: Where = (), *, coded: bool = False) -> pa.Table:
        """Rows of a part that fit, those that nobody can use among them."""
        names = columns if not part.surplus or _RUN in columns else [*columns, _RUN]
        with self._told(part):
            rows = _rows_of(pa.BufferReader(self._whole(part)), part, names, where, coded=coded)
        return _without_surplus(rows, part).select(columns) if part.surplus else rows

    def read_checked(self, part: StoredFile, *, surplus: bool = False) -> pa.Table:
        """All rows of a part, texts as dictionaries; with `surplus` also those that readers leave out."""
        with self._told(part):
            rows = _all_of(pa.BufferReader(self._whole(part)), part)
        return rows if surplus or not part.surplus else _without_surplus(rows, part)

    def _whole(self, part: StoredFile) -> pa.Buffer:
        """All bytes of a part, if they match the hash in its name.

        Page checksums do not cover where a column begins, the rows of a group, and its bounds.
        """
        content = self.content(part.path)
        if part.hash not in {None, hashlib.sha256(content).hexdigest()}:
            raise StoreError(
                say(
                    "{uri}/{path}: the content differs from what was written; see `store verify`",
                    uri=self.uri,
                    path=part.path,
                )
            )
        return content

    @contextlib.contextmanager
    def _told(self, part: StoredFile) -> Iterator[None]:
        """A failure to read a part as one of our errors."""
        try:
            yield
        except (OSError, ValueError, pa.ArrowException) as error:
            raise StoreError(
                say(
                    "{uri}/{path}: a file of the store cannot be read: {why}",
                    uri=self.uri,
                    path=part.path,
                    why=reason(error),
                )
            ) from error

    def content(self, path: str) -> pa.Buffer:
        """All bytes of a file."""
        with self.files.open_input_file(path) as file:
            return file.read_buffer()

    def listed(self, folder: str = "") -> list[fs.FileInfo]:
        """Every file below a folder, in the order of their paths; nothing where there is no such folder."""
        try:
            found = self.files.get_file_info(fs.FileSelector(folder, recursive=True, allow_not_found=True))
        except OSError as error:
            raise StoreError(say("{uri}: the store cannot be read: {why}", uri=self.uri, why=reason(error))) from error
        return sorted((info for info in found if info.type == fs.FileType.File), key=lambda info: info.path)


_RUN = "run_id"


def _without_surplus(rows: pa.Table, part: StoredFile) -> pa.Table:
    gone = pc.is_in(rows[_RUN].cast(pa.string()), pa.array(sorted(part.surplus), pa.string()))
    return rows.filter(pc.invert(gone))


def _parquet(rows: pa.Table) -> pa.Buffer:
    """Rows as a Parquet file without empty columns, which readers of Delta add as null."""
    buffer = pa.BufferOutputStream()
    left_out = {name for name in rows.column_names if rows[name].null_count == rows.num_rows} | set(PARTITIONS)
    kept = rows.select([name for name in rows.column_names if name not in left_out])
    schema = pa.schema([(field.name, _plain_type(field.type)) for field in kept.schema])
    with pq.ParquetWriter(buffer, schema, compression=CODEC, write_page_checksum=True, store_schema=False) as writer:
        for start in range(0, kept.num_rows, ROW_GROUP):
            # texts of some rows at a time: a dictionary would be written whole with each of the groups
            writer.write_table(kept.slice(start, ROW_GROUP).cast(schema))
    return buffer.getvalue()


def _path_for(piece: NewFile, content: pa.Buffer) -> str:
    lead = _MERGED if piece.merged else "part"
    name = f"{lead}-{uuid.uuid4().hex}-{hashlib.sha256(content).hexdigest()}.parquet"
    return f"kind={piece.kind}/month={piece.month}/{name}"


def _rows_of(source: Any, part: StoredFile, columns: Sequence[str], where: Where, *, coded: bool) -> pa.Table:
    """The rows that fit, each column as ROWS says; `coded` gives texts as dictionaries."""
    where = part.undecided(where)
    asked = columns_of(where)
    file = pq.ParquetFile(source, page_checksum_verification=True)
    stored = file.schema_arrow.names
    present = [name for name in stored if name in asked or name in columns]
    if where or coded:  # words by number are cut down to the rows that fit in half the time
        file = _coded(file, source, present)
    groups = [group for group in range(file.num_row_groups) if may_hold(where, _bounds_of(file, group, where))]
    read = file.read_row_groups(groups, columns=present, use_threads=False)
    for name in asked - set(present):
        read = read.append_column(name, _column(read, part, name))
    read = matching(read, where) if where else read
    return _as_asked(read, part, columns, _CODED_KINDS if coded else _KINDS)


def _as_asked(read: pa.Table, part: StoredFile, columns: Sequence[str], kinds: Mapping[str, pa.DataType]) -> pa.Table:
    """The columns in the requested order; selecting each by name from Arrow costs more than reading it."""
    held = {field.name: (field.type, column) for field, column in zip(read.schema, read.columns, strict=True)}
    made = []
    for name in columns:
        kind, column = held.get(name, (None, None))
        as_it_is = kind is not None and kind == kinds.get(name, kind)
        made.append(column if as_it_is else _column(read, part, name).cast(kinds[name]))
    return pa.Table.from_arrays(made, names=list(columns))


_KINDS = {field.name: field.type for field in ROWS}
_CODED_KINDS = {
    name: pa.dictionary(pa.int32(), kind) if pa.types.is_string(kind) else kind for name, kind in _KINDS.items()
}


def _all_of(source: Any, part: StoredFile) -> pa.Table:
    file = pq.ParquetFile(source, page_checksum_verification=True)
    read = _coded(file, source, file.schema_arrow.names).read(use_threads=False)
    for name in PARTITIONS:
        read = read.append_column(name, _column(read, part, name).dictionary_encode())
    return read


def _coded(file: pq.ParquetFile, source: Any, names: Sequence[str]) -> pq.ParquetFile:
    """The same file with dictionary-encoded texts."""
    coded = [name for name in names if name in _TEXTS]
    return pq.ParquetFile(source, metadata=file.metadata, page_checksum_verification=True, read_dictionary=coded)


def _column(read: pa.Table, part: StoredFile, name: str) -> Any:
    """A column as ROWS declares it; a missing one comes from the partition, or is null."""
    kind = ROWS.field(name).type if name in ROWS.names else read.schema.field(name).type
    if name in PARTITIONS:
        return pa.repeat(scalar(getattr(part, name)), read.num_rows)
    if name not in read.column_names:
        return pa.nulls(read.num_rows, kind)
    return read[name] if read.schema.field(name).type == kind else read[name].cast(kind)


_TEXTS = frozenset(field.name for field in ROWS if pa.types.is_string(field.type))


def _bounds_of(file: pq.ParquetFile, group: int, where: Where) -> dict[str, tuple[Any, Any]]:
    """The bounds of a row group's columns that the conditions use."""
    asked = columns_of(where)
    if not asked:
        return {}
    found = {}
    held = file.metadata.row_group(group)
    for index, name in enumerate(file.schema_arrow.names):
        if name in asked:
            known = held.column(index).statistics
            if known is not None and known.has_min_max:
                found[name] = (known.min, known.max)
    return found


class Statistics(TypedDict):
    """What the log says of the rows of a part, as Delta names it."""

    numRecords: int
    minValues: JsonObject
    maxValues: JsonObject
    nullCount: dict[str, int]


def statistics_of(rows: pa.Table) -> Statistics:
    """What the log says of a part: its rows, and the bounds of a few columns."""
    least: JsonObject = {}
    most: JsonObject = {}
    present = [name for name in BOUNDED if name in rows.column_names]
    for name in present:
        ends = pc.min_max(_plain(rows[name])).as_py()
        longest = max(len(str(ends["min"])), len(str(ends["max"])))
        if ends["min"] is not None and longest <= LONGEST_BOUND:
            least[name], most[name] = ends["min"], ends["max"]
    nulls = {name: rows[name].null_count for name in present}
    return {"numRecords": rows.num_rows, "minValues": least, "maxValues": most, "nullCount": nulls}


def _plain(values: Any) -> Any:
    """The distinct values of a dictionary column; another column unchanged."""
    return pc.unique(values).cast(_plain_type(values.type)) if pa.types.is_dictionary(values.type) else values


def _plain_type(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def possible(actions: pa.Table, kind: str | None, where: Where) -> pa.Table:
    """The add actions of one kind, without most of those that cannot hold what is asked for: thousands become few at once."""
    if kind is not None:
        actions = actions.filter(pc.equal(actions["partition.kind"], scalar(kind)))
    for choice in alternatives(where):
        for condition in choice if len(choice) == 1 else ():
            least, most, value = f"min.{condition.column}", f"max.{condition.column}", scalar(condition.value)
            if least in actions.column_names and condition.sign in {"=", ">="}:
                actions = actions.filter(_may_fit(actions[most], pc.greater_equal(actions[most], value)))
            if least in actions.column_names and condition.sign in {"=", "<="}:
                actions = actions.filter(_may_fit(actions[least], pc.less_equal(actions[least], value)))
    return actions


def _may_fit(bounds: Any, fits: Any) -> Any:
    """What fits, or has an unknown bound."""
    return pc.or_kleene(pc.is_null(bounds), fits)


def parts_of(actions: pa.Table) -> list[StoredFile]:
    """The log's add actions as parts, in a stable order."""
    bounds = [name for name in BOUNDED if f"min.{name}" in actions.column_names]
    rows = actions.select(
        [
            "path", "partition.kind", "partition.month", "num_records", "size_bytes", "modification_time",
            *(f"{fact}.{name}" for name in bounds for fact in ("min", "max", "null_count")),
        ]
    )  # fmt: skip
    columns = [column.to_pylist() for column in rows.columns]
    parts = [
        StoredFile(
            path=path,
            kind=kind,
            month=month,
            rows=count or 0,
            size=size,
            modified_ms=(modified if isinstance(modified, int) else int(modified.timestamp() * 1000)),
            bounds=dict(zip(bounds, zip(told[::3], told[1::3], strict=True), strict=True)),
            nulls=dict(zip(bounds, told[2::3], strict=True)),
        )
        for path, kind, month, count, size, modified, *told in zip(*columns, strict=True)
    ]
    return sorted(parts, key=lambda part: (part.kind or "", part.month or "", part.path))


def now_ms() -> int:
    """Now, as Delta's log counts; nothing that is printed depends on it."""
    return time.time_ns() // 1_000_000
