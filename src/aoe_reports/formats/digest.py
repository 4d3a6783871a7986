"""The SHA-256 of a file: two files of the same bytes are one, whatever they are called."""

from __future__ import annotations

import hashlib
from pathlib import Path

from aoe_reports.model.errors import ReadError
from aoe_reports.model.texts import say


def sha256_of(path: Path, expected: str) -> str:
    """The hash of a file's bytes; ReadError, saying what was expected, where it cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ReadError(
            path, error.strerror or str(error), say("{expected} was expected", expected=expected)
        ) from error
