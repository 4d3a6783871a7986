"""A simulated tuning loop with a planted outcome of each operator: a model, commands that tune and run it, banks.

What the commands write is what CANN's programs write; every number is made up. The simulated aoe, the simulated program and the
simulated msprof read the model's file, which holds what is planted.
"""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

from aoe_reports.simulation import aoe, inference
from aoe_reports.simulation.aoe import Operator, entry_of

Planted = Literal["used", "not-used", "filler", "regressed", "failed", "not-better", "kept", "untuned"]
"""What becomes of an operator: tuned as claimed; tuned for another shape, so that its entry is not found; changed without a gain
(AOE fills in the times); slower than before; failed; nothing faster found; in the bank already; not asked for."""

SOC = "Ascend910B3"
CORES = 20
GAIN = 0.75
"""After/before of an operator that is tuned as claimed."""
LOSS = 1.15
_ROWS = 48
_COLUMNS = 640
"""With these sizes a shape can be read in one way only, not transposed as well."""
MODEL = "model.onnx"


@dataclass(frozen=True, slots=True)
class PlantedJob:
    """Where the parts of a job lie, and what is planted."""

    folder: Path
    planted: Mapping[str, Planted]

    @property
    def model(self) -> Path:
        """The model's file."""
        return self.folder / MODEL

    @property
    def bank(self) -> Path:
        """The bank in use before tuning, laid out as under TUNE_BANK_PATH."""
        return self.folder / "bank"

    @property
    def commands(self) -> Path:
        """Where the simulated aoe, msprof and infer lie."""
        return self.folder / "bin"


def planted_operator(name: str, number: int, planted: Planted, us: float) -> Operator:
    """An operator with a planted outcome; `number` makes its shape its own."""
    same = Operator(name, m=_ROWS * number, n=_COLUMNS, us=us, tuned_us=us, claim="not-better")
    better = replace(same, claim="better", claimed_us=round(us * GAIN, 3), tuned_us=us * GAIN)
    changed: Mapping[Planted, Operator] = {
        "used": better,
        "not-used": replace(better, tuned_m=better.m + _ROWS // 2),
        "filler": replace(same, claim="filler"),
        "regressed": replace(better, tuned_us=us * LOSS),
        "failed": replace(same, claim="failed"),
    }
    return changed.get(planted, same)


def write_planted(folder: Path, planted: Sequence[tuple[Planted, float]]) -> PlantedJob:
    """Write the model with the planted outcomes (each with its time in us), the bank in use and the commands."""
    names = [f"layer{number}/matmul" for number in range(1, len(planted) + 1)]
    operators = [
        planted_operator(name, number, outcome, us)
        for number, (name, (outcome, us)) in enumerate(zip(names, planted, strict=True), start=1)
    ]
    loop = PlantedJob(folder, dict(zip(names, (outcome for outcome, _ in planted), strict=True)))
    loop.bank.mkdir(parents=True, exist_ok=True)
    document = {
        "simulated": True,
        "soc": SOC,
        "cores": CORES,
        "operators": [asdict(operator) for operator in operators],
    }
    loop.model.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    _write_bank(loop, operators)
    _write_commands(loop.commands)
    return loop


def _write_bank(loop: PlantedJob, operators: Sequence[Operator]) -> None:
    """The bank in use: the entries of operators that are kept."""
    kept = [operator for operator in operators if loop.planted[operator.name] == "kept"]
    folder = loop.bank / SOC
    folder.mkdir(exist_ok=True)
    if kept:
        path = folder / f"{SOC}_{CORES}_AiCore_MatMulV2_runtime_kb.json"
        path.write_text("".join(json.dumps(entry_of(one), separators=(",", ":")) + "\n" for one in kept))


_MSPROF = f"""#!/bin/sh
# simulated msprof: tells the command where its profile goes; an export alone finds nothing to do
for one; do
    case $one in
        --output=*) {inference.PROFILE}=${{one#--output=}} ;;
        --*) ;;
        *) break ;;
    esac
    shift
done
export {inference.PROFILE}
if [ "$#" -gt 0 ]; then exec "$@"; fi
"""


def _write_commands(folder: Path) -> None:
    """`aoe` and `infer`, which run a module of this package, and `msprof`."""
    folder.mkdir(exist_ok=True)
    python = shlex.quote(sys.executable)
    scripts = {
        "aoe": f'#!/bin/sh\n# simulated aoe\nexec {python} -S {shlex.quote(str(Path(aoe.__file__).resolve()))} "$@"\n',
        "infer": f'#!/bin/sh\n# simulated program\nexec {python} -m {inference.__name__} "$@"\n',
        "msprof": _MSPROF,
    }
    for name, text in scripts.items():
        path = folder / name
        path.write_text(text)
        path.chmod(0o755)
