"""What bounds each operator, from the counters (PMU columns) that its tasks have, and how much tuning it could save.

An operator is all calls of one name with one set of input shapes. Ratios are means over its calls, weighted by their time.
A ratio is the part of a core's cycles in which one of its units worked (CANN: op_summary, PipeUtilization).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from aoe_reports.facts.clock import Clock, measure_clock
from aoe_reports.model.arrays.columns import (
    Floats,
    Ints,
    Mask,
    SomeRows,
    codes,
    distinct_places,
    exact_sums_by,
    floats,
    has_value,
    integers,
    words_in,
)
from aoe_reports.model.arrays.memory import give_back
from aoe_reports.model.arrays.thousandths import narrowed, widened
from aoe_reports.model.shares import share_of
from aoe_reports.model.texts import say
from aoe_reports.stats.grouping import Names, group_codes, is_communication, largest

Bound = Literal[
    "cube", "vector", "scalar", "mte1", "mte2", "mte3", "fixpipe", "memory-bandwidth", "none", "ai-cpu", "unknown"
]
State = Literal["static", "dynamic", "mixed", "unknown"]
BOUND_RATIO = 0.8
"""A unit that works for more than this part of an operator's cycles bounds it (see `Thresholds.bound_ratio`)."""

_PIPES: dict[str, tuple[Bound, tuple[str, ...]]] = {
    "mac": ("cube", ("mac_ratio",)),
    "vec": ("vector", ("vec_ratio",)),
    "scalar": ("scalar", ("scalar_ratio",)),
    "mte1": ("mte1", ("mte1_ratio",)),
    "mte2": ("mte2", ("mte2_ratio",)),
    "mte3": ("mte3", ("mte3_ratio",)),
    "fixpipe": ("fixpipe", ("fixpipe_ratio",)),
    # ArithmeticUtilization has what the two arithmetic units did apart, by data type
    "mac by type": ("cube", ("mac_fp16_ratio", "mac_int8_ratio")),
    "vec by type": ("vector", ("vec_fp32_ratio", "vec_fp16_ratio", "vec_int32_ratio", "vec_misc_ratio")),
}
"""What bounds, and the columns (behind the prefix of the core) whose sum is its ratio."""
CORES = ("aic_", "aiv_", "")
"""Prefixes of the columns: cube core, vector core, and the one core that older chips have."""
_ARITHMETIC = ("cube", "vector")
_BANDWIDTHS = ("main_mem_read_bw_gb_per_s", "main_mem_write_bw_gb_per_s")
_CONFLICTS = ("vec_bankgroup_cflt_ratio", "vec_bank_cflt_ratio")
_CORE_TIMES = {"aic_": "aicore_time_us", "aiv_": "aiv_time_us"}

OPERANDS = ("input_data_types", "input_formats", "output_data_types")
"""What an operator's inputs and outputs are, beside their shapes."""
KEYS = ("op_type", "task_type", "op_name", "input_shapes")
"""What makes up an operator."""
TASK_COLUMNS = (
    frozenset({*KEYS, "op_state", "model_id", "step", "iteration", "task_start_ns", "task_duration_ns", "task_wait_ns"})
    | {"block_num", "mix_block_num", "device_id", "aicore_time_us", "aiv_time_us"}
    | {f"{core}total_cycles" for core in CORES}
    | {f"{core}{name}" for core in CORES for _, names in _PIPES.values() for name in names}
    | {f"{core}{name}" for core in CORES for name in (*_BANDWIDTHS, *_CONFLICTS)}
)
"""The columns of tasks (op_summary, kernel_details) that are looked at, where they are there."""
_KEPT = frozenset(
    {*KEYS, *OPERANDS, "op_state", "task_start_ns", "task_duration_ns", "task_wait_ns", "block_num", "mix_block_num"}
)


def counter_columns(tasks: pa.Table, among: Collection[str] = TASK_COLUMNS) -> dict[str, pa.ChunkedArray]:
    """The columns of tasks (of `among`) that only what bounds operators is measured by: they are most of a table."""
    names = [name for name in tasks.column_names if name in among and pa.types.is_floating(tasks[name].type)]
    return {name: tasks[name] for name in names}


@dataclass(frozen=True, slots=True)
class CoreCounts:
    """How many cores the chip has, as its info file tells; None where nothing does."""

    cube: int | None = None
    vector: int | None = None
    rated_mhz: float | None = None

    @classmethod
    def of_hardware(cls, hardware: Mapping[str, int | str]) -> CoreCounts:
        """The facts of DeviceInfo in info.json; numbers may be text there."""

        def number(name: str) -> float | None:
            try:
                value = float(str(hardware.get(name)))
            except ValueError:
                return None
            return value if 0 < value < _MAX_CORES else None

        cube, vector = number("ai_core_num"), number("aiv_num")
        return cls(int(cube) if cube else None, int(vector) if vector else None, number("aic_frequency"))


_MAX_CORES = 100_000


@dataclass(frozen=True, slots=True)
class Operator:
    """One operator (name and input shapes); times in ns, sums over all its calls."""

    op_type: str | None
    task_type: str | None
    op_name: str | None
    input_shapes: str | None
    state: State
    count: int
    total_ns: int
    wait_ns: int | None
    """Time its tasks waited; null where the export does not tell."""
    bound_by: Bound
    ratios: dict[str, float]
    """Each measured unit's part of the cycles, 0…1, of the core that worked longer: {"cube": 0.52, "mte2": 0.91, …}."""
    bandwidth_gb_per_s: float | None
    """Reading and writing main memory (aic_metrics Memory)."""
    conflict_ratio: float | None
    """Bank and bank group conflicts of the vector unit (aic_metrics ResourceConflictRatio)."""
    blocks: float | None
    """Mean number of blocks of a call."""
    block_use: float | None
    """The part of the cores that its blocks keep busy, 0…1; null where the chip's cores are not known."""
    saving_ns: int
    """The most of its device time that tuning it could save: see `OperatorBounds.saving_ns`."""


@dataclass(frozen=True, slots=True)
class OperatorBounds:
    """All operators of one device as columns; entry i of each is one operator. Times in ns."""

    names: Names
    keys: tuple[str, ...]
    count: Ints
    total_ns: Ints
    wait_ns: Ints | None
    state: Ints
    bound: Ints
    """Number of the bound in `BOUNDS`."""
    ratio: dict[str, Floats]
    """By unit; NaN where an operator has none."""
    bandwidth: Floats | None
    conflict: Floats | None
    blocks: Floats | None
    block_use: Floats | None
    saving_ns: Ints
    """T x (1 - A x U), with device time T, A the larger ratio of cube and vector (0 where not measured) and U the used
    part of the cores: arithmetic stays, everything else is hidden or gone, all cores work. An AI CPU operator: all of T."""
    group_of: Ints
    """The operator of each task that computes."""
    groups: TaskGroups
    """The same, for sums."""
    tasks: SomeRows
    """The tasks that compute, in the order of `group_of`."""
    clock: Clock | None
    peak_gb_per_s: float | None
    """What bandwidths are held against: as given, else the highest that any operator here reaches."""
    block_norms: dict[str, BlockNorm]
    """By kind of cores (cube, vector): what blocks were held against."""
    classes: dict[tuple[str, ...], tuple[Ints, int]] = field(default_factory=dict)

    def alike(self, keys: tuple[str, ...]) -> tuple[Ints, int]:
        """(the class of each operator: those with the same words under some keys are one; how many classes there are).

        Of operators whose type is not told (level 0) nobody knows whether they are alike: their names keep them apart.
        """
        if keys not in self.classes:
            mixed: Ints = np.zeros(self.names.count, dtype=np.int64)
            count = 1
            for name in keys:
                numbers, words = self.key_codes(name)
                present, mixed = distinct_places(mixed * (len(words) + 1) + numbers)
                count = len(present)
            types, _ = self.key_codes("op_type")
            if not types.all():
                names, words = self.key_codes("op_name")
                present, mixed = distinct_places(mixed * (len(words) + 1) + np.where(types == 0, names, 0))
                count = len(present)
            self.classes[keys] = (mixed.astype(np.int64, copy=False), count)
        return self.classes[keys]

    def key(self, group: int, name: str) -> str | None:
        """One word of an operator's key; null where the export has no such column."""
        return self.names[group][self.keys.index(name)] if name in self.keys else None

    def key_codes(self, name: str) -> tuple[Ints, Sequence[str]]:
        """(the number of each operator's word, counted from 1, 0 for null; the words)."""
        if name not in self.keys:
            return np.zeros(self.names.count, dtype=np.int64), []
        place = self.keys.index(name)
        return self.names.numbers[place].astype(np.int64), self.names.words[place]

    def only_word(self, group: int, name: str) -> str | None:
        """The word that all tasks of an operator have in a column; null where they differ, or there is none."""
        if name not in self.tasks.column_names:
            return None
        words = pc.unique(self.tasks[name].filter(pa.array(self.group_of == group))).to_pylist()
        return words[0] if len(words) == 1 else None

    def operator(self, group: int) -> Operator:
        """One operator, with all that is known of it."""
        name, kind, op, shapes = (self.key(group, key) for key in ("op_type", "task_type", "op_name", "input_shapes"))
        return Operator(
            op_type=name,
            task_type=kind,
            op_name=op,
            input_shapes=shapes,
            state=STATES[int(self.state[group])],
            count=int(self.count[group]),
            total_ns=int(self.total_ns[group]),
            wait_ns=None if self.wait_ns is None else int(self.wait_ns[group]),
            bound_by=BOUNDS[int(self.bound[group])],
            ratios={unit: round(float(values[group]), 4) for unit, values in self.ratio.items() if values[group] >= 0},
            bandwidth_gb_per_s=_at(self.bandwidth, group),
            conflict_ratio=_at(self.conflict, group),
            blocks=_at(self.blocks, group),
            block_use=_at(self.block_use, group),
            saving_ns=int(self.saving_ns[group]),
        )

    def operators(self, top: int | None = None) -> list[Operator]:
        """The operators with the longest device time first; ties by their names."""
        found = [self.operator(group) for group in largest(self.total_ns, top)]
        return sorted(found, key=_order)[:top]

    def sums(self, values: Ints) -> Ints:
        """Whole numbers of the tasks summed by operator."""
        return self.groups.sum(values)


BOUNDS: tuple[Bound, ...] = (
    "unknown", "none", "ai-cpu", "cube", "vector", "scalar", "mte1", "mte2", "mte3", "fixpipe", "memory-bandwidth",
)  # fmt: skip
ACLNN = "aclnn"
"""What names of operators begin with that torch_npu runs through aclnn."""
STATES: tuple[State, ...] = ("unknown", "static", "dynamic", "mixed")


def _order(operator: Operator) -> tuple[Any, ...]:
    words = (operator.op_type, operator.task_type, operator.op_name, operator.input_shapes)
    return (-operator.total_ns, *(word or "" for word in words))


def _at(values: Floats | None, group: int) -> float | None:
    return None if values is None or not values[group] >= 0 else round(float(values[group]), 4)


def measure_operators(
    tasks: pa.Table,
    cores: CoreCounts | None = None,
    *,
    counters: Counters | None = None,
    dynamic_model: bool = False,
    bound_ratio: float = BOUND_RATIO,
    peak_gb_per_s: float | None = None,
) -> OperatorBounds | None:
    """What bounds each operator of one device, from its tasks (TASK_COLUMNS of them); None where none computes.

    `dynamic_model` says that files are there which msprof writes of models with dynamic shapes alone (thread_group,
    ge_op_execute): where tasks have no OP State, their shapes are then dynamic, else nothing tells.
    """
    computing = computing_of(tasks)
    counters = counters or Counters(counter_columns(tasks), computing)
    tasks = SomeRows(tasks.select([name for name in tasks.column_names if name in _KEPT]), computing)
    if not tasks.num_rows:
        return None
    keys = tuple(key for key in KEYS if key in tasks.column_names)
    group_of, names = group_codes(tasks, keys)
    groups = TaskGroups(group_of, names.count)
    duration, _ = integers(tasks["task_duration_ns"])
    total = groups.sum(duration)
    cores = cores or CoreCounts()
    clock = measure_clock(tasks, counters.whole, cores.cube, cores.vector, cores.rated_mhz)
    means = Means(counters, groups, duration)
    ratio = _ratios(means)
    bandwidth = means.of(_BANDWIDTHS)
    peak = peak_gb_per_s or _highest(bandwidth)
    blocks, use, norms = _blocks(tasks, groups, duration, cores, clock)
    on_host = groups.any(words_in(tasks["task_type"], {"AI_CPU"})) if "task_type" in keys else None
    bound = _bounds_of(ratio, bandwidth, peak, bound_ratio, names.count)
    if on_host is not None:
        bound[on_host] = BOUNDS.index("ai-cpu")
    return OperatorBounds(
        names=names,
        keys=keys,
        count=groups.count,
        total_ns=total,
        wait_ns=groups.sum(_filled(tasks, "task_wait_ns")) if has_value(tasks, "task_wait_ns") else None,
        state=_states(tasks, groups, dynamic_model=dynamic_model),
        bound=bound,
        ratio=ratio,
        bandwidth=bandwidth,
        conflict=means.of(_CONFLICTS),
        blocks=blocks,
        block_use=use,
        saving_ns=_savings(total, ratio, use, bandwidth, peak, on_host),
        group_of=group_of,
        groups=groups,
        tasks=tasks,
        clock=clock,
        peak_gb_per_s=peak,
        block_norms=norms,
    )


def computing_of(tasks: pa.Table) -> Mask | None:
    """Which tasks compute; None where all of them do."""
    if "task_type" not in tasks.column_names:
        return None
    communication = is_communication(tasks["task_type"])
    return ~communication if communication.any() else None


def _highest(values: Floats | None) -> float | None:
    return float(np.nanmax(values)) if values is not None and (values >= 0).any() else None


class TaskGroups:
    """Columns of tasks summed by group."""

    def __init__(self, group_of: Ints, count: int) -> None:
        self._of: Ints = group_of.astype(np.int64)  # any other kind is converted at each sum
        self._groups = count
        self.count: Ints = np.bincount(self._of, minlength=count)

    def sum(self, values: Ints) -> Ints:
        """Whole numbers, summed by group; exactly, as long as a sum is no longer than 146 years."""
        sums = exact_sums_by(self._of, values, self._groups)
        return np.minimum(sums, _MAX_NS).astype(np.int64, copy=False) if sums.dtype == object else sums

    def weigh(self, columns: Sequence[Column], weights: Ints) -> Floats:
        """The weighted mean of each group of the sum of some columns, over the tasks that any of them tells of; NaN where none does."""
        above = np.zeros(self._groups)
        told = np.zeros(len(self._of), dtype=bool)
        for column in columns:
            rows = column.rows
            told[rows] = True
            above += np.bincount(self._of[rows], weights=column.values * weights[rows], minlength=self._groups)
        rows = columns[0].rows if len(columns) == 1 else np.flatnonzero(told)
        below = np.bincount(self._of[rows], weights=weights[rows], minlength=self._groups)
        means: Floats = np.divide(above, below, out=np.full(self._groups, np.nan), where=below > 0)
        return means.round(_DECIMALS, out=means)

    def any(self, mask: Mask) -> Mask:
        """Whether any row of a group is marked."""
        found: Mask = np.zeros(self._groups, dtype=bool)
        found[self._of[mask]] = True
        return found


_DECIMALS = 9
"""Counters have three or so; what is beyond is the noise of adding the same numbers in another order."""
_INT64_MAX = 2**63 - 1
_MAX_NS = 2**62
"""146 years: a longer sum of times is taken for that."""


def _filled(tasks: SomeRows, name: str) -> Ints:
    """A column of whole numbers, 0 where there is no value."""
    values, there = integers(tasks[name])
    return values if there.all() else np.where(there, values, 0)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of numbers of tasks: those that are there, and in which rows."""

    rows: Ints
    values: Floats


class Counters:
    """Columns of numbers of tasks without their nulls: of a large table they are most, and cube cores tell of few tasks."""

    def __init__(self, columns: dict[str, pa.ChunkedArray], computing: Mask | None = None) -> None:
        """Of `counter_columns`, of the tasks that compute (None: of all); they are taken out one by one, so that each can go."""
        self._columns: dict[str, tuple[Any, Any]] = {}
        self._count = 0
        while columns:
            name, column = columns.popitem()
            values, there = floats(column)
            del column  # what the table held goes before more is taken
            if computing is not None:
                values, there = values[computing], there[computing]
            self._count = len(values)
            if there.any():
                self._columns[name] = narrowed(values[there]), np.packbits(there)
            give_back()

    @property
    def names(self) -> frozenset[str]:
        """Those that hold any number."""
        return frozenset(self._columns)

    def column(self, name: str) -> Column | None:
        """One of them; None where the export has none, or no number in it."""
        if name not in self._columns:
            return None
        values, told = self._columns[name]
        return Column(np.flatnonzero(np.unpackbits(told, count=self._count)), widened(values))

    def whole(self, name: str) -> tuple[Floats, Mask] | None:
        """The same as (values, 0 where there is none; where there is one)."""
        column = self.column(name)
        if column is None:
            return None
        values, there = np.zeros(self._count), np.zeros(self._count, dtype=bool)
        values[column.rows], there[column.rows] = column.values, True
        return values, there


@dataclass(frozen=True, slots=True)
class Means:
    """Means of counters by group, weighted by the tasks' time."""

    counters: Counters
    groups: TaskGroups
    duration: Ints

    def of(self, names: Sequence[str], core: str | None = None) -> Floats | None:
        """The mean of the sum of some columns (of all cores, or of one); None where none is there."""
        prefixes = CORES if core is None else (core,)
        found = [self.counters.column(f"{prefix}{name}") for prefix in prefixes for name in names]
        columns = [column for column in found if column is not None]
        return self.groups.weigh(columns, self.duration) if columns else None

    def core_shares(self) -> dict[str, Floats]:
        """Of tasks with both kinds of cores: how long each worked, as a part of the one that worked longer."""
        means = {core: mean for core, name in _CORE_TIMES.items() if (mean := self.of((name,), "")) is not None}
        if len(means) < len(_CORE_TIMES):
            return {}
        longer = np.fmax.reduce(list(means.values()))
        return {
            core: np.divide(np.nan_to_num(mean), longer, out=np.ones(len(mean)), where=longer > 0)
            for core, mean in means.items()
        }


def _ratios(means: Means) -> dict[str, Floats]:
    """Each unit's ratio by group: of the core that has more of it, after the time that the core worked at all."""
    found: dict[str, Floats] = {}
    shares = means.core_shares()
    for unit, names in _PIPES.values():
        for core in CORES:
            mean = means.of(names, core)
            if mean is None:
                continue
            mean = mean * shares.get(core, 1.0)
            found[unit] = np.fmax(found[unit], mean) if unit in found else mean
    return found


@dataclass(frozen=True, slots=True)
class BlockNorm:
    """What the blocks of tasks on one kind of cores are held against."""

    cores: int | None
    """The chip's cores of this kind; null where nothing tells them."""
    typical: int | None
    """Where nothing does: the number of blocks that most of the time on this kind was run with."""
    source: str

    def use(self, blocks: Ints) -> Floats | None:
        """The part of the cores that so many blocks keep busy; they go over them in rounds."""
        if self.cores:
            return _use(blocks, self.cores)
        return None if self.typical is None else np.minimum(blocks / self.typical, 1.0)


CUBE_TASKS = frozenset({"AI_CORE", "MIX_AIC"})
"""Task types of operators that run on cube cores, or on both kinds."""
_BLOCK_KINDS = {"cube": CUBE_TASKS, "vector": ("AI_VECTOR_CORE", "MIX_AIV")}


def most_blocks(tasks: pa.Table, cores: CoreCounts) -> tuple[int | None, int | None]:
    """The blocks of the operator of most: (on cube cores, on vector cores); None where none are told."""
    if not has_value(tasks, "block_num") or "task_type" not in tasks.column_names:
        return None, None
    blocks, known = integers(tasks["block_num"])
    most = {
        kind: _most(blocks, known & words_in(tasks["task_type"], set(types))) for kind, types in _BLOCK_KINDS.items()
    }
    if has_value(tasks, "mix_block_num"):
        mixed, there = integers(tasks["mix_block_num"])
        most["vector"] = max(most["vector"], _most(mixed, there & words_in(tasks["task_type"], {"MIX_AIC"})))
    if cores.cube and not cores.vector:  # an older chip: one kind of cores for both
        most = {"cube": max(most.values()), "vector": 0}
    return most["cube"] or None, most["vector"] or None


def _most(blocks: Ints, mine: Mask) -> int:
    return int(blocks[mine].max()) if mine.any() else 0


def _block_norms(
    tasks: SomeRows, blocks: Ints, known: Mask, duration: Ints, cores: CoreCounts, clock: Clock | None
) -> dict[str, BlockNorm]:
    """By kind of cores: those of the info file, else those that counters saw at work, else the usual number of blocks."""
    # an older chip has only one kind of cores: its info file says 0 vector cores
    told = {"cube": cores.cube, "vector": cores.vector or cores.cube}
    seen = {"cube": clock.cube_cores, "vector": clock.vector_cores} if clock else {}
    norms = {}
    for kind, types in _BLOCK_KINDS.items():
        mine = known & words_in(tasks["task_type"], set(types))
        if told[kind]:
            norms[kind] = BlockNorm(told[kind], None, "info.json")
        elif seen.get(kind):
            norms[kind] = BlockNorm(seen[kind], None, say("the largest number of active cores in the counters"))
        elif mine.any() and (typical := _typical(blocks[mine], duration[mine])):
            norms[kind] = BlockNorm(None, typical, say("the number of blocks that is used most of the time"))
    return norms


def _typical(blocks: Ints, duration: Ints) -> int | None:
    """The number of blocks that at least half of the time is run with."""
    if int(blocks.max()) > _MAX_BLOCKS:
        return None
    time = np.bincount(blocks, weights=duration)
    longest = int(time.argmax())
    return longest if time[longest] * 2 >= time.sum() > 0 else None


_MAX_BLOCKS = 1 << 16
"""Nothing fills a chip with more of them."""


def _blocks(
    tasks: SomeRows, groups: TaskGroups, duration: Ints, cores: CoreCounts, clock: Clock | None
) -> tuple[Floats | None, Floats | None, dict[str, BlockNorm]]:
    """(mean blocks, part of the cores that they keep busy) by group, and what they were held against."""
    if not has_value(tasks, "block_num") or "task_type" not in tasks.column_names:
        return None, None, {}
    blocks, known = integers(tasks["block_num"])
    known = known & (blocks > 0)
    told = np.flatnonzero(known)
    mean = groups.weigh([Column(told, blocks[told].astype(np.float64))], duration)
    norms = _block_norms(tasks, blocks, known, duration, cores, clock)
    use = np.full(tasks.num_rows, np.nan)
    for kind, norm in norms.items():
        mine = known & words_in(tasks["task_type"], set(_BLOCK_KINDS[kind]))
        part = norm.use(blocks[mine])
        if part is not None:
            use[mine] = part
    vector = norms.get("vector")
    if has_value(tasks, "mix_block_num") and vector is not None and vector.cores:
        mixed, there = integers(tasks["mix_block_num"])
        mine = there & (mixed > 0) & words_in(tasks["task_type"], {"MIX_AIC"})
        use[mine] = np.fmax(use[mine], _use(mixed[mine], vector.cores))
    told = np.flatnonzero(use >= 0)
    mean_use = groups.weigh([Column(told, use[told])], duration) if len(told) else None
    return mean, mean_use, norms


def _use(blocks: Ints, cores: int) -> Floats:
    rounds = -(-blocks // cores)
    return blocks / (rounds * cores)


def _bounds_of(
    ratio: dict[str, Floats], bandwidth: Floats | None, peak: float | None, least: float, count: int
) -> Ints:
    """The number of the bound of each group: the unit with the highest ratio, where that is high enough."""
    bound: Ints = np.zeros(count, dtype=np.int8)
    if ratio:
        highest = np.full(count, -1.0)
        for unit, mean in ratio.items():  # of equal ratios the first unit's
            higher = mean > highest
            highest[higher], bound[higher] = mean[higher], BOUNDS.index(unit)
        bound[highest <= least] = 0
        # that nothing bounds it can only be told where the transfers were measured, too
        moved = np.nan_to_num(ratio["mte2"], nan=-1.0) >= 0 if "mte2" in ratio else np.zeros(count, dtype=bool)
        bound[(highest > 0) & (highest <= least) & moved] = BOUNDS.index("none")
    if bandwidth is not None and peak:
        full = np.nan_to_num(bandwidth, nan=0.0) > least * peak
        bound[(bound == 0) & full] = BOUNDS.index("memory-bandwidth")
    return bound


def _savings(
    total: Ints,
    ratio: dict[str, Floats],
    use: Floats | None,
    bandwidth: Floats | None,
    peak: float | None,
    on_host: Mask | None,
) -> Ints:
    arithmetic = np.zeros(len(total))
    for unit in _ARITHMETIC:
        if unit in ratio:
            arithmetic = np.fmax(arithmetic, np.nan_to_num(ratio[unit]))
    if bandwidth is not None and peak:
        arithmetic = np.fmax(arithmetic, np.nan_to_num(bandwidth) / peak)
    used = np.ones(len(total)) if use is None else np.where(use >= 0, use, 1.0)
    needed = np.clip(arithmetic, 0.0, 1.0) * used
    if on_host is not None:
        needed = np.where(on_host, 0.0, needed)
    return total - np.floor(total * needed).astype(np.int64)


def _states(tasks: SomeRows, groups: TaskGroups, *, dynamic_model: bool) -> Ints:
    """The number of the state of each group in STATES."""
    count = len(groups.count)
    if has_value(tasks, "op_state"):
        numbers, words = codes(tasks["op_state"])
        lower = [word.strip().casefold() for word in words]
        masks = [
            groups.any(np.isin(numbers, [n for n, word in enumerate(lower, start=1) if word == name]))
            for name in ("static", "dynamic")
        ]
        return masks[0].astype(np.int8) + 2 * masks[1].astype(np.int8)
    return np.full(count, STATES.index("dynamic" if dynamic_model else "unknown"), dtype=np.int8)


@dataclass(frozen=True, slots=True)
class StepShares:
    """What the steps of one device went on, summed over all of them; times in ns, null where nothing tells."""

    rank_id: int | None
    device_id: int | None
    steps: int
    """How many steps the sums are of; 1 where nothing tells of steps: then the capture is taken as one."""
    step_ns: int | None
    computing_ns: int
    communication_not_overlapped_ns: int | None = None
    overlapped_ns: int | None = None
    free_ns: int | None = None
    steps_known: bool = True
    """Whether anything tells of steps."""
    source: str = "durations"
    """Where this is from: "step_trace_time", "tasks" (unions of their intervals), "timeline", "durations" (their sum), "memory" (of recordings of nothing else)."""
    tasks_ns: int | None = None
    """The durations of all computing tasks added up: more than `computing_ns`, a union, where tasks run beside each other."""

    @property
    def step_us(self) -> float | None:
        """Mean length of a step in us."""
        return None if self.step_ns is None else self.step_ns / self.steps / 1000

    @property
    def bound_saving_ns(self) -> int:
        """The most that tuning operators could save: computing that no communication runs beside; see `cap_saving`.

        Of a table that says that more is overlapped than there is (`overlap-above-computing`) all of it: less is not proved.
        """
        overlapped = self.overlapped_ns or 0
        return self.computing_ns if overlapped > self.computing_ns else self.computing_ns - overlapped

    @property
    def bound_saving_us(self) -> float:
        """The same as a mean over the steps, in us of a step."""
        return self.bound_saving_ns / self.steps / 1000

    def share(self, part_ns: int | None) -> float | None:
        """A part of the steps as a fraction of them."""
        return share_of(part_ns, self.step_ns)

    def share_of_tasks(self, part_ns: int | None) -> float | None:
        """The durations of some computing tasks divided by those of all; null if a table does not have all tasks."""
        whole = self.tasks_ns
        return None if part_ns is None or not whole or part_ns > whole else part_ns / whole

    def per_step_us(self, ns: int) -> float:
        """A sum over the capture as us of one step."""
        return ns / self.steps / 1000


def cap_saving(saving_ns: int, shares: StepShares) -> int:
    """The most by which the steps get shorter when operators take `saving_ns` less device time.

    A step cannot become shorter than its communication and its free time, which tuning operators leaves as they are; so
    no more can be saved than the computing that communication does not overlap, and no more than the operators'
    own time (Amdahl). Single operators are not judged by what runs beside them: a shorter one lets all behind it begin
    earlier.
    """
    return max(0, min(saving_ns, shares.bound_saving_ns))
