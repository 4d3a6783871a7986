"""What operators of experts take on each rank of a server, and how many tokens they are given, as far as shapes tell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from aoe_reports.facts.tasks import TaskSet
from aoe_reports.model.arrays.columns import codes, exact_sum, integers
from aoe_reports.topics.serving.facts import Served
from aoe_reports.topics.serving.roles import role_of
from aoe_reports.topics.serving.shapes import shapes_of
from aoe_reports.topics.steps.experts import is_of_experts

PHASES_OF_EXPERTS = ("prefill", "decode", "mixed")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpertWork:
    """An operator type of experts on one device, in the iterations of one phase."""

    run: str
    rank_id: int | None
    device_id: int | None
    phase: str
    op_type: str
    computes: bool
    """Whether it only computes: what dispatches and combines tokens waits for other ranks, too."""
    count: int
    total_ns: int
    rows: int | None
    """The first sizes of its inputs, summed: the tokens that the experts of the rank are given, or a buffer's size."""


def work_of_experts(run: str, tasks: TaskSet, served: Served) -> Iterator[ExpertWork]:
    """The operator types of experts of a device, phase by phase."""
    frame = tasks.frame
    numbers, words = codes(frame["op_type"])
    durations, _ = integers(frame["task_duration_ns"])
    types = [(number, word) for number, word in enumerate(words, start=1) if role_of(word) == "moe"]
    for phase in PHASES_OF_EXPERTS if types else ():
        inside = served.in_phase(phase)
        for number, word in sorted(types, key=lambda one: one[1]):
            mine = np.flatnonzero(inside & (numbers == number))
            if len(mine):
                computes = is_of_experts(word)
                yield ExpertWork(
                    run=run,
                    rank_id=tasks.rank_id,
                    device_id=tasks.device_id,
                    phase=phase,
                    op_type=word,
                    computes=computes,
                    count=len(mine),
                    total_ns=exact_sum(durations[mine]),
                    rows=_rows(frame["input_shapes"].take(pa.array(mine)))
                    if computes and "grouped" in word.lower()
                    else None,
                )


def _rows(shapes: pa.ChunkedArray) -> int | None:
    """The first sizes of the first inputs, summed; null where one is not told."""
    numbers, words = codes(shapes)
    firsts = [shapes_of(word) for word in words]
    sizes = np.asarray([0, *(told[0][0] if told and told[0] else 0 for told in firsts)], dtype=np.int64)[numbers]
    return exact_sum(sizes) if (sizes > 0).all() else None
