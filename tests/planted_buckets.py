"""Timelines of one step in which buckets of gradients are reduced beside the backward pass; when each could start is known."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HOST, DEVICE, TALK, PYTHON = 4_823_296, 4_823_488, 4_823_520, 9
ORIGIN_NS = 1_717_575_960_208_020_758


@dataclass
class Step:
    """What a host launches and a device runs; times in us from the origin."""

    events: list[dict[str, Any]] = field(default_factory=list)
    count: int = 0

    def kernel(self, name: str, launched: float, start: float, length: float) -> None:
        """A kernel that computes."""
        self._pair(launched, 1)
        args = {"Task Type": "AI_CORE", "connection_id": self.count, "Physic Stream Id": 3}
        self.add(name, (DEVICE, 3), start, length, **args)

    def collective(self, name: str, launched: float | None, start: float, length: float, thread: int = 1) -> None:
        """An operator of communication; without a launch nothing tells what it waited for."""
        if launched is None:
            self.count += 1
        else:
            self._pair(launched, thread)
        self.add(name, (TALK, 5), start, length, connection_id=self.count)

    def _pair(self, launched: float, thread: int) -> None:
        self.count += 1
        self.add("Node@launch", (HOST, thread), launched, 0.5, connection_id=self.count, level="node")

    def add(self, name: str, place: tuple[int, int], start: float, length: float, **args: Any) -> None:
        """Something that lasts."""
        whole = ORIGIN_NS + round(start * 1000)
        told = {"name": name, "ph": "X", "pid": place[0], "tid": place[1], "dur": length}
        self.events.append({**told, "ts": f"{whole // 1000}.{whole % 1000:03d}", "args": args})

    def write(self, folder: Path) -> Path:
        """The capture of a rank."""
        output = folder / "rank0_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
        output.mkdir(parents=True)
        (output.parent / "profiler_info_0.json").write_text(json.dumps({"rank_id": 0}))
        names = {HOST: "CANN", DEVICE: "Ascend Hardware", TALK: "HCCL", PYTHON: "Python"}
        said = [{"name": "process_name", "ph": "M", "pid": pid, "args": {"name": name}} for pid, name in names.items()]
        said += [
            {"name": "thread_name", "ph": "M", "pid": TALK, "tid": 5, "args": {"name": "Group 0 Communication"}},
            *(
                {"name": "thread_name", "ph": "M", "pid": HOST, "tid": n, "args": {"name": f"Thread {n}"}}
                for n in (1, 2)
            ),
        ]
        (output / "trace_view.json").write_text(json.dumps([*said, *self.events]))
        return folder
