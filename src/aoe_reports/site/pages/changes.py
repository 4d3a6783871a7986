"""What the difference between a step of two runs consists of: parts that add up to it, but for nanoseconds of rounding.

`assets/compare.js` does the same for any two runs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import floor

from aoe_reports.history.site_facts import Groups, RunDetails
from aoe_reports.model.history.causes import reason_words
from aoe_reports.model.history.changes import MIN_STEP_SHARE, is_small
from aoe_reports.model.history.runs import StepTimes
from aoe_reports.model.pictures.waterfall import BarKind, WaterfallBar, WaterfallPicture
from aoe_reports.model.texts import N_, Text, say
from aoe_reports.present.values import show
from aoe_reports.site.texts import PART_WORDS

ROUNDING_NS = 3
"""Parts are stored in whole nanoseconds: what three of them do not explain is no part."""
SHOWN_PARTS = 8
"""Operators with a bar of their own; the others share one."""
OTHERS_WORDS = N_(
    {
        "others": "{count} other operators",
        "small_others": "{count} others, each less than {floor} of the step",
        "small_others_of_tasks": "{count} others, each less than {floor} of all compute tasks",
    }
)
"""What operators are called that share a bar."""
WHOLE_WORDS = N_({"step": "the step", "tasks": "all compute tasks"})
CAUSE_WORDS = {
    cause: str(reason_words(cause))
    for cause in ("slower-calls", "faster-calls", "more-calls", "fewer-calls", "new", "vanished")
}
Place = tuple[int | None, int | None]


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the difference, in ns of one step; an operator has a name and a cause, operators that share a bar their number."""

    part: str
    name: str | None
    cause: str | None
    difference_ns: int
    count: int | None = None


@dataclass(frozen=True, slots=True)
class StepChange:
    """The difference of the step that differs most, or, where no steps are stored, of all compute tasks."""

    rank_id: int | None
    device_id: int | None
    of_step: bool
    before_ns: int
    after_ns: int
    parts: Sequence[Part]
    """The largest operators first, then what is no operator."""
    has_steps: bool = True
    """Whether both runs have steps, even of other ranks."""

    @property
    def share(self) -> float:
        """The difference as a share of the time before."""
        return self.after_ns / self.before_ns - 1 if self.before_ns else 0.0

    @property
    def is_same(self) -> bool:
        """Whether the step differs by less than steps do from night to night."""
        return self.of_step and is_small(self.share)

    def is_minor(self, part: Part) -> bool:
        """Whether a part is too small to be a finding."""
        return _is_minor(part.difference_ns, self.before_ns)


def rounded(number: float) -> int:
    """The nearest whole number, as JavaScript rounds."""
    return floor(number + 0.5)


def cause_of(before: tuple[float, float] | None, after: tuple[float, float] | None) -> str | None:
    """Why calls (their count and time) take more or less: what explains more of it, their number or how long they take."""
    if before is None or after is None:
        return "new" if before is None else "vanished"
    if not before[0] or not after[0] or before[1] == after[1]:
        return None
    longer = after[1] - before[1] * after[0] / before[0]
    more = after[1] - before[1] - longer
    if abs(longer) >= abs(more):
        return "slower-calls" if longer > 0 else "faster-calls"
    return "more-calls" if more > 0 else "fewer-calls"


def is_of(place: Place, rank: int | None, device: int | None) -> bool:
    """Whether tasks are of the device of a step; a table of steps names no device where the framework wrote it."""
    return rank == place[0] and (device == place[1] or None in {device, place[1]})


def change_of(before: RunDetails, after: RunDetails) -> StepChange | None:
    """None where the runs have no step and no compute tasks in common."""
    steps = [{(step.rank_id, step.device_id, step.workload): step for step in side.steps} for side in (before, after)]
    both = [(was, steps[1][key]) for key, was in steps[0].items() if key in steps[1]]
    timed = [(was, became) for was, became in both if was.step_ms and became.step_ms]
    if timed:
        was, became = max(timed, key=lambda pair: abs((pair[1].step_ms or 0) - (pair[0].step_ms or 0)))
        return _of_step(was, became, before.groups, after.groups)
    totals = [_by_place(side.groups) for side in (before, after)]
    places = [place for place in totals[0] if place in totals[1]]
    if not places:
        return None
    place = max(places, key=lambda place: abs(sum(_times(totals[1][place])) - sum(_times(totals[0][place]))))
    sides = totals[0][place], totals[1][place]
    whole = [sum(_times(side)) for side in sides]
    has_steps = all(any(step.step_ms for step in side.steps) for side in (before, after))
    return StepChange(*place, False, whole[0], whole[1], list(_operators(*sides, (1, 1), whole[0])), has_steps)


Calls = dict[tuple[str | None, str | None], tuple[int | None, int]]
"""(count, total in ns) by (operator type, name)."""


def _times(calls: Calls) -> list[int]:
    return [total for _, total in calls.values()]


def _by_place(groups: Groups) -> dict[Place, Calls]:
    """The operators of each place, of a run without operators its types."""
    scopes: dict[str, dict[Place, Calls]] = {"op": defaultdict(dict), "op_type": defaultdict(dict)}
    for key, count, total in zip(groups.keys, groups.counts, groups.totals_ns, strict=True):
        scope, rank, device, op_type, name, _ = key
        if scope in scopes:
            calls = scopes[scope][rank, device]
            known = calls.get((op_type, name), (0, 0))
            calls[op_type, name] = ((known[0] or 0) + (count or 0), known[1] + total)
    return scopes["op"] or scopes["op_type"]


def _of_step(was: StepTimes, became: StepTimes, before: Groups, after: Groups) -> StepChange:
    """The parts of a step: operators, communication and free time, and what none of them explains."""
    place = was.rank_id, was.device_id
    whole = [rounded((step.step_ms or 0) * 1e6) for step in (was, became)]
    parts: list[Part] = []
    sides = [
        next((calls for at, calls in _by_place(groups).items() if is_of(place, *at)), None)
        for groups in (before, after)
    ]
    if sides[0] and sides[1] and was.steps and became.steps:
        parts += _operators(sides[0], sides[1], (was.steps, became.steps), whole[0])
    else:
        parts += _between("computing", was.computing_ms, became.computing_ms)
    parts += _between("communication", was.communication_ms, became.communication_ms)
    parts += _between("free", was.free_ms, became.free_ms)
    left = whole[1] - whole[0] - sum(part.difference_ns for part in parts)
    if abs(left) > ROUNDING_NS:
        parts.append(Part("unattributed", None, None, left))
    return StepChange(*place, True, whole[0], whole[1], parts)


def _between(part: str, before_ms: float | None, after_ms: float | None) -> Iterator[Part]:
    if before_ms is not None and after_ms is not None and before_ms != after_ms:
        yield Part(part, None, None, rounded(after_ms * 1e6) - rounded(before_ms * 1e6))


def _operators(before: Calls, after: Calls, steps: tuple[int, int], whole_ns: int) -> Iterator[Part]:
    """The operators that differ most in a step, and all others together; what is minor is among the others."""
    differing = []
    for key in {**before, **after}:
        was, became = per_step(before.get(key), steps[0]), per_step(after.get(key), steps[1])
        difference = rounded(became[1] if became else 0) - rounded(was[1] if was else 0)
        if difference:
            differing.append(Part("operator", key[1] or key[0] or "?", cause_of(was, became), difference))
    differing.sort(key=lambda part: (-abs(part.difference_ns), part.name or ""))
    shown = [part for part in differing[:SHOWN_PARTS] if not _is_minor(part.difference_ns, whole_ns)]
    others = differing[len(shown) :]
    if len(others) == 1:
        shown, others = differing, []
    yield from shown
    rest = sum(part.difference_ns for part in others)
    if rest:
        kind = "small_others" if _is_minor(others[0].difference_ns, whole_ns) else "others"
        yield Part(kind, None, None, rest, len(others))


def _is_minor(difference_ns: int, whole_ns: int) -> bool:
    return is_small(difference_ns / whole_ns if whole_ns else None)


def per_step(calls: tuple[int | None, int] | None, steps: int) -> tuple[float, float] | None:
    """The count and time of calls in one step."""
    return None if calls is None else ((calls[0] or 0) / steps, calls[1] / steps)


def has_picture(change: StepChange) -> bool:
    """Whether any part is large enough to be looked at."""
    return not all(map(change.is_minor, change.parts))


def picture_of(change: StepChange) -> WaterfallPicture:
    """The step before, each part, the step after."""
    bars, reached = [WaterfallBar(say("before"), 0, change.before_ns, "whole")], change.before_ns
    for part in change.parts:
        is_minor = change.is_same or change.is_minor(part)
        kind: BarKind = "minor" if is_minor else "longer" if part.difference_ns > 0 else "shorter"
        bars.append(WaterfallBar(label_of(change, part), reached, reached + part.difference_ns, kind))
        reached += part.difference_ns
    title = say("Change per step by component") if change.of_step else say("Change of all compute tasks by operator")
    whole = say(WHOLE_WORDS["step" if change.of_step else "tasks"])
    return WaterfallPicture(title, (*bars, WaterfallBar(say("after"), 0, change.after_ns, "whole")), whole=whole)


def name_of(change: StepChange, part: Part) -> Text | str:
    """What a part is called, without its cause."""
    if part.name is not None:
        return part.name
    if part.count is None:
        return say(PART_WORDS[part.part])
    words = OTHERS_WORDS[part.part if change.of_step or part.part == "others" else f"{part.part}_of_tasks"]
    return say(words, count=part.count, floor=show(MIN_STEP_SHARE, "percent"))


def label_of(change: StepChange, part: Part) -> Text | str:
    """What the bar of a part is called: why it differs is said where that is no noise."""
    if part.name is None or part.cause is None or change.is_same or change.is_minor(part):
        return name_of(change, part)
    return say("{name}: {cause}", name=part.name, cause=reason_words(part.cause))
