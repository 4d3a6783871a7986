"""How far a tuning job is, as state.json keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from typing import Annotated

from msgspec import Meta, convert

from aoe_reports.model.documents import JsonObject
from aoe_reports.tuning.plan.plan import Job, StageName


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
    looked_at: tuple[str, ...] = ()
    """Where one in use was looked for, and nothing of the chip was found."""

    def as_document(self) -> JsonObject:
        """As JSON; where the one in use lay is of a copy only."""
        document = asdict(self)
        if self.operators is None:
            del document["operators"], document["graphs"]
        if not self.looked_at:
            del document["looked_at"]
        return document


@dataclass(frozen=True, slots=True)
class PrintedClaim:
    """An improvement that the console tells of, as it is printed there."""

    name: str
    percent: str

    def agrees(self, improvement: str) -> bool:
        """Whether a result file's own percentage is the same number, within the last digit of the shorter one."""
        ours, theirs = Decimal(self.percent), Decimal(improvement.rstrip("%"))
        places = min(_places(ours), _places(theirs))
        return abs(ours - theirs) <= Decimal(1).scaleb(-places)


def _places(value: Decimal) -> int:
    exponent = value.as_tuple().exponent
    return -exponent if isinstance(exponent, int) and exponent < 0 else 0


@dataclass(slots=True)
class StageBegin:
    """How one run of a stage began."""

    stage: StageName
    folder: Annotated[str, Meta(pattern=r"\A(?!\.{1,2}\Z)[^/\x00]+\Z")]
    """Its name: it lies directly in that of all runs."""
    status: str
    argv: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    unset: tuple[str, ...] = ()
    started: str | None = None
    result_files: tuple[str, ...] = ()


@dataclass(slots=True)
class StageRun(StageBegin):
    """One run of a stage."""

    exit_code: int | None = None
    signal: int | None = None
    ended: str | None = None
    """How; null while it runs, and where we were killed meanwhile."""
    seconds: float | None = None
    claims: tuple[PrintedClaim, ...] = ()
    codes: tuple[str, ...] = ()
    """Of errors that the console names."""
    still_running: tuple[str, ...] = ()

    def as_document(self) -> JsonObject:
        """As JSON."""
        document = asdict(self)
        return document if self.ended is not None else {name: document[name] for name in StageBegin.__slots__}


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

    def as_document(self) -> JsonObject:
        """As JSON."""
        return {
            "format_version": 1,
            "plan_sha256": self.plan_sha256,
            "status": self.status,
            "job": asdict(self.job),
            "bank": None if self.bank is None else self.bank.as_document(),
            "aoe": None if self.tool is None else asdict(self.tool),
            "attempts": [attempt.as_document() for attempt in self.attempts],
        }


def state_of_document(document: JsonObject) -> JobState:
    """The state of a parsed state.json."""
    return convert({**document, "tool": document.get("aoe")}, JobState)
