"""Communication of the runs below some paths: by group, link and rank; slow links, slow ranks, the tail of gradients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from aoe_reports.analysis.communication import (
    Awaited,
    Link,
    OperatorTime,
    PeerWait,
    Transfer,
    bandwidth,
    find_awaited_ranks,
    find_bandwidth_mismatches,
    grouped,
    links_of,
    number_of_step,
    operator_times,
    ranks_of_groups,
    share_of_waiting,
    summed,
    transfers_of_matrix,
    type_of_operator,
)
from aoe_reports.analysis.communication_tasks import TASK_COLUMNS, CommunicationTasks, TaskFigures
from aoe_reports.analysis.gradient_tail import Segment, Tail, default_segments, find_gradient_tails
from aoe_reports.analysis.tasks import split_devices
from aoe_reports.checks.bank import check_bank_file
from aoe_reports.errors import ReadError
from aoe_reports.findings import EXAMPLES_PER_RULE, Finding, has
from aoe_reports.findings import in_order as findings_in_order
from aoe_reports.gradients import GradientModel
from aoe_reports.readers.bank import read_bank
from aoe_reports.readers.discovery import discover
from aoe_reports.readers.identify import FoundFile
from aoe_reports.readers.profile import Capture
from aoe_reports.tables.timelines import WHOLE_TIMELINES
from aoe_reports.texts import join, say
from aoe_reports.workflows.captures import (
    bank_files,
    databases_with,
    find_runs,
    joined,
    label_of,
    nothing_measured,
    read_telling,
    stream_events_of,
)

_TIMELINES = ("hccl", *WHOLE_TIMELINES)
"""Timelines that show communication, the smallest first."""
Rows = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class CommunicationSelection:
    """Which ranks and steps are shown (None for all), how many links and operators, and a bank of gradient tuning."""

    rank: int | None = None
    step: int | None = None
    top: int = 20
    bank: Path | None = None
    max_expanded: int | None = None


@dataclass(slots=True)
class Communication:
    """What was found: rows by rank, group and type of operator, and other tables beside them.

    All that ends in `_us` is microseconds, `_bytes` bytes, `_gb_per_s` GB/s (10**9 bytes a second), `_ratio` and `_share` between 0 and 1.
    """

    rows: Rows = field(default_factory=list)
    operators: Rows = field(default_factory=list)
    """Single operators that took longest."""
    transports: Rows = field(default_factory=list)
    links: Rows = field(default_factory=list)
    awaited: Rows = field(default_factory=list)
    """By the rank that others wait for."""
    tails: Rows = field(default_factory=list)
    segments: Rows = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    unreadable: bool = False

    @property
    def tables(self) -> dict[str, Rows]:
        """Everything beside the rows."""
        return {
            "operators": self.operators,
            "transports": self.transports,
            "links": self.links,
            "awaited": self.awaited,
            "tails": self.tails,
            "segments": self.segments,
        }


@dataclass(slots=True)
class RunCommunication:
    """What the captures of one run tell of its communication."""

    operators: list[OperatorTime] = field(default_factory=list)
    transfers: list[Transfer] = field(default_factory=list)
    transports: Rows = field(default_factory=list)
    peer_waits: list[PeerWait] = field(default_factory=list)
    link_waits: dict[tuple[Any, ...], int] = field(default_factory=dict)
    tails: list[Tail] = field(default_factory=list)

    def add_waits(self, figures: Sequence[TaskFigures], only: int | None) -> None:
        """Take in who waited for whom, in one step or in all."""
        for one in figures:
            self.peer_waits += [wait for wait in one.peer_waits if only in {None, wait.step}]
            for (step, *link), waited in one.link_waits.items():
                if only in {None, step}:
                    self.link_waits[tuple(link)] = self.link_waits.get(tuple(link), 0) + waited

    @property
    def links(self) -> list[Link]:
        """All links, the slowest of their likes first."""
        return links_of(self.transfers, self.link_waits)

    @property
    def awaited(self) -> list[Awaited]:
        """The ranks that others wait for."""
        sizes = {group: len(ranks) for group, ranks in ranks_of_groups(self.transfers).items()}
        return find_awaited_ranks(self.operators, self.peer_waits, sizes)


def find_communication(paths: Sequence[Path], selection: CommunicationSelection) -> Communication:
    """The communication of every run below `paths`: ranks of one job are one run, and looked at together."""
    discovery = discover(paths, max_expanded=selection.max_expanded)
    found = Communication(findings=list(discovery.findings), unreadable=discovery.unreadable)
    banks = [file.path for file in bank_files(discovery)]
    if selection.bank is not None and selection.bank.absolute() not in {path.absolute() for path in banks}:
        banks.append(selection.bank)
    models = [model for path in banks for model in _models(path, found)]
    for captures in find_runs(discovery):
        run, label = RunCommunication(), label_of(captures)
        for capture in captures:
            found.findings += capture.findings
            try:
                read_communication(capture, run, models, selection.step, found.findings)
            except (ReadError, OSError) as error:
                found.unreadable = True
                found.findings.append(Finding("error", "unreadable", str(capture.root), str(error)))
        _tell(run, label, selection, found)
    if not (found.rows or found.links or found.tails) and not has(found.findings, "error"):
        found.findings.append(
            nothing_measured(paths, say("no communication here"), rank=selection.rank, step=selection.step)
        )
    found.findings = findings_in_order(found.findings)
    return found


def _models(path: Path, found: Communication) -> list[GradientModel]:
    """The gradients of a bank, and the segments they are reduced in by default."""
    try:
        file = read_bank(path)
    except (ReadError, OSError) as error:
        found.unreadable = True
        found.findings.append(Finding("error", "unreadable", str(path), str(error)))
        return []
    found.findings += check_bank_file(file)
    models = list(file.bank.models)
    segments = [segment for model in models for segment in default_segments(model)]
    found.segments += [_segment_row(str(path), segment) for segment in segments]
    return models


def read_communication(
    capture: Capture,
    run: RunCommunication,
    models: Sequence[GradientModel],
    only: int | None,
    findings: list[Finding],
) -> None:
    """Take in what one capture tells (of one step or of all): its tables, and its timelines for what they do not tell."""
    rank, path = capture.info.rank_id, str(capture.root)
    times = _frame(capture, "communication", findings)
    own = operator_times(_with_rank(times, rank)) if times is not None else []
    volumes = _frame(capture, "communication_bandwidth", findings)
    if volumes is not None:
        findings += _mismatches(volumes, "communication_bandwidth", path)
        run.transports += [{"rank_id": rank, **row} for row in volumes.to_pylist()]
    transfers = _read_matrix(capture, findings)
    timelines = {
        device: [tasks.figures(capture.info.rank_of(device), step, own) for step, tasks in exports]
        for device, exports in _timelines(capture, findings).items()
    }
    figures = [one for several in timelines.values() for one in several]
    told = [operator for one in figures for operator in one.operators]
    sent = [transfer for one in figures for transfer in one.transfers]
    findings += _notes(capture, figures, operators=bool(own), links=bool(transfers))
    run.add_waits(figures, only)
    run.operators += [time for time in own or told if only in {None, time.step}]
    run.transfers += [transfer for transfer in transfers or sent if only in {None, transfer.step}]
    by_device = {device: [time for one in several for time in one.operators] for device, several in timelines.items()}
    tails = _read_tails(capture, by_device, models, findings)
    run.tails += [tail for tail in tails if only in {None, tail.step}]
    if not (own or told or transfers or sent or tails):
        message = say("no communication here: no table of it, no timeline that shows any, no all-reduce in step_trace")
        findings.append(Finding("info", "no-communication", path, message))


def _read_matrix(capture: Capture, findings: list[Finding]) -> list[Transfer]:
    """What the matrix of a capture tells of links, each transfer once."""
    path = str(capture.root)
    matrix = _frame(capture, "communication_matrix", findings)
    if matrix is None:
        return []
    findings += _mismatches(matrix, "communication_matrix", path)
    transfers, repeated = transfers_of_matrix(_with_rank(matrix, capture.info.rank_id))
    examples = sum(transfer.is_example for transfer in transfers)
    if examples:
        message = say(
            "the matrix tells of some operators only (of {rows} rows {examples} are the best, middle or worst of their type, "
            "without a total): volumes and times of links are of these",
            rows=repeated + len(transfers),
            examples=examples,
        )
        findings.append(Finding("info", "communication-examples", path, message))
    return transfers


def _notes(capture: Capture, figures: Sequence[TaskFigures], *, operators: bool, links: bool) -> list[Finding]:
    """What is to be said of timelines: that they stand in for tables, and what in them is damaged."""
    path, found = str(capture.root), []
    if any(one.operators for one in figures) and not operators:
        message = say("no table of communication operators: the timeline tells how long they took, and of no waiting")
        found.append(Finding("info", "stands-in", path, message))
    if any(one.transfers for one in figures) and not links:
        message = say("no communication matrix: the timeline tells of links, and of RDMA no times")
        found.append(Finding("info", "stands-in", path, message))
    if unusable := sum(one.unusable for one in figures):
        message = say(
            "{count} tasks of communication with damaged arguments; they are in no sum of links", count=unusable
        )
        found.append(Finding("warning", "communication-task", path, message))
    return found


def _read_tails(
    capture: Capture,
    operators: Mapping[int | None, list[OperatorTime]],
    models: Sequence[GradientModel],
    findings: list[Finding],
) -> list[Tail]:
    """The all-reduce behind the backward passes of each device that step_trace tells of."""
    tables = read_telling(capture.preferred("step_trace"), hashed=False)
    findings += [finding for data in tables for finding in data.findings]
    frame = joined(tables)
    if frame is None:
        return []
    tails = []
    for one in split_devices(capture.info.rank_of, frame):
        mine = operators.get(one.device_id) or (next(iter(operators.values())) if len(operators) == 1 else [])
        tails += find_gradient_tails(_with_rank(one.frame, one.rank_id), mine, models)
    return tails


def _frame(capture: Capture, kind: str, findings: list[Finding]) -> pa.Table | None:
    """One table of a capture; None where it has none."""
    tables = read_telling(capture.preferred(kind), hashed=False)
    findings += [finding for data in tables for finding in data.findings]
    return joined(tables)


def _with_rank(frame: pa.Table, rank: int | None) -> pa.Table:
    return frame.append_column("rank_id", pa.array([rank] * frame.num_rows, pa.int64()))


def _timelines(
    capture: Capture, findings: list[Finding]
) -> dict[int | None, list[tuple[int | None, CommunicationTasks]]]:
    """(iteration, tasks) of each export, by device, of the first kind of timeline that shows communication."""
    told: dict[int | None, list[tuple[int | None, CommunicationTasks]]] = {}
    for kind in _TIMELINES:
        found: dict[tuple[Any, ...], list[FoundFile]] = {}
        for file in [file for file in capture.timelines if file.name.kind == kind] or databases_with(capture, kind):
            name = file.name
            found.setdefault((name.form, name.device_id, name.model_id, name.iteration), []).append(file)
        for (_, device, _, iteration), files in found.items():
            tasks = CommunicationTasks()
            for file in files:
                with stream_events_of(file, TASK_COLUMNS) as (batches, wrong):
                    findings += wrong
                    for batch in batches:
                        tasks.add(batch)
            told.setdefault(device, []).append((iteration, tasks))
        if found:
            break
    return told


def _mismatches(frame: pa.Table, kind: str, path: str) -> list[Finding]:
    rows = find_bandwidth_mismatches(frame)
    found = [
        Finding(
            "warning",
            "bandwidth-mismatch",
            path,
            say(
                "{kind}: {op_name}, {transport}: {transit_bytes} bytes in {transit_ns} ns, but {bandwidth_gb_per_s} GB/s",
                kind=kind,
                **{
                    name: row[name]
                    for name in ("op_name", "transport", "transit_bytes", "transit_ns", "bandwidth_gb_per_s")
                },
            ),
        )
        for row in rows[:EXAMPLES_PER_RULE]
    ]
    if len(rows) > EXAMPLES_PER_RULE:
        message = say("{kind}: and {count} more of this kind", kind=kind, count=len(rows) - EXAMPLES_PER_RULE)
        found.append(Finding("warning", "bandwidth-mismatch", path, message))
    for name, what in (
        ("transit_bytes", say("volume (counted as 0)")),
        ("transport", say("transport (counted as unknown)")),
    ):
        if missing := frame[name].null_count:
            message = say("{kind}: {count} rows without {what}", kind=kind, count=missing, what=what)
            found.append(Finding("warning", "communication-incomplete", path, message))
    return found


def _tell(run: RunCommunication, label: str, selection: CommunicationSelection, found: Communication) -> None:
    """Rows and findings of one run."""
    shown = [time for time in run.operators if selection.rank in {None, time.rank_id}]
    for (rank, group, kind, op_type), times in grouped(
        shown, lambda time: (time.rank_id, time.group, time.type, time.op_type)
    ).items():
        whose = {"run": label, "rank_id": rank, "group": group, "type": kind, "op_type": op_type}
        found.rows.append({**whose, "operators": len(times), **_sums(times)})
    longest = sorted(shown, key=lambda time: -time.elapsed_ns)[: selection.top]
    found.operators += [
        {
            "position": place,
            "run": label,
            "rank_id": time.rank_id,
            "step": time.step,
            "group": time.group,
            "op_name": time.op_name,
            "start_ns": time.start_ns,
            **_sums([time]),
        }
        for place, time in enumerate(longest, start=1)
    ]
    found.transports += _transport_rows(run.transports, label, selection)
    links = run.links
    told = {transfer.link for transfer in run.transfers if selection.rank in {None, transfer.rank_id}}
    mine = [link for link in links if (link.group, link.source_rank, link.destination_rank, link.transport) in told]
    found.links += [_link_row(label, link) for link in mine[: selection.top]]
    awaited = run.awaited
    found.awaited += [_awaited_row(label, one) for one in awaited]
    found.tails += [_tail_row(label, tail) for tail in run.tails if selection.rank in {None, tail.rank_id}]
    found.findings += [*_slow_links(links, label), *_slow_ranks(awaited, label), *_tail_findings(run.tails, label)]


def _sums(times: Sequence[OperatorTime]) -> dict[str, Any]:
    """Times of operators added up, in us; null where one of them is not told."""
    transit, wait, synchronization, idle = (
        summed(getattr(time, name) for time in times)
        for name in ("transit_ns", "wait_ns", "synchronization_ns", "idle_ns")
    )
    return {
        "elapsed_us": sum(time.elapsed_ns for time in times) / 1000,
        "transit_us": _us(transit),
        "wait_us": _us(wait),
        "synchronization_us": _us(synchronization),
        "idle_us": _us(idle),
        "wait_ratio": share_of_waiting(wait, transit),
        "synchronization_ratio": share_of_waiting(synchronization, transit),
    }


def _transport_rows(rows: Rows, label: str, selection: CommunicationSelection) -> Rows:
    """Volume, time and bandwidth by transport; SDMA is what HCCS, PCIE and SIO carried, once more."""
    chosen = [
        row
        for row in rows
        if selection.rank in {None, row["rank_id"]} and selection.step in {None, number_of_step(row["step"])}
    ]
    told = []
    for (rank, group, op_type, transport), mine in grouped(
        chosen,
        lambda row: (
            row["rank_id"],
            row["group"],
            type_of_operator(row["op_name"] or ""),
            row["transport"] or "unknown",
        ),
    ).items():
        size = sum(row["transit_bytes"] or 0 for row in mine)
        time = sum(row["transit_ns"] for row in mine)
        if size or time:
            told.append(
                {
                    "run": label,
                    "rank_id": rank,
                    "group": group,
                    "op_type": op_type,
                    "transport": transport,
                    "transit_bytes": size,
                    "transit_us": time / 1000,
                    "bandwidth_gb_per_s": bandwidth(size, time),
                }
            )
    return told


def _link_row(label: str, link: Link) -> dict[str, Any]:
    return {
        "run": label,
        "group": link.group,
        "source_rank": link.source_rank,
        "destination_rank": link.destination_rank,
        "transport": link.transport,
        "transit_bytes": link.transit_bytes,
        "transit_us": _us(link.transit_ns),
        "bandwidth_gb_per_s": link.bandwidth_gb_per_s,
        "wait_us": _us(link.wait_ns),
        "relative_bandwidth_ratio": link.relative_bandwidth,
        "compared": link.compared,
        "slow_in": link.slow_in,
        "lost_us": link.lost_ns / 1000 if link.compared else None,
        "slow": link.is_slow,
    }


def _awaited_row(label: str, awaited: Awaited) -> dict[str, Any]:
    return {
        "run": label,
        "group": awaited.group,
        "rank": awaited.rank,
        "operators": awaited.operators,
        "of_operators": awaited.of_operators,
        "waited_us": awaited.waited_ns / 1000,
        "waited_share": awaited.waited_ns / awaited.of_ns if awaited.of_ns else None,
        "slow": awaited.is_slow,
    }


def _tail_row(label: str, tail: Tail) -> dict[str, Any]:
    return {
        "run": label,
        "rank_id": tail.rank_id,
        "device_id": tail.device_id,
        "model_id": tail.model_id,
        "step": tail.step,
        "source": tail.source,
        "iteration_us": tail.iteration_ns / 1000,
        "reduces": tail.reduces,
        "late_reduces": tail.late_reduces,
        "unmeasured_reduces": tail.unmeasured_reduces,
        "reduce_us": tail.reduce_ns / 1000,
        "hidden_us": tail.hidden_ns / 1000,
        "tail_us": tail.tail_ns / 1000,
        "tail_share": tail.tail_ns / tail.iteration_ns if tail.iteration_ns else None,
        "last_end_us": tail.last_end_ns / 1000,
        "room_us": _us(tail.room_ns),
        "necessary_us": tail.necessary_ns / 1000,
        "bound_us": tail.bound_ns / 1000,
    }


def _segment_row(path: str, segment: Segment) -> dict[str, Any]:
    return {
        "path": path,
        "modelhash": segment.modelhash,
        "segment": segment.segment,
        "first": segment.first,
        "last": segment.last,
        "gradients": segment.gradients,
        "size_bytes": segment.size_bytes,
        "size_share": segment.size_share,
        "time_share": segment.time_share,
    }


def _slow_links(links: Sequence[Link], label: str) -> list[Finding]:
    slow = [link for link in links if link.is_slow]
    found = [Finding("info", "slow-link", label, _slow_link(link)) for link in slow[:EXAMPLES_PER_RULE]]
    if len(slow) > EXAMPLES_PER_RULE:
        message = say("and {count} more of this kind", count=len(slow) - EXAMPLES_PER_RULE)
        found.append(Finding("info", "slow-link", label, message))
    return found


def _slow_link(link: Link) -> str:
    return say(
        "link {link} over {transport}: {share:.1%} of the bandwidth of links that did the same, out of line in {slow} of "
        "{compared} comparisons; it took {lost:.3f} us longer than they would have",
        link=_of_group(f"{link.source_rank}-{link.destination_rank}", link.group),
        transport=link.transport,
        share=link.relative_bandwidth or 0.0,
        slow=link.slow_in,
        compared=link.compared,
        lost=link.lost_ns / 1000,
    )


def _slow_ranks(awaited: Sequence[Awaited], label: str) -> list[Finding]:
    found = []
    for one in awaited:
        times = say(
            "in {operators} of {of_operators} operators in which ranks wait, {waited:.3f} us together",
            operators=one.operators,
            of_operators=one.of_operators,
            waited=one.waited_ns / 1000,
        )
        if one.is_slow:
            message = say(
                "always the same: the others wait for rank {rank} {times}"
                if one.is_always_the_same
                else "the others wait for rank {rank} {times}",
                rank=_of_group(str(one.rank), one.group),
                times=times,
            )
        elif one.rank is None and one.operators * 2 > one.of_operators:
            message = say(
                "{ranks} wait for one that was not read, or for no certain one, {times}",
                ranks=_of_group(say("all ranks that were read"), one.group),
                times=times,
            )
        else:
            continue
        found.append(Finding("info", "slow-rank", label, message))
    return found[:EXAMPLES_PER_RULE]


def _tail_findings(tails: Sequence[Tail], label: str) -> list[Finding]:
    """What gradient tuning could save, by rank; nothing where no all-reduce ends behind the backward pass."""
    found = []
    for (rank, device, model), mine in grouped(
        tails, lambda tail: (tail.rank_id, tail.device_id, tail.model_id)
    ).items():
        tail, bound = sum(one.tail_ns for one in mine), sum(one.bound_ns for one in mine)
        if unmeasured := sum(one.unmeasured_reduces for one in mine):
            message = say(
                "{count} all-reduces of step_trace have no length: the tail behind the backward pass may be longer",
                count=unmeasured,
            )
            found.append(Finding("info", "gradient-tail", label, message))
        if not tail:
            continue
        whole, reduce = sum(one.iteration_ns for one in mine), sum(one.reduce_ns for one in mine)
        times = {
            "count": len(mine),
            "tail": tail / len(mine) / 1000,
            "part": tail / reduce,
            "bound": bound / len(mine) / 1000,
        }
        if whole:
            message = say(
                "on average of {count} iterations {tail:.3f} us of all-reduce ({share:.1%} of the iteration) run behind the "
                "backward pass, {part:.1%} of all; tuning of gradients can save at most {bound:.3f} us",
                share=tail / whole,
                **times,
            )
        else:
            message = say(
                "on average of {count} iterations {tail:.3f} us of all-reduce run behind the backward pass, {part:.1%} of all; "
                "tuning of gradients can save at most {bound:.3f} us",
                **times,
            )
        whose = [("rank {value}", rank), ("device {value}", device), ("model {value}", model)]
        words = [say(template, value=value) for template, value in whose if value is not None]
        if words:
            message = say("{name}: {why}", name=join(", ", words), why=message)
        found.append(Finding("info", "gradient-tail", label, message))
    return found[:EXAMPLES_PER_RULE]


def _of_group(what: str, group: str | None) -> str:
    return what if group is None else say("{what} of group {group}", what=what, group=group)


def _us(ns: int | None) -> float | None:
    return None if ns is None else ns / 1000
