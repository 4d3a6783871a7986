"""The compiled reader (`native/`), where it was built for this machine, and columns in its memory, which Arrow takes as they are."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from ctypes import POINTER, c_bool, c_char_p, c_int, c_int64, c_size_t, c_uint64, c_void_p
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa

from aoe_reports.model.arrays.columns import Ints

LIBRARY = Path(__file__).with_name("libreader.so")
_VERSION = 9
"""Of the structures that both sides know: a library of another one is not used."""


class Buffer(ctypes.Structure):
    """Where a column is in memory."""

    _fields_ = (
        ("values", c_void_p),
        ("bytes", c_uint64),
        ("ends", c_void_p),
        ("there", c_void_p),
        ("there_bytes", c_uint64),
        ("rows", c_uint64),
        ("nulls", c_uint64),
    )


@cache
def library() -> ctypes.CDLL | None:
    """The compiled reader; None where it was not built for this machine."""
    try:
        found = ctypes.CDLL(str(LIBRARY))
        found.reader_version.restype = c_uint64
        if found.reader_version() != _VERSION:
            return None
    except (OSError, AttributeError):
        return None
    found.timeline_glance.argtypes = [c_int, POINTER(c_uint64), c_size_t, POINTER(c_void_p)]
    found.timeline_glance.restype = None
    found.reading_open.argtypes = [
        c_int, POINTER(c_uint64), c_size_t, c_char_p, c_size_t, c_size_t, c_size_t, c_bool, c_bool, POINTER(c_int64),
    ]  # fmt: skip
    found.reading_open.restype = c_void_p
    found.reading_next.argtypes = [c_void_p, c_void_p]
    found.reading_next.restype = None
    found.reading_close.argtypes = [c_void_p]
    found.reading_close.restype = None
    found.batch_buffers.argtypes = [c_void_p, POINTER(Buffer), c_size_t]
    found.batch_buffers.restype = c_size_t
    found.batch_free.argtypes = [c_void_p]
    found.batch_free.restype = None
    found.slices_timed.argtypes = [c_size_t, c_void_p, POINTER(c_void_p), c_void_p]
    found.slices_timed.restype = c_bool
    return found


def time_slices(columns: Sequence[Ints], floor: Ints | None, ends: Ints) -> bool:
    """Write into `ends` when slices end; without `floor`, how late they may, of which `ends` tells what is known before.

    The columns are length, before, before_ns, cause, cause_ns. False where the library is not there, or no whole number holds a time.
    """
    compiled = library()
    if compiled is None:
        return False
    held = [np.ascontiguousarray(column, dtype=np.int64) for column in columns]
    places = (c_void_p * len(held))(*(column.ctypes.data for column in held))
    first = None if floor is None else np.ascontiguousarray(floor, dtype=np.int64)
    assert all(len(column) == len(ends) for column in (*held, *([] if first is None else [first])))
    return bool(
        compiled.slices_timed(len(ends), None if first is None else first.ctypes.data, places, ends.ctypes.data)
    )


def buffer_at(address: int | None, size: int, owner: object) -> pa.Buffer:
    """Memory of the library, which is there for as long as its owner is."""
    return pa.foreign_buffer(address, size, owner) if size else pa.py_buffer(b"")


def there_in(buffer: Buffer, owner: object) -> pa.Buffer | None:
    """Which rows of a column have a value; None where all have."""
    return buffer_at(buffer.there, buffer.there_bytes, owner) if buffer.nulls else None


def texts_in(buffer: Buffer, owner: object) -> pa.Array:
    ends = buffer_at(buffer.ends, 4 * (buffer.rows + 1), owner)
    data = buffer_at(buffer.values, buffer.bytes, owner)
    return pa.Array.from_buffers(pa.string(), buffer.rows, [there_in(buffer, owner), ends, data])
