"""Shares: parts of a whole, as fractions of it."""

from __future__ import annotations

import math

from aoe_reports.model.texts import say


def share_of(part: float | None, whole: float | None) -> float | None:
    """A part as a fraction of its whole, from -1 to 1; below 0 is what is saved.

    Nothing takes more than its whole. Durations that add up to more are of tasks that run beside each other, or outside
    the steps that they are compared with; what exceeds the whole is no part of it. Null where the part or the whole is
    not known, or where the whole is 0: null is never zero.
    """
    return None if part is None or not whole else max(-1.0, min(part / whole, 1.0))


def rounded(share: float | None) -> float | None:
    """A share as answers print it."""
    return None if share is None else round(share, 6)


def share_or_zero(part: float, whole: float) -> float:
    """The same as answers print it, 0 of a whole that was measured as 0."""
    return rounded(share_of(part, whole)) or 0.0


MOST_DECIMALS = 3
"""Of a change in percent: a thousandth of a percent is less than any step scatters by."""


def signed_percent(change: float) -> str:
    """A change (0.0123 is +1.2%) with its sign, at least two significant digits where three decimals hold them, and no sign of nothing."""
    percent = 100 * change
    if not math.isfinite(percent):
        return f"{percent:+}%"
    exponent = int(f"{percent:.1e}".partition("e")[2])  # as rounded: 9.96 has that of 10
    shown = f"{percent:+,.{min(max(0, 1 - exponent), MOST_DECIMALS)}f}"
    return f"{shown}%" if shown.strip("+-0.") else "0%"


_MIN_CHANGE = 0.001
"""A smaller change is printed as less than this."""


def percent(size: float) -> str:
    """The size of a change in the same digits, as sentences have it; never 0%."""
    return say("less than 0.1%") if abs(size) < _MIN_CHANGE else signed_percent(abs(size)).removeprefix("+")


def change_words(change: float) -> str:
    """A change in the same digits, as sentences have it."""
    if not change:
        return say("unchanged")
    if abs(change) < _MIN_CHANGE:
        return say("changed by {size}", size=percent(change))
    return signed_percent(change)
