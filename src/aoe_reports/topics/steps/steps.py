"""The steps and iterations of runs, and how far the ranks of a job are apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from aoe_reports.engine.ask import asking
from aoe_reports.engine.question import CaptureOptions, Finished, Notes, Question, Request, Unit, only, trim
from aoe_reports.model.errors import ReadError
from aoe_reports.model.findings import EXAMPLES_PER_RULE, Finding
from aoe_reports.model.options import options
from aoe_reports.model.report import Section
from aoe_reports.model.rows import Rows, labelled
from aoe_reports.model.texts import count_of, join, say
from aoe_reports.model.time_units import times_in_one_unit
from aoe_reports.model.topics.steps import Step
from aoe_reports.topics.steps.pipeline import Stage

if TYPE_CHECKING:
    import pyarrow as pa

    from aoe_reports.engine.clusters import Cluster
    from aoe_reports.facts.steps import Skew
    from aoe_reports.formats.capture import Capture, Source
    from aoe_reports.formats.csv.summary import TableData
    from aoe_reports.formats.sources.discovery import Discovery
    from aoe_reports.topics.steps.pipeline import Pipeline

_TASK_COLUMNS = frozenset({"step", "task_type", "task_duration_ns"})


@options
class StepOptions(CaptureOptions):
    """Which steps are shown."""

    rank: int | None = only("rank")
    device: int | None = only("device")
    step: int | None = only("step")
    trim: bool = trim()


class Steps(Question[StepOptions, list["Step"]]):
    """List steps and iterations by rank. Shows the duration and breakdown of each step and the slowest rank."""

    example = "steps profile --trim"
    page = "tutorial"
    title = "Steps"
    options = StepOptions
    tables = (("rows", Step), ("stages", Stage))
    form_help = "Output format; csv omits the stages of pipelines."
    nothing = "no step here"
    every_rank = "rows"

    def prepare(self, files: Discovery, asked: Request[StepOptions]) -> list[Cluster]:
        """What the tables of whole clusters tell."""
        from aoe_reports.engine.clusters import read_clusters

        return read_clusters(files, asked.notes)

    def map_unit(self, unit: Unit, asked: Request[StepOptions]) -> list[Step]:
        """The steps of one rank."""
        asked.notes.add(unit.capture.findings)
        return [] if unit.capture.of_cluster else _steps_of(unit.capture, asked.notes)

    def finish(self, parts: Sequence[tuple[Unit, list[Step]]], asked: Request[StepOptions]) -> Finished:
        """The steps of each run, by rank; of ranks that have none, those of the table of their cluster."""
        from aoe_reports.engine.clusters import layout_of_run
        from aoe_reports.facts.steps import in_order
        from aoe_reports.rules.rules import STEP_MISSING
        from aoe_reports.topics.steps.pipeline import pipeline_of

        runs: dict[str, list[Step]] = {}
        units: dict[str, list[Unit]] = {}
        for unit, own in parts:
            runs.setdefault(unit.run, []).extend(own)
            units.setdefault(unit.run, []).append(unit)
        stated = _add_clusters(asked.context, runs, asked.notes)
        silent = [unit for unit, steps in parts if not steps and not unit.capture.of_cluster]
        untold = [unit for unit in silent if not stated & set(unit.capture.root.parents)]
        for unit in untold:
            runs[unit.run] += (stepping := _of_cluster(asked.context, unit))
            if not stepping:
                message = say("no step table here (step_trace, step_trace_time)")
                asked.notes.add([STEP_MISSING.found(str(unit.capture.root), message)])
        rows, stages, chosen = [], [], asked.options
        for run, found in sorted(runs.items()):
            every = _trimmed(run, found, asked.notes, leave_out=chosen.trim)
            mine = [step for step in every if step.is_of(chosen.rank, chosen.device, chosen.step)]
            rows += labelled(in_order(mine), run)
            asked.notes.add(_skew(run, every, chosen.step))
            layout = layout_of_run(run, units.get(run, ()), asked.context)
            pipeline = pipeline_of((step for step in every if chosen.step in {None, step.step}), layout.stages)
            if pipeline is not None:
                asked.notes.add([_bubbles(run, pipeline)])
                stages += labelled(pipeline.stages, run)
        hidden = frozenset[str]() if any(row.bubble_ns for row in rows) else frozenset({"stage_us", "bubble_us"})
        return Finished(
            tables=(
                Rows(type=Step, rows=rows, of_runs=True, without=hidden),
                Rows(type=Stage, rows=stages, key="stages", title="Stages of the pipeline"),
            ),
            headline=_headline(rows),
            sections=_sections(rows, stages),
        )


def _sections(rows: Sequence[Step], stages: Sequence[Stage]) -> list[Section] | None:
    """Of a run of many ranks what is median, least and worst; with the stages of pipelines. None where no run has many."""
    from aoe_reports.model.rank_spread import section_of_rows, sections_of_runs
    from aoe_reports.topics.steps.steps_of_ranks import tables_of_ranks

    sections = sections_of_runs(rows, tables_of_ranks)
    return sections and [*sections, *([section_of_rows("Stages of the pipeline", [], stages)] if stages else [])]


def _headline(rows: Sequence[Step]) -> str:
    """How long steps take, and which takes longest."""
    if not rows:
        return ""
    longest = max(rows, key=lambda row: row.duration_ns)
    ranks = len({(row.run, row.rank_id) for row in rows})
    (middle, most), unit = times_in_one_unit(median(row.duration_ns for row in rows), longest.duration_ns)
    which = [] if longest.step is None else [say("step {step}", step=longest.step)]
    if longest.rank_id is not None:
        which.append(say("rank {rank}", rank=longest.rank_id))
    return say(
        "{steps}{ranks}: {middle} {unit} in the median, {most} {unit} at most{which}.",
        steps=count_of(len(rows), "{number} step", "{number} steps"),
        ranks="" if ranks == 1 else say(" of {count} ranks", count=ranks),
        middle=middle,
        most=most,
        unit=unit,
        which=say(" ({which})", which=join(", ", which)) if which else "",
    )


def _trimmed(run: str, steps: list[Step], notes: Notes, *, leave_out: bool) -> list[Step]:
    """The steps without unusual ones, if these are to be left out; which they are is said in any case."""
    from aoe_reports.topics.quality.trimming import note_unusual, unusual_of, usual_only

    if leave_out and steps:
        return usual_only(steps, unusual_of(run, steps, notes))
    note_unusual(run, steps, notes)
    return steps


steps = asking(Steps(), StepOptions)
"""The steps of everything below some paths: `steps([path], rank=0).rows`."""


def _steps_of(capture: Capture, notes: Notes) -> list[Step]:
    """The steps of one capture; what is wrong with their tables, and which steps miss a head or a tail."""
    from aoe_reports.engine.captures import read_source, read_steps
    from aoe_reports.rules.forms.agreement import check_steps

    tables: list[TableData] = []

    def read(source: Source | None) -> list[TableData]:
        found = read_source(source, hashed=False)
        tables.extend(found)
        return found

    found = read_steps(capture, read)
    for data in tables:
        notes.add(data.findings)
        if data.table.name == "step_trace" and data.frame.num_rows:  # else columns may be missing, which is said
            notes.add(_incomplete(data))
    framework = [data for data in tables if data.table.name == "step_trace_time" and data.frame.num_rows]
    tasks = _tasks(capture) if framework else None
    if tasks is not None:
        notes.add(finding for data in framework for finding in check_steps(data, tasks))
    return found


def _tasks(capture: Capture) -> pa.Table | None:
    """What the tasks tell of steps; None where they cannot be read, which `check` says."""
    from aoe_reports.engine.captures import first_with_rows, joined, read_source, sources_of

    try:
        tables, _ = first_with_rows(
            sources_of(capture, "tasks"), lambda source: read_source(source, _TASK_COLUMNS, hashed=False)
        )
    except (ReadError, OSError):
        return None
    return joined(tables)


def _incomplete(data: TableData) -> list[Finding]:
    """Iterations of which the forward start or the backward end was not found; where none has one, there is none."""
    from aoe_reports.facts.steps import missing_points
    from aoe_reports.rules.found import listed
    from aoe_reports.rules.rules import STEP_MISSING

    found = []
    count = len(set(data.frame["iteration_id"].to_pylist()))
    for point, numbers in missing_points(data.frame).items():
        if numbers and len(numbers) < count:
            shown = listed([str(number) for number in numbers])
            message = say("iterations without {point}: {numbers}", point=say(point), numbers=shown)
            found.append(STEP_MISSING.found(str(data.path), message, severity="info"))
    return found


def _add_clusters(clusters: Sequence[Cluster], runs: dict[str, list[Step]], notes: Notes) -> set[Path]:
    """Take the steps of clusters whose ranks have none, hold the others against their ranks; the folders of the first."""
    taken = set()
    for cluster in (one for one in clusters if one.steps):
        known = [step for run, steps in runs.items() for step in steps if cluster.tells_of(run)]
        if known:
            notes.add(_against_cluster(known, cluster))
            continue
        taken.add(cluster.folder)
        runs.setdefault(str(cluster.folder), []).extend(cluster.steps)
    return taken


def _of_cluster(clusters: Sequence[Cluster], unit: Unit) -> list[Step]:
    """What the table of a cluster tells of the steps of one rank."""
    from aoe_reports.engine.clusters import steps_of_ranks

    rank = unit.capture.info.rank_id
    return [] if rank is None else steps_of_ranks(clusters, unit.run, {rank})


def _against_cluster(known: Sequence[Step], cluster: Cluster) -> list[Finding]:
    """Whether the table of a cluster says of its ranks what they say themselves."""
    from aoe_reports.rules.forms.agreement import COUNTED_TOLERANCE_NS
    from aoe_reports.rules.rules import FORMS_DISAGREE

    mine = {(step.rank_id, step.step): step.duration_ns for step in known if step.computing_ns is not None}
    found = []
    for step in cluster.steps:
        own = mine.get((step.rank_id, step.step))
        if own is not None and abs(own - step.duration_ns) > COUNTED_TOLERANCE_NS:
            message = say(
                "rank {rank}, step {step}: {here:.3f} us here, but {own:.3f} us in the rank's own table, which is used",
                rank=step.rank_id,
                step=step.step,
                here=step.duration_ns / 1000,
                own=own / 1000,
            )
            found.append(FORMS_DISAGREE.found(cluster.path, message))
    return found[:EXAMPLES_PER_RULE]


def _skew(run: str, steps: Sequence[Step], number: int | None) -> list[Finding]:
    """How far the ranks are apart by step, and whether it is always the same rank that is slowest."""
    from aoe_reports.facts.steps import skew_of_ranks, slowest_ranks
    from aoe_reports.topics.rules import RANK_SKEW

    skews = [skew for skew in skew_of_ranks(steps) if number is None or skew.step == number]
    found = [RANK_SKEW.found(run, _apart(skew)) for skew in skews[:EXAMPLES_PER_RULE]]
    if len(skews) > 1:
        ranked = slowest_ranks(skews)
        if len(ranked) == 1:
            message = say("all {count} steps: the slowest is always rank {rank}", count=len(skews), rank=ranked[0][0])
        else:
            some = ranked[:EXAMPLES_PER_RULE]
            words = join(", ", (say("rank {rank} in {count}", rank=rank, count=count) for rank, count in some))
            message = say(
                "all {count} steps: the slowest is not always the same ({ranks})", count=len(skews), ranks=words
            )
        found.append(RANK_SKEW.found(run, message))
    return found


def _bubbles(run: str, pipeline: Pipeline) -> Finding:
    """How much of the steps of a pipeline is waiting for other stages, and whether one stage is longer than the others."""
    from aoe_reports.topics.rules import PIPELINE_BUBBLES

    told = say(
        "{ranks} ranks wait in bubbles for {share:.1%} of their steps, rank {waiting} most ({most:.1%})",
        ranks=pipeline.ranks,
        share=pipeline.bubble_share,
        waiting=pipeline.waiting,
        most=pipeline.waiting_share,
    )
    return PIPELINE_BUBBLES.found(
        run, join("; ", (told, *(_of_stages(pipeline) if pipeline.stages else [_of_ranks(pipeline)])))
    )


def _of_ranks(pipeline: Pipeline) -> str:
    """Which rank computes longest; its stage is not known."""
    from aoe_reports.topics.steps.pipeline import NOTABLE_IMBALANCE

    if pipeline.is_balanced:
        return say(
            "no rank computes {limit:.0%} longer than the median: more micro-batches make bubbles shorter, moving layers does not",
            limit=NOTABLE_IMBALANCE,
        )
    return say(
        "rank {busiest} computes longest, {time:.3f} us a step, {more:.1%} longer than the median: its stage has more work than others, or the rank is slow (see `stragglers`)",
        busiest=pipeline.busiest,
        time=pipeline.computing_ns / 1000,
        more=pipeline.imbalance,
    )


def _of_stages(pipeline: Pipeline) -> Iterator[str]:
    """Which stage computes longest, by the median of its ranks, and which rank is longer than those of its stage."""
    from aoe_reports.topics.steps.pipeline import NOTABLE_IMBALANCE

    longest, slow = pipeline.longest, pipeline.with_slow_rank
    if longest is not None:
        yield say(
            "stage {stage} computes longest, {time:.3f} us a step (median of ranks), {more:.1%} longer than the median of {stages} stages: it has more work than others, or its ranks are slow (see `stragglers`)",
            stage=longest.stage,
            time=longest.computing_ns / 1000,
            more=longest.slower,
            stages=len(pipeline.stages),
        )
    if slow is not None:
        yield say(
            "rank {busiest} computes {more:.1%} longer than the median of its stage {stage}: `stragglers` shows in what",
            busiest=slow.busiest,
            more=slow.busiest_slower,
            stage=slow.stage,
        )
    if longest is None and slow is None:
        yield say(
            "no stage computes {limit:.0%} longer than the median of {stages} stages: more micro-batches make bubbles shorter, moving layers does not",
            limit=NOTABLE_IMBALANCE,
            stages=len(pipeline.stages),
        )


def _apart(skew: Skew) -> str:
    if skew.model_id is None:
        where = say("step {step}", step=skew.step)
    else:
        where = say("model {model}, iteration {step}", model=skew.model_id, step=skew.step)
    apart = skew.slowest_ns - skew.fastest_ns
    if not apart:
        return say("{where}: all ranks take {time:.3f} us", where=where, time=skew.slowest_ns / 1000)
    more = say("{time:.3f} us", time=apart / 1000)
    if skew.fastest_ns:
        more = say("{time} ({share:.1%})", time=more, share=apart / skew.fastest_ns)
    told = say(
        "{where}: rank {slowest} is the slowest with {time:.3f} us, {more} more than rank {fastest}",
        where=where,
        slowest=skew.slowest,
        time=skew.slowest_ns / 1000,
        more=more,
        fastest=skew.fastest,
    )
    if skew.busiest is None:
        return told
    return join("; ", (told, say("rank {rank} has the longest computing time", rank=skew.busiest)))
