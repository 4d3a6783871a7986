"""Whether a capture is worth reading: each judgement has a code, says what it does to the capture, and the numbers that prove it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from statistics import median, pvariance
from typing import Literal

from aoe_reports.model.by_key import lists_by_key
from aoe_reports.model.topics.steps import Step
from aoe_reports.topics.quality.observed import ClockUse
from aoe_reports.topics.quality.steadiness import (
    MIN_STEPS_FOR_SCATTER,
    Place,
    Steadiness,
    StepSeries,
    steadiness_of,
    step_numbers,
)

Effect = Literal["no-baseline", "caution", "note"]
"""What a judgement does: the capture is no baseline; its numbers are to be read with it in mind; some questions have no answer."""
EFFECTS: tuple[Effect, ...] = ("no-baseline", "caution", "note")
Code = Literal[
    "unsteady", "drift", "frequency-drop", "other-work", "no-common-step", "outside-steps", "unequal-ranks", "warm-up", "tear-down", "cut-step", "varying-work",
    "scatter", "outlier-steps", "compilation", "start-skew", "other-steps", "missing-ranks", "frequency-below-rated", "no-warm-up",
    "one-step", "few-steps", "no-steps", "one-rank", "no-timeline", "profiler-level", "no-metrics", "recording-overhead",
]  # fmt: skip

NOTABLE_DETECTABLE, NO_BASELINE_DETECTABLE = 0.03, 0.10
"""Scatter counts from where a change of 3 % of a step is lost in it; a baseline that hides a tenth of a step is none."""
NO_BASELINE_DRIFT = 0.05
"""A step that drifts by this says something else at each of its ends: the real captures drift by less."""
VARYING_TASKS = 0.05
"""Steps are of different work where the numbers of their tasks differ by this share of their median."""
MOSTLY = 0.75
"""A part of the step explains scatter where the rest of the step has at most a quarter of the variance."""
NOTABLE_CLOCK, NO_BASELINE_CLOCK = 0.01, 0.05
"""By what share computing would be shorter at the highest frequency seen."""
BELOW_RATED = 0.05
"""Frequencies this far below the rated one are told: info files round it."""
NOTABLE_COMPILATION, ONLY_COMPILATION = 0.10, 0.50
"""Compilation is told of a step if it takes this share of the step more than in the usual one; of a capture of one step, if it takes half:
to find operators compiled takes 9 to 11 % of the steps of real captures."""
NOTABLE_OTHERS, NO_BASELINE_OTHERS = 0.001, 0.05
"""How long tasks of other processes run, as a share of the device's time."""
NOTABLE_SKEW = 0.05
"""How far apart ranks begin their first common step, as a share of the usual step, and of all steps together for a caution."""
NOTABLE_OUTSIDE = 0.10
"""Up to this share of computing may lie outside the steps without a caution."""
_EPOCH_NS = 10**18
"""Times below are of a clock that began with the machine: those of two devices say nothing of each other."""


Numbers = Mapping[str, "float | int | str | tuple[int, ...]"]


@dataclass(frozen=True, slots=True)
class Judgement:
    """One thing that is so; `numbers` are its evidence by name (times in ns)."""

    code: Code
    effect: Effect
    numbers: Numbers = field(default_factory=dict)
    places: tuple[Place, ...] = ()
    """The ranks and devices that it is so of; none: it is of the run."""
    weight: float = 0.0
    """Of several of one code the heaviest is told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceFacts:
    """What is known of one device of a capture; times in ns."""

    rank_id: int | None
    device_id: int | None
    steps: tuple[Step, ...] = ()
    starts: Mapping[int, int] = field(default_factory=dict)
    """When each step began on the device."""
    tasks: Mapping[int, int] = field(default_factory=dict)
    """How many tasks computed in each step."""
    compiling: Mapping[int, int] = field(default_factory=dict)
    """For how long the host was in calls that compile, by step."""
    clock: ClockUse | None = None
    rated_mhz: float | None = None
    whole_ns: int = 0
    computing_ns: int = 0
    in_steps_ns: int | None = None
    """How much of computing is in steps that the timeline marks; null where it marks none."""
    host_step_ns: float | None = None
    """How long such a step is on the host (median)."""
    others_ns: int = 0
    """How long tasks of other processes ran."""

    @property
    def place(self) -> Place:
        """Rank and device."""
        return self.rank_id, self.device_id


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """How a capture was taken, as far as its info files tell."""

    level: str | None = None
    metrics: str | None = None
    """The set of metrics by its plain name; `None` as a name: none was recorded."""
    recording: tuple[str, ...] = ()
    warm_up: int | None = None
    """For how many steps the profiler was to be on before it recorded; null where nothing tells."""
    has_timeline: bool = True
    place: Place | None = None
    """Whose capture it is."""


@dataclass(frozen=True, slots=True)
class JudgedDevice:
    """One device, its steps by phase, and what the usual ones say."""

    facts: DeviceFacts
    series: StepSeries | None
    steadiness: Steadiness | None
    judgements: tuple[Judgement, ...]


def judge_device(facts: DeviceFacts, series: StepSeries | None) -> JudgedDevice:
    """What is to be said of one device by itself."""
    usual = () if series is None else series.usual
    steadiness = steadiness_of([step.duration_ns for step in usual]) if usual else None
    found = [*_of_coverage(facts), *_of_phases(series, steadiness), *_of_count(series)]
    found += [*_of_clock(facts), *_of_others(facts)]
    if steadiness is not None:
        found += [
            *_of_scatter(usual, steadiness, facts),
            *_of_outliers(usual, steadiness),
            *_of_compilation(usual, facts),
        ]
    return JudgedDevice(facts, series, steadiness, tuple(replace(one, places=(facts.place,)) for one in found))


def _of_coverage(facts: DeviceFacts) -> Iterator[Judgement]:
    if facts.in_steps_ns is None or not facts.computing_ns:
        return
    outside = facts.computing_ns - facts.in_steps_ns
    share = outside / facts.computing_ns
    if share >= NOTABLE_OUTSIDE:
        numbers: Numbers = {"share": share, "time_ns": outside, "step_ns": facts.host_step_ns or 0.0}
        yield Judgement("outside-steps", "caution", numbers, weight=share)


def _of_phases(series: StepSeries | None, steadiness: Steadiness | None) -> Iterator[Judgement]:
    if series is None or steadiness is None:
        return
    phases, usual = series.phases, steadiness.median_ns
    ends: tuple[tuple[Code, tuple[Step, ...], bool], ...] = (
        ("warm-up", series.warm_up, phases.cut_head),
        ("tear-down", series.tear_down, phases.cut_tail),
    )
    for code, steps, is_cut in ends:
        if steps:
            longest = max(steps, key=lambda step: step.duration_ns)
            ratio = longest.duration_ns / usual if usual else 0.0
            numbers: Numbers = {
                "steps": step_numbers(steps),
                "longest_ns": longest.duration_ns,
                "usual_ns": usual,
                "ratio": ratio,
            }
            yield Judgement("cut-step" if is_cut else code, "caution", numbers, weight=ratio)


def _of_count(series: StepSeries | None) -> Iterator[Judgement]:
    if series is None:
        yield Judgement("no-steps", "caution")
    elif len(series.steps) == 1:
        yield Judgement("one-step", "caution", {"usual_ns": series.steps[0].duration_ns})
    elif len(series.usual) < MIN_STEPS_FOR_SCATTER:
        yield Judgement("few-steps", "caution", {"count": len(series.usual)}, weight=-len(series.usual))


def _of_outliers(usual: Sequence[Step], steadiness: Steadiness) -> Iterator[Judgement]:
    if steadiness.outliers:
        outliers = [usual[place] for place in steadiness.outliers]
        longest = max(step.duration_ns for step in outliers)
        numbers: Numbers = {"steps": step_numbers(outliers), "longest_ns": longest, "usual_ns": steadiness.median_ns}
        yield Judgement(
            "outlier-steps", "caution", numbers, weight=longest / steadiness.median_ns if steadiness.median_ns else 0.0
        )


def _of_scatter(usual: Sequence[Step], steadiness: Steadiness, facts: DeviceFacts) -> Iterator[Judgement]:
    is_drift = abs(steadiness.drift) >= NO_BASELINE_DRIFT
    if (
        steadiness.scatter is None
        or steadiness.detectable is None
        or not (is_drift or steadiness.detectable >= NOTABLE_DETECTABLE)
    ):
        return
    inner = [step for place, step in enumerate(usual) if place not in steadiness.outliers]
    part = _varying_part(inner)
    numbers: Numbers = {
        "count": len(inner),
        "usual_ns": steadiness.median_ns,
        "scatter": steadiness.scatter,
        "detectable": steadiness.detectable,
        "drift": steadiness.drift,
        "part": part or "",
    }
    code, effect = _kind_of_scatter(inner, steadiness.detectable, facts, part, is_drift=is_drift)
    yield Judgement(code, effect, numbers, weight=abs(steadiness.drift) if code == "drift" else steadiness.detectable)


def _kind_of_scatter(
    steps: Sequence[Step], detectable: float, facts: DeviceFacts, part: Part | None, *, is_drift: bool
) -> tuple[Code, Effect]:
    """What scatter or drift is called: where the work of the steps differs, as in serving, it is no fault of the capture."""
    if not is_drift and detectable < NO_BASELINE_DETECTABLE:
        return "scatter", "caution"
    lost = facts.clock.lost if facts.clock is not None else 0.0
    if _tasks_vary(steps, facts) or (part == "computing" and not is_drift and lost < NOTABLE_CLOCK):
        return "varying-work", "caution"
    return ("drift" if is_drift else "unsteady"), "no-baseline"


def _tasks_vary(steps: Sequence[Step], facts: DeviceFacts) -> bool:
    """Whether the steps run different numbers of tasks."""
    counts = [facts.tasks[step.step] for step in steps if step.step is not None and step.step in facts.tasks]
    return len(counts) == len(steps) and max(counts) - min(counts) > VARYING_TASKS * median(counts)


Part = Literal["computing", "communication", "free"]


def _varying_part(steps: Sequence[Step]) -> Part | None:
    """What of the steps varies with them, if it is one part: without it they hardly differ."""
    whole = pvariance([step.duration_ns for step in steps])
    parts: dict[Part, list[int | None]] = {
        "computing": [step.computing_ns for step in steps],
        "communication": [step.communication_not_overlapped_ns for step in steps],
        "free": [step.free_ns for step in steps],
    }
    rests: dict[Part, float] = {}
    for part, values in parts.items():
        known = [value for value in values if value is not None]
        if len(known) == len(steps):
            rests[part] = pvariance([step.duration_ns - value for step, value in zip(steps, known, strict=True)])
    best = min(rests, key=rests.__getitem__, default=None)
    return best if best is not None and rests[best] <= (1 - MOSTLY) * whole else None


def _of_compilation(usual: Sequence[Step], facts: DeviceFacts) -> Iterator[Judgement]:
    shares = [
        (facts.compiling.get(step.step, 0) / step.duration_ns, step)
        for step in usual
        if step.step is not None and step.duration_ns
    ]
    if not shares or not facts.compiling:
        return
    usually = median(share for share, _ in shares)
    compiled = [(share, step) for share, step in shares if share >= usually + NOTABLE_COMPILATION]
    if usually >= ONLY_COMPILATION:
        compiled = shares
    if compiled:
        most, step = max(compiled, key=lambda one: one[0])
        spent = facts.compiling.get(step.step or 0, 0)
        numbers: Numbers = {"steps": step_numbers(one for _, one in compiled), "share": most, "time_ns": spent}
        yield Judgement("compilation", "caution", numbers, weight=most)


def _of_clock(facts: DeviceFacts) -> Iterator[Judgement]:
    clock = facts.clock
    if clock is None:
        return
    numbers: Numbers = {"highest_mhz": clock.highest_mhz, "lowest_mhz": clock.lowest_mhz, "lost": clock.lost}
    if clock.lost >= NOTABLE_CLOCK:
        effect: Effect = "no-baseline" if clock.lost >= NO_BASELINE_CLOCK else "caution"
        yield Judgement("frequency-drop", effect, numbers, weight=clock.lost)
    rated = facts.rated_mhz
    if rated is not None and clock.highest_mhz < rated * (1 - BELOW_RATED):
        yield Judgement(
            "frequency-below-rated", "caution", {**numbers, "rated_mhz": rated}, weight=1 - clock.highest_mhz / rated
        )


def _of_others(facts: DeviceFacts) -> Iterator[Judgement]:
    share = facts.others_ns / facts.whole_ns if facts.whole_ns else 0.0
    if share >= NOTABLE_OTHERS:
        effect: Effect = "no-baseline" if share >= NO_BASELINE_OTHERS else "caution"
        yield Judgement("other-work", effect, {"time_ns": facts.others_ns, "share": share}, weight=share)


def judge_run(
    devices: Sequence[JudgedDevice],
    named: AbstractSet[int],
    conditions: Sequence[Conditions],
    unequal: Sequence[Place] = (),
) -> list[Judgement]:
    """What is to be said of a run: of its devices, each code once, of its ranks together, and of how it was taken.

    `unequal` are the ranks that lack facts which others have.
    """
    found = [*merged(judgement for device in devices for judgement in device.judgements)]
    if unequal:
        ranks = tuple(sorted(rank for rank, _ in unequal if rank is not None))
        found.append(Judgement("unequal-ranks", "caution", {"ranks": ranks}, tuple(unequal)))
    found += [*_of_ranks(devices, named), *_of_conditions(conditions, devices)]
    return sorted(found, key=lambda one: EFFECTS.index(one.effect))  # stable: within an effect in the order above


def merged(judgements: Iterable[Judgement]) -> Iterator[Judgement]:
    """Each code once: with the effect and the numbers of the worst, and all places."""
    by_code = lists_by_key((judgement.code, judgement) for judgement in judgements)
    for code, several in by_code.items():
        worst = min(several, key=lambda one: (EFFECTS.index(one.effect), -one.weight))
        places = dict.fromkeys(place for one in several for place in one.places)
        yield Judgement(code, worst.effect, worst.numbers, tuple(places), worst.weight)


def _of_ranks(devices: Sequence[JudgedDevice], named: AbstractSet[int]) -> Iterator[Judgement]:
    here = {device.facts.rank_id for device in devices if device.facts.rank_id is not None}
    missing = sorted(named - here)
    if missing and here:
        numbers: Numbers = {"missing": tuple(missing), "named": len(named | here), "here": tuple(sorted(here))}
        one = len(here) == 1
        yield Judgement("one-rank" if one else "missing-ranks", "note" if one else "caution", numbers)
    yield from _of_common_steps(devices)


def _of_common_steps(devices: Sequence[JudgedDevice]) -> Iterator[Judgement]:
    told = [device for device in devices if device.series is not None and device.facts.rank_id is not None]
    numbers = [{step.step for step in one.series.steps} for one in told if one.series is not None]
    if len({one.facts.rank_id for one in told}) < 2:  # noqa: PLR2004 -- one rank is apart from nobody
        return
    common, every = set.intersection(*numbers), set.union(*numbers)
    if not common:
        yield Judgement("no-common-step", "no-baseline", {"count": len(every)})
        return
    if common != every:
        rest = sorted(number for number in every - common if number is not None)
        yield Judgement("other-steps", "caution", {"common": len(common), "steps": tuple(rest)})
    yield from _of_skew(told, min(number for number in common if number is not None) if common != {None} else None)


def _of_skew(devices: Sequence[JudgedDevice], first: int | None) -> Iterator[Judgement]:
    """How far apart the ranks begin the first step that all have."""
    if first is None:
        return
    begun = [
        (device.facts.starts[first], device) for device in devices if device.facts.starts.get(first, 0) >= _EPOCH_NS
    ]
    if len(begun) < len(devices):
        return
    usual = median(one.steadiness.median_ns for _, one in begun if one.steadiness is not None)
    reference = begun[0][1]
    beside = [(start - _usual_lag(reference, one, first), one) for start, one in begun]
    (early, one), (late, other) = min(beside, key=_when), max(beside, key=_when)
    skew = late - early
    if not usual or skew < NOTABLE_SKEW * usual:
        return
    steps = max(len(one.series.usual) for _, one in begun if one.series is not None)
    share = skew / (usual * max(steps, 1))
    numbers: Numbers = {
        "skew_ns": skew,
        "share": skew / usual,
        "step": first,
        "early": -1 if one.facts.rank_id is None else one.facts.rank_id,
        "late": -1 if other.facts.rank_id is None else other.facts.rank_id,
    }
    yield Judgement("start-skew", "caution" if share >= NOTABLE_SKEW else "note", numbers, weight=skew / usual)


def _usual_lag(device: JudgedDevice, other: JudgedDevice, first: int) -> int:
    """How much later the second begins its other steps than the first: clocks that are apart, or a rank that is always late."""
    mine, theirs = device.facts.starts, other.facts.starts
    lags = [theirs[number] - mine[number] for number in mine.keys() & theirs.keys() if number != first]
    return int(median(lags)) if lags else 0


def _when(one: tuple[int, JudgedDevice]) -> int:
    return one[0]


def _of_conditions(conditions: Sequence[Conditions], devices: Sequence[JudgedDevice]) -> Iterator[Judgement]:
    """How the run was taken; where captures differ, what any of them lacks."""
    few = all(device.series is None or len(device.series.steps) < MIN_STEPS_FOR_SCATTER for device in devices)
    if few and devices and any(condition.warm_up == 0 for condition in conditions):
        yield Judgement("no-warm-up", "caution")
    without = [condition.place for condition in conditions if not condition.has_timeline]
    if without:
        some = [place for place in without if place is not None] if len(without) < len(conditions) else []
        yield Judgement("no-timeline", "note", places=tuple(some))
    levels = {condition.level for condition in conditions if condition.level is not None}
    weak = sorted(levels & WEAK_LEVELS)
    if weak:
        yield Judgement("profiler-level", "note", {"level": weak[0]})
    if any(condition.metrics == NO_METRICS for condition in conditions):
        yield Judgement("no-metrics", "note")
    costly = sorted(
        {name for condition in conditions for name in condition.recording if name in COSTLY} | (levels & {COSTLY_LEVEL})
    )
    if costly:
        yield Judgement("recording-overhead", "note", {"options": ", ".join(costly)})


WEAK_LEVELS = frozenset({"Level0", "Level_none"})
"""Levels that record neither types nor shapes of operators, and nothing of communication but its times."""
NO_METRICS = "none"
COSTLY_LEVEL = "Level2"
COSTLY = frozenset({"with_stack", "with_modules", "profile_memory"})
"""Options with which each call of the host takes longer."""
