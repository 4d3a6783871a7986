"""What the difference of a job's bank tells of operators that AOE's results leave open."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from aoe_reports.formats.aoe.operands import product_of
from aoe_reports.formats.aoe.operator_bank_file import read_operator_bank
from aoe_reports.model.errors import ReadError
from aoe_reports.topics.banks.coverage import BankedOperator, BankIndex, CalledOperator
from aoe_reports.tuning.aoe.bank import holds_lines
from aoe_reports.tuning.job.driver import BankSides
from aoe_reports.tuning.plan.plan import Candidate

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
        if covered.status != "covered" or not all(map(_is_told, covered.entries)):
            return None
        states = {entry.key in self.changed for entry in covered.entries}
        if len(states) > 1:
            return None
        return "changed" if True in states else "kept"


def evidence_of(bank: BankSides, soc: str | None) -> BankEvidence | None:
    """What a job's bank tells; None where something of it, before or after, cannot be read, or it is of another chip."""
    entries: list[BankedOperator] = []
    changed: set[str] = set()
    for path, now in bank.after.items():
        if not holds_lines(path):
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
        entries += [
            BankedOperator(file.name.soc, file.name.cores, entry.op_type, product_of(entry.info), entry.key)
            for entry in file.entries
        ]
    chips = {entry.soc for entry in entries}
    chip = soc or (chips.pop() if len(chips) == 1 else None)
    return None if chip is None else BankEvidence(BankIndex(entries, chip, None), frozenset(changed))


def _is_told(entry: BankedOperator) -> bool:
    """Whether every type and format of an entry is known by its name."""
    product = entry.product
    return product is not None and None not in {*product.data_types, *product.formats, product.output_type}
