"""Made-up series of times, from a generator whose numbers are the same everywhere."""

from __future__ import annotations

import random

Values = list[float]


def gauss(seed: int, nights: int, sigma: float = 0.01, memory: float = 0.0) -> Values:
    """Times around 100: sums of twelve uniform numbers are as good as normal ones, with memory from night to night."""
    source, last, found = random.Random(seed), 0.0, []
    for _ in range(nights):
        last = memory * last + (1 - memory**2) ** 0.5 * (sum(source.random() for _ in range(12)) - 6)
        found.append(100 * (1 + sigma * last))
    return found


def stepped(values: Values, *steps: tuple[int, float]) -> Values:
    """From each of these nights on longer by a share."""
    for at, share in steps:
        values = [value * (1 + share) if night >= at else value for night, value in enumerate(values)]
    return values
