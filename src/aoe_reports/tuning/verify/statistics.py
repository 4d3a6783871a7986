"""Mean, P95 and P99 of the calls of claimed operators, each with its interval; verdicts where a claim is about a tail.

A percentile is the least time that at least so many calls do not exceed. Intervals come from the same blocks as those of means
(captures, or steps), widened by how far the same percentile of operators that nobody touched differs between the two sides.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from aoe_reports.model.arrays.columns import integers
from aoe_reports.model.rows import column, row
from aoe_reports.model.texts import Text, say
from aoe_reports.stats.bootstrap import MIN_VALUES, SEED, times_drawn
from aoe_reports.stats.grouping import sorted_within
from aoe_reports.tuning.options import Statistic, Tail
from aoe_reports.tuning.tuner import Claims
from aoe_reports.tuning.verify.intervals import (
    RESAMPLES,
    Interval,
    Noise,
    Sample,
    controls_of,
    noise_between,
    noise_of_changes,
    percentiles,
    widened,
)
from aoe_reports.tuning.verify.matches import Matches
from aoe_reports.tuning.verify.reconciliation import rounded_row
from aoe_reports.tuning.verify.rows import DIGITS, Row, Verdict, judge
from aoe_reports.tuning.verify.sides import Both, MeasuredSide, both_sides
from aoe_reports.tuning.verify.verdicts import Verified

PERCENT: Mapping[Tail, int] = {"p95": 95, "p99": 99}
NAMES: Mapping[str, Text] = {"mean": say("mean"), "p95": say("P95"), "p99": say("P99")}
_AT_ONCE = 1 << 22
"""Weights of calls that are in memory at a time."""


@row
class StatisticRow:
    """One statistic of the calls of an operator, or the mean of a function of the host; times in us of a call."""

    op_name: str | None = column("Operator", default=None)
    input_shapes: str | None = column("Input shapes", default=None, detail=True)
    statistic: Statistic | Literal["host"] = column("Statistic", "word")
    calls_before: int = column("Calls before", "integer")
    calls_after: int = column("Calls after", "integer")
    before_us: float | None = column("Before", "us", default=None)
    after_us: float | None = column("After", "us", default=None)
    change: float | None = column("Change (after/before - 1)", "gain", default=None)
    ci_low: float | None = column("from", "gain", default=None)
    ci_high: float | None = column("to", "gain", default=None)
    reason: str | None = column("Remark", "sentence", default=None)


def min_calls(tail: Tail) -> int:
    """With fewer calls on a side none lies beyond the percentile: 20 of P95, 100 of P99."""
    return 100 // (100 - PERCENT[tail])


def statistics_of(claims: Claims, before: MeasuredSide, after: MeasuredSide) -> tuple[StatisticRow, ...]:
    """The statistics of all claimed operators in both profiles, one operator after another."""
    both = both_sides(before, after)
    matches = Matches(claims, both)
    groups = [group for match in matches.matches for group in match.groups]
    chosen = list(dict.fromkeys(group for group in groups if all(counts[group] for counts in both.counts)))
    evidence = _Evidence(both, matches.touched, Sample(both, matches.groups))
    rows = [
        row
        for group in chosen
        for row in (evidence.mean(group), evidence.tail(group, "p95"), evidence.tail(group, "p99"))
    ]
    return tuple(rounded_row(row, DIGITS) for row in rows)


class _Evidence:
    def __init__(self, both: Both, touched: set[int], sample: Sample) -> None:
        self.both, self.touched, self.sample = both, touched, sample
        self.noise = noise_between(both, touched)
        self._ordered = [
            sorted_within(groups_of, integers(side.frame["task_duration_ns"])[0], both.names.count)
            for groups_of, side in zip(both.groups_of, both.sides, strict=True)
        ]
        self._noise_of_tail: dict[Tail, Noise] = {}

    def mean(self, group: int) -> StatisticRow:
        """The mean, as verdicts on means have it."""
        means = [self.both.mean(side, group) or 0.0 for side in (0, 1)]
        return self._row(group, "mean", (means[0], means[1]), self.sample.change_of_means([group]), self.noise)

    def tail(self, group: int, tail: Tail) -> StatisticRow:
        """One percentile of the calls."""
        counts = [int(counts[group]) for counts in self.both.counts]
        if min(counts) < min_calls(tail):
            reason = say("fewer than {least} calls on a side", least=min_calls(tail))
            return replace(self._bare(group, tail), reason=reason)
        ends = (self._tail_ns(0, group, tail), self._tail_ns(1, group, tail))
        return self._row(group, tail, ends, self._interval(group, tail), self._noise(tail))

    def _bare(self, group: int, statistic: Statistic) -> StatisticRow:
        return StatisticRow(
            op_name=self.both.key(group, "op_name"),
            input_shapes=self.both.key(group, "input_shapes"),
            statistic=statistic,
            calls_before=int(self.both.counts[0][group]),
            calls_after=int(self.both.counts[1][group]),
        )

    def _row(
        self, group: int, statistic: Statistic, ends: tuple[float, float], interval: Interval | None, noise: Noise
    ) -> StatisticRow:
        bare = replace(self._bare(group, statistic), before_us=ends[0] / 1000, after_us=ends[1] / 1000)
        if not ends[0]:
            return replace(bare, reason=say("its duration before tuning was 0"))
        change = ends[1] / ends[0] - 1
        if noise.spread is None and not self.both.by_captures:
            return replace(bare, change=change, reason=say("how much two captures differ is not known"))
        known = widened(change, interval, noise.reach(None if noise.spread is None else noise.of_operators))
        if known is None:
            return replace(bare, change=change, reason=say("fewer than {least} steps and calls", least=MIN_VALUES))
        return replace(bare, change=change, ci_low=known.low, ci_high=known.high)

    def _tail_ns(self, side: int, group: int, tail: Tail) -> float:
        values, starts = self._ordered[side]
        count = int(self.both.counts[side][group])
        return float(values[int(starts[group]) + _rank(count, tail) - 1])

    def _noise(self, tail: Tail) -> Noise:
        """How far this percentile of untouched operators differs between the sides."""
        if tail not in self._noise_of_tail:
            least = min_calls(tail)
            groups = [
                int(group)
                for group in controls_of(self.both, self.touched)
                if min(int(counts[group]) for counts in self.both.counts) >= least
            ]
            ends = np.asarray([[self._tail_ns(side, group, tail) for group in groups] for side in (0, 1)])
            usable = ends[0] > 0
            weights = self.both.totals[0][groups].astype(np.float64)
            self._noise_of_tail[tail] = noise_of_changes(ends[1][usable] / ends[0][usable] - 1, weights[usable])
        return self._noise_of_tail[tail]

    def _interval(self, group: int, tail: Tail) -> Interval | None:
        drawn, sizes = [], []
        for number, side in enumerate(self.both.sides):
            mine = self.both.groups_of[number] == group
            durations = integers(side.frame["task_duration_ns"])[0][mine]
            if not self.sample.by_steps:
                sizes.append(len(durations))
                drawn.append(_of_calls(number, np.sort(durations), tail))
                continue
            blocks = side.block_of[mine]
            order = np.argsort(durations[blocks >= 0], kind="stable")
            values, of_block = durations[blocks >= 0][order], blocks[blocks >= 0][order]
            sizes.append(len(np.unique(of_block)) if self.both.by_captures else side.blocks)
            drawn.append(_of_blocks(values, of_block, times_drawn(number, side.blocks, RESAMPLES), tail))
        if min(sizes) < MIN_VALUES:
            return None
        with np.errstate(divide="ignore", invalid="ignore"):
            changes = drawn[1] / drawn[0] - 1
        kind: Any = "calls" if not self.sample.by_steps else "captures" if self.both.by_captures else "steps"
        return percentiles(changes, min(sizes), kind)


def _rank(count: int, tail: Tail) -> int:
    """The place of a percentile among so many sorted values, from 1 on."""
    return max(-(-count * PERCENT[tail] // 100), 1)


def _of_calls(side: int, values: Any, tail: Tail) -> Any:
    """The percentile of each resample of single calls: the place of a resampled rank is distributed as Beta has it, exactly."""
    count, rank = len(values), _rank(len(values), tail)
    if not count:
        return np.full(RESAMPLES, np.nan)
    drawn = np.random.default_rng((SEED, side, count)).beta(rank, count - rank + 1, RESAMPLES)
    return values[np.clip(np.ceil(drawn * count).astype(np.int64), 1, count) - 1].astype(np.float64)


def _of_blocks(values: Any, of_block: Any, weights: Any, tail: Tail) -> Any:
    """The percentile of each resample of blocks; `values` are sorted."""
    found = np.full(RESAMPLES, np.nan)
    if not len(values):
        return found
    step = max(1, _AT_ONCE // len(values))
    for begin in range(0, RESAMPLES, step):
        reached = np.cumsum(weights[begin : begin + step][:, of_block], axis=1)
        whole = reached[:, -1:]
        places = (reached < np.ceil(whole * PERCENT[tail] / 100 - 1e-9)).sum(axis=1)
        some = whole[:, 0] > 0
        found[begin : begin + step][some] = values[places[some]]
    return found


# Verdicts on tails


_WORST: tuple[Verdict, ...] = ("regressed", "not-reproduced", "not-comparable", "partly", "confirmed")


def judged_by(verified: Verified, rows: Sequence[StatisticRow], tail: Tail) -> Verified:
    """The verdicts with claims about a percentile: those of operators alone; the overall one is the least favourable of them."""
    known = {(row.op_name, row.input_shapes): row for row in rows if row.statistic == tail}
    step = next(row for row in verified.rows if row.scope == "step")
    about = say("claims are about {statistic} of the calls of operators, not about the step", statistic=NAMES[tail])
    verdict: Verdict = "regressed" if step.verdict == "regressed" else "not-comparable"
    step = replace(
        step, claim=None, claimed_before_us=None, claimed_after_us=None, claimed_change=None, verdict=verdict
    )
    step = replace(step, reason=step.reason or about)
    operators = [
        _judged(row, known.get((row.op_name, row.input_shapes))) for row in verified.rows if row.scope == "operator"
    ]
    claimed = [row for row in operators if row.claim == "operators"]
    subject = min(claimed, key=lambda row: _WORST.index(row.verdict), default=step)
    return replace(
        verified,
        rows=(step, *operators),
        verdict=subject.verdict,
        subject=subject,
        reconciliation=None,
        signs=(),
        step_claims=(),
        method=replace(verified.method, operators_together=None),
    )


def _judged(row: Row, known: StatisticRow | None) -> Row:
    """An operator's row with a percentile in place of the mean."""
    if known is None or row.change is None:
        return row
    claimed = row.claimed_change
    if row.claimed_before_us is None and row.claimed_after_us is not None and known.before_us:
        change = row.claimed_after_us / known.before_us - 1
        claimed = change if change < 0 else None
    interval = None if known.ci_low is None or known.ci_high is None else Interval(known.ci_low, known.ci_high, None)
    verdict = judge(known.change, interval, claimed)
    if row.claim != "operators" and verdict != "regressed":
        verdict = "not-comparable"
    reason = known.reason or row.reason
    if claimed is None and row.claim == "operators" and verdict != "regressed":
        verdict, reason = (
            "not-comparable",
            say("only a time after tuning is claimed, and it is not below the time that was measured before"),
        )
    return replace(
        row,
        measured_before_us=known.before_us,
        measured_after_us=known.after_us,
        claimed_change=claimed if claimed is None or not math.isfinite(claimed) else round(claimed, DIGITS),
        change=known.change,
        ci_low=known.ci_low,
        ci_high=known.ci_high,
        verdict=verdict,
        reason=reason,
    )


def slower_tails(rows: Sequence[Row], statistics: Sequence[StatisticRow]) -> Iterator[StatisticRow]:
    """Percentiles that certainly got slower, of operators whose claimed gain was measured."""
    gained = {
        (row.op_name, row.input_shapes)
        for row in rows
        if row.scope == "operator" and row.verdict in {"confirmed", "partly"}
    }
    for one in statistics:
        if (one.op_name, one.input_shapes) in gained and one.ci_low is not None and one.ci_low > 0:
            yield one


# What the host takes


@dataclass(frozen=True, slots=True)
class HostCalls:
    """What one capture says of functions of the host: (calls, ns) of each."""

    functions: Mapping[str, tuple[int, int]]


SHOWN_FUNCTIONS = 5
"""Functions of the host that are listed: those that took most before."""


def host_statistics(before: Sequence[HostCalls], after: Sequence[HostCalls]) -> tuple[StatisticRow, ...]:
    """The mean time of a call of the functions of AscendCL on both sides; intervals from five captures on each side on."""
    sides = (before, after)
    common = {name for one in before for name in one.functions} & {name for one in after for name in one.functions}
    spent = {name: sum(one.functions[name][1] for one in before if name in one.functions) for name in common}
    chosen = sorted(common, key=lambda name: (-spent[name], name))[:SHOWN_FUNCTIONS]
    return tuple(rounded_row(_host_row(name, sides), DIGITS) for name in chosen)


def _host_row(name: str, sides: tuple[Sequence[HostCalls], Sequence[HostCalls]]) -> StatisticRow:
    measured = [
        np.asarray([one.functions[name] for one in side if name in one.functions], dtype=np.float64) for side in sides
    ]
    calls, spent = [side[:, 0] for side in measured], [side[:, 1] for side in measured]
    means = [float(ns.sum() / count.sum()) for count, ns in zip(calls, spent, strict=True)]
    found = StatisticRow(
        op_name=name,
        statistic="host",
        calls_before=int(calls[0].sum()),
        calls_after=int(calls[1].sum()),
        before_us=means[0] / 1000,
        after_us=means[1] / 1000,
    )
    if not means[0]:
        return found
    found = replace(found, change=means[1] / means[0] - 1)
    size = min(len(side) for side in measured)
    if size < MIN_VALUES:
        return replace(found, reason=say("no interval with fewer than {least} captures on a side", least=MIN_VALUES))
    drawn = []
    for number, (count, ns) in enumerate(zip(calls, spent, strict=True)):
        weights = times_drawn(number, len(count), RESAMPLES)
        drawn.append((weights @ ns) / (weights @ count))
    interval = percentiles(drawn[1] / drawn[0] - 1, size, "captures")
    return found if interval is None else replace(found, ci_low=interval.low, ci_high=interval.high)
