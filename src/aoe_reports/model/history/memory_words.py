"""What changed in the memory of a device, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from aoe_reports.model.history.changes import MEMORY, PeakAttribution
from aoe_reports.model.history.metrics import (
    GROWTH,
    MEDIAN_PEAK,
    MIN_GROWTH,
    PEAK_ALLOCATED,
    PEAK_PROCESS,
    PEAK_RESERVED,
    component_of,
)
from aoe_reports.model.shares import signed_percent
from aoe_reports.model.texts import N_, Text, join, say
from aoe_reports.model.topics.memory_words import owner_words, signed_size

NAMED = 3
"""So many owners are in a sentence."""
MIN_EXPLAINED = 0.1
"""An owner that explains less of a change is in no sentence."""
_NAMES: Final[Mapping[str, str]] = N_(
    {
        PEAK_ALLOCATED: "peak memory of {model}",
        PEAK_RESERVED: "peak reserved memory of {model}",
        PEAK_PROCESS: "peak memory of the process of {model}",
        MEDIAN_PEAK: "peak memory of the median rank of {model}",
        GROWTH: "memory growth of {model}",
    }
)


def memory_series_name(metric: str | None, workload: str) -> Text:
    """What a series of memory is called."""
    model = workload.removesuffix(f"/{MEMORY}")
    if metric is not None and (component := component_of(metric)) is not None:
        return say("peak memory of {component} of {model}", component=component, model=model)
    return say(_NAMES.get(metric or "", "{metric} of {model}"), metric=metric, model=model)


def memory_change_words(metric: str | None, before: float, after: float) -> Text:
    """A change of memory: +1.9 GiB (+6.2%); of growth its difference alone, because it often begins at nothing."""
    if metric == GROWTH:
        return say("{difference} per step", difference=signed_size(after - (before if before > MIN_GROWTH else 0.0)))
    return say(
        "{difference} ({change})", difference=signed_size(after - before), change=signed_percent(after / before - 1)
    )


def owners_in_words(peak: PeakAttribution | None) -> Text | None:
    """The owners that explain most of the change of a peak; null where none is known to do so."""
    if peak is None:
        return None
    sums: dict[str, int] = {}
    for owner in peak.owners:
        sums[owner_words(owner)] = sums.get(owner_words(owner), 0) + owner.difference_bytes
    least = MIN_EXPLAINED * abs(peak.total_bytes)
    named = [(name, size) for name, size in sums.items() if size * peak.total_bytes > 0 and abs(size) >= least]
    named.sort(key=lambda one: (-abs(one[1]), one[0]))
    words = [say("{owner} {difference}", owner=name, difference=signed_size(size)) for name, size in named[:NAMED]]
    return join(", ", words) if words else None
