"""Lists of many rows: the first as HTML, all of them as the script that `assets/list.js` searches, filters and sorts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from aoe_reports.present.drawings.charts import sparkline
from aoe_reports.present.values import plain
from aoe_reports.site.as_json import as_script
from aoe_reports.site.cells import Table, cell, drawn, head, marked, short, stated


@dataclass(frozen=True, slots=True)
class ListColumn:
    """A column of a list; each sequence has a value a row, or is empty."""

    key: str
    """Its name in the address of a sorted list."""
    title: str
    texts: Sequence[str]
    """Of a spark the codes of `charts.code_of`."""
    kind: Literal["head", "text", "number", "state", "spark"] = "text"
    keys: Sequence[float | None] = ()
    """Of numbers what they are sorted by, None for none; all else is sorted by its text."""
    units: Sequence[str] = ()
    """Rows of different units are not compared: those of each unit are sorted by themselves, the empty unit first."""
    below: Sequence[str] = ()
    """The smaller lines."""
    links: Sequence[str] = ()
    """Names of pages in the same folder without their ending; empty where there is none."""
    looks: Sequence[str] = ()
    """Classes that colour the texts."""
    marks: Sequence[int] = ()
    """Of a spark the night that is marked, -1 for none."""


@dataclass(frozen=True, slots=True)
class Facet:
    """A property that rows are chosen by: its name in the address, its label, of each row (key in the address, text)."""

    name: str
    label: str
    values: Sequence[tuple[str, str]]
    is_number: bool = False
    """Whether its keys are numbers, but for some words."""


@dataclass(frozen=True, slots=True)
class Listed:
    """The rows of a list in their first order."""

    file: ClassVar = "list.js"
    """Has all rows, beside the page."""
    shown: ClassVar = 100
    """Rows of the page itself; the script shows as many at a time."""
    columns: Sequence[ListColumn]
    facets: Sequence[Facet]
    about: str

    def __len__(self) -> int:
        return len(self.columns[0].texts)

    @property
    def table(self) -> Table:
        """The first rows."""
        columns = [(one.title, "number" if one.kind == "number" else "text") for one in self.columns]
        rows = [[_cell(one, row) for one in self.columns] for row in range(min(self.shown, len(self)))]
        return Table(columns, rows, stacks=True)

    @property
    def script(self) -> bytes:
        """All rows, by column, as a call of the script of lists."""
        rows = {
            "columns": [
                {
                    "key": one.key,
                    "kind": one.kind,
                    "keys": _encoded([*map(_rounded, one.keys)]),
                    "units": _encoded([*map(plain, one.units)]),
                    "texts": _encoded([*map(_shown, one.texts)]),
                    "below": _encoded([*map(_shown, one.below)]),
                    "links": _encoded(one.links),
                    "looks": _encoded(one.looks),
                    "marks": _encoded(one.marks),
                }
                for one in self.columns
            ],
            "facets": [_facet(one) for one in self.facets],
        }
        return b"aoeList(%s);\n" % as_script(rows).encode()


def _shown(text: str) -> str:
    """A text as a list shows it: spelled out, its middle left out when it is very long."""
    return short(plain(text))


def _rounded(key: float | None) -> float | None:
    """A key with more digits than are shown, and no more bytes than it needs."""
    return None if key is None else float(f"{key:.6g}")


def _encoded(values: Sequence[Any]) -> Any:
    """Values as they are, or as numbers of their distinct ones where these are few."""
    distinct = {value: number for number, value in enumerate(dict.fromkeys(values))}
    if 2 * len(distinct) >= len(values):
        return values
    return {"words": [*distinct], "of": [distinct[value] for value in values]}


def _facet(facet: Facet) -> Mapping[str, Any]:
    """A facet with its distinct values, and of each row the number of its value."""
    distinct = sorted(set(facet.values), key=_by_number if facet.is_number else None)
    numbers = {value: number for number, value in enumerate(distinct)}
    return {
        "name": facet.name,
        "label": facet.label,
        "values": [[plain(key), plain(text)] for key, text in distinct],
        "of": [numbers[value] for value in facet.values],
    }


def _by_number(value: tuple[str, str]) -> tuple[bool, int, str]:
    """Numbers before words; of numbers without leading zeros a longer one is larger."""
    key, _ = value
    return not key.isdecimal(), len(key), key


def _cell(column: ListColumn, row: int) -> str:
    text = _shown(column.texts[row])
    below = _shown(column.below[row]) if column.below else None
    link = f"{column.links[row]}.html" if column.links and column.links[row] else None
    if column.kind == "head":
        return head(text, link, below)
    if column.kind == "spark":
        return drawn(sparkline(text, column.marks[row]))
    if column.kind == "state" and text:
        return stated(column.looks[row], text)
    if column.kind == "number":
        return marked(text, column.looks[row] if column.looks else "")
    return cell(text or None)
