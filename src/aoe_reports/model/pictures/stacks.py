"""What a flame graph shows: stacks of calls, and the device time of what was launched in each."""

from __future__ import annotations

from dataclasses import dataclass

from aoe_reports.model.texts import Text

MODULE = "nn.Module: "
"""What PyTorch's profiler puts before the class and the number of a module in the name of its frame."""


@dataclass(frozen=True, slots=True)
class StackNode:
    """A frame within the frames that call it; times in ns."""

    parent: int
    """The index of its caller, which comes before it; -1 for none."""
    name: str
    own_ns: int
    """Device time of what was launched in it and in no frame that it calls."""
    total_ns: int
    """With that of the frames that it calls."""


@dataclass(frozen=True, slots=True)
class StackPicture:
    """The stacks of some devices; the sum of `own_ns` is the device time of all tasks."""

    title: Text
    nodes: tuple[StackNode, ...]
    total_ns: int
