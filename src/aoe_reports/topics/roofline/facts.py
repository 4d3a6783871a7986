"""How near operators come to what the chip can do: FLOP/s and bytes/s against its peaks, and what bounds them.

An operator is all calls of one type on one kind of core whose tensors have the same shapes, types and formats.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
import pyarrow as pa

from aoe_reports.facts.bounds import (
    CUBE_TASKS,
    CoreCounts,
    Counters,
    Means,
    OperatorBounds,
    TaskGroups,
    computing_of,
    counter_columns,
)
from aoe_reports.facts.clock import measure_clock
from aoe_reports.facts.idle import STEP_COLUMNS, step_of_tasks
from aoe_reports.formats.tasks import filled_up
from aoe_reports.model.arrays.columns import (
    Floats,
    Ints,
    Mask,
    SomeRows,
    distinct,
    exact_sum,
    has_value,
    integers,
    sums_by,
)
from aoe_reports.model.by_key import lists_by_key
from aoe_reports.stats.grouping import Names, group_codes, largest
from aoe_reports.topics.roofline.chips import Peaks, may_have_peak, peaks_of
from aoe_reports.topics.roofline.flops import FORMULAS, Call, Unknown, Work, call_of, origins_of, work_of

RoofBound = Literal["compute", "memory", "cache", "small"]
NEAR = 0.8
"""From this part of the roof on little is left to be gained by tuning."""
SMALL_NS = 10_000
"""A call that is shorter takes no longer than its launch; see `small_kernel_us` of the advice."""
_HALF = 0.5
TOLERANCE = 0.02
"""Times have three decimals, and bandwidths are round figures: less above a peak is none."""

KEYS = (
    "op_type", "task_type", "input_shapes", "input_data_types", "input_formats", "output_shapes", "output_data_types",
    "output_formats", "hf32_eligible",
)  # fmt: skip
"""What makes up an operator."""
REASONS: tuple[Unknown, ...] = get_args(Unknown)
_MAC = ("mac_ratio",)
_BANDWIDTHS = ("main_mem_read_bw_gb_per_s", "main_mem_write_bw_gb_per_s")
_CORES = ("aic_", "aiv_", "")
TASK_COLUMNS = (
    frozenset({*KEYS, *STEP_COLUMNS, "task_start_ns", "task_duration_ns", "block_num", "device_id", "aicore_time_us"})
    | {"aiv_time_us", "cube_utilization_percent"}
    | {f"{core}{name}" for core in _CORES for name in (*_MAC, "vec_ratio", "mte2_ratio", "total_cycles", *_BANDWIDTHS)}
)
"""The columns of tasks that are looked at, where they are there."""


@dataclass(frozen=True, slots=True)
class Counted:
    """What hardware counters tell of an operator, as means over its time; null where they are not there."""

    mac_ratio: float | None = None
    vec_ratio: float | None = None
    mte2_ratio: float | None = None
    cube_utilization: float | None = None
    """The part of the cube cores' cycles in which they were given to it, 0…1."""
    gb_per_s: float | None = None
    """Read from and written to main memory."""

    @property
    def cube_share(self) -> float | None:
        """The part of all cube cycles in which a product was computed: what the share of the peak by formula is held against."""
        if self.mac_ratio is None or self.cube_utilization is None:
            return None
        return self.mac_ratio * self.cube_utilization


@dataclass(frozen=True, slots=True)
class Roofed:
    """One operator of one device; times in ns."""

    words: tuple[str | None, ...]
    """As in `KEYS`."""
    count: int
    total_ns: int
    work: Work | None
    why: Unknown | None
    """Why its work is not known."""
    counted: Counted
    peak_flops_per_s: float | None
    peak_bytes_per_s: float | None
    l2_bytes: int | None
    step_count: int = 0
    """How many of its calls lie in steps."""
    is_peak_certain: bool = True
    """Whether the chip cannot have more cores than its peak is of."""

    @property
    def mean_ns(self) -> float:
        """Of one call."""
        return self.total_ns / self.count

    @property
    def flops_per_s(self) -> float | None:
        """What it reaches; null where its work, or its time, is not known."""
        return self.work.flops / self.mean_ns * 1e9 if self.work is not None and self.total_ns else None

    @property
    def bytes_per_s(self) -> float | None:
        """What it reaches at least."""
        return self.work.bytes_ / self.mean_ns * 1e9 if self.work is not None and self.total_ns else None

    @property
    def intensity(self) -> float | None:
        """FLOP per byte; null where nothing moves."""
        return self.work.flops / self.work.bytes_ if self.work is not None and self.work.bytes_ else None

    @property
    def compute_share(self) -> float | None:
        """The part of the peak of its unit and precision."""
        return _part(self.flops_per_s, self.peak_flops_per_s)

    @property
    def memory_share(self) -> float | None:
        """The part of the memory's bandwidth; above 1 where a cache holds what it reads."""
        return _part(self.bytes_per_s, self.peak_bytes_per_s)

    @property
    def roof_share(self) -> float | None:
        """The part of the roof at its intensity; null where the roof is not known."""
        shares = [self.memory_share, self.compute_share]
        if self.work is not None and self.work.flops == 0:
            shares[1] = 0.0
        known = [share for share in shares if share is not None]
        return max(known) if len(known) == len(shares) else None

    @property
    def least_share(self) -> float | None:
        """The part of the roof that is certain: what a cache can have held at most does not count."""
        if self.work is None or not self.total_ns:
            return None
        held = self.l2_bytes or 0
        moved = max(self.work.bytes_ - held, 0) / self.mean_ns * 1e9 if self.l2_bytes is not None else None
        # what may be less than counted, or a part of a higher peak, is no reason to be content
        computed = self.compute_share if self.is_peak_certain and not self.work.at_most else None
        shares = [share for share in (computed, _part(moved, self.peak_bytes_per_s)) if share is not None]
        return max(shares, default=None)

    @property
    def is_above(self) -> bool:
        """Whether it reaches more than can be: then its formula, or the peak, is wrong."""
        computed, least = self.compute_share, self.least_share
        return max(computed or 0.0, least or 0.0) > 1 + TOLERANCE

    @property
    def is_near(self) -> bool:
        """Whether it certainly reaches `NEAR` of the roof."""
        return (self.least_share or 0.0) >= NEAR and not self.is_above

    @property
    def bound(self) -> RoofBound | None:
        """What bounds it; null where its roof is not known."""
        share = self.roof_share
        least = (self.compute_share or 0.0) if share is None else share
        if self.work is not None and self.mean_ns < SMALL_NS and least < _HALF:
            return "small"
        if share is None:
            return "compute" if least >= _HALF else None
        memory, compute = self.memory_share or 0.0, self.compute_share or 0.0
        if compute >= memory:
            return "compute"
        return "cache" if memory > 1 + TOLERANCE else "memory"


def _part(value: float | None, peak: float | None) -> float | None:
    return value / peak if value is not None and peak else None


@dataclass(frozen=True, slots=True)
class Roofline:
    """All operators of one device, and the device's peaks; entry i of each array is one operator. Times in ns."""

    names: Names
    counts: Ints
    step_counts: Ints
    """How many of the calls lie in steps; all where nothing tells of steps."""
    totals: Ints
    why: Ints
    """Place in `REASONS` of why its work is not known, -1 where it is, or takes too little time to be counted."""
    group_of: Ints
    """The operator of each task that computes, in their order."""
    roofed: Mapping[int, Roofed]
    """Those whose work is known, by their numbers, those of most time first."""
    works: Mapping[int, Work]
    counted: CountersOf
    peaks: Peaks
    step_ns: int | None
    """From the first to the last task, step by step where tasks tell of steps, summed."""
    steps: int

    def operator(self, group: int) -> Roofed:
        """One operator, with all that is known of it."""
        work, why = self.works.get(group), int(self.why[group])
        return Roofed(
            words=self.names[group],
            count=int(self.counts[group]),
            total_ns=int(self.totals[group]),
            step_count=int(self.step_counts[group]),
            is_peak_certain=self.peaks.is_certain,
            work=work,
            why=None if why < 0 else REASONS[why],
            counted=self.counted.of(group),
            peak_flops_per_s=None if work is None else self.peaks.flops_per_s(work.engine, work.precision),
            peak_bytes_per_s=self.peaks.bytes_per_s,
            l2_bytes=self.peaks.l2_bytes,
        )

    def operators(self, top: int) -> list[Roofed]:
        """The operators of most time, ties by their words."""
        return sorted((self.operator(group) for group in largest(self.totals, top)), key=_order)[:top]

    def by_type(self, top: int) -> list[list[Roofed]]:
        """The same by type and kind of core: those whose work is known, and all others as one."""
        types, cores = (self.names.numbers[place].astype(np.int64) for place in (0, 1))
        mixed = types * (len(self.names.words[1]) + 1) + cores
        classes, first, of = np.unique(mixed, return_index=True, return_inverse=True)
        sums = sums_by(of, self.totals, len(classes))
        known = lists_by_key((int(of[group]), self.roofed[group]) for group in self.works)
        chosen = [int(place) for place in largest(sums, top)]
        found = [known.get(place, []) + self._others(first[place], of == place) for place in chosen]
        return sorted(found, key=lambda group: (-sum(one.total_ns for one in group), *map(str, group[0].words[:2])))[
            :top
        ]

    def _others(self, first: int, mine: Mask) -> list[Roofed]:
        """Operators whose work is not known as one, for the reason that holds for most of their time."""
        mine = mine & (self.why >= 0)
        if not mine.any():
            return []
        times = sums_by(self.why[mine], self.totals[mine], len(REASONS))
        told = self.operator(int(first))
        return [
            replace(
                told,
                words=(*told.words[:2], *(None for _ in KEYS[2:])),
                count=int(self.counts[mine].sum()),
                total_ns=exact_sum(self.totals[mine]),
                work=None,
                why=REASONS[int(times.argmax())],
                counted=Counted(),
            )
        ]

    @property
    def known(self) -> Sequence[Roofed]:
        """Those whose work is known, those of most time first."""
        return [*self.roofed.values()]

    @property
    def near(self) -> Mask:
        """Which tasks that compute are of operators that certainly reach `NEAR` of the roof; of more than can be nothing is certain."""
        groups: Mask = np.zeros(len(self.totals), dtype=bool)
        for group, one in self.roofed.items():
            groups[group] = one.is_near
        found: Mask = groups[self.group_of]
        return found

    @property
    def computing_ns(self) -> int:
        """The sum of the operators' time."""
        return exact_sum(self.totals)

    @property
    def known_ns(self) -> int:
        """The time of operators whose work is known."""
        return sum(one.total_ns for one in self.known)

    @property
    def cube_flops(self) -> int:
        """Of all products in steps, by formula: what ran before the first step is no part of their time."""
        return sum(work.flops * one.step_count for one, work in self._of_cube())

    @property
    def cube_known_ns(self) -> int:
        """The time of operators on cube cores whose work is known."""
        return sum(one.total_ns for one, _ in self._of_cube())

    @property
    def cube_ns(self) -> int:
        """The time of all operators on cube cores: by their work, else by the core that they ran on."""
        on_cube = np.asarray([False, *(word in CUBE_TASKS for word in self.names.words[1])])[self.names.numbers[1]]
        return self.cube_known_ns + exact_sum(self.totals[on_cube & (self.why >= 0)])

    @property
    def at_peak_s(self) -> float | None:
        """How long all products in steps would take at the peak of their precision; null where that of one is not known."""
        times = [(work.flops * one.step_count, one.peak_flops_per_s) for one, work in self._of_cube() if one.step_count]
        if not times or any(peak is None for _, peak in times):
            return None
        return sum(flops / peak for flops, peak in times if peak is not None)

    def mfu(self, step_ns: int | None) -> float | None:
        """The share of some time that all products would take at the peak of their precision."""
        at_peak = self.at_peak_s
        return at_peak * 1e9 / step_ns if at_peak is not None and step_ns else None

    def _of_cube(self) -> Iterator[tuple[Roofed, Work]]:
        for one in self.known:
            if one.work is not None and one.work.engine == "cube":
                yield one, one.work


def _order(one: Roofed) -> tuple[Any, ...]:
    return (-one.total_ns, *(word or "" for word in one.words))


_ELSEWHERE = frozenset({"AI_CPU", "DSA_SQE"})
"""Task types of units that the peaks are not of."""


def measure_roofline(
    tasks: pa.Table,
    cores: CoreCounts,
    chip: str | None,
    *,
    tflops: float | None = None,
    gb_per_s: float | None = None,
    least_ns: float = 0,
    counters: Counters | None = None,
) -> Roofline | None:
    """The roofline of one device, from its tasks (TASK_COLUMNS of them, or none but those that are no `counters`); None where none computes.

    The work of operators is counted where all of their type, core and input shapes together take so long at least.
    """
    tasks, _ = filled_up(tasks, KEYS)
    computing = computing_of(tasks)
    if counters is None:
        counters = Counters(counter_columns(tasks, TASK_COLUMNS), computing)
    step_ns, steps = _steps(tasks)
    mine = SomeRows(tasks.select([name for name in tasks.column_names if name in _KEPT]), computing)
    if not mine.num_rows:
        return None
    group_of, names = group_codes(mine, KEYS)
    groups = TaskGroups(group_of, names.count)
    durations, _ = integers(mine["task_duration_ns"])
    clock = measure_clock(mine, counters.whole, cores.cube, cores.vector, cores.rated_mhz)
    split = _is_split(counters, cores)
    peaks = peaks_of(chip, cores, clock, split=split, tflops=tflops, gb_per_s=gb_per_s)
    totals = groups.sum(durations)
    works, why = _works(names, _matters(names, totals, least_ns))
    roofline = Roofline(
        names=names,
        counts=groups.count,
        step_counts=groups.sum(_in_steps(tasks, computing)),
        totals=totals,
        why=why,
        group_of=group_of,
        roofed={},
        works=works,
        counted=CountersOf(Means(counters, groups, durations)),
        peaks=peaks,
        step_ns=step_ns,
        steps=steps,
    )
    known = {group: roofline.operator(group) for group in works}
    return replace(roofline, roofed=dict(sorted(known.items(), key=lambda pair: _order(pair[1]))))


_KEPT = frozenset({*KEYS, "task_duration_ns", "block_num"})


def near_operators(bounds: OperatorBounds, roofline: Roofline) -> Mask:
    """The operators of `bounds` (of the same tasks) all of whose calls certainly reach so much of the roof that tuning gains little."""
    if not any(one.is_near for one in roofline.known):
        return np.zeros(len(bounds.total_ns), dtype=bool)
    durations, _ = integers(bounds.tasks["task_duration_ns"])
    near: Mask = (bounds.sums(durations * roofline.near) == bounds.total_ns) & (bounds.total_ns > 0)
    return near


def near_roof_of(
    tasks: pa.Table, bounds: OperatorBounds, cores: CoreCounts, chip: str | None, counters: Counters | None = None
) -> Mask | None:
    """Which operators of `bounds` tuning can gain little on, as `near_operators` tells them; null where no peak of the chip is certain."""
    if not may_have_peak(chip, cores):
        return None
    roofline = measure_roofline(tasks, cores, chip, counters=counters)
    return None if roofline is None else near_operators(bounds, roofline)


_ALIKE = 3
"""So many of KEYS, the first, make up what advice takes together: type, core, input shapes."""


def _matters(names: Names, totals: Ints, least_ns: float) -> Mask:
    """The operators of which those that are alike take so long together."""
    of: Ints = np.zeros(names.count, dtype=np.int64)
    for numbers in names.numbers[:_ALIKE]:
        _, of = np.unique(of * (int(numbers.max(initial=0)) + 1) + numbers, return_inverse=True)
    mine: Mask = sums_by(of, totals, names.count)[of] >= least_ns
    return mine


def _works(names: Names, matters: Mask) -> tuple[dict[int, Work], Ints]:
    """(what each operator that matters has to do, by its number; why that is not known of the others, -1 of what does not matter)."""
    why = _refused(names)
    calls: dict[int, Call] = {}
    converts = np.asarray([False, *(word == "TransData" for word in names.words[0])])[names.numbers[0]]
    for group in np.flatnonzero((why < 0) & (matters | converts)).tolist():  # conversions tell shapes of others
        words = names[group]
        hf32 = None if words[8] is None else words[8].upper() == "YES"
        call = call_of(words[0], (words[2], words[3], words[4]), (words[5], words[6], words[7]), hf32=hf32)
        if isinstance(call, Call):
            calls[group] = call
        else:
            why[group] = REASONS.index(call)
    origins = origins_of(calls.values())
    works = {}
    for group, call in calls.items():
        if not matters[group]:
            continue
        work = work_of(call, origins)
        if isinstance(work, Work):
            works[group] = work
        else:
            why[group] = REASONS.index(work)
    return works, why


def _refused(names: Names) -> Ints:
    """Why nothing can be known of operators whose type has no formula, or whose texts are not of as many tensors; -1 else.

    A capture may have a million different shapes: what can be told by the words of single columns is told there.
    """
    numbers = dict(zip(KEYS, names.numbers, strict=True))
    words = dict(zip(KEYS, names.words, strict=True))
    has_formula = np.asarray([False, *(word in FORMULAS for word in words["op_type"])])[numbers["op_type"]]
    tensors = {key: np.asarray([0, *(word.count(";") + 1 for word in words[key])])[numbers[key]] for key in KEYS[2:8]}
    fits = np.ones(names.count, dtype=bool)
    for side in ("input", "output"):
        shapes, types, formats = (tensors[f"{side}_{what}"] for what in ("shapes", "data_types", "formats"))
        fits &= (shapes > 0) & (shapes == types) & ((formats == shapes) | (formats == 0))
    why: Ints = np.where(fits, -1, REASONS.index("no-shapes"))
    why[~has_formula] = REASONS.index("no-formula")
    why[numbers["op_type"] == 0] = REASONS.index("no-type")
    elsewhere = np.asarray([False, *(word in _ELSEWHERE for word in words["task_type"])])[numbers["task_type"]]
    why[elsewhere] = REASONS.index("not-ai-core")
    return why


def _is_split(counters: Counters, cores: CoreCounts) -> bool:
    """Whether cube and vector have cores of their own: their counters do, then."""
    told = any(name.startswith("aic_") for name in counters.names)
    return told or (cores.cube is not None and (cores.vector or 0) >= cores.cube)


def _steps(tasks: pa.Table) -> tuple[int | None, int]:
    """(time from the first to the last task, step by step, summed; how many steps)."""
    if not has_value(tasks, "task_start_ns"):
        return None, 1
    starts, there = integers(tasks["task_start_ns"])
    ends = starts + integers(tasks["task_duration_ns"])[0]
    told = step_of_tasks(tasks)
    of_step = told[1] if told is not None else np.zeros(len(starts), dtype=np.int64)
    whole, steps = 0, 0
    for step in distinct(of_step).tolist():
        rows = there & (of_step == step)
        if (told is None or step >= 0) and rows.any():
            whole += int(ends[rows].max() - starts[rows].min())
            steps += 1
    return (whole, steps) if steps else (None, 1)


def _in_steps(tasks: pa.Table, computing: Mask | None) -> Ints:
    """1 for each task that computes and lies in a step, or where nothing tells of steps; 0 else."""
    told = step_of_tasks(tasks)
    found = np.ones(tasks.num_rows, dtype=np.int64) if told is None else (told[1] >= 0).astype(np.int64)
    return found if computing is None else found[computing]


class CountersOf:
    """The counters of operators, where the export has them."""

    def __init__(self, means: Means) -> None:
        self._columns: dict[str, Floats | None] = {
            "mac_ratio": _most(means, _MAC),
            "vec_ratio": _most(means, ("vec_ratio",)),
            "mte2_ratio": _most(means, ("mte2_ratio",)),
            "cube_utilization": means.of(("cube_utilization_percent",), ""),
            "gb_per_s": means.of(_BANDWIDTHS),
        }

    def of(self, group: int) -> Counted:
        """Those of one operator."""
        found = {
            name: float(values[group])
            for name, values in self._columns.items()
            if values is not None and values[group] >= 0
        }
        if "cube_utilization" in found:
            found["cube_utilization"] /= 100
        return Counted(**found)


def _most(means: Means, names: Sequence[str]) -> Floats | None:
    """A ratio of the core that has more of it."""
    found = [values for core in _CORES if (values := means.of(names, core)) is not None]
    return np.fmax.reduce(found) if found else None
