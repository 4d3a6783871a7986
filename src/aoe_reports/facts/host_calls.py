"""What calls of the host say of why it launches nothing."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal, get_args

HostCall = Literal["synchronisation", "data loading", "compilation", "garbage collection"]
HOST_CALLS: tuple[HostCall, ...] = get_args(HostCall)
QueueCall = Literal["enqueue", "dequeue"]
COLLECTOR_PROCESS = "Python GC"
"""The layer of a timeline in which torch_npu shows when Python collects garbage: the process is blocked then.

Source: CANN 8.5, "Timeline and Summary Data" of the Ascend PyTorch Profiler.
"""

_SYNCHRONISES = re.compile(
    r"(?:AscendCL|Runtime|)@?(?:\w*Synchronize\w*|StreamSyncTaskFinish|MemCopySync|aclrtMemcpy)",
    re.ASCII,
)
"""Calls of AscendCL and of the Runtime that return when the device is done: synchronising, and copying without Async."""
_COMPILES = re.compile(r"(?:AscendCL@)?opCompile", re.ASCII)
"""The part of a call of AscendCL in which it compiles an operator, or finds it compiled."""
_LOADS = re.compile(r"(?:AscendCL@)?acltdt\w+|GetNext.*|.*dataloader.*", re.ASCII | re.IGNORECASE | re.DOTALL)
"""The range that PyTorch's DataLoader records around its `__next__`, such ranges of users, channels of data to graphs."""
_FRAME = re.compile(r"\.py\(\d+\): ")
"""What a Python frame is called: where stacks are recorded frames stand around the ranges that are always there."""


@lru_cache(maxsize=1 << 16)
def host_call(name: str) -> HostCall | QueueCall | None:
    """What a call of the host says of why it launches nothing; null where it says nothing of that."""
    if name.startswith(("Enqueue", "enqueue")):
        return "enqueue"
    if name.startswith(("Dequeue", "dequeue")):
        return "dequeue"
    if _SYNCHRONISES.fullmatch(name):
        return "synchronisation"
    if _COMPILES.fullmatch(name):
        return "compilation"
    return "data loading" if _LOADS.fullmatch(name) and not _FRAME.search(name) else None
