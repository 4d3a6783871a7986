"""Simulated nights of one model, in the profiler's and AOE's real file formats. Nothing here was measured.

The model is a small convolutional network: OPERATORS runs once a step, STEPS steps a night. Each night every operator
keeps its own mean, with noise of 1 % a night (the machine) and 1.5 % a task. From night `SLOW_NIGHT` on, one operator
takes `SLOW_BY` longer: that is what the report has to find. Every seventh night AOE tuned operators, every fourteenth
subgraphs too. The same seed gives the same bytes.

Formats: op_summary, op_statistic, task_time and step_trace as msprof has written them since 2024-02 (merged
files with `Device_id`, a tab behind time stamps, quoted shapes), AOE results in the array form of CANN 6.2.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from aoe_reports.simulation.tuning import STEPS_HEADER, SUMMARY_HEADER, new_exports, us, write_export, write_lines

NIGHTS = 45
SLOW_NIGHT = 38
SLOW_BY = 0.08
STEPS = 5
MODEL = "simulated-convnet"
FIRST_NIGHT = datetime(2026, 1, 1, 2, 0, 0, tzinfo=UTC)

NIGHT_NOISE = 0.01
TASK_NOISE = 0.015
TUNING_EVERY = 7
SUBGRAPHS_EVERY = 14
_MODEL_ID = 4294967295


@dataclass(frozen=True, slots=True)
class Operator:
    """One operator of the simulated model: its mean duration and what op_summary says of it."""

    name: str
    op_type: str
    core: str
    mean_us: float
    shapes: str
    data_type: str = "FLOAT16"
    data_format: str = "NC1HWC0"


def _operators() -> list[Operator]:
    shape = "32,3,224,224"
    operators = [
        Operator("trans_input", "TransData", "AI_VECTOR_CORE", 48.0, shape, data_type="FLOAT", data_format="NCHW")
    ]
    for block in range(1, 9):
        channels = 32 * block
        shape = f"32,{channels},{224 >> (block // 2)},{224 >> (block // 2)}"
        operators += [
            Operator(f"layer{block}/conv", "Conv2D", "AI_CORE", 150.0 + 37.0 * block, f"{shape};{channels},3,3,3"),
            Operator(f"layer{block}/bn", "BNInfer", "AI_VECTOR_CORE", 22.0 + 3.0 * block, shape),
            Operator(f"layer{block}/relu", "Relu", "AI_VECTOR_CORE", 9.0 + 1.5 * block, shape),
        ]
    return [
        *operators,
        Operator("head/pool", "ReduceMeanD", "MIX_AIV", 31.0, "32,256,14,14"),
        Operator("head/matmul", "MatMulV2", "AI_CORE", 118.0, "32,256;256,1000", data_format="ND"),
        Operator("head/softmax", "SoftmaxV2", "AI_VECTOR_CORE", 14.0, "32,1000", data_type="FLOAT", data_format="ND"),
    ]


OPERATORS: Sequence[Operator] = tuple(_operators())
SLOW_OPERATOR = "layer6/conv"


def write_nights(folder: Path, nights: int = NIGHTS, seed: int = 7) -> list[Path]:
    """Write simulated nights below `folder`, one folder a night; return those folders, oldest first."""
    return [_write_night(folder, night, random.Random(seed * 100_003 + night)) for night in range(1, nights + 1)]


def _write_night(folder: Path, night: int, noise: random.Random) -> Path:
    start = FIRST_NIGHT + timedelta(days=night - 1)
    home = folder / f"{start:%Y-%m-%d}"
    exports = new_exports(home, start, noise)
    tasks, iterations = _run(night, int(start.timestamp()) * 1_000_000_000, noise)
    write_export(exports, "op_summary", start, _op_summary(tasks))
    write_export(exports, "op_statistic", start, _op_statistic(tasks))
    write_export(exports, "task_time", start, _task_time(tasks))
    write_export(exports, "step_trace", start, _step_trace(iterations))
    if night % TUNING_EVERY == 0:
        _write_tuning(home, start + timedelta(hours=1), "opat", noise)
    if night % SUBGRAPHS_EVERY == 0:
        _write_tuning(home, start + timedelta(minutes=30), "sgat", noise)
    return home


@dataclass(frozen=True, slots=True)
class _Task:
    operator: Operator
    task_id: int
    start_ns: int
    duration_ns: int
    wait_ns: int


@dataclass(frozen=True, slots=True)
class _Iteration:
    number: int
    start_ns: int
    backward_ns: int
    end_ns: int


def _run(night: int, begin_ns: int, noise: random.Random) -> tuple[list[_Task], list[_Iteration]]:
    """All tasks of a night, one behind the other, and the iterations around them."""
    means = {op.name: op.mean_us * (1 + noise.gauss(0, NIGHT_NOISE)) for op in OPERATORS}
    if night >= SLOW_NIGHT:
        means[SLOW_OPERATOR] *= 1 + SLOW_BY
    tasks: list[_Task] = []
    iterations: list[_Iteration] = []
    now = begin_ns + 1_500_000
    for step in range(1, STEPS + 1):
        first = now
        for operator in OPERATORS:
            wait = max(0, round(noise.gauss(2.0, 0.5) * 1000))
            duration = max(1, round(means[operator.name] * (1 + noise.gauss(0, TASK_NOISE)) * 1000))
            now += wait
            tasks.append(_Task(operator, len(tasks) + 1, now, duration, wait if tasks else 0))
            now += duration
        iterations.append(_Iteration(step, first, now, now + 20_000))
        now += 150_000
    return tasks, iterations


def _quoted(value: str) -> str:
    """A shape as both exporters write it: one literal pair of quotes, doubled by CSV."""
    return f'"""{value}"""'


def _op_summary(tasks: Sequence[_Task]) -> list[str]:
    lines = [SUMMARY_HEADER]
    for task in tasks:
        op = task.operator
        inputs = op.shapes.count(";") + 1
        lines.append(
            f"0,{_MODEL_ID},{task.task_id},2,{op.name},{op.op_type},static,{op.core},{us(task.start_ns)}\t,"
            f"{us(task.duration_ns)},{task.wait_ns / 1000:.6f},24,0,NO,{_quoted(op.shapes)},"
            f"{';'.join([op.data_type] * inputs)},{';'.join([op.data_format] * inputs)},"
            f"{_quoted(op.shapes.split(';')[0])},{op.data_type},{op.data_format},N/A"
        )
    return lines


def _op_statistic(tasks: Sequence[_Task]) -> list[str]:
    groups: dict[tuple[str, str], list[int]] = {}
    for task in tasks:
        groups.setdefault((task.operator.op_type, task.operator.core), []).append(task.duration_ns)
    whole = sum(task.duration_ns for task in tasks)
    lines = ["Device_id,OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),Ratio(%)"]
    for (op_type, core), times in sorted(groups.items(), key=lambda item: -sum(item[1])):
        total = sum(times)
        lines.append(
            f"0,{op_type},{core},{len(times)},{us(total)},{us(min(times))},{total / len(times) / 1000:.3f},"
            f"{us(max(times))},{100 * total / whole:.3f}"
        )
    return lines


def _task_time(tasks: Sequence[_Task]) -> list[str]:
    lines = ["Device_id,kernel_name,kernel_type,stream_id,task_id,task_time(us),task_start(us),task_stop(us)"]
    for task in tasks:
        stop = task.start_ns + task.duration_ns
        lines.append(
            f"0,{task.operator.name},{task.operator.core},2,{task.task_id},{us(task.duration_ns)},"
            f"{us(task.start_ns)}\t,{us(stop)}\t"
        )
    return lines


def _step_trace(iterations: Sequence[_Iteration]) -> list[str]:
    return [
        STEPS_HEADER,
        *(
            f"0,{it.number},{us(it.start_ns)}\t,{us(it.backward_ns)}\t,{us(it.end_ns)}\t,"
            f"{us(it.end_ns - it.start_ns)},{us(it.backward_ns - it.start_ns)},{us(it.end_ns - it.backward_ns)},0,1"
            for it in iterations
        ),
    ]


def _write_tuning(home: Path, when: datetime, kind: str, noise: random.Random) -> None:
    """One AOE result in the array form, its sums and percentages consistent."""
    chosen = noise.sample(range(len(OPERATORS)), 4)
    entries = []
    for index in chosen:
        operator = OPERATORS[index]
        before, gain = operator.mean_us, 1 + abs(noise.gauss(0.1, 0.05)) + 0.01
        if kind == "opat":
            names = {"op_name": operator.name, "op_type": operator.op_type.lower()}
            entries.append({**names, **_times(before, gain, "us")})
        else:
            entries.append({**_times(before / 100, gain, "ms"), "repo_key": str(10**18 + noise.randrange(10**17))})
    whole = sum(operator.mean_us for operator in OPERATORS) / 1000
    unit, per_ms = ("us", 1000) if kind == "opat" else ("ms", 1)
    keys = (f"performance_before_tune({unit})", f"performance_after_tune({unit})")
    saved = sum(float(entry[keys[0]]) - float(entry[keys[1]]) for entry in entries) / per_ms
    model = _times(whole, whole / (whole - saved), "ms")
    what, result = ("operators", {"opat_tuning_result": "tuning successful"}) if kind == "opat" else ("subgraphs", {})
    body = {
        "model_baseline_performance(ms)": model["performance_before_tune(ms)"],
        "model_performance_improvement": model["performance_improvement"],
        "model_result_performance(ms)": model["performance_after_tune(ms)"],
        **result,
        f"repo_modified_{what}": {f"add_repo_{what}": entries[:3], f"update_repo_{what}": entries[3:]},
        "repo_summary": {
            "repo_add_num": 3,
            "repo_hit_num": 11,
            "repo_reserved_num": 10,
            "repo_unsatisfied_num": 2,
            "repo_update_num": 1,
            "total_num": 16,
        },
    }
    basic = {"tuning_name": MODEL, "tuning_time(s)": noise.randrange(300, 2000)}
    folder = home / "aoe"
    folder.mkdir(exist_ok=True)
    document = [{"basic": basic}, {kind.upper(): body}]
    path = folder / f"aoe_result_{kind}_{when:%Y%m%d%H%M%S}000_pid{4000 + when.day}.json"
    write_lines(path, [json.dumps(document, ensure_ascii=False, indent=2)])


def _times(before: float, gain: float, unit: str) -> dict[str, float | str]:
    first = round(before, 6)
    second = round(before / gain, 6)
    return {
        f"performance_after_tune({unit})": second,
        f"performance_before_tune({unit})": first,
        "performance_improvement": f"{(first / second - 1) * 100:.2f}%",
    }
