"""Iterations of a server of language models: prefill and decode, their tokens, what their time is spent on, and how even experts are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from aoe_reports.engine.ask import asking
from aoe_reports.engine.question import CaptureOptions, Finished, Question, Request, Unit, only
from aoe_reports.model.options import options
from aoe_reports.model.rows import US, Rows, column, row
from aoe_reports.model.texts import N_, say

if TYPE_CHECKING:
    from aoe_reports.facts.serving import Iteration, Served
    from aoe_reports.facts.serving_experts import ExpertWork
    from aoe_reports.facts.tasks import TaskSet

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
    computing_ns: int = column("Computing", unit=US, detail=True)
    communication_ns: int = column("Communication", unit=US, detail=True)
    idle_ns: int = column("Idle", unit=US)
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
class IterationRow:
    """One iteration of one device; null what nothing tells."""

    run: str = column()
    rank_id: int | None = column()
    device_id: int | None = column()
    number: int = column()
    phase: str = column()
    cut_by: str = column()
    told_by: str | None = column()
    is_whole: bool = column()
    start_ns: int = column()
    duration_ns: int = column(unit=US)
    computing_ns: int = column(unit=US)
    communication_ns: int = column(unit=US)
    idle_ns: int = column(unit=US)
    sequences: int | None = column()
    tokens: int | None = column()
    prompt_tokens: int | None = column()
    drafted: int | None = column()
    context_at_most: int | None = column()
    layers: int = column()
    tasks: int = column()
    attention_ns: int = column(unit=US)
    kv_cache_ns: int = column(unit=US)
    products_ns: int = column(unit=US)
    moe_ns: int = column(unit=US)
    normalisation_ns: int = column(unit=US)
    sampling_ns: int = column(unit=US)
    other_ns: int = column(unit=US)


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


Part = tuple[list[PhaseRow], list[PhasePart], list[IterationRow], "list[ExpertWork]"]


class Serving(Question[ServingOptions, Part]):
    """Split captures of servers of language models into iterations: prefill, decode or mixed, sequences, tokens, time per output token by part, and how evenly experts are used."""

    name = "serving"
    example = "serving profile"
    page = "serving"
    title = "Serving"
    options = ServingOptions
    tables = (("rows", PhaseRow), ("parts", PhasePart), ("iterations", IterationRow), ("experts", ExpertRow))
    form_help = "Output format; csv omits parts, iterations and experts."
    nothing = "no iteration of a server of language models here"

    def map_unit(self, unit: Unit, asked: Request[ServingOptions]) -> Part:
        """The iterations of each device of a capture."""
        from aoe_reports.facts.serving_experts import work_of_experts
        from aoe_reports.questions.serving_reading import read_served
        from aoe_reports.questions.task_source import of_source

        capture, chosen, notes = unit.capture, asked.options, asked.notes
        notes.add(capture.findings)
        part: Part = ([], [], [], [])
        if not capture.info.may_hold(chosen.rank):
            return part
        found, tables = read_served(capture, notes)
        notes.add(of_source(capture, [one.tasks for one in found], tables))
        for one in sorted(found, key=lambda one: _place(one.tasks)):
            if one.served is None or not _is_chosen(one.tasks, chosen):
                continue
            phases, parts, iterations = _rows(unit.run, one.tasks, one.served)
            part[0].extend(phases)
            part[1].extend(parts)
            part[2].extend(iterations)
            part[3].extend(work_of_experts(unit.run, one.tasks, one.served))
        return part

    def finish(self, parts: Sequence[tuple[Unit, Part]], asked: Request[ServingOptions]) -> Finished:
        """The phases of all devices, what they are spent on, each iteration, and experts over ranks."""
        from aoe_reports.questions.serving_words import experts_of, headline_of, sentences_of

        del asked
        phases = [one for _, part in parts for one in part[0]]
        split = [one for _, part in parts for one in part[1]]
        iterations = [one for _, part in parts for one in part[2]]
        devices = {(one.run, one.rank_id, one.device_id) for one in phases}
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
                Rows(type=IterationRow, rows=iterations, key="iterations", is_shown=False),
                Rows(type=ExpertRow, rows=experts, key="experts", title=say("Experts over ranks"), of_runs=True),
            ),
            headline=headline_of(phases, split),
        )


serving = asking(Serving(), ServingOptions)
"""The iterations of servers below some paths: `serving([path]).table("iterations")`."""


def _place(tasks: TaskSet) -> tuple[int, int]:
    return (-1 if tasks.rank_id is None else tasks.rank_id, -1 if tasks.device_id is None else tasks.device_id)


def _is_chosen(tasks: TaskSet, chosen: ServingOptions) -> bool:
    return chosen.rank in {None, tasks.rank_id} and chosen.device in {None, tasks.device_id}


def _rows(run: str, tasks: TaskSet, served: Served) -> tuple[list[PhaseRow], list[PhasePart], list[IterationRow]]:
    where = (run, tasks.rank_id, tasks.device_id)
    whole = [one for one in served.iterations if one.is_whole]
    total = sum(one.duration_ns for one in whole)
    phases: list[PhaseRow] = []
    parts: list[PhasePart] = []
    for phase in PHASES:
        mine = [one for one in whole if one.phase == phase]
        if mine:
            phases.append(_phase(where, phase, mine, total))
            parts += _parts(where, phase, mine)
    return phases, parts, [_iteration(where, one) for one in served.iterations]


def _phase(where: tuple[str, int | None, int | None], phase: str, mine: Sequence[Iteration], total_ns: int) -> PhaseRow:
    import numpy as np

    from aoe_reports.stats.grouping import quantile

    lengths = np.sort(np.asarray([one.duration_ns for one in mine], dtype=np.int64))
    spent = sum(one.duration_ns for one in mine)
    sequences = [one.sequences for one in mine if one.sequences is not None]
    tokens = [one.tokens for one in mine if one.tokens is not None]
    prompts = [(one.prompt_tokens, one.duration_ns) for one in mine if one.prompt_tokens]
    is_prefill = phase == "prefill" and len(prompts) > 0
    idle, talk = (sum(one.parts.get(name, 0) for one in mine) for name in ("idle", "communication"))
    return PhaseRow(
        run=where[0],
        rank_id=where[1],
        device_id=where[2],
        phase=say(PHASES[phase]),
        iterations=len(mine),
        total_ns=spent,
        share=_share(spent, total_ns),
        mean_ns=spent / len(mine),
        p50_ns=quantile(lengths, 0.5),
        p95_ns=quantile(lengths, 0.95),
        sequences=round(sum(sequences) / len(sequences), 3) if sequences else None,
        tokens=sum(tokens) if tokens else None,
        tokens_known=len(tokens),
        computing_ns=spent - idle - talk,
        communication_ns=talk,
        idle_ns=idle,
        per_output_token_ns=spent / len(mine) if phase == "decode" else None,
        per_prompt_token_ns=sum(ns for _, ns in prompts) / sum(count or 0 for count, _ in prompts)
        if is_prefill
        else None,
    )


def _share(part_ns: int, whole_ns: int) -> float | None:
    return round(part_ns / whole_ns, 6) if whole_ns else None


def _parts(where: tuple[str, int | None, int | None], phase: str, mine: Sequence[Iteration]) -> Iterator[PhasePart]:
    from aoe_reports.facts.serving_roles import PARTS

    whole = sum(one.duration_ns for one in mine)
    sums = {part: sum(one.parts.get(part, 0) for one in mine) for part in PARTS}
    for part, spent in sorted(sums.items(), key=lambda one: -one[1]):
        if spent:
            yield PhasePart(
                run=where[0],
                rank_id=where[1],
                device_id=where[2],
                phase=say(PHASES[phase]),
                part=say(PART_WORDS[part]),
                total_ns=spent,
                share=_share(spent, whole),
                mean_ns=spent / len(mine),
            )


def _iteration(where: tuple[str, int | None, int | None], one: Iteration) -> IterationRow:
    idle, talk = one.parts.get("idle", 0), one.parts.get("communication", 0)
    return IterationRow(
        run=where[0],
        rank_id=where[1],
        device_id=where[2],
        number=one.number,
        phase=say(PHASES[one.phase]),
        cut_by=one.cut_by,
        told_by=one.told_by,
        is_whole=one.is_whole,
        start_ns=one.start_ns,
        duration_ns=one.duration_ns,
        computing_ns=one.duration_ns - idle - talk,
        communication_ns=talk,
        idle_ns=idle,
        sequences=one.sequences,
        tokens=one.tokens,
        prompt_tokens=one.prompt_tokens,
        drafted=one.drafted,
        context_at_most=one.context,
        layers=one.layers,
        tasks=one.tasks,
        attention_ns=one.parts.get("attention", 0),
        kv_cache_ns=one.parts.get("kv-cache", 0),
        products_ns=one.parts.get("products", 0),
        moe_ns=one.parts.get("moe", 0),
        normalisation_ns=one.parts.get("normalisation", 0),
        sampling_ns=one.parts.get("sampling", 0),
        other_ns=one.parts.get("other", 0),
    )
