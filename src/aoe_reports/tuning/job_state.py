"""How far a tuning job is, as state.json keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from aoe_reports.tuning.plan import Job, job_of_document


@dataclass(frozen=True, slots=True)
class Tool:
    """Which command of a tuner is there: where, and the hash of its help, which tells releases apart."""

    path: str | None
    help_sha256: str | None


@dataclass(frozen=True, slots=True)
class SeededBank:
    """How the private bank of a job began: empty, as a copy of the one in use, or as it was found."""

    seed: str
    by: str | None
    """What says where the one in use lies."""
    soc: str | None
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
    argv: list[str] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)
    unset: list[str] = field(default_factory=list)
    started: str | None = None
    result_files: list[str] = field(default_factory=list)
    exit_code: int | None = None
    signal: int | None = None
    ended: str | None = None
    """How; null while it runs, and where we were killed meanwhile."""
    seconds: float | None = None
    heard: Mapping[str, Any] = field(default_factory=dict)
    """What the tuner's listener keeps."""
    still_running: list[str] = field(default_factory=list)

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

    plan_sha256: str | None
    """The hash of the plan.json that it was begun with."""
    status: str
    job: Job
    """As it was begun, without secrets."""
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
    return JobState(
        plan_sha256=_text(document.get("plan_sha256")),
        status=str(document.get("status")),
        job=job_of_document(document["job"]),
        bank=None if bank is None else _bank(bank),
        tool=Tool(_text(tool.get("path")), _text(tool.get("help_sha256"))) if isinstance(tool, dict) else None,
        attempts=[_run(one) for one in document["attempts"]],
    )


def _bank(one: Mapping[str, Any]) -> SeededBank:
    files = one.get("files")
    by, soc, operators, graphs = (_text(one.get(name)) for name in ("by", "soc", "operators", "graphs"))
    return SeededBank(str(one.get("seed")), by, soc, files if isinstance(files, int) else 0, operators, graphs)


def _run(one: Mapping[str, Any]) -> StageRun:
    environment, seconds = one.get("environment"), one.get("seconds")
    return StageRun(
        stage=one["stage"],
        folder=one["folder"],
        status=one["status"],
        argv=_texts(one.get("argv")),
        environment=environment if isinstance(environment, dict) else {},
        unset=_texts(one.get("unset")),
        started=_text(one.get("started")),
        result_files=_texts(one.get("result_files")),
        exit_code=_number(one.get("exit_code")),
        signal=_number(one.get("signal")),
        ended=_text(one.get("ended")),
        seconds=seconds if isinstance(seconds, float) else None,
        heard={name: value for name, value in one.items() if name not in StageRun.__slots__},
        still_running=_texts(one.get("still_running")),
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _number(value: object) -> int | None:
    return value if isinstance(value, int) else None


def _texts(value: object) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []
