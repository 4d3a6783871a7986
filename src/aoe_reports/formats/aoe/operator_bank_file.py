"""Reads a bank of operators or of subgraphs, as strictly as AOE's results."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from aoe_reports.formats.aoe.bank_file import MAX_BANK_BYTES
from aoe_reports.formats.aoe.graphs import entry_of_graph
from aoe_reports.formats.aoe.operator_banks import (
    BankForm,
    BankName,
    NotAnEntryError,
    OperatorEntry,
    bank_name_of,
    entry_of_line,
    entry_of_measurement,
    is_placeholder,
)
from aoe_reports.formats.aoe.result_files import as_utf8, parse_floats, parse_json, read_bytes
from aoe_reports.formats.aoe.subgraphs import entry_of_subgraph, version_of
from aoe_reports.formats.aoe.tiling_banks import entries_of_key, entry_of_repository
from aoe_reports.formats.json.text import of_parser
from aoe_reports.formats.rules import JSON_TOO_LARGE, OPERATOR_BANK_ENTRY
from aoe_reports.formats.sources.objects import path_of
from aoe_reports.model.findings import Finding
from aoe_reports.model.texts import say

MAX_LINE_BYTES = 1 << 20
"""The longest entry that is read: a real one takes one kilobyte."""

_Wrong = tuple[str, int | None]
"""(what is wrong, the line)."""
_LINES: Mapping[BankForm, Callable[[Any, int], OperatorEntry]] = {
    "runtime_kb": entry_of_line,
    "repository_bank": entry_of_repository,
    "subgraph_bank": entry_of_subgraph,
    "mdat_bank": entry_of_measurement,
}
"""How an entry is made of a line, for forms that have one a line; the others are one object."""


@dataclass(frozen=True, slots=True)
class OperatorBankFile:
    """One bank of operators: its entries, what its name tells, and what was found."""

    path: Path
    name: BankName
    entries: tuple[OperatorEntry, ...]
    findings: tuple[Finding, ...]
    sha256: str
    size: int
    form_version: str | None = None
    """The version of its form, where the bank names one."""


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
    wrong: list[_Wrong] = []
    versions: list[str] = []
    if name.form in _LINES:
        entries = tuple(_lines(name.form, path, text, findings, wrong, versions))
    else:
        entries = tuple(_members(name.form, path, text, findings, wrong))
    said = (*findings, *OPERATOR_BANK_ENTRY.found_at(str(path), wrong))
    return OperatorBankFile(path, name, entries, said, sha256, len(data), versions[0] if versions else None)


def _lines(
    form: BankForm, path: Path, text: bytes, findings: list[Finding], wrong: list[_Wrong], versions: list[str]
) -> Iterator[OperatorEntry]:
    """The entries of a bank that has one a line; a line with nothing but a version goes into `versions`."""
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
                findings.append(_placeholder(path, number))
            elif form == "subgraph_bank" and (version := version_of(document)) is not None:
                versions.append(version)
            else:
                yield _LINES[form](document, number)
        except NotAnEntryError as error:
            wrong.append(_no_entry(error.args[0], number))
        except ValueError as error:
            why = of_parser(str(error).partition(" at line ")[0])
            wrong.append(_no_entry(say("not JSON: {why}", why=why), number))


def _members(
    form: BankForm, path: Path, text: bytes, findings: list[Finding], wrong: list[_Wrong]
) -> Iterator[OperatorEntry]:
    """The entries of a bank that is one object."""
    if form == "unified_bank" and not text.strip():
        findings.append(OPERATOR_BANK_ENTRY.found(str(path), say("an empty bank, and no entry"), severity="info"))
        return  # CANN creates the file before it has an entry
    document, cut = _parsed(path, text, findings)
    if document is None:
        return
    if not isinstance(document, dict):
        wrong.append(_no_entry(say("the document is no object"), None))
        return
    if is_placeholder(document):
        findings.append(_placeholder(path, None))
    last = list(document)[-1] if document and cut else None
    for key, value in document.items():
        if key == last:
            continue  # of the entry that was cut off nothing is certain
        try:
            yield from entries_of_key(key, value) if form == "unified_bank" else [entry_of_graph(key, value)]
        except NotAnEntryError as error:
            wrong.append(_no_entry(error.args[0], None))


def _parsed(path: Path, text: bytes, findings: list[Finding]) -> tuple[Any, bool]:
    """(the document of a bank that is one object, None where there is none; whether it was cut off)."""
    try:
        return parse_floats(text), False
    except ValueError:
        _, document, cut = parse_json(path, text, findings, say("entry"))
        return _with_floats(document), bool(cut)  # an empty pointer: cut off between two entries


def _with_floats(value: Any) -> Any:
    """A JSON value with floats for the exact numbers of a careful reading."""
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, dict):
        return {name: _with_floats(one) for name, one in value.items()}
    return [_with_floats(one) for one in value] if isinstance(value, list) else value


def _placeholder(path: Path, line: int | None) -> Finding:
    message = say("a placeholder ({text}), and no entry", text="{}")
    return OPERATOR_BANK_ENTRY.found(str(path), message, line, severity="info")


def _no_entry(why: str, line: int | None) -> _Wrong:
    return say("no entry: {why}; it is left out", why=why), line
