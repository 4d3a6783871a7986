"""Communication: how long operators took and waited, how fast each link is, which link is slow, whom the others wait for.

Frames are the tables `communication`, `communication_bandwidth` and `communication_matrix` (docs/tables.md) with a column
`rank_id`, rows of one job; times are whole nanoseconds, volumes bytes, bandwidths GB/s (1 byte a ns).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from statistics import median
from typing import Any, NotRequired, TypedDict, TypeVar

import numpy as np
import pyarrow as pa

from aoe_reports.model.arrays.columns import floats, integers, keep_where
from aoe_reports.model.by_key import lists_by_key
from aoe_reports.model.rules import COMMUNICATION
from aoe_reports.model.texts import say
from aoe_reports.model.topics.communication import SLOW_SHARE, AwaitedRank, Link, share_of_waiting
from aoe_reports.stats.sample import robust_sigma

Item = TypeVar("Item")

LOCAL = "LOCAL"
"""What the matrix calls a copy within one device: no link."""
WAIT_SHARE = 0.2
"""More waiting than this share of an operator says that somebody came late.

msprof's own threshold for slow ranks (Ascend/msprof, analysis/common_func/ms_constant/number_constant.py,
WAIT_TIME_THRESHOLD).
"""
SLOW_SIGMAS = 3.0
"""…and only where it is farther from the median than so many robust standard deviations: links that all differ are not slow."""
MIN_LINKS = 3
"""Of fewer links no one is out of line: of two that differ nothing tells which is the odd one."""
MIN_BYTES = 500_000
"""Less than this on a link tells of latency, not of bandwidth: msprof's smallest message that counts as large (0.5 MB).

In real captures the slowest of seven links is 13 % below their median at 16 KB, 7 % at 2 MB and 4 % at 38 MB.
"""
_MSPROF = "Ascend/msprof, analysis/common_func/ms_constant/number_constant.py"
SLOW_LINK = COMMUNICATION.rule(
    "slow-link",
    "info",
    say(
        "below {share:.0%} of the median bandwidth of links that carried a similar volume in the same "
        "operators (at least {least} MB), and an outlier in more than half of the comparisons",
        share=SLOW_SHARE,
        least=MIN_BYTES / 1e6,
    ),
    f"{_MSPROF} (BANDWIDTH_THRESHOLD, RDMA_MESSAGE_SIZE_THRESHOLD)",
)
SLOW_RANK = COMMUNICATION.rule(
    "slow-rank",
    "info",
    say(
        "the rank that the others wait for, for more than {share:.0%} of an operator, in more than half of the operators",
        share=WAIT_SHARE,
    ),
    f"{_MSPROF} (WAIT_TIME_THRESHOLD)",
)
LIKE_SIZE = 2.0
"""Links are compared where they carried the same volume within this factor: bandwidth grows with the size of messages."""

_BANDWIDTH_DIGITS = 1e-4

_STEP = re.compile(r"(?:step)?(\d{1,9})", re.ASCII)
_SUMMARY = re.compile(r"(?P<type>.+)-(?P<which>top\d+|middle|bottom\d+|total)", re.ASCII)
_TYPE_NAMES = (
    "allreduce", "allgather", "reducescatter", "alltoallvc", "alltoallv", "alltoall", "broadcast", "batchsendrecv",
    "send", "receive", "scatter", "gather", "reduce", "barrier",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class OperatorTime:
    """One communication operator on one rank; times in ns, null where they are not told."""

    rank_id: int | None
    step: int | None
    type: str | None
    """collective or p2p."""
    op_name: str
    op_type: str
    group: str | None
    start_ns: int | None
    elapsed_ns: int
    transit_ns: int | None = None
    wait_ns: int | None = None
    """Waiting for other ranks in all of the operator."""
    synchronization_ns: int | None = None
    """The part of it before the first transfer: it tells a rank that comes late from a link that is slow."""
    idle_ns: int | None = None

    @property
    def key(self) -> tuple[Any, ...]:
        """What is the same operator on every rank that takes part."""
        return (self.step, self.type, self.group, self.op_name)


@dataclass(frozen=True, slots=True)
class Transfer:
    """What one operator (or all of one type) sent over one link; `examples` of a type are told apart from its total."""

    rank_id: int | None
    """The rank that tells of it."""
    step: int | None
    type: str | None
    op_name: str
    op_type: str
    group: str | None
    source_rank: int
    """Ranks of a link are numbered within the group."""
    destination_rank: int
    transport: str
    transit_bytes: int
    transit_ns: int | None
    """Null where the source does not tell how long it took."""
    is_example: bool = False
    """Whether it is the best, middle or worst operator of its type and not all there were."""

    @property
    def link(self) -> tuple[Any, ...]:
        """(group, source, destination, transport)."""
        return (self.group, self.source_rank, self.destination_rank, self.transport)

    @property
    def is_link(self) -> bool:
        """Whether it went from one rank to another."""
        return self.transport != LOCAL and self.source_rank != self.destination_rank


@dataclass(frozen=True, slots=True)
class PeerWait:
    """The peer that one rank waited for longest before the first transfer of an operator."""

    rank_id: int | None
    op_name: str
    group: str | None
    step: int | None
    peer: int
    waited_ns: int
    elapsed_ns: int
    """How long the whole operator took."""


@dataclass(frozen=True, slots=True)
class GroupRanks:
    """What is known of the ranks of one group."""

    size: int
    """How many of them links begin or end at."""
    captured: frozenset[int] | None = None
    """The numbers, within the group, of those that were captured: each records the links that begin at itself. Null where no link tells."""
    ranks: Mapping[int, int] = field(default_factory=dict)
    """The rank in the job by number."""

    def number_of(self, rank: int) -> int | None:
        """The number of a rank of the job; null where it is not known."""
        return next((number for number, other in self.ranks.items() if other == rank), None)


class MatrixRow(TypedDict):
    """A row of `communication_matrix`."""

    rank_id: NotRequired[int | None]
    step: str | None
    type: str | None
    group: str | None
    op_name: str | None
    hccl_op_name: NotRequired[str | None]
    source_rank: int
    destination_rank: int
    transport: str | None
    transit_bytes: int | None
    transit_ns: int | None


@lru_cache(maxsize=1 << 14)
def type_of_operator(op_name: str) -> str:
    """The kind of communication in an operator's name (`hcom_allReduce__586_0_1` → allreduce), in lower case as in the matrix."""
    found = _SUMMARY.fullmatch(op_name)
    name = (found["type"] if found else op_name).casefold().replace("_", "")
    return next((word for word in _TYPE_NAMES if word in name), "other")


@lru_cache(maxsize=1 << 14)
def number_of_step(step: str | None) -> int | None:
    """`step50` and `50` are 50; null for the one part of an export without steps."""
    found = _STEP.fullmatch(step) if step is not None else None
    return int(found[1]) if found else None


def operators_of_steps(rank_id: int | None, frame: pa.Table) -> tuple[list[OperatorTime], list[int]]:
    """(the operators in the rows of `hccl_raw`, one a step; how many of each row cannot be read).

    Their names begin with the stream and the place in it, by which ranks differ. The links beside their times are numbered within groups that
    nothing names: the same number may be the rank itself, or one of another stage.
    """
    found, unusable = list[OperatorTime](), [0] * frame.num_rows
    for number, row in enumerate(frame.select(["step", "operators"]).to_pylist()):
        if row["step"] is None:
            continue  # the mean of all steps
        told = _json_object(row["operators"])
        unusable[number] += told is None
        for name, values in (told or {}).items():
            times = [_whole_ns(value) for value in values[1:3]] if isinstance(values, list) else []
            transit, wait = times if len(times) == 2 else (None, None)  # noqa: PLR2004 -- transfer, waiting
            if transit is None or wait is None:
                unusable[number] += 1
                continue
            op_type = type_of_operator(name)
            found.append(
                OperatorTime(
                    rank_id=rank_id,
                    step=row["step"],
                    type="p2p" if op_type in POINT_TO_POINT else "collective",
                    op_name=_STREAM.sub("", name),
                    op_type=op_type,
                    group=None,
                    start_ns=None,
                    elapsed_ns=transit + wait,
                    transit_ns=transit,
                    wait_ns=wait,
                )
            )
    return found, unusable


def in_order(operators: Sequence[OperatorTime]) -> list[OperatorTime]:
    """By step and name."""
    return sorted(operators, key=lambda one: (one.step or 0, one.op_name))


POINT_TO_POINT = frozenset({"send", "receive", "batchsendrecv"})
_STREAM = re.compile(r"^stream_\d+_\d+_", re.ASCII)
_MAX_MS = 1e12
"""Longer than 30 years is no time."""


def _json_object(text: str | None) -> dict[str, Any] | None:
    try:
        told = json.loads(text or "")
    except (ValueError, RecursionError):
        return None
    return told if isinstance(told, dict) else None


def _whole_ns(ms: Any) -> int | None:
    """Of a number of ms; null for anything else."""
    if isinstance(ms, bool) or not isinstance(ms, (int, float)) or not 0 <= ms < _MAX_MS:
        return None
    return round(ms * 1_000_000)


_AS_THEY_ARE = (
    "rank_id", "type", "group", "start_ns", "elapsed_ns", "transit_ns", "wait_ns", "synchronization_ns", "idle_ns",
)  # fmt: skip
"""The columns of `communication` that an OperatorTime takes unchanged."""


def operator_times(frame: pa.Table) -> list[OperatorTime]:
    """The rows of `communication`, in a stable order."""
    operators = [
        OperatorTime(
            **{name: row.get(name) for name in _AS_THEY_ARE},
            step=number_of_step(row["step"]),
            op_name=row["op_name"] or "",
            op_type=type_of_operator(row["op_name"] or ""),
        )
        for row in frame.to_pylist()
    ]
    return sorted(operators, key=lambda time: _order(time.rank_id, *time.key, time.start_ns, time.elapsed_ns))


def transfers_of_matrix(frame: pa.Table) -> tuple[list[Transfer], int]:
    """(the transfers in `communication_matrix`, each once; how many rows tell of them again).

    Since 2024 the matrix has no row an operator but the best, the middle and the worst ones of each type (`-top1`, …)
    beside the `-total`, which they are parts of; where there is no total, each example counts once.
    """
    by_type: dict[tuple[Any, ...], list[tuple[str | None, MatrixRow]]] = {}
    for row in frame.to_pylist():
        found = _SUMMARY.fullmatch(row["op_name"] or "")
        key = (row.get("rank_id"), row["step"], row["type"], row["group"], found["type"] if found else None)
        by_type.setdefault(key, []).append((found["which"] if found else None, row))
    transfers: list[Transfer] = []
    repeated = 0
    for key, rows in by_type.items():
        chosen = [_transfer(row) for _, row in rows] if key[-1] is None else _each_once(rows)
        repeated += len(rows) - len(chosen)
        transfers += chosen
    return transfers, repeated


def _each_once(rows: Sequence[tuple[str | None, MatrixRow]]) -> list[Transfer]:
    """Of the rows of one type the total of each link, else its examples."""
    totals = {_link_of(row) for which, row in rows if which == "total"}
    once: dict[tuple[Any, ...], Transfer] = {}
    for which, row in rows:
        if which == "total":
            once[_link_of(row)] = _transfer(row)
        elif _link_of(row) not in totals:
            name = row.get("hccl_op_name") or row["op_name"]
            once.setdefault((*_link_of(row), name), replace(_transfer(row), is_example=True))
    return list(once.values())


def _link_of(row: MatrixRow) -> tuple[Any, ...]:
    return (row["source_rank"], row["destination_rank"], row["transport"])


def _transfer(row: MatrixRow) -> Transfer:
    name = row["op_name"] or ""
    return Transfer(
        rank_id=row.get("rank_id"),
        step=number_of_step(row["step"]),
        type=row["type"],
        op_name=name,
        op_type=type_of_operator(name),
        group=row["group"],
        source_rank=row["source_rank"],
        destination_rank=row["destination_rank"],
        transport=row["transport"] or "unknown",
        transit_bytes=row["transit_bytes"] or 0,
        transit_ns=row["transit_ns"],
    )


def links_of(transfers: Iterable[Transfer], waits: Mapping[tuple[Any, ...], int] | None = None) -> list[Link]:
    """Transfers summed by link (group, source, destination, transport), each compared with its likes; slowest first.

    A comparison holds the links of one operator of a step (of point-to-point operators: of all of their type), over one
    transport, that carried like volumes. `waits` are ns by (group, source, destination).
    """
    every = list(transfers)
    standings: dict[tuple[Any, ...], list[int]] = {}
    for likes in _comparisons(every):
        _compare(likes, standings)
    links = []
    for link, (size, time, count, untimed) in _sums_of_links(every).items():
        group, source, destination, transport = link
        compared, slow_in, expected, took = standings.get(link, (0, 0, None, None))
        links.append(
            Link(
                group=group,
                source_rank=source,
                destination_rank=destination,
                transport=transport,
                transit_bytes=size,
                transit_ns=None if untimed else time,
                transfers=count,
                wait_ns=(waits or {}).get(link[:3]),
                compared=compared,
                slow_in=slow_in,
                expected_ns=expected,
                compared_ns=took,
            )
        )
    return sorted(links, key=_slowest_first)


def _sums_of_links(transfers: Iterable[Transfer]) -> dict[tuple[Any, ...], list[int]]:
    """(bytes, ns, transfers, those of which no time is told) by link."""
    sums: dict[tuple[Any, ...], list[int]] = {}
    for transfer in transfers:
        entry = sums.setdefault(transfer.link, [0, 0, 0, 0])
        entry[0] += transfer.transit_bytes
        entry[1] += transfer.transit_ns or 0
        entry[2] += 1
        entry[3] += transfer.transit_ns is None
    return sums


def _slowest_first(link: Link) -> tuple[Any, ...]:
    share = link.relative_bandwidth_ratio
    place = _order(link.group, link.source_rank, link.destination_rank, link.transport)
    return (share is None, share or 0.0, -(link.transit_ns or 0), place)


Volumes = dict[tuple[Any, ...], list[int]]
"""(bytes, ns) by link."""


def _comparisons(transfers: Sequence[Transfer]) -> list[Volumes]:
    """The links that did the same."""
    alike: dict[tuple[Any, ...], Volumes] = {}
    for transfer in transfers:
        if not transfer.is_link or not transfer.transit_bytes or not transfer.transit_ns:
            continue
        # each pair of a pipeline has operators of its own: only their type is the same
        same = (transfer.op_type,) if transfer.type == "p2p" else (transfer.group, transfer.op_name)
        volumes = alike.setdefault((transfer.step, transfer.type, transfer.transport, *same), {})
        entry = volumes.setdefault(transfer.link, [0, 0])
        entry[0] += transfer.transit_bytes
        entry[1] += transfer.transit_ns
    found = []
    for volumes in alike.values():
        middle = median(size for size, _ in volumes.values())
        least = max(middle / LIKE_SIZE, MIN_BYTES)
        like = {link: entry for link, entry in volumes.items() if least <= entry[0] <= middle * LIKE_SIZE}
        if len(like) >= MIN_LINKS:
            found.append(like)
    return found


def _compare(likes: Volumes, standings: dict[tuple[Any, ...], list[int]]) -> None:
    """Enter how each link stands among its likes: (compared, out of line, ns expected, ns taken) by link."""
    speeds = {link: size / time for link, (size, time) in likes.items()}
    middle, sigma = median(speeds.values()), robust_sigma(list(speeds.values()))
    for link, (size, time) in likes.items():
        entry = standings.setdefault(link, [0, 0, 0, 0])
        entry[0] += 1
        entry[1] += speeds[link] < min(SLOW_SHARE * middle, middle - SLOW_SIGMAS * sigma)
        entry[2] += round(size / middle)
        entry[3] += time


def find_slow_links(frame: pa.Table) -> list[Link]:
    """The slow links in `communication_matrix` of any number of ranks of one job, the slowest first (see Link.slow)."""
    transfers, _ = transfers_of_matrix(frame)
    return [link for link in links_of(transfers) if link.slow]


def find_bandwidth_mismatches(frame: pa.Table) -> list[dict[str, Any]]:
    """Rows of `communication_matrix` or `communication_bandwidth` whose bandwidth is not their volume by their time.

    The exporter rounds bandwidths to 4 digits, volumes to bytes and times to nanoseconds (here); a row without time has no
    bandwidth, and nothing goes anywhere in no time.
    """
    sizes, sized = integers(frame["transit_bytes"])
    times, timed = integers(frame["transit_ns"])
    stated, told = floats(frame["bandwidth_gb_per_s"])
    nothing = times == 0
    computed = sizes / np.where(nothing, 1, times)
    rounding = 1 / np.where(nothing, 1, times) + 1 / np.where(sizes == 0, np.inf, sizes)
    apart = np.abs(stated - computed) > _BANDWIDTH_DIGITS + np.maximum(stated, computed) * rounding
    wrong = np.where(nothing, (sizes > 0) | (stated > 0), apart) & sized & timed & told
    columns = ["op_name", "transport", "transit_bytes", "transit_ns", "bandwidth_gb_per_s"]
    mismatches: list[dict[str, Any]] = frame.select(columns).filter(keep_where(wrong)).to_pylist()
    return mismatches


def ranks_of_groups(transfers: Iterable[Transfer]) -> dict[str | None, frozenset[int]]:
    """The ranks of each group that any link begins or ends at."""
    found: dict[str | None, set[int]] = {}
    for transfer in transfers:
        found.setdefault(transfer.group, set()).update((transfer.source_rank, transfer.destination_rank))
    return {group: frozenset(ranks) for group, ranks in found.items()}


def ranks_of_numbers(transfers: Iterable[Transfer]) -> dict[tuple[str | None, int], int]:
    """The rank in the job of each rank of a group, by (group, number), where it is certain: a rank tells of links that begin at itself."""
    sources: dict[tuple[str | None, int], set[int]] = {}
    for transfer in transfers:
        if transfer.rank_id is not None and transfer.is_link:
            sources.setdefault((transfer.group, transfer.rank_id), set()).add(transfer.source_rank)
    ranks: dict[tuple[str | None, int], set[int]] = {}
    for (group, rank), numbers in sources.items():
        if len(numbers) == 1:
            ranks.setdefault((group, next(iter(numbers))), set()).add(rank)
    return {number: next(iter(mine)) for number, mine in ranks.items() if len(mine) == 1}


def ranks_by_group(
    transfers: Sequence[Transfer], members: Iterable[tuple[int, ...]] = ()
) -> dict[str | None, GroupRanks]:
    """What links record of the ranks of each group, and the `members` of groups that are written down without the names that operators have."""
    of_links: dict[str | None, dict[int, int]] = {}
    for (group, number), rank in ranks_of_numbers(transfers).items():
        of_links.setdefault(group, {})[number] = rank
    captured: dict[str | None, set[int]] = {}
    for transfer in transfers:
        if transfer.is_link:
            captured.setdefault(transfer.group, set()).add(transfer.source_rank)
    found = {}
    for group, numbers in ranks_of_groups(transfers).items():
        certain = of_links.get(group, {})
        fitting = [ranks for ranks in members if certain and certain.items() <= dict(enumerate(ranks)).items()]
        by_number: dict[int, set[int]] = {}
        for number, rank in ((number, rank) for ranks in fitting for number, rank in enumerate(ranks)):
            by_number.setdefault(number, set()).add(rank)
        ranks = {number: next(iter(known)) for number, known in by_number.items() if len(known) == 1} | certain
        mine = captured.get(group)
        found[group] = GroupRanks(len(numbers), None if mine is None else frozenset(mine), ranks)
    return found


_NOBODY_KNOWN = GroupRanks(0)
_Awaited = tuple[int | None, int | None, bool]
"""(the rank in the job, its number within the group, whether it was not captured)."""
_Waits = list[tuple[int | None, int]]
"""(rank, ns) of each that waits."""


def find_awaited_ranks(
    operators: Iterable[OperatorTime],
    peer_waits: Iterable[PeerWait] = (),
    groups: Mapping[str | None, GroupRanks] | None = None,
) -> list[AwaitedRank]:
    """Which ranks the others wait for, by group, the longest awaited first.

    A timeline names the peer of each wait: that is used where it is known. Else the ranks that were read are compared,
    operator by operator: others wait for the one that waits least before the first transfer. Where that one waits, too,
    it is a rank that was not captured (`groups` has the number of ranks of each group, and which these are). Less than WAIT_SHARE of an
    operator is no waiting.
    """
    waits: dict[tuple[Any, ...], dict[_Awaited, _Waits]] = {}  # by awaited rank, how long each of the others waits
    named: set[tuple[Any, ...]] = set()
    groups = groups or {}
    for wait in peer_waits:
        whose = (wait.group, wait.step, wait.op_name)
        named.add(whose)
        if wait.waited_ns > WAIT_SHARE * wait.elapsed_ns:
            known = groups.get(wait.group, _NOBODY_KNOWN)
            is_absent = known.captured is not None and wait.peer not in known.captured
            awaited = (known.ranks.get(wait.peer), wait.peer, is_absent)
            waits.setdefault(whose, {}).setdefault(awaited, []).append((wait.rank_id, wait.waited_ns))
    by_operator: dict[tuple[Any, ...], list[OperatorTime]] = {}
    for operator in operators:
        is_named = (operator.group, operator.step, operator.op_name) in named
        # operators between two ranks have one name on every pair
        if operator.rank_id is not None and operator.type != "p2p" and not is_named:
            by_operator.setdefault(operator.key, []).append(operator)
    for key, times in by_operator.items():
        known = groups.get(key[2], _NOBODY_KNOWN)
        last = find_last_rank(times, complete=known.size == len({time.rank_id for time in times}))
        if last is not None:
            number = None if last.rank is None else known.number_of(last.rank)
            waits[(key[2], key[0], key[1], key[3])] = {(last.rank, number, last.is_absent): last.waits}
    return _summed_waits(waits)


@dataclass(frozen=True, slots=True)
class LastRank:
    """The rank that others wait for in one operator."""

    rank: int | None
    """Null for one that was not captured, or where several came last."""
    is_absent: bool
    waits: list[tuple[int | None, int]]
    """(rank, ns) of each that waits for it."""


def find_last_rank(times: Sequence[OperatorTime], *, complete: bool) -> LastRank | None:
    """The rank that others wait for in one operator; None if none waits."""
    waited = own_waits(times)
    if not any(_is_waiting(own, time) for own, time in waited):
        return None
    least, last = min(waited, key=lambda entry: (entry[0], entry[1].elapsed_ns, entry[1].rank_id or 0))
    shortest = {time.rank_id for own, time in waited if (own, time.elapsed_ns) == (least, last.elapsed_ns)}
    # in a group of which not all is known the last one here may stand idle because another one is missing
    is_other = not complete and (_is_waiting(least, last) or _stands_idle(last))
    if is_other or len(shortest) > 1:
        return LastRank(None, is_other, [(time.rank_id, own) for own, time in waited])
    return LastRank(last.rank_id, False, [(time.rank_id, own - least) for own, time in waited])


def own_waits(times: Sequence[OperatorTime]) -> list[tuple[int, OperatorTime]]:
    """(ns before the first transfer, the operator) by rank; nothing of one rank alone, which cannot be compared."""
    waits = [(time.wait_ns if time.synchronization_ns is None else time.synchronization_ns, time) for time in times]
    waited = [(own, time) for own, time in waits if own is not None]
    return waited if len({time.rank_id for _, time in waited}) > 1 else []


def _is_waiting(waited_ns: int, time: OperatorTime) -> bool:
    return (share_of_waiting(waited_ns, time.transit_ns) or 0.0) > WAIT_SHARE


def _stands_idle(time: OperatorTime) -> bool:
    """Whether more than WAIT_SHARE of an operator is no transfer."""
    return time.transit_ns is not None and time.elapsed_ns - time.transit_ns > WAIT_SHARE * time.elapsed_ns


def _summed_waits(waits: Mapping[tuple[Any, ...], Mapping[_Awaited, _Waits]]) -> list[AwaitedRank]:
    """By group and rank; the first of a key is the group, an operator belongs to the rank that is waited for longest."""
    sums: dict[tuple[Any, _Awaited], list[int]] = {}  # operators, ns of the longest of each
    waiting: dict[tuple[Any, _Awaited], dict[int | None, int]] = {}
    groups: dict[Any, list[int]] = {}  # operators, ns
    for (group, *_), by_rank in waits.items():
        totals = {awaited: sum(ns for _, ns in mine) for awaited, mine in by_rank.items()}
        most = min(totals, key=lambda awaited: (-totals[awaited], _order(*awaited)))
        of_group = groups.setdefault(group, [0, 0])
        of_group[0] += 1
        of_group[1] += sum(totals.values())
        for awaited, mine in by_rank.items():
            entry = sums.setdefault((group, awaited), [0, 0])
            entry[0] += awaited == most
            entry[1] += max(ns for _, ns in mine)
            by_waiting = waiting.setdefault((group, awaited), {})
            for rank, ns in mine:
                by_waiting[rank] = by_waiting.get(rank, 0) + ns
    ranks = [
        AwaitedRank(
            group=group,
            rank=awaited[0],
            number=awaited[1],
            is_absent=awaited[2],
            operators=operators,
            of_operators=groups[group][0],
            waited_ns=sum(waiting[(group, awaited)].values()),
            of_ns=groups[group][1],
            longest_ns=longest,
            waited_by=tuple(waiting[(group, awaited)].items()),
        )
        for (group, awaited), (operators, longest) in sums.items()
    ]
    return sorted(ranks, key=lambda late: (-late.waited_ns, _order(late.group, late.rank, late.number)))


def find_slow_ranks(frame: pa.Table) -> list[AwaitedRank]:
    """The slow ranks in `communication` of several ranks of one job (see AwaitedRank.slow, find_awaited_ranks)."""
    return [awaited for awaited in find_awaited_ranks(operator_times(frame)) if awaited.slow]


def summed(values: Iterable[int | None]) -> int | None:
    """The sum of what is known of all; null where it is not."""
    every = list(values)
    known = [value for value in every if value is not None]
    return sum(known) if every and len(known) == len(every) else None


def grouped(values: Iterable[Item], key: Callable[[Item], tuple[Any, ...]]) -> dict[tuple[Any, ...], list[Item]]:
    """Values by a key, the keys in a stable order."""
    lists = lists_by_key((key(value), value) for value in values)
    return {at: lists[at] for at in sorted(lists, key=lambda at: _order(*at))}


def _order(*values: Any) -> tuple[Any, ...]:
    """A key to sort by where anything may be null."""
    return tuple((value is not None, value if value is not None else 0) for value in values)
