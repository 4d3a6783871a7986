"""Who reads the units of a question: this process, or several; a question never knows."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor

A = TypeVar("A")
B = TypeVar("B")

AHEAD = 2
"""So many units a process are read before the first of them is taken: results that wait are held in memory."""


class Executor(Protocol):
    """Applies a function to units, and gives what comes of them in their order; None for one whose process was lost."""

    def map(self, function: Callable[[A], B], units: Sequence[A]) -> Iterator[B | None]:
        """The results, in the order of the units."""
        ...


class Serial:
    """One unit after another, in this process."""

    def map(self, function: Callable[[A], B], units: Sequence[A]) -> Iterator[B | None]:
        """The results, in the order of the units."""
        return map(function, units)


class Processes:
    """Several processes, each with an interpreter of its own; a process that is killed costs no unit but its own."""

    def __init__(self, count: int) -> None:
        """With at most `count` processes at a time."""
        self._count = count

    def map(self, function: Callable[[A], B], units: Sequence[A]) -> Iterator[B | None]:
        """The results, in the order of the units."""
        from concurrent.futures.process import BrokenProcessPool  # noqa: PLC0415 -- most commands need one process

        def result_of(unit: A, future: Future[B] | None) -> B | None:
            try:
                return self._alone(function, unit) if future is None else future.result()
            except BrokenProcessPool:  # with one process all are lost: each once more, alone
                return self._alone(function, unit)

        waiting: deque[tuple[A, Future[B] | None]] = deque()
        with self._pool(min(self._count, len(units) or 1)) as pool:
            for unit in units:
                try:
                    waiting.append((unit, pool.submit(function, unit)))
                except BrokenProcessPool:
                    waiting.append((unit, None))
                if len(waiting) > self._count * AHEAD:
                    yield result_of(*waiting.popleft())
            while waiting:
                yield result_of(*waiting.popleft())

    def _alone(self, function: Callable[[A], B], unit: A) -> B | None:
        from concurrent.futures.process import BrokenProcessPool  # noqa: PLC0415

        with self._pool(1) as pool:
            try:
                return pool.submit(function, unit).result()
            except BrokenProcessPool:
                return None

    @staticmethod
    def _pool(count: int) -> ProcessPoolExecutor:
        import multiprocessing  # noqa: PLC0415
        from concurrent.futures import ProcessPoolExecutor  # noqa: PLC0415

        return ProcessPoolExecutor(count, mp_context=multiprocessing.get_context("spawn"))


def executor_of(jobs: int) -> Executor:
    """Who reads with so many processes."""
    return Serial() if jobs == 1 else Processes(jobs)
