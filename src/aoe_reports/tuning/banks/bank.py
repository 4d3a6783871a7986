"""Banks of tuners: how they are laid out, what is in them, what differs between two of them."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from typing import Literal

from msgspec import convert

from aoe_reports.formats.aoe.result_files import read_bytes
from aoe_reports.model.documents import Json, JsonObject
from aoe_reports.model.errors import ReadError
from aoe_reports.model.rows import column, row
from aoe_reports.model.texts import say
from aoe_reports.tuning.plan.plan import Plan

ENTRY_DIGITS = 32
"""How much of an entry's hash is kept: enough to tell entries apart."""


@dataclass(frozen=True, slots=True)
class BankLayout:
    """Where a bank in use lies. Banks that came with the tuner are behind it and are found by the tuner itself."""

    by: str
    """What says where it lies: a variable of the environment, `default` or `given`."""
    operators_root: PurePosixPath
    graphs_root: PurePosixPath
    graphs_by_soc: bool
    """Whether subgraphs and gradients lie in a folder of the chip, too."""
    elsewhere: tuple[PurePosixPath, ...] = ()
    """Where other releases of the tuner keep such a bank: it is not the one in use."""

    def operators(self, soc: str) -> PurePosixPath:
        """Where the operators of a chip lie."""
        return self.operators_root / soc

    def graphs(self, soc: str) -> PurePosixPath:
        """Where subgraphs and gradients of a chip lie, beside nothing else but folders."""
        return self.graphs_root / soc if self.graphs_by_soc else self.graphs_root

    def places(self, soc: str | None) -> tuple[PurePosixPath, ...]:
        """All folders in which a bank of a chip is looked for, each once."""
        own = (self.operators_root, self.graphs_root) if soc is None else (self.operators(soc), self.graphs(soc))
        return (*dict.fromkeys((*own, *self.elsewhere)),)


@dataclass(frozen=True, slots=True)
class Bank:
    """How a tuner keeps what it found for later runs of the model, where that may be exchanged as a whole."""

    in_use: Callable[[Mapping[str, str], str, str], BankLayout]
    """(environment, home, folder in which the tuner runs): where the one in use lies."""
    at: Callable[[PurePosixPath], BankLayout]
    """One at a given place."""
    holds_lines: Callable[[str], bool]
    """Whether the lines of a file of this name are entries that can be told apart."""
    chip_of: Callable[[str], str | None]
    """The chip that a file is of, by its path; null: it does not tell."""
    values_of: Callable[[str, bytes], Mapping[str, str] | None] = lambda _, __: None
    """(name, content): what a file of operators keeps (its hash), by what it is looked up by (its hash); null: it does not tell."""


@dataclass(frozen=True, slots=True)
class BankEntry:
    """One file of a bank: its size, its content's hash and, of a file of operators, those of its entries."""

    size: int
    sha256: str
    entries: frozenset[str] | None = None
    values: Mapping[str, str] | None = None
    """Of a file of operators, what it keeps by what it is looked up by: hashes of both. Null where damage leaves that open."""


Listing = Mapping[str, BankEntry]
"""Files of a bank by their path: operators in a folder of the chip, subgraphs beside it."""


def entry_of_bytes(data: bytes, *, holds_lines: bool, values: Mapping[str, str] | None = None) -> BankEntry:
    """What a file of this content is; `holds_lines`: its lines are entries, else its `values` are."""
    entries = None
    if holds_lines:
        entries = frozenset(
            hashlib.sha256(line.strip()).hexdigest()[:ENTRY_DIGITS] for line in data.splitlines() if line.strip()
        )
    elif values is not None:
        texts = (f"{key} {value}".encode() for key, value in values.items())
        entries = frozenset(hashlib.sha256(text).hexdigest()[:ENTRY_DIGITS] for text in texts)
    return BankEntry(len(data), hashlib.sha256(data).hexdigest(), entries, values)


@row
class BankChange:
    """How one file of a bank differs; entries are those of files of operators (null elsewhere)."""

    path: str = column("File")
    change: Literal["added", "changed", "removed"] = column("Change", "state")
    bytes_before: int | None = column("Bytes before", "integer")
    bytes_after: int | None = column("Bytes after", "integer")
    entries_added: int | None = column("Entries added", "integer")
    entries_lost: int | None = column("Entries lost", "integer")
    """Entries of before that are not in the file of afterwards: these files cannot be merged, so they are gone."""


def difference(before: Listing, after: Listing) -> list[BankChange]:
    """What changed from one listing to another, by path."""
    pairs = [(path, before.get(path), after.get(path)) for path in sorted(before.keys() | after.keys())]
    return [
        _change(path, old, new) for path, old, new in pairs if old is None or new is None or old.sha256 != new.sha256
    ]


def _change(path: str, old: BankEntry | None, new: BankEntry | None) -> BankChange:
    known = next((entry.entries for entry in (new, old) if entry is not None), None)
    was = (old.entries if old else None) or frozenset()
    now = (new.entries if new else None) or frozenset()
    return BankChange(
        path=path,
        change="added" if old is None else "removed" if new is None else "changed",
        bytes_before=old.size if old else None,
        bytes_after=new.size if new else None,
        entries_added=None if known is None else len(now - was),
        entries_lost=None if known is None else len(was - now),
    )


def document_of_listing(listing: Listing) -> JsonObject:
    """A listing as a JSON value."""
    return {
        name: {**asdict(entry), "entries": None if entry.entries is None else [*sorted(entry.entries)]}
        for name, entry in listing.items()
    }


def listing_of_document(document: Json) -> Listing:
    """The listing of a JSON value that `document_of_listing` made; ValidationError for anything else."""
    return convert(document, dict[str, BankEntry])


def digest_of(listing: Listing) -> str:
    """One hash of a bank's whole content: of its files' paths and hashes."""
    text = "".join(f"{entry.sha256}  {path}\n" for path, entry in sorted(listing.items()))
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


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
