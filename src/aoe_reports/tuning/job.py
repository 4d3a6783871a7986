"""Runs a planned tuning job: a private bank, a tuner stage by stage, what came of it, and how to measure again."""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from aoe_reports.engine.output import write_whole
from aoe_reports.model.errors import UsageError
from aoe_reports.model.findings import Finding, has, in_order
from aoe_reports.model.texts import Language, join, say
from aoe_reports.tuning.bank import BankChange, difference, digest_of, document_of_listing
from aoe_reports.tuning.bank_exchange import see_whole
from aoe_reports.tuning.bank_files import bank_of_plan, copy_files, list_bank, paths_of_layout, socs_of
from aoe_reports.tuning.driver import Attempted, Driver, JobFolder, Listener, Results, Stage, command_line
from aoe_reports.tuning.plan import (
    REDACTED,
    Job,
    Plan,
    Seed,
    TuneOps,
    check_soc,
    job_of_document,
    path_problems,
    to_json,
    tune_ops_of_plan,
)
from aoe_reports.tuning.plan_folder import (
    BANK,
    OUTCOME,
    PLAN,
    RUNS,
    STATE,
    digest_of_plan,
    locked,
    read_listing,
    read_plan,
    read_state,
    write_state,
)
from aoe_reports.tuning.progress import Progress
from aoe_reports.tuning.runner import (
    GRACE_S,
    MAX_LOG_BYTES,
    CannotRunError,
    Ended,
    Limits,
    Stop,
    run_process,
    stopping,
)
from aoe_reports.tuning.secrets import Redactor
from aoe_reports.tuning.tune_rules import describe_unended, finding_of
from aoe_reports.tuning.tuner import bank_of_tuner, driver_of_plan, tuner_of_plan

LOG = "aoe.log"
TUNED = "tuned"
REMEASURE = ("remeasure.sh", "remeasure.md")
BANK_BEFORE = "bank_before.json"

INTERVAL_S = 1.0
"""How long is waited between two looks at a result file that is being written."""


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


@dataclass(frozen=True, slots=True)
class Task:
    """A job that is to be run: the plan with what is asked for, its stages, what operator tuning is restricted to."""

    plan: Plan
    stages: list[Stage]
    asked: TuneOps | None


def plan_to_run(folder: Path, wish: Wish) -> Task:
    """What is to be run; UsageError where the plan does not say enough."""
    plan = read_plan(folder)
    state = read_state(folder) if wish.resume else None
    planned = job_of_document(state["job"]) if state is not None else plan.job
    if any(REDACTED in part for part in planned.command) and not wish.command:
        raise UsageError(say("the command held a secret and was not written down; expected it again behind `--`"))
    planned = replace(planned, options=_options(planned, wish))
    plan = replace(plan, job=wish.job(planned), soc=check_soc(wish.soc) if wish.soc else plan.soc)
    for at, message in path_problems(plan):
        raise UsageError(say("{message} ({place})", message=message, place=at))
    driver, asked = driver_of_plan(plan), None
    if "opat" in plan.stages():
        asked = driver.asked(folder) or tune_ops_of_plan(plan)
    return Task(plan, driver.stages(plan, asked), asked)


def _options(planned: Job, wish: Wish) -> tuple[str, ...]:
    """The planned options but for those that are told anew; UsageError where a secret is missing."""
    told = {option.split("=", 1)[0] for option in wish.options}
    kept = tuple(o for o in planned.options if REDACTED not in o or o.split("=", 1)[0] not in told)
    if any(REDACTED in part for part in kept):
        raise UsageError(
            say("an option for aoe held a secret and was not written down; expected it again (--aoe-option)")
        )
    return kept


def dry_run(folder: Path, wish: Wish) -> list[dict[str, Any]]:
    """What would be run: one row a stage. Nothing is written."""
    task = plan_to_run(folder, wish)
    here, redactor = str(folder.resolve()), Redactor(os.environ)
    rows = []
    for number, stage in enumerate(task.stages, 1):
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
                "tune_ops": task.asked.as_document() if task.asked is not None and stage.tune_ops is not None else None,
            }
        )
    return rows


def tune(folder: Path, wish: Wish, teller: Teller) -> Tuned:
    """Run a folder's job, or go on with one that stopped; what is there afterwards is said by the result.

    UsageError where the plan does not say enough or the job was run before, CannotRunError (exit code 3) where a command
    cannot be started.
    """
    task = plan_to_run(folder, wish)
    place = JobFolder(folder, folder.resolve())
    for stage in task.stages:
        _find_command(stage, place.here)
    with locked(place.here), stopping() as stop:
        return _Job(place, task, wish, teller, stop=stop).run()


def _find_command(stage: Stage, here: Path) -> None:
    """See to it that the command is there before anything is written."""
    argv = stage.argv(str(here))
    where = stage.working_folder.resolved(str(here)) if stage.working_folder is not None else None
    if where is not None and not Path(where).is_dir():
        raise UsageError(say("{where}: no such folder to run the command in", where=where))
    if "/" in argv[0]:
        _find_by_path(argv[0], where)
    elif shutil.which(argv[0]) is None:
        text = say("{name}: not found on PATH; expected a program of this name", name=argv[0])
        raise CannotRunError(stage.not_found or text)
    if stage.runs == "command" and where is None:
        _see_that_no_script_is_relative(argv)


def _find_by_path(command: str, where: str | None) -> None:
    if where is None and not Path(command).is_absolute():
        raise UsageError(
            say("{path} is relative, and the command runs in a fresh folder; see --working-folder", path=command)
        )
    if not os.access(Path(where or "/") / command, os.X_OK):
        raise CannotRunError(say("{name}: cannot be run; expected a program", name=command))


def _see_that_no_script_is_relative(argv: Sequence[str]) -> None:
    for part in argv[1:]:
        if not part.startswith(("-", "/")) and Path(part).suffix in {".py", ".sh"} and Path(part).is_file():
            raise UsageError(
                say("{path} is relative, and the command runs in a fresh folder; see --working-folder", path=part)
            )


def _where(stage: Stage, here: Path, work: Path) -> Path:
    return work if stage.working_folder is None else Path(stage.working_folder.resolved(str(here)))


@dataclass(slots=True)
class _Attempt:
    """One run of a stage: its tasks, and what is wrong with it."""

    stage: str
    tasks: list[Any]
    findings: list[Finding]
    status: str


@dataclass(frozen=True, slots=True)
class _Run:
    """One process of a stage that has ended: what is noted of it, what was heard of it, how it ended, what it wrote."""

    entry: dict[str, Any]
    heard: Listener
    ended: Ended
    fresh: list[Path]
    seconds: float


class _Job:
    """A job at work."""

    def __init__(self, folder: JobFolder, task: Task, wish: Wish, teller: Teller, *, stop: Stop) -> None:
        self.folder, self.shown, self.here = folder, folder.shown, folder.here
        self.plan, self.stages, self.asked = task.plan, task.stages, task.asked
        self.wish, self.teller, self.stop = wish, teller, stop
        self.driver: Driver[Any] = driver_of_plan(task.plan)
        self.tuner = tuner_of_plan(task.plan)
        self.redactor = Redactor(os.environ)
        self.deadline = time.monotonic() + wish.timeout_s if wish.timeout_s is not None else None
        self.bank = bank_of_tuner(task.plan)
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
            self._see_that_it_goes_on(state, digest)
        before = state or {}
        job = self.plan.job
        command, options = map(self.redactor.arguments, (job.command, job.options))
        known = before.get("aoe")
        self.state = {
            "format_version": 1,
            "plan_sha256": digest,
            "status": "interrupted",
            "job": {**asdict(job), "command": command, "options": options},
            "bank": before.get("bank"),
            "aoe": known if isinstance(known, dict) else None,
            "attempts": before.get("attempts", []),
        }

    def _see_that_it_goes_on(self, state: dict[str, Any], digest: str) -> None:
        """UsageError where a job that was begun may not go on; what was running when we were killed is so no more."""
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
            self.tuned.findings.append(finding_of("tune-ops-edited", str(self.shown / self.driver.list_file), text))

    def _preflight(self) -> list[Finding]:
        """What is certain of the machine: it does not stop a job, unless that is asked for."""
        machine = self.driver.machine(self.plan, self.folder, os.environ)
        self._say_other_aoe(machine.tool)
        return machine.findings

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
                list_bank(self.bank, fresh)  # a bank that cannot be read must not be found by the next try
            except BaseException:
                shutil.rmtree(fresh, ignore_errors=True)
                raise
            fresh.rename(bank)
        before = list_bank(self.bank, bank)
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
        layout = bank_of_plan(self.bank, self.plan, self.here, os.environ)
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
            files = sorted(self._stamps(self.here / RUNS / one["folder"]))
            tasks = self.driver.read(files, interrupted=True).tasks
            self.attempts.append(_Attempt(one["stage"], tasks, [], one["status"]))

    def _done(self, name: str) -> bool:
        return any(attempt.stage == name and attempt.status == "done" for attempt in self.attempts)

    def _stamps(self, *folders: Path) -> dict[Path, _Stamp]:
        return _stamps(self.tuner.is_result, *folders)

    def _attempt(self, stage: Stage) -> _Attempt:
        stage, name, asked = self._prepared(stage)
        work = self.here / RUNS / name
        where = _where(stage, self.here, work)
        before = self._stamps(work, where)
        heard = self.driver.listener(self.plan, stage)
        entry = self._begun(stage, name)
        number = len(asked.names) if asked and not asked.types else None

        def fresh() -> dict[Path, _Stamp]:
            return {path: stamp for path, stamp in self._stamps(work, where).items() if before.get(path) != stamp}

        def tell(paths: Sequence[Path]) -> Progress:
            return self.driver.progress(paths, number)

        follower = _Follower(stage.name, fresh, tell, self.teller)

        def on_line(line: str, shown: str) -> None:
            heard.take(line, shown)
            self.teller.line(shown)

        began = time.monotonic()
        try:
            ended = run_process(
                stage.argv(str(self.here)),
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
        return self._judged(stage, _Run(entry, heard, ended, sorted(fresh()), time.monotonic() - began))

    def _begun(self, stage: Stage, name: str) -> dict[str, Any]:
        """Note that a stage begins."""
        entry: dict[str, Any] = {
            "stage": stage.name,
            "folder": name,
            "status": "running",
            "argv": self.redactor.arguments(stage.argv(str(self.here))),
            "environment": stage.variables(str(self.here / RUNS / name), str(self.here / BANK)),
            "unset": list(stage.unset),
            "started": datetime.now(UTC).isoformat(timespec="seconds"),
            "result_files": [],
        }
        self.state["attempts"].append(entry)
        self.state["status"] = "running"
        self._save()
        self.teller.note(say("{name}: {why}", name=stage.name, why=command_line(entry["argv"])))
        return entry

    def _prepared(self, stage: Stage) -> tuple[Stage, str, TuneOps | None]:
        """The stage as it is run, the name of its folder, what it is restricted to."""
        last = next((one for one in reversed(self.state["attempts"]) if one["stage"] == stage.name), None)
        if last is not None and (last["status"] == "interrupted" or last.get("signal") is not None):
            resumed = self.driver.resumed(stage, self.here / RUNS / last["folder"])
            if resumed is not None:
                return resumed, last["folder"], None
        name = f"{len(self.state['attempts']) + 1:03d}-{stage.name}"
        work = self.here / RUNS / name
        if work.exists():
            shutil.rmtree(work)  # of an attempt that never began
        work.mkdir(parents=True)
        tuned = [task for attempt in self.attempts for task in attempt.tasks]
        asked, note = self.driver.prepared(self.plan, stage, tuned, self.folder, work=work)
        if note is not None:
            self.teller.note(note)
        return stage, name, asked

    def _judged(self, stage: Stage, run: _Run) -> _Attempt:
        work, ended = self.here / RUNS / run.entry["folder"], run.ended
        results: Results[Any] = self.driver.read(run.fresh, interrupted=ended.because != "exited")
        for path in run.fresh:
            if path.parent != work:
                shutil.copy2(path, work / path.name)
        said = self.driver.judged(stage, run.heard, ended, results, log=work / LOG, bank=self.here / BANK)
        found = [replace(f, path=str(self.folder.show(Path(f.path)))) for f in (*results.findings, *said)]
        status = "interrupted" if ended.because != "exited" else "failed" if has(found, "error") else "done"
        run.entry.update(
            {
                "status": status,
                "exit_code": ended.exit_code,
                "signal": ended.signal,
                "ended": ended.because,
                "seconds": round(run.seconds, 3),
                "result_files": sorted({path.name for path in run.fresh}),
                **run.heard.as_document(),
                "still_running": list(ended.unended),
            }
        )
        self._save()
        return _Attempt(stage.name, results.tasks, found, status)

    # The end

    def _close(self) -> Tuned:
        done = self._is_done()
        stopped = self.stop.signal is not None and not done
        self.state["status"] = status = self._status(done=done, stopped=stopped)
        tuned, last = self.tuned, self._last_attempts()
        tuned.failed, tuned.signal = not done, self.stop.signal if stopped else None
        tasks = [Attempted(one.tasks, any(one is other for other in last)) for one in self.attempts]
        outcome = self.driver.outcome(self.plan, self.asked, tasks, done=done)
        tuned.rows = outcome.rows
        after = list_bank(self.bank, self.here / BANK)
        changes = difference(read_listing(self.here / BANK_BEFORE), after)
        tuned.findings += [f for attempt in last for f in attempt.findings]
        self._say_what_changed(done, outcome.changed, bool(changes))
        self._say_other_chips(changes)
        models = self._collect_models()
        again = self._write_remeasure() if done or changes else []
        if done:
            self._say_what_is_missing()
        tuned.findings = in_order(tuned.findings)
        tuned.more = {
            "status": status,
            "aoe": self.state["aoe"],
            "counts": _counts(tuned.rows),
            "stages": [{key: one.get(key) for key in _STAGE_KEYS} for one in self.state["attempts"]],
            "bank": {**(self.state["bank"] or {}), "path": str(self.shown / BANK), "digest": digest_of(after)},
            "bank_changes": [asdict(change) for change in changes],
            "tuned_models": models,
            "remeasure": again,
        }
        document = {"format_version": 1, **tuned.more, "rows": tuned.rows}
        write_whole(self.here / OUTCOME, to_json(document))
        self._save()
        return tuned

    def _is_done(self) -> bool:
        statuses = {attempt.stage: attempt.status for attempt in self.attempts}
        return all(statuses.get(stage.name) == "done" for stage in self.stages)

    def _status(self, *, done: bool, stopped: bool) -> str:
        if done:
            return "done"
        broken_off = any(attempt.status == "interrupted" for attempt in self._last_attempts())
        return "interrupted" if stopped or broken_off else "failed"

    def _last_attempts(self) -> list[_Attempt]:
        """The last attempt of each stage."""
        return list({attempt.stage: attempt for attempt in self.attempts}.values())

    def _say_what_changed(self, done: bool, changed: int, bank_changed: bool) -> None:
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
        """The folder of a bank is named after the chip that the tuner finds: where that is not the plan's, `adopt` would miss it."""
        soc = (self.state["bank"] or {}).get("soc")
        others = sorted({chip for change in changes if (chip := self.bank.chip_of(change.path)) is not None} - {soc})
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
        """The models that the tuner made, in a folder of their own."""
        found: dict[str, Path] = {}
        for path in sorted((self.here / RUNS).glob(self.driver.built)):
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

    def _write_remeasure(self) -> list[str]:
        for name, text in zip(REMEASURE, self.driver.remeasure(self.plan, self.wish.language), strict=True):
            write_whole(self.here / name, text)
        (self.here / REMEASURE[0]).chmod(0o755)
        return [str(self.shown / name) for name in REMEASURE]

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


def _counts(rows: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """How many rows there are of each status, in the order of their first."""
    counts: dict[str, int] = {}
    for row in rows:
        counts[row["status"]] = counts.get(row["status"], 0) + 1
    return counts


def _stamps(is_result: Callable[[str], bool], *folders: Path) -> dict[Path, _Stamp]:
    """The result files directly in some folders, and what changes when one of them is written."""
    found: dict[Path, _Stamp] = {}
    for folder in folders:
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                if is_result(entry.name) and entry.is_file():
                    status = entry.stat()
                    found[Path(entry.path)] = (status.st_mtime_ns, status.st_size, status.st_ino)
    return found


class _Follower:
    """Looks at the result files of a run every now and then, and tells of progress."""

    def __init__(
        self,
        stage: str,
        fresh: Callable[[], dict[Path, _Stamp]],
        progress: Callable[[Sequence[Path]], Progress],
        teller: Teller,
    ) -> None:
        self._stage, self._fresh, self._progress, self._teller = stage, fresh, progress, teller
        self._next = 0.0
        self._stamps: dict[Path, _Stamp] = {}
        self._told: Progress | None = None

    def look(self, *, force: bool = False) -> None:
        """Look, if it is time."""
        if not force and time.monotonic() < self._next:
            return
        self._next = time.monotonic() + INTERVAL_S
        stamps = self._fresh()
        if stamps == self._stamps:
            return
        self._stamps = stamps
        progress = self._progress(sorted(stamps))
        if progress != self._told:
            self._told = progress
            self._teller.progress(self._stage, progress)
