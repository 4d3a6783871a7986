"""Banks of tilings with their times: `unified_bank` of GA tuning, and `repository_<chip>_<type>.json`, which comes with CANN.

A unified bank is one JSON object: a list of {knowledge, info_dict, cost_time} by the MD5 of the text that `info_dict` was
(tbe/common/repository_manager/cann_kb_manager of CANN 8.1.RC1: `BaseManager.abstract`, `StaticManager.write`). A repository has an object a
line: {shape, tiling, cost_time}. What both are looked up by has one form (tbe/common/tiling/op_param_encode).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from aoe_reports.formats.aoe.operands import data_type_of, inputs_of
from aoe_reports.formats.aoe.operator_banks import (
    NotAnEntryError,
    OperatorEntry,
    digest_of,
    mapping,
    member,
    ns_of,
    sizes_of,
)
from aoe_reports.formats.json.text import without_count
from aoe_reports.model.documents import Json
from aoe_reports.model.texts import say

_NAMES_OF_RUNS = frozenset({"kernel_name", "test_case", "op_name"})
"""What a repository says of the run that tuned an operator, and not of the operator."""
_OPERANDS = "ABC"


def entries_of_key(key: str, found: Any) -> Iterator[OperatorEntry]:
    """The entries of one member of a unified bank. Raises NotAnEntryError."""
    if not isinstance(found, list) or not found:
        raise NotAnEntryError(say("it is no list of tilings"))
    for one in found:
        yield _of_tiling(without_count(key), mapping(one))


def _of_tiling(key: str, document: Mapping[str, Any]) -> OperatorEntry:
    knowledge, info = document.get("knowledge"), document.get("info_dict")
    if not knowledge or not isinstance(knowledge, dict | str):
        raise NotAnEntryError(say("{name} is missing or is no object with members", name="knowledge"))
    if isinstance(info, str) and info:  # CANN keeps a text that is no JSON as it is: a hash of what it is for
        return OperatorEntry(
            knowledge=knowledge if isinstance(knowledge, dict) else None,
            cost_ns=ns_of(document.get("cost_time")),
            named_key=key,
            is_named_right=_md5(info) == key,
            key=digest_of(key),
            value=digest_of(knowledge),
        )
    info = member(document, "info_dict")
    digest_of(info)  # its numbers are in range
    return OperatorEntry(
        op_type=_op_type(info),
        info=info,
        knowledge=knowledge if isinstance(knowledge, dict) else None,
        shapes=_shapes(info),
        data_types=_data_types(info),
        inputs=inputs_of(info),
        cost_ns=ns_of(document.get("cost_time")),
        named_key=key,
        is_named_right=_md5(json.dumps(info)) == key,
        key=digest_of(key),
        value=digest_of(knowledge),
    )


def entry_of_repository(document: Any, line: int | None) -> OperatorEntry:
    """The entry of one line of a repository. Raises NotAnEntryError."""
    document = mapping(document)
    info, tiling = member(document, "shape"), document.get("tiling")
    if not isinstance(tiling, list | dict) or not tiling:
        raise NotAnEntryError(say("{name} is missing or is empty", name="tiling"))
    op_type, kernel = _op_type(info), info.get("kernel_name")
    if op_type is None:
        raise NotAnEntryError(say("{name} is missing or is no text", name="op_type"))
    return OperatorEntry(
        line=line,
        op_type=op_type,
        info=info,
        knowledge={"tiling": tiling},
        shapes=_shapes(info),
        data_types=_data_types(info),
        kernel=kernel if isinstance(kernel, str) and kernel else None,
        cost_ns=ns_of(document.get("cost_time")),
        key=digest_of({name: value for name, value in info.items() if name not in _NAMES_OF_RUNS}),
        value=digest_of(tiling),
    )


def _op_type(info: Mapping[str, Json]) -> str | None:
    found = info.get("op_type")
    return found if isinstance(found, str) and found else None


def _shapes(info: Mapping[str, Json]) -> tuple[tuple[int, ...], ...]:
    """The shapes of the operands as the bank has them; CANN writes one of zeros for an operand that it does not look at."""
    if (inputs := inputs_of(info)) is not None:
        return inputs.shapes
    shapes = (sizes_of(info.get(f"{operand}_shape")) for operand in _OPERANDS)
    return tuple(shape for shape in shapes if shape and any(shape))


def _data_types(info: Mapping[str, Json]) -> tuple[str | None, ...]:
    if (inputs := inputs_of(info)) is not None:
        return inputs.data_types
    words = (info.get(f"{operand}_dtype") for operand in _OPERANDS)
    return tuple(data_type_of(word) for word in words if word is not None)


def _md5(text: str) -> str:
    return hashlib.md5(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()
