"""What the newest nights of several series show together: one cause instead of a suspicion for each, until more nights prove it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from aoe_reports.history.causes import explain, nights_before, times_of
from aoe_reports.history.examination import Examination
from aoe_reports.history.incidents import SeriesShift
from aoe_reports.model.causes import causes_in_words
from aoe_reports.model.changes import SuspectedCause, ToldFact, by_effect, is_small

MIN_SERIES = 3
"""Fewer suspect series are listed one by one, unless they add enough to a step: an operator and its type are two series."""
MIN_PART = 0.5
"""So much of the change of a step its operators must account for, or it is told by itself."""
STILL = 0.5
"""So much of a change the newest night must show, or it is past."""


@dataclass(frozen=True, slots=True)
class _Suspected:
    """A cause of suspicions, with the numbers of the series that it explains."""

    suspicion: SuspectedCause
    lead: SeriesShift


def suspected_causes(examined: Examination) -> list[SuspectedCause]:
    """The causes of what is suspected tonight, that with the largest effect on a step first."""
    if examined.chosen is not None or examined.selection.whole_history:
        return []
    asked = set(examined.asked())
    suspects: dict[tuple[tuple[str, ...], int], dict[int, SeriesShift]] = {}
    for index, one in examined.suspected.items():
        if index in asked:
            suspects.setdefault((one.group[1:], one.place), {})[index] = one
    found = [one for (_, place), some in suspects.items() for one in _causes(examined, some, place)]
    found.sort(
        key=lambda one: (
            by_effect(one.suspicion.cause.step_share),
            -abs(one.suspicion.cause.change),
            one.suspicion.since,
            one.suspicion.title,
        )
    )
    found = _once(found)
    facts = examined.surroundings.around({str(number): (one.lead, one.lead.place) for number, one in enumerate(found)})
    return [
        replace(
            one.suspicion,
            metadata=[
                ToldFact(name=fact.name, before=fact.before, after=fact.after, seen="first")
                for fact in facts.get(str(number), ())
            ],
        )
        for number, one in enumerate(found)
    ]


def _once(found: Iterable[_Suspected]) -> list[_Suspected]:
    """Each cause once: that of less effect, which began another night, is that of most."""
    kept: dict[tuple[Any, ...], _Suspected] = {}
    for one in found:
        suspicion = one.suspicion
        key = (
            suspicion.hardware,
            suspicion.cause.model,
            suspicion.cause.rank_id,
            suspicion.cause.op_type,
            suspicion.cause.op_name,
            suspicion.cause.change > 0,
        )
        first = kept.setdefault(key, one)
        if first is not one:
            kept[key] = replace(
                first, suspicion=replace(first.suspicion, series=[*first.suspicion.series, *suspicion.series])
            )
    return list(kept.values())


def _causes(examined: Examination, suspects: Mapping[int, SeriesShift], place: int) -> Iterator[_Suspected]:
    shifts = {index: one.shift for index, one in suspects.items()}
    groups = {one.group for one in suspects.values()}
    places = [one.place for one in examined.incidents if one.lead.group in groups and one.place < place]
    last = max(places, default=0)
    explained = explain(examined, shifts, groups, place, (last, None))
    leaves = set(explained.leaves)
    for cause, row in zip(explained.causes, explained.rows(), strict=True):
        followers = {explained.leaves[leaf] for leaf in cause.followers}
        sums = _sums(examined, suspects, suspects.keys() - leaves, followers, cause.size)
        mine = sorted(suspects.keys() & followers | sums)
        if len(mine) < MIN_SERIES and (row.step_share is None or is_small(row.step_share)):
            continue
        models = sorted({examined.labels[index].model for index in mine})
        suspicion = SuspectedCause(
            title=causes_in_words([row], models),
            since=examined.judged.histories.nights[place],
            models=models,
            hardware=examined.labels[mine[0]].hardware,
            cause=row,
            past=_is_past(examined, followers, nights_before(place, last), cause.size),
            metadata=(),
            series=[examined.ids[index] for index in mine],
        )
        yield _Suspected(suspicion, suspects[mine[0]])


def _sums(
    examined: Examination,
    suspects: Mapping[int, SeriesShift],
    others: Collection[int],
    followers: Collection[int],
    size: float,
) -> set[int]:
    """The suspect steps and operator types that are longer mostly because operators that follow a cause are."""
    gained_ms: dict[tuple[Any, ...], float] = {}
    for index in followers:
        labels, gained = examined.labels[index], examined.impact_ms(index, 1.0, float(np.exp(size)))
        for whole in ((labels.model, labels.rank_id), (labels.model, labels.rank_id, labels.op_type)):
            gained_ms[whole] = gained_ms.get(whole, 0.0) + gained
    found = set()
    for index in others:
        labels, impact_ms = examined.labels[index], suspects[index].impact_ms
        key: tuple[Any, ...] = (labels.model, labels.rank_id)
        if labels.scope == "op_type":
            key = (*key, labels.op_type)
        if impact_ms and gained_ms.get(key, 0.0) / impact_ms >= MIN_PART:
            found.add(index)
    return found


def _is_past(examined: Examination, followers: Collection[int], before: slice, size: float) -> bool:
    """Whether the newest night shows most of a change no more (the night after a slow one, say), or nothing of it was measured."""
    times = np.log(times_of(examined, sorted(followers)))
    moved = times[:, -1] - np.nanmedian(times[:, before], axis=1)
    moved = moved[np.isfinite(moved)]
    return not len(moved) or float(np.median(moved)) / size < STILL
