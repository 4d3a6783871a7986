"""Units of sizes of memory, as people are shown them."""

from __future__ import annotations

import re

from aoe_reports.model.time_units import significant

SIZE_UNITS = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"), (1, "bytes"))
"""(bytes, name) of each unit, the largest first."""
_BYTES_IN = {"kB": 10**3, "MB": 10**6, "GB": 10**9, **{name: scale for scale, name in SIZE_UNITS}, "bytes/step": 1}
_SIZE = re.compile(r"(?P<count>\d+(?:\.\d+)?)\s*(?P<unit>[KMG]iB|bytes)", re.ASCII)


def size_in_bytes(value: float, unit: str | None) -> float | None:
    """The bytes that a value of a metric is, or for growth bytes per step; None where its unit is none of sizes."""
    scale = _BYTES_IN.get(unit or "")
    return None if scale is None else value * scale


def parse_size(text: str) -> float | None:
    """The bytes that a text such as 500MiB says; None where it says no size."""
    found = _SIZE.fullmatch(text)
    return None if found is None else float(found["count"]) * _BYTES_IN[found["unit"]]


def size_unit(size_bytes: float) -> tuple[int, str]:
    """The largest unit that is not larger than a size."""
    return next((unit for unit in SIZE_UNITS if abs(size_bytes) >= unit[0]), SIZE_UNITS[-1])


def size_words(size_bytes: float) -> str:
    """A size in its own unit."""
    scale, unit = size_unit(size_bytes)
    return f"{significant(size_bytes / scale)} {unit}" if scale > 1 else f"{size_bytes:,.0f} {unit}"


def exact_size(size_bytes: int | None) -> str:
    """A size to the byte, where two are compared."""
    return "–" if size_bytes is None else f"{size_bytes:,} bytes"  # noqa: RUF001 -- as tables print no value
