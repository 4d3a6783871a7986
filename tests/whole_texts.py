"""Whole texts that tests hold against digests on record; `UPDATE_TEXTS=1 pytest -n0 FILE` records an intended change."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_DIGITS = 16


def assert_recorded(folder: Path, texts: Mapping[str, str], *, all_of_it: bool = False) -> None:
    """The digest of each text is on record in the file of that name; if `all_of_it`, there is no other.

    Texts that differ are written out, to be compared with those of a checkout that passes.
    """
    record = folder.with_suffix(".txt")
    told = {name: hashlib.sha256(text.encode()).hexdigest()[:_DIGITS] for name, text in texts.items()}
    if os.environ.get("UPDATE_TEXTS"):
        kept = {} if all_of_it or not record.exists() else _read(record)
        lines = (f"{name} {digest}\n" for name, digest in sorted({**kept, **told}.items()))
        record.write_text("".join(lines), encoding="utf-8", newline="")
    known = _read(record)
    if all_of_it:
        assert sorted(told) == sorted(known)
    changed = [name for name, digest in told.items() if known.get(name) != digest]
    if changed:
        place = Path(tempfile.mkdtemp(prefix=f"{folder.name}-"))
        for name in changed:
            (place / name).write_text(texts[name], encoding="utf-8", newline="")
        raise AssertionError(f"not what is on record: {', '.join(changed)}; they are in {place}")


def _read(record: Path) -> dict[str, str]:
    """The digests on record, by name."""
    return dict(line.rsplit(" ", 1) for line in record.read_text(encoding="utf-8").splitlines())


def rounded(value: Any) -> Any:
    """A document with eight digits of each number: the last ones are the machine's."""
    if isinstance(value, dict):
        return {name: rounded(one) for name, one in value.items()}
    if isinstance(value, list):
        return [rounded(one) for one in value]
    return float(f"{value:.8g}") if isinstance(value, float) else value


def rounded_text(text: str) -> str:
    """A text with eight digits of each number that has more than nine behind its point."""
    return re.sub(r"\d+\.\d{10,}(?:e-?\d+)?", lambda number: f"{float(number[0]):.8g}", text)
