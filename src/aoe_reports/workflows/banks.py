"""Knowledge banks on disk: which one is in use, what is in it, copies of it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from aoe_reports.errors import ReadError
from aoe_reports.readers.results import read_bytes
from aoe_reports.texts import say
from aoe_reports.tuning.bank import BankEntry, BankLayout, Listing, bank_at, bank_in_use, entry_of_bytes
from aoe_reports.tuning.plan import Plan

MAX_BANK_FILE_BYTES = 1 << 30


def bank_of_plan(plan: Plan, folder: Path, environment: Mapping[str, str]) -> BankLayout:
    """The bank in use: the plan's, else what the environment says."""
    if plan.bank is not None:
        return bank_at(PurePosixPath(os.path.abspath(folder / plan.bank)))
    return bank_of_environment(environment)


def bank_of_environment(environment: Mapping[str, str]) -> BankLayout:
    """The bank that AOE uses in an environment."""
    home = environment.get("HOME") or str(Path("~").expanduser())
    return bank_in_use(environment, home, str(Path.cwd()))


def socs_of(layout: BankLayout) -> list[str]:
    """The chips that a bank has operators of."""
    root = Path(layout.operators_root)
    if not root.is_dir():
        return []
    names = (entry.name for entry in root.iterdir() if entry.is_dir())
    return sorted(name for name in names if not name.startswith(".") and ".backup-" not in name)


def list_bank(root: Path) -> Listing:
    """The files of a bank that is laid out as under TUNE_BANK_PATH, by their path; links to files count as files."""
    return {name: _entry(root / name) for name in sorted(_files(root))}


def list_layout(layout: BankLayout, soc: str) -> Listing:
    """The files of one chip in a bank of any layout, under the paths that they have below TUNE_BANK_PATH."""
    return {name: _entry(path) for name, path in sorted(paths_of_layout(layout, soc).items())}


def paths_of_layout(layout: BankLayout, soc: str) -> dict[str, Path]:
    """Where the files of one chip lie in a bank of any layout, by the paths that they have below TUNE_BANK_PATH."""
    operators, graphs = Path(layout.operators(soc)), Path(layout.graphs(soc))
    found = {f"{soc}/{name}": operators / name for name in _files(operators)}
    if graphs.is_dir():
        found |= {entry.name: entry for entry in graphs.iterdir() if entry.is_file()}
    return found


def copy_files(paths: Mapping[str, Path], target: Path) -> None:
    """Copy files below a folder, with their modes and times."""
    for name, path in paths.items():
        copy = target / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, copy)


def _files(root: Path) -> Iterator[str]:
    """Regular files below a folder; pipes and devices are none, links to folders are not followed."""
    for place, folders, names in os.walk(root):
        folders.sort()
        for name in names:
            path = Path(place, name)
            if path.is_file():
                yield path.relative_to(root).as_posix()


def _entry(path: Path) -> BankEntry:
    data = read_bytes(path, MAX_BANK_FILE_BYTES)
    if len(data) > MAX_BANK_FILE_BYTES:
        raise ReadError(
            path,
            say("too large for a bank's file"),
            say("at most {most} bytes were expected", most=MAX_BANK_FILE_BYTES),
        )
    return entry_of_bytes(path.name, data)
