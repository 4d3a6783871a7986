"""Files in an object store through the client that Delta's library has: those of the store."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from deltalake.exceptions import DeltaError
from deltalake.fs import DeltaStorageHandler
from pyarrow import fs

FAILURES = (DeltaError, OSError, ValueError, pa.ArrowException)
"""What Delta's library and Arrow raise where they cannot do what is asked for, or not with what lies there."""


class _Handler(DeltaStorageHandler):  # type: ignore[misc] # deltalake's class has no types
    """Delta's handler, which takes bytes, for pyarrow, which gives buffers."""

    def open_output_stream(self, path: str, metadata: dict[str, str] | None = None) -> pa.PythonFile:
        return pa.PythonFile(_TakesBuffers(self._handler.open_output_stream(path, metadata)), mode="w")


class _TakesBuffers:
    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, data: Any) -> int:
        return int(self._stream.write(bytes(data)))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def object_store(uri: str) -> fs.FileSystem:
    """The files below a URI that Delta's library knows; credentials come from the environment."""
    return fs.PyFileSystem(_Handler(uri))
