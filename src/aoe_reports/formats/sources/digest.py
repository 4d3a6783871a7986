"""The SHA-256 of a file: two files of the same bytes are one, whatever they are called."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from aoe_reports.model.errors import ReadError
from aoe_reports.model.texts import say


def sha256_of(path: Path, expected: str) -> str:
    """The hash of a file's bytes; ReadError, saying what was expected, where it cannot be read."""
    import hashlib  # noqa: PLC0415 -- commands that rank or check hash nothing

    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ReadError(
            path, error.strerror or str(error), say("{expected} was expected", expected=expected)
        ) from error


def sha256_from(begin: bytes) -> Any:
    """A hash of the first bytes of a file, which those that follow are put into."""
    import hashlib  # noqa: PLC0415 -- as above

    return hashlib.sha256(begin)
