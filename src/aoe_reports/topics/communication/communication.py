"""Communication: who waited, which link was slow, what all-reduce is left behind the backward pass."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aoe_reports.engine.ask import asking
from aoe_reports.engine.question import CaptureOptions, Finished, Question, Request, Unit, only
from aoe_reports.model.findings import Finding
from aoe_reports.model.options import option, options
from aoe_reports.model.pictures.pipeline import PipelinePicture
from aoe_reports.model.rows import Rows, labelled, row_from
from aoe_reports.model.texts import say
from aoe_reports.model.topics.communication import (
    Alignment,
    AwaitedRank,
    Contended,
    GradientCollective,
    GroupOfRanks,
    Link,
    Operator,
    PacketClass,
    Segment,
    SlowEnd,
    SlowHost,
    Tail,
    TransportVolume,
    TypeOfOperator,
)

if TYPE_CHECKING:
    from aoe_reports.formats.aoe.gradients import GradientModel
    from aoe_reports.formats.sources.discovery import Discovery
    from aoe_reports.topics.communication.facts import OperatorTime
    from aoe_reports.topics.communication.reading import Launched
    from aoe_reports.topics.communication.run import BusRate, Communication

MAX_SINGLE_RANKS = 16
"""People are shown single ranks of a run with so many at most, unless they ask for one: pages of rows all alike hide what matters."""


@options
class CommunicationOptions(CaptureOptions):
    """Which ranks and steps are shown, how many links and operators, and a bank of gradient tuning."""

    bank: Path | None = option(default=None, help="A gradient tuning bank (<soc>_gradient_fusion.json).", names="place")
    rank: int | None = only("rank")
    step: int | None = only("step")
    top: int = option(default=20, minimum=1, help="Number of operators and links per run.")
    contention: bool = option(
        default=False, help="Also compare computing beside communication with computing alone; reads tables of tasks."
    )
    bucket_order: bool = option(
        default=False,
        help="Also report why collectives of gradients start late, and what could be hidden; reads timelines.",
    )
    pipeline: bool = option(
        default=False,
        help="Also report how long the stages of a pipeline wait in the slowest step; reads timelines. --format svg, which draws it, asks for it.",
    )


@dataclass(frozen=True, slots=True)
class Banks:
    """The contents of all banks of gradient tuning."""

    models: list[GradientModel] = field(default_factory=list)
    segments: list[Segment] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class RunTables:
    """The rows of all runs."""

    rows: defaultdict[str, list[Any]] = field(default_factory=lambda: defaultdict(list))
    """By key of the table."""
    counts: Counter[str] = field(default_factory=Counter)
    """How many rows there are without `--top`, by key of the table; under "ranks" the ranks of the largest run."""

    @property
    def single_ranks(self) -> bool:
        """Whether people are shown rows of single ranks."""
        return self.counts["ranks"] <= MAX_SINGLE_RANKS


_TABLES: tuple[Rows[Any], ...] = (
    Rows(
        type=TypeOfOperator,
        rows=(),
        key="rows",
        title="By rank, group and type of operator",
        sentences=[
            say(
                "Wait ratio = wait / (wait + transit); synchronization is the waiting before the first "
                "transfer. Values are as the profiler states them for one plane: time spent waiting for "
                "other planes counts as idle. Bus: the bytes of all links of the rank per time of transit."
            )
        ],
        place=1,
    ),
    Rows(type=Operator, rows=(), key="operators", title="Longest operators", place=1),
    Rows(
        type=TransportVolume,
        rows=(),
        key="transports",
        title="By transport",
        sentences=[say("SDMA counts the data carried by HCCS, PCIE and SIO a second time.")],
        place=1,
    ),
    Rows(
        type=PacketClass,
        rows=(),
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
        type=Alignment,
        rows=(),
        key="alignments",
        title="Alignment of copies",
        sentences=[say("Unaligned: the size is no multiple of 512 bytes. From the tasks of a timeline; without RDMA.")],
    ),
    Rows(
        type=Contended,
        rows=(),
        key="contentions",
        title="Computing beside communication",
        sentences=[
            say(
                "Tasks that communication runs beside for half of them or more, against tasks of the same type and shapes beside "
                "none; extra time is the difference of the medians times the calls. Slower: by more than 3 standard errors, by the order of all calls, too, and not only later."
            )
        ],
    ),
    Rows(
        type=GradientCollective,
        rows=(),
        key="gradients",
        title="Collectives of gradients that nothing hides",
        sentences=[
            say(
                "Late: from the end of the last kernel that was launched before it to its start. Could be hidden: how much less would be "
                "exposed if collectives of a group started in the order in which they are ready, at most; all ranks would have to. For other "
                "ranks: the part of its time before the first transfer, which an earlier start of this rank alone does not shorten."
            )
        ],
    ),
    Rows(
        type=Link,
        rows=(),
        key="links",
        title="Links",
        sentences=[
            say(
                "Relative to the median of links of the same transport that carried a similar volume (at "
                "least 0.5 MB) in the same operators; slow: below 80% of the median, and an outlier (more "
                "than 3 robust standard deviations) in more than half of the comparisons. Ranks are numbered "
                "within the group."
            )
        ],
        place=-1,
    ),
    Rows(
        type=AwaitedRank,
        rows=(),
        key="awaited",
        title="Ranks that others wait for",
        sentences=[
            say(
                "Attributed to the peer that a rank waits for longest before the first transfer of an "
                "operator, if a timeline names it; otherwise to the rank that waits least. Waits of less "
                "than 20% of an operator are not counted."
            )
        ],
        place=-4,
    ),
    Rows(
        type=GroupOfRanks,
        rows=(),
        key="groups",
        title="Groups over all ranks",
        sentences=[
            say(
                "Each rank's sums compared: median, 95th percentile, the worst and its rank. Skew: how far apart the "
                "ranks come to a collective, from their waits before the first transfer, since clocks of hosts "
                "cannot be compared; where the last rank was not read, at least this much."
            )
        ],
    ),
    Rows(
        type=SlowHost,
        rows=(),
        key="slow_hosts",
        title="Hosts with slow links",
        sentences=[
            say(
                "More than half of the compared links of at least two of its ranks to or from at least two other hosts are "
                "slow: look at its network card, cable and port."
            )
        ],
        place=-3,
    ),
    Rows(
        type=SlowEnd,
        rows=(),
        key="slow_ends",
        title="Ranks with slow links only",
        sentences=[
            say(
                "All compared links from or to the rank are slow, two at least: look at the rank and its host, not at "
                "each link. Ranks are numbered within the group."
            )
        ],
        place=-2,
    ),
    Rows(
        type=Tail,
        rows=(),
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
        type=Segment,
        rows=(),
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
_OF_SINGLE_RANKS = frozenset({"rows", "transports", "alignments", "contentions"})
"""Tables that people see only where the runs have few ranks."""


class CommunicationOfRuns(Question[CommunicationOptions, "Communication"]):
    """Summarise communication by group, link and rank. Covers time, waiting, bandwidth, slow links, slow ranks and the tail of the gradients."""

    example = "communication profile"
    page = "communication"
    title = "Communication"
    options = CommunicationOptions
    tables = tuple((table.key, table.type) for table in _TABLES)
    form_help = "Output format; csv contains the operators by rank, group and type, svg is a picture of a pipeline."
    has_picture = True
    for_picture = "pipeline"
    nothing = "no communication here"
    every_rank = "rows"
    every_step = False

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
        """The communication of one capture; if a file cannot be read, what was read before it stays."""
        from aoe_reports.engine.captures import PrefetchedTasks
        from aoe_reports.topics.communication.reading import (
            columns_of_contention,
            read_communication,
            read_contention,
            read_launch_order,
        )
        from aoe_reports.topics.communication.run import Communication
        from aoe_reports.topics.quality.trimming import unusual_of_table

        found, notes, chosen, capture = Communication(), asked.notes, asked.options, unit.capture
        prefetched = PrefetchedTasks(columns_of_contention(chosen.step)) if chosen.contention else None
        launched: Launched | None = {} if chosen.bucket_order or chosen.pipeline else None
        notes.add(capture.findings)
        with notes.where_unreadable(unit.path):
            models = asked.context.models
            transfers = read_communication(capture, found, models, chosen.step, notes.findings, prefetched, launched)
            if chosen.contention:
                read_contention(capture, found, chosen.step, chosen.top, notes.findings, prefetched)
            if launched is not None:
                read_launch_order(
                    capture, found, chosen.step, notes.findings, launched,
                    bucket_order=chosen.bucket_order, stages_of=transfers if chosen.pipeline else None,
                )  # fmt: skip
            if chosen.step is None:
                found.unusual = unusual_of_table(capture)
            found.nominal_gb_per_s = dict(capture.info.nominal_gb_per_s)
            if host := capture.info.host:
                found.hosts = {transfer.rank_id: host for transfer in found.transfers if transfer.rank_id is not None}
        return found

    def finish(self, parts: Sequence[tuple[Unit, Communication]], asked: Request[CommunicationOptions]) -> Finished:
        """The ranks of each run together: links are compared with all of their likes, ranks with all others."""
        from aoe_reports.topics.communication.pipeline_steps import pipeline_step
        from aoe_reports.topics.communication.run import Communication
        from aoe_reports.topics.communication.words import headline_of, pipeline_picture, pipeline_waits
        from aoe_reports.topics.quality.trimming import note_unusual_of_run

        runs: dict[int, tuple[str, Communication]] = {}
        for unit, part in parts:
            runs.setdefault(unit.number, (unit.run, Communication()))[1].take(part)
        tables = RunTables()
        for label, run in runs.values():
            shown = {place: one for place, one in run.unusual.items() if asked.options.rank in {None, place[0]}}
            note_unusual_of_run(label, shown, asked.notes)
            asked.notes.add(_add_run(run, label, asked.options, tables))
        pictures = []
        if asked.options.pipeline:
            found = {label: pipeline_step(run.stages) for label, run in runs.values()}
            asked.notes.add(pipeline_waits(found))
            pictures = [pipeline_picture(found.values())]
        return Finished(
            tables=_tables(tables, asked.context.segments),
            run_above=True,
            headline=headline_of(tables.rows["rows"]),
            pictures=pictures,
        )

    def is_answered(self, finished: Finished) -> bool:
        """Whether there are operators, links, tails, what runs beside communication or a pipeline: a bank alone contains no communication."""
        return any(isinstance(one, PipelinePicture) and one.lanes for one in finished.pictures) or any(
            table.rows
            for table in finished.tables
            if table.key in {"rows", "links", "tails", "contentions", "gradients"}
        )


communication = asking(CommunicationOfRuns(), CommunicationOptions)
"""The communication of the runs below some paths: `communication([path]).table("links")`."""


def _tables(tables: RunTables, segments: Sequence[Segment]) -> tuple[Rows[Any], ...]:
    found = []
    tables.rows["segments"] = [*segments]
    for table in _TABLES:
        rows = tables.rows[table.key]
        sentences, count = list(table.sentences), tables.counts[table.key]
        if count > len(rows):
            first = "The first {shown:,} of {count:,} are listed; `--top {count}` lists all."
            sentences.append(say(first, shown=len(rows), count=count))
        if table.key == "groups" and not tables.single_ranks:
            sentences.append(say("`--rank N` and JSON show single ranks."))
        is_shown = tables.single_ranks or table.key not in _OF_SINGLE_RANKS
        found.append(replace(table, rows=rows, sentences=sentences, is_shown=is_shown))
    return tuple(found)


def _read_bank(path: Path, banks: Banks) -> list[Finding]:
    """Add the gradients of a bank and their default segments to `banks`; returns what is wrong with the file."""
    from aoe_reports.formats.aoe.bank_file import read_bank
    from aoe_reports.rules.gradient_bank import check_bank_file
    from aoe_reports.topics.communication.gradient_tail import default_segments

    file = read_bank(path)
    banks.models.extend(file.bank.models)
    segments = [segment for model in file.bank.models for segment in default_segments(model)]
    banks.segments.extend(replace(segment, path=str(path)) for segment in segments)
    return check_bank_file(file)


def _add_run(run: Communication, label: str, chosen: CommunicationOptions, tables: RunTables) -> Iterator[Finding]:
    """Add the rows of one run to `tables`; yields its findings."""
    from aoe_reports.topics.communication.hosts import find_slow_hosts
    from aoe_reports.topics.communication.over_ranks import find_slow_ends
    from aoe_reports.topics.communication.packets import alignments_of_ranks, classes_of, resent
    from aoe_reports.topics.communication.words import (
        contended,
        gradient_rows,
        out_of_order,
        retransmitted,
        slow_links,
        slow_ranks,
        small_packets_sent,
        tails_left,
        unaligned,
        unpaired,
    )

    def of_rank(rows: Iterable[Any]) -> list[Any]:
        return [row for row in rows if chosen.rank in {None, row.rank_id}]

    rows, shown = tables.rows, of_rank(run.operators)
    rows["rows"].extend(_types_of_operators(shown, label, run.bus_rates()))
    longest = sorted(shown, key=lambda time: -time.elapsed_ns)[: chosen.top]
    rows["operators"] += [row_from(Operator, time, position=i, run=label) for i, time in enumerate(longest, start=1)]
    tables.counts["operators"] += len(shown)
    rows["transports"].extend(labelled(_transports_of(of_rank(run.volumes)), label))
    classes = classes_of(of_rank(run.packets))
    rows["packets"].extend(labelled(classes, label))
    alignments = alignments_of_ranks(of_rank(run.alignments))
    rows["alignments"].extend(labelled(alignments, label))
    contentions = of_rank(run.contentions)
    rows["contentions"].extend(
        replace(row, run=label, rank_id=device.rank_id, device_id=device.device_id)
        for device in contentions
        for row in device.operators
    )
    orders = of_rank(run.orders)
    gradients = [row for order in orders for row in gradient_rows(order, run, chosen.step)]
    rows["gradients"].extend(labelled(gradients[: chosen.top], label))
    tables.counts["gradients"] += len(gradients)
    links, awaited = run.links, run.awaited
    known = {transfer.link for transfer in of_rank(run.transfers)}
    listed = [link for link in links if (link.group, link.source_rank, link.destination_rank, link.transport) in known]
    for link in listed[: chosen.top]:
        nominal, own = run.nominal_gb_per_s.get(link.transport), link.bandwidth_gb_per_s
        ratio = own / nominal if own is not None and nominal else None
        rows["links"].append(replace(link, run=label, nominal_ratio=ratio))
    tables.counts["links"] += len(listed)
    rows["awaited"].extend(labelled(awaited, label))
    rows["groups"].extend(labelled(run.groups, label))
    hosts = find_slow_hosts(links, run.host_of)
    rows["slow_hosts"].extend(labelled(hosts, label))
    of_hosts = {link for host in hosts for link in host.slow_links}
    ends = find_slow_ends(link for link in links if link not in of_hosts)
    rows["slow_ends"].extend(labelled(ends, label))
    tables.counts["ranks"] = max(tables.counts["ranks"], len({time.rank_id for time in shown}))
    rows["tails"].extend(labelled(of_rank(run.tails), label))
    yield from slow_links(links, hosts, ends, label)
    yield from slow_ranks(awaited, label)
    yield from unpaired(run.unpaired, label)
    yield from retransmitted(resent(run.operators, run.rdma), label)
    yield from small_packets_sent(classes, label)
    yield from unaligned(alignments, label)
    yield from contended(contentions, label)
    yield from out_of_order(orders, label)
    yield from tails_left(run.tails, label)


def _types_of_operators(
    times: Sequence[OperatorTime], label: str, buses: Mapping[tuple[int | None, str | None, str], BusRate]
) -> Iterator[TypeOfOperator]:
    from aoe_reports.topics.communication.facts import grouped, summed

    by_type = grouped(times, lambda time: (time.rank_id, time.group, time.type, time.op_type))
    for (rank, group, kind, op_type), operators in by_type.items():
        bus = buses.get((rank, group, op_type))
        rate = None if bus is None else bus.gb_per_s
        parts = ("transit_ns", "wait_ns", "synchronization_ns", "idle_ns")
        yield TypeOfOperator(
            run=label,
            rank_id=rank,
            group=group,
            type=kind,
            op_type=op_type,
            operators=len(operators),
            elapsed_ns=sum(time.elapsed_ns for time in operators),
            **{part: summed(getattr(time, part) for time in operators) for part in parts},
            transit_bytes=None if bus is None else bus.transit_bytes,
            bus_gb_per_s=None if rate is None else round(rate, 4),
            bus_nominal_ratio=round(rate / bus.nominal, 4) if bus and rate and bus.nominal else None,
        )


def _transports_of(volumes: Iterable[TransportVolume]) -> Iterator[TransportVolume]:
    """Volume and time by transport; SDMA is what HCCS, PCIE and SIO carried, once more."""
    from aoe_reports.topics.communication.facts import grouped

    for same in grouped(volumes, lambda row: (row.rank_id, row.group, row.op_type, row.transport)).values():
        size, time = sum(row.transit_bytes for row in same), sum(row.transit_ns for row in same)
        if size or time:
            yield replace(same[0], transit_bytes=size, transit_ns=time)
