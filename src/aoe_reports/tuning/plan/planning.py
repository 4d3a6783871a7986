"""Makes a tuning plan from a profile: reads it, asks what is known of earlier tuning, ranks, writes the plan's folder."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from aoe_reports.engine.captures import nothing_measured, read_source
from aoe_reports.engine.question import Answer, one_table
from aoe_reports.engine.rules import NO_COMMUNICATION
from aoe_reports.engine.runs import label_of
from aoe_reports.facts.bounds import (
    OPERANDS,
    TASK_COLUMNS,
    CoreCounts,
    OperatorBounds,
    StepShares,
    measure_operators,
    most_blocks,
)
from aoe_reports.facts.tasks import TaskSet
from aoe_reports.formats.capture import Capture
from aoe_reports.formats.sources.discovery import refuse_missing
from aoe_reports.formats.sources.objects import absolute_of, asked_path
from aoe_reports.model.arrays.columns import Mask, integers
from aoe_reports.model.errors import UsageError
from aoe_reports.model.findings import Finding, has
from aoe_reports.model.findings import in_order as findings_in_order
from aoe_reports.model.report import Report
from aoe_reports.model.rows import Rows
from aoe_reports.model.shares import rounded
from aoe_reports.model.texts import join, say
from aoe_reports.present.reports.language import report_in
from aoe_reports.topics.advice.captures import DYNAMIC_KINDS
from aoe_reports.topics.communication.reading import read_communication
from aoe_reports.topics.communication.run import Communication
from aoe_reports.topics.roofline.chips import named
from aoe_reports.topics.roofline.facts import TASK_COLUMNS as ROOFLINE_COLUMNS
from aoe_reports.topics.roofline.facts import near_roof_of
from aoe_reports.tuning.banks.bank import bank_of_environment, paths_of_layout, socs_of
from aoe_reports.tuning.chip_names import check_chip
from aoe_reports.tuning.job.secrets import Redactor
from aoe_reports.tuning.options import PlanOptions, Scenario
from aoe_reports.tuning.plan.folder import STATE, read_plan, write_plan
from aoe_reports.tuning.plan.measured import (
    MeasuredDevice,
    captures_of_run,
    digest_of_captures,
    path_bounds_of,
    read_devices,
)
from aoe_reports.tuning.plan.plan import DEFAULT_TUNER, Job, PlacedCandidate, Plan, document_of_plan
from aoe_reports.tuning.plan.prior import PriorJobs, PriorSources
from aoe_reports.tuning.plan.ranking import Measured, Ranking, exposed_times, rank_operators
from aoe_reports.tuning.plan.report import GradientTail, plan_report
from aoe_reports.tuning.rules import (
    PLAN_BANK_HAS_TYPE,
    PLAN_DEVICE,
    PLAN_EMPTY,
    PLAN_NO_COMMUNICATION,
    PLAN_STEP_UNKNOWN,
    PLAN_TWO_ROUNDS,
    PLAN_TYPE_UNDOCUMENTED,
)
from aoe_reports.tuning.tuner import driver_of_plan, tuner

_SOC = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


@dataclass(frozen=True, slots=True)
class Planned:
    """A plan, its report (none where nothing was measured), what was found on the way, what could not be read, its files."""

    plan: Plan
    report: Report | None
    findings: list[Finding]
    unreadable: bool
    files: list[Path]

    def answer(self, profile: Path) -> Answer:
        """The candidates, and all of the plan beside them."""
        told = document_of_plan(self.plan) if self.report is not None else {}
        more = {key: value for key, value in told.items() if key not in {"format_version", "candidates", "job"}}
        more |= {"job": asdict(self.plan.job), "files": [str(path) for path in self.files]}
        report = self.report or Report("", "", [])
        return one_table(
            "plan",
            report.title,
            [profile],
            Rows(type=PlacedCandidate, rows=self.plan.placed),
            findings=self.findings,
            unreadable=self.unreadable,
            more=more,
            headline=report.headline,
            sections=report.sections,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Measured(Measured):
    tasks: TaskSet
    blocks: tuple[int | None, int | None] = (None, None)
    """Of the operator of most, on cube cores and on vector cores."""
    cores: CoreCounts = field(default_factory=CoreCounts)
    memory_used_bytes: int | None = None
    """The most memory of the device that was reserved."""
    capture: Capture | None = None


@dataclass(frozen=True, slots=True)
class PlannedOperators:
    """What the operators of a device are bounded by, and which of them are near the roof of the chip."""

    bounds: OperatorBounds | None
    near_roof: Mask | None = None


def make_plan(profile: Path, folder: Path, options: PlanOptions, environment: Mapping[str, str]) -> Planned:
    """Plan the tuning of what a profile shows, and write the plan's folder.

    UsageError where there is not one run below `profile`, or a job was begun in the folder.
    """
    if options.model is not None and options.model_path is not None:
        raise UsageError(say("plan: --model and --model-path are mutually exclusive"))
    if options.soc:
        check_chip(options.soc)
    if (folder / STATE).exists():
        raise UsageError(
            say("{folder}: a job was already started there; expected another folder for a new plan", folder=folder)
        )
    refuse_missing([asked_path(profile)])
    findings: list[Finding] = []
    captures, unreadable = captures_of_run(profile, options.max_expanded, findings)
    before = None if options.after is None else read_plan(options.after)
    options = _resolved(options, captures, before)
    job, scenario = _job(options, before, Redactor(environment)), options.scenario or "offline"
    if options.mode == "gdat" and scenario != "tf-training":
        raise UsageError(
            say("gradients can be tuned in TensorFlow training only, not in {scenario}", scenario=scenario)
        )
    with ThreadPoolExecutor(1) as beside:  # hashing waits for no lock of the interpreter
        hashed = beside.submit(digest_of_captures, captures)
        measured = _measure(captures, options, findings)
        digest = hashed.result()
    if measured is None:
        if not unreadable and not has(findings, "error"):
            what = say("no tasks here from which a plan could be made")
            findings.append(nothing_measured([profile], what, captures, rank=options.rank, device=options.device))
        return Planned(Plan(scenario, options.mode), None, findings_in_order(findings), unreadable, [])
    prior = _prior_jobs(options, captures, environment)
    findings += prior.findings
    unreadable |= prior.unreadable
    ranking = _ranked(measured, options, prior)
    if any(candidate.kind == "operator" for candidate in ranking.candidates):
        measured = _with_paths(measured, findings)
        ranking = ranking if measured.paths is None else _ranked(measured, options, prior)
    plan = _plan(profile, captures, measured, options, ranking)
    driver = driver_of_plan(plan)
    plan = replace(
        plan, baseline_hash=digest, job=job, engine_version=plan.engine_version or driver.installed(environment)
    )
    findings += [*_remarks(profile, measured, options, ranking), *driver.remarks(plan, str(profile))]
    tail = _gradient_tail(captures, measured, findings) if options.mode == "gdat" else None
    report = plan_report(plan, options, prior.priors(), measured.shares, tail)
    from aoe_reports.present import RENDERERS  # noqa: PLC0415 -- drawn in only where there is something to render

    files = write_plan(folder, plan, RENDERERS["markdown"](report_in(report, options.language)))
    return Planned(plan, report, findings_in_order(findings), unreadable, files)


def next_plan(
    captures: Sequence[Capture], tasks: TaskSet, shares: StepShares, operators: PlannedOperators, prior: PriorJobs
) -> Plan:
    """What `plan` would choose under its defaults, from what is measured of the device that it would plan for."""
    bounds = operators.bounds
    options = _resolved(PlanOptions(), captures, None)
    exposed = exposed_times(tasks.frame, bounds, shares) if bounds is not None else None
    measured = _Measured(tasks.frame, bounds, exposed, shares, near_roof=operators.near_roof, tasks=tasks)
    ranking = _ranked(measured, options, prior)
    return _plan(Path(label_of(captures)), captures, measured, options, ranking)


def known_without_asking(captures: Sequence[Capture], environment: Mapping[str, str]) -> PriorJobs:
    """What `plan` knows of earlier tuning where nobody names any: the bank in use."""
    return _prior_jobs(PlanOptions(), captures, environment)


_SCENARIO_OF: dict[str, Scenario] = {"torch_npu": "pytorch", "mindspore": "mindspore", "mindinsight": "mindspore"}


def _resolved(options: PlanOptions, captures: Sequence[Capture], before: Plan | None) -> PlanOptions:
    """The options, completed by the profile's writer and by the plan before (scenario, chip, bank)."""
    sources = {capture.profiler for capture in captures}
    if options.scenario is None and options.model is None and len(sources) == 1:
        options = replace(options, scenario=_SCENARIO_OF.get(sources.pop()))
    if before is None or options.after is None:
        return options
    bank = options.after / "bank"
    if not bank.is_dir():
        raise UsageError(
            say("{after}: its subgraphs have not been tuned yet (it contains no bank)", after=options.after)
        )
    return replace(
        options,
        scenario=before.scenario,
        mode="opat",
        soc=options.soc or before.soc,
        engine_version=options.engine_version or before.engine_version,
        bank=options.bank or bank,
    )


def _job(options: PlanOptions, before: Plan | None, redactor: Redactor) -> Job:
    """How AOE is run: the previous plan's job with the new options.

    Values of secret variables stay out of it: others may read plan.json and run.sh.
    """
    job = options.job(
        Job() if before is None else before.job,
        device=options.tune_device,
        te_parallel=options.te_parallel,
        options=options.aoe_option,
    )
    command, given = (tuple(redactor.arguments(told)) for told in (job.command, job.options))
    return replace(job, command=command, options=given)


def _measure(captures: Sequence[Capture], options: PlanOptions, findings: list[Finding]) -> _Measured | None:
    best: tuple[tuple[Any, ...], MeasuredDevice] | None = None
    devices = 0
    for measured in read_devices(
        captures,
        TASK_COLUMNS | ROOFLINE_COLUMNS | set(OPERANDS),
        findings,
        rank=options.rank,
        device=options.device,
        usual=True,
    ):
        devices += 1
        order = planned_first(measured.tasks, measured.shares)
        if best is None or order < best[0]:
            best = (order, measured)
    if best is None:
        return None
    capture, tasks, shares = best[1].capture, best[1].tasks, best[1].shares
    if devices > 1:
        known = (("rank {value}", tasks.rank_id), ("device {value}", tasks.device_id))
        whose = join(", ", [say(words, value=value) for words, value in known if value is not None])
        message = say(
            (
                "planned for {whose}: the longest step among {devices} devices (use --rank and --device to choose "
                "another)"
            )
            if whose
            else ("planned for the longest step among {devices} devices (use --rank and --device to choose another)"),
            whose=whose,
            devices=devices,
        )
        findings.append(PLAN_DEVICE.found(label_of(captures), message))
    cores = CoreCounts.of_hardware(capture.info.hardware)
    bounds = measure_operators(
        tasks.frame,
        cores,
        dynamic_model=any(file.name.kind in DYNAMIC_KINDS for file in capture.files),
    )
    exposed = exposed_times(tasks.frame, bounds, shares) if bounds is not None else None
    memory = _memory_used(capture, tasks.device_id, findings)
    blocks = most_blocks(tasks.frame, cores)
    chip = options.soc if named(options.soc) is not None else capture.info.device_type
    near = None if bounds is None else near_roof_of(tasks.frame, bounds, cores, chip)
    return _Measured(
        tasks.frame,
        bounds,
        exposed,
        shares,
        near_roof=near,
        tasks=tasks,
        blocks=blocks,
        cores=cores,
        memory_used_bytes=memory,
        capture=capture,
    )


def _with_paths(measured: _Measured, findings: list[Finding]) -> _Measured:
    """The same with the critical paths of its steps, where its capture has a timeline."""
    if measured.bounds is None or measured.capture is None:
        return measured
    paths = path_bounds_of(measured.capture, measured.tasks.device_id, measured.bounds, findings)
    return replace(measured, paths=paths)


def _memory_used(capture: Capture, device: int | None, findings: list[Finding]) -> int | None:
    """The most memory of a device that the profile shows as reserved; None where it has no table of that."""
    most: int | None = None
    for data in read_source(capture.preferred("memory_record"), frozenset({"device_id", "total_reserved_bytes"})):
        findings += data.findings
        if "total_reserved_bytes" not in data.frame.column_names:
            continue
        sizes, mine = integers(data.frame["total_reserved_bytes"])
        if device is not None and "device_id" in data.frame.column_names:
            devices, named = integers(data.frame["device_id"])
            mine = mine & (~named | (devices == device))
        if mine.any():
            most = max(most or 0, int(sizes[mine].max()))
    return most or None


def planned_first(tasks: TaskSet, shares: StepShares) -> tuple[Any, ...]:
    """What puts devices in the order in which they are planned for: the longest step first."""
    return -(shares.step_us or 0.0), _number(tasks.rank_id), _number(tasks.device_id)


def _number(value: int | None) -> int:
    return -1 if value is None else value


def _prior_jobs(options: PlanOptions, captures: Sequence[Capture], environment: Mapping[str, str]) -> PriorJobs:
    environment = environment if options.bank is None else {"TUNE_BANK_PATH": os.path.abspath(options.bank)}
    own = tuner(DEFAULT_TUNER)
    assert own.bank is not None
    assert own.driver is not None
    layout = bank_of_environment(own.bank, environment)
    there = socs_of(layout)
    soc = options.soc or soc_of(captures) or (there[0] if len(there) == 1 else None)
    files = paths_of_layout(layout, soc) if soc is not None else {}
    return own.driver.prior_jobs(PriorSources(options.store, options.workload, options.results, files))


def soc_of(captures: Sequence[Capture]) -> str | None:
    """The chip of these captures, where their info files name one that can be a folder's name."""
    named = {capture.info.device_type for capture in captures} - {None}
    only = next(iter(named), None) if len(named) == 1 else None
    return only if only is not None and _SOC.fullmatch(only) else None


def _ranked(measured: _Measured, options: PlanOptions, prior: PriorJobs) -> Ranking:
    bounds = measured.bounds
    names = bounds.key_codes("op_name")[1] if bounds is not None else []
    types = bounds.key_codes("op_type")[1] if bounds is not None else []
    return rank_operators(measured, options, prior.known(names, types), prior.priors())


def _plan(
    profile: Path, captures: Sequence[Capture], measured: _Measured, options: PlanOptions, ranking: Ranking
) -> Plan:
    shares = measured.shares
    versions = {capture.info.engine_version for capture in captures} - {None}
    plan = Plan(
        scenario=options.scenario or "offline",
        mode=options.mode,
        profile=str(absolute_of(profile)),
        soc=options.soc or soc_of(captures),
        engine_version=options.engine_version or (next(iter(versions)) if len(versions) == 1 else None),
        bank=None if options.bank is None else os.path.abspath(options.bank),
        repeat_tune=options.repeat_tune,
        step_us=None if shares.step_us is None else round(shares.step_us, 3),
        computing_share=rounded(shares.share(shares.computing_ns)),
        communication_not_overlapped_share=rounded(shares.share(shares.communication_not_overlapped_ns)),
        free_share=rounded(shares.share(shares.free_ns)),
        bound_saving_us=round(shares.bound_saving_us, 3),
        bound_saving_share=rounded(shares.share(shares.bound_saving_ns)),
        candidates=ranking.candidates,
        rejected=ranking.rejected,
        cube_blocks=measured.blocks[0],
        vector_blocks=measured.blocks[1],
        cube_cores=measured.cores.cube,
        vector_cores=measured.cores.vector,
        device_memory_used_bytes=measured.memory_used_bytes,
    )
    return replace(plan, expected_files=expected_files(plan))


def expected_files(plan: Plan) -> tuple[str, ...]:
    """What tuning leaves in the folder, as patterns."""
    stages = plan.stages()
    if not stages:
        return ()
    results = [f"runs/*-{stage}/aoe_result_{stage}_*.json" for stage in stages if stage != "gdat"]
    gradients = ["bank/*_gradient_fusion.json"] if "gdat" in stages else []
    return (*results, *gradients, "bank", "outcome.json", "remeasure.sh", "remeasure.md")


def _remarks(profile: Path, measured: _Measured, options: PlanOptions, ranking: Ranking) -> list[Finding]:
    """Remarks for whoever follows the plan."""
    where, shares, found = str(profile), measured.shares, []
    if shares.step_ns is None:
        found.append(
            PLAN_STEP_UNKNOWN.found(where, say("no task times and no step table: there is no information on steps"))
        )
    for name in ranking.undocumented:
        text = say("it is not documented whether AOE tunes {name} (the published list is not complete)", name=name)
        found.append(PLAN_TYPE_UNDOCUMENTED.found(where, text))
    for name in ranking.in_bank:
        text = say(
            "the bank has entries of {name} but does not say for which shapes; AOE skips operators that are "
            "already in the bank",
            name=name,
        )
        found.append(PLAN_BANK_HAS_TYPE.found(where, text))
    if options.mode == "gdat":
        if not ((shares.communication_not_overlapped_ns or 0) + (shares.overlapped_ns or 0)):
            text = say("gradient tuning overlaps communication, but this profile contains no communication")
            found.append(PLAN_NO_COMMUNICATION.found(where, text))
    elif not ranking.candidates:
        found.append(PLAN_EMPTY.found(where, say("tuning compute cannot help here: no candidate")))
    elif options.mode == "both":
        text = say(
            "subgraphs first; then profile again and run `plan AFTER -o OTHER --after` with this folder to "
            "choose the operators"
        )
        found.append(PLAN_TWO_ROUNDS.found(where, text))
    return found


def _gradient_tail(captures: Sequence[Capture], measured: _Measured, findings: list[Finding]) -> GradientTail | None:
    """The bound on what gradient tuning saves, in us an iteration; None without recorded backward passes."""
    talk = Communication()
    said: list[Finding] = []
    for capture in captures:
        read_communication(capture, talk, (), None, said)
    findings += [finding for finding in said if finding not in findings and finding.rule != NO_COMMUNICATION.name]
    whose = (measured.tasks.rank_id, measured.tasks.device_id)
    tails = [tail for tail in talk.tails if (tail.rank_id, tail.device_id) == whose]
    if not tails:
        return None
    iteration_us, tail_us, bound_us = (
        sum(getattr(tail, name) for tail in tails) / len(tails) / 1000
        for name in ("iteration_ns", "tail_ns", "bound_ns")
    )
    return GradientTail(iteration_us, tail_us, bound_us)
