"""A small training on two ranks with the files of torch_npu about its memory: what is held, and by whom, is known.

`python tests/planted_training.py` writes fixtures/memory/training.
"""

from __future__ import annotations

import csv
import json
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ORIGIN_NS = 1_736_408_883_000_000_000
MIB = 1 << 20
STEPS = range(10, 22)
STEP_NS = 10_000_000
LARGE_STEP = 14
"""The step of rank 1 that takes the largest batch."""
WEIGHTS, OPTIMIZER, OLD_CACHE = 96 * MIB, 192 * MIB, 32 * MIB
"""What is held since before the recording; the cache is released in the second step."""
LEAK = 4 * MIB
"""What each step keeps for ever."""
HCCL, RUNTIME, OTHER = 64 * MIB, 24 * MIB, 9 * MIB
"""What components of CANN hold, and what nobody says."""
PYTHON = 4711
_OPERATOR_HEADER = (
    "Name,Size(KB),Allocation Time(us),Release Time(us),Active Release Time(us),Duration(us),Active Duration(us),"
    "Allocation Total Allocated(MB),Allocation Total Reserved(MB),Allocation Total Active(MB),Release Total Allocated(MB),"
    "Release Total Reserved(MB),Release Total Active(MB),Stream Ptr,Device Type"
)
_RECORD_HEADER = (
    "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Total Active(MB),Stream Ptr,Device Type"
)


@dataclass
class Held:
    """One allocation."""

    owner: str
    size: int
    allocated_ns: int
    at_allocation: tuple[int, int]
    module: str | None
    released_ns: int | None = None
    at_release: tuple[int, int] = (0, 0)


@dataclass
class Training:
    """One rank while it trains; sums are those of the allocator of the framework (PTA) and of GE."""

    rank: int
    now: int = ORIGIN_NS
    allocated: int = WEIGHTS + OPTIMIZER + OLD_CACHE
    reserved: int = WEIGHTS + OPTIMIZER + OLD_CACHE
    of_ge: int = 0
    stated_ge: int = 0
    """What GE recorded last: before each release."""
    held: list[Held] = field(default_factory=list)
    ge_held: list[Held] = field(default_factory=list)
    records: list[tuple[str, int, int | None, int]] = field(default_factory=list)
    """(component, ns, allocated, reserved)."""
    ranges: list[tuple[str, str, int, int]] = field(default_factory=list)
    """(category, name, begin, end)."""
    _modules: list[str] = field(default_factory=list)

    GE_RESERVED = 16 * MIB

    def allocate(self, owner: str, size: int) -> Held:
        """Memory of the framework's allocator."""
        self.now += 20_000
        self.allocated += size
        self.reserved = max(self.reserved, -(-self.allocated // (20 * MIB)) * 20 * MIB)
        self._record()
        module = next((one for one in reversed(self._modules) if one.startswith("nn.Module: ")), None)
        self.held.append(Held(owner, size, self.now, (self.allocated, self.reserved), module))
        return self.held[-1]

    def release(self, held: Held) -> None:
        """Give it back."""
        self.now += 10_000
        self.allocated -= held.size
        held.released_ns, held.at_release = self.now, (self.allocated, self.reserved)
        self._record()

    def release_older(self, size: int) -> None:
        """Give back what was allocated before the recording."""
        self.now += 10_000
        self.allocated -= size
        self._record()

    def _record(self) -> None:
        self.records.append(("PTA", self.now, self.allocated, self.reserved))
        ge = (self.stated_ge, self.GE_RESERVED) if self.ge_held else (0, 0)
        self.records.append(("PTA+GE", self.now, self.allocated + ge[0], self.reserved + ge[1]))

    def use_ge(self, owner: str, size: int) -> None:
        """GE allocates and releases; its sum at the release is that before it."""
        self.now += 20_000
        self.of_ge += size
        self.stated_ge = self.of_ge
        held = Held(owner, size, self.now, (self.of_ge, self.GE_RESERVED), None)
        self.ge_held.append(held)
        self._record_ge()
        self.now += 30_000
        held.released_ns, held.at_release = self.now, (self.of_ge, self.GE_RESERVED)
        self._record_ge()
        self.of_ge -= size

    def _record_ge(self) -> None:
        self.records.append(("GE", self.now, self.stated_ge, self.GE_RESERVED))
        self.records.append(("PTA+GE", self.now, self.allocated + self.stated_ge, self.reserved + self.GE_RESERVED))

    @contextmanager
    def within(self, category: str, name: str) -> Iterator[None]:
        """A range of the host."""
        self.now += 1_000
        begin = self.now
        self._modules.append(name)
        yield
        self._modules.pop()
        self.now += 1_000
        self.ranges.append((category, name, begin, self.now))

    def run(self) -> None:
        """All steps."""
        for number in STEPS:
            self.now = ORIGIN_NS + (number - STEPS[0]) * STEP_NS
            with self.within("python_function", "train.py(12): train"):
                self._step(number)
                end = ORIGIN_NS + (number - STEPS[0] + 1) * STEP_NS - 2_000
                self.ranges.append(("cpu_op", f"ProfilerStep#{number}", end - STEP_NS + 2_000, end))

    def _step(self, number: int) -> None:
        factor = 5 if (self.rank, number) == (1, LARGE_STEP) else 2
        kept = []
        for layer in range(3):
            with (
                self.within("python_function", f"nn.Module: Linear_{layer}"),
                self.within("cpu_op", "aten::linear"),
            ):
                kept.append(self.allocate("aten::addmm", (layer + 1) * factor * 4 * MIB))
                if layer == 1:
                    self.use_ge("trans_TransData_1", 6 * MIB)
        if number == STEPS[1]:
            self.release_older(OLD_CACHE)
        with self.within("python_function", "nn.Module: CrossEntropyLoss_0"):
            kept.append(self.allocate("aten::_log_softmax", 8 * MIB))
        with self.within("cpu_op", "autograd::engine::evaluate_function: AddmmBackward0"):
            gradients = [self.allocate("aten::mm", 32 * MIB) for _ in range(3)]
            for one in reversed(kept):
                self.release(one)
        with self.within("cpu_op", "Optimizer.step#AdamW.step"):
            self.release(self.allocate("aten::_foreach_add", 24 * MIB))
        self.allocate("aten::clone", LEAK)
        for one in gradients:
            self.release(one)


def write_training(folder: Path) -> dict[int, Training]:
    """Write both ranks below a folder; what happened on each."""
    return {rank: _write_rank(folder, rank) for rank in (0, 1)}


def _write_rank(folder: Path, rank: int) -> Training:
    training = Training(rank)
    training.run()
    output = folder / f"rank{rank}_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    info = {"rank_id": rank, "config": {"common_config": {"profile_memory": True, "with_modules": True}}}
    (output.parent / f"profiler_info_{rank}.json").write_text(json.dumps(info), encoding="utf-8")
    _write(output / "operator_memory.csv", _OPERATOR_HEADER, _operators(training))
    _write(output / "memory_record.csv", _RECORD_HEADER, _records(training))
    _write(output / "npu_module_mem.csv", "Component,Timestamp(us),Total Reserved(MB),Device", _modules(training))
    _write(output / "kernel_details.csv", "Step Id,Name,Type,Accelerator Core,Start Time(us),Duration(us)", _kernels())
    (output / "trace_view.json").write_text(json.dumps(_events(training), indent=0), encoding="utf-8")
    if rank == 0:
        header = "Device_id,Op Name,Model Name,Graph ID,Node Index Start,Node Index End,Size(KB)"
        _write(output / "static_op_mem.csv", header, _GRAPH)
    return training


_GRAPH = (
    ("host", "trans_TransData_0", 0, 0, 1, 6, 1250.0),
    ("host", "conv_01", 0, 0, 4, 7, 781.25),
    ("host", "relu_01", 0, 0, 5, 34, 2343.75),
    ("host", "refdata_02", 0, 0, 1, 4294967295, 488.0),
    ("host", "TOTAL", 0, 0, 1, 4294967295, 6200.5),
)


def _write(path: Path, header: str, rows: Sequence[Sequence[Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\r\n")
        writer.writerow(header.split(","))
        writer.writerows(rows)


def _us(ns: int | None) -> str:
    return "" if ns is None else f"{ns // 1000}.{ns % 1000:03d}\t"


def _mb(*sizes: int | None) -> list[float | str]:
    return ["" if size is None else size / MIB for size in sizes]


def _operators(training: Training) -> list[list[Any]]:
    rows = []
    for held, stream, prefix in [
        *((one, "94509039890976", "") for one in training.held),
        *((one, "", "cann::") for one in training.ge_held),
    ]:
        length = None if held.released_ns is None else held.released_ns - held.allocated_ns
        release = held.at_release if held.released_ns is not None else (None, None)
        rows.append(
            [
                f"{prefix}{held.owner}", held.size / 1024, _us(held.allocated_ns), _us(held.released_ns),
                _us(held.released_ns) if stream else "", _us(length), _us(length) if stream else "",
                *_mb(*held.at_allocation, held.at_allocation[0] if stream else None),
                *_mb(*release, release[0] if stream else None), stream, f"NPU:{training.rank}",
            ]
        )  # fmt: skip
    return rows


def _process(training: Training, ns: int) -> int:
    """What the process holds at a time."""
    reserved = [row[3] for row in training.records if row[0] == "PTA" and row[1] <= ns]
    return (reserved[-1] if reserved else WEIGHTS + OPTIMIZER + OLD_CACHE) + HCCL + RUNTIME + OTHER


def _sampled() -> range:
    return range(ORIGIN_NS, ORIGIN_NS + len(STEPS) * STEP_NS, 5_000_000)


def _records(training: Training) -> list[list[Any]]:
    device = f"NPU:{training.rank}"
    rows = [["APP", _us(ns), "", *_mb(_process(training, ns)), "", "", device] for ns in _sampled()]
    for component, ns, allocated, reserved in training.records:
        active = None if component == "GE" else allocated
        stream = "" if component == "GE" else "94509039890976"
        rows.append([component, _us(ns), *_mb(allocated, reserved, active), stream, device])
    return rows


def _modules(training: Training) -> list[list[Any]]:
    rows = []
    for ns in _sampled():
        own = _process(training, ns) - HCCL - RUNTIME - OTHER
        sizes = {"SLOG": 0, "HCCL": HCCL, "RUNTIME": RUNTIME, "APP": own}
        rows += [[name, _us(ns), *_mb(size), f"NPU:{training.rank}"] for name, size in sizes.items()]
    return rows


def _kernels() -> list[list[Any]]:
    begins = [(step, ORIGIN_NS + (step - STEPS[0]) * STEP_NS + 500_000) for step in STEPS]
    return [[step, "MatMul1", "MatMul", "AI_CORE", _us(begin), 4000.0] for step, begin in begins]


def _events(training: Training) -> list[dict[str, Any]]:
    named = [
        {"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": name}}
        for pid, name in ((PYTHON, "Python"), (PYTHON + 1, "Ascend Hardware"))
    ]
    ranges = [
        {
            "ph": "X", "name": name, "cat": category, "pid": PYTHON, "tid": PYTHON,
            "ts": _us(begin).strip(), "dur": (end - begin) / 1000, "args": {},
        }
        for category, name, begin, end in training.ranges
    ]  # fmt: skip
    kernels = [
        {
            "ph": "X", "name": name, "pid": PYTHON + 1, "tid": 2,
            "ts": begin.strip(), "dur": length, "args": {"Task Type": core},
        }
        for _, name, _, core, begin, length in _kernels()
    ]  # fmt: skip
    return [*named, *ranges, *kernels]


def peak_of(training: Training, step: int | None = None) -> tuple[int, int]:
    """(the highest recorded sum of both allocators, when it was reached first), in all or in one step."""
    begin = ORIGIN_NS if step is None else ORIGIN_NS + (step - STEPS[0]) * STEP_NS
    end = ORIGIN_NS + len(STEPS) * STEP_NS if step is None else begin + STEP_NS
    sums = [(size, -ns) for name, ns, size, _ in training.records if name == "PTA+GE" and begin <= ns < end]
    size, ns = max((size or 0, ns) for size, ns in sums)
    return size, -ns


def owners_at(training: Training, ns: int) -> dict[str, int]:
    """What is alive of the recorded allocations at a time, by owner."""
    found: dict[str, int] = {}
    for held in [*training.held, *training.ge_held]:
        if held.allocated_ns <= ns and (held.released_ns is None or held.released_ns > ns):
            found[held.owner] = found.get(held.owner, 0) + held.size
    return found


if __name__ == "__main__":
    target = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1] / "fixtures" / "memory" / "training")
    shutil.rmtree(target, ignore_errors=True)
    write_training(target)
