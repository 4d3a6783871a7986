"""Timelines with planted truths, in the words of the exporters."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

PROFILED = 4711 << 10
HOST, TALK, OVERLAP = PROFILED | 8 << 5, PROFILED | 15 << 5, PROFILED | 16 << 5
ORIGIN = 1717575960208020758


def device(number: int) -> int:
    return PROFILED | 14 << 5 | number


class Trace:
    """A timeline in the words of the exporters; times in us after ORIGIN."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        for pid, name in ((HOST, "CANN"), (9, "Python")):
            self.named(pid, name)
        self.connection = 0

    def named(self, pid: int, name: str, threads: dict[int, str] | None = None) -> None:
        self.events.append({"name": "process_name", "pid": pid, "tid": 0, "ph": "M", "args": {"name": name}})
        for tid, thread in (threads or {}).items():
            self.events.append({"name": "thread_name", "pid": pid, "tid": tid, "ph": "M", "args": {"name": thread}})

    def event(self, name: str, place: tuple[int, int], start: float, length: float, **args: Any) -> None:
        ns = ORIGIN + round(start * 1000)
        self.events.append(
            {
                "name": name, "pid": place[0], "tid": place[1], "ts": f"{ns // 1000}.{ns % 1000:03d}", "dur": length,
                "ph": "X", "args": args,
            }
        )  # fmt: skip

    def task(self, name: str, start: float, length: float, launched: float | None = None, on: int = 0) -> None:
        self.connection += 1
        self.event(name, (device(on), 3), start, length, **{"Task Type": "AI_CORE", "connection_id": self.connection})
        if launched is not None:
            self.event("Node@launch", (HOST, 7), launched, 1, connection_id=self.connection, level="node")

    def talk(self, name: str, start: float, length: float, launched: float | None = None, on: int = 0) -> None:
        self.connection += 1
        self.event(name, (TALK | on, 0), start, length, connection_id=self.connection)
        self.event("Notify_Wait", (TALK | on, 1), start, length, **{"task type": "Notify_Wait"})
        if launched is not None:
            self.event("Node@launch", (HOST, 7), launched, 1, connection_id=self.connection, level="node")

    def flow(self, number: int, begin: float, end: float) -> None:
        for ph, pid, at in (("s", HOST, begin), ("f", device(0), end)):
            ns = ORIGIN + round(at * 1000)
            event = {"name": "HostToDevice", "ph": ph, "cat": "HostToDevice", "id": str(number), "pid": pid, "tid": 3}
            self.events.append({**event, "ts": f"{ns // 1000}.{ns % 1000:03d}"})

    def overlap(self, **sums: float) -> None:
        threads = {0: "Computing", 1: "Communication", 2: "Communication(Not Overlapped)", 3: "Free"}
        self.named(OVERLAP, "Overlap Analysis", threads)
        for tid, thread in threads.items():
            self.event(thread, (OVERLAP, tid), 0, sums[thread.split("(")[-1].strip(")").replace(" ", "_")])

    def write(self, folder: Path, devices: int = 1) -> Path:
        for number in range(devices):
            self.named(device(number), "Ascend Hardware", {3: "Stream 3"})
            self.named(TALK | number, "Communication", {0: "Group 0 Communication", 1: "Plane 0"})
        output = folder / "rank0_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
        output.mkdir(parents=True, exist_ok=True)
        (output.parent / "profiler_info_0.json").write_text("{}")
        (output / "trace_view.json").write_text(json.dumps(self.events))
        return folder


def planted() -> Trace:
    """Two steps: an overlap of 60 us, a late launch of 500 us, a wait for communication of 240 us."""
    trace = Trace()
    trace.event("ProfilerStep#7", (9, 9), 0, 1000)
    trace.event("ProfilerStep#8", (9, 9), 1000, 1000)
    trace.task("first", 100, 100, launched=50)
    trace.task("second", 200.5, 99.5, launched=60)
    trace.talk("allReduce_1", 240, 100, launched=70)  # 60 us of it beside `second`
    trace.task("late", 800, 100, launched=780)  # the gap began at 300
    trace.talk("allReduce_2", 910, 230, launched=100)
    trace.task("behind", 1140, 60, launched=1005)  # the gap began at 900: mostly communication
    trace.task("last", 1250, 50, launched=990)  # launched in step 7, runs in step 8
    return trace


def dense(names: Sequence[str] = ("matmul", "add"), count: int = 400) -> Trace:
    """A step of 1,600 us: `count` operators of 1 us, one every 2 us, then an all-reduce of 600 us to the end, each launched 5 us before."""
    trace = Trace()
    trace.event("ProfilerStep#7", (9, 9), 0, 2000)
    for number in range(count):
        at = 100 + number * 800 / count
        trace.task(names[number % len(names)], at, 1, launched=at - 5)
    trace.talk(f"{names[0]} all-reduce", 1100, 600, launched=1095)
    return trace
