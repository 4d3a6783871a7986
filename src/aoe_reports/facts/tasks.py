"""TaskSet: the tasks of one device in one run, as analyses take them."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc

from aoe_reports.formats.tasks import filled_up


@dataclass(frozen=True, slots=True)
class TaskSet:
    """Tasks of one rank (and, where the export tells, one device): the columns that were asked for."""

    rank_id: int | None
    device_id: int | None
    frame: pa.Table
    grouped: bool = False
    """Whether the frame holds sums (one row a type) for want of a table of tasks."""
    missing: frozenset[str] = frozenset()
    """The columns that the export has not: they are null in every row."""

    @property
    def place(self) -> tuple[int, int]:
        """(rank, device), to sort by; -1 for an unknown one."""
        return (-1 if self.rank_id is None else self.rank_id, -1 if self.device_id is None else self.device_id)

    def as_exported(self) -> TaskSet:
        """The same without the columns that the export has not, for who judges by what it tells."""
        if not self.missing:
            return self
        return replace(self, frame=self.frame.drop_columns(sorted(self.missing)), missing=frozenset())

    def without_rows(self) -> TaskSet:
        """The same with none of its tasks."""
        return replace(self, frame=self.frame.slice(0, 0))


RankOf = Callable[[int | None], int | None]
"""The rank of a device."""


def split_devices(
    rank_of: RankOf, frame: pa.Table, *, grouped: bool = False, columns: Collection[str] = ()
) -> list[TaskSet]:
    """One TaskSet a device, with every one of `columns`; one with an unknown device where the export tells none."""
    sets = []
    for device, part in _by_device(frame):
        whole, missing = (part, frozenset[str]()) if grouped else filled_up(part, columns)
        sets.append(TaskSet(rank_of(device), device, whole, grouped, missing))
    return sets


def _by_device(frame: pa.Table) -> list[tuple[int | None, pa.Table]]:
    """The rows of each device, those of an unknown one last."""
    if "device_id" not in frame.column_names:
        return [(None, frame)]
    unique = pc.unique(frame["device_id"])
    if len(unique) == 1:  # nothing to be parted: a copy of all columns takes longer than ranking them
        return [(unique[0].as_py(), frame)]
    devices = sorted(device for device in unique.to_pylist() if device is not None)
    parts = [(device, frame.filter(pc.equal(frame["device_id"], device))) for device in devices]
    if frame["device_id"].null_count:
        parts.append((None, frame.filter(pc.is_null(frame["device_id"]))))
    return parts
