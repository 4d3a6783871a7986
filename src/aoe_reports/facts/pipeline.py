"""A pipeline of ranks: how long its stages wait for each other (bubbles), and whether one of them computes longer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

from aoe_reports.facts.steps import Step

NOTABLE_IMBALANCE = 0.05
"""Computing above the median of ranks from which a stage is said to be the one that others wait for."""


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

    @property
    def is_balanced(self) -> bool:
        """Whether no stage computes notably longer than the others."""
        return self.imbalance < NOTABLE_IMBALANCE


def pipeline_of(steps: Iterable[Step]) -> Pipeline | None:
    """What the steps of a run tell of its pipeline; None where nobody waits in bubbles, or only one rank is known.

    Times of a rank are means of its steps: ranks may have been recorded for different numbers of them.
    """
    by_rank: dict[int, list[tuple[int, int, int]]] = {}
    for step in steps:
        if step.rank_id is not None and step.bubble_ns is not None and step.computing_ns is not None:
            by_rank.setdefault(step.rank_id, []).append((step.bubble_ns, step.computing_ns, step.duration_ns))
    sums = {rank: [sum(part) for part in zip(*mine, strict=True)] for rank, mine in sorted(by_rank.items())}
    bubbles, total = (sum(one[place] for one in sums.values()) for place in (0, 2))
    if len(sums) < 2 or bubbles <= 0 or total <= 0:  # noqa: PLR2004 -- a pipeline has two stages
        return None
    shares = {rank: bubble / duration if duration > 0 else 0.0 for rank, (bubble, _, duration) in sums.items()}
    computing = {rank: one[1] / len(by_rank[rank]) for rank, one in sums.items()}
    waiting, busiest = max(shares, key=shares.__getitem__), max(computing, key=computing.__getitem__)
    middle = median(computing.values())
    return Pipeline(
        ranks=len(sums),
        bubble_share=bubbles / total,
        waiting=waiting,
        waiting_share=shares[waiting],
        busiest=busiest,
        computing_ns=computing[busiest],
        imbalance=computing[busiest] / middle - 1 if middle > 0 else 0.0,
    )
