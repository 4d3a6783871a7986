"""The repeats of one side: what each measured, when, and under which conditions."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import pairwise
from os.path import realpath
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.compute as pc

from aoe_reports.engine.ask import Progress, no_progress, read_units
from aoe_reports.engine.captures import read_steps_noting, read_tasks, to_prefetch
from aoe_reports.engine.fleet.executors import Executor
from aoe_reports.engine.question import FileUnit, Notes, Request, Unit
from aoe_reports.facts.tasks import TaskSet
from aoe_reports.formats.benchmarks.form import stem_without_dates
from aoe_reports.formats.capture import Capture
from aoe_reports.formats.records.metrics import metrics_of
from aoe_reports.formats.records.record import Record, canonical_json
from aoe_reports.jobs.ab.options import AbOptions
from aoe_reports.jobs.ab.rules import GIVEN_TWICE, NO_REPEAT
from aoe_reports.model.by_key import lists_by_key
from aoe_reports.model.findings import Finding
from aoe_reports.model.history.changes import COMPUTING, MEMORY, METRIC
from aoe_reports.model.history.metrics import Better, Declarations, Meaning, cost_of, meaning_of
from aoe_reports.model.texts import Text, count_of, join, say
from aoe_reports.model.timestamps import NS_PER_S
from aoe_reports.stats.grouping import group_tasks
from aoe_reports.store import Run
from aoe_reports.topics.comparison.compared_runs import tell_types
from aoe_reports.topics.records.context import UNKNOWN
from aoe_reports.topics.records.from_profile import NS_PER_MS, STEPS_WITH_TASKS, DeviceGroups, groups_of_types
from aoe_reports.topics.records.load import CaptureData
from aoe_reports.topics.records.options import RecordOptions
from aoe_reports.topics.records.record_files import RecordFile
from aoe_reports.topics.records.runs import Part, RankPart, RunReader, runs_read, units_by_run
from aoe_reports.topics.rules import TIME_UNKNOWN, TIME_ZONE_ASSUMED

REQUESTS = ("completed", "failed")
"""Metrics of a server that say whether its times mean anything."""
MIN_FILE_GAP_NS = NS_PER_S
"""Times of files say in which order repeats ran only where they are at least so far apart: a copy writes them all at once."""


class Quantity(NamedTuple):
    """What is measured, whichever side it is measured on."""

    workload: str
    inputs: str
    """Arguments and configuration that distinguish measurements of one workload, as JSON; empty for captures."""
    scope: str
    name: str
    """`step`, an operator type, or the name of a metric."""
    metric: str | None = None
    unit: str | None = "ms"


class Value(NamedTuple):
    """A value of one repeat; `cost` is what is compared: more is slower."""

    cost: float
    better: Better
    calls: float | None = None
    """Calls in a step, of an operator type."""
    samples: int = 1
    """Single times that a benchmark's mean is of."""
    std: float | None = None
    """Of these, in ms."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeat:
    """One capture, or one measurement of a benchmark."""

    path: str
    time_ns: int | None
    """When it ran; null where nothing says so."""
    of_file: bool
    """Whether that is the time of its file."""
    values: Mapping[Quantity, Value]
    environment: Mapping[str, str]
    benchmark: Mapping[str, str]
    """Arguments and configuration of what was run."""
    captures: tuple[Capture, ...] = ()
    ranks: frozenset[int] = frozenset()
    no_direction: frozenset[str] = frozenset()
    """Metrics whose good direction is not known."""
    no_value: frozenset[str] = frozenset()
    """What is 0 or less here and cannot be compared: a dead round, where other repeats have a value."""
    requests: Mapping[str, float] = field(default_factory=dict)
    """How many requests of a server were completed, and failed."""
    hardware: str = UNKNOWN


class TypesReader(RunReader):
    """Reads of each capture the steps and the sums of operator types, and leaves the rest of its tables alone."""

    def map_unit(self, unit: Unit | FileUnit, asked: Request[RecordOptions]) -> Part:
        """As it is; equal results without a time of their own are repeats where they are different files."""
        part = super().map_unit(unit, asked)
        if not isinstance(part, RecordFile):
            return part
        entries = [
            replace(entry, digest=hashlib.sha256(f"{entry.digest}{part.path}".encode()).hexdigest()[:32])
            if _time_of(entry.record, Path(part.path))[1]
            else entry
            for entry in part.entries
        ]
        return replace(part, entries=entries)

    def part_of(self, unit: Unit, asked: Request[RecordOptions]) -> RankPart:
        """The types of one capture."""
        del asked
        return RankPart(data=read_types(unit.capture))


def read_types(capture: Capture) -> CaptureData:
    """The steps of a capture and its tasks by operator type, or by name where no table has types."""
    typed = tell_types(capture)
    fields = {"op_type" if typed else "op_name", "task_type", "task_duration_ns", "device_id"}
    timed = capture.info.start_ns is not None or capture.named_time is not None
    wanted = frozenset(fields if timed else fields | {"task_start_ns"})
    prefetched = to_prefetch(capture, wanted)
    findings: list[Finding] = []
    steps = read_steps_noting(capture, findings, prefetched)
    sets, tables = read_tasks(capture, wanted, by_type=typed, all_tasks=True, collected=prefetched, alike=timed)
    return CaptureData(
        capture=capture,
        tasks=tuple(groups_of_types(tasks) if typed else _by_name(tasks) for tasks in sets),
        communication=(),
        steps=tuple(steps),
        parts=(),
        findings=(*capture.findings, *findings, *(finding for data in tables for finding in data.findings)),
        rows=sum(data.frame.num_rows for data in tables),
        sha256s=(str(capture.root),),
        first_ns=_first_start(sets),
        model_name=None,
    )


def _by_name(tasks: TaskSet) -> DeviceGroups:
    """The tasks of a device by operator name; they have no types."""
    groups = group_tasks(tasks.frame, ["op_name"])
    named = [replace(group, key=(None, None, group.key[0], None, None, None)) for group in groups if group.key[0]]
    return DeviceGroups(tasks.rank_id, tasks.device_id, operators=named)


def _first_start(sets: Sequence[TaskSet]) -> int | None:
    starts = [
        pc.min(tasks.frame["task_start_ns"]).as_py() for tasks in sets if "task_start_ns" in tasks.frame.column_names
    ]
    return min((start for start in starts if start is not None), default=None)


def read_side(
    paths: Sequence[Path],
    options: AbOptions,
    notes: Notes,
    *,
    executor: Executor | None = None,
    progress: Progress = no_progress,
) -> list[Repeat]:
    """Every repeat below some paths. Results of tuners are none: they claim, they do not measure two builds."""
    reader = TypesReader()
    reading = read_units(reader, paths, options.asked_for(paths), executor=executor, progress=progress)
    captures = {
        str(unit.capture.root): tuple(member.capture for member in units)
        for units in units_by_run(reading.asked.units).values()
        for unit in units
    }
    repeats: list[Repeat] = []
    declarations = options.declarations()
    for run in runs_read(reader, reading):
        notes.add(finding for finding in run.findings if finding.rule not in _OF_STORES)
        if run.header.run_kind == "tuning":
            text = say("a result of a tuner claims times, it does not measure a build: left out (see `verify`)")
            notes.add([NO_REPEAT.found(run.header.path, text)])
        else:
            of_run = _repeats_of(run, captures.get(run.header.path, ()), declarations)
            repeats += of_run if options.workload is None else (_renamed(one, options.workload) for one in of_run)
    notes.take(reading.asked.notes)
    return _without_copies(repeats, notes)


def given_twice(sides: Iterable[Sequence[Repeat]]) -> Iterator[Finding]:
    """Repeats that are of two sides, or of two builds: the same file, or a copy with the same time and values."""
    seen: dict[object, int] = {}
    twice: dict[str, None] = {}
    for number, side in enumerate(sides):
        for repeat in side:
            of_content = None if repeat.of_file else (repeat.time_ns, frozenset(repeat.values.items()))
            for key in (realpath(repeat.path), of_content):
                if key is not None and seen.setdefault(key, number) != number:
                    twice[repeat.path] = None
    if twice:
        text = count_of(
            len(twice),
            "{number} measurement is given twice, once for each side or build: {paths}",
            "{number} measurements are given twice, once for each side or build: {paths}",
            paths=first_of([*twice]),
        )
        yield GIVEN_TWICE.found(next(iter(twice)), text)


def first_of(names: Sequence[str]) -> Text:
    """A few names, and how many more there are."""
    words = join(", ", names[:_NAMED])
    return words if len(names) <= _NAMED else say("{names} and {count} more", names=words, count=len(names) - _NAMED)


_NAMED = 3


def _renamed(repeat: Repeat, workload: str) -> Repeat:
    """Under this name, if all that it measured has one name: results of benchmarks name themselves, often by their files."""
    if len({quantity.workload.partition("/")[0] for quantity in repeat.values}) != 1:
        return repeat
    values = {
        quantity._replace(workload="/".join([workload, *quantity.workload.split("/")[1:]])): value
        for quantity, value in repeat.values.items()
    }
    return replace(repeat, values=values)


def _without_copies(repeats: Sequence[Repeat], notes: Notes) -> list[Repeat]:
    """One of each capture: a copy is no other measurement, however often it lies there."""
    kept: dict[tuple[int | None, frozenset[tuple[Quantity, Value]]], Repeat] = {}
    for number, repeat in enumerate(repeats):
        key = repeat.time_ns, frozenset(repeat.values.items())
        is_copy = bool(repeat.captures) and not repeat.of_file and key in kept
        if is_copy:
            text = say("a copy of {path}: it counts once", path=kept[key].path)
            notes.add([NO_REPEAT.found(repeat.path, text)])
        else:
            kept[key if repeat.captures and not repeat.of_file else (number, frozenset())] = repeat
    return list(kept.values())


_OF_STORES = frozenset({TIME_UNKNOWN.name, TIME_ZONE_ASSUMED.name, "workload-unknown", "record-completed"})
"""Rules on what matters to a history, and not to two sides that the user names."""


def _repeats_of(run: Run, captures: tuple[Capture, ...], declarations: Declarations) -> Iterator[Repeat]:
    if run.header.run_kind == "foreign":
        yield from _measurements(run, declarations)
        return
    values = dict(_of_profile(run.records))
    if values:
        of_file = any(finding.rule == TIME_UNKNOWN.name for finding in run.findings)
        yield Repeat(
            path=run.header.path,
            time_ns=run.header.timestamp_ns,
            of_file=of_file,
            values=values,
            environment=_environment(run.records[0]) | _settings(captures),
            benchmark={},
            captures=captures,
            hardware=run.records[0].hardware,
            ranks=frozenset(record.rank_id for record in run.records if record.rank_id is not None),
        )


def _of_profile(records: Sequence[Record]) -> Iterator[tuple[Quantity, Value]]:
    """The mean step, and what each operator type takes of a step; the mean of all ranks and devices."""
    devices = lists_by_key(((record.rank_id, record.device_id), record) for record in records if record.phase is None)
    steps = {device: record for device, of_device in devices.items() for record in of_device if record.scope == "step"}
    model = records[0].model
    if steps and sum(record.runtime_ms_mean for record in steps.values()) > 0:
        mean = sum(record.runtime_ms_mean for record in steps.values()) / len(steps)
        yield Quantity(model, "", "step", "step"), Value(mean, "lower")
    typed = any(record.scope == "op_type" for record in records)
    parts = frozenset({"communication", "op_type" if typed else "op"})
    busy = {
        device: of_device
        for device, of_device in devices.items()
        if any(record.total_ns for record in of_device if record.scope in parts)
    }
    times: dict[tuple[str, str], float] = defaultdict(float)
    calls: dict[tuple[str, str], float] = defaultdict(float)
    for device, of_device in busy.items():
        count = _steps_with_tasks(steps.get(device)) or 1
        for record in of_device:
            if record.scope in parts and record.total_ns is not None:
                key = record.scope, record.op_type or record.op_name or "unknown"
                times[key] += record.total_ns / NS_PER_MS / count
                calls[key] += (record.count or 0) / count
    for (scope, name), time in times.items():
        if time <= 0:
            continue
        yield Quantity(model, "", scope, name), Value(time / len(busy), "lower", calls[scope, name] / len(busy))
    computing = sum(time for (scope, _), time in times.items() if scope != "communication")
    if computing > 0 and not steps:
        yield Quantity(model, "", COMPUTING, "computing"), Value(computing / len(busy), "lower")


def _steps_with_tasks(step: Record | None) -> int:
    """The steps that a device's tasks are of."""
    if step is None:
        return 0
    with_tasks = step.metrics.get(STEPS_WITH_TASKS)
    return int(with_tasks) if isinstance(with_tasks, int | float) else step.count or 0


def _measurements(run: Run, declarations: Declarations) -> Iterator[Repeat]:
    """Each record of a benchmark is a repeat; the records of one file that measure different things are one."""
    seen: Counter[str] = Counter()
    rounds: dict[int, list[Record]] = {}
    for record in run.records:
        number = seen[record.series_id]
        seen[record.series_id] += 1
        rounds.setdefault(number, []).append(record)
    for records in rounds.values():
        first = min(records, key=lambda record: record.timestamp_ns)
        time_ns, of_file = _time_of(first, Path(run.header.path))
        metrics = [
            (metric, meaning_of(metric.name, metric.told, declarations))
            for record in records
            for metric in metrics_of(record.metrics)
        ]
        is_single = len({record.workload for record in records}) == 1
        benchmark = [
            _flat(
                {
                    "arguments": record.workload_args,
                    "engine_config": record.engine_config,
                    "runtime_config": record.runtime_config,
                }
            )
            for record in records
        ]
        yield Repeat(
            path=run.header.path,
            time_ns=time_ns,
            of_file=of_file,
            values=dict(pair for record in records for pair in _of_benchmark(record, declarations)),
            environment=_environment(first),
            benchmark=_own_name(first, run.header.path, is_single=is_single)
            | {
                key if is_single else f"{record.workload} {key}": value
                for record, of_record in zip(records, benchmark, strict=True)
                for key, value in of_record.items()
            },
            no_direction=frozenset(metric.name for metric, meaning in metrics if meaning.better is None),
            no_value=frozenset(
                metric.name
                for metric, meaning in metrics
                if meaning.better is not None and cost_of(metric.value, meaning) <= 0
            )
            | {"runtime" for record in records if record.runtime_ms_mean <= 0},
            requests={metric.name: metric.value for metric, _ in metrics if metric.name in REQUESTS},
            hardware=first.hardware,
        )


def _own_name(record: Record, path: str, *, is_single: bool) -> dict[str, str]:
    """What a result says of itself that it measured; nothing where its name is that of its file."""
    name, stem = record.workload.partition("/")[0], Path(path).stem
    return {"workload": name} if is_single and name not in {stem, stem_without_dates(stem)} else {}


def _time_of(record: Record, path: Path) -> tuple[int, bool]:
    """(the time of a measurement, whether it is that of its file, then as exact as the file system has it)."""
    with suppress(OSError):
        modified_ns = path.stat().st_mtime_ns
        if record.timestamp_ns == modified_ns // NS_PER_S * NS_PER_S:
            return modified_ns, True
    return record.timestamp_ns, False


def _of_benchmark(record: Record, declarations: Declarations) -> Iterator[tuple[Quantity, Value]]:
    inputs = canonical_json([record.workload_args, record.engine_config, record.runtime_config])
    samples = record.execution_config.get("repeat")
    mean = Value(
        record.runtime_ms_mean, "lower", None, samples if isinstance(samples, int) else 1, record.runtime_ms_std
    )
    if record.runtime_ms_mean > 0 and record.scope != MEMORY:
        yield Quantity(record.workload, inputs, record.scope, "runtime"), mean
    for metric in metrics_of(record.metrics):
        meaning: Meaning = meaning_of(metric.name, metric.told, declarations)
        cost = cost_of(metric.value, meaning)
        if meaning.better is not None and cost > 0:
            quantity = Quantity(record.workload, inputs, METRIC, metric.name, metric.name, meaning.unit)
            yield quantity, Value(cost, meaning.better)


def _environment(record: Record) -> dict[str, str]:
    configs = {
        "hardware_config": record.hardware_config,
        "software_config": record.software_config,
        "compilation_config": record.compilation_config,
        **({} if record.source == "foreign" else {"runtime_config": record.runtime_config}),
    }
    known = {"engine": record.engine, "engine version": record.engine_version, "hardware": record.hardware}
    return {what: value for what, value in known.items() if value != UNKNOWN} | _flat(configs)


def _settings(captures: Sequence[Capture]) -> dict[str, str]:
    """What info files say of versions, the chip and the machine."""
    settings: dict[str, set[str]] = {}
    for capture in captures:
        info = capture.info
        known = {"device type": info.device_type, "host": info.host, **info.settings}
        for what, value in known.items():
            if value is not None:
                settings.setdefault(what, set()).add(value)
    return {what: ", ".join(sorted(values)) for what, values in settings.items()}


def _flat(configs: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    return {f"{config}.{key}": str(value)[:_MAX_WORDS] for config, of in configs.items() for key, value in of.items()}


_MAX_WORDS = 200


def order_known(sides: Sequence[Sequence[Repeat]]) -> bool:
    """Whether the times of repeats say in which order they ran; within a side no order is needed."""
    times = sorted(
        (repeat.time_ns, number, repeat.of_file)
        for number, side in enumerate(sides)
        for repeat in side
        if repeat.time_ns is not None
    )
    if len(times) < sum(map(len, sides)):
        return False
    return all(
        before[1] == after[1] or after[0] - before[0] >= (MIN_FILE_GAP_NS if before[2] or after[2] else 1)
        for before, after in pairwise(times)
    )
