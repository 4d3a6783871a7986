"""Triton's autotuner behind the protocol of a tuner: it tunes inside of the program, so its claims are all that there is to read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from aoe_reports.model.findings import Finding
from aoe_reports.model.texts import say
from aoe_reports.tuning.banks.bank import Bank
from aoe_reports.tuning.claim_files import US_PER_MS, read_each
from aoe_reports.tuning.triton import AUTOTUNE_NO_CLAIM, FILES, is_autotune
from aoe_reports.tuning.triton.cache import Autotuned, read_autotuned
from aoe_reports.tuning.triton.printed import read_printed
from aoe_reports.tuning.tuner import Claim, Claims, ClaimsRead, Tuner, claims_together


@dataclass(frozen=True, slots=True)
class Triton:
    """Triton's autotuner; its cache is keyed by compiler, kernel and key, and is no bank that could be exchanged."""

    title: str = "Triton"
    driver: None = None
    bank: Bank | None = None

    def is_result(self, name: str) -> bool:
        """Whether its autotuner gives its files such names."""
        return is_autotune(name)

    def read_results(self, paths: Sequence[Path]) -> ClaimsRead:
        """What the caches at or below some paths claim, and logs that are named."""
        kept, printed = FILES
        caches = read_each(kept, paths, read_autotuned, lambda one: one.findings)
        logs = read_each(
            printed, paths, read_printed, lambda kernels: [f for kernel in kernels for f in kernel.findings]
        )
        told, findings = claims_of_logs([one for log in logs.parts for one in log if one.sound])
        claims = claims_together([told, claims_of_caches([part for part in caches.parts if part.sound])])
        found = (*caches.findings, *logs.findings, *findings)
        return ClaimsRead(claims, found, caches.unreadable or logs.unreadable)


def claims_of_logs(printed: Sequence[Autotuned]) -> tuple[Claims, list[Finding]]:
    """(how long the chosen configurations take, kernels of which that is not told).

    In which order configurations are printed is documented nowhere, so none of them stands for what ran before.
    """
    counts = Counter(one.kernel for one in printed if one.best is not None)
    claims, findings = [], []
    for one in printed:
        if one.best is None:
            continue
        if counts[one.kernel] == 1:
            claims.append(Claim(one.kernel, (), None, (one.best.median_ms or 0.0) * US_PER_MS, str(one.path)))
            continue
        text = say(
            "{kernel}: tuned {count} times, and it is not printed for which shapes",
            kernel=one.kernel,
            count=counts[one.kernel],
        )
        findings.append(AUTOTUNE_NO_CLAIM.found(str(one.path), text))
    return Claims(tuple(claims), claimed_by=("Triton",) if claims else ()), findings


def claims_of_caches(tuned: Sequence[Autotuned]) -> Claims:
    """One claim a kernel: the chosen configurations of all its keys against the first ones that could be run, summed.

    No time without tuning is kept, so the first configuration stands for it: what a program that lists only one would run.
    """
    by_kernel: dict[str, list[Autotuned]] = {}
    for one in tuned:
        if one.first is not None and one.best is not None:
            by_kernel.setdefault(one.kernel, []).append(one)
    claims = [_claim(kernel, mine) for kernel, mine in sorted(by_kernel.items())]
    changed = tuple(claim for claim in claims if (claim.change or 0.0) < 0)
    return Claims(operators=changed, claimed_by=("Triton",) if changed else ())


def _claim(kernel: str, tuned: Sequence[Autotuned]) -> Claim:
    before = sum(one.first.median_ms or 0.0 for one in tuned if one.first is not None)
    after = sum(one.best.median_ms or 0.0 for one in tuned if one.best is not None)
    per_key = US_PER_MS / len(tuned)
    return Claim(kernel, (kernel,), before * per_key, after * per_key, ", ".join(str(one.path) for one in tuned))


TUNER: Tuner = Triton()
