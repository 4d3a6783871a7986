"""Whom the ranks of a job wait for: ranks that take longer than others to compute the same work."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist, median
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from aoe_reports.facts.tasks import TaskSet
from aoe_reports.model.arrays.columns import (
    Floats,
    Ints,
    codes,
    column_of,
    column_of_words,
    distinct,
    distinct_places,
    exact_sums_by,
    integers,
    values_of,
)
from aoe_reports.model.by_key import lists_by_key
from aoe_reports.model.texts import say
from aoe_reports.model.topics.stragglers import CAUSES, STATES, ComparedHost, ComparedRank, Member, TypeLoss
from aoe_reports.stats.grouping import is_communication
from aoe_reports.stats.sample import MAD_TO_SIGMA
from aoe_reports.topics.steps.pipeline import Stage, stages_of

ROLE_TOLERANCE = 0.05
"""Peers run an operator type equally often if no gap in their counts is larger: one more layer in 20 is other work, a call more is not."""
MIN_SHARE_OF_ROLE = 0.001
"""A type below this share of computing on every rank tells no roles apart: the rank that writes the log keeps its peers."""
MIN_SLOWER = 0.02
"""A slow rank computes longer than its peers by more than this: the ranks of the real exports of 2025-01 differ by at most 0.4 %."""
MIN_DEVIATIONS = 4.0
"""And by more than so many robust standard deviations, of many ranks by more, so that"""
QUIET_JOBS_NAMED = 0.005
"""of jobs whose ranks only scatter, normally, a share as small as this is expected to name one."""
MAX_MISSING_CALLS, MAX_MISSING_SHARE = 2, 0.005
"""A rank without peers is compared with ranks that run so many calls more (or such a share): rows that are damaged and left out make no
other work, one more layer in 20 is 5 %, and with calls missing no rank becomes slow."""
MAX_ROLES_TRIED = 16
"""Of so many of the largest roles one is sought for it."""
MIN_PEERS = 4
"""With fewer peers the scatter of ranks is not known, and there is no verdict."""
MAX_OPERATORS = 3
"""So many operator types of a rank are named."""
MIN_ALIKE = 0.8
"""All operators are slower where this share of the types is, and the rank without its largest loss keeps this part of its excess:"""
MIN_REST = 0.5

MIN_MORE_WORK = 0.5
"""A rank is longer because it runs more calls where these take this part of its excess."""

State = Literal["slow", "usual"]
Cause = Literal["all operators", "one operator", "more calls"]


def find_stragglers(sums: pa.Table, stages: Mapping[int, int] = MappingProxyType({})) -> list[ComparedRank]:
    """Every rank of a run against its peers: slow ranks first, then by lost time, then by rank.

    `sums` has a row for each rank and operator type, computing only: rank_id, device_id, op_type, count, total_ns.
    `stages` are those of a pipeline by rank, as far as they are known: ranks of one stage are peers, whatever they run.
    """
    if not sums.num_rows:
        return []
    members, rows = _members(sums)
    numbers, words = codes(sums["op_type"])
    order = sorted(range(len(words)), key=words.__getitem__)
    places: Ints = np.zeros(len(words) + 1, dtype=np.int64)
    places[np.array(order, dtype=np.int64) + 1] = np.arange(1, len(words) + 1)
    types, names = places[numbers], [None, *(words[number] for number in order)]
    count, total_ns = integers(sums["count"])[0], integers(sums["total_ns"])[0]
    place, shape = rows * len(names) + types, (len(members), len(names))
    counts, totals = (
        exact_sums_by(place, values, len(members) * len(names)).reshape(shape) for values in (count, total_ns)
    )
    roles = _of_stages(_roles(counts, totals), [stages.get(-1 if rank is None else rank, -1) for rank, _ in members])
    found = [
        one
        for role in range(int(roles.max()) + 1)
        for one in _compared(_Role(role + 1, np.flatnonzero(roles == role), members, names), counts, totals)
    ]
    return sorted(found, key=lambda one: (one.state != "slow", one.lost_ns is None, -(one.lost_ns or 0), _key(one)))


def _key(rank: ComparedRank) -> tuple[int, ...]:
    return tuple(-1 if number is None else number for number in rank.member)


def _members(sums: pa.Table) -> tuple[list[Member], Ints]:
    """(rank and device of each rank in their order, unknown ones first; which of them each row is of)."""
    ranks, of_ranks = _distinct(sums["rank_id"])
    devices, of_devices = _distinct(sums["device_id"])
    present, rows = distinct_places(of_ranks * len(devices) + of_devices)
    pairs = (divmod(number, len(devices)) for number in present.tolist())
    return [(ranks[rank], devices[device]) for rank, device in pairs], rows


def _distinct(column: pa.ChunkedArray) -> tuple[list[int | None], Ints]:
    """(the distinct numbers, rising, None first; the place of each row's among them)."""
    if pa.types.is_null(column.type):
        return [None], np.zeros(len(column), dtype=np.int64)
    values, known = integers(column.cast(pa.int64()))
    numbers, places = distinct_places(values[known])
    found: Ints = np.zeros(len(values), dtype=np.int64)
    found[known] = places + 1
    return [None, *numbers.tolist()], found


_INT64_MAX = 2**63 - 1


def _roles(counts: Ints, totals: Ints) -> Ints:
    """The role of each rank, numbered from 0 in the order of their first ranks.

    Ranks are parted where the sorted counts of a type have a gap, until no type parts any more: a gap stays one where ranks
    are left out, so neither the order of types nor that of ranks changes anything.
    """
    whole = totals.sum(axis=1)
    matters = (totals > MIN_SHARE_OF_ROLE * whole[:, None]).any(axis=0)
    varied = [of_type for of_type in counts.T[matters].astype(np.float64) if of_type.min() != of_type.max()]
    roles: Ints = np.zeros(len(counts), dtype=np.int64)
    before = -1
    while before != (now := int(roles.max())):
        before = now
        for of_type in varied:
            roles = _parted(roles, of_type)
    return _in_order(_with_lone_ranks(roles, counts))


def _in_order(roles: Ints) -> Ints:
    """The same roles, numbered from 0 in the order of their first ranks."""
    _, first, places = np.unique(roles, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[places]


def _of_stages(roles: Ints, stages: Sequence[int]) -> Ints:
    """The roles, all ranks of a stage in that of more than half of them; if there is none, the stage is a role of its own.

    So stages that do the same work stay peers. A stage of -1 is not known.
    """
    found, told = roles.copy(), np.array(stages, dtype=np.int64)
    for stage in distinct(told[told >= 0]).tolist():
        mine = np.flatnonzero(told == stage)
        each, sizes = np.unique(roles[mine], return_counts=True)
        found[mine] = each[sizes.argmax()] if 2 * sizes.max() > len(mine) else len(roles) + stage
    return _in_order(found)


def _with_lone_ranks(roles: Ints, counts: Ints) -> Ints:
    """The roles, those with one rank taken into a larger one that runs hardly more calls."""
    sizes = np.bincount(roles)
    larger = [role for role in np.argsort(-sizes, kind="stable")[:MAX_ROLES_TRIED].tolist() if sizes[role] > 1]
    if not larger or sizes.min() > 1:
        return roles
    usual = np.array([_medians(counts[roles == role]) for role in larger])
    found = roles.copy()
    for rank in np.flatnonzero(sizes[roles] == 1):
        missing = usual - counts[rank]
        most = np.maximum(MAX_MISSING_CALLS, MAX_MISSING_SHARE * usual.sum(axis=1))
        alike = (missing >= 0).all(axis=1) & (missing.sum(axis=1) <= most)
        if alike.any():
            found[rank] = larger[int(alike.argmax())]
    return found


def _parted(roles: Ints, counts: Floats) -> Ints:
    """Roles whose ranks run one type equally often."""
    order = np.lexsort((counts, roles))
    role, count = roles[order], counts[order]
    apart = (role[1:] != role[:-1]) | (count[1:] - count[:-1] > ROLE_TOLERANCE * count[:-1])
    found: Ints = np.zeros(len(roles), dtype=np.int64)
    found[order[1:]] = np.cumsum(apart)
    return found


def _medians(values: Any) -> Any:
    """The median of each column, a whole number: between two values the lower half."""
    ordered = np.sort(values, axis=0)
    low, high = ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]
    return low + (high - low) // 2


@dataclass(frozen=True, slots=True)
class _Role:
    """Ranks of one role."""

    number: int
    mine: Ints
    """Which of all ranks."""
    members: Sequence[Member]
    names: Sequence[str | None]


def _compared(role: _Role, counts: Ints, totals: Ints) -> Iterator[ComparedRank]:
    """The ranks of one role."""
    values, calls = totals[role.mine], counts[role.mine]
    whole, medians = values.sum(axis=1), _medians(values)
    middle = int(_medians(whole))
    lost, usual = values - medians, medians > 0
    slower_types = ((lost > 0) & usual).sum(axis=1).tolist()
    spread = MAD_TO_SIGMA * int(_medians(np.abs(whole - middle)))
    largest = np.argsort(-lost, axis=1, kind="stable")[:, :MAX_OPERATORS].tolist()
    peers = len(role.mine) - 1
    judged = peers >= MIN_PEERS
    every, more_work = calls.sum(axis=1), _more_work(values, calls, medians)
    usual_calls = int(_medians(every))
    least = _least_deviations(len(role.mine))
    for place, (number, total) in enumerate(zip(role.mine.tolist(), whole.tolist(), strict=True)):
        operators = tuple(
            TypeLoss(
                op_type=role.names[of_type],
                count=int(calls[place, of_type]),
                total_ns=int(values[place, of_type]),
                median_ns=int(medians[of_type]),
            )
            for of_type in largest[place]
            if lost[place, of_type] > 0
        )
        rank_id, device_id = role.members[number]
        more = total - middle > MIN_SLOWER * middle
        slow = more and total - middle > least * spread
        alike = slower_types[place] >= MIN_ALIKE * usual.sum()
        cause: Cause | None = None
        if slow or (more and not judged):
            extra_calls = more_work[place] >= MIN_MORE_WORK * (total - middle)
            cause = "more calls" if extra_calls else _cause(total, middle, operators, alike=alike)
        yield ComparedRank(
            rank_id=rank_id,
            device_id=device_id,
            role=role.number,
            peers=peers,
            computing_ns=total,
            median_ns=middle if peers else None,
            deviations=round((total - middle) / spread, 6) if spread and judged else None,
            state=say(STATES["slow" if slow else "usual"]) if judged else None,
            is_notable=slow if judged else more,
            slower_types=slower_types[place] if peers else None,
            types=int(usual.sum()) if peers else None,
            operators=operators,
            cause=None if cause is None else say(CAUSES[cause]),
            calls=int(every[place]),
            median_calls=usual_calls,
        )


def _more_work(values: Any, calls: Any, medians: Any) -> Floats:
    """What the calls that each rank runs more than its peers would take them: at their time of a call."""
    usual = _medians(calls)
    a_call = np.divide(medians, usual, out=np.zeros(len(usual)), where=usual > 0, casting="unsafe")
    extra = (calls - usual) * a_call + np.where(usual == 0, values, 0)
    found: Floats = extra.astype(np.float64).sum(axis=1)
    return found


def compare_hosts(ranks: Sequence[ComparedRank], hosts: Mapping[Member, str]) -> list[ComparedHost]:
    """The hosts of a run of several, slow ones first; none where fewer than two have two ranks with a verdict.

    A host is slow if all of its ranks are, or if it is as far from the other hosts as a slow rank is from its peers.
    """
    by_host = lists_by_key(
        (hosts[rank.member], rank)
        for rank in ranks
        if rank.state is not None and rank.median_ns and rank.member in hosts
    )
    several = {host: mine for host, mine in by_host.items() if len(mine) > 1}
    if len(several) < 2:  # noqa: PLR2004 -- nothing to compare with
        return []
    medians = {
        host: median(one.computing_ns / (one.median_ns or 1) - 1 for one in mine) for host, mine in several.items()
    }
    middle = median(medians.values())
    spread = MAD_TO_SIGMA * median(abs(one - middle) for one in medians.values())
    judged = len(several) > MIN_PEERS
    found = []
    for host, mine in several.items():
        slow_ranks = sum(one.state == "slow" for one in mine)
        more = medians[host] - middle
        far = judged and more > MIN_SLOWER and more > _least_deviations(len(several)) * spread
        found.append(
            ComparedHost(
                host=host,
                ranks=len(mine),
                slow_ranks=slow_ranks,
                slower=medians[host],
                state=say(STATES["slow" if far or slow_ranks == len(mine) else "usual"]),
            )
        )
    return sorted(found, key=lambda one: (one.state != "slow", -one.slower, one.host))


def compare_stages(
    ranks: Sequence[ComparedRank], stages: Mapping[int, int], steps: Mapping[Member, int]
) -> tuple[Stage, ...]:
    """The stages of a pipeline by the computing of their ranks, of a step where the number of steps is known of all.

    None where the stage of a rank is not known, or a stage has one rank only: it may be slow itself.
    """
    known = all(steps.get(one.member) for one in ranks)
    mine = {one.rank_id: one for one in ranks if one.rank_id is not None}
    each = {rank: steps[one.member] if known else 1 for rank, one in mine.items()}
    found = stages_of({rank: one.computing_ns / each[rank] for rank, one in mine.items()}, stages)
    if len(mine) < len(ranks) or any(one.ranks == 1 for one in found):
        return ()
    calls = [median(mine[rank].calls / each[rank] for rank in one.members) for one in found]
    usual = median(calls) if calls else 0
    return tuple(
        replace(one, more_calls=number / usual - 1 if usual else 0.0) for one, number in zip(found, calls, strict=True)
    )


def _least_deviations(ranks: int) -> float:
    """By how many robust standard deviations one of so many ranks has to be longer to be slow."""
    return max(MIN_DEVIATIONS, NormalDist().inv_cdf(1 - QUIET_JOBS_NAMED / ranks))


def _cause(total_ns: int, median_ns: int, operators: Sequence[TypeLoss], *, alike: bool) -> Cause | None:
    """By the rest of a rank that loses time: what is left of its excess without the type that it loses most in."""
    if not operators:
        return None  # medians do not add up: it may be longer in none
    most = operators[0]
    rest, usual = total_ns - most.total_ns, median_ns - most.median_ns
    if usual <= 0:
        return None  # it runs nothing else
    kept = (rest - usual) * median_ns >= MIN_REST * (total_ns - median_ns) * usual
    if kept:
        return "all operators" if alike else None
    return "one operator"


def median_waits(ranks: Sequence[ComparedRank], waits: Mapping[Member, float]) -> dict[int, float]:
    """The median of each role of what its ranks wait, of those of which that is known."""
    by_role = lists_by_key((rank.role, waits[rank.member]) for rank in ranks if rank.member in waits)
    return {role: median(values) for role, values in by_role.items()}


def sums_of_types(sets: Sequence[TaskSet]) -> pa.Table:
    """The computing of some devices by operator type, as `find_stragglers` takes it."""
    parts = [_sums_of(tasks) for tasks in sets]
    return pa.concat_tables(parts) if parts else _NO_SUMS.empty_table()


_NO_WORDS = pa.nulls(0, pa.string())
_NO_SUMS = pa.schema(
    [
        ("rank_id", pa.int64()),
        ("device_id", pa.int64()),
        ("op_type", pa.dictionary(pa.int32(), pa.string())),
        ("count", pa.int64()),
        ("total_ns", pa.int64()),
    ]
)


def _sums_of(tasks: TaskSet) -> pa.Table:
    """The same of one."""
    computing = ~is_communication(tasks.frame["task_type"])
    types, words = codes(tasks.frame["op_type"])
    times, known = integers(tasks.frame["total_time_ns" if tasks.grouped else "task_duration_ns"])
    calls = integers(tasks.frame["count"])[0] if tasks.grouped else np.ones_like(times)
    counted = computing & known
    counts, totals = (_sums(types[counted], each[counted], len(words) + 1) for each in (calls, times))
    present = np.flatnonzero(counts)
    places: Any = present.astype(np.int32) - 1  # words are counted in int32
    every = np.ones(len(present), dtype=bool)
    columns = [
        _repeated(tasks.rank_id, len(present)),
        _repeated(tasks.device_id, len(present)),
        column_of_words(places, present > 0, values_of(words) if words else _NO_WORDS),
        column_of(counts[present], every),
        column_of(totals[present], every),
    ]
    return pa.table(columns, schema=_NO_SUMS)


def _sums(places: Ints, values: Ints, length: int) -> Ints:
    """The sum of the values at each place; what does not fit an int64, 292 years, counts as the largest one."""
    sums: Ints = np.minimum(exact_sums_by(places, values, length), _INT64_MAX).astype(np.int64)
    return sums


def _repeated(number: int | None, length: int) -> pa.ChunkedArray:
    return column_of(np.full(length, number or 0, dtype=np.int64), np.full(length, number is not None))
