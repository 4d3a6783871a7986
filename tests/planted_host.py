"""Captures in which one thing holds up the device, by kind and seed: the first cause that `host` has to name is known."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

ORIGIN_NS = 1_717_575_960_208_020_758
HOST, DEVICE, PYTHON, COLLECTOR = 4_823_296, 4_823_488, 9, 11
MAIN, LAUNCHER, LOADER = 21, 22, 23
ROPE = ("Mul", "Slice", "Slice", "Neg", "ConcatD", "Mul", "Add")
RMS_NORM = ("Cast", "Pows", "ReduceMean", "Adds", "Rsqrt", "Mul", "Cast", "Mul")
SWIGLU = ("Swish", "Mul")
LAYER = ("MatMulV2", "FlashAttentionScore", "MatMulV3", "LayerNormV3")


@dataclass
class Job:
    """A host that launches one kernel after another, and a device that runs them; times in ns from the origin."""

    random: np.random.Generator
    queued: bool
    """Whether a thread of its own launches, as torch_npu's task queue does."""
    events: list[dict[str, Any]] = field(default_factory=list)
    host: int = 0
    device: int = 0
    launched: int = 0

    def event(self, name: str, place: tuple[int, int], start: int, length: int, **args: Any) -> None:
        """Something that lasts."""
        self.events.append(
            {
                "name": name,
                "ph": "X",
                "pid": place[0],
                "tid": place[1],
                "ts": _us(start),
                "dur": length / 1000,
                "args": args,
            }
        )

    def _flow(self, category: str, phase: str, place: tuple[int, int], at: int) -> None:
        self.events.append(
            {
                "name": category,
                "ph": phase,
                "cat": category,
                "id": self.launched,
                "pid": place[0],
                "tid": place[1],
                "ts": _us(at),
            }
        )

    @property
    def launcher(self) -> int:
        """The thread that launches."""
        return LAUNCHER if self.queued else MAIN

    def run(self, kernel: str, cost: int, length: int) -> None:
        """Launch a kernel, which takes the host some time, and run it as soon as the device is free."""
        self.host += cost
        self.launched += 1
        if self.queued:
            self.event("Enqueue", (PYTHON, MAIN), self.host - 1000, 900)
            self._flow("async_task_queue", "s", (PYTHON, MAIN), self.host - 1000)
            self._flow("async_task_queue", "f", (PYTHON, LAUNCHER), self.host)
            self.event(f"Dequeue@aclnn{kernel}", (PYTHON, LAUNCHER), self.host, 1500)
        self.event("Node@launch", (HOST, self.launcher), self.host, 1000, connection_id=self.launched, level="node")
        start = max(self.device, self.host + int(self.random.integers(2000, 4000)))
        told = {
            "Task Type": "AI_VECTOR_CORE",
            "connection_id": self.launched,
            "Physic Stream Id": 3,
            "Task Id": self.launched,
        }
        self.event(f"aclnn{kernel}_{kernel}AiCore_{kernel}", (DEVICE, 3), start, length, **told)
        self.device = start + length

    def call(self, name: str, length: int, process: int = PYTHON, thread: int = MAIN) -> None:
        """A call in which the host launches nothing."""
        self.event(name, (process, thread), self.host, length)
        self.host += length

    def wait(self, name: str = "AscendCL@aclrtSynchronizeStream") -> None:
        """A call that returns when the device is done."""
        self.call(name, max(self.device - self.host, 0) + 3000, HOST)

    def behind(self, more: int) -> int:
        """How long a call has to last for the device to do nothing for so long."""
        return max(self.device - self.host, 0) + more


def _us(ns: int) -> str:
    ns += ORIGIN_NS
    return f"{ns // 1000}.{ns % 1000:03d}"


def _layers(job: Job, count: int, cost: int = 8000, length: tuple[int, int] = (60_000, 120_000)) -> None:
    for place in range(count):
        job.run(LAYER[place % len(LAYER)], cost, int(job.random.integers(*length)))


Step = Callable[[Job], None]


def _healthy(job: Job) -> None:
    job.call("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", 200_000)
    _layers(job, 40)
    job.call("AscendCL@opCompile", 15_000, HOST, job.launcher)


def _healthy_with_one_value(job: Job) -> None:
    _layers(job, 60)
    job.event("aten::item", (PYTHON, MAIN), job.host, job.behind(5000))
    job.wait()


def _launch_bound(job: Job) -> None:
    for _ in range(8):
        _layers(job, 10, int(job.random.integers(25_000, 60_000)), (5000, 15_000))
        job.call("AscendCL@aclrtMemcpyAsync", 12_000, HOST, job.launcher)


def _synchronising(job: Job) -> None:
    for _ in range(15):
        _layers(job, int(job.random.integers(2, 4)), int(job.random.integers(15_000, 30_000)))
        job.wait()
        job.host += 30_000


def _reading_values(job: Job) -> None:
    for _ in range(15):
        _layers(job, 3, int(job.random.integers(15_000, 30_000)))
        job.event("aten::item", (PYTHON, MAIN), job.host - 500, job.behind(5000))
        job.wait("AscendCL@aclrtSynchronizeStreamWithTimeout")
        job.host += 30_000


def _loading(job: Job) -> None:
    job.call(
        "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
        job.behind(int(job.random.integers(600_000, 3_000_000))),
    )
    _layers(job, 40)


def _compiling(job: Job) -> None:
    for _ in range(4):
        _layers(job, 10)
        name = str(job.random.choice(["AscendCL@opCompile", "AscendCL@aclopCompileAndExecute"]))
        job.call(name, job.behind(int(job.random.integers(150_000, 600_000))), HOST, job.launcher)


def _collecting(job: Job) -> None:
    _layers(job, 20)
    job.call("GC", job.behind(int(job.random.integers(400_000, 2_000_000))), COLLECTOR)
    _layers(job, 20)


def _copying(job: Job) -> None:
    for _ in range(4):
        _layers(job, 10)
        length = int(job.random.integers(150_000, 500_000))
        told = {"Task Type": "PCIE_DMA_SQE", "Physic Stream Id": 3}
        start = max(job.device, job.host)
        job.event("MEMCPY_ASYNC", (DEVICE, 3), start, length, **told)
        job.call("AscendCL@aclrtMemcpy", start + length + 3000 - job.host, HOST)


def _sequence(kernels: tuple[str, ...]) -> Step:
    def step(job: Job) -> None:
        for _ in range(10):
            _layers(job, 2)
            length = int(job.random.integers(12_000, 30_000))
            for kernel in kernels:
                job.run(kernel, 6000, length)

    return step


def _fused(job: Job) -> None:
    for _ in range(10):
        _layers(job, 2)
        for kernel in ("RmsNorm", "RotaryMul", "SwiGlu"):
            job.run(kernel, 6000, 30_000)


KINDS: dict[str, tuple[Step, frozenset[str]]] = {
    "healthy": (_healthy, frozenset()),
    "healthy with one value a step": (_healthy_with_one_value, frozenset()),
    "fused": (_fused, frozenset()),
    "launch bound": (_launch_bound, frozenset({"launching"})),
    "synchronising": (_synchronising, frozenset({"synchronisation"})),
    "reading values": (_reading_values, frozenset({"synchronisation"})),
    "data loading": (_loading, frozenset({"data loading"})),
    "compiling": (_compiling, frozenset({"compilation"})),
    "collecting garbage": (_collecting, frozenset({"garbage collection"})),
    "copying": (_copying, frozenset({"copies between host and device"})),
    "rotary embedding": (_sequence(ROPE), frozenset({"torch_npu.npu_rotary_mul"})),
    "RMS norm": (_sequence(RMS_NORM), frozenset({"torch_npu.npu_rms_norm"})),
    "SwiGLU": (_sequence(SWIGLU), frozenset({"torch_npu.npu_swiglu"})),
}
"""By kind what happens in a step, and the first cause, of a sequence the operator that replaces it; none for healthy ones."""


def planted_events(kind: str, seed: int) -> list[dict[str, Any]]:
    """The events of a planted timeline."""
    random = np.random.default_rng([seed, *kind.encode()])
    job, step = Job(random, queued=bool(seed % 2)), KINDS[kind][0]
    for number in range(int(random.integers(2, 6))):
        begin = job.host
        step(job)
        job.host += 2000  # the last launch is part of the step
        job.event(f"ProfilerStep#{number + 10}", (PYTHON, MAIN), begin, max(job.host - begin, 1))
        # what is no cause: a thread that launches nothing loads data, garbage is collected while the device has work
        job.event("AscendCL@acltdtSendTensor", (HOST, LOADER), begin, max(job.host - begin, 1))
        if job.device - job.host > 100_000:
            job.call("GC", 50_000, COLLECTOR)
    if seed % 5 == 0:
        _move(job.events, -int(random.integers(0, 900_000)))
    processes = {HOST: "CANN", DEVICE: "Ascend Hardware", PYTHON: "Python", COLLECTOR: "Python GC"}
    names = [_metadata("process_name", pid, 0, name) for pid, name in processes.items()]
    names += [
        _metadata("thread_name", pid, tid, f"Thread {tid}")
        for pid in (HOST, PYTHON)
        for tid in (MAIN, LAUNCHER, LOADER)
    ]
    return [*names, *job.events]


def _move(events: list[dict[str, Any]], by_ns: int) -> None:
    """Let the clock of the device be another one than that of the host."""
    for event in events:
        if event["pid"] == DEVICE:
            whole, _, rest = event["ts"].partition(".")
            ns = int(whole) * 1000 + int(rest) + by_ns
            event["ts"] = f"{ns // 1000}.{ns % 1000:03d}"


def _metadata(what: str, pid: int, tid: int, name: str) -> dict[str, Any]:
    return {"name": what, "ph": "M", "pid": pid, "tid": tid, "args": {"name": name}}


def write_planted(folder: Path, kind: str, seed: int) -> frozenset[str]:
    """Write a planted capture below a folder; what is to be said of it first."""
    output = folder / "rank0_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    (output.parent / "profiler_info_0.json").write_text(json.dumps({"rank_id": 0}))
    (output / "trace_view.json").write_text(json.dumps(planted_events(kind, seed)))
    return KINDS[kind][1]
