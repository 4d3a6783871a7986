"""Steps and iterations: how long each took and, where the export tells, on what."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from aoe_reports.analysis.tasks import RankOf


@dataclass(frozen=True, slots=True)
class Step:
    """One step of one rank; times in ns, null where the export has none."""

    rank_id: int | None
    device_id: int | None
    model_id: int | None
    step: int | None
    start_ns: int | None
    duration_ns: int
    fp_bp_ns: int | None = None
    iteration_refresh_ns: int | None = None
    data_aug_bound_ns: int | None = None
    computing_ns: int | None = None
    communication_ns: int | None = None
    communication_not_overlapped_ns: int | None = None
    overlapped_ns: int | None = None
    free_ns: int | None = None


def steps_of_trace(rank_of: RankOf, frame: pa.Table) -> list[Step]:
    """Iterations of step_trace, each once: every file of one capture may hold all of them."""
    found: dict[tuple[Any, ...], Step] = {}
    for row in frame.to_pylist():
        end, duration = row.get("iteration_end_ns"), row["iteration_time_ns"]
        found_points = bool(row.get("fp_start_ns")) and bool(row.get("bp_end_ns"))  # C++ exporters print 0.000 for N/A
        step = Step(
            rank_of(row.get("device_id")),
            row.get("device_id"),
            row.get("model_id"),
            row["iteration_id"],
            end - duration if end is not None else None,
            duration,
            row.get("fp_to_bp_time_ns") if found_points else None,
            row.get("iteration_refresh_ns") if found_points else None,
            row.get("data_aug_bound_ns"),
        )
        found.setdefault((step.device_id, step.model_id, step.step, step.start_ns, step.duration_ns), step)
    return in_order(found.values())


def steps_of_trace_time(rank_of: RankOf, frame: pa.Table) -> list[Step]:
    """Steps of step_trace_time; end to end is computing + communication that is not overlapped + free."""
    return in_order(
        Step(
            rank_of(row.get("device_id")),
            row.get("device_id"),
            None,
            row["step"],
            None,
            row["computing_ns"] + row["communication_not_overlapped_ns"] + row["free_ns"],
            computing_ns=row["computing_ns"],
            communication_ns=row["communication_ns"],
            communication_not_overlapped_ns=row["communication_not_overlapped_ns"],
            overlapped_ns=row["overlapped_ns"],
            free_ns=row["free_ns"],
        )
        for row in frame.to_pylist()
    )


def in_order(steps: Iterable[Step]) -> list[Step]:
    """Steps by rank, device, model and number."""
    return sorted(
        steps,
        key=lambda s: tuple(-1 if n is None else n for n in (s.rank_id, s.device_id, s.model_id, s.step, s.start_ns)),
    )
