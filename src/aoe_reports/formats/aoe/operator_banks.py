"""What stands in banks of operators: what an entry is looked up by, and the tiling or schedule that is kept for it.

Two forms are read. `runtime_kb` is that of CANN today: a JSON object a line, as the open code of CANN writes and reads it (opbase,
`op_runtime_bank.cpp`) and as the banks look that come with its operators (ops-nn, `*_runtime_kb.json`). `auto_tune` is that of Auto
Tune, before AOE: one JSON object, whose keys are graphs of operators. Such banks are known from 2021 and from CANN 8.1.RC1. Other
banks that come with CANN are recognised by their names (`NAMED_BANKS`).
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

from aoe_reports.model.documents import Json
from aoe_reports.model.texts import say

BankForm = Literal["runtime_kb", "auto_tune"]
"""How a bank of operators is written down."""

_DIGEST_DIGITS = 32
_EXACT = 1 << 53
"""Below it a float is the whole number that was written."""
_MAX_VERSION = 1 << 32
"""CANN reads the number `version` of an entry into 32 bits."""
_RUNTIME_KB = re.compile(
    r"^(?P<soc>[A-Za-z0-9][\w-]{0,62})_(?P<cores>[1-9]\d{0,3})_AiCore_(?P<op_type>[A-Za-z]\w{0,99})_runtime_kb\.json$",
    re.ASCII,
)
_AUTO_TUNE = re.compile(
    r"^(?P<soc>[A-Za-z0-9][\w-]{0,62})_AiCore_(?P<cores>[1-9]\d{0,3})_v(?P<version>\d{1,9})(?:_(?P<time>\d{8}_\d{6}_\d{6}))?\.json$",
    re.ASCII,
)
NAMED_BANKS: Mapping[str, tuple[re.Pattern[str], str]] = {
    "unified_bank": (
        re.compile(r"^(?P<soc>[A-Za-z0-9][\w-]{0,62})_[1-9]\d{0,3}_AiCore_[A-Za-z]\w{0,99}\.json$", re.ASCII),
        say(
            "a bank of operators of GA tuning (unified_bank): one JSON object, a list of tilings by a hash of what they are for"
        ),
    ),
    "repository_bank": (
        re.compile(r"^repository_(?P<soc>Ascend\w{1,56})_[A-Za-z][A-Za-z0-9]{0,99}\.json$", re.ASCII),
        say("a repository of tilings with their times, that comes with CANN: an object a line"),
    ),
    "subgraph_bank": (
        re.compile(r"^(?P<soc>ascend[A-Za-z0-9_-]{1,56})_l2cache\.json$", re.ASCII | re.IGNORECASE),
        say("a bank of subgraphs (l2cache): a version, and then a subgraph a line"),
    ),
    "mdat_bank": (
        re.compile(r"^mdat_knowledge_bank\.json$"),
        say("a bank of MDAT: a hash and a time a line, and nothing that says what they are of"),
    ),
}
"""Banks that are recognised and not read: what they are called, and what they are. Known from the files of CANN 8.1.RC1."""
_NODE = 5
"""Members that each node of a graph has at least; the last four are its dimensions, a list, a number, the nodes that it reads."""
_DIMENSIONS = -4


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


@dataclass(frozen=True, slots=True)
class OperatorEntry:
    """One entry of a bank of operators; null is what its form does not tell."""

    line: int | None
    op_type: str | None
    version: int | None
    info: Mapping[str, Json] | None
    """What it is looked up by, as the bank names it."""
    knowledge: Mapping[str, Json] | None
    """What is kept for it, as the bank names it."""
    shapes: tuple[tuple[int, ...], ...]
    """Of a graph: the dimensions of its nodes, each list once, in the order in which they stand there."""
    nodes: int | None
    """Of a graph: how many nodes it has."""
    key: str
    """Two entries are of the same operator where it is equal."""
    value: str
    """Two entries say the same of an operator where it is equal."""


class NotAnEntryError(ValueError):
    """What stands where an entry was expected; its text says why it is none."""


def bank_name_of(name: str) -> BankName | None:
    """What the name of a file tells, None for one that is called otherwise."""
    if found := _RUNTIME_KB.match(name):
        return BankName("runtime_kb", found["soc"], int(found["cores"]), found["op_type"])
    if found := _AUTO_TUNE.match(name):
        told = {"version": int(found["version"]), "time": found["time"]}
        return BankName("auto_tune", found["soc"], int(found["cores"]), **told)  # type: ignore[arg-type]
    return None


def named_bank_of(name: str) -> tuple[str, str | None] | None:
    """(kind, chip) of a bank that is recognised and not read; None for any other file."""
    for kind, (pattern, _) in NAMED_BANKS.items():
        if found := pattern.match(name):
            return kind, found.groupdict().get("soc")
    return None


def is_placeholder(document: Any) -> bool:
    """Whether a line is the placeholder `{}` of an empty bank, as ops-nn ships it."""
    return document == {} and isinstance(document, dict)


def entry_of_line(document: Any, line: int | None) -> OperatorEntry:
    """The entry of one line of a runtime_kb bank. Raises NotAnEntryError."""
    if not isinstance(document, dict):
        raise NotAnEntryError(say("not an object"))
    info, knowledge = _mapping(document, "info_dict"), _mapping(document, "knowledge")
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
        shapes=(),
        nodes=None,
        key=digest_of([op_type, info]),
        value=digest_of(knowledge),
    )


def entry_of_graph(key: str, value: Any) -> OperatorEntry:
    """The entry of one member of an Auto Tune bank. Raises NotAnEntryError."""
    nodes = [node for graph in _graphs(key) for node in graph]
    if not nodes:
        raise NotAnEntryError(say("its key is no graph of operators"))
    shapes = dict.fromkeys(_dimensions(node) for node in nodes)
    return OperatorEntry(
        line=None,
        op_type=None,
        version=None,
        info=None,
        knowledge=None,
        shapes=tuple(shapes),
        nodes=len(nodes),
        key=digest_of(key),
        value=digest_of(value),
    )


def _mapping(document: Mapping[str, Any], name: str) -> Mapping[str, Json]:
    found = document.get(name)
    if not isinstance(found, dict) or not found:
        raise NotAnEntryError(say("{name} is missing or is no object with members", name=name))
    return found


def _whole(document: Mapping[str, Any], name: str) -> int:
    found = document.get(name)
    if type(found) is not int or not 0 <= found < _MAX_VERSION:
        raise NotAnEntryError(say("{name} is missing or is no whole number of 32 bits", name=name))
    return found


def _graphs(key: str) -> Iterator[list[Any]]:
    """The graphs of a key: several stand one behind the other, nothing between."""
    decoder, at = json.JSONDecoder(), 0
    while at < len(key):
        try:
            graph, at = decoder.raw_decode(key, at)
        except (ValueError, RecursionError) as error:
            raise NotAnEntryError(say("its key is no graph of operators")) from error
        if not isinstance(graph, list) or not graph:
            raise NotAnEntryError(say("its key is no graph of operators"))
        yield graph


def _dimensions(node: Any) -> tuple[int, ...]:
    sizes = node[_DIMENSIONS] if isinstance(node, list) and len(node) >= _NODE else None
    if not isinstance(sizes, list) or not all(type(size) is int for size in sizes):
        raise NotAnEntryError(say("its key is no graph of operators"))
    return tuple(sizes)


def digest_of(value: Any) -> str:
    """A hash of a JSON value: members in any order, 1.0 as 1. Raises NotAnEntryError for a number that no float holds."""
    text = json.dumps(_plain(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_DIGITS]


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        if not math.isfinite(value):
            raise NotAnEntryError(say("a number is out of range"))
        return int(value) if abs(value) < _EXACT and value.is_integer() else repr(value)
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list) else value
