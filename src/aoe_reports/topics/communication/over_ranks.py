"""Communication of many ranks at once: groups over their ranks, how far apart ranks come to collectives, ranks all of whose links are slow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from aoe_reports.model.by_key import lists_by_key
from aoe_reports.model.rules import COMMUNICATION
from aoe_reports.model.texts import say
from aoe_reports.model.topics.communication import GroupOfRanks, Link, SlowEnd
from aoe_reports.stats.grouping import quantile
from aoe_reports.topics.communication.facts import OperatorTime, PeerWait, find_last_rank, grouped, own_waits

UNPAIRED = COMMUNICATION.rule(
    "unpaired-p2p",
    "info",
    say("the ranks of a group were all read, but together they send more often, or less often, than they receive"),
)
MIN_SLOW_LINKS = 2
"""One slow link is a link; that more of a rank are slow, and none is not, tells of the rank."""

_PAIRED = frozenset({"send", "receive"})
"""Operators of one direction; a batch of both tells of neither how many it holds."""

_Key = tuple[int | None, str | None, str]
"""Step, group and name: one operator on all of its ranks."""


def groups_over_ranks(
    operators: Sequence[OperatorTime],
    peer_waits: Iterable[PeerWait] = (),
    sizes: Mapping[str | None, int] | None = None,
) -> list[GroupOfRanks]:
    """Groups and types of operators over their ranks, those first of which the longest rank takes longest."""
    named = lists_by_key(((wait.step, wait.group, wait.op_name), wait) for wait in peer_waits)
    groups = [
        GroupOfRanks(
            group=group,
            type=kind,
            op_type=op_type,
            ranks=len({time.rank_id for time in mine}),
            operators=len(mine),
            **_over_ranks("elapsed", [(time.rank_id, time.elapsed_ns) for time in mine]),
            **_over_ranks("wait", [(time.rank_id, time.wait_ns) for time in mine]),
            **({} if kind == "p2p" else _skew(mine, named, (sizes or {}).get(group))),
        )
        for (group, kind, op_type), mine in grouped(
            operators, lambda time: (time.group, time.type, time.op_type)
        ).items()
    ]
    return sorted(groups, key=lambda one: -one.elapsed_worst_ns)


def _over_ranks(name: str, times: Iterable[tuple[int | None, int | None]]) -> dict[str, Any]:
    """The sums of single ranks, compared, as columns of this name; none where a time is not known."""
    sums: Counter[int | None] = Counter()
    for rank, time in times:
        if time is None:
            return {}
        sums[rank] += time
    worst = max(sums.values())
    whose = [rank for rank, time in sums.items() if time == worst]
    ordered = np.sort(np.array([*sums.values()], dtype=np.int64))
    return {
        f"{name}_median_ns": round(quantile(ordered, 0.5)),
        f"{name}_p95_ns": round(quantile(ordered, 0.95)),
        f"{name}_worst_ns": worst,
        f"{name}_worst_rank": whose[0] if len(whose) == 1 else None,
    }


def _skew(times: Sequence[OperatorTime], named: Mapping[_Key, Sequence[PeerWait]], size: int | None) -> dict[str, Any]:
    """The spread of arrivals: the first rank waits for the last one for as long as they come apart, whatever their clocks say."""
    by_operator = lists_by_key(((time.step, time.group, time.op_name), time) for time in times)
    spreads: list[int] = []
    last: Counter[int | None] = Counter()
    waited: Counter[int | None] = Counter()
    for key, mine in by_operator.items():
        arrival = _of_peers(named[key]) if key in named else _of_waits(mine, size)
        if arrival is not None:
            rank, waits = arrival
            spreads.append(max(waits))
            last[rank] += 1
            waited[rank] += sum(waits)
    if not spreads:
        return {}
    ordered = np.sort(np.array(spreads, dtype=np.int64))
    rank = min(last, key=lambda one: (-last[one], -waited[one], -1 if one is None else one))
    return {
        "collectives": len(spreads),
        "skew_median_ns": round(quantile(ordered, 0.5)),
        "skew_p95_ns": round(quantile(ordered, 0.95)),
        "skew_worst_ns": max(spreads),
        "last_rank": rank,
        "last_in": last[rank],
        "waited_for_last_ns": waited[rank],
    }


_Arrival = tuple[int | None, Sequence[int]]
"""(the rank that came last, how long each of the others waited)."""


def _of_peers(waits: Sequence[PeerWait]) -> _Arrival:
    """From timelines: the peer that is waited for longest by all together."""
    sums: Counter[int] = Counter()
    for wait in waits:
        sums[wait.peer] += wait.waited_ns
    peer = min(sums, key=lambda one: (-sums[one], one))
    return peer, [wait.waited_ns for wait in waits if wait.peer == peer]


def _of_waits(times: Sequence[OperatorTime], size: int | None) -> _Arrival | None:
    """From tables: the waits of the ranks that were read, compared."""
    waits = own_waits(times)
    if not waits:
        return None
    last = find_last_rank(times, complete=size == len({time.rank_id for time in times}))
    if last is not None:
        return last.rank, [ns for _, ns in last.waits]
    least = min(own for own, _ in waits)
    return None, [own - least for own, _ in waits]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unpaired:
    """A group of which all ranks were read, and whose sends and receives do not match."""

    group: str | None
    step: int | None
    sends: int
    receives: int
    by_rank: Mapping[int, tuple[int, int]]
    """(sends, receives) of each rank."""


def find_unpaired(operators: Iterable[OperatorTime], sizes: Mapping[str | None, int]) -> list[Unpaired]:
    """Groups and steps whose sends are not as many as their receives; those of groups that were not read as a whole are left out."""
    counts: dict[tuple[str | None, int | None], dict[int, tuple[int, int]]] = {}
    for operator in operators:
        if operator.type == "p2p" and operator.op_type in _PAIRED and operator.rank_id is not None:
            mine = counts.setdefault((operator.group, operator.step), {})
            sends, receives = mine.get(operator.rank_id, (0, 0))
            mine[operator.rank_id] = (sends + (operator.op_type == "send"), receives + (operator.op_type == "receive"))
    found = []
    for (group, step), by_rank in counts.items():
        sends, receives = (sum(count[side] for count in by_rank.values()) for side in (0, 1))
        if sends != receives and len(by_rank) == sizes.get(group):
            found.append(Unpaired(group=group, step=step, sends=sends, receives=receives, by_rank=by_rank))
    return sorted(found, key=lambda one: (-abs(one.sends - one.receives), one.group or "", one.step or 0))


def find_slow_ends(links: Iterable[Link]) -> list[SlowEnd]:
    """Ranks whose links from or to others are all slow, two at least; those first that lose most."""
    sides: dict[tuple[str | None, int, str], tuple[list[Link], list[Link]]] = {}
    for link in links:
        if link.compared:
            for rank, side in ((link.source_rank, 0), (link.destination_rank, 1)):
                sides.setdefault((link.group, rank, link.transport), ([], []))[side].append(link)
    found = []
    for (group, rank, transport), (sent, received) in sides.items():
        sends, receives = _are_slow(sent), _are_slow(received)
        if sends or receives:
            mine = [*(sent if sends else ()), *(received if receives else ())]
            mine.sort(key=lambda link: -(link.lost_ns or 0))
            found.append(
                SlowEnd(
                    group=group,
                    rank=rank,
                    transport=transport,
                    sends_slowly=sends,
                    receives_slowly=receives,
                    slow_links=tuple(mine),
                )
            )
    return sorted(found, key=lambda end: (-end.lost_ns, end.group is not None, end.group or "", end.rank))


def _are_slow(links: Sequence[Link]) -> bool:
    return len(links) >= MIN_SLOW_LINKS and all(link.slow for link in links)
