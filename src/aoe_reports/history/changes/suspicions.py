"""What the nights of several series show together, before it is proved: one cause for the newest nights, and single nights that are past.

A suspicion is reported while the newest nights show it, and is forgotten with the night that clears it. Who looks at a history later
asks about such a night: it is found again from the times around it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from aoe_reports.history.changes.causes import MIN_ERROR, explain, explain_moved, nights_before, operators_of, times_of
from aoe_reports.history.changes.examination import Examination
from aoe_reports.history.changes.incidents import Group, SeriesShift
from aoe_reports.history.changes.surroundings import fact_seen
from aoe_reports.history.detection.noise import MAX_RARE
from aoe_reports.history.detection.run import DetectorRun
from aoe_reports.history.series.stored import StoredSeries
from aoe_reports.model.arrays.columns import Floats
from aoe_reports.model.history.causes import causes_in_words
from aoe_reports.model.history.changes import PastNight, SuspectedCause, by_effect, is_small
from aoe_reports.stats.causes import CLEAR_SCORES
from aoe_reports.stats.sample import MAD_TO_SIGMA

MIN_SERIES = 3
"""Fewer suspect series are listed one by one, unless they add enough to a step: an operator and its type are two series."""
MIN_PART = 0.5
"""So much of the change of a step its operators must account for, or it is told by itself."""
STILL = 0.5
"""So much of a change the newest night must show, or it is past."""


def suspected_causes(examined: Examination) -> list[SuspectedCause]:
    """The causes of what is suspected tonight, that with the largest effect on a step first."""
    if examined.chosen is not None or examined.selection.whole_history:
        return []
    asked = set(examined.asked())
    suspects: dict[tuple[tuple[str, ...], int], dict[int, SeriesShift]] = {}
    for index, one in examined.suspected.items():
        if index in asked:
            suspects.setdefault((one.group[1:], one.place), {})[index] = one
    found = [cause for (_, place), some in suspects.items() for cause in _causes(examined, some, place)]
    found.sort(key=lambda one: (by_effect(one.cause.step_share), -abs(one.cause.change), one.since, one.title))
    found = _once(found)
    leads = [examined.suspected[examined.places[one.series[0]]] for one in found]
    facts = examined.surroundings.around({str(number): (lead, lead.place) for number, lead in enumerate(leads)})
    return [
        replace(one, metadata=[fact_seen(fact, "first") for fact in facts.get(str(number), ())])
        for number, one in enumerate(found)
    ]


def _once(causes: Iterable[SuspectedCause]) -> list[SuspectedCause]:
    kept: dict[tuple[Any, ...], SuspectedCause] = {}
    for one in causes:
        cause = one.cause
        key = (one.hardware, cause.model, cause.rank_id, cause.op_type, cause.op_name, cause.change > 0)
        first = kept.setdefault(key, one)
        if first is not one:
            kept[key] = replace(first, series=[*first.series, *one.series])
    return list(kept.values())


def _causes(examined: Examination, suspects: Mapping[int, SeriesShift], place: int) -> Iterator[SuspectedCause]:
    shifts = {index: one.shift for index, one in suspects.items()}
    groups = {suspect.group for suspect in suspects.values()}
    places = [
        incident.place for incident in examined.incidents if incident.lead.group in groups and incident.place < place
    ]
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
        yield SuspectedCause(
            title=causes_in_words([row], models),
            since=examined.judged.histories.nights[place],
            models=models,
            hardware=examined.labels[mine[0]].hardware,
            cause=row,
            past=_is_past(examined, followers, nights_before(place, last), cause.size),
            metadata=(),
            series=[examined.ids[index] for index in mine],
        )


def _sums(
    examined: Examination,
    suspects: Mapping[int, SeriesShift],
    others: Collection[int],
    followers: Collection[int],
    size: float,
) -> set[int]:
    """Suspect steps and operator types that are longer mainly because operators of a cause are."""
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
    """Whether most of a change is gone on the newest night, or none of it was measured."""
    times = np.log(times_of(examined, sorted(followers)))
    moved = times[:, -1] - np.nanmedian(times[:, before], axis=1)
    moved = moved[np.isfinite(moved)]
    return not len(moved) or float(np.median(moved)) / size < STILL


MAX_LENGTH = 2
"""Nights: three are a level, and the detector tells of it."""
AROUND = 3
"""So many nights on each side say what was usual."""
MIN_CHANGE = 0.01
"""Smaller ones are in every history."""
OUTSTANDING = 5.0
"""By so many scatters of what its operators do together from night to night a night has to stand out."""
_WHOLES = frozenset({"machine", "run", "rank"})


def past_nights(detected: DetectorRun) -> list[PastNight]:
    """Such nights of the store, oldest first."""
    stored = StoredSeries(detected)
    machines: dict[tuple[str, ...], list[Group]] = {}
    for group in stored.by_group:
        machines.setdefault(group[1:], []).append(group)
    found = [one for groups in machines.values() for one in _of_machine(stored, groups)]
    return sorted(found, key=lambda one: (one.night, one.hardware, one.models))


def _of_machine(stored: StoredSeries, groups: Sequence[Group]) -> Iterator[PastNight]:
    leaves = operators_of(stored, groups)
    times = np.log(times_of(stored, leaves))
    by_rank: dict[tuple[Group, int | None], list[int]] = {}
    for row, index in enumerate(leaves):
        by_rank.setdefault((stored.group(index), stored.labels[index].rank_id), []).append(row)
    spans = {span for rows in by_rank.values() if len(rows) >= MIN_SERIES for span in _outstanding(times[rows])}
    if len(spans) > max(MAX_RARE * times.shape[1], 1):  # every Sunday, say
        return
    for first, last in sorted(spans):
        yield from _explained(stored, leaves, times, first, last)


def _outstanding(times: Floats) -> Iterator[tuple[int, int]]:
    """The first and last column of nights on which most of some operators moved before moving back."""
    measured = np.flatnonzero(np.isfinite(times).any(axis=0))
    known = times[:, measured]
    if len(measured) < 2 * AROUND:
        return
    steps = _common(known[:, 1:] - known[:, :-1])
    least = max(MIN_CHANGE, OUTSTANDING * MAD_TO_SIGMA * float(np.median(np.abs(steps - np.median(steps)))))
    for length in range(1, MAX_LENGTH + 1):
        back = _common(known[:, length + 1 :] - known[:, : -length - 1])
        for place in np.flatnonzero(np.abs(steps[: len(back)]) >= least).tolist():
            rise, fall = steps[place], -steps[place + length]
            within = steps[place + 1 : place + length]
            if rise * fall > 0 and abs(fall) >= least and (np.abs([back[place], *within]) < STILL * abs(rise)).all():
                yield int(measured[place + 1]), int(measured[place + length])


def _common(moved: Floats) -> Floats:
    """What operators have in common from one night to another; 0 if none was measured on both."""
    known = np.isfinite(moved).any(axis=0)
    common = np.zeros(moved.shape[1])
    common[known] = np.nanmedian(moved[:, known], axis=0)
    return common


def _explained(
    stored: StoredSeries, leaves: Sequence[int], times: Floats, first: int, last: int
) -> Iterator[PastNight]:
    """The machine, model or rank that explains how some nights differ from those around them."""
    around = np.concatenate([times[:, max(first - AROUND, 0) : first], times[:, last + 1 : last + 1 + AROUND]], axis=1)
    inside = times[:, first : last + 1]
    rows = np.flatnonzero(np.isfinite(inside).any(axis=1) & np.isfinite(around).any(axis=1)).tolist()
    if not rows:
        return
    mine = [leaves[row] for row in rows]
    moved = np.nanmean(inside[rows], axis=1) - np.nanmedian(around[rows], axis=1)
    scatters = [stored.judged_series[index].scatter for index in mine]
    length = last - first + 1
    errors = np.maximum([scatter.error(2 * AROUND, length) for scatter in scatters], MIN_ERROR)
    models = sorted({stored.labels[index].model for index in mine})
    explanation = explain_moved(stored, mine, moved, errors, np.abs(moved) > CLEAR_SCORES * errors, models)
    nights = stored.judged.histories.nights
    for cause in explanation.rows():
        if cause.kind in _WHOLES and cause.followers >= MIN_SERIES and abs(cause.change) >= MIN_CHANGE:
            yield PastNight(
                night=nights[first],
                last_night=nights[last],
                models=models if cause.model is None else [cause.model],
                hardware=stored.labels[mine[0]].hardware,
                cause=cause,
            )
