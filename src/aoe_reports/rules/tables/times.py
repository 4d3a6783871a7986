"""Rules on times and shares that have to agree within a table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aoe_reports.formats.csv.summary import TableData
from aoe_reports.model.arrays.columns import Ints, floats, integers
from aoe_reports.model.findings import Finding
from aoe_reports.model.rules import TABLES
from aoe_reports.model.texts import say
from aoe_reports.rules.tables.rows import ROUNDING_NS, as_integers, findings_of_rows

SHARE_ROUNDING = 0.0002
_MIN_ROWS_FOR_SHARES = 2


INTERVAL_MISMATCH = TABLES.rule("interval-mismatch", "warning", "stop - start does not equal the duration of the task")


def intervals(data: TableData) -> Sequence[Finding]:
    """What starts and stops lasts from one to the other."""
    parts = ("task_start_ns", "task_stop_ns", "task_duration_ns")
    if not set(parts) <= set(data.frame.column_names):
        return ()
    (start, a), (apart, b), (duration, c) = (integers(data.frame[name]) for name in parts)
    apart -= start  # in place: of millions of tasks each such column takes tens of megabytes
    apart -= duration
    off = a & b & c & (np.abs(apart, out=apart) > ROUNDING_NS)
    if off.any():
        off &= apart > _stamp_noise(start)
    return findings_of_rows(data, INTERVAL_MISMATCH, say("stop - start does not equal the duration of the task"), off)


def _stamp_noise(start: Ints) -> Ints:
    """How far stamps may be off: those that went through a float64 of microseconds since 1970 by 0.25 us each."""
    epoch_in_float = 10**18
    return np.where(start > epoch_in_float, 600, ROUNDING_NS)


STATISTIC_ARITHMETIC = TABLES.rule(
    "statistic-arithmetic", "warning", "Min, Avg, Max, Count and total of one row are inconsistent"
)


def statistics(data: TableData) -> Sequence[Finding]:
    """Min <= Avg <= Max, and Count x Avg is the total, within the printed digits."""
    parts = ("count", "total_time_ns", "min_time_ns", "avg_time_ns", "max_time_ns")
    if not set(parts) <= set(data.frame.column_names):
        return ()
    (count, total, low, mean, high), masks = zip(*(integers(data.frame[name]) for name in parts), strict=True)
    there = np.logical_and.reduce(masks)
    noise = ROUNDING_NS
    off = there & ((low > mean + noise) | (mean > high + noise) | (np.abs(mean * count - total) > noise * (count + 1)))
    message = say("Min, Avg, Max, Count and total are inconsistent")
    return findings_of_rows(data, STATISTIC_ARITHMETIC, message, off)


SHARE_SUM = TABLES.rule("share-sum", "warning", "the shares of a whole statistic do not add up to 100%")


def shares(data: TableData) -> Sequence[Finding]:
    """Shares of a whole table add up to 1: else a row is missing."""
    if data.table.name not in {"op_statistic", "communication_statistic"} or data.rows_reported:
        return ()
    if "share" not in data.frame.column_names or data.frame.num_rows < _MIN_ROWS_FOR_SHARES:
        return ()
    values, there = floats(data.frame["share"])
    names = [name for name in ("device_id", "model_name") if name in data.frame.column_names]
    keys = [as_integers(data.frame[name])[0] for name in names]
    groups: dict[tuple[int, ...], float] = {}
    for row in range(len(values)):
        key = tuple(int(column[row]) for column in keys)
        groups[key] = groups.get(key, 0.0) + float(values[row])
    if not there.all() or all(abs(whole - 1) <= SHARE_ROUNDING + len(values) * 5e-6 for whole in groups.values()):
        return ()
    off = next(whole for whole in groups.values() if abs(whole - 1) > SHARE_ROUNDING)
    message = say("the shares add up to {share:.4%}: a row is missing or damaged", share=off)
    return [SHARE_SUM.found(str(data.path), message)]
