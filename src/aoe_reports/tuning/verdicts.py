"""AOE's claims against the clock: what two profiles show of each operator and of the step, with intervals and the noise.

`change` is after/before - 1 everywhere: below 0 is faster. Intervals come from a bootstrap in which steps are the blocks (single
calls, where there are too few steps), widened by what operators that nobody tuned changed between the two profiles: two
captures of the same model differ by more than the steps of one capture do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from statistics import NormalDist
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from aoe_reports.analysis.bounds import StepShares
from aoe_reports.analysis.comparison import LEAST_VALUES, SEED
from aoe_reports.analysis.hotspots import Names, group_codes, is_communication, quantile, sorted_within
from aoe_reports.analysis.idle import step_of_tasks
from aoe_reports.analysis.steps import Step
from aoe_reports.columns import Ints, Mask, has_value, integers, keep_where
from aoe_reports.texts import say
from aoe_reports.tuning.outcome import type_key
from aoe_reports.tuning.verification import Verdict

LEVEL = 0.99
"""Of the intervals. A tuning job changes dozens of operators: at 0.95 one in twenty would get a wrong verdict by chance."""
RESAMPLES = 2000
CONFIRMED_PART = 0.8
"""A gain counts as the claimed one from this part of it on: AOE's times are means of few runs of an operator by itself."""
LEAST_CONTROLS = 5
"""With fewer untouched operators next to nothing is known of how far two captures are apart."""
MOST_CONTROLS = 200
"""The untouched operators with the longest time; short ones vary by more, and weigh nothing."""
SAME_WORKLOAD_SHARE = 0.5
"""Operator tuning changes neither names nor shapes, so nearly all time is in operators of both profiles; below one half it
is another model."""
LARGE_DRIFT = 0.03
"""From here on untouched operators say that the machine was another one: clock, load, temperature."""

SAME_WORK = 1.1
"""How much more work one step may hold than the other and still be held against it: the calls of the same operators vary
by less where steps are steps (data, a last batch). Where an export tells no steps, the whole capture is taken as one."""

KEYS = ("op_type", "op_name", "input_shapes")
_Z = NormalDist().inv_cdf((1 + LEVEL) / 2)
_MAD_TO_SIGMA = 1.4826

Scope = Literal["step", "op_type", "operator"]
ClaimOf = Literal["operators", "model"]
"""Which of AOE's claims a change is held against: its times of operators, or its times of the whole model."""
Blocks = Literal["steps", "calls"]


@dataclass(frozen=True, slots=True)
class Claim:
    """What AOE says of one operator, in us of a call."""

    op_name: str
    op_types: tuple[str, ...]
    before_us: float
    after_us: float

    @property
    def change(self) -> float:
        """After/before - 1."""
        return self.after_us / self.before_us - 1


@dataclass(frozen=True, slots=True)
class Claims:
    """All that AOE claims: operators, whole types that were asked for, the model's own times (us), how many subgraphs."""

    operators: tuple[Claim, ...] = ()
    whole_types: tuple[str, ...] = ()
    model_us: tuple[float, float] | None = None
    subgraphs: int = 0
    unproven: tuple[str, ...] = ()
    """Operators that a task changed which was broken off: nothing is claimed of them, and they are not as before either."""

    @property
    def model_change(self) -> float | None:
        """After/before - 1 of the model's own times."""
        return None if self.model_us is None else self.model_us[1] / self.model_us[0] - 1


@dataclass(frozen=True, slots=True)
class MeasuredSide:
    """One profile: the tasks that compute, the step (block) of each (-1 for none), the length of each step in ns."""

    frame: pa.Table
    block_of: Ints
    step_ns: tuple[int, ...]
    shares: StepShares

    @property
    def blocks(self) -> int:
        """How many steps the tasks are of."""
        return len(self.step_ns)


@dataclass(frozen=True, slots=True)
class Interval:
    """Where a change (after/before - 1) lies, at LEVEL, and what was resampled; null: the noise alone."""

    low: float
    high: float
    blocks: Blocks | None


@dataclass(frozen=True, slots=True)
class Noise:
    """What untouched operators changed by between the two profiles."""

    controls: int
    drift: float | None
    """Their median change, weighted by time; null with fewer than LEAST_CONTROLS."""
    spread: float | None
    """Robust standard deviation of their changes around the drift."""

    @property
    def of_operators(self) -> float:
        """How far an operator that nobody touched may seem to have changed (one standard deviation)."""
        return float(np.hypot(self.drift or 0.0, self.spread or 0.0))


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the contract; times in us: of a call (operator), of a step (op_type, step)."""

    scope: Scope
    op_name: str | None
    op_type: str | None
    input_shapes: str | None
    claimed_before_us: float | None
    claimed_after_us: float | None
    measured_before_us: float | None
    measured_after_us: float | None
    change: float | None
    ci_low: float | None
    ci_high: float | None
    verdict: Verdict
    reason: str = ""
    claimed_change: float | None = None
    """What is held against `change`: after/before - 1 of the two claimed times, where these are told."""
    claim: ClaimOf | None = None
    """Which claim that is. Of several operators at once there are no two times: each one's change is weighed by its measured time."""

    def as_dict(self) -> dict[str, Any]:
        """The row as JSON; `blocks` and `reason` say how it was come by."""
        return {
            "scope": self.scope,
            "op_name": self.op_name,
            "op_type": self.op_type,
            "input_shapes": self.input_shapes,
            "claimed_before_us": _rounded(self.claimed_before_us, 6),
            "claimed_after_us": _rounded(self.claimed_after_us, 6),
            "measured_before_us": _rounded(self.measured_before_us, 6),
            "measured_after_us": _rounded(self.measured_after_us, 6),
            "change": _rounded(self.change, 6),
            "ci_low": _rounded(self.ci_low, 6),
            "ci_high": _rounded(self.ci_high, 6),
            "verdict": self.verdict,
            "claimed_change": _rounded(self.claimed_change, 6),
            "claim": self.claim,
            "reason": self.reason or None,
        }


def _rounded(value: float | None, digits: int) -> float | None:
    return None if value is None or not np.isfinite(value) else round(float(value), digits) + 0.0  # no -0.0


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """Where the operators' savings went; us of a step, a saving is before - after.

    step_saving = operators + others - hidden_by_overlap + communication + free + unexplained
    """

    step_saving_us: float | None
    claimed_us: float
    """What AOE's claims come to, over the calls of a step."""
    operators_us: float
    """What the tuned operators save of device time."""
    others_us: float
    """What all other operators save."""
    hidden_by_overlap_us: float | None
    """Device time that is saved where something else runs beside it, so that the step gains nothing."""
    communication_us: float | None
    free_us: float | None
    unexplained_us: float | None

    def as_dict(self) -> dict[str, float | None]:
        """As JSON."""
        names = ("step_saving_us", "claimed_us", "operators_us", "others_us", "hidden_by_overlap_us", "communication_us",
                 "free_us", "unexplained_us")  # fmt: skip
        return {name: _rounded(getattr(self, name), 3) for name in names}


@dataclass(frozen=True, slots=True)
class StepClaim:
    """One of the things that AOE claims of a step; `judged`: whether the step's verdict is about it."""

    claim: ClaimOf
    change: float
    """After/before - 1; the time saved is its opposite, the speed-up is before/after - 1."""
    judged: bool

    def as_dict(self) -> dict[str, Any]:
        """As JSON, with both ways to put the same change."""
        return {
            "claim": self.claim,
            "change": _rounded(self.change, 6),
            "time_saved": _rounded(-self.change, 6),
            "speed_up": _rounded(1 / (1 + self.change) - 1, 6) if self.change > -1 else None,
            "judged": self.judged,
        }


@dataclass(frozen=True, slots=True)
class Verified:
    """The rows, the verdict on the whole, the noise, where the savings went, and signs that the bank was not in use."""

    rows: tuple[Row, ...]
    verdict: Verdict
    subject: Row
    """What the verdict on the whole is about: the step, or all tuned operators as one."""
    noise: Noise
    reconciliation: Reconciliation | None
    """Null where the steps of the two profiles do not hold the same work."""
    signs: tuple[str, ...] = ()
    same_share: float | None = None
    """The part of the time before that operators take which are in both profiles."""
    work_ratio: float | None = None
    """Calls of a step, after/before (median over the common operators, by their time)."""
    together: Row | None = None
    """All tuned operators as one (a row of no type)."""
    step_claims: tuple[StepClaim, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def claims_differ(self) -> bool:
        """Whether AOE contradicts itself: what confirms one of its claims on the step does not confirm the other."""
        changes = [one.change for one in self.step_claims]
        return len(changes) > 1 and min(changes) < 0 and max(changes) > CONFIRMED_PART * min(changes)


@dataclass(slots=True)
class _Both:
    """Operators (type, name, shapes) of both profiles under common numbers."""

    names: Names
    keys: tuple[str, ...]
    totals: list[Ints]
    counts: list[Ints]
    groups_of: list[Ints]
    sides: tuple[MeasuredSide, MeasuredSide]

    def key(self, group: int, name: str) -> str | None:
        return self.names[group][self.keys.index(name)] if name in self.keys else None

    def words(self, name: str) -> list[str | None]:
        """The word of every operator under one key."""
        if name not in self.keys:
            return [None] * self.names.count
        place = self.keys.index(name)
        words: list[str | None] = [None, *self.names.words[place]]
        return [words[number] for number in self.names.numbers[place].tolist()]

    @property
    def common(self) -> Mask:
        found: Mask = (self.counts[0] > 0) & (self.counts[1] > 0)
        return found


def same_workload_share(before: MeasuredSide, after: MeasuredSide) -> float:
    """The part of the time before that operators take which are in the other profile, too (name, type, shapes)."""
    both = _both(before, after)
    whole = int(both.totals[0].sum())
    return int(both.totals[0][both.common].sum()) / whole if whole else 0.0


def verify_claims(claims: Claims, before: MeasuredSide, after: MeasuredSide) -> Verified:
    """Hold what AOE claims against two profiles of one device."""
    both = _both(before, after)
    found = _Matches(claims, both)
    noise = _noise(both, found.touched)
    sample = _Sample(both, sorted({group for groups in found.of_claim for group in groups}))
    rows = [row for claim, groups in zip(claims.operators, found.of_claim, strict=True)
            for row in _operator_rows(claim, groups, both, sample, noise)]  # fmt: skip
    kinds = _type_rows(claims, found, both, sample, noise)
    together = _together(claims, found, both, sample, noise)
    reconciliation = _reconcile(claims, found, both)
    work = _work_ratio(both)
    step_claims = _step_claims(claims, both, reconciliation)
    step = _step_row(next((one for one in step_claims if one.judged), None), claims, both, noise, work)
    verdict, subject = _overall(step, together, claims)
    comparable = [row for row in rows if row.verdict != "not-comparable"]
    unused = together is not None and together.verdict == "not-reproduced"
    whole = int(both.totals[0].sum())
    return Verified(
        (step, *kinds, *rows),
        verdict,
        subject,
        noise,
        reconciliation if is_same_work(work) else None,
        tuple(_signs(comparable, both, found)) if unused else (),
        int(both.totals[0][both.common].sum()) / whole if whole else None,
        work,
        together,
        step_claims,
        {
            "level": LEVEL,
            "resamples": RESAMPLES,
            "seed": SEED,
            "steps_before": before.blocks,
            "steps_after": after.blocks,
            "operators_together": None if together is None else together.as_dict(),
        },
    )


def _both(before: MeasuredSide, after: MeasuredSide) -> _Both:
    keys = tuple(key for key in KEYS if all(key in side.frame.column_names for side in (before, after)))
    whole = pa.concat_tables([side.frame.select(keys) for side in (before, after)], promote_options="permissive")
    groups_of, names = group_codes(whole, keys)
    cut = before.frame.num_rows
    parts = [groups_of[:cut], groups_of[cut:]]
    totals, counts = [], []
    for side, part in zip((before, after), parts, strict=True):
        durations, _ = integers(side.frame["task_duration_ns"])
        sums: Ints = np.zeros(names.count, dtype=np.int64)
        np.add.at(sums, part, durations)
        totals.append(sums)
        counts.append(np.bincount(part, minlength=names.count).astype(np.int64))
    return _Both(names, keys, totals, counts, parts, (before, after))


class _Matches:
    """Which operators of the profiles each claim is of."""

    def __init__(self, claims: Claims, both: _Both) -> None:
        names, kinds = both.words("op_name"), both.words("op_type")
        by_name: dict[str, list[int]] = {}
        wanted = {claim.op_name for claim in claims.operators}
        for group, name in enumerate(names):
            if name in wanted:
                by_name.setdefault(str(name), []).append(group)
        self.of_claim = [by_name.get(claim.op_name, []) for claim in claims.operators]
        loose = {type_key(one) for one in claims.whole_types}
        for claim, groups in zip(claims.operators, self.of_claim, strict=True):
            if not groups:
                loose |= {type_key(one) for one in claim.op_types}
        self.loose = loose
        """Types of claims whose operators have other names in the profiles, and types that were asked for as a whole."""
        self.of_type: dict[str, list[int]] = {}
        for group, kind in enumerate(kinds):
            if kind is not None and type_key(kind) in loose:
                self.of_type.setdefault(kind, []).append(group)
        self.touched = {g for groups in (*self.of_claim, *self.of_type.values()) for g in groups}
        unproven = set(claims.unproven)
        self.touched |= {group for group, name in enumerate(names) if name in unproven}


def _noise(both: _Both, touched: set[int]) -> Noise:
    free = both.common.copy()
    free[list(touched)] = False
    groups = np.flatnonzero(free)
    if len(groups) > MOST_CONTROLS:
        least = np.sort(both.totals[0][groups])[len(groups) - MOST_CONTROLS]
        groups = groups[both.totals[0][groups] >= least]
    if len(groups) < LEAST_CONTROLS:
        return Noise(len(groups), None, None)
    means = [both.totals[side][groups] / both.counts[side][groups] for side in (0, 1)]
    usable = means[0] > 0
    changes, weights = means[1][usable] / means[0][usable] - 1, both.totals[0][groups][usable].astype(np.float64)
    if len(changes) < LEAST_CONTROLS:
        return Noise(len(changes), None, None)
    order = np.argsort(changes, kind="stable")
    reached = np.cumsum(weights[order])
    drift = float(changes[order][np.searchsorted(reached, reached[-1] / 2)])
    return Noise(len(changes), drift, float(np.median(np.abs(changes - drift))) * _MAD_TO_SIGMA)


class _Sample:
    """Sums of each step of some operators on both sides, and the same resamples of steps for all of them."""

    def __init__(self, both: _Both, groups: Sequence[int]) -> None:
        self.both, self.place = both, {group: i for i, group in enumerate(groups)}
        self.by_steps = all(side.blocks >= LEAST_VALUES for side in both.sides)
        self._sums: list[tuple[Any, Any]] = []
        self._calls: tuple[_Calls, _Calls] | None = None
        self._weights: list[Any] = []
        if not self.by_steps:
            return
        chosen = np.full(both.names.count, -1, dtype=np.int64)
        chosen[list(groups)] = np.arange(len(groups))
        for number, side in enumerate(both.sides):
            rows = np.flatnonzero((chosen[both.groups_of[number]] >= 0) & (side.block_of >= 0))
            at = chosen[both.groups_of[number][rows]] * side.blocks + side.block_of[rows]
            durations = integers(side.frame["task_duration_ns"])[0][rows].astype(np.float64)
            size = len(groups) * side.blocks
            totals = np.bincount(at, weights=durations, minlength=size).reshape(len(groups), side.blocks)
            counts = np.bincount(at, minlength=size).reshape(len(groups), side.blocks).astype(np.float64)
            self._sums.append((totals, counts))
            self._weights.append(_weights(number, side.blocks))

    def change_of_means(self, groups: Sequence[int], scale: Sequence[float] | None = None) -> Interval | None:
        """Where the change of the mean time of a call lies; of several operators, of their sum over equal calls."""
        if not groups:
            return None
        if not self.by_steps:
            return self._by_calls(groups[0]) if len(groups) == 1 else None
        places = [self.place[group] for group in groups]
        weigh = np.asarray(scale if scale is not None else [1.0] * len(groups))
        sides = []
        for (totals, counts), weights in zip(self._sums, self._weights, strict=True):
            above, below = weights @ totals[places].T, weights @ counts[places].T
            with np.errstate(divide="ignore", invalid="ignore"):
                sides.append((above / below) @ weigh)
        with np.errstate(divide="ignore", invalid="ignore"):
            return _percentiles(sides[1] / sides[0] - 1, min(side.blocks for side in self.both.sides), "steps")

    def _by_calls(self, group: int) -> Interval | None:
        """For want of steps: single calls as blocks."""
        means, sizes = [], []
        for number, side in enumerate(self._calls_of_sides()):
            values = side.of(self.place[group])
            if len(values) < LEAST_VALUES:
                return None
            sizes.append(len(values))
            if len(values) > _MOST_CALLS:
                error = float(values.std()) / len(values) ** 0.5
                means.append(np.random.default_rng((SEED, number)).normal(float(values.mean()), error, RESAMPLES))
            else:
                means.append(_weights(number, len(values)) @ values / len(values))
        return _percentiles(means[1] / means[0] - 1, min(sizes), "calls")

    def _calls_of_sides(self) -> tuple[_Calls, _Calls]:
        if self._calls is None:
            places = np.full(self.both.names.count, -1, dtype=np.int64)
            places[list(self.place)] = list(self.place.values())
            before, after = (
                _Calls(places[groups_of], integers(side.frame["task_duration_ns"])[0], len(self.place))
                for groups_of, side in zip(self.both.groups_of, self.both.sides, strict=True)
            )
            self._calls = (before, after)
        return self._calls


class _Calls:
    """The single durations of some operators, each sorted: their order in the files changes nothing."""

    def __init__(self, place_of: Ints, durations: Ints, count: int) -> None:
        mine = place_of >= 0
        if mine.any():
            self._values, self._starts = sorted_within(place_of[mine], durations[mine], count)
        else:
            self._values, self._starts = durations[:0], np.zeros(count, dtype=np.int64)

    def of(self, place: int) -> Any:
        """The durations of one operator."""
        end = self._starts[place + 1] if place + 1 < len(self._starts) else len(self._values)
        return self._values[self._starts[place] : end].astype(np.float64)


_MOST_CALLS = 60
"""From here on the means of resamples are as good as normally distributed."""


@lru_cache(maxsize=128)
def _weights(side: int, size: int) -> Any:
    """How often each block is in each resample: the same for all operators."""
    generator = np.random.default_rng((SEED, side, size))
    return generator.multinomial(size, [1 / size] * size, RESAMPLES).astype(np.float64)


def _percentiles(changes: Any, size: int, blocks: Blocks) -> Interval | None:
    """The percentile interval, made wider for few blocks: a resample varies by less than a new sample would."""
    known = np.sort(changes[np.isfinite(changes)])
    if len(known) < _LEAST_KNOWN * len(changes):
        return None
    low, middle, high = (quantile(known, part) for part in ((1 - LEVEL) / 2, 0.5, (1 + LEVEL) / 2))
    wider = _few(size)
    return Interval(middle - (middle - low) * wider, middle + (high - middle) * wider, blocks)


_LEAST_KNOWN = 0.9
"""An operator that is missing in more of the resamples runs in too few steps."""


def _few(size: int) -> float:
    """How much wider an interval from `size` values has to be: Student's quantile over the normal one, unbiased."""
    free = size - 1
    z = _Z
    student = z + (z**3 + z) / (4 * free) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * free**2)
    student += (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * free**3)  # Cornish and Fisher's expansion
    return float(student / z * (size / free) ** 0.5)


def _widened(change: float, interval: Interval | None, noise: float | None) -> Interval | None:
    """An interval with the noise between two captures in it; of the noise alone where nothing could be resampled."""
    if interval is None:
        return None if noise is None else Interval(change - _Z * noise, change + _Z * noise, None)
    apart = _Z * (noise or 0.0)
    low = change - float(np.hypot(max(change - interval.low, 0.0), apart))
    high = change + float(np.hypot(max(interval.high - change, 0.0), apart))
    return Interval(low, high, interval.blocks)


def judge(change: float | None, interval: Interval | None, claimed: float | None) -> Verdict:
    """The verdict on a change (after/before - 1), where it lies, and the change that AOE claims (null: any gain will do)."""
    if change is None or interval is None:
        return "not-comparable"
    if interval.low > 0:
        return "regressed"
    if interval.high >= 0:
        return "not-reproduced"
    if claimed is None or interval.low <= claimed or change <= CONFIRMED_PART * claimed:
        return "confirmed"
    return "partly"


def _mean(both: _Both, side: int, group: int) -> float | None:
    count = int(both.counts[side][group])
    return int(both.totals[side][group]) / count if count else None


def _operator_noise(noise: Noise) -> float | None:
    return None if noise.spread is None else noise.of_operators


def _operator_rows(claim: Claim, groups: Sequence[int], both: _Both, sample: _Sample, noise: Noise) -> list[Row]:
    if not groups:
        reason: str = say("no operator of this name is in either profile")
        kind = ", ".join(claim.op_types) or None
        return [Row("operator", claim.op_name, kind, None, claim.before_us, claim.after_us, None, None, None, None, None,
                    "not-comparable", reason, claim.change, "operators")]  # fmt: skip
    rows = []
    for group in groups:
        before, after = _mean(both, 0, group), _mean(both, 1, group)
        change = after / before - 1 if before and after is not None else None
        interval, reason = None, ""
        if change is None:
            if before is None:
                reason = say("calls with these shapes are not in the profile before")
            elif after is None:
                reason = say("calls with these shapes are not in the profile after")
            else:
                reason = say("it took no time before")
        else:
            interval = _widened(change, sample.change_of_means([group]), _operator_noise(noise))
            reason = (
                ""
                if interval
                else say("fewer than {least} steps and calls, and nothing tells the noise", least=LEAST_VALUES)
            )
        rows.append(
            Row(
                "operator",
                both.key(group, "op_name"),
                both.key(group, "op_type"),
                both.key(group, "input_shapes"),
                claim.before_us,
                claim.after_us,
                None if before is None else before / 1000,
                None if after is None else after / 1000,
                change,
                interval.low if interval else None,
                interval.high if interval else None,
                judge(change, interval, claim.change),
                reason,
                claim.change,
                "operators",
            )
        )
    return sorted(rows, key=lambda row: (row.op_type or "", row.input_shapes or ""))


@dataclass(frozen=True, slots=True)
class _Weighed:
    """An operator of a sum: its calls in a step before, and its claim."""

    group: int
    claim: Claim
    calls: float


def _weighed(claims: Claims, found: _Matches, both: _Both) -> list[_Weighed]:
    """The claimed operators that are in both profiles, with their calls in a step before."""
    steps = both.sides[0].shares.steps
    return [
        _Weighed(group, claim, int(both.counts[0][group]) / steps)
        for claim, groups in zip(claims.operators, found.of_claim, strict=True)
        for group in groups
        if both.counts[0][group] and both.counts[1][group]
    ]


def _sum_row(
    scope: Scope, kind: str | None, mine: Sequence[_Weighed], both: _Both, sample: _Sample, noise: Noise
) -> Row | None:
    """Several claimed operators as one: their time in a step, by equal numbers of calls on both sides."""
    if not mine:
        return None
    totals = [sum((_mean(both, side, one.group) or 0.0) * one.calls for one in mine) / 1000 for side in (0, 1)]
    if not totals[0]:
        return None
    change = totals[1] / totals[0] - 1
    interval = sample.change_of_means([one.group for one in mine], [one.calls for one in mine])
    weights = np.asarray([(_mean(both, 0, one.group) or 0.0) * one.calls for one in mine])
    of_sum = None
    if noise.spread is not None:
        alone = float((weights**2).sum() ** 0.5 / weights.sum())
        of_sum = float(np.hypot(noise.drift or 0.0, noise.spread * alone))
    interval = _widened(change, interval, of_sum)
    expected = float((weights * np.asarray([one.claim.change for one in mine])).sum() / weights.sum())
    only = mine[0].claim if all(one.claim == mine[0].claim for one in mine) else None
    calls = sum(one.calls for one in mine)
    return Row(
        scope,
        None,
        kind,
        None,
        None if only is None else only.before_us * calls,
        None if only is None else only.after_us * calls,
        totals[0],
        totals[1],
        change,
        interval.low if interval else None,
        interval.high if interval else None,
        judge(change, interval, expected),
        "" if interval else say("fewer than {least} steps, and nothing tells the noise", least=LEAST_VALUES),
        expected,
        "operators",
    )


def _together(claims: Claims, found: _Matches, both: _Both, sample: _Sample, noise: Noise) -> Row | None:
    mine = _weighed(claims, found, both)
    if mine or not found.of_type:
        return _sum_row("op_type", None, mine, both, sample, noise)
    rows = [row for row in _type_rows(claims, found, both, sample, noise) if row.change is not None]
    return max(rows, key=lambda row: row.measured_before_us or 0.0, default=None)


def _type_rows(claims: Claims, found: _Matches, both: _Both, sample: _Sample, noise: Noise) -> list[Row]:
    """One row a type: its claimed operators together; of a type tuned as a whole all of its operators in both profiles."""
    by_type: dict[str, list[_Weighed]] = {}
    for one in _weighed(claims, found, both):
        by_type.setdefault(both.key(one.group, "op_type") or "", []).append(one)
    rows = [row for kind, mine in by_type.items() if (row := _sum_row("op_type", kind, mine, both, sample, noise))]
    steps = both.sides[0].shares.steps
    for kind, groups in found.of_type.items():
        if kind in by_type:
            continue
        named = [claim for claim in claims.operators if type_key(kind) in {type_key(one) for one in claim.op_types}]
        common = [group for group in groups if both.counts[0][group] and both.counts[1][group]]
        if not named or not common:
            continue
        times = [sum(claim.before_us for claim in named), sum(claim.after_us for claim in named)]
        claim = Claim(kind, (kind,), times[0], times[1])
        mine = [_Weighed(group, claim, int(both.counts[0][group]) / steps) for group in common]
        row = _sum_row("op_type", kind, mine, both, _Sample(both, common), noise)
        if row is not None:
            rows.append(_with_claim(row, claim, len(named)))
    return sorted(rows, key=lambda row: (-(row.measured_before_us or 0.0), row.op_type or ""))


def _with_claim(row: Row, claim: Claim, number: int) -> Row:
    reason = say(
        "{number} claims of operators that have other names in the profiles: their ratio is held against all calls",
        number=number,
    )
    return replace(row, claimed_before_us=claim.before_us, claimed_after_us=claim.after_us, reason=row.reason or reason)


def is_same_work(ratio: float | None) -> bool:
    """Whether steps with this ratio of calls may be held against each other; with no common operator nothing speaks against it."""
    return ratio is None or 1 / SAME_WORK <= ratio <= SAME_WORK


def _work_ratio(both: _Both) -> float | None:
    """How many calls of the same operators a step holds, after/before: their median, weighted by time."""
    calls = []
    for side, groups_of in zip(both.sides, both.groups_of, strict=True):
        inside = side.block_of >= 0
        if inside.any():
            calls.append(np.bincount(groups_of[inside], minlength=both.names.count) / side.blocks)
        else:
            calls.append(np.bincount(groups_of, minlength=both.names.count) / side.shares.steps)
    known = np.flatnonzero((calls[0] > 0) & (calls[1] > 0))
    if not len(known):
        return None
    ratios = calls[1][known] / calls[0][known]
    order = np.argsort(ratios, kind="stable")
    reached = np.cumsum(both.totals[0][known][order])
    return float(ratios[order][np.searchsorted(reached, reached[-1] / 2)])


def _step_claims(claims: Claims, both: _Both, reconciliation: Reconciliation) -> tuple[StepClaim, ...]:
    """What AOE claims of a step: what it says of the model itself comes first, and is what the step is held against."""
    found: list[StepClaim] = []
    if claims.model_change is not None:
        found.append(StepClaim("model", claims.model_change, judged=True))
    before = _step_us(both.sides[0])
    if before and claims.operators:
        found.append(StepClaim("operators", -reconciliation.claimed_us / before, judged=not found))
    return tuple(found)


def _step_row(judged: StepClaim | None, claims: Claims, both: _Both, noise: Noise, work: float | None) -> Row:
    before, after = (_step_us(side) for side in both.sides)
    claimed, claim = (None, None) if judged is None else (judged.change, judged.claim)
    model_before, model_after = claims.model_us if claim == "model" and claims.model_us is not None else (None, None)
    if before is None or after is None or not before or not is_same_work(work):
        reason: str = say(
            "nothing tells how long a step is in the profile after"
            if before
            else "nothing tells how long a step is in the profile before"
        )
        if before and after is not None:
            reason = say(
                "a step after holds {work:.3g} times the calls of one before: they are not the same work", work=work
            )
        return Row(
            "step",
            None,
            None,
            None,
            model_before,
            model_after,
            before,
            after,
            None,
            None,
            None,
            "not-comparable",
            reason,
            claimed,
            claim,
        )
    change = after / before - 1
    interval = None
    if all(side.blocks >= LEAST_VALUES for side in both.sides):
        means = [
            _weights(number, side.blocks) @ np.asarray(side.step_ns, dtype=np.float64) / side.blocks
            for number, side in enumerate(both.sides)
        ]
        interval = _percentiles(means[1] / means[0] - 1, min(side.blocks for side in both.sides), "steps")
    of_step = None
    if noise.spread is not None:
        parts = both.totals[0].astype(np.float64) / both.sides[0].shares.steps / 1000 / before
        of_step = float(
            np.hypot((noise.drift or 0.0) * min(1.0, float(parts.sum())), noise.spread * (parts**2).sum() ** 0.5)
        )
    interval = _widened(change, interval, of_step)
    reason = "" if interval else say("fewer than {least} steps, and nothing tells the noise", least=LEAST_VALUES)
    low, high = (interval.low, interval.high) if interval else (None, None)
    verdict = judge(change, interval, claimed)
    if claimed is None and verdict != "regressed":
        verdict, reason = "not-comparable", reason or say("nothing was claimed that could be confirmed")
    return Row("step", None, None, None, model_before, model_after, before, after, change, low, high, verdict, reason, claimed,
               claim)  # fmt: skip


def _step_us(side: MeasuredSide) -> float | None:
    if side.step_ns:
        return sum(side.step_ns) / len(side.step_ns) / 1000
    return side.shares.step_us


def _overall(step: Row, together: Row | None, claims: Claims) -> tuple[Verdict, Row]:
    """(the verdict, what it is about): a slower step decides; else the tuned operators as one, else (subgraphs) the step."""
    if step.verdict == "regressed" or not (claims.operators or together is not None):
        return step.verdict, step
    if together is not None and together.verdict != "not-comparable":
        return together.verdict, together
    return ("not-comparable", together or step) if claims.operators else (step.verdict, step)


def _reconcile(claims: Claims, found: _Matches, both: _Both) -> Reconciliation:
    sides = both.sides
    steps = [side.shares.steps for side in sides]
    per_step = [both.totals[side].astype(np.float64) / steps[side] / 1000 for side in (0, 1)]
    saved = per_step[0] - per_step[1]
    mine = sorted(found.touched)
    operators = float(saved[mine].sum()) if mine else 0.0
    others = float(saved.sum()) - operators
    claimed = sum(
        -claim.change * float(per_step[0][group])
        for claim, groups in zip(claims.operators, found.of_claim, strict=True)
        for group in groups
    )
    lengths = [_step_us(side) for side in sides]
    step = None if lengths[0] is None or lengths[1] is None else lengths[0] - lengths[1]
    shares = [side.shares for side in sides]

    def part(name: str) -> float | None:
        values = [getattr(one, name) for one in shares]
        if None in values:
            return None
        return float(shares[0].per_step_us(values[0]) - shares[1].per_step_us(values[1]))

    uncovered, overlapped, free = (
        part(f"{name}_ns") for name in ("communication_not_overlapped", "overlapped", "free")
    )
    if uncovered is None or overlapped is None or free is None or step is None:
        rest = None if step is None else step - operators - others
        return Reconciliation(step, claimed, operators, others, None, None, None, rest)
    beside = (part("computing_ns") or 0.0) - operators - others
    hidden, communication = overlapped - beside, uncovered + overlapped
    rest = step - (operators + others - hidden + communication + free)
    return Reconciliation(step, claimed, operators, others, hidden, communication, free, rest)


def _signs(rows: Sequence[Row], both: _Both, found: _Matches) -> list[str]:
    """What says that the tuned bank was not in use when the second profile was taken."""
    if not rows or any(row.verdict == "confirmed" for row in rows):
        return []
    claims = [-row.claimed_change for row in rows if row.claimed_change is not None]
    far = [row for row in rows if row.claimed_change is not None and (row.ci_low or 0.0) > row.claimed_change]
    if not claims or not far:
        return []
    signs: list[str] = [
        say(
            "the {count} tuned operators that were measured again are together no faster, and {far} of them are certainly "
            "not as fast as claimed",
            count=len(rows),
            far=len(far),
        )
    ]
    blocks = _block_changes(both, sorted({group for groups in found.of_claim for group in groups}))
    if blocks is None:
        signs.append(say("the profiles do not tell blocks, so whether other kernels ran cannot be seen"))
    elif blocks == 0:
        signs.append(say("all of them run on as many blocks as before: the same kernels"))
    else:
        return []  # other kernels ran: the bank was in use, and brought nothing
    return signs


def _block_changes(both: _Both, groups: Sequence[int]) -> int | None:
    """How many operators run on another number of blocks than before; null where nothing tells."""
    if not groups or not all(has_value(side.frame, "block_num") for side in both.sides):
        return None
    means = []
    for number, side in enumerate(both.sides):
        blocks, there = integers(side.frame["block_num"])
        of, count = both.groups_of[number], both.names.count
        sums = np.bincount(of, weights=np.where(there, blocks, 0).astype(np.float64), minlength=count)
        means.append(sums / np.maximum(np.bincount(of, minlength=count), 1))
    chosen = list(groups)
    return int((means[0][chosen] != means[1][chosen]).sum())


def side_of_tasks(tasks: pa.Table, steps: Sequence[Step], shares: StepShares) -> MeasuredSide:
    """One profile's side: tasks that compute, each with its step by the export's own column, else by when it began.

    `steps` are those of the same device. Tasks outside of all steps count in sums, and in no resample.
    """
    frame = tasks
    if "task_type" in tasks.column_names:
        talking = is_communication(tasks["task_type"])
        frame = tasks.filter(keep_where(~talking)) if talking.any() else tasks
    told = step_of_tasks(frame)
    none: Ints = np.full(frame.num_rows, -1, dtype=np.int64)
    if told is not None:
        present = np.unique(told[1][told[1] >= 0])
        lengths = {step.step: step.duration_ns for step in steps}
        block_of = np.where(told[1] >= 0, np.searchsorted(present, told[1]), -1)
        known = [lengths.get(int(number)) for number in present]
        if None in known:
            known = _spans(tasks, present)
        return MeasuredSide(frame, block_of, tuple(int(ns) for ns in known if ns is not None), shares)
    timed = sorted((s for s in steps if s.start_ns is not None), key=lambda s: (s.start_ns or 0, s.duration_ns))
    if not timed or not has_value(frame, "task_start_ns"):
        return MeasuredSide(frame, none, tuple(step.duration_ns for step in steps), shares)
    starts, there = integers(frame["task_start_ns"])
    begins = np.asarray([step.start_ns for step in timed], dtype=np.int64)
    ends = begins + np.asarray([step.duration_ns for step in timed], dtype=np.int64)
    place = np.searchsorted(begins, starts, side="right") - 1
    inside = there & (place >= 0) & (starts < ends[np.maximum(place, 0)])
    used = np.unique(place[inside])
    block_of = np.where(inside, np.searchsorted(used, place), -1)
    return MeasuredSide(frame, block_of, tuple(timed[i].duration_ns for i in used.tolist()), shares)


def _spans(tasks: pa.Table, present: Ints) -> list[int | None]:
    """The time from the first to the last task of each step, where no table of steps tells its length."""
    told = step_of_tasks(tasks)
    if told is None or not has_value(tasks, "task_start_ns"):
        return [None] * len(present)
    starts, _ = integers(tasks["task_start_ns"])
    ends = starts + integers(tasks["task_duration_ns"])[0]
    return [int(ends[told[1] == number].max() - starts[told[1] == number].min()) for number in present]
