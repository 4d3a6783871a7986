"""Gradient tuning: the all-reduce behind the backward pass that could be hidden, and what a bank's gradients allow."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

import numpy as np
import pyarrow as pa

from aoe_reports.facts.steps import TraceRow
from aoe_reports.formats.aoe.gradients import GradientModel
from aoe_reports.model.arrays.intervals import covered, union
from aoe_reports.model.topics.communication import Segment, Tail
from aoe_reports.topics.communication.facts import OperatorTime

DEFAULT_FIRST_SHARE = 0.9654
"""The share of all bytes in the first of the two segments that gradients are split into unless told otherwise.

CANN, hccl.split.api, set_split_strategy_by_size: 96.54 % and 3.46 %. On the gradients of the bank that comes with CANN
this gives the segments of the documented example, [0,107] and all behind it.
"""


def find_gradient_tails(
    frame: pa.Table, operators: Sequence[OperatorTime] = (), models: Sequence[GradientModel] = ()
) -> list[Tail]:
    """The tail of every iteration of `step_trace` whose backward pass is known to end; ranks from a column `rank_id`.

    All-reduces are those of step_trace, else (where it has none, or none with its length) the `operators` (one device's, on
    the clock of step_trace) of this type that begin in the iteration. `models` of a bank tell what stays: the share of the
    last gradient in all of the bytes, of all of the time (linear: the start of an all-reduce is left out, so this is the
    least); of several models the least.
    """
    share = min((model.sizes_bytes[-1] / sum(model.sizes_bytes) for model in models if _is_usable(model)), default=0.0)
    found: dict[tuple[Any, ...], Tail] = {}
    for row in frame.to_pylist():
        tail = _tail(row, operators, share)
        if tail is not None:
            found.setdefault((tail.device_id, tail.model_id, tail.step, tail.bp_end_ns), tail)
    return sorted(found.values(), key=_place)


def _tail(row: TraceRow, operators: Sequence[OperatorTime], share: float) -> Tail | None:
    """The tail of one iteration, of which a `share` stays; None where no end of the backward pass or no all-reduce is told."""
    end, start = row.get("bp_end_ns"), row.get("fp_start_ns")
    if not end:
        return None  # C++ exporters print 0.000 where the point was not found
    reduces, unmeasured = _reduces(row)
    of_timeline = _operators_in(row, operators) if unmeasured or not reduces else []
    if of_timeline:
        reduces, unmeasured = of_timeline, 0
    if not reduces:
        return None
    starts, ends = zip(*reduces, strict=True)
    whole = union(np.asarray(starts, dtype=np.int64), np.asarray(ends, dtype=np.int64))
    before = covered(whole, min(int(whole.starts[0]), end), end)
    return Tail(
        rank_id=row.get("rank_id"),
        device_id=row.get("device_id"),
        model_id=row.get("model_id"),
        step=row["iteration_id"],
        bp_end_ns=end,
        iteration_ns=row["iteration_time_ns"],
        source="timeline" if of_timeline else "step_trace",
        reduces=len(reduces),
        late_reduces=sum(stop > end for _, stop in reduces),
        reduce_ns=whole.total,
        hidden_ns=before,
        tail_ns=whole.total - before,
        last_end_ns=max(int(whole.ends[-1]) - end, 0),
        room_ns=end - start - covered(whole, start, end) if start and start <= end else None,
        unmeasured_reduces=unmeasured,
        necessary_ns=round(share * whole.total),
    )


def _place(tail: Tail) -> tuple[int, ...]:
    values = (tail.rank_id, tail.device_id, tail.model_id, tail.step, tail.bp_end_ns)
    return tuple(-1 if value is None else value for value in values)


def _reduces(row: TraceRow) -> tuple[list[tuple[int, int]], int]:
    """((start, end) of each all-reduce that step_trace tells of, how many have no length)."""
    starts, lengths = row.get("reduce_start_ns") or (), row.get("reduce_duration_ns") or ()
    pairs = [(start, length) for start, length in zip_longest(starts, lengths) if start]
    measured = [(start, start + length) for start, length in pairs if length is not None]
    return measured, len(pairs) - len(measured)


def _operators_in(row: TraceRow, operators: Sequence[OperatorTime]) -> list[tuple[int, int]]:
    """All-reduces that begin between the start of the forward pass (else of the iteration) and the iteration's end."""
    stop = row.get("iteration_end_ns")
    start = row.get("fp_start_ns") or (stop - row["iteration_time_ns"] if stop else None)
    if not start or not stop:
        return []
    return [
        (operator.start_ns, operator.start_ns + operator.elapsed_ns)
        for operator in operators
        if operator.op_type == "allreduce" and operator.start_ns is not None and start <= operator.start_ns < stop
    ]


def _is_usable(model: GradientModel) -> bool:
    return model.tuned and model.times == len(model.sizes_bytes) and sum(model.sizes_bytes) > 0


def default_segments(model: GradientModel) -> list[Segment]:
    """The segments that a model's gradients are reduced in where no strategy is set; none of a model that is not tuned.

    The first one ends with the gradient that brings it to DEFAULT_FIRST_SHARE of all bytes.
    """
    if not _is_usable(model):
        return []
    sizes = model.sizes_bytes
    whole, sum_so_far, cut = sum(sizes), 0, len(sizes) - 1
    for place, size in enumerate(sizes):
        sum_so_far += size
        if sum_so_far >= DEFAULT_FIRST_SHARE * whole:
            cut = place
            break
    bounds = [(0, cut)] + ([(cut + 1, len(sizes) - 1)] if cut + 1 < len(sizes) else [])
    times, time = sum(model.deltas), [0, *model.deltas]
    return [
        Segment(
            modelhash=model.modelhash,
            segment=number,
            first=first,
            last=last,
            size_bytes=sum(sizes[first : last + 1]),
            size_share=sum(sizes[first : last + 1]) / whole,
            time_share=sum(time[: last + 1]) / times if times else None,
        )
        for number, (first, last) in enumerate(bounds, start=1)
    ]
