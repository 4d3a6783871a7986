"""Reads the communication of one capture from its tables, and from its timelines what tables do not have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from aoe_reports.engine.captures import (
    PrefetchedTasks,
    collect_events_of,
    joined,
    only_device_of,
    read_source,
    read_tasks,
    timeline_tells_tasks,
)
from aoe_reports.engine.rules import (
    BANDWIDTH_MISMATCH,
    COMMUNICATION_EXAMPLES,
    COMMUNICATION_INCOMPLETE,
    COMMUNICATION_PACKETS,
    COMMUNICATION_TASK,
    NO_COMMUNICATION,
    STANDS_IN,
)
from aoe_reports.facts.breakdown import EVENT_COLUMNS, Activity
from aoe_reports.facts.idle import STEP_COLUMNS, step_of_tasks
from aoe_reports.facts.tasks import split_devices
from aoe_reports.facts.timeline_tasks import TimelineTasks, event_columns
from aoe_reports.formats.aoe.gradients import GradientModel
from aoe_reports.formats.ascend.capture import exports_of
from aoe_reports.formats.ascend.tables.timelines import WHOLE_TIMELINES
from aoe_reports.formats.capture import Capture
from aoe_reports.formats.vendor import vendor_of
from aoe_reports.model.arrays.columns import keep_where
from aoe_reports.model.findings import EXAMPLES_PER_RULE, Finding
from aoe_reports.model.texts import N_, count_of, say
from aoe_reports.model.topics.communication import Tail, TransportVolume
from aoe_reports.rules.tables.rows import findings_of_rows
from aoe_reports.topics.communication.bucket_order import bucket_orders
from aoe_reports.topics.communication.collectors import Collectors
from aoe_reports.topics.communication.contention import CONTENTION_COLUMNS, find_contention
from aoe_reports.topics.communication.facts import (
    OperatorTime,
    Transfer,
    find_bandwidth_mismatches,
    in_order,
    number_of_step,
    operator_times,
    operators_of_steps,
    transfers_of_matrix,
    type_of_operator,
)
from aoe_reports.topics.communication.gradient_tail import find_gradient_tails
from aoe_reports.topics.communication.packets import RdmaTime, packets_of
from aoe_reports.topics.communication.pipeline_steps import peers_of, stage_steps
from aoe_reports.topics.communication.run import Communication
from aoe_reports.topics.communication.tasks import TASK_COLUMNS, CommunicationTasks, TaskFigures

_TIMELINES = ("hccl", *WHOLE_TIMELINES)
"""Timelines that show communication, the smallest first."""


Launched = dict[tuple[Path, ...], tuple[Activity, list[Finding]]]
"""What was launched when by the files of one timeline; what is wrong with them."""


def read_communication(
    capture: Capture,
    into: Communication,
    models: Sequence[GradientModel],
    step: int | None,
    findings: list[Finding],
    collected: PrefetchedTasks | None = None,
    launched: Launched | None = None,
) -> list[Transfer]:
    """Take in what one capture tells, of one step or of all; `models` of a bank tell what of a tail stays. Returns the transfers of all steps.

    `collected` is filled with the tasks of timelines that replace tables, `launched` with what `read_launch_order` needs.
    """
    into.members |= capture.info.members
    own = read_operators(capture, findings)
    into.take(read_bandwidths(capture, step, findings, own))
    matrix = _read_matrix(capture, findings)
    timelines = _read_timelines(capture, own, findings, collected, launched, of_steps=step is not None)
    figures = [one for several in timelines.values() for one in several]
    findings += _standing_in(capture, figures, operators=bool(own), links=bool(matrix))
    operators = own or [operator for figure in figures for operator in figure.operators]
    transfers = matrix or [transfer for figure in figures for transfer in figure.transfers]
    into.add_waits(figures, step)
    into.operators += _of_step(operators, step)
    into.transfers += _of_step(transfers, step)
    tails = _read_tails(capture, timelines, models, findings)
    into.tails += _of_step(tails, step)
    if not (operators or transfers or tails):
        message = say(
            "no communication here: no communication table, no communication in a timeline, no all-reduce in step_trace"
        )
        findings.append(NO_COMMUNICATION.found(str(capture.root), message))
    return transfers


def columns_of_contention(step: int | None) -> frozenset[str]:
    """The columns of tasks that `read_contention` asks for."""
    return CONTENTION_COLUMNS if step is None else CONTENTION_COLUMNS.union(STEP_COLUMNS)


def read_contention(
    capture: Capture,
    into: Communication,
    step: int | None,
    top: int,
    findings: list[Finding],
    collected: PrefetchedTasks | None = None,
) -> None:
    """Take in what computing loses beside communication, of each device, from the tasks of a capture, which may be `collected`."""
    fields = columns_of_contention(step)
    sets, tables = read_tasks(capture, fields, by_type=False, all_tasks=True, collected=collected)
    findings += [finding for data in tables for finding in data.findings]
    for tasks in sets:
        frame = tasks.frame
        if step is not None:
            told = step_of_tasks(frame)
            frame = frame.slice(0, 0) if told is None else frame.filter(keep_where(told[1] == step))
        if (contention := find_contention(frame, top)) is not None:
            into.contentions.append(replace(contention, rank_id=tasks.rank_id, device_id=tasks.device_id))


def read_launch_order(
    capture: Capture,
    into: Communication,
    step: int | None,
    findings: list[Finding],
    launched: Launched,
    *,
    bucket_order: bool,
    stages_of: Sequence[Transfer] | None,
) -> None:
    """Take in what the timelines of a capture tell of one step or of all, each read once: those that are `launched` were.

    With `bucket_order` when the collectives of gradients of each device could have started; the steps of a stage of a pipeline where
    `stages_of` are the transfers that tell who its neighbours are.
    """
    for files in vendor_of(capture.profiler).events(capture):
        held = launched.get(tuple(file.path for file in files))
        activity, wrong = held or collect_events_of(files, EVENT_COLUMNS, Activity)
        findings += [finding for finding in wrong if finding not in findings]
        only = only_device_of(files[0], capture)
        for order in bucket_orders(activity, step) if bucket_order else ():
            number = only if order.device_id is None else order.device_id
            into.orders.append(replace(order, rank_id=capture.info.rank_of(number), device_id=number))
        rank = capture.info.rank_of(only)
        if stages_of is not None and rank is not None:
            into.stages += stage_steps(activity, rank, peers_of(stages_of), step)


def _of_step(rows: Iterable[Any], step: int | None) -> list[Any]:
    return [row for row in rows if step in {None, row.step}]


def read_operators(capture: Capture, findings: list[Finding]) -> list[OperatorTime]:
    """What the table of operators of a capture tells."""
    times = _frame(capture, "communication", findings)
    if times is not None:
        return operator_times(_with_rank(times, capture.info.rank_id))
    found: list[OperatorTime] = []
    for data in read_source(capture.preferred("hccl_raw"), hashed=False):
        told, unusable = operators_of_steps(capture.info.rank_id, data.frame)
        found += told
        message = say("times of operators in this cell cannot be read; they are in no sum")
        cell = next(field.position + 1 for field in data.match.fields if field.name == "operators")
        mask = np.asarray(unusable, dtype=bool)
        findings += [*data.findings, *findings_of_rows(data, COMMUNICATION_INCOMPLETE, message, mask, cell)]
    return in_order(found)


def read_bandwidths(
    capture: Capture, step: int | None, findings: list[Finding], own: Sequence[OperatorTime] = ()
) -> Communication:
    """What the table of bandwidths of a capture tells: volumes by group, type of operator and transport, packets, times of RDMA.

    Of `own` operators, which sent something in no time of transit.
    """
    communication = Communication()
    frame = _frame(capture, "communication_bandwidth", findings)
    if frame is None:
        return communication
    findings += _mismatches(frame, "communication_bandwidth", str(capture.root))
    rows = [row for row in frame.to_pylist() if step in {None, number_of_step(row["step"])}]
    communication.volumes += _volumes(capture, rows)
    communication.untimed += _untimed(capture, rows, own)
    communication.packets, unusable = packets_of(capture.info.rank_id, rows)
    if unusable:
        message = count_of(
            unusable,
            "communication_bandwidth: a size of packets cannot be read; it is not among the packets",
            "communication_bandwidth: {number} sizes of packets cannot be read; they are not among the packets",
        )
        findings.append(COMMUNICATION_PACKETS.found(str(capture.root), message))
    communication.rdma += [
        RdmaTime(_key(row), capture.info.rank_id, row["transit_ns"])
        for row in rows
        if row["transport"] == "RDMA" and row["transit_ns"]
    ]
    return communication


def _key(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """That of the OperatorTime of a row of bandwidths."""
    return (number_of_step(row["step"]), row["type"], row["group"], row["op_name"] or "")


def _untimed(
    capture: Capture, rows: Sequence[Mapping[str, Any]], own: Sequence[OperatorTime]
) -> set[tuple[int | None, str | None, str]]:
    """(rank, group, type of operator) of operators that sent something although they have no time of transit."""
    sent = {_key(row) for row in rows if row["transit_bytes"]}
    return {
        (capture.info.rank_id, time.group, time.op_type) for time in own if time.transit_ns == 0 and time.key in sent
    }


def _volumes(capture: Capture, rows: Sequence[Mapping[str, Any]]) -> list[TransportVolume]:
    sums: dict[tuple[str | None, str, str], list[int]] = {}
    for row in rows:
        key = (row["group"], type_of_operator(row["op_name"] or ""), row["transport"] or "unknown")
        entry = sums.setdefault(key, [0, 0])
        entry[0] += row["transit_bytes"] or 0
        entry[1] += row["transit_ns"]
    return [
        TransportVolume(
            rank_id=capture.info.rank_id,
            group=group,
            op_type=op_type,
            transport=transport,
            transit_bytes=size,
            transit_ns=time,
        )
        for (group, op_type, transport), (size, time) in sums.items()
    ]


def _read_matrix(capture: Capture, findings: list[Finding]) -> list[Transfer]:
    """What the matrix of a capture tells of links, each transfer once."""
    matrix = _frame(capture, "communication_matrix", findings)
    if matrix is None:
        return []
    findings += _mismatches(matrix, "communication_matrix", str(capture.root))
    transfers, repeated = transfers_of_matrix(_with_rank(matrix, capture.info.rank_id))
    examples = sum(transfer.is_example for transfer in transfers)
    if examples:
        message = say(
            (
                "the matrix contains only some operators ({examples} of {rows} rows are the best, middle or worst of "
                "their type, without a total): volumes and times of links are taken from these rows"
            ),
            rows=repeated + len(transfers),
            examples=examples,
        )
        findings.append(COMMUNICATION_EXAMPLES.found(str(capture.root), message))
    return transfers


class _Collectors(Collectors):
    """Of a timeline its communication, and its tasks and their steps, or what was launched, if that is asked for."""

    def __init__(self, *, tasks: frozenset[str] | None, of_steps: bool, launches: bool) -> None:
        """`tasks` are the columns of tasks that are wanted, if any are."""
        self.communication = CommunicationTasks()
        self.tasks = None if tasks is None else TimelineTasks(Activity() if of_steps else None, tasks)
        self.activity = Activity() if launches else None


def _read_timelines(
    capture: Capture,
    own: Sequence[OperatorTime],
    findings: list[Finding],
    collected: PrefetchedTasks | None,
    launched: Launched | None,
    *,
    of_steps: bool,
) -> dict[int | None, list[TaskFigures]]:
    """What each export tells, by device, of the first kind of timeline that shows communication."""
    found: dict[int | None, list[TaskFigures]] = {}
    exports = exports_of(capture, _TIMELINES)
    alone = len(exports) == 1  # of several, all of what was launched would be held at once
    for files in exports:
        name = files[0].name
        is_whole = name.kind in WHOLE_TIMELINES
        stands_in = is_whole and collected is not None and len(files) == 1 and timeline_tells_tasks(capture)
        tasks = collected.wanted if stands_in and collected is not None else None
        launches = is_whole and launched is not None and alone
        columns = {*TASK_COLUMNS, *(EVENT_COLUMNS if launches or (stands_in and of_steps) else ())}
        columns |= set() if tasks is None else event_columns(tasks)
        new = partial(_Collectors, tasks=tasks, of_steps=of_steps, launches=launches)
        told, wrong = collect_events_of(files, columns, new)
        if collected is not None and told.tasks is not None:
            collected.by_path[files[0].path] = (told.tasks, wrong)
        if launched is not None and told.activity is not None:
            launched[tuple(file.path for file in files)] = (told.activity, wrong)
        findings += wrong
        figures = told.communication.figures(capture.info.rank_of(name.device_id), name.iteration, own)
        found.setdefault(name.device_id, []).append(figures)
    return found


def _standing_in(capture: Capture, figures: Sequence[TaskFigures], *, operators: bool, links: bool) -> list[Finding]:
    """What is to be said of timelines: that they stand in for tables, and what in them is damaged."""
    path, found = str(capture.root), []
    if any(figure.operators for figure in figures) and not operators:
        message = say("no table of communication operators: the timeline contains their duration, but no waiting time")
        found.append(STANDS_IN.found(path, message))
    if any(figure.transfers for figure in figures) and not links:
        message = say("no communication matrix: the timeline contains links, but no times of RDMA")
        found.append(STANDS_IN.found(path, message))
    if unusable := sum(figure.unusable for figure in figures):
        message = say(
            "{count} tasks of communication with damaged arguments; they are not included in the sums of links",
            count=unusable,
        )
        found.append(COMMUNICATION_TASK.found(path, message))
    return found


def _read_tails(
    capture: Capture,
    timelines: Mapping[int | None, list[TaskFigures]],
    models: Sequence[GradientModel],
    findings: list[Finding],
) -> list[Tail]:
    """The all-reduce behind the backward passes of each device that step_trace tells of."""
    tables = read_source(capture.preferred("step_trace"), hashed=False)
    findings += [finding for data in tables for finding in data.findings]
    frame = joined(tables)
    if frame is None:
        return []
    operators = {device: [time for one in several for time in one.operators] for device, several in timelines.items()}
    tails = []
    for one in split_devices(capture.info.rank_of, frame):
        mine = operators.get(one.device_id) or (next(iter(operators.values())) if len(operators) == 1 else [])
        tails += find_gradient_tails(_with_rank(one.frame, one.rank_id), mine, models)
    return tails


def _frame(capture: Capture, kind: str, findings: list[Finding]) -> pa.Table | None:
    """One table of a capture; None where it has none."""
    tables = read_source(capture.preferred(kind), hashed=False)
    findings += [finding for data in tables for finding in data.findings]
    return joined(tables)


def _with_rank(frame: pa.Table, rank: int | None) -> pa.Table:
    return frame.append_column("rank_id", pa.array([rank] * frame.num_rows, pa.int64()))


def _mismatches(frame: pa.Table, kind: str, path: str) -> list[Finding]:
    rows = find_bandwidth_mismatches(frame)
    template = N_(
        "{kind}: {op_name}, {transport}: {transit_bytes} bytes in {transit_ns} ns, but {bandwidth_gb_per_s} GB/s"
    )
    found = [BANDWIDTH_MISMATCH.found(path, say(template, kind=kind, **row)) for row in rows[:EXAMPLES_PER_RULE]]
    if len(rows) > EXAMPLES_PER_RULE:
        message = say("{kind}: and {count} more of this kind", kind=kind, count=len(rows) - EXAMPLES_PER_RULE)
        found.append(BANDWIDTH_MISMATCH.found(path, message))
    for name, what in (
        ("transit_bytes", say("volume (counted as 0)")),
        ("transport", say("transport (counted as unknown)")),
    ):
        if missing := frame[name].null_count:
            message = say("{kind}: {count} rows without {what}", kind=kind, count=missing, what=what)
            found.append(COMMUNICATION_INCOMPLETE.found(path, message))
    return found
