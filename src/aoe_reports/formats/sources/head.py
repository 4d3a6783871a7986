"""The beginning of a file: how much of it may be looked at to tell what the file is."""

from __future__ import annotations

import csv
import zlib
from pathlib import Path

HEAD_BYTES = 64 * 1024
"""How much of a file may be looked at to tell what it is."""


def head_of(path: Path, *, packed: bool = False) -> str:
    with path.open("rb") as file:
        data = file.read(HEAD_BYTES)
    if packed:
        try:
            data = zlib.decompressobj(wbits=31).decompress(data, HEAD_BYTES)
        except zlib.error:
            data = b""  # what is wrong with it is said when it is read
    return data.decode("utf-8-sig", errors="replace").lstrip()


def header_of(head: str) -> list[str]:
    try:
        return next(csv.reader([head.split("\n", 1)[0].replace("\0", "").replace("\r", "")]), [])
    except csv.Error:
        return []
