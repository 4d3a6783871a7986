"""A question whose units cannot all be read; a module of its own, so that other processes can import it."""

from __future__ import annotations

import fcntl
import os
import signal
import time
from collections.abc import Sequence
from pathlib import Path

from aoe_reports.engine.question import Finished, Question, Request, RunOptions, Unit
from aoe_reports.model.errors import ReadError
from aoe_reports.model.findings import Finding
from aoe_reports.model.rows import Rows, column, row


@row
class Seen:
    path: str = column("Path")


class Odd(Question[RunOptions, str]):
    """Read units of which some cannot be read."""

    name = "odd"
    title = "Odd"
    options = RunOptions
    tables = (("rows", Seen),)
    nothing = "nothing here"

    def map_unit(self, unit: Unit, asked: Request[RunOptions]) -> str:
        """The path; a finding before each failure."""
        asked.notes.add([Finding("info", "seen", unit.path, "seen")])
        if unit.path.endswith("rank_1"):
            raise ReadError(Path(unit.path), "cannot be read", "something else")
        if unit.path.endswith("rank_2") and (Path(unit.path) / "deadly").exists():
            os.kill(os.getpid(), signal.SIGKILL)
        return unit.path

    def finish(self, parts: Sequence[tuple[Unit, str]], asked: Request[RunOptions]) -> Finished:
        """Data read."""
        del asked
        return Finished(tables=(Rows(type=Seen, rows=[Seen(path=path) for _, path in parts]),))


def dies_once(unit: tuple[Path, int]) -> int:
    """The number of a unit; the process that reads the sixth first is killed."""
    mark, number = unit
    if number == 5 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def number_and_process(number: int) -> tuple[int, int]:
    """The number, and who read it."""
    return number, os.getpid()


def number_unless_poison(unit: tuple[Path, int, bool]) -> int:
    """The number of a unit, which is noted in a file of the process; poison ends the process at once, without a word."""
    folder, number, poison = unit
    with (folder / str(os.getpid())).open("a") as noted:
        noted.write(f"{number} {os.getpid()}\n")
    if poison:
        os._exit(3)
    return number


def slow_until_others_are_done(unit: tuple[Path, int, int]) -> int:
    """The number of a unit; the first takes until so many others are done."""
    folder, number, others = unit
    for _ in range(6000):
        if number or len(list(folder.iterdir())) >= others:
            break
        time.sleep(0.01)
    else:
        raise TimeoutError
    (folder / str(number)).touch()
    return number


def held_until_it_ends(unit: tuple[Path, int]) -> None:
    """A lock of a file of the unit, as long as the process lives, which is for minutes."""
    folder, number = unit
    with (folder / str(number)).open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        (folder / f"{number}.held").touch()
        time.sleep(300)


def ends_the_scheduler_first(unit: tuple[Path, int]) -> int:
    """The number of a unit; the first ends the scheduler that handed it out."""
    folder, number = unit
    if number == 0:
        os.kill(int((folder / "scheduler").read_text()), signal.SIGKILL)
        time.sleep(300)
    return number
