"""Runs a planned tuning job: a private bank, a tuner stage by stage, what came of it, and how to measure again."""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from aoe_reports.engine.output import write_whole
from aoe_reports.engine.question import Answer, one_table
from aoe_reports.model.documents import JsonObject
from aoe_reports.model.errors import UsageError
from aoe_reports.model.findings import Finding, has, in_order, reasons_of
from aoe_reports.model.report import Section
from aoe_reports.model.rows import Rows, as_mapping, column, row
from aoe_reports.model.texts import join, say
from aoe_reports.tuning.answers import JobAnswer, job_answer
from aoe_reports.tuning.banks.bank import (
    BankChange,
    bank_of_plan,
    copy_files,
    difference,
    digest_of,
    document_of_listing,
    list_bank,
    paths_of_layout,
    socs_of,
)
from aoe_reports.tuning.banks.exchange import see_whole
from aoe_reports.tuning.chip_names import check_chip
from aoe_reports.tuning.job.driver import (
    Attempted,
    BankSides,
    Driver,
    JobFolder,
    Listener,
    OutcomeRow,
    Progress,
    Results,
    Stage,
    command_line,
)
from aoe_reports.tuning.job.runner import CannotRunError, Ended, Limits, Stop, run_process, stopping
from aoe_reports.tuning.job.secrets import Redactor
from aoe_reports.tuning.job.state import JobState, SeededBank, StageRun
from aoe_reports.tuning.options import TuneOptions
from aoe_reports.tuning.plan.folder import (
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
from aoe_reports.tuning.plan.plan import REDACTED, Job, Plan, TuneOps, path_problems, to_json, tune_ops_of_plan
from aoe_reports.tuning.rules import (
    TUNE_BANK_UNCHANGED,
    TUNE_FILE_MISSING,
    TUNE_NOTHING_CHANGED,
    TUNE_OPS_EDITED,
    TUNE_OTHER_AOE,
    TUNE_OTHER_CHIP,
)
from aoe_reports.tuning.tuner import bank_of_tuner, driver_of_plan, tuner_of_plan

LOG = "aoe.log"
TUNED = "tuned"
REMEASURE = ("remeasure.sh", "remeasure.md")
BANK_BEFORE = "bank_before.json"

_STAGE_KEYS = (
    "stage", "folder", "status", "exit_code", "signal", "ended", "seconds", "result_files", "claims", "codes", "still_running",
)  # fmt: skip
"""What the outcome says of a run of a stage."""

INTERVAL_S = 1.0
"""How long is waited between two looks at a result file that is being written."""


_Stamp = tuple[int, int, int]


class Teller(Protocol):
    """Is told what happens while a job runs."""

    def note(self, text: str) -> None:
        """Something worth a line."""

    def line(self, text: str) -> None:
        """A line of the console of what runs."""

    def progress(self, stage: str, progress: Progress) -> None:
        """How far a stage is, whenever that changes."""


@dataclass(slots=True)
class Tuned:
    """What came of a job: how it ended, a row an operator, findings, and the facts around them."""

    status: str = "not-run"
    rows: list[OutcomeRow] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    signal: int | None = None
    """The signal that told us to end."""
    remeasure: list[str] = field(default_factory=list)
    facts: JsonObject = field(default_factory=dict)
    """What JSON and outcome.json say beside the rows."""

    def answer(self, folder: Path, *, strict: bool) -> JobAnswer:
        """The rows, with what the tuner says of them in front."""
        failure = {"done": [], "not-run": ["preflight"]}.get(self.status, ["tuning-failed"])
        return job_answer(
            "tune",
            "Tuning results",
            folder,
            Rows(type=OutcomeRow, rows=self.rows),
            findings=self.findings,
            more={"status": self.status, **self.facts},
            headline=headline(self.rows, self.status) if self.rows else "",
            why=failure or reasons_of(self.findings, strict=strict),
        )


@dataclass(frozen=True, slots=True)
class Task:
    """A job that is to be run: the plan with what is asked for, its stages, what operator tuning is restricted to."""

    plan: Plan
    stages: list[Stage]
    asked: TuneOps | None
    timeout_s: float | None


def plan_to_run(folder: Path, options: TuneOptions) -> Task:
    """What is to be run; UsageError where the plan does not say enough, or the options exclude each other."""
    if options.resume and options.restart:
        raise UsageError(say("tune: --resume and --restart are mutually exclusive"))
    timeout_s = options.timeout_s
    plan = read_plan(folder)
    state = read_state(folder) if options.resume else None
    planned = state.job if state is not None else plan.job
    if any(REDACTED in part for part in planned.command) and not options.command:
        raise UsageError(say("the command contained a secret and was not saved; expected it again after `--`"))
    plan = replace(plan, job=_job(planned, options), soc=check_chip(options.soc) if options.soc else plan.soc)
    for at, message in path_problems(plan):
        raise UsageError(say("{message} ({place})", message=message, place=at))
    driver, asked = driver_of_plan(plan), None
    if "opat" in plan.stages():
        asked = driver.asked(folder) or tune_ops_of_plan(plan)
    return Task(plan, driver.stages(plan, asked), asked, timeout_s)


def _job(planned: Job, options: TuneOptions) -> Job:
    if options.model is not None or options.model_path is not None:
        planned = replace(planned, model=None, model_path=None)
    given = (*_kept_options(planned, options), *options.aoe_option)
    return replace(options.job(planned, device=options.device, bank_seed=options.bank), options=given)


def _kept_options(planned: Job, options: TuneOptions) -> tuple[str, ...]:
    """The planned options without those that are given anew; UsageError where a secret is missing."""
    told = {option.split("=", 1)[0] for option in options.aoe_option}
    kept = tuple(o for o in planned.options if REDACTED not in o or o.split("=", 1)[0] not in told)
    if any(REDACTED in part for part in kept):
        raise UsageError(
            say("an option for aoe contained a secret and was not saved; expected the option again (--aoe-option)")
        )
    return kept


def dry_run(folder: Path, options: TuneOptions) -> Answer:
    """What would be run: one row a stage. Nothing is written."""
    task = plan_to_run(folder, options)
    here, redactor = str(folder.resolve()), Redactor(os.environ)
    rows = []
    for number, stage in enumerate(task.stages, 1):
        work = f"{here}/{RUNS}/{number:03d}-{stage.name}"
        argv = redactor.arguments(stage.argv(here))
        rows.append(
            PlannedRun(
                stage=stage.name,
                command=command_line(argv),
                argv=argv,
                working_folder=_where(stage, Path(here), Path(work)).as_posix(),
                environment=stage.variables(work, f"{here}/{BANK}"),
                unset=list(stage.unset),
                tune_ops=task.asked.as_document() if task.asked is not None and stage.tune_ops is not None else None,
            )
        )
    table = Rows(type=PlannedRun, rows=rows)
    sections = [Section(one.stage, lines=one.as_typed()) for one in rows]
    return one_table("tune", "Commands to be run", [folder], table, sections=sections)


def tune(folder: Path, options: TuneOptions, teller: Teller) -> Tuned:
    """Run a folder's job, or go on with one that stopped; what is there afterwards is said by the result.

    UsageError where the plan does not say enough or the job was run before, CannotRunError (exit code 3) where a command
    cannot be started.
    """
    task = plan_to_run(folder, options)
    place = JobFolder(folder, folder.resolve())
    for stage in task.stages:
        _find_command(stage, place.here)
    with locked(place.here), stopping() as stop:
        return _Job(place, task, options, teller, stop=stop).run()


def _find_command(stage: Stage, here: Path) -> None:
    """Raise before anything is written if the command cannot run."""
    argv = stage.argv(str(here))
    where = stage.working_folder.resolved(str(here)) if stage.working_folder is not None else None
    if where is not None and not Path(where).is_dir():
        raise UsageError(say("{where}: no such folder to run the command in", where=where))
    if "/" not in argv[0] and shutil.which(argv[0]) is None:
        text = say("{name}: not found on PATH; expected a program of this name", name=argv[0])
        raise CannotRunError(stage.not_found or text)
    relative = [argv[0]] if "/" in argv[0] and not argv[0].startswith("/") else []
    if stage.runs == "command":
        scripts = (part for part in argv[1:] if not part.startswith(("-", "/")) and part.endswith((".py", ".sh")))
        relative += filter(os.path.isfile, scripts)
    if relative and where is None:
        text = say("{path} is relative, and the command runs in a fresh folder; see --working-folder", path=relative[0])
        raise UsageError(text)
    if "/" in argv[0] and not os.access(Path(where or "/") / argv[0], os.X_OK):
        raise CannotRunError(say("{name}: cannot be run; expected a program", name=argv[0]))


def _where(stage: Stage, here: Path, work: Path) -> Path:
    return work if stage.working_folder is None else Path(stage.working_folder.resolved(str(here)))


@dataclass(frozen=True, slots=True)
class _Attempt:
    run: StageRun
    tasks: list[Any]
    findings: list[Finding]


class _Job:
    def __init__(self, folder: JobFolder, task: Task, options: TuneOptions, teller: Teller, *, stop: Stop) -> None:
        self.folder, self.shown, self.here = folder, folder.shown, folder.here
        self.plan, self.stages, self.asked = task.plan, task.stages, task.asked
        self.options, self.teller, self.stop = options, teller, stop
        self.driver: Driver[Any] = driver_of_plan(task.plan)
        self.tuner = tuner_of_plan(task.plan)
        self.redactor = Redactor(os.environ)
        self.deadline = None if task.timeout_s is None else time.monotonic() + task.timeout_s
        self.bank = bank_of_tuner(task.plan)
        self.tuned = Tuned()
        self.state = JobState("interrupted", task.plan.job)
        self.attempts: list[_Attempt] = []

    def run(self) -> Tuned:
        self._open_state()
        self._say_what_is_odd()
        self.tuned.findings += self._preflight()
        if self.options.strict and any(f.rule.startswith("preflight-") for f in self.tuned.findings):
            return self.tuned
        self._seed_bank()
        self._recall()
        for stage in self.stages:
            if any(one.stage == stage.name and one.status == "done" for one in self.state.attempts):
                self.teller.note(say("{name}: already done", name=stage.name))
                continue
            if self.stop.signal is not None:
                break
            attempt = self._attempt(stage)
            self.attempts.append(attempt)
            if attempt.run.status != "done":
                break
        return self._close()

    # What was there before

    def _open_state(self) -> None:
        if self.options.restart and (self.here / STATE).exists():
            self._put_away()  # whatever it says: a damaged one goes, too
        state, digest = read_state(self.here), digest_of_plan(self.here)
        if state is not None:
            self._see_that_it_goes_on(state, digest)
        job = self.plan.job
        command, options = (tuple(self.redactor.arguments(given)) for given in (job.command, job.options))
        begun = state or JobState("interrupted", job, digest)
        self.state = replace(begun, status="interrupted", job=replace(job, command=command, options=options))

    def _see_that_it_goes_on(self, state: JobState, digest: str) -> None:
        """Raise UsageError if the job may not continue; mark what was running when we were killed as interrupted."""
        text = None
        if state.status == "done":
            text = say(
                "{shown}: was already tuned; --restart starts over (existing content is moved aside)", shown=self.shown
            )
        elif not self.options.resume:
            status = say(state.status)
            text = say(
                "{shown}: its job is {status}; --resume continues it, --restart starts over",
                shown=self.shown,
                status=status,
            )
        elif state.plan_sha256 != digest:
            text = say(
                "{folder}: {file} has changed since the job was started; --restart starts over",
                folder=self.shown,
                file=PLAN,
            )
        if text is not None:
            raise UsageError(text)
        for attempt in state.attempts:
            if attempt.status == "running":
                attempt.status = "interrupted"  # we were killed

    def _put_away(self) -> None:
        """Move what an earlier job left into a folder: nothing is deleted."""
        number = 1
        while (old := self.here / f"old-{number:03d}").exists():
            number += 1
        old.mkdir()
        verdicts = [path.name for path in sorted(self.here.glob("verify*")) if path.suffix in {".json", ".md", ".html"}]
        for name in (RUNS, BANK, TUNED, OUTCOME, BANK_BEFORE, *REMEASURE, *verdicts, STATE):
            if (self.here / name).exists():
                (self.here / name).rename(old / name)
        self.teller.note(say("the previous content was moved to {path}", path=self.shown / old.name))

    def _say_what_is_odd(self) -> None:
        planned = tune_ops_of_plan(self.plan)
        if self.asked is None or planned is None:
            return
        if set(planned.names) != set(self.asked.names) or set(planned.types) != set(self.asked.types):
            text = say(
                "the file requests {operators} operators and {types} types, the plan {planned_operators} and "
                "{planned_types}; the request of the file is tuned",
                operators=len(self.asked.names),
                types=len(self.asked.types),
                planned_operators=len(planned.names),
                planned_types=len(planned.types),
            )
            self.tuned.findings.append(TUNE_OPS_EDITED.found(str(self.shown / self.driver.list_file), text))

    def _preflight(self) -> list[Finding]:
        """Findings on the machine; they stop a job only with --strict. Notes which aoe runs: another release may tune differently."""
        machine = self.driver.machine(self.plan, self.folder, os.environ)
        before = None if self.state.tool is None else self.state.tool.help_sha256
        if before is None or machine.tool.help_sha256 is not None:
            self.state.tool = machine.tool
        if before is None or machine.tool.help_sha256 in {None, before}:
            return machine.findings
        text = say("its --help differs from the one at the start of the job: is it another release?")
        return [TUNE_OTHER_AOE.found(str(machine.tool.path), text), *machine.findings]

    # The private bank

    def _seed_bank(self) -> None:
        bank = self.here / BANK
        if self.state.bank is not None and bank.is_dir():
            read_listing(self.here / BANK_BEFORE)  # without it nothing could be said in the end
            return
        seeded = SeededBank(self.plan.job.bank_seed, None, self.plan.soc)
        if bank.is_dir():  # somebody (run.sh) made one before: it is the job's
            seeded = replace(seeded, seed="found")
        else:
            fresh = self.here / f".{BANK}.new"
            shutil.rmtree(fresh, ignore_errors=True)
            fresh.mkdir()
            try:
                if seeded.seed == "copy":
                    seeded = self._copy_bank_in_use(fresh)
                list_bank(self.bank, fresh)  # a bank that cannot be read must not be found by the next try
            except BaseException:
                shutil.rmtree(fresh, ignore_errors=True)
                raise
            fresh.rename(bank)
        before = list_bank(self.bank, bank)
        self.state.bank = seeded = replace(seeded, files=len(before), looked_at=() if before else seeded.looked_at)
        write_whole(self.here / BANK_BEFORE, to_json(document_of_listing(before)))
        self._save()
        by = say(str(seeded.by))
        if seeded.looked_at:
            self.teller.note(
                say(
                    "private bank: empty, because there is nothing of the chip in the bank in use ({by}); looked at: {places}",
                    by=by,
                    places=join(", ", seeded.looked_at),
                )
            )
        elif seeded.seed == "copy":
            self.teller.note(
                say("private bank: a copy of the bank in use ({by}), {count} files", by=by, count=len(before))
            )

    def _copy_bank_in_use(self, target: Path) -> SeededBank:
        layout = bank_of_plan(self.bank, self.plan, self.here, os.environ)
        if layout.by in {"given", "TUNE_BANK_PATH"} and not Path(layout.operators_root).is_dir():
            text = say(
                "{operators_root}: the bank in use does not exist; expected a folder, or --bank empty",
                operators_root=layout.operators_root,
            )
            raise UsageError(text)
        chips = [self.plan.soc] if self.plan.soc is not None else socs_of(layout)
        if len(chips) > 1:
            text = say(
                "the plan names no soc and the bank in use has {names}; expected --soc, or --bank empty",
                names=join(", ", chips),
            )
            raise UsageError(text)
        soc = chips[0] if chips else None
        if soc is not None:
            see_whole(layout, soc)
            copy_files(paths_of_layout(layout, soc), target)
        return SeededBank(
            "copy",
            layout.by,
            soc,
            operators=str(layout.operators_root),
            graphs=str(layout.graphs_root),
            looked_at=tuple(map(str, layout.places(soc))),
        )

    # Stages

    def _recall(self) -> None:
        for attempt in self.state.attempts:
            files = sorted(self._stamps(self.here / RUNS / attempt.folder))
            tasks = self.driver.read(files, interrupted=True).tasks
            self.attempts.append(_Attempt(attempt, tasks, []))

    def _stamps(self, *folders: Path) -> dict[Path, _Stamp]:
        """The result files directly in some folders, each with a stamp that changes when it is written."""
        found: dict[Path, _Stamp] = {}
        for folder in folders:
            with contextlib.suppress(OSError), os.scandir(folder) as entries:
                for entry in entries:
                    if self.tuner.is_result(entry.name) and entry.is_file():
                        status = entry.stat()
                        found[Path(entry.path)] = (status.st_mtime_ns, status.st_size, status.st_ino)
        return found

    def _attempt(self, stage: Stage) -> _Attempt:
        stage, name, asked = self._prepared(stage)
        work = self.here / RUNS / name
        where = _where(stage, self.here, work)
        before = self._stamps(work, where)
        listener = self.driver.listener(self.plan, stage)
        entry = self._begun(stage, name)
        number = len(asked.names) if asked and not asked.types else None
        next_look, seen, shown_before = 0.0, dict[Path, _Stamp](), None

        def look(*, force: bool = False) -> None:
            """Every now and then look at the result files of the run, and show its progress."""
            nonlocal next_look, seen, shown_before
            if not force and time.monotonic() < next_look:
                return
            next_look = time.monotonic() + INTERVAL_S
            stamps = {path: stamp for path, stamp in self._stamps(work, where).items() if before.get(path) != stamp}
            if stamps != seen:
                seen, progress = stamps, self.driver.progress(sorted(stamps), number)
                if progress != shown_before:
                    shown_before = progress
                    self.teller.progress(stage.name, progress)

        def on_line(line: str, shown: str) -> None:
            listener.take(line, shown)
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
                on_look=look,
                limits=Limits(self.deadline, self.options.grace),
            )
        except BaseException:
            entry.status = self.state.status = "interrupted"
            self._save()
            raise
        entry.seconds = round(time.monotonic() - began, 3)
        if ended.unended:
            self.teller.note(ended.describe_unended())
        look(force=True)
        return self._judged(stage, entry, listener, ended, sorted(seen))

    def _begun(self, stage: Stage, name: str) -> StageRun:
        entry = StageRun(
            stage=stage.name,
            folder=name,
            status="running",
            argv=tuple(self.redactor.arguments(stage.argv(str(self.here)))),
            environment=stage.variables(str(self.here / RUNS / name), str(self.here / BANK)),
            unset=stage.unset,
            started=datetime.now(UTC).isoformat(timespec="seconds"),
        )
        self.state.attempts.append(entry)
        self.state.status = "running"
        self._save()
        self.teller.note(say("{name}: {why}", name=stage.name, why=command_line(entry.argv)))
        return entry

    def _prepared(self, stage: Stage) -> tuple[Stage, str, TuneOps | None]:
        """(the stage to run, the name of its folder, its operators)."""
        last = next((one for one in reversed(self.state.attempts) if one.stage == stage.name), None)
        if last is not None and (last.status == "interrupted" or last.signal is not None):
            resumed = self.driver.resumed(stage, self.here / RUNS / last.folder)
            if resumed is not None:
                return resumed, last.folder, None
        name = f"{len(self.state.attempts) + 1:03d}-{stage.name}"
        work = self.here / RUNS / name
        if work.exists():
            shutil.rmtree(work)  # of an attempt that never began
        work.mkdir(parents=True)
        tuned = [task for attempt in self.attempts for task in attempt.tasks]
        asked, note = self.driver.prepared(self.plan, stage, tuned, self.folder, work=work)
        if note is not None:
            self.teller.note(note)
        return stage, name, asked

    def _judged(self, stage: Stage, entry: StageRun, listener: Listener, ended: Ended, fresh: list[Path]) -> _Attempt:
        work = self.here / RUNS / entry.folder
        results: Results[Any] = self.driver.read(fresh, interrupted=ended.because != "exited")
        for path in fresh:
            if path.parent != work:
                shutil.copy2(path, work / path.name)
        said = self.driver.judged(stage, listener, ended, results, log=work / LOG, bank=self.here / BANK)
        found = [replace(f, path=str(self.folder.show(Path(f.path)))) for f in (*results.findings, *said)]
        entry.status = "interrupted" if ended.because != "exited" else "failed" if has(found, "error") else "done"
        entry.exit_code, entry.signal, entry.ended = ended.exit_code, ended.signal, ended.because
        entry.result_files = tuple(sorted({path.name for path in fresh}))
        entry.claims, entry.codes = tuple(listener.claims), tuple(sorted(listener.codes))
        entry.still_running = ended.unended
        self._save()
        return _Attempt(entry, results.tasks, found)

    # The end

    def _close(self) -> Tuned:
        tuned, state, last = self.tuned, self.state, self._last_attempts()
        state.status = tuned.status = self._status(last)
        done = tuned.status == "done"
        tuned.signal = None if done else self.stop.signal
        tasks = [Attempted(one.tasks, any(one is other for other in last)) for one in self.attempts]
        bank = self.here / BANK
        before, after = read_listing(self.here / BANK_BEFORE), list_bank(self.bank, bank)
        sides = BankSides(before, after, bank)
        outcome = self.driver.outcome(self.plan, self.asked, tasks, done=done, bank=sides)
        tuned.rows = outcome.rows
        changes = difference(before, after)
        tuned.findings += [f for attempt in last for f in attempt.findings]
        self._say_what_changed(done, outcome.changed, bool(changes))
        self._say_other_chips(changes)
        models = self._collect_models()
        tuned.remeasure = self._write_remeasure() if done or changes else []
        if done:
            self._say_what_is_missing()
        tuned.findings = in_order(tuned.findings)
        tuned.facts = self._facts(changes, digest_of(after), models)
        rows = [as_mapping(one) for one in tuned.rows]
        document = {"format_version": 1, "status": tuned.status, **tuned.facts, "rows": rows}
        write_whole(self.here / OUTCOME, to_json(document))
        self._save()
        return tuned

    def _facts(self, changes: Sequence[BankChange], digest: str, models: Sequence[str]) -> JsonObject:
        """What is said beside the rows, as JSON."""
        state, tuned = self.state, self.tuned
        bank = {} if state.bank is None else state.bank.as_document()
        runs = [attempt.as_document() for attempt in state.attempts]
        return {
            "aoe": None if state.tool is None else asdict(state.tool),
            "counts": {**Counter(one.status for one in tuned.rows)},
            "stages": [{key: run.get(key) for key in _STAGE_KEYS} for run in runs],
            "bank": {**bank, "path": str(self.shown / BANK), "digest": digest},
            "bank_changes": [as_mapping(change) for change in changes],
            "tuned_models": [*models],
            "remeasure": [*tuned.remeasure],
        }

    def _status(self, last: Sequence[_Attempt]) -> str:
        statuses = {attempt.run.stage: attempt.run.status for attempt in last}
        if all(statuses.get(stage.name) == "done" for stage in self.stages):
            return "done"
        return "interrupted" if self.stop.signal is not None or "interrupted" in statuses.values() else "failed"

    def _last_attempts(self) -> list[_Attempt]:
        return list({attempt.run.stage: attempt for attempt in self.attempts}.values())

    def _say_what_changed(self, done: bool, changed: int | None, bank_changed: bool) -> None:
        if done and changed == 0 and not (self.plan.mode == "gdat" and bank_changed):
            text = say(
                "no improvement: AOE found nothing to tune, found nothing faster, or all operators are "
                "already in the bank"
            )
            self.tuned.findings.append(TUNE_NOTHING_CHANGED.found(str(self.shown), text))
        if changed and not bank_changed:
            text = say(
                "{changed} changes are reported, but no file of the private bank changed",
                changed=changed,
            )
            self.tuned.findings.append(TUNE_BANK_UNCHANGED.found(str(self.shown / BANK), text))

    def _say_other_chips(self, changes: Sequence[BankChange]) -> None:
        """The bank's folder is named after the chip that the tuner detects; if that is not the plan's chip, `tune adopt` would miss it."""
        soc = None if self.state.bank is None else self.state.bank.soc
        others = sorted({chip for change in changes if (chip := self.bank.chip_of(change.path)) is not None} - {soc})
        if soc is not None and others:
            text = say(
                "AOE tuned for {others}, but the plan names {soc}: entries that the bank already has for "
                "{others} were not skipped, and `tune adopt` needs --soc",
                others=join(", ", others),
                soc=soc,
            )
            self.tuned.findings.append(TUNE_OTHER_CHIP.found(str(self.shown / BANK), text))

    def _say_what_is_missing(self) -> None:
        for pattern in self.plan.expected_files:
            if pattern != OUTCOME and "**" not in pattern and not any(self.here.glob(pattern)):
                text = say("the plan expects {pattern}, but no such file exists", pattern=pattern)
                self.tuned.findings.append(TUNE_FILE_MISSING.found(str(self.shown), text))

    def _collect_models(self) -> list[str]:
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
        for name, text in zip(REMEASURE, self.driver.remeasure(self.plan, self.options.language), strict=True):
            write_whole(self.here / name, text)
        (self.here / REMEASURE[0]).chmod(0o755)
        return [str(self.shown / name) for name in REMEASURE]

    def _save(self) -> None:
        write_state(self.here, self.state)


@row
class PlannedRun:
    """One stage that would be run."""

    stage: str = column()
    command: str = column()
    argv: list[str] = column()
    working_folder: str = column()
    environment: Mapping[str, str] = column()
    unset: list[str] = column()
    tune_ops: Mapping[str, list[str]] | None = column()

    def as_typed(self) -> list[str]:
        """Where it runs, its environment and its arguments as they would be typed."""
        lines = [f"cd {self.working_folder}"]
        lines += [f"unset {' '.join(self.unset)}"] if self.unset else []
        lines += [f"export {name}={value}" for name, value in self.environment.items()]
        return [*lines, self.command]


def headline(rows: Sequence[OutcomeRow], status: str) -> str:
    """What the tuner says of operators and of subgraphs: no step was measured."""
    said = []
    for kind, subject in (("operator", "operators: {counts}"), ("subgraph", "subgraphs: {counts}")):
        counts = Counter(one.status for one in rows if one.kind == kind)
        words = (say("{number} {outcome}", number=number, outcome=say(word)) for word, number in counts.items())
        if counts:
            said.append(say(subject, counts=join(", ", words)))
    told = join("; ", said)
    if status != "done":
        return say("Tuning did not finish; {told}.", told=told)
    return say(
        ("Tuned {told}. Times are AOE's own, measured on single operators; the duration of a step was not measured."),
        told=told,
    )
