"""A verdict for each quantity of two sides, under one budget of errors."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import NamedTuple

import numpy as np

from aoe_reports.history.changes.gate import Gate
from aoe_reports.jobs.ab.naming import named_alike
from aoe_reports.jobs.ab.options import AbOptions
from aoe_reports.jobs.ab.repeats import Quantity, Repeat, Value, order_known
from aoe_reports.model.by_key import lists_by_key
from aoe_reports.model.history.changes import COMPUTING, METRIC, WHOLE
from aoe_reports.model.history.metrics import value_change, value_of
from aoe_reports.model.sides import QuantityVerdict, SideVerdict
from aoe_reports.model.texts import Text, say
from aoe_reports.stats.two_sides import (
    ERROR,
    Design,
    Difference,
    detectable,
    difference,
    known_noise,
    repeats_needed,
    student,
)

FIRST = frozenset({*WHOLE, COMPUTING})
"""What is measured as a whole has half of the error; its parts and metrics share the other half."""


class KnownScatter(NamedTuple):
    """The scatter of one repeat that comes from elsewhere, and its degrees of freedom."""

    sigma: float
    free: int
    source: str
    """`store` or `samples`."""
    samples: tuple[int, int] = (1, 1)
    """Single times of a repeat of each side, of which the scatter is."""


@dataclass(frozen=True, slots=True)
class Observed:
    """One quantity: its values in the order of its design."""

    quantity: Quantity
    design: Design
    values: tuple[Value, ...]
    repeats: tuple[int, int]
    """Repeats of its workload of each side, with or without a value of it."""

    @property
    def sides(self) -> tuple[list[Value], list[Value]]:
        """The values of the baseline, and of the candidate."""
        pairs = list(zip(self.values, self.design.sides, strict=True))
        return [value for value, side in pairs if side == 0], [value for value, side in pairs if side == 1]


@dataclass(frozen=True, slots=True)
class Judged:
    """The verdicts, what fails first, then by effect, and what they are made of."""

    rows: list[QuantityVerdict]
    quantities: list[Quantity]
    """Of each row."""
    observed: Mapping[Quantity, Observed]
    differences: Mapping[Quantity, tuple[Difference, int]]
    """With the row of the difference that is the quantity's."""
    one_side: Mapping[Quantity, int]
    """Quantities that only one side has, and which."""
    ignored: Text | None


def judge(sides: Sequence[Sequence[Repeat]], options: AbOptions, scatters: Mapping[Quantity, KnownScatter]) -> Judged:
    """Every quantity that both sides have. `scatters` are those of quantities with too few repeats to show their own."""
    observed, one_side, ignored = observe(sides, options)
    tails = _tails(list(observed.values()))
    differences: dict[Quantity, tuple[Difference, int]] = {}
    for design, group in lists_by_key((series.design, series) for series in observed.values()).items():
        if design.is_enough:
            logs = np.log(np.array([[value.cost for value in series.values] for series in group]))
            estimate = difference(logs, design)
            differences |= {series.quantity: (estimate, index) for index, series in enumerate(group)}
    judging = _Judging(options, scatters, options.gates(), _step_ms(observed))
    inputs = _distinct_inputs(observed)
    pairs = [
        (
            replace(
                judging.row(series, tails[series.quantity], differences.get(series.quantity)),
                inputs=inputs.get(series.quantity),
            ),
            series.quantity,
        )
        for series in observed.values()
    ]
    pairs.sort(key=lambda pair: _by_effect(pair[0]))
    rows, quantities = [row for row, _ in pairs], [quantity for _, quantity in pairs]
    return Judged(rows, quantities, observed, differences, one_side, ignored)


def _distinct_inputs(quantities: Iterable[Quantity]) -> dict[Quantity, str]:
    """The arguments and settings in which quantities of one workload and name differ."""
    words: dict[Quantity, str] = {}
    for alike in lists_by_key((quantity._replace(inputs=""), quantity) for quantity in quantities).values():
        settings = [_settings(quantity.inputs) for quantity in alike]
        names = sorted({name for each in settings for name in each})
        differing = [name for name in names if len({each.get(name) for each in settings}) > 1]
        for quantity, each in zip(alike, settings, strict=True):
            if differing:
                words[quantity] = ", ".join(f"{name}={each[name]}" for name in differing if name in each)
    return words


def _settings(inputs: str) -> dict[str, str]:
    parts = json.loads(inputs) if inputs else []
    return {key: str(value) for part in parts for key, value in part.items()}


def observe(
    sides: Sequence[Sequence[Repeat]], options: AbOptions
) -> tuple[dict[Quantity, Observed], dict[Quantity, int], Text | None]:
    """(the quantities that both sides have, those that one has with the number of that side, what was ignored of names)."""
    names, ignored = named_alike(sides)
    measured: dict[Quantity, list[list[tuple[Repeat, Value]]]] = {}
    repeats: Counter[tuple[int, str, str]] = Counter()
    for number, (side, named) in enumerate(zip(sides, names, strict=True)):
        for repeat, name_of in zip(side, named, strict=True):
            repeats.update({(number, *quantity[:2]) for quantity in name_of.values()})
            for quantity, value in repeat.values.items():
                if not options.metric or quantity.name in options.metric:
                    measured.setdefault(name_of[quantity], [[], []])[number].append((repeat, value))
    both = {
        quantity: _observed(quantity, of_sides, (repeats[0, *quantity[:2]], repeats[1, *quantity[:2]]))
        for quantity, of_sides in measured.items()
        if all(of_sides)
    }
    one_side = {quantity: int(not of_sides[0]) for quantity, of_sides in measured.items() if quantity not in both}
    return both, one_side, ignored


def _observed(
    quantity: Quantity, sides: Sequence[Sequence[tuple[Repeat, Value]]], of_workload: tuple[int, int]
) -> Observed:
    """In the order in which the repeats ran, where their times say it; else one side after the other."""
    in_order = order_known([[repeat for repeat, _ in side] for side in sides])
    repeats = [(repeat.time_ns, number, value) for number, side in enumerate(sides) for repeat, value in side]
    if in_order:
        repeats.sort(key=lambda each: (each[0] or 0, each[1]))
    design = Design(tuple(number for _, number, _ in repeats), in_order)
    return Observed(quantity, design, tuple(value for _, _, value in repeats), of_workload)


def _tails(observed: Sequence[Observed]) -> dict[Quantity, float]:
    """The error of each end of each interval: workloads share ERROR evenly; within one, what is whole has half, its parts and metrics by their time, or evenly, the rest."""
    workloads = lists_by_key((series.quantity[:2], series) for series in observed)
    tails: dict[Quantity, float] = {}
    for group in workloads.values():
        first = [series for series in group if series.quantity.scope in FIRST]
        rest = [series for series in group if series.quantity.scope not in FIRST]
        halves = 2 if first and rest else 1
        for part in (first, rest):
            weights = _weights(part)
            for series in part:
                tails[series.quantity] = ERROR / len(workloads) / halves * weights[series.quantity]
    return tails


def _weights(part: Sequence[Observed]) -> dict[Quantity, float]:
    """Shares that add up to 1: those of operators by the time that the baseline spends in them, of metrics alike."""
    sizes = {
        series.quantity: 1.0
        if series.quantity.scope in {METRIC, *FIRST}
        else float(np.mean([v.cost for v in series.sides[0]]))
        for series in part
    }
    whole = sum(sizes.values())
    return {quantity: size / whole for quantity, size in sizes.items()}


def _step_ms(observed: Mapping[Quantity, Observed]) -> dict[str, float]:
    """The median step of the baseline by workload, else its whole computing time."""
    steps_ms: dict[str, float] = {}
    for scope in (COMPUTING, "step"):
        for quantity, series in observed.items():
            if quantity.scope == scope:
                steps_ms[quantity.workload] = median(value.cost for value in series.sides[0])
    return steps_ms


@dataclass(frozen=True, slots=True)
class _Judging:
    options: AbOptions
    scatters: Mapping[Quantity, KnownScatter]
    gates: Sequence[Gate]
    steps_ms: Mapping[str, float]

    def row(self, series: Observed, tail: float, estimate: tuple[Difference, int] | None) -> QuantityVerdict:
        """The verdict on one quantity."""
        known = None if estimate is not None else self.scatters.get(series.quantity)
        if known is not None:
            estimate = _by_known_noise(series, known), 0
        before, after = (median(value.cost for value in side) for side in series.sides)
        better = series.values[0].better
        if estimate is None:
            return self._row(series, "cannot tell", before, after, after / before - 1, reason=_too_few(series))
        measured, index = estimate
        free = int(measured.free[index])
        effect, error = float(measured.effect[index]), float(measured.error[index])
        reach = student(free, tail) * error
        margin = math.log1p(self.options.same_within())
        low, high = effect - reach, effect + reach
        verdict = _verdict(low, high, margin)
        ends = sorted(value_change(math.expm1(end), better) for end in (low, high))
        scatter = float(measured.scatter[index])
        needed = repeats_needed(effect, scatter, tail, margin) if verdict == "cannot tell" else None
        if needed is not None and known is not None:
            needed = math.ceil(needed / min(known.samples))
        have = min(series.design.counts)
        return self._row(
            series,
            verdict,
            before,
            after,
            math.expm1(effect),
            ci_low=_rounded(ends[0]),
            ci_high=_rounded(ends[1]),
            smallest_detectable=math.expm1(detectable(error, free, tail)),
            more_repeats=None if needed is None else max(needed - have, 1),
            scatter=scatter,
            noise="repeats" if known is None else known.source,
            error=tail,
        )

    def _row(
        self, series: Observed, verdict: SideVerdict, before: float, after: float, cost_change: float, **more: object
    ) -> QuantityVerdict:
        quantity, better = series.quantity, series.values[0].better
        step_ms = self.steps_ms.get(quantity.workload)
        share = None
        if step_ms and quantity.scope not in {METRIC, "model"}:
            share = _rounded(before * cost_change / step_ms)
        return QuantityVerdict(
            verdict=verdict,
            workload=quantity.workload,
            scope=quantity.scope,
            name=quantity.name,
            metric=quantity.metric,
            unit=quantity.unit,
            better=better,
            before=value_of(before, better),
            after=value_of(after, better),
            baseline_repeats=series.design.counts[0],
            candidate_repeats=series.design.counts[1],
            margin=self.options.same_within(),
            step_share=share,
            fails=self._fails(quantity, verdict, cost_change, value_of(before, better), share),
            change=_rounded(value_change(cost_change, better)),
            **more,  # type: ignore[arg-type]
        )

    def _fails(
        self, quantity: Quantity, verdict: SideVerdict, cost_change: float, before: float, share: float | None
    ) -> str | None:
        """Why a quantity fails the job."""
        if self.options.fail_on == "never":
            return None
        gates = [gate for gate in self.gates if gate.watches(_labels(quantity))]
        is_beyond = verdict == "slower" and cost_change > self.options.same_within()
        if is_beyond and any(gate.holds(_labels(quantity), cost_change, before, share) for gate in gates):
            return "slower"
        watched = gates and (quantity.scope in {*FIRST, METRIC} or bool(self.options.gate))
        is_open = self.options.fail_on == "not-proved-same" and verdict not in {"same", "faster"}
        return "not-proved-same" if watched and is_open else None


def _rounded(change: float) -> float:
    """Without what rounding leaves of equal values: no `-0.0%`."""
    return round(change, 9) + 0.0


def _verdict(low: float, high: float, margin: float) -> SideVerdict:
    """Inside the margin is the same, however sure a smaller difference is."""
    if -margin < low and high < margin:
        return "same"
    return "slower" if low > 0 else "faster" if high < 0 else "cannot tell"


def _by_known_noise(series: Observed, known: KnownScatter) -> Difference:
    logs = np.log(np.array([[value.cost for value in series.values]]))
    measured = known_noise(logs, series.design, np.array([known.sigma]), known.free)
    if known.source != "samples":
        return measured
    times = [count * samples for count, samples in zip(series.design.counts, known.samples, strict=True)]
    return measured._replace(error=np.array([known.sigma * math.sqrt(1 / times[0] + 1 / times[1])]))


def _too_few(series: Observed) -> Text:
    n, m = series.design.counts
    return say(
        "too few repeats ({before} against {after}) to know the noise: measure each side at least 3 times, in turns",
        before=n,
        after=m,
    )


def gates_not_judged(rows: Sequence[QuantityVerdict], options: AbOptions) -> list[str]:
    """The gates that watch no quantity with an interval; none where nothing could be judged at all, which is said of the repeats."""
    judged = [row for row in rows if row.ci_low is not None]
    if not judged:
        return []
    quantities = [_labels(Quantity(row.workload, "", row.scope, row.name, row.metric, row.unit)) for row in judged]
    gates = zip(options.gate, options.gates(), strict=False)
    return [text for text, gate in gates if not any(map(gate.watches, quantities))]


class _Labels(NamedTuple):
    """The labels of a quantity that a gate compares."""

    workload: str
    model: str
    scope: str
    op_type: str | None
    op_name: str | None
    metric: str
    unit: str | None
    hardware: str = ""


def _labels(quantity: Quantity) -> _Labels:
    workload, _, scope, name, metric, unit = quantity
    op_type, op_name = (name if scope in scopes else None for scopes in ({"op_type", "communication"}, {"op"}))
    return _Labels(workload, workload.partition("/")[0], scope, op_type, op_name, metric or "runtime_ms_mean", unit)


_ORDER: dict[str, int] = {"slower": 0, "cannot tell": 1, "faster": 2, "same": 3}


def _by_effect(row: QuantityVerdict) -> tuple[object, ...]:
    """What fails first, then whole before parts, then by effect on the step, else by change."""
    whole = row.scope in FIRST
    size = abs(row.step_share if row.step_share is not None else row.change or 0.0)
    return row.fails != "slower", not whole, _ORDER[row.verdict] if not whole else 0, -size, row.workload, row.name
