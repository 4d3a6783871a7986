"""Finds captures below some paths and reads single tables of them: the part of reading that every command needs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from aoe_reports.engine.fleet.executors import threads_of_unit
from aoe_reports.engine.rules import NOTHING_MEASURED
from aoe_reports.facts.steps import has_numbers, steps_of, with_parts
from aoe_reports.facts.tasks import TaskSet, split_devices
from aoe_reports.formats.ascend.names import OPERATOR_BANKS, RESULT_KINDS, UNREAD_BANKS
from aoe_reports.formats.capture import Capture, Source, group_runs
from aoe_reports.formats.csv.parse import BLOCK_BYTES
from aoe_reports.formats.csv.summary import START, TableData
from aoe_reports.formats.mindspore.names import UNREAD_KINDS
from aoe_reports.formats.sources.discovery import Discovery
from aoe_reports.formats.sources.expand import expanded
from aoe_reports.formats.sources.found import FoundFile
from aoe_reports.formats.table import Facts
from aoe_reports.formats.table_file import read_table_file
from aoe_reports.formats.tasks import CALLS, filled_up
from aoe_reports.formats.trace.shape import COSTLY, C, M, TimelineLook
from aoe_reports.formats.vendor import TABLES, TASK_TYPES, group_captures, vendor_of
from aoe_reports.model.arrays.columns import has_value, keep_where, valid, words_in
from aoe_reports.model.arrays.memory import give_back
from aoe_reports.model.errors import ReadError
from aoe_reports.model.findings import Finding, has
from aoe_reports.model.texts import N_, join, say
from aoe_reports.model.topics.steps import Step
from aoe_reports.rules.forms.statistics import check_statistics
from aoe_reports.rules.tables.check import check_table
from aoe_reports.rules.tables.copies import cannot_repeat, first_of_each, without_copies_between
from aoe_reports.rules.tables.streams import without_impossible_starts

if TYPE_CHECKING:
    from aoe_reports.facts.breakdown import Activity
    from aoe_reports.facts.timeline_tasks import TimelineTasks

_SUMS = frozenset({"count", "total_time_ns", "min_time_ns", "avg_time_ns", "max_time_ns"})
"""The columns of sums that stand in where there is no table of tasks."""


def find_captures(discovery: Discovery) -> list[tuple[Capture, ...]]:
    """As `find_runs`, and captures of which there are only files about them."""
    return group_runs(group_captures(discovery.files))


def cluster_captures(discovery: Discovery) -> list[Capture]:
    """What analyses of whole clusters wrote beside the ranks they were made of."""
    return [capture for capture in group_captures(discovery.files) if capture.of_cluster]


def _of_kinds(kinds: Collection[str]) -> Callable[[Discovery], list[FoundFile]]:
    return lambda discovery: [file for file in discovery.files if file.name.kind in kinds]


# The files of some kinds among the files found.
aoe_files = _of_kinds(RESULT_KINDS)
bank_files = _of_kinds({"gdat"})
operator_bank_files = _of_kinds(OPERATOR_BANKS)
unread_banks = _of_kinds(UNREAD_BANKS)
record_files = _of_kinds({"record"})
unread_files = _of_kinds(UNREAD_KINDS)


def tuner_files(discovery: Discovery) -> list[FoundFile]:
    """The files of other tuners than AOE among the files found."""
    return [file for file in discovery.files if file.name.source == "tuner"]


def files_without_run(discovery: Discovery) -> list[FoundFile]:
    """What gradient tuning left beside its banks among the files found: no runs, nothing that records are made of."""
    runs = {*RESULT_KINDS, "gdat"}
    return [file for file in discovery.files if file.name.source == "aoe" and file.name.kind not in runs]


HostByFile = dict[Path, "Activity"]
"""What timelines told while tasks were read from them, by path: who looks for more need not read them again."""


@dataclass(slots=True)
class PrefetchedTasks:
    """The tasks that were told, with the columns that are wanted, while timelines were read for something else."""

    wanted: frozenset[str]
    by_path: dict[Path, tuple[TimelineTasks, list[Finding]]] = field(default_factory=dict)
    """With what is wrong with the timeline; each is taken out once."""


def read_file(
    file: FoundFile,
    kind: str,
    columns: frozenset[str] | None = None,
    *,
    hashed: bool = True,
    host_by_file: HostByFile | None = None,
    collected: PrefetchedTasks | None = None,
) -> TableData:
    """One table of a file, checked; `columns` are the ones that are wanted."""
    complete = columns is None or columns.issuperset(TABLES[kind].identity)
    if _told_by_timeline(file, kind):
        from aoe_reports.engine.timelines import read_table_of_timeline  # noqa: PLC0415 -- most captures have tables

        data = read_table_of_timeline(
            file, kind, columns, hashed=hashed, host_by_file=host_by_file, collected=collected
        )
    else:
        data = read_table_file(file, kind, columns, hashed=hashed)
    return check_table(data, complete=complete).with_constants(_told_by_name(file, kind))


def _told_by_timeline(file: FoundFile, kind: str) -> bool:
    """Whether a timeline, or a database of events, which holds no such table, is to tell its rows."""
    return file.may_hold_events and kind not in file.holds


def _told_by_name(file: FoundFile, kind: str) -> dict[str, int]:
    """The columns that a file's name tells."""
    known = {"device_id": file.name.device_id, "model_id": file.name.model_id}
    if not TABLES[kind].whole_in_each_file:
        known["iteration"] = file.name.iteration
    return {name: value for name, value in known.items() if value is not None}


def look_at(file: FoundFile) -> TimelineLook:
    """How many events a timeline has, when they begin and end, and what is wrong with it."""
    from aoe_reports.formats.trace.events import look_at_timeline  # noqa: PLC0415 -- most commands read tables

    with expanded(file) as (path, wrong):
        if wrong is not None:
            return TimelineLook(findings=(wrong,))
        look = look_at_timeline(path)
    return replace(look, findings=tuple(replace(finding, path=str(file.path)) for finding in look.findings))


@contextmanager
def stream_events_of(
    file: FoundFile, columns: Collection[str] | None = None
) -> Iterator[tuple[Iterator[pa.RecordBatch], list[Finding]]]:
    """(the events of a timeline, batch after batch; what is wrong with it, known before the first batch)."""
    from aoe_reports.formats.trace.events import stream_events  # noqa: PLC0415 -- most commands read tables

    if file.name.form == "db":
        frame, found = _events_of_database(file.path)
        chosen = frame if columns is None else frame.select(sorted({*columns} & {*frame.column_names}))
        yield iter(chosen.to_batches()), found
        return
    with expanded(file) as (path, wrong):
        if wrong is not None:
            yield iter(()), [wrong]
            return
        stream = stream_events(path, columns)
        yield iter(stream.batches), [replace(finding, path=str(file.path)) for finding in stream.findings]


def collect_events_of(
    files: Sequence[FoundFile], columns: Collection[str], new: Callable[[], M]
) -> tuple[M, list[Finding]]:
    """(what has taken in the events of the slices of a timeline, in order; what is wrong with these).

    Where something is wrong with an event the others are taken in; of a file that cannot be used none are.
    """
    whole, findings = None, list[Finding]()
    for file in files:
        parts, wrong = collect_events_of_file(file, columns, new)
        findings += wrong
        for part in parts:
            if whole is None:
                whole = part
            else:
                whole.merge(part)
    return new() if whole is None else whole, findings


def collect_events_of_file(
    file: FoundFile, columns: Collection[str], new: Callable[[], C], *, in_full: bool = False
) -> tuple[list[C], list[Finding]]:
    """(what has taken in the events of a timeline, for each part of it, in order; what is wrong with it).

    Events `in_full` come as one part.
    """
    from aoe_reports.formats.trace.events import collect_events  # noqa: PLC0415 -- most commands read tables

    if file.name.form == "db":
        with stream_events_of(file, columns) as (batches, found):
            collector = new()
            for batch in batches:
                collector.add(batch)
        return [collector], found
    with expanded(file) as (path, wrong):
        if wrong is not None:
            return [], [wrong]
        parts = 1 if in_full else threads_of_unit()
        look, collectors = collect_events(path, columns, new, parts, in_full=in_full)
    return collectors, [replace(finding, path=str(file.path)) for finding in look.findings]


def ranges_at_a_glance(file: FoundFile, prefix: str) -> list[tuple[str, int, int]]:
    """(name, start, end in ns) of the events of a timeline whose names begin so, as far as its bytes show them."""
    from aoe_reports.formats.trace.cutting import survey  # noqa: PLC0415 -- most commands read tables

    with expanded(file) as (path, wrong):
        return survey.ranges_at_a_glance(path, prefix) if wrong is None else []


def only_device_of(file: FoundFile, capture: Capture) -> int | None:
    """The number of the one device of an export whose events do not tell it: by the file's name, or as the capture has only one."""
    known = list(capture.info.ranks)
    return file.name.device_id if file.name.device_id is not None or len(known) != 1 else known[0]


def _events_of_database(path: Path) -> tuple[pa.Table, list[Finding]]:
    """(the events that a database holds, in the frame of timelines; what is wrong with them)."""
    from aoe_reports.formats.sqlite import read_database_events  # noqa: PLC0415 -- most captures are text
    from aoe_reports.formats.trace.events import EVENTS_SCHEMA  # noqa: PLC0415

    frame, findings = read_database_events(path)
    absent = [one for one in EVENTS_SCHEMA if one.name not in frame.column_names]
    for one in absent:
        values = [False] * frame.num_rows if pa.types.is_boolean(one.type) else [None] * frame.num_rows
        frame = frame.append_column(one, pa.array(values, one.type))
    return frame.select(EVENTS_SCHEMA.names), list(findings)


def device_clocks_of(
    files: Sequence[FoundFile],
) -> tuple[list[tuple[int, int, int]], list[tuple[int, int, int]], list[Finding]]:
    """What databases tell beside events: (device, from when on, MHz) of clocks, (device, process, ns of its tasks), what is wrong."""
    from aoe_reports.formats.sqlite import clocks_of_database  # noqa: PLC0415 -- most captures are text

    clocks: list[tuple[int, int, int]] = []
    processes: list[tuple[int, int, int]] = []
    findings: list[Finding] = []
    for file in files:
        if file.name.form == "db":
            of_clocks, of_processes, wrong = clocks_of_database(file.path)
            clocks += of_clocks
            processes += of_processes
            findings += wrong
    return clocks, processes, findings


def sum_events_of(file: FoundFile, by: Sequence[str]) -> pa.Table | None:
    """Count and duration of a timeline's events by some of their words; None where the file cannot be used."""
    from aoe_reports.formats.trace.events import sum_durations  # noqa: PLC0415 -- most commands read tables

    with expanded(file) as (path, wrong):
        if wrong is not None:
            return None
        sums = sum_durations(path, by)
    return None if has(sums.findings, "error") else sums.frame


def read_source(
    source: Source | None,
    columns: frozenset[str] | None = None,
    *,
    hashed: bool = True,
    host_by_file: HostByFile | None = None,
    collected: PrefetchedTasks | None = None,
    alike: frozenset[str] | None = None,
) -> list[TableData]:
    """The tables of one form of some facts, a file each; rows that stand there twice are found whatever is wanted.

    Of a timeline, rows of the same `alike` columns (and duration) may come as one, with how many they are (`calls`).
    """
    if source is None:
        return []
    identity = frozenset(TABLES[source.kind].identity)
    if columns is not None and not hashed and not identity <= columns and any(map(_is_large, source.files)):
        few = columns if source.files[0].name.form == "csv" else columns | identity & {START}
        tables = [read_file(file, source.kind, few, hashed=False) for file in source.files]
        if cannot_repeat(tables):
            return [_of_columns(data, file, columns) for data, file in zip(tables, source.files, strict=True)]
    if columns is not None and len(source.files) == 1 and source.files[0].name.timeline:
        file, few = source.files[0], columns if alike is None else alike | {CALLS}
        told = read_file(file, source.kind, few, hashed=hashed, host_by_file=host_by_file, collected=collected)
        if told.rows_differ:  # nearly always
            return [_of_columns(told, file, few)]
        more = columns | identity - COSTLY
        if not more <= few:
            told = read_file(file, source.kind, more, hashed=hashed, host_by_file=_emptied(host_by_file))
        if first_of_each(told.frame, sorted(identity & more)).all():  # nearly always: ids need not tell two rows apart
            return [_of_columns(told, file, columns)]
        _emptied(host_by_file)
    every = None if columns is None else columns | identity
    read = [
        read_file(file, source.kind, every, hashed=hashed, host_by_file=host_by_file, collected=collected)
        for file in source.files
    ]
    read = without_copies_between(read) if len(read) > 1 else read  # each has been looked at by itself
    return [_of_columns(data, file, columns) for data, file in zip(read, source.files, strict=True)]


def _emptied(host_by_file: HostByFile | None) -> HostByFile | None:
    """The same, emptied before the files are read again: what it holds is large."""
    if host_by_file is not None:
        host_by_file.clear()
    return host_by_file


def _is_large(file: FoundFile) -> bool:
    """Whether it costs more to read the columns that tell two rows apart than to look whether there is any need."""
    return not file.name.timeline and (file.name.packed or file.size >= BLOCK_BYTES)  # of a timeline all is read anyway


def _of_columns(data: TableData, file: FoundFile, columns: frozenset[str] | None) -> TableData:
    """A table without the columns by which rows were told apart, where nobody asked for them."""
    if columns is None:
        return data
    kept = columns | _told_by_name(file, data.table.name).keys()
    kept |= {column.field for column in data.table.columns if column.needed}
    extra = [name for name in data.frame.column_names if name in data.table.identity and name not in kept]
    return data.with_frame(data.frame.drop_columns(extra)) if extra else data


def first_with_rows(
    sources: Sequence[Source], read: Callable[[Source], list[TableData]]
) -> tuple[list[TableData], list[Source]]:
    """(the tables of the first form that has rows, the forms that were not read); a damaged form gives way."""
    tables: list[TableData] = []
    for place, source in enumerate(sources):
        tables = read(source)
        if joined(tables) is not None:
            return tables, list(sources[place + 1 :])
    return tables, []


def sources_of(capture: Capture, facts: Facts) -> list[Source]:
    """Where such facts of the tasks of a capture stand, the best source first."""
    return [source for source in vendor_of(capture.profiler).tasks(capture) if TABLES[source.kind].facts == facts]


def read_tasks(
    capture: Capture,
    fields: frozenset[str],
    *,
    by_type: bool,
    all_tasks: bool = False,
    host_by_file: HostByFile | None = None,
    collected: PrefetchedTasks | None = None,
    alike: bool = False,
    each: Callable[[FoundFile, TableData], TableData] | None = None,
) -> tuple[list[TaskSet], list[TableData]]:
    """Read only the tasks of a capture: of a table of tasks, else sums of them (by type) or a table of names.

    Each has all of `fields` that a table of tasks may have, null where the export has none. `host_by_file` is filled where timelines stand in for
    tables; what is `collected` of these is not read again. Where tasks may be `alike`, those of which all `fields` are the same may be one row
    with how many they are (`calls`). Start times that cannot be are left out. `each` may add columns to what is read of a file.
    """
    tables: list[TableData] = []
    marked = "step" in fields and timeline_tells_steps(capture)
    for source in vendor_of(capture.profiler).tasks(capture):
        facts = TABLES[source.kind].facts
        if facts == "sums" and not by_type:
            continue
        of_kernels = facts == "kernels" and not all_tasks
        asked = fields | _SUMS if facts == "sums" else fields | {"op_name"} if of_kernels else fields
        asked = asked | {"task_start_ns"} if marked else asked
        found = read_source(
            source, asked, hashed=False, host_by_file=host_by_file, collected=collected, alike=fields if alike else None
        )
        if each is not None:
            found = [each(file, data) for file, data in zip(source.files, found, strict=True)]
        found = [without_impossible_starts(data) for data in found]
        if of_kernels:
            found = [_of_kernels(data, fields) for data in found]
            give_back()  # the rows of which these are some
        tables += found
        frame = joined(found)
        if frame is not None and frame.num_rows:
            if facts == "tasks":
                tables[-1] = tables[-1].with_findings(_against_sums(capture, frame))
                if marked and not has_value(frame, "step"):
                    from aoe_reports.engine.timelines import with_steps_of_timeline  # noqa: PLC0415 -- rarely needed

                    frame = with_steps_of_timeline(capture, frame)
            grouped = facts == "sums"
            return split_devices(capture.info.rank_of, frame, grouped=grouped, columns=fields), tables
    return [], tables


def types_of_operators(capture: Capture) -> dict[str, str]:
    """The type of each operator that has one, by its name, from a table of tasks; nothing where none can be read, which `check` says."""
    for source in sources_of(capture, "tasks"):
        if any(_told_by_timeline(file, source.kind) for file in source.files):
            continue
        try:
            frame = joined(read_source(source, frozenset({"op_name", "op_type"}), hashed=False))
        except (ReadError, OSError):
            continue
        if frame is None or not {"op_name", "op_type"} <= set(frame.column_names):
            continue
        pairs = frame.select(["op_name", "op_type"]).group_by(["op_name", "op_type"]).aggregate([])
        found: dict[str, set[str]] = {}
        for row in pairs.to_pylist():
            if row["op_name"] and row["op_type"]:
                found.setdefault(row["op_name"], set()).add(row["op_type"])
        if found:
            return {name: min(types) for name, types in found.items() if len(types) == 1}
    return {}


def comparable(tasks: Sequence[TableData]) -> list[TableData]:
    """Tables of tasks with a column for the type of a task: what forms are compared by."""
    return [data.with_frame(filled_up(data.frame, {"task_type"})[0]) for data in tasks]


def _against_sums(capture: Capture, tasks: pa.Table) -> list[Finding]:
    """Whether tasks are those that the profiler counted: of what is cut off (a last slice) nothing else tells."""
    if not {"op_type", "task_type"} <= set(tasks.column_names):
        return []
    try:
        statistic = [data for source in sources_of(capture, "sums")[:1] for data in read_source(source, hashed=False)]
    except (ReadError, OSError):
        return []  # which `check` says: no number here is made of it
    devices = {device for data in statistic for device in _devices(data.frame)}
    if len(devices) > 1 and "device_id" not in tasks.column_names:
        return []  # of which device a task is was not read
    return check_statistics(statistic, tasks)


def _devices(frame: pa.Table) -> list[int | None]:
    return pc.unique(frame["device_id"]).to_pylist() if "device_id" in frame.column_names else [None]


def read_steps(capture: Capture, read: Callable[[Source], list[TableData]]) -> list[Step]:
    """Steps of the best source that has some; all are read, so that what is wrong with any is known."""
    found = [joined(read(source)) for source in vendor_of(capture.profiler).steps(capture)]
    frames = [frame for frame in found if frame is not None]
    frame = next(filter(has_numbers, frames), None)
    if frame is None:
        return []
    steps = steps_of(capture.info.rank_of, frame)
    for parts in frames:
        if not has_numbers(parts):
            steps = with_parts(steps, parts)
    return steps


def timeline_tells_steps(capture: Capture) -> bool:
    """Whether the steps of a capture stand in no table, and are told from its timeline."""
    return _any_of_timeline(vendor_of(capture.profiler).steps(capture))


def timeline_tells_tasks(capture: Capture) -> bool:
    """Whether the tasks of a capture stand in no table, and are told from its timeline."""
    return _any_of_timeline(
        source for source in vendor_of(capture.profiler).tasks(capture) if TABLES[source.kind].facts != "sums"
    )


def to_prefetch(capture: Capture, wanted: frozenset[str]) -> PrefetchedTasks | None:
    """Where tasks go while steps are read, if a single timeline tells tasks: only then those collected are all that is asked for."""
    sources = vendor_of(capture.profiler).tasks(capture)
    told = [source.files for source in sources if _any_of_timeline([source])]
    one = bool(told) and all(len(files) == 1 and files[0].name.timeline for files in told)
    return PrefetchedTasks(wanted) if one else None


def host_in(collected: PrefetchedTasks | None) -> HostByFile:
    """What those timelines told beside tasks."""
    told = {} if collected is None else collected.by_path
    return {path: tasks.activity for path, (tasks, _) in told.items() if tasks.activity is not None}


def _any_of_timeline(sources: Iterable[Source]) -> bool:
    return any(_told_by_timeline(file, source.kind) for source in sources for file in source.files)


def read_steps_noting(
    capture: Capture, findings: list[Finding], collected: PrefetchedTasks | None = None
) -> list[Step]:
    """Steps of the best source that has some; what is wrong with any is added to the findings.

    `collected` is filled with the tasks of timelines that are read.
    """

    def read(source: Source) -> list[TableData]:
        tables = read_source(source, hashed=False, collected=collected)
        findings.extend(finding for data in tables for finding in data.findings)
        return tables

    return read_steps(capture, read)


_ASKED = {"rank": N_("rank {value}"), "device": N_("device {value}"), "step": N_("step {value}")}


def nothing_measured(
    paths: Iterable[object], what: str, captures: Sequence[Capture] = (), **asked: int | None
) -> Finding:
    """The error of a question that nothing below `paths` answers, with what was asked for; at one path in any order.

    Where a rank was asked for that none of the captures has, it names those that they have, or says that none is known.
    """
    words = [say(_ASKED[name], value=value) for name, value in asked.items() if value is not None]
    message = say("{what} ({asked})", what=what, asked=join(", ", words)) if words else what
    ranks = sorted({rank for capture in captures for rank in capture.info.every_rank})
    if ranks and asked.get("rank") not in {None, *ranks}:
        message = say("{what}; ranks here: {ranks}", what=message, ranks=in_short(ranks))
    elif captures and not ranks and asked.get("rank") is not None:
        message = say("{what}; which rank this is is not known here", what=message)
    return NOTHING_MEASURED.found(min(map(str, paths)), message)


def in_short(numbers: Sequence[int]) -> str:
    """Rising numbers as a list of ranges: `0-7, 9`."""
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and number == ranges[-1][-1] + 1:
            ranges[-1][1:] = [number]
        else:
            ranges.append([number])
    return ", ".join("-".join(map(str, ends)) for ends in ranges)


def joined(tables: Sequence[TableData]) -> pa.Table | None:
    """The rows of several files (slices, iterations, devices) one below the other; None where there are none."""
    frames = [data.frame for data in tables if data.frame.num_rows]
    if not frames:
        return None
    return pa.concat_tables(frames, promote_options="permissive") if len(frames) > 1 else frames[0]


def kernels(frame: pa.Table | None, columns: Collection[str] | None = None) -> pa.Table | None:
    """The rows of task_time that compute, with some columns (None: all): it also holds events, notifications, copies, profiler switches."""
    if frame is None or not {"op_name", CALLS}.intersection(frame.column_names):
        return None  # a database that knows no operators
    computes = words_in(frame["task_type"], TASK_TYPES.compute)
    if "op_name" in frame.column_names:  # who tells calls alone tells those that have a name
        computes &= valid(frame["op_name"])
    wanted = frame if columns is None else frame.select([name for name in frame.column_names if name in columns])
    return wanted.filter(keep_where(computes))


def _of_kernels(data: TableData, fields: frozenset[str]) -> TableData:
    names = {*data.frame.column_names} - ({"op_name"} - fields)
    frame = kernels(data.frame, names)
    return data.with_frame(data.frame.slice(0, 0) if frame is None else frame)
