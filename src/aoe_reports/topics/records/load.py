"""Reads everything below some paths run by run: readers and checks together, nothing judged away in silence."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from aoe_reports.engine.captures import (
    PrefetchedTasks,
    comparable,
    first_with_rows,
    joined,
    kernels,
    read_source,
    read_steps,
    sources_of,
    to_prefetch,
)
from aoe_reports.engine.question import Notes
from aoe_reports.facts.bounds import TASK_COLUMNS, CoreCounts
from aoe_reports.facts.idle import SPANNED_BY, STEP_COLUMNS, steps_with_tasks
from aoe_reports.facts.steps import steps_of_device
from aoe_reports.facts.tasks import TaskSet, split_devices
from aoe_reports.formats.aoe.bank_file import BankFile, read_bank
from aoe_reports.formats.aoe.result_files import ResultFile, read_results
from aoe_reports.formats.aoe.results import TuningResult
from aoe_reports.formats.capture import Capture, Source
from aoe_reports.formats.csv.summary import TableData
from aoe_reports.formats.records.identity import Member, content_hash_of, identity_of, run_id_of
from aoe_reports.formats.rules import EMPTY_FILE
from aoe_reports.formats.sources.found import FoundFile
from aoe_reports.formats.table import Facts
from aoe_reports.formats.vendor import TABLES
from aoe_reports.model.arrays.memory import give_back
from aoe_reports.model.findings import Finding, is_below
from aoe_reports.model.texts import say
from aoe_reports.model.timestamps import digits_to_ns
from aoe_reports.model.topics.memory import DeviceMemory
from aoe_reports.model.topics.steps import Step
from aoe_reports.rules.forms.agreement import check_forms
from aoe_reports.rules.forms.statistics import check_no_tasks, check_statistics
from aoe_reports.rules.gradient_bank import check_bank_file
from aoe_reports.rules.results.check import check_result_file
from aoe_reports.stats.grouping import has_communication
from aoe_reports.topics.memory.measured import measured_memory
from aoe_reports.topics.memory.reading import MemorySteps, steps_for_memory
from aoe_reports.topics.records.from_parts import PartTime
from aoe_reports.topics.records.from_profile import (
    TASK_FIELDS,
    DeviceGroups,
    Keys,
    groups_of_communication,
    groups_of_tasks,
    with_shared_keys,
)
from aoe_reports.topics.records.naming import lasting_name
from aoe_reports.topics.records.options import RecordOptions
from aoe_reports.topics.records.parts import columns_of_parts, read_parts
from aoe_reports.topics.roofline.chips import may_have_peak
from aoe_reports.topics.roofline.facts import TASK_COLUMNS as ROOFLINE_COLUMNS
from aoe_reports.topics.rules import TIME_UNKNOWN, TIME_ZONE_ASSUMED

EPOCH_FROM_NS = 946_684_800 * 1_000_000_000
"""The year 2000: smaller times are a device's own clock (before 2023-09), not the time of day."""


@dataclass(frozen=True, slots=True)
class CaptureData:
    """The facts of one capture, each used once, with everything that was found while reading them: small, and fit for another process."""

    capture: Capture
    tasks: tuple[DeviceGroups, ...]
    communication: tuple[DeviceGroups, ...]
    """The exporter's sums of communication, where no communication is among the tasks."""
    steps: tuple[Step, ...]
    parts: tuple[PartTime, ...]
    """Modules, layers and phases, where they are wanted."""
    findings: tuple[Finding, ...]
    rows: int
    sha256s: tuple[str, ...]
    first_ns: int | None
    model_name: str | None
    memory: tuple[DeviceMemory, ...] = ()
    """Of each device whose memory was recorded."""


def with_shared_keys_of(data: CaptureData, keys: Keys) -> CaptureData:
    """The same with names of operators that other ranks have, too, held once."""
    return replace(
        data,
        tasks=tuple(with_shared_keys(task, keys) for task in data.tasks),
        communication=tuple(with_shared_keys(one, keys) for one in data.communication),
    )


@dataclass(frozen=True, slots=True)
class ProfileRun:
    """One profile: the captures of its ranks."""

    run_id: str
    captures: tuple[CaptureData, ...]
    members: tuple[Member, ...]
    timestamp_ns: int
    findings: tuple[Finding, ...]

    @property
    def path(self) -> Path:
        """Where the run's first capture lies."""
        return self.captures[0].capture.root

    @property
    def tasks(self) -> list[DeviceGroups]:
        """The tasks of all ranks and devices."""
        return [tasks for data in self.captures for tasks in data.tasks]

    @property
    def communication(self) -> list[DeviceGroups]:
        """The sums of communication of all ranks and devices that have none among their tasks."""
        return [sums for data in self.captures for sums in data.communication]

    @property
    def parts(self) -> list[PartTime]:
        """The modules, layers and phases of all ranks and devices."""
        return [part for data in self.captures for part in data.parts]

    @property
    def memory(self) -> list[DeviceMemory]:
        """The memory of all ranks and devices."""
        return [device for data in self.captures for device in data.memory]

    @property
    def steps(self) -> list[Step]:
        """The steps of all ranks and devices."""
        return [step for data in self.captures for step in data.steps]


@dataclass(frozen=True, slots=True)
class TuningRun:
    """One tuning report of AOE."""

    run_id: str
    file: ResultFile
    result: TuningResult
    member: Member
    timestamp_ns: int
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class WideTables:
    """What was read of a capture with all columns that advice looks at, before it is cut down to those of records."""

    capture: Capture
    tasks: list[TaskSet]
    """Of a table of tasks, else of what stands in for one; none where there are only sums. Who looks takes them out: they are large."""
    stand_in: str | None
    """What they are told by, where that is no table of tasks with their operators."""
    steps: tuple[Step, ...]


Look = Callable[[WideTables], None]


def profile_of(read: Sequence[CaptureData], options: RecordOptions, lost: Sequence[Finding] = ()) -> ProfileRun:
    """The captures of one run together; `lost` is what was found of those that could not be read."""
    findings = [*lost, *(finding for data in read for finding in data.findings)]
    members = tuple(_member(data) for data in read)
    timestamp = min(_time_of(data, options, findings) for data in read)
    run_id = run_id_of(timestamp, members[0].identity)
    return ProfileRun(run_id, tuple(read), members, timestamp, tuple(findings))


def check_tuning(found: FoundFile) -> tuple[ResultFile, list[Finding]]:
    """Read one AOE result file and hold it against schema and rules."""
    file = read_results(found.path, found.name)
    return file, check_result_file(file)


def load_tuning(found: FoundFile, options: RecordOptions) -> tuple[list[TuningRun], list[Finding]]:
    """(the runs in one AOE result file, none where nothing of it can be used; everything found in it)."""
    file, findings = check_tuning(found)
    return [_tuning_run(file, result, findings, options) for result in file.results], findings


def load_bank(found: FoundFile) -> tuple[BankFile, list[Finding]]:
    """(a gradient bank, everything found in it)."""
    file = read_bank(found.path, found.name)
    return file, check_bank_file(file)


def _tuning_run(file: ResultFile, result: TuningResult, findings: list[Finding], options: RecordOptions) -> TuningRun:
    name = file.name
    inside = [f for f in findings if f.pointer is None or is_below(f.pointer, result.pointer)]
    from_key = (result.report_key or "").removeprefix("report_").rpartition("_")[0]
    timestamp = digits_to_ns(from_key, options.zone) or digits_to_ns(name.time, options.zone)
    if timestamp is None:
        timestamp = file.path.stat().st_mtime_ns
        inside.append(_no_time(file.path))
    elif options.tz is None:
        inside.append(_zone_assumed(file.path))
    content = _content_of(file, result)
    named = name.time is not None or name.pid is not None or result.report_key is not None
    facts = (result.report_key, name.time, name.pid, result.tuning_name) if named else (content,)
    identity = identity_of("tuning", result.kind, *facts)
    member = Member(identity, content, len(result.modifications) + int(result.complete), named)
    return TuningRun(run_id_of(timestamp, identity), file, result, member, timestamp, tuple(inside))


def _content_of(file: ResultFile, result: TuningResult) -> str:
    """The hash of one report's own part of a file: others may still be written behind it."""
    segments = file.document if result.report_key is None else file.document[result.report_key]
    text = json.dumps(segments, sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(slots=True)
class _Tables:
    """The tables of a capture, as they are read one after another."""

    capture: Capture
    collected: PrefetchedTasks | None
    """The tasks of a timeline that its steps were read from."""
    read_so_far: list[TableData] = field(default_factory=list)
    """With the columns that tell when something began alone, so that the others go when they have been used."""

    def read(self, source: Source | None, columns: frozenset[str] | None = None) -> list[TableData]:
        """The tables of one form, with all columns unless some are named."""
        datas = read_source(source, columns, collected=self.collected)
        self.read_so_far += [data.with_frame(data.frame.select(_times_of(data.frame))) for data in datas]
        return datas

    def every(self, facts: Facts, columns: frozenset[str] | None = None) -> list[TableData]:
        """The tables of all forms that have some facts."""
        return [data for source in sources_of(self.capture, facts) for data in self.read(source, columns)]

    def empty_files(self) -> list[Finding]:
        """The files without a byte that are no tables."""
        paths = {data.path for data in self.read_so_far}
        return [
            EMPTY_FILE.found(
                str(file.path), say("the file is empty; expected an export of {kind}", kind=file.name.kind)
            )
            for file in self.capture.files
            if file.size == 0 and file.path not in paths
        ]


@dataclass(frozen=True, slots=True)
class _Measured:
    """The times of a capture, from the best table that it has."""

    frame: pa.Table | None
    grouped: bool
    """Whether they are sums."""
    tasks: pa.Table | None
    """Tasks one by one, of what stands in where no table of tasks has any."""
    stand_in: str | None
    """What tells them, where that is no table of tasks with their operators."""
    findings: Sequence[Finding]


def read_capture(capture: Capture, options: RecordOptions, look: Look | None = None) -> CaptureData:
    """Read all facts of one capture and hold its forms against each other; `look` sees the tables, so that nothing is read twice."""
    fields = TASK_FIELDS | columns_of_parts(options)
    has_peak = may_have_peak(capture.info.device_type, CoreCounts.of_hardware(capture.info.hardware))
    wanted = TASK_COLUMNS | ROOFLINE_COLUMNS if has_peak else TASK_COLUMNS
    asked = fields | {*STEP_COLUMNS} if look is None else fields | {*STEP_COLUMNS} | wanted
    tables = _Tables(capture, to_prefetch(capture, asked))
    steps = tuple(read_steps(capture, tables.read))
    measured = _measure(tables, asked)
    frame, grouped, findings = measured.frame, measured.grouped, measured.findings
    covered = _steps_of_tasks(capture, frame, steps) if frame is not None and not grouped else {}
    memory, of_memory = measured_memory(capture, lambda: _steps_for_memory(capture, None if grouped else frame, steps))
    if look is not None:
        frame = frame if frame is None or grouped else frame.drop_columns(_only_of_advice(frame, fields))
        wide = WideTables(capture, _by_device(capture, measured.tasks), measured.stand_in, steps)
        del measured  # with counters, which the look lets go of
        look(wide)
        give_back()
    talk = None
    if frame is None or grouped or not has_communication(frame):
        talk = joined(tables.read(capture.preferred("communication_statistic")))
    rank_of = capture.info.rank_of
    sets = [] if frame is None else split_devices(rank_of, frame, grouped=grouped, columns=fields)
    parts, of_parts = read_parts(capture, sets, steps, options)
    found = tables.read_so_far
    return CaptureData(
        capture=capture,
        tasks=tuple(replace(groups_of_tasks(one, options.raw), steps=covered.get(one.device_id)) for one in sets),
        communication=tuple(
            groups_of_communication(device)
            for device in (split_devices(capture.info.rank_of, talk, grouped=True) if talk is not None else ())
        ),
        steps=steps,
        parts=parts,
        memory=tuple(memory),
        findings=(
            *capture.findings,
            *findings,
            *of_parts,
            *of_memory,
            *tables.empty_files(),
            *(finding for data in found for finding in data.findings),
        ),
        rows=sum(data.frame.num_rows for data in found),
        sha256s=tuple(sorted(data.sha256 for data in found if data.sha256)),
        first_ns=_first_ns(found),
        model_name=_model_name(frame),
    )


def _steps_of_tasks(capture: Capture, frame: pa.Table, steps: Sequence[Step]) -> dict[int | None, tuple[int, int]]:
    """(how many steps have tasks, how long these take together) of each device whose table of steps has more of them."""
    found = {}
    names = [name for name in ("device_id", "model_id", "task_start_ns", *STEP_COLUMNS) if name in frame.column_names]
    for tasks in split_devices(capture.info.rank_of, frame.select(names)) if steps else ():
        mine = steps_of_device(steps, tasks)
        covered = steps_with_tasks(mine, tasks.frame)
        if len(covered) < len(mine):
            found[tasks.device_id] = len(covered), sum(step.duration_ns for step in covered)
    return found


def _steps_for_memory(capture: Capture, frame: pa.Table | None, steps: Sequence[Step]) -> MemorySteps:
    """The steps that memory is divided into. What is wrong with a timeline is no matter of records, which are made of tables."""

    def of_tables() -> tuple[Sequence[Step], Sequence[TaskSet]]:
        if frame is None:
            return steps, ()
        known = frame.select([name for name in SPANNED_BY if name in frame.column_names])
        return steps, split_devices(capture.info.rank_of, known)

    return steps_for_memory(capture, Notes(), of_tables=of_tables)


def _measure(tables: _Tables, fields: frozenset[str]) -> _Measured:
    """Tasks, else sums, else the times of kernels; each form is held against the one that is used."""
    forms = sources_of(tables.capture, "tasks")
    tasks, others = first_with_rows(forms, lambda source: tables.read(source, fields))
    sums = tables.every("sums")
    times = tables.every("kernels", fields)
    frame = joined(tasks)
    if frame is not None:
        findings = check_statistics(sums, frame) if sums else []
        for source in others:
            findings += check_forms(comparable(tasks), comparable(tables.read(source, COMPARED)))
        return _Measured(frame, grouped=False, tasks=frame, stand_in=None, findings=findings)
    findings = check_no_tasks(tasks, sums)
    kernel_times, stated = kernels(joined(times)), joined(sums)
    best = kernel_times if stated is None else stated
    return _Measured(
        best,
        grouped=stated is not None,
        tasks=kernel_times,
        stand_in=times[-1].name if times else None,
        findings=findings,
    )


def _by_device(capture: Capture, tasks: pa.Table | None) -> list[TaskSet]:
    return split_devices(capture.info.rank_of, tasks) if tasks is not None and tasks.num_rows else []


def _only_of_advice(frame: pa.Table, fields: frozenset[str]) -> list[str]:
    return [name for name in frame.column_names if name in (TASK_COLUMNS | ROOFLINE_COLUMNS) - fields]


def _times_of(frame: pa.Table) -> list[str]:
    return [name for name in ("task_start_ns", "iteration_end_ns") if name in frame.column_names]


COMPARED = frozenset({"task_type", "task_duration_ns"})
"""What two forms of the same tasks are compared by."""


def _first_ns(tables: Sequence[TableData]) -> int | None:
    """The first start of a task or end of an iteration, where tables tell."""
    found = [pc.min(data.frame[name]).as_py() for data in tables for name in _times_of(data.frame)]
    return min((first for first in found if first is not None), default=None)


def model_name_of(capture: Capture) -> str | None:
    """The model that a capture's tables name, before all of them are read: what `read_capture` finds, too."""
    forms = [*sources_of(capture, "tasks"), *sources_of(capture, "sums")]
    if not any(column.field in _MODEL_NAME for source in forms for column in TABLES[source.kind].columns):
        return None
    tables, _ = first_with_rows(forms, lambda source: read_source(source, _MODEL_NAME, hashed=False))
    return _model_name(joined(tables))


_MODEL_NAME = frozenset({"model_name"})


def _model_name(frame: pa.Table | None) -> str | None:
    if frame is None or "model_name" not in frame.column_names:
        return None
    names = {name for name in pc.unique(frame["model_name"]).to_pylist() if name is not None}
    return lasting_name(names.pop()) if len(names) == 1 else None


def _member(data: CaptureData) -> Member:
    """A capture's identity is what it is, not where it lies nor how much of it is there: when it began, its rank.

    What was recorded or made to be unique comes first; then the first task; at last the content itself.
    """
    capture, info = data.capture, data.capture.info
    content = content_hash_of(data.sha256s)
    if capture.unique_name is not None:
        return Member(identity_of("profile", capture.unique_name), content, data.rows, named=True)
    recorded = info.start_ns or info.end_ns
    if recorded is not None:
        return Member(identity_of("profile", recorded, info.pid, info.rank_id), content, data.rows, named=True)
    if data.first_ns is not None:
        facts: tuple[object, ...] = (data.first_ns, info.pid, info.rank_id)
    elif capture.named_time is not None:
        facts = (capture.named_time, capture.root.name)
    else:
        facts = (content,)
    return Member(identity_of("profile", *facts), content, data.rows, named=False)


def _time_of(data: CaptureData, options: RecordOptions, findings: list[Finding]) -> int:
    """When the capture was made, as time of day: from info files, tasks, names, and at last the files' own time."""
    for time in (data.capture.info.start_ns, data.first_ns, data.capture.info.end_ns):
        if time is not None and time >= EPOCH_FROM_NS:
            return time
    named = digits_to_ns(data.capture.named_time, options.zone)
    if named is not None:
        if options.tz is None:
            findings.append(_zone_assumed(data.capture.root))
        return named
    findings.append(_no_time(data.capture.root))
    return data.capture.modified_ns


def _no_time(path: Path) -> Finding:
    message = say("neither the content nor the name contains the creation time; the time of the file itself is used")
    return TIME_UNKNOWN.found(str(path), message)


def _zone_assumed(path: Path) -> Finding:
    return TIME_ZONE_ASSUMED.found(str(path), say("its time has no time zone; UTC is assumed (see --tz)"))
