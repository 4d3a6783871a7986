"""Where may the level of a series have changed? Candidates of all series at once, and what the guard holds to be plain.

An exact partition of clipped values (`stats/partition`), whose penalty is a share of the evidence that the budget asks for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from aoe_reports.history.detection import guard
from aoe_reports.history.detection.guard import plain_steps
from aoe_reports.history.detection.verdicts import Parameters
from aoe_reports.model.texts import say
from aoe_reports.stats import noise
from aoe_reports.stats.budget import Budget
from aoe_reports.stats.habits import Habits, Signs, pool, signs_of
from aoe_reports.stats.noise import Floats, Integers
from aoe_reports.stats.partition import partition
from aoe_reports.stats.scatter import may_have_changed, moves_of
from aoe_reports.stats.to_and_fro import Path, Switch, find_paths, go_to_and_fro
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
    switch: Switch | None
    """The newest switch of a series that goes to and fro between two modes; its nights are all moved to that of the newest."""
    parameters: Parameters
    """Those of this series: its budget may be its own."""


def prepare(
    values: ArrayLike,
    parameters: Parameters,
    days: Sequence[int] | None = None,
    workloads: Sequence[int] | None = None,
    budgets: Sequence[Budget] | None = None,
) -> Iterator[list[Prepared]]:
    """The series, some at once, before they are judged: values, days, workloads and budgets as for `detect_changes`."""
    table = np.atleast_2d(np.asarray(values, dtype=np.float64))
    if table.ndim != 2:  # noqa: PLR2004 -- series x nights
        raise ValueError(say("values of {count} dimensions; expected (series, nights)", count=table.ndim))
    numbers = np.arange(table.shape[1]) if days is None else np.array(days, dtype=np.int64) - min(days, default=0)
    # a look in hindsight takes nothing from other series
    workloads = None if parameters.hindsight else workloads
    numbers = np.append(numbers, 0)  # of what stands behind the last night of a series
    blocks = [
        _block(table[begin : begin + SERIES_AT_ONCE], numbers, parameters)
        for begin in range(0, len(table), SERIES_AT_ONCE)
    ]
    _take_modes_out(blocks, parameters, workloads)
    each = [parameters] * len(table)
    if budgets is not None:
        own = {budget: replace(parameters, budget=budget) for budget in set(budgets)}
        each = [own[budget] for budget in budgets]
    known = pool([_signs(block, together=workloads is not None) for block in blocks], workloads)
    for number, block in enumerate(blocks):
        rows = slice(number * SERIES_AT_ONCE, (number + 1) * SERIES_AT_ONCE)
        yield list(_prepared(block, known[rows], each[rows]))


@dataclass(slots=True)
class _Block:
    """Some series, before what they have in common is known."""

    logs: Floats
    nights: Integers
    lengths: Integers
    left_out: Integers
    sigma: Floats
    memory: Floats
    scaled: Floats
    paths: dict[int, Path]
    """Of those series that may go to and fro between two modes."""
    switches: dict[int, Switch]
    """Of those that do."""


def _block(table: Floats, days: Integers, parameters: Parameters) -> _Block:
    logs, nights, lengths = noise.compact(table)
    logs = take_out_weekdays(logs, days[nights], lengths)
    left_out = (~np.isnan(table)).sum(axis=1) - lengths
    sigma, memory, scaled = _measured(logs, lengths, parameters)
    paths = find_paths(logs, scaled, lengths, sigma)
    return _Block(logs, nights, lengths, left_out, sigma, memory, scaled, paths, {})


def _measured(logs: Floats, lengths: Integers, parameters: Parameters) -> tuple[Floats, Floats, Floats]:
    sigma, memory = noise.estimate(logs, lengths, 1.0 if parameters.hindsight else noise.known(lengths))
    return sigma, memory, noise.clip(logs, lengths, sigma)


def _take_modes_out(blocks: Sequence[_Block], parameters: Parameters, workloads: Sequence[int] | None) -> None:
    """Move the nights of series that go to and fro between two modes into one of them."""
    paths = {
        SERIES_AT_ONCE * number + row: path for number, block in enumerate(blocks) for row, path in block.paths.items()
    }
    of_blocks: dict[int, list[int]] = {}
    for series in go_to_and_fro(paths, workloads):
        of_blocks.setdefault(series // SERIES_AT_ONCE, []).append(series % SERIES_AT_ONCE)
    for number, rows in of_blocks.items():
        block = blocks[number]
        for row in rows:
            path, nights = block.paths[row], slice(0, block.lengths[row])
            block.logs[row, nights] = path.in_newest_mode(block.logs[row, nights])
            block.switches[row] = path.newest
        measured = _measured(block.logs[rows], block.lengths[rows], parameters)
        block.sigma[rows], block.memory[rows], block.scaled[rows] = measured


def _signs(block: _Block, *, together: bool) -> Signs:
    signs = signs_of(block.logs, block.lengths, block.sigma, block.scaled)
    if together:
        moves = moves_of(block.logs, block.nights, block.lengths, block.sigma, block.logs.shape[1])
        signs = signs._replace(moves=moves)
    return signs


def _prepared(block: _Block, habits: Sequence[Habits], each: Sequence[Parameters]) -> Iterator[Prepared]:
    logs, lengths, parameters = block.logs, block.lengths, each[0]
    # half of the roughly estimated memory, over five nights: a candidate too many costs time, one too few a change
    inflation = noise.inflation(block.memory / 2, 5)
    penalties = _of_each(each, lambda one: one.needed(0.0)) * parameters.candidate_share * inflation
    judged = np.where(lengths >= parameters.least_nights, lengths, 0)
    candidates = partition(block.scaled, judged, penalties, 2)
    uneven = may_have_changed(logs, judged)
    for row, scores in enumerate(_guard_scores(logs, judged, each)):
        plain = plain_steps(scores, each[row].guarded)
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
            switch=block.switches.get(row),
            parameters=each[row],
        )


def _of_each(each: Sequence[Parameters], ask: Callable[[Parameters], float]) -> Floats:
    """A number for each series, computed once for each set of parameters."""
    known = {parameters: ask(parameters) for parameters in set(each)}
    return np.array([known[parameters] for parameters in each])


def _guard_scores(logs: Floats, lengths: Integers, each: Sequence[Parameters]) -> list[dict[int, float]]:
    """The guard's scores. A look in hindsight uses no guard: it has its own budget and thresholds."""
    if each[0].hindsight:
        return [{} for _ in logs]
    thresholds = _of_each(each, lambda one: min(one.guarded, one.guard_suspicion))
    return guard.plain_scores(logs, lengths, thresholds, each[0].least_effect)


def _together(candidates: Sequence[int], plain: Mapping[int, float], least: int) -> list[int]:
    """Candidates and plain steps in order; a candidate too near to a plain step is dropped."""
    apart = [candidate for candidate in candidates if all(abs(candidate - step) >= least for step in plain)]
    return sorted([*apart, *plain])
