"""What one pass over a timeline tells of a capture itself: steps, compilation, the clock of the cores, other processes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from aoe_reports.facts.breakdown import EVENT_COLUMNS, Activity, OfDevice
from aoe_reports.formats.ascend.tables.timelines import CLOCK_COUNTER, device_bits, profiled_process
from aoe_reports.model.arrays.columns import Floats, Ints, integers, keep_where, valid, words_in
from aoe_reports.model.arrays.intervals import covered, union
from aoe_reports.model.rows import row_from
from aoe_reports.model.topics.breakdown import Parts
from aoe_reports.model.topics.steps import Step
from aoe_reports.topics.quality.steadiness import Place

OBSERVED_COLUMNS = (*EVENT_COLUMNS, "frequency_mhz")
"""The columns of events that are looked at."""
HIGHEST_MHZ = 100_000.0
"""What claims to be faster is no frequency of a core, or in another unit."""


@dataclass(frozen=True, slots=True)
class ClockUse:
    """The clock of the cores while a device computed, as counters tell it."""

    highest_mhz: float
    lowest_mhz: float
    """The lowest at which any task began."""
    lost: float
    """By what share computing would be shorter if all tasks had run at the highest; memory may bound some, so at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedDevice:
    """One device in a timeline; times in ns."""

    device_id: int | None
    whole: Parts
    steps: Mapping[int, Parts]
    clock: ClockUse | None = None
    others_ns: int | None = None
    """How long tasks of other processes ran on it; null where nothing tells processes apart."""


@dataclass(slots=True)
class Observed:
    """Takes the events of one capture, batch after batch, as `Activity` does, and the counters of the clock."""

    activity: Activity = field(default_factory=Activity)
    _clocks: dict[str | None, list[tuple[Ints, Floats]]] = field(default_factory=dict)

    def add(self, batch: pa.RecordBatch) -> None:
        """Take in some events; they need OBSERVED_COLUMNS, of a database all but the last."""
        self.activity.add(batch)
        if "frequency_mhz" not in batch.schema.names:
            return
        frame = pa.Table.from_batches([batch])
        told = valid(frame["frequency_mhz"])
        if not told.any():
            return
        some = frame.select(["name", "pid", "start_ns", "frequency_mhz"]).filter(keep_where(told))
        some = some.filter(keep_where(words_in(some["name"], {CLOCK_COUNTER})))
        start, timed = integers(some["start_ns"])
        values = [_number(text) for text in some["frequency_mhz"].to_pylist()]
        mhz = np.asarray([0.0 if value is None else value for value in values])
        good = timed & (mhz > 0)
        pids = some["pid"].to_pylist()
        for pid in dict.fromkeys(pids):
            mine = good & np.asarray([one == pid for one in pids])
            self._clocks.setdefault(pid, []).append((start[mine], mhz[mine]))

    def merge(self, other: Observed) -> None:
        """Take in what another one has of the same capture: of events behind its own."""
        self.activity.merge(other.activity)
        for pid, some in other._clocks.items():
            self._clocks.setdefault(pid, []).extend(some)

    def devices(
        self, clocks: Sequence[tuple[int, int, int]] = (), processes: Sequence[tuple[int, int, int]] = ()
    ) -> list[ObservedDevice]:
        """Each device, by its number; `clocks` and `processes` are what a database tells beside events."""
        told, several = self.activity.break_down(0), self.activity.of_devices()
        others = _others(several)
        found = []
        for device, one in zip(several, told, strict=True):
            if others.get(device.pid, 0) is None:
                continue  # no work of the job
            points = _points_of(clocks, one.device_id) or self._points(device, alone=len(several) == 1)
            beside = _beside(processes, one.device_id) if processes else others.get(device.pid)
            found.append(
                ObservedDevice(
                    device_id=one.device_id,
                    whole=one.whole,
                    steps=one.steps,
                    clock=_clock_use(device, points),
                    others_ns=beside,
                )
            )
        return found

    def compiling(self) -> dict[int, int]:
        """For how long the host compiled operators (or looked them up) in each step, in ns; steps without any are left out."""
        blocks = list(self.activity.waits["compilation"].blocks())
        if not any(len(some["start"]) for some in blocks):
            return {}
        calls = union(*(np.concatenate([some[name] for some in blocks]) for name in ("start", "end")))
        spent = {step: covered(calls, start, end) for step, (start, end) in self.activity.steps_on_host.items()}
        return {step: ns for step, ns in spent.items() if ns}

    def _points(self, device: OfDevice, *, alone: bool) -> list[tuple[Ints, Floats]]:
        if alone:
            return [one for some in self._clocks.values() for one in some]
        return [one for pid, some in self._clocks.items() if _is_beside(pid, device.pid) for one in some]


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if 0 < value < HIGHEST_MHZ else None


def _is_beside(pid: str | None, device: str | None) -> bool:
    """Whether two processes of a timeline stand for the same device of the same job."""
    known = profiled_process(pid)
    return bool(known) and known == profiled_process(device) and device_bits(pid or "") == device_bits(device or "")


def _points_of(clocks: Iterable[tuple[int, int, int]], device_id: int | None) -> list[tuple[Ints, Floats]]:
    mine = [(at, mhz) for device, at, mhz in clocks if device_id in {None, device} and 0 < mhz < HIGHEST_MHZ]
    if not mine:
        return []
    return [(np.asarray([at for at, _ in mine], dtype=np.int64), np.asarray([float(mhz) for _, mhz in mine]))]


def _clock_use(device: OfDevice, points: Sequence[tuple[Ints, Floats]]) -> ClockUse | None:
    """How fast the cores ran while tasks did: a counter holds until the next one, the first also for what is before it."""
    if not any(len(at) for at, _ in points):
        return None
    at, mhz = (np.concatenate([point[part] for point in points]) for part in (0, 1))
    order = np.argsort(at, kind="stable")
    at, mhz = at[order], mhz[order]
    spent: Counter[float] = Counter()
    for tasks in device.tasks.blocks():
        place = np.maximum(np.searchsorted(at, tasks["start"], side="right") - 1, 0)
        values, of = np.unique(mhz[place], return_inverse=True)
        took = np.bincount(of, weights=tasks["end"] - tasks["start"], minlength=len(values))
        spent.update(dict(zip(values.tolist(), took.tolist(), strict=True)))
    whole = sum(spent.values())
    if not whole:
        return None
    highest = float(mhz.max())
    lost = sum(took * (1 - value / highest) for value, took in spent.items()) / whole
    return ClockUse(highest, min(spent), lost)


def _others(devices: Sequence[OfDevice]) -> dict[str | None, int | None]:
    """How long tasks of others ran on the device of each process of a timeline; null for the others: one ran longer than they did."""
    told = [one.pid for one in devices if profiled_process(one.pid)]
    if len(told) < 2 or len({device_bits(pid or "") for pid in told}) == len(told):  # noqa: PLR2004 -- nobody else
        return {}
    spent = {one.pid: _tasks_ns(one) for one in devices if one.pid in told}
    found: dict[str | None, int | None] = {}
    for device in {device_bits(pid or "") for pid in told}:
        mine = {pid: ns for pid, ns in spent.items() if device_bits(pid or "") == device}
        longest = max(mine, key=mine.__getitem__)
        found |= {pid: sum(mine.values()) - mine[pid] if pid == longest else None for pid in mine}
    return found


def _tasks_ns(device: OfDevice) -> int:
    return sum(int((some["end"] - some["start"]).sum()) for some in device.tasks.blocks())


def _beside(processes: Sequence[tuple[int, int, int]], device_id: int | None) -> int:
    """How long tasks of all processes ran but of that which ran longest."""
    spent = sorted(ns for device, _, ns in processes if device_id in {None, device})
    return sum(spent[:-1])


def steps_of_parts(place: Place, steps: Mapping[int, Parts]) -> Iterator[Step]:
    """The steps of a device as its timeline tells them."""
    for number, parts in steps.items():
        whose = {"run": "", "rank_id": place[0], "device_id": place[1], "step": number}
        yield row_from(Step, parts, **whose, duration_ns=parts.end_to_end_ns)
