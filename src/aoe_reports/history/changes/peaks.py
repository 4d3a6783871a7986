"""The change of a peak of memory over who holds it, from the records of the store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import polars as pl

from aoe_reports.formats.records.payloads import NotDecodableError, decode
from aoe_reports.history.detection.run import DetectorRun
from aoe_reports.model.documents import JsonObject
from aoe_reports.model.history.changes import MEMORY, OwnerChange, PeakAttribution
from aoe_reports.model.history.metrics import PEAK_ALLOCATED
from aoe_reports.topics.records.from_memory import OWNERS

NIGHTS_AROUND = 14
"""Nights before and after a change among which the two are taken that are closest to its levels."""
NAMED = 10
"""So many owners of an attribution are listed; the others are one sum."""

Holder = tuple[str | None, str | None, str | None, bool, bool]
"""Name, kind, module, whether it is held since before the recording, whether it is unexplained."""


class _Peak(NamedTuple):
    run_id: str
    size_bytes: int
    owners: Mapping[Holder, int]


class LevelChange(Protocol):
    """A change of level, or a suspicion of one."""

    @property
    def before(self) -> float:
        """The level before."""

    @property
    def after(self) -> float:
        """The level after."""


def attribute_peak(detected: DetectorRun, index: int, since: str, change: LevelChange) -> PeakAttribution | None:
    """The change of a peak from a night before it to a night after it, by owner; None for anything but a peak."""
    labels, nights = detected.judged.histories.labels[index], detected.judged.histories.nights
    if labels.scope != MEMORY or labels.metric != PEAK_ALLOCATED or since not in nights:
        return None
    place = nights.index(since)
    mine = detected.records.filter(pl.col("series_id") == labels.record_series)
    before = _nearest(mine, nights[max(0, place - NIGHTS_AROUND) : place][::-1], change.before)
    after = _nearest(mine, nights[place : place + NIGHTS_AROUND], change.after)
    return None if before is None or after is None else _attribution(before, after)


def _nearest(records: pl.DataFrame, nights: Sequence[str], level: float) -> _Peak | None:
    """The peak that is closest to a level; of equal ones the first of the nights."""
    if not nights:
        return None
    order = {night: place for place, night in enumerate(nights)}
    found = records.filter(pl.col("night").is_in(list(nights))).select(
        "night", "run_id", pl.col("metrics").cast(pl.String)
    )
    peaks = [(night, peak) for night, run_id, text in found.iter_rows() if (peak := _peak(run_id, text)) is not None]
    nearest = min(peaks, key=lambda one: (abs(one[1].size_bytes - level), order[one[0]], one[1].run_id), default=None)
    return None if nearest is None else nearest[1]


def _peak(run_id: str, text: str) -> _Peak | None:
    """What a record says of a peak; None where its text is not as it was written."""
    try:
        metrics = decode(text, JsonObject)
    except NotDecodableError:
        return None
    stated, listed = metrics.get(PEAK_ALLOCATED), metrics.get(OWNERS)
    if not isinstance(stated, dict) or not isinstance(stated.get("value"), int) or not isinstance(listed, list):
        return None
    owners: dict[Holder, int] = {}
    for owner in listed:
        if isinstance(owner, dict) and "others" not in owner and isinstance(owner.get("bytes"), int):
            owners[_holder(owner)] = owners.get(_holder(owner), 0) + owner["bytes"]
    return _Peak(run_id, stated["value"], owners)


def _holder(owner: Mapping[str, Any]) -> Holder:
    name, kind, module = (owner.get(key) for key in ("name", "kind", "module"))
    return name, kind, module, bool(owner.get("since_before")), bool(owner.get("unexplained"))


def _attribution(before: _Peak, after: _Peak) -> PeakAttribution:
    changes = [
        _change(holder, before.owners.get(holder, 0), after.owners.get(holder, 0))
        for holder in {**before.owners, **after.owners}
    ]
    changes = [change for change in changes if change.difference_bytes]
    changes.sort(key=lambda one: (-abs(one.difference_bytes), one.kind or "", one.module or "", one.name or ""))
    total = after.size_bytes - before.size_bytes
    named = changes[:NAMED]
    return PeakAttribution(
        before_run=before.run_id,
        after_run=after.run_id,
        before_bytes=before.size_bytes,
        after_bytes=after.size_bytes,
        total_bytes=total,
        owners=named,
        other_owners_bytes=total - sum(one.difference_bytes for one in named),
    )


def _change(holder: Holder, before: int, after: int) -> OwnerChange:
    name, kind, module, since_before, unexplained = holder
    return OwnerChange(
        name=name,
        kind=kind,
        module=module,
        since_before=since_before,
        unexplained=unexplained,
        before_bytes=before,
        after_bytes=after,
        difference_bytes=after - before,
    )
