"""What `serving` found, in words, and the experts of a run over its ranks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from aoe_reports.model.by_key import lists_by_key
from aoe_reports.model.texts import N_, Text, count_of, join, say
from aoe_reports.model.time_units import times_in_one_unit
from aoe_reports.model.topics.serving import Iteration
from aoe_reports.topics.serving.serving import PART_WORDS, ExpertRow, PhasePart, PhaseRow

if TYPE_CHECKING:
    from aoe_reports.topics.serving.experts import ExpertWork

_CUT_BY = N_(
    {
        "annotations": "Iterations are identified by annotations of the timeline.",
        "batches": "Iterations are identified by batches of the service.",
        "operators": "Iterations are identified by the sequence of operators.",
    }
)
_KINDS = N_({True: "computes", False: "waits for other ranks, too"})


def _time(ns: float) -> Text:
    (time,), unit = times_in_one_unit(ns)
    return say("{time} {unit}", time=time, unit=unit)


def headline_of(phases: Sequence[PhaseRow], parts: Sequence[PhasePart]) -> str:
    """The decode of the device that spends most on it: the time per output token, and what dominates it."""
    decodes = [phase for phase in phases if phase.phase == "decode"]
    told = []
    if decodes:
        most = max(decodes, key=lambda one: one.total_ns)
        told.append(_of_decode(most, parts))
    prefills = [phase for phase in phases if phase.phase == "prefill" and phase.per_prompt_token_ns is not None]
    if prefills:
        most = max(prefills, key=lambda one: one.total_ns)
        told.append(say("Prefill: {time} per prompt token.", time=_time(most.per_prompt_token_ns or 0.0)))
    if not told and phases:
        count = sum(phase.iterations for phase in phases)
        told.append(
            count_of(
                count,
                "{number} iteration; none is known to be decode.",
                "{number} iterations; none is known to be decode.",
            )
        )
    return join(" ", told)


def _of_decode(most: PhaseRow, parts: Sequence[PhasePart]) -> Text:
    where = (most.run, most.rank_id, most.device_id)
    mine = [part for part in parts if part.phase == "decode" and (part.run, part.rank_id, part.device_id) == where]
    busy = [one for one in mine if one.part != PART_WORDS["idle"]]
    idle = most.idle_ns / most.total_ns if most.total_ns else 0.0
    rank = "" if most.rank_id is None else say(" on rank {rank}", rank=most.rank_id)
    if most.computing_ns is None:
        return say(
            "Decode: {time} per output token, by the batches of the service; for {idle:.1%} of it no batch runs.",
            time=_time(most.mean_ns),
            idle=idle,
        )
    if not busy:
        return say("Decode: {time} per output token{rank}.", time=_time(most.mean_ns), rank=rank)
    if idle > (busy[0].share or 0.0):
        return say(
            "Decode: {time} per output token{rank}; for {idle:.1%} of it nothing runs on the device, and the largest part that runs is {part} ({share:.1%}).",
            time=_time(most.mean_ns),
            rank=rank,
            idle=idle,
            part=busy[0].part,
            share=busy[0].share or 0.0,
        )
    return say(
        "Decode: {time} per output token{rank}; its largest part is {part} ({share:.1%}), and for {idle:.1%} nothing runs on the device.",
        time=_time(most.mean_ns),
        rank=rank,
        share=busy[0].share or 0.0,
        part=busy[0].part,
        idle=idle,
    )


def sentences_of(iterations: Sequence[Iteration]) -> list[Text]:
    """What is to be known of the figures: what cut iterations, what is unknown, what is left out."""
    told = [*_cut_by(iterations), *_of_batches(iterations)]
    cut = sum(not iteration.is_whole for iteration in iterations)
    if cut:
        told.append(
            count_of(
                cut,
                "{number} iteration is cut off by the capture, and in no row.",
                "{number} iterations are cut off by the capture, and in no row.",
            )
        )
    unknown = sum(iteration.phase == "unknown" for iteration in iterations)
    if unknown:
        told.append(
            count_of(
                unknown,
                "The phase is unknown for {number} iteration: its attention serves both, and its shapes are not recorded.",
                "The phase is unknown for {number} iterations: their attention serves both, and their shapes are not recorded.",
            )
        )
    if any(iteration.drafted for iteration in iterations):
        told.append(
            say(
                "Drafts are verified: a sequence may get several tokens in an iteration, so a token takes at most that long."
            )
        )
    return told


def _cut_by(iterations: Sequence[Iteration]) -> Iterator[Text]:
    counts = Counter(iteration.cut_by for iteration in iterations)
    if len(counts) == 1:
        yield say(_CUT_BY[next(iter(counts))])
    elif counts["batches"]:
        yield say(
            "Iterations are identified by annotations of the timeline ({annotations:,}), batches of the service ({batches:,}) and the sequence of "
            "operators ({operators:,}).",
            annotations=counts["annotations"],
            batches=counts["batches"],
            operators=counts["operators"],
        )
    elif counts:
        yield say(
            "Iterations are identified by annotations of {count:,} of {all:,}, else by the sequence of operators.",
            count=counts["annotations"],
            all=len(iterations),
        )


def _of_batches(iterations: Sequence[Iteration]) -> Iterator[Text]:
    """What batches of the service tell of iterations, and what not."""
    phases, sequences, tokens, lengths = (
        sum(getattr(iteration, name) == "batches" for iteration in iterations)
        for name in ("told_by", "sequences_by", "tokens_by", "lengths_by")
    )
    requests = sum(iteration.lengths_by == "requests" for iteration in iterations)
    if phases or sequences or tokens or lengths or requests:
        yield say(
            "Of {all:,} iterations batches of the service give the phase ({phases:,}), sequences ({sequences:,}), tokens ({tokens:,}) and the "
            "length of sequences ({lengths:,}); its requests give the length of {requests:,}.",
            all=len(iterations),
            phases=phases,
            sequences=sequences,
            tokens=tokens,
            lengths=lengths,
            requests=requests,
        )
    if any(iteration.tasks is None for iteration in iterations):
        yield say(
            "No task of a device was recorded beside the batches of the service: an iteration is the time from the end of one batch to that of "
            "the next on its host, and idle is what no batch runs in."
        )


def experts_of(work: Sequence[ExpertWork]) -> list[ExpertRow]:
    """The operator types of experts over the ranks of each run, the most uneven of those that compute first."""
    groups = lists_by_key(((one.run, one.phase, one.op_type), one) for one in work)
    return sorted(
        _experts(groups), key=lambda one: (one.run, one.phase, one.kind != _KINDS[True], -one.imbalance, one.op_type)
    )


def _experts(groups: dict[tuple[str, str, str], list[ExpertWork]]) -> Iterator[ExpertRow]:
    for (run, phase, op_type), mine in groups.items():
        if len(mine) < 2 or not any(one.total_ns for one in mine):  # noqa: PLR2004 -- nothing to be uneven
            continue
        busiest = max(mine, key=lambda one: one.total_ns)
        mean = sum(one.total_ns for one in mine) / len(mine)
        rows = [one.rows for one in mine if one.rows is not None]
        told = len(rows) == len(mine) and len({*rows}) > 1
        yield ExpertRow(
            run=run,
            phase=phase,
            op_type=op_type,
            kind=say(_KINDS[mine[0].computes]),
            ranks=len(mine),
            busiest_rank_id=busiest.rank_id,
            max_ns=busiest.total_ns,
            mean_ns=mean,
            imbalance=round(busiest.total_ns / mean, 6),
            tokens_max=max(rows) if told else None,
            token_imbalance=round(max(rows) * len(rows) / sum(rows), 6) if told else None,
        )
