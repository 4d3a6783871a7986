"""Makes a tuning plan from a profile: reads it, asks what is known of earlier tuning, ranks, writes the plan's folder."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from aoe_reports.engine.captures import label_of, read_source
from aoe_reports.engine.communication import read_communication
from aoe_reports.facts.bounds import (
    TASK_COLUMNS,
    CoreCounts,
    OperatorBounds,
    StepShares,
    measure_operators,
    most_blocks,
)
from aoe_reports.facts.communication_run import Communication
from aoe_reports.facts.tasks import TaskSet
from aoe_reports.formats.capture import Capture
from aoe_reports.model.columns import integers
from aoe_reports.model.errors import UsageError
from aoe_reports.model.findings import Finding, has
from aoe_reports.model.findings import in_order as findings_in_order
from aoe_reports.model.texts import Language, join, say
from aoe_reports.present.reports.language import report_in
from aoe_reports.present.reports.plan import plan_report
from aoe_reports.questions.advice.captures import DYNAMIC_KINDS
from aoe_reports.tuning.bank_files import bank_of_environment, paths_of_layout, socs_of
from aoe_reports.tuning.measured import MeasuredDevice, captures_of_run, digest_of_captures, read_devices
from aoe_reports.tuning.plan import DEFAULT_TUNER, PLAN_RULES, Job, Plan, Scenario, document_of_plan
from aoe_reports.tuning.plan_folder import STATE, read_plan, write_plan
from aoe_reports.tuning.prior import DEFAULT_SOURCE, Priors
from aoe_reports.tuning.prior_jobs import PriorJobs, PriorSources
from aoe_reports.tuning.ranking import Measured, Ranking, Wanted, exposed_times, rank_operators
from aoe_reports.tuning.secrets import Redactor
from aoe_reports.tuning.tuner import tuner

_SOC = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


@dataclass(frozen=True, slots=True)
class PlanWish:
    """What is asked of `plan`; None is left to the profile, the environment or the defaults."""

    wanted: Wanted
    job: Job = field(default_factory=Job)
    soc: str | None = None
    engine_version: str | None = None
    bank: Path | None = None
    store: str | None = None
    workload: str | None = None
    results: tuple[Path, ...] = ()
    after: Path | None = None
    """The folder of a plan whose subgraph tuning was before this profile."""
    rank: int | None = None
    device: int | None = None
    max_expanded: int | None = None
    by_profile: bool = False
    """Whether the profiler that wrote the profile tells the scenario."""
    language: Language = "en"
    """Of the page in the plan's folder."""


@dataclass(frozen=True, slots=True)
class Planned:
    """A plan, its report, what was found on the way, and whether something could not be read."""

    plan: Plan
    report: Any
    findings: list[Finding]
    unreadable: bool
    files: list[Path]


@dataclass(frozen=True, slots=True)
class _Measured:
    """One device of the profile, and what its operators are bounded by."""

    tasks: TaskSet
    shares: StepShares
    bounds: OperatorBounds | None
    exposed: Any
    """The time of each operator in which it alone keeps the step waiting."""
    blocks: tuple[int | None, int | None] = (None, None)
    """Of the operator of most, on cube cores and on vector cores."""
    cores: CoreCounts = field(default_factory=CoreCounts)
    memory_used_bytes: int | None = None
    """The most memory of the device that was reserved."""


def make_plan(profile: Path, folder: Path, wish: PlanWish, environment: Mapping[str, str]) -> Planned:
    """Plan the tuning of what a profile shows, and write the plan's folder.

    UsageError where there is not one run below `profile`, or a job was begun in the folder.
    """
    if (folder / STATE).exists():
        raise UsageError(say("{folder}: a job was begun there; expected another folder for a new plan", folder=folder))
    findings: list[Finding] = []
    captures, unreadable = captures_of_run(profile, wish.max_expanded, findings)
    wish = _without_secrets(_carried_on(_by_profile(wish, captures)), environment)
    if wish.wanted.mode == "gdat" and wish.wanted.scenario != "tf-training":
        scenario = wish.wanted.scenario
        raise UsageError(say("gradients are tuned in TensorFlow training only, not in {scenario}", scenario=scenario))
    with ThreadPoolExecutor(1) as beside:  # hashing waits for no lock of the interpreter
        hashed = beside.submit(digest_of_captures, captures)
        measured = _measure(captures, wish, findings)
        digest = hashed.result()
    if measured is None:
        if not unreadable and not has(findings, "error"):
            findings.append(Finding("error", "nothing-measured", str(profile), say("no tasks here to plan from")))
        empty = Plan(wish.wanted.scenario, wish.wanted.mode)
        return Planned(empty, None, findings_in_order(findings), unreadable, [])
    prior = _prior_jobs(wish, captures, environment)
    findings += prior.findings
    unreadable |= prior.unreadable
    priors, ranking = prior.priors(), _ranked(measured, wish, prior)
    plan = _plan(profile, captures, measured, digest, wish, ranking)
    findings += _remarks(profile, measured, wish, ranking)
    facts = _facts(measured, wish, priors)
    if wish.wanted.mode == "gdat":
        facts["gradients"] = _gradient_tail(captures, measured, findings)
    report = plan_report(document_of_plan(plan), facts)
    from aoe_reports.present import RENDERERS  # noqa: PLC0415 -- drawn in only where there is something to render

    files = write_plan(folder, plan, RENDERERS["markdown"](report_in(report, wish.language)))
    return Planned(plan, report, findings_in_order(findings), unreadable, files)


def next_plan(
    captures: Sequence[Capture], tasks: TaskSet, shares: StepShares, bounds: OperatorBounds | None, prior: PriorJobs
) -> Plan:
    """What `plan` would choose under its defaults, from what is measured of the device that it would plan for."""
    wish = _by_profile(PlanWish(Wanted(), by_profile=True), captures)
    exposed = exposed_times(tasks.frame, bounds, shares) if bounds is not None else None
    measured = _Measured(tasks, shares, bounds, exposed)
    ranking = _ranked(measured, wish, prior)
    return _plan(Path(label_of(captures)), captures, measured, None, wish, ranking)


def known_without_asking(captures: Sequence[Capture], environment: Mapping[str, str]) -> PriorJobs:
    """What `plan` knows of earlier tuning where nobody names any: the bank in use."""
    return _prior_jobs(PlanWish(Wanted()), captures, environment)


_SCENARIO_OF: dict[str, Scenario] = {"torch_npu": "pytorch", "mindspore": "mindspore"}


def _by_profile(wish: PlanWish, captures: Sequence[Capture]) -> PlanWish:
    """The wish with the scenario that the profile's writer tells, where that is asked for."""
    sources = {capture.profiler for capture in captures}
    if not wish.by_profile or len(sources) != 1:
        return wish
    scenario = _SCENARIO_OF.get(sources.pop(), wish.wanted.scenario)
    return replace(wish, wanted=replace(wish.wanted, scenario=scenario))


def _carried_on(wish: PlanWish) -> PlanWish:
    """The wish with what the plan before it said: its scenario, its model, its chip, the bank it tuned."""
    if wish.after is None:
        return wish
    before = read_plan(wish.after)
    bank = wish.after / "bank"
    if not bank.is_dir():
        raise UsageError(say("{after}: its subgraphs were not tuned yet (no bank in it)", after=wish.after))
    job = replace(before.job, **_told(wish.job))
    return replace(
        wish,
        wanted=replace(wish.wanted, scenario=before.scenario, mode="opat"),
        job=job,
        soc=wish.soc or before.soc,
        engine_version=wish.engine_version or before.engine_version,
        bank=wish.bank or bank,
    )


def _without_secrets(wish: PlanWish, environment: Mapping[str, str]) -> PlanWish:
    """The wish without values of secret variables in what is run: plan.json and run.sh may be read by others."""
    redactor = Redactor(environment)
    command, options = (tuple(redactor.arguments(told)) for told in (wish.job.command, wish.job.options))
    return replace(wish, job=replace(wish.job, command=command, options=options))


def _told(job: Job) -> dict[str, Any]:
    empty = Job()
    names = ("command", "working_folder", "model", "weight", "model_path", "framework", "device", "te_parallel",
             "options")  # fmt: skip
    return {name: getattr(job, name) for name in names if getattr(job, name) != getattr(empty, name)}


def _measure(captures: Sequence[Capture], wish: PlanWish, findings: list[Finding]) -> _Measured | None:
    """The device with the longest step."""
    best: tuple[tuple[Any, ...], MeasuredDevice] | None = None
    devices = 0
    for measured in read_devices(captures, TASK_COLUMNS, findings, rank=wish.rank, device=wish.device):
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
            "planned for {whose}: the longest step of {devices} devices (--rank, --device choose another)"
            if whose
            else "planned for the longest step of {devices} devices (--rank, --device choose another)",
            whose=whose,
            devices=devices,
        )
        findings.append(_finding("plan-device", label_of(captures), message))
    cores = CoreCounts.of_hardware(capture.info.hardware)
    bounds = measure_operators(
        tasks.frame,
        cores,
        dynamic_model=any(file.name.kind in DYNAMIC_KINDS for file in capture.files),
    )
    exposed = exposed_times(tasks.frame, bounds, shares) if bounds is not None else None
    memory = _memory_used(capture, tasks.device_id, findings)
    blocks = most_blocks(tasks.frame, cores)
    return _Measured(tasks, shares, bounds, exposed, blocks=blocks, cores=cores, memory_used_bytes=memory)


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


def _prior_jobs(wish: PlanWish, captures: Sequence[Capture], environment: Mapping[str, str]) -> PriorJobs:
    """What earlier tuning left to know."""
    environment = environment if wish.bank is None else {"TUNE_BANK_PATH": os.path.abspath(wish.bank)}
    own = tuner(DEFAULT_TUNER)
    assert own.bank is not None
    assert own.driver is not None
    layout = bank_of_environment(own.bank, environment)
    there = socs_of(layout)
    soc = wish.soc or soc_of(captures) or (there[0] if len(there) == 1 else None)
    files = paths_of_layout(layout, soc) if soc is not None else {}
    return own.driver.prior_jobs(PriorSources(wish.store, wish.workload, wish.results, files))


def soc_of(captures: Sequence[Capture]) -> str | None:
    """The chip of these captures, where their info files name one that can be a folder's name."""
    named = {capture.info.device_type for capture in captures} - {None}
    only = next(iter(named), None) if len(named) == 1 else None
    return only if only is not None and _SOC.fullmatch(only) else None


def _ranked(measured: _Measured, wish: PlanWish, prior: PriorJobs) -> Ranking:
    bounds = measured.bounds
    names = bounds.key_codes("op_name")[1] if bounds is not None else []
    types = bounds.key_codes("op_type")[1] if bounds is not None else []
    known = prior.known(names, types)
    device = Measured(measured.tasks.frame, bounds, measured.exposed, measured.shares)
    return rank_operators(device, wish.wanted, known, prior.priors())


def _plan(
    profile: Path,
    captures: Sequence[Capture],
    measured: _Measured,
    digest: str | None,
    wish: PlanWish,
    ranking: Ranking,
) -> Plan:
    shares = measured.shares
    versions = {capture.info.engine_version for capture in captures} - {None}
    plan = Plan(
        scenario=wish.wanted.scenario,
        mode=wish.wanted.mode,
        profile=os.path.abspath(profile),
        baseline_hash=digest,
        soc=wish.soc or soc_of(captures),
        engine_version=wish.engine_version or (next(iter(versions)) if len(versions) == 1 else None),
        bank=None if wish.bank is None else os.path.abspath(wish.bank),
        repeat_tune=wish.wanted.repeat_tune,
        step_us=None if shares.step_us is None else round(shares.step_us, 3),
        computing_share=_rounded(shares.share(shares.computing_ns)),
        communication_not_overlapped_share=_rounded(shares.share(shares.communication_not_overlapped_ns)),
        free_share=_rounded(shares.share(shares.free_ns)),
        bound_saving_us=round(shares.bound_saving_us, 3),
        bound_saving_share=_rounded(shares.share(shares.bound_saving_ns)),
        candidates=ranking.candidates,
        rejected=ranking.rejected,
        job=wish.job,
        cube_blocks=measured.blocks[0],
        vector_blocks=measured.blocks[1],
        cube_cores=measured.cores.cube,
        vector_cores=measured.cores.vector,
        device_memory_used_bytes=measured.memory_used_bytes,
    )
    return replace(plan, expected_files=_expected(plan))


def _rounded(share: float | None) -> float | None:
    return None if share is None else round(share, 6)


def _expected(plan: Plan) -> tuple[str, ...]:
    """What tuning leaves in the folder."""
    stages = plan.stages()
    if not stages:
        return ()
    results = [f"runs/*-{stage}/aoe_result_{stage}_*.json" for stage in stages if stage != "gdat"]
    gradients = ["bank/*_gradient_fusion.json"] if "gdat" in stages else []
    return (*results, *gradients, "bank", "outcome.json", "remeasure.sh", "remeasure.md")


def _finding(rule: str, path: str, message: str) -> Finding:
    return Finding(PLAN_RULES[rule][0], rule, path, message)


def _remarks(profile: Path, measured: _Measured, wish: PlanWish, ranking: Ranking) -> list[Finding]:
    """What whoever follows the plan has to know beside it."""
    where, shares, found = str(profile), measured.shares, []
    if shares.step_ns is None:
        found.append(
            _finding("plan-step-unknown", where, say("no times of tasks, no table of steps: nothing tells of steps"))
        )
    for name in ranking.undocumented:
        text = say("whether AOE tunes {name} is not documented (the published list is not complete)", name=name)
        found.append(_finding("plan-type-undocumented", where, text))
    for name in ranking.in_bank:
        text = say(
            "the bank has entries of {name}; AOE skips what is banked, and of which shapes they are it does not say",
            name=name,
        )
        found.append(_finding("plan-bank-has-type", where, text))
    if wish.wanted.mode == "gdat":
        if not ((shares.communication_not_overlapped_ns or 0) + (shares.overlapped_ns or 0)):
            text = say("gradients are tuned to overlap communication, and there is none in this profile")
            found.append(_finding("plan-no-communication", where, text))
    elif not ranking.candidates:
        found.append(_finding("plan-empty", where, say("tuning compute cannot help here: no candidate")))
    elif wish.wanted.mode == "both":
        text = say(
            "subgraphs first; then profile again and `plan AFTER -o OTHER --after` this folder chooses the operators"
        )
        found.append(_finding("plan-two-rounds", where, text))
    return found


def _facts(measured: _Measured, wish: PlanWish, priors: Priors) -> dict[str, Any]:
    """What the report says beside the plan."""
    shares = measured.shares
    return {
        "steps": shares.steps,
        "source": shares.source,
        "overlapped_share": _rounded(shares.share(shares.overlapped_ns)),
        "min_share": wish.wanted.min_share,
        "budget_s": wish.wanted.budget_s,
        "top": wish.wanted.top,
        "cost_s": priors.cost_s,
        "cost_results": priors.cost_results,
        "default_source": DEFAULT_SOURCE,
    }


def _gradient_tail(
    captures: Sequence[Capture], measured: _Measured, findings: list[Finding]
) -> dict[str, float] | None:
    """What gradient tuning could save at most, in us an iteration; None where nothing tells of backward passes."""
    talk = Communication()
    said: list[Finding] = []
    for capture in captures:
        read_communication(capture, talk, (), None, said)
    findings += [finding for finding in said if finding not in findings and finding.rule != "no-communication"]
    whose = (measured.tasks.rank_id, measured.tasks.device_id)
    tails = [tail for tail in talk.tails if (tail.rank_id, tail.device_id) == whose]
    if not tails:
        return None
    sums = {name: sum(getattr(tail, name) for tail in tails) for name in ("iteration_ns", "tail_ns", "bound_ns")}
    return {name.replace("_ns", "_us"): whole / len(tails) / 1000 for name, whole in sums.items()}


def rows_of_plan(plan: Plan) -> list[dict[str, Any]]:
    """The candidates as rows, in order."""
    return [{"position": place, **asdict(candidate)} for place, candidate in enumerate(plan.candidates, start=1)]
