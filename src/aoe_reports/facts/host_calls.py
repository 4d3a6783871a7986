"""What calls of the host say of why it launches nothing."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal, cast, get_args

HostCall = Literal["synchronisation", "data loading", "compilation", "garbage collection"]
HOST_CALLS: tuple[HostCall, ...] = get_args(HostCall)
QueueCall = Literal["enqueue", "dequeue"]
QUEUE_CALLS: tuple[QueueCall, ...] = get_args(QueueCall)
KINDS_OF_CALLS: tuple[HostCall | QueueCall, ...] = (*HOST_CALLS, *QUEUE_CALLS)
COLLECTOR_PROCESS = "Python GC"
"""The layer of a timeline in which torch_npu shows when Python collects garbage: the process is blocked then.

Source: CANN 8.5, "Timeline and Summary Data" of the Ascend PyTorch Profiler.
"""

_SYNCHRONISES = re.compile(
    r"(?:AscendCL|Runtime|)@?(?:\w*Synchronize\w*|StreamSyncTaskFinish|MemCopySync|aclrtMemcpy)"
    r"|aten::(?:item|_local_scalar_dense|is_nonzero)",
    re.ASCII,
)
"""Calls of AscendCL and of the Runtime that return when the device is done: synchronising, and copying without Async; operators of PyTorch that
hand a value of the device to the program, and wait for it."""
_COMPILES = re.compile(r"(?:AscendCL@)?(?:aclopCompile\w*|opCompile)", re.ASCII)
"""What torch_npu launches operators with where `jit_compile` is on (Ascend Extension for PyTorch, torch_npu.npu.set_compile_mode), and the part
of it that compiles them: they are compiled, or found compiled, before they are launched."""
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


CallGroup = Literal[HostCall, "copy", "SyncBN", "optimizer"]
CALL_GROUPS: tuple[CallGroup, ...] = (*HOST_CALLS, "copy", "SyncBN", "optimizer")
_GROUPS = re.compile(
    r"(?P<copy>(?:AscendCL@|Runtime@)?(?:aclrtMemcpy\w*|rtMemcpy\w*|MemCopy\w*)|acl_memcpy_\w+)"
    r"|(?P<SyncBN>(?:aten|npu)::(?:npu_)?batch_norm_(?:stats|reduce|gather_stats|elemt|backward_reduce|backward_elemt)\w*|SyncBatchNorm\w*)"
    r"|(?P<optimizer>Optimizer\.step#(?s:.*))",
    re.ASCII,
)
"""What calls that `host_call` does not know, or knows as waits, are listed under.

copy: calls of AscendCL and of the Runtime, and the names under which torch_npu puts copies into its queue. SyncBN: the parts of a batch
normalisation over all ranks. optimizer: the range that PyTorch records around a step of an optimizer.
"""


def number_of_call(name: str) -> int:
    """The place of what a call says among KINDS_OF_CALLS; -1 where it says nothing."""
    kind = host_call(name)
    return -1 if kind is None else KINDS_OF_CALLS.index(kind)


def number_of_group(name: str) -> int:
    """The place of what a call is listed under among CALL_GROUPS; -1 for none."""
    group = call_group(name)
    return -1 if group is None else CALL_GROUPS.index(group)


def call_group(name: str) -> CallGroup | None:
    """What a call of the host is listed under by those who ask what it does; null for others."""
    found = _GROUPS.fullmatch(name)
    if found is not None:
        return cast("CallGroup", found.lastgroup)
    kind = host_call(name)
    return None if kind in QUEUE_CALLS else cast("HostCall | None", kind)
