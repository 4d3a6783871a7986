"""The rows of a verification, and the verdict on one change: the only place where claims are judged."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

from aoe_reports.model.documents import JsonObject
from aoe_reports.model.rows import column, row
from aoe_reports.tuning.verify.intervals import Interval
from aoe_reports.tuning.verify.uses import BankUse

DIGITS = 6
"""Of all numbers in rows."""
CONFIRMED_PART = 0.8
"""A gain counts as the claimed one from this part of it on: a tuner's times are means of few runs of an operator by itself."""

Scope = Literal["step", "op_type", "operator", "operators"]
"""`operators`: all tuned ones as one, where the verdict on the whole is about them."""
ClaimOf = Literal["operators", "model", "unmeasured"]
"""The claim that a change is compared with: times of operators, or times of the whole model; `unmeasured`: a gain that AOE
filled in, against which no change is held."""


@row
class Row:
    """One row of the contract; times in us: of a call (operator), of a step (op_type, step)."""

    scope: Scope = column("Scope", "word", detail=True)
    op_name: str | None = column("Operator", default=None)
    op_type: str | None = column("Operator type", before="op_name", default=None)
    input_shapes: str | None = column("Input shapes", default=None, detail=True)
    claimed_before_us: float | None = column("Claimed before", "us", default=None, detail=True)
    claimed_after_us: float | None = column("Claimed after", "us", default=None, detail=True)
    measured_before_us: float | None = column("Measured before", "us", default=None, detail=True)
    measured_after_us: float | None = column("Measured after", "us", default=None, detail=True)
    change: float | None = column("Change (after/before - 1)", "gain", default=None)
    ci_low: float | None = column("from", "gain", default=None)
    ci_high: float | None = column("to", "gain", default=None)
    verdict: Verdict = column("Verdict", "state", before="claimed_before_us", default="not-comparable")
    claimed_change: float | None = column("Claimed change (after/before - 1)", "gain", before="change", default=None)
    """What is held against `change`: after/before - 1 of the two claimed times, where these are told."""
    claim: ClaimOf | None = column("Basis of claim", "word", before="claimed_change", default=None, detail=True)
    """Which claim that is. Of several operators at once there are no two times: each one's change is weighed by its measured time."""
    reason: str | None = column("Remark", "sentence", default=None)
    """How it was come by."""

    def changed(self, change: float, interval: Interval | None, unknown: str) -> Row:
        """The row with its change, where that lies, and the verdict on it; `unknown`: why nothing tells where it lies."""
        if interval is None:
            return replace(self, change=change, reason=unknown)
        verdict = judge(change, interval, self.claimed_change)
        return replace(self, change=change, ci_low=interval.low, ci_high=interval.high, verdict=verdict)


@row
class Method:
    """How intervals were made, and all tuned operators as one (a row of no type)."""

    level: float = column()
    resamples: int = column()
    seed: int = column()
    steps_before: int = column()
    steps_after: int = column()
    operators_together: Row | None = column()


@row
class StepClaim:
    """One of the things that are claimed of a step, with three ways to put the same change."""

    claim: ClaimOf = column()
    change: float = column()
    """After/before - 1."""
    time_saved: float = column()
    speed_up: float | None = column()
    """Before/after - 1."""
    judged: bool = column()
    """Whether the step's verdict is about it."""


def step_claim(claim: ClaimOf, change: float, *, judged: bool) -> StepClaim:
    """A claim on a step by its change."""
    speed_up = 1 / (1 + change) - 1 if change > -1 else None
    return StepClaim(claim=claim, change=change, time_saved=-change, speed_up=speed_up, judged=judged)


def judge(change: float | None, interval: Interval | None, claimed: float | None) -> Verdict:
    """The verdict on a change (after/before - 1), where it lies, and the change that is claimed (null: any gain will do)."""
    if change is None or interval is None:
        return "not-comparable"
    if interval.low > 0:
        return "regressed"
    if interval.high >= 0:
        return "not-reproduced"
    if claimed is None or interval.low <= claimed or change <= CONFIRMED_PART * claimed:
        return "confirmed"
    return "partly"


Verdict = Literal["confirmed", "partly", "not-reproduced", "regressed", "not-comparable", "not-used"]
"""`not-used`: a log says that the bank was not used, so that what was measured says nothing of it."""

PASSED: frozenset[Verdict] = frozenset({"confirmed", "partly"})
"""Verdicts with a measured gain: `partly` is less than claimed, and still faster than before."""


@dataclass(frozen=True, slots=True)
class Verification:
    """The verdict on a tuning job, and on which content of its bank it was made: equal where all that it rests on is."""

    verdict: Verdict
    bank_digest: str | None = None
    """The digest of the private bank that was measured (see `tuning.banks.bank.digest_of`); null: unknown."""
    baseline_hash: str | None = None
    damaged: bool = False
    """Whether a part of what the verdict rests on could not be read."""
    after: str | None = field(default=None, compare=False)
    """Where the profile after tuning lay."""
    after_hash: str | None = None
    rows: tuple[JsonObject, ...] = ()
    regressed: tuple[str, ...] = ()
    """The operators that are slower than before, which nobody accepted."""
    bank_use: BankUse | None = None
    """Null where no log tells it."""

    @property
    def sound(self) -> bool:
        """Whether something was measured of the bank, from files without damage: nothing less takes the place of such a verdict."""
        return self.verdict not in {"not-comparable", "not-used"} and not self.damaged

    @property
    def passed(self) -> bool:
        """Whether the bank may be put into use: a gain, and no operator that pays for it."""
        return self.verdict in PASSED and not self.regressed

    def as_document(self, facts: JsonObject) -> JsonObject:
        """What is written into verify.json, with facts beside it, `after` among them."""
        first = {name: getattr(self, name) for name in ("verdict", "bank_digest", "baseline_hash", "damaged")}
        return {"format_version": 1, **first, **facts, "after_hash": self.after_hash, "rows": list(self.rows)}
