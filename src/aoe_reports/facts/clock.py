"""How fast the cores ran, from the cycles that tasks counted: cycles / time / cores at work is their frequency."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from aoe_reports.model.arrays.columns import Floats, Ints, Mask, SomeRows, has_value, integers, words_in

_MIN_US = 5.0
"""Times have three decimals: of shorter ones the third tells too little."""
_BIN = 0.01
"""Frequencies within 1 % are one: on real exports they agree to 0.03 %."""
_MIN_LEVEL = 0.05
"""A frequency that the cores held for less than this part of the time is no level, but an odd value."""
_MIN_HELD = 0.5
"""Where no frequency is held for half of the time, the counters do not count what is thought here."""
_HIGHEST_MHZ = 5000.0
_COUNTERS = (
    ("cube", "aic_total_cycles", "aicore_time_us", frozenset({"AI_CORE"})),
    ("vector", "aiv_total_cycles", "aiv_time_us", frozenset({"AI_VECTOR_CORE"})),
    ("core", "total_cycles", "aicore_time_us", frozenset({"AI_CORE"})),
)


@dataclass(frozen=True, slots=True)
class Clock:
    """The frequency of the cores, task by task."""

    relative: Floats
    """Each task's frequency as a part of the highest; NaN where it cannot be told."""
    nominal_mhz: float | None
    """The highest frequency held, or the rated one where that is higher; null where cycles are not of single cores."""
    rated: bool
    """Whether the highest is the rated one of the info file."""
    cube_cores: int | None
    """The most cores seen at work: the chip has at least so many."""
    vector_cores: int | None


Column = Callable[[str], tuple[Floats, Mask] | None]
"""Gives a column of counters: (values, where there is one)."""


def measure_clock(
    tasks: SomeRows,
    column: Column,
    cube_cores: int | None = None,
    vector_cores: int | None = None,
    rated_mhz: float | None = None,
) -> Clock | None:
    """The frequencies of tasks on one kind of cores; None where no counter tells, or they agree with nothing.

    `tasks` has their types and blocks, `column` their counters.

    Cycles are summed over the cores at work (real exports: cycles / time / blocks = 1800.0 MHz), on some chips counted
    of one core; what gives the same frequency for most of the time is taken.
    """
    if not has_value(tasks, "block_num"):
        return None
    relative = np.full(tasks.num_rows, np.nan)
    found: dict[str, tuple[float, bool]] = {}
    seen: dict[str, int] = {}
    known = {"cube": cube_cores, "vector": vector_cores, "core": cube_cores}
    for kind, rows, (frequency, nominal, single, cores) in _levels(tasks, column, known):
        if single and cores:
            seen[kind] = cores
        rated = rated_mhz if single and rated_mhz and rated_mhz > nominal * (1 + _BIN) else None
        highest = rated or nominal
        relative[rows] = np.minimum(frequency / highest, 1.0)
        if single and highest <= _HIGHEST_MHZ:
            found[kind] = (highest, rated is not None)
    if not (relative >= 0).any():
        return None
    mhz = max(found.values(), default=(None, False))
    return Clock(relative, mhz[0], mhz[1], seen.get("cube") or seen.get("core"), seen.get("vector"))


_Level = tuple[Floats, float, bool, int | None]
"""(each task's frequency, the highest that was held, whether cycles are summed over cores, the cores seen)."""


def _levels(tasks: SomeRows, column: Column, cores: Mapping[str, int | None]) -> Iterator[tuple[str, Ints, _Level]]:
    """(kind of cores, the tasks that tell, their level) by counter."""
    for kind, cycles, time, types in _COUNTERS:
        measured = _rates(tasks, column, cycles, time, types)
        if measured is not None and (level := _level(*measured[1:], cores[kind])) is not None:
            yield kind, measured[0], level


def _rates(
    tasks: SomeRows, column: Column, cycles: str, time: str, types: frozenset[str]
) -> tuple[Ints, Floats, Floats, Ints] | None:
    """(the rows that tell, cycles in a us, their time in us, their blocks)."""
    counts, times = column(cycles), column(time)
    if counts is None or times is None or "task_type" not in tasks.column_names:
        return None
    (counted, has_cycles), (took, has_time) = counts, times
    blocks, has_blocks = integers(tasks["block_num"])
    tells: Mask = (
        has_cycles & has_time & has_blocks & (blocks > 0) & (counted > 0) & words_in(tasks["task_type"], types)
    )
    tells &= took >= _MIN_US
    rows = np.flatnonzero(tells)
    if not len(rows):
        return None
    return rows, counted[rows] / took[rows], took[rows], blocks[rows]


def _level(rate: Floats, weight: Floats, blocks: Ints, cores: int | None) -> _Level | None:
    if cores is None:
        by_blocks = rate / blocks
        held = _held(by_blocks, weight)
        # the most blocks that ran all at once: the chip has at least so many cores
        at_once = np.abs(by_blocks / held[0] - 1) <= 2 * _BIN if held else np.zeros(len(blocks), dtype=bool)
        seen = int(blocks[at_once].max()) if at_once.any() else None
        known = blocks <= seen if seen else np.ones(len(blocks), dtype=bool)
        by_blocks = np.where(known, by_blocks, np.nan)
    else:
        # more blocks than cores go over them in rounds: 256 blocks on 48 cores take six, and keep 42.67 of them busy
        # (so real exports say, to 0.01 %)
        seen, by_blocks = cores, rate * -(-blocks // cores) / blocks
    options = [
        (held, values, single)
        for values, single in ((by_blocks, True), (rate, False))
        if (held := _held(values, weight))
    ]
    if not options:
        return None
    held, values, single = max(options, key=lambda option: (option[0][1], option[2]))
    return (values, held[0], single, seen if single else None) if held[1] >= _MIN_HELD else None


def _held(values: Floats, weight: Floats) -> tuple[float, float] | None:
    """(the highest value that was held for long enough, for which part of the time the most frequent one was held)."""
    whole = float(weight.sum())  # what tells nothing speaks against it
    told = values > 0
    if not told.any():
        return None
    values, weight = values[told], weight[told]
    bins = np.floor(np.log(values) / _BIN).astype(np.int64)
    bins -= bins.min()
    if bins.max() > _MAX_BINS:
        return None
    time = np.bincount(bins, weights=weight)
    padded = np.concatenate([[0.0], time, [0.0]])
    near = padded[:-2] + padded[1:-1] + padded[2:]
    levels = np.flatnonzero((near >= _MIN_LEVEL * whole) & (time > 0))
    if not len(levels):
        return None
    top = levels[-1]
    inside = np.abs(bins - top) <= 1
    return float(np.median(values[inside])), float(near.max()) / whole


_MAX_BINS = 10_000
