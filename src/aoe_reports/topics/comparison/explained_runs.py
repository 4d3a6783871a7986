"""The sides of `explain`: what each device of a run did, from its timeline, else from its tables."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import TypeVar, cast

import numpy as np
import pyarrow as pa

from aoe_reports.engine.absent import absent_parts, absent_ranks
from aoe_reports.engine.captures import (
    collect_events_of,
    nothing_measured,
    only_device_of,
    read_steps_noting,
    read_tasks,
    timeline_tells_steps,
    timeline_tells_tasks,
)
from aoe_reports.engine.fleet.parts import parts_of
from aoe_reports.engine.question import Notes
from aoe_reports.engine.rules import STANDS_IN
from aoe_reports.facts.breakdown import EVENT_COLUMNS, Activity
from aoe_reports.facts.idle import step_of_tasks
from aoe_reports.facts.tasks import TaskSet
from aoe_reports.formats.capture import Capture
from aoe_reports.formats.csv.summary import TableData
from aoe_reports.formats.sources.found import FoundFile
from aoe_reports.formats.spilled import Numbers
from aoe_reports.formats.vendor import vendor_of
from aoe_reports.model.arrays.columns import codes, distinct, exact_sums_by, has_value, integers, keep_where, valid
from aoe_reports.model.by_key import lists_by_key
from aoe_reports.model.findings import Finding
from aoe_reports.model.texts import say
from aoe_reports.model.topics.breakdown import Parts
from aoe_reports.model.topics.steps import Step
from aoe_reports.stats.comparison import INPUTS
from aoe_reports.stats.grouping import group_codes, is_communication
from aoe_reports.topics.communication.collectors import Collectors
from aoe_reports.topics.communication.facts import OperatorTime, PeerWait, find_awaited_ranks, type_of_operator
from aoe_reports.topics.communication.reading import read_bandwidths, read_operators
from aoe_reports.topics.communication.tasks import TASK_COLUMNS, CommunicationTasks
from aoe_reports.topics.comparison.compared_runs import ComparedRun, RunUnit, metrics_of, read_memory, with_memory_only
from aoe_reports.topics.comparison.explain import ExplainedBy, ExplainOptions
from aoe_reports.topics.comparison.exposed import (
    NOTHING_RAN,
    Exposed,
    Ran,
    alone,
    exposed_of,
    exposed_of_spans,
    together,
)
from aoe_reports.topics.comparison.waterfall import CallKey, CollectiveTime, LocatedKey, Locations, Side
from aoe_reports.topics.locations.launch_sites import EVENT_COLUMNS as SITE_COLUMNS
from aoe_reports.topics.locations.launch_sites import LaunchSites
from aoe_reports.topics.locations.locations import with_layers
from aoe_reports.topics.locations.reading import add_flows_of, may_tell_frames
from aoe_reports.topics.quality.observed import steps_of_parts
from aoe_reports.topics.quality.trimming import (
    TRIMMED_BY,
    LeftOut,
    note_unusual,
    numbers_left_out,
    steps_differ,
    unusual_in_timeline,
    unusual_of,
    usual_only,
    without_steps,
)
from aoe_reports.topics.quality.unsteady import note_unsteady
from aoe_reports.topics.rules import COMPARABILITY_UNKNOWN

Place = tuple[int | None, int | None]
"""(rank, device)."""
_FIELDS = frozenset(
    {"op_type", *INPUTS, "op_name", "task_type", "task_start_ns", "task_duration_ns", "device_id", "step"}
)


@dataclass(slots=True)
class ExplainedRun:
    """One run: what each of its devices did."""

    compared: ComparedRun
    sides: dict[Place, Side] = field(default_factory=dict)
    awaited: int | None = None
    """The rank that the others wait for longest, numbered within its group, where tables of communication tell."""


def read_explained(unit: RunUnit, wanted: ExplainOptions, notes: Notes) -> ExplainedRun | None:
    """What the devices of a run did; None where nothing tells. A capture that cannot be read is noted."""
    run = ExplainedRun(ComparedRun(unit.path, unit.captures))
    operators: list[OperatorTime] = []
    peer_waits: list[PeerWait] = []
    if run.compared.of_memory:
        return _read_memory_only(run, wanted.rank, notes)
    for capture in unit.captures:
        with notes.where_unreadable(capture.root):
            own = read_operators(capture, notes.findings)
            operators += own  # of other ranks, too: whom the others wait for
            if capture.info.may_hold(wanted.rank):
                peer_waits += _read_capture(run, capture, own, wanted, notes)
                run.compared.memory += read_memory(capture, wanted.rank, notes)
    awaited = find_awaited_ranks(operators, peer_waits)
    if awaited:
        run.awaited = awaited[0].number if awaited[0].rank is None else awaited[0].rank
    if run.sides:
        if wanted.rank is None:
            if len(unit.captures) > 1:
                notes.add(absent_parts([(capture, parts_of(capture)) for capture in unit.captures]))
            notes.add(absent_ranks(unit.captures, {rank for rank, _ in run.sides}, notes.findings, None))
        return run
    what = say("no step to explain here")
    notes.add([nothing_measured([unit.path], what, unit.captures, rank=wanted.rank)])
    return None


def _read_memory_only(run: ExplainedRun, rank: int | None, notes: Notes) -> ExplainedRun | None:
    """A run without steps to explain, as only its memory is recorded."""
    for capture in run.compared.captures:
        with notes.where_unreadable(capture.root):
            run.compared.memory += read_memory(capture, rank, notes)
    return None if with_memory_only(run.compared, notes) is None else run


def tell_waits(runs: Sequence[ExplainedRun]) -> list[Finding]:
    """Where no run tells how long collectives waited: that by which ranks take longer than the one that takes least. What to say of it.

    Only if all of the runs have several ranks, of as many steps: waiting in one of them alone can be held against nothing.
    """
    different = list({id(run): run for run in runs}.values())
    sides = [list(run.sides.values()) for run in different]
    if any(side.talk or side.steps != mine[0].steps for mine in sides for side in mine):
        return []
    told = [
        waits_among_ranks({place: side.exposed.communication for place, side in run.sides.items()}) for run in different
    ]
    if not all(told):
        return []
    message = say(
        "no waiting times of communication here; the time by which a collective exceeds its shortest time on any rank counts as waiting"
    )
    for run, ranks in zip(different, told, strict=True):
        run.sides.update({place: replace(run.sides[place], talk=talk) for place, talk in ranks.items()})
    return [STANDS_IN.found(run.compared.label, message) for run in different]


def _read_capture(
    run: ExplainedRun, capture: Capture, operators: Sequence[OperatorTime], wanted: ExplainOptions, notes: Notes
) -> list[PeerWait]:
    """Take in the devices of one capture, `operators` by its tables; for whom its timelines say that these waited."""
    notes.add(capture.findings)
    steps, trim = _steps_and_trim(capture, wanted, notes)
    sets, tables = _tasks_of(capture, _FIELDS | TRIMMED_BY if wanted.trim else _FIELDS, notes)
    run.compared.metrics = metrics_of(tables) or run.compared.metrics
    told = _of_timeline(capture, trim, notes, located=bool(sets), operators=operators)
    note_unsteady(str(capture.root), steps or told.steps, notes, rank=wanted.rank)
    sets = without_steps(sets, told.left_out, str(capture.root), notes)
    steps = usual_only(steps, told.left_out)
    run.compared.tasks += map(_in_short, sets)
    run.compared.steps += steps
    located, blocks = with_layers([tasks for tasks in sets if not tasks.grouped], told.sites, capture, notes)
    found = {place: together(several) for place, several in told.devices.items()}
    if not any(exposed.whole.end_to_end_ns for exposed in found.values()):
        found = _of_tables(sets, steps)
    sizes = _bytes_per_call(operators, capture, notes)
    for place, exposed in found.items():
        if wanted.rank not in {None, place[0]}:
            continue
        mine = [tasks for tasks in located if tasks.device_id in {None, place[1]} or place[1] is None]
        count = exposed.steps or _steps_of(place, steps, mine)
        side = Side(
            exposed=exposed,
            steps=max(count, 1),
            steps_known=count > 0,
            calls=None,
            talk=_talk(operators, told.peer_waits),
            bytes_per_call=sizes,
        )
        run.sides[place] = _with_calls(side, mine, wanted.by, notes, str(capture.root), blocks)
    return told.peer_waits


def _tasks_of(capture: Capture, fields: frozenset[str], notes: Notes) -> tuple[list[TaskSet], list[TableData]]:
    """The tasks of tables; of a timeline alone, one pass over which tells what ran, only where it tells their layers, too."""
    only_timeline = timeline_tells_tasks(capture)
    if only_timeline and not any(may_tell_frames(files) for files in vendor_of(capture.profiler).events(capture)):
        return [], []
    sets, tables = read_tasks(capture, fields, by_type=False, all_tasks=True)
    if not only_timeline:  # what is wrong with a timeline is told by who reads it for its events
        notes.add(finding for data in tables for finding in data.findings)
    return sets, tables


@dataclass(frozen=True, slots=True)
class _Trim:
    """What is left out of a capture."""

    left_out: LeftOut | None = field(default_factory=dict)
    """By the table of steps; null where the timelines themselves tell it."""
    numbers: frozenset[int] = frozenset()
    """Of all steps in that table."""
    said: Notes = field(default_factory=Notes)


def _steps_and_trim(capture: Capture, wanted: ExplainOptions, notes: Notes) -> tuple[list[Step], _Trim]:
    """(the steps of tables, what is left out of them)."""
    if timeline_tells_steps(capture):
        return [], _Trim(None) if wanted.trim else _Trim()
    steps = read_steps_noting(capture, notes.findings)
    if not wanted.trim:
        note_unusual(str(capture.root), steps, notes, rank=wanted.rank)
        return steps, _Trim()
    said = Notes()
    left_out = unusual_of(str(capture.root), steps, said)
    return steps, _Trim(left_out, frozenset(step.step for step in steps if step.step is not None), said)


def _with_calls(
    side: Side, sets: Sequence[TaskSet], by: ExplainedBy, notes: Notes, path: str, blocks: Mapping[str, str]
) -> Side:
    """With the kernels of a table, else of the timeline; a table that lists far fewer than the timeline shows tells none."""
    ran, frame = side.exposed.kernels, _kernels_of(sets)
    if ran:
        calls: dict[CallKey, tuple[int, int]] = {
            (name, None, None, None): (one.calls, one.total_ns) for name, one in ran.items()
        }
        alone_ns = {name: one.alone_ns for name, one in ran.items()}
        side = replace(side, calls=calls, alone=alone_ns, grouped_by="op_name")
        return side if frame is None else _with_locations(side, frame, blocks)
    if frame is None:
        return side
    shown = side.exposed.whole.tasks if side.exposed.told_by == "timeline" else 0
    if not frame.num_rows or frame.num_rows < shown * _MIN_LISTED:
        message = say(
            "the table of tasks lists {listed:,} kernels, the timeline shows {shown:,}: computing is one part",
            listed=frame.num_rows,
            shown=shown,
        )
        if frame.num_rows:
            notes.add([COMPARABILITY_UNKNOWN.found(path, message)])
        return side
    named = by if has_value(frame, by) else "op_name"
    side = replace(side, calls=_calls(frame, named), alone=_alone(frame, named), grouped_by=named)
    return _with_locations(side, frame, blocks)


def _kernels_of(sets: Sequence[TaskSet]) -> pa.Table | None:
    """The tasks of tables that compute; None where no table lists tasks."""
    whole = [tasks.frame for tasks in sets if not tasks.grouped]
    if not whole:
        return None
    frame = pa.concat_tables(whole, promote_options="permissive")
    return frame.filter(keep_where(~is_communication(frame["task_type"])))


def _with_locations(side: Side, frame: pa.Table, blocks: Mapping[str, str]) -> Side:
    if side.grouped_by is None or not has_value(frame, "location"):
        return side
    return replace(side, locations=_locations(frame, side.grouped_by, blocks))


_MIN_LISTED = 0.95
"""Of the kernels that a timeline shows so many have to be in the table, or that is cut off."""


def _in_short(tasks: TaskSet) -> TaskSet:
    """One of its rows, with shapes if any has them: all that telling the conditions of a run takes."""
    frame = tasks.frame
    if has_value(frame, "input_shapes"):
        frame = frame.filter(keep_where(valid(frame["input_shapes"])))
    return replace(tasks, frame=frame.slice(0, 1))


class _Collectors(Collectors):
    """Of a timeline what the devices did, and what is wanted of where tasks were launched and of tasks of communication."""

    def __init__(self, *, located: bool, talking: bool) -> None:
        self.activity = Activity()
        self.sites = LaunchSites() if located else None
        self.talk = CommunicationTasks() if talking else None


@dataclass(slots=True)
class _TimelineFacts:
    """What the timelines of a capture tell."""

    devices: dict[Place, list[Exposed]] = field(default_factory=lambda: defaultdict(list))
    sites: LaunchSites = field(default_factory=LaunchSites)
    """Where tasks were launched, if there are frames and that is asked for."""
    left_out: dict[Place, Sequence[Step]] = field(default_factory=dict)
    """The steps that are left out."""
    peer_waits: list[PeerWait] = field(default_factory=list)
    """Whom operators of communication waited for, where tables tell of these."""
    steps: list[Step] = field(default_factory=list)
    """Those of timelines, where no table tells them."""


def _of_timeline(
    capture: Capture, trim: _Trim, notes: Notes, *, located: bool, operators: Sequence[OperatorTime]
) -> _TimelineFacts:
    """What the timelines of a capture tell, without the steps that are left out: of time and of tables, or of neither."""
    tried = Notes()
    told = _told_without(capture, trim, tried, located=located, operators=operators)
    if told is not None:
        notes.take(trim.said)
        notes.take(tried)
        return told
    notes.add([steps_differ(str(capture.root))])
    return _told_without(capture, _Trim(), notes, located=located, operators=operators) or _TimelineFacts()


def _told_without(
    capture: Capture, trim: _Trim, notes: Notes, *, located: bool, operators: Sequence[OperatorTime]
) -> _TimelineFacts | None:
    """The same; null where a timeline does not tell the steps that a table says are left out."""
    told = _TimelineFacts(left_out=dict(trim.left_out or {}))
    kernels, of_steps = timeline_tells_tasks(capture), timeline_tells_steps(capture)
    for files in vendor_of(capture.profiler).events(capture):
        frames = located and may_tell_frames(files)
        columns = {*EVENT_COLUMNS, *(SITE_COLUMNS if frames else ()), *(TASK_COLUMNS if operators else ())}
        both, wrong = collect_events_of(files, columns, partial(_Collectors, located=frames, talking=bool(operators)))
        activity = both.activity
        if both.sites is not None and both.sites.has_frames:
            add_flows_of(files, both.sites)
            told.sites.merge(both.sites)
        if both.talk is not None:
            name = files[0].name
            told.peer_waits += both.talk.figures(
                capture.info.rank_of(name.device_id), name.iteration, operators
            ).peer_waits
        notes.add(wrong)
        if of_steps:
            parts = activity.break_down(0)
            places = [_place_of(part.device_id, files, capture, only=len(parts) == 1) for part in parts]
            told.steps += [
                step for place, one in zip(places, parts, strict=True) for step in steps_of_parts(place, one.steps)
            ]
        gone = _gone(activity, files, capture, trim, notes, told)
        if gone is None:
            return None
        devices = exposed_of(activity, kernels=kernels, left_out=gone)
        for device in devices:
            if files[0].name.iteration not in gone.get(device.device_id, ()):
                place = _place_of(device.device_id, files, capture, only=len(devices) == 1)
                told.devices[place].append(device)
    return told


def _gone(
    activity: Activity, files: Sequence[FoundFile], capture: Capture, trim: _Trim, notes: Notes, told: _TimelineFacts
) -> Mapping[int | None, frozenset[int]] | None:
    """The numbers of the steps that are left out of each device of a timeline; null where it numbers its steps otherwise, or tells none."""
    if trim.left_out is not None and not any(trim.left_out.values()):
        return {}
    devices = activity.break_down(0)
    parts = {_place_of(device.device_id, files, capture, only=len(devices) == 1): device for device in devices}
    if trim.left_out is None:
        left_out = unusual_in_timeline(parts, str(capture.root), notes)
        told.left_out |= left_out
        return numbers_left_out(parts, left_out)
    gone = numbers_left_out(parts, trim.left_out)
    mine = activity.steps_on_host.keys()
    alike = files[0].name.iteration is not None or (bool(mine) and (mine <= trim.numbers or mine >= trim.numbers))
    return gone if alike or not any(gone.values()) else None


def _place_of(number: int | None, files: Sequence[FoundFile], capture: Capture, *, only: bool) -> Place:
    """The rank and the device that a device of a timeline is, of several or the `only` one."""
    if number is None and only:
        number = only_device_of(files[0], capture)
    return capture.info.rank_of(number), number


def _of_tables(sets: Sequence[TaskSet], steps: Sequence[Step]) -> dict[Place, Exposed]:
    """The devices in tables of tasks that hold times, else in a table of steps."""
    timed = [tasks for tasks in sets if not tasks.grouped and has_value(tasks.frame, "task_start_ns")]
    if timed:
        return {(tasks.rank_id, tasks.device_id): _of_tasks(tasks.frame) for tasks in timed}
    found: dict[Place, list[Exposed]] = defaultdict(list)
    for step in steps:
        if step.has_parts:
            found[(step.rank_id, step.device_id)].append(_of_step(step))
    return {place: together(several) for place, several in found.items()}


def _of_tasks(frame: pa.Table) -> Exposed:
    communication = is_communication(frame["task_type"])
    starts, there = integers(frame["task_start_ns"])
    durations, _ = integers(frame["task_duration_ns"])
    numbers, words = codes(frame["op_name"])
    tasks: Numbers = {"start": starts, "end": starts + durations}
    mine, others = ~communication & there, communication & there
    talk: Numbers = {
        "start": starts[others],
        "end": (starts + durations)[others],
        "name": numbers[others].astype(np.int64),
    }
    return exposed_of_spans(
        {name: times[mine] for name, times in tasks.items()}, talk, ["", *words], _distinct_steps(frame)
    )


def _of_step(step: Step) -> Exposed:
    """A row of a table of steps: what communicated, and why the device was idle, it does not tell."""
    talk = step.communication_not_overlapped_ns or 0
    computing, free = step.computing_ns or 0, step.free_ns or 0
    whole = Parts(
        start_ns=0,
        end_ns=computing + talk + free,
        tasks=0,
        intervals=0,
        computing_ns=computing,
        communication_ns=step.communication_ns,
        overlapped_ns=step.overlapped_ns,
        communication_not_overlapped_ns=talk,
        free_ns=free,
    )
    return Exposed(
        device_id=step.device_id,
        told_by="steps",
        whole=whole,
        steps=1,
        communication={"": Ran(0, talk, talk)},
        idle_ns={"unknown": free},
    )


def _steps_of(place: Place, steps: Sequence[Step], sets: Sequence[TaskSet]) -> int:
    """How many steps of a device there are, by tables; 0 where none tells."""
    mine = {step.step for step in steps if step.rank_id == place[0] and step.device_id in {None, place[1]}}
    return len(mine) or max((_distinct_steps(tasks.frame) for tasks in sets if not tasks.grouped), default=0)


def _distinct_steps(frame: pa.Table) -> int:
    told = step_of_tasks(frame)
    return 0 if told is None else int((distinct(told[1]) >= 0).sum())


def _calls(frame: pa.Table, named: str) -> dict[CallKey, tuple[int, int]]:
    """(count, total ns) of kernels, by type or name, and inputs."""
    return cast("dict[CallKey, tuple[int, int]]", dict(_counted(frame, [named, *INPUTS])))


def _counted(frame: pa.Table, keys: Sequence[str]) -> Iterator[tuple[tuple[str | None, ...], tuple[int, int]]]:
    """(the words of a group of kernels, (count, total ns)) of each group."""
    groups, names = group_codes(frame, keys)
    counts = np.bincount(groups, minlength=names.count).tolist()
    totals = exact_sums_by(groups, integers(frame["task_duration_ns"])[0], names.count).tolist()
    return zip(names, zip(counts, totals, strict=True), strict=True)


def _locations(frame: pa.Table, named: str, blocks: Mapping[str, str]) -> Locations:
    """Where kernels were launched, by the same keys."""
    calls = cast("dict[LocatedKey, tuple[int, int]]", dict(_counted(frame, [named, *INPUTS, "location"])))
    _, told = group_codes(frame, ["location", "told_by"])
    told_by = {location: by for location, by in told if location and by}
    return Locations(calls, told_by, blocks)


def _alone(frame: pa.Table, named: str) -> dict[str, int]:
    """For how long nothing hid the kernels of a type or name; of a table without times all of it."""
    starts, there = integers(frame["task_start_ns"])
    durations, _ = integers(frame["task_duration_ns"])
    own = alone(starts, starts + durations, NOTHING_RAN) if there.all() else durations
    groups, names = group_codes(frame, [named])
    return {names[i][0] or "": time for i, time in enumerate(exact_sums_by(groups, own, names.count).tolist())}


def _talk(operators: Sequence[OperatorTime], peer_waits: Sequence[PeerWait]) -> dict[str, CollectiveTime]:
    """What a table tells of communication operators that have all their times told, by operator, with what their timeline does."""
    found = lists_by_key((operator.op_name, operator) for operator in operators)
    waited = Counter[str]()
    for wait in peer_waits:
        waited[wait.op_name] += wait.waited_ns
    return {
        name: CollectiveTime(
            elapsed_ns=sum(one.elapsed_ns for one in several),
            wait_ns=sum(one.wait_ns or 0 for one in several),
            transit_ns=sum(one.transit_ns or 0 for one in several),
            peer_wait_ns=waited[name] if peer_waits else None,
        )
        for name, several in found.items()
        if all(one.wait_ns is not None and one.transit_ns is not None for one in several)
    }


def _bytes_per_call(operators: Sequence[OperatorTime], capture: Capture, notes: Notes) -> dict[str, Fraction]:
    """What a call of each kind of communication sends: a table may hold fewer steps than the timeline."""
    sizes = Counter[str]()
    for volume in read_bandwidths(capture, None, notes.findings).volumes:
        sizes[volume.op_type] += volume.transit_bytes
    calls = Counter(operator.op_type for operator in operators)
    return {kind: Fraction(size, calls[kind]) for kind, size in sizes.items() if size and calls[kind]}


_OF_ALL_RANKS = frozenset({"allreduce", "allgather", "reducescatter", "alltoall", "alltoallv", "alltoallvc", "barrier"})
"""No rank is done with these before the last one has come."""
_GROUP = re.compile(r"__\d+_\d+", re.ASCII)
"""The number of the group in a name (`hcom_allReduce__868_0_1`), which distinguishes groups of one name."""
P = TypeVar("P", bound=Hashable)


def waits_among_ranks(ran: Mapping[P, Mapping[str, Ran]]) -> dict[P, dict[str, CollectiveTime]]:
    """What the operators of each rank of one run consist of, by the same names; those alone that more than one rank calls as often.

    The rank that comes last does not wait, so that none transfers for longer than it: of several calls of one name each may be another
    rank's, and some of the waiting stays with the transfer.
    """
    by_name: dict[str, list[P]] = defaultdict(list)
    for place, operators in ran.items():
        for name in operators:
            if type_of_operator(name) in _OF_ALL_RANKS and _GROUP.search(name):
                by_name[name].append(place)
    found: dict[P, dict[str, CollectiveTime]] = defaultdict(dict)
    for name, places in by_name.items():
        if len(places) > 1 and len({ran[place][name].calls for place in places}) == 1:
            transit = min(ran[place][name].total_ns for place in places)
            for place in places if transit else ():  # none takes no time at all: something is wrong with it
                total = ran[place][name].total_ns
                found[place][name] = CollectiveTime(elapsed_ns=total, wait_ns=total - transit, transit_ns=transit)
    return dict(found)
