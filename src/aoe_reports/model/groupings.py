"""What makes up a row when tasks are grouped: the choices of `--by`, and the columns behind them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

By = Literal["op_type", "op_name", "shape"]
"""How tasks of one capture are grouped."""
ComparedBy = Literal["op_type", "op_name", "shape", "communication", "step"]
"""How captures are compared."""

GROUPINGS: Mapping[By, tuple[str, ...]] = {
    "op_type": ("op_type", "task_type"),
    "op_name": ("op_type", "task_type", "op_name"),
    "shape": ("op_type", "task_type", "op_name", "input_shapes"),
}
KEYS: Mapping[ComparedBy, tuple[str, ...]] = {
    "op_type": GROUPINGS["op_type"],
    "op_name": GROUPINGS["op_name"],
    "shape": GROUPINGS["shape"],
    "communication": ("op_type",),
}
TELLS: Mapping[ComparedBy, str] = {
    "op_type": "op_type",
    "op_name": "op_name",
    "shape": "input_shapes",
    "communication": "op_type",
}
"""The column without which a grouping says nothing."""
