"""Which values the columns of a row may have. What is written is held against all of it, what is read against what readers rest on."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from aoe_reports.formats.records.from_document import RunKind
from aoe_reports.formats.records.payloads import NotDecodableError, decode, is_night, members_of
from aoe_reports.formats.records.record import JSON_FIELDS, RECORD_SOURCES, Phase
from aoe_reports.model.arrays.columns import bits, codes, floats, keep_where, scalar, valid
from aoe_reports.model.documents import JsonObject
from aoe_reports.model.errors import LeftOutWarning
from aoe_reports.model.findings import SEVERITIES
from aoe_reports.model.history.changes import SCOPES
from aoe_reports.model.texts import say

_RUN, _RECORD, _RANK, _FINDING, _ADVICE, _VERDICT = "run", "record", "rank", "finding", "advice", "verdict"
_OF_RUNS = frozenset({_RUN, _RECORD, _RANK, _FINDING, _ADVICE, _VERDICT})
_EVERY = _OF_RUNS | {"change", "ack"}

REQUIRED: Mapping[str, frozenset[str]] = {
    "timestamp_ns": _EVERY,
    "run_id": _OF_RUNS,
    "night": frozenset({_RUN, _RECORD, _RANK, _FINDING, _ADVICE}),
    **dict.fromkeys(("model", "hardware"), frozenset({_RUN, _RECORD, _RANK})),
    **dict.fromkeys(("workload", "engine", "runtime_ms_mean", "scope", "source", "workload_args"), frozenset({_RECORD, _RANK})),
    **dict.fromkeys(
        ("run_kind", "status", "path", "content_hash", "normaliser_version", "members"),
        frozenset({_RUN}),
    ),
    **dict.fromkeys(
        ("engine_version", "schema_version", "timestamp", "series_id", *(name for name in JSON_FIELDS if name != "workload_args")),
        frozenset({_RECORD}),
    ),
    **dict.fromkeys(("severity", "rule", "message"), frozenset({_FINDING})),
    "state": frozenset({_ADVICE, _VERDICT, "change", "ack"}),
    "subject": frozenset({"change", "ack"}),
}  # fmt: skip
"""The kinds of rows that have to have a value in a column."""

Problem = Callable[[Any], str | None]


def _one_of(*words: str) -> Problem:
    expected = say("expected {words}", words=", ".join(words))
    return lambda value: None if value in words else expected


def _holds(kind: Any) -> Problem:
    return _decodes(lambda text: decode(text, kind))


def _decodes(read: Callable[[str], Any]) -> Problem:
    def problem(text: str) -> str | None:
        try:
            read(text)
        except NotDecodableError as error:
            return str(error.args[0])
        return None

    return problem


def _night(text: str) -> str | None:
    return None if is_night(text) else say("expected a valid date, as YYYY-MM-DD")


READ: Mapping[str, Problem] = {"night": _night}
"""What readers compute with, whatever they ask for: held against every row that is read."""

WORDS: Mapping[str, Problem] = {
    **READ,
    "run_kind": _one_of(*get_args(RunKind)),
    "severity": _one_of(*SEVERITIES),
    "members": _decodes(members_of),
    "timestamp": _holds(float | int | str),
    "runtime_raw": _holds(list[JsonObject]),
    **dict.fromkeys(JSON_FIELDS, _holds(JsonObject)),
}
"""What is wrong with a value that is there, column by column; JSON in a body depends on what the row is of."""

_WORDS_OF_RECORDS: Mapping[str, Problem] = {
    "scope": _one_of(*SCOPES),
    "source": _one_of(*sorted(RECORD_SOURCES)),
    "phase": _one_of(*get_args(Phase)),
}


@dataclass(frozen=True, slots=True)
class Unusable:
    """A value that a row cannot have: the row's number from 0, the column, and what is wrong."""

    row: int
    column: str
    why: str

    def as_text(self) -> str:
        """It as a sentence without the row."""
        return say("{column}: {why}", column=self.column, why=self.why)


def unusable(rows: pa.Table, kind: str) -> Iterator[Unusable]:
    """Values that rows of a kind cannot have, column by column; words that stand in many rows are looked at once."""
    return _unusable(rows, kind, {**WORDS, **_WORDS_OF_RECORDS} if kind in {_RECORD, _RANK} else WORDS)


def _unusable(rows: pa.Table, kind: str, words: Mapping[str, Problem]) -> Iterator[Unusable]:
    for name, column in zip(rows.column_names, rows.columns, strict=True):
        if column.null_count and kind in REQUIRED.get(name, ()):
            missing = say("the value is missing")
            yield from (Unusable(int(row), name, missing) for row in np.flatnonzero(~valid(column)))
        if pa.types.is_floating(column.type) and not bool(pc.all(pc.is_finite(column)).as_py() is not False):
            values, there = floats(column)
            infinite = say("the number is not finite")
            yield from (Unusable(int(row), name, infinite) for row in np.flatnonzero(there & ~np.isfinite(values)))
        elif name in _NOT_NEGATIVE:
            yield from _negative(name, column)
        elif name in words:
            yield from _wrong_words(name, column, words[name])


_NOT_NEGATIVE = frozenset({"runtime_ms_mean", "runtime_ms_std", "total_ns", "count"})
"""Times and counts; differences between clocks may be below zero."""


def _negative(name: str, column: pa.ChunkedArray) -> Iterator[Unusable]:
    below, why = bits(pc.less(column, scalar(0))), say("the number is below zero")
    yield from (Unusable(int(row), name, why) for row in np.flatnonzero(below))


def _wrong_words(name: str, column: pa.ChunkedArray, problem: Problem) -> Iterator[Unusable]:
    if _right(column, problem):
        return
    numbers, words = codes(column)
    wrong = {number: why for number, word in enumerate(words, start=1) if (why := problem(word)) is not None}
    for row in np.flatnonzero(np.isin(numbers, list(wrong))):
        yield Unusable(int(row), name, wrong[int(numbers[row])])


def _right(column: pa.ChunkedArray, problem: Problem) -> bool:
    """Whether every distinct value is right."""
    chunks = (
        [chunk.dictionary for chunk in column.chunks] if pa.types.is_dictionary(column.type) else [pc.unique(column)]
    )
    return all(word is None or problem(word) is None for chunk in chunks for word in chunk.to_pylist())


def only_usable(rows: pa.Table, kind: str, place: str) -> pa.Table:
    """The rows without those that no reader can use, each of which is told."""
    wrong = list(_unusable(rows, kind, READ))
    if not wrong:
        return rows
    kept = np.ones(rows.num_rows, dtype=bool)
    for one in wrong:
        kept[one.row] = False
        run = rows["run_id"][one.row].as_py() if "run_id" in rows.column_names else None
        told = {"place": place, "kind": kind, "what": one.as_text()}
        warnings.warn(LeftOutWarning(_left_out(run, told)), stacklevel=2)
    return rows.filter(keep_where(kept))


def _left_out(run: str | None, told: Mapping[str, str]) -> str:
    if run is None:
        return say("{place}: a row of kind {kind} cannot be used and is left out: {what}", **told)
    return say(
        "{place}: a row of kind {kind} of run {run} cannot be used and is left out: {what}; `store undo {run}` "
        "removes the run",
        run=run,
        **told,
    )
