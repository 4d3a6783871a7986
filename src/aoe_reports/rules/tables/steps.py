"""Rules on tables of steps and iterations."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from aoe_reports.formats.csv.summary import TableData
from aoe_reports.model.arrays.columns import Mask, integers, words_in
from aoe_reports.model.findings import EXAMPLES_PER_RULE, Finding
from aoe_reports.model.rules import TABLES
from aoe_reports.model.texts import join, say
from aoe_reports.rules.rules import STEP_MISSING
from aoe_reports.rules.tables.rows import ROUNDING_NS, as_integers, findings_of_rows

STEP_SUM_NS = 1_000
"""Stage is the difference of two float64 of microseconds since 1970, which are right to 0.25 us each."""


NOT_MONOTONIC = TABLES.rule("not-monotonic", "warning", "an iteration that ends before the one above it")


def rising(data: TableData) -> Sequence[Finding]:
    """Iterations end one after the other."""
    name = data.table.rising
    if name is None or name not in data.frame.column_names:
        return ()
    values, there = integers(data.frame[name])
    keys = [as_integers(data.frame[key])[0] for key in ("device_id", "model_id") if key in data.frame.column_names]
    falls = np.zeros(len(values), dtype=bool)
    same = np.ones(max(len(values) - 1, 0), dtype=bool)
    for key in keys:
        same &= key[1:] == key[:-1]
    falls[1:] = same & there[1:] & there[:-1] & (values[1:] <= values[:-1])
    message = say("this row ends before the one above it: rows are out of order, or one is damaged")
    return findings_of_rows(data, NOT_MONOTONIC, message, falls)


OVERLAP_SUM = TABLES.rule("overlap-sum", "warning", "Communication is not Overlapped + Communication(Not Overlapped)")


def overlap(data: TableData) -> Sequence[Finding]:
    """Communication = Overlapped + Communication(Not Overlapped)."""
    parts = ("communication_ns", "overlapped_ns", "communication_not_overlapped_ns")
    if not set(parts) <= set(data.frame.column_names):
        return ()
    whole, overlapped, alone = (integers(data.frame[name])[0] for name in parts)
    off = _of_one_rank(data) & (np.abs(whole - overlapped - alone) > ROUNDING_NS)
    message = say("Communication is not Overlapped + Communication(Not Overlapped)")
    return findings_of_rows(data, OVERLAP_SUM, message, off)


OVERLAP_ABOVE = TABLES.rule(
    "overlap-above-computing",
    "warning",
    "Overlapped is more than Computing: communication cannot run beside more computing than there is",
)


def overlap_above(data: TableData) -> Sequence[Finding]:
    """Overlapped is a part of Computing."""
    if not {"computing_ns", "overlapped_ns"} <= set(data.frame.column_names):
        return ()
    (computing, overlapped), masks = zip(
        *(integers(data.frame[name]) for name in ("computing_ns", "overlapped_ns")), strict=True
    )
    there = _of_one_rank(data) & np.logical_and.reduce(masks)
    off = there & (overlapped > computing + ROUNDING_NS)
    message = say("Overlapped is more than Computing: one of them is wrong")
    return findings_of_rows(data, OVERLAP_ABOVE, message, off)


STEP_SUM = TABLES.rule("step-sum", "warning", "Stage + Bubble is not Computing + Communication(Not Overlapped) + Free")


def step_sum(data: TableData) -> Sequence[Finding]:
    """Stage + Bubble is the whole step: Computing + Communication(Not Overlapped) + Free."""
    names = ("stage_ns", "bubble_ns", "computing_ns", "communication_not_overlapped_ns", "free_ns")
    if not set(names) <= set(data.frame.column_names):
        return ()
    (stage, bubble, *parts), masks = zip(*(integers(data.frame[name]) for name in names), strict=True)
    there = _of_one_rank(data) & np.logical_and.reduce(masks)
    off = there & (np.abs(stage + bubble - sum(parts)) > STEP_SUM_NS)
    message = say("Stage + Bubble is not Computing + Communication(Not Overlapped) + Free: one of them is wrong")
    return findings_of_rows(data, STEP_SUM, message, off)


def _of_one_rank(data: TableData) -> Mask:
    if "type" not in data.frame.column_names:
        return np.ones(data.frame.num_rows, dtype=bool)
    return words_in(data.frame["type"], {"rank"})


def iterations(data: TableData) -> Sequence[Finding]:
    """Iterations are counted one by one: a gap is one that is missing."""
    if data.table.name != "step_trace" or "iteration_id" not in data.frame.column_names:
        return ()
    names = [name for name in ("device_id", "model_id") if name in data.frame.column_names]
    numbers: dict[tuple[Any, ...], list[int]] = {}
    keys = [data.frame[name].to_pylist() for name in names]
    for row, number in enumerate(data.frame["iteration_id"].to_pylist()):
        numbers.setdefault(tuple(key[row] for key in keys), []).append(number)
    found = []
    for mine in numbers.values():
        there = sorted(set(mine))
        gaps = [(a + 1, b - 1) for a, b in pairwise(there) if b > a + 1]
        if gaps:
            words = join(
                ", ",
                (str(a) if a == b else say("{first} to {last}", first=a, last=b) for a, b in gaps[:EXAMPLES_PER_RULE]),
            )
            message = say(
                "iterations {numbers} between {first} and {last} are missing",
                numbers=words,
                first=there[0],
                last=there[-1],
            )
            found.append(STEP_MISSING.found(str(data.path), message))
        if there[0] > 1:
            message = say(
                "the first iteration here is number {number}: earlier ones were not recorded", number=there[0]
            )
            found.append(STEP_MISSING.found(str(data.path), message, severity="info"))
    return found
