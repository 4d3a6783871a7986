"""Experts: how evenly the ranks of an expert parallel group share the operators of theirs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from aoe_reports.facts.parallel import Layout
from aoe_reports.facts.stragglers import ComparedRank, Member
from aoe_reports.model.columns import codes

MIN_IMBALANCE = 1.2
"""Experts are uneven where the rank that takes longest takes so many times the mean of its group, more than in its other computing,"""
MIN_SHARE = 0.01
"""and where what it takes more is such a share of what the ranks of the group compute in the mean."""

_OF_EXPERTS = re.compile(r"(?:grouped_?mat_?mul|moe)", re.IGNORECASE)
_COMMUNICATES = re.compile(r"all_?to_?all|dispatch|combine|all_?gather|all_?reduce|reduce_?scatter", re.IGNORECASE)
"""In the time of these a rank waits for others, so that the one with least work takes longest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpertLoad:
    """An operator type of experts on the ranks of one group; times in ns."""

    op_type: str
    group: int | None
    """The number of the expert parallel group; null where groups are not known: the ranks are those of one role."""
    role: int
    ranks: int
    """Those of the group that are here."""
    busiest: Member
    """The rank that takes longest, and its device; of ranks that tie the first."""
    max_ns: int
    mean_ns: float
    others: float
    """What the busiest rank takes for all other computing, as a multiple of the mean of the group; 1 where there is none."""
    computing_ns: float
    """What the ranks compute in all, their mean."""

    @property
    def imbalance(self) -> float:
        """How many times the mean the busiest rank takes."""
        return self.max_ns / self.mean_ns

    @property
    def extra_ns(self) -> float:
        """What the busiest rank takes more than the mean."""
        return self.max_ns - self.mean_ns

    @property
    def is_uneven(self) -> bool:
        """Whether its experts get more work than those of others: a slow chip takes longer for everything."""
        apart = self.imbalance >= MIN_IMBALANCE and self.imbalance >= MIN_IMBALANCE * self.others
        return apart and self.extra_ns >= MIN_SHARE * self.computing_ns


def is_of_experts(op_type: str) -> bool:
    """Whether an operator type computes for experts, and does not communicate."""
    return _OF_EXPERTS.match(op_type) is not None and _COMMUNICATES.search(op_type) is None


def expert_loads(sums: pa.Table, ranks: Sequence[ComparedRank], layout: Layout) -> list[ExpertLoad]:
    """The operator types of experts by group, uneven ones first, then by what the busiest rank takes more.

    `sums` is as `find_stragglers` takes it. Of ranks whose group is not known, those of one role are taken together.
    """
    times = _times(sums)
    if not times:
        return []
    found = [load for mine, group in _groups(ranks, layout) for load in _of_group(mine, group, times)]
    return sorted(found, key=lambda one: (not one.is_uneven, -one.extra_ns, one.op_type, one.group or 0, one.role))


def _times(sums: pa.Table) -> dict[str, dict[Member, int]]:
    """The time of each rank by type of experts."""
    numbers, words = codes(sums["op_type"])
    found: dict[str, dict[Member, int]] = {word: {} for word in sorted(words) if is_of_experts(word)}
    rows = np.flatnonzero(np.isin(numbers, [number for number, word in enumerate(words, start=1) if word in found]))
    for row in sums.take(pa.array(rows)).to_pylist() if len(rows) else ():
        member, mine = (row["rank_id"], row["device_id"]), found[row["op_type"]]
        mine[member] = mine.get(member, 0) + row["total_ns"]
    return found


def _groups(ranks: Sequence[ComparedRank], layout: Layout) -> Iterator[tuple[list[ComparedRank], int | None]]:
    """(the ranks of a group, its number; None for a role), each with two or more."""
    number_of = {rank: number for number, mine in layout.groups("ep").items() for rank in mine}
    found: dict[tuple[int, int], list[ComparedRank]] = {}
    for one in sorted(ranks, key=lambda one: tuple(-1 if number is None else number for number in one.member)):
        number = number_of.get(-1 if one.rank_id is None else one.rank_id)
        found.setdefault((1, one.role) if number is None else (0, number), []).append(one)
    for (is_role, number), mine in sorted(found.items()):
        if len(mine) > 1:
            yield mine, None if is_role else number


def _of_group(
    ranks: Sequence[ComparedRank], group: int | None, times: Mapping[str, Mapping[Member, int]]
) -> Iterator[ExpertLoad]:
    for op_type, by_member in times.items():
        mine = [by_member.get(one.member, 0) for one in ranks]
        if not any(mine):
            continue
        place = mine.index(max(mine))
        rest = [one.total_ns - time for one, time in zip(ranks, mine, strict=True)]
        yield ExpertLoad(
            op_type=op_type,
            group=group,
            role=ranks[place].role,
            ranks=len(ranks),
            busiest=ranks[place].member,
            max_ns=mine[place],
            mean_ns=sum(mine) / len(mine),
            others=rest[place] * len(rest) / sum(rest) if sum(rest) > 0 else 1.0,
            computing_ns=sum(one.total_ns for one in ranks) / len(ranks),
        )
