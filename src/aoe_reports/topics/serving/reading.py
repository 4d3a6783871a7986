"""Reads the iterations of a server from the tasks of a capture, and from the annotations of its timeline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from aoe_reports.engine.captures import (
    collect_events_of,
    joined,
    only_device_of,
    read_source,
    read_tasks,
    sources_of,
    timeline_tells_tasks,
)
from aoe_reports.engine.question import Notes
from aoe_reports.engine.rules import NOTHING_MEASURED
from aoe_reports.facts.tasks import TaskSet
from aoe_reports.formats.capture import Capture
from aoe_reports.formats.csv.summary import TableData
from aoe_reports.formats.sources.head import head_of
from aoe_reports.formats.tasks import filled_up
from aoe_reports.formats.vendor import vendor_of
from aoe_reports.model.arrays.columns import has_value, integers, keep_where
from aoe_reports.model.texts import say
from aoe_reports.topics.rules import BATCHES_APART
from aoe_reports.topics.serving.batches import (
    BATCH_COLUMNS,
    REQUEST_COLUMNS,
    Batch,
    Lane,
    common_batches,
    lanes_of,
    prompts_of,
)
from aoe_reports.topics.serving.facts import TASK_COLUMNS, Served, serve, words_of
from aoe_reports.topics.serving.marks import MARK_COLUMNS, Marked
from aoe_reports.topics.serving.phases import Annotated
from aoe_reports.topics.serving.roles import is_serving

_FEW = frozenset({"op_type", "task_type", "task_duration_ns"})
"""What tells whether anything is served, where types of operators are recorded."""


@dataclass(frozen=True, slots=True)
class ServedTasks:
    """The tasks of a device, and its iterations; null where it serves nothing."""

    tasks: TaskSet
    served: Served | None
    service: str | None = None
    """The folder of the service whose batches tell something of them."""


def read_served(
    capture: Capture, notes: Notes, fields: frozenset[str] = frozenset(), *, parts: bool = True
) -> tuple[list[ServedTasks], list[TableData]]:
    """(the devices of a capture with TASK_COLUMNS and `fields` of their tasks; the tables that these stand in).

    What is no server is known by the types of its operators, and nothing else is read of it. Names are read where types do not tell all.
    Without `parts` it is not told what iterations are spent on.
    """
    wanted = TASK_COLUMNS | fields | {"device_id"}
    sets, tables = list[TaskSet](), list[TableData]()
    if not timeline_tells_tasks(capture):
        if not _begins_as_server(capture):
            sets, tables = read_tasks(capture, _FEW, by_type=False)
            typed = all(has_value(one.frame, "op_type") for one in sets)
            if typed and not any(is_serving(words_of(one.frame)) for one in sets):
                notes.add(finding for data in tables for finding in data.findings)
                return [ServedTasks(one, None) for one in sets], tables
        sets, tables = read_tasks(capture, wanted - ({"op_name"} - fields), by_type=False)
        sets = [replace(one, frame=filled_up(one.frame, TASK_COLUMNS)[0]) for one in sets]
    if not sets or any(one.frame["op_type"].null_count for one in sets):
        sets, tables = read_tasks(capture, wanted, by_type=False)
    notes.add(finding for data in tables for finding in data.findings)
    return served_of(capture, sets, notes, parts=parts), tables


def _begins_as_server(capture: Capture) -> bool:
    """Whether the first rows of a table of tasks are those of a server: then all columns are read at once, and types decide afterwards."""
    source = next(iter(sources_of(capture, "tasks")), None)
    if source is None or source.files[0].name.form != "csv" or source.files[0].name.packed:
        return False
    return is_serving(dict.fromkeys(head_of(source.files[0].path).replace('"', "").split(",")))


def served_of(capture: Capture, sets: Sequence[TaskSet], notes: Notes, *, parts: bool = True) -> list[ServedTasks]:
    """The same of tasks that were read (TASK_COLUMNS of them): timelines are looked into where any device serves."""
    serving = [is_serving(words_of(one.frame)) for one in sets]
    if not any(serving):
        return [ServedTasks(one, None) for one in sets]
    service, batches = _batches_beside(capture, sets, notes)
    told = read_annotated(capture, notes, batches)
    found = [serve(one.frame, _of_device(told, one, len(sets)), batches, parts=parts) for one in sets]
    if service is not None and any(one is not None and one.are_batches_apart for one in found):
        message = say(
            "the batches of the service in {service} ran while these tasks did, and do not part them into passes of the model (another "
            "clock, or work that is launched ahead): iterations are identified by their operators",
            service=str(service.root),
        )
        notes.add([BATCHES_APART.found(str(capture.root), message)])
    used = str(service.root) if service is not None and any(map(_tells_batches, found)) else None
    return [ServedTasks(tasks, one, used) for tasks, one in zip(sets, found, strict=True)]


def _tells_batches(found: Served | None) -> bool:
    return found is not None and any(
        "batches" in {iteration.cut_by, iteration.told_by, iteration.tokens_by, iteration.lengths_by}
        for iteration in found.iterations
    )


def read_lanes(service: Capture, notes: Notes) -> list[Lane]:
    """The batches of a service by the card that ran them: of `batch.csv`, else the passes of `forward.csv`."""
    lengths: dict[str, int] = {}
    lanes: list[Lane] = []
    for kind in ("service_request", "service_batch", "service_forward"):
        source = service.preferred(kind)
        if source is None or lanes:
            continue
        with notes.where_unreadable(source.files[0].path):
            wanted = REQUEST_COLUMNS if kind == "service_request" else BATCH_COLUMNS
            tables = read_source(source, wanted, hashed=False)
            notes.add(finding for data in tables for finding in data.findings)
            rows = joined(tables)
            if rows is not None and kind == "service_request":
                lengths = prompts_of(rows)
            elif rows is not None and {"start_ns", "during_time_ns"} <= {*rows.column_names}:
                lanes = lanes_of(rows, lengths)
    return lanes


def _batches_beside(
    capture: Capture, sets: Sequence[TaskSet], notes: Notes
) -> tuple[Capture | None, tuple[Batch, ...]]:
    """(the service that ran while the tasks of a capture did, its batches then); of several, or of cards with other batches, none is."""
    if not capture.services:
        return None, ()
    above = [one for one in capture.services if capture.root.is_relative_to(one.root)]
    times = [integers(one.frame["task_start_ns"])[0] for one in sets if one.frame.num_rows]
    begin, end = min(int(time.min()) for time in times), max(int(time.max()) for time in times)
    found = [
        (service, batches)
        for service in above or capture.services
        if (batches := common_batches(read_lanes(service, notes), begin, end))
    ]
    return found[0] if len(found) == 1 else (None, ())


def tasks_of_phase(
    capture: Capture, notes: Notes, fields: frozenset[str], phase: str
) -> tuple[list[TaskSet], list[TableData]]:
    """(the tasks of the devices that serve in iterations of a phase, the tables that they stand in); that nothing is served is said."""
    found, tables = read_served(capture, notes, fields, parts=False)
    served = [(one.tasks, one.served) for one in found if one.served is not None]
    if found and not served:
        message = say("--phase: no iteration of a server of language models here")
        notes.add([NOTHING_MEASURED.found(str(capture.root), message)])
    kept = [replace(tasks, frame=tasks.frame.filter(keep_where(told.in_phase(phase)))) for tasks, told in served]
    return kept, tables


def read_annotated(capture: Capture, notes: Notes, batches: Sequence[Batch] = ()) -> dict[int | None, list[Annotated]]:
    """What the annotations of a capture's timelines, and beside them batches of the service, tell of each device."""
    found: dict[int | None, list[Annotated]] = {}
    for files in vendor_of(capture.profiler).events(capture):
        with notes.where_unreadable(files[0].path):
            marked, wrong = collect_events_of(files, MARK_COLUMNS, Marked)
            notes.add(wrong)
            for device, mine in marked.annotated(batches).items():
                number = only_device_of(files[0], capture) if device is None else device
                found.setdefault(number, []).extend(mine)
    return found


def _of_device(told: Mapping[int | None, Sequence[Annotated]], tasks: TaskSet, devices: int) -> Sequence[Annotated]:
    """The annotations of a device; of the only one, whatever number the timeline gives it."""
    if devices == 1 and len(told) == 1:
        return next(iter(told.values()))
    return told.get(tasks.device_id, ())
