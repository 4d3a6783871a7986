"""Reads a bank of operators (`*_runtime_kb.json`, or of Auto Tune), as strictly as AOE's results."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from aoe_reports.formats.aoe.bank_file import MAX_BANK_BYTES
from aoe_reports.formats.aoe.operator_banks import (
    BankName,
    NotAnEntryError,
    OperatorEntry,
    bank_name_of,
    entry_of_graph,
    entry_of_line,
    is_placeholder,
)
from aoe_reports.formats.aoe.result_files import as_utf8, parse_floats, parse_json, read_bytes
from aoe_reports.formats.json.text import of_parser
from aoe_reports.formats.rules import JSON_TOO_LARGE, OPERATOR_BANK_ENTRY
from aoe_reports.formats.sources.objects import path_of
from aoe_reports.model.findings import Finding
from aoe_reports.model.texts import say

MAX_LINE_BYTES = 1 << 20
"""The longest entry that is read: a real one takes one kilobyte."""

_Wrong = tuple[str, int | None]
"""(what is wrong, the line)."""


@dataclass(frozen=True, slots=True)
class OperatorBankFile:
    """One bank of operators: its entries, what its name tells, and what was found."""

    path: Path
    name: BankName
    entries: tuple[OperatorEntry, ...]
    findings: tuple[Finding, ...]
    sha256: str
    size: int


def read_operator_bank(path: Path, *, max_bytes: int | None = None) -> OperatorBankFile:
    """The entries of a bank of at most `max_bytes` (MAX_BANK_BYTES unless told); damage is in the findings.

    A name that is none of a bank is read as a runtime_kb. ReadError only where the file cannot be opened.
    """
    path = path_of(path)
    return parse_operator_bank(path, read_bytes(path, max_bytes or MAX_BANK_BYTES), max_bytes)


def parse_operator_bank(path: Path, data: bytes, max_bytes: int | None = None) -> OperatorBankFile:
    """As `read_operator_bank`, of bytes that were read already."""
    name = bank_name_of(path.name) or BankName("runtime_kb")
    limit = max_bytes or MAX_BANK_BYTES
    sha256 = hashlib.sha256(data).hexdigest()
    findings: list[Finding] = []
    if len(data) > limit:
        message = say("at most {limit} bytes are read; this file is larger", limit=limit)
        findings.append(JSON_TOO_LARGE.found(str(path), message))
        return OperatorBankFile(path, name, (), tuple(findings), sha256, len(data))
    text = as_utf8(path, data, findings)
    read = _graphs if name.form == "auto_tune" else _lines
    wrong: list[_Wrong] = []
    entries = tuple(read(path, text, findings, wrong))
    return OperatorBankFile(
        path, name, entries, (*findings, *OPERATOR_BANK_ENTRY.found_at(str(path), wrong)), sha256, len(data)
    )


def _lines(path: Path, text: bytes, findings: list[Finding], wrong: list[_Wrong]) -> Iterator[OperatorEntry]:
    """The entries of a bank that has one a line."""
    for number, line in enumerate(text.split(b"\n"), start=1):
        if not line.strip():
            continue
        if len(line) > MAX_LINE_BYTES:
            message = say("an entry of more than {limit} bytes; it is not read", limit=MAX_LINE_BYTES)
            wrong.append((message, number))
            continue
        try:
            document = parse_floats(line)
            if is_placeholder(document):
                message = say("a placeholder ({text}), and no entry", text="{}")
                findings.append(OPERATOR_BANK_ENTRY.found(str(path), message, number, severity="info"))
                continue
            yield entry_of_line(document, number)
        except NotAnEntryError as error:
            wrong.append(_no_entry(error.args[0], number))
        except ValueError as error:
            why = of_parser(str(error).partition(" at line ")[0])
            wrong.append(_no_entry(say("not JSON: {why}", why=why), number))


def _graphs(path: Path, text: bytes, findings: list[Finding], wrong: list[_Wrong]) -> Iterator[OperatorEntry]:
    parsed, document, cut = parse_json(path, text, findings, say("entry"))
    if not parsed:
        return
    if not isinstance(document, dict):
        wrong.append(_no_entry(say("the document is no object"), None))
        return
    last = list(document)[-1] if document and cut else None
    for key, value in document.items():
        if key == last:
            continue  # of the entry that was cut off nothing is certain
        try:
            yield entry_of_graph(key, value)
        except NotAnEntryError as error:
            wrong.append(_no_entry(error.args[0], None))


def _no_entry(why: str, line: int | None) -> _Wrong:
    return say("no entry: {why}; it is left out", why=why), line
