"""Reads what the tasks of devices depended on, from the timeline or the database of a capture."""

from __future__ import annotations

from collections.abc import Sequence

from aoe_reports.engine.captures import collect_events_of, only_device_of
from aoe_reports.formats.capture import Capture
from aoe_reports.formats.sources.found import FoundFile
from aoe_reports.model.findings import Finding
from aoe_reports.topics.critical_path.dependencies import EVENT_COLUMNS, Dependencies, Device


def dependencies_of(
    files: Sequence[FoundFile], capture: Capture
) -> tuple[list[tuple[int | None, Device]], list[Finding]]:
    """(the devices in one export, all of its slices, each with its number; what is wrong with the files)."""
    collected, findings = collect_events_of(files, EVENT_COLUMNS, Dependencies)
    devices = collected.devices()
    alone = only_device_of(files[0], capture) if len(devices) == 1 else None
    return [(alone if device.device_id is None else device.device_id, device) for device in devices], findings
