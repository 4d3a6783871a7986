"""Where partial results are kept, small files each of which is written whole or not at all: a folder, or an object store."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Protocol

from aoe_reports.engine.output import write_among
from aoe_reports.model.classes import record
from aoe_reports.model.errors import AoeReportsError, UsageError
from aoe_reports.model.texts import say


class Place(Protocol):
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
        try:
            with (self.path / name).open("rb") as file:
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


def place_of(where: str | os.PathLike[str]) -> Place:
    """The place at a folder's path or a URI that the store knows, too. UsageError for one that holds credentials."""
    text = os.fspath(where)
    if "://" not in text or text.startswith("file://"):
        return Folder(path=Path(text.removeprefix("file://")))
    refuse_credentials(text)
    from aoe_reports.engine.objects import Objects  # noqa: PLC0415 -- who keeps nothing, or in a folder, needs no client

    return Objects(uri=text)


def refuse_credentials(uri: str) -> None:
    """UsageError for a URI with a password or a query that may sign: it stands in process lists, histories of shells and errors."""
    if _NOT_SHOWN.search(uri):
        raise UsageError(say("a URI here has a password or a query; expected credentials in the environment"))


def refuse_credentials_in_path(path: str) -> None:
    """The same for the path that becomes of a URI: `s3:/…`, where it is absolute behind the working folder."""
    found = _URI_AS_PATH.search(path)
    if found:
        refuse_credentials(f"s3://{found[1]}")


_NOT_SHOWN = re.compile(r"://[^@]*:[^@]*@|\?")
_URI_AS_PATH = re.compile(r"(?:^|/)s3a?:/+(.*)", re.IGNORECASE | re.DOTALL)
