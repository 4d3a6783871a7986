"""A pipeline of ranks: how long its stages wait for each other (bubbles), and whether one of them computes longer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from statistics import median
from types import MappingProxyType

from aoe_reports.model.by_key import lists_by_key
from aoe_reports.model.rows import US, column, derived, row
from aoe_reports.model.topics.steps import Step

NOTABLE_IMBALANCE = 0.05
"""Computing above the median of stages (or of ranks) from which one is said to be that which others wait for."""


@row
class Stage:
    """One stage of the pipeline of a run; times are means a step."""

    run: str = column("Run", default="")
    stage: int = column("Stage", "integer")
    members: tuple[int, ...]
    """Its ranks."""

    @derived("Ranks", "integer")
    def ranks(self) -> int:
        """How many."""
        return len(self.members)

    computing_ns: float = column("Computing (median of ranks)", unit=US)
    slower: float = column("Against the median of stages", "change")
    bubble_share: float | None = column("Bubbles", "percent", default=None)
    """Of the steps of its ranks together."""
    busiest: int = column("Busiest rank", "integer")
    """The rank that computes longest, of ranks that tie the lowest."""
    busiest_slower: float = column("Against the median of its stage", "change")
    more_calls: float | None = None
    """How many more calls its ranks run than those of the median stage, as a share."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipeline:
    """The ranks of a run whose tables of steps tell of bubbles; of ranks that tie the lowest is named."""

    ranks: int
    bubble_share: float
    """Of the steps of all ranks together."""
    waiting: int
    waiting_share: float
    """The rank whose bubbles take most of its steps, and how much."""
    busiest: int
    computing_ns: float
    """The rank that computes longest, and its mean a step."""
    imbalance: float
    """How much longer it computes than the median of the ranks."""
    stages: tuple[Stage, ...] = ()
    """In their order; empty where the stage of a rank is not known, or all ranks are of one."""

    @property
    def is_balanced(self) -> bool:
        """Whether no rank computes notably longer than the others."""
        return self.imbalance < NOTABLE_IMBALANCE

    @property
    def longest(self) -> Stage | None:
        """The stage that computes notably longer than the others."""
        return longest_of(self.stages)

    @property
    def with_slow_rank(self) -> Stage | None:
        """The stage one of whose ranks computes notably longer than its others."""
        found = max(self.stages, key=lambda one: one.busiest_slower, default=None)
        return None if found is None or found.busiest_slower < NOTABLE_IMBALANCE else found


@dataclass(frozen=True, slots=True)
class _Rank:
    """What the steps of one rank come to."""

    bubble_ns: int
    duration_ns: int
    computing_ns: float


def pipeline_of(steps: Iterable[Step], stages: Mapping[int, int] = MappingProxyType({})) -> Pipeline | None:
    """What the steps of a run tell of its pipeline; None where nobody waits in bubbles, or only one rank is known.

    Times of a rank are means of its steps: ranks may have been recorded for different numbers of them. `stages` are those of
    the ranks, as far as they are known.
    """
    by_rank = lists_by_key(
        (step.rank_id, (step.bubble_ns, step.computing_ns, step.duration_ns))
        for step in steps
        if step.rank_id is not None and step.bubble_ns is not None and step.computing_ns is not None
    )
    ranks = {rank: _rank(mine) for rank, mine in sorted(by_rank.items())}
    if len(ranks) < 2 or _bubble_share(ranks.values()) <= 0:  # noqa: PLR2004 -- a pipeline has two stages
        return None
    shares = {rank: _bubble_share([one]) for rank, one in ranks.items()}
    waiting, busiest = max(shares, key=shares.__getitem__), max(ranks, key=lambda rank: ranks[rank].computing_ns)
    return Pipeline(
        ranks=len(ranks),
        bubble_share=_bubble_share(ranks.values()),
        waiting=waiting,
        waiting_share=shares[waiting],
        busiest=busiest,
        computing_ns=ranks[busiest].computing_ns,
        imbalance=_longer(ranks[busiest].computing_ns, median(one.computing_ns for one in ranks.values())),
        stages=tuple(
            replace(one, bubble_share=_bubble_share(ranks[rank] for rank in one.members))
            for one in stages_of({rank: one.computing_ns for rank, one in ranks.items()}, stages)
        ),
    )


def stages_of(computing: Mapping[int, float], stages: Mapping[int, int]) -> tuple[Stage, ...]:
    """The stages of ranks by what each computes (ns), in their order; none where the stage of a rank is not known, or all have one."""
    by_stage: dict[int, dict[int, float]] = {}
    for rank, time_ns in sorted(computing.items()):
        by_stage.setdefault(stages.get(rank, -1), {})[rank] = time_ns
    if len(by_stage) < 2 or -1 in by_stage:  # noqa: PLR2004 -- nothing to compare with
        return ()
    medians = {stage: median(mine.values()) for stage, mine in by_stage.items()}
    middle = median(medians.values())
    found = []
    for stage, mine in sorted(by_stage.items()):
        busiest = max(mine, key=mine.__getitem__)
        found.append(
            Stage(
                stage=stage,
                members=tuple(mine),
                computing_ns=medians[stage],
                slower=_longer(medians[stage], middle),
                busiest=busiest,
                busiest_slower=_longer(mine[busiest], medians[stage]),
            )
        )
    return tuple(found)


def longest_of(stages: Iterable[Stage]) -> Stage | None:
    """The stage that computes notably longer than the others."""
    found = max(stages, key=lambda one: one.slower, default=None)
    return None if found is None or found.slower < NOTABLE_IMBALANCE else found


def _rank(steps: list[tuple[int, int, int]]) -> _Rank:
    bubble, computing, duration = (sum(part) for part in zip(*steps, strict=True))
    return _Rank(bubble, duration, computing / len(steps))


def _bubble_share(ranks: Iterable[_Rank]) -> float:
    every = list(ranks)
    duration = sum(one.duration_ns for one in every)
    return sum(one.bubble_ns for one in every) / duration if duration > 0 else 0.0


def _longer(time_ns: float, usual_ns: float) -> float:
    return time_ns / usual_ns - 1 if usual_ns > 0 else 0.0
