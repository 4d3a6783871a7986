"""`adopt` under faults: what has to hold when it is killed, or a change of the disk fails, at any place."""

from __future__ import annotations

import errno
import json
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from killing import KILLED, NO_FAULT, Fault, Killer, Tried
from tuning.jobs import SOC, Bench

LayoutName = Literal["default", "linked", "one-folder", "nothing-yet"]
LAYOUTS: tuple[LayoutName, ...] = ("default", "linked", "one-folder", "nothing-yet")
MODULES = ("aoe_reports.tuning.banks.adopt", "aoe_reports.present.as_json")
ERRORS = (errno.ENOSPC, errno.EACCES, errno.EXDEV)
Bank = dict[str, str]


@dataclass
class Adoption:
    """A tuned job, a bank in use of some layout, and both as they were at first."""

    bench: Bench
    layout: LayoutName
    killer: Killer

    def __post_init__(self) -> None:
        bench = self.bench
        bench.plan()
        assert bench.tune().code == 0
        (bench.folder / "bank" / "graph_new.json").write_text("{}")
        (bench.folder / "verify.json").write_text('{"format_version": 1, "verdict": "confirmed"}')
        for folder, name in zip(self.folders, ("operators.json", "graph.json"), strict=True):
            self._write_old(folder, name)
        if self.layout == "one-folder":
            self.killer.environment["TUNE_BANK_PATH"] = str(self.custom)
        if self.layout == "linked":
            (bench.root / "elsewhere").mkdir()
            graphs = bench.root / "elsewhere" / "graph"
            (self.custom / "graph").rename(graphs)
            (self.custom / "graph").symlink_to(graphs)
        self.safe = bench.root.with_name("safe")
        shutil.copytree(bench.root, self.safe, symlinks=True)
        self.old = self.in_use()
        self.whole = self.adopt()
        assert self.whole.code == 0, self.whole.err
        self.new = self.in_use()
        assert self.old != self.new

    @property
    def custom(self) -> Path:
        return self.bench.root / "home" / "Ascend/latest/data/aoe/custom"

    @property
    def folders(self) -> tuple[Path, Path]:
        """Where operators and graphs lie."""
        if self.layout == "one-folder":
            return self.custom / SOC, self.custom
        return self.custom / "op" / SOC, self.custom / "graph" / SOC

    def _write_old(self, folder: Path, name: str) -> None:
        if self.layout != "nothing-yet":
            folder.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text("old\n")
            (folder.parent / "Ascend310P").mkdir(exist_ok=True)
            (folder.parent / "Ascend310P" / name).write_text("of another chip\n")

    def in_use(self) -> Bank:
        """What AOE finds for the chip."""
        return {
            f"{folder.name}/{path.name}": path.read_text()
            for folder in self.folders
            if folder.is_dir()
            for path in folder.iterdir()
            if path.is_file()
        }

    def again(self) -> None:
        """Everything as it was at first."""
        shutil.rmtree(self.bench.root)
        shutil.copytree(self.safe, self.bench.root, symlinks=True)

    def adopt(self, fault: Fault = NO_FAULT, *more: object) -> Tried:
        root = self.bench.root
        return self.killer.run(
            "tune", "adopt", self.bench.folder, "--format", "json", *more, root=root, cwd=root, fault=fault
        )

    def state(self) -> str:
        """Which bank is in use."""
        return {str(self.old): "old", str(self.new): "new"}.get(str(self.in_use()), "mixed")

    def left(self) -> list[str]:
        """What lies beside the bank that is neither it nor a backup."""
        return [str(path) for path in self.bench.root.rglob(".*") if ".adopt" in path.name or ".new-" in path.name]

    def see_completed(self, tried: Tried) -> None:
        """After a run without a fault the new bank is in use, the old one kept, and no other operators there."""
        assert tried.code == 0, tried.err
        assert self.state() == "new"
        assert self.left() == []
        kept = self.kept()
        old, new = set(self.old.values()), set(self.new.values())
        assert old - new <= kept, "the old bank is not kept"
        assert not (new - old) & kept, "the new bank is called a backup"
        others = [path for path in self.custom.rglob("Ascend310P/*") if path.is_file()]
        assert {path.read_text() for path in others} <= {"of another chip\n"}
        assert bool(others) == bool(self.old), "banks of other chips are gone"

    def kept(self) -> set[str]:
        """What stands in the files of backups."""
        found = [path for path in self.bench.root.rglob("*.backup-*") if path.is_dir()]
        return {path.read_text() for folder in found for path in folder.rglob("*") if path.is_file()}


def kill_everywhere(adoption: Adoption, *, in_steps: bool = False, last: int | None = None, half: bool = False) -> int:
    """Kill `adopt` before each of its changes (or of the last ones), run it again; how many kills there were.

    What is in use is the old or the new bank; a mixture only where no step can do it at once, and then only until the next run.
    """
    adoption.again()
    changes = adoption.adopt(Fault(in_steps=in_steps)).changes
    at_once = adoption.layout != "linked" and not in_steps
    places = _places(len(changes), last)
    for at in places:
        adoption.again()
        tried = adoption.adopt(Fault(at, half=half, in_steps=in_steps))
        assert tried.code == KILLED
        state = adoption.state()
        assert state in {"old", "new"} or not at_once, f"killed before {changes[at - 1]}: {state}"
        again = adoption.adopt(Fault(in_steps=in_steps))
        adoption.see_completed(again)
        if state != "old":
            rules = {finding["rule"] for finding in json.loads(again.out)["findings"]}
            assert "adopt-completed" in rules or at == places[-1], f"killed before {changes[at - 1]}: nobody says so"
    return len(places)


def fail_everywhere(
    adoption: Adoption, errors: Iterable[int] = ERRORS, *, in_steps: bool = False, last: int | None = None
) -> int:
    """Let each change of `adopt` fail, once and from then on; how many failures there were.

    Exit code 3 says which bank is in use; the next run completes it.
    """
    adoption.again()
    changes = adoption.adopt(Fault(in_steps=in_steps)).changes
    count = 0
    for at in _places(len(changes), last):
        for error in errors:
            for forever in (False, True):
                adoption.again()
                tried = adoption.adopt(Fault(at, error, forever=forever, in_steps=in_steps))
                see_said(adoption, tried, f"{errno.errorcode[error]} at {changes[at - 1]}")
                adoption.see_completed(adoption.adopt(Fault(in_steps=in_steps)))
                count += 1
    return count


def see_said(adoption: Adoption, tried: Tried, where: str) -> None:
    """What a run says of the bank in use is true."""
    state = adoption.state()
    assert "Traceback" not in tried.err, where
    if tried.code == 0:
        assert state == "new", where
        return
    assert tried.code == 3, f"{where}: {tried.err}"
    said = {"the bank in use is unchanged": "old", "the new bank is in use": "new", "half old and half new": "mixed"}
    told = [state for words, state in said.items() if words in tried.err]
    assert told == [state] or (told == [] and state == "old" and ".lock" in where), f"{where}: {state}: {tried.err}"


def _places(count: int, last: int | None) -> list[int]:
    return list(range(1 if last is None else max(1, count - last + 1), count + 1))
