"""An answer as a document of plain values: tables under their keys, findings, and which call leads on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from aoe_reports.assistants.words import neutral, plain
from aoe_reports.model.documents import Json, JsonObject
from aoe_reports.model.findings import SEVERITIES, Finding
from aoe_reports.model.rows import Field, Rows, as_mapping, fields_of

MOST_ROWS = 2000
"""Of one table: further ones are counted, and a narrower question tells them."""
MOST_OF_A_PATH = 4096
"""Characters: no system opens a longer one."""
_PATHS = frozenset({"path", "first", "root", "run"})
_UNITS = {"percent": "1 = 100%", "change": "0.01 = 1% more", "gain": "0.01 = 1% more", "ratio": "ratio"}
_ENDINGS = {
    "_us": "us", "_ms": "ms", "_ns": "ns", "_s": "s", "_mhz": "MHz", "_bytes": "bytes", "_gb_per_s": "GB/s", "_share": "1 = 100%",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Hint:
    """A call that leads on, and why."""

    tool: str
    arguments: Mapping[str, Any]
    why: str

    def as_dict(self) -> JsonObject:
        """As an assistant has it."""
        return {"tool": self.tool, "arguments": _told(dict(self.arguments)), "why": neutral(self.why)}


def _told(value: Any) -> Json:
    """An argument as an answer has it: what `find` understands as it does the name itself."""
    if isinstance(value, dict):
        return {key: _told(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [*map(_told, value)]
    return neutral(value, MOST_OF_A_PATH) if isinstance(value, str) else value


@dataclass(frozen=True, slots=True)
class Table:
    """Rows as lists under their columns; what all rows have alike is said once."""

    key: str
    columns: tuple[str, ...]
    rows: tuple[list[Json], ...]
    total: int
    units: Mapping[str, str] = field(default_factory=dict)
    same: Mapping[str, Json] = field(default_factory=dict)

    def mappings(self) -> list[JsonObject]:
        """Each row under its keys."""
        return [{**self.same, **dict(zip(self.columns, row, strict=True))} for row in self.rows]


@dataclass(frozen=True, slots=True)
class Document:
    """All that a call is answered with, before it is cut into pages."""

    answers: str
    headline: str
    tables: tuple[Table, ...] = ()
    notes: tuple[str, ...] = ()
    hints: tuple[Hint, ...] = ()
    more: Mapping[str, Json] = field(default_factory=dict)

    def table(self, key: str) -> list[JsonObject]:
        """The rows of a table, none where there is no such table."""
        return next((table.mappings() for table in self.tables if table.key == key), [])


def table_of(rows: Rows[Any]) -> Table:
    """A declared table: its keys, its units, its rows."""
    fields = {one.key: one for one in fields_of(rows.type)}
    return plain_table(rows.key, [as_mapping(one) for one in rows.rows[:MOST_ROWS]], len(rows.rows), fields)


def plain_table(key: str, rows: Sequence[JsonObject], total: int, fields: Mapping[str, Field] | None = None) -> Table:
    """A table of mappings, without the columns that say nothing."""
    cells = [{name: _cell(name, value) for name, value in row.items()} for row in rows]
    names = [name for name in (cells[0] if cells else ()) if any(row[name] not in (None, [], "") for row in cells)]
    same = {name: cells[0][name] for name in names if len(cells) > 1 and all(r[name] == cells[0][name] for r in cells)}
    columns = tuple(name for name in names if name not in same)
    return Table(
        key=key,
        columns=columns,
        rows=tuple([row[name] for name in columns] for row in cells),
        total=total,
        units={name: unit for name in names if (unit := _unit_of(name, cells, (fields or {}).get(name)))},
        same=same,
    )


def _cell(name: str, value: Any) -> Json:
    """A value as JSON has it; a path is whole, as another call is given it."""
    return neutral(value, MOST_OF_A_PATH) if name in _PATHS and isinstance(value, str) else plain(value)


def _unit_of(name: str, rows: Sequence[JsonObject], one: Field | None) -> str:
    """The unit of a column of numbers; empty where it counts something, or is none."""
    if not any(isinstance(row[name], int | float) and not isinstance(row[name], bool) for row in rows):
        return ""
    kind = "" if one is None else one.cell.kind
    ending = next((unit for end, unit in _ENDINGS.items() if name.endswith(end)), "")
    return ending or (kind if kind in {"us", "ms", "s"} else _UNITS.get(kind, ""))


def findings_table(findings: Sequence[Finding]) -> Table:
    """Findings with their files and lines, the gravest first."""
    rows = [one.as_dict() for one in sorted(findings[:MOST_ROWS], key=lambda one: SEVERITIES.index(one.severity))]
    return plain_table("findings", rows, len(findings))
