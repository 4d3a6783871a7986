"""What `verify` says of a tuned bank (`verify.json`): whether a new profile shows the gain that AOE claims."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from aoe_reports.model.findings import Severity
from aoe_reports.model.texts import say

Verdict = Literal["confirmed", "partly", "not-reproduced", "regressed", "not-comparable"]

PASSED: frozenset[Verdict] = frozenset({"confirmed", "partly"})
"""Verdicts with a measured gain: `partly` is less than claimed, and still faster than before."""


@dataclass(frozen=True, slots=True)
class Verification:
    """The verdict on a tuning job, and on which content of its bank it was made."""

    verdict: Verdict
    bank_digest: str | None = None
    """The digest of the private bank that was measured (see `tuning.bank.digest_of`); null: not told."""
    baseline_hash: str | None = None
    damaged: bool = False
    """Whether a part of what the verdict rests on could not be read."""
    after: str | None = None
    """Where the profile after tuning lay."""

    @property
    def sound(self) -> bool:
        """Whether something was measured, from files without damage: nothing less takes the place of such a verdict."""
        return self.verdict != "not-comparable" and not self.damaged

    @property
    def passed(self) -> bool:
        """Whether the bank may be put into use."""
        return self.verdict in PASSED


def verification_of_document(document: Mapping[str, Any]) -> Verification:
    """The verification of a document that fits the schema `verification`."""
    after = document.get("after")
    return Verification(
        document["verdict"],
        document.get("bank_digest"),
        document.get("baseline_hash"),
        document.get("damaged", False),
        after if isinstance(after, str) else None,
    )


_EVIDENCE = ("verdict", "bank_digest", "baseline_hash", "after_hash", "damaged", "rows")


def says_the_same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two documents hold the same verdict on the same profiles and bank."""
    return all(one.get(name) == other.get(name) for name in _EVIDENCE)


def document_of_verification(verification: Verification) -> dict[str, Any]:
    """What is written into verify.json; whoever writes it may add keys."""
    return {
        "format_version": 1,
        "verdict": verification.verdict,
        "bank_digest": verification.bank_digest,
        "baseline_hash": verification.baseline_hash,
        "damaged": verification.damaged,
    }


VERIFY_RULES: dict[str, tuple[Severity, str]] = {
    "verify-nothing-claimed": (
        "warning",
        say("no result of AOE claims anything: there is nothing to hold against the clock"),
    ),
    "verify-claims-differ": (
        "info",
        say("AOE's times of the model and its times of operators claim different things of a step"),
    ),
    "verify-same-profile": ("error", say("before and after are the same profile")),
    "verify-other-workload": (
        "error",
        say("most operators of one profile are not in the other (a warning with --force)"),
    ),
    "verify-other-baseline": ("warning", say("the profile before is not the one that the plan was made from")),
    "verify-kept": (
        "warning",
        say("verify.json holds a sound verdict, and this run measured nothing usable: verify.json is unchanged"),
    ),
    "verify-replaced": (
        "info",
        say(
            "verify.json held another verdict, which is kept under a name (a warning where that one was a gain and this is none)"
        ),
    ),
    "verify-order": (
        "error",
        say("the profile after was taken before the one before: they have changed places (a warning with --force)"),
    ),
    "verify-steps-differ": ("info", say("the profiles have different numbers of steps; means of a step are compared")),
    "verify-other-step": (
        "warning",
        say("a step of one profile holds other work than one of the other: operators are compared, steps are not"),
    ),
    "verify-noise-unknown": ("warning", say("too few untouched operators tell how far two captures are apart")),
    "verify-drift": ("warning", say("operators that nobody tuned changed, too: the machine was another one")),
    "verify-bank-not-used": (
        "warning",
        say("signs that the tuned bank was not in use when the second profile was taken"),
    ),
    "verify-bank-changed": ("warning", say("the private bank is not what `tune` left")),
    "verify-device": ("info", say("of several devices the one with the longest step before is verified")),
    "verify-operator-changed": ("info", say("a tuned operator is not in both profiles with the same shapes")),
}
"""(severity, when it fires) of the rules of `verify`."""

ADOPT_RULES: dict[str, tuple[Severity, str]] = {
    "adopt-not-verified": ("error", say("no new profile has confirmed the gain (a warning with --force)")),
    "adopt-verdicts-differ": (
        "warning",
        say(
            "another verification of the same bank, which is kept beside verify.json, measured no gain, or cannot be read"
        ),
    ),
    "adopt-other-chip": (
        "error",
        say("the private bank holds operators of another chip (a warning if it holds some of the job's chip, too)"),
    ),
    "adopt-partly": ("warning", say("a new profile has confirmed a part of the gain")),
    "adopt-changed-since": ("error", say("the private bank is not the one that was verified (a warning with --force)")),
    "adopt-not-tuned": ("error", say("the job is not through (a warning with --force)")),
    "adopt-replaces": ("warning", say("entries of the bank in use are not in the private one: they cannot be merged")),
    "adopt-completed": ("warning", say("an adopt that was stopped on the way is completed, or taken back")),
    "adopt-unclear": (
        "error",
        say("an adopt was stopped, and nothing tells the old folders from the new ones: nothing is moved or deleted"),
    ),
    "adopt-leftover": ("warning", say("a folder that an adopt left when it was stopped; nothing uses it")),
    "adopt-nothing": ("info", say("the bank in use is the private one already")),
}
"""(severity, when it fires) of the rules of `adopt`."""
