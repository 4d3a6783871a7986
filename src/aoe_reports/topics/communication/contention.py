"""Computing that is slower while its device communicates: both use the memory and the buses of the chip."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from aoe_reports.formats.tasks import filled_up
from aoe_reports.model.arrays.columns import Ints, has_value, integers, valid
from aoe_reports.model.arrays.intervals import covered_each, union
from aoe_reports.model.rules import COMMUNICATION
from aoe_reports.model.texts import say
from aoe_reports.model.topics.communication import Contended
from aoe_reports.stats.grouping import group_codes, is_communication
from aoe_reports.stats.sample import MAD_TO_SIGMA

CONTENTION_COLUMNS = frozenset(
    {"op_type", "op_name", "task_type", "input_shapes", "task_start_ns", "task_duration_ns", "device_id"}
)
"""The columns of tasks that are looked at."""
MIN_CALLS = 5
"""Of fewer calls, beside communication or without, no median tells."""
BESIDE = 0.5
"""A task runs beside communication if this runs for so much of it."""
SIGMAS = 3.0
MIN_AMONG = 0.1
"""So many of the calls without communication are on each side of the middle one beside it: else what drifts looks like contention."""
_OF_MEDIAN = 1.2533
"""The standard error of a median of normal noise, as a multiple of that of the mean."""
MIN_SHARE = 0.01
CONTENTION = COMMUNICATION.rule(
    "contention",
    "info",
    say(
        "computing that took at least {share:.0%} longer in all, as its operators are slower beside communication than without: medians of at "
        "least {least} calls each that alternate, more than {sigmas:g} standard errors apart, by the order of all calls, too",
        share=MIN_SHARE,
        least=MIN_CALLS,
        sigmas=SIGMAS,
    ),
    "Ascend/msinsight: BandwidthContentionAnalyzer",
)


@dataclass(frozen=True, slots=True)
class Contention:
    """What one device computed, how much of it ran beside communication, and what can be compared; ns."""

    computing_ns: int
    beside_ns: int
    """The time of tasks that communication runs beside for half of them or more."""
    compared_ns: int
    """Of that, the time of tasks that ran without communication often enough, too."""
    lost_ns: int
    """What is lost in operators that are slower beyond doubt."""
    slower: int
    """How many these are."""
    operators: list[Contended]
    """Those that lose most come first."""
    rank_id: int | None = None
    device_id: int | None = None


def find_contention(tasks: pa.Table, top: int) -> Contention | None:
    """What tasks (CONTENTION_COLUMNS of them) of one device lose beside its communication; None where that is not told."""
    tasks, _ = filled_up(tasks, CONTENTION_COLUMNS)
    if not has_value(tasks, "task_start_ns"):
        return None
    talks = is_communication(tasks["task_type"])
    start, timed = integers(tasks["task_start_ns"])
    duration, lasting = integers(tasks["task_duration_ns"])
    there = timed & lasting
    talk = union(start[talks & there], (start + duration)[talks & there])
    if not len(talk):
        return None
    computing = ~talks & valid(tasks["task_type"]) & there
    rows = np.flatnonzero(computing)
    begin, length = start[rows], duration[rows]
    del start, duration, there, talks, computing  # there may be millions
    hidden = covered_each(talk, begin, begin + length)
    beside, alone = (hidden >= BESIDE * length) & (length > 0), hidden == 0
    name = "op_type" if has_value(tasks, "op_type") else "op_name"
    groups_of, names = group_codes(tasks, (name, "task_type", "input_shapes"))
    of_row = groups_of[rows]
    with_both = np.bincount(of_row[beside], minlength=names.count) >= MIN_CALLS
    with_both &= np.bincount(of_row[alone], minlength=names.count) >= MIN_CALLS
    order = np.argsort(of_row, kind="stable")
    bounds = np.searchsorted(of_row[order], np.arange(names.count + 1))
    found = []
    for group in np.flatnonzero(with_both).tolist():
        calls = order[bounds[group] : bounds[group + 1]]
        sides = calls[alone[calls]], calls[beside[calls]]
        alternate = _alternate(*(begin[side] for side in sides))
        compared = _compared(*(length[side] for side in sides), alternate=alternate)
        word, task_type, shapes = names[group]
        named: dict[str, Any] = {"op_type": None, "op_name": None, name: word}
        found.append(Contended(**named, task_type=task_type, input_shapes=shapes, **compared))
    found.sort(key=lambda row: (-row.lost_ns, row.op_type or "", row.op_name or "", row.input_shapes or ""))
    return Contention(
        computing_ns=int(length.sum()),
        beside_ns=int(length[beside].sum()),
        compared_ns=int(length[beside & with_both[of_row]].sum()),
        lost_ns=sum(row.lost_ns for row in found if row.is_slower),
        slower=sum(row.is_slower for row in found),
        operators=found[:top],
    )


def _alternate(alone: Ints, beside: Ints) -> bool:
    """Whether calls without communication started before those beside it as well as after them."""
    before = float(np.mean(alone < np.median(beside)))
    return MIN_AMONG <= before <= 1 - MIN_AMONG


def _longer(alone: Ints, beside: Ints) -> bool:
    """Whether those beside are longer by the order of all (Mann and Whitney): medians of two clusters are far apart by chance."""
    ordered = np.sort(alone)
    below = np.searchsorted(ordered, beside, side="left") + np.searchsorted(ordered, beside, side="right")
    pairs = len(alone) * len(beside)
    wins = float(below.sum()) / 2
    error = float(np.sqrt(pairs * (len(alone) + len(beside) + 1) / 12))
    return wins == pairs or wins - pairs / 2 > SIGMAS * error


def _compared(alone: Ints, beside: Ints, *, alternate: bool) -> dict[str, Any]:
    """The columns that compare the durations of calls alone with those beside communication."""
    without, with_it = float(np.median(alone)), float(np.median(beside))
    error = float(np.hypot(_error(alone, without), _error(beside, with_it)))
    return {
        "alone": len(alone),
        "beside": len(beside),
        "alone_median_ns": round(without),
        "beside_median_ns": round(with_it),
        "slowdown": with_it / without - 1 if without else 0.0,
        "lost_ns": round((with_it - without) * len(beside)),
        "is_slower": with_it - without > SIGMAS * error and _longer(alone, beside) and alternate,
    }


def _error(values: Ints, middle: float) -> float:
    """The standard error of a median."""
    return _OF_MEDIAN * MAD_TO_SIGMA * float(np.median(np.abs(values - middle))) / float(np.sqrt(len(values)))
