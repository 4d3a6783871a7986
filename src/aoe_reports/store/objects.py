"""Files in an object store, through the clients that Delta's library has."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from deltalake.fs import DeltaStorageHandler
from pyarrow import fs


class _Objects(DeltaStorageHandler):  # type: ignore[misc] # deltalake's class has no types
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
    return fs.PyFileSystem(_Objects(uri))
