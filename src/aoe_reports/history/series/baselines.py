"""Against what is the newest level of a series held? Against the level before its first change that nobody accepted.

The baseline is the level since the last accepted change: an improvement accepts itself, a slow-down is accepted by an
acknowledgement or was expected. Until then the baseline stays where it was, so that many small slow-downs are one large one.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import lru_cache

import numpy as np

from aoe_reports.history.detection.verdicts import INTERVAL_SCORE, Change, Parameters, State, Verdict
from aoe_reports.stats import noise
from aoe_reports.stats.noise import Floats
from aoe_reports.stats.sample import MAD_TO_SIGMA

SAME_LEVEL = 2.0
"""Standard errors within which two levels are the same, as the detector has it for a recovery."""
MAX_REACH = 14
"""Nights: changes further apart than two weeks are never held to be one, however uncertain their place is."""
_PLACE_QUANTILE = 11.0
"""Of the place of a change, in units of (sigma / step)^2 nights: 95 % lie within (Bai 1997, Review of Economics and Statistics 79)."""


@dataclass(frozen=True, slots=True)
class Scatter:
    """The noise of a series: how sure levels, their differences and the places of changes are."""

    sigma: float
    memory: float
    """AR(1), with the margin that the detector adds."""
    least_effect: float = 0.005

    @classmethod
    def of(cls, verdict: Verdict, parameters: Parameters) -> Scatter:
        """What a verdict knows of the noise of its series."""
        feared = (verdict.memory or 0.0) + parameters.memory_margin / math.sqrt(max(verdict.nights, 1))
        return cls(verdict.sigma or noise.FLOOR, min(feared, noise.MAX_MEMORY), parameters.least_effect)

    def error(self, before: int, after: int) -> float:
        """The standard error of the difference of two levels (logarithms) of so many nights."""
        return self.sigma * math.sqrt(_variance(self.memory, max(before, 1), max(after, 1)))

    def tolerance(self, before: int, after: int) -> float:
        """Two levels (logarithms) closer than this are the same."""
        return max(math.log1p(self.least_effect), SAME_LEVEL * self.error(before, after))

    def reach(self, step: float) -> int:
        """Nights by which the place of a step (a difference of logarithms) may be off, to either side."""
        long_run = self.sigma**2 * (1 + self.memory) / (1 - self.memory)
        return min(math.floor(_PLACE_QUANTILE * long_run / max(step * step, 1e-12)) + 1, MAX_REACH)

    def level(self, logs: Floats) -> float:
        """The level of some nights: their median, moved to the mean of what is clipped around it, twice."""
        middle = float(np.median(logs))
        limit = noise.CLIP * self.sigma
        for _ in range(2):
            middle += float(np.clip(logs - middle, -limit, limit).mean())
        return middle


@lru_cache(maxsize=1 << 18)
def _variance(memory: float, before: int, after: int) -> float:
    return float(noise.inflation(memory, before) / before + noise.inflation(memory, after) / after)


@dataclass(frozen=True, slots=True)
class LevelShift:
    """A change of level with dates instead of indexes: of times in ms, of metrics of their costs (model/history/metrics.py)."""

    since: str
    """The first night of the new level (of a slope)."""
    since_run: str | None
    state: State
    before: float
    after: float
    ci_low: float
    ci_high: float
    before_nights: int
    after_nights: int
    reach: int
    """Nights by which `since` may be off."""
    until: str | None = None
    """Of a slope its last night: a change that was told within it is the same."""
    incident: str | None = None
    found: str | None = None
    """The newest night of the series when it was first told; None: not told yet."""
    memory: float = 0.0
    """Of the noise (with margin) when it was told."""
    first_since: str | None = None
    """`since` as it was first told; the nights may say another one now."""

    @property
    def change(self) -> float:
        """`after / before - 1`."""
        return self.after / self.before - 1

    @property
    def slower(self) -> bool:
        """Whether times got longer."""
        return self.after > self.before


@dataclass(frozen=True, slots=True)
class Acceptance:
    """A new level that somebody vouched for, known since a night and no slower than `limit` (a cost)."""

    through: str
    limit: float
    id: str
    who: str | None
    when: str
    reason: str


@dataclass(frozen=True, slots=True)
class Expectation:
    """A change that was announced: changes of `low` to `high` between two nights are no surprise."""

    since: str
    until: str
    low: float
    high: float
    id: str
    who: str | None
    when: str
    reason: str


@dataclass(frozen=True, slots=True)
class Level:
    """A level (a time in ms, of a metric its cost), and of how many nights it is."""

    cost: float
    nights: int
    until: str | None = None
    """The first night that is none of its."""


@dataclass(frozen=True, slots=True)
class ActiveChange:
    """What is active of a series' changes: its baseline, its newest level, and what lies between them."""

    state: State | None
    baseline: Level | None
    shifts: tuple[LevelShift, ...] = ()
    """The changes that nobody accepted, oldest first; where there is none, the newest change."""
    before: float | None = None
    after: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    accepted: Acceptance | Expectation | None = None
    """Why the newest slow-down is none to act upon."""
    every: tuple[LevelShift, ...] = ()
    """All changes that hold, oldest first."""
    withdrawn: tuple[LevelShift, ...] = ()
    """Told once, and not borne out by the nights that are there now."""

    @property
    def open(self) -> bool:
        """Whether something got slower that nobody accepted."""
        return self.state in {"confirmed", "drift"} and self.accepted is None and (self.change or 0) > 0

    @property
    def change(self) -> float | None:
        """`after / before - 1`."""
        return None if self.before is None or self.after is None else self.after / self.before - 1


@dataclass(frozen=True, slots=True)
class JudgedSeries:
    """The nights of one series that are looked at: dates, times in ms or costs, and what the detector says of them."""

    nights: Sequence[str]
    costs: Floats
    verdict: Verdict
    scatter: Scatter
    runs: Sequence[str | None] = ()
    parameters: Parameters = field(default_factory=Parameters)

    def shifts(self) -> list[LevelShift]:
        """The changes that the detector finds, with dates."""
        return [self._shift(change) for change in self.verdict.changes]

    def place(self, night: str) -> int:
        """The index of a night, or of the first one behind it."""
        return bisect_left(self.nights, night)

    def nights_between(self, prior: str, later: str) -> int:
        """How many nights lie from one to another (below 0: before it); days where one is none of the nights looked at."""
        looked_at = bool(self.nights) and self.nights[0] <= min(prior, later) and max(prior, later) <= self.nights[-1]
        if not looked_at:
            return ordinal(later) - ordinal(prior)
        return self.place(later) - self.place(prior)

    def count(self, start: int, end: int) -> int:
        """How many nights of an interval of indexes have a time."""
        return int(self._times(start, end).sum())

    def measured(self, start: int, end: int) -> list[str]:
        """Those nights of an interval of indexes that have a time."""
        return [self.nights[start + place] for place in np.flatnonzero(self._times(start, end)).tolist()]

    def logs(self, start: int, end: int) -> Floats:
        """The logarithms of the times of an interval of indexes."""
        return np.asarray(np.log(self.costs[start:end][self._times(start, end)]))

    def _times(self, start: int, end: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        part = self.costs[start:end]
        return np.asarray(np.isfinite(part) & (part > 0))

    def last_night(self) -> str | None:
        """The newest night that has a time."""
        times = self._times(0, len(self.nights))[::-1]
        behind = int(times.argmax()) if len(times) else 0
        return self.nights[len(times) - 1 - behind] if times[behind : behind + 1].any() else None

    def _shift(self, change: Change) -> LevelShift:
        starts = [one.until for one in self.verdict.changes if one.until <= change.night]
        first_step = change.steps[0] if change.steps else change.night
        step = math.log(change.after / change.before)
        return LevelShift(
            since=self.nights[change.night],
            since_run=self.runs[change.night] if len(self.runs) else None,
            state=change.state,
            before=change.before,
            after=change.after,
            ci_low=change.ci_low,
            ci_high=change.ci_high,
            before_nights=self.count(max(starts, default=0), first_step),
            after_nights=self.count(change.steps[-1] if change.steps else change.night, change.until),
            reach=self.scatter.reach(step),
            until=self.nights[change.until - 1] if change.state == "drift" else None,
            memory=self.scatter.memory,
        )


def ordinal(night: str) -> int:
    """The number of the day that a night is; of what is no date one that is far from all others."""
    try:
        return date.fromisoformat(night).toordinal()
    except ValueError:
        return -MAX_REACH * 1000


def same_shift(shift: LevelShift, other: LevelShift, course: JudgedSeries) -> bool:
    """Whether two changes of a series are one, the place of which is uncertain: then they go the same way, too."""
    if shift.slower != other.slower:
        return False
    first, second = (shift, other) if shift.since <= other.since else (other, shift)
    apart = course.nights_between(first.until or first.since, second.since)
    return apart <= max(shift.reach, other.reach)


@dataclass(frozen=True, slots=True)
class Merged:
    """All changes of a series, found or told."""

    shifts: list[LevelShift]
    """Those that hold, oldest first."""
    withdrawn: tuple[LevelShift, ...]
    scatter: Scatter
    """The noise around the levels between them."""


def merge_shifts(course: JudgedSeries, stored: Iterable[LevelShift]) -> Merged:
    """What the detector finds among the nights that it sees, and what was told before and holds.

    A change that was told before keeps its incident, and the baseline that was of more nights. What the detector cannot
    see, since it lies before its nights, stands; what it does not find for other reasons is held against the nights again.
    """
    waiting = _distinct(sorted(stored, key=lambda shift: (shift.found or "", shift.since)), course)
    found = []
    for shift in course.shifts():
        alike = [one for one in waiting if same_shift(shift, one, course)]
        first, gone = _recorded_as(shift, alike, course) if alike else (None, [])
        waiting = [one for one in waiting if one not in gone]
        found.append(shift if first is None else _as_recorded(shift, first))
    return _with_unseen(found, waiting, course)


def _with_unseen(shifts: list[LevelShift], waiting: Sequence[LevelShift], course: JudgedSeries) -> Merged:
    withdrawn: list[LevelShift] = []
    scatter = course.scatter
    for shift in sorted(waiting, key=lambda one: one.since):
        others = [*shifts, *(one for one in waiting if one is not shift and one not in withdrawn)]
        holds, local = _still_holds(shift, others, course)
        (shifts if holds else withdrawn).append(shift)
        if holds and local is not None and local.sigma < scatter.sigma:
            scatter = local  # without this change the detector took the step for noise
    return Merged(sorted(shifts, key=lambda shift: (shift.since, shift.found or "")), tuple(withdrawn), scatter)


def _recorded_as(
    shift: LevelShift, alike: Sequence[LevelShift], course: JudgedSeries
) -> tuple[LevelShift, Sequence[LevelShift]]:
    """(the recorded change that this one is, the recorded changes that it replaces)."""
    if shift.until:  # a slope: all that was told within it is the same
        return min(alike, key=lambda one: one.found or ""), alike
    known = min(alike, key=lambda one: abs(course.nights_between(one.since, shift.since)))
    return known, [one for one in alike if _close(one, known, course)]


def _as_recorded(shift: LevelShift, first: LevelShift) -> LevelShift:
    """The shift with the incident and the longer baseline of its record."""
    kept = replace(shift, incident=first.incident, found=first.found, first_since=first.first_since)
    if first.before_nights > shift.before_nights:
        kept = replace(kept, before=first.before, before_nights=first.before_nights)
    return kept


def _distinct(stored: list[LevelShift], course: JudgedSeries) -> list[LevelShift]:
    """Recorded changes without duplicates: two jobs may record one at the same time."""
    kept: list[LevelShift] = []
    for shift in stored:
        if not any(_close(one, shift, course) for one in kept):
            kept.append(shift)
    return kept


def _close(shift: LevelShift, other: LevelShift, course: JudgedSeries) -> bool:
    """Whether two changes go the same way and are closer than the shortest level."""
    apart = abs(course.nights_between(shift.since, other.since))
    return shift.slower == other.slower and apart < course.parameters.least_level


def _still_holds(shift: LevelShift, others: Sequence[LevelShift], course: JudgedSeries) -> tuple[bool, Scatter | None]:
    """(whether a recorded change that the detector does not find still holds, the noise around its levels if known).

    With too few nights to decide, it holds.
    """
    place = course.place(shift.since)
    prior = [course.place(other.since) for other in others if other.since < shift.since]
    later = [course.place(other.since) for other in others if other.since > shift.since]
    left = course.logs(max(prior, default=0), place)
    right = course.logs(place, min(later, default=len(course.nights)))
    parameters = course.parameters
    least = parameters.least_level if prior else parameters.least_baseline
    if course.verdict.reason is not None or len(left) < least or len(right) < parameters.least_level:
        return True, None
    around = np.concatenate([left - np.median(left), right - np.median(right)])
    sigma = max(float(np.median(np.abs(around))) * MAD_TO_SIGMA, noise.FLOOR)
    local = replace(course.scatter, sigma=sigma, memory=shift.memory)
    step = local.level(right) - local.level(left)
    same_way = step * (shift.after - shift.before) > 0
    return same_way and abs(step) > local.tolerance(len(left), len(right)), local


def find_active(
    course: JudgedSeries,
    stored: Iterable[LevelShift] = (),
    acceptances: Sequence[Acceptance] = (),
    expectations: Sequence[Expectation] = (),
) -> ActiveChange:
    """What is active of a series, given what was recorded, acknowledged and announced of it before."""
    merged = merge_shifts(course, stored)
    course = replace(course, scatter=merged.scatter)
    shifts = _with_current_levels(merged.shifts, course)
    walk = _Walk(course, acceptances, expectations)
    for shift in shifts:
        walk.take(shift)
    return replace(walk.end(), every=tuple(shifts), withdrawn=merged.withdrawn)


def _with_current_levels(shifts: list[LevelShift], course: JudgedSeries) -> list[LevelShift]:
    """The newest change leads to the newest level, not to the level that was recorded."""
    if not shifts or course.verdict.reason is not None:
        return shifts
    newest, detected = shifts[-1], course.verdict.changes
    if detected and newest.since <= course.nights[detected[-1].night]:
        return shifts  # the detector's own, or one whose place it does not know better
    logs = course.logs(course.place(newest.since), len(course.nights))
    if not len(logs):
        return shifts
    return [*shifts[:-1], replace(newest, after=math.exp(course.scatter.level(logs)), after_nights=len(logs))]


class _Walk:
    def __init__(
        self, course: JudgedSeries, acceptances: Sequence[Acceptance], expectations: Sequence[Expectation]
    ) -> None:
        self.course, self.scatter = course, course.scatter
        self.acceptances, self.expectations = acceptances, expectations
        self.reference: Level | None = None
        """The baseline where it is frozen, by an open change or by a recovery that did not quite reach it."""
        self.open: list[LevelShift] = []
        self.now: LevelShift | None = None
        self.last: ActiveChange = ActiveChange(None, None)

    def take(self, shift: LevelShift) -> None:
        """Go on over one change."""
        self.now = shift
        here = Level(shift.before, shift.before_nights, shift.since)
        if not self.open and (self.reference is None or self.reference.cost >= here.cost):
            self.reference = here
        assert self.reference is not None
        if not shift.slower:
            self._quicker(shift, here, self.reference)
            return
        accepted = self._accepted(shift)
        if isinstance(accepted, Acceptance):
            self.open, self.last, self.reference = [], self._told(shift, shift.state, here, accepted), None
        elif accepted is not None and not self.open:
            self.last, self.reference = self._told(shift, shift.state, here, accepted), None
        elif accepted is not None:  # announced: the frozen baseline is taken along, and what is open stays open
            self.reference = replace(self.reference, cost=self.reference.cost * (shift.after / shift.before))
        else:
            self.open.append(shift)

    def _quicker(self, shift: LevelShift, here: Level, reference: Level) -> None:
        if not self.open:
            self.last = self._told(shift, shift.state, here, None)
            self.reference = None
            return
        gap = math.log(shift.after / reference.cost)
        tolerance = self.scatter.tolerance(reference.nights, shift.after_nights)
        if gap > tolerance:
            self._take_partial(shift, reference)
            return
        state: State = "recovered" if gap >= -tolerance else "improved"
        self.open = []
        self.last = self._told(shift, state, here, None)
        self.reference = reference if shift.after > reference.cost else None

    def _take_partial(self, shift: LevelShift, reference: Level) -> None:
        """Faster, but still slower than the baseline: this level may be accepted even if the worst one never was."""
        self.open.append(shift)
        accepted = self._acknowledged(shift)
        if accepted is not None:
            self.last = replace(self._standing_of(reference), accepted=accepted)
            self.open, self.reference = [], None

    def _acknowledged(self, shift: LevelShift) -> Acceptance | None:
        for acceptance in self.acceptances:
            if (
                self.course.nights_between(acceptance.through, shift.since) <= shift.reach
                and shift.after <= acceptance.limit
            ):
                return acceptance
        return None

    def _accepted(self, shift: LevelShift) -> Acceptance | Expectation | None:
        acknowledged, nights_between = self._acknowledged(shift), self.course.nights_between
        if acknowledged is not None:
            return acknowledged
        for expected in self.expectations:
            early, late = nights_between(shift.since, expected.since), nights_between(expected.until, shift.since)
            if max(early, late) <= shift.reach and shift.ci_low <= expected.high and shift.ci_high >= expected.low:
                return expected
        return None

    def _told(
        self, shift: LevelShift, state: State, baseline: Level, accepted: Acceptance | Expectation | None
    ) -> ActiveChange:
        return ActiveChange(
            state, baseline, (shift,), baseline.cost, shift.after, *self._interval(baseline, shift), accepted=accepted
        )

    def _interval(self, baseline: Level, shift: LevelShift) -> tuple[float, float]:
        if baseline.cost == shift.before and math.isclose(
            math.sqrt((1 + shift.ci_low) * (1 + shift.ci_high)), 1 + shift.change, rel_tol=1e-9
        ):
            return shift.ci_low, shift.ci_high
        return interval(baseline, Level(shift.after, shift.after_nights), self.scatter)

    def end(self) -> ActiveChange:
        """Where it all led to."""
        if not self.open:
            return self.last
        assert self.reference is not None
        return self._standing_of(self.reference)

    def _standing_of(self, reference: Level) -> ActiveChange:
        assert self.now is not None
        now = Level(self.now.after, self.now.after_nights)
        gap = math.log(now.cost / reference.cost)
        newest = [shift for shift in self.open if shift.slower][-1]
        state: State = "drift" if newest.state == "drift" else "confirmed"
        if gap <= self.scatter.tolerance(reference.nights, now.nights):
            # slipped back without a change that could be proved: within what two equal levels may differ by
            state = "recovered"
        ends = self._interval(reference, self.now)
        return ActiveChange(state, reference, tuple(self.open), reference.cost, now.cost, *ends)


def interval(before: Level, after: Level, scatter: Scatter) -> tuple[float, float]:
    """The 95 % interval of `after / before - 1`."""
    step = math.log(after.cost / before.cost)
    half = INTERVAL_SCORE * scatter.error(before.nights, after.nights)
    return math.expm1(step - half), math.expm1(step + half)


def limit_of(active: ActiveChange) -> float:
    """The slowest level (a cost) that an acknowledgement of a standing vouches for: twice the half width of its interval."""
    assert active.after is not None
    assert active.ci_high is not None
    assert active.change is not None
    half = math.log((1 + active.ci_high) / (1 + active.change))
    return active.after * math.exp(2 * half)
