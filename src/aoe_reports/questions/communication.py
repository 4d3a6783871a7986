"""Communication: who waited, which link was slow, what all-reduce is left behind the backward pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aoe_reports.engine.ask import asking
from aoe_reports.engine.question import CaptureOptions, Finished, Question, Request, Unit, only
from aoe_reports.model.findings import Finding
from aoe_reports.model.options import option, options
from aoe_reports.model.rows import US, Rows, column, row, row_from
from aoe_reports.model.texts import say

if TYPE_CHECKING:
    from aoe_reports.facts.communication import LateRank, Link, OperatorTime
    from aoe_reports.facts.communication_fleet import GroupOfRanks, SlowEnd
    from aoe_reports.facts.communication_run import BusRate, Communication, TransportVolume
    from aoe_reports.facts.gradient_tail import Tail
    from aoe_reports.facts.hosts import SlowHost
    from aoe_reports.facts.packets import Alignment, PacketClass
    from aoe_reports.formats.aoe.gradients import GradientModel
    from aoe_reports.formats.discovery import Discovery


MAX_SINGLE_RANKS = 16
"""People are shown single ranks of a run with so many at most, unless they ask for one: pages of rows all alike hide what matters."""


@options
class CommunicationOptions(CaptureOptions):
    """Which ranks and steps are shown, how many links and operators, and a bank of gradient tuning."""

    bank: Path | None = option(default=None, help="A gradient tuning bank (<soc>_gradient_fusion.json).", names="input")
    rank: int | None = only("rank")
    step: int | None = only("step")
    top: int = option(default=20, minimum=1, help="Number of operators and links per run.")
    contention: bool = option(
        default=False, help="Also compare computing beside communication with computing alone; reads tables of tasks."
    )


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
    """A rank that others wait for; null where it was not read."""

    run: str = column("Run")
    group: str | None = column("Group")
    rank: int | None = column("Rank", "integer")
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


@dataclass(frozen=True, slots=True)
class Banks:
    """What the banks of gradient tuning here hold."""

    models: list[GradientModel] = field(default_factory=list)
    segments: list[SegmentRow] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class RunTables:
    """The rows that runs have come to so far."""

    types: list[TypeOfOperator] = field(default_factory=list)
    operators: list[Operator] = field(default_factory=list)
    transports: list[Transport] = field(default_factory=list)
    packets: list[PacketRow] = field(default_factory=list)
    alignments: list[AlignmentRow] = field(default_factory=list)
    contentions: list[ContentionRow] = field(default_factory=list)
    links: list[LinkRow] = field(default_factory=list)
    awaited: list[AwaitedRank] = field(default_factory=list)
    groups: list[GroupRow] = field(default_factory=list)
    slow_hosts: list[SlowHostRow] = field(default_factory=list)
    slow_ends: list[SlowEndRow] = field(default_factory=list)
    tails: list[TailRow] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    """How many there are of those of which only the first are rows, by the key of their table; ranks of the largest run."""

    @property
    def single_ranks(self) -> bool:
        """Whether people are shown rows of single ranks."""
        return self.counts["ranks"] <= MAX_SINGLE_RANKS


class CommunicationOfRuns(Question[CommunicationOptions, "Communication"]):
    """Summarise communication by group, link and rank. Covers time, waiting, bandwidth, slow links, slow ranks and the tail of the gradients."""

    name = "communication"
    title = "Communication"
    options = CommunicationOptions
    tables = (
        ("rows", TypeOfOperator),
        ("operators", Operator),
        ("transports", Transport),
        ("packets", PacketRow),
        ("alignments", AlignmentRow),
        ("contentions", ContentionRow),
        ("links", LinkRow),
        ("awaited", AwaitedRank),
        ("groups", GroupRow),
        ("slow_hosts", SlowHostRow),
        ("slow_ends", SlowEndRow),
        ("tails", TailRow),
        ("segments", SegmentRow),
    )
    form_help = "Output format; csv contains the operators by rank, group and type."
    nothing = "no communication here"

    def prepare(self, files: Discovery, asked: Request[CommunicationOptions]) -> Banks:
        """The gradients of the banks that are here, and of the one that is named."""
        from aoe_reports.engine.captures import bank_files

        paths, named = [file.path for file in bank_files(files)], asked.options.bank
        if named is not None and named.absolute() not in {path.absolute() for path in paths}:
            paths.append(named)
        banks = Banks()
        for path in paths:
            with asked.notes.where_unreadable(path):
                asked.notes.add(_read_bank(path, banks))
        return banks

    def map_unit(self, unit: Unit, asked: Request[CommunicationOptions]) -> Communication:
        """What one rank tells; what was read before something that cannot be read stays."""
        from aoe_reports.engine.communication import read_communication, read_contention
        from aoe_reports.facts.communication_run import Communication

        found, notes = Communication(), asked.notes
        notes.add(unit.capture.findings)
        with notes.where_unreadable(unit.path):
            read_communication(unit.capture, found, asked.context.models, asked.options.step, notes.findings)
            if asked.options.contention:
                read_contention(unit.capture, found, asked.options.step, asked.options.top, notes.findings)
            found.nominal_gb_per_s = dict(unit.capture.info.nominal_gb_per_s)
            if host := unit.capture.info.host:
                ranks = {one.rank_id for one in found.transfers}
                found.hosts = {rank: host for rank in ranks if rank is not None}
        return found

    def finish(self, parts: Sequence[tuple[Unit, Communication]], asked: Request[CommunicationOptions]) -> Finished:
        """The ranks of each run together: links are compared with all of their likes, ranks with all others."""
        from aoe_reports.facts.communication_run import Communication

        runs: dict[int, tuple[str, Communication]] = {}
        for unit, part in parts:
            runs.setdefault(unit.number, (unit.run, Communication()))[1].take(part)
        told = RunTables()
        for label, run in runs.values():
            asked.notes.add(_tell(run, label, asked.options, told))
        return Finished(tables=_tables(told, asked.context.segments), run_above=True)

    def is_answered(self, finished: Finished) -> bool:
        """Whether there are operators, links or tails: a bank alone tells of no communication."""
        return any(table.rows for table in finished.tables if table.key in {"rows", "links", "tails"})


communication = asking(CommunicationOfRuns(), CommunicationOptions)
"""The communication of the runs below some paths: `communication([path]).table("links")`."""


def _tables(told: RunTables, segments: Sequence[SegmentRow]) -> tuple[Rows[Any], ...]:
    return (
        Rows(
            type=TypeOfOperator,
            rows=told.types,
            title="By rank, group and type of operator",
            place=1,
            is_shown=told.single_ranks,
            sentences=[
                say(
                    "Wait ratio = wait / (wait + transit); synchronization is the waiting before the first "
                    "transfer. Values are as the profiler states them for one plane: time spent waiting for "
                    "other planes counts as idle. Bus: the bytes of all links of the rank per time of transit."
                )
            ],
        ),
        Rows(
            type=Operator,
            rows=told.operators,
            key="operators",
            place=1,
            title="Longest operators",
            sentences=_of_how_many(told.counts["operators"], told.operators),
        ),
        Rows(
            type=Transport,
            rows=told.transports,
            key="transports",
            place=1,
            is_shown=told.single_ranks,
            title="By transport",
            sentences=[say("SDMA counts the data carried by HCCS, PCIE and SIO a second time.")],
        ),
        Rows(
            type=PacketRow,
            rows=told.packets,
            key="packets",
            title="Packets",
            sentences=[
                say(
                    "Extra time: how much longer smaller packets took than their bytes at the rate of the fastest size that holds "
                    "at least 5% of the volume."
                )
            ],
        ),
        Rows(
            type=AlignmentRow,
            rows=told.alignments,
            key="alignments",
            title="Alignment of copies",
            is_shown=told.single_ranks,
            sentences=[
                say("Unaligned: the size is no multiple of 512 bytes. From the tasks of a timeline; without RDMA.")
            ],
        ),
        Rows(
            type=ContentionRow,
            rows=told.contentions,
            key="contentions",
            title="Computing beside communication",
            is_shown=told.single_ranks,
            sentences=[
                say(
                    "Tasks that communication runs beside for half of them or more, against tasks of the same type and shapes beside "
                    "none; extra time is the difference of the medians times the calls. Slower: by more than 3 standard errors."
                )
            ],
        ),
        Rows(
            type=LinkRow,
            rows=told.links,
            key="links",
            place=-1,
            title="Links",
            sentences=[
                say(
                    "Relative to the median of links of the same transport that carried a similar volume (at "
                    "least 0.5 MB) in the same operators; slow: below 80% of the median, and an outlier (more "
                    "than 3 robust standard deviations) in more than half of the comparisons. Ranks are numbered "
                    "within the group."
                ),
                *_of_how_many(told.counts["links"], told.links),
            ],
        ),
        Rows(
            type=AwaitedRank,
            rows=told.awaited,
            key="awaited",
            place=-4,
            title="Ranks that others wait for",
            sentences=[
                say(
                    "Attributed to the peer that a rank waits for longest before the first transfer of an "
                    "operator, if a timeline names it; otherwise to the rank that waits least. Waits of less "
                    "than 20% of an operator are not counted."
                )
            ],
        ),
        Rows(
            type=GroupRow,
            rows=told.groups,
            key="groups",
            title="Groups over all ranks",
            sentences=[
                say(
                    "Each rank's sums compared: median, 95th percentile, the worst and its rank. Skew: how far apart the "
                    "ranks come to a collective, from their waits before the first transfer, since clocks of hosts "
                    "cannot be compared; where the last rank was not read, at least this much."
                ),
                *([] if told.single_ranks else [say("`--rank N` and JSON show single ranks.")]),
            ],
        ),
        Rows(
            type=SlowHostRow,
            rows=told.slow_hosts,
            key="slow_hosts",
            place=-3,
            title="Hosts with slow links",
            sentences=[
                say(
                    "More than half of the compared links of at least two of its ranks to or from at least two other hosts are "
                    "slow: look at its network card, cable and port."
                )
            ],
        ),
        Rows(
            type=SlowEndRow,
            rows=told.slow_ends,
            key="slow_ends",
            place=-2,
            title="Ranks with slow links only",
            sentences=[
                say(
                    "All compared links from or to the rank are slow, two at least: look at the rank and its host, not at "
                    "each link. Ranks are numbered within the group."
                )
            ],
        ),
        Rows(
            type=TailRow,
            rows=told.tails,
            key="tails",
            title="All-reduce after the backward pass",
            sentences=[
                say(
                    "Gradients that are reduced while others are still being computed are hidden. The bound is "
                    "the most that gradient tuning can save: the tail minus the part that must remain (with a "
                    "bank: the share of the last gradient), and no more than the forward and backward pass can "
                    "accommodate."
                )
            ],
        ),
        Rows(
            type=SegmentRow,
            rows=segments,
            key="segments",
            title="Gradients of the bank",
            sentences=[
                say(
                    "Gradients in the two segments in which they are reduced if no strategy is set (96.54% and "
                    "3.46% of the bytes); the bank holds gradients, and their segments are created when a graph "
                    "is compiled. Time: the share of the time between the first and the last gradient that has "
                    "passed when the segment is complete."
                )
            ],
        ),
    )


def _of_how_many(count: int, rows: Sequence[Any]) -> list[str]:
    if count <= len(rows):
        return []
    return [
        say("The first {shown:,} of {count:,} are listed; `--top {count}` lists all.", shown=len(rows), count=count)
    ]


def _read_bank(path: Path, banks: Banks) -> list[Finding]:
    """Take in the gradients of a bank, and the segments that they are reduced in by default; what is wrong with it."""
    from aoe_reports.facts.gradient_tail import default_segments
    from aoe_reports.formats.aoe.bank_file import read_bank
    from aoe_reports.rules.gradient_bank import check_bank_file

    file = read_bank(path)
    banks.models.extend(file.bank.models)
    segments = [segment for model in file.bank.models for segment in default_segments(model)]
    banks.segments.extend(row_from(SegmentRow, segment, path=str(path)) for segment in segments)
    return check_bank_file(file)


def _tell(run: Communication, label: str, chosen: CommunicationOptions, told: RunTables) -> Iterator[Finding]:
    """Add the rows of one run; what is found in it."""
    from aoe_reports.facts.communication_fleet import find_slow_ends
    from aoe_reports.facts.hosts import find_slow_hosts
    from aoe_reports.facts.packets import alignments_of_ranks, classes_of, resent
    from aoe_reports.questions.communication_words import (
        contended,
        retransmitted,
        slow_links,
        slow_ranks,
        small_packets_sent,
        tails_left,
        unaligned,
        unpaired,
    )

    shown = [time for time in run.operators if chosen.rank in {None, time.rank_id}]
    told.types.extend(_types_of_operators(shown, label, run.bus_rates()))
    longest = sorted(shown, key=lambda time: -time.elapsed_ns)[: chosen.top]
    told.operators.extend(_operator_row(label, place, time) for place, time in enumerate(longest, start=1))
    told.counts["operators"] += len(shown)
    told.transports.extend(_transports([one for one in run.volumes if chosen.rank in {None, one.rank_id}], label))
    classes = classes_of(one for one in run.packets if chosen.rank in {None, one.rank_id})
    told.packets.extend(_packet_row(label, one) for one in classes)
    alignments = alignments_of_ranks(one for one in run.alignments if chosen.rank in {None, one.rank_id})
    told.alignments.extend(_alignment_row(label, one) for one in alignments)
    contentions = [one for one in run.contentions if chosen.rank in {None, one.rank_id}]
    for one in contentions:
        told.contentions.extend(
            row_from(ContentionRow, some, run=label, rank_id=one.rank_id, device_id=one.device_id)
            for some in one.contention.operators
        )
    links, awaited = run.links, run.awaited
    known = {transfer.link for transfer in run.transfers if chosen.rank in {None, transfer.rank_id}}
    mine = [link for link in links if (link.group, link.source_rank, link.destination_rank, link.transport) in known]
    told.links.extend(_link_row(label, link, run.nominal_gb_per_s) for link in mine[: chosen.top])
    told.counts["links"] += len(mine)
    told.awaited.extend(_awaited_row(label, one) for one in awaited)
    told.groups.extend(_group_row(label, one) for one in run.groups)
    hosts = find_slow_hosts(links, run.host_of)
    told.slow_hosts.extend(_slow_host_row(label, host) for host in hosts)
    of_hosts = {link for host in hosts for link in host.links}
    ends = find_slow_ends(link for link in links if link not in of_hosts)
    told.slow_ends.extend(_slow_end_row(label, end) for end in ends)
    told.counts["ranks"] = max(told.counts["ranks"], len({time.rank_id for time in shown}))
    told.tails.extend(_tail_row(label, tail) for tail in run.tails if chosen.rank in {None, tail.rank_id})
    yield from slow_links(links, hosts, ends, label)
    yield from slow_ranks(awaited, label)
    yield from unpaired(run.unpaired, label)
    yield from retransmitted(resent(run.operators, run.rdma), label)
    yield from small_packets_sent(classes, label)
    yield from unaligned(alignments, label)
    yield from contended(contentions, label)
    yield from tails_left(run.tails, label)


def _types_of_operators(
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


def _operator_row(label: str, place: int, time: OperatorTime) -> Operator:
    from aoe_reports.facts.communication import share_of_waiting

    return row_from(
        Operator,
        time,
        position=place,
        run=label,
        wait_ratio=share_of_waiting(time.wait_ns, time.transit_ns),
        synchronization_ratio=share_of_waiting(time.synchronization_ns, time.transit_ns),
    )


def _transports(volumes: Sequence[TransportVolume], label: str) -> Iterator[Transport]:
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


def _link_row(label: str, link: Link, nominal_gb_per_s: Mapping[str, float]) -> LinkRow:
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


def _packet_row(label: str, one: PacketClass) -> PacketRow:
    rate = one.gb_per_s
    return row_from(PacketRow, one, run=label, bandwidth_gb_per_s=None if rate is None else round(rate, 4))


def _alignment_row(label: str, one: Alignment) -> AlignmentRow:
    size, time = one.size_bytes - one.unaligned_bytes, one.time_ns - one.unaligned_ns
    return row_from(
        AlignmentRow,
        one,
        run=label,
        unaligned_share=one.unaligned_bytes / one.size_bytes,
        gb_per_s=round(size / time, 4) if size and time else None,
        unaligned_gb_per_s=round(one.unaligned_bytes / one.unaligned_ns, 4) if one.unaligned_ns else None,
    )


def _awaited_row(label: str, awaited: LateRank) -> AwaitedRank:
    share = awaited.waited_ns / awaited.of_ns if awaited.of_ns else None
    return row_from(AwaitedRank, awaited, run=label, waited_share=share, slow=awaited.is_slow)


def _group_row(label: str, one: GroupOfRanks) -> GroupRow:
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


def _slow_end_row(label: str, end: SlowEnd) -> SlowEndRow:
    return row_from(
        SlowEndRow,
        end,
        run=label,
        sends_slowly=end.is_sender,
        receives_slowly=end.is_receiver,
        links=len(end.links),
    )


def _slow_host_row(label: str, one: SlowHost) -> SlowHostRow:
    return row_from(
        SlowHostRow,
        one,
        run=label,
        sends_slowly=one.is_sender,
        receives_slowly=one.is_receiver,
        links=len(one.links),
        relative_bandwidth_ratio=one.relative_bandwidth,
    )


def _tail_row(label: str, tail: Tail) -> TailRow:
    share = tail.tail_ns / tail.iteration_ns if tail.iteration_ns else None
    return row_from(TailRow, tail, run=label, tail_share=share)
