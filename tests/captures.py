"""Captures of made-up nights as torch_npu exports them, and results of AOE, for tests that plant what changed."""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

FIRST = datetime(2026, 3, 1, 2, tzinfo=UTC)
BEFORE, AFTER, STEPS = 24, 6, 3
MODEL = "net"


@dataclass(frozen=True)
class Kernel:
    """An operator of a step: microseconds a call, calls a step, inputs."""

    name: str
    op_type: str
    us: float
    calls: int = 1
    shapes: str = "8,64;64,64"
    data_type: str = "FLOAT16"
    data_format: str = "ND"
    core: str = "AI_CORE"


@dataclass(frozen=True)
class Night:
    """What a step is made of."""

    kernels: tuple[Kernel, ...]
    uncovered_us: float = 300.0
    free_us: float = 500.0


QUIET = Night(
    (
        Kernel("conv", "Conv2D", 900.0),
        Kernel("relu", "Relu", 100.0, calls=4),
        Kernel("matmul", "MatMulV2", 600.0, calls=2),
        Kernel("softmax", "SoftmaxV2", 300.0),
        Kernel("hcom_allReduce__1", "hcom_allReduce_", 350.0, shapes="", core="HCCL"),
    )
)
HEADER = (
    "Step Id,Model ID,Task ID,Stream ID,Name,Type,OP State,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),"
    "Block Dim,Mix Block Dim,HF32 Eligible,Input Shapes,Input Data Types,Input Formats,Output Shapes,Output Data Types,"
    "Output Formats,Context ID"
)

KERNELS = "Device_id,Name,Type,Accelerator Core,Start Time(us),Duration(us)\n"
"""The header of a table of tasks with few columns."""


def write_ranks(folder: Path, count: int) -> Path:
    """Captures of so many ranks, a task each."""
    for rank in range(count):
        home = folder / f"rank_{rank}"
        home.mkdir(parents=True)
        (home / "kernel_details.csv").write_text(f"{KERNELS}{rank},a,MatMul,AI_CORE,1.0,{rank + 2}.5\n")
    return folder


def write_night(folder: Path, number: int, night: Night, *, hours: int = 0, rank: int = 0) -> Path:
    """A capture of one rank and night as torch_npu exports it, with noise of 0.3 % an operator."""
    seed = f"{rank}/{number}" if rank else number
    noise, start = random.Random(seed), FIRST + timedelta(days=number, hours=hours)
    home = folder / f"host_{4711 + number + 10_000 * rank}_{start:%Y%m%d%H%M%S}_ascend_pt"
    exports = home / "ASCEND_PROFILER_OUTPUT"
    exports.mkdir(parents=True)
    now = int(start.timestamp()) * 1_000_000_000
    ending = {"config": {}, "end_info": {"collectionTimeEnd": now + 10**9}, "rank_id": rank}
    (home / f"profiler_info_{rank}.json").write_text(json.dumps(ending))
    # by name: adding one operator changes the noise of no other
    means = {
        kernel.name: kernel.us * (1 + random.Random(f"{seed}{kernel.name}").gauss(0, 0.003)) for kernel in night.kernels
    }
    rows, steps = [HEADER.split(",")], ["Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free"]
    for step in range(1, STEPS + 1):
        computing = 0
        for kernel in night.kernels:
            for _ in range(kernel.calls):
                took = round(means[kernel.name] * 1000)
                computing += 0 if kernel.core == "HCCL" else took
                rows.append(
                    [
                        step, 4294967295, len(rows), 2, kernel.name, kernel.op_type, "static", kernel.core, f"{us(now)}\t",
                        us(took), 0.5, 24, 0, "NO", f'"{kernel.shapes}"', kernel.data_type, kernel.data_format, '"8,64"',
                        "FLOAT16", "ND", "N/A",
                    ]
                )  # fmt: skip
                now += took + 500
        uncovered, free = (
            round(part * (1 + noise.gauss(0, 0.003)) * 1000) for part in (night.uncovered_us, night.free_us)
        )
        steps.append(f"{step},{us(computing)},{us(uncovered)},{us(50_000)},{us(uncovered + 50_000)},{us(free)}")
        now += free
    with (exports / "kernel_details.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)
    (exports / "step_trace_time.csv").write_text("\n".join(steps) + "\n")
    return home


def us(ns: int) -> str:
    return f"{ns // 1000}.{ns % 1000:03d}"


BERT = Night(
    (
        Kernel("bmm", "BatchMatMulV2", 900.0, calls=12),
        Kernel("ln", "LayerNormV3", 60.0, calls=25),
        Kernel("gelu", "Gelu", 90.0, calls=12),
        Kernel("probabilities", "SoftmaxV2", 110.0, calls=12),
    )
)
"""Another model than that of the quiet night."""
RANKER = Night(
    (
        Kernel("gather", "GatherV2", 700.0, calls=26),
        Kernel("concat", "ConcatD", 120.0, calls=4),
        Kernel("mlp", "MatMulV2", 300.0, calls=6),
    )
)
"""A third one."""


def write_tuning(folder: Path, when: datetime, *names: str) -> Path:
    """A result of AOE in which it tuned operators."""
    tuned = [
        {
            "op_name": name,
            "op_type": "conv2d",
            "performance_after_tune(us)": 600.0,
            "performance_before_tune(us)": 900.0,
            "performance_improvement": "50.00%",
        }
        for name in names
    ]
    counts = {"add": len(tuned), "hit": 0, "reserved": 0, "unsatisfied": 0, "update": 0}
    body = {
        "opat_tuning_result": "tuning successful",
        "repo_modified_operators": {"add_repo_operators": tuned, "update_repo_operators": []},
        "repo_summary": {**{f"repo_{name}_num": count for name, count in counts.items()}, "total_num": len(tuned)},
    }
    path = folder / f"aoe_result_opat_{when:%Y%m%d%H%M%S}000_pid4711.json"
    path.write_text(json.dumps([{"basic": {"tuning_name": MODEL, "tuning_time(s)": 900}}, {"OPAT": body}]))
    return path


def changed(*kernels: Kernel, gone: Sequence[str] = (), **parts: float) -> Night:
    """The quiet night with some operators others, more or gone."""
    others = {kernel.name: kernel for kernel in kernels}
    kept = [others.pop(kernel.name, kernel) for kernel in QUIET.kernels if kernel.name not in gone]
    return replace(QUIET, kernels=(*kept, *others.values()), **parts)
