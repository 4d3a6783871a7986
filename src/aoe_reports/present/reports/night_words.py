"""How the night report names series, operators and times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

from aoe_reports.model.history.advice import StoredAdviceRow, StoredCandidate
from aoe_reports.model.history.causes import operator_words, part_words, rank_words
from aoe_reports.model.history.changes import (
    MEMORY,
    METRICS,
    IncidentCause,
    OperatorChange,
    SeriesChange,
    SeriesObservation,
)
from aoe_reports.model.history.listings import ListedVerdict
from aoe_reports.model.history.memory_words import memory_series_name
from aoe_reports.model.names import shorten_middle
from aoe_reports.model.texts import join, say
from aoe_reports.present.reports.night_content import Trend

R = TypeVar("R", OperatorChange, ListedVerdict, StoredAdviceRow, StoredCandidate)

TITLE_NAME, LINE_NAME, WHOLE_NAME = 80, 160, 500
"""Characters of a name in a title, in a line or a cell, and in the description of a picture."""


def subject_words(row: SeriesChange | SeriesObservation, ranks: int = 1) -> str:
    """What a series is, in words, and on how many `ranks` it is the same."""
    workload, kind, name = row.workload, row.op_type, row.op_name
    if row.scope == MEMORY:
        return say(
            "{name}{rank}", name=memory_series_name(row.metric, line_name(workload)), rank=place_words(row, ranks)
        )
    if row.scope in METRICS:
        return say("{metric} of {workload}", metric=line_name(row.metric), workload=series_words(row))
    if row.scope == "step" and workload.endswith("/step"):
        return say(
            "step of {model}{rank}", model=line_name(workload.removesuffix("/step")), rank=place_words(row, ranks)
        )
    if (part := part_words(row.scope, line_name(workload))) is not None:
        return join("", (part, place_words(row)))
    endings = [f"/op/{name}"] if name else []
    endings += [f"/op_type/{kind}"] if row.scope == "op_type" else []
    for ending in endings:
        if workload.endswith(ending):
            model = line_name(workload.removesuffix(ending))
            return say("{operator} of {model}{rank}", operator=operator_line(row), model=model, rank=place_words(row))
    return series_words(row)


def operator_line(one: SeriesChange | SeriesObservation | OperatorChange) -> str:
    """An operator in a line that names no rank."""
    return operator_words(one.op_type and line_name(one.op_type), one.op_name and line_name(one.op_name))


def place_words(row: SeriesChange | SeriesObservation | Trend, ranks: int = 1) -> str:
    rank, device = row.rank_id, row.device_id
    if rank is not None:
        return rank_words(rank, ranks)
    return say(", device {device}", device=device) if device else ""


def series_words(row: SeriesChange | SeriesObservation) -> str:
    return join("", (line_name(row.workload), place_words(row)))


def title_name(name: Any) -> str:
    return shorten_middle(str(name), TITLE_NAME)


def line_name(name: Any) -> str:
    return shorten_middle(str(name), LINE_NAME)


def in_lines(rows: Sequence[R]) -> list[R]:
    """Rows whose operators have names that fit a cell."""
    return [replace(row, op_name=row.op_name and line_name(row.op_name)) for row in rows]


def with_short_names(cause: IncidentCause) -> IncidentCause:
    """A cause whose names fit a line."""
    return replace(
        cause, op_type=cause.op_type and line_name(cause.op_type), op_name=cause.op_name and line_name(cause.op_name)
    )


def whole_name(name: Any) -> str:
    return shorten_middle(str(name), WHOLE_NAME)
