"""The contract's one JSON object: command, inputs, rows, findings, reasons."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, cast

from aoe_reports.model.classes import is_record
from aoe_reports.model.documents import Json
from aoe_reports.model.findings import Finding
from aoe_reports.model.rows import as_mapping

FORMAT_VERSION = 1


def render_rows(
    command: str,
    inputs: Sequence[str],
    rows: Sequence[object],
    findings: Iterable[Finding],
    reasons: Sequence[str],
    more: Mapping[str, Any] | None = None,
) -> str:
    """One object, rows under their keys, NaN and infinities as null; ends with a line end."""
    document = {
        "command": command,
        "format_version": FORMAT_VERSION,
        "inputs": list(inputs),
        "rows": list(rows),
        "findings": [finding.as_dict() for finding in findings],
        "reasons": list(reasons),
        **(more or {}),
    }
    return json.dumps(_finite(document), ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def render_pieces(
    command: str,
    inputs: Sequence[str],
    batches: Iterable[Sequence[object]],
    findings: Callable[[], tuple[Sequence[Finding], Sequence[str]]],
) -> Iterator[str]:
    """The same object piece by piece, for rows that are too many to be held; `findings` gives (findings, reasons)."""
    lead = {"command": command, "format_version": FORMAT_VERSION, "inputs": list(inputs)}
    yield json.dumps(_finite(lead), ensure_ascii=False)[:-1] + ', "rows": ['
    yield from _lines(chain.from_iterable(batches))
    listed, reasons = findings()
    yield '\n], "findings": ['
    yield from _lines(finding.as_dict() for finding in listed)
    yield '\n], "reasons": ' + json.dumps(list(reasons), ensure_ascii=False) + "}\n"


def _lines(values: Iterable[object]) -> Iterator[str]:
    """The items of a JSON list, one a line."""
    for place, value in enumerate(values):
        yield (",\n" if place else "\n") + json.dumps(_finite(value), ensure_ascii=False, allow_nan=False)


def _finite(value: Any) -> Json:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in value]
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()  # a lone surrogate (an odd file name) is no JSON text
    return _finite(as_mapping(value)) if is_record(type(value)) else cast("Json", value)
