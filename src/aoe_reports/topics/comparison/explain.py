"""Why a step takes longer or shorter than before: the whole change, in parts that add up to it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from aoe_reports.engine.ask import asking
from aoe_reports.engine.question import Argument, CaptureOptions, Finished, Question, Request, only, trim
from aoe_reports.model.findings import Finding
from aoe_reports.model.history.expected import find_absent
from aoe_reports.model.options import option, options
from aoe_reports.model.rows import US, Rows, column, row
from aoe_reports.model.texts import N_, say
from aoe_reports.topics.comparison.memory import ComparedMemory, MemoryPeak, PeakPart, compare_memory

if TYPE_CHECKING:
    from fractions import Fraction

    from aoe_reports.topics.comparison.compared_runs import RunUnit
    from aoe_reports.topics.comparison.explained_runs import ExplainedRun, Place
    from aoe_reports.topics.comparison.waterfall import Waterfall


ExplainedBy = Literal["op_type", "op_name"]


@options
class ExplainOptions(CaptureOptions):
    """What is explained."""

    by: ExplainedBy = option(
        default="op_type", help="Key by which kernels are grouped; where only a timeline has them, always op_name."
    )
    top: int = option(default=15, minimum=1, maximum=10_000, help="Number of parts per device; the others are one row.")
    rank: int | None = only("rank")
    trim: bool = trim()
    force: bool = option(
        default=False,
        help="Explain even if a comparison is known not to be valid.",
        flags=["--force"],
        only_here=say("what is forced"),
    )


@row
class ChangePart:
    """A part of the change of a mean step: the parts of a device add up to its change, to the nanosecond.

    `before_ns` and `after_ns` are what the operator, or the cause of idle time, takes of a step with nothing hiding it. `location` is
    the layer, else the module, in which at least half of it happened; where layers changed alike, `layers_changed` of `layers` did,
    and `location` is the module that they have in common.
    """

    position: int = column("#", "integer")
    baseline: str = column()
    candidate: str = column()
    rank_id: int | None = column("Rank", "integer", default=None)
    device_id: int | None = column(default=None)
    area: str | None = column("Part", "word", default=None)
    cause: str = column("Cause", "word")
    name: str | None = column("Operator", default=None)
    location: str | None = column("Launched in", default=None)
    told_by: str | None = column("Identified by", detail=True, default=None)
    layers_changed: int | None = column("Layers changed alike", "integer", detail=True, default=None)
    layers: int | None = column("Layers with it", "integer", detail=True, default=None)
    before_ns: int | None = column("All of it before", unit=US, default=None)
    after_ns: int | None = column("All of it after", unit=US, default=None)
    calls_before: float | None = column("Calls before", "number", detail=True, default=None)
    calls_after: float | None = column("Calls after", "number", detail=True, default=None)
    difference_ns: int = column("Difference", unit=US)
    share: float | None = column("Share of the change", "percent", default=None)
    reached_ns: int = column("Step becomes", unit=US)


@row
class ExplainedStep:
    """The mean step of a device before and after: all time from its first to its last task, divided by the number of steps."""

    baseline: str = column()
    candidate: str = column()
    rank_id: int | None = column()
    device_id: int | None = column()
    baseline_steps: int = column()
    candidate_steps: int = column()
    baseline_told_by: str = column()
    candidate_told_by: str = column()
    before_ns: int = column(unit=US)
    after_ns: int = column(unit=US)
    difference_ns: int = column(unit=US)
    ratio: float | None = column()
    computing_ns: int = column(unit=US)
    communication_ns: int = column(unit=US)
    idle_ns: int = column(unit=US)
    awaited_before: int | None = column()
    awaited_after: int | None = column()


@row
class Condition:
    """What is known of both runs: what differs may be the reason."""

    what: str = column("Condition", "word")
    before: str | None = column("Before")
    after: str | None = column("After")
    differs: bool = column()


class Explain(Question[ExplainOptions, "ExplainedRun | None"]):
    """Explain why a step takes longer or shorter. Divides the whole change into computing, communication that nothing hides, and idle time, by cause; the parts add up to it."""

    example = "explain before after"
    page = "explain"
    title = "Why a step changed"
    options = ExplainOptions
    tables = (
        ("rows", ChangePart), ("steps", ExplainedStep), ("conditions", Condition), ("memory", PeakPart),
        ("memory_peaks", MemoryPeak),
    )  # fmt: skip
    form_help = "Output format; csv omits steps, conditions and memory, svg draws the largest change of a step and that of the highest peak of memory."
    has_picture = True
    arguments = (
        Argument(name="baseline", help="Baseline: one run.", many=False),
        Argument(name="candidate", help="Candidate: the run to explain.", many=False),
    )

    def discover(self, paths: Sequence[Path], asked: Request[ExplainOptions]) -> list[RunUnit]:
        """The run below each path; the first is the baseline."""
        from aoe_reports.topics.comparison.compared_runs import find_side

        found = [find_side(path, asked.options.max_expanded, asked.notes) for path in paths]
        return [unit for unit in found if unit is not None]

    def units(self, files: list[RunUnit], asked: Request[ExplainOptions]) -> list[RunUnit]:
        """The runs."""
        del asked
        return files

    def map_unit(self, unit: RunUnit, asked: Request[ExplainOptions]) -> ExplainedRun | None:
        """What the devices of one run did."""
        from aoe_reports.topics.comparison.explained_runs import read_explained

        return read_explained(unit, asked.options, asked.notes)

    def finish(self, parts: Sequence[tuple[RunUnit, ExplainedRun | None]], asked: Request[ExplainOptions]) -> Finished:
        """The candidate against the baseline, device by device."""
        from aoe_reports.topics.comparison.explain_words import headline_of, picture_of, sections_of
        from aoe_reports.topics.comparison.explained_runs import tell_waits
        from aoe_reports.topics.comparison.memory_words import memory_sections, picture_of_memory, with_memory

        findings, runs = asked.notes.findings, {unit.path: run for unit, run in parts}
        sides = [run for path in asked.inputs if (run := runs.get(path)) is not None]
        rows: list[ChangePart] = []
        steps: list[ExplainedStep] = []
        conditions: list[Condition] = []
        memory = ComparedMemory([], [])
        if len(sides) == len(asked.inputs):
            before, after = sides
            conditions = list(_conditions(before, after))
            if _may_be_explained(before, after, findings, force=asked.options.force):
                findings += tell_waits(sides)
                memory = compare_memory(before.compared, [after.compared], asked.options.top, findings)
                for places in () if before.compared.of_memory else _paired(before, after, findings):
                    findings += _told_apart(places, before, after)
                    if _is_other_step(places, before, after) and not asked.options.force:
                        findings.append(_other_step(places[1], after))
                        continue
                    from aoe_reports.topics.comparison.waterfall import waterfall_of

                    waterfall = waterfall_of(before.sides[places[0]], after.sides[places[1]])
                    steps.append(_step(places, before, after, waterfall))
                    rows += _rows(places, before, after, waterfall, asked.options.top)
        return Finished(
            tables=(
                Rows(type=ChangePart, rows=rows),
                Rows(type=ExplainedStep, rows=steps, key="steps"),
                Rows(type=Condition, rows=conditions, key="conditions"),
                Rows(type=PeakPart, rows=memory.parts, key="memory"),
                Rows(type=MemoryPeak, rows=memory.peaks, key="memory_peaks"),
            ),
            headline=with_memory(headline_of(steps, rows), memory),
            sections=[*sections_of(steps, rows, conditions), *memory_sections(memory)],
            pictures=[one for one in (picture_of(steps, rows), picture_of_memory(memory)) if one is not None],
        )


explain = asking(Explain(), ExplainOptions)
"""Why a step changed from the first path to the second: `explain([before, after]).rows`."""

_Pair = tuple["Place", "Place"]
"""The device before, and after."""
_MAY_DIFFER = ("CANN version", "number of steps", "shape recording")
"""What may differ where a change is explained: steps are mean ones, inputs are left out where one side has none."""


def _may_be_explained(before: ExplainedRun, after: ExplainedRun, findings: list[Finding], *, force: bool) -> bool:
    from aoe_reports.topics.comparison.compared_runs import may_be_compared

    return may_be_compared(before.compared, after.compared, findings, by="op_type", force=force, leave_out=_MAY_DIFFER)


def _conditions(before: ExplainedRun, after: ExplainedRun) -> Iterator[Condition]:
    from aoe_reports.topics.comparison.compared_runs import FACTS, settings_of, words_of

    runs = (before.compared, after.compared)
    for what, of in FACTS.items():
        told = [of(run) for run in runs]
        words = [None if one is None else words_of(one) for one in told]
        if words != [None, None]:
            yield Condition(what=say(what), before=words[0], after=words[1], differs=words[0] != words[1])
    stated = [settings_of(run) for run in runs]
    for name in sorted({*stated[0], *stated[1]}):
        values = [one.get(name) for one in stated]
        yield Condition(what=name, before=values[0], after=values[1], differs=values[0] != values[1])


def _paired(before: ExplainedRun, after: ExplainedRun, findings: list[Finding]) -> list[_Pair]:
    """Devices of one rank and number; of two runs with a device each these two."""
    from aoe_reports.topics.rules import COMPARABILITY_UNKNOWN, NOT_COMPARABLE

    same = [place for place in before.sides if place in after.sides]
    if not same and len(before.sides) == len(after.sides) == 1:
        message = say("the rank differs from the baseline or is unknown")
        findings.append(COMPARABILITY_UNKNOWN.found(after.compared.label, message))
        return [(next(iter(before.sides)), next(iter(after.sides)))]
    moved = _moved(before, after, {place[0] for place in same})
    if not same and not moved:
        message = say("not comparable with {baseline}: no rank is on both sides", baseline=before.compared.label)
        findings.append(NOT_COMPARABLE.found(after.compared.label, message))
        return []
    findings += [*_absent(before, after), *_absent(after, before)]
    return sorted([*((place, place) for place in same), *moved], key=lambda pair: _order(pair[0]))


def _moved(before: ExplainedRun, after: ExplainedRun, paired: Collection[int | None]) -> list[_Pair]:
    """Ranks that moved to a device of another number."""
    sides = [{place[0]: place for place in run.sides if place[0] not in paired} for run in (before, after)]
    shared = sides[0].keys() & sides[1].keys() - {None}
    return [(sides[0][rank], sides[1][rank]) for rank in shared]


def _absent(run: ExplainedRun, other: ExplainedRun) -> list[Finding]:
    """The ranks of another run that one lacks."""
    reason = say("{run} has it", run=other.compared.label)
    expected = {str(rank): reason for rank, _ in sorted(other.sides, key=_order) if rank is not None}
    return find_absent(run.compared.label, "rank", expected, {str(rank) for rank, _ in run.sides})


_SOURCES = N_({"timeline": "its timeline", "tasks": "its table of tasks", "steps": "its table of steps"})


def _told_apart(places: _Pair, before: ExplainedRun, after: ExplainedRun) -> list[Finding]:
    """What two sides do not tell alike."""
    from aoe_reports.topics.rules import COMPARABILITY_UNKNOWN

    told = [run.sides[place].exposed.told_by for run, place in zip((before, after), places, strict=True)]
    sides = before.sides[places[0]], after.sides[places[1]]
    messages = []
    if told[0] != told[1]:
        what = say(
            "the baseline comes from {before}, this from {after}: communication and idle time are one part, without a cause",
            before=say(_SOURCES[told[0]]),
            after=say(_SOURCES[told[1]]),
        )
        messages.append(what)
    if None not in (sides[0].calls, sides[1].calls) and sides[0].grouped_by != sides[1].grouped_by:
        messages.append(say("only one side has types of kernels: computing is one part; --by op_name divides it"))
    if sides[0].steps_known != sides[1].steps_known:
        messages.append(say("only one side has steps: the other counts as one step"))
    return [COMPARABILITY_UNKNOWN.found(after.compared.label, message) for message in messages]


def _is_other_step(places: _Pair, before: ExplainedRun, after: ExplainedRun) -> bool:
    """Whether one side has its table of steps alone: its steps do not begin and end where those made of tasks do."""
    sources = [run.sides[place].exposed.told_by for run, place in zip((before, after), places, strict=True)]
    return sources.count("steps") == 1


def _other_step(place: Place, after: ExplainedRun) -> Finding:
    from aoe_reports.topics.rules import NOT_COMPARABLE

    message = say(
        "rank {rank}: not comparable: only one side has tasks, and a step of the table of steps has other ends; --force compares them anyway",
        rank=say("unknown") if place[0] is None else place[0],
    )
    return NOT_COMPARABLE.found(after.compared.label, message)


def _order(place: Place) -> tuple[int, int]:
    return (-1 if place[0] is None else place[0], -1 if place[1] is None else place[1])


def _step(places: _Pair, before: ExplainedRun, after: ExplainedRun, waterfall: Waterfall) -> ExplainedStep:
    areas = dict.fromkeys(("computing", "communication", "idle"), 0)
    for part in waterfall.parts:
        areas[part.area] += part.change_ns
    ratio = round(waterfall.after_ns / waterfall.before_ns, 6) if waterfall.before_ns else None
    return ExplainedStep(
        baseline=before.compared.label,
        candidate=after.compared.label,
        rank_id=places[1][0],
        device_id=places[1][1],
        baseline_steps=before.sides[places[0]].steps,
        candidate_steps=after.sides[places[1]].steps,
        baseline_told_by=before.sides[places[0]].exposed.told_by,
        candidate_told_by=after.sides[places[1]].exposed.told_by,
        before_ns=waterfall.before_ns,
        after_ns=waterfall.after_ns,
        difference_ns=waterfall.change_ns,
        ratio=ratio,
        computing_ns=areas["computing"],
        communication_ns=areas["communication"],
        idle_ns=areas["idle"],
        awaited_before=before.awaited,
        awaited_after=after.awaited,
    )


def _rows(
    places: _Pair, before: ExplainedRun, after: ExplainedRun, waterfall: Waterfall, top: int
) -> Iterator[ChangePart]:
    from aoe_reports.topics.comparison.change_locations import ChangeLocations
    from aoe_reports.topics.comparison.waterfall import without_the_small

    parts, others, rest = without_the_small(waterfall, top)
    locations = ChangeLocations(before.sides[places[0]], after.sides[places[1]])
    reached = waterfall.before_ns
    where: dict[str, Any] = {
        "baseline": before.compared.label,
        "candidate": after.compared.label,
        "rank_id": places[1][0],
        "device_id": places[1][1],
    }
    whole = waterfall.change_ns
    for position, part in enumerate(parts, start=1):
        reached += part.change_ns
        found = locations.of(part)
        yield ChangePart(
            **where,
            position=position,
            area=part.area,
            cause=part.cause,
            name=part.name or None,
            location=found.location,
            told_by=found.told_by,
            layers_changed=found.layers_changed,
            layers=found.layers,
            before_ns=round(part.before),
            after_ns=round(part.after),
            calls_before=_count(part.count_before),
            calls_after=_count(part.count_after),
            difference_ns=part.change_ns,
            share=_share(part.change_ns, whole),
            reached_ns=reached,
        )
    if others:
        yield ChangePart(
            **where,
            position=len(parts) + 1,
            cause="others",
            difference_ns=rest,
            share=_share(rest, whole),
            reached_ns=reached + rest,
        )


def _count(value: Fraction | None) -> float | None:
    return None if value is None else round(float(value), 3)


_LARGEST_SHARE = 10
"""Parts that are larger cancel each other out: of next to no change they are no share."""


def _share(change_ns: int, whole_ns: int) -> float | None:
    return round(change_ns / whole_ns, 6) if abs(change_ns) <= abs(whole_ns) * _LARGEST_SHARE and whole_ns else None
