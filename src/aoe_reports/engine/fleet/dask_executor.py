"""Units read by the workers of a Dask cluster: an engine that others run, or one on this machine."""

from __future__ import annotations

import logging
from asyncio import run, timeout
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from aoe_reports.engine.fleet.executors import without_interrupt
from aoe_reports.model.errors import AoeReportsError, UsageError
from aoe_reports.model.texts import say
from aoe_reports.model.version import __version__

if TYPE_CHECKING:
    from distributed import Client

A = TypeVar("A")
B = TypeVar("B")

LOCAL = "dask://local"
"""The address of a cluster of our own: a process a processor, on loopback, gone at the end."""
AHEAD = 4
"""So many units a thread of the cluster are handed out before the first of them is taken."""
CONNECT_S = 30
WORKERLESS_S = 120
"""So long a cluster without any worker is waited for: new ones may be on their way."""
DEATHS = 1
"""How many workers more a unit may kill that killed one: then it is given up."""


class Fleet:
    """The workers of a cluster; what kills them also while it is read alone is given up, and costs no unit but its own."""

    def __init__(self, address: str) -> None:
        """Of the scheduler at an address such as tcp://host:8786, or `dask://local`."""
        self._address = address

    def map(self, function: Callable[[A], B], units: Sequence[A]) -> Iterator[B | None]:
        from distributed import KilledWorker  # noqa: PLC0415 -- an extra, and slow to import

        with _client(self._address) as client, _while_connected(self._address):
            ahead = AHEAD * max(1, sum(client.nthreads().values()))
            waiting: deque[tuple[A, Any]] = deque()
            rest = iter(units)
            while True:
                while len(waiting) < ahead and (unit := next(rest, _NOTHING)) is not _NOTHING:
                    waiting.append((unit, client.submit(function, unit, pure=False)))
                if not waiting:
                    return
                unit, future = waiting.popleft()
                try:
                    result = self._result(client, future)
                except KilledWorker:  # it may have stood beside the one that killed
                    for _, other in waiting:
                        self._settled(client, other)
                    result = self._alone(client, function, unit)
                del future  # the cluster need not hold it any longer
                yield result
                del result

    def _alone(self, client: Client, function: Callable[[A], B], unit: A) -> B | None:
        """What comes of a unit that is read while no other is; None where its worker is killed again."""
        from distributed import KilledWorker  # noqa: PLC0415

        try:
            result: B = self._result(client, client.submit(function, unit, pure=False))
        except KilledWorker:
            return None
        return result

    def _result(self, client: Client, future: Any) -> Any:
        self._settled(client, future)
        return future.result()

    def _settled(self, client: Client, future: Any) -> None:
        """Wait until a future is done, or no worker is left that could do it."""
        from distributed import wait  # noqa: PLC0415

        while not future.done():
            try:
                wait(future, timeout=WORKERLESS_S)
            except TimeoutError:
                if not client.nthreads():
                    raise _workerless(self._address) from None


_NOTHING: Any = object()


@contextmanager
def _client(address: str) -> Iterator[Client]:
    try:
        import dask  # noqa: PLC0415
        from distributed import Client, LocalCluster  # noqa: PLC0415
    except ImportError as error:
        raise UsageError(say("--scheduler needs Dask: pip install 'aoe-reports[fleet]'")) from error
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # what dies is told as a finding
    with dask.config.set({"distributed.scheduler.allowed-failures": DEATHS}):
        if address == LOCAL:
            place = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0"}
            local = {**place, "threads_per_worker": 1, "silence_logs": logging.CRITICAL}
            with ExitStack() as running:
                with without_interrupt():  # Ctrl-C is for this command, which then ends its workers
                    cluster = running.enter_context(LocalCluster(**local))
                yield running.enter_context(Client(cluster))
            return
        _check_scheduler(address)
        with Client(address, timeout=CONNECT_S) as client:
            _check_workers(client, address)
            yield client


@contextmanager
def _while_connected(address: str) -> Iterator[None]:
    """What is raised where the scheduler goes away, as an error of ours."""
    from distributed.comm import CommClosedError  # noqa: PLC0415

    try:
        yield
    except (CancelledError, CommClosedError) as error:
        raise AoeReportsError(say("{address}: the scheduler has gone away", address=address)) from error


def _workerless(address: str) -> AoeReportsError:
    return AoeReportsError(say("{address}: no worker is left", address=address))


def _check_workers(client: Client, address: str) -> None:
    """AoeReportsError where a worker has another version, which may answer otherwise, or none: that would end with each unit."""
    try:
        client.wait_for_workers(1, timeout=WORKERLESS_S)
    except TimeoutError:
        raise _workerless(address) from None
    versions = client.run(lambda: import_module("aoe_reports.model.version").__version__, on_error="return")
    for worker, version in sorted(versions.items()):
        if isinstance(version, ModuleNotFoundError):
            raise AoeReportsError(
                say(
                    "{address}: the worker {worker} has no aoe-reports: install it there",
                    address=address,
                    worker=worker,
                )
            )
        if isinstance(version, str) and version != __version__:
            raise AoeReportsError(
                say(
                    "{address}: the worker {worker} has version {theirs}, this is {ours}",
                    address=address,
                    worker=worker,
                    theirs=version,
                    ours=__version__,
                )
            )


def _check_scheduler(address: str) -> None:
    """AoeReportsError where no scheduler answers.

    A client would wait without an end for one that accepts and says nothing; and what is left of a client that could not
    connect closes itself while garbage is collected, which blocks every later one where that happens as its loop starts.
    """
    from distributed.core import rpc  # noqa: PLC0415

    async def ask() -> None:
        async with timeout(CONNECT_S), rpc(address) as scheduler:
            await scheduler.identity()

    try:
        with ThreadPoolExecutor(1) as own:  # a notebook runs a loop of its own in this thread
            own.submit(run, ask()).result()
    except Exception as error:  # whatever an address may raise
        silent = say("no answer within {seconds} s", seconds=CONNECT_S)
        why = silent if isinstance(error, TimeoutError) else error
        raise AoeReportsError(say("{address}: no scheduler answers: {why}", address=address, why=why)) from error
