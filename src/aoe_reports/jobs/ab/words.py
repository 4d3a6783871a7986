"""What `ab` says: the headline, the tables, one message for each slow-down."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence
from typing import Any

from aoe_reports.model.documents import JsonObject
from aoe_reports.model.history.causes import reason_words
from aoe_reports.model.history.changes import COMPUTING, WHOLE
from aoe_reports.model.history.metrics import TIME_UNIT
from aoe_reports.model.report import Grid, Highlight, Section
from aoe_reports.model.rows import as_mapping, columns_of, telling_columns
from aoe_reports.model.sides import VERDICT_WORDS, QuantityVerdict, SideCause, SideFact, describe
from aoe_reports.model.texts import Text, capital, join, say
from aoe_reports.topics.comparison.explain import ChangePart
from aoe_reports.topics.records.context import UNKNOWN

_NAMED = 3
_SHOWN = 20
"""So many rows are shown, and all that fail the job."""


def headline_of(rows: Sequence[QuantityVerdict]) -> Text | str:
    """The verdict on what was measured as a whole, then the operators or metrics that are slower."""
    if not rows:
        return ""
    whole = [row for row in rows if row.scope in {*WHOLE, COMPUTING}] or list(rows[:1])
    parts = [row for row in rows if row.verdict == "slower" and row not in whole]
    words = join("; ", [describe(row) for row in whole[:_NAMED]])
    if not parts:
        return say("{words}.", words=words)
    named = join(", ", [say("{name} {change:+.1%}", name=row.name, change=row.change) for row in parts[:_NAMED]])
    return say("{words}. Slower: {named}{more}.", words=words, named=named, more=_more(len(parts) - _NAMED))


def _more(count: int) -> Text | str:
    return say(" and {count} more", count=count) if count > 0 else ""


def highlights_of(rows: Sequence[QuantityVerdict]) -> list[Highlight]:
    """A message for each quantity that fails the job; nothing where none does."""
    return [
        Highlight(
            "error" if row.fails == "slower" else "warning",
            say("Slower than the baseline") if row.fails == "slower" else say("Not proved to be the same"),
            describe(row),
        )
        for row in rows
        if row.fails
    ]


def sections_of(
    rows: Sequence[QuantityVerdict], causes: Sequence[SideCause], parts: Sequence[ChangePart], facts: Sequence[SideFact]
) -> list[Section]:
    """Verdicts, what may be the reason, the parts of the difference, the conditions that differ."""
    if not rows:
        return []
    sections = [
        _verdicts(rows),
        Section(say("What may be the reason"), grid=_grid(SideCause, [as_mapping(each) for each in causes])),
    ]
    if parts:
        shown = [as_mapping(part) | {"cause": reason_words(part.cause, part.area)} for part in parts]
        sections.append(
            Section(
                say("What the difference consists of"),
                [say("Between the median captures of the sides; the parts add up to the change of their steps.")],
                grid=_grid(ChangePart, shown),
            )
        )
    if facts:
        sections.append(
            Section(say("What differs between the sides"), grid=_grid(SideFact, [as_mapping(each) for each in facts]))
        )
    return sections


def _verdicts(rows: Sequence[QuantityVerdict]) -> Section:
    counts = Counter(row.verdict for row in rows)
    shown = [row for index, row in enumerate(rows) if index < _SHOWN or row.fails]
    words = [
        say("{verdict}: {count}", verdict=VERDICT_WORDS[name], count=counts[name])
        for name in VERDICT_WORDS
        if counts[name]
    ]
    sentences: list[str] = [join(", ", words)]
    alike = [name for name in _ONCE if len({getattr(row, name) for row in rows}) == 1]
    if {"baseline_repeats", "candidate_repeats"} <= set(alike):
        before, after = rows[0].baseline_repeats, rows[0].candidate_repeats
        sentences.append(
            say("Repeats: {before} of the baseline, {after} of the candidate.", before=before, after=after)
        )
    if "workload" in alike and rows[0].workload not in {"", UNKNOWN}:
        sentences.append(say("Workload: {name}.", name=rows[0].workload))
    if "unit" in alike and rows[0].unit not in {None, TIME_UNIT}:
        sentences.append(say("Values are in {unit}.", unit=rows[0].unit))
    if "reason" in alike and rows[0].reason is not None:
        sentences.append(say("{reason}.", reason=capital(rows[0].reason)))
    if len(shown) < len(rows):
        rest = len(rows) - len(shown)
        sentences.append(say("{count} more quantities are in JSON and CSV.", count=rest))
    grid = _grid(QuantityVerdict, [as_mapping(row) | dict.fromkeys(alike) for row in shown])
    if "unit" in alike and rows[0].unit == TIME_UNIT:
        columns = tuple(
            dataclasses.replace(column, kind="ms") if column.key in {"before", "after"} else column
            for column in grid.columns
        )
        grid = dataclasses.replace(grid, columns=columns)
    return Section(say("Verdicts"), sentences, grid=grid)


_ONCE = ("workload", "unit", "baseline_repeats", "candidate_repeats", "reason")
"""Columns whose value is said once where all rows have the same."""


def _grid(kind: type[Any], rows: Sequence[JsonObject]) -> Grid:
    return Grid(telling_columns(columns_of(kind), rows), rows)
