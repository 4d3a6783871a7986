"""Reads what one capture tells of itself: its steps, and its timeline, once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from aoe_reports.engine.captures import (
    collect_events_of,
    device_clocks_of,
    only_device_of,
    read_steps_noting,
    timeline_tells_steps,
)
from aoe_reports.engine.clusters import Cluster, steps_of_ranks
from aoe_reports.engine.fleet.parts import parts_of
from aoe_reports.engine.question import Notes, Unit
from aoe_reports.formats.ascend.tables.pmu import metrics_set
from aoe_reports.formats.capture import Capture
from aoe_reports.formats.sources.found import FoundFile
from aoe_reports.formats.vendor import vendor_of
from aoe_reports.model.by_key import lists_by_key
from aoe_reports.model.topics.breakdown import Parts
from aoe_reports.model.topics.steps import Step
from aoe_reports.topics.quality.facts import NO_METRICS, Conditions, DeviceFacts
from aoe_reports.topics.quality.observed import (
    HIGHEST_MHZ,
    OBSERVED_COLUMNS,
    ClockUse,
    Observed,
    ObservedDevice,
    steps_of_parts,
)
from aoe_reports.topics.quality.quality import Read
from aoe_reports.topics.quality.steadiness import Place


@dataclass(slots=True)
class _Seen:
    """One device in the timelines of a capture, which may hold an iteration each."""

    wholes: list[Parts] = field(default_factory=list)
    steps: dict[int, Parts] = field(default_factory=dict)
    compiling: dict[int, int] = field(default_factory=dict)
    clock: ClockUse | None = None
    others_ns: int = 0
    in_steps_ns: int | None = None
    host_steps_ns: list[int] = field(default_factory=list)

    def take(
        self, device: ObservedDevice, iteration: int | None, observed: Observed, compiling: Mapping[int, int]
    ) -> None:
        """Take in what one timeline tells."""
        self.wholes.append(device.whole)
        if device.steps:
            self.in_steps_ns = (self.in_steps_ns or 0) + sum(parts.computing_ns for parts in device.steps.values())
            self.host_steps_ns += [end - start for start, end in observed.activity.steps_on_host.values()]
        self.steps |= device.steps or ({} if iteration is None else {iteration: device.whole})
        self.compiling |= compiling
        self.others_ns += device.others_ns or 0
        if device.clock is not None and (self.clock is None or device.clock.lost > self.clock.lost):
            self.clock = device.clock


def read_capture(unit: Unit, clusters: Sequence[Cluster], notes: Notes) -> Read:
    """What one capture tells of itself."""
    capture = unit.capture
    notes.add(capture.findings)
    if capture.of_service or not capture.has_data or capture.profiler == "msopprof":
        return Read()
    if capture.of_cluster:
        steps = [step for cluster in clusters if cluster.folder == capture.root.parent for step in cluster.steps]
        return Read(_devices({}, steps, capture), [], capture.info.named_ranks)
    seen: dict[Place, _Seen] = {}
    exports = vendor_of(capture.profiler).events(capture)
    with notes.where_unreadable(unit.path):
        for files in exports:
            _read_export(files, capture, notes, seen)
    steps = [] if timeline_tells_steps(capture) else read_steps_noting(capture, notes.findings)
    if not steps:
        steps = [step for place, one in seen.items() for step in steps_of_parts(place, one.steps)]
    if not steps and capture.info.rank_id is not None:
        steps = steps_of_ranks(clusters, unit.run, {capture.info.rank_id})
    conditions = _conditions(capture, has_timeline=bool(exports))
    parts = frozenset[str]() if unit.alone else parts_of(capture)
    return Read(_devices(seen, steps, capture), [conditions], capture.info.named_ranks, parts)


def _read_export(files: Sequence[FoundFile], capture: Capture, notes: Notes, seen: dict[Place, _Seen]) -> None:
    observed, wrong = collect_events_of(files, OBSERVED_COLUMNS, Observed)
    notes.add(wrong)
    clocks, processes, damaged = device_clocks_of(files)
    notes.add(damaged)
    devices, compiling = observed.devices(clocks, processes), observed.compiling()
    for device in devices:
        number = device.device_id
        if number is None and len(devices) == 1:
            number = only_device_of(files[0], capture)
        place = capture.info.rank_of(number), number
        seen.setdefault(place, _Seen()).take(device, files[0].name.iteration, observed, compiling)


def _devices(seen: Mapping[Place, _Seen], steps: Sequence[Step], capture: Capture) -> list[DeviceFacts]:
    """The devices of the timelines, and those that only steps tell of; of a capture that tells of none its rank."""
    found, taken = [], set[Step]()
    for place, one in seen.items():
        mine = tuple(
            step
            for step in steps
            if step.rank_id == place[0] and (step.device_id == place[1] or None in {step.device_id, place[1]})
        )
        taken |= set(mine)
        found.append(_facts(place, one, mine, capture))
    rest = lists_by_key(((step.rank_id, step.device_id), step) for step in steps if step not in taken)
    found += [_facts(place, _Seen(), tuple(mine), capture) for place, mine in rest.items()]
    return found or [_facts((capture.info.rank_id, None), _Seen(), (), capture)]


def _facts(place: Place, seen: _Seen, steps: tuple[Step, ...], capture: Capture) -> DeviceFacts:
    starts = {step.step: step.start_ns for step in steps if step.step is not None and step.start_ns is not None}
    starts |= {number: parts.start_ns for number, parts in seen.steps.items()}
    return DeviceFacts(
        rank_id=place[0],
        device_id=place[1],
        steps=steps,
        starts=starts,
        tasks={number: parts.tasks for number, parts in seen.steps.items()},
        compiling=seen.compiling,
        clock=seen.clock,
        rated_mhz=_rated(capture),
        whole_ns=sum(parts.end_to_end_ns for parts in seen.wholes),
        computing_ns=sum(parts.computing_ns for parts in seen.wholes),
        in_steps_ns=seen.in_steps_ns,
        host_step_ns=median(seen.host_steps_ns) if seen.host_steps_ns else None,
        others_ns=seen.others_ns,
    )


def _rated(capture: Capture) -> float | None:
    try:
        rated = float(capture.info.hardware["aic_frequency"])
    except (KeyError, ValueError):
        return None
    return rated if 0 < rated < HIGHEST_MHZ else None


def _conditions(capture: Capture, *, has_timeline: bool) -> Conditions:
    info = capture.info
    stated = info.aic_metrics or ""
    metrics = metrics_set([stated]) or (NO_METRICS if stated.casefold().endswith("none") else None)
    return Conditions(
        level=info.profiler_level,
        metrics=metrics,
        recording=info.recording,
        warm_up=info.schedule.get("warmup"),
        has_timeline=has_timeline,
        place=(info.rank_id, None),
    )
