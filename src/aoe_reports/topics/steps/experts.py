"""Experts: how evenly the ranks of an expert parallel group share the operators of theirs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa

from aoe_reports.facts.parallel import Layout
from aoe_reports.model.arrays.columns import codes
from aoe_reports.model.topics.stragglers import ComparedRank, ExpertLoad, Member

_OF_EXPERTS = re.compile(r"(?:grouped_?mat_?mul|moe)", re.IGNORECASE)
_COMMUNICATES = re.compile(r"all_?to_?all|dispatch|combine|all_?gather|all_?reduce|reduce_?scatter", re.IGNORECASE)
"""In the time of these a rank waits for others, so that the one with least work takes longest."""


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
    return sorted(
        found, key=lambda one: (not one.is_uneven, -one.extra_ns, one.op_type, one.expert_group or 0, one.role)
    )


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
        mine = [by_member.get(rank.member, 0) for rank in ranks]
        if not any(mine):
            continue
        place = mine.index(max(mine))
        rest = [one.computing_ns - time for one, time in zip(ranks, mine, strict=True)]
        yield ExpertLoad(
            op_type=op_type,
            expert_group=group,
            role=ranks[place].role,
            ranks=len(ranks),
            rank_id=ranks[place].rank_id,
            device_id=ranks[place].device_id,
            max_ns=mine[place],
            mean_ns=sum(mine) / len(mine),
            rest=rest[place] * len(rest) / sum(rest) if sum(rest) > 0 else 1.0,
            computing_ns=sum(rank.computing_ns for rank in ranks) / len(ranks),
        )
