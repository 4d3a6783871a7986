"""Simulated claims with a planted truth: sixty claims of whoever tuned, and the measurements that they are held against.

Nothing here was measured. Two thirds are of operators of three models (`simulation.tuning`: two captures of each, noise of 1 % a
capture and 1.5 % a task), the rest of single kernels as `msprof op` measures them, each six times before and six times after, with
noise of 1 % a measurement. The same seed gives the same bytes.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Literal

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


def write_claims(folder: Path, seed: int) -> tuple[PlantedCase, ...]:
    """Write sixty claims with their measurements."""
    drawn = random.Random(seed)
    models = [_write_model(folder / f"model{number}", drawn, number) for number in range(MODELS)]
    kernels = [_planted(f"kernel{n}", drawn.uniform(5, 500), truth, drawn) for n, truth in enumerate(_OF_KERNELS)]
    drawn.shuffle(kernels)
    parts = [tuple(kernels[at : at + _KERNELS_TOGETHER]) for at in range(0, len(kernels), _KERNELS_TOGETHER)]
    return (*models, *(_write_kernels(folder / f"kernels{n}", drawn, part) for n, part in enumerate(parts)))


def _planted(name: str, mean_us: float, truth: Truth, drawn: random.Random) -> PlantedClaim:
    """A claim whose truth is drawn.

    True gains are 15 to 40 % and claimed within 2 %; of overstated ones 15 to 25 % are true and 55 to 70 % claimed; where there is none,
    3 to 40 % are claimed.
    """
    gain = drawn.uniform(0.15 if truth == "true" else 0.03, 0.4)
    factor = {"true": 1 - gain, "overstated": 1 - drawn.uniform(0.15, 0.25), "slower": 1 + drawn.uniform(0.15, 0.4)}
    claimed = {"true": (1 - gain) * drawn.uniform(0.98, 1.02), "overstated": 1 - drawn.uniform(0.55, 0.7)}
    return PlantedClaim(name, truth, mean_us, factor.get(truth, 1.0), claimed.get(truth, 1 - gain))


def _write_model(folder: Path, drawn: random.Random, number: int) -> PlantedCase:
    """A model with claims on some of its operators; the others show the noise."""
    usable = [one for one in OPERATORS if one.state == "static" and one.mean_us > 10]  # noqa: PLR2004 -- us
    chosen = drawn.sample(usable, len(_OF_MODEL))
    claims = tuple(_planted(one.name, one.mean_us, truth, drawn) for one, truth in zip(chosen, _OF_MODEL, strict=True))
    start = BEFORE + timedelta(days=number)
    factors = {claim.op_name: claim.factor for claim in claims}
    before = write_profile(folder / "before", start, random.Random(drawn.random()))
    after = write_profile(folder / "after", start + timedelta(hours=5), random.Random(drawn.random()), factors=factors)
    return PlantedCase(claims, _write_list(folder, claims), before, after)


def _write_kernels(folder: Path, drawn: random.Random, claims: tuple[PlantedClaim, ...]) -> PlantedCase:
    """Kernels, each measured by itself, and several times on each side."""
    for side in ("before", "after"):
        for number, claim in enumerate(claims):
            mean = claim.before_us * (claim.factor if side == "after" else 1.0)
            write_kernel(folder / side, claim.op_name, mean, drawn, number * REPEATS)
    return PlantedCase(claims, _write_list(folder, claims), folder / "before", folder / "after")


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


def _write_list(folder: Path, claims: Sequence[PlantedClaim]) -> Path:
    rows = [f"{claim.op_name},{claim.before_us:.3f},{claim.before_us * claim.claimed_factor:.3f}" for claim in claims]
    path = folder / "claims.csv"
    write_lines(path, ["operator,before_us,after_us", *rows])
    return path
