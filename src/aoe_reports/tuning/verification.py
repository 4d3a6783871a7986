"""What `verify` says of a tuned bank (`verify.json`): whether a new profile shows the gain that AOE claims."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from aoe_reports.model.documents import JsonObject
from aoe_reports.model.findings import Severity
from aoe_reports.model.texts import say

Verdict = Literal["confirmed", "partly", "not-reproduced", "regressed", "not-comparable"]

PASSED: frozenset[Verdict] = frozenset({"confirmed", "partly"})
"""Verdicts with a measured gain: `partly` is less than claimed, and still faster than before."""


@dataclass(frozen=True, slots=True)
class Verification:
    """The verdict on a tuning job, and on which content of its bank it was made: equal where all that it rests on is."""

    verdict: Verdict
    bank_digest: str | None = None
    """The digest of the private bank that was measured (see `tuning.bank.digest_of`); null: not told."""
    baseline_hash: str | None = None
    damaged: bool = False
    """Whether a part of what the verdict rests on could not be read."""
    after: str | None = field(default=None, compare=False)
    """Where the profile after tuning lay."""
    after_hash: str | None = None
    rows: tuple[JsonObject, ...] = ()

    @property
    def sound(self) -> bool:
        """Whether something was measured, from files without damage: nothing less takes the place of such a verdict."""
        return self.verdict != "not-comparable" and not self.damaged

    @property
    def passed(self) -> bool:
        """Whether the bank may be put into use."""
        return self.verdict in PASSED

    def as_document(self, facts: JsonObject) -> JsonObject:
        """What is written into verify.json, with facts beside it, `after` among them."""
        first = {name: getattr(self, name) for name in ("verdict", "bank_digest", "baseline_hash", "damaged")}
        return {"format_version": 1, **first, **facts, "after_hash": self.after_hash, "rows": list(self.rows)}


VERIFY_RULES: dict[str, tuple[Severity, str]] = {
    "verify-nothing-claimed": (
        "warning",
        say("no AOE result claims anything: there is nothing to compare with the measurement"),
    ),
    "verify-claims-differ": (
        "info",
        say("AOE's times of the model and its times of operators lead to different claims for a step"),
    ),
    "verify-same-profile": ("error", say("before and after are the same profile")),
    "verify-other-workload": (
        "error",
        say("most operators of one profile are not in the other (a warning with --force)"),
    ),
    "verify-other-baseline": ("warning", say("the profile before tuning is not the one from which the plan was made")),
    "verify-kept": (
        "warning",
        say(
            "verify.json contains a reliable verdict, and this run produced no usable measurement: verify.json "
            "is unchanged"
        ),
    ),
    "verify-replaced": (
        "info",
        say(
            "verify.json contained another verdict, which is kept under a different name (a warning if that "
            "verdict was a gain and this one is not)"
        ),
    ),
    "verify-order": (
        "error",
        say(
            "the profile after tuning was taken earlier than the profile before tuning: they are swapped (a "
            "warning with --force)"
        ),
    ),
    "verify-steps-differ": (
        "info",
        say("the profiles have different numbers of steps; mean values per step are compared"),
    ),
    "verify-other-step": (
        "warning",
        say("the steps of the two profiles contain different work: operators are compared, steps are not"),
    ),
    "verify-noise-unknown": ("warning", say("too few untuned operators to estimate how much two captures differ")),
    "verify-drift": (
        "warning",
        say("operators that were not tuned also changed: the state of the machine was different"),
    ),
    "verify-bank-not-used": (
        "warning",
        say("signs that the tuned bank was not in use when the second profile was taken"),
    ),
    "verify-bank-changed": ("warning", say("the private bank differs from what `tune` wrote")),
    "verify-device": ("info", say("of several devices, the one with the longest step before tuning is verified")),
    "verify-operator-changed": ("info", say("a tuned operator is not in both profiles with the same shapes")),
}
"""(severity, when it fires) of the rules of `verify`."""

ADOPT_RULES: dict[str, tuple[Severity, str]] = {
    "adopt-not-verified": ("error", say("no new profile confirmed the gain (a warning with --force)")),
    "adopt-verdicts-differ": (
        "warning",
        say("another verification of the same bank, kept next to verify.json, measured no gain or cannot be read"),
    ),
    "adopt-other-chip": (
        "error",
        say(
            "the private bank contains operators of another chip (a warning if it also contains operators of the "
            "job's chip)"
        ),
    ),
    "adopt-partly": ("warning", say("a new profile confirmed part of the gain")),
    "adopt-changed-since": ("error", say("the private bank is not the one that was verified (a warning with --force)")),
    "adopt-not-tuned": ("error", say("the job is not finished (a warning with --force)")),
    "adopt-replaces": ("warning", say("the private bank lacks entries of the bank in use: the banks cannot be merged")),
    "adopt-completed": ("warning", say("an interrupted adopt run is completed or rolled back")),
    "adopt-unclear": (
        "error",
        say(
            "an adopt run was interrupted, and the old folders cannot be distinguished from the new ones: "
            "nothing is moved or deleted"
        ),
    ),
    "adopt-leftover": ("warning", say("a folder left by an interrupted adopt run; it is not in use")),
    "adopt-nothing": ("info", say("the bank in use already matches the private one")),
}
"""(severity, when it fires) of the rules of `adopt`."""
