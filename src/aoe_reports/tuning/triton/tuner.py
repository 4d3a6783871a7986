"""Triton's autotuner behind the protocol of a tuner: it tunes inside of the program, so its claims are all that there is to read."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from aoe_reports.formats.identify import unreadable_file
from aoe_reports.model.errors import ReadError
from aoe_reports.model.findings import Finding
from aoe_reports.tuning.bank import Bank
from aoe_reports.tuning.triton import is_autotune
from aoe_reports.tuning.triton.cache import US_PER_MS, Autotuned, read_autotuned
from aoe_reports.tuning.tuner import Claim, Claims, ClaimsRead, Tuner


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
        """What the caches below some paths claim."""
        findings: list[Finding] = []
        tuned: list[Autotuned] = []
        unreadable = False
        for path in _files(paths):
            try:
                one = read_autotuned(path)
            except ReadError as error:
                unreadable = True
                findings.append(unreadable_file(path, error))
                continue
            findings += one.findings
            if one.sound:
                tuned.append(one)
        return ClaimsRead(claims_of_caches(tuned), tuple(findings), unreadable)


def _files(paths: Sequence[Path]) -> list[Path]:
    """The caches at or below some paths, each once; links to folders are not followed."""
    found = {path for path in paths if path.is_file() and is_autotune(path.name)}
    for path in paths:
        for place, _, names in os.walk(path):
            found |= {Path(place, name) for name in names if is_autotune(name)}
    return sorted(found)


def claims_of_caches(tuned: Sequence[Autotuned]) -> Claims:
    """One claim a kernel: the chosen configurations of all its keys against the first ones that could be run, summed.

    No time without tuning is kept, so the first configuration stands for it: what a program that lists only one would run.
    """
    by_kernel: dict[str, list[Autotuned]] = {}
    for one in tuned:
        if one.first is not None and one.best is not None:
            by_kernel.setdefault(one.kernel, []).append(one)
    claims = [_claim(kernel, mine) for kernel, mine in sorted(by_kernel.items())]
    changed = tuple(claim for claim in claims if claim.after_us < claim.before_us)
    return Claims(operators=changed, claimed_by=("Triton",) if changed else ())


def _claim(kernel: str, tuned: Sequence[Autotuned]) -> Claim:
    before = sum(one.first.median_ms or 0.0 for one in tuned if one.first is not None)
    after = sum(one.best.median_ms or 0.0 for one in tuned if one.best is not None)
    per_key = US_PER_MS / len(tuned)
    return Claim(kernel, (kernel,), before * per_key, after * per_key, ", ".join(str(one.path) for one in tuned))


TUNER: Tuner = Triton()
