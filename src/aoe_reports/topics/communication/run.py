"""The communication of a capture, or of all ranks of a run: operators, transfers, waits, and what only all ranks together show."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from aoe_reports.model.topics.communication import Alignment, AwaitedRank, GroupOfRanks, Link, Tail, TransportVolume
from aoe_reports.topics.communication.facts import (
    OperatorTime,
    PeerWait,
    Transfer,
    find_awaited_ranks,
    links_of,
    ranks_by_group,
    ranks_of_groups,
    ranks_of_numbers,
)
from aoe_reports.topics.communication.over_ranks import Unpaired, find_unpaired, groups_over_ranks

if TYPE_CHECKING:  # `advise` asks for none of them where nothing communicates
    from aoe_reports.topics.communication.bucket_order import BucketOrder
    from aoe_reports.topics.communication.contention import Contention
    from aoe_reports.topics.communication.hosts import HostOf
    from aoe_reports.topics.communication.packets import PacketSum, RdmaTime
    from aoe_reports.topics.communication.pipeline_steps import StageStep
    from aoe_reports.topics.communication.tasks import TaskFigures
    from aoe_reports.topics.quality.steadiness import Place, Unusual


_OfRank = tuple[int | None, str | None, str]
SDMA = "SDMA"
"""What HCCS, PCIE and SIO carried, once more."""
_CARRIED_BY_SDMA = frozenset({"HCCS", "PCIE", "SIO"})
_ONE_OF_A_CHIP = frozenset({"RDMA", "PCIE"})
"""A chip has one such link, to whichever rank."""


@dataclass(frozen=True, slots=True)
class BusRate:
    """What one rank sent over all of its links, and how fast while it transferred."""

    transit_bytes: int
    transit_ns: int | None
    nominal: float | None
    """What these links can carry together, in GB/s."""

    @property
    def gb_per_s(self) -> float | None:
        """Bytes of all links a nanosecond."""
        return self.transit_bytes / self.transit_ns if self.transit_ns and self.transit_bytes else None


@dataclass(slots=True)
class Communication:
    """The communication of one rank, or of all ranks of a run."""

    operators: list[OperatorTime] = field(default_factory=list)
    transfers: list[Transfer] = field(default_factory=list)
    volumes: list[TransportVolume] = field(default_factory=list)
    untimed: list[_OfRank] = field(default_factory=list)
    """Where operators sent something outside of their time of transit: the exporter takes that of one plane."""
    peer_waits: list[PeerWait] = field(default_factory=list)
    link_waits: dict[tuple[Any, ...], int] = field(default_factory=dict)
    """ns of waiting by (group, source, destination)."""
    packets: list[PacketSum] = field(default_factory=list)
    alignments: list[Alignment] = field(default_factory=list)
    rdma: list[RdmaTime] = field(default_factory=list)
    contentions: list[Contention] = field(default_factory=list)
    orders: list[BucketOrder] = field(default_factory=list)
    stages: list[StageStep] = field(default_factory=list)
    tails: list[Tail] = field(default_factory=list)
    hosts: dict[int, str] = field(default_factory=dict)
    """The host of each rank that is known to be on one."""
    members: frozenset[tuple[int, ...]] = frozenset()
    """The ranks of the job in each group that metadata names, in their order."""
    unusual: dict[Place, Unusual] = field(default_factory=dict)
    """The steps of warm-up and tear-down of each device."""
    nominal_gb_per_s: dict[str, float] = field(default_factory=dict)
    """What one link can carry, one way, by transport: of the slowest chip."""

    def take(self, other: Communication) -> None:
        """Take in another rank."""
        for each in fields(self):
            if isinstance(rows := getattr(self, each.name), list):
                rows += getattr(other, each.name)
        self.hosts |= other.hosts
        self.members |= other.members
        self.unusual |= other.unusual
        for transport, rate in other.nominal_gb_per_s.items():
            self.nominal_gb_per_s[transport] = min(rate, self.nominal_gb_per_s.get(transport, rate))
        for link, waited in other.link_waits.items():
            self._add_wait(link, waited)

    def leave_out(self, steps: Collection[int]) -> None:
        """Leave out some steps; neither the total waits of links nor volumes are recorded by step, and advice is on neither."""
        if steps:
            for name in ("operators", "transfers", "peer_waits", "alignments", "tails", "packets"):
                setattr(self, name, [row for row in getattr(self, name) if row.step not in steps])
            self.rdma = [transfer for transfer in self.rdma if transfer.key[0] not in steps]

    def add_waits(self, figures: Sequence[TaskFigures], step: int | None) -> None:
        """Take in who waited for whom, in one step or in all."""
        for figure in figures:
            self.peer_waits += [wait for wait in figure.peer_waits if step in {None, wait.step}]
            self.alignments += [some for some in figure.alignments if step in {None, some.step}]
            for (of_step, *link), waited in figure.link_waits.items():
                if step in {None, of_step}:
                    self._add_wait(tuple(link), waited)

    def _add_wait(self, link: tuple[Any, ...], waited_ns: int) -> None:
        self.link_waits[link] = self.link_waits.get(link, 0) + waited_ns

    @property
    def links(self) -> list[Link]:
        """All links, the slowest of their likes first."""
        return links_of(self.transfers, self.link_waits)

    def bus_rates(self) -> dict[_OfRank, BusRate]:
        """What each rank sent over all links at once while it transferred, by (rank, group, type of operator)."""
        carried: dict[_OfRank, dict[str, int]] = {}
        for volume in self.volumes:
            of_rank = carried.setdefault((volume.rank_id, volume.group, volume.op_type), {})
            of_rank[volume.transport] = of_rank.get(volume.transport, 0) + volume.transit_bytes
        times: dict[_OfRank, int | None] = {}
        for operator in self.operators:
            key = (operator.rank_id, operator.group, operator.op_type)
            before = times.get(key, 0)
            times[key] = None if before is None or operator.transit_ns is None else before + operator.transit_ns
        times |= dict.fromkeys(self.untimed)
        nominal = self._nominal_of_ranks()
        return {key: BusRate(_once(sizes), times.get(key), nominal.get(key)) for key, sizes in carried.items()}

    def _nominal_of_ranks(self) -> dict[_OfRank, float | None]:
        """What the links that begin at each rank can carry together, by (rank, group, type of operator); None where one is not known."""
        links: dict[_OfRank, set[tuple[int | None, str]]] = {}
        partly = set()
        for transfer in self.transfers:
            if transfer.is_link:
                key = (transfer.rank_id, transfer.group, transfer.op_type)
                end = None if transfer.transport in _ONE_OF_A_CHIP else transfer.destination_rank
                links.setdefault(key, set()).add((end, transfer.transport))
                if transfer.is_example:
                    partly.add(key)
        return {
            key: sum(self.nominal_gb_per_s[transport] for _, transport in mine)
            if key not in partly and all(transport in self.nominal_gb_per_s for _, transport in mine)
            else None
            for key, mine in links.items()
        }

    @property
    def host_of(self) -> HostOf:
        """Where the ranks of groups are."""
        ranks = ranks_of_numbers(self.transfers) if self.hosts else {}

        def host(group: str | None, number: int) -> str | None:
            rank = ranks.get((group, number))
            return None if rank is None else self.hosts.get(rank)

        return host

    @property
    def awaited(self) -> list[AwaitedRank]:
        """The ranks that others wait for."""
        groups = ranks_by_group(self.transfers, sorted(self.members))
        return find_awaited_ranks(self.operators, self.peer_waits, groups)

    @property
    def groups(self) -> list[GroupOfRanks]:
        """Groups and types of operators over all ranks."""
        return groups_over_ranks(self.operators, self.peer_waits, self._sizes)

    @property
    def unpaired(self) -> list[Unpaired]:
        """Groups whose sends and receives do not match."""
        return find_unpaired(self.operators, self._sizes)

    @property
    def _sizes(self) -> dict[str | None, int]:
        return {group: len(ranks) for group, ranks in ranks_of_groups(self.transfers).items()}


def _once(sizes: Mapping[str, int]) -> int:
    """What transports carried, without what SDMA repeats of others."""
    repeated = sum(size for transport, size in sizes.items() if transport in _CARRIED_BY_SDMA)
    others = sum(size for transport, size in sizes.items() if transport not in _CARRIED_BY_SDMA and transport != SDMA)
    return others + max(repeated, sizes.get(SDMA, 0))
