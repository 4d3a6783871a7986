"""The device time of tasks by the stack of calls in which each was launched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aoe_reports.model.arrays.columns import Ints, distinct_places
from aoe_reports.model.classes import record
from aoe_reports.topics.locations.launch_sites import CallPaths

MAX_STACKS = 20_000
"""So many stacks of a rank are told apart, those of most time; the others are one."""
MAX_FRAMES = 512
"""Deeper frames are told together: they are one frame that deep."""


@record
class StackTree:
    """Stacks as a tree: a parent stands before what it calls, -1 is none; times in ns, of what was launched there itself."""

    names: list[str]
    parent: list[int]
    name: list[int]
    own_ns: list[int]
    count: list[int]
    left_out: int = 0
    """Stacks that are not told apart."""

    def frames(self, node: int) -> list[str]:
        """The frames of a stack, the outermost first."""
        found = []
        while node >= 0:
            found.append(self.names[self.name[node]])
            node = self.parent[node]
        return found[::-1]

    def totals(self) -> list[int]:
        """The time of each frame with that of all that it calls."""
        totals = [*self.own_ns]
        for node in range(len(totals) - 1, -1, -1):
            if self.parent[node] >= 0:
                totals[self.parent[node]] += totals[node]
        return totals


@dataclass(slots=True)
class _Growing:
    """A tree while stacks are added."""

    names: dict[str, int]
    places: dict[tuple[int, int], int]
    depth: list[int]
    own_ns: list[int]
    count: list[int]

    def child(self, parent: int, name: str) -> int:
        """The node of a frame in another one."""
        key = parent, self.names.setdefault(name, len(self.names))
        place = self.places.setdefault(key, len(self.places))
        if place == len(self.own_ns):
            self.depth.append(self.depth[parent] + 1 if parent >= 0 else 1)
            self.own_ns.append(0)
            self.count.append(0)
        return place


@dataclass(frozen=True, slots=True)
class StackWords:
    """What nodes are called that are no frames."""

    unknown: str
    """Of tasks whose stack is not known."""
    backward: str
    """Below the stack of a forward operator: what its backward one launched."""
    others: str
    """Of stacks that are not told apart."""
    deeper: str
    """Of frames that are too deep."""


def stack_tree(
    paths: CallPaths, stack: tuple[Ints, Ints], operators: tuple[Ints, Sequence[str]], duration: Ints, words: StackWords
) -> StackTree:
    """The tree of tasks: by stack (own, else of the forward operator, -1 for none), below that by operator (0 for none).

    `operators` are (the number of each task's word, counted from 1; the words).
    """
    own, forward = stack
    numbers, named = operators
    path = np.where(own >= 0, own, forward)
    backward = (own < 0) & (forward >= 0)
    keys = ((path + 1) * 2 + backward) * (len(named) + 1) + numbers
    distinct, group = distinct_places(keys)
    time = np.zeros(len(distinct), dtype=object)
    np.add.at(time, group, duration.astype(object))
    count = np.bincount(group, minlength=len(distinct)).tolist()
    order = sorted(range(len(distinct)), key=lambda place: (-time[place], place))
    growing = _Growing({}, {}, [], [], [])
    at: dict[int, int] = {-1: -1}
    for rank, place in enumerate(order):
        above, operator = divmod(int(distinct[place]), len(named) + 1)
        above, is_backward = divmod(above, 2)
        if rank >= MAX_STACKS:
            node = growing.child(-1, words.others)
        else:
            node = _node_of(growing, paths, above - 1, at, words)
            if above == 0:
                node = growing.child(-1, words.unknown)
            if is_backward:
                node = growing.child(node, words.backward)
            if operator:
                node = growing.child(node, named[operator - 1])
        growing.own_ns[node] += int(time[place])
        growing.count[node] += count[place]
    return StackTree(
        names=list(growing.names),
        parent=[parent for parent, _ in growing.places],
        name=[name for _, name in growing.places],
        own_ns=growing.own_ns,
        count=growing.count,
        left_out=max(len(order) - MAX_STACKS, 0),
    )


def _node_of(growing: _Growing, paths: CallPaths, path: int, at: dict[int, int], words: StackWords) -> int:
    """The node of a stack; `at` are those that have one."""
    missing = []
    while path not in at:
        missing.append(path)
        path = int(paths.parent[path])
    node = at[path]
    for one in reversed(missing):
        depth = growing.depth[node] if node >= 0 else 0
        if depth < MAX_FRAMES - 1:
            node = growing.child(node, paths.names[int(paths.name[one])])
        elif depth < MAX_FRAMES:
            node = growing.child(node, words.deeper)
        at[one] = node
    return node
