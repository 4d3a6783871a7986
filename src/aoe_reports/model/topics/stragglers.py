"""Hosts, operator types and experts of ranks that are compared with each other, as `stragglers` lists them."""

from __future__ import annotations

from aoe_reports.model.rows import US, column, derived, row
from aoe_reports.model.texts import N_

Member = tuple[int | None, int | None]
"""Rank and device."""
STATES = {"slow": N_("slow"), "usual": N_("usual")}
CAUSES = {"all operators": N_("all operators"), "one operator": N_("one operator"), "more calls": N_("more calls")}
MIN_IMBALANCE = 1.2
"""Experts are uneven where the rank that takes longest takes so many times the mean of its group, more than in its other computing,"""
MIN_SHARE = 0.01
"""and where what it takes more is such a share of what the ranks of the group compute in the mean."""


@row
class ComparedHost:
    """The ranks of one host against those of the other hosts of the run."""

    run: str = column("Run", default="")
    host: str = column("Host")
    ranks: int = column("Ranks", "integer")
    """Those with a verdict."""
    slow_ranks: int = column("Slow ranks", "integer")
    slower: float = column("Computing, against peers (median)", "change")
    """How much longer than their peers its ranks compute: their median."""
    state: str = column("State", "state")


@row
class TypeLoss:
    """One of the operator types in which a rank loses most against the median of its peers."""

    run: str = column("Run", default="")
    rank_id: int | None = column("Rank", "integer", default=None)
    device_id: int | None = column("Device", "integer", default=None)
    op_type: str | None = column("Operator type")
    count: int = column("Tasks", "integer")
    total_ns: int = column("Total", unit=US)
    median_ns: int = column("Median of peers", unit=US)

    @derived("Against peers", "change")
    def slower(self) -> float | None:
        """How much longer, as a share of the median."""
        return round(self.total_ns / self.median_ns - 1, 6) if self.median_ns else None

    @derived("Extra time", unit=US)
    def lost_ns(self) -> int:
        """How much longer."""
        return self.total_ns - self.median_ns


@row
class ComparedRank:
    """One rank against ranks of the same work; null where it has no peers, or where the export does not record it."""

    position: int = column("#", "integer", default=0)
    run: str = column("Run", default="")
    rank_id: int | None = column("Rank", "integer")
    device_id: int | None = column("Device", "integer")
    host: str | None = column("Host", default=None)
    groups: str | None = column("Parallel groups", default=None)
    role: int = column("Role", "integer")
    """Ranks of one role run the same operator types equally often; counted from 1, in the order of their first ranks."""
    peers: int = column("Peers", "integer")
    """The other ranks of the role."""
    computing_ns: int = column("Computing", unit=US)
    median_ns: int | None = column("Median of peers", unit=US)
    """Of all ranks of the role, this one among them."""

    @derived("Computing, against peers", "change")
    def slower(self) -> float | None:
        """How much longer it computes than the median, as a share."""
        return round(self.computing_ns / self.median_ns - 1, 6) if self.median_ns else None

    @derived("Extra time", unit=US)
    def lost_ns(self) -> int | None:
        """How much longer it computes than the median."""
        return None if self.median_ns is None else self.computing_ns - self.median_ns

    deviations: float | None = column("Deviations", "number", detail=True)
    """How far it is from the median in robust standard deviations; null without a verdict, or where most ranks are exactly there."""
    state: str | None = column("State", "state")
    """Null with fewer than MIN_PEERS peers."""
    is_notable: bool
    """Whether it is slow; where there is no verdict, whether it is slower by more than MIN_SLOWER."""
    slower_types: int | None = column("Slower types", "integer")
    types: int | None = column("Types", "integer", detail=True)
    """The operator types that at least half of the role runs."""
    cause: str | None = column("Slower in", "word")
    """Whether a notable rank runs more calls, all its operators are slower, or one; null where it is none of these."""
    operators: tuple[TypeLoss, ...]
    """What it loses most in, the largest loss first."""

    @derived("Largest loss", detail=True)
    def op_type(self) -> str | None:
        """What it loses most in."""
        return self.operators[0].op_type if self.operators else None

    steps: int | None = column(default=None)
    communication_not_overlapped_ns: float | None = column("Not overlapped per step", unit=US, default=None)
    communication_median_ns: float | None = column("Same, median of peers", unit=US, detail=True, default=None)
    calls: int
    median_calls: int
    """Of all ranks of the role."""

    @property
    def member(self) -> Member:
        """Rank and device."""
        return self.rank_id, self.device_id

    @property
    def more_calls(self) -> float:
        """How many more calls it runs than the median, as a share."""
        return self.calls / self.median_calls - 1 if self.median_calls else 0.0


@row
class ExpertLoad:
    """An operator type of experts on the ranks of one group: how evenly they share it."""

    run: str = column("Run", default="")
    expert_group: int | None = column("Expert group", "integer")
    """Null where groups are not known: the ranks are those of one role."""
    role: int = column("Role", "integer")
    op_type: str = column("Operator type")
    ranks: int = column("Ranks", "integer")
    """Those of the group that are here."""
    rank_id: int | None = column("Busiest rank", "integer")
    """The rank that takes longest; of ranks that tie the first."""
    device_id: int | None = column("Device", "integer")
    max_ns: int = column("Its time", unit=US)
    mean_ns: float = column("Mean of ranks", unit=US)

    @derived("Max / mean", "ratio")
    def imbalance(self) -> float:
        """How many times the mean the busiest rank takes."""
        return round(self.max_ns / self.mean_ns, 4)

    rest: float
    """What the busiest rank takes for all other computing, as a multiple of the mean of the group; 1 where there is none."""
    computing_ns: float
    """What the ranks compute in all, their mean."""

    @derived("Its other computing / mean", "ratio")
    def others(self) -> float:
        """`rest` with four digits."""
        return round(self.rest, 4)

    @derived("Uneven", "word")
    def is_uneven(self) -> bool:
        """Whether its experts get more work than those of others: a slow chip takes longer for everything."""
        apart = self.max_ns / self.mean_ns >= MIN_IMBALANCE * max(self.rest, 1.0)
        return apart and self.extra_ns >= MIN_SHARE * self.computing_ns

    @property
    def extra_ns(self) -> float:
        """What the busiest rank takes more than the mean."""
        return self.max_ns - self.mean_ns
