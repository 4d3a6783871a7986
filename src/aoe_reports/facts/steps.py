"""Steps and iterations: how long each took and, where the export tells, on what."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NotRequired, TypedDict

import pyarrow as pa
import pyarrow.compute as pc

from aoe_reports.facts.tasks import RankOf, TaskSet
from aoe_reports.model.topics.steps import Step

STEP_RANGE = "ProfilerStep#"
"""What the name of the range begins with that the framework's profiler records around a step."""
_STEP_RANGE = re.compile(STEP_RANGE + r"(\d{1,9})", re.ASCII)


def step_of_range(name: str) -> int | None:
    """The number of the step that a range of the host is around; None for other ranges."""
    found = _STEP_RANGE.fullmatch(name)
    return None if found is None else int(found[1])


class TraceRow(TypedDict):
    """A row of `step_trace`."""

    rank_id: NotRequired[int | None]
    device_id: NotRequired[int | None]
    model_id: NotRequired[int | None]
    iteration_id: int | None
    iteration_time_ns: int
    iteration_end_ns: NotRequired[int | None]
    fp_start_ns: NotRequired[int | None]
    bp_end_ns: NotRequired[int | None]
    fp_to_bp_time_ns: NotRequired[int | None]
    iteration_refresh_ns: NotRequired[int | None]
    data_aug_bound_ns: NotRequired[int | None]
    reduce_start_ns: NotRequired[list[int | None] | None]
    reduce_duration_ns: NotRequired[list[int | None] | None]


class PartsRow(TypedDict):
    """A row of `step_trace_time`."""

    device_id: NotRequired[int | None]
    step: int | None
    computing_ns: int
    communication_ns: int | None
    communication_not_overlapped_ns: int
    overlapped_ns: int | None
    free_ns: int
    stage_ns: NotRequired[int | None]
    bubble_ns: NotRequired[int | None]


def steps_of_trace(rank_of: RankOf, frame: pa.Table) -> list[Step]:
    """Iterations of step_trace, each once: every file of one capture may hold all of them."""
    found: dict[tuple[Any, ...], Step] = {}
    for row in frame.to_pylist():
        if row["iteration_id"] is None:
            continue  # the mean of all others, which MindSpore's own profiler writes below them
        end, duration = row.get("iteration_end_ns"), row["iteration_time_ns"]
        found_points = bool(row.get("fp_start_ns")) and bool(row.get("bp_end_ns"))  # C++ exporters print 0.000 for N/A
        step = Step(
            rank_id=rank_of(row.get("device_id")),
            device_id=row.get("device_id"),
            model_id=row.get("model_id"),
            step=row["iteration_id"],
            start_ns=end - duration if end is not None else None,
            duration_ns=duration,
            fp_bp_ns=row.get("fp_to_bp_time_ns") if found_points else None,
            iteration_refresh_ns=row.get("iteration_refresh_ns") if found_points else None,
            data_aug_bound_ns=row.get("data_aug_bound_ns"),
        )
        found.setdefault((step.device_id, step.model_id, step.step, step.start_ns, step.duration_ns), step)
    return in_order(found.values())


def steps_of_trace_time(rank_of: RankOf, frame: pa.Table) -> list[Step]:
    """Steps of step_trace_time; end to end is computing + communication that is not overlapped + free."""
    return in_order(_of_parts(rank_of(row.get("device_id")), row) for row in frame.to_pylist())


def steps_of(rank_of: RankOf, frame: pa.Table) -> list[Step]:
    """Steps of either table of steps: the columns tell which it is."""
    read = steps_of_trace if "iteration_time_ns" in frame.column_names else steps_of_trace_time
    return read(rank_of, frame)


def has_numbers(frame: pa.Table) -> bool:
    """Whether the rows of a table of steps say which step each is."""
    return not {"step", "iteration_id"}.isdisjoint(frame.column_names)


SAME_STEP = 0.02
"""Computing and communication alone are so near to the duration of their step: in a real job of four ranks they differ by 1.2 % at most."""


def with_parts(steps: Sequence[Step], frame: pa.Table) -> list[Step]:
    """Steps of one rank, in order, with what `cluster_analyse` tells of them row by row; without it where its rows are of other steps.

    Below the rows of steps may stand their mean.
    """
    parts = frame.to_pylist()[: len(steps)]
    if len(steps) not in {frame.num_rows, frame.num_rows - 1}:
        return [*steps]
    found = []
    for step, row in zip(steps, parts, strict=True):
        computing, alone = row["computing_ns"], row.get("communication_not_overlapped_ns")
        if alone is None or abs(computing + alone - step.duration_ns) > SAME_STEP * step.duration_ns:
            return [*steps]
        found.append(
            replace(
                step,
                computing_ns=computing,
                communication_not_overlapped_ns=alone,
                stage_ns=row.get("stage_ns"),
                bubble_ns=row.get("receive_not_overlapped_ns"),
            )
        )
    return found


def _of_parts(rank_id: int | None, row: PartsRow) -> Step:
    return Step(
        rank_id=rank_id,
        device_id=row.get("device_id"),
        step=row["step"],
        duration_ns=row["computing_ns"] + row["communication_not_overlapped_ns"] + row["free_ns"],
        computing_ns=row["computing_ns"],
        communication_ns=row["communication_ns"],
        communication_not_overlapped_ns=row["communication_not_overlapped_ns"],
        overlapped_ns=row["overlapped_ns"],
        free_ns=row["free_ns"],
        stage_ns=row.get("stage_ns"),
        bubble_ns=row.get("bubble_ns"),
    )


def steps_of_cluster(frame: pa.Table) -> list[Step]:
    """Steps of the ranks in cluster_step_trace_time; its rows of pipeline stages are the same steps once more."""
    ranks = frame.filter(pc.equal(frame["type"].cast(pa.string()), "rank"))
    index = ranks["index"].cast(pa.string()).to_pylist()
    steps = []
    for name, row in zip(index, ranks.to_pylist(), strict=True):
        if name is not None and name.isdecimal() and name.isascii() and len(name) <= _MAX_DIGITS:
            steps.append(_of_parts(int(name), row))
    return in_order(steps)


_MAX_DIGITS = 9


def stages_of_cluster(frame: pa.Table) -> dict[int, int]:
    """The stage of each rank by the rows of stages in cluster_step_trace_time, in the order of their lowest ranks.

    Empty where there is one stage only, or where two have a rank in common.
    """
    rows = frame.filter(pc.equal(frame["type"].cast(pa.string()), "stage"))
    words = {word for word in rows["index"].cast(pa.string()).to_pylist() if word is not None and _STAGE.match(word)}
    members = sorted({tuple(sorted(map(int, _RANK.findall(word)))) for word in words})
    stages = {rank: stage for stage, ranks in enumerate(members) for rank in ranks}
    return stages if len(members) > 1 and len(stages) == sum(map(len, members)) else {}


_STAGE = re.compile(r"[(\[] *\d{1,9}(?: *, *\d{1,9})* *,? *[)\]]\Z")
_RANK = re.compile(r"\d+")


def steps_of_device(steps: Iterable[Step], tasks: TaskSet) -> list[Step]:
    """The steps of the device that some tasks ran on."""
    return [s for s in steps if s.rank_id == tasks.rank_id and s.device_id in {None, tasks.device_id}]


def missing_points(frame: pa.Table) -> dict[str, list[int]]:
    """The iterations of step_trace without head (the start of forward) or tail (the end of backward), by point."""
    found: dict[str, list[int]] = {}
    for point, column in (("head (FP Start)", "fp_start_ns"), ("tail (BP End)", "bp_end_ns")):
        if column in frame.column_names:
            values = frame[column].to_pylist()
            numbers = frame["iteration_id"].to_pylist()
            missing = {number for number, value in zip(numbers, values, strict=True) if not value}
            found[point] = sorted(missing)
    return found


@dataclass(frozen=True, slots=True)
class Skew:
    """One step of several ranks: which takes longest and shortest; times in ns."""

    model_id: int | None
    step: int | None
    slowest: int
    slowest_ns: int
    fastest: int
    fastest_ns: int
    busiest: int | None
    """The one rank that computes longest, where the export tells: the others wait for it in communication."""


def skew_of_ranks(steps: Sequence[Step]) -> list[Skew]:
    """How far the ranks of one run are apart, step by step; of ranks that tie the lowest is named.

    A rank takes as long as the slowest of its devices.
    """
    by_step: dict[tuple[int | None, int | None], dict[int, list[Step]]] = {}
    for step in steps:
        if step.rank_id is not None:
            by_step.setdefault((step.model_id, step.step), {}).setdefault(step.rank_id, []).append(step)
    found = [_skew_of(*which, ranks) for which, ranks in by_step.items() if len(ranks) > 1]
    return sorted(found, key=lambda skew: tuple(-1 if n is None else n for n in (skew.model_id, skew.step)))


def _skew_of(model_id: int | None, number: int | None, ranks: Mapping[int, Sequence[Step]]) -> Skew:
    took = {rank: max(step.duration_ns for step in ranks[rank]) for rank in sorted(ranks)}
    slowest, fastest = max(took, key=took.__getitem__), min(took, key=took.__getitem__)
    return Skew(
        model_id=model_id,
        step=number,
        slowest=slowest,
        slowest_ns=took[slowest],
        fastest=fastest,
        fastest_ns=took[fastest],
        busiest=_busiest(ranks),
    )


def _busiest(ranks: Mapping[int, Sequence[Step]]) -> int | None:
    """The one rank that computes longest; None where that is not told of all, or two tie."""
    if any(step.computing_ns is None for mine in ranks.values() for step in mine):
        return None
    computed = {rank: max(step.computing_ns or 0 for step in mine) for rank, mine in ranks.items()}
    most = max(computed.values())
    busiest = [rank for rank, ns in computed.items() if ns == most]
    return busiest[0] if len(busiest) == 1 else None


def slowest_ranks(skews: Sequence[Skew]) -> list[tuple[int, int]]:
    """(rank, in how many steps it is the slowest), the most frequent first; one entry: it is always the same."""
    return sorted(Counter(skew.slowest for skew in skews).items(), key=lambda item: (-item[1], item[0]))


def in_order(steps: Iterable[Step]) -> list[Step]:
    """Steps by rank, device, model and number."""
    return sorted(
        steps,
        key=lambda s: tuple(-1 if n is None else n for n in (s.rank_id, s.device_id, s.model_id, s.step, s.start_ns)),
    )
