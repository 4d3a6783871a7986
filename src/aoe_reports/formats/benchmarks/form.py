"""What the forms of benchmark programs have in common: how one is known, and how its numbers become a record."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple, TypeGuard

from aoe_reports.formats.records.metrics import is_number
from aoe_reports.formats.records.record import SCHEMA_VERSION
from aoe_reports.model.documents import JsonObject
from aoe_reports.model.history.metrics import Better
from aoe_reports.model.texts import Text

UNKNOWN_HARDWARE = "unknown"
"""Where a result does not say what it ran on (see --hardware)."""


class Entry(NamedTuple):
    """A record that a result tells, or what is wrong with the part of it that `pointer` leads to."""

    pointer: str
    record: JsonObject | None
    wrong: Text | None = None
    line: int | None = None
    """Of a text that is no JSON: the line of the result, or of what is wrong."""


@dataclass(frozen=True, slots=True)
class BenchmarkForm:
    """A form of results: the words by which the beginning of a file is known, the keys of its document, its records."""

    name: str
    words: tuple[str, ...]
    """All of these stand in the first 64 KiB."""
    keys: frozenset[str]
    """All of these are keys of the document."""
    entries: Callable[[Mapping[str, Any], str], Iterator[Entry]]
    """(the document, the name of the file without its ending) -> records."""
    opening: re.Pattern[str] = re.compile(r"\{")
    """The text of the file begins with this."""
    no_other_keys: bool = False
    """Whether the document has `keys` and no other ones."""

    def begins(self, head: str) -> bool:
        """Whether a file may be one of these, by its beginning."""
        return self.opening.match(head) is not None and all(f'"{word}"' in head for word in self.words)

    def fits(self, document: Mapping[str, Any]) -> bool:
        """Whether a document is of this form, by its keys."""
        return self.keys == document.keys() if self.no_other_keys else self.keys <= document.keys()


def record_of(workload: str, engine: str, mean_ms: float, std_ms: float | None = None, **fields: Any) -> JsonObject:
    """A record of v0.1; fields that are None or empty are left out."""
    known: JsonObject = {
        "workload": workload,
        "engine": engine,
        "hardware": UNKNOWN_HARDWARE,
        "runtime_ms_mean": mean_ms,
        "runtime_ms_std": std_ms,
        "schema_version": SCHEMA_VERSION,
    }
    return known | {name: value for name, value in fields.items() if value not in (None, {}, "")}


def metric(value: float, unit: str | None, better: Better | None) -> JsonObject:
    """A metric that says what it means."""
    told: JsonObject = {"value": value}
    return told | ({"unit": unit} if unit else {}) | ({"better": better} if better else {})


def is_time(value: Any) -> TypeGuard[int | float]:
    """Whether a value is a number that can be a time."""
    return is_number(value) and value >= 0


def in_ms(seconds: float) -> float:
    """Seconds as ms, in decimal: 2.05 s are 2050.0 ms."""
    return float(Decimal(repr(seconds)) * 1000)


def numbers_in(values: Mapping[str, Any], without: Collection[str] = ()) -> JsonObject:
    return {name: value for name, value in values.items() if is_number(value) and name not in without}


def number_in(text: str) -> int | float | None:
    """The number that a text is; None for a text that is no number, or not a finite one."""
    if not _NUMBER.fullmatch(text):
        return None
    number = int(text) if text.lstrip("+-").isdigit() else float(text)
    return number if is_number(number) else None


_NUMBER = re.compile(r"[-+]?(?:\d{1,300}(?:\.\d{0,300})?|\.\d{1,300})(?:[eE][-+]?\d{1,4})?", re.ASCII)


def stem_without_dates(stem: str) -> str:
    """The name of a file without dates and long numbers, which differ from night to night."""
    short = _DATES.sub("", stem).strip("-_. ")
    return short or stem


_DATES = re.compile(r"[-_.]?(?:\d{4}-\d{2}-\d{2}(?:[T_-]?\d{2}[:-]?\d{2}(?:[:-]?\d{2})?)?|\d{6,}(?:[-_T]\d{4,6})?)")
