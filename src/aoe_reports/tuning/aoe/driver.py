"""Runs AOE from a plan: what a job asks of it at each step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from aoe_reports.engine.output import write_whole
from aoe_reports.formats.aoe.bank_file import read_bank
from aoe_reports.formats.aoe.result_files import read_results
from aoe_reports.formats.aoe.results import TuningResult
from aoe_reports.formats.rules import JSON_TRUNCATED
from aoe_reports.formats.sources.identify import unreadable_file
from aoe_reports.model.errors import ReadError
from aoe_reports.model.findings import FAILED_TUNING, Finding
from aoe_reports.model.texts import Language, say
from aoe_reports.rules.gradient_bank import check_bank_file
from aoe_reports.rules.results.check import check_result_file
from aoe_reports.tuning.aoe.bank import GRADIENTS, evidence_of
from aoe_reports.tuning.aoe.command import (
    AOE_CONFIG,
    KERNEL_MODE,
    KERNELS,
    SCRIPT,
    SNIPPET,
    TUNE_OPS,
    files_of_plan,
    kernel_mode,
    read_config,
    read_tune_ops,
    remeasure_page,
    remeasure_script,
    stages_of_plan,
)
from aoe_reports.tuning.aoe.console import Console
from aoe_reports.tuning.aoe.machine import findings_of_checks, look_at_host
from aoe_reports.tuning.aoe.outcome import came_to_its_end, judge_stage, outcome_rows, progress_of
from aoe_reports.tuning.aoe.preflight import Declared, check_host, untaken_options
from aoe_reports.tuning.aoe.prior_jobs import read_prior_jobs
from aoe_reports.tuning.aoe.releases import installed_release
from aoe_reports.tuning.job.driver import (
    Argument,
    Attempted,
    BankSides,
    JobFolder,
    Listener,
    Machine,
    Outcome,
    Progress,
    Results,
    Stage,
)
from aoe_reports.tuning.job.runner import Ended
from aoe_reports.tuning.job.state import Tool
from aoe_reports.tuning.plan.folder import PLAN
from aoe_reports.tuning.plan.plan import TENSORFLOW, Plan, TuneOps, to_json
from aoe_reports.tuning.rules import PLAN_OPTION, TUNE_NO_KERNEL, TUNE_NO_RESULT


@dataclass(frozen=True, slots=True)
class AoeDriver:
    """The command `aoe`, or a framework that tunes with AOE while its own command runs."""

    plan_files: frozenset[str] = frozenset({TUNE_OPS, AOE_CONFIG, SNIPPET, SCRIPT})
    list_file: str = TUNE_OPS
    built: str = "*/aoe_workspace/*/tunespace/result/*.om"
    files_of_plan = staticmethod(files_of_plan)
    installed = staticmethod(installed_release)
    prior_jobs = staticmethod(read_prior_jobs)
    asked = staticmethod(read_tune_ops)
    stages = staticmethod(stages_of_plan)

    def remarks(self, plan: Plan, path: str) -> list[Finding]:
        """The options that aoe of the plan's CANN version, or of its chip, does not take by its documents."""
        return [PLAN_OPTION.found(path, text) for text in untaken_options(plan)]

    def machine(self, plan: Plan, folder: JobFolder, environment: Mapping[str, str]) -> Machine:
        """What preflight is certain of: it does not stop a job, unless that is asked for."""
        host = look_at_host(plan, folder.here, environment)
        checks = check_host(plan, host, Declared())
        bad = [check for check in checks if check.verdict in {"fail", "warn"} and check.rule != "preflight-folder"]
        found = [replace(f, severity="warning") for f in findings_of_checks(bad, str(folder.shown / PLAN))]
        return Machine(Tool(host.aoe, host.aoe_help_sha256), found)

    def resumed(self, stage: Stage, work: Path) -> Stage | None:
        """A broken run of subgraph tuning goes on in its own folder."""
        if stage.name != "sgat" or stage.runs != "tuner" or not (work / "aoe_workspace").is_dir():
            return None
        return replace(stage, arguments=(*stage.arguments, Argument("--reload")))

    def prepared(
        self, plan: Plan, stage: Stage, tuned: Sequence[TuningResult], folder: JobFolder, *, work: Path
    ) -> tuple[TuneOps | None, str | None]:
        """Write the list of operators, and see to it that the file that a TensorFlow script names asks for the same."""
        if stage.tune_ops is None:
            return None, None
        asked = _left(plan, stage.tune_ops, tuned)
        write_whole(work / TUNE_OPS, to_json(asked.as_document()))
        config = read_config(folder.here) if plan.scenario in TENSORFLOW else None
        if config is None or {**config, **asked.as_document()} == config:
            return asked, None
        write_whole(folder.here / AOE_CONFIG, to_json({**config, **asked.as_document()}))
        note = say(
            "{path}: requests {operators} operators, {types} types",
            path=folder.shown / AOE_CONFIG,
            operators=len(asked.names),
            types=len(asked.types),
        )
        return asked, note

    def listener(self, plan: Plan, stage: Stage) -> Console:
        """Listens for AOE's codes and last words."""
        return Console(plan.scenario, stage.runs)

    def read(self, paths: Sequence[Path], *, interrupted: bool) -> Results[TuningResult]:
        """The tasks of result files."""
        read: Results[TuningResult] = Results()
        for path in paths:
            try:
                file = read_results(path)
            except ReadError as error:
                read.findings.append(unreadable_file(path, error))
                read.damaged.append(path.name)
                continue
            found = check_result_file(file)
            if interrupted:
                found = [replace(f, severity="warning") if f.rule == JSON_TRUNCATED.name else f for f in found]
            read.findings += found
            read.tasks += [result for result in file.results if not result.ambiguous]
            if any(f.severity == "error" and f.rule not in FAILED_TUNING for f in found):
                read.damaged.append(path.name)
        return read

    def progress(self, paths: Sequence[Path], asked: int | None) -> Progress:
        """How far a run is, by the result files that AOE rewrites while it tunes."""
        tasks: list[TuningResult] = []
        for path in paths:
            with suppress(ReadError):
                tasks += read_results(path).results
        return progress_of(tasks, asked)

    def judged(
        self, stage: Stage, listener: Listener, ended: Ended, results: Results[TuningResult], *, log: Path, bank: Path
    ) -> list[Finding]:
        """What the console, the end of the process and the results (of gradients: the bank) say against it."""
        assert isinstance(listener, Console)
        found, tuned = _gradients(bank) if stage.name == "gdat" else ([], None)
        said = judge_stage(str(log), listener, ended, results.tasks, results.damaged, gradients=tuned)
        given = dict(argument.text.partition("=")[::2] for argument in stage.arguments)
        if KERNEL_MODE not in given:
            return [*found, *said]
        # What it makes are kernels: no document promises a result file.
        kernels = Path(given.get("--op_tune_kernel_path") or log.parent / KERNELS)
        if not any(path.is_file() for path in kernels.rglob("*")):
            found.append(TUNE_NO_KERNEL.found(str(log), say("no file in {folder}", folder=kernels)))
        return [*found, *(finding for finding in said if finding.rule != TUNE_NO_RESULT.name)]

    def outcome(
        self,
        plan: Plan,
        asked: TuneOps | None,
        attempts: Sequence[Attempted[TuningResult]],
        *,
        done: bool,
        bank: BankSides | None = None,
    ) -> Outcome:
        """What became of each operator that was asked for, and of what else was changed."""
        results = _together(attempts)
        last = [result for attempt in attempts if attempt.last for result in attempt.tasks]
        evidence = None if bank is None else evidence_of(bank, plan.soc)
        rows = outcome_rows(plan, asked, results, ended=done and came_to_its_end(last), bank=evidence)
        changed = sum(len(result.modifications) for result in results)
        return Outcome(rows, None if kernel_mode(plan.job) is not None and not results else changed)

    def remeasure(self, plan: Plan, language: Language) -> tuple[str, str]:
        """remeasure.sh and remeasure.md."""
        return remeasure_script(plan), remeasure_page(plan, language)


def _left(plan: Plan, asked: TuneOps, tuned: Sequence[TuningResult]) -> TuneOps:
    if not plan.repeat_tune:
        return asked
    through = {modification.join_name for result in tuned for modification in result.modifications}
    names = tuple(name for name in asked.names if name not in through)
    return TuneOps(names, asked.types) if names or asked.types else asked


def _gradients(bank: Path) -> tuple[list[Finding], bool]:
    """(what is wrong with the banks of gradients, whether one of them is tuned)."""
    found: list[Finding] = []
    tuned = False
    for path in sorted(bank.glob(f"*{GRADIENTS.lstrip('_')}")):
        with suppress(ReadError):
            file = read_bank(path)
            found += check_bank_file(file)
            tuned = tuned or any(model.tuned for model in file.bank.models)
    return found, tuned


def _together(attempts: Sequence[Attempted[TuningResult]]) -> list[TuningResult]:
    """The tasks of all attempts. An earlier attempt keeps only its changes that no later one repeats."""
    seen: set[tuple[str, str | None]] = set()
    results: list[TuningResult] = []
    for attempt in reversed(attempts):
        for result in attempt.tasks:
            kept = tuple(m for m in result.modifications if (m.name, m.mode) not in seen)
            if attempt.last:
                results.append(replace(result, modifications=kept))
            else:
                results.append(replace(result, modifications=kept, summary={}, failed_operators=()))
        seen |= {(m.name, m.mode) for result in attempt.tasks for m in result.modifications}
    return results


AOE_DRIVER = AoeDriver()
