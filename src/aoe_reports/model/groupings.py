"""What makes up a row when tasks are grouped: the choices of `--by`, and the columns behind them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

LocatedBy = Literal["module", "layer", "stack"]
"""Where in a program tasks were launched."""
By = Literal["op_type", "op_name", "shape", "module", "layer", "stack"]
"""How tasks of one capture are grouped."""
ComparedBy = Literal["op_type", "op_name", "shape", "communication", "step", "module", "layer", "stack"]
"""How captures are compared."""

GROUPINGS: Mapping[By, tuple[str, ...]] = {
    "op_type": ("op_type", "task_type"),
    "op_name": ("op_type", "task_type", "op_name"),
    "shape": ("op_type", "task_type", "op_name", "input_shapes"),
    "module": ("location", "told_by"),
    "layer": ("location", "told_by"),
    "stack": ("location", "told_by"),
}
LOCATIONS: Mapping[str, LocatedBy] = {"module": "module", "layer": "layer", "stack": "stack"}
"""The groupings by where in a program a task was launched."""
KEYS: Mapping[ComparedBy, tuple[str, ...]] = {
    "op_type": GROUPINGS["op_type"],
    "op_name": GROUPINGS["op_name"],
    "shape": GROUPINGS["shape"],
    "communication": ("op_type",),
    "module": ("location",),
    "layer": ("location",),
    "stack": ("location",),
}
TELLS: Mapping[ComparedBy, str] = {
    "op_type": "op_type",
    "op_name": "op_name",
    "shape": "input_shapes",
    "communication": "op_type",
    "module": "location",
    "layer": "location",
    "stack": "location",
}
"""The column without which a grouping says nothing."""
