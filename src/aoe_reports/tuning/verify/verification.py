"""What `verify` says of a tuned bank (`verify.json`): whether a new profile shows the gain that AOE claims."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from aoe_reports.model.documents import JsonObject

Verdict = Literal["confirmed", "partly", "not-reproduced", "regressed", "not-comparable"]

PASSED: frozenset[Verdict] = frozenset({"confirmed", "partly"})
"""Verdicts with a measured gain: `partly` is less than claimed, and still faster than before."""


@dataclass(frozen=True, slots=True)
class Verification:
    """The verdict on a tuning job, and on which content of its bank it was made: equal where all that it rests on is."""

    verdict: Verdict
    bank_digest: str | None = None
    """The digest of the private bank that was measured (see `tuning.banks.bank.digest_of`); null: not told."""
    baseline_hash: str | None = None
    damaged: bool = False
    """Whether a part of what the verdict rests on could not be read."""
    after: str | None = field(default=None, compare=False)
    """Where the profile after tuning lay."""
    after_hash: str | None = None
    rows: tuple[JsonObject, ...] = ()
    regressed: tuple[str, ...] = ()
    """The operators that are slower than before, which nobody accepted."""

    @property
    def sound(self) -> bool:
        """Whether something was measured, from files without damage: nothing less takes the place of such a verdict."""
        return self.verdict != "not-comparable" and not self.damaged

    @property
    def passed(self) -> bool:
        """Whether the bank may be put into use: a gain, and no operator that pays for it."""
        return self.verdict in PASSED and not self.regressed

    def as_document(self, facts: JsonObject) -> JsonObject:
        """What is written into verify.json, with facts beside it, `after` among them."""
        first = {name: getattr(self, name) for name in ("verdict", "bank_digest", "baseline_hash", "damaged")}
        return {"format_version": 1, **first, **facts, "after_hash": self.after_hash, "rows": list(self.rows)}
