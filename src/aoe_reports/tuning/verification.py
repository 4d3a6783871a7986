"""What `verify` says of a tuned bank (`verify.json`): whether a new profile shows the gain that AOE claims."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

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

    @property
    def passed(self) -> bool:
        """Whether the bank may be put into use."""
        return self.verdict in PASSED


def verification_of_document(document: Mapping[str, Any]) -> Verification:
    """The verification of a document that fits the schema `verification`."""
    return Verification(document["verdict"], document.get("bank_digest"), document.get("baseline_hash"))


def document_of_verification(verification: Verification) -> dict[str, Any]:
    """What is written into verify.json; whoever writes it may add keys."""
    return {
        "format_version": 1,
        "verdict": verification.verdict,
        "bank_digest": verification.bank_digest,
        "baseline_hash": verification.baseline_hash,
    }
