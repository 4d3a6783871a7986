"""A simulated program that compiles and runs a simulated model.

Nothing is measured. Operators whose key has an entry in the bank (TUNE_BANK_PATH) take their tuned time, all others the time before;
CANN's log says of each whether its entry was found. The profile goes where SIMULATED_PROFILE says.

usage: python -m aoe_reports.simulation.inference MODEL
"""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Collection, Mapping
from datetime import timedelta
from pathlib import Path

from aoe_reports.simulation.aoe import Log, Model, Operator, banked, keys_of_bank, put, read_model
from aoe_reports.simulation.tuning import BEFORE, TUNED_BLOCKS, SimulatedOperator, write_profile

PROFILE = "SIMULATED_PROFILE"
"""The variable by which the simulated msprof says where the profile goes."""
_ARGUMENTS = 2
STEPS = 10
_CUBE_RATIO = 0.4
_HOURS_LATER = 5


def main() -> None:
    """Compile and run the model that is named."""
    if len(sys.argv) != _ARGUMENTS:
        sys.exit(__doc__)
    infer(Path(sys.argv[1]), os.environ)


def infer(path: Path, environment: Mapping[str, str]) -> None:
    """Compile a model with the bank in use, run it, and leave the profile and the log that are asked for."""
    model = read_model(path)
    root = environment.get("TUNE_BANK_PATH")
    keys = keys_of_bank(Path(root) / model.soc) if root else set()
    write_log(Log(process="infer"), model, keys)
    if place := environment.get(PROFILE):
        write_run(Path(place), model, keys, seed=2 if root else 1)
    put(f"simulated: {len(model.operators or {})} operators, {STEPS} steps")


def write_run(folder: Path, model: Model, keys: Collection[str], *, seed: int) -> Path:
    """The profile of a run with the entries of a bank; runs with an even seed are taken hours after those with an odd one."""
    operators = list((model.operators or {}).values())
    tuned = [operator for operator in operators if banked(keys, operator)]
    later = timedelta(hours=0 if seed % 2 else _HOURS_LATER)
    return write_profile(
        folder,
        BEFORE + later,
        random.Random(seed),
        factors={operator.name: operator.tuned_us / operator.us for operator in tuned},
        blocks={operator.name: TUNED_BLOCKS for operator in tuned},
        operators=[simulated(operator) for operator in operators],
        steps=STEPS,
    )


def simulated(operator: Operator) -> SimulatedOperator:
    """An operator of a simulated model as profiles show it."""
    shapes = f"{operator.m},{operator.k};{operator.k},{operator.n}"
    return SimulatedOperator(operator.name, operator.op_type, "AI_CORE", operator.us, shapes, cube_ratio=_CUBE_RATIO)


def write_log(log: Log, model: Model, keys: Collection[str]) -> None:
    """Say of each operator in CANN's log whether its entry was found when the model was compiled."""
    for operator in (model.operators or {}).values():
        log.compiled(operator, hit=banked(keys, operator))


if __name__ == "__main__":
    main()
