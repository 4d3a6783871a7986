"""Tables of tasks as analyses take them, made of plain rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

WORDS = frozenset({"op_type", "task_type", "op_name", "input_shapes", "op_state", "hf32_eligible"}) | {
    f"{side}_{what}" for side in ("input", "output") for what in ("shapes", "data_types", "formats")
}
DEFAULTS: dict[str, Any] = {"op_type": "MatMulV2", "task_type": "AI_CORE", "op_name": "mm", "input_shapes": "8,8;8,8"}


def tasks_of(rows: Sequence[Mapping[str, Any]], *, spaced_ns: int | None = 0) -> pa.Table:
    """Rows of tasks, one behind the other with `spaced_ns` between them (None: no times) unless they tell their start."""
    whole: list[dict[str, Any]] = []
    now = 1_736_408_883_704_643_212
    for row in rows:
        one = {**DEFAULTS, "task_duration_ns": 100_000, **row}
        if spaced_ns is not None:
            one.setdefault("task_start_ns", now)
            now = one["task_start_ns"] + one["task_duration_ns"] + spaced_ns
        whole.append(one)
    names = list(dict.fromkeys(name for row in whole for name in row))
    columns = {}
    for name in names:
        values = [row.get(name) for row in whole]
        if name in WORDS:
            columns[name] = pa.array(values, pa.string()).dictionary_encode()
        elif name.endswith(("_ns", "block_num")) or name in {"step", "iteration", "device_id"}:
            columns[name] = pa.array(values, pa.int64())
        else:
            columns[name] = pa.array(values, pa.float64())
    return pa.table(columns)
