"""Runs a planned tuning job: a private bank, AOE stage by stage, what came of it, and how to measure again."""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from aoe_reports.checks.bank import check_bank_file
from aoe_reports.checks.results import check_result_file
from aoe_reports.errors import ReadError, UsageError
from aoe_reports.findings import FAILED_TUNING, Finding, has, in_order
from aoe_reports.readers.bank import read_bank
from aoe_reports.readers.names import RESULT_KINDS, parse_name
from aoe_reports.readers.results import ResultFile, read_results
from aoe_reports.results import TuningResult
from aoe_reports.texts import Language, join, say
from aoe_reports.tuning.bank import BankChange, chip_of, difference, digest_of, document_of_listing
from aoe_reports.tuning.command import (
    AOE_CONFIG,
    BANK,
    TUNE_OPS,
    Stage,
    command_line,
    remeasure_page,
    remeasure_script,
    stages_of_plan,
    to_json,
)
from aoe_reports.tuning.console import Console
from aoe_reports.tuning.outcome import (
    Ended,
    came_to_its_end,
    counts_of,
    describe_unended,
    finding_of,
    judge_stage,
    outcome_rows,
)
from aoe_reports.tuning.plan import (
    REDACTED,
    TENSORFLOW,
    Job,
    Plan,
    Seed,
    TuneOps,
    check_soc,
    job_of_document,
    path_problems,
    tune_ops_of_plan,
)
from aoe_reports.tuning.preflight import Declared, check_host
from aoe_reports.tuning.progress import Progress, progress_of
from aoe_reports.tuning.runner import (
    GRACE_S,
    MAX_LOG_BYTES,
    CannotRunError,
    Limits,
    Stop,
    run_process,
    stopping,
)
from aoe_reports.tuning.secrets import Redactor
from aoe_reports.workflows.bank_exchange import see_whole
from aoe_reports.workflows.banks import bank_of_plan, copy_files, list_bank, paths_of_layout, socs_of
from aoe_reports.workflows.output import write_whole
from aoe_reports.workflows.plan_folder import (
    OUTCOME,
    PLAN,
    STATE,
    digest_of_plan,
    locked,
    read_config,
    read_listing,
    read_plan,
    read_state,
    read_tune_ops,
    write_state,
)
from aoe_reports.workflows.preflight import findings_of_checks, look_at_host

RUNS = "runs"
LOG = "aoe.log"
TUNED = "tuned"
REMEASURE = ("remeasure.sh", "remeasure.md")
BANK_BEFORE = "bank_before.json"

INTERVAL_S = 1.0
"""How long is waited between two looks at a result file that AOE is writing."""


class Teller(Protocol):
    """Is told what happens while a job runs."""

    def note(self, text: str) -> None:
        """Something worth a line."""

    def line(self, text: str) -> None:
        """A line of the console of what runs."""

    def progress(self, stage: str, progress: Progress) -> None:
        """How far a stage is, whenever that changes."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What is asked of `tune` beside the plan; what is None or empty is left to the plan."""

    command: tuple[str, ...] = ()
    working_folder: str | None = None
    model: str | None = None
    weight: str | None = None
    model_path: str | None = None
    framework: int | None = None
    device: int | None = None
    options: tuple[str, ...] = ()
    bank_seed: Seed | None = None
    soc: str | None = None
    resume: bool = False
    restart: bool = False
    timeout_s: float | None = None
    grace_s: float = GRACE_S
    max_log_bytes: int = MAX_LOG_BYTES
    strict: bool = False
    language: Language = "en"
    """Of the page on how to measure again."""

    def job(self, planned: Job) -> Job:
        """The plan's job with what is said here."""
        given = {
            "command": self.command,
            "working_folder": self.working_folder,
            "model": self.model,
            "weight": self.weight,
            "model_path": self.model_path,
            "framework": self.framework,
            "device": self.device,
            "bank_seed": self.bank_seed,
        }
        changed: dict[str, Any] = {name: value for name, value in given.items() if value is not None and value != ()}
        if self.model is not None:
            changed.setdefault("model_path", None)
        if self.model_path is not None:
            changed.setdefault("model", None)
        return replace(planned, **changed, options=(*planned.options, *self.options))


@dataclass(slots=True)
class Tuned:
    """What came of a job: a row an operator, findings, and the facts around them."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    failed: bool = False
    signal: int | None = None
    """The signal that told us to end."""
    more: dict[str, Any] = field(default_factory=dict)


def plan_to_run(folder: Path, wish: Wish) -> tuple[Plan, list[Stage], TuneOps | None]:
    """The plan with what is wished, its stages, and what operator tuning is restricted to."""
    plan = read_plan(folder)
    state = read_state(folder) if wish.resume else None
    planned = job_of_document(state["job"]) if state is not None else plan.job
    if any(REDACTED in part for part in planned.command) and not wish.command:
        raise UsageError(say("the command held a secret and was not written down; expected it again behind `--`"))
    told = {option.split("=", 1)[0] for option in wish.options}
    kept = tuple(o for o in planned.options if REDACTED not in o or o.split("=", 1)[0] not in told)
    if any(REDACTED in part for part in kept):
        raise UsageError(
            say("an option for aoe held a secret and was not written down; expected it again (--aoe-option)")
        )
    planned = replace(planned, options=kept)
    plan = replace(plan, job=wish.job(planned), soc=check_soc(wish.soc) if wish.soc else plan.soc)
    for at, message in path_problems(plan):
        raise UsageError(say("{message} ({place})", message=message, place=at))
    asked = read_tune_ops(folder) if "opat" in plan.stages() else None
    asked = asked or (tune_ops_of_plan(plan) if "opat" in plan.stages() else None)
    return plan, stages_of_plan(plan, asked), asked


def dry_run(folder: Path, wish: Wish) -> list[dict[str, Any]]:
    """What would be run: one row a stage. Nothing is written."""
    _, stages, asked = plan_to_run(folder, wish)
    here, redactor = str(folder.resolve()), Redactor(os.environ)
    rows = []
    for number, stage in enumerate(stages, 1):
        work = f"{here}/{RUNS}/{number:03d}-{stage.name}"
        argv = redactor.arguments(stage.argv(here))
        rows.append(
            {
                "stage": stage.name,
                "command": command_line(argv),
                "argv": argv,
                "working_folder": _where(stage, Path(here), Path(work)).as_posix(),
                "environment": stage.variables(work, f"{here}/{BANK}"),
                "unset": list(stage.unset),
                "tune_ops": asked.as_document() if asked is not None and stage.tune_ops is not None else None,
            }
        )
    return rows


def tune(folder: Path, wish: Wish, teller: Teller) -> Tuned:
    """Run a folder's job, or go on with one that stopped; what is there afterwards is said by the result.

    UsageError where the plan does not say enough or the job was run before, CannotRunError (exit code 3) where a command
    cannot be started.
    """
    plan, stages, asked = plan_to_run(folder, wish)
    here = folder.resolve()
    for stage in stages:
        _find_command(stage, here)
    with locked(here), stopping() as stop:
        return _Job(folder, here, plan, stages, asked, wish, teller, stop).run()


def _find_command(stage: Stage, here: Path) -> None:
    """See to it that the command is there before anything is written."""
    argv = stage.argv(str(here))
    where = stage.working_folder.resolved(str(here)) if stage.working_folder is not None else None
    if where is not None and not Path(where).is_dir():
        raise UsageError(say("{where}: no such folder to run the command in", where=where))
    if "/" in argv[0]:
        found = Path(argv[0]).is_absolute() or where is not None
        if not found:
            raise UsageError(
                say("{path} is relative, and the command runs in a fresh folder; see --working-folder", path=argv[0])
            )
        if not os.access(Path(where or "/") / argv[0], os.X_OK):
            raise CannotRunError(say("{name}: cannot be run; expected a program", name=argv[0]))
    elif shutil.which(argv[0]) is None:
        text = say(
            "{name}: not found on PATH (source set_env.sh of CANN); expected a program of this name"
            if argv[0] == "aoe"
            else "{name}: not found on PATH; expected a program of this name",
            name=argv[0],
        )
        raise CannotRunError(text)
    if stage.runs == "command" and where is None:
        for part in argv[1:]:
            if not part.startswith(("-", "/")) and Path(part).suffix in {".py", ".sh"} and Path(part).is_file():
                raise UsageError(
                    say("{path} is relative, and the command runs in a fresh folder; see --working-folder", path=part)
                )


def _where(stage: Stage, here: Path, work: Path) -> Path:
    return work if stage.working_folder is None else Path(stage.working_folder.resolved(str(here)))


@dataclass(slots=True)
class _Attempt:
    """One run of a stage: its results, and what is wrong with it."""

    stage: str
    results: list[TuningResult]
    findings: list[Finding]
    status: str


class _Job:
    """A job at work."""

    def __init__(
        self,
        shown: Path,
        here: Path,
        plan: Plan,
        stages: list[Stage],
        asked: TuneOps | None,
        wish: Wish,
        teller: Teller,
        stop: Stop,
    ) -> None:
        self.shown, self.here, self.plan, self.stages = shown, here, plan, stages
        self.asked, self.wish, self.teller, self.stop = asked, wish, teller, stop
        self.redactor = Redactor(os.environ)
        self.deadline = time.monotonic() + wish.timeout_s if wish.timeout_s is not None else None
        self.tuned = Tuned()
        self.state: dict[str, Any] = {}
        self.attempts: list[_Attempt] = []

    def run(self) -> Tuned:
        self._open_state()
        self._say_what_is_odd()
        self.tuned.findings += self._preflight()
        if self.wish.strict and any(f.rule.startswith("preflight-") for f in self.tuned.findings):
            self.tuned.failed = True
            self.tuned.more = {"status": "not-run"}
            return self.tuned
        self._seed_bank()
        self._recall()
        for stage in self.stages:
            if self._done(stage.name):
                self.teller.note(say("{name}: done before", name=stage.name))
                continue
            if self.stop.signal is not None:
                break
            attempt = self._attempt(stage)
            self.attempts.append(attempt)
            if attempt.status != "done":
                break
        return self._close()

    # What was there before

    def _open_state(self) -> None:
        if self.wish.restart and (self.here / STATE).exists():
            self._put_away()  # whatever it says: a damaged one goes, too
        state = read_state(self.here)
        digest = digest_of_plan(self.here)
        if state is not None:
            status = state.get("status")
            if status == "done":
                raise UsageError(
                    say(
                        "{shown}: was tuned already; --restart begins anew (what is there is put away)",
                        shown=self.shown,
                    )
                )
            if not self.wish.resume:
                raise UsageError(
                    say(
                        "{shown}: its job is {status}; --resume goes on, --restart begins anew",
                        shown=self.shown,
                        status=say(str(status)),
                    )
                )
            if state.get("plan_sha256") != digest:
                raise UsageError(
                    say(
                        "{folder}: {file} is not what the job was begun with; --restart begins anew",
                        folder=self.shown,
                        file=PLAN,
                    )
                )
            for one in state["attempts"]:
                if one["status"] == "running":
                    one["status"] = "interrupted"  # we were killed
        job = self.plan.job
        command, options = map(self.redactor.arguments, (job.command, job.options))
        self.state = {
            "format_version": 1,
            "plan_sha256": digest,
            "status": "interrupted",
            "job": {**asdict(job), "command": command, "options": options},
            "bank": (state or {}).get("bank"),
            "aoe": known if isinstance(known := (state or {}).get("aoe"), dict) else None,
            "attempts": (state or {}).get("attempts", []),
        }

    def _put_away(self) -> None:
        """Move what an earlier job left into a folder of its own: nothing is deleted."""
        number = 1
        while (old := self.here / f"old-{number:03d}").exists():
            number += 1
        old.mkdir()
        verdicts = [path.name for path in sorted(self.here.glob("verify*")) if path.suffix in {".json", ".md", ".html"}]
        for name in (RUNS, BANK, TUNED, OUTCOME, BANK_BEFORE, *REMEASURE, *verdicts, STATE):
            if (self.here / name).exists():
                (self.here / name).rename(old / name)
        self.teller.note(say("what was there is in {path}", path=self.shown / old.name))

    def _say_what_is_odd(self) -> None:
        planned = tune_ops_of_plan(self.plan)
        if self.asked is None or planned is None:
            return
        if set(planned.names) != set(self.asked.names) or set(planned.types) != set(self.asked.types):
            text = say(
                "it asks for {operators} operators and {types} types, the plan for {planned_operators} and {planned_types}; "
                "what it asks for is tuned",
                operators=len(self.asked.names),
                types=len(self.asked.types),
                planned_operators=len(planned.names),
                planned_types=len(planned.types),
            )
            self.tuned.findings.append(finding_of("tune-ops-edited", str(self.shown / TUNE_OPS), text))

    def _preflight(self) -> list[Finding]:
        """What preflight is certain of: it does not stop a job, unless that is wished."""
        host = look_at_host(self.plan, self.here, os.environ)
        self._say_other_aoe({"path": host.aoe, "help_sha256": host.aoe_help_sha256})
        checks = check_host(self.plan, host, Declared())
        bad = [check for check in checks if check.verdict in {"fail", "warn"} and check.rule != "preflight-folder"]
        return [replace(f, severity="warning") for f in findings_of_checks(bad, str(self.shown / PLAN))]

    def _say_other_aoe(self, found: dict[str, str | None]) -> None:
        """Note which aoe the job is run with; another one than before may tune otherwise, and take other options."""
        before = (self.state.get("aoe") or {}).get("help_sha256")
        if before is not None and found["help_sha256"] not in {None, before}:
            text = say("its --help is not the one that the job was begun with: another release?")
            self.tuned.findings.append(finding_of("tune-other-aoe", str(found["path"]), text))
        self.state["aoe"] = found if found["help_sha256"] is not None or before is None else self.state["aoe"]

    # The private bank

    def _seed_bank(self) -> None:
        bank = self.here / BANK
        if self.state["bank"] is not None and bank.is_dir():
            read_listing(self.here / BANK_BEFORE)  # without it nothing could be said in the end
            return
        fresh = self.here / f".{BANK}.new"
        if fresh.exists():
            shutil.rmtree(fresh)
        fresh.mkdir()
        told: dict[str, Any] = {"seed": self.plan.job.bank_seed, "by": None, "soc": self.plan.soc, "files": 0}
        if bank.is_dir():
            shutil.rmtree(fresh)  # somebody (run.sh) made one before: it is the job's
            told["seed"] = "found"
        else:
            try:
                if self.plan.job.bank_seed == "copy":
                    told |= self._copy_bank_in_use(fresh)
                list_bank(fresh)  # a bank that cannot be read must not be found by the next try
            except BaseException:
                shutil.rmtree(fresh, ignore_errors=True)
                raise
            fresh.rename(bank)
        before = list_bank(bank)
        told["files"] = len(before)
        write_whole(self.here / BANK_BEFORE, to_json(document_of_listing(before)))
        self.state["bank"] = told
        self._save()
        if told["seed"] == "copy":
            self.teller.note(
                say(
                    "private bank: a copy of the one in use ({by}), {count} files",
                    by=say(str(told["by"])),
                    count=len(before),
                )
            )

    def _copy_bank_in_use(self, target: Path) -> dict[str, Any]:
        layout = bank_of_plan(self.plan, self.here, os.environ)
        if layout.by in {"given", "TUNE_BANK_PATH"} and not Path(layout.operators_root).is_dir():
            raise UsageError(
                say(
                    "{operators_root}: the bank in use is not there; expected a folder, or --bank empty",
                    operators_root=layout.operators_root,
                )
            )
        soc = self.plan.soc
        if soc is None:
            there = socs_of(layout)
            if len(there) > 1:
                names = join(", ", there)
                raise UsageError(
                    say(
                        "the plan names no soc and the bank in use has {names}; expected --soc, or --bank empty",
                        names=names,
                    )
                )
            soc = there[0] if there else None
        if soc is not None:
            see_whole(layout, soc)
            copy_files(paths_of_layout(layout, soc), target)
        return {"by": layout.by, "soc": soc, "operators": str(layout.operators_root), "graphs": str(layout.graphs_root)}

    # Stages

    def _recall(self) -> None:
        """Read again what earlier attempts left."""
        for one in self.state["attempts"]:
            files = sorted(_stamps(self.here / RUNS / one["folder"]))
            results, _, _ = self._read(files, interrupted=True)
            self.attempts.append(_Attempt(one["stage"], results, [], one["status"]))

    def _done(self, name: str) -> bool:
        return any(attempt.stage == name and attempt.status == "done" for attempt in self.attempts)

    def _attempt(self, stage: Stage) -> _Attempt:
        stage, name, asked = self._prepared(stage)
        work = self.here / RUNS / name
        where = _where(stage, self.here, work)
        before = _stamps(work, where)
        console = Console(self.plan.scenario, stage.runs)
        argv = stage.argv(str(self.here))
        entry: dict[str, Any] = {
            "stage": stage.name,
            "folder": name,
            "status": "running",
            "argv": self.redactor.arguments(argv),
            "environment": stage.variables(str(work), str(self.here / BANK)),
            "unset": list(stage.unset),
            "started": datetime.now(UTC).isoformat(timespec="seconds"),
            "result_files": [],
        }
        self.state["attempts"].append(entry)
        self.state["status"] = "running"
        self._save()
        self.teller.note(say("{name}: {why}", name=stage.name, why=command_line(entry["argv"])))
        follower = _Follower(
            stage.name, work, where, before, len(asked.names) if asked and not asked.types else None, self.teller
        )

        def on_line(line: str, shown: str) -> None:
            console.take(line, shown)
            self.teller.line(shown)

        began = time.monotonic()
        try:
            ended = run_process(
                argv,
                folder=where,
                environment=stage.environment_of(os.environ, str(work), str(self.here / BANK)),
                log=work / LOG,
                stop=self.stop,
                on_line=on_line,
                on_look=follower.look,
                limits=Limits(self.deadline, self.wish.grace_s, self.wish.max_log_bytes),
            )
        except BaseException:
            entry["status"], self.state["status"] = "interrupted", "interrupted"
            self._save()
            raise
        if ended.unended:
            self.teller.note(describe_unended(ended.unended))
        follower.look(force=True)
        return self._judged(stage, entry, console, ended, _fresh(work, where, before), time.monotonic() - began)

    def _prepared(self, stage: Stage) -> tuple[Stage, str, TuneOps | None]:
        """The stage as it is run, the name of its folder, what it is restricted to."""
        last = next((one for one in reversed(self.state["attempts"]) if one["stage"] == stage.name), None)
        if last is not None and stage.name == "sgat" and stage.runs == "aoe":
            broken = last["status"] == "interrupted" or last.get("signal") is not None
            if broken and (self.here / RUNS / last["folder"] / "aoe_workspace").is_dir():
                return stage.reloading(), last["folder"], None
        name = f"{len(self.state['attempts']) + 1:03d}-{stage.name}"
        work = self.here / RUNS / name
        if work.exists():
            shutil.rmtree(work)  # of an attempt that never began
        work.mkdir(parents=True)
        asked = stage.tune_ops
        if asked is not None:
            asked = self._left(asked)
            write_whole(work / TUNE_OPS, to_json(asked.as_document()))
            if self.plan.scenario in TENSORFLOW:
                self._write_config(asked)
        return stage, name, asked

    def _write_config(self, asked: TuneOps) -> None:
        """See to it that the file that a TensorFlow script names asks for what is to be tuned; other keys of it stay."""
        config = read_config(self.here)
        if {**config, **asked.as_document()} != config:
            write_whole(self.here / AOE_CONFIG, to_json({**config, **asked.as_document()}))
            self.teller.note(
                say(
                    "{path}: asks for {operators} operators, {types} types",
                    path=self.shown / AOE_CONFIG,
                    operators=len(asked.names),
                    types=len(asked.types),
                )
            )

    def _left(self, asked: TuneOps) -> TuneOps:
        """What is left to be tuned: with REPEAT_TUNE what is banked would be tuned again."""
        if not self.plan.repeat_tune:
            return asked
        through = {m.join_name for a in self.attempts for result in a.results for m in result.modifications}
        names = tuple(name for name in asked.names if name not in through)
        return TuneOps(names, asked.types) if names or asked.types else asked

    def _judged(
        self, stage: Stage, entry: dict[str, Any], console: Console, ended: Ended, fresh: list[Path], seconds: float
    ) -> _Attempt:
        work = self.here / RUNS / entry["folder"]
        results, found, damaged = self._read(fresh, interrupted=ended.because != "exited")
        for path in fresh:
            if path.parent != work:
                shutil.copy2(path, work / path.name)
        gradients = self._gradients_tuned(found) if stage.name == "gdat" else None
        shown = self.shown / RUNS / entry["folder"] / LOG
        found += judge_stage(str(shown), console, ended, results, damaged, gradients=gradients)
        status = "interrupted" if ended.because != "exited" else "failed" if has(found, "error") else "done"
        entry |= {
            "status": status,
            "exit_code": ended.exit_code,
            "signal": ended.signal,
            "ended": ended.because,
            "seconds": round(seconds, 3),
            "result_files": sorted({path.name for path in fresh}),
            "claims": [asdict(claim) for claim in console.claims],
            "codes": sorted(console.codes),
            "still_running": list(ended.unended),
        }
        self._save()
        return _Attempt(stage.name, results, found, status)

    def _read(self, paths: Sequence[Path], *, interrupted: bool) -> tuple[list[TuningResult], list[Finding], list[str]]:
        """(tasks, findings, names of files with errors) of result files."""
        results: list[TuningResult] = []
        found: list[Finding] = []
        damaged = []
        for path in paths:
            try:
                file: ResultFile = read_results(path)
            except ReadError as error:
                found.append(
                    Finding("error", "unreadable", str(self._show(path)), join("; ", (error.what, error.expected)))
                )
                damaged.append(path.name)
                continue
            told = [replace(f, path=str(self._show(path))) for f in check_result_file(file)]
            if interrupted:
                told = [replace(f, severity="warning") if f.rule == "json-truncated" else f for f in told]
            found += told
            results += [result for result in file.results if not result.ambiguous]
            if any(f.severity == "error" and f.rule not in FAILED_TUNING for f in told):
                damaged.append(path.name)
        return results, found, damaged

    def _show(self, path: Path) -> Path:
        """A path as the user named its folder."""
        return self.shown / path.relative_to(self.here) if path.is_relative_to(self.here) else path

    def _gradients_tuned(self, found: list[Finding]) -> bool:
        tuned = False
        for path in sorted((self.here / BANK).glob("*gradient_fusion.json")):
            with contextlib.suppress(ReadError):
                file = read_bank(path)
                found += [replace(f, path=str(self._show(path))) for f in check_bank_file(file)]
                tuned = tuned or any(model.tuned for model in file.bank.models)
        return tuned

    # The end

    def _close(self) -> Tuned:
        statuses = {attempt.stage: attempt.status for attempt in self.attempts}
        done = all(statuses.get(stage.name) == "done" for stage in self.stages)
        stopped = self.stop.signal is not None and not done
        status = "done" if done else "interrupted" if stopped or "interrupted" in statuses.values() else "failed"
        self.state["status"] = status
        tuned = self.tuned
        tuned.failed, tuned.signal = not done, self.stop.signal if stopped else None
        results = self._all_results()
        last = [r for attempt in self._last_attempts() for r in attempt.results]
        tuned.rows = outcome_rows(self.plan, self.asked, results, ended=done and came_to_its_end(last))
        changes = self._bank_changes()
        tuned.findings += [f for attempt in self._last_attempts() for f in attempt.findings]
        self._say_what_changed(done, results, bool(changes))
        self._say_other_chips(changes)
        oms = self._collect_models()
        measured_again = done or bool(changes)
        if measured_again:
            self._write_remeasure()
        if done:
            self._say_what_is_missing()
        tuned.findings = in_order(tuned.findings)
        tuned.more = {
            "status": status,
            "aoe": self.state["aoe"],
            "counts": counts_of(tuned.rows),
            "stages": [{key: one.get(key) for key in _STAGE_KEYS} for one in self.state["attempts"]],
            "bank": {**(self.state["bank"] or {}), "path": str(self.shown / BANK), "digest": self.bank_digest},
            "bank_changes": [asdict(change) for change in changes],
            "tuned_models": oms,
            "remeasure": [str(self.shown / name) for name in REMEASURE] if measured_again else [],
        }
        document = {"format_version": 1, **tuned.more, "rows": tuned.rows}
        write_whole(self.here / OUTCOME, to_json(document))
        self._save()
        return tuned

    def _last_attempts(self) -> list[_Attempt]:
        """The last attempt of each stage."""
        return list({attempt.stage: attempt for attempt in self.attempts}.values())

    def _all_results(self) -> list[TuningResult]:
        """The tasks of all attempts: of earlier ones only what they changed, and what a later one did not change again."""
        last = {id(attempt) for attempt in self._last_attempts()}
        seen: set[tuple[str, str | None]] = set()
        results: list[TuningResult] = []
        for attempt in reversed(self.attempts):
            for result in attempt.results:
                kept = tuple(m for m in result.modifications if (m.name, m.mode) not in seen)
                if id(attempt) in last:
                    results.append(replace(result, modifications=kept))
                else:
                    results.append(replace(result, modifications=kept, summary={}, failed_operators=()))
            seen |= {(m.name, m.mode) for result in attempt.results for m in result.modifications}
        return results

    bank_digest: str | None = None

    def _bank_changes(self) -> list[BankChange]:
        after = list_bank(self.here / BANK)
        self.bank_digest = digest_of(after)
        return difference(read_listing(self.here / BANK_BEFORE), after)

    def _say_what_changed(self, done: bool, results: Sequence[TuningResult], bank_changed: bool) -> None:
        changed = sum(len(result.modifications) for result in results)
        if done and not changed and not (self.plan.mode == "gdat" and bank_changed):
            text = say("nothing was improved: AOE found nothing to tune, nothing faster, or all of it in the bank")
            self.tuned.findings.append(finding_of("tune-nothing-changed", str(self.shown), text))
        if changed and not bank_changed:
            text = say(
                "{changed} changes are reported, and no file of the private bank is another one than before",
                changed=changed,
            )
            self.tuned.findings.append(finding_of("tune-bank-unchanged", str(self.shown / BANK), text))

    def _say_other_chips(self, changes: Sequence[BankChange]) -> None:
        """AOE names the folder of the bank after the chip that it finds: where that is not the plan's, `adopt` would miss it."""
        soc = (self.state["bank"] or {}).get("soc")
        others = sorted({chip for change in changes if (chip := chip_of(change.path)) is not None} - {soc})
        if soc is not None and others:
            text = say(
                "AOE tuned for {others}, the plan says {soc}: what is banked for {others} was not skipped, and `adopt` takes --soc",
                others=join(", ", others),
                soc=soc,
            )
            self.tuned.findings.append(finding_of("tune-other-chip", str(self.shown / BANK), text))

    def _say_what_is_missing(self) -> None:
        for pattern in self.plan.expected_files:
            if pattern != OUTCOME and "**" not in pattern and not any(self.here.glob(pattern)):
                text = say("the plan expects {pattern}, and no such file is there", pattern=pattern)
                self.tuned.findings.append(finding_of("tune-file-missing", str(self.shown), text))

    def _collect_models(self) -> list[str]:
        """The .om files that AOE made, in a folder of their own."""
        found: dict[str, Path] = {}
        for path in sorted((self.here / RUNS).glob("*/aoe_workspace/*/tunespace/result/*.om")):
            if path.is_file():
                found[path.name] = path  # of several attempts the last one's
        for name, path in found.items():
            target = self.here / TUNED / name
            target.parent.mkdir(exist_ok=True)
            target.unlink(missing_ok=True)
            try:
                target.hardlink_to(path)
            except OSError:
                shutil.copy2(path, target)
        return [str(self.shown / TUNED / name) for name in sorted(found)]

    def _write_remeasure(self) -> None:
        script, page = REMEASURE
        write_whole(self.here / script, remeasure_script(self.plan))
        (self.here / script).chmod(0o755)
        write_whole(self.here / page, remeasure_page(self.plan, self.wish.language))

    def _save(self) -> None:
        write_state(self.here, self.state)


_STAGE_KEYS = (
    "stage",
    "folder",
    "status",
    "exit_code",
    "signal",
    "ended",
    "seconds",
    "result_files",
    "claims",
    "codes",
    "still_running",
)

_Stamp = tuple[int, int, int]


def _is_result(name: str) -> bool:
    """Whether a name is one that AOE gives results, and nothing that leads elsewhere."""
    parsed = parse_name(name)
    return parsed is not None and parsed.kind in RESULT_KINDS and parsed.source == "aoe"


def _stamps(*folders: Path) -> dict[Path, _Stamp]:
    """The result files directly in some folders, and what changes when one of them is written."""
    found: dict[Path, _Stamp] = {}
    for folder in folders:
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                if _is_result(entry.name) and entry.is_file():
                    status = entry.stat()
                    found[Path(entry.path)] = (status.st_mtime_ns, status.st_size, status.st_ino)
    return found


def _fresh(work: Path, where: Path, before: Mapping[Path, _Stamp]) -> list[Path]:
    """The result files that were written since."""
    return sorted(path for path, stamp in _stamps(work, where).items() if before.get(path) != stamp)


class _Follower:
    """Looks at the result files of a run every now and then, and tells of progress."""

    def __init__(
        self, stage: str, work: Path, where: Path, before: Mapping[Path, _Stamp], asked: int | None, teller: Teller
    ) -> None:
        self._stage, self._work, self._where, self._before = stage, work, where, before
        self._asked, self._teller = asked, teller
        self._next = 0.0
        self._stamps: dict[Path, _Stamp] = {}
        self._told: Progress | None = None

    def look(self, *, force: bool = False) -> None:
        """Look, if it is time."""
        if not force and time.monotonic() < self._next:
            return
        self._next = time.monotonic() + INTERVAL_S
        stamps = {p: s for p, s in _stamps(self._work, self._where).items() if self._before.get(p) != s}
        if stamps == self._stamps:
            return
        self._stamps = stamps
        results: list[TuningResult] = []
        for path in sorted(stamps):
            with contextlib.suppress(ReadError):
                results += read_results(path).results
        progress = progress_of(results, self._asked)
        if progress != self._told:
            self._told = progress
            self._teller.progress(self._stage, progress)
