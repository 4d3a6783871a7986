"""Reads the timelines of a capture for advice, each once: what devices did, what they waited for, and what could be fused."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from aoe_reports.engine.captures import HostByFile, collect_events_of, only_device_of, types_of_operators
from aoe_reports.facts.breakdown import EVENT_COLUMNS, Activity, DeviceBreakdown
from aoe_reports.facts.host_activity import HOST_COLUMNS, HostActivity, WaitingDevice
from aoe_reports.formats.capture import Capture
from aoe_reports.formats.sources.found import FoundFile
from aoe_reports.formats.vendor import vendor_of
from aoe_reports.model.by_key import lists_by_key
from aoe_reports.model.findings import Finding
from aoe_reports.topics.host.causes import HostFacts, Replaceable, host_facts
from aoe_reports.topics.host.sequences import FoundSequence, find_fused

if TYPE_CHECKING:
    from aoe_reports.topics.critical_path.dependencies import Device


@dataclass(slots=True)
class Timelines:
    """The timelines of a capture, or databases in their place; nothing is read before it is asked for."""

    capture: Capture
    findings: list[Finding]
    """What is wrong with them is added to these."""
    of_host: bool = False
    """Whether what the host did is wanted, too."""
    step: int | None = None
    """The only step that is asked for; None for all."""
    left_out: Mapping[int | None, Collection[int]] = field(default_factory=dict)
    """Steps by device that are in nothing of what devices did."""
    host_by_file: HostByFile = field(default_factory=dict)
    """What was told by those that tasks were read from."""
    read: list[tuple[Sequence[FoundFile], Activity]] | None = None

    @property
    def are_read(self) -> bool:
        """Whether they were read for something else: then looking at more of them costs little."""
        return bool(self.host_by_file or self.read)

    def activities(self) -> list[tuple[Sequence[FoundFile], Activity]]:
        """What each export, all of its slices, tells."""
        if self.read is None:
            self.read = [
                (files, self._activity(files)) for files in vendor_of(self.capture.profiler).events(self.capture)
            ]
        return self.read

    def _activity(self, files: Sequence[FoundFile]) -> Activity:
        if len(files) == 1 and (host_by_file := self.host_by_file.pop(files[0].path, None)) is not None:
            return host_by_file
        activity, wrong = collect_events_of(
            files, HOST_COLUMNS if self.of_host else EVENT_COLUMNS, HostActivity if self.of_host else Activity
        )
        self.findings += [finding for finding in wrong if finding not in self.findings]
        return activity

    def devices(self) -> list[DeviceBreakdown]:
        """What devices did, with the longest gaps of each; in the step that is asked for, if it is there."""
        devices = [device for _, activity in self.activities() for device in activity.break_down(_GAPS, self.left_out)]
        if self.step is None:
            return devices
        return [_of_step(device, self.step) for device in devices if self.step in device.steps]

    def host_facts(self, device_id: int | None, least_share: float) -> Iterator[HostFacts]:
        """What one device waited for, by export; of sequences those that could save so much of its time."""
        types: Mapping[str, str] | None = None
        step = self.step
        for files, activity in self.activities():
            if not isinstance(activity, HostActivity):
                continue
            devices = activity.waiting_devices(0, step, queues=False)
            for device in devices:
                number = device.device_id
                if number is None and len(devices) == 1:
                    number = only_device_of(files[0], self.capture)
                if None not in {number, device_id} and number != device_id:
                    continue
                types = types_of_operators(self.capture) if types is None else types
                found = _fused(device, step, activity.words, types, least_share)
                paths = self._devices_of(files, number) if found else []
                sequences = [_replaceable(mine, paths, step) for mine in found]
                facts = host_facts(device, step, len(activity.steps_on_host), sequences, files[0].path.name)
                if facts is not None:
                    yield facts

    def _devices_of(self, files: Sequence[FoundFile], number: int | None) -> list[Device]:
        """What a device depended on."""
        from aoe_reports.topics.critical_path.dependencies import dependencies_of

        devices, wrong = dependencies_of(files, self.capture)
        self.findings += [finding for finding in wrong if finding not in self.findings]
        return [device for of, device in devices if None in {of, number} or of == number]


_GAPS = 20
"""Communication may run for all of the longest ones: what is looked for is free time."""


def _of_step(device: DeviceBreakdown, step: int) -> DeviceBreakdown:
    return replace(device, steps={step: device.steps[step]}, gaps=[gap for gap in device.gaps if gap.step == step])


def _fused(
    device: WaitingDevice, step: int | None, words: Sequence[str], types: Mapping[str, str], least_share: float
) -> list[list[FoundSequence]]:
    """The sequences that a fused operator replaces, by operator, of those that could save enough."""
    kernels = device.kernels if step is None else device.kernels.of_step(step)
    by_api = lists_by_key((one.api or "", one) for one in find_fused(kernels, words, types))
    least = least_share * device.whole.length_ns
    return [mine for mine in by_api.values() if sum(one.saving_ns for one in mine) >= least]


def _replaceable(sequences: Sequence[FoundSequence], devices: Sequence[Device], step: int | None) -> Replaceable:
    """Sequences of one fused operator, with what the critical path lets them save."""
    from aoe_reports.topics.critical_path.step_paths import path_time_of, paths_of

    longest = max(sequences, key=lambda one: one.saving_ns)
    saving = sum(sequence.saving_ns for sequence in sequences)
    on_path = sum(
        path_time_of(
            device, [path for path in paths_of(device) if step in {None, path.step}], sequence.starts, sequence.spans
        )
        for device in devices
        for sequence in sequences
    )
    return Replaceable(
        api=longest.api or "",
        note=longest.note or "",
        types=longest.types,
        count=sum(sequence.count for sequence in sequences),
        total_ns=sum(sequence.total_ns for sequence in sequences),
        span_ns=sum(sequence.span_ns for sequence in sequences),
        saving_ns=min(saving, on_path) if devices else saving,
        path_ns=on_path if devices else None,
    )
