"""Turns where the time of a device is spent into records: modules, layers, and the phases of a server.

Records of modules hold the time of everything that computes, each task once: what is in no module is one of them. Records of
layers divide those of modules that are repeated.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Final, Literal, get_args

import numpy as np
import pyarrow.compute as pc

from aoe_reports.facts.bounds import TaskGroups
from aoe_reports.facts.tasks import TaskSet
from aoe_reports.formats.records.record import Record
from aoe_reports.model.arrays.columns import SomeRows, codes, distinct_places, integers, valid
from aoe_reports.model.groupings import Phase
from aoe_reports.model.topics.serving import Iteration
from aoe_reports.model.topics.steps import Step
from aoe_reports.stats.grouping import is_communication
from aoe_reports.stats.sample import sample_std
from aoe_reports.topics.locations.facts import in_any_block
from aoe_reports.topics.records.context import RunContext
from aoe_reports.topics.records.from_profile import NS_PER_MS
from aoe_reports.topics.serving.roles import PARTS

NO_MODULE: Final = "(no module)"
OTHER_MODULES: Final = "(other modules)"
PartScope = Literal["module", "layer", "phase"]


@dataclass(frozen=True, slots=True)
class PartTime:
    """What a module, a layer or the iterations of a phase take on one device; times in ns."""

    rank_id: int | None
    device_id: int | None
    scope: PartScope
    name: str
    passes: int
    """The steps that it is part of, or its iterations: the mean is over these."""
    total_ns: int
    std_ns: float | None = None
    values_ns: tuple[int, ...] | None = None
    args: Mapping[str, str | int] = field(default_factory=dict)
    means_ns: Mapping[str, float] = field(default_factory=dict)
    """The mean of each part of the time."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What is beyond the number of series: modules told together, and layers told with their module only."""

    modules: int = 0
    layers: int = 0


def parts_by_module(
    tasks: TaskSet, blocks: Mapping[str, str], steps: Sequence[Step], most: int
) -> tuple[list[PartTime], LeftOut]:
    """(the modules and layers of one device's tasks, what is left out); `blocks` names the block of each location that is in one.

    `tasks` has `location`, `task_type`, `task_duration_ns` and, where it is known, `step`. No more than `most` modules are told, the longest, and `most` layers: of
    modules in all their blocks, the longest first, as long as all of these find room. Modules whose times have as many binary digits count as equally long,
    and are told by name: scatter must not choose others every night.
    """
    located, outside = _times_of(tasks)
    kinds: dict[str, dict[str, _Spent]] = defaultdict(dict)
    for location, spent in located.items():
        kinds[in_any_block(location, blocks.get(location))][location] = spent
    times = {kind: _together(members.values()) for kind, members in kinds.items()}
    totals = {kind: sum(spent) for kind, spent in times.items()}
    ordered = sorted(totals, key=lambda kind: (-totals[kind].bit_length(), kind))

    def longest(kind: str) -> tuple[int, str]:
        return -totals[kind], kind

    passes = _passes(tasks, steps)

    def part(scope: PartScope, name: str, spent: _Spent, args: Mapping[str, str | int] | None = None) -> PartTime:
        return PartTime(
            rank_id=tasks.rank_id,
            device_id=tasks.device_id,
            scope=scope,
            name=name,
            passes=passes,
            total_ns=sum(spent),
            std_ns=sample_std(spent) if len(spent) == passes else None,
            args=args or {},
        )

    parts = [part("module", kind, times[kind]) for kind in sorted(ordered[:most], key=longest)]
    if others := ordered[most:]:
        parts.append(part("module", OTHER_MODULES, _together(times[kind] for kind in others), _named_by(others)))
    if sum(outside):
        parts.append(part("module", NO_MODULE, outside))
    repeated = [kind for kind in ordered if not kinds[kind].keys().isdisjoint(blocks)]
    counts = [len(kinds[kind]) for kind in repeated]
    told = [kind for kind, until in zip(repeated, accumulate(counts), strict=True) if until <= most]
    for kind in sorted(told, key=longest):
        layers = sorted(kinds[kind].items(), key=lambda one: (-sum(one[1]), one[0]))
        parts += [part("layer", name, spent) for name, spent in layers]
    return parts, LeftOut(len(others), sum(counts[len(told) :]))


_Spent = tuple[int, ...]
"""The time in each step, in ns; of all together where not every task tells its step."""


def _times_of(tasks: TaskSet) -> tuple[dict[str, _Spent], _Spent]:
    """(what computes in each location, what computes in none)."""
    talks = is_communication(tasks.frame["task_type"])
    mine = SomeRows(tasks.frame, ~talks if talks.any() else None)
    of_location, names = codes(mine["location"])
    count, of_step = 1, np.zeros(mine.num_rows, dtype=np.int64)
    if "step" in tasks.frame.column_names and valid(mine["step"]).all():
        _, of_step = distinct_places(integers(mine["step"])[0])
        count = int(of_step.max(initial=0)) + 1
    groups = TaskGroups(of_location.astype(np.int64) * count + of_step, (len(names) + 1) * count)
    outside, *located = map(tuple, groups.sum(integers(mine["task_duration_ns"])[0]).reshape(-1, count).tolist())
    runs = groups.count.reshape(-1, count)[1:].sum(axis=1) > 0
    return {name: spent for name, spent, there in zip(names, located, runs.tolist(), strict=True) if there}, outside


def _together(times: Iterable[_Spent]) -> _Spent:
    return tuple(map(sum, zip(*times, strict=True)))


def _passes(tasks: TaskSet, steps: Sequence[Step]) -> int:
    """The steps of a device, by a table of steps, else by what tasks tell of theirs; 1 where nothing does: all is one."""
    counted = sum(_is_of(tasks, step) for step in steps)
    if not counted and "step" in tasks.frame.column_names:
        counted = pc.count_distinct(tasks.frame["step"], mode="only_valid").as_py()
    return max(counted, 1)


def _is_of(tasks: TaskSet, step: Step) -> bool:
    """Whether a step is of the device of some tasks; tables of steps or of tasks may not tell the device."""
    return step.rank_id == tasks.rank_id and (
        step.device_id == tasks.device_id or None in {step.device_id, tasks.device_id}
    )


def _named_by(names: Sequence[str]) -> Mapping[str, str | int]:
    """What tells some modules together from others: time of different ones is not compared."""
    digest = hashlib.sha256("\n".join(sorted(names)).encode("utf-8", "surrogatepass")).hexdigest()
    return {"modules": len(names), "names_sha256": digest[:16]}


def parts_by_phase(tasks: TaskSet, iterations: Sequence[Iteration], most_raw: int) -> list[PartTime]:
    """The phases of one device that serves, of whole iterations."""
    found = []
    for phase in get_args(Phase):
        mine = [iteration for iteration in iterations if iteration.is_whole and iteration.phase == phase]
        if not mine:
            continue
        lengths = [one.duration_ns for one in mine]
        spent = {part: sum(one.parts.get(part, 0) for one in mine) for part in PARTS}
        found.append(
            PartTime(
                rank_id=tasks.rank_id,
                device_id=tasks.device_id,
                scope="phase",
                name=phase,
                passes=len(mine),
                total_ns=sum(lengths),
                std_ns=sample_std([float(length) for length in lengths]),
                values_ns=tuple(lengths) if len(lengths) <= most_raw else None,
                means_ns={part: total_ns / len(mine) for part, total_ns in spent.items() if total_ns},
            )
        )
    return found


def records_from_parts(context: RunContext, parts: Sequence[PartTime]) -> Iterator[Record]:
    """A record each: the mean of a step, or of an iteration."""
    for part in parts:
        yield Record(
            **context.fields(),
            workload=f"{context.model}/{part.scope}/{part.name}",
            workload_args=part.args,
            workload_metadata={"class": part.scope},
            runtime_ms_mean=part.total_ns / part.passes / NS_PER_MS,
            runtime_ms_std=None if part.std_ns is None else part.std_ns / NS_PER_MS,
            runtime_raw=None if part.values_ns is None else [{"runtime_ms": one / NS_PER_MS} for one in part.values_ns],
            metadata=context.metadata,
            execution_config={"repeat": part.passes},
            metrics={f"{name.replace('-', '_')}_ms_mean": mean / NS_PER_MS for name, mean in part.means_ns.items()},
            scope=part.scope,
            source=context.source,
            rank_id=part.rank_id,
            device_id=part.device_id,
            count=part.passes,
            total_ns=part.total_ns,
        )
