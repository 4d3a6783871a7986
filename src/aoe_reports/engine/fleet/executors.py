"""Who reads the units of a question: this process, or several; a question never knows."""

from __future__ import annotations

import math
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from aoe_reports.model.arrays.memory import keep_large_apart
from aoe_reports.model.errors import UsageError
from aoe_reports.model.texts import say

if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor

    from aoe_reports.engine.question import RunOptions

A = TypeVar("A")
B = TypeVar("B")

MEASURED_S = 0.5
"""So long units are read before it is estimated what the others take; the first is not counted, as it imports what all need."""
MIN_UNIT_S = 0.01
"""What is quicker than this is not worth its way to another process: 10,000 small files took twice as long there."""
WORTH_S, START_S = 2.0, 1.0
"""What is left must take so long before other processes are started, and each gets so much of it at least: starting one takes half."""
AHEAD = 8
"""So many units a process are read before the first of them is taken: results that wait are held in memory. With 2 a unit that takes 20
times as long as the others holds up the other process (80 units: 1.27 s, with 8 1.11 s, with 20 1.08 s)."""


class Executor(Protocol):
    """Applies a function to units, and gives what comes of them in their order; None for one whose process was lost."""

    def map(self, function: Callable[[A], B], units: Sequence[A]) -> Iterator[B | None]: ...


class Serial:
    """One unit after another, in this process."""

    def map(self, function: Callable[[A], B], units: Sequence[A]) -> Iterator[B | None]:
        return map(function, units)


class Processes:
    """Several processes, each with an interpreter of its own; a process that is killed costs no unit but its own."""

    def __init__(self, count: int) -> None:
        """With at most `count` processes at a time."""
        self._count = count

    def map(self, function: Callable[[A], B], units: Sequence[A]) -> Iterator[B | None]:
        done = 0
        while done < len(units):
            for result in self._together(function, units[done:]):
                done += 1
                yield result
            for one in self._one_by_one(function, units[done : done + self._ahead]):
                done += 1
                yield one

    @property
    def _ahead(self) -> int:
        return self._count * AHEAD + 1

    def _together(self, function: Callable[[A], B], units: Sequence[A]) -> Iterator[B]:
        """Results until one of the processes is killed: that of its unit is among the next `_ahead`."""
        from concurrent.futures.process import BrokenProcessPool  # noqa: PLC0415 -- most commands need one process

        waiting: deque[Future[B]] = deque()
        with self._pool(min(self._count, len(units))) as pool, suppress(BrokenProcessPool):
            for unit in units:
                waiting.append(_submitted(pool, function, unit))
                if len(waiting) == self._ahead:
                    yield _result(waiting.popleft())
            while waiting:
                yield _result(waiting.popleft())

    def _one_by_one(self, function: Callable[[A], B], units: Sequence[A]) -> Iterator[B | None]:
        """Results of units of which one has killed its process: None for the one that does so again."""
        from concurrent.futures.process import BrokenProcessPool  # noqa: PLC0415

        rest = deque(units)
        while rest:
            with self._pool(1) as pool:
                try:
                    while rest:
                        yield _result(_submitted(pool, function, rest.popleft()))
                except BrokenProcessPool:
                    yield None

    @staticmethod
    @contextmanager
    def _pool(count: int) -> Iterator[ProcessPoolExecutor]:
        """Processes that end at once when the block does, or this process: nobody takes what they would read."""
        import multiprocessing  # noqa: PLC0415
        from concurrent.futures import ProcessPoolExecutor  # noqa: PLC0415

        spawn = multiprocessing.get_context("spawn")
        end, mine = spawn.Pipe(duplex=False)
        pool = ProcessPoolExecutor(count, mp_context=spawn, initializer=_begin, initargs=(end,))
        try:
            yield pool
            pool.shutdown()
        finally:
            mine.close()
            pool.shutdown(cancel_futures=True)
            end.close()


def _submitted(pool: ProcessPoolExecutor, function: Callable[[A], B], unit: A) -> Future[B]:
    """A unit handed to a process; one that is started for it inherits that it knows no Ctrl-C."""
    with without_interrupt():
        return pool.submit(function, unit)


def _result(future: Future[B]) -> B:
    """What a process has made of a unit. Ctrl-C that comes just before a wait begins does not end it, so none is long."""
    from concurrent.futures import wait  # noqa: PLC0415 -- most commands need one process

    while not wait([future], timeout=1).done:
        pass
    return future.result()


@contextmanager
def without_interrupt() -> Iterator[None]:
    """Ctrl-C waits until the block has ended; of processes that are started meanwhile it interrupts none."""
    from multiprocessing.resource_tracker import ensure_running  # noqa: PLC0415 -- most commands need one process

    ensure_running()  # once it begins, it lets Ctrl-C through
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin(end: Any) -> None:
    """Make this process as it should be, and one that ends with who started it."""
    keep_large_apart()
    _end_with(end)


def _end_with(end: Any) -> None:
    """End this process as soon as nobody holds the other end of a pipe: who started it is done, interrupted or killed."""

    def wait() -> None:
        with suppress(EOFError, OSError):
            end.recv_bytes()
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


class AutoExecutor:
    """This process, and as many as there are processors once what is left takes longer than to start them."""

    def map(self, function: Callable[[A], B], units: Sequence[A]) -> Iterator[B | None]:
        spent_s, processors = 0.0, len(os.sched_getaffinity(0))
        for done, unit in enumerate(units):
            unit_s = spent_s / (done - 1) if done > 1 and spent_s >= MEASURED_S else 0.0
            left_s = unit_s * (len(units) - done)
            if processors > 1 and unit_s >= MIN_UNIT_S and left_s > WORTH_S:
                yield from Processes(min(processors, math.ceil(left_s / START_S))).map(function, units[done:])
                return
            began_s = time.perf_counter()
            result = function(unit)
            spent_s += time.perf_counter() - began_s if done else 0.0
            yield result
            del result


def executor_of(chosen: RunOptions) -> Executor:
    """Who reads, as the options say; this process where they say nothing."""
    if chosen.scheduler is not None:
        from aoe_reports.engine.fleet.dask_executor import Fleet  # noqa: PLC0415 -- an extra

        if chosen.jobs is not None:
            raise UsageError(say("--jobs and --scheduler: give one of them"))
        return Fleet(chosen.scheduler)
    return Serial() if chosen.jobs in {None, 1} else Processes(chosen.jobs or 1)


def is_read_elsewhere(chosen: RunOptions) -> bool:
    """Whether captures are read by processes that this one has not started."""
    if chosen.scheduler is None:
        return False
    from aoe_reports.engine.fleet.dask_executor import LOCAL  # noqa: PLC0415 -- an extra

    return chosen.scheduler != LOCAL


def executor_here(chosen: RunOptions) -> Executor:
    """As `executor_of`, for a program that is all its process does: other processes are started where that pays."""
    return AutoExecutor() if chosen.jobs is None and chosen.scheduler is None else executor_of(chosen)


def threads_of_unit() -> int:
    """How many threads may read one unit: all processors, or one where other processes read other units."""
    import multiprocessing  # noqa: PLC0415 -- most commands need no timeline

    return 1 if multiprocessing.parent_process() is not None else len(os.sched_getaffinity(0))
