"""Captures of a made-up transformer with its Python frames: twelve layers of attention and MLP, forward and backward, as torch_npu exports them."""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

LAYERS = 12
STEPS = 2
ORIGIN_NS = 1_717_575_960_208_020_758
PYTHON, HARDWARE = 9, 4711 << 10 | 14 << 5
MAIN_THREAD, AUTOGRAD_THREAD, STREAM = 101, 202, 2
KERNELS = {"Attention": ("MatMulV2", "SoftmaxV2", "BatchMatMulV2"), "MLP": ("MatMulV3", "Gelu", "MatMulV3")}
HEADER = "Step Id,Name,Type,Accelerator Core,Start Time(us),Duration(us),Input Shapes"


@dataclass(frozen=True)
class Slow:
    """What takes longer: the part of one layer, by which factor, in which passes."""

    layer: int
    part: str
    factor: float
    passes: tuple[str, ...] = ("forward", "backward")


def slow_of(seed: int) -> Slow:
    """The attention that a seed makes slower, by 8 to 40 %, in one pass or in both."""
    choice = random.Random(f"slow/{seed}")
    passes = choice.choice([("forward", "backward"), ("forward", "backward"), ("backward",), ("forward",)])
    return Slow(choice.randrange(LAYERS), "Attention", 1 + choice.uniform(0.08, 0.4), passes)


@dataclass
class Planted:
    """Events and tasks while they are made; the host's clock is ahead of the device's."""

    noise: random.Random
    slow: Slow | None
    frames: bool = True
    now_ns: int = ORIGIN_NS
    device_ns: int = ORIGIN_NS + 50_000
    events: list[dict[str, Any]] = field(default_factory=list)
    tasks: list[list[Any]] = field(default_factory=list)
    forwards: list[tuple[int, int, str, int]] = field(default_factory=list)
    """(sequence number, moment of the operator, part, layer)."""

    def event(self, phase: str, name: str, category: str, thread: int, at_ns: int, **more: Any) -> None:
        pid = more.pop("pid", PYTHON)
        ts = f"{at_ns // 1000}.{at_ns % 1000:03d}"
        self.events.append({"ph": phase, "name": name, "cat": category, "pid": pid, "tid": thread, "ts": ts, **more})

    @contextmanager
    def within(self, name: str, category: str = "python_function", thread: int = MAIN_THREAD) -> Iterator[int]:
        begun = self.now_ns
        self.now_ns += 500
        yield begun
        self.now_ns += 500
        if self.frames or category != "python_function":
            self.event("X", name, category, thread, begun, dur=(self.now_ns - begun) / 1000)

    def launch(self, step: int, op_type: str, us: float, thread: int) -> None:
        with self.within(f"aclnn{op_type}", "cpu_op", thread) as begun:
            start = max(self.device_ns, self.now_ns + 3000)
        length = round(us * 1000 * (1 + self.noise.gauss(0, 0.01)))
        self.device_ns = start + length + 700
        self.event("s", "torch_to_npu", "async_npu", thread, begun, id=start, bp="e")
        self.event("f", "torch_to_npu", "async_npu", STREAM, start, id=start, bp="e", pid=HARDWARE)
        args = {"Task Type": "AI_CORE", "Physic Stream Id": STREAM, "Task Id": len(self.tasks)}
        self.event("X", op_type, "", STREAM, start, dur=length / 1000, pid=HARDWARE, args=args)
        self.tasks.append(
            [step, op_type, op_type, "AI_CORE", f"{start // 1000}.{start % 1000:03d}\t", length / 1000, '"64,64"']
        )

    def part(self, step: int, layer: int, part: str, which: str, thread: int) -> None:
        slow = self.slow
        slower = slow is not None and (slow.layer, slow.part) == (layer, part) and which in slow.passes
        factor = slow.factor if slow is not None and slower else 1.0
        for op_type in KERNELS[part]:
            us = (60.0 if part == "Attention" else 110.0) * (2 if which == "backward" else 1) * factor
            self.launch(step, op_type, us, thread)

    def step(self, step: int) -> None:
        self.forwards.clear()
        with self.within("train.py(30): step"):
            with self.within("nn.Module: Transformer_0"):
                self.launch(step, "Embedding", 40.0, MAIN_THREAD)
                for layer in range(LAYERS):
                    with self.within(f"nn.Module: DecoderLayer_{layer}"):
                        for part in KERNELS:
                            with self.within(f"nn.Module: {part}_{layer}"), self.within("model.py(44): forward"):
                                self.forward(step, layer, part)
            with self.within("torch/optim/adam.py(12): step"):
                self.launch(step, "ApplyAdam", 90.0, MAIN_THREAD)
        for number, at_ns, part, layer in reversed(self.forwards):
            with self.within(f"autograd::engine::evaluate_function: {part}Backward", "cpu_op", AUTOGRAD_THREAD):
                with self.within(f"{part}Backward", "cpu_op", AUTOGRAD_THREAD) as begun:
                    self.part(step, layer, part, "backward", AUTOGRAD_THREAD)
                self.event("s", "fwdbwd", "fwdbwd", MAIN_THREAD, at_ns, id=number, bp="e")
                self.event("f", "fwdbwd", "fwdbwd", AUTOGRAD_THREAD, begun, id=number, bp="e")
            with self.within("autograd::engine::evaluate_function: AccumulateGrad", "cpu_op", AUTOGRAD_THREAD):
                self.launch(step, "Add", 5.0, AUTOGRAD_THREAD)

    def forward(self, step: int, layer: int, part: str) -> None:
        with self.within("aten::linear", "cpu_op") as begun:
            self.forwards.append((1000 * step + len(self.forwards), begun, part, layer))
            self.part(step, layer, part, "forward", MAIN_THREAD)


def write_planted(
    folder: Path, seed: str, slow: Slow | None = None, *, frames: bool = True, origin_ns: int = ORIGIN_NS
) -> Path:
    """One capture of a rank; everything scatters by 1 %, and what is slow is slower."""
    planted = Planted(random.Random(seed), slow, frames, now_ns=origin_ns, device_ns=origin_ns + 50_000)
    for step in range(1, STEPS + 1):
        planted.step(step)
    home = folder / "rank0_ascend_pt"
    exports = home / "ASCEND_PROFILER_OUTPUT"
    exports.mkdir(parents=True)
    (home / "profiler_info_0.json").write_text(json.dumps({"rank_id": 0}))
    named = {PYTHON: "Python", HARDWARE: "Ascend Hardware"}
    names = [
        {"name": "process_name", "pid": pid, "tid": 0, "ph": "M", "args": {"name": name}} for pid, name in named.items()
    ]
    (exports / "trace_view.json").write_text(json.dumps([*names, *planted.events]))
    with (exports / "kernel_details.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([HEADER.split(","), *planted.tasks])
    return folder
