"""What the critical path of a profile's steps gives up if an operator is tuned: a bound beside that of its own time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from aoe_reports.facts.bounds import OperatorBounds
from aoe_reports.formats.capture import Capture
from aoe_reports.formats.sources.found import FoundFile
from aoe_reports.formats.vendor import vendor_of
from aoe_reports.model.errors import ReadError
from aoe_reports.model.findings import Finding, has
from aoe_reports.model.texts import say
from aoe_reports.topics.critical_path.dependencies import Device, dependencies_of
from aoe_reports.topics.critical_path.step_paths import MILLION, StepPath, gain_of, paths_of
from aoe_reports.tuning.rules import PLAN_PATH_UNKNOWN

MAX_BYTES = 1 << 26
"""Of larger timelines no path is computed: each candidate is a walk over all that happened, and a plan is to be made within a minute."""


@dataclass(frozen=True, slots=True)
class PathBounds:
    """The critical paths of the steps of the device that is planned for."""

    paths: Sequence[tuple[Device, StepPath]]
    types: Mapping[str, str]
    """The type of each operator, by name."""

    def saving_ns(self, op_type: str | None, op_name: str | None, saving_ns: int, total_ns: int) -> float:
        """How much shorter a step gets on average if an operator (without a name: all of a type) saves so much of its total time."""
        parts = min(-(-saving_ns * MILLION // total_ns), MILLION) if total_ns else 0
        gains = []
        for device, path in self.paths:
            shortened = [name == op_name if op_name else self.types.get(name) == op_type for name in device.names]
            gains.append(gain_of(device, path, np.asarray(shortened, dtype=bool), parts))
        return sum(gains) / len(gains)


def path_bounds_of(
    capture: Capture, device_id: int | None, bounds: OperatorBounds, findings: list[Finding]
) -> PathBounds | None:
    """The paths of a device in the timelines of its capture; None where there are none: why is said where it has a timeline."""
    found: list[tuple[Device, StepPath]] = []
    for files in vendor_of(capture.profiler).events(capture):
        devices = _read(files, capture, findings)
        found += [(one, path) for number, one in devices if device_id in {None, number} for path in paths_of(one)]
    return PathBounds(found, _types(bounds)) if found else None


def _read(files: Sequence[FoundFile], capture: Capture, findings: list[Finding]) -> list[tuple[int | None, Device]]:
    """What the devices in one export depended on; nothing where it is too large or damaged."""
    where = str(files[0].path)
    if sum(file.size for file in files) > MAX_BYTES:
        message = say("timelines of more than {size} MiB are not read for a plan", size=MAX_BYTES >> 20)
        findings.append(PLAN_PATH_UNKNOWN.found(where, message))
        return []
    try:
        devices, wrong = dependencies_of(files, capture)
    except (ReadError, OSError):
        return []  # which `check` says: the plan is made without
    if has(wrong, "error"):
        findings.append(PLAN_PATH_UNKNOWN.found(where, say("the timeline is damaged")))
        return []
    return devices


def _types(bounds: OperatorBounds) -> dict[str, str]:
    """The type of each operator that has a name, by name."""
    found = {}
    for place in range(bounds.names.count):
        name, op_type = bounds.key(place, "op_name"), bounds.key(place, "op_type")
        if name and op_type:
            found[name] = op_type
    return found
