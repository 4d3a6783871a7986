"""A small training on two ranks with the files of torch_npu about its memory: what is held, and by whom, is known.

`python tests/planted_training.py` writes fixtures/memory/training.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from captures import us
from memory_files import MIB, UNKNOWN, Allocation, Record, write_capture, write_table, write_tables

ORIGIN_NS = 1_736_408_883_000_000_000
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
STREAM = "94509039890976"
KERNEL_US = 4000.0


@dataclass
class Held:
    """One allocation."""

    owner: str
    size: int
    allocated_ns: int
    at_allocation: tuple[int, int]
    module: str | None
    released_ns: int | None = None
    at_release: tuple[int, int] | None = None


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
    output = write_capture(folder, rank, _events(training), with_modules=True)
    write_tables(output, _allocations(training), _records(training), _modules(training), device=rank)
    write_table(
        output / "kernel_details.csv",
        ["Step Id", "Name", "Type", "Accelerator Core", "Start Time(us)", "Duration(us)"],
        ([step, "MatMul1", "MatMul", "AI_CORE", f"{us(begin)}\t", KERNEL_US] for step, begin in _kernels()),
    )
    if rank == 0:
        header = ["Device_id", "Op Name", "Model Name", "Graph ID", "Node Index Start", "Node Index End", "Size(KB)"]
        write_table(output / "static_op_mem.csv", header, _GRAPH)
    return training


_GRAPH = (
    ("host", "trans_TransData_0", 0, 0, 1, 6, 1250.0),
    ("host", "conv_01", 0, 0, 4, 7, 781.25),
    ("host", "relu_01", 0, 0, 5, 34, 2343.75),
    ("host", "refdata_02", 0, 0, 1, 4294967295, 488.0),
    ("host", "TOTAL", 0, 0, 1, 4294967295, 6200.5),
)


def _allocations(training: Training) -> Iterator[Allocation]:
    for held, stream, prefix in [
        *((one, STREAM, "") for one in training.held),
        *((one, "", "cann::") for one in training.ge_held),
    ]:
        totals = [
            UNKNOWN if sums is None else (*sums, sums[0] if stream else None)
            for sums in (held.at_allocation, held.at_release)
        ]
        yield Allocation(f"{prefix}{held.owner}", held.size, held.allocated_ns, held.released_ns, *totals, stream)


def _process(training: Training, ns: int) -> int:
    """What the process holds at a time."""
    reserved = [row[3] for row in training.records if row[0] == "PTA" and row[1] <= ns]
    return (reserved[-1] if reserved else WEIGHTS + OPTIMIZER + OLD_CACHE) + HCCL + RUNTIME + OTHER


def _sampled() -> range:
    return range(ORIGIN_NS, ORIGIN_NS + len(STEPS) * STEP_NS, 5_000_000)


def _records(training: Training) -> Iterator[Record]:
    yield from (Record("APP", ns, (None, _process(training, ns), None), "") for ns in _sampled())
    for component, ns, allocated, reserved in training.records:
        is_ge = component == "GE"
        yield Record(component, ns, (allocated, reserved, None if is_ge else allocated), "" if is_ge else STREAM)


def _modules(training: Training) -> Iterator[tuple[str, int, int]]:
    for ns in _sampled():
        own = _process(training, ns) - HCCL - RUNTIME - OTHER
        sizes = {"SLOG": 0, "HCCL": HCCL, "RUNTIME": RUNTIME, "APP": own}
        yield from ((name, ns, size) for name, size in sizes.items())


def _kernels() -> list[tuple[int, int]]:
    return [(step, ORIGIN_NS + (step - STEPS[0]) * STEP_NS + 500_000) for step in STEPS]


def _events(training: Training) -> Iterator[dict[str, Any]]:
    for pid, name in ((PYTHON, "Python"), (PYTHON + 1, "Ascend Hardware")):
        yield {"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": name}}
    for category, name, begin, end in training.ranges:
        yield {
            "ph": "X", "name": name, "cat": category, "pid": PYTHON, "tid": PYTHON,
            "ts": us(begin), "dur": (end - begin) / 1000, "args": {},
        }  # fmt: skip
    for _, begin in _kernels():
        yield {
            "ph": "X", "name": "MatMul1", "pid": PYTHON + 1, "tid": 2,
            "ts": us(begin), "dur": KERNEL_US, "args": {"Task Type": "AI_CORE"},
        }  # fmt: skip


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
