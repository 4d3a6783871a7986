"""How devices are called in sentences on memory."""

from __future__ import annotations

from aoe_reports.model.texts import Text, join, say
from aoe_reports.topics.memory.memory_rows import OfDevice


def where(one: OfDevice) -> tuple[str, int | None, int | None, int | None]:
    """What a row is of, as a key."""
    return one.run, one.rank_id, one.device_id, one.process_id


def device_words(one: OfDevice) -> Text:
    """A device within a sentence."""
    process = [] if one.process_id is None else [say("process {process}", process=one.process_id)]
    if one.rank_id is not None:
        return join(", ", [say("rank {rank}", rank=one.rank_id), *process])
    if one.device_id is not None:
        return join(", ", [say("device {device}", device=one.device_id), *process])
    return process[0] if process else say("the device")


def device_first(one: OfDevice) -> Text:
    """A device at the begin of a sentence."""
    if one.process_id is not None:
        return say("Process {process}", process=one.process_id)
    if one.rank_id is not None:
        return say("Rank {rank}", rank=one.rank_id)
    if one.device_id is not None:
        return say("Device {device}", device=one.device_id)
    return say("The device")
