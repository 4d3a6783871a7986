"""Knowledge banks of AOE: where it looks for them, and what their files are called."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal

from aoe_reports.formats.aoe.operator_bank_file import parse_operator_bank, read_operator_bank
from aoe_reports.formats.aoe.operator_banks import BankForm, bank_name_of
from aoe_reports.model.errors import ReadError
from aoe_reports.model.findings import has
from aoe_reports.topics.banks.coverage import BankedOperator, BankIndex, CalledOperator, banked_operator
from aoe_reports.tuning.banks.bank import Bank, BankLayout
from aoe_reports.tuning.job.driver import BankSides
from aoe_reports.tuning.plan.plan import Candidate

RUNTIME_KB = "_runtime_kb.json"
"""What names of operator banks end with: `<soc>_<cores>_AiCore_<type>_runtime_kb.json`, one JSON object a line."""

_OF_OPERATORS: frozenset[BankForm] = frozenset({"runtime_kb", "unified_bank", "repository_bank", "auto_tune"})
"""The forms of banks whose entries are of single operators."""

GRADIENTS = "_gradient_fusion.json"
"""What names of banks of gradients end with: the chip stands before it."""


def bank_at(path: PurePosixPath) -> BankLayout:
    """A bank laid out as AOE does under TUNE_BANK_PATH: operators in a folder of the chip, subgraphs beside it."""
    return BankLayout("given", path, path, graphs_by_soc=False)


def bank_in_use(environment: Mapping[str, str], home: str, folder: str) -> BankLayout:
    """The bank that AOE uses: TUNE_BANK_PATH, else ASCEND_CACHE_PATH, else below the home folder.

    Relative paths are of `folder`, where AOE runs. The built-in banks of CANN come behind it and are found by AOE itself.
    """
    if path := environment.get("TUNE_BANK_PATH"):
        root = PurePosixPath(folder) / path
        return BankLayout("TUNE_BANK_PATH", root, root, graphs_by_soc=False)
    if path := environment.get("ASCEND_CACHE_PATH"):
        root = PurePosixPath(folder) / path / "aoe_data"
        return BankLayout("ASCEND_CACHE_PATH", root, root, graphs_by_soc=False)
    ascend = PurePosixPath(home) / "Ascend"
    new, old = (ascend / release / "data" / "aoe" / "custom" for release in ("cann", "latest"))
    custom, other = (new, old) if _is_new(environment, ascend, new, old) else (old, new)
    return BankLayout("default", custom / "op", custom / "graph", graphs_by_soc=True, elsewhere=(other,))


def _is_new(environment: Mapping[str, str], ascend: PurePosixPath, new: PurePosixPath, old: PurePosixPath) -> bool:
    """Whether CANN is installed as since 8.5, in a folder `cann`: by its own variables, else by what lies in the home folder."""
    installed = PurePosixPath(environment.get("ASCEND_HOME_PATH") or environment.get("ASCEND_TOOLKIT_HOME") or "").parts
    if {"ascend-toolkit", "latest"}.intersection(installed):
        return False
    if any(part.startswith("cann") for part in installed):
        return True
    return Path(new).is_dir() or (not Path(old).is_dir() and Path(ascend / "cann").exists())


def holds_lines(name: str) -> bool:
    """Whether a file of a bank has an entry a line: those of operators do."""
    return name.endswith(RUNTIME_KB)


def _holds_operators(name: str) -> bool:
    """Whether a file of a bank, by its path or name, has entries of operators."""
    known = bank_name_of(name.rpartition("/")[2])
    return known is not None and known.form in _OF_OPERATORS


def chip_of(path: str) -> str | None:
    """The chip that a file of a bank is of, by its folder (operators) or its name (gradients); null: subgraphs do not tell."""
    if "/" in path:
        return path.split("/", 1)[0]
    return path.removesuffix(GRADIENTS) if path.endswith(GRADIENTS) and path != GRADIENTS else None


def values_of(name: str, data: bytes) -> Mapping[str, str] | None:
    """What a file of operators keeps by what it is looked up by; null for other files, and where something of it cannot be read."""
    if not _holds_operators(name):
        return None
    bank = parse_operator_bank(Path(name), data)
    return None if has(bank.findings, "error") else {entry.key: entry.value for entry in bank.entries}


AOE_BANK = Bank(in_use=bank_in_use, at=bank_at, holds_lines=holds_lines, chip_of=chip_of, values_of=values_of)


BankState = Literal["changed", "kept"]
"""Whether a job added or changed the entry of an operator, or left one as it was."""


@dataclass(frozen=True, slots=True)
class BankEvidence:
    """The entries in a job's bank, and which of them the job added or changed."""

    index: BankIndex
    changed: frozenset[str]
    """By what they are looked up by."""

    def state_of(self, candidate: Candidate) -> BankState | None:
        """What became of the entry of an operator; None where it has none, or the plan or the bank does not tell which it is."""
        told = (
            candidate.input_shapes,
            candidate.input_data_types,
            candidate.input_formats,
            candidate.output_data_types,
        )
        if None in told:
            return None
        covered = self.index.look_up(CalledOperator(candidate.op_type, *told))
        if covered.status != "covered" or not all(entry.has_known_names for entry in covered.entries):
            return None
        states = {entry.key in self.changed for entry in covered.entries}
        if len(states) > 1:
            return None
        return "changed" if True in states else "kept"


def evidence_of(bank: BankSides, soc: str | None) -> BankEvidence | None:
    """What a job's bank contains; None where something of it, before or after, cannot be read, or it is of another chip."""
    entries: list[BankedOperator] = []
    changed: set[str] = set()
    for path, now in bank.after.items():
        if not _holds_operators(path):
            continue
        before = bank.before.get(path)
        if now.values is None or (before is not None and before.values is None):
            return None
        was = {} if before is None or before.values is None else before.values
        changed |= {key for key, value in now.values.items() if was.get(key) != value}
        try:
            file = read_operator_bank(bank.folder / path)
        except ReadError:
            return None
        name = file.name
        entries += [banked_operator(entry, name.form, name.soc, name.cores) for entry in file.entries]
    chips = {entry.soc for entry in entries}
    chip = soc or (chips.pop() if len(chips) == 1 else None)
    return None if chip is None else BankEvidence(BankIndex(entries, chip, None), frozenset(changed))
