"""The memory of devices: how high it peaked, who held the peak, what grows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from aoe_reports.engine.ask import asking
from aoe_reports.engine.question import CaptureOptions, Finished, Question, Request, Unit, only
from aoe_reports.model.options import option, options
from aoe_reports.model.rows import Rows
from aoe_reports.model.texts import N_, say
from aoe_reports.topics.memory.row_classes import (
    ActionRow,
    CallRow,
    ChurnRow,
    DeviceRow,
    GrowthRow,
    OwnerRow,
    PoolRow,
    ProcessRow,
    StatementRow,
    StaticRow,
)

if TYPE_CHECKING:
    from aoe_reports.formats.sources.discovery import Discovery
    from aoe_reports.model.pictures.memory import MemoryPicture
    from aoe_reports.model.topics.memory import FailedAllocation, MemoryRecording
    from aoe_reports.topics.memory.words import OpenEnds

TITLES = N_(
    {
        "actions": "Recommended actions",
        "devices": "Peak memory of each device",
        "rows": "Who holds the peak",
        "growth": "What grows from step to step",
        "process": "What the process holds at its peak",
        "churn": "Allocated and released within a step",
        "calls": "Calls that take memory from the device",
        "pools": "Highest values of each component",
        "static": "Graphs of static shapes",
        "statements": "What logs state",
    }
)
"""The tables in the order in which people see them."""


@options
class MemoryOptions(CaptureOptions):
    """Which peak is broken down, and how many of its owners are listed."""

    top: int = option(default=15, minimum=1, help="Number of owners per device; the others are one row.")
    rank: int | None = only("rank")
    device: int | None = only("device")
    step: int | None = only("step")


@dataclass(frozen=True, slots=True)
class MemoryOfCapture:
    """What one capture hands on."""

    tables: dict[str, list[Any]] = field(default_factory=lambda: {key: [] for key in TITLES})
    """Rows by the key of their table."""
    pictures: list[MemoryPicture] = field(default_factory=list)
    """That of the device with the highest peak."""
    failed: list[FailedAllocation] = field(default_factory=list)
    open_ends: list[OpenEnds] = field(default_factory=list)
    devices_here: set[int] = field(default_factory=set)
    steps_here: set[int] = field(default_factory=set)


class Memory(Question[MemoryOptions, MemoryOfCapture]):
    """Break down the peak of device memory: who held it, since when, what is reserved beyond it, what grows from step to step."""

    example = "memory profile"
    page = "memory"
    title = "Memory"
    options = MemoryOptions
    tables = (
        ("rows", OwnerRow),
        ("actions", ActionRow),
        ("devices", DeviceRow),
        ("growth", GrowthRow),
        ("churn", ChurnRow),
        ("calls", CallRow),
        ("process", ProcessRow),
        ("pools", PoolRow),
        ("static", StaticRow),
        ("statements", StatementRow),
    )
    form_help = "Output format; csv has only the owners of the peaks."
    nothing = "no memory of a device is recorded here"
    has_picture = True

    def units(self, files: Discovery, asked: Request[MemoryOptions]) -> Sequence[Unit]:
        """Every capture, and recordings of memory that no profiler made."""
        from aoe_reports.engine.runs import units_of_memory

        runs = super().units(files, asked)
        return [*runs, *units_of_memory(files, len(runs))]

    def map_unit(self, unit: Unit, asked: Request[MemoryOptions]) -> MemoryOfCapture:
        """The memory of each device of a capture."""
        from aoe_reports.topics.memory.disagreements import disagreements_of

        part = MemoryOfCapture()
        asked.notes.add(unit.capture.findings)
        if unit.capture.of_memory or unit.capture.info.may_hold(asked.options.rank):
            self._devices(unit, asked, part)
            self._beside(unit, asked, part)
            asked.notes.add(disagreements_of(unit.capture))
        return part

    @staticmethod
    def _devices(unit: Unit, asked: Request[MemoryOptions], part: MemoryOfCapture) -> None:
        """What is recorded of devices."""
        from aoe_reports.topics.memory.picture import picture_of
        from aoe_reports.topics.memory.reading import read_memory
        from aoe_reports.topics.memory.row_builders import DeviceRows
        from aoe_reports.topics.memory.words import findings_of, open_ends_of

        chosen, tables = asked.options, part.tables

        def is_chosen(one: MemoryRecording) -> bool:
            return chosen.rank in {None, one.rank_id} and chosen.device in {None, one.device_id}

        read = read_memory(unit.capture, asked.notes, is_chosen, chosen.step)
        part.devices_here.update(read.device_ids)
        part.steps_here.update(read.step_numbers)
        if read.devices:
            part.pictures.append(picture_of(max(read.devices, key=lambda one: one.memory.peak.size_bytes)))
        for device in read.devices:
            rows = DeviceRows(unit.run, device, chosen.top)
            asked.notes.add(findings_of(device))
            part.open_ends.extend(open_ends_of(unit.run, device))
            part.failed.extend(failed for one in device.recordings for failed in one.failed)
            tables["devices"].append(rows.device())
            tables["rows"] += rows.owners()
            tables["growth"] += rows.growth()
            tables["churn"] += rows.churn()
            tables["calls"] += rows.calls(of_several=len(read.devices) > 1)
            tables["process"] += rows.process()
            tables["pools"] += rows.pools()

    @staticmethod
    def _beside(unit: Unit, asked: Request[MemoryOptions], part: MemoryOfCapture) -> None:
        """What logs and compilers state of a whole run, in no step."""
        from aoe_reports.topics.memory.reading import graphs_of_capture
        from aoe_reports.topics.memory.row_builders import rows_of_graph, statements_in

        capture, chosen = unit.capture, asked.options
        if chosen.step is not None:
            return
        if capture.of_memory and chosen.device is None:
            statements = statements_in(unit, asked.notes)
            part.tables["statements"] += (one for one in statements if chosen.rank in {None, one.rank_id})
        for device, graph in graphs_of_capture(capture, asked.notes):
            rank = capture.info.rank_of(device)
            if chosen.rank in {None, rank} and chosen.device in {None, device}:
                part.tables["static"] += rows_of_graph(unit.run, rank, device, graph, chosen.top)

    def finish(self, parts: Sequence[tuple[Unit, MemoryOfCapture]], asked: Request[MemoryOptions]) -> Finished:
        """What to do, the devices, who holds their peaks, and every component."""
        from aoe_reports.topics.memory.actions import actions_of
        from aoe_reports.topics.memory.memory_of_ranks import sections_of
        from aoe_reports.topics.memory.words import (
            absent,
            findings_of_open_ends,
            headline_of,
            sentences_of,
            sentences_of_process,
        )

        rows = {key: [one for _, part in parts for one in part.tables[key]] for key in TITLES}
        devices, owners, growth = rows["devices"], rows["rows"], rows["growth"]
        rows["actions"] = actions_of(devices, owners, growth)
        asked.notes.add(findings_of_open_ends([one for _, part in parts for one in part.open_ends]))
        sentences = {"rows": sentences_of(devices, owners), "process": sentences_of_process(devices)}
        order = list(TITLES)
        tables = tuple(
            Rows(
                type=kind,
                rows=rows[key],
                key=key,
                title=say(TITLES[key]),
                sentences=sentences.get(key, ()),
                of_runs=True,
                place=order.index(key),
            )
            for key, kind in self.tables
        )
        if not any(rows.values()):
            here = [part for _, part in parts]
            steps, numbers = (
                {one for part in here for one in getattr(part, name)} for name in ("steps_here", "devices_here")
            )
            asked.notes.add([absent(asked, say(self.nothing), [unit.capture for unit, _ in parts], steps, numbers)])
        failed = [one for _, part in parts for one in part.failed]
        pictures = [one for _, part in parts for one in part.pictures]
        return Finished(
            tables=tables,
            sections=sections_of(devices, sorted(tables, key=lambda table: table.place)),
            headline=headline_of(devices, owners, growth, rows["statements"], failed),
            pictures=sorted(pictures, key=lambda one: -one.peak_bytes)[:1],
        )


memory = asking(Memory(), MemoryOptions)
"""What the memory of devices below some paths peaked at, and who held it: `memory([path]).table("devices")`."""
