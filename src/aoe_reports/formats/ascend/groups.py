"""The groups of ranks that a job communicates in, and which of them split its work, as profilers write them down."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import TypeAlias, TypeGuard

from aoe_reports.model.documents import object_of, text_of
from aoe_reports.model.topics.parallel import GroupPlace, ParallelKind

KINDS: dict[str, ParallelKind] = {"pp": "pp", "tp": "tp", "cp": "cp", "ep": "ep", "exp": "ep", "dp": "dp"}
"""The names that Megatron and MindSpeed give to groups that are of one kind (of two, `dp_cp`, tell nothing more)."""

_Member: TypeAlias = tuple[int, GroupPlace, frozenset[int]]
"""(a rank, its place, the members of the group)."""


def places_of_rank(groups: object) -> dict[int, tuple[GroupPlace, ...]]:
    """The places of one rank, of `parallel_group_info` in its metadata: name, members in their order, and which it is."""
    return _certain(_of_rank(groups))


def places_of_cluster(groups: object) -> dict[int, tuple[GroupPlace, ...]]:
    """The places of all ranks, of `comm_group_parallel_info` in communication_group.json, whose members are sorted."""
    return _certain(_of_cluster(groups))


def members_named(groups: object) -> frozenset[tuple[int, ...]]:
    """The ranks of each group of either form, in their order within it, whatever the groups are for; a damaged list names none."""
    each = groups if isinstance(groups, list) else [*object_of(groups).values()]
    named = (group.get("global_ranks", group.get("rank_set")) for group in map(object_of, each))
    found: set[tuple[int, ...]] = set()
    for ranks in named:
        if isinstance(ranks, list):
            ids = tuple(rank for rank in ranks if is_id(rank))
            if len(ids) == len(ranks):
                found.add(ids)
    return frozenset(found)


def _of_rank(groups: object) -> Iterator[_Member]:
    for group in map(object_of, object_of(groups).values()):
        kind, ranks, place = _kind(group.get("group_name")), group.get("global_ranks"), group.get("group_rank")
        if kind is not None and _are_ranks(ranks) and is_id(place) and place < len(ranks):
            yield ranks[place], GroupPlace(kind, min(ranks), place, len(ranks)), frozenset(ranks)


def _of_cluster(groups: object) -> Iterator[_Member]:
    for group in map(object_of, groups if isinstance(groups, list) else []):
        kind, ranks = _kind(group.get("pg_name")), group.get("rank_set")
        if kind is not None and _are_ranks(ranks):
            members = frozenset(ranks)
            for place, rank in enumerate(sorted(ranks)):
                yield rank, GroupPlace(kind, min(ranks), place, len(ranks)), members


def _kind(name: object) -> ParallelKind | None:
    return KINDS.get((text_of(name) or "").lower())


def _are_ranks(value: object) -> TypeGuard[list[int]]:
    """Whether a value names two ranks or more: one alone shares no work."""
    if not isinstance(value, list) or len(value) < 2:  # noqa: PLR2004
        return False
    return all(map(is_id, value)) and len(set(value)) == len(value)


def is_id(value: object) -> TypeGuard[int]:
    """Whether a value can be the number of a rank or of a device."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31


def _certain(found: Iterable[_Member]) -> dict[int, tuple[GroupPlace, ...]]:
    """The places by rank, without those of which a rank has two of one kind."""
    by_rank: dict[int, dict[ParallelKind, set[tuple[GroupPlace, frozenset[int]]]]] = {}
    for rank, place, members in found:
        by_rank.setdefault(rank, defaultdict(set))[place.kind].add((place, members))
    told = {
        rank: tuple(
            next(iter(kinds[kind]))[0] for kind in dict.fromkeys(KINDS.values()) if len(kinds.get(kind, ())) == 1
        )
        for rank, kinds in by_rank.items()
    }
    return {rank: places for rank, places in sorted(told.items()) if places}
