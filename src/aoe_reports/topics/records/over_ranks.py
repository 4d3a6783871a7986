"""A fleet's records: operators over all ranks, of a rank only what it takes in all; single ranks stay beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from aoe_reports.formats.records.record import Record
from aoe_reports.model.by_key import lists_by_key
from aoe_reports.model.history.changes import COMPUTING, LOCATED, MEMORY
from aoe_reports.topics.records.from_memory import of_all_ranks
from aoe_reports.topics.records.from_profile import NS_PER_MS

_OPERATORS = frozenset({"op", "op_type"})
_OF_RANKS = _OPERATORS | LOCATED
_Place = tuple[int | None, int | None]


def over_ranks(records: Sequence[Record], most: int) -> tuple[list[Record], list[Record]]:
    """(records that continue histories, records of single ranks) of one profile.

    Of at most `most` ranks every record continues a history. Of more, the operators (and modules) of all ranks become one record each: that of the
    median rank (of two the quicker), whose metrics tell how many ranks there are, the 95th percentile, the slowest and which rank
    that is; and of each rank what its operators take in all, for a slow rank is slow in all of them. The memory of all ranks is
    that of the rank with the largest peak. Steps and communication stay as they are.
    """
    single = [record for record in records if record.scope in _OF_RANKS and record.phase is None and record.count]
    ranks = lists_by_key(((one.rank_id, one.device_id), one) for one in single)
    memory = [record for record in records if record.scope == MEMORY]
    # decided together, so that a run is either one of single ranks or one of all: a timeline may lack ranks whose memory is recorded
    if max(len(ranks), len(memory)) <= most:
        return list(records), []
    apart = {id(one) for one in [*single, *memory]}
    others = [record for record in records if id(record) not in apart]
    merged = [*map(_computing, ranks.values()), *_of_all_ranks(single), *([of_all_ranks(memory)] if memory else [])]
    return [*others, *merged], single


def _computing(of_rank: Sequence[Record]) -> Record:
    """What a rank's operators take: the mean of a call, and all calls together."""
    types = [record for record in of_rank if record.scope == "op_type"] or [
        record for record in of_rank if record.scope in _OPERATORS
    ]
    count, total_ns = sum(one.count or 0 for one in types), sum(one.total_ns or 0 for one in types)
    first = types[0]
    return replace(
        first,
        workload=f"{first.model}/{COMPUTING}",
        scope=COMPUTING,
        op_type=None,
        op_name=None,
        workload_args={},
        workload_metadata={"class": COMPUTING},
        runtime_ms_mean=total_ns / count / NS_PER_MS,
        runtime_ms_std=None,
        runtime_raw=None,
        execution_config={"repeat": count},
        count=count,
        total_ns=total_ns,
    )


def _of_all_ranks(single: Sequence[Record]) -> list[Record]:
    """One record for each operator, in the order in which the operators first occur."""
    found: dict[tuple[Any, ...], list[Record]] = {}
    for record in single:
        inputs = tuple(sorted(record.workload_args.items(), key=str))
        found.setdefault((record.scope, record.workload, record.op_type, inputs), []).append(record)
    return [_median(alike) for alike in found.values()]


def _median(alike: Sequence[Record]) -> Record:
    """The record of the median rank, with what there is to say of the others."""
    ordered = sorted(alike, key=lambda one: (one.runtime_ms_mean, _number(one.rank_id), _number(one.device_id)))
    middle, high, slowest = ordered[(len(ordered) - 1) // 2], ordered[-(-len(ordered) * 95 // 100) - 1], ordered[-1]
    spread = {
        "ranks": len(ordered),
        "p95_rank_ms_mean": high.runtime_ms_mean,
        "slowest_rank_ms_mean": slowest.runtime_ms_mean,
        "slowest_rank": slowest.rank_id,
    }
    return replace(middle, rank_id=None, device_id=None, runtime_raw=None, metrics={**middle.metrics, **spread})


def _number(rank: int | None) -> int:
    return -1 if rank is None else rank
