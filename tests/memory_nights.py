"""Nights of captures with tables of memory, in which the owners of the peak are planted."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from types import MappingProxyType

from captures import FIRST, QUIET, write_night
from memory_files import MIB, Allocation, Record, write_tables
from planted_snapshots import Allocator, snapshot_of

Owners = Sequence[tuple[str, int]]
"""Who allocates, and how much, in the order of time."""


def write_memory(
    home: Path,
    start_ns: int,
    owners: Owners,
    *,
    before: int = 0,
    every_ns: int = 1_000_000,
    components: Mapping[str, int] = MappingProxyType({}),
) -> Path:
    """Tables in which each owner allocates its bytes and keeps them; so many bytes were held `before`. Sizes are multiples of 512 bytes.

    `components` of CANN hold memory beside the allocator; they and the process, which holds all, are sampled twice.
    """
    total, now = before, start_ns + 123_457  # a whole second looks like one that a spreadsheet rounded
    reserved = before + sum(size for _, size in owners)
    sampled = (now, now + 1_000_000) if components else ()
    whole = reserved + sum(components.values())
    allocations, records = [], [Record("PTA", now, (total, reserved, total))]
    for owner, size in owners:
        now += every_ns
        total += size
        allocations.append(Allocation(owner, size, now, None, (total, reserved, total)))
        records.append(Record("PTA", now, (total, reserved, total)))
    records += [Record("APP", ns, (None, whole, None), stream="") for ns in sampled]
    modules = [(name, ns, size) for name, size in components.items() for ns in sampled]
    write_tables(home / "ASCEND_PROFILER_OUTPUT", allocations, records, modules)
    return home


def write_memory_night(
    folder: Path,
    number: int,
    owners: Owners,
    *,
    rank: int = 0,
    every_ns: int = 1_000_000,
    components: Mapping[str, int] = MappingProxyType({}),
) -> Path:
    """A night as `write_night` makes it, with memory; 100 MiB are older than its recording."""
    home = write_night(folder, number, QUIET, rank=rank)
    start = int((FIRST + timedelta(days=number)).timestamp()) * 1_000_000_000
    return write_memory(home, start, owners, before=100 * MIB, every_ns=every_ns, components=components)


CACHE = [{"filename": "/job/vllm/v1/worker/gpu_model_runner.py", "line": 5, "name": "_allocate_kv_cache_tensors"}]
LAYER = [{"filename": "/job/model.py", "line": 31, "name": "forward"}]


def write_snapshot(path: Path, cache: int) -> Path:
    """A snapshot of a server whose KV cache takes so many bytes beside 4 MiB of a layer."""
    allocator = Allocator()
    allocator.allocate(4 * MIB, LAYER)
    allocator.allocate(cache, CACHE)
    path.write_text(json.dumps(snapshot_of(allocator)))
    return path
