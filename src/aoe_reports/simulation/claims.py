"""Simulated claims with a planted truth: sixty claims in the form of one tuner, and the measurements that they are compared with.

Nothing here was measured. Of forms that are about any operator two thirds are of operators of three models (`simulation.tuning`: two captures of each, noise of 1 % a
capture and 1.5 % a task), the rest of single kernels as `msprof op` measures them, each six times before and six times after, with
noise of 1 % a measurement; of forms of kernels, all are such kernels. The same seed gives the same bytes.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Literal

from aoe_reports.simulation.claim_forms import FORMS, ClaimedTimes, Form, FormName
from aoe_reports.simulation.tuning import BEFORE, CAPTURE_NOISE, OPERATORS, random_letters, write_lines, write_profile

Truth = Literal["true", "overstated", "void", "slower", "control"]
"""The gain is as claimed; it is less than half of it; there is none, with another kernel; there is a loss; it is the same kernel twice."""
EXPECTED: Mapping[Truth, str] = {
    "true": "confirmed",
    "overstated": "partly",
    "void": "not-reproduced",
    "slower": "regressed",
    "control": "not-reproduced",
}
"""The verdict that is right."""
MODELS = 3
REPEATS = 6
"""How often a kernel is measured on each side."""
_OF_MODEL: tuple[Truth, ...] = ("true",) * 4 + ("overstated",) * 3 + ("void",) * 2 + ("slower",) + ("control",) * 3
_OF_KERNELS: tuple[Truth, ...] = (
    ("true",) * 7 + ("overstated",) * 4 + ("void",) * 3 + ("slower",) * 2 + ("control",) * 5
)
_KERNELS_TOGETHER = 7


@dataclass(frozen=True, slots=True)
class PlantedClaim:
    """One claim: what it says, what is true (after/before), and who should be believed."""

    op_name: str
    truth: Truth
    before_us: float
    factor: float
    claimed_factor: float


@dataclass(frozen=True, slots=True)
class PlantedCase:
    """Claims in one file, and the measurements of both sides."""

    claims: tuple[PlantedClaim, ...]
    file: Path
    before: Path
    after: Path
    operator: tuple[str, ...] = ()
    """What `--operator` has to say."""


def write_claims(folder: Path, seed: int, form: FormName = "csv") -> tuple[PlantedCase, ...]:
    """Write sixty claims in one form with their measurements."""
    drawn, chosen = random.Random(seed), FORMS[form]
    models = [_write_model(folder / f"model{n}", drawn, n, chosen) for n in range(MODELS if chosen.any_operator else 0)]
    truths = _OF_KERNELS if chosen.any_operator else (*_OF_MODEL * MODELS, *_OF_KERNELS)
    kernels = [_planted(f"kernel{n}", drawn.uniform(5, 500), truth, drawn) for n, truth in enumerate(truths)]
    drawn.shuffle(kernels)
    together = 1 if chosen.alone else _KERNELS_TOGETHER
    parts = [tuple(kernels[at : at + together]) for at in range(0, len(kernels), together)]
    return (*models, *(_write_kernels(folder / f"kernels{n}", drawn, part, chosen) for n, part in enumerate(parts)))


def _planted(name: str, mean_us: float, truth: Truth, drawn: random.Random) -> PlantedClaim:
    """A claim whose truth is drawn.

    True gains are 15 to 40 % and claimed within 2 %; of overstated ones 15 to 25 % are true and 55 to 70 % claimed; where there is none,
    3 to 40 % are claimed.
    """
    gain = drawn.uniform(0.15 if truth == "true" else 0.03, 0.4)
    factor = {"true": 1 - gain, "overstated": 1 - drawn.uniform(0.15, 0.25), "slower": 1 + drawn.uniform(0.15, 0.4)}
    claimed = {"true": (1 - gain) * drawn.uniform(0.98, 1.02), "overstated": 1 - drawn.uniform(0.55, 0.7)}
    return PlantedClaim(name, truth, mean_us, factor.get(truth, 1.0), claimed.get(truth, 1 - gain))


def _write_model(folder: Path, drawn: random.Random, number: int, form: Form) -> PlantedCase:
    """A model with claims on some of its operators; the others show the noise."""
    usable = [one for one in OPERATORS if one.state == "static" and one.mean_us > 10]  # noqa: PLR2004 -- us
    chosen = drawn.sample(usable, len(_OF_MODEL))
    claims = tuple(_planted(one.name, one.mean_us, truth, drawn) for one, truth in zip(chosen, _OF_MODEL, strict=True))
    start = BEFORE + timedelta(days=number)
    factors = {claim.op_name: claim.factor for claim in claims}
    before = write_profile(folder / "before", start, random.Random(drawn.random()))
    after = write_profile(folder / "after", start + timedelta(hours=5), random.Random(drawn.random()), factors=factors)
    return PlantedCase(claims, _written(folder, claims, drawn, form), before, after)


def _write_kernels(folder: Path, drawn: random.Random, claims: tuple[PlantedClaim, ...], form: Form) -> PlantedCase:
    """Kernels, each measured by itself, and several times on each side; of a reference, that program before."""
    names: tuple[str, ...] = (claims[0].op_name,) if form.alone else ()
    if form.reference:
        names = (f"reference_of_{claims[0].op_name}", *names)
    for side in ("before", "after"):
        for number, claim in enumerate(claims):
            mean = claim.before_us * (claim.factor if side == "after" else 1.0)
            name = names[0] if form.reference and side == "before" else claim.op_name
            write_kernel(folder / side, name, mean, drawn, number * REPEATS)
    file = _written(folder, claims, drawn, form)
    return PlantedCase(claims, file, folder / "before", folder / "after", names)


def write_kernel(
    folder: Path, name: str, mean_us: float, drawn: random.Random, first: int = 0, repeats: int = REPEATS
) -> None:
    """Write what `msprof op` measures of one kernel, several times."""
    for number in range(first, first + repeats):
        place = folder / f"OPPROF_20260110{8 + number // 60:02d}{number % 60:02d}00{number:03d}_{random_letters(drawn)}"
        place.mkdir(parents=True)
        time = mean_us * drawn.gauss(1, CAPTURE_NOISE)
        lines = [
            "Op Name,Op Type,Task Duration(us),Block Dim,Mix Block Dim,Device Id,Pid,Current Freq,Rated Freq,",
            f"{name},vector,{time:.6f},8,NA,0,NA,1800,1800,",
        ]
        write_lines(place / "OpBasicInfo.csv", lines)


def _written(folder: Path, claims: Sequence[PlantedClaim], drawn: random.Random, form: Form) -> Path:
    times = [ClaimedTimes(one.op_name, one.before_us, one.before_us * one.claimed_factor) for one in claims]
    return form.write(folder, times, drawn)
