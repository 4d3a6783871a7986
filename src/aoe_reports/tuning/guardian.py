"""Starts the command of a tuning job and keeps all that comes of it together; run by `runner`, as a file, by the same Python.

What the command leaves without a parent, a daemon in a session of its own too, becomes a child of this process
(PR_SET_CHILD_SUBREAPER), and lies in a control group of its own where one can be made. So all of it is known and can be ended,
by `runner`, or from here if the program that started us is gone.

Standard input is a pipe of that program: a line of JSON that says what to start, then `done`. If it ends before that, the
program was killed, and nobody else is there to end what it started. What happens is told by lines on a second pipe.
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
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

LOOK_S = 0.05
ENDURE_S = 5.0
"""How long is waited for processes that were killed: some belong to somebody else, or wait for a device and cannot die."""

_PR_SET_CHILD_SUBREAPER = 36


@dataclass(frozen=True)
class Family:
    """All processes that came of a command."""

    guardian: int
    """Their ancestor, while it runs."""
    session: int
    group: Path | None = None
    """Their control group (v2), where there is one."""

    def members(self) -> list[int]:
        """Those that are still running; zombies are not."""
        known = _processes()
        found = {pid for pid, process in known.items() if process.session == self.session}
        if self.group is not None:
            found |= _members_of_group(self.group) & known.keys()
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

    def kill(self) -> None:
        """End each of them that can be ended."""
        if self.group is not None:
            with contextlib.suppress(OSError):
                (self.group / "cgroup.kill").write_text("1", encoding="ascii")  # all at once, also what forks meanwhile
        self.send(signal.SIGKILL)

    def end(self, grace_s: float) -> list[str]:
        """Ask all to end, and end those that do not; what cannot be ended is returned."""
        deadline = time.monotonic() + grace_s
        self.send(signal.SIGTERM)
        self.send(signal.SIGCONT)
        while self.members() and time.monotonic() < deadline:
            time.sleep(LOOK_S)
        deadline = time.monotonic() + ENDURE_S
        while self.members() and time.monotonic() < deadline:
            self.kill()
            time.sleep(LOOK_S)
        return self.names()

    def names(self) -> list[str]:
        """Number and name of each that is running."""
        return [f"{pid} ({_name_of(pid)})" for pid in self.members()]


@dataclass(frozen=True)
class _Process:
    parent: int
    session: int
    runs: bool


def _processes() -> dict[int, _Process]:
    """All processes (proc(5), stat: behind the name, which may hold anything, come state, parent, group, session)."""
    found = {}
    for name in os.listdir("/proc"):  # noqa: PTH208 -- several times a second, over all processes
        if not name.isdigit():
            continue
        try:
            text = Path("/proc", name, "stat").read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue  # ended just now
        fields = text.rpartition(")")[2].split()
        found[int(name)] = _Process(int(fields[1]), int(fields[3]), fields[0] not in "ZX")
    return found


def _name_of(pid: int) -> str:
    try:
        return Path("/proc", str(pid), "comm").read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return "?"


# Control groups


def make_group() -> Path | None:
    """A control group (v2) for the command below our own; None where none can be made."""
    try:
        ours = Path("/proc/self/cgroup").read_text(encoding="utf-8", errors="surrogateescape").splitlines()
        mounts = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="surrogateescape").splitlines()
        own = next(line.removeprefix("0::") for line in ours if line.startswith("0::"))
        mount = next(line.split() for line in mounts if " - cgroup2 " in line)
        group = Path(mount[4]) / own.removeprefix(mount[3]).lstrip("/") / f"aoe-reports-{os.getpid()}"
        group.mkdir()
    except (OSError, StopIteration):
        return None
    return group


def _join(group: Path) -> None:
    """Go into a control group; where that may not be, what we start is known by its parents alone."""
    with contextlib.suppress(OSError):
        (group / "cgroup.procs").write_text("0", encoding="ascii")


def _members_of_group(group: Path) -> set[int]:
    found: set[int] = set()
    with contextlib.suppress(OSError):
        for path in group.rglob("cgroup.procs"):
            found |= {int(line) for line in path.read_text(encoding="ascii").split()}
    return found


def remove_group(group: Path, wait_s: float = ENDURE_S) -> None:
    """Take away a control group in which nothing runs any more, and those that were made in it.

    What was killed is counted until its last thread has gone: the system says "busy" for so long, and it is asked again.
    """
    until = time.monotonic() + wait_s
    while group.exists():
        with contextlib.suppress(OSError):
            for folder, _, _ in os.walk(group, topdown=False):
                os.rmdir(folder)  # noqa: PTH106 -- its files are none that could be taken away
        if time.monotonic() >= until:
            return
        time.sleep(LOOK_S if group.exists() else 0)


# The process


class Asked(NamedTuple):
    """What is to be started; as JSON it is the line that we read."""

    argv: list[str]
    folder: str
    environment: dict[str, str]
    log: str
    grace_s: float
    """How long processes that were asked to end may take before they are ended."""


def main() -> None:
    """Start what we are told to, and wait for its end and for that of the pipe."""
    tell = os.fdopen(int(sys.argv[1]), "w", buffering=1)
    line = sys.stdin.buffer.readline()
    if not line:
        return
    asked = Asked(**json.loads(line))
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:  # what is ignored stays so for the command, too (nohup)
            signal.signal(number, lambda *_: None)  # we end with the program that started us, not before
    group = make_group()
    family = None
    try:
        process = _start(asked, group)
        family = Family(os.getpid(), process.pid, group)
        _say(tell, f"started {process.pid} {group or ''}")
        if not _wait(process.pid, tell):
            left = family.end(asked.grace_s)
            _note(asked.log, left)
    except (OSError, ValueError) as error:
        _say(tell, f"failed {getattr(error, 'strerror', None) or error}")
    finally:
        if group is not None:
            remove_group(group, 0 if family and family.members() else ENDURE_S)


def _start(asked: Asked, group: Path | None) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(  # noqa: S603 -- a list of arguments, never a shell
        asked.argv,
        cwd=asked.folder,
        env=asked.environment,
        stdin=subprocess.DEVNULL,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        preexec_fn=(lambda: _join(group)) if group is not None else None,  # noqa: PLW1509 -- we have one thread
    )
    nothing = os.open(os.devnull, os.O_WRONLY)
    for number in (1, 2):
        os.dup2(nothing, number)  # the pipe of the output ends with the command and what it started
    return process


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


def _note(log: str, left: list[str]) -> None:
    """Say in the log what could not be ended: nobody else is there to be told."""
    if left:
        with contextlib.suppress(OSError), open(log, "a", encoding="utf-8", errors="replace") as file:  # noqa: PTH123
            file.write(f"\n[... aoe-reports: still running: {', '.join(left)} ...]\n")


if __name__ == "__main__":
    main()
