"""The runs and captures among the files found, and the numbers that they have in tables: no table of a profiler is read for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from aoe_reports.engine.question import Unit
from aoe_reports.formats.capture import Capture, group_runs
from aoe_reports.formats.memory_files import as_log
from aoe_reports.formats.msserviceprofiler.tables import BATCH_KINDS
from aoe_reports.formats.sources.discovery import Discovery
from aoe_reports.formats.sources.found import FoundFile
from aoe_reports.formats.vendor import group_captures


def find_runs(discovery: Discovery) -> list[tuple[Capture, ...]]:
    """The profiles among the files found, as captures that make up one run each."""
    captures = [capture for capture in group_captures(discovery.files) if capture.measures]
    services = tuple(batches for one in service_captures(discovery) if (batches := _batches_of(one)).files)
    captures = [replace(one, services=services) for one in captures] if services else captures
    captures = _with_recordings(captures, memory_captures(discovery))
    # what an analysis of a whole cluster wrote beside its ranks measures nothing itself
    return group_runs([capture for capture in captures if not capture.of_cluster] or captures)


def service_captures(discovery: Discovery) -> list[Capture]:
    """Captures of services among the files found: requests and batches, nothing that ran on a device."""
    return [capture for capture in group_captures(discovery.files) if capture.of_service]


def memory_captures(discovery: Discovery) -> list[Capture]:
    """Recordings of memory among the files found that no profiler made, such as snapshots of PyTorch."""
    return [capture for capture in group_captures(discovery.files) if capture.of_memory]


def _with_recordings(captures: Sequence[Capture], recordings: Sequence[Capture]) -> list[Capture]:
    """Captures with the recordings of memory in their folders; of folders that hold others, or several captures, the innermost that is one capture's."""
    roots = Counter(capture.root for capture in captures)
    innermost = {
        recording.root: max((root for root in roots if recording.root.is_relative_to(root)), key=_depth, default=None)
        for recording in recordings
    }
    return [
        replace(capture, recordings=mine)
        if roots[capture.root] == 1
        and (
            mine := tuple(one for one in recordings if innermost[one.root] == capture.root and _may_be_of(capture, one))
        )
        else capture
        for capture in captures
    ]


def _depth(root: Path) -> int:
    return len(root.parts)


def _may_be_of(capture: Capture, recording: Capture) -> bool:
    return recording.info.rank_id is None or capture.info.may_hold(recording.info.rank_id)


def units_of_memory(discovery: Discovery, first: int) -> list[Unit]:
    """Each recording of memory that no profiler made, and each log, as a run of its own; their numbers begin with `first`."""
    captures = (capture for capture in group_captures(map(as_log, discovery.files)) if capture.of_memory)
    return [
        Unit(capture=capture, run=str(capture.root), number=number)
        for number, capture in enumerate(captures, start=first)
    ]


def _batches_of(service: Capture) -> Capture:
    """A service without the files that hold none of its batches."""
    return service.without(lambda file: not BATCH_KINDS.intersection(file.holds))


def label_of(captures: Sequence[Capture]) -> str:
    """Where a run lies: its folder, or the folder of its ranks (as `inspect` says it)."""
    return str(captures[0].root if len(captures) == 1 else captures[0].root.parent)


@dataclass(frozen=True, slots=True)
class LoadedCapture:
    """A capture with the numbers that it and its files have in the tables."""

    number: int
    first_source: int
    run: str
    capture: Capture

    @property
    def files(self) -> tuple[FoundFile, ...]:
        """Its files: those in force, then those that newer exports superseded."""
        return (*self.capture.files, *self.capture.superseded)

    @property
    def row(self) -> tuple[Any, ...]:
        info = self.capture.info
        return (
            self.number,
            self.run,
            str(self.capture.root),
            self.capture.profiler,
            info.rank_id,
            info.host,
            info.device_type,
            info.engine,
            info.engine_version,
            info.profiler_level,
            info.aic_metrics,
            info.start_ns,
            info.end_ns,
        )

    @property
    def source_rows(self) -> list[tuple[Any, ...]]:
        """The rows of its files of the table `source`."""
        in_force = len(self.capture.files)
        return [
            (
                self.first_source + place,
                self.number,
                str(file.path),
                file.name.kind,
                file.name.form,
                file.size,
                place >= in_force,
            )
            for place, file in enumerate(self.files)
        ]

    @property
    def event_files(self) -> tuple[FoundFile, ...]:
        """Timelines, and databases that may hold events."""
        return () if self.capture.of_memory else tuple(file for file in self.capture.files if file.may_hold_events)

    def source_of(self, file: FoundFile) -> int:
        """The number of one of its files."""
        return self.first_source + self.files.index(file)


def numbered(runs: Sequence[Sequence[Capture]]) -> list[LoadedCapture]:
    """The captures of some runs with their numbers, from 1."""
    captures: list[LoadedCapture] = []
    next_source = 1
    for members in runs:
        for capture in members:
            captures.append(LoadedCapture(len(captures) + 1, next_source, label_of(members), capture))
            next_source += len(captures[-1].files)
    return captures
