"""Which kinds of files are timelines (Chrome trace JSON), and which processes they tell of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from aoe_reports.model.texts import say


@dataclass(frozen=True, slots=True)
class TimelineKind:
    """One kind of timeline; of a kind that is a table, too, the file's content tells which it is."""

    name: str
    title: str
    source: str = "msprof"
    files: tuple[str, ...] = ()
    whole_in_each_file: bool = False
    """Whether every file of one capture (one an iteration) holds the whole run."""

    @property
    def file_kinds(self) -> tuple[str, ...]:
        """The words that files of this kind begin with."""
        return self.files or (self.name,)


TIMELINES: dict[str, TimelineKind] = {
    kind.name: kind
    for kind in (
        TimelineKind("msprof", say("host, device, communication and overlap in one timeline")),
        TimelineKind("trace_view", say("host (PyTorch and CANN), device, communication and overlap"), "torch_npu"),
        TimelineKind("task_time", say("tasks on the device, by stream")),
        TimelineKind(
            "step_trace", say("iterations with their forward, backward and refresh parts"), whole_in_each_file=True
        ),
        TimelineKind("hccl", say("communication operators and their tasks, by plane (until 2023-09)")),
        TimelineKind("ai_stack_time", say("one thread for each layer of the software stack (until 2023-07)")),
        TimelineKind("thread_group", say("AscendCL, GE and Runtime by thread of the host (until 2023-08)")),
        TimelineKind("runtime_api", say("calls of the Runtime (until 2023-08)")),
        TimelineKind("acl", say("calls of AscendCL (until 2023-08)")),
        TimelineKind("ge", say("input, inference and output of each model (until 2023-08)"), whole_in_each_file=True),
        TimelineKind("ge_op_execute", say("operators of dynamic shape on the host (until 2023-08)")),
        TimelineKind("api", say("calls of the host at every level (2023-06 to 2023-09)")),
        TimelineKind("event", say("events of the host (2023-06 to 2025-04)")),
        TimelineKind("msprof_tx", say("marks and ranges of users"), files=("msprof_tx", "msproftx")),
    )
}

WHOLE_TIMELINES = ("trace_view", "msprof")
"""Timelines that show every task of the device."""

DEVICE_PROCESS = "Ascend Hardware"
FLOW_CATEGORY = "HostToDevice"
LAUNCH_CATEGORY = "async_npu"
"""Flows of a framework from its operator to the task of the device that this launched: they end where the task starts."""
FORWARD_CATEGORY = "fwdbwd"
"""Flows from an operator of the forward pass to its backward one."""
HOST_PROCESS = "CANN"
COMMUNICATION_PROCESSES = frozenset({"HCCL", "Communication"})
"""What the process of communication is called; the first until 2025."""
OVERLAP_PROCESS = "Overlap Analysis"
CLOCK_COUNTER = "AI Core Freq"
"""The counter of the frequency of the cores: it is written where that changes, and at the begin and the end."""

_PID_BITS, _DEVICE_MASK = 10, 31


def profiled_process(pid: str | None) -> int | None:
    """The process that was profiled, by the number of a process of its timeline; None for what is no number."""
    return int(pid) >> _PID_BITS if pid and pid.isdecimal() else None


def device_of_process(pid: str | None, others: Iterable[str | None]) -> int | None:
    """The number of a device: the last bits of its process's number, if another process of the device has a number made so, too."""
    process = profiled_process(pid)
    if pid is None or not process or all(profiled_process(other) != process for other in others if other != pid):
        return None
    return device_bits(pid)


def device_bits(pid: str) -> int:
    """The last bits of a process's number."""
    return int(pid) & _DEVICE_MASK
