"""Training and serving with one thing planted in their memory, by kind and seed: what grows is known.

A caching allocator as that of PyTorch serves them: blocks of segments, the best fit first, split and merged. What it records becomes frames, or the
files that torch_npu writes.
"""

from __future__ import annotations

import contextlib
from bisect import bisect_left, insort
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from captures import us
from memory_files import KIB, MIB, Allocation, Record, Totals, write_capture, write_tables

from aoe_reports.schema.table import Table
from aoe_reports.schema.tables import MEMORY_EVENT, MEMORY_SAMPLE

ORIGIN_NS = 1_736_408_883_000_000_000
ROUND, SMALL, SMALL_SEGMENT, LARGE_SEGMENT, LARGE, SEGMENT_ROUND = 512, MIB, 2 * MIB, 20 * MIB, 10 * MIB, 2 * MIB
"""Sizes of PyTorch's allocator."""


@dataclass
class Block:
    """Memory of one allocation."""

    owner: str
    size: int
    address: int
    is_small: bool
    allocated_ns: int | None = None
    released_ns: int | None = None
    at_allocation: Totals | None = None
    at_release: Totals | None = None


class Allocator:
    """Serves blocks from the best fitting free ones, and takes segments from the device where none fits."""

    def __init__(self) -> None:
        self.allocated = self.reserved = 0
        self._free: dict[bool, list[tuple[int, int]]] = {False: [], True: []}
        """(size, address) in order, of segments for large and for small blocks."""
        self._starts: dict[int, tuple[int, bool]] = {}
        self._ends: dict[int, int] = {}
        self._next = 1 << 40

    def allocate(self, size: int) -> tuple[int, int]:
        """(address, size) of a block."""
        size = -(-size // ROUND) * ROUND
        is_small = size <= SMALL
        free = self._free[is_small]
        place = bisect_left(free, (size, 0))
        if place == len(free):
            self._take_segment(size, is_small)
            place = bisect_left(free, (size, 0))
        whole, address = free[place]
        self._remove(whole, address, is_small)
        rest = whole - size
        if rest >= (ROUND if is_small else MIB):
            self._add(rest, address + size, is_small)
        else:
            size = whole
        self.allocated += size
        return address, size

    def release(self, address: int, size: int, is_small: bool) -> None:
        """Make a block free, merged with free neighbours."""
        self.allocated -= size
        if (before := self._ends.get(address)) is not None:
            length = address - before
            self._remove(length, before, is_small)
            address, size = before, size + length
        if (behind := self._starts.get(address + size)) is not None:
            self._remove(behind[0], address + size, is_small)
            size += behind[0]
        self._add(size, address, is_small)

    def _take_segment(self, size: int, is_small: bool) -> None:
        length = (
            SMALL_SEGMENT if is_small else LARGE_SEGMENT if size < LARGE else -(-size // SEGMENT_ROUND) * SEGMENT_ROUND
        )
        self._add(length, self._next, is_small)
        self.reserved += length
        self._next += length + SEGMENT_ROUND  # segments are apart, so that they are not merged

    def _add(self, size: int, address: int, is_small: bool) -> None:
        insort(self._free[is_small], (size, address))
        self._starts[address] = (size, is_small)
        self._ends[address + size] = address

    def _remove(self, size: int, address: int, is_small: bool) -> None:
        free = self._free[is_small]
        del free[bisect_left(free, (size, address))]
        del self._starts[address], self._ends[address + size]


class Run:
    """A process with an allocator, and what is recorded of it."""

    def __init__(self, random: np.random.Generator) -> None:
        self.random = random
        self.now = ORIGIN_NS
        self.is_recording = False
        self.blocks: list[Block] = []
        """Recorded ones, in the order of their allocation or, for older ones, of their release."""
        self.samples: list[tuple[int, Totals]] = []
        self.steps: list[tuple[int, int, int]] = []
        self._allocator = Allocator()

    def allocate(self, owner: str, size: float) -> Block:
        """Allocate memory for an operator."""
        address, whole = self._allocator.allocate(int(size))
        block = Block(owner, whole, address, size <= SMALL)
        if self.is_recording:
            block.allocated_ns, block.at_allocation = self._sample()
            self.blocks.append(block)
        return block

    def release(self, *blocks: Block) -> None:
        """Release some memory."""
        for block in blocks:
            self._allocator.release(block.address, block.size, block.is_small)
            if self.is_recording:
                block.released_ns, block.at_release = self._sample()
                if block.allocated_ns is None:
                    self.blocks.append(block)

    def passing(self, owner: str, size: float) -> None:
        """Allocate memory and release it at once, as a workspace."""
        self.release(self.allocate(owner, size))

    def step(self, number: int, work: Callable[[], None]) -> None:
        """One step; a step that raises Cut ends there."""
        start = self.now
        with contextlib.suppress(Cut):
            work()
        self.now += 5_000
        if self.is_recording:
            self.steps.append((number, start, self.now))

    def _sample(self) -> tuple[int, Totals]:
        self.now += 2_340
        totals = (self._allocator.allocated, self._allocator.reserved, self._allocator.allocated)
        self.samples.append((self.now, totals))
        return self.now, totals

    def events(self) -> pa.Table:
        """As MEMORY_EVENT has them."""
        return event_frame_of(self.blocks)

    def sample_rows(self) -> pa.Table:
        """As MEMORY_SAMPLE has them."""
        return sample_frame_of(self.samples)


def event_frame_of(blocks: Sequence[Block]) -> pa.Table:
    """Allocations as MEMORY_EVENT has them."""
    none = (None, None, None)
    rows = [
        {
            "component": "PTA",
            "owner": block.owner,
            "size_bytes": block.size,
            "allocated_ns": block.allocated_ns,
            "released_ns": block.released_ns,
            **dict(zip(_totals("allocation"), block.at_allocation or none, strict=True)),
            **dict(zip(_totals("release"), block.at_release or none, strict=True)),
        }
        for block in blocks
    ]
    return _frame(MEMORY_EVENT, rows)


def sample_frame_of(samples: Sequence[tuple[int, tuple[int | None, int | None, int | None]]]) -> pa.Table:
    """(ns, totals) as MEMORY_SAMPLE has them."""
    names = ("allocated_bytes", "reserved_bytes", "active_bytes")
    rows = [
        {"scope": "allocator", "component": "PTA", "sampled_ns": ns, **dict(zip(names, totals, strict=True))}
        for ns, totals in samples
    ]
    return _frame(MEMORY_SAMPLE, rows)


def _totals(moment: str) -> list[str]:
    return [f"{moment}_{measure}_bytes" for measure in ("allocated", "reserved", "active")]


def _frame(table: Table, rows: Sequence[dict[str, Any]]) -> pa.Table:
    kinds = {"BIGINT": pa.int64(), "VARCHAR": pa.string()}
    schema = pa.schema([(column.name, kinds[column.type]) for column in table.columns])
    return pa.Table.from_pylist(list(rows), schema)


class Cut(Exception):  # noqa: N818 -- no error: recording stops within a step
    """The recording ends here."""


@dataclass
class Training:
    """Steps of training: activations live from forward to backward, gradients to the optimizer, its state for ever."""

    run: Run
    weights: Sequence[int]
    lengths: Callable[[int], int] = lambda step: 512
    """Tokens of a step."""
    accumulation: int = 1
    """Backward passes of one update."""
    hook: Callable[[int, int], None] = lambda step, length: None
    """Called within each step, with its number and tokens."""
    cut_at: int | None = None
    """Operators of the last step before it is cut."""
    kept: list[Block] = field(default_factory=list)
    """Activations that a hook may keep for itself."""
    _state: list[Block] = field(default_factory=list)
    _gradients: list[Block] = field(default_factory=list)
    _outputs: list[Block] = field(default_factory=list)
    _batch: Block | None = None

    def __post_init__(self) -> None:
        for size in self.weights:
            self.run.allocate("aten::empty_strided", size)

    def work(self, number: int, *, is_last: bool = False) -> Callable[[], None]:
        """What one step does."""
        operators = self._operators(number)

        def run() -> None:
            for count, _ in enumerate(operators):
                if is_last and count == self.cut_at:
                    raise Cut

        return run

    def _operators(self, number: int) -> Iterator[None]:
        run, length = self.run, self.lengths(number)
        if self._batch is not None:
            run.release(self._batch)
        self._batch = run.allocate("aten::copy_", 8 * length)
        run.release(*self._outputs)
        self._outputs = []
        if number % self.accumulation == 0:
            run.release(*self._gradients)
            self._gradients = []
        yield
        activations = []
        for size in self.weights:
            width = int((size / 8) ** 0.5)
            run.passing("aten::addmm", 2 * MIB)
            activations.append(
                [run.allocate("aten::addmm", 2 * width * length), run.allocate("aten::gelu", 4 * width * length)]
            )
            yield
        self._outputs = [run.allocate("aten::nll_loss_forward", ROUND), run.allocate("aten::argmax", 8 * length)]
        yield
        self.hook(number, length)
        yield
        is_first = not self._gradients
        flowing = run.allocate("aten::nll_loss_backward", 4 * length)
        for size, held in zip(reversed(self.weights), reversed(activations), strict=True):
            following = run.allocate("aten::mm", held[0].size)
            run.release(flowing, *held)
            flowing = following
            if is_first:
                self._gradients.append(run.allocate("aten::mm", size))
            yield
        run.release(flowing)
        if number % self.accumulation == self.accumulation - 1:
            if not self._state:
                self._state = [run.allocate("aten::zeros_like", size) for size in self.weights for _ in range(2)]
            run.release(*[run.allocate("aten::_foreach_add", size) for size in self.weights])
        yield


@dataclass(frozen=True)
class Planted:
    """A recording, and what grows in it."""

    run: Run
    owners: dict[str, str] = field(default_factory=dict)
    """Meaning by owner; warm-up only where it is more than a hundredth of the pool."""
    pool: frozenset[tuple[str, str]] = frozenset()
    """(measure, meaning) of the pool; growth of reserved memory is compared where it is planted only."""
    bytes_per_step: float | None = None
    """Of the leak."""
    lost_rows: float = 0.0
    """Part of the allocations that is not in the recording, as their rows are missing."""
    lost_releases: float = 0.0
    """Part of the releases that is not."""

    def frames(self) -> tuple[pa.Table, pa.Table]:
        """(events, samples), as they are recorded."""
        events = self.run.events()
        random = np.random.default_rng(events.num_rows)
        events = events.filter(pa.array(random.random(events.num_rows) >= self.lost_rows))
        lost = pa.array(random.random(events.num_rows) < self.lost_releases)
        column = events.schema.get_field_index("released_ns")
        released = pc.if_else(lost, pa.scalar(None, pa.int64()), events["released_ns"])
        return events.set_column(column, "released_ns", released), self.run.sample_rows()


LEAK = frozenset({("allocated", "leak")})
GROWING = frozenset({("allocated", "grows")})
FILLING = frozenset({("allocated", "filling cache")})


def _training(random: np.random.Generator, **options: Any) -> Training:
    weights = [int(size) * MIB for size in random.integers(8, 64, int(random.integers(3, 7)))]
    return Training(Run(random), weights, **options)


def _recorded(training: Training, count: int | None = None, *, before: int = 2) -> Run:
    """Some steps that are not recorded, then those that are."""
    run = training.run
    count = int(run.random.integers(12, 25)) if count is None else count
    before *= training.accumulation
    for number in range(before + count):
        run.is_recording = number >= before
        run.step(number, training.work(number, is_last=number == before + count - 1))
    return run


def _varying(random: np.random.Generator) -> Callable[[int], int]:
    seed = int(random.integers(1 << 30))
    return lambda step: int(np.random.default_rng([seed, step]).integers(128, 1024))


def _leak(random: np.random.Generator) -> Planted:
    training, size = _training(random), _size(random)
    training.hook = lambda step, length: _keep(training, "aten::stack", size)
    return _leaking(_recorded(training), "aten::stack", size)


def _leaking(run: Run, owner: str, size: float) -> Planted:
    return Planted(run, {owner: "leak"}, LEAK, size)


def _size(random: np.random.Generator) -> int:
    return ROUND * int(random.integers(1, 2 * 16 * KIB) if random.integers(2) else random.integers(8, 64))


def _keep(training: Training, owner: str, size: float) -> None:
    training.kept.append(training.run.allocate(owner, size))


def _leak_of_varying_steps(random: np.random.Generator) -> Planted:
    """A result of each token is kept."""
    training = _training(random, lengths=_varying(random))
    training.hook = lambda step, length: _keep(training, "aten::stack", 4 * KIB * length)
    run = _recorded(training)
    return Planted(run, {"aten::stack": "leak"}, LEAK)


def _leak_with_everything(random: np.random.Generator) -> Planted:
    """Steps of any length that accumulate gradients, the last one cut."""
    size = int(random.integers(4, 64)) * MIB
    training = _training(
        random, lengths=_varying(random), accumulation=int(random.integers(2, 5)), cut_at=int(random.integers(3, 9))
    )
    training.hook = lambda step, length: _keep(training, "aten::stack", size)
    return _leaking(_recorded(training), "aten::stack", size)


def _leak_every_few_steps(random: np.random.Generator) -> Planted:
    period, size = int(random.integers(2, 5)), _size(random)
    training = _training(random)
    training.hook = lambda step, length: None if step % period else _keep(training, "aten::stack", size)
    return _leaking(_recorded(training, 6 * period), "aten::stack", size / period)


def _leak_without_a_pace(random: np.random.Generator) -> Planted:
    """Some steps keep something, others do not."""
    training, size, chance = _training(random), _size(random), float(random.uniform(0.75, 0.95))
    training.hook = lambda step, length: _keep(training, "aten::stack", size) if random.random() < chance else None
    return Planted(_recorded(training, 24), {"aten::stack": "leak"}, LEAK)


def _growth_without_a_pace(random: np.random.Generator) -> Planted:
    """A few steps keep something, most do not."""
    training, size, chance = _training(random), 32 * MIB, float(random.uniform(0.2, 0.4))
    training.hook = lambda step, length: _keep(training, "aten::stack", size) if random.random() < chance else None
    return Planted(_recorded(training, 60), {"aten::stack": "grows"}, GROWING, chance * size)


def _growth_of_any_size(random: np.random.Generator) -> Planted:
    """Each step keeps a number of results of chance."""
    training, size, often = _training(random), 32 * MIB, float(random.uniform(0.2, 0.5))

    def hook(step: int, length: int) -> None:
        for _ in range(int(random.poisson(often))):
            _keep(training, "aten::stack", size)

    training.hook = hook
    return Planted(_recorded(training, 60), {"aten::stack": "grows"}, GROWING, often * size)


def _leak_by_replacement(random: np.random.Generator) -> Planted:
    """A history that is copied into a longer one each step."""
    training, size = _training(random), ROUND * int(random.integers(KIB, 16 * KIB))

    def hook(step: int, length: int) -> None:
        longer = training.run.allocate("aten::cat", size * (step + 1))
        training.run.release(*training.kept)
        training.kept = [longer]

    training.hook = hook
    return _leaking(_recorded(training), "aten::cat", size)


def _leak_of_a_busy_owner(random: np.random.Generator) -> Planted:
    """Of an operator whose other results are released."""
    training, size = _training(random), _size(random)
    training.hook = lambda step, length: _keep(training, "aten::gelu", size)
    return _leaking(_recorded(training), "aten::gelu", size)


def _leak_of_a_graph(random: np.random.Generator) -> Planted:
    """Results of several operators are kept with a loss."""
    training, size = _training(random), _size(random)

    def hook(step: int, length: int) -> None:
        for owner in ("aten::mul", "aten::log", "aten::sum"):
            _keep(training, owner, size)

    training.hook = hook
    return Planted(_recorded(training), dict.fromkeys(("aten::mul", "aten::log", "aten::sum"), "leak"), LEAK, size)


def _leak_beside_a_saw(random: np.random.Generator) -> Planted:
    """Metrics are freed every few steps, and something else never."""
    training, size, period = _training(random), _size(random), int(random.integers(3, 6))
    metrics: list[Block] = []

    def hook(step: int, length: int) -> None:
        _keep(training, "aten::stack", size)
        metrics.append(training.run.allocate("aten::mean", 4 * MIB))
        if step % period == 0:
            training.run.release(*metrics)
            metrics.clear()

    training.hook = hook
    return _leaking(_recorded(training, 20), "aten::stack", size)


def _leak_without_some_rows(random: np.random.Generator) -> Planted:
    training, size = _training(random), _size(random)
    training.hook = lambda step, length: _keep(training, "aten::stack", size)
    run = _recorded(training, 24)
    return Planted(run, {"aten::stack": "leak"}, LEAK, lost_rows=0.02)


def _leak_after_warm_up(random: np.random.Generator) -> Planted:
    """The optimizer makes its state in the first recorded step."""
    training, size = _training(random), _size(random)
    training.hook = lambda step, length: _keep(training, "aten::stack", size)
    run = _recorded(training, before=0)
    owners = {"aten::stack": "leak", "aten::zeros_like": "warm-up"}
    return Planted(run, owners, LEAK | {("allocated", "warm-up")}, size)


def _leak_beside_releases(random: np.random.Generator) -> Planted:
    """Something that is older than the recording is released in its midst."""
    training, size = _training(random), _size(random)
    old = [training.run.allocate("aten::empty_strided", 64 * MIB) for _ in range(3)]

    def hook(step: int, length: int) -> None:
        _keep(training, "aten::stack", size)
        if step > 8 and old:
            training.run.release(old.pop())

    training.hook = hook
    return _leaking(_recorded(training, 24), "aten::stack", size)


def _cache_of_shapes(random: np.random.Generator) -> Planted:
    """Something is kept for each new shape, and there are few."""
    training, seen = _training(random), set[int]()
    shapes = int(random.integers(6, 10))

    def hook(step: int, length: int) -> None:
        shape = int(random.integers(shapes)) if step > 3 else step
        if shape not in seen:
            seen.add(shape)
            _keep(training, "aten::arange", 64 * MIB)

    training.hook = hook
    return Planted(_recorded(training, 5 * shapes, before=0), _of_cache("aten::arange"), FILLING)


def _of_cache(owner: str) -> dict[str, str]:
    return {owner: "filling cache", "aten::zeros_like": "warm-up"}


def _cache_of_many_shapes(random: np.random.Generator) -> Planted:
    """Of most shapes the first comes in the first half of the recording; some follow late."""
    training, seen = _training(random), set[int]()
    shapes = int(random.integers(8, 24))

    def hook(step: int, length: int) -> None:
        shape = int(random.integers(shapes))
        if shape not in seen:
            seen.add(shape)
            _keep(training, "aten::arange", 16 * MIB)

    training.hook = hook
    return Planted(_recorded(training, 3 * shapes))


def _queue(random: np.random.Generator) -> Planted:
    """Results of the last few steps are kept; the queue fills while the recording runs."""
    training, limit = _training(random, lengths=_varying(random)), int(random.integers(2, 10))
    queue: list[Block] = []

    def hook(step: int, length: int) -> None:
        queue.append(training.run.allocate("aten::stack", 4 * KIB * length))
        if len(queue) > limit:
            training.run.release(queue.pop(0))

    training.hook = hook
    return Planted(_recorded(training, 3 * limit + 6, before=0))


def _cache_that_fills_more_slowly(random: np.random.Generator) -> Planted:
    training, ratio = _training(random), float(random.uniform(0.5, 0.8))
    training.hook = lambda step, length: _keep(training, "aten::arange", 256 * MIB * ratio**step)
    return Planted(_recorded(training, 20, before=0), _of_cache("aten::arange"), FILLING)


def _warm_up(random: np.random.Generator) -> Planted:
    run = _recorded(_training(random), before=0)
    return Planted(run, {"aten::zeros_like": "warm-up"}, frozenset({("allocated", "warm-up")}))


def _fragmentation(random: np.random.Generator) -> Planted:
    """Small parts that stay for some steps pin segments, so that larger ones need others; what is held does not grow."""
    training = _training(random)
    pinned: list[Block] = []

    def hook(step: int, length: int) -> None:
        blocks = [training.run.allocate("aten::index", (64 + 4 * step) * MIB) for _ in range(2)]
        pins = [training.run.allocate("aten::slice", 2 * MIB) for _ in range(4)]
        training.run.release(*blocks)
        pinned.extend(pins)
        while len(pinned) > 8:
            training.run.release(pinned.pop(0))

    training.hook = hook
    return Planted(_recorded(training, 20), {}, frozenset({("reserved", "grows")}))


def _healthy(random: np.random.Generator) -> Planted:
    return Planted(_recorded(_training(random)))


def _healthy_lengths(random: np.random.Generator) -> Planted:
    return Planted(_recorded(_training(random, lengths=_varying(random), cut_at=int(random.integers(2, 12)))))


def _accumulating(random: np.random.Generator) -> Planted:
    training = _training(random, lengths=_varying(random), accumulation=int(random.integers(2, 9)))
    return Planted(_recorded(training, int(random.integers(5, 40))))


def _saw(random: np.random.Generator) -> Planted:
    """Metrics are kept for some steps and freed together; at least one release is recorded after a whole period."""
    training, period = _training(random), int(random.integers(2, 13))
    hooks = [_saw_hook(training, period, "aten::stack", _size(random))]
    if random.integers(2):
        hooks.append(_saw_hook(training, int(random.integers(2, 8)), "aten::mean", _size(random)))
    training.hook = lambda step, length: [hook(step) for hook in hooks] and None
    return Planted(_recorded(training, 2 * period + int(random.integers(3, 10))))


def _saw_hook(training: Training, period: int, owner: str, size: int) -> Callable[[int], None]:
    kept: list[Block] = []

    def hook(step: int) -> None:
        kept.append(training.run.allocate(owner, size))
        if step % period == 0:
            training.run.release(*kept)
            kept.clear()

    return hook


def _saw_of_any_teeth(random: np.random.Generator) -> Planted:
    """A buffer that is emptied when it is full, by results of any size."""
    training, limit = _training(random, lengths=_varying(random)), int(random.integers(3, 9)) * 512
    kept: list[tuple[int, Block]] = []

    def hook(step: int, length: int) -> None:
        kept.append((length, training.run.allocate("aten::stack", 4 * KIB * length)))
        if sum(held for held, _ in kept) > limit:
            training.run.release(*(block for _, block in kept))
            kept.clear()

    training.hook = hook
    return Planted(_recorded(training, int(random.integers(16, 40))))


def _jump(random: np.random.Generator) -> Planted:
    """Something is allocated once, in any step, and stays."""
    training, step_of_jump, size = _training(random), int(random.integers(2, 16)), 64 * MIB
    training.hook = lambda step, length: _keep(training, "aten::empty", size) if step == step_of_jump else None
    return Planted(_recorded(training, 18))


def _evaluation(random: np.random.Generator) -> Planted:
    """Every few steps an evaluation keeps its results until the next one."""
    training, period = _training(random, lengths=_varying(random)), int(random.integers(3, 9))
    kept: list[Block] = []

    def hook(step: int, length: int) -> None:
        if step % period == 0:
            training.run.release(*kept)
            kept[:] = [training.run.allocate("aten::softmax", 8 * KIB * length) for _ in range(5)]

    training.hook = hook
    return Planted(_recorded(training, int(random.integers(8, 40))))


def _healthy_start(random: np.random.Generator) -> Planted:
    return Planted(_recorded(_training(random, lengths=_varying(random)), before=0))


def _few_steps(random: np.random.Generator) -> Planted:
    training = _training(random, lengths=_varying(random))
    return Planted(_recorded(training, int(random.integers(1, 7)), before=int(random.integers(0, 2))))


def _lost_releases(random: np.random.Generator) -> Planted:
    """Some releases are not recorded; the recorded sum shows that they were."""
    return Planted(
        _recorded(_training(random, lengths=_varying(random)), 20), lost_releases=float(random.uniform(0, 0.1))
    )


def _lost_rows(random: np.random.Generator) -> Planted:
    return Planted(_recorded(_training(random, lengths=_varying(random)), 20), lost_rows=float(random.uniform(0, 0.2)))


def _serving(random: np.random.Generator) -> Planted:
    """Each request holds blocks of a KV cache that grow token by token, and gives them back."""
    run = Run(random)
    run.allocate("aten::empty_strided", 512 * MIB)
    requests: list[list[Block]] = []

    def work() -> None:
        for blocks in [*requests]:
            blocks.append(run.allocate("npu::kv_cache_append", 2 * MIB))
            run.passing("aten::addmm", 2 * MIB)
            if random.random() < 0.15 or len(blocks) > 16:
                run.release(*blocks)
                requests.remove(blocks)
        while len(requests) < 6:
            requests.append([run.allocate("npu::kv_cache_append", 2 * MIB)])

    for number in range(20 + int(random.integers(15, 40))):
        run.is_recording = number >= 20
        run.step(number, work)
    return Planted(run)


def _older_memory_is_released(random: np.random.Generator) -> Planted:
    training = _training(random)
    old = [training.run.allocate("aten::empty_strided", 16 * MIB) for _ in range(12)]
    training.hook = lambda step, length: training.run.release(old.pop()) if old else None
    return Planted(_recorded(training))


def _growing_batches(random: np.random.Generator) -> Planted:
    """Sequences become longer in the course of training; nothing stays."""
    any_length = _varying(random)
    return Planted(_recorded(_training(random, lengths=lambda step: any_length(step) // 2 + 32 * step)))


PLANTED: dict[str, Callable[[np.random.Generator], Planted]] = {
    "leak": _leak,
    "leak of varying steps": _leak_of_varying_steps,
    "leak with everything": _leak_with_everything,
    "leak every few steps": _leak_every_few_steps,
    "leak without a pace": _leak_without_a_pace,
    "growth without a pace": _growth_without_a_pace,
    "growth of any size": _growth_of_any_size,
    "leak by replacement": _leak_by_replacement,
    "leak of a busy owner": _leak_of_a_busy_owner,
    "leak of a graph": _leak_of_a_graph,
    "leak beside a saw": _leak_beside_a_saw,
    "leak without some rows": _leak_without_some_rows,
    "leak after warm-up": _leak_after_warm_up,
    "leak beside releases": _leak_beside_releases,
    "cache of shapes": _cache_of_shapes,
    "cache that fills more slowly": _cache_that_fills_more_slowly,
    "warm-up": _warm_up,
    "fragmentation": _fragmentation,
}
HEALTHY: dict[str, Callable[[np.random.Generator], Planted]] = {
    "healthy": _healthy,
    "lengths": _healthy_lengths,
    "accumulation": _accumulating,
    "saw": _saw,
    "saw of any teeth": _saw_of_any_teeth,
    "jump": _jump,
    "evaluation": _evaluation,
    "start": _healthy_start,
    "few steps": _few_steps,
    "lost releases": _lost_releases,
    "lost rows": _lost_rows,
    "serving": _serving,
    "older memory is released": _older_memory_is_released,
    "growing batches": _growing_batches,
    "cache of many shapes": _cache_of_many_shapes,
    "queue": _queue,
}
"""Nothing leaks, whatever else is wrong."""


def planted(kind: str, seed: int) -> Planted:
    """A recording of a kind and seed."""
    return {**PLANTED, **HEALTHY}[kind](np.random.default_rng([seed, *kind.encode()]))


def write_planted(case: Planted, folder: Path, rank: int = 0) -> None:
    """Write the files of torch_npu for one rank below a folder, with a timeline that has the steps."""
    output = write_capture(folder, rank, _timeline(case.run))
    events, samples = (frame.to_pylist() for frame in case.frames())
    allocations = (
        Allocation(
            event["owner"], event["size_bytes"], event["allocated_ns"], event["released_ns"],
            *(tuple(event[name] for name in _totals(moment)) for moment in ("allocation", "release")),
        )
        for event in events
    )  # fmt: skip
    write_tables(output, allocations, _records(samples), _modules(case.run))


def _records(samples: Sequence[dict[str, Any]]) -> Iterator[Record]:
    for sample in samples[::50]:
        yield Record("APP", sample["sampled_ns"], (None, sample["reserved_bytes"] + 700 * MIB, None), "")
    for component in ("PTA", "PTA+GE"):
        for sample in samples:
            totals = sample["allocated_bytes"], sample["reserved_bytes"], sample["active_bytes"]
            yield Record(component, sample["sampled_ns"], totals)


def _modules(run: Run) -> Iterator[tuple[str, int, int]]:
    """Components of CANN, whose memory does not change."""
    for component, size in {"SLOG": 0, "HCCL": 400 * MIB, "RUNTIME": 24 * MIB}.items():
        yield from ((component, start, size) for _, start, _ in run.steps)


def _timeline(run: Run) -> Iterator[dict[str, Any]]:
    yield {"name": "process_name", "pid": 9, "tid": 0, "ph": "M", "args": {"name": "Python"}}
    for number, start, end in run.steps:
        event = {"name": f"ProfilerStep#{number}", "pid": 9, "tid": 9, "ph": "X", "args": {}}
        yield {**event, "ts": us(start), "dur": (end - start) / 1000}
