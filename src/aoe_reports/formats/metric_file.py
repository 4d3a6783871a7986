"""The file that says what metrics mean: TOML, a table for each name (or pattern), with its unit and its good direction.

["goodput"]
unit = "requests/s"
better = "higher"        # or "lower", or "none": never judged
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from aoe_reports.model.errors import UsageError, of_the_system
from aoe_reports.model.history.metrics import BETTER, Declaration, Declarations, Meaning
from aoe_reports.model.texts import join, say

MAX_BYTES = 1 << 20
_KEYS = ("unit", "better")
_NEVER = "none"


def read_declarations(path: Path) -> Declarations:
    """What a file says of metrics, in its order. Raises UsageError, which names the file and the table."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise _refused(path, of_the_system(error.strerror or str(error))) from error
    if len(data) > MAX_BYTES:
        raise _refused(path, say("at most {limit} bytes are read; this file is larger", limit=MAX_BYTES))
    try:
        tables = tomllib.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:  # UnicodeError and TOMLDecodeError, too
        raise _refused(path, str(error)) from error
    return tuple(_declaration(path, name, table) for name, table in tables.items())


def _declaration(path: Path, name: str, table: Any) -> Declaration:
    if not isinstance(table, dict):
        raise _refused(path, say("[{name}]: expected a table with {keys}", name=name, keys=join(", ", _KEYS)))
    for key in table:
        if key not in _KEYS:
            raise _refused(
                path, say("[{name}] {key}: expected one of {names}", name=name, key=key, names=join(", ", _KEYS))
            )
    unit, better = table.get("unit"), table.get("better")
    if unit is not None and (not isinstance(unit, str) or not unit.isprintable()):
        raise _refused(path, say("[{name}] unit: expected a quoted string", name=name))
    words = (*BETTER, _NEVER)
    if better is not None and better not in words:
        raise _refused(path, say("[{name}] better: expected one of {names}", name=name, names=join(", ", words)))
    meaning = Meaning(unit, better if better in BETTER else None)
    return Declaration(name, meaning, judged=better != _NEVER)


def _refused(path: Path, why: str) -> UsageError:
    return UsageError(say("{path}: {why}", path=path, why=why))
