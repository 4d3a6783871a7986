"""Which operators make a step slower? The change of a step divided over what ran in it, to the nanosecond.

A side (before, after) is its typical nights put together: of each operator the time of all these nights over their steps. So
what operators took adds up, and what is neither an operator's nor communication nor free time is `unattributed_ns`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from statistics import median
from typing import Literal

import numpy as np
import polars as pl

from aoe_reports.stats.comparison import CAUSES_OF_CALLS, INPUTS, largest_part
from aoe_reports.stats.comparison import Cause as CauseOfCalls
from aoe_reports.stats.sample import robust_sigma

Side = Literal["before", "after"]
SIDES: tuple[Side, Side] = ("before", "after")
Cause = CauseOfCalls | Literal["changed-repository"]

COLUMNS = ("side", "night", "op_type", "op_name", *INPUTS, "repository", "communication", "count", "total_ns")
"""Of the calls: one row a night and kind of call. `repository` names the AOE knowledge that the calls used, as far as it is
known to differ between the sides; null where nothing is known of it."""

SURE_SCORES = 4.0
"""Standard errors taken off a change before operators are ranked: none of a thousand quiet ones gets past them."""
SIGMA, PRIOR_NIGHTS = 0.01, 3
"""Scatter of an operator from night to night where nobody knows better; it weighs as much as three nights."""
TYPICAL_SIGMAS = 3.0
MIN_TYPICAL = 4
"""With fewer nights on a side nobody knows which of them is untypical."""
SHIFT_TOLERANCE = 0.1
SHIFT_PARTS, SHIFT_OPERATORS = 3, 12
"""A shift goes from at most three operators to one or from one to three, among the dozen that changed most."""


@dataclass(frozen=True, slots=True)
class StepNight:
    """One night of the step: its side, and sums over its steps (ns); null where the profile cannot tell."""

    side: Side
    night: str
    steps: int
    total_ns: int
    communication_not_overlapped_ns: int | None = None
    free_ns: int | None = None
    steps_with_tasks: int | None = None
    """How many of the steps the calls are of; null: of all."""

    @property
    def steps_of_calls(self) -> int:
        """What calls are divided by."""
        return self.steps if self.steps_with_tasks is None else self.steps_with_tasks


@dataclass(frozen=True, slots=True)
class OperatorShare:
    """What one operator adds to the change of a step; times in ns a step."""

    op_type: str | None
    op_name: str | None
    communication: bool
    """Communication is shown, but not summed: only what computing does not cover lengthens a step."""
    before_ns: int
    after_ns: int
    before_count: float
    after_count: float
    calls_ns: int
    """The part that calls with the same inputs make by taking longer (or shorter)."""
    count_ns: int
    """The part that more (or fewer) calls with the same inputs make."""
    inputs_ns: int
    """The part of calls whose inputs stand on one side only."""
    error_ns: float
    """Standard error of the change, from the scatter of the nights and what was expected of it."""
    cause: Cause
    repository: str | None = None
    """The knowledge of AOE that came into use between the sides, where that is the cause; the last of several."""

    @property
    def difference_ns(self) -> int:
        """After - before = calls + count + inputs, exactly."""
        return self.after_ns - self.before_ns

    @property
    def sure_ns(self) -> float:
        """How much of the change is beyond doubt."""
        return max(abs(self.difference_ns) - SURE_SCORES * self.error_ns, 0.0)


@dataclass(frozen=True, slots=True)
class CostShift:
    """Time that moved between operators (renamed, fused, split) and leaves the step as long as it was."""

    sources: tuple[str, ...]
    targets: tuple[str, ...]
    moved_ns: int
    """A step."""


@dataclass(frozen=True, slots=True)
class Attribution:
    """The change of a step (ns a step): operators + communication + free + unattributed = total, exactly."""

    before_ns: int
    after_ns: int
    operators: tuple[OperatorShare, ...]
    """All of them, those with the largest sure change first."""
    operators_ns: int
    communication_not_overlapped_ns: int | None
    """Change of the communication that computing does not cover; null: unknown, part of the unattributed."""
    free_ns: int | None
    unattributed_ns: int
    shifts: tuple[CostShift, ...]
    untypical: tuple[tuple[Side, str], ...] = field(default=())
    """Nights left out, because the step was out of line in them."""

    @property
    def total_ns(self) -> int:
        """After - before."""
        return self.after_ns - self.before_ns


def attribute_change(calls: pl.DataFrame, nights: Sequence[StepNight], sigma: float = SIGMA) -> Attribution | None:
    """The change of a step over its operators; None where a side has no step. `calls` has COLUMNS, inputs may be null.

    `sigma` is the relative scatter of a night that was expected before any was seen: the detector knows the step's.
    """
    sides = {side: _typical([night for night in nights if night.side == side]) for side in SIDES}
    steps: dict[str, int] = {side: sum(night.steps for night in mine) for side, mine in sides.items()}
    if not all(steps.values()):
        return None
    typical = [*sides["before"], *sides["after"]]
    called = [night for night in typical if night.steps_of_calls > 0]
    of_calls: dict[str, int] = {side: sum(n.steps_of_calls for n in called if n.side == side) for side in SIDES}
    if not all(of_calls.values()):
        return None
    kept = pl.DataFrame(
        [(night.side, night.night, night.steps_of_calls) for night in called],
        schema={"side": pl.String, "night": pl.String, "steps": pl.Int64},
        orient="row",
    )
    operators = _operators(calls.join(kept, on=["side", "night"], how="inner"), of_calls, kept, sigma)
    operators_ns = sum(operator.difference_ns for operator in operators if not operator.communication)
    levels = [_per_step(sum(night.total_ns for night in sides[side]), steps[side]) for side in SIDES]
    talk = _part([[night.communication_not_overlapped_ns for night in sides[side]] for side in SIDES], steps)
    free = _part([[night.free_ns for night in sides[side]] for side in SIDES], steps)
    names = {(night.side, night.night) for night in typical}
    return Attribution(
        before_ns=levels[0],
        after_ns=levels[1],
        operators=tuple(operators),
        operators_ns=operators_ns,
        communication_not_overlapped_ns=talk,
        free_ns=free,
        unattributed_ns=levels[1] - levels[0] - operators_ns - (talk or 0) - (free or 0),
        shifts=tuple(_shifts(operators)),
        untypical=tuple(sorted({(n.side, n.night) for n in nights} - names)),
    )


def sum_known(values: Sequence[int | None]) -> int | None:
    """The sum of values; None where one is not known."""
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def _typical(nights: list[StepNight]) -> list[StepNight]:
    """Nights with steps; where there are enough, those in which a step took about as long as in the others."""
    nights = [night for night in nights if night.steps > 0]
    if len(nights) < MIN_TYPICAL:
        return nights
    lengths = [night.total_ns / night.steps for night in nights]
    middle, sigma = median(lengths), robust_sigma(lengths)
    if sigma == 0:
        return nights
    return [n for n, length in zip(nights, lengths, strict=True) if abs(length - middle) <= TYPICAL_SIGMAS * sigma]


def _per_step(total: int, steps: int) -> int:
    """The nearest whole number of ns, halves up: integers of any size stay exact."""
    return (2 * total + steps) // (2 * steps)


def _part(sides: Sequence[Sequence[int | None]], steps: dict[str, int]) -> int | None:
    """The change of a part of a step; None if a night does not contain it."""
    before, after = map(sum_known, sides)
    if before is None or after is None:
        return None
    return _per_step(after, steps["after"]) - _per_step(before, steps["before"])


@dataclass(slots=True)
class _Sums:
    """Calls of one operator with the same inputs: sums over the nights of a side."""

    count: dict[str, int]
    total: dict[str, int]


def _operators(calls: pl.DataFrame, steps: dict[str, int], kept: pl.DataFrame, sigma: float) -> list[OperatorShare]:
    operator = ["op_type", "op_name", "communication"]
    fine = calls.group_by([*operator, *INPUTS, "repository", "side"]).agg(pl.col("count", "total_ns").sum())
    columns = [*operator, *INPUTS, "repository", "side", "count", "total_ns"]
    found: dict[tuple[str | None, str | None, bool], dict[tuple[str | None, ...], _Sums]] = {}
    used: dict[tuple[str | None, str | None, bool], dict[str, set[str]]] = {}
    for row in fine.sort(columns, nulls_last=True).select(columns).iter_rows():
        op_type, op_name, communication, *inputs, repository, side, count, total = row
        key = (op_type, op_name, bool(communication))
        sums = found.setdefault(key, {}).setdefault(
            tuple(inputs), _Sums({"before": 0, "after": 0}, {"before": 0, "after": 0})
        )
        sums.count[side] += count
        sums.total[side] += total
        if repository is not None:
            used.setdefault(key, {}).setdefault(side, set()).add(repository)
    errors = _errors(calls, kept, operator, sigma)
    shares = [_share(key, kinds, steps, errors[key], used.get(key, {})) for key, kinds in found.items()]
    return sorted(shares, key=lambda s: (-s.sure_ns, -abs(s.difference_ns), s.op_type or "", s.op_name or ""))


def _share(
    key: tuple[str | None, str | None, bool],
    kinds: dict[tuple[str | None, ...], _Sums],
    steps: dict[str, int],
    error: float,
    used: dict[str, set[str]],
) -> OperatorShare:
    count_ns = inputs_ns = 0
    totals = {side: _per_step(sum(sums.total[side] for sums in kinds.values()), steps[side]) for side in steps}
    counts = {side: sum(sums.count[side] for sums in kinds.values()) for side in steps}
    for sums in kinds.values():
        if sums.count["before"] and sums.count["after"]:
            # (n1/s1 - n0/s0) calls more a step, each as long as before: t0 / n0
            more = sums.count["after"] * steps["before"] - sums.count["before"] * steps["after"]
            count_ns += _per_step(more * sums.total["before"], sums.count["before"] * steps["before"] * steps["after"])
        else:
            inputs_ns += _per_step(sums.total["after"], steps["after"]) - _per_step(
                sums.total["before"], steps["before"]
            )
    # rounding is a matter of the calls: they are what is left
    calls_ns = totals["after"] - totals["before"] - count_ns - inputs_ns
    per_step = {side: counts[side] / steps[side] for side in steps}
    if not counts["before"]:
        cause: Cause = "new"
    elif not counts["after"]:
        cause = "vanished"
    else:
        cause = _cause(calls_ns, count_ns, inputs_ns, kinds, used)
    return OperatorShare(
        *key,
        before_ns=totals["before"],
        after_ns=totals["after"],
        before_count=per_step["before"],
        after_count=per_step["after"],
        calls_ns=calls_ns,
        count_ns=count_ns,
        inputs_ns=inputs_ns,
        error_ns=error,
        cause=cause,
        repository=max(_new_repositories(used), default=None) if cause == "changed-repository" else None,
    )


def _new_repositories(used: dict[str, set[str]]) -> set[str]:
    return used.get("after", set()) - used.get("before", set())


def _cause(
    calls_ns: int,
    count_ns: int,
    inputs_ns: int,
    kinds: dict[tuple[str | None, ...], _Sums],
    used: dict[str, set[str]],
) -> Cause:
    part = largest_part(calls_ns, count_ns, inputs_ns)
    if part == "inputs":
        return _changed_inputs(kinds)
    return "changed-repository" if part in CAUSES_OF_CALLS and _new_repositories(used) else part


def _changed_inputs(kinds: dict[tuple[str | None, ...], _Sums]) -> Cause:
    names: tuple[Cause, ...] = tuple(INPUTS.values())
    before, after = ([inputs for inputs, sums in kinds.items() if sums.count[side]] for side in ("before", "after"))
    differing = [name for place, name in enumerate(names) if {i[place] for i in before} != {i[place] for i in after}]
    return differing[0] if len(differing) == 1 else "changed-inputs"


def _errors(
    calls: pl.DataFrame, kept: pl.DataFrame, operator: list[str], sigma: float
) -> dict[tuple[str | None, str | None, bool], float]:
    """Standard error of each operator's change from night to night; a night without a call is a night of 0 ns."""
    sides = np.array([kept.filter(pl.col("side") == side).height for side in ("before", "after")])
    nightly = calls.group_by([*operator, "side", "night"]).agg(pl.col("total_ns").sum(), pl.col("steps").first())
    # in a fixed order, summed by numpy: the digits do not depend on threads
    nightly = nightly.sort([*operator, "side", "night"], nulls_last=True)
    if nightly.is_empty():
        return {}
    keys = nightly.select(operator).unique(maintain_order=True)
    per_step = (nightly["total_ns"] / nightly["steps"]).to_numpy()
    cells = nightly.select(pl.struct(operator).rle_id() * 2 + (pl.col("side") == "after")).to_series().to_numpy()
    shape = (keys.height, 2)
    means = np.bincount(cells, per_step, 2 * keys.height).reshape(shape) / sides
    there = np.bincount(cells, minlength=2 * keys.height).reshape(shape)
    squares = np.bincount(cells, np.square(per_step - means.ravel()[cells]), 2 * keys.height).reshape(shape)
    squares += (sides - there) * np.square(means)
    freedom = sides.sum() - 2 + PRIOR_NIGHTS
    variance = (squares.sum(axis=1) + PRIOR_NIGHTS * np.square(sigma * means.max(axis=1))) / freedom
    errors = np.sqrt(variance * (1 / sides).sum()).tolist()
    found = [(op_type, op_name, bool(communication)) for op_type, op_name, communication in keys.iter_rows()]
    return dict(zip(found, errors, strict=True))


def _shifts(operators: Sequence[OperatorShare]) -> list[CostShift]:
    """Sure changes that cancel each other: one against one, two or three; each operator is part of one shift at most."""
    moved = [operator for operator in operators if operator.sure_ns > 0 and not operator.communication]
    grown = [one for one in moved if one.difference_ns > 0][:SHIFT_OPERATORS]
    shrunk = [one for one in moved if one.difference_ns < 0][:SHIFT_OPERATORS]
    taken: set[int] = set()
    shifts = []
    for sources, targets in sorted(_candidates(grown, shrunk), key=_shift_rank):
        lost, won = -sum(source.difference_ns for source in sources), sum(target.difference_ns for target in targets)
        members = {id(one) for one in (*sources, *targets)}
        if abs(won - lost) > SHIFT_TOLERANCE * min(won, lost) or members & taken:
            continue
        taken |= members
        shifts.append(CostShift(tuple(map(_name, sources)), tuple(map(_name, targets)), min(won, lost)))
    return sorted(shifts, key=lambda shift: (-shift.moved_ns, shift.sources, shift.targets))


def _candidates(
    grown: Sequence[OperatorShare], shrunk: Sequence[OperatorShare]
) -> Iterator[tuple[tuple[OperatorShare, ...], tuple[OperatorShare, ...]]]:
    for parts in range(1, SHIFT_PARTS + 1):
        yield from (((share,), some) for share in shrunk for some in combinations(grown, parts))
        if parts > 1:
            yield from ((some, (share,)) for some in combinations(shrunk, parts) for share in grown)


def _shift_rank(
    pair: tuple[tuple[OperatorShare, ...], tuple[OperatorShare, ...]],
) -> tuple[int, float, tuple[str, ...], tuple[str, ...]]:
    """Fewer operators first, then the better match."""
    sources, targets = pair
    lost, won = -sum(source.difference_ns for source in sources), sum(target.difference_ns for target in targets)
    return (
        len(sources) + len(targets),
        abs(won - lost) / min(won, lost),
        tuple(map(_name, sources)),
        tuple(map(_name, targets)),
    )


def _name(operator: OperatorShare) -> str:
    return operator.op_name or operator.op_type or ""
