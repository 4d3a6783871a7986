"""Whether devices wait for the host, and why: launches, queues, calls of the host, sequences that a fused operator replaces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from aoe_reports.engine.ask import asking
from aoe_reports.engine.question import CaptureOptions, Finished, Question, Request, Unit, only
from aoe_reports.model.options import option, options
from aoe_reports.model.rows import US, Rows, column, row
from aoe_reports.model.texts import say
from aoe_reports.model.topics.host import Calls, HostWait


@options
class HostOptions(CaptureOptions):
    """Which devices are shown, and how much of each."""

    top: int = option(default=10, minimum=1, maximum=1000, help="Number of waits, and of sequences, per device.")
    rank: int | None = only("rank")
    device: int | None = only("device")
    step: int | None = only("step")


@row
class HostCause:
    """One reason for which a device waits for its host, or does more than it needs to; the longest come first."""

    position: int = column("#", "integer")
    run: str = column("Run")
    rank_id: int | None = column("Rank", "integer")
    device_id: int | None = column("Device", "integer")
    cause: str = column("Cause", "word")
    time_ns: int = column("Time", unit=US)
    share: float = column("Share of time", "percent")
    evidence: str = column("Evidence", "sentence")
    advice: str = column("What to try", "sentence")


@row
class HostTime:
    """A step of a device (without a step: all of its time): idle time by cause, launches and their queue; null where not recorded."""

    run: str = column("Run")
    rank_id: int | None = column("Rank", "integer")
    device_id: int | None = column("Device", "integer")
    step: int | None = column("Step", "integer")
    start_ns: int = column()
    duration_ns: int = column("Duration", unit=US)
    idle_ns: int = column("Idle", unit=US)
    waited_ns: int | None = column("For the host", unit=US)
    waited_share: float | None = column("Share", "percent")
    launching_ns: int | None = column("Launching", unit=US)
    synchronisation_ns: int = column("Synchronising", unit=US)
    copying_ns: int = column("Copying", unit=US, detail=True)
    data_loading_ns: int = column("Data loading", unit=US, detail=True)
    compilation_ns: int = column("Compiling", unit=US, detail=True)
    garbage_collection_ns: int = column("Garbage collection", unit=US, detail=True)
    event_wait_ns: int = column("Waiting for an event", unit=US, detail=True)
    launched_ns: int | None = column(unit=US)
    unknown_ns: int = column(unit=US)
    tasks: int = column("Tasks", "integer", detail=True)
    launches: int = column()
    launches_unknown: int = column()
    latency_p50_ns: int | None = column("Launch to begin (median)", unit=US)
    latency_p95_ns: int | None = column("95%", unit=US, detail=True)
    latency_longest_ns: int | None = column(unit=US)
    latency_total_ns: int | None = column(unit=US)
    queue_span_ns: int | None = column(unit=US)
    queue_length: float | None = column("Queue (mean)", "number", detail=True)
    queue_empty_share: float | None = column("Queue empty", "percent", detail=True)
    queue_longest: int | None = column()


@row
class HostDevice:
    """What else is recorded of one device and its host; null where it is not."""

    run: str = column("Run")
    rank_id: int | None = column("Rank", "integer")
    device_id: int | None = column("Device", "integer")
    task_queue_entries: int | None = column("Operators queued", "integer")
    task_queue_p50_ns: int | None = column("In the task queue (median)", unit=US)
    task_queue_p95_ns: int | None = column("95%", unit=US)
    task_queue_longest_ns: int | None = column(unit=US)
    task_queue_length: float | None = column("Task queue (mean)", "number")
    task_queue_empty_share: float | None = column("Task queue empty", "percent")
    task_queue_longest: int | None = column()
    copy_tasks: int = column("Copies", "integer")
    copy_tasks_ns: int = column("Time copying", unit=US)
    host_shift_ns: int = column(unit=US)
    early_launches: int = column()
    not_recorded: list[str] = column("Not recorded")


@row
class HostSequence:
    """A short sequence of tasks that comes again and again: one that a fused operator replaces, or a candidate for one."""

    position: int = column("#", "integer")
    run: str = column("Run")
    rank_id: int | None = column("Rank", "integer")
    device_id: int | None = column("Device", "integer")
    told_by: str = column()
    """`timeline`, else the table whose tasks tell it: then host and launches are not known."""
    fused: str | None = column("Fused operator")
    sequence: str = column("Sequence")
    count: int = column("Count", "integer")
    tasks: int = column(detail=True)
    total_ns: int = column("Total", unit=US)
    mean_ns: float = column("Each", unit=US)
    launch_share: float = column("Between tasks", "percent")
    saving_ns: int = column("Saves at most", unit=US)
    saving_share: float = column("Share of time", "percent")
    first_task: str | None = column("First task", detail=True)
    first_start_ns: int = column()
    note: str | None = column("Note", "sentence", detail=True)


@dataclass(frozen=True, slots=True)
class HostFound:
    """What one capture tells."""

    causes: list[HostCause] = field(default_factory=list)
    times: list[HostTime] = field(default_factory=list)
    devices: list[HostDevice] = field(default_factory=list)
    calls: list[Calls] = field(default_factory=list)
    waits: list[HostWait] = field(default_factory=list)
    sequences: list[HostSequence] = field(default_factory=list)


class Host(Question[HostOptions, HostFound]):
    """Find whether devices wait for the host, and why: launches, queues, synchronising, copies, data loading, compilation, garbage collection; sequences to fuse."""

    example = "host profile"
    page = "host"
    title = "Waiting for the host"
    options = HostOptions
    tables = (
        ("rows", HostTime),
        ("causes", HostCause),
        ("calls", Calls),
        ("waits", HostWait),
        ("sequences", HostSequence),
        ("devices", HostDevice),
    )
    form_help = "Output format; csv has idle time by step only."
    nothing = "no device task in a timeline here, and no frequent short sequence in a table of tasks"
    every_rank = "rows"

    def map_unit(self, unit: Unit, asked: Request[HostOptions]) -> HostFound:
        """What one capture tells of its devices and their host."""
        from aoe_reports.formats.vendor import vendor_of
        from aoe_reports.topics.host.reading import read_export, read_tables
        from aoe_reports.topics.quality.trimming import note_unusual_of_table
        from aoe_reports.topics.rules import NO_TIMELINE

        capture, notes, found = unit.capture, asked.notes, HostFound()
        notes.add(capture.findings)
        if not capture.info.may_hold(asked.options.rank):
            return found
        exports = vendor_of(capture.profiler).events(capture)
        if not exports:
            message = say("no timeline of the whole device here (trace_view, msprof) and no database that contains one")
            notes.add([NO_TIMELINE.found(unit.path, message)])
            with notes.where_unreadable(unit.path):
                read_tables(unit, asked, found)
            return found
        if asked.options.step is None:
            note_unusual_of_table(capture, notes, rank=asked.options.rank, device=asked.options.device, trims=False)
        with notes.where_unreadable(unit.path):
            for files in exports:
                read_export(files, unit, asked, found)
        return found

    def finish(self, parts: Sequence[tuple[Unit, HostFound]], asked: Request[HostOptions]) -> Finished:
        """The devices below one another, what they waited for first."""
        from aoe_reports.topics.host.words import headline_of, said_of_sequences

        del asked
        every = [found for _, found in parts]
        times = [time for found in every for time in found.times]
        sequences = [sequence for found in every for sequence in found.sequences]
        causes = [cause for found in every for cause in found.causes]
        return Finished(
            tables=(
                Rows(type=HostTime, rows=times, title="Idle time by cause", of_runs=True),
                Rows(type=HostCause, rows=causes, key="causes", title="What to do first", place=-1, of_runs=True),
                Rows(
                    type=Calls,
                    rows=[call for found in every for call in found.calls],
                    key="calls",
                    title="Calls of the host",
                    of_runs=True,
                ),
                Rows(
                    type=HostWait,
                    rows=[wait for found in every for wait in found.waits],
                    key="waits",
                    title="Longest waits for the host",
                    of_runs=True,
                ),
                Rows(
                    type=HostSequence,
                    rows=sequences,
                    key="sequences",
                    title="Frequent short sequences",
                    sentences=said_of_sequences(sequences),
                    of_runs=True,
                ),
                Rows(
                    type=HostDevice,
                    rows=[device for found in every for device in found.devices],
                    key="devices",
                    title="Task queue, copies, and missing recordings",
                    of_runs=True,
                ),
            ),
            headline=headline_of(times, causes, sequences),
        )


host = asking(Host(), HostOptions)
"""Whether the devices below some paths wait for their hosts: `host([path]).table("causes")`."""
