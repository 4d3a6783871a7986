"""Units of times, as people are shown them."""

from __future__ import annotations

MICROSECOND = "us"
"""As sentences, keys and the exports themselves have it, and as every font and keyboard does."""
TIME_UNITS = ((1_000_000_000, "s"), (1_000_000, "ms"), (1_000, MICROSECOND), (1, "ns"))
"""(ns, name) of each unit, the largest first."""
MAX_SPAN = 1000
"""How many times the smallest value of a column the largest may be, so that one unit fits both."""


def times_in_one_unit(*times_ns: float) -> tuple[list[str], str]:
    """Times in the one unit that the largest of them asks for, four digits that count of that one."""
    largest = max(map(abs, times_ns))
    scale, unit = next((one for one in TIME_UNITS if largest >= one[0]), TIME_UNITS[-1])
    digits = max(4 - len(str(int(largest / scale))), 0)
    return [f"{time / scale:,.{digits}f}" for time in times_ns], unit
