"""Sizes in bytes as people read them: decimal units, as many as keep four digits."""

from __future__ import annotations

_UNITS = ((10**12, "TB"), (10**9, "GB"), (10**6, "MB"), (10**3, "kB"))


def bytes_in_words(size: float) -> str:
    """A size such as 1.9 GB, 512 bytes."""
    unit, name = next(((unit, name) for unit, name in _UNITS if abs(size) >= unit), (1, "bytes"))
    if unit == 1:
        return f"{size:,.6g} {name}"
    number = f"{size / unit:,.{_decimals(abs(size) / unit)}f}"
    return f"{number.rstrip('0').rstrip('.') if '.' in number else number} {name}"


def signed_bytes(size: float) -> str:
    """A difference of sizes with its sign, such as +1.9 GB."""
    return f"{'+' if size > 0 else ''}{bytes_in_words(size)}"


_TEN, _HUNDRED = 10, 100


def _decimals(number: float) -> int:
    return 2 if number < _TEN else 1 if number < _HUNDRED else 0
