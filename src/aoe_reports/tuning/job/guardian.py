"""Starts the command of a tuning job and keeps all that comes of it together; run by `runner`, as a file, by the same Python.

What the command leaves without a parent, a daemon in a session of its own too, becomes a child of this process
(PR_SET_CHILD_SUBREAPER), and of the program that started us if this process is killed. So all of it is known and can be ended,
by `runner`, or from here if the program that started us is gone.

Standard input is a pipe of that program: a line of JSON that says what to start, then `done`. If it ends before that, the
program was killed, and nobody else is there to end what it started. What happens is reported by lines on a second pipe.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

LOOK_S = 0.05
ENDURE_S = 5.0
"""How long is waited for processes that were killed: some belong to somebody else, or wait for a device and cannot die."""

_PR_SET_CHILD_SUBREAPER = 36


def adopt_orphans(*, on: bool) -> None:
    """Whether processes below this one that lose their parent become its children."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, int(on), 0, 0, 0)


class Family(NamedTuple):
    """All processes that came of a command."""

    guardian: int
    """Their ancestor, while it runs."""
    session: int
    others: frozenset[int] = frozenset()
    """Children that this process had before: none of them is of the family if the guardian is killed, and its orphans come to us."""

    def members(self) -> list[int]:
        """Those that are still running; zombies are not."""
        known = _processes()
        found = {pid for pid, process in known.items() if process.session == self.session}
        if self.guardian not in known or not known[self.guardian].runs:
            found |= {pid for pid, one in known.items() if one.parent == os.getpid()} - self.others
        children: dict[int, list[int]] = {}
        for pid, process in known.items():
            children.setdefault(process.parent, []).append(pid)
        waiting = [self.guardian, *found]
        while waiting:
            below = [pid for pid in children.get(waiting.pop(), ()) if pid not in found]
            found.update(below)
            waiting += below
        return sorted(pid for pid in found - {self.guardian} if known[pid].runs)

    def send(self, number: int) -> None:
        """Send a signal to each of them."""
        for pid in self.members():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)

    def end(
        self,
        grace_s: float,
        pause: Callable[[], None] = lambda: time.sleep(LOOK_S),
        is_hurried: Callable[[], bool] = lambda: False,
    ) -> list[str]:
        """Ask all to end, and end those that do not in time, or at once when that is wanted; number and name of what cannot be ended."""
        self.send(signal.SIGTERM)
        self.send(signal.SIGCONT)
        deadline = time.monotonic() + grace_s
        while self.members() and time.monotonic() < deadline and not is_hurried():
            pause()
        deadline = time.monotonic() + ENDURE_S
        while self.members() and time.monotonic() < deadline:
            self.send(signal.SIGKILL)
            pause()
        return [f"{pid} ({_name_of(pid)})" for pid in self.members()]


class _Process(NamedTuple):
    parent: int
    session: int
    runs: bool


def _processes() -> dict[int, _Process]:
    """All processes (proc(5), stat: behind the name, which may hold anything, come state, parent, group, session)."""
    found = {}
    for name in os.listdir("/proc"):  # noqa: PTH208 -- several times a second, over all processes
        if name.isdigit():
            with contextlib.suppress(OSError):  # ended just now
                text = Path("/proc", name, "stat").read_text(encoding="utf-8", errors="replace")
                fields = text.rpartition(")")[2].split()
                found[int(name)] = _Process(int(fields[1]), int(fields[3]), fields[0] not in "ZX")
    return found


def children_of(pid: int) -> frozenset[int]:
    """The children of a process."""
    return frozenset(child for child, process in _processes().items() if process.parent == pid)


def _name_of(pid: int) -> str:
    try:
        return Path("/proc", str(pid), "comm").read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return "?"


class LaunchRequest(NamedTuple):
    """What is to be started; as JSON it is the line that we read."""

    argv: list[str]
    folder: str
    environment: dict[str, str]
    log: str
    grace_s: float
    """How long processes that were asked to end may take before they are ended."""


def main() -> None:
    """Start what we are asked to, and wait for its end and for that of the pipe."""
    tell = os.fdopen(int(sys.argv[1]), "w", buffering=1)
    line = sys.stdin.buffer.readline()
    if not line:
        return
    asked = LaunchRequest(**json.loads(line))
    adopt_orphans(on=True)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:  # what is ignored stays so for the command, too (nohup)
            signal.signal(number, lambda *_: None)  # we end with the program that started us, not before
    try:
        process = subprocess.Popen(  # noqa: S603 -- a list of arguments, never a shell
            asked.argv,
            cwd=asked.folder,
            env=asked.environment,
            stdin=subprocess.DEVNULL,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        _say(tell, f"failed {getattr(error, 'strerror', None) or error}")
        return
    nothing = os.open(os.devnull, os.O_WRONLY)
    for output in (1, 2):
        os.dup2(nothing, output)  # the pipe of the output ends with the command and what it started
    _say(tell, f"started {process.pid}")
    if _wait(process.pid, tell):
        return
    left = Family(os.getpid(), process.pid).end(asked.grace_s)
    if left:  # the log is the only place to say so
        with contextlib.suppress(OSError), open(asked.log, "a", encoding="utf-8", errors="replace") as file:  # noqa: PTH123
            file.write(f"\n[... aoe-reports: still running: {', '.join(left)} ...]\n")


def _wait(command: int, tell: Any) -> bool:
    """Wait until the pipe says `done` (True) or ends (False), and take in every child that ends meanwhile."""
    woken, wake = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(wake)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    while True:
        _reap(command, tell)
        ready, _, _ = select.select([0, woken], [], [])
        if woken in ready:
            with contextlib.suppress(BlockingIOError):
                os.read(woken, 1 << 12)
        if 0 in ready:
            return os.read(0, 1 << 12).strip() == b"done"


def _reap(command: int, tell: Any) -> None:
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return
            if pid == command:
                _say(tell, f"ended {status}")


def _say(tell: Any, text: str) -> None:
    with contextlib.suppress(OSError):
        tell.write(text.replace("\n", " ") + "\n")


if __name__ == "__main__":
    main()
