"""Rules on banks of operators: is each entry found, and is it the only one for its operator?"""

from __future__ import annotations

from collections.abc import Iterator

from aoe_reports.formats.aoe.operator_bank_file import OperatorBankFile
from aoe_reports.formats.rules import OPERATOR_BANKS
from aoe_reports.model.findings import Finding
from aoe_reports.model.texts import say

_CODE = say("the open code of CANN that reads banks (opbase, op_runtime_bank.cpp and runtime_bank_manager.cpp)")
BANK_DUPLICATE = OPERATOR_BANKS.rule(
    "operator-bank-duplicate", "warning", "one operator has several entries; CANN uses one of them", _CODE
)
BANK_KEY = OPERATOR_BANKS.rule(
    "operator-bank-key",
    "warning",
    "an entry of a unified bank whose hash is not the MD5 of what it is for; CANN may not find it",
    say("tbe/common/repository_manager/cann_kb_manager of CANN 8.1.RC1 (base_manager.py, static_manager.py)"),
)
BANK_NAME = OPERATOR_BANKS.rule(
    "operator-bank-name", "warning", "a bank is searched for by the operator type in its name", _CODE
)

_MAX_HASH = 64


def check_operator_bank(file: OperatorBankFile) -> list[Finding]:
    """Everything that is to be said about one bank, reading included."""
    path = str(file.path)
    return [
        *file.findings,
        *BANK_DUPLICATE.found_at(path, _repeated(file)),
        *BANK_KEY.found_at(path, _hashed_otherwise(file)),
        *BANK_NAME.found_at(path, _named_otherwise(file)),
    ]


def _repeated(file: OperatorBankFile) -> Iterator[tuple[str, int | None]]:
    """Entries with the key of an earlier entry."""
    first: dict[str, int | None] = {}
    for entry in file.entries:
        if entry.key in first:
            line = first[entry.key]
            text = say("the same operator has an entry in line {line}, too", line=line)
            yield say("the same operator has another entry") if line is None else text, entry.line
        first.setdefault(entry.key, entry.line)


def _hashed_otherwise(file: OperatorBankFile) -> Iterator[tuple[str, int | None]]:
    """Entries whose hash is another than that of what they are for."""
    for entry in file.entries:
        if not entry.is_named_right:
            yield say("{key} is not the MD5 of its info_dict", key=(entry.named_key or "")[:_MAX_HASH]), entry.line


def _named_otherwise(file: OperatorBankFile) -> Iterator[tuple[str, int | None]]:
    """Entries of another type than in the file name."""
    for entry in file.entries if file.name.form == "runtime_kb" else ():
        if None not in {file.name.op_type, entry.op_type} and entry.op_type != file.name.op_type:
            message = say("an entry of {op_type} in a bank of {name}", op_type=entry.op_type, name=file.name.op_type)
            yield message, entry.line
