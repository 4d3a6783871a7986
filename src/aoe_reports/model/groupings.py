"""What makes up a row when tasks are grouped: the choices of `--by`, and the columns behind them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

LocatedBy = Literal["module", "layer", "stack"]
"""Where in a program tasks were launched."""
Phase = Literal["prefill", "decode", "mixed", "other", "unknown"]
"""What an iteration of a server does. `other`: a pass without attention, such as a dummy run, or one of an encoder; `unknown`: nothing tells."""
By = Literal["op_type", "op_name", "shape", LocatedBy]
"""How tasks of one capture are grouped."""
ComparedBy = Literal["op_type", "op_name", "shape", "communication", "step", LocatedBy]
"""How captures are compared."""

LOCATIONS: Mapping[str, LocatedBy] = {by: by for by in get_args(LocatedBy)}
"""The groupings by where in a program a task was launched."""
GROUPINGS: Mapping[By, tuple[str, ...]] = {
    "op_type": ("op_type", "task_type"),
    "op_name": ("op_type", "task_type", "op_name"),
    "shape": ("op_type", "task_type", "op_name", "input_shapes"),
    **dict.fromkeys(LOCATIONS.values(), ("location", "told_by")),
}
KEYS: Mapping[ComparedBy, tuple[str, ...]] = {
    "op_type": GROUPINGS["op_type"],
    "op_name": GROUPINGS["op_name"],
    "shape": GROUPINGS["shape"],
    "communication": ("op_type",),
    **dict.fromkeys(LOCATIONS.values(), ("location",)),
}
TELLS: Mapping[ComparedBy, str] = {
    "op_type": "op_type",
    "op_name": "op_name",
    "shape": "input_shapes",
    "communication": "op_type",
    **dict.fromkeys(LOCATIONS.values(), "location"),
}
"""The column without which a grouping says nothing."""
