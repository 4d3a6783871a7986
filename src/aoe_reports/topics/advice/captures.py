"""Advice on the devices of captures: which facts it is made of, and where they are read."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from aoe_reports.engine.captures import (
    read_steps_noting,
    read_tasks,
    sources_of,
    timeline_tells_steps,
    timeline_tells_tasks,
)
from aoe_reports.engine.question import Notes
from aoe_reports.engine.rules import NOTHING_MEASURED, STANDS_IN
from aoe_reports.facts.bounds import (
    TASK_COLUMNS,
    CoreCounts,
    Counters,
    OperatorBounds,
    StepShares,
    computing_of,
    counter_columns,
    measure_operators,
)
from aoe_reports.facts.breakdown import DeviceBreakdown
from aoe_reports.facts.idle import (
    STEP_COLUMNS,
    any_within,
    count_steps,
    idle_before_tasks,
    place_in_steps,
    shares_of_tasks,
    step_of_tasks,
    steps_with_tasks,
    sum_shares,
)
from aoe_reports.facts.steps import steps_of_device
from aoe_reports.facts.tasks import TaskSet
from aoe_reports.formats.capture import Capture, kinds_of
from aoe_reports.formats.csv.summary import TableData
from aoe_reports.formats.vendor import vendor_of
from aoe_reports.model.arrays.columns import Ints, Mask, distinct, exact_sum, has_value, integers, sums_by
from aoe_reports.model.arrays.memory import give_back
from aoe_reports.model.by_key import lists_by_key
from aoe_reports.model.findings import Finding, has
from aoe_reports.model.texts import say
from aoe_reports.model.topics.breakdown import Gap
from aoe_reports.model.topics.communication import AwaitedRank
from aoe_reports.model.topics.memory import DeviceMemory
from aoe_reports.model.topics.steps import Step
from aoe_reports.stats.grouping import has_communication
from aoe_reports.topics.advice.advice import microseconds
from aoe_reports.topics.advice.registry import RULES, Advice, Facts, Thresholds, find_advice, in_order, within_step
from aoe_reports.topics.advice.timelines import Timelines
from aoe_reports.topics.communication.contention import find_contention
from aoe_reports.topics.communication.packets import classes_of, resent
from aoe_reports.topics.communication.run import Communication
from aoe_reports.topics.device_time.beside import tasks_beside_each_other
from aoe_reports.topics.host.causes import HostFacts
from aoe_reports.topics.host.sequences import fusible_ns
from aoe_reports.topics.memory.reading import memory_of, steps_for_memory
from aoe_reports.topics.memory.samples import StepSpan
from aoe_reports.topics.quality.observed import steps_of_parts
from aoe_reports.topics.quality.trimming import (
    LeftOut,
    left_out_unless_asked,
    steps_left_out,
    usual_only,
    without_steps,
)
from aoe_reports.topics.roofline.facts import TASK_COLUMNS as ROOFLINE_COLUMNS
from aoe_reports.topics.roofline.facts import Roofline, near_roof_of
from aoe_reports.topics.roofline.peaks import PeakOptions, may_be_roofed, roofline_of

DYNAMIC_KINDS = frozenset({"thread_group", "ge_op_execute"})
"""Files that msprof writes of models with dynamic shapes alone."""
COMMUNICATION_KINDS = ("hccl", "communication")
"""What the kinds of files begin with that tell of communication."""
_WHOLE = (
    "model_id",
    "op_name",
    "op_type",
    "task_type",
    "input_shapes",
    "task_start_ns",
    "task_duration_ns",
    *STEP_COLUMNS,
)


class Chosen(Protocol):
    """What is looked at (None for all), and by which thresholds."""

    @property
    def rank(self) -> int | None: ...
    @property
    def device(self) -> int | None: ...
    @property
    def step(self) -> int | None: ...
    @property
    def all_steps(self) -> bool: ...
    @property
    def thresholds(self) -> Thresholds: ...


@dataclass(slots=True)
class DeviceAdvice:
    """What is known of one device: its shares, its operators (None without a table of tasks), the advice."""

    shares: StepShares
    bounds: OperatorBounds | None
    advice: list[Advice]
    near_roof: Mask | None = None
    """Which operators are so near the roof that a plan leaves them out; null where that is not asked, or the roof is not known."""
    left_out: frozenset[int] = frozenset()
    """The steps of the device that are in none of this."""


def advise_capture(capture: Capture, chosen: Chosen, peaks: PeakOptions, findings: list[Finding]) -> list[DeviceAdvice]:
    """Advice on the devices of one capture; ReadError where it cannot be read. Findings are added to the list."""
    steps = _steps(capture, chosen, findings)
    timelines = Timelines(capture, findings, of_host=True, step=chosen.step)
    wanted = TASK_COLUMNS | ROOFLINE_COLUMNS if may_be_roofed(capture, peaks) else TASK_COLUMNS
    if timeline_tells_tasks(capture):
        wanted |= {"stream_id"}  # by which it is seen that times of tasks contradict each other
    sets, tables = read_tasks(capture, wanted, by_type=False, host_by_file=timelines.host_by_file)
    findings += [finding for data in tables for finding in data.findings]
    if sets and tables[-1].table.facts != "tasks":
        findings.append(_stands_in(tables[-1]))
    table = tables[-1].path.name if tables else None
    del tables
    told = [tasks.as_exported() for tasks in sets]
    del sets
    memory: Sequence[DeviceMemory] = ()
    if chosen.step is None:
        memory = memory_of(
            capture, Notes(findings), lambda: steps_for_memory(capture, Notes(), _steps_of_host(timelines))
        )
    beside = Beside(timelines, table, peaks, memory)
    return [device for _, device in advise_tasks(capture, told, steps, chosen, findings, beside)]


def advise_recordings(capture: Capture, chosen: Chosen, findings: list[Finding]) -> list[DeviceAdvice]:
    """Advice on the memory of devices by recordings of nothing else; devices without advice are left out."""
    advised = []
    for memory in memory_of(capture, Notes(findings), lambda: steps_for_memory(capture, Notes(findings))):
        if chosen.rank in {None, memory.rank_id} and chosen.device in {None, memory.device_id}:
            shares = StepShares(memory.rank_id, memory.device_id, 1, None, 0, steps_known=False, source="memory")
            advised.append(DeviceAdvice(shares, None, find_advice(Facts(shares, memory=memory), chosen.thresholds)))
    return [device for device in advised if device.advice]


def _steps_of_host(timelines: Timelines) -> list[StepSpan]:
    """The steps of the host, as far as timelines have them."""
    return [
        StepSpan(number, *span)
        for _, activity in timelines.activities()
        for number, span in activity.steps_on_host.items()
    ]


@dataclass(frozen=True, slots=True)
class Beside:
    """What advice on tasks is made of beside them: timelines, of what else than shares they tell; the name of the table; what the chip can do."""

    timelines: Timelines
    table: str | None
    peaks: PeakOptions
    memory: Sequence[DeviceMemory] = ()
    """Of each device of the capture, where it is recorded."""

    def memory_of(self, shares: StepShares) -> DeviceMemory | None:
        """That of one device; of the only one, if a device is not known by its number."""
        mine = [
            one
            for one in self.memory
            if one.rank_id == shares.rank_id
            and (None in {one.device_id, shares.device_id} or one.device_id == shares.device_id)
        ]
        return mine[0] if len(mine) == 1 else None


def advise_tasks(
    capture: Capture,
    sets: list[TaskSet],
    steps: Sequence[Step],
    chosen: Chosen,
    findings: list[Finding],
    beside: Beside | None = None,
    *,
    plans: bool = False,
) -> Iterator[tuple[TaskSet | None, DeviceAdvice]]:
    """Each device of a capture with the advice on it, from its tasks (taken out of the list, and given back without counters: they are large) and its steps.

    Without a table of tasks the advice is on whole steps. What the host did, and how near the roof operators come, is advised on only
    where `beside` is given; a plan (`plans`) is told which operators are near the roof.
    """
    timelines = Timelines(capture, findings) if beside is None else beside.timelines
    told = bool(sets)
    wanted = chosen.all_steps or chosen.step is not None
    left_out = {} if wanted else leave_out(capture, sets, steps, chosen.rank, findings, timelines)
    steps = usual_only(steps, left_out)
    while sets:
        tasks = _chosen(sets.pop(0), chosen)
        if tasks is None:
            continue
        columns = counter_columns(tasks.frame, TASK_COLUMNS | ROOFLINE_COLUMNS)
        tasks = replace(tasks, frame=tasks.frame.drop_columns(list(columns)))
        counters = Counters(
            columns, computing_of(tasks.frame)
        )  # first of all: they are most of a table, and lose half of it here
        give_back()
        shares, gaps = measure_shares(capture, tasks, steps, timelines)
        roof = (
            None if beside is None else _roofline_of(capture, tasks, counters, shares, beside.peaks, chosen.thresholds)
        )
        cores = CoreCounts.of_hardware(capture.info.hardware)
        bounds = measure_operators(
            tasks.frame,
            cores,
            counters=counters,
            dynamic_model=any(file.name.kind in DYNAMIC_KINDS for file in capture.files),
            bound_ratio=chosen.thresholds.bound_ratio,
            peak_gb_per_s=chosen.thresholds.memory_gb_per_s,
        )
        near = None
        if plans and bounds is not None:
            near = near_roof_of(tasks.frame, bounds, cores, capture.info.device_type, counters)
        del counters
        give_back()
        if bounds is not None:
            shares = replace(shares, tasks_ns=exact_sum(bounds.total_ns))
        if beside is not None:
            findings += tasks_beside_each_other(str(capture.root), tasks.rank_id, tasks.frame)
        facts = _facts_of(capture, tasks, bounds, shares, gaps)
        if beside is not None:
            facts = replace(_with_more(facts, beside, chosen), roof=roof, table=beside.table)
        gone = steps_left_out((tasks.rank_id, tasks.device_id), left_out)
        yield tasks, DeviceAdvice(shares, bounds, find_advice(facts, chosen.thresholds), near, gone)
    if not told:  # else its tasks are not what was asked for
        for device in _without_tasks(capture, steps, chosen, timelines, beside):
            gone = steps_left_out((device.shares.rank_id, device.shares.device_id), left_out)
            yield None, replace(device, left_out=gone)


def leave_out(
    capture: Capture,
    sets: list[TaskSet],
    steps: Sequence[Step],
    rank: int | None,
    findings: list[Finding],
    timelines: Timelines,
    *,
    could_stay: bool = True,
) -> LeftOut:
    """The steps of warm-up and tear-down, without which the tasks and the timelines are then; `could_stay` says that there is an option for that."""
    rank_of = capture.info.rank_of
    if not steps and timeline_tells_steps(capture):
        devices = [(rank_of(device.device_id), device) for device in timelines.devices()]
        steps = [step for whose, one in devices for step in steps_of_parts((whose, one.device_id), one.steps)]
    steps = [step for step in steps if rank in {None, step.rank_id}]
    if not sets and not any(step.has_parts for step in steps):
        return {}  # there is nothing to leave them out of
    left_out = left_out_unless_asked(str(capture.root), steps, sets, Notes(findings), could_stay=could_stay)
    if left_out:
        sets[:] = without_steps(sets, left_out, str(capture.root), Notes(findings))
        alone = len(left_out) == 1
        for place in left_out:
            gone = steps_left_out(place, left_out)
            timelines.left_out = {**timelines.left_out, place[1]: gone, **({None: gone} if alone else {})}
    return left_out


def _roofline_of(
    capture: Capture, tasks: TaskSet, counters: Counters, shares: StepShares, peaks: PeakOptions, thresholds: Thresholds
) -> Roofline | None:
    """How near the operators of one device that take enough time for advice come to the roof; None where that is not known."""
    if not may_be_roofed(capture, peaks):
        return None
    least = min(thresholds.least_operator_share, thresholds.repeated_share) * shares.computing_ns
    roof = roofline_of(capture, tasks.frame, peaks, least_ns=least, counters=counters)
    return roof if roof is not None and roof.peaks.bytes_per_s is not None else None


def _with_more(facts: Facts, beside: Beside, chosen: Chosen) -> Facts:
    """The same with what is read, or compared, only where the shares of a device demand it."""
    shares, least = facts.shares, chosen.thresholds.least_step_share
    free, overlapped = shares.share(shares.free_ns), shares.share(shares.overlapped_ns)
    host: Sequence[HostFacts] = ()
    if (free is not None and free >= least) or beside.timelines.are_read or _may_be_fused(facts, least):
        host = [*beside.timelines.host_facts(shares.device_id, least)]
    talks = overlapped is not None and overlapped >= least and facts.tasks is not None
    contention = find_contention(facts.tasks, 1) if talks and facts.tasks is not None else None
    return replace(facts, host=host, contention=contention, memory=beside.memory_of(shares))


def _may_be_fused(facts: Facts, least_share: float) -> bool:
    """Whether the operators of a sequence that a fused one replaces take enough time together for it to matter."""
    if facts.bounds is None or not facts.shares.step_ns:
        return False
    numbers, words = facts.bounds.key_codes("op_type")
    times = sums_by(numbers, facts.bounds.total_ns, len(words) + 1)
    most = fusible_ns(dict(zip(words, times[1:].tolist(), strict=True)))
    return most >= least_share * facts.shares.step_ns


def _steps(capture: Capture, chosen: Chosen, findings: list[Finding]) -> list[Step]:
    """The steps of tables: of a timeline `measure_shares` takes more than steps."""
    return [
        step
        for step in (() if timeline_tells_steps(capture) else read_steps_noting(capture, findings))
        if chosen.step in {None, step.step}
        and chosen.rank in {None, step.rank_id}
        and (step.device_id is None or chosen.device in {None, step.device_id})
    ]


def _chosen(tasks: TaskSet, chosen: Chosen) -> TaskSet | None:
    """The tasks that were asked for; None where there are none."""
    if chosen.rank not in {None, tasks.rank_id} or chosen.device not in {None, tasks.device_id}:
        return None
    frame = tasks.frame
    if chosen.step is not None:
        told = step_of_tasks(frame)
        frame = frame.slice(0, 0) if told is None else frame.filter(pc.equal(frame[told[0]], chosen.step))
    return replace(tasks, frame=frame) if frame.num_rows else None


def _facts_of(
    capture: Capture, tasks: TaskSet, bounds: OperatorBounds | None, shares: StepShares, gaps: Sequence[Gap]
) -> Facts:
    whole = tasks.frame.select([name for name in _WHOLE if name in tasks.frame.column_names])
    # where tasks tell of no communication and a timeline was asked for it, time between them is not idle
    idle = idle_before_tasks(whole) if shares.source != "timeline" and shares.free_ns is not None else None
    return Facts(shares, bounds, whole, idle, CoreCounts.of_hardware(capture.info.hardware), gaps)


def measure_shares(
    capture: Capture, tasks: TaskSet, steps: Sequence[Step], timelines: Timelines
) -> tuple[StepShares, Sequence[Gap]]:
    """What the steps went on: the framework's table of steps where there is one, else the tasks, else a timeline.

    (And the longest gap, where a timeline was read.)
    """
    mine = steps_of_device(steps, tasks)
    told = step_of_tasks(tasks.frame)
    numbers = distinct(told[1]).tolist() if told else []
    parted = [s for s in mine if s.has_parts and (not numbers or s.step in {None, *numbers})]
    # a timeline that is the source of tasks is also that of communication and gaps
    files = [file for source in vendor_of(capture.profiler).tasks(capture) for file in source.files]
    only_timeline = timeline_tells_steps(capture) and any(file.may_hold_events for file in files)
    if parted and not only_timeline:
        return _shares_of_steps(tasks.rank_id, tasks.device_id, parted), ()
    steps_told = (_steps_beside(tasks.frame, mine) if told is None else None) or count_steps(numbers)
    told_whole = has_communication(tasks.frame) or (bool(sources_of(capture, "tasks")) and not _communicates(capture))
    shares = None
    if told_whole and not only_timeline:
        shares = _by_tasks(tasks, mine, *steps_told)
        if shares.source == "tasks":
            return shares, ()
    devices = timelines.devices()
    theirs = [device for device in devices if device.device_id in {None, tasks.device_id}] or devices[:1]
    if theirs:
        return _by_timelines(_while_tasks_ran(theirs, tasks.frame), tasks, *steps_told)
    shares = shares or _by_tasks(tasks, mine, *steps_told)
    if shares.source == "tasks" and not (has_communication(tasks.frame) or sources_of(capture, "tasks")):
        # names of kernels alone, without operators of communication, leave open what the time between them was
        shares = replace(shares, communication_not_overlapped_ns=None, overlapped_ns=None, free_ns=None)
    return shares, ()


def _by_tasks(tasks: TaskSet, of_table: Sequence[Step], steps: int, steps_known: bool) -> StepShares:
    in_steps = _in_steps(tasks.frame, of_table)
    shares = shares_of_tasks(tasks.frame, tasks.rank_id, tasks.device_id, in_steps)
    return replace(shares, steps=steps, steps_known=steps_known)


def _by_timelines(
    devices: Sequence[DeviceBreakdown], tasks: TaskSet, steps: int, steps_known: bool
) -> tuple[StepShares, Sequence[Gap]]:
    """The shares by timelines, for tasks that do not tell all; there are as many steps as either of them tells."""
    facts = _facts_of_timelines(devices, tasks.rank_id, tasks.device_id)
    steps = max(steps, facts.shares.steps)
    return replace(facts.shares, steps=steps, steps_known=steps_known or steps > 1), facts.gaps


def _while_tasks_ran(devices: Sequence[DeviceBreakdown], tasks: pa.Table) -> Sequence[DeviceBreakdown]:
    """Timelines cut to the steps (or files) in which tasks of the table began, which may be fewer."""
    if not has_value(tasks, "task_start_ns"):
        return devices
    starts, there = integers(tasks["task_start_ns"])
    starts = np.sort(starts[there])
    found = []
    for device in devices:
        steps = {
            number: parts for number, parts in device.steps.items() if any_within(starts, parts.start_ns, parts.end_ns)
        }
        if steps or (not device.steps and any_within(starts, device.whole.start_ns, device.whole.end_ns)):
            found.append(replace(device, steps=steps))
    return found or devices  # the clocks differ: nothing can be cut


def _steps_beside(frame: pa.Table, steps: Sequence[Step]) -> tuple[int, bool] | None:
    """(in how many iterations of a table the tasks began, at least 1; whether in any); None without a table, or times of tasks."""
    if not steps or not has_value(frame, "task_start_ns"):
        return None
    count = len({(s.model_id, s.step) for s in steps_with_tasks(_timed(steps), frame)})
    return max(count, 1), count > 0


def _timed(steps: Sequence[Step]) -> list[Step]:
    return [step for step in steps if step.start_ns is not None]


def _in_steps(frame: pa.Table, steps: Sequence[Step]) -> Ints | None:
    """The steps of tasks by their times, where there are steps without tasks between them: the time of these is of no task."""
    if step_of_tasks(frame) is not None or not has_value(frame, "task_start_ns"):
        return None
    timed = _timed(steps)
    covered = steps_with_tasks(timed, frame)
    if not covered:
        return None
    first, last = (min(s.start_ns or 0 for s in covered), max(s.start_ns or 0 for s in covered))
    between = [s for s in timed if first <= (s.start_ns or 0) <= last]
    return place_in_steps(frame, covered) if len(covered) < len(between) else None


def _communicates(capture: Capture) -> bool:
    """Whether files tell of communication, so that tasks without any do not tell all."""
    return any(file.name.kind.startswith(COMMUNICATION_KINDS) for file in capture.files)


def _shares_of_steps(rank_id: int | None, device_id: int | None, steps: Sequence[Step]) -> StepShares:
    """The sums over rows of step_trace_time."""
    whole = sum(step.duration_ns for step in steps)
    return sum_shares(steps, (rank_id, device_id), len(steps), whole, "step_trace_time")


def _shares_of_device(device: DeviceBreakdown, rank_id: int | None, device_id: int | None) -> StepShares:
    parts = list(device.steps.values()) or [device.whole]
    whole = sum(part.end_to_end_ns for part in parts)
    talk_known = all(part.free_ns is not None for part in parts)
    return sum_shares(parts, (rank_id, device_id), len(parts), whole, "timeline", talk_known=talk_known)


def _without_tasks(
    capture: Capture, steps: Sequence[Step], chosen: Chosen, timelines: Timelines, beside: Beside | None
) -> list[DeviceAdvice]:
    """Advice on whole steps alone: of a capture whose tables tell no tasks."""
    findings = timelines.findings
    parted = lists_by_key(((step.rank_id, step.device_id), step) for step in steps if step.has_parts)
    facts = [Facts(_shares_of_steps(*whose, mine)) for whose, mine in parted.items()]
    if not facts and chosen.step is None:
        facts = _facts_by_timelines(capture, chosen, timelines)
    if facts:
        message = say("no table of tasks here: advice covers whole steps only, not operators")
        findings.append(STANDS_IN.found(str(capture.root), message))
    elif not has(findings, "error"):
        kinds = kinds_of(capture.files)
        message = say("no usable tasks, steps or timeline here; found {kinds}", kinds=kinds)
        findings.append(NOTHING_MEASURED.found(str(capture.root), message))
    if beside is not None:
        facts = [_with_more(fact, beside, chosen) for fact in facts]
    return [DeviceAdvice(fact.shares, None, find_advice(fact, chosen.thresholds)) for fact in facts]


def _facts_by_timelines(capture: Capture, chosen: Chosen, timelines: Timelines) -> list[Facts]:
    """Each device by its timelines."""
    by_device = lists_by_key((device.device_id, device) for device in timelines.devices())
    return [
        _facts_of_timelines(parts, rank, number)
        for number, parts in by_device.items()
        if chosen.rank in {None, rank := capture.info.rank_of(number)} and chosen.device in {None, number}
    ]


def _facts_of_timelines(parts: Sequence[DeviceBreakdown], rank_id: int | None, device_id: int | None) -> Facts:
    """One device by one timeline, or by one an iteration."""
    every = [_shares_of_device(part, rank_id, device_id) for part in parts]
    told = all(one.free_ns is not None for one in every)
    chosen = every if told else every[:1]
    whole, steps = sum(one.step_ns or 0 for one in chosen), sum(one.steps for one in chosen)
    shares = sum_shares(chosen, (rank_id, device_id), steps, whole, "timeline", talk_known=told)
    gaps = sorted((gap for part in parts for gap in part.gaps), key=lambda gap: (-gap.free_ns, gap.start_ns))
    return Facts(shares, gaps=gaps[:1])


def communication_of(
    capture: Capture,
    devices: Sequence[DeviceAdvice] | None,
    chosen: Chosen,
    findings: list[Finding],
    left_out: Collection[int] = (),
) -> Communication:
    """What links of a capture did: a timeline may have to be read for that.

    Of the only rank of a run (of which `devices` tell) it is read where it may matter there; of one of several always, as the rank that
    the others wait for waits least.
    """
    talk = Communication()
    if devices is not None and not communication_matters(devices, chosen):
        return talk
    said: list[Finding] = []
    if _communicates(capture) or any(file.name.kind == "step_trace" for file in capture.files):
        from aoe_reports.topics.communication.reading import read_communication

        read_communication(capture, talk, (), chosen.step, said)
        talk.leave_out(left_out)
    findings += [finding for finding in said if finding not in findings]
    return talk


def communication_matters(devices: Sequence[DeviceAdvice], chosen: Chosen) -> bool:
    """Whether communication that is not overlapped may have a notable share in the steps of any of some devices."""
    told = [device.shares.share(device.shares.communication_not_overlapped_ns) for device in devices]
    return any(share is None or share >= chosen.thresholds.least_step_share for share in told)


def with_run(
    device: DeviceAdvice,
    devices: Sequence[DeviceAdvice],
    talk: Communication,
    awaited: Sequence[AwaitedRank],
    thresholds: Thresholds,
) -> list[Advice]:
    """The advice on one device, and what only all ranks together show, `awaited` ranks included; of links, on the slowest device alone."""
    shares = device.shares
    tails = [t for t in talk.tails if (t.rank_id, t.device_id) == (shares.rank_id, shares.device_id)]
    facts = Facts(
        shares,
        ranks=[other.shares for other in devices],
        tails=tails,
        packets=classes_of(packet for packet in talk.packets if packet.rank_id == shares.rank_id),
        transit_ns=sum(operator.transit_ns or 0 for operator in talk.operators if operator.rank_id == shares.rank_id),
        resent=[pair for pair in resent(talk.operators, talk.rdma) if pair[1].rank_id == shares.rank_id],
    )
    if shares is max((other.shares for other in devices), key=lambda one: one.step_us or 0.0):
        facts = replace(facts, links=talk.links, awaited=awaited)
    advice = [_waiting_for_absent(one, shares.rank_id, awaited) for one in device.advice]
    more = [within_step(one, shares) for rule in _OF_RUNS for one in RULES[rule].find(facts, thresholds)]
    return in_order([*advice, *more])


def _waiting_for_absent(advice: Advice, rank_id: int | None, awaited: Sequence[AwaitedRank]) -> Advice:
    """Advice on communication with that most of it is waiting for a rank that nobody captured."""
    waits = [(dict(late.waited_by).get(rank_id, 0), late) for late in awaited if late.is_absent]
    if advice.rule != "communication-not-overlapped" or not waits or advice.saving_ns is None:
        return advice
    waited_ns, absent = max(waits, key=lambda wait: wait[0])
    if waited_ns * 2 < advice.saving_ns:
        return advice
    evidence = {
        **advice.evidence,
        "absent_rank": absent.rank,
        "number_in_group": absent.number,
        "group": absent.group,
        "waited_us": microseconds(min(waited_ns, advice.saving_ns)),
        "communication_us": microseconds(advice.saving_ns),
    }
    text = say(
        "Most of it is waiting for a rank that was not captured: capture that rank, too, and see what it does meanwhile; overlapping "
        "communication does not help while one rank comes late"
    )
    return replace(advice, evidence=evidence, advice=text)


_OF_RUNS = ("slow-rank", "slow-link", "awaited-rank", "gradient-tail", "small-packets", "rdma-retransmission")
"""Rules on what no device tells alone."""


def time_of(names: Sequence[str], devices: Sequence[DeviceAdvice]) -> tuple[int | None, int | None]:
    """(calls, device time in ns) of some operators; None where none of them is known here."""
    count, total = 0, 0
    for device in devices:
        if device.bounds is not None and names:
            numbers, words = device.bounds.key_codes("op_name")
            wanted = [n for n, word in enumerate(words, start=1) if word in set(names)]
            mine = np.isin(numbers, wanted)
            count += int(device.bounds.count[mine].sum())
            total += exact_sum(device.bounds.total_ns[mine])
    return (count, total) if count else (None, None)


def _stands_in(data: TableData) -> Finding:
    message = say(
        "no table of tasks with their operators here; {table} is used instead ({what})",
        table=data.name,
        what=say(
            "it has no types and no counters" if data.told_by else "it has no types, no counters and no communication"
        ),
    )
    return STANDS_IN.found(str(data.path), message)
