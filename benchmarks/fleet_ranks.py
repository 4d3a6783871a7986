"""Ranks of a fleet, made of one real capture: each varied, one slow, one with a slow link, one corrupt.

usage: python benchmarks/fleet_ranks.py CAPTURE OUT --ranks 256 [--timelines] [--experts 1.5] [--hosts 16] [--seed 7]
CAPTURE is a torch_npu export of one rank (`*_ascend_pt`). Of a run of R ranks, rank R // 3 takes 10 % longer for every operator,
the link from rank R // 2 to the next has a tenth of the bandwidth, and of the last rank's kernel_details.csv half of one row is gone.
With --experts all run the operators of a mixture of experts in place of MatMulV2, in expert parallel groups of 8 that their metadata
tell, and those of rank R // 5 take so many times as long (1: none). With --hosts H the folders name H hosts, and the links between host
2 * H // 3 and others have half the bandwidth.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import os
import random
import shutil
from pathlib import Path
from typing import Any

SLOW, SLOW_LINK, SLOW_HOST = 1.10, 10.0, 2.0
EXPERT_TYPE, EXPERT_GROUP = "GroupedMatmul", 8
NOISE = 0.01
OUTPUT = "ASCEND_PROFILER_OUTPUT"
LINKED = ("operator_details.csv", "operator_memory.csv", "memory_record.csv", "npu_module_mem.csv", "api_statistic.csv")


def main() -> None:
    """Make the ranks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("capture", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--ranks", type=int, default=256)
    parser.add_argument("--timelines", action="store_true")
    parser.add_argument("--experts", type=float)
    parser.add_argument("--hosts", type=int, default=0)
    parser.add_argument("--seed", type=int, default=7)
    asked = parser.parse_args()
    make(
        asked.capture,
        asked.out,
        asked.ranks,
        timelines=asked.timelines,
        experts=asked.experts,
        hosts=asked.hosts,
        seed=asked.seed,
    )


def make(
    capture: Path,
    out: Path,
    ranks: int,
    *,
    timelines: bool = False,
    experts: float | None = None,
    hosts: int = 0,
    seed: int = 7,
) -> None:
    """Write the folders of `ranks` ranks; files that no rank differs in are links to one copy."""
    chance = random.Random(seed)
    shared = out / ".shared"
    shared.mkdir(parents=True)
    for name in (*LINKED, *(("trace_view.json",) if timelines else ())):
        shutil.copyfile(capture / OUTPUT / name, shared / name)
    source = _Source(capture)
    for rank in range(ranks):
        folder = out / _folder(rank, ranks, hosts) / OUTPUT
        folder.mkdir(parents=True)
        for one in shared.iterdir():
            os.link(one, folder / one.name)
        factor = SLOW if rank == ranks // 3 else 1.0
        of_experts = None if experts is None else experts if rank == ranks // 5 else 1.0
        kernels, computing_us = source.kernels(factor, chance, of_experts)
        if experts is not None:
            (folder.parent / "profiler_metadata.json").write_text(json.dumps(_groups(rank, ranks)), encoding="utf-8")
        if rank == ranks - 1:
            middle = len(kernels) // 2
            kernels = kernels[:middle] + kernels[kernels.index("\n", middle) :]
        (folder / "kernel_details.csv").write_text(kernels, encoding="utf-8")
        (folder / "step_trace_time.csv").write_text(source.steps(computing_us), encoding="utf-8")
        slower = {to: _slower(rank, to, ranks, hosts) for to in ((rank + 1) % ranks, (rank - 1) % ranks)}
        for name, made in source.communication(rank, slower):
            (folder / name).write_text(json.dumps(made), encoding="utf-8")
        (folder.parent / f"profiler_info_{rank}.json").write_text(json.dumps(source.info(rank)), encoding="utf-8")
    shutil.rmtree(shared)


class _Source:
    """The capture that all ranks are made of."""

    def __init__(self, capture: Path) -> None:
        output = capture / OUTPUT
        self._kernels = _rows(output / "kernel_details.csv")
        self._steps = _rows(output / "step_trace_time.csv")
        self._communication = json.loads((output / "communication.json").read_text("utf-8"))
        self._matrix = json.loads((output / "communication_matrix.json").read_text("utf-8"))
        self._info = json.loads(next(capture.glob("profiler_info_*.json")).read_text("utf-8"))
        self.rank = int(next(capture.glob("profiler_info_*.json")).stem.rsplit("_", 1)[1])

    def kernels(self, factor: float, chance: random.Random, of_experts: float | None) -> tuple[str, float]:
        """(the table of tasks, each time with noise; the computing that they come to in us)."""
        header, *rows = self._kernels
        at, core, kind = (header.index(name) for name in ("Duration(us)", "Accelerator Core", "Type"))
        if of_experts is not None:
            rows = [_of_experts(row, at, kind, of_experts) if row[kind] == "MatMulV2" else row for row in rows]
        made = [[*row[:at], f"{float(row[at]) * factor * chance.gauss(1, NOISE):.3f}", *row[at + 1 :]] for row in rows]
        computing_us = sum(float(row[at]) for row in made if row[core] != "HCCL")
        return _csv([header, *made]), computing_us

    def steps(self, computing_us: float) -> str:
        """The table of its one step: who computes longer waits less."""
        header, row = self._steps
        cells = dict(zip(header, row, strict=True))
        more = computing_us - float(cells["Computing"])
        cells["Computing"] = f"{computing_us:.3f}"
        cells["Free"] = f"{float(cells['Free']) - more:.3f}"
        return _csv([header, [cells[name] for name in header]])

    def communication(self, rank: int, slower: dict[int, float]) -> list[tuple[str, Any]]:
        """What is said of communication, its links those to some ranks: how many times as long each takes."""
        matrix: dict[str, Any] = {}
        for step, kinds in self._matrix.items():
            for kind, operators in kinds.items():
                for operator, links in operators.items():
                    told = {}
                    others = [one for name, one in links.items() if name != f"{self.rank}-{self.rank}"]
                    for (to, factor), one in zip(slower.items(), others, strict=False):
                        more = {
                            "Transit Time(ms)": one["Transit Time(ms)"] * factor,
                            "Bandwidth(GB/s)": one["Bandwidth(GB/s)"] / factor,
                        }
                        told[f"{rank}-{to}"] = {**one, **more}
                    matrix.setdefault(step, {}).setdefault(kind, {})[operator] = told
        return [("communication.json", self._communication), ("communication_matrix.json", matrix)]

    def info(self, rank: int) -> Any:
        """What the profiler says of itself."""
        return {**self._info, "rank_id": rank} if "rank_id" in self._info else self._info


def _folder(rank: int, ranks: int, hosts: int) -> str:
    """The name of a rank's folder; that of the profiler, HOST_PID_TIME, tells the host."""
    if not hosts:
        return f"rank{rank}_ascend_pt"
    return f"node{rank * hosts // ranks}_{1000 + rank}_20250101000000000_ascend_pt"


def _slower(rank: int, to: int, ranks: int, hosts: int) -> float:
    """How many times as long the link between two ranks takes."""
    if rank == ranks // 2 and to == rank + 1:
        return SLOW_LINK
    ends = {one * hosts // ranks for one in (rank, to)}
    return SLOW_HOST if hosts and len(ends) > 1 and 2 * hosts // 3 in ends else 1.0


def _of_experts(row: list[str], at: int, kind: int, factor: float) -> list[str]:
    """The same task as one of experts."""
    made = [*row]
    made[at], made[kind] = f"{float(row[at]) * factor}", EXPERT_TYPE
    return made


def _groups(rank: int, ranks: int) -> dict[str, Any]:
    """The metadata of a rank: its expert parallel group."""
    first = rank // EXPERT_GROUP * EXPERT_GROUP
    members = list(range(first, min(first + EXPERT_GROUP, ranks)))
    group = {"group_name": "ep", "group_rank": rank - first, "global_ranks": members}
    return {"parallel_group_info": {f"host%eth0_60000_0_{first}": group}}


def _rows(path: Path) -> list[list[str]]:
    with path.open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    return [header, *(row for row in rows if len(row) == len(header))]


def _csv(rows: list[list[str]]) -> str:
    made = io.StringIO()
    csv.writer(made, lineterminator="\n").writerows(rows)
    return made.getvalue()


if __name__ == "__main__":
    main()
