"""Which operators a device ran, as shares: by them two captures are told to be of one workload or of two.

Durations alone never tell: whatever gets slower is the same workload. So shares of the calls are compared as well as
shares of the device time, and the mean of both counts: where the calls are the same, half is agreed whatever the times are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

MIN_AGREEMENT = 0.5
"""Below this agreement of operators two captures are of different workloads (docs/records.md says what it was tried on)."""

_NUMBERS = re.compile(r"[_.-]?\d+")

Share = tuple[float, float]
"""(share of the calls, share of the device time)."""


@dataclass(slots=True)
class OperatorMix:
    """Calls and device time of one device by operator type, and by operator name without its numbers."""

    types: dict[str, tuple[int, int]] = field(default_factory=dict)
    names: dict[str, tuple[int, int]] = field(default_factory=dict)

    def add_type(self, op_type: str, calls: int, total_ns: int) -> None:
        """Count the calls of one operator type."""
        _add(self.types, op_type, calls, total_ns)

    def add_name(self, op_name: str, calls: int, total_ns: int) -> None:
        """Count the calls of one operator; numbers in names change whenever a graph is built anew."""
        _add(self.names, _NUMBERS.sub("", op_name.rpartition("/")[2]), calls, total_ns)


def agreement(mix: OperatorMix, other: OperatorMix) -> float | None:
    """How much of the operators of two captures is the same, 0 to 1; None where nothing can be compared.

    By types where both have them, else by names. Of each operator the smaller of the two shares counts.
    """
    kinds = _comparable(mix, other)
    if kinds is None:
        return None
    shares = [_shares(kind) for kind in kinds]
    both = shares[0].keys() & shares[1].keys()
    return sum(min(shares[0][key][part], shares[1][key][part]) for key in both for part in (0, 1)) / 2


def differences(mix: OperatorMix, other: OperatorMix, most: int = 3) -> tuple[list[str], list[str]]:
    """The operators in which two captures differ most: (those of the one, those of the other), by device time."""
    kinds = _comparable(mix, other)
    if kinds is None:
        return [], []
    first, second = (_shares(kind) for kind in kinds)
    return _leading(first, second, most), _leading(second, first, most)


def _leading(mine: Mapping[str, Share], others: Mapping[str, Share], most: int) -> list[str]:
    more = {key: time - others.get(key, (0.0, 0.0))[1] for key, (_, time) in mine.items()}
    ordered = sorted((key for key, by in more.items() if by > 0), key=lambda key: (-more[key], key))
    return ordered[:most]


def _comparable(
    mix: OperatorMix, other: OperatorMix
) -> tuple[dict[str, tuple[int, int]], dict[str, tuple[int, int]]] | None:
    if mix.types and other.types:
        return mix.types, other.types
    return (mix.names, other.names) if mix.names and other.names else None


def _shares(kind: Mapping[str, tuple[int, int]]) -> dict[str, Share]:
    calls, time = (sum(counts[part] for counts in kind.values()) for part in (0, 1))
    return {key: (counts[0] / (calls or 1), counts[1] / (time or 1)) for key, counts in kind.items()}


def _add(to: dict[str, tuple[int, int]], key: str, calls: int, total_ns: int) -> None:
    known = to.get(key, (0, 0))
    to[key] = (known[0] + calls, known[1] + total_ns)
