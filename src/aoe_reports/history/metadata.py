"""What else changed between the last nights before a change and the first ones since: versions, drivers, configurations."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from aoe_reports.formats.records.payloads import ChangedFact, object_in

NIGHTS = 3
"""Nights on either side that are looked at: a fact that is not the same in all of them is none of a side."""
PLAIN = ("engine_version",)
CONFIGS = ("engine_config", "compilation_config", "software_config", "runtime_config", "hardware_config")
COLUMNS = (*PLAIN, *CONFIGS)
"""What is looked at of a record: a text, and objects as JSON texts."""
MAX_TOLD = 20
LONGEST_VALUE = 200


def changed_metadata(before: pl.DataFrame, after: pl.DataFrame) -> list[ChangedFact]:
    """Each fact that is one thing in all records before and another in all since.

    Both frames hold COLUMNS (those that are missing tell nothing). Names are `engine_version`, `software_config.driver`
    and so on; a fact that one side lacks is null there. Values are whatever somebody wrote: texts, cut at LONGEST_VALUE.
    """
    sides = [_facts(frame) for frame in (before, after)]
    if before.is_empty() or after.is_empty():
        return []
    found = []
    for name in sorted(sides[0].keys() | sides[1].keys()):
        values = [side.get(name, {None}) for side in sides]
        if all(len(one) == 1 for one in values) and values[0] != values[1]:
            found.append(ChangedFact(name, *(next(iter(one)) for one in values)))
    return found[:MAX_TOLD]


def _facts(frame: pl.DataFrame) -> dict[str, set[str | None]]:
    """Each fact with its values; a record that lacks one counts as None."""
    rows = frame.select([name for name in COLUMNS if name in frame.columns]).unique().to_dicts()
    flat = [dict(_flat(row)) for row in rows]
    names = {name for one in flat for name in one}
    return {name: {one.get(name) for one in flat} for name in names}


def _flat(row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name in PLAIN:
        if row.get(name) not in {None, "unknown"}:
            yield name, str(row[name])[:LONGEST_VALUE]
    for name in CONFIGS:
        for key, inner in object_in(row, name).items():
            yield from _leaves(f"{name}.{key}"[:LONGEST_VALUE], inner)


def _leaves(name: str, value: Any) -> Iterator[tuple[str, str]]:
    """The leaves of objects in objects, one level down; what is deeper is its own JSON text."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield f"{name}.{key}"[:LONGEST_VALUE], _text(inner)
    elif value is not None:
        yield name, _text(value)


def _text(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False)
    return text[:LONGEST_VALUE]
