"""Packets of communication: how large they are and how fast, which are off the 512 bytes that copies like, what was sent again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, DecimalException
from itertools import pairwise
from typing import Any

from aoe_reports.model.by_key import lists_by_key
from aoe_reports.model.rules import COMMUNICATION
from aoe_reports.model.texts import say
from aoe_reports.model.topics.communication import Alignment, PacketClass
from aoe_reports.topics.communication.facts import OperatorTime, number_of_step

CLASSES = (0, 64_000, 500_000, 2_000_000, 16_000_000, 64_000_000)
"""Where classes of packets begin, in bytes: 0.5 MB (RDMA) and 16 MB (SDMA) are from where msprof calls packets large."""
MIN_SHARE = 0.05
"""A class with less of the bytes of its transport tells of no usual rate."""
LOST_SHARE = 0.2
MIN_LOST_NS = 1_000_000
SMALL_PACKETS = COMMUNICATION.rule(
    "small-packets",
    "info",
    say(
        "smaller packets than those of the fastest size took at least {share:.0%} of the time of a transport, and 1 ms, longer than at "
        "the rate of that size",
        share=LOST_SHARE,
    ),
    "Ascend/msprof: Size Distribution of communication.json",
)
ALIGNED_BYTES = 512
UNALIGNED_SHARE = 0.5
UNALIGNED = COMMUNICATION.rule(
    "unaligned-copies",
    "info",
    say(
        "at least {share:.0%} of the bytes that one rank copied over a transport were in copies whose size is no multiple of {size} bytes",
        share=UNALIGNED_SHARE,
        size=ALIGNED_BYTES,
    ),
    "Ascend/msinsight: ByteAlignmentAnalyzer",
)
RESENT_NS = 4_000_000_000
RETRANSMISSION = COMMUNICATION.rule(
    "rdma-retransmission",
    "info",
    say("an operator took longer than 4 s on every rank, and its RDMA transfer took longer than 4 s on one"),
    "Ascend/msinsight: RetransmissionAnalyzer (MIN_RETRANSMISSION_TIME)",
)
_MAX_BYTES = 2**62
_MAX_MS = Decimal(2**50) / 1_000_000
_MAX_PACKETS = 2**53


@dataclass(frozen=True, slots=True)
class PacketSum:
    """The packets of one class that one rank sent over one transport in one step."""

    rank_id: int | None
    step: int | None
    transport: str
    least_bytes: int
    packets: int
    transit_bytes: int
    transit_ns: int


@dataclass(frozen=True, slots=True)
class RdmaTime:
    """How long the RDMA transfer of one operator took on one rank."""

    key: tuple[Any, ...]
    """That of its OperatorTime."""
    rank_id: int | None
    transit_ns: int


def packets_of(rank_id: int | None, rows: Iterable[Mapping[str, Any]]) -> tuple[list[PacketSum], int]:
    """(what the size distributions of some rows of `communication_bandwidth` add up to, entries that cannot be used)."""
    sums: dict[tuple[int | None, str, int], list[int]] = {}
    unusable = 0
    for row in rows:
        step = number_of_step(row.get("step"))
        entries, bad = _entries(row["size_distribution"])
        unusable += bad
        for size, packets, time_ns in entries:
            entry = sums.setdefault((step, row["transport"] or "unknown", class_of(size)), [0, 0, 0])
            entry[0] += packets
            entry[1] += size * packets
            entry[2] += time_ns
    return [PacketSum(rank_id, *key, *entry) for key, entry in sums.items()], unusable


def class_of(size_bytes: int) -> int:
    """Where the class of a packet begins."""
    return max(least for least in CLASSES if least <= size_bytes)


def _entries(text: str | None) -> tuple[list[tuple[int, int, int]], int]:
    """((bytes of a packet, packets, ns of all of them), entries that are none) of a distribution: {"MB": [packets, ms]}."""
    try:
        found = json.loads(text, parse_float=Decimal, parse_int=Decimal) if text else {}
    except (ValueError, RecursionError):
        return [], 1
    if not isinstance(found, dict):
        return [], 1
    entries = [_entry(size, value) for size, value in found.items()]
    return [entry for entry in entries if entry is not None], entries.count(None)


def _entry(size: str, value: Any) -> tuple[int, int, int] | None:
    if not isinstance(value, list) or len(value) != 2 or not all(isinstance(one, Decimal) for one in value):  # noqa: PLR2004
        return None
    try:
        size_bytes = Decimal(size) * 1_000_000
    except DecimalException:
        return None
    packets, ms = value
    if not (
        size_bytes.is_finite() and 0 <= size_bytes < _MAX_BYTES and 0 <= packets < _MAX_PACKETS and 0 <= ms < _MAX_MS
    ):
        return None
    is_count = packets == int(packets) and size_bytes * packets < _MAX_BYTES
    return (round(size_bytes), int(packets), round(ms * 1_000_000)) if is_count else None


def classes_of(sums: Iterable[PacketSum]) -> list[PacketClass]:
    """All packets by transport and class, the smallest first."""
    by_transport: dict[str, dict[int, list[int]]] = {}
    for total in sums:
        entry = by_transport.setdefault(total.transport, {}).setdefault(total.least_bytes, [0, 0, 0])
        for place, value in enumerate((total.packets, total.transit_bytes, total.transit_ns)):
            entry[place] += value
    ends = dict(pairwise(CLASSES))
    found = []
    for transport, classes in sorted(by_transport.items()):
        whole_bytes, whole_ns = (sum(entry[place] for entry in classes.values()) for place in (1, 2))
        fastest = _fastest(classes, whole_bytes)
        for least, (packets, size, time) in sorted(classes.items()):
            smaller = fastest is not None and least < fastest
            found.append(
                PacketClass(
                    transport=transport,
                    least_bytes=least,
                    most_bytes=ends.get(least),
                    packets=packets,
                    transit_bytes=size,
                    transit_ns=time,
                    bytes_share=size / whole_bytes if whole_bytes else None,
                    time_share=time / whole_ns if whole_ns else None,
                    lost_ns=_lost(classes[fastest], size, time) if smaller and fastest is not None else None,
                )
            )
    return found


def _fastest(classes: Mapping[int, Sequence[int]], whole_bytes: int) -> int | None:
    """The class with the highest rate of those that hold a part of the bytes."""
    usual = [
        (size / time, least)
        for least, (_, size, time) in classes.items()
        if time and size >= MIN_SHARE * whole_bytes > 0
    ]
    return max(usual)[1] if usual else None


def _lost(fastest: Sequence[int], size_bytes: int, time_ns: int) -> int:
    _, fast_bytes, fast_ns = fastest
    return max(time_ns - size_bytes * fast_ns // fast_bytes, 0)


def small_packets(classes: Sequence[PacketClass]) -> list[tuple[PacketClass, PacketClass]]:
    """(all smaller packets of a transport as one class, the fastest class) where they took a good part of its time for nothing."""
    found = []
    for transport in dict.fromkeys(one.transport for one in classes):
        mine = [one for one in classes if one.transport == transport]
        slow = [one for one in mine if one.lost_ns is not None]
        lost = sum(one.lost_ns or 0 for one in slow)
        whole_ns = sum(one.transit_ns for one in mine)
        if not slow or lost < max(LOST_SHARE * whole_ns, MIN_LOST_NS):
            continue
        small = PacketClass(
            transport=transport,
            least_bytes=slow[0].least_bytes,
            most_bytes=slow[-1].most_bytes,
            packets=sum(one.packets for one in slow),
            transit_bytes=sum(one.transit_bytes for one in slow),
            transit_ns=sum(one.transit_ns for one in slow),
            bytes_share=sum(one.bytes_share or 0.0 for one in slow),
            time_share=sum(one.time_share or 0.0 for one in slow),
            lost_ns=lost,
        )
        found.append((small, next(one for one in mine if one.least_bytes > slow[-1].least_bytes)))
    return found


_ALIGNMENT = ("copies", "size_bytes", "time_ns", "unaligned_copies", "unaligned_bytes", "unaligned_ns")


def alignment(rank_id: int | None, step: int | None, transport: str, sums: Sequence[int]) -> Alignment:
    """The row of some sums: copies, bytes and ns of all, then of the unaligned ones."""
    values: dict[str, Any] = dict(zip(_ALIGNMENT, sums, strict=True))
    return Alignment(rank_id=rank_id, step=step, transport=transport, **values)


def alignments_of_ranks(alignments: Iterable[Alignment]) -> list[Alignment]:
    """The steps of each rank and transport together, those with most unaligned bytes first."""
    sums: dict[tuple[int | None, str], list[int]] = {}
    for one in alignments:
        entry = sums.setdefault((one.rank_id, one.transport), [0] * len(_ALIGNMENT))
        for place, name in enumerate(_ALIGNMENT):
            entry[place] += getattr(one, name)
    found = [alignment(rank, None, transport, entry) for (rank, transport), entry in sums.items()]
    return sorted(found, key=lambda one: (-one.unaligned_bytes, str(one.rank_id), one.transport))


def resent(operators: Iterable[OperatorTime], rdma: Iterable[RdmaTime]) -> list[tuple[OperatorTime, RdmaTime]]:
    """(an operator as the rank with the longest transfer had it, that transfer) where RDMA packets were sent again.

    If one rank was through with it sooner, the others only waited for a rank that came late.
    """
    longest: dict[tuple[Any, ...], RdmaTime] = {}
    for time in rdma:
        if time.key not in longest or time.transit_ns > longest[time.key].transit_ns:
            longest[time.key] = time
    by_key = lists_by_key((operator.key, operator) for operator in operators if operator.key in longest)
    found = []
    for key, several in by_key.items():
        transfer = longest[key]
        if min(one.elapsed_ns for one in several) > RESENT_NS and transfer.transit_ns > RESENT_NS:
            own = next((one for one in several if one.rank_id == transfer.rank_id), several[0])
            found.append((own, transfer))
    return sorted(found, key=lambda pair: -pair[1].transit_ns)
