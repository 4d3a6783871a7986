"""Where may the level of a series have changed? Candidates of all series at once, and what the guard holds to be plain.

An exact partition of clipped values (`stats/partition`), whose penalty is a share of the evidence that the budget asks for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from aoe_reports.history.detection import guard
from aoe_reports.history.detection.guard import plain_steps
from aoe_reports.history.detection.verdicts import Parameters
from aoe_reports.model.texts import say
from aoe_reports.stats import noise
from aoe_reports.stats.habits import Habits, Signs, pool, signs_of
from aoe_reports.stats.noise import Floats, Integers
from aoe_reports.stats.partition import partition
from aoe_reports.stats.scatter import may_have_changed
from aoe_reports.stats.weekdays import take_out_weekdays

SERIES_AT_ONCE = 1024
"""More only take more memory."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """One series before it is judged."""

    logs: Floats
    """Of its times, without gaps; `nights` are their places."""
    nights: Any
    left_out: int
    sigma: float
    candidates: list[int]
    plain: dict[int, float]
    """The steps that the guard proves, with their scores: no other proof is asked of them."""
    newest: float
    """The guard's score of the newest four nights; 0 where they are not even suspect."""
    habits: Habits
    """What is known of its noise beforehand."""
    uneven: bool
    """Whether its scatter may have changed, at a glance."""


def prepare(
    values: ArrayLike,
    parameters: Parameters,
    days: Sequence[int] | None = None,
    workloads: Sequence[int] | None = None,
) -> Iterator[Prepared]:
    """Each series, before it is judged: values, days and workloads as for `detect_changes`."""
    table = np.atleast_2d(np.asarray(values, dtype=np.float64))
    if table.ndim != 2:  # noqa: PLR2004 -- series x nights
        raise ValueError(say("values of {count} dimensions; expected (series, nights)", count=table.ndim))
    numbers = np.arange(table.shape[1]) if days is None else np.array(days, dtype=np.int64) - min(days, default=0)
    numbers = np.append(numbers, 0)  # of what stands behind the last night of a series
    blocks = [
        _block(table[begin : begin + SERIES_AT_ONCE], numbers, parameters)
        for begin in range(0, len(table), SERIES_AT_ONCE)
    ]
    known = pool([block.signs for block in blocks], None if parameters.hindsight else workloads)
    for number, block in enumerate(blocks):
        yield from _prepared(block, known[number * SERIES_AT_ONCE :], parameters)


@dataclass(frozen=True, slots=True)
class _Block:
    """Some series, before what they have in common is known."""

    logs: Floats
    nights: Integers
    lengths: Integers
    left_out: Integers
    sigma: Floats
    memory: Floats
    scaled: Floats
    signs: Signs


def _block(table: Floats, days: Integers, parameters: Parameters) -> _Block:
    logs, nights, lengths = noise.compact(table)
    logs = take_out_weekdays(logs, days[nights], lengths)
    left_out = (~np.isnan(table)).sum(axis=1) - lengths
    sigma, memory = noise.estimate(logs, lengths, 1.0 if parameters.hindsight else noise.known(lengths))
    scaled = noise.clip(logs, lengths, sigma)
    signs = signs_of(logs, lengths, sigma, scaled)
    return _Block(logs, nights, lengths, left_out, sigma, memory, scaled, signs)


def _prepared(block: _Block, habits: Sequence[Habits], parameters: Parameters) -> Iterator[Prepared]:
    logs, lengths = block.logs, block.lengths
    quiet = parameters.threshold
    if quiet is None:
        quiet = parameters.budget.look if parameters.hindsight else parameters.budget.threshold(0.0)
    # half of the roughly estimated memory, over five nights: a candidate too many costs time, one too few a change
    penalties = quiet * parameters.candidate_share * noise.inflation(block.memory / 2, 5)
    judged = np.where(lengths >= parameters.least_nights, lengths, 0)
    candidates = partition(block.scaled, judged, penalties, 2)
    uneven = may_have_changed(logs, judged)
    for row, scores in enumerate(_guard_scores(logs, judged, parameters)):
        plain = plain_steps(scores, parameters.guarded)
        yield Prepared(
            logs=logs[row, : lengths[row]],
            nights=block.nights[row],
            left_out=int(block.left_out[row]),
            sigma=float(block.sigma[row]),
            candidates=_together(candidates[row], plain, parameters.least_level),
            plain=plain,
            newest=scores.get(int(lengths[row]) - guard.NEW, 0.0),
            habits=habits[row],
            uneven=bool(uneven[row]),
        )


def _guard_scores(logs: Floats, lengths: Integers, parameters: Parameters) -> list[dict[int, float]]:
    """What the guard sees. It watches night by night; a look in hindsight has a budget and thresholds of its own."""
    if parameters.hindsight:
        return [{} for _ in logs]
    threshold = min(parameters.guarded, parameters.guard_suspicion)
    return guard.plain_scores(logs, lengths, threshold, parameters.least_effect)


def _together(candidates: Sequence[int], plain: Mapping[int, float], least: int) -> list[int]:
    """Candidates and plain steps in their order; of a candidate and a plain step nearer than a level is long the latter."""
    apart = [one for one in candidates if all(abs(one - step) >= least for step in plain)]
    return sorted([*apart, *plain])
