"""Compressed files: expanded into a temporary file, no further than allowed."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from aoe_reports.formats.rules import EXPANDED_TOO_LARGE, GZIP_DAMAGED
from aoe_reports.formats.sources.found import FoundFile
from aoe_reports.formats.sources.identify import MAX_EXPANDED_BYTES
from aoe_reports.formats.sources.owned import TemporaryFolder
from aoe_reports.model.errors import ReadError
from aoe_reports.model.findings import Finding
from aoe_reports.model.texts import say

MAX_RATIO = 200
"""A file that expands to more than this times its size is refused: 59 real exports expand to 2 to 27 times theirs."""
RATIO_FROM_BYTES = 64 << 20
"""What expands to less may have any ratio: a small file of equal rows is no attack."""
_BLOCK = 1 << 20
_GZIP = 31


@contextmanager
def expanded(file: FoundFile) -> Iterator[tuple[Path, Finding | None]]:
    """(a path where the plain content lies, why nothing of it can be used); the file itself where it is plain."""
    if not file.name.packed:
        yield file.path, None
        return
    folder = TemporaryFolder()
    try:
        place = folder.path / f"plain.{file.name.form}"
        try:
            with place.open("wb") as plain:
                wrong = _expand(file, plain)
        except OSError as error:
            expected = say("a readable .gz file was expected")
            raise ReadError(file.path, error.strerror or str(error), expected) from error
        yield place, wrong
    finally:
        folder.remove()


def _expand(file: FoundFile, plain: IO[bytes]) -> Finding | None:
    """Write the plain content; what is wrong with the compressed one, if anything."""
    limit = MAX_EXPANDED_BYTES if file.max_expanded is None else file.max_expanded
    written = 0
    with file.path.open("rb") as packed:
        expander = zlib.decompressobj(wbits=_GZIP)
        pending = packed.read(_BLOCK)
        while pending:
            try:
                data = expander.decompress(pending, _BLOCK)
            except zlib.error as error:
                message = say("this cannot be decompressed ({error}); its content is not used", error=str(error))
                return GZIP_DAMAGED.found(str(file.path), message)
            written += len(data)
            if written > limit:
                message = say(
                    "expands to more than {limit} bytes; none of it is used (--max-expanded BYTES sets the limit)",
                    limit=limit,
                )
                return EXPANDED_TOO_LARGE.found(str(file.path), message)
            read = packed.tell() - len(expander.unconsumed_tail)
            if file.max_expanded is None and written > max(RATIO_FROM_BYTES, MAX_RATIO * read):
                message = say(
                    "expands to more than {ratio} times its size, which no export does; none of it is used "
                    "(--max-expanded BYTES sets the limit)",
                    ratio=MAX_RATIO,
                )
                return EXPANDED_TOO_LARGE.found(str(file.path), message)
            plain.write(data)
            pending = expander.unconsumed_tail
            if expander.eof:
                pending = (expander.unused_data or packed.read(_BLOCK)).lstrip(b"\0")  # padding is no content
                expander = zlib.decompressobj(wbits=_GZIP) if pending else expander
            elif not pending:
                pending = packed.read(_BLOCK)
    if not expander.eof:
        message = say("the compressed file ends before its content does; the content is not used")
        return GZIP_DAMAGED.found(str(file.path), message)
    return None
