"""Reads what one capture tells of its host, and makes the rows of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from aoe_reports.engine.captures import collect_events_of, only_device_of, read_tasks, sources_of, types_of_operators
from aoe_reports.engine.question import Request, Unit
from aoe_reports.facts.host_activity import HOST_COLUMNS, HostActivity, Kernels, WaitingDevice
from aoe_reports.facts.host_waits import WAIT_CAUSES, WaitingTime
from aoe_reports.facts.idle import STEP_COLUMNS, shares_of_tasks, step_of_tasks
from aoe_reports.formats.sources.found import FoundFile
from aoe_reports.model.arrays.columns import codes, distinct, integers, keep_where
from aoe_reports.model.findings import has
from aoe_reports.model.shares import rounded, share_of
from aoe_reports.model.texts import say
from aoe_reports.stats.grouping import is_communication
from aoe_reports.topics.host.causes import GROUP_WORDS, WAIT_WORDS, causes_of, causes_of_sequences
from aoe_reports.topics.host.fused_operators import fused_optimizer
from aoe_reports.topics.host.host import HostCause, HostDevice, HostFound, HostOptions, HostSequence, HostTime
from aoe_reports.topics.host.sequences import FoundSequence, find_sequences
from aoe_reports.topics.host.words import TIMELINE, not_recorded_of
from aoe_reports.topics.rules import DEVICE_UNKNOWN, NO_TIMELINE

_BY_LAUNCH = ("launching", "launched")
"""What is not known without any launch."""
MIN_SEQUENCE_SHARE = 0.001
"""A sequence that could save less of the device's time is not listed."""


def read_export(files: Sequence[FoundFile], unit: Unit, asked: Request[HostOptions], found: HostFound) -> None:
    """Take in what one export, all of its slices, tells."""
    chosen, notes, info = asked.options, asked.notes, unit.capture.info
    activity, wrong = collect_events_of(files, HOST_COLUMNS, HostActivity)
    notes.add(wrong)
    devices = activity.waiting_devices(chosen.top)
    path = str(files[0].path)
    if not devices and not has(wrong, "error"):
        notes.add([NO_TIMELINE.found(path, say("no device task in this timeline"))])
    if not all(device.communication_known for device in devices):
        message = say("several devices: the device of the communication is unknown; it counts as idle time")
        notes.add([DEVICE_UNKNOWN.found(path, message)])
    types = types_of_operators(unit.capture) if devices else {}
    for device in devices:
        number = device.device_id
        if number is None and len(devices) == 1:
            number = only_device_of(files[0], unit.capture)
        rank = info.rank_of(number)
        if chosen.rank not in {None, rank} or chosen.device not in {None, number}:
            continue
        place = {"run": unit.run, "rank_id": rank, "device_id": number}
        _add(device, activity, types, place, chosen, files[0].name.iteration, found)


def read_tables(unit: Unit, asked: Request[HostOptions], found: HostFound) -> None:
    """Take in which short sequences the tasks of a capture's tables repeat; of tasks one by one only, without any launch."""
    chosen, notes = asked.options, asked.notes
    if not sources_of(unit.capture, "tasks"):
        return
    sets, tables = read_tasks(unit.capture, SEQUENCE_COLUMNS, by_type=False)
    notes.add(finding for data in tables for finding in data.findings)
    if not tables or tables[-1].table.facts != "tasks":
        return
    for tasks in sets:
        if chosen.rank not in {None, tasks.rank_id} or chosen.device not in {None, tasks.device_id}:
            continue
        sequences = sequences_of_tasks(tasks.frame, chosen.step)
        if sequences is None:
            continue
        place: dict[str, Any] = {"run": unit.run, "rank_id": tasks.rank_id, "device_id": tasks.device_id}
        found.causes.extend(
            HostCause(position=position, **place, **cause._asdict())
            for position, cause in enumerate(causes_of_sequences(sequences.found, sequences.length_ns), start=1)
        )
        _add_sequences(
            sequences.found, sequences.words, place, sequences.length_ns, chosen.top, tables[-1].table.name, found
        )


def _add_sequences(
    sequences: Sequence[FoundSequence],
    words: Sequence[str],
    place: Mapping[str, Any],
    length_ns: int,
    top: int,
    told_by: str,
    found: HostFound,
) -> None:
    """Take in those that could save enough of some time."""
    listed = [sequence for sequence in sequences if sequence.saving_ns >= MIN_SEQUENCE_SHARE * length_ns]
    found.sequences.extend(
        _sequence(one, position, place, words, length_ns, told_by) for position, one in enumerate(listed[:top], start=1)
    )


def _add(
    device: WaitingDevice,
    activity: HostActivity,
    types: Mapping[str, str],
    place: Mapping[str, Any],
    chosen: HostOptions,
    iteration: int | None,
    found: HostFound,
) -> None:
    """Take in one device."""
    whole, words = device.whole, activity.words
    times = [(whole, iteration), *((one, one.step) for one in device.steps)]
    times = [(one, step) for one, step in times if chosen.step in {None, step}]
    if not times:
        return
    found.times.extend(_time(one, place, step, told=device.communication_known) for one, step in times)
    steps = len(activity.steps_on_host)
    asked, kernels = times[0][0], device.kernels
    if asked.step is not None:
        kernels = kernels.of_step(asked.step)
    sequences = find_sequences(kernels, words, types, max(len(device.steps), 1) if asked is whole else 1)
    found.causes.extend(
        HostCause(position=position, **place, **cause._asdict())
        for position, cause in enumerate(causes_of(device, asked, sequences, steps), start=1)
    )
    found.calls.extend(
        replace(call, **place, kind=say(GROUP_WORDS[call.group]), fused=fused_optimizer(call.name))
        for call in device.calls
    )
    found_waits = device.waits if device.communication_known else ()
    waits = [wait for wait in found_waits if chosen.step in {None, wait.step, iteration}]
    found.waits.extend(
        replace(
            one,
            position=position,
            **place,
            step=iteration if one.step is None else one.step,
            cause=say(WAIT_WORDS[one.cause]),
        )
        for position, one in enumerate(waits, start=1)
    )
    _add_sequences(sequences, words, place, asked.length_ns, chosen.top, TIMELINE, found)
    found.devices.append(_device(device, place))


def _time(time: WaitingTime, place: Mapping[str, Any], step: int | None, *, told: bool) -> HostTime:
    queue = time.launched
    known = queue is not None and told
    by_cause: dict[str, Any] = {
        f"{cause.replace(' ', '_')}_ns": None if not known and cause in _BY_LAUNCH else ns
        for cause, ns in zip(WAIT_CAUSES, time.by_cause, strict=True)
    }
    return HostTime(
        **place,
        step=step,
        start_ns=time.start_ns,
        duration_ns=time.length_ns,
        idle_ns=time.idle_ns,
        waited_ns=time.waited_ns if known else None,
        waited_share=rounded(share_of(time.waited_ns, time.length_ns)) if known else None,
        **by_cause,
        tasks=time.tasks,
        launches=time.tasks - time.launches_unknown,
        launches_unknown=time.launches_unknown,
        latency_p50_ns=queue.p50_ns if queue else None,
        latency_p95_ns=queue.p95_ns if queue else None,
        latency_longest_ns=queue.longest_ns if queue else None,
        latency_total_ns=queue.waited_ns if queue else None,
        queue_span_ns=queue.span_ns if queue else None,
        queue_length=rounded(queue.mean_length) if queue else None,
        queue_empty_share=rounded(queue.empty_share) if queue else None,
        queue_longest=queue.most if queue else None,
    )


def _device(device: WaitingDevice, place: Mapping[str, Any]) -> HostDevice:
    queue = device.task_queue
    return HostDevice(
        **place,
        task_queue_entries=queue.entries if queue else None,
        task_queue_p50_ns=queue.p50_ns if queue else None,
        task_queue_p95_ns=queue.p95_ns if queue else None,
        task_queue_longest_ns=queue.longest_ns if queue else None,
        task_queue_length=rounded(queue.mean_length) if queue else None,
        task_queue_empty_share=rounded(queue.empty_share) if queue else None,
        task_queue_longest=queue.most if queue else None,
        copy_tasks=device.copies.count,
        copy_tasks_ns=device.copies.total_ns,
        host_shift_ns=device.shift_ns,
        early_launches=device.early,
        not_recorded=not_recorded_of(device),
    )


def _sequence(
    sequence: FoundSequence, position: int, place: Mapping[str, Any], words: Sequence[str], length_ns: int, told_by: str
) -> HostSequence:
    return HostSequence(
        position=position,
        **place,
        told_by=told_by,
        fused=sequence.api,
        sequence=" ".join(sequence.types),
        count=sequence.count,
        tasks=sequence.tasks,
        total_ns=sequence.total_ns,
        mean_ns=sequence.total_ns / sequence.count,
        launch_share=round(sequence.launch_share, 6),
        saving_ns=sequence.saving_ns,
        saving_share=rounded(share_of(sequence.saving_ns, length_ns)) or 0.0,
        first_task=words[sequence.first_name] if sequence.first_name >= 0 else None,
        first_start_ns=sequence.first_start_ns,
        note=None if sequence.note is None else say(sequence.note),
    )


SEQUENCE_COLUMNS = frozenset(
    {"op_name", "op_type", "task_type", "stream_id", "task_start_ns", "task_duration_ns", "device_id", *STEP_COLUMNS}
)
"""The columns of tasks that are looked at; null where an export lacks them."""


@dataclass(frozen=True, slots=True)
class TaskSequences:
    """What the tasks of one device repeat."""

    found: Sequence[FoundSequence]
    words: Sequence[str]
    """The names of its tasks."""
    length_ns: int
    """From the first begin to the last end, step by step."""


def sequences_of_tasks(tasks: pa.Table, step: int | None = None) -> TaskSequences | None:
    """The sequences among the tasks of a device (SEQUENCE_COLUMNS of them), or of one step; null where tasks have no times, or none is left.

    Without streams all tasks are taken for those of one.
    """
    steps_of = step_of_tasks(tasks)
    if step is not None:
        mine = np.zeros(tasks.num_rows, dtype=bool) if steps_of is None else steps_of[1] == step
        tasks = tasks.filter(keep_where(mine))
        steps_of = step_of_tasks(tasks)
    start, timed = integers(tasks["task_start_ns"])
    if not len(start) or not timed.all():
        return None
    length = shares_of_tasks(tasks, None, None).step_ns
    duration, _ = integers(tasks["task_duration_ns"])
    computes = ~is_communication(tasks["task_type"])
    names, words = codes(tasks["op_name"])
    streams, on_stream = integers(tasks["stream_id"])
    steps = np.zeros(len(start), dtype=np.int64) if steps_of is None else steps_of[1]
    order = np.flatnonzero(computes)[np.argsort(start[computes], kind="stable")]
    kernels = Kernels(
        start[order],
        (start + duration)[order],
        names[order].astype(np.int64) - 1,
        np.where(on_stream, streams, -1)[order],
        steps[order],
    )
    known = [*words]
    count = 1 if steps_of is None else max(len(distinct(steps[steps >= 0])), 1)
    sequences = find_sequences(kernels, known, _types(tasks), count)
    return TaskSequences(sequences, known, length or 0)


def _types(tasks: pa.Table) -> dict[str, str]:
    """The type of each operator by its name, where it has one only."""
    (names, name_words), (types, type_words) = codes(tasks["op_name"]), codes(tasks["op_type"])
    pairs = distinct(names.astype(np.int64) * (len(type_words) + 1) + types)
    name_of, type_of = np.divmod(pairs, len(type_words) + 1)
    known = (name_of > 0) & (type_of > 0)
    alone, counts = np.unique(name_of[known], return_counts=True)
    only = dict(zip(alone.tolist(), counts.tolist(), strict=True))
    typed = zip(name_of[known].tolist(), type_of[known].tolist(), strict=True)
    return {name_words[name - 1]: type_words[kind - 1] for name, kind in typed if only[name] == 1}
