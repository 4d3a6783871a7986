"""What caused an incident: all of a machine, a run, a rank, an operator type or an operator, from all series that could have moved with it.

Incidents of several models that have one cause are one: a new engine version, a slow rank, an operator type that all use.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np

from aoe_reports.history.changes.incidents import (
    FirstRecorded,
    Group,
    Incident,
    incident_of,
    newest_first,
    nights_around,
)
from aoe_reports.history.changes.surroundings import Surroundings
from aoe_reports.history.series.baselines import LevelShift
from aoe_reports.history.series.series import SeriesLabels
from aoe_reports.history.series.stored import StoredSeries
from aoe_reports.model.arrays.columns import Floats, Mask
from aoe_reports.model.history.changes import COMPUTING, IncidentCause, by_effect
from aoe_reports.stats.causes import Cause, find_causes

NIGHTS_BEFORE, NIGHTS_AFTER = 14, 7
"""The levels around an incident are those of so many nights: what is further away may have been another change."""
MIN_ERROR = 0.003
"""No level is known better: a few nights that are alike by chance do not make an operator a witness of its own."""

_MODEL, _RANK, _TYPE, _NAME = range(4)
_OF_ALL_RANKS = ((_TYPE, _NAME), (_TYPE,))
LEVELS = (
    *((), (_MODEL,), (_RANK,), (_MODEL, _RANK)),
    *(level for kind in _OF_ALL_RANKS for level in (kind, (_MODEL, *kind))),
    *(level for kind in _OF_ALL_RANKS for level in ((_RANK, *kind), (_MODEL, _RANK, *kind))),
)
"""What a cause can be about: everything, a model, a rank, an operator, an operator type, those of one model or on one rank."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """The causes of what moved on a night, the one with the largest effect on a step first."""

    leaves: Sequence[int]
    """The series of operators that causes are about, by their numbers in the store."""
    labels: Sequence[SeriesLabels]
    """Of each leaf."""
    causes: Sequence[Cause]
    models: Sequence[str]
    """Whose series moved."""
    step_shares: Sequence[float | None]
    """What each cause adds to a step, as a share of it."""

    def rows(self) -> list[IncidentCause]:
        """The causes, as outputs have them."""
        return [
            _row(cause, [self.labels[member] for member in cause.members], share)
            for cause, share in zip(self.causes, self.step_shares, strict=True)
        ]


def explain(
    stored: StoredSeries,
    shifts: Mapping[int, LevelShift],
    groups: Collection[Group],
    place: int,
    ends: tuple[int, int | None],
) -> Explanation:
    """What explains changes of series (by their numbers) at a place; no cause where only sums of operators moved.

    Any operator of the groups may be a witness; `ends` are the places of the incidents before and after it.
    """
    judged = [*operators_of(stored, groups), *_slow_ranks(stored, shifts)]
    leaves, moved, nights = _moved(stored, judged, place, ends)
    errors = np.full(len(leaves), MIN_ERROR)
    for number, index in enumerate(leaves):
        scatter, (before, after), shift = stored.judged_series[index].scatter, nights[number], shifts.get(index)
        if shift is not None:
            moved[number] = np.log(shift.after / shift.before)
            before, after = shift.before_nights, shift.after_nights
        errors[number] = max(scatter.error(before, after), MIN_ERROR)
    certain = np.array([index in shifts for index in leaves], dtype=bool)
    models = sorted({stored.labels[index].model for index in shifts})
    return explain_moved(stored, leaves, moved, errors, certain, models)


def explain_moved(
    stored: StoredSeries, leaves: Sequence[int], moved: Floats, errors: Floats, certain: Mask, models: Sequence[str]
) -> Explanation:
    """What explains that operators moved (logarithms, with standard errors), those that are certain above all.

    The shortest description says which causes there are. It counts operators, however short they are, so it does not order them, and
    a cause is followed by most of the time that it is about.
    """
    labels = [stored.labels[index] for index in leaves]
    causes = find_causes([_label(label) for label in labels], LEVELS, moved, errors, certain, _weights(stored, leaves))
    shares = [stored.step_share([leaves[leaf] for leaf in one.followers], float(np.exp(one.size))) for one in causes]
    ordered = sorted(zip(causes, shares, strict=True), key=lambda one: by_effect(one[1]))
    return Explanation(
        leaves=leaves,
        labels=labels,
        causes=[cause for cause, _ in ordered],
        models=models,
        step_shares=[share for _, share in ordered],
    )


def _weights(stored: StoredSeries, leaves: Sequence[int]) -> Floats:
    """The weight of each operator by its share of its model; the computing of a rank counts as an average operator."""
    totals = np.array([stored.total_ms(index) for index in leaves])
    groups = [stored.group(index) for index in leaves]
    is_operator = np.array([stored.labels[index].scope != COMPUTING for index in leaves], dtype=bool)
    weights = np.ones(len(leaves))
    for group in set(groups):
        mine = np.array([one == group for one in groups], dtype=bool) & is_operator
        whole = totals[mine].sum()
        if whole:  # of the mean operator it is 1
            weights[mine] = totals[mine] / whole * mine.sum()
    return weights


def _slow_ranks(stored: StoredSeries, shifts: Mapping[int, LevelShift]) -> list[int]:
    """Ranks whose computing moved differently from most ranks, where operators are stored over all ranks.

    Operators show what all ranks share; the rest must be more than half of the rank's change.
    """
    found: list[int] = []
    for group in {stored.group(index) for index in shifts}:
        mine = [index for index in stored.by_group[group] if stored.labels[index].scope == COMPUTING]
        moved = {index: float(np.log(shifts[index].after / shifts[index].before)) for index in mine if index in shifts}
        common = float(np.median([moved.get(index, 0.0) for index in mine])) if moved else 0.0
        found += [index for index, size in moved.items() if abs(size - common) > abs(size) / 2]
    return sorted(found)


def _label(labels: SeriesLabels) -> tuple[str, int | None, str | None, str | None]:
    return labels.model, labels.rank_id, COMPUTING if labels.scope == COMPUTING else labels.op_type, labels.op_name


def operators_of(stored: StoredSeries, groups: Collection[Group]) -> list[int]:
    """The operators of some groups; an operator type only where none of its operators is stored."""
    mine = [index for group in sorted(groups, key=repr) for index in stored.by_group[group]]
    apart = [index for index in mine if stored.labels[index].scope in {"op", "communication"}]
    told = {_type_of(stored, index) for index in apart}
    types = [index for index in mine if stored.labels[index].scope == "op_type"]
    judged = [*apart, *(index for index in types if _type_of(stored, index) not in told)]
    return [index for index in judged if stored.judged.verdicts[index].sigma is not None]


def _type_of(stored: StoredSeries, index: int) -> tuple[str, int | None, str | None]:
    labels = stored.labels[index]
    return labels.model, labels.rank_id, labels.op_type


def _moved(
    stored: StoredSeries, indexes: Sequence[int], place: int, ends: tuple[int, int | None]
) -> tuple[list[int], Floats, list[list[int]]]:
    """(series with nights on both sides of a place, the change of each as a logarithm, the number of nights on each side)."""
    values = times_of(stored, indexes)
    after = slice(place, min(place + NIGHTS_AFTER, ends[1] or values.shape[1]))
    sides = [values[:, span] for span in (nights_before(place, ends[0]), after)]
    nights = np.stack([np.isfinite(side).sum(axis=1) for side in sides], axis=1)
    has_both = nights.min(axis=1) > 0
    levels = [np.log(np.nanmedian(side[has_both], axis=1)) for side in sides]
    kept = [index for index, is_kept in zip(indexes, has_both.tolist(), strict=True) if is_kept]
    return kept, np.asarray(levels[1] - levels[0]), nights[has_both].tolist()


def times_of(stored: StoredSeries, indexes: Sequence[int]) -> Floats:
    """The times of series in ms, a row a series; NaN for what is none."""
    values = stored.judged.histories.costs[list(indexes)]
    return np.where(np.isfinite(values) & (values > 0), values, np.nan)


def nights_before(place: int, last: int) -> slice:
    """The nights whose level a change is held against: none from before the last incident."""
    return slice(max(place - NIGHTS_BEFORE, last, 0), place)


def _row(cause: Cause, members: Sequence[SeriesLabels], step_share: float | None) -> IncidentCause:
    _, rank, op_type, op_name = cause.labels
    models, ranks = {member.model for member in members}, {member.rank_id for member in members}
    if op_type == COMPUTING and len(ranks) == 1:  # it is a kind of operator only where several ranks are slow
        (rank,) = ranks
    model = next(iter(models)) if len(models) == 1 else None
    kind = "machine" if model is None else "run"
    if op_name:
        kind = "operator"
    elif op_type == COMPUTING or (op_type is None and rank is not None):
        kind = "rank"
    elif op_type:
        kind = "op-type"
    return IncidentCause(
        kind=kind,
        model=model,
        rank_id=rank,
        op_type=op_type,
        op_name=op_name,
        change=float(np.expm1(cause.size)),
        followers=len(cause.followers),
        members=len(cause.members),
        step_share=step_share,
    )


OF_THE_MACHINE = (
    "engine_version",
    "engine_config.",
    "hardware_config.",
    "software_config.driver",
    "software_config.firmware",
)
"""Facts that all models of a machine share, by how their names begin: where one changes, what moved with it is one incident."""


def merge_across_models(
    stored: StoredSeries,
    surroundings: Surroundings,
    incidents: Sequence[Incident],
    recorded: Mapping[str, FirstRecorded],
) -> list[Incident]:
    """The incidents, those of one machine and night that share a cause made one; the newest first.

    Two that were recorded apart stay so; one that was not joins the one that was.
    """
    by_machine: dict[tuple[str, ...], list[Incident]] = {}
    for incident in incidents:
        by_machine.setdefault(incident.lead.group[1:], []).append(incident)
    nights = [
        (some, together, _may_share(together, recorded))
        for some in by_machine.values()
        for together in _on_one_night(some)
    ]
    surroundings.read([one for _, together, may_share in nights if may_share for one in together])
    merged: list[Incident] = []
    for some, together, may_share in nights:
        pairs = _shared(stored, surroundings, some, together) if may_share else ()
        merged += [_merged(one, recorded) for one in _sets(together, pairs, recorded)]
    return newest_first(merged)


def _on_one_night(incidents: Sequence[Incident]) -> list[list[Incident]]:
    """Groups of incidents that may be of one night, or were reported as one."""
    gathered: list[list[Incident]] = []
    for incident in sorted(incidents, key=lambda one: (one.place, one.id)):
        near = next((some for some in gathered if _may_be_one(some, incident)), None)
        if near is None:
            gathered.append([incident])
        else:
            near.append(incident)
    return gathered


def _may_be_one(incidents: Sequence[Incident], incident: Incident) -> bool:
    if any(other.id == incident.id for other in incidents):
        return True
    apart = abs(incidents[0].place - incident.place)
    reach = max(incidents[0].lead.shift.reach, incident.lead.shift.reach)
    return apart <= reach and incident.lead.group not in {other.lead.group for other in incidents}


def _may_share(together: Sequence[Incident], recorded: Mapping[str, FirstRecorded]) -> bool:
    return len({incident.lead.group for incident in together}) > 1 and any(
        incident.id not in recorded for incident in together
    )


def _shared(
    stored: StoredSeries,
    surroundings: Surroundings,
    incidents: Sequence[Incident],
    together: Sequence[Incident],
) -> Iterator[tuple[str, str]]:
    """Pairs of incident ids with a common cause: a changed fact of the machine, or one explanation of both."""
    ids = {incident.id for incident in together}
    changed = {
        incident.id: {fact for fact in surroundings.now(incident.id) or () if fact.name.startswith(OF_THE_MACHINE)}
        for incident in together
    }
    pairs = [pair for pair in combinations(changed, 2) if changed[pair[0]] & changed[pair[1]]]
    yield from pairs
    if pairs and ids == {pairs[0][0], *(other for one, other in pairs if one == pairs[0][0])}:
        return  # the first shares a fact with all others
    members = [member for incident in together for member in incident.members]
    shifts = {stored.places[member.series]: member.shift for member in members}
    by_group = {incident.lead.group: incident.id for incident in together}
    explanation = explain(stored, shifts, by_group, together[0].place, nights_around(incidents, together[0]))
    for cause in explanation.causes:
        moved = {
            stored.group(explanation.leaves[leaf]) for leaf in cause.followers if explanation.leaves[leaf] in shifts
        }
        yield from pairwise(sorted(by_group[group] for group in moved))


def _sets(
    together: Sequence[Incident], pairs: Iterable[tuple[str, str]], recorded: Mapping[str, FirstRecorded]
) -> list[list[Incident]]:
    """Sets of incidents connected by pairs; no set has two recorded ones. Incidents with the same id stay together."""
    set_of = {incident.id: {incident.id} for incident in together}
    for one, other in pairs:
        both = set_of[one] | set_of[other]
        if not (set_of[one] & recorded.keys() and set_of[other] & recorded.keys()):
            set_of |= dict.fromkeys(both, both)
    names = {frozenset(one) for one in set_of.values()}
    return [[incident for incident in together if incident.id in some] for some in names]


def _merged(incidents: Sequence[Incident], recorded: Mapping[str, FirstRecorded]) -> Incident:
    if len(incidents) == 1:
        return incidents[0]
    lead = min(incidents, key=lambda one: (one.id not in recorded, -abs(one.lead.impact_ms), one.id))
    return incident_of(
        lead.id if lead.id in recorded else None,
        [member for incident in incidents for member in incident.members],
        recorded,
    )
