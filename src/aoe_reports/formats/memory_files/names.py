"""The kinds of these files, and what their names say."""

from __future__ import annotations

import re

from aoe_reports.formats.sources.found import FileName, Form

SNAPSHOT = "memory_snapshot"
"""What `torch.cuda.memory._dump_snapshot` and `torch_npu.npu.memory._dump_snapshot` write, or the same as JSON."""
MEMSCOPE = "memscope_dump"
"""Events of msMemScope, which was called msLeaks."""
TRACKER = "memory_block"
"""Blocks of MindSpore's memory tracker."""
GRAPHS = "memory_usage"
"""MindSpore's plan of the memory of graphs of static shapes."""
LOG = "memory_log"
"""Lines of a server of language models, or of PyTorch where it ran out of memory."""

MEMORY_KINDS = frozenset({SNAPSHOT, MEMSCOPE, TRACKER, GRAPHS, LOG})

TORCH, MSMEMSCOPE, MINDSPORE, SERVER = "torch", "msmemscope", "mindspore_tracker", "server_log"
"""Who writes them."""

_MEMSCOPE = re.compile(r"^(?:memscope|leaks)_dump_(?P<time>\d{1,20})\.(?P<form>csv|db)$", re.ASCII)
_GRAPHS = re.compile(r"^memory_usage_(?P<rank>\d{1,6})\.pb$", re.ASCII)
_SURE = (
    b"Model loading took", b"Loading model weights took", b"Available KV cache memory", b"KV cache size: ", b"Memory profiling takes",
    b"KV Cache is allocated", b"Load weight end", b"out of memory. Tried to allocate", b"NPUWorkspaceAllocator tried to allocate",
)  # fmt: skip
"""Words of lines on memory that nothing else writes."""
_RANK = re.compile(r"rank[-_]?(?P<rank>\d{1,6})(?!\d)", re.ASCII | re.IGNORECASE)


def parse_name(name: str, folder: str) -> FileName | None:
    """`memscope_dump_20260101000000.csv`, `rank_0/memory_block.csv`, `memory_usage_0.pb`; a snapshot and a log are called as users please."""
    if (match := _MEMSCOPE.match(name)) is not None:
        form: Form = "db" if match["form"] == "db" else "csv"
        return FileName(MEMSCOPE, form, MSMEMSCOPE, time=match["time"], rank_id=rank_in(folder))
    if (match := _GRAPHS.match(name)) is not None:
        return FileName(GRAPHS, "pb", MINDSPORE, rank_id=int(match["rank"]))
    if name == "memory_block.csv":
        return FileName(TRACKER, "csv", MINDSPORE, rank_id=rank_in(folder))
    return None


def is_snapshot(head: str, mark: str = "") -> bool:
    """Whether a file is a snapshot, by the keys of its beginning, which stand between marks: quotes in JSON.

    A list of segments alone begins with the keys of the first of them.
    """
    has = {
        key: f"{mark}{key}{mark}" in head
        for key in ("segments", "total_size", "device_traces", "active_size", "segment_type")
    }
    return (has["segments"] and (has["total_size"] or has["device_traces"])) or (
        has["total_size"] and has["active_size"] and has["segment_type"]
    )


def snapshot_name(name: str, form: Form) -> FileName:
    """What the name of a snapshot says."""
    return FileName(SNAPSHOT, form, TORCH, rank_id=rank_in(name))


def log_name(name: str) -> FileName:
    """What the name of a log says."""
    return FileName(LOG, "txt", SERVER, rank_id=rank_in(name))


def is_memory_log(text: bytes) -> bool:
    """Whether a part of a log has a line on memory."""
    return any(word in text for word in _SURE)


def rank_in(name: str) -> int | None:
    """The rank in the name of a file or a folder: `snapshot_rank3.pickle`, `rank_3`."""
    match = _RANK.search(name)
    return int(match["rank"]) if match else None
