"""What `communication` found, in words: the headline, and the findings: hosts, ranks and links that are slow, ranks that others wait for, tails of gradients."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from aoe_reports.engine.rules import GRADIENT_TAIL
from aoe_reports.model.by_key import lists_by_key
from aoe_reports.model.findings import EXAMPLES_PER_RULE, Finding
from aoe_reports.model.pictures.pipeline import PipelinePicture
from aoe_reports.model.rules import Rule
from aoe_reports.model.texts import N_, Text, count_of, join, say
from aoe_reports.model.time_units import times_in_one_unit
from aoe_reports.model.topics.communication import (
    Alignment,
    AwaitedRank,
    GradientCollective,
    Link,
    PacketClass,
    SlowEnd,
    SlowHost,
    Tail,
    TypeOfOperator,
    share_of_waiting,
)
from aoe_reports.topics.communication.bucket_order import BUCKET_ORDER, BucketOrder
from aoe_reports.topics.communication.bucket_order import MIN_SHARE as ORDER_SHARE
from aoe_reports.topics.communication.contention import CONTENTION, MIN_SHARE, Contention
from aoe_reports.topics.communication.facts import SLOW_LINK, SLOW_RANK, OperatorTime, grouped
from aoe_reports.topics.communication.over_ranks import UNPAIRED, Unpaired
from aoe_reports.topics.communication.packets import (
    ALIGNED_BYTES,
    RETRANSMISSION,
    SMALL_PACKETS,
    UNALIGNED,
    UNALIGNED_SHARE,
    RdmaTime,
    small_packets,
)
from aoe_reports.topics.communication.pipeline_steps import PIPELINE_STEP, PipelineStep
from aoe_reports.topics.communication.run import Communication

_SHOWN_LINKS = 4


def headline_of(rows: Sequence[TypeOfOperator]) -> str:
    """How long the rank communicates that does so longest, how much of it is waiting, and in which operators."""
    ranks = lists_by_key(((row.run, row.rank_id), row) for row in rows)
    if not ranks:
        return ""
    (_, rank), types = max(ranks.items(), key=lambda item: sum(row.elapsed_ns for row in item[1]))
    total = sum(row.elapsed_ns for row in types)
    (time,), unit = times_in_one_unit(total)
    said = [say("Communication takes {time} {unit}", time=time, unit=unit)]
    if rank is not None:
        said.append(say(" on rank {rank}", rank=rank))
    if len(ranks) > 1:
        said.append(say(", the longest of {count} ranks", count=len(ranks)))
    waits, transits = [row.wait_ns for row in types], [row.transit_ns for row in types]
    if None not in waits and None not in transits:
        ratio = share_of_waiting(sum(filter(None, waits)), sum(filter(None, transits)))
        said += [] if ratio is None else [say(" (wait ratio {ratio:.1%})", ratio=ratio)]
    elapsed: dict[str, int] = {}
    for row in types:
        elapsed[row.op_type] = elapsed.get(row.op_type, 0) + row.elapsed_ns
    first = max(elapsed, key=lambda name: elapsed[name])
    if len(elapsed) > 1 and total:
        said.append(say("; {type} takes {share:.1%} of it", type=first, share=elapsed[first] / total))
    return say("{text}.", text=join("", said))


def slow_links(links: Sequence[Link], hosts: Sequence[SlowHost], ends: Sequence[SlowEnd], label: str) -> list[Finding]:
    """Hosts with slow links, each once; then ranks with slow links only, each once; then links of others."""
    named = {link for host in hosts for link in host.slow_links} | {link for end in ends for link in end.slow_links}
    others = [link for link in links if link.slow and link not in named]
    messages = [*map(_slow_host, hosts), *map(_slow_end, ends), *map(_slow_link, others)]
    return _examples(SLOW_LINK, label, messages)


def _examples(rule: Rule, label: str, messages: Iterable[str]) -> list[Finding]:
    return rule.found_at(label, ((message, None) for message in messages))


def _slow_link(link: Link) -> str:
    return say(
        (
            "link {link} over {transport}: {share:.1%} of the bandwidth of links with the same work, an outlier in "
            "{slow} of {compared} comparisons; it took {lost:.3f} us longer than those links would have taken"
        ),
        link=_of_group(f"{link.source_rank}-{link.destination_rank}", link.group),
        transport=link.transport,
        share=link.relative_bandwidth_ratio or 0.0,
        slow=link.slow_in,
        compared=link.compared,
        lost=(link.lost_ns or 0) / 1000,
    )


def _slowest(links: Sequence[Link]) -> str:
    """The first links as evidence, and how many more there are."""
    shown = [
        f"{link.source_rank}-{link.destination_rank} ({link.relative_bandwidth_ratio or 0.0:.1%})"
        for link in links[:_SHOWN_LINKS]
    ]
    more = len(links) - _SHOWN_LINKS
    return join(", ", [*shown, say("and {count} more", count=more)] if more > 0 else shown)


def _slow_host(host: SlowHost) -> str:
    templates = N_(
        (
            "host {host}: {slow} of the {compared} links of its {ranks} ranks to and from other hosts over {transport} are slow, in the middle at {share:.1%} of the bandwidth of links with the same work, which took {lost:.3f} us longer: {links}",
            "host {host}: {slow} of the {compared} links of its {ranks} ranks to other hosts over {transport} are slow, in the middle at {share:.1%} of the bandwidth of links with the same work, which took {lost:.3f} us longer: {links}",
            "host {host}: {slow} of the {compared} links of its {ranks} ranks from other hosts over {transport} are slow, in the middle at {share:.1%} of the bandwidth of links with the same work, which took {lost:.3f} us longer: {links}",
        )
    )
    return say(
        _by_direction(templates, host),
        host=host.host,
        slow=host.links,
        compared=host.compared,
        ranks=host.ranks,
        transport=host.transport,
        share=host.relative_bandwidth_ratio,
        lost=host.lost_ns / 1000,
        links=_slowest(host.slow_links),
    )


def _by_direction(templates: tuple[str, str, str], end: SlowHost | SlowEnd) -> str:
    both, sends, receives = templates
    return both if end.sends_slowly and end.receives_slowly else sends if end.sends_slowly else receives


def _slow_end(end: SlowEnd) -> str:
    templates = N_(
        (
            "all {count} links of rank {rank} over {transport} are slow, which took {lost:.3f} us longer than other links would have taken: {links}",
            "all {count} links from rank {rank} over {transport} are slow, which took {lost:.3f} us longer than other links would have taken: {links}",
            "all {count} links to rank {rank} over {transport} are slow, which took {lost:.3f} us longer than other links would have taken: {links}",
        )
    )
    return say(
        _by_direction(templates, end),
        rank=_of_group(str(end.rank), end.group),
        count=end.links,
        transport=end.transport,
        lost=end.lost_ns / 1000,
        links=_slowest(end.slow_links),
    )


def slow_ranks(awaited: Sequence[AwaitedRank], label: str) -> list[Finding]:
    found = []
    for rank in awaited:
        times = say(
            "in {operators} of {of_operators} operators in which ranks wait, {waited:.3f} us in total",
            operators=rank.operators,
            of_operators=rank.of_operators,
            waited=rank.waited_ns / 1000,
        )
        if rank.slow:
            late = say("{rank}, which was not captured,", rank=late_rank(rank)) if rank.is_absent else late_rank(rank)
            message = say(
                "always the same rank: the others wait for rank {rank} {times}"
                if rank.is_always_the_same
                else "the others wait for rank {rank} {times}",
                rank=late,
                times=times,
            )
        elif not rank.is_known and rank.operators * 2 > rank.of_operators:
            message = say(
                "{ranks} wait for a rank that was not captured, {times}"
                if rank.is_absent
                else "{ranks} wait for a rank that cannot be determined, {times}",
                ranks=_of_group(say("all ranks that were read"), rank.group),
                times=times,
            )
        else:
            continue
        found.append(SLOW_RANK.found(label, message))
    return found[:EXAMPLES_PER_RULE]


_SHOWN_RANKS = 4


def unpaired(found: Sequence[Unpaired], label: str) -> list[Finding]:
    findings = []
    for one in found[:EXAMPLES_PER_RULE]:
        ranks = sorted(one.by_rank.items(), key=lambda item: (-abs(item[1][0] - item[1][1]), item[0]))
        counts = [
            say("rank {rank}: {sends} and {receives}", rank=rank, sends=sends, receives=receives)
            for rank, (sends, receives) in ranks[:_SHOWN_RANKS]
        ]
        message = say(
            "{sends} sends and {receives} receives in {where}: its ranks did not record the same steps, or one does not answer ({counts})",
            sends=one.sends,
            receives=one.receives,
            where=_where(one),
            counts=join(", ", counts),
        )
        findings.append(UNPAIRED.found(label, message))
    return findings


def _where(one: Unpaired | OperatorTime) -> str:
    return _of_group(say("all steps") if one.step is None else say("step {step}", step=one.step), one.group)


def _rank(rank_id: int | None) -> str:
    return "-" if rank_id is None else str(rank_id)


def small_packets_sent(classes: Sequence[PacketClass], label: str) -> Iterator[Finding]:
    """What smaller packets cost, by transport."""
    for small, fast in small_packets(classes):
        message = say(
            "{transport}: packets below {most:,} bytes carry {bytes:.1%} of the volume and take {time:.1%} of the time ({slow:.3f} GB/s; "
            "{fast:.3f} GB/s from {least:,} bytes on), {lost:.3f} us more than at that rate; send larger buckets "
            "(bucket_cap_mb of DistributedDataParallel) or fewer collectives",
            transport=small.transport,
            most=small.most_bytes or fast.least_bytes,
            bytes=small.bytes_share or 0.0,
            time=small.time_share or 0.0,
            slow=small.gb_per_s or 0.0,
            fast=fast.gb_per_s or 0.0,
            least=fast.least_bytes,
            lost=(small.lost_ns or 0) / 1000,
        )
        yield SMALL_PACKETS.found(label, message)


def unaligned(alignments: Sequence[Alignment], label: str) -> list[Finding]:
    """Transports over which a rank copies mostly sizes that are no multiple of 512 bytes."""
    messages = [
        say(
            "{transport}: {share:.1%} of the bytes of rank {rank} are in copies whose size is no multiple of {size} bytes ({copies} of "
            "{all}); pad the tensors, or choose buckets whose part for each rank is such a multiple",
            transport=row.transport,
            share=row.unaligned_bytes / row.size_bytes,
            rank=_rank(row.rank_id),
            size=ALIGNED_BYTES,
            copies=row.unaligned_copies,
            all=row.copies,
        )
        for row in alignments
        if row.unaligned_bytes >= UNALIGNED_SHARE * row.size_bytes
    ]
    return _examples(UNALIGNED, label, messages)


def contended(devices: Sequence[Contention], label: str) -> list[Finding]:
    """Devices whose computing is slower beside communication."""
    messages = [
        count_of(
            device.slower,
            "rank {rank}: an operator is slower beside communication than without, {lost:.3f} us in all ({share:.1%} of computing; "
            "{compared:.1%} of what runs beside communication can be compared)",
            "rank {rank}: {number} operators are slower beside communication than without, {lost:.3f} us in all ({share:.1%} of computing; "
            "{compared:.1%} of what runs beside communication can be compared)",
            rank=_rank(device.rank_id),
            lost=device.lost_ns / 1000,
            share=device.lost_ns / device.computing_ns,
            compared=device.compared_ns / device.beside_ns,
        )
        for device in sorted(devices, key=lambda device: -device.lost_ns)
        if device.lost_ns >= max(MIN_SHARE * device.computing_ns, 1)
    ]
    return _examples(CONTENTION, label, messages)


def gradient_rows(order: BucketOrder, run: Communication, step: int | None) -> Iterator[GradientCollective]:
    """The exposed collectives of gradients of one device, with what they waited for other ranks by the timeline, else by a table."""
    waits: dict[tuple[int | None, str], list[int | None]] = lists_by_key(
        (
            (operator.step, operator.op_name),
            operator.wait_ns if operator.synchronization_ns is None else operator.synchronization_ns,
        )
        for operator in run.operators
        if operator.rank_id == order.rank_id
    )
    waits |= lists_by_key(
        ((wait.step, wait.op_name), wait.waited_ns) for wait in run.peer_waits if wait.rank_id == order.rank_id
    )
    for some in order.collectives:
        if step in {None, some.step}:
            mine = waits.get((some.step, some.op_name)) or waits.get((None, some.op_name)) or []
            waited = mine[0] if len(mine) == 1 else None
            yield replace(some, rank_id=order.rank_id, device_id=order.device_id, waited_ns=waited)


def out_of_order(orders: Sequence[BucketOrder], label: str) -> list[Finding]:
    """Devices on which an earlier start of collectives of gradients would hide a part of them."""
    messages = [
        say(
            "rank {rank}: collectives of gradients are exposed for {exposed:.3f} us; started in the order in which their inputs are ready at most "
            "{hidden:.3f} us of it would be hidden ({share:.1%} of the time); they start late because of: {reason}",
            rank=_rank(order.rank_id),
            exposed=order.exposed_ns / 1000,
            hidden=order.hidden_ns / 1000,
            share=order.hidden_ns / order.length_ns,
            reason=order.late_because,
        )
        for order in sorted(orders, key=lambda order: -order.hidden_ns)
        if order.hidden_ns >= max(ORDER_SHARE * order.length_ns, 1)
    ]
    return _examples(BUCKET_ORDER, label, messages)


def retransmitted(found: Sequence[tuple[OperatorTime, RdmaTime]], label: str) -> list[Finding]:
    """Operators whose RDMA packets were sent again."""
    messages = [
        say(
            "{where}: the RDMA transfer of {op_name} took {transit:.3f} s, and no rank was through in 4 s: packets were lost and sent "
            "again after a timeout; look at the switch, the optical modules and the network card of rank {rank}",
            where=_where(operator),
            op_name=operator.op_name,
            transit=transfer.transit_ns / 1e9,
            rank=_rank(transfer.rank_id),
        )
        for operator, transfer in found
    ]
    return _examples(RETRANSMISSION, label, messages)


def tails_left(tails: Sequence[Tail], label: str) -> list[Finding]:
    """What gradient tuning could save, by rank; nothing where no all-reduce ends behind the backward pass."""
    found = []
    for whose, mine in grouped(tails, lambda tail: (tail.rank_id, tail.device_id, tail.model_id)).items():
        if unmeasured := sum(one.unmeasured_reduces for one in mine):
            message = say(
                ("{count} all-reduces of step_trace have no duration: the tail after the backward pass may be longer"),
                count=unmeasured,
            )
            found.append(GRADIENT_TAIL.found(label, message))
        if any(one.tail_ns for one in mine):
            found.append(GRADIENT_TAIL.found(label, _whose(whose, _tail_message(mine))))
    return found[:EXAMPLES_PER_RULE]


def _tail_message(tails: Sequence[Tail]) -> str:
    """The tail of the iterations of one device and model, on average."""
    tail, bound = sum(one.tail_ns for one in tails), sum(one.bound_ns for one in tails)
    whole, reduce = sum(one.iteration_ns for one in tails), sum(one.reduce_ns for one in tails)
    return say(
        (
            "in {count} iterations, on average {tail:.3f} us of all-reduce ({share:.1%} of the iteration) run "
            "after the backward pass, {part:.1%} of all all-reduce time; gradient tuning can save at most "
            "{bound:.3f} us"
        )
        if whole
        else (
            "in {count} iterations, on average {tail:.3f} us of all-reduce run after the backward pass, {part:.1%} "
            "of all all-reduce time; gradient tuning can save at most {bound:.3f} us"
        ),
        count=len(tails),
        tail=tail / len(tails) / 1000,
        share=tail / whole if whole else None,
        part=tail / reduce,
        bound=bound / len(tails) / 1000,
    )


def _whose(whose: tuple[int | None, ...], message: str) -> str:
    """A message with the rank, device and model that it is about, as far as they are known."""
    templates = N_(("rank {value}", "device {value}", "model {value}"))
    known = zip(templates, whose, strict=True)
    words = [say(template, value=value) for template, value in known if value is not None]
    return say("{name}: {why}", name=join(", ", words), why=message) if words else message


def late_rank(rank: AwaitedRank) -> str:
    """The rank that others wait for: its rank in the job, and its number within the group where that is another, or all that is known."""
    if rank.number is None:
        return str(rank.rank)
    number = number_in_group(str(rank.number), rank.group)
    if rank.rank is None:
        return number
    if rank.rank == rank.number:
        return _of_group(str(rank.rank), rank.group)
    return say("{rank} (number {number})", rank=rank.rank, number=number)


def number_in_group(number: str, group: str | None) -> str:
    """A rank known only by its number within its group."""
    return say("{number} of its group", number=number) if group is None else _of_group(number, group)


def _of_group(what: str, group: str | None) -> str:
    return what if group is None else say("{what} of group {group}", what=what, group=group)


def pipeline_waits(found: Mapping[str, PipelineStep | None]) -> Iterator[Finding]:
    """How much of a step the stages of each run wait, or that there is no pipeline."""
    for label, step in found.items():
        text = _no_pipeline()
        if step is not None:
            text = say("{what}: {told}", what=_pipeline_title(step), told=join("; ", _pipeline_lines(step)))
        yield PIPELINE_STEP.found(label, text)


def pipeline_picture(found: Iterable[PipelineStep | None]) -> PipelinePicture:
    """The slowest step of all runs, or a title that says why there is none."""
    step = max(filter(None, found), key=lambda step: step.duration_ns, default=None)
    if step is None:
        return PipelinePicture(title=_no_pipeline())
    return PipelinePicture(
        title=_pipeline_title(step), lines=tuple(_pipeline_lines(step)), duration_ns=step.duration_ns, lanes=step.lanes
    )


def _no_pipeline() -> Text:
    return say(
        "no pipeline to draw: no timelines here in which two stages send and receive in one step, beside one another"
    )


def _pipeline_title(step: PipelineStep) -> Text:
    stages, duration = len(step.lanes), step.duration_ns / 1e6
    if step.step is None:
        return say("pipeline of {stages} stages, {duration:,.3f} ms", stages=stages, duration=duration)
    return say(
        "step {step}: pipeline of {stages} stages, {duration:,.3f} ms", step=step.step, stages=stages, duration=duration
    )


def _pipeline_lines(step: PipelineStep) -> Iterator[Text]:
    """The measured share of bubbles, that of the schedule, and what the difference is worth."""
    yield say("bubbles: {share:.1%} of the step", share=float(step.waiting_share))
    least = step.least_share
    if least is None and step.has_all_stages:
        yield say("the micro-batches are unknown")
        return
    if least is None:
        yield say("not all stages were read")
        return
    yield say(
        "schedule: (p-1)/(m+p-1) = {share:.1%}, p = {stages}, m = {count}",
        share=float(least),
        stages=len(step.lanes),
        count=step.micro_batches,
    )
    yield say(
        "difference: {time:+,.3f} ms of the step of each stage",
        time=float((step.waiting_share - least) * step.duration_ns) / 1e6,
    )
