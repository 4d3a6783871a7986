"""What is known of the communication of a run, as `communication` lists it: one class a table.

Times are whole nanoseconds, volumes bytes, bandwidths GB/s (1 byte a ns). The question fills in the run.
"""

from __future__ import annotations

from typing import Literal, get_args

from aoe_reports.model.rows import US, column, derived, row
from aoe_reports.model.texts import N_, say

SLOW_SHARE = 0.8
"""A link is slow below this share of the bandwidth of its likes: msprof's BANDWIDTH_THRESHOLD (see SLOW_LINK).

msprof holds it against a nominal bandwidth of the chip; the median of links of one kind needs no such number, and knows
what else the operator does.
"""


def bandwidth(transit_bytes: int | None, transit_ns: int | None) -> float | None:
    """GB/s = bytes a ns; null where either is not known or nothing."""
    return transit_bytes / transit_ns if transit_bytes and transit_ns else None


def share_of_waiting(waited_ns: int | None, transit_ns: int | None) -> float | None:
    """Waiting / (waiting + transit): msprof's Wait Time Ratio and Synchronization Time Ratio; null where both are nothing."""
    if waited_ns is None or transit_ns is None or waited_ns + transit_ns <= 0:
        return None
    return waited_ns / (waited_ns + transit_ns)


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

    @derived("Wait ratio", "percent")
    def wait_ratio(self) -> float | None:
        """Of waiting and transfer."""
        return share_of_waiting(self.wait_ns, self.transit_ns)

    @derived("Synchronization ratio", "percent", detail=True)
    def synchronization_ratio(self) -> float | None:
        """Of synchronization and transfer."""
        return share_of_waiting(self.synchronization_ns, self.transit_ns)

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

    @derived("Wait ratio", "percent")
    def wait_ratio(self) -> float | None:
        """Of waiting and transfer."""
        return share_of_waiting(self.wait_ns, self.transit_ns)

    @derived("Synchronization ratio", "percent", detail=True)
    def synchronization_ratio(self) -> float | None:
        """Of synchronization and transfer."""
        return share_of_waiting(self.synchronization_ns, self.transit_ns)


@row
class TransportVolume:
    """What one rank sent over one transport within a group, by operators of one type."""

    run: str = column("Run", default="")
    rank_id: int | None = column("Rank", "integer")
    group: str | None = column("Group")
    op_type: str = column("Type")
    transport: str = column("Transport")
    transit_bytes: int = column("Volume (bytes)", "integer")
    transit_ns: int = column("Transit", unit=US)

    @derived("GB/s", "number")
    def bandwidth_gb_per_s(self) -> float | None:
        """Bytes a ns."""
        return bandwidth(self.transit_bytes, self.transit_ns)


@row
class PacketClass:
    """The packets of one size over one transport, of all ranks that are looked at."""

    run: str = column("Run", default="")
    transport: str = column("Transport")
    least_bytes: int = column("From (bytes)", "integer")
    most_bytes: int | None = column("To below (bytes)", "integer")
    packets: int = column("Packets", "integer")
    transit_bytes: int = column("Volume (bytes)", "integer")
    transit_ns: int = column("Transit", unit=US)

    @derived("GB/s", "number")
    def bandwidth_gb_per_s(self) -> float | None:
        """Bytes a ns."""
        return round(self.transit_bytes / self.transit_ns, 4) if self.transit_ns else None

    bytes_share: float | None = column("Of volume", "percent")
    time_share: float | None = column("Of transit", "percent")
    lost_ns: int | None = column("Extra time", unit=US)
    """How much longer they took than at the rate of the fastest class; null for that class and for larger packets."""

    @property
    def gb_per_s(self) -> float | None:
        """Bytes a nanosecond."""
        return self.transit_bytes / self.transit_ns if self.transit_ns else None


@row
class Alignment:
    """The copies of one rank over one transport, and those of more than 512 bytes whose size is no multiple of it."""

    run: str = column("Run", default="")
    rank_id: int | None = column("Rank", "integer")
    step: int | None
    """Null for all steps."""
    transport: str = column("Transport")
    copies: int = column("Copies", "integer")
    size_bytes: int
    time_ns: int
    unaligned_copies: int = column("Unaligned", "integer")
    unaligned_bytes: int = column("Unaligned (bytes)", "integer")
    unaligned_ns: int

    @derived("Of volume", "percent")
    def unaligned_share(self) -> float:
        """Of all bytes."""
        return self.unaligned_bytes / self.size_bytes

    @derived("GB/s aligned", "number")
    def gb_per_s(self) -> float | None:
        """Of the aligned copies."""
        size, time = self.size_bytes - self.unaligned_bytes, self.time_ns - self.unaligned_ns
        return round(size / time, 4) if size and time else None

    @derived("GB/s unaligned", "number")
    def unaligned_gb_per_s(self) -> float | None:
        """Of the others."""
        return round(self.unaligned_bytes / self.unaligned_ns, 4) if self.unaligned_ns else None


@row
class Contended:
    """Tasks of one type and one shape of one device, beside communication and without."""

    run: str = column("Run", default="")
    rank_id: int | None = column("Rank", "integer", default=None)
    device_id: int | None = column(default=None)
    op_type: str | None = column("Operator type")
    op_name: str | None = column("Operator", detail=True)
    """Where types of operators are not known."""
    task_type: str | None = column("Core", detail=True)
    input_shapes: str | None = column("Input shapes")
    alone: int = column("Calls alone", "integer")
    beside: int = column("Beside communication", "integer")
    alone_median_ns: int = column("Alone (median)", unit=US)
    beside_median_ns: int = column("Beside (median)", unit=US)
    slowdown: float = column("Slower by", "percent")
    """How much longer a call takes beside communication, as a share of what it takes without."""
    lost_ns: int = column("Extra time", unit=US)
    """So much less all calls beside communication would have taken without."""
    is_slower: bool = column("Slower", "state")


LateBecause = Literal["launch", "earlier collective", "unknown", "not late"]
LATE_BECAUSE: tuple[LateBecause, ...] = get_args(LateBecause)
LATE_WORDS: dict[LateBecause, str] = N_(
    {
        "launch": "its launch",
        "earlier collective": "an earlier collective",
        "unknown": "unknown",
        "not late": "not late",
    }
)


@row
class GradientCollective:
    """One exposed collective of gradients: when its inputs were ready, why it started later, what an earlier start would hide at most."""

    run: str = column("Run", default="")
    rank_id: int | None = column("Rank", "integer", default=None)
    device_id: int | None = column(default=None)
    step: int | None = column("Step", "integer")
    op_type: str = column("Type")
    op_name: str = column("Operator")
    start_ns: int = column()
    duration_ns: int = column("Duration", unit=US)
    exposed_ns: int = column("Exposed", unit=US)
    """Its time beside which nothing computes."""
    ready_ns: int | None = column()
    """When its inputs were ready; null where its launch is not known."""
    late_ns: int = column("Late", unit=US)
    """The sum of the next three."""
    launch_ns: int = column("For its launch", unit=US)
    earlier_ns: int = column("For an earlier collective", unit=US)
    unknown_ns: int = column("Unknown", unit=US)
    waited_ns: int | None = column("For other ranks", unit=US, default=None)
    hidden_ns: int = column("Could be hidden", unit=US)
    """How much less of it would be exposed if collectives of its group started in the order in which they are ready; at most `exposed_ns`."""

    @derived("Late because", "word")
    def late_because(self) -> str:
        """What it waited for longest."""
        parts = (self.launch_ns, self.earlier_ns, self.unknown_ns)
        return say(LATE_WORDS[LATE_BECAUSE[parts.index(max(parts))] if self.late_ns else "not late"])

    producer: str | None = column("Ready with", detail=True)
    """The kernel that ended last of those launched before it."""


@row
class Link:
    """All that went over one link of a group, and how that compares with links that did the same; ranks are numbered within the group."""

    run: str = column("Run", default="")
    group: str | None = column("Group")
    source_rank: int = column("From", "integer")
    destination_rank: int = column("To", "integer")
    transport: str = column("Transport")
    transit_bytes: int = column("Volume (bytes)", "integer")
    transit_ns: int | None = column("Transit", unit=US)
    transfers: int

    @derived("GB/s", "number")
    def bandwidth_gb_per_s(self) -> float | None:
        """Bytes a ns."""
        return bandwidth(self.transit_bytes, self.transit_ns)

    wait_ns: int | None = column("Wait", unit=US, default=None)
    """How long the source waited for notifications of the destination; from timelines."""
    expected_ns: int | None = None
    """How long the compared transfers would have taken at the median bandwidth of their likes."""
    compared_ns: int | None = None
    """How long they took."""

    @derived("Relative to median", "percent")
    def relative_bandwidth_ratio(self) -> float | None:
        """Its bandwidth as a share of the median of its likes; null where there are too few of them."""
        return self.expected_ns / self.compared_ns if self.expected_ns is not None and self.compared_ns else None

    nominal_ratio: float | None = column("Relative to nominal", "percent", detail=True, default=None)
    compared: int = column("Compared", "integer", detail=True, default=0)
    """In how many comparisons with its likes it stands."""
    slow_in: int = column("Outliers", "integer", before="compared", detail=True, default=0)
    """In how many of them it is out of line."""

    @derived("Extra time", unit=US)
    def lost_ns(self) -> int | None:
        """How much longer it took than at the median bandwidth of its likes."""
        return (self.compared_ns or 0) - (self.expected_ns or 0) if self.compared else None

    @derived("Slow", "state")
    def slow(self) -> bool:
        """Below SLOW_SHARE of its likes in all, and out of line in more than half of the comparisons.

        Once is chance: in a real capture two links are 40 % below the median in one of nine operators, and not in the others.
        """
        share = self.relative_bandwidth_ratio
        return share is not None and share < SLOW_SHARE and self.slow_in * 2 > self.compared


@row
class AwaitedRank:
    """A rank that came last to operators, so that others waited for it: in the job, where that is known, and within the group."""

    run: str = column("Run", default="")
    group: str | None = column("Group")
    rank: int | None = column("Rank", "integer")
    """In the job; null where only its number is known, or neither."""
    number: int | None = column("Number in group", "integer")
    """Null where no link records it."""
    is_absent: bool = column()
    """Whether it was not captured."""
    operators: int = column("Operators", "integer")
    """In how many operators it is the one that others wait for longest."""
    of_operators: int = column("Total operators", "integer", detail=True)
    """In how many operators of the group anybody waits."""
    waited_ns: int = column("Others wait", unit=US)
    """How long the others, together, wait for it."""
    of_ns: int
    """How long ranks of the group wait for any rank."""
    longest_ns: int
    """How long one of the others waits: of each operator the one that waits longest (they wait at the same time)."""
    waited_by: tuple[tuple[int | None, int], ...] = ()
    """(rank, ns) of each of the others."""

    @derived("Share", "percent")
    def waited_share(self) -> float | None:
        """Of all waiting within the group."""
        return self.waited_ns / self.of_ns if self.of_ns else None

    @derived("Slow", "state")
    def slow(self) -> bool:
        """Whether it is waited for in more than half of the operators, and for more than half of the time."""
        return self.is_known and self.operators * 2 > self.of_operators and self.waited_ns * 2 > self.of_ns

    @property
    def is_known(self) -> bool:
        """Whether its rank or its number is known."""
        return self.rank is not None or self.number is not None

    @property
    def is_always_the_same(self) -> bool:
        """Whether nobody waits for any other rank of the group, in several operators."""
        return self.operators == self.of_operators > 1


@row
class GroupOfRanks:
    """All operators of one type within a group, over all ranks that were read; null where it is not known or several ranks have the same."""

    run: str = column("Run", default="")
    group: str | None = column("Group")
    type: str | None = column()
    op_type: str = column("Type")
    ranks: int = column("Ranks", "integer")
    operators: int = column("Operators", "integer", detail=True)
    """Of all ranks."""
    elapsed_median_ns: int = column("Elapsed (median)", unit=US)
    elapsed_p95_ns: int = column("Elapsed (p95)", unit=US, detail=True)
    elapsed_worst_ns: int = column("Elapsed (worst)", unit=US)
    elapsed_worst_rank: int | None = column("Of rank", "integer")
    wait_median_ns: int | None = column("Wait (median)", unit=US, default=None)
    wait_p95_ns: int | None = column("Wait (p95)", unit=US, detail=True, default=None)
    wait_worst_ns: int | None = column("Wait (worst)", unit=US, detail=True, default=None)
    wait_worst_rank: int | None = column(default=None)
    collectives: int | None = column("Collectives", "integer", detail=True, default=None)
    """Those of which the waits of two ranks at least, or of one for a named peer, are known."""
    skew_median_ns: int | None = column("Skew (median)", unit=US, default=None)
    """How far apart the ranks come to collectives; null for operators between two ranks, and where fewer than two ranks record how long they wait."""
    skew_p95_ns: int | None = column("Skew (p95)", unit=US, detail=True, default=None)
    skew_worst_ns: int | None = column("Skew (worst)", unit=US, default=None)
    last_rank: int | None = column("Last rank", "integer", default=None)
    """The rank that comes last most often; null where it was not read or cannot be known."""
    last_in: int | None = column("Last in", "integer", detail=True, default=None)
    """In how many of the collectives."""
    waited_for_last_ns: int | None = column("Others wait", unit=US, default=None)
    """How long all others, together, wait for this rank."""


@row
class SlowEnd:
    """A rank of a group whose compared links over one transport are all slow: the rank is slow, not each link."""

    run: str = column("Run", default="")
    group: str | None = column("Group")
    rank: int = column("Rank", "integer")
    """Numbered within the group."""
    transport: str = column("Transport")
    sends_slowly: bool = column("Sends slowly", "state")
    receives_slowly: bool = column("Receives slowly", "state")
    slow_links: tuple[Link, ...]
    """The slowest first."""

    @derived("Links", "integer")
    def links(self) -> int:
        """How many there are."""
        return len(self.slow_links)

    @derived("Extra time", unit=US)
    def lost_ns(self) -> int:
        """How much longer its links took than at the median bandwidth of their likes."""
        return sum(link.lost_ns or 0 for link in self.slow_links)


@row
class SlowHost:
    """A host most of whose compared links to or from other hosts, over one transport, are slow."""

    run: str = column("Run", default="")
    host: str = column("Host")
    transport: str = column("Transport")
    sends_slowly: bool = column("Sends slowly", "state")
    receives_slowly: bool = column("Receives slowly", "state")
    ranks: int = column("Ranks", "integer")
    """The ranks of the host that these links begin or end at."""
    slow_links: tuple[Link, ...]
    """Those first that lose most."""

    @derived("Slow links", "integer")
    def links(self) -> int:
        """How many there are."""
        return len(self.slow_links)

    compared: int = column("Compared", "integer")
    """All compared links of the slow directions."""
    relative_bandwidth_ratio: float = column("Relative to median", "percent")
    """The median of all of these, as a share of the median of their likes."""

    @derived("Extra time", unit=US)
    def lost_ns(self) -> int:
        """How much longer its slow links took than at the median bandwidth of their likes."""
        return sum(link.lost_ns or 0 for link in self.slow_links)


@row
class Tail:
    """One iteration: its all-reduces against the end of the backward pass.

    Segments of gradients are reduced one after the other; what is reduced while the backward pass still runs costs
    nothing. The tail is what is left of it behind the end of the backward pass.
    """

    run: str = column("Run", default="")
    rank_id: int | None = column("Rank", "integer")
    device_id: int | None = column("Device", "integer")
    model_id: int | None = column("Model", "integer")
    step: int | None = column("Step", "integer")
    bp_end_ns: int
    source: str = column()
    """Where the times of the all-reduces are from: step_trace or timeline."""
    iteration_ns: int = column("Iteration", unit=US)
    reduces: int = column("All-reduces", "integer")
    late_reduces: int = column("After backward pass", "integer", detail=True)
    """How many of them end behind the backward pass."""
    unmeasured_reduces: int = column()
    """All-reduces whose begin is known and whose length is not: the tail may be longer."""
    reduce_ns: int = column("All-reduce", unit=US)
    """The time in which any of them ran."""
    hidden_ns: int = column("Hidden", unit=US)
    """The part of it before the backward pass ended."""
    tail_ns: int = column("Tail", unit=US)
    """The part of it behind that: reduce_ns = hidden_ns + tail_ns."""

    @derived("Share", "percent")
    def tail_share(self) -> float | None:
        """Of the iteration."""
        return self.tail_ns / self.iteration_ns if self.iteration_ns else None

    last_end_ns: int = column(unit=US)
    """How long after the end of the backward pass the last one ended; 0 where it ended before."""
    room_ns: int | None = column("Overlap capacity", unit=US, detail=True)
    """Time of forward and backward pass without an all-reduce: more cannot be hidden. Null without FP Start."""
    necessary_ns: int = column("Unavoidable", unit=US, detail=True)
    """What stays whatever is tuned: the last gradient comes with the end of the backward pass. 0 without a bank."""

    @derived("Bound", unit=US)
    def bound_ns(self) -> int:
        """The most that tuning can save: the tail but for what stays, and no more than there is room for."""
        most = max(self.tail_ns - self.necessary_ns, 0)
        return most if self.room_ns is None else min(most, self.room_ns)


@row
class Segment:
    """Gradients of a bank that are reduced together where no strategy is set, in the order in which they come."""

    path: str = column("Bank", default="")
    modelhash: str = column("Model")
    segment: int = column("Segment", "integer", detail=True)
    first: int = column("First", "integer")
    last: int = column("Last", "integer")

    @derived("Gradients", "integer")
    def gradients(self) -> int:
        """How many there are."""
        return self.last - self.first + 1

    size_bytes: int = column("Size (bytes)", "integer")
    size_share: float | None = column("Share", "percent")
    time_share: float | None = column("Time", "percent")
    """How much of the time from the first gradient to the last one has gone by when its last gradient is there."""
