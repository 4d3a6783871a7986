"""Every table of a capture database."""

from __future__ import annotations

from aoe_reports.model.texts import N_
from aoe_reports.schema.table import Column, Table

CAPTURE = Table(
    "capture",
    N_("What one profiler recorded in one folder: one rank, or several devices of one host."),
    (
        Column("capture_id", "Number of the capture, from 1."),
        Column("run", "Folder of the run; the ranks of a job are one run.", "VARCHAR"),
        Column("path", "Folder of the capture.", "VARCHAR"),
        Column("profiler", "Who wrote it: msprof, torch_npu, …", "VARCHAR"),
        Column("rank_id", "Rank; null where no file says it, or where devices of several ranks are here."),
        Column("host", "Name of the machine.", "VARCHAR"),
        Column("device_type", "Name of the chip.", "VARCHAR"),
        Column("engine", "What ran the tasks, such as CANN.", "VARCHAR"),
        Column("engine_version", "Its version.", "VARCHAR"),
        Column("profiler_level", "Level of profiling.", "VARCHAR"),
        Column("aic_metrics", "Group of counters that was recorded.", "VARCHAR"),
        Column("start_ns", "When recording started, in ns since 1970."),
        Column("end_ns", "When it ended, in ns since 1970."),
    ),
    ("capture_id",),
)
SOURCE = Table(
    "source",
    N_("A file of a capture."),
    (
        Column("source_id", "Number of the file, from 1."),
        Column("capture_id", "Capture that it belongs to.", refers_to="capture.capture_id"),
        Column("path", "Where it is.", "VARCHAR"),
        Column("kind", "What its name says it is, such as op_summary.", "VARCHAR"),
        Column("form", "csv, json, db, txt or parquet.", "VARCHAR"),
        Column("size_bytes", "Its size."),
        Column("is_superseded", "Whether a newer export of the same facts is read instead.", "BOOLEAN"),
    ),
    ("source_id",),
)
LOADED = Table(
    "loaded",
    N_(
        "How many rows of a file are in task, event, memory_event or memory_sample. Of tasks: rows read = rows loaded + rows reported + rows that another file repeats."
    ),
    (
        Column("source_id", "File.", refers_to="source.source_id"),
        Column("table_name", "Table that its rows are in.", "VARCHAR"),
        Column("rows_read", "Rows of the file."),
        Column("rows_loaded", "Rows in the table."),
        Column("rows_reported", "Rows left out, with findings; events that are left out have findings only."),
    ),
    ("source_id", "table_name"),
)
FINDING = Table(
    "finding",
    N_("What is wrong with the files that were read for the tables in use, in English."),
    (
        Column("severity", "error, warning or info.", "VARCHAR"),
        Column("rule", "Name of the rule; docs/rules.md explains each.", "VARCHAR"),
        Column("path", "File or folder.", "VARCHAR"),
        Column("line", "Line, from 1."),
        Column("column_number", "Column of the line, from 1."),
        Column("pointer", "Place in a JSON document (RFC 6901).", "VARCHAR"),
        Column("message", "What was found.", "VARCHAR"),
    ),
    (),
)
STEP = Table(
    "step",
    N_("One step (iteration) of one device."),
    (
        Column("capture_id", "Capture.", refers_to="capture.capture_id"),
        Column("rank_id", "Rank."),
        Column("device_id", "Device."),
        Column("model_id", "Model (graph) on the device."),
        Column("step", "Number of the step."),
        Column("start_ns", "When it starts, in ns of the clock of the capture: since 1970 in most exports."),
        Column("duration_ns", "How long it takes."),
        Column("fp_bp_ns", "From the start of the forward pass to the end of the backward pass."),
        Column("iteration_refresh_ns", "From the end of the backward pass to the end of the step."),
        Column("data_aug_bound_ns", "Wait for input data before the step."),
        Column("computing_ns", "Time in which the device computes."),
        Column("communication_ns", "Time in which it communicates."),
        Column("communication_not_overlapped_ns", "Time in which it communicates and does not compute."),
        Column("overlapped_ns", "Time in which it does both."),
        Column("free_ns", "Time in which it does neither."),
        Column("stage_ns", "Step without bubbles of its pipeline."),
        Column("bubble_ns", "Time in which a stage of a pipeline waits for another."),
    ),
    (),
)
TASK = Table(
    "task",
    N_("One execution on a device: a kernel, a communication task, a copy, an event. start_ns + duration_ns = end_ns."),
    (
        Column("capture_id", "Capture.", refers_to="capture.capture_id"),
        Column("rank_id", "Rank."),
        Column("device_id", "Device."),
        Column("model_id", "Model (graph) on the device."),
        Column("step", "Number of the step; a step is that of the same capture, rank, device and model."),
        Column("stream_id", "Stream; its tasks run one after another."),
        Column("task_id", "Number of the task in its stream."),
        Column("context_id", "Part of a task that the runtime divided."),
        Column("core", "Where it runs, in the words of the export: AI_CORE, AI_VECTOR_CORE, AI_CPU, …", "VARCHAR"),
        Column("kind", "compute (also where the export names no core), communication or other.", "VARCHAR"),
        Column("operator_id", "What it executes.", refers_to="operator.operator_id"),
        Column("start_ns", "When it starts, in ns of the clock of the capture: since 1970 in most exports."),
        Column("duration_ns", "How long it runs."),
        Column("end_ns", "When it ends, on the same clock."),
        Column("wait_ns", "Time since the end of the task before it in the stream, as the export has it."),
        Column("block_num", "Number of blocks that it is divided into."),
        Column("mix_block_num", "Number of blocks of the other kind of core."),
        Column("source_id", "File of its row.", refers_to="source.source_id"),
        Column("source_row", "Number of its row in the file, from 1, header not counted."),
        Column("source_line", "Line of its row, from 1; null where the file has no lines."),
    ),
    ("source_id", "source_row"),
)
OPERATOR = Table(
    "operator",
    N_("What tasks execute: one row for each combination of name, type, shapes, data types and formats."),
    (
        Column("operator_id", "Number of the operator, from 1."),
        Column("name", "Name of the operator.", "VARCHAR"),
        Column("type", "Type of the operator, such as MatMulV2.", "VARCHAR"),
        Column("state", "static or dynamic, as the export says.", "VARCHAR"),
        Column("input_shapes", "Shapes of the inputs.", "VARCHAR"),
        Column("input_data_types", "Data types of the inputs.", "VARCHAR"),
        Column("input_formats", "Formats of the inputs.", "VARCHAR"),
        Column("output_shapes", "Shapes of the outputs.", "VARCHAR"),
        Column("output_data_types", "Data types of the outputs.", "VARCHAR"),
        Column("output_formats", "Formats of the outputs.", "VARCHAR"),
    ),
    ("operator_id",),
)
EVENT = Table(
    "event",
    N_(
        "One event of a timeline that is not metadata, in the order of the file. Two timelines of a capture may hold the same events."
    ),
    (
        Column("capture_id", "Capture.", refers_to="capture.capture_id"),
        Column("rank_id", "Rank."),
        Column("source_id", "Timeline.", refers_to="source.source_id"),
        Column("event_number", "Number of the event in the file, from 1, metadata not counted."),
        Column("phase", "Phase: X is complete, s and f are the ends of a flow, C is a counter.", "VARCHAR"),
        Column("name", "Name.", "VARCHAR"),
        Column("category", "Category.", "VARCHAR"),
        Column("process", "Name of its process, such as Ascend Hardware, CANN, Python.", "VARCHAR"),
        Column("thread", "Name of its thread, such as Stream 2.", "VARCHAR"),
        Column("pid", "Number of its process, as it is written.", "VARCHAR"),
        Column("tid", "Number of its thread, as it is written.", "VARCHAR"),
        Column("start_ns", "When it starts, in ns of the clock of the capture: since 1970 in most exports."),
        Column("duration_ns", "How long it takes."),
        Column("flow_id", "Flow that it is an end of.", "VARCHAR"),
        Column(
            "connection_id",
            "Joins a task with the call that launched it; the ends of flows (phase s and f) have it, too.",
        ),
        Column("task_type", "Where a task runs.", "VARCHAR"),
        Column("stream_id", "Stream of a task."),
        Column("task_id", "Number of a task in its stream."),
        Column("model_id", "Model of a task."),
        Column(
            "is_copy", "Whether it repeats another event of the file, as in hccl timelines until 2023-05.", "BOOLEAN"
        ),
    ),
    ("source_id", "event_number"),
)
EVENT_ARGS = Table(
    "event_args",
    N_("The fields of the events that have `args`; a table of its own, as it takes longer to read than all else."),
    (
        Column("source_id", "Timeline.", refers_to="source.source_id"),
        Column("event_number", "Event.", refers_to="event.event_number"),
        Column("args", "Its fields as JSON: args->>'$.name' reads one.", "VARCHAR"),
    ),
    ("source_id", "event_number"),
)
MEMORY_EVENT = Table(
    "memory_event",
    N_(
        "One allocation of device memory and its release. A time that is null is outside of what was recorded: the allocation before it, the release after it or never."
    ),
    (
        Column("capture_id", "Capture.", refers_to="capture.capture_id"),
        Column("rank_id", "Rank."),
        Column("device_id", "Device."),
        Column("process_id", "Process that holds it, where the source separates processes: each has pools of its own."),
        Column("component", "Who allocates: PTA (allocator of the framework), GE, …", "VARCHAR"),
        Column("owner", "Operator, or other name, that the memory was allocated for.", "VARCHAR"),
        Column(
            "kind",
            "weight, gradient, optimizer, activation, kv_cache, communication, workspace: as the source says.",
            "VARCHAR",
        ),
        Column("location", "Stack that allocated it, innermost frame first, frames joined by ';'.", "VARCHAR"),
        Column("stream", "Stream that it was allocated for, as the source numbers streams."),
        Column("address", "Address, where the source has it."),
        Column("size_bytes", "Size."),
        Column(
            "allocated_ns",
            "When it was allocated, in ns of the clock of the host: since 1970 in most exports; the number of the event where the source has no times.",
        ),
        Column("released_ns", "When it was released."),
        Column("reusable_ns", "When no stream used it any more, so that it could be allocated again."),
        Column("allocation_allocated_bytes", "Recorded sum of what is allocated, right after the allocation."),
        Column("allocation_reserved_bytes", "Recorded sum of what is reserved then."),
        Column("allocation_active_bytes", "Recorded sum of what is active then."),
        Column("release_allocated_bytes", "Recorded sum of what is allocated, right after the release."),
        Column("release_reserved_bytes", "Recorded sum of what is reserved then."),
        Column("release_active_bytes", "Recorded sum of what is active then."),
        Column("source_id", "File of its row.", refers_to="source.source_id"),
        Column("source_row", "Number of its row in the file, from 1, header not counted."),
    ),
    ("source_id", "source_row"),
)
MEMORY_SAMPLE = Table(
    "memory_sample",
    N_(
        "How much memory was in use at one time. Sums of one component follow each other in time; components overlap. Where a source has only allocations, the sums are computed from these."
    ),
    (
        Column("capture_id", "Capture.", refers_to="capture.capture_id"),
        Column("rank_id", "Rank."),
        Column("device_id", "Device."),
        Column("process_id", "Process that holds it, where the source separates processes: each has pools of its own."),
        Column(
            "scope",
            "allocator (of a framework), component (of CANN), process (all that this process holds) or device (all processes).",
            "VARCHAR",
        ),
        Column("component", "PTA, GE, PTA+GE, APP, HCCL, …, as the source names it.", "VARCHAR"),
        Column(
            "sampled_ns",
            "When, in ns of the clock of the host: since 1970 in most exports; the number of the event where the source has no times.",
        ),
        Column("allocated_bytes", "In use by tensors."),
        Column("reserved_bytes", "Taken from the device."),
        Column("active_bytes", "Not yet reusable: in use, or a stream may still use it."),
        Column("source_id", "File of its row.", refers_to="source.source_id"),
        Column("source_row", "Number of its row in the file, from 1, header not counted."),
    ),
    (),
)
TABLES: dict[str, Table] = {
    table.name: table
    for table in (
        CAPTURE,
        SOURCE,
        LOADED,
        FINDING,
        STEP,
        TASK,
        OPERATOR,
        EVENT,
        EVENT_ARGS,
        MEMORY_EVENT,
        MEMORY_SAMPLE,
    )
}
"""By name, in the order in which they are documented."""
ADDED_LATER = frozenset({MEMORY_EVENT.name, MEMORY_SAMPLE.name})
"""Tables that databases of earlier versions do not have: they are read as empty."""

READING = Table(
    "reading",
    "One row where all other tables are complete.",
    (
        Column("version", "Version of aoe-reports that wrote it.", "VARCHAR"),
        Column("notes", "What was found, as data: the table finding has it in English.", "VARCHAR"),
    ),
    (),
)
"""The last table that is written of a file; no query names it."""
