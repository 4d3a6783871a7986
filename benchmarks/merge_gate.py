"""How often the merge gate is right, end to end: clones of a repository, measured in turns by measure-in-turns.sh, judged by `aoe-reports ab`.

usage: python benchmarks/merge_gate.py [--trials 50] [--rounds 5] [--factor 1.05] [--seed 20261130]
Two clones of one commit, and two where the candidate has a commit that makes convolutions take `factor` times as long. A measurement
writes a simulated capture (simulation.tuning): each operator has its own mean in each capture, with a noise of 1 %. Prints how many of the
trials end with each exit code, and for the slower clone how often the operator is named.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

from aoe_reports.simulation.tuning import OPERATORS, write_profile

TURNS = Path(__file__).parents[1] / "integrations" / "measure-in-turns.sh"
PLANTED, NOISE = "Conv2D", 0.01


def measure(folder: Path) -> None:
    """One capture of the build in the working directory."""
    factor, noise = (
        float(Path("factor").read_text()),
        random.Random(f"{os.environ['SEED']} {folder.parent.name} {folder.name}"),
    )
    means = {one.name: (factor if one.op_type == PLANTED else 1.0) * (1 + noise.gauss(0, NOISE)) for one in OPERATORS}
    write_profile(folder / "capture", datetime.now(UTC), noise, factors=means)


def clones(home: Path, factor: float) -> list[Path]:
    """Two clones of a repository; the second has a commit more if the factor is not 1."""
    run(home, "git", "init", "--quiet", "origin")
    program = f'#!/bin/sh\nexec "{sys.executable}" "{Path(__file__).resolve()}" --measure "$@"\n'
    origin = home / "origin"
    origin.joinpath("measure.sh").write_text(program)
    origin.joinpath("measure.sh").chmod(0o755)
    commit(origin, 1.0)
    for name in ("base", "head"):
        run(home, "git", "clone", "--quiet", "origin", name)
    if factor != 1:
        commit(home / "head", factor)
    return [home / "base", home / "head"]


def commit(folder: Path, factor: float) -> None:
    """How long convolutions take from this commit on."""
    folder.joinpath("factor").write_text(f"{factor}\n")
    run(folder, "git", "add", "--all")
    run(folder, "git", "-c", "user.name=a", "-c", "user.email=a@localhost", "commit", "--quiet", "-m", "factor")


def run(folder: Path, *command: object, **env: str) -> None:
    """A command that has to succeed."""
    words = [str(word) for word in command]
    subprocess.run(words, cwd=folder, env={**os.environ, **env}, check=True, stderr=subprocess.DEVNULL)


def trial(home: Path, builds: list[Path], rounds: int, seed: str) -> tuple[int, bool]:
    """(the exit code of the gate, whether the operator is among what fails)."""
    out = home / f"turns-{seed}"
    run(home, "sh", TURNS, rounds, out, *builds, "./measure.sh", SEED=seed)
    command = [sys.executable, "-m", "aoe_reports", "ab", "--format", "json", out / "baseline", "--", out / "candidate"]
    ended = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    rows = json.loads(ended.stdout)["rows"]
    return ended.returncode, any(row["name"] == PLANTED and row["fails"] == "slower" for row in rows)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--factor", type=float, default=1.05)
    parser.add_argument("--seed", type=int, default=20261130)
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        measure(arguments.measure)
        return
    for name, factor in (("equal", 1.0), ("slower", arguments.factor)):
        with tempfile.TemporaryDirectory() as folder:
            builds = clones(Path(folder), factor)
            ended = [
                trial(Path(folder), builds, arguments.rounds, f"{arguments.seed}-{name}-{number}")
                for number in range(arguments.trials)
            ]
        codes, is_named = Counter(code for code, _ in ended), sum(named for _, named in ended)
        print(f"{name}: exit codes {dict(sorted(codes.items()))}; {PLANTED} fails in {is_named} of {len(ended)}")


if __name__ == "__main__":
    main()
