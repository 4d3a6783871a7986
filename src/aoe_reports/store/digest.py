"""What is in force after a commit, as one digest: it stands in the commit, and every view of the table is held against it.

Delta's log is JSON and Parquet without checksums: one changed letter hides or doubles rows in every reader. A digest of
what is to be in force sees it wherever it happened: in any commit, in a checkpoint, or in what Delta made of them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from aoe_reports.model.arrays.columns import scalar
from aoe_reports.model.documents import JsonObject
from aoe_reports.store.layout import PARTITIONS
from aoe_reports.store.parts import BOUNDED

FORM = "1:"
"""What a digest begins with; one of another form says nothing to this version. It belongs to the names below."""

_IN_THE_LOG = {"size_bytes": "size", "modification_time": "modificationTime", "num_records": "numRecords"}
_IN_STATISTICS = {"min": "minValues", "max": "maxValues", "null_count": "nullCount"}
_NAMES = (
    "path", *(f"partition.{name}" for name in PARTITIONS), *_IN_THE_LOG,
    *(f"{fact}.{name}" for name in BOUNDED for fact in _IN_STATISTICS),
)  # fmt: skip
"""All that the log says of a file and a reader goes by, as a view of the table names it."""

_BETWEEN, _NOTHING = "\x1f", "\0"


def digest_of(lines: Iterable[bytes]) -> str:
    """The digest of files in force, in whichever order they come."""
    return FORM + hashlib.sha256(b"\n".join(sorted(lines))).hexdigest()


def lines_of(actions: pa.Table) -> dict[bytes, bytes]:
    """For the path of each file in a view of the table a line of all that is said of it."""
    if not actions.num_rows:
        return {}
    texts = [_text(actions, name) for name in _NAMES]
    between = scalar(_BETWEEN)
    joined = pc.binary_join_element_wise(*texts, between, null_handling="replace", null_replacement=_NOTHING)
    # as bytes: what a damaged log holds need not be text
    return dict(zip(_bytes(actions["path"]), _bytes(joined), strict=True))


def line_of(add: JsonObject, statistics: JsonObject) -> bytes:
    """The same line of an `add` as it stands in a commit; TypeError, KeyError or AttributeError where it says nothing that makes sense."""
    partitions: Any = add["partitionValues"]
    bounds: Any = statistics
    facts = {
        **{name: add.get(key, statistics.get(key)) for name, key in _IN_THE_LOG.items()},
        **{f"partition.{name}": value for name, value in partitions.items()},
        **{
            f"{fact}.{name}": value
            for fact, key in _IN_STATISTICS.items()
            for name, value in (bounds.get(key) or {}).items()
        },
        "path": add["path"],
    }
    told = (facts.get(name) for name in _NAMES)
    return _BETWEEN.join(_NOTHING if fact is None else str(fact) for fact in told).encode()


def _text(actions: pa.Table, name: str) -> Any:
    if name not in actions.column_names:
        return pa.nulls(actions.num_rows, pa.string())
    column = actions[name]
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("ms")).cast(pa.int64())
    return column if pa.types.is_string(column.type) else column.cast(pa.string())


def _bytes(column: Any) -> list[bytes]:
    found: list[bytes] = column.cast(pa.binary()).to_pylist()
    return found
