"""Knowledge banks: where AOE looks for them, how they are laid out, what differs between two of them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Literal

LayoutName = Literal["TUNE_BANK_PATH", "ASCEND_CACHE_PATH", "default", "given"]

RUNTIME_KB = "_runtime_kb.json"
"""What names of operator banks end with: `<soc>_<cores>_AiCore_<type>_runtime_kb.json`, one JSON object a line."""

ENTRY_BYTES = 16
"""How much of an entry's hash is kept: enough to tell entries apart."""


@dataclass(frozen=True, slots=True)
class BankLayout:
    """Where a bank in use lies. The built-in banks of CANN come behind it and are found by AOE itself."""

    by: LayoutName
    operators_root: PurePosixPath
    graphs_root: PurePosixPath
    graphs_by_soc: bool
    """Whether subgraphs and gradients lie in a folder of the chip, too."""

    def operators(self, soc: str) -> PurePosixPath:
        """Where the operators of a chip lie."""
        return self.operators_root / soc

    def graphs(self, soc: str) -> PurePosixPath:
        """Where subgraphs and gradients of a chip lie, beside nothing else but folders."""
        return self.graphs_root / soc if self.graphs_by_soc else self.graphs_root


def bank_at(path: PurePosixPath) -> BankLayout:
    """A bank laid out as AOE does under TUNE_BANK_PATH: operators in a folder of the chip, subgraphs beside it."""
    return BankLayout("given", path, path, graphs_by_soc=False)


def bank_in_use(environment: Mapping[str, str], home: str, folder: str) -> BankLayout:
    """The bank that AOE uses: TUNE_BANK_PATH, else ASCEND_CACHE_PATH, else below the home folder.

    Relative paths are of `folder`, where AOE runs.
    """
    if path := environment.get("TUNE_BANK_PATH"):
        root = PurePosixPath(folder) / path
        return BankLayout("TUNE_BANK_PATH", root, root, graphs_by_soc=False)
    if path := environment.get("ASCEND_CACHE_PATH"):
        root = PurePosixPath(folder) / path / "aoe_data"
        return BankLayout("ASCEND_CACHE_PATH", root, root, graphs_by_soc=False)
    custom = PurePosixPath(home) / "Ascend" / "latest" / "data" / "aoe" / "custom"
    return BankLayout("default", custom / "op", custom / "graph", graphs_by_soc=True)


@dataclass(frozen=True, slots=True)
class BankEntry:
    """One file of a bank: its size, its content's hash and, of a file of operators, those of its entries."""

    size: int
    sha256: str
    entries: frozenset[bytes] | None = None


Listing = Mapping[str, BankEntry]
"""Files of a bank by their path in the layout of TUNE_BANK_PATH."""


GRADIENTS = "_gradient_fusion.json"
"""What names of banks of gradients end with: the chip stands before it."""


def chip_of(path: str) -> str | None:
    """The chip that a file of a bank is of, by its folder (operators) or its name (gradients); null: subgraphs do not tell."""
    if "/" in path:
        return path.split("/", 1)[0]
    return path.removesuffix(GRADIENTS) if path.endswith(GRADIENTS) and path != GRADIENTS else None


def entry_of_bytes(name: str, data: bytes) -> BankEntry:
    """What a file of this name and content is."""
    lines = None
    if name.endswith(RUNTIME_KB):
        lines = frozenset(
            hashlib.sha256(line.strip()).digest()[:ENTRY_BYTES] for line in data.splitlines() if line.strip()
        )
    return BankEntry(len(data), hashlib.sha256(data).hexdigest(), lines)


@dataclass(frozen=True, slots=True)
class BankChange:
    """How one file of a bank differs; entries are those of files of operators (null elsewhere)."""

    path: str
    change: Literal["added", "changed", "removed"]
    bytes_before: int | None
    bytes_after: int | None
    entries_added: int | None
    entries_lost: int | None
    """Entries of before that are not in the file of afterwards: these files cannot be merged, so they are gone."""


def difference(before: Listing, after: Listing) -> list[BankChange]:
    """What changed from one listing to another, by path."""
    changes = []
    for path in sorted(before.keys() | after.keys()):
        old, new = before.get(path), after.get(path)
        if old is not None and new is not None and old.sha256 == new.sha256:
            continue
        known = next((entry.entries for entry in (new, old) if entry is not None), None)
        was = (old.entries if old else None) or frozenset()
        now = (new.entries if new else None) or frozenset()
        changes.append(
            BankChange(
                path,
                "added" if old is None else "removed" if new is None else "changed",
                old.size if old else None,
                new.size if new else None,
                None if known is None else len(now - was),
                None if known is None else len(was - now),
            )
        )
    return changes


def document_of_listing(listing: Listing) -> dict[str, Any]:
    """A listing as a JSON value."""
    return {
        name: {
            "size": entry.size,
            "sha256": entry.sha256,
            "entries": None if entry.entries is None else sorted(one.hex() for one in entry.entries),
        }
        for name, entry in listing.items()
    }


def listing_of_document(document: Mapping[str, Any]) -> Listing:
    """The listing of a JSON value that `document_of_listing` made."""
    return {
        name: BankEntry(
            one["size"],
            one["sha256"],
            None if one["entries"] is None else frozenset(bytes.fromhex(text) for text in one["entries"]),
        )
        for name, one in document.items()
    }


def digest_of(listing: Listing) -> str:
    """One hash of a bank's whole content: of its files' paths and hashes."""
    text = "".join(f"{entry.sha256}  {path}\n" for path, entry in sorted(listing.items()))
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
