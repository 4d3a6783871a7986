"""What a tuner is to the rest: where its claims stand, what they look like and, where it is run from a plan, how.

Each tuner is one folder of this room. Plans, runs, verdicts and `tune adopt` know this protocol and no tuner; which tuners there
are is said in `formats.tuner_files`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from aoe_reports.formats.tuner_files import TUNERS
from aoe_reports.model.errors import UsageError
from aoe_reports.model.findings import Finding
from aoe_reports.model.texts import join, say
from aoe_reports.tuning.banks.bank import Bank
from aoe_reports.tuning.job.driver import Driver
from aoe_reports.tuning.plan.plan import Plan

# What a tuner claims


@dataclass(frozen=True, slots=True)
class Claim:
    """What a tuner says of one operator, in us of a call."""

    op_name: str
    op_types: tuple[str, ...]
    before_us: float | None
    """Null where it only says what the operator takes now."""
    after_us: float
    source: str = ""
    """The file that says it."""
    input_shapes: str | None = None
    """The shapes that it is about; null: all that the operator has."""
    unmeasured: bool = False
    """Whether the tuner filled in the gain: it is compared with no measurement, and counted in no sum."""
    unnamed: bool = False
    """Whether the name is that of a configuration: the tuner does not say which operator it tuned."""
    reference: bool = False
    """Whether the time before is that of another program that computes the same."""
    accuracy: bool | None = None
    """Whether the tuner says that the results agreed with a reference; null: it does not say."""

    @property
    def key(self) -> tuple[str, str, str]:
        """Equal for claims about the same operator."""
        return self.op_name, self.input_shapes or "", self.source if self.unnamed else ""

    @property
    def change(self) -> float | None:
        """After/before - 1; null without a time before, and where no gain was measured."""
        return None if self.before_us is None or self.unmeasured else self.after_us / self.before_us - 1


@dataclass(frozen=True, slots=True)
class Claims:
    """All that is claimed: operators, whole types that were asked for, the model's own times (us), how many subgraphs."""

    operators: tuple[Claim, ...] = ()
    whole_types: tuple[str, ...] = ()
    model_us: tuple[float, float] | None = None
    subgraphs: int = 0
    unproven: tuple[str, ...] = ()
    """Operators that a task changed which was broken off: nothing is claimed of them, and they are not as before either."""
    claimed_by: tuple[str, ...] = ()
    """The tuners that claim anything, as people write them."""

    @property
    def measured(self) -> tuple[Claim, ...]:
        """Claims of operators, without those that a tuner filled in."""
        return tuple(claim for claim in self.operators if not claim.unmeasured)

    @property
    def model_change(self) -> float | None:
        """After/before - 1 of the model's own times."""
        return None if self.model_us is None else self.model_us[1] / self.model_us[0] - 1


@dataclass(frozen=True, slots=True)
class ClaimsRead:
    """The claims of some files, and what was found while they were read."""

    claims: Claims = field(default_factory=Claims)
    findings: tuple[Finding, ...] = ()
    unreadable: bool = False
    """Whether one of the files could not be read at all."""


def claims_together(parts: Iterable[Claims]) -> Claims:
    """What several tuners claim; of an operator that two of them changed the later one has the last word."""
    kept = list(parts)
    last = {claim.key: claim for one in kept for claim in one.operators}
    names = {name for name, *_ in last}
    times = [one.model_us for one in kept if one.model_us is not None]
    unproven = dict.fromkeys(name for one in kept for name in one.unproven if name not in names)
    return Claims(
        operators=tuple(last[key] for key in sorted(last)),
        whole_types=tuple(dict.fromkeys(kind for one in kept for kind in one.whole_types)),
        model_us=times[0] if len(times) == 1 else None,  # two tuners' times of the model are of two models
        subgraphs=sum(one.subgraphs for one in kept),
        unproven=tuple(unproven),
        claimed_by=tuple(dict.fromkeys(name for one in kept for name in one.claimed_by)),
    )


# The protocol


class Tuner(Protocol):
    """Who tunes. A tuner that works inside of the program that it tunes has no driver, and one that keeps nothing no bank."""

    @property
    def title(self) -> str:
        """Its name, as people write it."""

    @property
    def driver(self) -> Driver[Any] | None:
        """How it is run from a plan."""

    @property
    def bank(self) -> Bank | None:
        """How what it keeps is laid out."""

    def is_result(self, name: str) -> bool:
        """Whether it gives its results such names."""

    def read_results(self, paths: Sequence[Path]) -> ClaimsRead:
        """What its results below some paths claim; of what is damaged nothing is used, and that is found."""


def tuner(name: str) -> Tuner:
    """A tuner by its name."""
    if name not in TUNERS:
        raise UsageError(say("no tuner {name!r}; expected one of {names}", name=name, names=join(", ", TUNERS)))
    made: Tuner = import_module(f"{TUNERS[name]}.tuner").TUNER
    return made


def tuner_of_plan(plan: Plan) -> Tuner:
    """The tuner that a plan is made for."""
    return tuner(plan.tuner)


def bank_of_tuner(plan: Plan) -> Bank:
    """How the bank of a plan's tuner is laid out; UsageError for a tuner that keeps none."""
    made = tuner_of_plan(plan)
    if made.bank is None:
        raise UsageError(say("{title} does not keep a bank that could be put into use", title=made.title))
    return made.bank


def driver_of_plan(plan: Plan) -> Driver[Any]:
    """How a plan's tuner is run; UsageError for one that works inside of the program that it tunes."""
    made = tuner_of_plan(plan)
    if made.driver is None:
        raise UsageError(say("{title} tunes inside the program: planning and running are not needed", title=made.title))
    return made.driver
