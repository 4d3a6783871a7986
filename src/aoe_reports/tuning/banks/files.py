"""Banks of tuners on disk: which one is in use, what is in it, copies of it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from aoe_reports.formats.aoe.result_files import read_bytes
from aoe_reports.model.errors import ReadError
from aoe_reports.model.texts import say
from aoe_reports.tuning.banks.bank import Bank, BankEntry, BankLayout, Listing, entry_of_bytes
from aoe_reports.tuning.plan.plan import Plan

MAX_BANK_FILE_BYTES = 1 << 30


def bank_of_plan(bank: Bank, plan: Plan, folder: Path, environment: Mapping[str, str]) -> BankLayout:
    """The bank in use: the plan's, else what the environment says."""
    if plan.bank is not None:
        return bank.at(PurePosixPath(os.path.abspath(folder / plan.bank)))
    return bank_of_environment(bank, environment)


def bank_of_environment(bank: Bank, environment: Mapping[str, str]) -> BankLayout:
    """The bank that a tuner uses in an environment."""
    home = environment.get("HOME") or str(Path("~").expanduser())
    return bank.in_use(environment, home, str(Path.cwd()))


def socs_of(layout: BankLayout) -> list[str]:
    """The chips that a bank has operators of."""
    root = Path(layout.operators_root)
    if not root.is_dir():
        return []
    names = (entry.name for entry in root.iterdir() if entry.is_dir())
    return sorted(name for name in names if not name.startswith(".") and ".backup-" not in name)


def list_bank(bank: Bank, root: Path) -> Listing:
    """The files of a bank whose parts lie below one folder, by their path; links to files count as files."""
    return {name: _entry(bank, root / name) for name in sorted(_files(root))}


def list_layout(bank: Bank, layout: BankLayout, soc: str) -> Listing:
    """The files of one chip in a bank of any layout, under the paths that they have where all lie below one folder."""
    return {name: _entry(bank, path) for name, path in sorted(paths_of_layout(layout, soc).items())}


def paths_of_layout(layout: BankLayout, soc: str) -> dict[str, Path]:
    """Where the files of one chip lie in a bank of any layout, by the paths that they have where all lie below one folder."""
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


def _entry(bank: Bank, path: Path) -> BankEntry:
    data = read_bytes(path, MAX_BANK_FILE_BYTES)
    if len(data) > MAX_BANK_FILE_BYTES:
        raise ReadError(
            path,
            say("too large for a bank file"),
            say("expected at most {most} bytes", most=MAX_BANK_FILE_BYTES),
        )
    return entry_of_bytes(data, holds_lines=bank.holds_lines(path.name), values=bank.values_of(path.name, data))
