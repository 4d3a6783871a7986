"""How a tuner is run from a plan: the processes, what they say, what they leave, what it comes to."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Generic, Literal, Protocol, TypeVar

from aoe_reports.model.findings import Finding
from aoe_reports.model.rows import column, row
from aoe_reports.model.texts import Language, Text, join, say
from aoe_reports.tuning.banks.bank import Listing
from aoe_reports.tuning.job.runner import Ended
from aoe_reports.tuning.job.state import PrintedClaim, Tool
from aoe_reports.tuning.plan.plan import Plan, StageName, TuneOps
from aoe_reports.tuning.plan.prior import PriorJobs, PriorSources

Runs = Literal["tuner", "command"]
"""What a stage runs: the tuner's own command, or a training or inference command that tunes by itself."""


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument: a text, and behind it (where there is one) a path that is relative to the plan's folder."""

    text: str
    path: str | None = None

    def resolved(self, folder: str) -> str:
        """The argument as a process gets it."""
        return self.text if self.path is None else f"{self.text}{folder}/{self.path}"

    def quoted(self) -> str:
        """The argument in a shell script where `$here` is the plan's folder."""
        if self.path is None:
            return shlex.quote(self.text)
        return f'{shlex.quote(self.text) if self.text else ""}"$here"/{shlex.quote(self.path)}'


@dataclass(frozen=True, slots=True)
class Stage:
    """One process of a tuning job; its folder for work and the bank are told when it is run."""

    name: StageName
    runs: Runs
    arguments: tuple[Argument, ...]
    environment: tuple[tuple[str, str], ...]
    unset: tuple[str, ...]
    work_variable: str
    """What names the folder for work to the process."""
    bank_variable: str
    working_folder: Argument | None = None
    tune_ops: TuneOps | None = None
    not_found: str | None = None
    """What to say where its command is not on PATH; null: no more than that."""

    def argv(self, folder: str) -> list[str]:
        """The arguments as a process gets them; `folder` is the plan's, as an absolute path."""
        return [argument.resolved(folder) for argument in self.arguments]

    def variables(self, work: str, bank: str) -> dict[str, str]:
        """The variables that are set: those of the plan, where results go, which bank is used."""
        return {**dict(self.environment), self.work_variable: work, self.bank_variable: bank}

    def environment_of(self, inherited: Mapping[str, str], work: str, bank: str) -> dict[str, str]:
        """The whole environment of the process."""
        kept = {name: value for name, value in inherited.items() if name not in self.unset}
        return {**kept, **self.variables(work, bank)}


def command_line(argv: Sequence[str]) -> str:
    """Arguments as they would be typed into a shell."""
    return " ".join(shlex.quote(part) for part in argv)


class Listener(Protocol):
    """Takes in what a process prints, line after line."""

    def take(self, line: str, shown: str | None = None) -> None:
        """Take in one line; `shown` is the same without what is not to be written down."""

    @property
    def claims(self) -> Sequence[PrintedClaim]:
        """The improvements that it tells of."""

    @property
    def codes(self) -> Mapping[str, str]:
        """The error codes that it names, each with the first line that does."""


@dataclass(frozen=True, slots=True)
class JobFolder:
    """A plan's folder: as the user named it, and where it lies."""

    shown: Path
    here: Path

    def show(self, path: Path) -> Path:
        """A path as the user named its folder."""
        return self.shown / path.relative_to(self.here) if path.is_relative_to(self.here) else path


Task = TypeVar("Task")
"""What a tuner's results hold; of no concern to whoever runs it."""


@dataclass(slots=True)
class Results(Generic[Task]):
    """What a stage left: its tasks, what is wrong with its files, names of files with errors."""

    tasks: list[Task] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Attempted(Generic[Task]):
    """The tasks of one attempt at a stage; `last`: no later one was made."""

    tasks: Sequence[Task]
    last: bool


Status = Literal["improved", "already-banked", "not-better", "failed", "not-seen", "unclear"]


@row
class OutcomeRow:
    """What became of one operator, type or subgraph; times in us, gain as a fraction."""

    kind: Literal["operator", "subgraph"] = column(default="operator")
    op_name: str | None = column("Operator", default=None)
    op_type: str | None = column("Operator type", default=None)
    status: Status = column("Status", "state")
    mode: str | None = column("Mode", default=None)
    before_us: float | None = column("Before", "us", default=None)
    after_us: float | None = column("After", "us", default=None)
    gain: float | None = column("Speed-up (before/after - 1)", "gain", default=None)
    total_us: float | None = column("Total in the profile", "us", default=None)
    expected_saving_us: float | None = column(default=None)
    tuned_name: str | None = column(default=None)
    repo_key: str | None = column("Subgraph", default=None, before="status")
    requested: bool = column(default=True)
    reason: str = column("Reason", "sentence", default="")

    def unproven(self, status: Status, reason: str) -> OutcomeRow:
        """The row of what a task changed that was broken off: in the bank, and without a number."""
        return replace(self, status=status, reason=reason, before_us=None, after_us=None, gain=None)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a job came to: a row an operator, how many things were changed."""

    rows: list[OutcomeRow]
    changed: int | None
    """Null where the tuner's results do not tell."""


@dataclass(frozen=True, slots=True)
class BankSides:
    """A job's bank: what was in it before, what is in it now, and where it lies."""

    before: Listing
    after: Listing
    folder: Path


@dataclass(frozen=True, slots=True)
class Machine:
    """What is known of the machine before a job begins: which tuner is there, what speaks against tuning on it."""

    tool: Tool
    findings: list[Finding]


class Driver(Protocol[Task]):
    """Runs a tuner from a plan."""

    @property
    def plan_files(self) -> frozenset[str]:
        """The names of the files that it may write beside plan.json."""

    @property
    def list_file(self) -> str:
        """The name of the one that says what operators are tuned."""

    @property
    def built(self) -> str:
        """Which files below `runs` are models that it made."""

    def files_of_plan(self, plan: Plan, folder: str) -> dict[str, str]:
        """Those files by name; `folder` is the plan's, as an absolute path."""

    def installed(self, environment: Mapping[str, str]) -> str | None:
        """The release that is installed here; None where nothing tells."""

    def remarks(self, plan: Plan, path: str) -> list[Finding]:
        """What speaks against a plan by itself."""

    def prior_jobs(self, sources: PriorSources) -> PriorJobs:
        """What earlier tuning left to know."""

    def asked(self, folder: Path) -> TuneOps | None:
        """What the list in a plan's folder asks for; None where there is none."""

    def stages(self, plan: Plan, asked: TuneOps | None) -> list[Stage]:
        """What is run, in order; UsageError where the plan does not say enough."""

    def machine(self, plan: Plan, folder: JobFolder, environment: Mapping[str, str]) -> Machine:
        """What is certain of the machine before the job begins."""

    def resumed(self, stage: Stage, work: Path) -> Stage | None:
        """The stage as it goes on in the folder of a broken run; None where it cannot."""

    def prepared(
        self, plan: Plan, stage: Stage, tuned: Sequence[Task], folder: JobFolder, *, work: Path
    ) -> tuple[TuneOps | None, str | None]:
        """Write what the process reads; (what it is restricted to, a note). `tuned`: what was tuned before."""

    def listener(self, plan: Plan, stage: Stage) -> Listener:
        """What takes in its console."""

    def read(self, paths: Sequence[Path], *, interrupted: bool) -> Results[Task]:
        """What result files hold; `interrupted`: that they are cut off is no wonder."""

    def progress(self, paths: Sequence[Path], asked: int | None) -> Progress:
        """How far the run is that writes these result files."""

    def judged(
        self, stage: Stage, listener: Listener, ended: Ended, results: Results[Task], *, log: Path, bank: Path
    ) -> list[Finding]:
        """What is wrong with a stage's run; it went well if no error is among it. Findings of a log are `log`'s."""

    def outcome(
        self,
        plan: Plan,
        asked: TuneOps | None,
        attempts: Sequence[Attempted[Task]],
        *,
        done: bool,
        bank: BankSides | None = None,
    ) -> Outcome:
        """What came of the job; `done`: every stage went well. `bank` tells of what the results leave open."""

    def remeasure(self, plan: Plan, language: Language) -> tuple[str, str]:
        """A script and a page: how to measure again after tuning."""


@dataclass(frozen=True, slots=True)
class Progress:
    """What is known of a run that is going on."""

    done: int
    """How many of what is tuned are through, as far as the tuner reports."""
    asked: int | None
    """How many were asked for by name; null where it is not known."""
    improved: int
    failed: int
    best_gain: float | None
    """The largest before/after - 1 so far."""
    what: str
    final: bool = True
    """Whether every task is through: until then the tuner's numbers prove nothing."""

    @property
    def share(self) -> float | None:
        """What part is through; null where it is not known how many there are."""
        return min(1.0, self.done / self.asked) if self.asked else None


def describe_progress(stage: str, progress: Progress) -> Text:
    """The progress in a line."""
    done = {"done": progress.done, "what": say(progress.what)}
    parts = [
        say("{done} {what} done", **done)
        if progress.asked is None
        else say("{done} of {asked} {what} done", asked=progress.asked, **done),
        say("{number} improved" if progress.final else "{number} changed so far", number=progress.improved),
    ]
    if progress.failed:
        parts.append(say("{number} failed", number=progress.failed))
    if progress.best_gain is not None:
        parts.append(
            say(
                "best speed-up {gain:+.1%}" if progress.final else "best speed-up {gain:+.1%} (not final)",
                gain=progress.best_gain,
            )
        )
    return say("{name}: {why}", name=stage, why=join(", ", parts))
