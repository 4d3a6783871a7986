"""Which builds to measure next, between an older build and a newer one that is slower: `ab --next`."""

from __future__ import annotations

from collections.abc import Sequence
from math import expm1, log
from pathlib import Path
from statistics import median

from aoe_reports.engine.ask import Progress, no_progress
from aoe_reports.engine.fleet.executors import Executor
from aoe_reports.engine.question import Answer, Notes
from aoe_reports.formats.build_list import Build, read_builds
from aoe_reports.jobs.ab.answer import AbAnswer
from aoe_reports.jobs.ab.naming import named_alike
from aoe_reports.jobs.ab.options import AbOptions
from aoe_reports.jobs.ab.repeats import Quantity, Repeat, given_twice, read_side
from aoe_reports.jobs.ab.rules import NOTHING_IN_COMMON
from aoe_reports.jobs.ab.verdicts import FIRST
from aoe_reports.model.findings import has, in_order
from aoe_reports.model.history.metrics import Better, value_change, value_of
from aoe_reports.model.rows import Rows
from aoe_reports.model.sides import BuildRow
from aoe_reports.model.texts import Text, count_of, join, say
from aoe_reports.stats.bisection import Plan, plan_next

MAX_NAMED = 3


def plan_builds(
    path: Path, options: AbOptions, *, executor: Executor | None = None, progress: Progress = no_progress
) -> Answer:
    """The builds of a list, what is measured of them, and which of them to measure next. Raises UsageError."""
    options.check()
    builds, notes = read_builds(path), Notes()
    repeats = [
        read_side(build.paths, options, notes, executor=executor, progress=progress) if build.paths else []
        for build in builds
    ]
    notes.add(given_twice(repeats))
    chosen = _values(repeats, options)
    if chosen is None and not has(notes.findings, "error"):
        text = say("no quantity here is measured of the first and the last build")
        notes.findings.append(NOTHING_IN_COMMON.found(str(path), text))
    rows, headline, why = [], say(""), []
    if chosen is not None:
        quantity, better, costs = chosen
        plan = plan_next([[log(cost) for cost in of_build] for of_build in costs], machines=options.machines)
        rows = _rows(builds, costs, plan, better)
        headline = _headline(builds, quantity, plan, value_change(expm1(plan.effect), better))
        too_few = plan.state == "ends-not-apart" and plan.scatter is None and options.fail_on != "never"
        why = ["not-enough-repeats"] if too_few else []
    return AbAnswer(
        command="ab",
        title=say("Which build changed"),
        inputs=(str(path),),
        findings=in_order(notes.findings),
        unreadable=notes.unreadable,
        tables=(Rows(type=BuildRow, rows=rows, oldest_first=True),),
        headline=headline,
        why=why,
    )


def _values(
    repeats: Sequence[Sequence[Repeat]], options: AbOptions
) -> tuple[Quantity, Better, list[list[float]]] | None:
    """(the quantity that is searched by, which direction is good, its costs of each build): what is measured as a whole, else the first there is."""
    measured = [side for side in repeats if side]
    names, _ = named_alike(repeats)
    of_builds: list[dict[Quantity, list[tuple[float, Better]]]] = []
    for side, named in zip(repeats, names, strict=True):
        values: dict[Quantity, list[tuple[float, Better]]] = {}
        for repeat, common in zip(side, named, strict=True):
            for quantity, value in repeat.values.items():
                values.setdefault(common[quantity], []).append((value.cost, value.better))
        of_builds.append(values)
    both = [
        quantity
        for quantity in of_builds[0]
        if quantity in of_builds[-1] and (not options.metric or quantity.name in options.metric)
    ]
    if not measured or not both:
        return None
    quantity = next((quantity for quantity in both if quantity.scope in FIRST), both[0])
    return (
        quantity,
        of_builds[0][quantity][0][1],
        [[cost for cost, _ in values.get(quantity, [])] for values in of_builds],
    )


def _rows(builds: Sequence[Build], costs: Sequence[Sequence[float]], plan: Plan, better: Better) -> list[BuildRow]:
    chances = {boundary.after: boundary.probability for boundary in plan.posterior}
    first = median(costs[0])
    return [
        BuildRow(
            position=index + 1,
            build=build.name,
            repeats=len(of_build),
            value=value_of(median(of_build), better) if of_build else None,
            change=value_change(median(of_build) / first - 1, better) if of_build else None,
            probability=chances.get(index),
            measure=plan.repeats if index in plan.builds else None,
        )
        for index, (build, of_build) in enumerate(zip(builds, costs, strict=True))
    ]


def _headline(builds: Sequence[Build], quantity: Quantity, plan: Plan, change: float) -> Text:
    what = say("The step") if quantity.scope == "step" else quantity.name
    if plan.state == "found":
        boundary = plan.likely[0]
        return say(
            "{what} changed by {change:+.1%} with build {build} (probability {chance:.0%}; {before} is the last before).",
            what=what,
            change=change,
            build=builds[boundary.after].name,
            chance=boundary.probability,
            before=builds[boundary.before].name,
        )
    if plan.state == "no-single-step":
        return say("{what} did not change in one build: there are several changes, or a drift.", what=what)
    names = join(", ", [builds[index].name for index in plan.builds[:MAX_NAMED]])
    if plan.state == "ends-not-apart" and plan.repeats is None:
        return say(
            "{what}: the first and the last build are not proved to differ: more than 1,000 repeats would be needed.",
            what=what,
        )
    more = _more_repeats(plan.repeats)
    if plan.state == "ends-not-apart":
        return say(
            "{what}: the first and the last build are not proved to differ; measure {names} again ({more}).",
            what=what,
            names=names,
            more=more,
        )
    return say(
        "{what} changed by {change:+.1%} in one of {count} builds: measure {names} next ({more}); about {rounds} to go.",
        what=what,
        change=change,
        count=len(plan.likely),
        names=names,
        more=more,
        rounds=count_of(plan.rounds, "{number} round", "{number} rounds"),
    )


def _more_repeats(repeats: int | None) -> Text:
    if repeats is None:
        return say("more than 1,000 repeats would be needed")
    return count_of(repeats, "{number} repeat each", "{number} repeats each")
