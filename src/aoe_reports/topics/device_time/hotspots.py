"""Where device time goes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from statistics import median
from typing import TYPE_CHECKING, Literal

from aoe_reports.engine.ask import asking
from aoe_reports.engine.question import CaptureOptions, Finished, Notes, Question, Request, Unit, all_tasks, only, trim
from aoe_reports.model.by_key import lists_by_key
from aoe_reports.model.groupings import GROUPINGS, LOCATIONS, By, Phase
from aoe_reports.model.options import option, options
from aoe_reports.model.rows import US, Rows, column, row, row_from
from aoe_reports.model.shares import rounded, share_of
from aoe_reports.model.texts import count_of, say
from aoe_reports.model.time_units import times_in_one_unit

if TYPE_CHECKING:
    from aoe_reports.engine.captures import PrefetchedTasks
    from aoe_reports.facts.tasks import TaskSet
    from aoe_reports.formats.capture import Capture
    from aoe_reports.formats.csv.summary import TableData
    from aoe_reports.stats.grouping import Group

_KEYS = tuple(dict.fromkeys(chain.from_iterable(GROUPINGS.values())))


@options
class HotspotOptions(CaptureOptions):
    """Which tasks are ranked, and how they are grouped."""

    by: By = option(default="op_type", help="Key by which rows are grouped.")
    top: int = option(default=20, minimum=1, help="Number of rows per rank of each run.")
    rank: int | None = only("rank")
    device: int | None = only("device")
    step: int | None = only("step")
    phase: Literal[Phase, "outside"] | None = option(
        default=None,
        help="Only tasks of such iterations of a server, as `serving` identifies them; outside: tasks of no iteration.",
    )
    all_tasks: bool = all_tasks()
    trim: bool = trim()


@row
class Hotspot:
    """One group of tasks of one rank; std is the sample's, quantiles are interpolated, shares are of the durations of all that is ranked."""

    position: int = column("#", "integer")
    run: str = column("Run")
    rank_id: int | None = column("Rank", "integer")
    op_type: str | None = column("Operator type")
    task_type: str | None = column("Core", detail=True)
    op_name: str | None = column("Operator")
    input_shapes: str | None = column("Input shapes")
    location: str | None = column("Launched in")
    told_by: str | None = column("Identified by", detail=True)
    count: int = column("Tasks", "integer")
    total_ns: int = column("Total", unit=US)
    mean_ns: float = column("Mean", unit=US)
    std_ns: float | None = column("Std", unit=US, detail=True)
    min_ns: int | None = column(unit=US)
    p50_ns: float | None = column(unit=US)
    p95_ns: float | None = column("P95", unit=US, detail=True)
    max_ns: int | None = column("Max", unit=US, detail=True)
    share: float | None = column("Share", "percent")
    cumulative_share: float | None = column("Cumulative", "percent", detail=True)


class Hotspots(Question[HotspotOptions, list[Hotspot]]):
    """Rank operators, types or shapes by time. Time is device time; std is the sample standard deviation, and shares are of all computing (with --all-tasks of all tasks)."""

    example = "hotspots profile --by op_name --top 5"
    page = "tutorial"
    title = "Hotspots"
    options = HotspotOptions
    tables = (("rows", Hotspot),)
    nothing = "no task to rank here"
    every_rank = "rows"

    def map_unit(self, unit: Unit, asked: Request[HotspotOptions]) -> list[Hotspot]:
        """The ranking of each rank of a capture: ranks never pool."""
        from aoe_reports.engine.captures import to_prefetch
        from aoe_reports.topics.quality.trimming import read_unusual, without_steps
        from aoe_reports.topics.task_source import of_source

        capture, chosen, notes = unit.capture, asked.options, asked.notes
        notes.add(capture.findings)
        if not capture.info.may_hold(chosen.rank):
            return []
        fields = _fields(chosen, capture)
        collected = to_prefetch(capture, fields) if chosen.trim and chosen.phase is None else None
        left_out = read_unusual(capture, notes, collected) if chosen.trim else {}
        sets, tables = _read(capture, chosen, fields, notes, collected)
        notes.add(of_source(capture, sets, tables))
        if chosen.trim:
            sets = without_steps(sets, left_out, str(capture.root), notes)
        if sets:
            _note_steps(capture, sets, chosen, notes)
        sets = [tasks for tasks in sets if chosen.rank in {None, tasks.rank_id}]
        if chosen.by in LOCATIONS:
            from aoe_reports.topics.locations.locations import locate

            sets = [_of_step(tasks, chosen.step) for tasks in sets if chosen.device in {None, tasks.device_id}]
            sets = locate(sets, capture, LOCATIONS[chosen.by], notes, all_tasks=chosen.all_tasks)
        ranks = lists_by_key(
            (tasks.rank_id, tasks)
            for tasks in sorted(sets, key=lambda tasks: -1 if tasks.rank_id is None else tasks.rank_id)
        )
        return [one for rank, mine in ranks.items() for one in _ranked(unit.run, rank, mine, chosen)]

    def finish(self, parts: Sequence[tuple[Unit, list[Hotspot]]], asked: Request[HotspotOptions]) -> Finished:
        """The rankings below one another; of a run of many ranks people are shown what is median, least and worst."""
        from aoe_reports.model.rank_spread import sections_of_runs
        from aoe_reports.topics.device_time.hotspots_of_ranks import hotspots_of_ranks

        rows, top = [one for _, part in parts for one in part], asked.options.top
        return Finished(
            tables=(Rows(type=Hotspot, rows=rows, of_runs=True),),
            headline=_headline(rows, all_tasks=asked.options.all_tasks),
            sections=sections_of_runs(rows, lambda of_run: [("", hotspots_of_ranks(of_run, top))]),
        )


hotspots = asking(Hotspots(), HotspotOptions)
"""Where device time goes below some paths: `hotspots([path], by="shape").rows`."""


def _headline(rows: Sequence[Hotspot], *, all_tasks: bool) -> str:
    """What takes most time, on the rank where it takes longest."""
    first = [row for row in rows if row.position == 1]
    most = max(first, key=lambda row: row.total_ns, default=None)
    if most is None or most.share is None:
        return ""
    (time,), unit = times_in_one_unit(most.total_ns)
    name = most.location or most.op_name or most.op_type or say("An unrecorded operator type")
    return say(
        "{what} takes {share:.1%} of {whole}{rank}: {time} {unit} in {tasks}.{others}",
        what=say("{name} {shapes}", name=name, shapes=most.input_shapes) if most.input_shapes else name,
        share=most.share,
        whole=say("the time of all tasks") if all_tasks else say("computing time"),
        rank="" if most.rank_id is None else say(" on rank {rank}", rank=most.rank_id),
        time=time,
        unit=unit,
        tasks=count_of(most.count, "{number} task", "{number} tasks"),
        others=_about_others(most, rows, len(first) - 1),
    )


def _about_others(most: Hotspot, rows: Sequence[Hotspot], others: int) -> str:
    """What the other ranks of a run of many take for the same, else how many other devices there are."""
    from aoe_reports.model.rank_spread import has_many_ranks
    from aoe_reports.topics.device_time.hotspots_of_ranks import key_of

    alike = [row for row in rows if row.run == most.run and key_of(row) == key_of(most)]
    if has_many_ranks(alike):
        (time,), unit = times_in_one_unit(median(row.total_ns for row in alike))
        return say(" The median of {count} ranks is {time} {unit}.", count=len(alike), time=time, unit=unit)
    return count_of(others, " {number} other device below.", " {number} other devices below.") if others else ""


def _read(
    capture: Capture, chosen: HotspotOptions, fields: frozenset[str], notes: Notes, collected: PrefetchedTasks | None
) -> tuple[list[TaskSet], list[TableData]]:
    """(the tasks that are ranked, the tables that they stand in)."""
    if chosen.phase is not None:
        from aoe_reports.topics.serving.reading import tasks_of_phase

        return tasks_of_phase(capture, notes, fields, chosen.phase)
    from aoe_reports.engine.captures import read_tasks

    by_type = chosen.by == "op_type" and not chosen.all_tasks
    alike = chosen.by not in LOCATIONS and chosen.step is None and not chosen.trim
    sets, tables = read_tasks(
        capture, fields, by_type=by_type, all_tasks=chosen.all_tasks, collected=collected, alike=alike
    )
    notes.add(finding for data in tables for finding in data.findings)
    return sets, tables


def _note_steps(capture: Capture, sets: Sequence[TaskSet], chosen: HotspotOptions, notes: Notes) -> None:
    """Say which steps are unusual, and where tasks run beside each other, so that they add up to more than a step."""
    from aoe_reports.topics.device_time.beside import longer_than_steps, tasks_beside_each_other
    from aoe_reports.topics.quality.trimming import note_unusual, steps_of_table

    steps = steps_of_table(capture)
    if chosen.step is None and not chosen.trim:
        note_unusual(str(capture.root), steps, notes, rank=chosen.rank, device=chosen.device)
    mine = [one for one in sets if chosen.rank in {None, one.rank_id} and chosen.device in {None, one.device_id}]
    if not chosen.trim and any(longer_than_steps(_of_step(one, chosen.step), steps, chosen.step) for one in mine):
        from aoe_reports.engine.captures import read_tasks

        mine = read_tasks(capture, _TIMED, by_type=False)[0]
    for one in mine:
        if chosen.rank in {None, one.rank_id} and chosen.device in {None, one.device_id}:
            notes.add(tasks_beside_each_other(str(capture.root), one.rank_id, _of_step(one, chosen.step).frame))


_TIMED = frozenset({"task_type", "task_start_ns", "task_duration_ns", "device_id", "step"})
"""Columns needed to find tasks that run at the same time."""


def _fields(chosen: HotspotOptions, capture: Capture) -> frozenset[str]:
    fields = {*GROUPINGS[chosen.by], "task_duration_ns"}
    if chosen.by in LOCATIONS:
        from aoe_reports.topics.locations.locations import LOCATED_BY

        fields = {*LOCATED_BY}
    if chosen.device is not None or capture.info.several_ranks:
        fields.add("device_id")
    if chosen.step is not None:
        fields.add("step")
    if chosen.trim:
        from aoe_reports.topics.quality.trimming import TRIMMED_BY

        fields |= TRIMMED_BY
    return frozenset(fields)


def _ranked(run: str, rank_id: int | None, sets: Sequence[TaskSet], chosen: HotspotOptions) -> Iterator[Hotspot]:
    groups, whole_ns = _groups(sets, chosen)
    running_ns = 0
    for position, group in enumerate(groups[: chosen.top], start=1):
        running_ns += group.total_ns
        key = dict(zip(GROUPINGS[chosen.by], group.key, strict=True))
        yield row_from(
            Hotspot,
            group,
            position=position,
            run=run,
            rank_id=rank_id,
            **{name: key.get(name) for name in _KEYS},
            share=rounded(share_of(group.total_ns, whole_ns)),
            cumulative_share=rounded(share_of(running_ns, whole_ns)),
        )


def _groups(sets: Sequence[TaskSet], chosen: HotspotOptions) -> tuple[list[Group], int]:
    """(the groups to be shown, the durations of all tasks that are ranked added up, in ns)."""
    import pyarrow as pa

    from aoe_reports.formats.tasks import calls_of
    from aoe_reports.model.arrays.columns import exact_sum, integers, keep_where
    from aoe_reports.stats.grouping import group_tasks, is_communication

    mine = [tasks for tasks in sets if chosen.device is None or tasks.device_id == chosen.device]
    if any(tasks.grouped for tasks in mine):
        return ([], 0) if chosen.step is not None else _stated(mine)  # op_statistic knows no steps
    frames = [_of_step(tasks, chosen.step).frame for tasks in mine]
    if not frames:
        return [], 0
    frame = pa.concat_tables(frames, promote_options="permissive") if len(frames) > 1 else frames[0]
    if not chosen.all_tasks:
        communication = is_communication(frame["task_type"])
        if communication.any():
            frame = frame.filter(keep_where(~communication))
    whole = exact_sum(integers(frame["task_duration_ns"])[0], calls_of(frame))
    return group_tasks(frame, GROUPINGS[chosen.by], chosen.top), whole


def _of_step(tasks: TaskSet, step: int | None) -> TaskSet:
    if step is None or tasks.grouped:
        return tasks
    from dataclasses import replace

    import pyarrow.compute as pc

    return replace(tasks, frame=tasks.frame.filter(pc.equal(tasks.frame["step"], step)))


def _stated(sets: Sequence[TaskSet]) -> tuple[list[Group], int]:
    """The rows of op_statistic of several devices, one a type, and their total in ns."""
    from aoe_reports.stats.grouping import in_order, merged, statistic_groups

    groups = in_order(merged([group for tasks in sets for group in statistic_groups(tasks.frame)]))
    return groups, sum(group.total_ns for group in groups)
