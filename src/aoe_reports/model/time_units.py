"""Units of times, as people are shown them."""

from __future__ import annotations

import math

MICROSECOND = "us"
"""As sentences, keys and the exports themselves have it, and as every font and keyboard does."""
TIME_UNITS = ((1_000_000_000, "s"), (1_000_000, "ms"), (1_000, MICROSECOND), (1, "ns"))
"""(ns, name) of each unit, the largest first."""
MAX_SPAN = 1000
"""How many times the smallest value of a column the largest may be, so that one unit fits both."""


_DIGITS = 4
"""The significant digits of a time; its whole part keeps all of its own."""
_DIFFERENCE_DIGITS = 3
"""Those of a difference, which is less certain than the times that it is of."""


def unit_of(time_ns: float) -> tuple[int, str]:
    """The largest unit of which a time has at least one."""
    return next((unit for unit in TIME_UNITS if abs(time_ns) >= unit[0]), TIME_UNITS[-1])


def significant(value: float) -> str:
    """A number with the digits that count of a time."""
    return f"{value:,.{_decimals(value, _DIGITS)}f}" if value and math.isfinite(value) else f"{value:g}"


def significant_difference(value: float) -> str:
    """A number with its sign and the digits that count of a difference."""
    return f"{value:+,.{_decimals(value, _DIFFERENCE_DIGITS)}f}" if value and math.isfinite(value) else f"{value:g}"


def times_in_one_unit(*times_ns: float) -> tuple[list[str], str]:
    """Times in the one unit that the largest of them asks for, four digits that count of that one."""
    largest = max(map(abs, times_ns))
    scale, unit = unit_of(largest)
    decimals = _decimals(largest / scale, _DIGITS)
    return [f"{time / scale:,.{decimals}f}" for time in times_ns], unit


def time_words(time_ns: float) -> str:
    """A time in its own unit."""
    scale, unit = unit_of(time_ns)
    return f"{significant(time_ns / scale)} {unit}"


def difference_words(time_ns: float) -> str:
    """A difference of times in its own unit, with its sign; nanoseconds are whole where they were measured so."""
    scale, unit = unit_of(time_ns)
    is_whole = scale == 1 and float(time_ns).is_integer()
    return f"{f'{time_ns:+.0f}' if is_whole and time_ns else significant_difference(time_ns / scale)} {unit}"


def _decimals(value: float, digits: int) -> int:
    if not value:
        return 0
    exponent = int(f"{value:.{digits - 1}e}".partition("e")[2])  # as rounded: 0.99999 has that of 1
    return max(0, digits - 1 - exponent)
