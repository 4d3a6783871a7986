"""What `explain` found, in words: the headline, and a section for each device."""

from __future__ import annotations

from collections.abc import Sequence

from aoe_reports.model.history.causes import reason_words
from aoe_reports.model.pictures.waterfall import WaterfallPicture, bars_of
from aoe_reports.model.report import Grid, Section
from aoe_reports.model.rows import as_mapping, columns_of, telling_columns
from aoe_reports.model.shares import change_words
from aoe_reports.model.texts import Text, count_of, join, say
from aoe_reports.model.time_units import times_in_one_unit
from aoe_reports.topics.comparison.comparison_words import title_of
from aoe_reports.topics.comparison.explain import ChangePart, Condition, ExplainedStep

_NAMED = 3
"""So many parts are in a headline."""
_AREAS = {"computing": say("computing"), "communication": say("communication"), "idle": say("idle")}


def headline_of(steps: Sequence[ExplainedStep], rows: Sequence[ChangePart]) -> str:
    """How much the step changed that changed most, and the largest parts of it."""
    most = _largest_change(steps)
    if most is None:
        return ""
    parts = [part for part in rows if _whose(part) == _whose(most)]
    return say(
        "A step{rank}: {change}{parts}.{others}",
        rank="" if most.rank_id is None else say(" on rank {rank}", rank=most.rank_id),
        change=_change(most),
        parts=join("", (say("; {part}", part=_words(one)) for one in parts[:_NAMED] if one.cause != "others")),
        others=""
        if len(steps) == 1
        else count_of(len(steps) - 1, " {number} other device below.", " {number} other devices below."),
    )


def picture_of(steps: Sequence[ExplainedStep], rows: Sequence[ChangePart]) -> WaterfallPicture | None:
    """The waterfall of the step that changed most; None where nothing changed."""
    most = _largest_change(steps)
    parts = [(_label(row), row.difference_ns) for row in rows if most is not None and _whose(row) == _whose(most)]
    if most is None or not parts:
        return None
    rank = "" if most.rank_id is None else say(" on rank {rank}", rank=most.rank_id)
    return WaterfallPicture(
        say("A step{rank}: {change}", rank=rank, change=_change(most)), bars_of(most.before_ns, parts)
    )


def _largest_change(steps: Sequence[ExplainedStep]) -> ExplainedStep | None:
    return max(steps, key=lambda step: abs(step.difference_ns), default=None)


def _label(part: ChangePart) -> str:
    cause = reason_words(part.cause, part.area)
    if part.name is None:
        return cause
    where = _where(part)
    if where is None:
        return say("{name}: {cause}", name=part.name, cause=cause)
    return say("{name} in {where}: {cause}", name=part.name, where=where, cause=cause)


def _where(part: ChangePart) -> Text | str | None:
    """The layer or module in which a part happened, or in how many layers it did."""
    if part.layers_changed is None:
        return part.location
    if part.layers_changed == part.layers:
        layers = say("all {count} layers", count=part.layers)
    else:
        layers = say("{count} of {all} layers", count=part.layers_changed, all=part.layers)
    return layers if part.location is None else say("{module} ({layers})", module=part.location, layers=layers)


def _whose(step: ExplainedStep | ChangePart) -> tuple[int | None, int | None]:
    return step.rank_id, step.device_id


def _change(step: ExplainedStep) -> Text:
    (before, after), unit = times_in_one_unit(step.before_ns, step.after_ns)
    if step.ratio is None:
        return say("{before} → {after} {unit}", before=before, after=after, unit=unit)
    return say(
        "{change} ({before} → {after} {unit})",
        change=change_words(step.ratio - 1),
        before=before,
        after=after,
        unit=unit,
    )


def _words(part: ChangePart) -> Text:
    (time,), unit = times_in_one_unit(part.difference_ns)
    sign = "+" if part.difference_ns > 0 else ""
    return say("{what} {sign}{time} {unit}", what=_label(part), sign=sign, time=time, unit=unit)


def sections_of(
    steps: Sequence[ExplainedStep], rows: Sequence[ChangePart], conditions: Sequence[Condition]
) -> list[Section]:
    """What differs between the runs, then the parts of each device."""
    found = [_conditions(conditions)] if any(condition.differs for condition in conditions) else []
    for step in steps:
        mine = [
            as_mapping(row)
            | {"cause": reason_words(row.cause, row.area), "area": _AREAS.get(row.area or ""), "location": _where(row)}
            for row in rows
            if _whose(row) == _whose(step)
        ]
        grid = Grid(telling_columns(columns_of(ChangePart), mine), mine) if mine else None
        found.append(Section(title_of(step), _sentences(step), grid=grid))
    return found


def _conditions(conditions: Sequence[Condition]) -> Section:
    rows = [as_mapping(condition) for condition in conditions if condition.differs]
    return Section(
        say("What differs between the runs"), [], grid=Grid(telling_columns(columns_of(Condition), rows), rows)
    )


def _sentences(step: ExplainedStep) -> list[str]:
    sums = say(
        (
            "A mean step: before {before:,.3f} us (of {baseline_steps}), after {after:,.3f} us (of {candidate_steps}), "
            "difference {difference:+,.3f} us: computing {computing:+,.3f}, communication that nothing hides "
            "{communication:+,.3f}, idle {idle:+,.3f}."
        ),
        before=step.before_ns / 1000,
        after=step.after_ns / 1000,
        baseline_steps=_steps(step.baseline_steps),
        candidate_steps=_steps(step.candidate_steps),
        difference=step.difference_ns / 1000,
        computing=step.computing_ns / 1000,
        communication=step.communication_ns / 1000,
        idle=step.idle_ns / 1000,
    )
    if step.awaited_after is None:
        return [sums]
    waited = say("The rank that others wait for longest: {after}", after=step.awaited_after)
    if step.awaited_before not in {None, step.awaited_after}:
        return [sums, say("{waited} (before: {before}).", waited=waited, before=step.awaited_before)]
    return [sums, say("{waited}.", waited=waited)]


def _steps(count: int) -> Text:
    return count_of(count, "{number} step", "{number} steps")
