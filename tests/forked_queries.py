"""Processes of queries, forked from one that has DuckDB loaded: an interpreter of its own for each takes half a CPU second.

As a program this is the process that forks. It gets, query by query, a working directory with four files: standard input, output
and error of the query, and a pipe into which it writes the id of the process and, when that has ended, its exit code.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import IO, NoReturn, Self

PIPE = subprocess.PIPE


class Popen:
    """What `query_process` uses of `subprocess.Popen`."""

    def __init__(self, command: list[str], stdin: int, stdout: int, stderr: IO[bytes]) -> None:
        assert (command[-1].rpartition(".")[2], stdin, stdout) == ("query_server", PIPE, PIPE)
        (child_in, our_in), (our_out, child_out), (our_status, child_status) = os.pipe(), os.pipe(), os.pipe()
        theirs = [child_in, child_out, stderr.fileno(), child_status]
        socket.send_fds(_forking()[1], [bytes(Path.cwd())], theirs)
        for handle in (child_in, child_out, child_status):
            os.close(handle)
        self.stdin, self.stdout = os.fdopen(our_in, "wb"), os.fdopen(our_out, "rb")
        self._status = os.fdopen(our_status, "rb")
        self.pid = int(self._status.readline())
        self.returncode: int | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stdout.close()
        with suppress(BrokenPipeError):
            self.stdin.close()
        self.wait()
        self._status.close()

    def wait(self) -> int:
        if self.returncode is None:
            self.returncode = int(self._status.readline())
        return self.returncode

    def kill(self) -> None:
        if self.returncode is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)


@cache
def _forking() -> tuple[subprocess.Popen[bytes], socket.socket]:
    """The process that forks, and the socket for its requests."""
    ours, theirs = socket.socketpair()
    with theirs:
        command = [sys.executable, "-P", __file__, str(theirs.fileno())]
        return subprocess.Popen(command, pass_fds=[theirs.fileno()]), ours


def end() -> None:
    """End the process that forks, if there is one."""
    if _forking.cache_info().currsize:
        process, requests = _forking()
        requests.close()
        process.wait()


def main() -> None:
    """Forks for each query."""
    from aoe_reports.engine.tables import query_server

    query_server._end_with = lambda _: None  # its parent is this process
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(fileno=int(sys.argv[1])) as requests:
        while files := (request := socket.recv_fds(requests, 4096, 4))[1]:
            if os.fork() == 0:
                requests.close()
                _wait_for(_forked(request[0], files), files[3])
            for handle in files:
                os.close(handle)


def _forked(folder: bytes, files: list[int]) -> int:
    """The id of a process that answers a query."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    child = os.fork()
    for number, handle in enumerate(files[:3]):
        if child == 0:
            os.dup2(handle, number)
        os.close(handle)
    if child == 0:
        from aoe_reports.engine.tables import query_server

        os.close(files[3])
        os.chdir(folder)
        query_server._serve()
    return child


def _wait_for(child: int, status: int) -> NoReturn:
    os.write(status, b"%d\n" % child)
    os.write(status, b"%d\n" % os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    os._exit(0)


if __name__ == "__main__":
    main()
