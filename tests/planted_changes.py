"""Pairs of captures of a made-up training step with one change that is known; everything else scatters."""

from __future__ import annotations

import csv
import json
import random
from dataclasses import dataclass, field, replace
from pathlib import Path

from made_traces import HOST, ORIGIN, Trace

STEPS = 4
HOST_THREAD, PYTHON = 7, 9
ALL_REDUCE = "hcom_allReduce__101_0_1"
_GAP_US = 1.2
"""Between a launch and the begin of its task, at least."""


@dataclass(frozen=True)
class Kernel:
    op_type: str
    us: float
    shapes: str = '"64,1024;1024,1024"'
    formats: str = "ND;ND"
    types: str = "FLOAT16;FLOAT16"


@dataclass(frozen=True)
class Program:
    """What a step does; times in us."""

    kernels: tuple[Kernel, ...]
    launch_us: float = 4.0
    """How long the host takes for each launch."""
    load_us: float = 30.0
    synchronise_us: float = 0.0
    """A blocking copy in the middle of the step."""
    compile_us: float = 0.0
    collect_us: float = 0.0
    host_us: float = 0.0
    """Work of the host of which nothing tells anything."""
    transit_us: float = 400.0
    wait_us: float = 60.0
    megabytes: float = 20.0
    beside_us: float = 40.0
    """For how long the all-reduce runs beside the last kernel."""
    steps: int = STEPS
    tables: bool = True
    """Whether there are tables of kernels and of communication."""


_LAYER = (
    Kernel("MatMulV2", 95),
    Kernel("Add", 21, '"64,1024;64,1024"'),
    Kernel("Mul", 23, '"64,1024;64,1024"'),
    Kernel("SoftmaxV2", 41, '"64,1024"', "ND", "FLOAT16"),
    Kernel("LayerNorm", 33, '"64,1024"', "ND", "FLOAT16"),
    Kernel("Cast", 11, '"64,1024"', "ND", "FLOAT16"),
)
BASE = Program(_LAYER * 6 + (Kernel("ReduceSum", 15, '"64,1024"', "ND", "FLOAT16"),))


@dataclass(frozen=True)
class Planted:
    """A change, and what `explain` is to name first."""

    name: str
    program: Program
    area: str
    cause: str
    operator: str | None = None
    base: Program = field(default=BASE)


def _each(of: str, **changes: object) -> tuple[Kernel, ...]:
    return tuple(replace(kernel, **changes) if kernel.op_type == of else kernel for kernel in BASE.kernels)  # type: ignore[arg-type]


def _without(*types: str) -> list[Kernel]:
    return [kernel for kernel in BASE.kernels if kernel.op_type not in types]


def planted(seed: int) -> list[Planted]:
    """Eighteen changes, of sizes that the seed tells."""
    size = random.Random(seed).uniform(1.0, 2.0)
    longer = [
        replace(kernel, us=kernel.us * (1 + 0.12 * size)) if kernel.op_type == "MatMulV2" else kernel
        for kernel in BASE.kernels
    ]
    fused = [*_without("Add", "Mul"), *[Kernel("FusedMulAdd", 20 / size, '"64,1024;64,1024"')] * 6]
    split = [
        *_without("SoftmaxV2"),
        *[one for part in ("ReduceMax", "Exp", "RealDiv") for one in [Kernel(part, 20 * size)] * 6],
    ]
    return [
        Planted("slower kernel", replace(BASE, kernels=tuple(longer)), "computing", "slower-calls", "MatMulV2"),
        Planted("faster kernel", replace(BASE, kernels=_each("SoftmaxV2", us=41 / (1 + size / 2))), "computing", "faster-calls", "SoftmaxV2"),
        Planted("more calls", replace(BASE, kernels=(*BASE.kernels, *[Kernel("Cast", 11, '"64,1024"', "ND", "FLOAT16")] * int(8 * size))), "computing", "more-calls", "Cast"),
        Planted("other shapes", replace(BASE, kernels=_each("MatMulV2", us=95 + 15 * size, shapes='"65,1024;1024,1024"')), "computing", "changed-shapes", "MatMulV2"),
        Planted("other formats", replace(BASE, kernels=_each("LayerNorm", us=33 + 15 * size, formats="FRACTAL_NZ")), "computing", "changed-formats", "LayerNorm"),
        Planted("other types", replace(BASE, kernels=_each("MatMulV2", us=95 + 20 * size, types="FLOAT;FLOAT")), "computing", "changed-data-types", "MatMulV2"),
        Planted("new operator", replace(BASE, kernels=(*BASE.kernels, *[Kernel("TransData", 14 * size)] * 5)), "computing", "new", "TransData"),
        Planted("fused", replace(BASE, kernels=tuple(fused)), "computing", "fused", "Add + Mul → FusedMulAdd"),
        Planted("split", replace(BASE, kernels=tuple(split)), "computing", "split", "SoftmaxV2 → Exp + RealDiv + ReduceMax"),
        Planted("slower link", replace(BASE, transit_us=400 + 120 * size), "communication", "slower-transfer", "allreduce"),
        Planted("more bytes", replace(BASE, transit_us=400 * (1 + size / 2), megabytes=20 * (1 + size / 2)), "communication", "more-bytes", "allreduce"),
        Planted("less overlap", replace(BASE, beside_us=12 / size), "communication", "less-hidden", "allreduce"),
        Planted("later rank", replace(BASE, wait_us=60 + 120 * size), "communication", "more-waiting", "allreduce"),
        Planted("slower host", replace(BASE, host_us=150 * size), "idle", "host launch"),
        Planted("blocking copy", replace(BASE, synchronise_us=150 * size), "idle", "synchronisation"),
        Planted("slow loader", replace(BASE, load_us=30 + 150 * size), "idle", "data loading"),
        Planted("compilation", replace(BASE, compile_us=150 * size), "idle", "compilation"),
        Planted("garbage collection", replace(BASE, collect_us=150 * size), "idle", "garbage collection"),
    ]  # fmt: skip


class _Run:
    """One capture: the host launches, a stream computes, an all-reduce runs behind the last kernel but one."""

    def __init__(self, program: Program, seed: int) -> None:
        self.program, self.random = program, random.Random(seed)
        self.trace, self.rows, self.talk = Trace(), [], {}  # type: ignore[var-annotated]
        for process, name in ((HOST, "CANN"), (PYTHON, "Python")):
            self.trace.named(process, name, {HOST_THREAD: f"Thread {HOST_THREAD}"})
        self.host = self.free = 0.0
        if program.collect_us:
            self.trace.named(11, "Python GC")

    def scattered(self, us: float) -> float:
        return round(us * self.random.gauss(1, 0.004), 3)

    def call(self, name: str, us: float, tid: int = HOST_THREAD, pid: int = PYTHON) -> None:
        if us:
            length = self.scattered(us)
            self.trace.event(name, (pid, tid), self.host, length)
            self.host += length

    def step(self, number: int) -> None:
        begin, program = self.host, self.program
        self.call("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", program.load_us)
        middle = len(program.kernels) // 2
        for place, kernel in enumerate(program.kernels):
            if place == middle:
                self.between()
            self.launch(kernel, number)
        self.all_reduce(number)
        self.host = max(self.host, self.free)  # the step ends when its loss is read
        self.trace.event(f"ProfilerStep#{number}", (PYTHON, 1), begin, round(self.host - begin, 3))

    def between(self) -> None:
        """What holds the host up, once the device has nothing left to do."""
        program = self.program
        if not (program.host_us or program.synchronise_us or program.compile_us or program.collect_us):
            return
        self.host = max(self.host, self.free)
        self.call("AscendCL@aclrtMemcpy", program.synchronise_us)
        self.call("AscendCL@opCompile", program.compile_us)
        self.call("GC", program.collect_us, 0, 11)
        self.host += self.scattered(program.host_us) if program.host_us else 0.0

    def launch(self, kernel: Kernel, step: int) -> None:
        self.host += self.scattered(self.program.launch_us)
        start, length = round(max(self.free, self.host + _GAP_US), 3), self.scattered(kernel.us)
        self.trace.task(f"aclnn{kernel.op_type}", start, length, launched=round(self.host, 3))
        self.free = start + length
        ns = ORIGIN + round(start * 1000)
        self.rows.append(
            {
                "Step Id": step, "Name": f"aclnn{kernel.op_type}", "Type": kernel.op_type, "Accelerator Core": "AI_CORE",
                "Start Time(us)": f"{ns // 1000}.{ns % 1000:03d}", "Duration(us)": length,
                "Input Shapes": kernel.shapes, "Input Data Types": kernel.types, "Input Formats": kernel.formats,
            }
        )  # fmt: skip

    def all_reduce(self, step: int) -> None:
        program = self.program
        wait, transit = self.scattered(program.wait_us), self.scattered(program.transit_us)
        self.host += self.scattered(program.launch_us)
        start = round(max(self.free - program.beside_us, self.host + _GAP_US), 3)
        self.trace.talk(ALL_REDUCE, start, round(wait + transit, 3), launched=round(self.host, 3))
        self.free = max(self.free, start + wait + transit)
        size = program.megabytes
        times = {"Start Timestamp(us)": start, "Elapse Time(ms)": (wait + transit) / 1000, "Transit Time(ms)": transit / 1000, "Wait Time(ms)": wait / 1000, "Synchronization Time(ms)": wait / 1000, "Idle Time(ms)": 0}  # fmt: skip
        sent = {"Transit Size(MB)": size, "Transit Time(ms)": transit / 1000, "Bandwidth(GB/s)": size / transit * 1000, "Large Packet Ratio": 0.0, "Size Distribution": {}}  # fmt: skip
        self.talk[f"step{step}"] = {
            "p2p": {},
            "collective": {f"{ALL_REDUCE}@5": {"Communication Time Info": times, "Communication Bandwidth Info": {"HCCS": sent}}},
        }  # fmt: skip

    def write(self, folder: Path) -> Path:
        for number in range(1, self.program.steps + 1):
            self.step(number)
        self.trace.write(folder)
        output = folder / "rank0_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
        if self.program.tables:
            with (output / "kernel_details.csv").open("w", newline="") as file:
                writer = csv.DictWriter(file, list(self.rows[0]))
                writer.writeheader()
                writer.writerows(self.rows)
            (output / "communication.json").write_text(json.dumps(self.talk))
        return folder


def write_run(folder: Path, program: Program, seed: int) -> Path:
    """One capture."""
    return _Run(program, seed).write(folder)


def write_pair(folder: Path, change: Planted, seed: int) -> tuple[Path, Path]:
    """The capture before and that after."""
    return _Run(change.base, seed).write(folder / "before"), _Run(change.program, seed + 5000).write(folder / "after")
