"""The change of a peak of memory over who holds it, from the records of the store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import polars as pl

from aoe_reports.formats.records.payloads import NotDecodableError, decode
from aoe_reports.history.detection.run import DetectorRun
from aoe_reports.history.stored_memory import owners_in, size_in
from aoe_reports.model.documents import JsonObject
from aoe_reports.model.history.changes import MEMORY, OwnerChange, PeakAttribution
from aoe_reports.model.topics.memory_changes import Holder, HolderChange, changes_by_holder, sizes_by_holder
from aoe_reports.topics.records.from_memory import HOLDERS

NIGHTS_AROUND = 14
"""Nights before and after a change among which the two are taken that are closest to its levels."""
NAMED = 10
"""So many owners of an attribution are listed; the others are one sum."""


class _Peak(NamedTuple):
    run_id: str
    size_bytes: int
    owners: dict[Holder, int]


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
    if labels.scope != MEMORY or labels.metric not in HOLDERS or since not in nights:
        return None
    place = nights.index(since)
    mine = detected.records.filter(pl.col("series_id") == labels.record_series)
    before = _nearest(mine, labels.metric, nights[max(0, place - NIGHTS_AROUND) : place][::-1], change.before)
    after = _nearest(mine, labels.metric, nights[place : place + NIGHTS_AROUND], change.after)
    return None if before is None or after is None else _attribution(before, after)


def _nearest(records: pl.DataFrame, metric: str, nights: Sequence[str], level: float) -> _Peak | None:
    """The peak that is closest to a level; of equal ones the first of the nights."""
    if not nights:
        return None
    order = {night: place for place, night in enumerate(nights)}
    found = records.filter(pl.col("night").is_in(list(nights))).select(
        "night", "run_id", pl.col("metrics").cast(pl.String)
    )
    read = ((night, _peak(run_id, metric, text)) for night, run_id, text in found.iter_rows())
    peaks = [(night, peak) for night, peak in read if peak is not None]
    nearest = min(peaks, key=lambda one: (abs(one[1].size_bytes - level), order[one[0]], one[1].run_id), default=None)
    return None if nearest is None else nearest[1]


def _peak(run_id: str, metric: str, text: str) -> _Peak | None:
    """What a record says of a peak; None where its text is not as it was written."""
    try:
        metrics = decode(text, JsonObject)
    except NotDecodableError:
        return None
    size, holders = size_in(metrics, metric), HOLDERS[metric]
    if size is None or not isinstance(metrics.get(holders), list):
        return None
    return _Peak(run_id, size, sizes_by_holder(owner for owner in owners_in(metrics, holders) if not owner.others))


def _attribution(before: _Peak, after: _Peak) -> PeakAttribution:
    changes = changes_by_holder(before.owners, after.owners, NAMED)
    named = [_change(change) for change in changes if not change.others]
    total = after.size_bytes - before.size_bytes
    return PeakAttribution(
        before_run=before.run_id,
        after_run=after.run_id,
        before_bytes=before.size_bytes,
        after_bytes=after.size_bytes,
        total_bytes=total,
        owners=named,
        other_owners_bytes=total - sum(one.difference_bytes for one in named),
    )


def _change(change: HolderChange) -> OwnerChange:
    return OwnerChange(
        **change.holder._asdict(),
        before_bytes=change.before_bytes,
        after_bytes=change.after_bytes,
        difference_bytes=change.difference_bytes,
    )
