"""How a series scatters from night to night: level, spread, memory and spikes, blind to steps.

Values are natural logarithms of times, so a difference is a relative change, whatever the unit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from aoe_reports.stats.sample import MAD_TO_SIGMA

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

CLIP = 3.0
"""Values further than this many sigma from their neighbours (residuals: from their level) count as that far."""
FLOOR = 0.001
"""Least sigma: times that repeat to the digit still mean no more than a tenth of a percent."""
MAX_MEMORY = 0.9
MAX_TO_SIGMA = 1 / 1.2816
"""What the 80 % quantile of absolute deviations is multiplied by for the standard deviation."""
MEMORY_VARIANCE = 0.1
"""Of the memory of series, around none: of few nights the estimate alone would say anything."""


def compact(values: Floats) -> tuple[Floats, Integers, Integers]:
    """Log values moved to the left over gaps: (logs, nights of each, lengths); a value that is no time is a gap.

    A night is a time when it is finite and above 0; behind the last one logs hold 0 and nights the number of nights.
    """
    usable = np.isfinite(values) & (values > 0)
    lengths = usable.sum(axis=1)
    nights = values.shape[1]
    if usable.all():
        return np.log(values), np.broadcast_to(np.arange(nights), values.shape), lengths
    order = np.argsort(~usable, axis=1, kind="stable")
    kept = np.arange(nights) < lengths[:, None]
    logs = np.log(np.where(usable, values, 1.0))
    return (np.where(kept, np.take_along_axis(logs, order, axis=1), 0.0), np.where(kept, order, nights), lengths)


def estimate(logs: Floats, lengths: Integers, belief: Any = 1.0) -> tuple[Floats, Floats]:
    """(sigma, memory) a series from differences of neighbours and of next neighbours: a step touches one or two of them.

    `belief` is the share of the estimated memory to take (`known`). Of noise with variance v and AR(1) memory r the
    differences have the variances 2 v (1 - r) and 2 v (1 - r^2).
    """
    near = spread(logs, lengths, 1)
    far = spread(logs, lengths, 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        memory = np.where(near > 0, far / near - 1, 0.0)
    memory = np.clip(memory, 0.0, MAX_MEMORY) * belief
    sigma: Floats = np.maximum(np.sqrt(near / (2 * (1 - memory))), FLOOR)
    return sigma, memory


def known(nights: Any) -> Any:
    """How much of an estimated memory to believe: its variance is 1 / nights, that of memory itself MEMORY_VARIANCE."""
    return nights / (nights + 1 / MEMORY_VARIANCE)


def spread(logs: Floats, lengths: Integers, lag: int) -> Floats:
    """Mean square of the differences at a lag, those out of line clipped."""
    if logs.shape[1] <= lag:
        return np.zeros(len(logs))
    differences = np.abs(logs[:, lag:] - logs[:, :-lag])
    counted = np.arange(differences.shape[1]) < (lengths - lag)[:, None]
    count = np.maximum(counted.sum(axis=1), 1)
    ordered = np.sort(np.where(counted, differences, np.inf), axis=1)
    usual = np.where(counted.any(axis=1), scales(ordered, count), 0.0)
    limit = CLIP * np.maximum(usual, FLOOR)
    clipped = np.where(counted, np.minimum(differences, limit[:, None]), 0.0)
    spread: Floats = np.square(clipped).sum(axis=1) / count
    return spread


def scales(ordered: Floats, counts: Integers) -> Floats:
    """The standard deviations that sorted distances of series show: by their median, which steps and spikes do not move.

    Of times on a coarse grid (a timer of 1 us) most distances repeat, and the median may be 0: there by the 80 % quantile, too.
    """
    median, most = (
        np.take_along_axis(ordered, ((counts - 1) * tenths // 10)[:, None], axis=1)[:, 0] for tenths in (5, 8)
    )
    coarse = ((ordered[:, 1:] == ordered[:, :-1]) & np.isfinite(ordered[:, 1:])).sum(axis=1) > counts / 2
    return np.maximum(median * MAD_TO_SIGMA, np.where(coarse, most * MAX_TO_SIGMA, 0.0))


def scale(distances: Floats) -> float:
    """The same of one series, in an eighth of the time."""
    ordered = np.sort(distances)
    last = len(ordered) - 1
    usual = float(ordered[last * 5 // 10]) * MAD_TO_SIGMA
    if np.count_nonzero(ordered[1:] == ordered[:-1]) <= len(ordered) / 2:
        return usual
    return max(usual, float(ordered[last * 8 // 10]) * MAX_TO_SIGMA)


def clip(logs: Floats, lengths: Integers, sigma: Floats) -> Floats:
    """Values in units of sigma, none further than CLIP from the median of the seven nights around it."""
    nights = logs.shape[1]
    scaled = logs / sigma[:, None]
    if nights < 2 * HALF + 1:
        return scaled
    middle = running_median(scaled)
    # at both ends the median of the first or last seven stands in; the end of a series is its own length
    middle[:, :HALF] = middle[:, HALF : HALF + 1]
    last = np.maximum(lengths - 1 - HALF, HALF)
    at_end = np.take_along_axis(middle, last[:, None], axis=1)
    middle = np.where(np.arange(nights) > last[:, None], at_end, middle)
    short = lengths < 2 * HALF + 1
    clipped = np.clip(scaled, middle - CLIP, middle + CLIP)
    return np.where(short[:, None], scaled, clipped) if short.any() else clipped


HALF = 3
_NETWORK = (
    (0, 6), (2, 3), (4, 5), (0, 2), (1, 4), (3, 6), (0, 1), (2, 5), (3, 4), (1, 2), (4, 6), (2, 3), (4, 5), (1, 2),
    (3, 4), (5, 6),
)  # fmt: skip
"""Comparisons that sort seven values."""


def running_median(values: Floats) -> Floats:
    """The median of the seven nights around each night, along the last axis; 0 at both ends, where there are no seven."""
    nights = values.shape[-1] - 2 * HALF
    lanes = [values[..., i : i + nights] for i in range(2 * HALF + 1)]
    for low, high in _NETWORK:
        lanes[low], lanes[high] = np.minimum(lanes[low], lanes[high]), np.maximum(lanes[low], lanes[high])
    middle = np.empty_like(values)
    middle[..., :HALF] = middle[..., -HALF:] = 0.0
    middle[..., HALF:-HALF] = lanes[HALF]
    return middle


def inflation(memory: Any, nights: float) -> Any:
    """By how much AR(1) memory (a number or an array) inflates the variance of the mean of `nights` values."""
    rest = 2 * memory * (1 - memory**nights) / (nights * (1 - memory) ** 2)
    return (1 + memory) / (1 - memory) - rest


def middle(part: Floats, limit: float) -> float:
    """The median, moved to the mean of the values clipped around it, twice."""
    level = float(median(part))
    for _ in range(2):
        level += float(np.minimum(np.maximum(part - level, -limit), limit).sum()) / len(part)
    return level


def median(values: Floats) -> Any:
    """Along the last axis, in a third of the time that `np.median` takes."""
    count = values.shape[-1]
    half = count // 2
    ordered = np.partition(values, (half - 1, half) if half else 0)
    return ordered[..., half] if count % 2 else (ordered[..., half - 1] + ordered[..., half]) / 2
