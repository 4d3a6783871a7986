"""What is usually done about what the memory of devices shows: the sentences, and which of them apply."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from aoe_reports.model.by_key import lists_by_key
from aoe_reports.model.size_units import size_words
from aoe_reports.model.texts import N_, say
from aoe_reports.model.topics.memory_words import UNKNOWN_OWNER
from aoe_reports.topics.memory.row_classes import ActionRow, DeviceRow, GrowthRow, OwnerRow, device_words, where

MAX_ACTIONS = 3
"""So many of a run are listed."""
DONE = N_(
    {
        "leak": "Look for results that are kept with their graph (append loss.item() or loss.detach() to a list, not loss), and for hooks and caches "
        "without a limit",
        "before": "Usually weights, gradients, optimizer states or caches: shard or offload them (ZeRO, FSDP), or make the KV cache smaller. Record "
        "from the start of the process to see who allocated them",
        "owners": "Recompute activations, split the batch or the sequence, or use a fused operator; the column Where shows where",
        "reserved": "Set PYTORCH_NPU_ALLOC_CONF=expandable_segments:True, so that segments grow and fewer new ones are needed; it cannot be combined with "
        "max_split_size_mb or garbage_collection_threshold. Fewer distinct sizes (padding, buckets) also help",
        "process": "Communication buffers, the runtime and other components of CANN hold it: set a smaller HCCL_BUFFSIZE, or use fewer process groups",
        "device": "Another process uses this device: see npu-smi info",
    }
)
"""What is usually done, by what was seen."""
_MUCH = 0.2
"""A part of what holds it that is worth a sentence."""
_LARGEST, _MOST_OF_REST = 2, 0.5
"""So many owners hold this part of what was allocated in the recording."""


def actions_of(
    devices: Sequence[DeviceRow], owners: Sequence[OwnerRow], growth: Sequence[GrowthRow]
) -> list[ActionRow]:
    """At most MAX_ACTIONS for each run, of each kind that of the device with most: leaks first, as they end only with the memory; then by bytes."""
    by_device, leaks = (
        lists_by_key((where(one), one) for one in owners),
        lists_by_key((where(one), one) for one in growth),
    )
    every = [
        action
        for device in devices
        for action in (
            *_of_growth(device, leaks.get(where(device), ())),
            *_of_owners(device, by_device.get(where(device), ())),
            *_of_reserve(device),
        )
    ]
    found: list[ActionRow] = []
    for mine in lists_by_key((one.run, one) for one in every).values():
        topics = lists_by_key((one.topic, one) for one in mine).values()
        largest = [max(same, key=lambda one: one.size_bytes) for same in topics]
        found += sorted(largest, key=lambda one: (one.topic != "leak", -one.size_bytes))[:MAX_ACTIONS]
    return found


def _of_growth(device: DeviceRow, growth: Sequence[GrowthRow]) -> Iterator[ActionRow]:
    leaks = [one for one in growth if one.meaning == "leak"]
    if leaks:
        most = largest_leak(leaks)
        yield _action(device, "leak", most.total_bytes, leak_words(most, device))


def largest_leak(leaks: Sequence[GrowthRow]) -> GrowthRow:
    """The largest, by its owner where one is known."""
    return max([one for one in leaks if not one.is_all] or leaks, key=lambda one: one.bytes_per_step)


def leak_words(leak: GrowthRow, device: DeviceRow) -> str:
    """Who retains how much, where."""
    return say(
        "{owner} retains {size} per step ({device}, steps {first} to {last})",
        owner=leak.owner,
        size=size_words(leak.bytes_per_step),
        device=device_words(device),
        first=leak.first_step,
        last=leak.last_step,
    )


def _of_owners(device: DeviceRow, owners: Sequence[OwnerRow]) -> Iterator[ActionRow]:
    """What was held before, and who holds most of the rest; nothing where owners cannot be named."""
    if not device.adds_up:
        return
    if device.before_bytes >= _MUCH * device.peak_bytes:
        seen = say(
            "{size} of the peak ({share:.0%}) was held before the recording",
            size=size_words(device.before_bytes),
            share=device.before_bytes / device.peak_bytes,
        )
        yield _action(device, "before", device.before_bytes, seen)
    sizes: dict[str, int] = {}
    for one in owners:
        if not (one.is_rest or one.since_before or one.unexplained or one.owner == UNKNOWN_OWNER):
            sizes[one.owner] = sizes.get(one.owner, 0) + one.size_bytes
    largest = sorted(sizes.items(), key=lambda item: (-item[1], item[0]))[:_LARGEST]
    size, rest = sum(size for _, size in largest), device.peak_bytes - device.before_bytes
    if size >= max(_MOST_OF_REST * rest, _MUCH * device.peak_bytes, 1):
        seen = say(
            "{owners}: {size} of the peak ({share:.0%})",
            owners=", ".join(name for name, _ in largest),
            size=size_words(size),
            share=size / device.peak_bytes,
        )
        yield _action(device, "owners", size, seen)


def _of_reserve(device: DeviceRow) -> Iterator[ActionRow]:
    """What is taken from the device beyond what allocators use, what they reserve, and what the process holds."""
    reserved, excess = device.highest_reserved_bytes, device.excess_bytes or 0
    if reserved is not None and excess >= _MUCH * reserved and excess:
        seen = say(
            "{size} of the {reserved} reserved was not in use"
            if device.growth_not_judged == "no history"
            else "{size} of the {reserved} reserved was never used",
            size=size_words(excess),
            reserved=size_words(reserved),
        )
        yield _action(device, "reserved", excess, seen)
    process, whole = device.process_bytes, device.device_bytes
    if process is not None and reserved is not None and (beside := process - reserved) >= _MUCH * process > 0:
        seen = say(
            "The process held {size} beyond what its allocators reserved",
            size=size_words(beside),
        )
        yield _action(device, "process", beside, seen)
    if process is not None and whole is not None and (others := whole - process) >= _MUCH * whole > 0:
        seen = say("Other processes held {size} of the device", size=size_words(others))
        yield _action(device, "device", others, seen)


def _action(device: DeviceRow, topic: str, size: int, seen: str) -> ActionRow:
    return ActionRow(
        run=device.run,
        rank_id=device.rank_id,
        device_id=device.device_id,
        process_id=device.process_id,
        topic=topic,
        seen=seen,
        size_bytes=size,
        done=say(DONE[topic]),
    )
