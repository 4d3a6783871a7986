"""Iterations of a server of language models: prefill and decode, their tokens, what their time is spent on, and how even experts are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypedDict

from aoe_reports.engine.ask import asking
from aoe_reports.engine.question import CaptureOptions, Finished, Notes, Question, Request, Unit, only
from aoe_reports.model.options import options
from aoe_reports.model.rows import US, Rows, column, row
from aoe_reports.model.shares import rounded, share_of
from aoe_reports.model.texts import N_, say
from aoe_reports.model.topics.serving import Iteration

if TYPE_CHECKING:
    from aoe_reports.topics.serving.experts import ExpertWork

PHASES = N_({"prefill": "prefill", "decode": "decode", "mixed": "mixed", "other": "other", "unknown": "unknown"})
PART_WORDS = N_(
    {
        "attention": "attention",
        "kv-cache": "KV cache",
        "products": "matrix products",
        "moe": "MoE",
        "normalisation": "normalisation",
        "sampling": "sampling",
        "communication": "communication",
        "other": "other operators",
        "idle": "idle",
    }
)

_FEW = 2
"""Of so many devices people are shown the parts."""


@options
class ServingOptions(CaptureOptions):
    """Which devices are looked at."""

    rank: int | None = only("rank")
    device: int | None = only("device")


@row
class PhaseRow:
    """The whole iterations of one phase on one device; those that the capture cuts off are in none."""

    run: str = column("Run")
    rank_id: int | None = column("Rank", "integer")
    device_id: int | None = column("Device", "integer")
    dp_rank: str | None = column("Data parallel rank")
    """Of batches of a service, as its profiler tells it."""
    prof_id: str | None = column("Card (prof_id)")
    """The card (or process) that ran the batches of a service; its profiler tells no device."""
    phase: str = column("Phase", "word")
    iterations: int = column("Iterations", "integer")
    total_ns: int = column("Total", unit=US)
    share: float | None = column("Share", "percent")
    mean_ns: float = column("Mean", unit=US)
    p50_ns: float = column("Median", unit=US, detail=True)
    p95_ns: float = column("P95", unit=US)
    sequences: float | None = column("Sequences (mean)", "number")
    tokens: int | None = column("Tokens", "integer")
    tokens_known: int = column()
    """Iterations whose tokens are known: `tokens` are theirs."""
    sequence_length: float | None = column("Sequence length (mean)", "number", detail=True)
    """The tokens of a sequence, with those of the iteration; where a service tells its batches."""
    computing_ns: int | None = column("Computing", unit=US, detail=True)
    communication_ns: int | None = column("Communication", unit=US, detail=True)
    idle_ns: int = column("Idle", unit=US)
    """Where a service alone tells it: no batch runs."""
    per_output_token_ns: float | None = column("Per output token", unit=US)
    """Of decode: the mean iteration, in which each sequence gets one token, with drafts at least one."""
    per_prompt_token_ns: float | None = column("Per prompt token", unit=US)
    """Of prefill."""


@row
class PhasePart:
    """One part of the iterations of a phase: all of them and the idle time are the iterations, to the nanosecond."""

    run: str = column("Run")
    rank_id: int | None = column("Rank", "integer")
    device_id: int | None = column("Device", "integer")
    phase: str = column("Phase", "word")
    part: str = column("Part", "word")
    total_ns: int = column("Total", unit=US)
    share: float | None = column("Share", "percent")
    mean_ns: float = column("Per iteration", unit=US)


@row
class ExpertRow:
    """An operator type of experts over the ranks of a run, in the iterations of one phase."""

    run: str = column("Run")
    phase: str = column("Phase", "word")
    op_type: str = column("Operator type")
    kind: str = column("Kind", "word")
    ranks: int = column("Ranks", "integer")
    busiest_rank_id: int | None = column("Busiest rank", "integer")
    max_ns: int = column("Longest", unit=US)
    mean_ns: float = column("Mean", unit=US)
    imbalance: float = column("Imbalance (time)", "ratio")
    tokens_max: int | None = column("Most tokens", "integer")
    token_imbalance: float | None = column("Imbalance (tokens)", "ratio")
    """By the rows that the operator is given; null where shapes do not tell, or are those of a buffer."""


Part = tuple[list[PhaseRow], list[PhasePart], list[Iteration], "list[ExpertWork]", list[str]]
"""The last are the folders of services whose batches tell something of the tasks of a capture."""


class Serving(Question[ServingOptions, Part]):
    """Split captures of servers of language models into iterations: prefill, decode or mixed, sequences, tokens, time per output token by part, and how evenly experts are used."""

    example = "serving profile"
    page = "serving"
    title = "Serving"
    options = ServingOptions
    tables = (("rows", PhaseRow), ("parts", PhasePart), ("iterations", Iteration), ("experts", ExpertRow))
    form_help = "Output format; csv omits parts, iterations and experts."
    nothing = "no iteration of a server of language models here"

    def units(self, files: Any, asked: Request[ServingOptions]) -> Sequence[Unit]:
        """The captures of devices, and what profilers of services tell; where one device is asked for, no service is."""
        from aoe_reports.engine.runs import service_captures

        captures: list[Unit] = [*super().units(files, asked)]
        if (asked.options.rank, asked.options.device) != (None, None):
            return captures
        services = [Unit(capture=capture, run=str(capture.root)) for capture in service_captures(files)]
        return [*captures, *services]

    def map_unit(self, unit: Unit, asked: Request[ServingOptions]) -> Part:
        """The iterations of each device of a capture; of a service its batches."""
        from aoe_reports.topics.quality.trimming import note_unusual_of_table
        from aoe_reports.topics.serving.experts import work_of_experts
        from aoe_reports.topics.serving.reading import read_served
        from aoe_reports.topics.task_source import of_source

        capture, chosen, notes = unit.capture, asked.options, asked.notes
        notes.add(capture.findings)
        part: Part = ([], [], [], [], [])
        if capture.of_service:
            return _of_service(unit, notes)
        if not capture.info.may_hold(chosen.rank):
            return part
        found, tables = read_served(capture, notes)
        if any(one.served is not None for one in found):
            note_unusual_of_table(capture, notes, rank=chosen.rank, device=chosen.device, trims=False)
        notes.add(of_source(capture, [one.tasks for one in found], tables))
        for device in sorted(found, key=lambda device: device.tasks.place):
            rank, number = device.tasks.rank_id, device.tasks.device_id
            if device.served is None or chosen.rank not in {None, rank} or chosen.device not in {None, number}:
                continue
            where = _Where(run=unit.run, rank_id=rank, device_id=number, dp_rank=None, prof_id=None)
            phases, parts, iterations = _rows(where, device.served.iterations)
            part[0].extend(phases)
            part[1].extend(parts)
            part[2].extend(iterations)
            part[3].extend(work_of_experts(unit.run, device.tasks, device.served))
            if device.service is not None:
                part[4].append(device.service)
        return part

    def finish(self, parts: Sequence[tuple[Unit, Part]], asked: Request[ServingOptions]) -> Finished:
        """The phases of all devices, what they are spent on, each iteration, and experts over ranks."""
        from aoe_reports.topics.serving.words import experts_of, headline_of, sentences_of

        del asked
        told = {service for _, part in parts for service in part[4]}
        parts = [(unit, part) for unit, part in parts if not (unit.capture.of_service and unit.path in told)]
        phases = [one for _, part in parts for one in part[0]]
        split = [one for _, part in parts for one in part[1]]
        iterations = [one for _, part in parts for one in part[2]]
        devices = {(phase.run, phase.rank_id, phase.device_id, phase.prof_id) for phase in phases}
        experts = experts_of([one for _, part in parts for one in part[3]])
        return Finished(
            tables=(
                Rows(type=PhaseRow, rows=phases, of_runs=True, sentences=sentences_of(iterations)),
                Rows(
                    type=PhasePart,
                    rows=split,
                    key="parts",
                    title=say("Time by part"),
                    of_runs=True,
                    is_shown=len(devices) <= _FEW,
                ),
                Rows(type=Iteration, rows=iterations, key="iterations", is_shown=False),
                Rows(type=ExpertRow, rows=experts, key="experts", title=say("Experts over ranks"), of_runs=True),
            ),
            headline=headline_of(phases, split),
        )


serving = asking(Serving(), ServingOptions)
"""The iterations of servers below some paths: `serving([path]).table("iterations")`."""


class _Where(TypedDict):
    """The columns that tell whose iterations they are."""

    run: str
    rank_id: int | None
    device_id: int | None
    dp_rank: str | None
    prof_id: str | None


def _of_service(unit: Unit, notes: Notes) -> Part:
    """The batches of a service by the card that ran them, as iterations."""
    from aoe_reports.topics.serving.facts import iterations_of_batches
    from aoe_reports.topics.serving.reading import read_lanes

    part: Part = ([], [], [], [], [])
    for lane in read_lanes(unit.capture, notes):
        where = _Where(run=unit.run, rank_id=None, device_id=None, dp_rank=lane.dp_rank, prof_id=lane.prof_id)
        phases, _, iterations = _rows(where, iterations_of_batches(lane))
        part[0].extend(phases)
        part[2].extend(iterations)
    return part


def _rows(where: _Where, iterations: Sequence[Iteration]) -> tuple[list[PhaseRow], list[PhasePart], list[Iteration]]:
    whole = [iteration for iteration in iterations if iteration.is_whole]
    total = sum(one.duration_ns for one in whole)
    phases: list[PhaseRow] = []
    parts: list[PhasePart] = []
    has_tasks = any(one.tasks is not None for one in whole)
    for phase in PHASES:
        mine = [one for one in whole if one.phase == phase]
        if mine:
            phases.append(_phase(where, phase, mine, total))
            parts += _parts(where, phase, mine) if has_tasks else []
    return phases, parts, [replace(iteration, **where, phase=say(PHASES[iteration.phase])) for iteration in iterations]


def _phase(where: _Where, phase: str, iterations: Sequence[Iteration], total_ns: int) -> PhaseRow:
    import numpy as np

    from aoe_reports.stats.grouping import quantile

    lengths = np.sort(np.asarray([iteration.duration_ns for iteration in iterations], dtype=np.int64))
    spent = sum(iteration.duration_ns for iteration in iterations)
    sequences = [iteration.sequences for iteration in iterations if iteration.sequences is not None]
    tokens = [iteration.tokens for iteration in iterations if iteration.tokens is not None]
    prompts = [(iteration.prompt_tokens, iteration.duration_ns) for iteration in iterations if iteration.prompt_tokens]
    is_prefill = phase == "prefill" and len(prompts) > 0
    idle, talk = (sum(iteration.parts.get(name, 0) for iteration in iterations) for name in ("idle", "communication"))
    lengths_told = [iteration.length for iteration in iterations if iteration.length is not None]
    has_tasks = all(iteration.tasks is not None for iteration in iterations)
    return PhaseRow(
        **where,
        phase=say(PHASES[phase]),
        iterations=len(iterations),
        total_ns=spent,
        share=rounded(share_of(spent, total_ns)),
        mean_ns=spent / len(iterations),
        p50_ns=quantile(lengths, 0.5),
        p95_ns=quantile(lengths, 0.95),
        sequences=round(sum(sequences) / len(sequences), 3) if sequences else None,
        tokens=sum(tokens) if tokens else None,
        tokens_known=len(tokens),
        sequence_length=round(sum(lengths_told) / len(lengths_told), 3) if lengths_told else None,
        computing_ns=spent - idle - talk if has_tasks else None,
        communication_ns=talk if has_tasks else None,
        idle_ns=idle,
        per_output_token_ns=spent / len(iterations) if phase == "decode" else None,
        per_prompt_token_ns=sum(ns for _, ns in prompts) / sum(count or 0 for count, _ in prompts)
        if is_prefill
        else None,
    )


def _parts(where: _Where, phase: str, iterations: Sequence[Iteration]) -> Iterator[PhasePart]:
    from aoe_reports.topics.serving.roles import PARTS

    whole = sum(iteration.duration_ns for iteration in iterations)
    sums = {part: sum(iteration.parts.get(part, 0) for iteration in iterations) for part in PARTS}
    for part, spent in sorted(sums.items(), key=lambda one: -one[1]):
        if spent:
            yield PhasePart(
                run=where["run"],
                rank_id=where["rank_id"],
                device_id=where["device_id"],
                phase=say(PHASES[phase]),
                part=say(PART_WORDS[part]),
                total_ns=spent,
                share=rounded(share_of(spent, whole)),
                mean_ns=spent / len(iterations),
            )
