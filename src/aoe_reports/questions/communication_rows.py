"""The rows of `communication`, and how they are made of what is known of a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from aoe_reports.model.rows import US, column, row, row_from

if TYPE_CHECKING:
    from aoe_reports.facts.communication import LateRank, Link, OperatorTime
    from aoe_reports.facts.communication_fleet import GroupOfRanks, SlowEnd
    from aoe_reports.facts.communication_run import BusRate, TransportVolume
    from aoe_reports.facts.gradient_tail import Tail
    from aoe_reports.facts.hosts import SlowHost
    from aoe_reports.facts.packets import Alignment, PacketClass


@row
class TypeOfOperator:
    """All operators of one type of one rank within a group; times are null where one of them does not have it."""

    run: str = column("Run")
    rank_id: int | None = column("Rank", "integer")
    group: str | None = column("Group")
    type: str | None = column()
    op_type: str = column("Type")
    operators: int = column("Operators", "integer")
    elapsed_ns: int = column("Elapsed", unit=US)
    transit_ns: int | None = column("Transit", unit=US)
    wait_ns: int | None = column("Wait", unit=US)
    synchronization_ns: int | None = column("Synchronization", unit=US, detail=True)
    idle_ns: int | None = column("Idle", unit=US, detail=True)
    wait_ratio: float | None = column("Wait ratio", "percent")
    synchronization_ratio: float | None = column("Synchronization ratio", "percent", detail=True)
    transit_bytes: int | None = column("Volume (bytes)", "integer", detail=True)
    bus_gb_per_s: float | None = column("Bus GB/s", "number")
    bus_nominal_ratio: float | None = column("Of nominal", "percent", detail=True)


@row
class Operator:
    """One of the operators that took longest."""

    position: int = column("#", "integer")
    run: str = column("Run")
    rank_id: int | None = column("Rank", "integer")
    step: int | None = column("Step", "integer")
    group: str | None = column("Group")
    op_name: str = column("Operator")
    start_ns: int | None = column()
    elapsed_ns: int = column("Elapsed", unit=US)
    transit_ns: int | None = column("Transit", unit=US)
    wait_ns: int | None = column("Wait", unit=US)
    synchronization_ns: int | None = column("Synchronization", unit=US, detail=True)
    idle_ns: int | None = column("Idle", unit=US, detail=True)
    wait_ratio: float | None = column("Wait ratio", "percent")
    synchronization_ratio: float | None = column("Synchronization ratio", "percent", detail=True)


@row
class Transport:
    """What one rank sent over one transport within a group, by operators of one type."""

    run: str = column("Run")
    rank_id: int | None = column("Rank", "integer")
    group: str | None = column("Group")
    op_type: str = column("Type")
    transport: str = column("Transport")
    transit_bytes: int = column("Volume (bytes)", "integer")
    transit_ns: int = column("Transit", unit=US)
    bandwidth_gb_per_s: float | None = column("GB/s", "number")


@row
class PacketRow:
    """The packets of one size over one transport, of all ranks that are shown; `lost` is against the rate of the fastest size."""

    run: str = column("Run")
    transport: str = column("Transport")
    least_bytes: int = column("From (bytes)", "integer")
    most_bytes: int | None = column("To below (bytes)", "integer")
    packets: int = column("Packets", "integer")
    transit_bytes: int = column("Volume (bytes)", "integer")
    transit_ns: int = column("Transit", unit=US)
    bandwidth_gb_per_s: float | None = column("GB/s", "number")
    bytes_share: float | None = column("Of volume", "percent")
    time_share: float | None = column("Of transit", "percent")
    lost_ns: int | None = column("Extra time", unit=US)


@row
class AlignmentRow:
    """The copies of one rank over one transport, and those whose size is no multiple of 512 bytes."""

    run: str = column("Run")
    rank_id: int | None = column("Rank", "integer")
    transport: str = column("Transport")
    copies: int = column("Copies", "integer")
    unaligned_copies: int = column("Unaligned", "integer")
    unaligned_bytes: int = column("Unaligned (bytes)", "integer")
    unaligned_share: float = column("Of volume", "percent")
    gb_per_s: float | None = column("GB/s aligned", "number")
    unaligned_gb_per_s: float | None = column("GB/s unaligned", "number")


@row
class ContentionRow:
    """Tasks of one type and one shape of one device: medians beside communication and without."""

    run: str = column("Run")
    rank_id: int | None = column("Rank", "integer")
    device_id: int | None = column()
    op_type: str | None = column("Operator type")
    op_name: str | None = column("Operator", detail=True)
    task_type: str | None = column("Core", detail=True)
    input_shapes: str | None = column("Input shapes")
    alone: int = column("Calls alone", "integer")
    beside: int = column("Beside communication", "integer")
    alone_median_ns: int = column("Alone (median)", unit=US)
    beside_median_ns: int = column("Beside (median)", unit=US)
    slowdown: float = column("Slower by", "percent")
    lost_ns: int = column("Extra time", unit=US)
    is_slower: bool = column("Slower", "state")


@row
class GradientRow:
    """One exposed collective of gradients: when its inputs were ready, why it started later, what an earlier start would hide at most."""

    run: str = column("Run")
    rank_id: int | None = column("Rank", "integer")
    device_id: int | None = column()
    step: int | None = column("Step", "integer")
    op_type: str = column("Type")
    op_name: str = column("Operator")
    start_ns: int = column()
    duration_ns: int = column("Duration", unit=US)
    exposed_ns: int = column("Exposed", unit=US)
    ready_ns: int | None = column()
    late_ns: int = column("Late", unit=US)
    launch_ns: int = column("For its launch", unit=US)
    earlier_ns: int = column("For an earlier collective", unit=US)
    unknown_ns: int = column("Unknown", unit=US)
    waited_ns: int | None = column("For other ranks", unit=US)
    hidden_ns: int = column("Could be hidden", unit=US)
    late_because: str = column("Late because", "word")
    producer: str | None = column("Ready with", detail=True)


@row
class LinkRow:
    """One link of a group, and how it compares with links that did the same; ranks are numbered within the group."""

    run: str = column("Run")
    group: str | None = column("Group")
    source_rank: int = column("From", "integer")
    destination_rank: int = column("To", "integer")
    transport: str = column("Transport")
    transit_bytes: int = column("Volume (bytes)", "integer")
    transit_ns: int | None = column("Transit", unit=US)
    bandwidth_gb_per_s: float | None = column("GB/s", "number")
    wait_ns: int | None = column("Wait", unit=US)
    relative_bandwidth_ratio: float | None = column("Relative to median", "percent")
    nominal_ratio: float | None = column("Relative to nominal", "percent", detail=True)
    compared: int = column("Compared", "integer", detail=True)
    slow_in: int = column("Outliers", "integer", before="compared", detail=True)
    lost_ns: int | None = column("Extra time", unit=US)
    slow: bool = column("Slow", "state")


@row
class AwaitedRank:
    """A rank that others wait for: in the job, where that is known, and within the group."""

    run: str = column("Run")
    group: str | None = column("Group")
    rank: int | None = column("Rank", "integer")
    number: int | None = column("Number in group", "integer")
    is_absent: bool = column()
    operators: int = column("Operators", "integer")
    of_operators: int = column("Total operators", "integer", detail=True)
    waited_ns: int = column("Others wait", unit=US)
    waited_share: float | None = column("Share", "percent")
    slow: bool = column("Slow", "state")


@row
class GroupRow:
    """All operators of one type within a group, over all ranks; null where it is not known or several ranks have the same."""

    run: str = column("Run")
    group: str | None = column("Group")
    type: str | None = column()
    op_type: str = column("Type")
    ranks: int = column("Ranks", "integer")
    operators: int = column("Operators", "integer", detail=True)
    elapsed_median_ns: int = column("Elapsed (median)", unit=US)
    elapsed_p95_ns: int = column("Elapsed (p95)", unit=US, detail=True)
    elapsed_worst_ns: int = column("Elapsed (worst)", unit=US)
    elapsed_worst_rank: int | None = column("Of rank", "integer")
    wait_median_ns: int | None = column("Wait (median)", unit=US)
    wait_p95_ns: int | None = column("Wait (p95)", unit=US, detail=True)
    wait_worst_ns: int | None = column("Wait (worst)", unit=US, detail=True)
    wait_worst_rank: int | None = column()
    collectives: int | None = column("Collectives", "integer", detail=True)
    skew_median_ns: int | None = column("Skew (median)", unit=US)
    skew_p95_ns: int | None = column("Skew (p95)", unit=US, detail=True)
    skew_worst_ns: int | None = column("Skew (worst)", unit=US)
    last_rank: int | None = column("Last rank", "integer")
    last_in: int | None = column("Last in", "integer", detail=True)
    waited_for_last_ns: int | None = column("Others wait", unit=US)


@row
class SlowEndRow:
    """A rank all of whose compared links over a transport are slow; ranks are numbered within the group."""

    run: str = column("Run")
    group: str | None = column("Group")
    rank: int = column("Rank", "integer")
    transport: str = column("Transport")
    sends_slowly: bool = column("Sends slowly", "state")
    receives_slowly: bool = column("Receives slowly", "state")
    links: int = column("Links", "integer")
    lost_ns: int = column("Extra time", unit=US)


@row
class SlowHostRow:
    """A host most of whose compared links to or from other hosts, over one transport, are slow."""

    run: str = column("Run")
    host: str = column("Host")
    transport: str = column("Transport")
    sends_slowly: bool = column("Sends slowly", "state")
    receives_slowly: bool = column("Receives slowly", "state")
    ranks: int = column("Ranks", "integer")
    links: int = column("Slow links", "integer")
    compared: int = column("Compared", "integer")
    relative_bandwidth_ratio: float = column("Relative to median", "percent")
    lost_ns: int = column("Extra time", unit=US)


@row
class TailRow:
    """All-reduce of one iteration that is left behind the end of its backward pass."""

    run: str = column("Run")
    rank_id: int | None = column("Rank", "integer")
    device_id: int | None = column("Device", "integer")
    model_id: int | None = column("Model", "integer")
    step: int | None = column("Step", "integer")
    source: str = column()
    iteration_ns: int = column("Iteration", unit=US)
    reduces: int = column("All-reduces", "integer")
    late_reduces: int = column("After backward pass", "integer", detail=True)
    unmeasured_reduces: int = column()
    reduce_ns: int = column("All-reduce", unit=US)
    hidden_ns: int = column("Hidden", unit=US)
    tail_ns: int = column("Tail", unit=US)
    tail_share: float | None = column("Share", "percent")
    last_end_ns: int = column(unit=US)
    room_ns: int | None = column("Overlap capacity", unit=US, detail=True)
    necessary_ns: int = column("Unavoidable", unit=US, detail=True)
    bound_ns: int = column("Bound", unit=US)


@row
class SegmentRow:
    """Gradients of a bank that are reduced together where no strategy is set."""

    path: str = column("Bank")
    modelhash: str = column("Model")
    segment: int = column("Segment", "integer", detail=True)
    first: int = column("First", "integer")
    last: int = column("Last", "integer")
    gradients: int = column("Gradients", "integer")
    size_bytes: int = column("Size (bytes)", "integer")
    size_share: float | None = column("Share", "percent")
    time_share: float | None = column("Time", "percent")


def types_of_operators(
    times: Sequence[OperatorTime], label: str, buses: Mapping[tuple[int | None, str | None, str], BusRate]
) -> Iterator[TypeOfOperator]:
    from aoe_reports.facts.communication import grouped, share_of_waiting, summed

    by_type = grouped(times, lambda time: (time.rank_id, time.group, time.type, time.op_type))
    for (rank, group, kind, op_type), mine in by_type.items():
        transit, wait = summed(time.transit_ns for time in mine), summed(time.wait_ns for time in mine)
        synchronization = summed(time.synchronization_ns for time in mine)
        bus = buses.get((rank, group, op_type))
        rate = None if bus is None else bus.gb_per_s
        yield TypeOfOperator(
            run=label,
            rank_id=rank,
            group=group,
            type=kind,
            op_type=op_type,
            operators=len(mine),
            elapsed_ns=sum(time.elapsed_ns for time in mine),
            transit_ns=transit,
            wait_ns=wait,
            synchronization_ns=synchronization,
            idle_ns=summed(time.idle_ns for time in mine),
            wait_ratio=share_of_waiting(wait, transit),
            synchronization_ratio=share_of_waiting(synchronization, transit),
            transit_bytes=None if bus is None else bus.transit_bytes,
            bus_gb_per_s=None if rate is None else round(rate, 4),
            bus_nominal_ratio=round(rate / bus.nominal, 4) if bus and rate and bus.nominal else None,
        )


def operator_row(label: str, place: int, time: OperatorTime) -> Operator:
    from aoe_reports.facts.communication import share_of_waiting

    return row_from(
        Operator,
        time,
        position=place,
        run=label,
        wait_ratio=share_of_waiting(time.wait_ns, time.transit_ns),
        synchronization_ratio=share_of_waiting(time.synchronization_ns, time.transit_ns),
    )


def transports_of(volumes: Sequence[TransportVolume], label: str) -> Iterator[Transport]:
    """Volume, time and bandwidth by transport; SDMA is what HCCS, PCIE and SIO carried, once more."""
    from aoe_reports.facts.communication import bandwidth, grouped

    by_transport = grouped(volumes, lambda one: (one.rank_id, one.group, one.op_type, one.transport))
    for (rank, group, op_type, transport), mine in by_transport.items():
        size, time = sum(one.transit_bytes for one in mine), sum(one.transit_ns for one in mine)
        if size or time:
            yield Transport(
                run=label,
                rank_id=rank,
                group=group,
                op_type=op_type,
                transport=transport,
                transit_bytes=size,
                transit_ns=time,
                bandwidth_gb_per_s=bandwidth(size, time),
            )


def link_row(label: str, link: Link, nominal_gb_per_s: Mapping[str, float]) -> LinkRow:
    nominal, own = nominal_gb_per_s.get(link.transport), link.bandwidth_gb_per_s
    return row_from(
        LinkRow,
        link,
        run=label,
        relative_bandwidth_ratio=link.relative_bandwidth,
        nominal_ratio=own / nominal if own is not None and nominal else None,
        lost_ns=link.lost_ns if link.compared else None,
        slow=link.is_slow,
    )


def packet_row(label: str, one: PacketClass) -> PacketRow:
    rate = one.gb_per_s
    return row_from(PacketRow, one, run=label, bandwidth_gb_per_s=None if rate is None else round(rate, 4))


def alignment_row(label: str, one: Alignment) -> AlignmentRow:
    size, time = one.size_bytes - one.unaligned_bytes, one.time_ns - one.unaligned_ns
    return row_from(
        AlignmentRow,
        one,
        run=label,
        unaligned_share=one.unaligned_bytes / one.size_bytes,
        gb_per_s=round(size / time, 4) if size and time else None,
        unaligned_gb_per_s=round(one.unaligned_bytes / one.unaligned_ns, 4) if one.unaligned_ns else None,
    )


def awaited_row(label: str, awaited: LateRank) -> AwaitedRank:
    share = awaited.waited_ns / awaited.of_ns if awaited.of_ns else None
    return row_from(AwaitedRank, awaited, run=label, waited_share=share, slow=awaited.is_slow)


def group_row(label: str, one: GroupOfRanks) -> GroupRow:
    wait, skew = one.wait, one.skew
    return GroupRow(
        run=label,
        group=one.group,
        type=one.type,
        op_type=one.op_type,
        ranks=one.ranks,
        operators=one.operators,
        elapsed_median_ns=one.elapsed.median_ns,
        elapsed_p95_ns=one.elapsed.p95_ns,
        elapsed_worst_ns=one.elapsed.worst_ns,
        elapsed_worst_rank=one.elapsed.worst_rank,
        wait_median_ns=wait.median_ns if wait else None,
        wait_p95_ns=wait.p95_ns if wait else None,
        wait_worst_ns=wait.worst_ns if wait else None,
        wait_worst_rank=wait.worst_rank if wait else None,
        collectives=skew.collectives if skew else None,
        skew_median_ns=skew.median_ns if skew else None,
        skew_p95_ns=skew.p95_ns if skew else None,
        skew_worst_ns=skew.most_ns if skew else None,
        last_rank=skew.last_rank if skew else None,
        last_in=skew.last_in if skew else None,
        waited_for_last_ns=skew.waited_ns if skew else None,
    )


def slow_end_row(label: str, end: SlowEnd) -> SlowEndRow:
    return row_from(
        SlowEndRow,
        end,
        run=label,
        sends_slowly=end.is_sender,
        receives_slowly=end.is_receiver,
        links=len(end.links),
    )


def slow_host_row(label: str, one: SlowHost) -> SlowHostRow:
    return row_from(
        SlowHostRow,
        one,
        run=label,
        sends_slowly=one.is_sender,
        receives_slowly=one.is_receiver,
        links=len(one.links),
        relative_bandwidth_ratio=one.relative_bandwidth,
    )


def tail_row(label: str, tail: Tail) -> TailRow:
    share = tail.tail_ns / tail.iteration_ns if tail.iteration_ns else None
    return row_from(TailRow, tail, run=label, tail_share=share)
