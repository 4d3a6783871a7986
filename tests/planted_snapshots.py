"""A small allocator like PyTorch's that writes down what it does: its snapshots have a known truth."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

SEGMENT = 2 << 20
STEP = 512
START_US = 1_764_000_000_000_000

Json = dict[str, Any]


@dataclass
class Life:
    """One allocation: its size as asked for and the entries (from 1, of the whole history) that begin and end it."""

    size: int
    address: int
    allocated: int
    released: int | None = None
    completed: int | None = None


@dataclass
class Allocator:
    """Blocks in segments of one device; `entries` are what happened, `sums` what was in use after each of them."""

    device: int = 0
    has_clock: bool = True
    segments: list[Json] = field(default_factory=list)
    entries: list[Json] = field(default_factory=list)
    sums: list[tuple[int, int, int]] = field(default_factory=list)
    """(allocated, reserved, active) after each entry."""
    lives: list[Life] = field(default_factory=list)
    _sums: list[int] = field(default_factory=lambda: [0, 0, 0])
    _next: int = 0x7F00_0000_0000
    _time: int = START_US

    def allocate(self, size: int, frames: list[Json] | None = None, stream: int = 0) -> Life:
        """Take a block of a segment, which is made where none has room."""
        rounded = max(-(-size // STEP) * STEP, STEP)
        segment, block = next(self._free_blocks(rounded), (None, None))
        if segment is None or block is None:
            segment = self._new_segment(max(SEGMENT, -(-rounded // SEGMENT) * SEGMENT), stream)
            block = segment["blocks"][0]
        if block["size"] > rounded:
            rest = {**block, "address": block["address"] + rounded, "size": block["size"] - rounded}
            segment["blocks"].insert(segment["blocks"].index(block) + 1, rest)
        block |= {"size": rounded, "requested_size": size, "state": "active_allocated", "frames": frames or []}
        self._log("alloc", block["address"], size, (size, 0, size), frames, stream)
        life = Life(size, block["address"], len(self.entries))
        self.lives.append(life)
        return life

    def release(self, life: Life, *, waits: bool = False) -> None:
        """Give a block back; where a stream still uses it, it is completed later."""
        block = self._block_of(life)
        self._log("free_requested", life.address, life.size, (-life.size, 0, 0), None, 0)
        life.released = len(self.entries)
        block["state"] = "active_pending_free"
        if not waits:
            self.complete(life)

    def complete(self, life: Life) -> None:
        """The last stream is done with a block."""
        block = self._block_of(life)
        self._log("free_completed", life.address, life.size, (0, 0, -life.size), None, 0)
        life.completed = len(self.entries)
        block |= {"state": "inactive", "requested_size": 0, "frames": []}
        for segment in self.segments:
            segment["blocks"] = _merged(segment["blocks"])

    def empty_cache(self) -> None:
        """Return the segments that hold nothing."""
        for segment in [one for one in self.segments if all(block["state"] == "inactive" for block in one["blocks"])]:
            self.segments.remove(segment)
            self._log(
                "segment_free", segment["address"], segment["total_size"], (0, -segment["total_size"], 0), None, 0
            )

    def fail(self, size: int, free: int) -> None:
        """An allocation for which the device has no memory."""
        self._log("oom", free, size, (0, 0, 0), None, 0, key="device_free")

    @property
    def unusable(self) -> int:
        """Bytes of free blocks in segments that hold something."""
        return sum(
            block["size"]
            for segment in self.segments
            for block in segment["blocks"]
            if block["state"] == "inactive" and any(one["state"] != "inactive" for one in segment["blocks"])
        )

    def _free_blocks(self, size: int) -> Iterator[tuple[Json, Json]]:
        for segment in self.segments:
            yield from (
                (segment, one) for one in segment["blocks"] if one["state"] == "inactive" and one["size"] >= size
            )

    def _new_segment(self, size: int, stream: int) -> Json:
        block = {"address": self._next, "size": size, "requested_size": 0, "state": "inactive", "frames": []}
        segment = {
            "device": self.device, "address": self._next, "total_size": size, "allocated_size": 0, "active_size": 0,
            "requested_size": 0, "stream": stream, "segment_type": "large", "segment_pool_id": (0, 0),
            "is_expandable": False, "frames": [], "blocks": [block],
        }  # fmt: skip
        self.segments.append(segment)
        self._log("segment_alloc", self._next, size, (0, size, 0), None, stream)
        self._next += size + SEGMENT
        return segment

    def _block_of(self, life: Life) -> Json:
        return next(b for s in self.segments for b in s["blocks"] if b["address"] == life.address)

    def _log(
        self,
        action: str,
        address: int,
        size: int,
        change: tuple[int, int, int],
        frames: Any,
        stream: int,
        key: str = "addr",
    ) -> None:
        self._time += 7
        entry = {"action": action, key: address, "size": size, "stream": stream}
        if self.has_clock:
            entry["time_us"] = self._time
        self.entries.append(entry if frames is None else {**entry, "frames": frames})
        self._sums = [before + more for before, more in zip(self._sums, change, strict=True)]
        self.sums.append((self._sums[0], self._sums[1], self._sums[2]))


def _merged(blocks: list[Json]) -> list[Json]:
    found: list[Json] = []
    for block in blocks:
        if found and found[-1]["state"] == block["state"] == "inactive":
            found[-1]["size"] += block["size"]
        else:
            found.append(block)
    return found


def snapshot_of(*allocators: Allocator, kept: int | None = None) -> Json:
    """What PyTorch would write; of each history the last entries that a buffer of this size keeps."""
    traces: list[Any] = [[] for _ in range(1 + max(one.device for one in allocators))]
    for one in allocators:
        traces[one.device] = one.entries if kept is None else one.entries[len(one.entries) - kept :] if kept else []
    segments = [segment for one in allocators for segment in one.segments]
    return {"segments": segments, "device_traces": traces, "allocator_settings": {"expandable_segments": False}}
