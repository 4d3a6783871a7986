"""TaskSet: the tasks of one device in one run, as analyses take them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc


@dataclass(frozen=True, slots=True)
class TaskSet:
    """Tasks of one rank (and, where the export tells, one device): the columns of op_summary that were asked for."""

    rank_id: int | None
    device_id: int | None
    frame: pa.Table
    grouped: bool = False
    """Whether the frame is op_statistic (one row a type) for want of a table of tasks."""


RankOf = Callable[[int | None], int | None]
"""The rank of a device."""


def split_devices(rank_of: RankOf, frame: pa.Table, *, grouped: bool = False) -> list[TaskSet]:
    """One TaskSet a device; one with an unknown device where the export has no Device_id."""
    if "device_id" not in frame.column_names:
        return [TaskSet(rank_of(None), None, frame, grouped)]
    if not frame["device_id"].null_count and len(unique := pc.unique(frame["device_id"])) == 1:
        device = unique[0].as_py()  # nothing to be parted: a copy of all columns takes longer than ranking them
        return [TaskSet(rank_of(device), device, frame, grouped)]
    devices = sorted(device for device in pc.unique(frame["device_id"]).to_pylist() if device is not None)
    sets = [
        TaskSet(rank_of(device), device, frame.filter(pc.equal(frame["device_id"], device)), grouped)
        for device in devices
    ]
    if frame["device_id"].null_count:
        sets.append(TaskSet(rank_of(None), None, frame.filter(pc.is_null(frame["device_id"])), grouped))
    return sets
