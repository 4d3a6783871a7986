"""Compressed files: expanded into a temporary file, no further than allowed."""

from __future__ import annotations

import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from aoe_reports.errors import ReadError
from aoe_reports.findings import Finding
from aoe_reports.readers.identify import FoundFile
from aoe_reports.texts import say

_BLOCK = 1 << 20
_GZIP = 31


@contextmanager
def expanded(file: FoundFile) -> Iterator[tuple[Path, Finding | None]]:
    """(a path where the plain content lies, why nothing of it can be used); the file itself where it is plain."""
    if not file.name.packed:
        yield file.path, None
        return
    with tempfile.NamedTemporaryFile(suffix=f".{file.name.form}") as plain:
        try:
            wrong = _expand(file, plain)
        except OSError as error:
            expected = say("a readable .gz file was expected")
            raise ReadError(file.path, error.strerror or str(error), expected) from error
        plain.flush()
        yield Path(plain.name), wrong


def _expand(file: FoundFile, plain: IO[bytes]) -> Finding | None:
    """Write the plain content; what is wrong with the compressed one, if anything."""
    written = 0
    with file.path.open("rb") as packed:
        expander = zlib.decompressobj(wbits=_GZIP)
        pending = packed.read(_BLOCK)
        while pending:
            try:
                data = expander.decompress(pending, _BLOCK)
            except zlib.error as error:
                message = say("this cannot be expanded ({error}); nothing of it is used", error=str(error))
                return _wrong(file, "gzip-damaged", message)
            written += len(data)
            if written > file.max_expanded:
                message = say(
                    "expands to more than {limit} bytes; nothing of it is used (see --max-expanded)",
                    limit=file.max_expanded,
                )
                return _wrong(file, "expanded-too-large", message)
            plain.write(data)
            pending = expander.unconsumed_tail
            if expander.eof:
                pending = (expander.unused_data or packed.read(_BLOCK)).lstrip(b"\0")  # padding is no content
                expander = zlib.decompressobj(wbits=_GZIP) if pending else expander
            elif not pending:
                pending = packed.read(_BLOCK)
    if not expander.eof:
        message = say("the compressed file ends before its content does; nothing of it is used")
        return _wrong(file, "gzip-damaged", message)
    return None


def _wrong(file: FoundFile, rule: str, message: str) -> Finding:
    return Finding("error", rule, str(file.path), message)
