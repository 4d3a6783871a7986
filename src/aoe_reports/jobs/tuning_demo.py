"""A tuning loop over a simulated model, step by step: does each step find what was planted?"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aoe_reports.engine.ask import Progress, ask, no_progress
from aoe_reports.jobs.options import VerifyOptions
from aoe_reports.jobs.verify import verify
from aoe_reports.model.errors import UsageError
from aoe_reports.model.texts import Language, Text, say
from aoe_reports.simulation.planted import SOC, Planted, PlantedJob, write_planted
from aoe_reports.topics.banks.bank import Bank, BankOptions
from aoe_reports.tuning.banks.adopt import adopt
from aoe_reports.tuning.job.driver import Progress as StageProgress
from aoe_reports.tuning.job.job import tune
from aoe_reports.tuning.job.runner import CannotRunError, output_of
from aoe_reports.tuning.options import AdoptOptions, PlanOptions, TuneOptions
from aoe_reports.tuning.plan.planning import make_plan

OUTCOMES: tuple[tuple[Planted, float], ...] = (
    ("used", 420.0), ("used", 380.0), ("used", 340.0), ("not-used", 300.0), ("filler", 260.0), ("kept", 250.0), ("not-better", 240.0),
    ("failed", 220.0), *(("untuned", 60.0 - 5 * number) for number in range(6)),
)  # fmt: skip
"""What is planted of each operator, and how long it takes in us."""
CANN = "9.0.0"
FOLDER = "tuning"
EXPECTED: Mapping[Planted, tuple[str | None, str | None]] = {
    "used": ("improved", "confirmed"),
    "not-used": ("improved", "not-used"),
    "filler": ("improved", "not-comparable"),
    "kept": ("already-banked", None),
    "not-better": ("not-better", None),
    "failed": ("failed", None),
    "untuned": (None, None),
}
"""(what `tune run` says of it, what `verify` says of it)."""
_TIMEOUT_S = 120.0
_MAX_OUTPUT = 1 << 16


@dataclass(frozen=True, slots=True)
class DemoStep:
    """One step: what it is, the command that repeats it by hand, what it found."""

    title: Text
    command: str
    found: str


@dataclass(frozen=True, slots=True)
class PlantedOperator:
    """What was planted of an operator, and what was found of it."""

    name: str
    planted: Planted
    status: str | None
    verdict: str | None

    @property
    def is_right(self) -> bool:
        """Whether that is what has to be found."""
        return (self.status, self.verdict) == EXPECTED[self.planted]


@dataclass(frozen=True, slots=True)
class TuningDemo:
    """All steps, what was found of each operator, the verdict on the whole, whether the tuned bank is in use."""

    steps: Sequence[DemoStep]
    operators: Sequence[PlantedOperator]
    verdict: str
    adopted: bool

    @property
    def agrees(self) -> bool:
        """Whether everything found is what was planted."""
        return self.verdict == "confirmed" and self.adopted and all(one.is_right for one in self.operators)


def run_tuning_demo(folder: Path, language: Language = "en", progress: Progress = no_progress) -> TuningDemo:
    """Write a simulated model below `folder`, tune it with the simulated aoe, verify and adopt; UsageError where it is not new."""
    here = folder / FOLDER
    if here.exists():
        raise UsageError(say("{folder}: exists already; expected another folder, or delete it first", folder=here))
    loop = write_planted(here, OUTCOMES)
    with _on_path(loop.commands):
        return _Demo(loop, language, progress).run()


@contextmanager
def _on_path(folder: Path) -> Iterator[None]:
    """The commands of a folder are found before all others."""
    before = os.environ.get("PATH", os.defpath)
    os.environ["PATH"] = f"{folder.resolve()}{os.pathsep}{before}"
    try:
        yield
    finally:
        os.environ["PATH"] = before


class _Demo:
    def __init__(self, loop: PlantedJob, language: Language, progress: Progress) -> None:
        self.loop, self.language, self.progress = loop, language, progress
        self.before, self.job = loop.folder / "before", loop.folder / "job"
        self.after, self.log = self.job / "remeasured", self.job / "remeasured_log"
        self.steps: list[DemoStep] = []

    def run(self) -> TuningDemo:
        """Every step, one after another."""
        infer, model = self._named("infer"), str(self.loop.model)
        self._step(
            say("Measure the model before tuning"),
            f"{self._named('msprof')} --output={shlex.quote(str(self.before))} {infer} {shlex.quote(model)}",
            lambda: self._measure(
                [str(self.loop.commands / "msprof"), f"--output={self.before.resolve()}"], self.before
            ),
        )
        candidates = sum(planted != "untuned" for planted in self.loop.planted.values())
        planned = PlanOptions(
            model=self.loop.model,
            soc=SOC,
            engine_version=CANN,
            bank=self.loop.bank,
            top=candidates,
            language=self.language,
        )
        self._step(
            say("Plan what to tune"),
            self._ours(
                f"plan {self.before} -o {self.job} --model {model} --soc {SOC} --cann {CANN} --bank {self.loop.bank} --top {candidates}"
            ),
            lambda: _headline(make_plan(self.before, self.job, planned, dict(os.environ)).answer(self.before)),
        )
        tuned = self._step(say("Tune"), self._with_commands(self._ours(f"tune run {self.job}")), self._tune)
        self._step(
            say("Measure again, with the tuned bank"),
            self._with_commands(f"{shlex.quote(str(self.job / 'remeasure.sh'))} {infer} {shlex.quote(model)}"),
            lambda: self._measure([str((self.job / "remeasure.sh").resolve())], self.after),
        )
        self._step(
            say("See which operators used the bank, as CANN's log says it"),
            self._ours(f"bank list {self.job / 'bank'} --log {self.log}"),
            lambda: _headline(ask(Bank(), [self.job / "bank"], BankOptions(log=self.log))),
        )
        verified = self._step(
            say("Verify the claims"), self._ours(f"verify {self.job} --after {self.after}"), self._verify
        )
        adopted = self._step(say("Put the tuned bank into use"), self._ours(f"tune adopt {self.job}"), self._adopt)
        statuses = {row.op_name: row.status for row in tuned.rows}
        verdicts = {row.op_name: row.verdict for row in verified.rows if row.scope == "operator"}
        operators = [
            PlantedOperator(name, planted, statuses.get(name), verdicts.get(name))
            for name, planted in self.loop.planted.items()
        ]
        return TuningDemo(self.steps, operators, str(verified.more["verdict"]), adopted)

    def _step(self, title: Text, command: str, work: Callable[[], tuple[str, Any]]) -> Any:
        """Do a step and keep what it found."""
        self.progress(lambda: title)
        found, value = work()
        self.steps.append(DemoStep(title, command, found))
        return value

    def _measure(self, command: Sequence[str], profile: Path) -> tuple[str, None]:
        argv = [*command, str((self.loop.commands / "infer").resolve()), str(self.loop.model.resolve())]
        said = output_of([str(Path(argv[0]).resolve()), *argv[1:]], os.environ, _TIMEOUT_S, _MAX_OUTPUT)
        if said is None or not profile.is_dir():
            raise CannotRunError(say("{command}: it did not measure: {said}", command=argv[0], said=said or ""))
        return say("{said}; profile: {path}", said=said.strip(), path=profile), None

    def _tune(self) -> tuple[str, Any]:
        done = tune(self.job, TuneOptions(language=self.language, quiet=True), _Silent())
        return _headline(done.answer(self.job, strict=False))[0], done

    def _verify(self) -> tuple[str, Any]:
        answer = verify(self.job, VerifyOptions(after=self.after, language=self.language))
        return _headline(answer)[0], answer

    def _adopt(self) -> tuple[str, bool]:
        done = adopt(self.job, os.environ, AdoptOptions()).in_use
        if not done.adopted:
            return say("not adopted"), False
        kept = ", ".join(Path(backup).name for backup in done.backups)
        return say("in use: {bank}; the bank before: {backup}", bank=self.loop.bank, backup=kept), True

    def _named(self, command: str) -> str:
        return shlex.quote(str(self.loop.commands / command))

    def _with_commands(self, command: str) -> str:
        place = self.loop.commands
        return f'PATH="{"" if place.is_absolute() else "$PWD/"}{place}:$PATH" {command}'

    def _ours(self, arguments: str) -> str:
        return f"aoe-reports {arguments}"


def _headline(answer: Any) -> tuple[str, Any]:
    return str(answer.headline), answer


class _Silent:
    """Passes on nothing of what happens while the job runs."""

    def note(self, text: str) -> None:
        """Nothing."""

    def line(self, text: str) -> None:
        """Nothing."""

    def progress(self, stage: str, progress: StageProgress) -> None:
        """Nothing."""
