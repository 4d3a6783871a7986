"""What caused an incident: all of a machine, a run, a rank, an operator type or an operator, from all series that could have moved with it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from aoe_reports.history.baselines import LevelShift
from aoe_reports.history.incidents import Group
from aoe_reports.history.series import SeriesLabels
from aoe_reports.history.stored_series import StoredSeries
from aoe_reports.model.changes import COMPUTING, IncidentCause, by_effect
from aoe_reports.model.columns import Floats, Mask
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
    causes: Sequence[Cause]
    model_of: Sequence[str]
    """Whose series each leaf is."""
    rank_of: Sequence[int | None]
    models: Sequence[str]
    """Whose series moved."""
    step_shares: Sequence[float | None]
    """What each cause adds to a step, as a share of it."""

    def rows(self) -> list[IncidentCause]:
        """The causes, as outputs have them."""
        return [
            _row(
                cause,
                {self.model_of[member] for member in cause.members},
                {self.rank_of[member] for member in cause.members},
                share,
            )
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
    labels = [_label(one) for one in map(stored.labels.__getitem__, leaves)]
    found = find_causes(labels, LEVELS, moved, errors, certain, _weights(stored, leaves))
    shares = [stored.step_share([leaves[leaf] for leaf in one.followers], float(np.exp(one.size))) for one in found]
    ordered = sorted(zip(found, shares, strict=True), key=lambda one: by_effect(one[1]))
    return Explanation(
        leaves=leaves,
        causes=[cause for cause, _ in ordered],
        model_of=[str(one[_MODEL]) for one in labels],
        rank_of=[stored.labels[index].rank_id for index in leaves],
        models=models,
        step_shares=[share for _, share in ordered],
    )


def _weights(stored: StoredSeries, leaves: Sequence[int]) -> Floats:
    """How much each operator is of what all of its model take; what a rank computes in all counts as a usual operator."""
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
    """The ranks whose computing moved otherwise than that of most ranks, where operators are told of all ranks together.

    What all ranks share, operators tell; what is left must be more than half of what a rank moved by.
    """
    ranks = {
        group: mine for group in {stored.group(index) for index in shifts} if (mine := _computing_of(stored, group))
    }
    found: list[int] = []
    for mine in ranks.values():
        moved = {index: float(np.log(shifts[index].after / shifts[index].before)) for index in mine if index in shifts}
        common = float(np.median([moved.get(index, 0.0) for index in mine]))
        found += [index for index, size in moved.items() if abs(size - common) > abs(size) / 2]
    return sorted(found)


def _computing_of(stored: StoredSeries, group: Group) -> list[int]:
    return [index for index in stored.by_group[group] if stored.labels[index].scope == COMPUTING]


def _label(one: SeriesLabels) -> tuple[str, int | None, str | None, str | None]:
    """What a cause can be about: all that a rank computes is its own kind of operator."""
    return one.model, one.rank_id, COMPUTING if one.scope == COMPUTING else one.op_type, one.op_name


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
    """(the series that have nights on both sides of a place, the change of each (logarithm), how many nights those are)."""
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


def _row(
    cause: Cause, models: Collection[str], ranks: Collection[int | None], step_share: float | None
) -> IncidentCause:
    _, rank, op_type, op_name = cause.labels
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
