"""Where partial results are kept, small files each of which is written whole or not at all: a folder, or an object store."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Literal, Protocol

from aoe_reports.engine.output import write_among
from aoe_reports.formats.sources.bucket import folder_in, put, refuse_credentials, whole_of
from aoe_reports.formats.sources.objects import ObjectPath, path_of
from aoe_reports.model.classes import record
from aoe_reports.model.errors import AoeReportsError, UsageError
from aoe_reports.model.texts import say


class PartialFiles(Protocol):
    """Files by names such as `ab/abc.json.gz`, in folders one deep."""

    def read(self, name: str, most: int) -> bytes | None:
        """The bytes of a file; None where there is none, or one of more bytes."""
        ...

    def write(self, name: str, data: bytes) -> None:
        """Write a file, whole or not at all. Raises AoeReportsError."""
        ...

    def names(self, folder: str) -> set[str]:
        """The names of the files in a folder; none where there is none."""
        ...


@record
class Folder:
    """Files below a folder, which is made when something is kept."""

    path: Path

    def read(self, name: str, most: int) -> bytes | None:
        """The bytes of a file; None where it cannot be read, or has more."""
        place = self.path / name
        try:
            if not place.is_file():  # a pipe would be waited for, a device has no end
                return None
            with place.open("rb") as file:
                return file.read() if os.fstat(file.fileno()).st_size <= most else None
        except OSError:
            return None

    def write(self, name: str, data: bytes) -> None:
        """Write a file, whole or not at all."""
        place = self.path / name
        try:
            write_among(place, data)
        except OSError as error:
            raise AoeReportsError(
                say("{path}: cannot be written: {why}", path=place, why=error.strerror or error)
            ) from error

    def names(self, folder: str) -> set[str]:
        """The names of the files in a folder; none where it cannot be read."""
        try:
            with os.scandir(self.path / folder) as entries:
                return {entry.name for entry in entries if entry.is_file()}
        except OSError:
            return set()


@record
class Objects:
    """Objects below a URI, as a place of partial results."""

    uri: str

    def read(self, name: str, most: int) -> bytes | None:
        """The bytes of an object; None where there is none, or a larger one. AoeReportsError where it cannot be told."""
        with self._told("read"):
            try:
                return whole_of(self._root, self._key(name), most)
            except FileNotFoundError:
                _refuse_nowhere(self._root, self._key(""))
        return None

    def write(self, name: str, data: bytes) -> None:
        """Write an object, whole or not at all."""
        with self._told("write"):
            put(self._root, self._key(name), data)

    def names(self, folder: str) -> set[str]:
        """The names of the objects in a folder; none where there is none."""
        with self._told("read"):
            return {one.key.rpartition("/")[2] for one in folder_in(self._root, self._key(folder))[0]}

    @property
    def _root(self) -> str:
        scheme, _, rest = self.uri.partition("://")
        return f"{scheme}://{rest.partition('/')[0]}"

    def _key(self, name: str) -> str:
        prefix = self.uri.partition("://")[2].partition("/")[2]
        return "/".join(filter(None, [*prefix.split("/"), name]))

    @contextmanager
    def _told(self, work: Literal["read", "write"]) -> Iterator[None]:
        """What the client raises as an error of ours."""
        try:
            yield
        except OSError as error:
            told = (
                say("{path}: cannot be read: {why}", path=self.uri, why=error.strerror)
                if work == "read"
                else say("{path}: cannot be written: {why}", path=self.uri, why=error.strerror)
            )
            raise AoeReportsError(told) from None


@cache
def _refuse_nowhere(root: str, prefix: str) -> None:
    """Raise where nothing can be listed: a bucket that does not exist answers as an object that does not."""
    folder_in(root, prefix)


def place_of(where: str | os.PathLike[str]) -> PartialFiles:
    """The place at a folder's path or a URI that the store knows, too. UsageError for one that holds credentials."""
    text = os.fspath(where)
    if not text:
        raise UsageError(say("no folder or URI for partial results: the text is empty"))
    bucket = path_of(text)
    if not isinstance(bucket, ObjectPath) and ("://" not in text or text.startswith("file://")):
        return Folder(path=Path(text.removeprefix("file://")).absolute())  # other processes have folders of their own
    refuse_credentials(text)
    return Objects(uri=str(bucket) if isinstance(bucket, ObjectPath) else text)
