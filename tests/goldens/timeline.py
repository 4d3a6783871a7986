"""A capture of two ranks with timelines, which no fixture holds: overlap, late launches, waits for communication, gaps."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ORIGIN_NS = 1_717_575_960_208_020_758
HOST, DEVICE, TALK, PYTHON = 4711 << 10 | 8 << 5, 4711 << 10 | 14 << 5, 4711 << 10 | 15 << 5, 9
NAMES = {HOST: "CANN", PYTHON: "Python", DEVICE: "Ascend Hardware", TALK: "Communication"}
THREADS = {(DEVICE, 3): "Stream 3", (TALK, 0): "Group 0 Communication", (TALK, 1): "Plane 0"}
TASKS = (
    ("first", 100.0, 100.0, 50.0), ("second", 200.5, 99.5, 60.0), ("late", 800.0, 100.0, 780.0),
    ("behind", 1140.0, 60.0, 1005.0), ("last", 1250.0, 50.0, 990.0), ("end", 1900.0, 90.0, 1400.0),
)  # fmt: skip
"""Name, start, length, and when the host launched it, in us."""
TALKS = (("hcom_allReduce__1", 240.0, 100.0), ("hcom_allReduce__2", 910.0, 230.0), ("hcom_broadcast__3", 1500.0, 200.0))


def write_timelines(folder: Path) -> None:
    """Write the capture below a folder; the second rank is a little later and slower."""
    for rank in (0, 1):
        output = folder / f"rank{rank}_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
        output.mkdir(parents=True)
        (output.parent / f"profiler_info_{rank}.json").write_text(json.dumps({"rank_id": rank}), encoding="utf-8")
        (output / "trace_view.json").write_text(json.dumps(_events(rank)), encoding="utf-8")


def _events(rank: int) -> list[dict[str, Any]]:
    named = [
        {"name": "process_name", "pid": pid, "tid": 0, "ph": "M", "args": {"name": name}} for pid, name in NAMES.items()
    ]
    named += [
        {"name": "thread_name", "pid": pid, "tid": tid, "ph": "M", "args": {"name": name}}
        for (pid, tid), name in THREADS.items()
    ]
    steps = [_event(f"ProfilerStep#{7 + n}", (PYTHON, 9), 1000.0 * n, 1000.0) for n in (0, 1)]
    happened = []
    for number, (name, start, length, launched) in enumerate(TASKS, start=1):
        told = {"Task Type": "AI_CORE", "connection_id": number}
        happened.append(_event(name, (DEVICE, 3), start + 2 * rank, length + rank, **told))
        happened.append(_event("Node@launch", (HOST, 7), launched, 1.0, connection_id=number, level="node"))
    for number, (name, start, length) in enumerate(TALKS, start=100):
        happened.append(_event(name, (TALK, 0), start, length + rank, connection_id=number))
        happened.append(_event("Notify_Wait", (TALK, 1), start, length / 2, **{"task type": "Notify_Wait"}))
    return [*named, *steps, *happened]


def _event(name: str, place: tuple[int, int], start_us: float, length_us: float, **args: Any) -> dict[str, Any]:
    ns = ORIGIN_NS + round(start_us * 1000)
    at = f"{ns // 1000}.{ns % 1000:03d}"
    return {"name": name, "pid": place[0], "tid": place[1], "ts": at, "dur": length_us, "ph": "X", "args": args}
