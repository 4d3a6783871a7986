"""Facts about one device, advice that rules make of them, and what a rule is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from aoe_reports.facts.bounds import ACLNN, CoreCounts, OperatorBounds, State, StepShares, computing_of
from aoe_reports.model.arrays.columns import Ints, Mask, exact_sum, has_value, integers
from aoe_reports.model.documents import Json
from aoe_reports.model.texts import join, say
from aoe_reports.model.topics.breakdown import Gap
from aoe_reports.model.topics.communication import AwaitedRank, Link, PacketClass, Tail
from aoe_reports.stats.grouping import is_communication
from aoe_reports.topics.advice.thresholds import Thresholds
from aoe_reports.topics.communication.facts import OperatorTime
from aoe_reports.topics.communication.packets import RdmaTime
from aoe_reports.topics.host.causes import HostFacts
from aoe_reports.topics.roofline.facts import Roofline, near_operators

if TYPE_CHECKING:
    from aoe_reports.model.topics.memory import DeviceMemory
    from aoe_reports.topics.communication.contention import Contention

MAX_ROWS = 200
"""No rule makes more rows; those with the largest bound are kept."""
Evidence = Mapping[str, Json]
"""What a rule saw, by name: units end the names, ratios and shares are 0 to 1."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of one device of one run."""

    shares: StepShares
    bounds: OperatorBounds | None = None
    """The operators; None where there is no table of tasks."""
    tasks: pa.Table | None = None
    """All tasks, communication among them."""
    idle_ns: Ints | None = None
    """Idle time before each of `tasks`; None where it cannot be told."""
    cores: CoreCounts = field(default_factory=CoreCounts)
    gaps: Sequence[Gap] = ()
    """Those with the longest free time, where a timeline was read."""
    ranks: Sequence[StepShares] = ()
    """The other ranks of the run, this one among them."""
    links: Sequence[Link] = ()
    """The links of the run, the slowest first."""
    awaited: Sequence[AwaitedRank] = ()
    """Ranks of the run that others wait for."""
    tails: Sequence[Tail] = ()
    """The all-reduce behind the backward passes of this device, by iteration."""
    packets: Sequence[PacketClass] = ()
    """What this rank sent, by transport and size."""
    transit_ns: int = 0
    """How long this rank transferred, over all links at once."""
    resent: Sequence[tuple[OperatorTime, RdmaTime]] = ()
    """Operators whose RDMA packets this rank sent again."""
    host: Sequence[HostFacts] = ()
    """What the device waited for, by its timelines, where they were read."""
    roof: Roofline | None = None
    """How near operators come to the peaks of the chip, where these are known."""
    contention: Contention | None = None
    """What computing loses beside communication, where some is beside it."""
    table: str | None = None
    """The name of the table of tasks."""
    memory: DeviceMemory | None = None
    """Where the capture records memory."""

    def not_near_roof(self, mine: Mask) -> Mask:
        """Those of some operators that tuning may make quicker: not those that certainly reach most of what the chip can do."""
        if self.roof is None or self.bounds is None or not mine.any():
            return mine
        found: Mask = mine & ~near_operators(self.bounds, self.roof)
        return found

    def idle_of_computing(self) -> Ints | None:
        """Idle time before each task that computes, in the order of the operators' tasks; None where it is not known."""
        if self.idle_ns is None or self.bounds is None or self.tasks is None:
            return None
        if len(self.idle_ns) == len(self.bounds.group_of):
            return self.idle_ns
        return self.idle_ns[~is_communication(self.tasks["task_type"])]

    def of_computing(self, name: str) -> Ints | None:
        """A column of whole numbers of the tasks that compute, in the order of the operators' tasks, -1 for null; None where no task has one."""
        if self.tasks is None or self.bounds is None or not has_value(self.tasks, name):
            return None
        values, there = integers(self.tasks[name])
        found: Ints = np.where(there, values, -1)
        computing = computing_of(self.tasks)
        return found if computing is None else found[computing]

    def idle_before(self, mine: Mask) -> int:
        """Idle time before some of the tasks that compute; 0 where it is not known."""
        idle = self.idle_of_computing()
        return 0 if idle is None else exact_sum(idle[mine])

    def waits_of_operators(self) -> Ints | None:
        """Idle time before each operator's calls, else what they waited; None where neither is known."""
        idle = self.idle_of_computing()
        if self.bounds is None:
            return None
        return self.bounds.wait_ns if idle is None else self.bounds.sums(idle)


@dataclass(frozen=True, slots=True)
class Advice:
    """One thing that could be gained: where, why it is thought so, how much at most, and what to do."""

    rule: str
    evidence: Evidence
    advice: str
    saving_ns: int | None
    """Upper bound of the gain over the whole capture, after overlap; null where nothing bounds it."""
    op_type: str | None = None
    op_name: str | None = None
    input_shapes: str | None = None
    count: int | None = None
    total_ns: int | None = None
    bound_by: str | None = None
    size_bytes: int = 0
    """How much memory it is about."""

    @property
    def order(self) -> tuple[Any, ...]:
        """The largest bound first; what has none last, by the memory that it is about; ties by rule and names."""
        words = (word or "" for word in (self.op_type, self.op_name, self.input_shapes))
        return (-1 if self.saving_ns is None else -self.saving_ns - 2, -self.size_bytes, self.rule, *words)


Find = Callable[[Facts, Thresholds], Iterable[Advice]]


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of advice: what it looks for, why, whose knowledge that is, which thresholds it uses."""

    id: str
    title: str
    reason: str
    source: str
    thresholds: tuple[str, ...]
    find: Find


def on_operators(find: Callable[[Facts, OperatorBounds, Thresholds], Iterable[Advice]]) -> Find:
    """A rule that needs operators: where there is no table of tasks it has nothing to say."""
    return lambda facts, thresholds: () if facts.bounds is None else find(facts, facts.bounds, thresholds)


def largest(values: Ints, least: float) -> list[int]:
    """The places of values that are at least that and above 0, the largest first, and no more than a list may hold."""
    chosen = np.flatnonzero((values >= least) & (values > 0))
    places: list[int] = chosen[np.argsort(-values[chosen], kind="stable")][:MAX_ROWS].tolist()
    return places


def microseconds(ns: float) -> float:
    """Nanoseconds as us."""
    return round(ns / 1000, 3)


def tuned(text: str, state: State, op_name: str | None) -> str:
    """Advice to tune an operator, with what stands in its way: what AOE never gets to see, else that the shapes are dynamic."""
    if (op_name or "").startswith(ACLNN):
        return join(
            "; ", (text, say("torch_npu runs it through aclnn and dumps no graph of it, so AOE does not tune it"))
        )
    if state in {"dynamic", "mixed"}:
        return join("; ", (text, say("its shapes are dynamic here, which AOE does not tune: fix them first")))
    return text
