"""How far a tuning job is, as state.json keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from aoe_reports.tuning.fitting import fitting
from aoe_reports.tuning.plan import Job, job_of_document


@dataclass(frozen=True, slots=True)
class Tool:
    """Which command of a tuner is there: where, and the hash of its help, which tells releases apart."""

    path: str | None = None
    help_sha256: str | None = None


@dataclass(frozen=True, slots=True)
class SeededBank:
    """How the private bank of a job began: empty, as a copy of the one in use, or as it was found."""

    seed: str = "found"
    by: str | None = None
    """What says where the one in use lies."""
    soc: str | None = None
    files: int = 0
    operators: str | None = None
    graphs: str | None = None

    def as_document(self) -> dict[str, Any]:
        """As JSON; where the one in use lay is of a copy only."""
        document = asdict(self)
        return (
            document if self.operators is not None else {key: document[key] for key in ("seed", "by", "soc", "files")}
        )


@dataclass(slots=True)
class StageRun:
    """One run of a stage."""

    stage: str
    folder: str
    status: str
    argv: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    unset: tuple[str, ...] = ()
    started: str | None = None
    result_files: tuple[str, ...] = ()
    exit_code: int | None = None
    signal: int | None = None
    ended: str | None = None
    """How; null while it runs, and where we were killed meanwhile."""
    seconds: float | None = None
    heard: Mapping[str, Any] = field(default_factory=dict)
    """What the tuner's listener keeps."""
    still_running: tuple[str, ...] = ()

    def as_document(self) -> dict[str, Any]:
        """As JSON."""
        names = ("stage", "folder", "status", "argv", "environment", "unset", "started", "result_files")
        begun = {name: getattr(self, name) for name in names}
        if self.ended is None:
            return begun
        how = {name: getattr(self, name) for name in ("exit_code", "signal", "ended", "seconds")}
        return {**begun, **how, **self.heard, "still_running": self.still_running}


@dataclass(slots=True)
class JobState:
    """How far a job is."""

    status: str
    job: Job
    """As it was begun, without secrets."""
    plan_sha256: str | None = None
    """The hash of the plan.json that it was begun with."""
    bank: SeededBank | None = None
    tool: Tool | None = None
    attempts: list[StageRun] = field(default_factory=list)

    def as_document(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "format_version": 1,
            "plan_sha256": self.plan_sha256,
            "status": self.status,
            "job": asdict(self.job),
            "bank": None if self.bank is None else self.bank.as_document(),
            "aoe": None if self.tool is None else asdict(self.tool),
            "attempts": [one.as_document() for one in self.attempts],
        }


def state_of_document(document: Mapping[str, Any]) -> JobState:
    """The state of a parsed state.json whose attempts, bank and job are such; what else is none is not known."""
    bank, tool = document.get("bank"), document.get("aoe")
    told = fitting(JobState, {**document, "status": str(document.get("status"))})
    made = {
        "job": job_of_document(document["job"]),
        "bank": None if bank is None else SeededBank(**fitting(SeededBank, bank)),
        "tool": Tool(**fitting(Tool, tool)) if isinstance(tool, dict) else None,
        "attempts": [_run(one) for one in document["attempts"]],
    }
    return JobState(**{**told, **made})


def _run(one: Mapping[str, Any]) -> StageRun:
    own = fitting(StageRun, one)
    heard = {name: value for name, value in one.items() if name not in StageRun.__slots__}
    return StageRun(**{**own, "heard": heard})
