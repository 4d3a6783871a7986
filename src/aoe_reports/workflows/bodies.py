"""What stored rows say beside their columns, as JSON: a store that was imported is somebody else's."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any

MOST = 2**63
"""Whole numbers from here on (files may tell of any) are read as floats: no column and no page takes larger ones."""
_DIGITS = len(str(MOST))
DEEPEST = 20
"""What we write into bodies is nested less."""


def is_number(value: Any) -> bool:
    """Whether it is a number that every JSON takes."""
    if isinstance(value, int):
        return not isinstance(value, bool) and abs(value) < MOST
    return isinstance(value, float) and math.isfinite(value)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _are_numbers(value: Any) -> bool:
    return isinstance(value, dict) and all(map(is_number, value.values()))


def _are_modifications(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(one, dict)
        and all(_is_text(one.get(name)) for name in ("name", "unit"))
        and all(name in one and (one[name] is None or is_number(one[name])) for name in ("before", "after"))
        for one in value
    )


_FITS: Mapping[str, Callable[[Any], bool]] = {
    **dict.fromkeys(
        (
            "advice", "kind", "tuning_name", "op_type", "op_name", "input_shapes", "verdict", "claim", "reason", "verdict_of_job",
            "bank_digest", "scope", "id", "who", "run", "night", "since", "until", "found", "withdrawn", "incident", "since_run",
        ),
        _is_text,
    ),
    **dict.fromkeys(
        (
            "model_baseline_ms", "model_result_ms", "tuning_time_s", "modified", "claimed_before_us", "claimed_after_us",
            "measured_before_us", "measured_after_us", "claimed_change", "change", "ci_low", "ci_high", "position", "before", "after",
            "before_nights", "after_nights", "memory", "reach", "low", "high",
        ),
        is_number,
    ),
    "failed_operators": _are_texts,
    "ids": _are_texts,
    "summary": _are_numbers,
    "modifications": _are_modifications,
}  # fmt: skip
"""What the values are that are computed with or shown, by their names."""


def read_body(text: str | None) -> dict[str, Any] | None:
    """The JSON object that a row holds beside its columns; None where what is there is none."""
    if text is None:
        return None
    try:
        body = json.loads(text, parse_int=_whole)
    except (ValueError, RecursionError):
        return None
    return body if isinstance(body, dict) else None


def _whole(digits: str) -> int | float:
    if len(digits) < _DIGITS or (len(digits) <= _DIGITS + 1 and abs(int(digits)) < MOST):
        return int(digits)
    return float(digits)


def body_of(text: str | None) -> dict[str, Any]:
    """What a row says of itself; what is not as it was written is left out, and all of it where it is no JSON object."""
    return {name: value for name, value in (read_body(text) or {}).items() if _fits(name, value)}


def verdict_of(text: str | None) -> dict[str, Any]:
    """What a stored verdict says of itself, with one claim: rows of older versions tell the model's times beside operators' change."""
    body = body_of(text)
    before, after, claimed = (body.get(name) for name in ("claimed_before_us", "claimed_after_us", "claimed_change"))
    if None in (before, after, claimed):
        return body
    rounding = _ROUNDING * (1 + 2 / before) if before else 0.0
    if not before or abs(after / before - 1 - claimed) > rounding:
        body |= {"claimed_before_us": None, "claimed_after_us": None}
    return body


_ROUNDING = 1e-6
"""Of stored changes, and of stored times in us."""


def unfit_names(text: str | None) -> list[str] | None:
    """The names of what `body_of` leaves out, for `store verify`; None where it leaves out everything."""
    body = read_body(text)
    return None if body is None else [name for name, value in body.items() if not _fits(name, value)]


def _fits(name: str, value: Any) -> bool:
    return value is None or _FITS.get(name, _is_usual)(value)


def _is_usual(value: Any, depth: int = 0) -> bool:
    """Whether it can be shown, and written as JSON again."""
    if value is None or isinstance(value, str | bool) or is_number(value):
        return True
    inner = list(value.values()) if isinstance(value, dict) else value
    return isinstance(inner, list) and depth < DEEPEST and all(_is_usual(one, depth + 1) for one in inner)
