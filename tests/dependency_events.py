"""Rows of events of one device, as timelines of any exporter become them."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from aoe_reports.topics.critical_path.dependencies import EVENT_COLUMNS

PID = (4211 << 10) | 3
NUMBERS = ("connection_id", "start_ns", "duration_ns", "stream_id")


def batch(*rows: dict[str, Any]) -> pa.RecordBatch:
    kinds = dict.fromkeys(EVENT_COLUMNS, pa.string())
    kinds |= dict.fromkeys(NUMBERS, pa.int64()) | {"stage_row": pa.bool_()}
    whole = [{"ph": "X", "stage_row": False, **row, "pid": None if row.get("pid") is None else str(row["pid"])} for row in rows]  # fmt: skip
    return pa.RecordBatch.from_pylist(whole, pa.schema(list(kinds.items())))


def task(name: str, start: int, length: int, stream: int = 2, kind: str = "AI_CORE", **more: Any) -> dict[str, Any]:
    return {"pid": PID, "process": "Ascend Hardware", "thread": f"Stream {stream}", "stream_id": stream, "task_type": kind, "name": name, "start_ns": start, "duration_ns": length, **more}  # fmt: skip


def talk(name: str, start: int, length: int, **more: Any) -> dict[str, Any]:
    return {"pid": PID, "process": "HCCL", "thread": "Group 0 Communication", "name": name, "start_ns": start, "duration_ns": length, **more}  # fmt: skip


def plane(start: int, length: int, stream: int) -> dict[str, Any]:
    return {"pid": PID, "process": "HCCL", "thread": "Plane 0", "name": "Memcpy", "start_ns": start, "duration_ns": length, "stream_id": stream}  # fmt: skip


def call(name: str, start: int, length: int, connection: int | None = None, thread: str = "Thread 7") -> dict[str, Any]:
    return {"process": "CANN", "thread": thread, "name": name, "connection_id": connection, "start_ns": start, "duration_ns": length}  # fmt: skip


def link(key: int, begin: tuple[str, int], end: tuple[str, int], category: str = "async_task_queue") -> list[dict[str, Any]]:  # fmt: skip
    both = {"category": category, "flow_id": str(key), "name": "flow", "process": "Python"}
    return [{**both, "ph": ph, "thread": thread, "start_ns": time} for ph, (thread, time) in (("s", begin), ("f", end))]
