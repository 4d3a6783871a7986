"""Banks of operators: their names, their entries, and the form `runtime_kb`.

`runtime_kb` is the form of CANN today: a JSON object a line, as the open code of CANN writes and reads it (opbase,
`op_runtime_bank.cpp`) and as the banks look that come with its operators (ops-nn, `*_runtime_kb.json`). Each other form has a module
of its own: `tiling_banks`, `graphs`, `subgraphs`.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

from aoe_reports.formats.aoe.operands import Inputs
from aoe_reports.model.documents import Json
from aoe_reports.model.texts import say

BankForm = Literal["runtime_kb", "auto_tune", "unified_bank", "repository_bank", "subgraph_bank", "mdat_bank"]
"""How a bank of operators is written down."""

_DIGEST_DIGITS = 32
_EXACT = 1 << 53
"""Below it a float is the whole number that was written."""
_MAX_VERSION = 1 << 32
"""CANN reads the number `version` of an entry into 32 bits."""
_MAX_US = 10**12
"""The longest time of an operator that is believed: eleven days."""
_NS_PER_US = 1000
_SOC = r"(?P<soc>[A-Za-z0-9][\w-]{0,62})"
_CORES = r"(?P<cores>[1-9]\d{0,3})"
_OP_TYPE = r"(?P<op_type>[A-Za-z]\w{0,99})"
_NAMES: Mapping[BankForm, re.Pattern[str]] = {
    "runtime_kb": re.compile(rf"^{_SOC}_{_CORES}_AiCore_{_OP_TYPE}_runtime_kb\.json$", re.ASCII),
    "auto_tune": re.compile(
        rf"^{_SOC}_AiCore_{_CORES}_v(?P<version>\d{{1,9}})(?:_(?P<time>\d{{8}}_\d{{6}}_\d{{6}}))?\.json$", re.ASCII
    ),
    "unified_bank": re.compile(rf"^{_SOC}_{_CORES}_AiCore_{_OP_TYPE}\.json$", re.ASCII),
    "repository_bank": re.compile(
        r"^repository_(?P<soc>Ascend\w{1,56})_(?P<op_type>[A-Za-z][A-Za-z0-9]{0,99})\.json$", re.ASCII
    ),
    "subgraph_bank": re.compile(r"^(?P<soc>ascend[A-Za-z0-9_-]{1,56})_l2cache\.json$", re.ASCII | re.IGNORECASE),
    "mdat_bank": re.compile(r"^mdat_knowledge_bank\.json$"),
}
"""What banks are called, the narrower patterns first."""


@dataclass(frozen=True, slots=True)
class BankName:
    """What the name of a bank of operators tells; null where a name of its form tells it not."""

    form: BankForm
    soc: str | None = None
    cores: int | None = None
    op_type: str | None = None
    version: int | None = None
    time: str | None = None
    """When it was written, in local time: YYYYMMDD_HHMMSS and microseconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorEntry:
    """One entry of a bank of operators; null is what its form does not tell."""

    line: int | None = None
    op_type: str | None = None
    version: int | None = None
    info: Mapping[str, Json] | None = None
    """What it is looked up by, as the bank names it."""
    knowledge: Mapping[str, Json] | None = None
    """What is kept for it, as the bank names it."""
    shapes: tuple[tuple[int, ...], ...] = ()
    """Of a graph: the dimensions of its nodes, each list once, in the order in which they stand there; else of the operands."""
    data_types: tuple[str | None, ...] = ()
    """In the words of a profile: of a graph each once, else of the operands; null for one that is not known."""
    nodes: int | None = None
    """Of a graph: how many nodes it has."""
    operators: str | None = None
    """Of a graph: its operators, with how many there are of each."""
    inputs: Inputs | None = None
    """What decides whether an operator of a profile is this one, where the key has its inputs."""
    parts: tuple[Part, ...] = ()
    """Of a subgraph: the parts that it is cut into."""
    kernel: str | None = None
    """What was compiled or tuned, as the bank calls it."""
    cost_ns: int | None = None
    """How long it took when it was tuned, by itself."""
    raw_time: int | None = None
    """A time in a unit that no document names."""
    named_key: str | None = None
    """The hash that the bank itself gives the entry."""
    is_named_right: bool = True
    """Whether that hash is the one of what the entry is looked up by."""
    key: str
    """Two entries are of the same operator where it is equal."""
    value: str
    """Two entries say the same of an operator where it is equal."""


@dataclass(frozen=True, slots=True)
class Part:
    """Some operators of a subgraph that are computed piece by piece."""

    operators: tuple[tuple[str, tuple[tuple[int, ...], ...]], ...]
    """(operator, shapes of its inputs) in the order of the bank; an input that is absent is left out."""
    cut: tuple[int, ...]
    """Into how many pieces each operator is cut."""


class NotAnEntryError(ValueError):
    """What stands where an entry was expected; its text says why it is none."""


def bank_name_of(name: str) -> BankName | None:
    """What the name of a file tells, None for one that is called otherwise."""
    for form, pattern in _NAMES.items():
        if found := pattern.match(name):
            parts: dict[str, Any] = found.groupdict()
            numbers = {key: int(parts[key]) for key in ("cores", "version") if parts.get(key)}
            return BankName(form, **{**parts, **numbers})
    return None


def is_placeholder(document: Any) -> bool:
    """Whether a line is the placeholder `{}` of an empty bank, as ops-nn ships it."""
    return document == {} and isinstance(document, dict)


def entry_of_line(document: Any, line: int | None) -> OperatorEntry:
    """The entry of one line of a runtime_kb bank. Raises NotAnEntryError."""
    document = mapping(document)
    info, knowledge = member(document, "info_dict"), member(document, "knowledge")
    op_type = document.get("op")
    if not isinstance(op_type, str) or not op_type:
        raise NotAnEntryError(say("{name} is missing or is no text", name="op"))
    if type(document.get("id")) is not int:  # CANN narrows it to 32 bits and puts a hash of the key in its place
        raise NotAnEntryError(say("{name} is missing or is no whole number", name="id"))
    return OperatorEntry(
        line=line,
        op_type=op_type,
        version=_whole(document, "version"),
        info=info,
        knowledge=knowledge,
        key=digest_of([op_type, info]),
        value=digest_of(knowledge),
    )


def entry_of_measurement(document: Any, line: int | None) -> OperatorEntry:
    """The entry of one line of an MDAT bank: a hash and a time, and nothing that says what they are of. Raises NotAnEntryError."""
    fields = mapping(document)
    name = fields.get("hash_str")
    if not isinstance(name, str) or not name:
        raise NotAnEntryError(say("{name} is missing or is no text", name="hash_str"))
    time = fields.get("cost_time")
    if not isinstance(time, str) or not (time.isascii() and time.isdecimal() and len(time) <= _MAX_DIGITS):
        raise NotAnEntryError(say("{name} is missing or is no whole number", name="cost_time"))
    return OperatorEntry(line=line, raw_time=int(time), named_key=name, key=digest_of(name), value=digest_of(int(time)))


def mapping(value: Any) -> Mapping[str, Any]:
    """A JSON object. Raises NotAnEntryError for anything else."""
    if not isinstance(value, dict):
        raise NotAnEntryError(say("not an object"))
    return value


def member(document: Mapping[str, Any], name: str) -> Mapping[str, Json]:
    """A member that is an object and not empty. Raises NotAnEntryError."""
    found = document.get(name)
    if not isinstance(found, dict) or not found:
        raise NotAnEntryError(say("{name} is missing or is no object with members", name=name))
    return found


def ns_of(microseconds: Any) -> int | None:
    """A time of a bank in ns; None where it has none (tuners write -1) or none that can be."""
    if isinstance(microseconds, bool) or not isinstance(microseconds, int | float):
        return None
    if not 0 <= microseconds < _MAX_US:
        return None
    return round(Decimal(repr(microseconds)) * _NS_PER_US)


def sizes_of(values: Any) -> tuple[int, ...] | None:
    """A list of whole numbers that a profile may have, too; None for anything else."""
    if not isinstance(values, list) or not all(type(one) is int and abs(one) < _MAX_SIZE for one in values):
        return None
    return tuple(values)


def counted(names: Sequence[str]) -> str:
    """Names in the order in which they first stand there, with how often each does: `Conv2D x2, Relu`."""
    counts = dict.fromkeys(names, 0)
    for name in names:
        counts[name] += 1
    return ", ".join(name if count == 1 else f"{name} x{count}" for name, count in counts.items())


_MAX_SIZE = 1 << 63
_MAX_DIGITS = 18
"""Of a time in an MDAT bank: what 64 bits hold."""


def _whole(document: Mapping[str, Any], name: str) -> int:
    found = document.get(name)
    if type(found) is not int or not 0 <= found < _MAX_VERSION:
        raise NotAnEntryError(say("{name} is missing or is no whole number of 32 bits", name=name))
    return found


def digest_of(value: Any) -> str:
    """A hash of a JSON value: members in any order, 1.0 as 1. Raises NotAnEntryError for a number that no float holds."""
    text = json.dumps(_plain(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_DIGITS]


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        if not math.isfinite(value):
            raise NotAnEntryError(say("a number is out of range"))
        return int(value) if abs(value) < _EXACT and value.is_integer() else repr(value)
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list) else value
