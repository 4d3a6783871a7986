"""The numbers among the `metrics` of a record, each with what the record itself says of its meaning.

In v0.1 `metrics` is an object of any content. A metric is a number, or an object that says what the number means:
`{"value": 512.5, "unit": "tokens/s", "better": "higher"}`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TypeGuard

from aoe_reports.formats.records.payloads import NotDecodableError, decode
from aoe_reports.model.documents import JsonObject
from aoe_reports.model.history.metrics import BETTER, Meaning

MAX_METRICS = 1000
"""Of one record: more are no metrics, but data."""


class Metric(NamedTuple):
    """A number with its name, and what its record says of it."""

    name: str
    value: float
    told: Meaning


def metrics_in(text: str | None) -> list[Metric]:
    """The metrics of a stored record; none where the text is not as it was written (`store verify` tells of that)."""
    try:
        return list(metrics_of(decode(text, JsonObject)))
    except NotDecodableError:
        return []


def metrics_of(metrics: Mapping[str, Any]) -> Iterator[Metric]:
    """The numbers of a record, the first `MAX_METRICS`; texts, lists and other objects are none."""
    for name, told in list(metrics.items())[:MAX_METRICS]:
        value = told.get("value") if isinstance(told, dict) else told
        if is_number(value):
            yield Metric(name, float(value), _told(told) if isinstance(told, dict) else Meaning())


def _told(told: Mapping[str, Any]) -> Meaning:
    unit, better = told.get("unit"), told.get("better")
    return Meaning(unit if isinstance(unit, str) and unit else None, better if better in BETTER else None)


def is_number(value: Any) -> TypeGuard[int | float]:
    """Whether a value is a finite number that a float holds."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number that no float holds
        return False
