"""What `stacks` found, as rows and as a picture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import nsmallest

from aoe_reports.model.findings import Finding
from aoe_reports.model.pictures.stacks import StackNode, StackPicture
from aoe_reports.model.shares import rounded, share_of
from aoe_reports.model.texts import count_of, say
from aoe_reports.model.time_units import times_in_one_unit
from aoe_reports.topics.locations.facts import lines_along, modules_along
from aoe_reports.topics.locations.launch_sites import CallPaths
from aoe_reports.topics.locations.stack_trees import MAX_STACKS, StackTree, StackWords
from aoe_reports.topics.locations.stacks import CallStack, StackFrame, TreeOfRank
from aoe_reports.topics.rules import NO_LOCATION

STACK_WORDS = StackWords("(not known)", "(backward)", "(other stacks)", "(deeper)")
"""In every language: they stand among names that a program has."""
_NOT_FRAMES = frozenset({STACK_WORDS.unknown, STACK_WORDS.backward, STACK_WORDS.others, STACK_WORDS.deeper})


def left_out(path: str, tree: StackTree) -> Iterator[Finding]:
    """That some stacks are not told apart."""
    if tree.left_out:
        message = say(
            "{count} stacks beyond the {most} with the most time are shown as one", count=tree.left_out, most=MAX_STACKS
        )
        yield NO_LOCATION.found(path, message)


def headline_of(rows: Sequence[CallStack]) -> str:
    """The stack that takes longest on any rank."""
    if not rows:
        return ""
    longest = max(rows, key=lambda row: row.total_ns)
    (time,), unit = times_in_one_unit(longest.total_ns)
    return say(
        "{operator}, launched in {line}, takes {share:.1%} of device time{rank}: {time} {unit} in {tasks}.",
        operator=longest.operator or say("An unrecorded operator"),
        line=longest.line or say("an unknown line"),
        share=longest.share or 0.0,
        rank="" if longest.rank_id is None else say(" on rank {rank}", rank=longest.rank_id),
        time=time,
        unit=unit,
        tasks=count_of(longest.count, "{number} task", "{number} tasks"),
    )


def stacks_of(one: TreeOfRank, top: int) -> Iterator[CallStack]:
    """The stacks that take longest."""
    tree = one.tree
    whole = sum(tree.own_ns)
    there = [node for node in range(len(tree.parent)) if tree.count[node]]
    for position, node in enumerate(nsmallest(top, there, key=lambda node: (-tree.own_ns[node], node)), start=1):
        *calls, operator = tree.frames(node)
        paths = _path([frame for frame in calls if frame not in _NOT_FRAMES])
        modules = modules_along(paths)[-1:]
        yield CallStack(
            position=position,
            run=one.run,
            rank_id=one.rank_id,
            line=next(iter(lines_along(paths)[-1:]), None),
            module="/".join(modules[0]) if modules and modules[0] else None,
            operator=operator,
            backward=STACK_WORDS.backward in calls,
            count=tree.count[node],
            total_ns=tree.own_ns[node],
            share=rounded(share_of(tree.own_ns[node], whole)),
            frames=[*calls, operator],
        )


def _path(frames: Sequence[str]) -> CallPaths:
    import numpy as np

    count = len(frames)
    return CallPaths(np.arange(-1, count - 1), np.arange(count), tuple(frames))


def frames_of(one: TreeOfRank, top: int) -> Iterator[StackFrame]:
    """The frames that most time is spent in, with what they call; where one calls itself, a task counts once."""
    tree = one.tree
    whole, totals = sum(tree.own_ns), tree.totals()
    counts = StackTree(names=[], parent=tree.parent, name=[], own_ns=tree.count, count=[]).totals()
    sums: dict[int, list[int]] = {}
    for node in _outermost(tree):
        entry = sums.setdefault(tree.name[node], [0, 0])
        entry[0] += totals[node]
        entry[1] += counts[node]
    named = [(tree.names[name], ns, count) for name, (ns, count) in sums.items()]
    longest = nsmallest(top, named, key=lambda each: (-each[1], each[0]))
    for position, (frame, ns, count) in enumerate(longest, start=1):
        yield StackFrame(
            position=position,
            run=one.run,
            rank_id=one.rank_id,
            frame=frame,
            count=count,
            total_ns=ns,
            share=rounded(share_of(ns, whole)),
        )


def _outermost(tree: StackTree) -> Iterator[int]:
    """The nodes of frames that are in none of the same name."""
    children: list[list[int]] = [[] for _ in tree.parent]
    waiting: list[int] = []
    for node, parent in enumerate(tree.parent):
        (children[parent] if parent >= 0 else waiting).append(node)
    open_: dict[int, int] = {}
    while waiting:
        node = waiting.pop()
        if node < 0:  # all that it calls has been seen
            open_[tree.name[~node]] -= 1
            continue
        name = tree.name[node]
        if not open_.get(name):
            yield node
        open_[name] = open_.get(name, 0) + 1
        waiting += [~node, *children[node]]


def picture_of(trees: Sequence[TreeOfRank]) -> StackPicture:
    """All stacks; of several ranks each has a frame around it."""
    if not trees:
        return StackPicture(say("no task with a known stack"), (), 0)
    runs = {one.run for one in trees}
    nodes: list[StackNode] = []
    for one in trees:
        tree, first = one.tree, len(nodes)
        whole = sum(tree.own_ns)
        around = -1
        if len(trees) > 1:
            rank = "" if one.rank_id is None else f"rank {one.rank_id}"
            named = [one.run, rank] if len(runs) > 1 else [rank]
            nodes.append(StackNode(-1, " ".join(word for word in named if word) or one.run, 0, whole))
            around, first = first, first + 1
        totals = tree.totals()
        nodes += [
            StackNode(
                first + parent if parent >= 0 else around, tree.names[tree.name[node]], tree.own_ns[node], totals[node]
            )
            for node, parent in enumerate(tree.parent)
        ]
    whole = sum(node.own_ns for node in nodes)
    return StackPicture(say("Device time by call stack: {time:,.3f} ms", time=whole / 1e6), tuple(nodes), whole)
