"""Which stack of Python calls launched what the devices did."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from aoe_reports.engine.ask import asking
from aoe_reports.engine.question import CaptureOptions, Finished, Notes, Question, Request, Unit, all_tasks, only
from aoe_reports.model.classes import record
from aoe_reports.model.options import option, options
from aoe_reports.model.rows import US, Rows, column, row
from aoe_reports.model.texts import say

if TYPE_CHECKING:
    from aoe_reports.facts.tasks import TaskSet
    from aoe_reports.formats.capture import Capture
    from aoe_reports.topics.locations.stack_trees import StackTree


@options
class StacksOptions(CaptureOptions):
    """Which tasks are shown."""

    top: int = option(
        default=20, minimum=1, help="Number of rows per rank of each run; svg and collapsed show all stacks."
    )
    rank: int | None = only("rank")
    device: int | None = only("device")
    step: int | None = only("step")
    all_tasks: bool = all_tasks()


@row
class CallStack:
    """A stack of calls and an operator that it launched; shares are of all tasks of the rank."""

    position: int = column("#", "integer")
    run: str = column("Run")
    rank_id: int | None = column("Rank", "integer")
    line: str | None = column("Launched in")
    module: str | None = column("Module")
    operator: str | None = column("Operator")
    backward: bool = column()
    count: int = column("Tasks", "integer")
    total_ns: int = column("Total", unit=US)
    share: float | None = column("Share", "percent")
    frames: list[str] = column()


@row
class StackFrame:
    """A frame wherever it stands: the time of all that was launched in it or in what it calls, each task once."""

    position: int = column("#", "integer")
    run: str = column("Run")
    rank_id: int | None = column("Rank", "integer")
    frame: str = column("Frame")
    count: int = column("Tasks", "integer")
    total_ns: int = column("Total", unit=US)
    share: float | None = column("Share", "percent")


@record
class TreeOfRank:
    """The stacks of one rank of a run."""

    run: str
    rank_id: int | None
    tree: StackTree


class Stacks(Question[StacksOptions, "list[TreeOfRank]"]):
    """Show device time by the stack of Python calls that launched it. Backward operators stand below the stack of their forward operator; svg is a flame graph."""

    example = "stacks profile --format collapsed -o stacks.txt"
    page = "modules"
    title = "Call stacks"
    options = StacksOptions
    tables = (("rows", CallStack), ("frames", StackFrame))
    form_help = "Output format; csv omits frames, svg is a flame graph, collapsed a line per stack with its nanoseconds (speedscope, flamegraph.pl)."
    has_picture = True
    has_stacks = True
    nothing = "no task with a known stack"
    every_rank = "rows"

    def map_unit(self, unit: Unit, asked: Request[StacksOptions]) -> list[TreeOfRank]:
        """The stacks of each rank of a capture."""
        from aoe_reports.engine.captures import read_tasks
        from aoe_reports.topics.quality.trimming import note_unusual_of_table
        from aoe_reports.topics.task_source import of_source

        capture, chosen, notes = unit.capture, asked.options, asked.notes
        notes.add(capture.findings)
        if not capture.info.may_hold(chosen.rank):
            return []
        if chosen.step is None:
            note_unusual_of_table(capture, notes, rank=chosen.rank, device=chosen.device, trims=False)
        sets, tables = read_tasks(capture, _fields(chosen, capture), by_type=False, all_tasks=chosen.all_tasks)
        notes.add(finding for data in tables for finding in data.findings)
        notes.add(of_source(capture, sets, tables))
        wanted = [_wanted(tasks, chosen) for tasks in sets if _is_asked_for(tasks, chosen)]
        trees = _trees([tasks for tasks in wanted if tasks.frame.num_rows], capture, notes)
        return [TreeOfRank(run=unit.run, rank_id=rank, tree=tree) for rank, tree in trees]

    def finish(self, parts: Sequence[tuple[Unit, list[TreeOfRank]]], asked: Request[StacksOptions]) -> Finished:
        """The longest stacks of each rank, the frames of most time, and the picture of all."""
        from aoe_reports.topics.locations.stacks_words import frames_of, headline_of, picture_of, stacks_of

        trees = [one for _, part in parts for one in part]
        top = asked.options.top
        rows = [row for tree in trees for row in stacks_of(tree, top)]
        return Finished(
            tables=(
                Rows(type=CallStack, rows=rows, of_runs=True),
                Rows(
                    type=StackFrame,
                    rows=[row for tree in trees for row in frames_of(tree, top)],
                    key="frames",
                    title=say("Frames, with what they call"),
                    of_runs=True,
                ),
            ),
            headline=headline_of(rows),
            pictures=[picture_of(trees)],
        )


stacks = asking(Stacks(), StacksOptions)
"""Device time by the Python calls that launched it: `stacks([path]).table("frames")`."""


def _fields(chosen: StacksOptions, capture: Capture) -> frozenset[str]:
    fields = {"task_start_ns", "task_duration_ns", "task_type", "op_type", "op_name"}
    if chosen.device is not None or capture.info.several_ranks:
        fields.add("device_id")
    return frozenset(fields | ({"step"} if chosen.step is not None else set()))


def _is_asked_for(tasks: TaskSet, chosen: StacksOptions) -> bool:
    return chosen.rank in {None, tasks.rank_id} and chosen.device in {None, tasks.device_id}


def _wanted(tasks: TaskSet, chosen: StacksOptions) -> TaskSet:
    """The tasks of the step that is asked for, communication only where it is."""
    from dataclasses import replace

    import pyarrow.compute as pc

    from aoe_reports.model.arrays.columns import keep_where
    from aoe_reports.stats.grouping import is_communication

    frame = tasks.frame
    if chosen.step is not None:
        frame = frame.filter(pc.equal(frame["step"], chosen.step))
    if not chosen.all_tasks:
        frame = frame.filter(keep_where(~is_communication(frame["task_type"])))
    return replace(tasks, frame=frame)


def _trees(sets: Sequence[TaskSet], capture: Capture, notes: Notes) -> Iterator[tuple[int | None, StackTree]]:
    """The stacks of each rank, by rank."""
    import numpy as np

    from aoe_reports.model.arrays.columns import distinct, integers
    from aoe_reports.topics.locations.locations import names_of, sites_of
    from aoe_reports.topics.locations.stack_trees import stack_tree
    from aoe_reports.topics.locations.stacks_words import STACK_WORDS, left_out

    if not sets:
        return
    sites = sites_of(sets, capture, "stack", notes, all_tasks=True)
    ranks = np.concatenate([np.full(one.frame.num_rows, -1 if one.rank_id is None else one.rank_id) for one in sets])
    duration = np.concatenate([integers(one.frame["task_duration_ns"])[0] for one in sets])
    numbers, words = names_of(sets, "op_type")
    others, names = names_of(sets, "op_name")
    numbers = np.where(numbers > 0, numbers, np.where(others > 0, others + len(words), 0))
    for rank in distinct(ranks).tolist():
        mine = ranks == rank
        tree = stack_tree(
            sites.paths,
            (sites.own[mine], sites.forward[mine]),
            (numbers[mine], [*words, *names]),
            duration[mine],
            STACK_WORDS,
        )
        notes.add(left_out(str(capture.root), tree))
        yield (None if rank < 0 else rank), tree
