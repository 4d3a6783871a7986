"""Jobs of many ranks, some of which are slower, by noise that the rank seeds."""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Mapping
from pathlib import Path

from commandline import FIXTURES

SOURCE = FIXTURES / "msprof" / "valid" / "torch_npu_two_ranks" / "rank0_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
HEADER, *KERNELS = csv.reader((SOURCE / "kernel_details.csv").read_text().splitlines())
TYPE, CORE, TIME = (HEADER.index(name) for name in ("Type", "Accelerator Core", "Duration(us)"))
STEPS = "Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free"
EVERY = ("TransData", "Conv2D", "Relu", "MatMulV2", "DSAGenBitMask", "Cast")


def write_rank(
    root: Path, rank: int, slower: Mapping[str, float] | None = None, *, layers: int = 1, waits: float | None = None
) -> Path:
    """A rank of the fixture's operators, each so many times, with noise; `waits`: microseconds of communication a step."""
    chance = random.Random(rank)
    output = root / f"rank{rank}_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    (output.parent / f"profiler_info_{rank}.json").write_text("{}")
    made, place = io.StringIO(), HEADER.index("Start Time(us)")
    rows = csv.writer(made)
    rows.writerow(HEADER)
    for number, row in enumerate(KERNELS * layers):
        factor = 1.0 if row[CORE] == "HCCL" else chance.gauss(1, 0.003) * (slower or {}).get(row[TYPE], 1.0)
        cells = [*row]
        cells[TIME] = f"{float(row[TIME]) * factor:.3f}"
        cells[place] = f"{1736408883704643 + 2000 * number}.212"
        rows.writerow(cells)
    (output / "kernel_details.csv").write_text(made.getvalue())
    if waits is not None:
        lines = [STEPS, *(f"{step},670,{waits},0,{waits},100" for step in (50, 51))]
        (output / "step_trace_time.csv").write_text("".join(f"{line}\n" for line in lines))
    return output


def write_job(root: Path, ranks: int, slow: Mapping[int, Mapping[str, float]], **more: float) -> Path:
    for rank in range(ranks):
        write_rank(root, rank, slow.get(rank), **more)  # type: ignore[arg-type]
    return root
