"""Ends a session of processes when the program that started it is gone; run by `runner`, as a file, by the same Python.

Its standard input is a pipe that nobody writes to but the starter: `<session id>`, then `done`. If the pipe ends before
that, the starter was killed, and nobody else is there to end what it started.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

LOOK_S = 0.05


def members(session: int) -> list[int]:
    """The processes of a session that are still running; zombies are not."""
    names = os.listdir("/proc")  # noqa: PTH208 -- several times a second, over all processes
    return [int(name) for name in names if name.isdigit() and _session_of(name) == session]


def _session_of(pid: str) -> int | None:
    """A running process's session (proc(5): behind the name, which may hold anything, come state, parent, group, session)."""
    try:
        fields = Path("/proc", pid, "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
    return int(fields[3]) if fields[0] not in "ZX" else None


def send(session: int, number: int) -> None:
    """Send a signal to every process of a session, whatever group it is in."""
    for pid in members(session):
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def end(session: int, grace_s: float) -> None:
    """Ask every process of a session to end, and end those that do not."""
    deadline = time.monotonic() + grace_s
    send(session, signal.SIGTERM)
    send(session, signal.SIGCONT)
    while members(session) and time.monotonic() < deadline:
        time.sleep(LOOK_S)
    while members(session):
        send(session, signal.SIGKILL)
        time.sleep(LOOK_S)


def main() -> None:
    """Wait for the end of the pipe."""
    grace_s = float(sys.argv[1])
    session = 0
    for line in sys.stdin:
        if line.strip() == "done":
            return
        session = int(line)
    if session > 1:
        end(session, grace_s)


if __name__ == "__main__":
    main()
