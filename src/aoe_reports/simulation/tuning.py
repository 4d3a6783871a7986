"""A simulated tuning loop with a planted truth: a model of static shapes before and after tuning, and what AOE claims of it.

Nothing here was measured. The model runs OPERATORS one behind the other in each step; one communication runs beside some of
them, another beside none. Each capture every operator has its own mean, with noise of 1 % (two captures of one machine) and
1.5 % a task. In half of the truths other kernels run afterwards (they use another number of blocks). The same seed gives the
same bytes.

Formats: op_summary and step_trace as msprof has written them since 2024-02, AOE results in the array form of CANN 6.2.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

Outcome = Literal["faster", "only-claimed", "slower", "bank-not-used"]
"""What tuning really did: as claimed; nothing, with new kernels; the tuned operators got slower; the bank lay unused."""

OUTCOMES: dict[Outcome, float] = {"faster": 0.8, "only-claimed": 1.0, "slower": 1.12, "bank-not-used": 1.0}
"""How much longer (after/before) a tuned operator takes; AOE claims CLAIMED_FACTOR each time."""
CLAIMED_FACTOR = 0.8
STEPS = 12
CAPTURE_NOISE = 0.01
TASK_NOISE = 0.015
BEFORE = datetime(2026, 3, 1, 2, 0, 0, tzinfo=UTC)
BLOCKS = 24
TUNED_BLOCKS = 20
MODEL = "simulated-tuning"
_MODEL_ID = 4294967295
_PAUSE_NS = 120_000


@dataclass(frozen=True, slots=True)
class SimulatedOperator:
    """One operator: its mean duration, what op_summary says of it, whether communication runs beside it."""

    name: str
    op_type: str
    core: str
    mean_us: float
    shapes: str
    state: str = "static"
    cube_ratio: float | None = None
    """Part of the cycles in which cube worked: what no tuning takes away."""
    overlapped: bool = False
    calls: int = 1


_BESIDE = (5, 6)
"""Blocks beside whose convolution communication runs."""


def _operators() -> list[SimulatedOperator]:
    operators = [
        SimulatedOperator(
            f"block{n}/conv",
            "Conv2D",
            "AI_CORE",
            180.0 + 60.0 * n,
            f"32,{16 * n},56,56;{16 * n},3,3,3",
            cube_ratio=0.35,
            overlapped=n in _BESIDE,
        )
        for n in range(1, 7)
    ]
    operators += [
        SimulatedOperator(f"block{n}/bn", "BNInfer", "AI_VECTOR_CORE", 35.0 + 4.0 * n, f"32,{16 * n},56,56")
        for n in range(1, 7)
    ]
    operators += [
        SimulatedOperator(
            f"head/matmul{n}", "MatMulV2", "AI_CORE", 260.0 - 50.0 * n, "32,1024;1024,1024", cube_ratio=ratio
        )
        for n, ratio in ((1, 0.95), (2, 0.4))
    ]
    return [
        *operators,
        SimulatedOperator("input/decode", "DecodeJpeg", "AI_CPU", 400.0, "32,1"),
        SimulatedOperator("head/where", "Location", "AI_VECTOR_CORE", 150.0, "32,-1", "dynamic"),
        SimulatedOperator("head/ragged", "MatMulV2", "AI_CORE", 120.0, "-1,1024;1024,1024", "dynamic"),
        SimulatedOperator("head/own_kernel", "OwnFusedKernel", "AI_VECTOR_CORE", 90.0, "32,1024"),
        SimulatedOperator("head/softmax", "SoftmaxV2", "AI_VECTOR_CORE", 60.0, "32,1024"),
        *(SimulatedOperator(f"tail/scale{n}", "Muls", "AI_VECTOR_CORE", 1.5, "32,1024") for n in range(1, 5)),
    ]


OPERATORS: Sequence[SimulatedOperator] = tuple(_operators())
TUNED = ("block1/conv", "block3/conv", "block4/conv", "head/matmul2", "head/softmax")
"""What AOE claims to have made faster."""
COMMUNICATION_US = 350.0
"""How long the communication takes that nothing runs beside."""


@dataclass(frozen=True, slots=True)
class SimulatedLoop:
    """Where the parts of a simulated loop lie."""

    before: Path
    after: Path
    result: Path


def write_loop(folder: Path, outcome: Outcome, seed: int) -> SimulatedLoop:
    """Write both profiles and AOE's result of one truth."""
    factor = OUTCOMES[outcome]
    before = write_profile(folder / "before", BEFORE, random.Random(seed * 7919 + 1))
    after = write_profile(
        folder / "after",
        BEFORE + timedelta(hours=5),
        random.Random(seed * 7919 + 2),
        factors=dict.fromkeys(TUNED, factor),
        blocks={} if outcome == "bank-not-used" else dict.fromkeys(TUNED, TUNED_BLOCKS),
    )
    return SimulatedLoop(before, after, write_result(folder / "aoe", BEFORE + timedelta(hours=2)))


def write_profile(
    folder: Path,
    start: datetime,
    noise: random.Random,
    *,
    factors: Mapping[str, float] | None = None,
    blocks: Mapping[str, int] | None = None,
    operators: Sequence[SimulatedOperator] = OPERATORS,
    steps: int = STEPS,
) -> Path:
    """Write one profile; `factors` say how much longer operators take than their mean, `blocks` on how many they run."""
    exports = new_exports(folder, start, noise)
    slower = factors or {}
    means = {op.name: op.mean_us * (1 + noise.gauss(0, CAPTURE_NOISE)) * slower.get(op.name, 1.0) for op in operators}
    tasks: list[str] = []
    iterations: list[str] = []
    now = int(start.timestamp()) * 1_000_000_000
    for step in range(1, steps + 1):
        now = _write_step(
            tasks=tasks,
            iterations=iterations,
            step=step,
            begin=now,
            means=means,
            blocks=blocks or {},
            operators=operators,
            noise=noise,
        )
    header = SUMMARY_HEADER + ",aicore_time(us),aic_total_cycles,aic_mac_ratio,aic_mte2_ratio"
    write_export(exports, "op_summary", start, [header, *tasks])
    write_export(exports, "step_trace", start, [STEPS_HEADER, *iterations])
    return exports.parent


def new_exports(folder: Path, start: datetime, noise: random.Random) -> Path:
    """Make the folder of the exports of a new profile."""
    exports = folder / f"PROF_000001_{start:%Y%m%d%H%M%S}000_{random_letters(noise)}" / "mindstudio_profiler_output"
    exports.mkdir(parents=True, exist_ok=True)
    return exports


def random_letters(noise: random.Random) -> str:
    """What ends the name of a profile."""
    return "".join(noise.choice("ABCDEFGHIJKLMNOPQRSTUVWXYZ") for _ in range(16))


def write_export(exports: Path, kind: str, start: datetime, lines: Sequence[str]) -> None:
    """Write an exported table under its name and time."""
    write_lines(exports / f"{kind}_{start + timedelta(seconds=29):%Y%m%d%H%M%S}.csv", lines)


def write_lines(path: Path, lines: Sequence[str]) -> None:
    """Write a text file, a line end behind each line."""
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="")


def _write_step(
    tasks: list[str],
    iterations: list[str],
    step: int,
    begin: int,
    means: Mapping[str, float],
    blocks: Mapping[str, int],
    operators: Sequence[SimulatedOperator],
    noise: random.Random,
) -> int:
    """Write one step; returns the begin of the next."""
    now = begin
    beside: list[tuple[int, int]] = []
    for operator in operators:
        for _ in range(operator.calls):
            duration = max(1, round(means[operator.name] * (1 + noise.gauss(0, TASK_NOISE)) * 1000))
            used = blocks.get(operator.name, BLOCKS)
            tasks.append(_task(len(tasks) + 1, operator, now, duration, used))
            if operator.overlapped:
                beside.append((now, now + duration))
            now += duration + 2_000
    whole = SimulatedOperator("hcom_allReduce__1_0", "hcom_allReduce_", "COMMUNICATION", 0.0, "N/A", "N/A")
    if beside:
        first, last = beside[0][0], beside[-1][1]
        tasks.append(_task(len(tasks) + 1, whole, first, last - first, 0))
    alone = max(1, round(COMMUNICATION_US * (1 + noise.gauss(0, TASK_NOISE)) * 1000))
    tasks.append(_task(len(tasks) + 1, replace(whole, name="hcom_allReduce__1_1"), now, alone, 0))
    now += alone
    iterations.append(f"0,{step},{us(begin)}\t,{us(now)}\t,{us(now)}\t,{us(now - begin)},{us(now - begin)},0.000,0,1")
    return now + _PAUSE_NS


def us(ns: int) -> str:
    """Nanoseconds as exported tables have them: microseconds with three decimals."""
    return f"{ns // 1000}.{ns % 1000:03d}"


SUMMARY_HEADER = (
    "Device_id,Model ID,Task ID,Stream ID,Op Name,OP Type,OP State,Task Type,Task Start Time(us),Task Duration(us),"
    "Task Wait Time(us),Block Dim,Mix Block Dim,HF32 Eligible,Input Shapes,Input Data Types,Input Formats,"
    "Output Shapes,Output Data Types,Output Formats,Context ID"
)
STEPS_HEADER = (
    "Device_id,Iteration ID,FP Start(us),BP End(us),Iteration End(us),Iteration Time(us),FP to BP Time(us),"
    "Iteration Refresh(us),Data Aug Bound(us),Model ID"
)


def _task(number: int, op: SimulatedOperator, start: int, duration: int, blocks: int) -> str:
    has_shapes = op.shapes != "N/A"
    inputs = op.shapes.count(";") + 1
    kinds = ";".join(["FLOAT16"] * inputs) if has_shapes else "N/A"
    forms = ";".join(["ND"] * inputs) if has_shapes else "N/A"
    shapes = f'"""{op.shapes}"""' if has_shapes else "N/A"
    counters = "N/A,N/A,N/A,N/A"
    if op.cube_ratio is not None:
        counters = f"{us(duration)},{duration},{op.cube_ratio},0.3"
    return (
        f"0,{_MODEL_ID},{number},2,{op.name},{op.op_type},{op.state},{op.core},{us(start)}\t,{us(duration)},2.000000,"
        f"{blocks},0,NO,{shapes},{kinds},{forms},{shapes},{kinds},{forms},N/A,{counters}"
    )


def write_result(folder: Path, when: datetime, tuned: Sequence[str] = TUNED) -> Path:
    """AOE's result: it claims that every tuned operator takes CLAIMED_FACTOR of its time."""
    kinds = {op.name: op for op in OPERATORS}
    entries = [
        {
            "op_name": name,
            "op_type": kinds[name].op_type,
            "performance_after_tune(us)": round(kinds[name].mean_us * CLAIMED_FACTOR, 3),
            "performance_before_tune(us)": round(kinds[name].mean_us, 3),
            "performance_improvement": f"{(1 / CLAIMED_FACTOR - 1) * 100:.2f}%",
        }
        for name in tuned
    ]
    body = {
        "opat_tuning_result": "tuning successful",
        "repo_modified_operators": {"add_repo_operators": entries, "update_repo_operators": []},
        "repo_summary": {
            "repo_add_num": len(entries),
            "repo_hit_num": 0,
            "repo_reserved_num": 0,
            "repo_unsatisfied_num": 3,
            "repo_update_num": 0,
            "total_num": len(entries) + 3,
        },
    }
    document = [{"basic": {"tuning_name": MODEL, "tuning_time(s)": 40 * (len(entries) + 3)}}, {"OPAT": body}]
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"aoe_result_opat_{when:%Y%m%d%H%M%S}000_pid4711.json"
    write_lines(path, [json.dumps(document, indent=2)])
    return path
