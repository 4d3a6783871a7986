"""Runs one process of a tuning job and sees to its end: the only module that starts processes."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import IO, Literal, Self

from aoe_reports.model.errors import AoeReportsError, of_the_system
from aoe_reports.model.texts import say
from aoe_reports.tuning.job import guardian
from aoe_reports.tuning.job.secrets import Line, Redacting, Redactor
from aoe_reports.tuning.options import GRACE_S

LOOK_S = 0.1
"""How long is waited between two looks at the process, and at whether we were told to end."""

LINGER_S = 2.0
"""How long processes may go on when the command that started them has ended."""

MAX_LOG_BYTES = 64 << 20
TAIL_BYTES = 1 << 20
"""What is kept of the end of a log that is longer."""

MAX_LINE_BYTES = 1 << 16

_READ_BYTES = 1 << 16


class CannotRunError(AoeReportsError):
    """A command of a tuning job cannot be started at all."""


@dataclass(slots=True)
class Stop:
    """Whether somebody told us to end, by which signal, and how often."""

    signal: int | None = None
    times: int = 0


@dataclass(frozen=True, slots=True)
class Ended:
    """How a process of a stage ended."""

    exit_code: int | None
    signal: int | None
    because: Literal["exited", "timeout", "interrupted"]
    left_running: int = 0
    log_dropped_bytes: int = 0
    unended: tuple[str, ...] = ()
    """Processes that could not be ended: number and name of each."""
    guardian_lost: bool = False
    """Whether the process between us and the command was killed: then the command was ended."""

    def describe_unended(self) -> str:
        """Which processes are still running, though they were killed."""
        return say("still running and could not be terminated: {processes}", processes=", ".join(self.unended))


@contextmanager
def stopping() -> Iterator[Stop]:
    """Note Ctrl-C, SIGTERM and SIGHUP instead of dying of them, so that what was started can be ended first."""
    stop = Stop()

    def note(number: int, _: FrameType | None) -> None:
        stop.signal = stop.signal or number
        stop.times += 1

    before = {}
    ours = threading.current_thread() is threading.main_thread()  # no other thread may handle signals
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP) if ours else ():
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup, a job in the background
            before[number] = signal.signal(number, note)
    if ours and signal.getsignal(signal.SIGCHLD) is signal.SIG_IGN:  # else nobody could ask how a process ended
        before[signal.SIGCHLD] = signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a process may take, and how much of what it says is kept."""

    deadline: float | None = None
    """On the clock of time.monotonic()."""
    grace_s: float = GRACE_S
    max_log_bytes: int = MAX_LOG_BYTES


def run_process(
    argv: Sequence[str],
    *,
    folder: Path,
    environment: Mapping[str, str],
    log: Path,
    stop: Stop,
    on_line: Callable[[str, str], None],
    on_look: Callable[[], None],
    limits: Limits,
) -> Ended:
    """Run a command in a session of its own until it ends, the deadline passes or `stop` is told; then nothing of it runs.

    What it prints goes line by line to `on_line` (as it is, and with secrets replaced) and, with
    secrets replaced, into `log`. `on_look` is called several times a second. CannotRunError where it cannot be started. A
    guardian between us and the command keeps together what it starts, and ends it if we are killed.
    """
    asked = guardian.LaunchRequest(list(argv), str(folder), dict(environment), str(log), limits.grace_s)
    with _Log(log, limits.max_log_bytes, Redactor(environment), on_line) as out, _guarded(asked, out) as command:
        family = command.family
        because: Literal["exited", "timeout", "interrupted"] = "exited"
        try:
            while because == "exited" and not command.has_ended():
                command.pump(LOOK_S)
                on_look()
                if stop.signal is not None:
                    because = "interrupted"
                elif limits.deadline is not None and time.monotonic() >= limits.deadline:
                    because = "timeout"
            through, until = because == "exited" and not command.lost, time.monotonic() + LINGER_S
            while through and family.members() and time.monotonic() < until and stop.signal is None:
                command.pump(LOOK_S)  # what the command has started may end by itself
            left, unended, most = len(family.members()) if through else 0, [], max(stop.times, 1)
            if left or not through:
                unended = family.end(limits.grace_s, lambda: command.pump(LOOK_S / 2), lambda: stop.times > most)
            command.pump(0, rest=True)
        finally:
            if family.members():  # something of ours failed: nothing may go on without us
                family.end(0)
        code = command.exit_code(0 if unended else guardian.ENDURE_S)
    killed = -code if code is not None and code < 0 else None
    code = None if killed else code
    return Ended(code, killed, because, left, out.dropped, tuple(unended), guardian_lost=command.lost)


class _Log:
    """The log of the console, line by line and without secrets; of a long log its beginning and its end."""

    def __init__(self, path: Path, most: int, redactor: Redactor, on_line: Callable[[str, str], None]) -> None:
        self._path, self._most, self._on_line = path, most, on_line
        self._lines = Redacting(redactor, MAX_LINE_BYTES)
        self._tail: deque[bytes] = deque()
        self._tail_bytes = 0
        self._written = 0
        self.dropped = 0

    def __enter__(self) -> Self:
        self._file = self._path.open("ab", buffering=0)
        return self

    def __exit__(self, *_: object) -> None:
        with self._file:
            for line in self._lines.rest():
                self._line(line)
            if self.dropped:
                self._file.write(b"\n[... %d bytes left out ...]\n" % self.dropped)
            for piece in self._tail:
                self._file.write(piece)

    def take(self, data: bytes) -> None:
        """Take over a piece of the output."""
        for line in self._lines.take(data):
            self._line(line)

    def _line(self, line: Line) -> None:
        shown = line.shown.rstrip(b"\r\n")
        written = shown + b"\n" if line.raw[-1:] in {b"\n", b"\r"} else shown
        if self._written + len(written) <= self._most and not self._tail:
            self._file.write(written)
            self._written += len(written)
        else:
            self._tail.append(written)
            self._tail_bytes += len(written)
            while self._tail_bytes > TAIL_BYTES:
                gone = len(self._tail.popleft())
                self._tail_bytes -= gone
                self.dropped += gone
        self._on_line(*(text.decode("utf-8", "replace").rstrip("\r\n") for text in (line.raw, shown)))


def output_of(argv: Sequence[str], environment: Mapping[str, str], timeout_s: float, most: int) -> str | None:
    """What a command that only reports something prints, `most` bytes of it; None where it cannot be run or takes too long."""
    deadline, data = time.monotonic() + timeout_s, b""
    with (
        suppress(OSError, ValueError),
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen(  # noqa: S603 -- a list of arguments, never a shell
            list(argv),
            cwd=folder,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        ) as process,
    ):
        assert process.stdout is not None
        try:
            while (
                len(data) < most and select.select([process.stdout], [], [], max(0.0, deadline - time.monotonic()))[0]
            ):
                piece = os.read(process.stdout.fileno(), _READ_BYTES)
                data += piece
                if not piece or len(data) >= most:
                    return data.decode("utf-8", "replace")
        finally:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
    return None


@dataclass(slots=True)
class _Command:
    family: guardian.Family
    _pipe: IO[bytes]
    _out: _Log
    _reports: IO[bytes]
    """What the guardian reports, a line each; it is not waited for."""
    lost: bool = False
    """Whether the guardian has ended before the command: then nobody knows how that ends."""
    _status: int | None = None
    _is_open: bool = True

    def pump(self, wait_s: float, *, rest: bool = False) -> None:
        """Log what was printed meanwhile: some of it, or (`rest`) all there is."""
        while self._is_open and select.select([self._pipe], [], [], wait_s)[0]:
            data = os.read(self._pipe.fileno(), _READ_BYTES)
            self._out.take(data)
            self._is_open = bool(data)
            if not rest:
                return
        if not self._is_open:
            time.sleep(wait_s)

    def has_ended(self) -> bool:
        """Whether the command has ended, or its guardian has."""
        while self._status is None and not self.lost and select.select([self._reports], [], [], 0)[0]:
            words = self._reports.readline().split()
            self.lost = not words
            if words[:1] == [b"ended"]:
                self._status = int(words[1])
        return self._status is not None or self.lost

    def exit_code(self, wait_s: float) -> int | None:
        """Its exit code, or the negative number of the signal that ended it; None while it runs, or where nobody knows."""
        until = time.monotonic() + wait_s
        while not self.has_ended() and time.monotonic() < until:
            time.sleep(guardian.LOOK_S)
        return None if self._status is None else os.waitstatus_to_exitcode(self._status)


@contextmanager
def _guarded(asked: guardian.LaunchRequest, out: _Log) -> Iterator[_Command]:
    """Start a command under a guardian, which ends it unless it reads `done` before its input ends."""
    reading, writing = os.pipe()
    others = guardian.children_of(os.getpid())
    guardian.adopt_orphans(on=True)
    try:
        process = subprocess.Popen(  # noqa: S603 -- our own file
            [sys.executable, "-I", "-S", str(Path(guardian.__file__)), str(writing)],
            cwd="/",
            env={},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            bufsize=0,
            pass_fds=(writing,),
        )
    finally:
        os.close(writing)
    with os.fdopen(reading, "rb", buffering=0) as reports, process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            with suppress(OSError):
                process.stdin.write(json.dumps(asked._asdict()).encode() + b"\n")
            words = reports.readline().decode("utf-8", "surrogateescape").rstrip("\n").split(" ", 1)
            if words[0] != "started":
                what = of_the_system(" ".join(words[1:])) or say("its guardian has ended")
                raise CannotRunError(
                    say("{name}: cannot be run: {what}; expected an executable command", name=asked.argv[0], what=what)
                )
            family = guardian.Family(process.pid, int(words[1]), others)
            yield _Command(family, process.stdout, out, reports)
        finally:
            guardian.adopt_orphans(on=False)
            with suppress(OSError):
                process.stdin.write(b"done\n")
            with suppress(OSError):
                process.stdin.close()
