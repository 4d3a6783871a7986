"""Files in an object store, through the clients that Delta's library has: those of the store, and partial results."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any, Literal

import pyarrow as pa
from deltalake.exceptions import DeltaError
from deltalake.fs import DeltaStorageHandler
from pyarrow import fs

from aoe_reports.model.classes import record
from aoe_reports.model.errors import AoeReportsError
from aoe_reports.model.texts import say

FAILURES = (DeltaError, OSError, ValueError, pa.ArrowException)
"""What Delta's library and Arrow raise where they cannot do what is asked for, or not with what lies there."""


class _Handler(DeltaStorageHandler):  # type: ignore[misc] # deltalake's class has no types
    """Delta's handler, which takes bytes, for pyarrow, which gives buffers."""

    def open_output_stream(self, path: str, metadata: dict[str, str] | None = None) -> pa.PythonFile:
        return pa.PythonFile(_TakesBuffers(self._handler.open_output_stream(path, metadata)), mode="w")

    def put(self, path: str, data: bytes) -> None:
        """Write an object. It is there when its upload is complete: what is not closed never is."""
        stream = self._handler.open_output_stream(path, None)
        stream.write(data)
        stream.close()

    def get(self, path: str, most: int) -> bytes:
        """The bytes of an object, if they are not more than so many. ValueError where they are."""
        stream = self._handler.open_input_file(path)
        if stream.size() > most:
            raise ValueError(path)
        return bytes(stream.read())


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


@cache
def _handler(uri: str) -> _Handler:
    return _Handler(uri)


@cache
def _refuse_nowhere(uri: str) -> None:
    """Raise where nothing can be listed: a bucket that does not exist answers as an object that does not."""
    _list(uri, "")


def _list(uri: str, folder: str) -> list[fs.FileInfo]:
    found: list[fs.FileInfo] = _handler(uri).get_file_info_selector(fs.FileSelector(folder, allow_not_found=True))
    return found


@record
class Objects:
    """Objects below a URI, as a place of partial results."""

    uri: str

    def read(self, name: str, most: int) -> bytes | None:
        """The bytes of an object; None where there is none, or a larger one. AoeReportsError where it cannot be told."""
        with self._told("read"):
            try:
                return _handler(self.uri).get(name, most)
            except FileNotFoundError:
                _refuse_nowhere(self.uri)
            except ValueError:
                return None
        return None

    def write(self, name: str, data: bytes) -> None:
        """Write an object, whole or not at all; one whose acknowledgement was lost has been written."""
        with self._told("write"):
            try:
                _handler(self.uri).put(name, data)
            except FAILURES:
                with suppress(*FAILURES):
                    if _handler(self.uri).get(name, len(data)) == data:
                        return
                raise

    def names(self, folder: str) -> set[str]:
        """The names of the objects in a folder; none where there is none."""
        with self._told("read"):
            return {one.base_name for one in _list(self.uri, folder) if one.type == fs.FileType.File}

    @contextmanager
    def _told(self, work: Literal["read", "write"]) -> Iterator[None]:
        """What the library raises as an error of ours."""
        try:
            yield
        except FAILURES as error:
            told = (
                say("{path}: cannot be read: {why}", path=self.uri, why=reason(error))
                if work == "read"
                else say("{path}: cannot be written: {why}", path=self.uri, why=reason(error))
            )
            raise AoeReportsError(told) from error


def reason(error: BaseException) -> str:
    """The first line of what an error says; of Delta's, which tell their causes in a tree, the last cause, too.

    What a server answered is named by its code alone: the rest of it may tell more of credentials than a log should have.
    """
    if isinstance(error, OSError) and error.errno:
        return os.strerror(error.errno)
    text = str(error)
    first, *others = text.splitlines() or [type(error).__name__]
    causes = _CODE.findall(text) or [_ESCAPES.sub("", line).strip(" ↳") for line in others if "↳" in line]
    return ": ".join([first[:300], *causes[-1:]])


_CODE = re.compile(r"<Code>(\w{1,80})</Code>")
_ESCAPES = re.compile(r"\x1b\[[0-9;]*m")
