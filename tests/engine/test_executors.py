"""Processes that read units end with the one that started them, however that ends, and say nothing of it."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

WORKERS = 2
IMPORTS = """
import sys
from pathlib import Path
from odd_question import held_until_it_ends
from aoe_reports.cli.ending import own_process, run_and_exit
from aoe_reports.engine.fleet.executors import Processes
"""
DRIVER = """
units = [(Path(sys.argv[1]), number) for number in range(9)]
own_process(lambda: run_and_exit(lambda: list(Processes(2).map(held_until_it_ends, units))))
"""
INTERRUPTS_ITSELF = """
import _thread, threading, time

def interrupt_once_all_read():
    while len(list(Path(sys.argv[1]).glob("*.held"))) < 2:
        time.sleep(0.01)
    _thread.interrupt_main()

threading.Thread(target=interrupt_once_all_read, daemon=True).start()
"""


@contextmanager
def driver(folder: Path, first: str = "") -> Iterator[subprocess.Popen[str]]:
    """A process that lets two others read units that take minutes."""
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])}
    command = [sys.executable, "-c", IMPORTS + first + DRIVER, str(folder)]
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True
    ) as process:
        try:
            yield process
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def wait_for(is_so: Callable[[], bool]) -> None:
    for _ in range(3000):
        if is_so():
            return
        time.sleep(0.01)
    raise TimeoutError


def is_free(file: Path) -> bool:
    with file.open() as opened:
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def begins_to_read(process: subprocess.Popen[str]) -> bool:
    """Whether the last process that one has started is a Python that would hear of Ctrl-C, or never will."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    if len(children) <= WORKERS:  # one more watches over what they share
        return False
    lines = Path(f"/proc/{children[-1]}/status").read_text().splitlines()
    told = dict(line.split(":\t") for line in lines if line.startswith("Sig"))
    return any(int(told[name], 16) & 1 << signal.SIGINT - 1 for name in ("SigCgt", "SigBlk"))


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_who_reads_for_a_process_that_is_killed_ends_with_it(tmp_path: Path, how: int) -> None:
    with driver(tmp_path) as process:
        wait_for(lambda: len(list(tmp_path.glob("*.held"))) == WORKERS)
        process.send_signal(how)
        process.wait(timeout=60)
        wait_for(lambda: all(is_free(held.with_suffix("")) for held in tmp_path.glob("*.held")))


def test_ctrl_c_waits_for_no_unit_and_is_one_line(tmp_path: Path) -> None:
    with driver(tmp_path) as process:
        wait_for(lambda: len(list(tmp_path.glob("*.held"))) == WORKERS)
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, "aoe-reports: interrupted\n")
    assert len(list(tmp_path.glob("*.held"))) == WORKERS


def test_ctrl_c_while_other_processes_begin_is_one_line(tmp_path: Path) -> None:
    with driver(tmp_path) as process:
        wait_for(lambda: begins_to_read(process))
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, "aoe-reports: interrupted\n")


def test_an_interrupt_that_wakes_no_thread_ends_the_wait_all_the_same(tmp_path: Path) -> None:
    with driver(tmp_path, INTERRUPTS_ITSELF) as process:
        _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, "aoe-reports: interrupted\n")
