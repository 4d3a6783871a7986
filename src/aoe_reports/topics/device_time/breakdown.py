"""What devices did, and where they did nothing: by timelines, held against what the profiler says of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from aoe_reports.engine.ask import asking
from aoe_reports.engine.question import CaptureOptions, Finished, Question, Request, Unit, only, trim
from aoe_reports.model.errors import ReadError
from aoe_reports.model.findings import Finding, has
from aoe_reports.model.options import option, options
from aoe_reports.model.rows import Rows
from aoe_reports.model.texts import say
from aoe_reports.model.time_units import times_in_one_unit
from aoe_reports.model.topics.breakdown import Gap, Parts

if TYPE_CHECKING:
    from aoe_reports.facts.breakdown import DeviceBreakdown
    from aoe_reports.formats.capture import Capture
    from aoe_reports.formats.sources.found import FoundFile
    from aoe_reports.model.topics.steps import Step
    from aoe_reports.topics.quality.trimming import LeftOut


@options
class BreakdownOptions(CaptureOptions):
    """Which devices and steps are shown, and how many gaps of each device."""

    gaps: int = option(default=10, minimum=0, maximum=1000, help="Number of longest gaps per device.")
    rank: int | None = only("rank")
    device: int | None = only("device")
    step: int | None = only("step")
    trim: bool = trim()


@dataclass(frozen=True, slots=True)
class CaptureBreakdown:
    """What the devices of one capture did."""

    activities: list[Parts] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)
    counted: list[tuple[int, int]] = field(default_factory=list)
    """(how many gaps there are, how long all of them are together in ns) of each device."""


class Breakdown(Question[BreakdownOptions, CaptureBreakdown]):
    """Break down device time from timelines. Shows what each device did (a row without step covers all of its time) and its longest gaps."""

    example = "breakdown profile --gaps 20"
    page = "tutorial"
    title = "Breakdown"
    options = BreakdownOptions
    tables = (("rows", Parts), ("gaps", Gap))
    form_help = "Output format; csv omits the gaps."
    nothing = "no device task in a timeline here"
    every_rank = "rows"

    def map_unit(self, unit: Unit, asked: Request[BreakdownOptions]) -> CaptureBreakdown:
        """What the devices of one capture did; what was read before something that cannot be read stays."""
        from aoe_reports.formats.vendor import vendor_of
        from aoe_reports.topics.rules import NO_TIMELINE

        capture, notes, found = unit.capture, asked.notes, CaptureBreakdown()
        notes.add(capture.findings)
        exports = vendor_of(capture.profiler).events(capture)
        if not exports:
            message = say("no timeline of the whole device here (trace_view, msprof) and no database that contains one")
            notes.add([NO_TIMELINE.found(unit.path, message)])
        with notes.where_unreadable(unit.path):
            left_out = _told_by_tables(capture, asked)
            for files in exports:
                _read_export(files, unit, asked, found, left_out)
        return found

    def finish(self, parts: Sequence[tuple[Unit, CaptureBreakdown]], asked: Request[BreakdownOptions]) -> Finished:
        """The devices below one another, and their gaps."""
        activities = [activity for _, found in parts for activity in found.activities]
        gaps = Rows(
            type=Gap,
            rows=[gap for _, found in parts for gap in found.gaps],
            key="gaps",
            title="Longest gaps in computing",
            sentences=[_said_of_gaps([one for _, found in parts for one in found.counted], asked.options)],
            of_runs=True,
        )
        return Finished(tables=(Rows(type=Parts, rows=activities, of_runs=True), gaps), headline=_headline(activities))


breakdown = asking(Breakdown(), BreakdownOptions)
"""What the devices below some paths did: `breakdown([path], gaps=3).table("gaps")`."""


def _headline(rows: Sequence[Parts]) -> str:
    """What the time of all devices goes into."""
    whole = [row for row in rows if row.step is None] or rows
    total = sum(row.end_to_end_ns for row in whole)
    if not total:
        return ""
    devices = len({(row.run, row.rank_id, row.device_id) for row in whole})
    (time,), unit = times_in_one_unit(total)
    of_all = say(
        "Of {time} {unit}{devices}",
        time=time,
        unit=unit,
        devices="" if devices == 1 else say(" of {count} devices", count=devices),
    )
    computing = sum(row.computing_ns for row in whole) / total
    known = [(row.communication_not_overlapped_ns, row.free_ns) for row in whole]
    exposed, free = (sum(values) if None not in values else None for values in zip(*known, strict=True))
    if exposed is None or free is None:
        return say(
            "{of_all}, {computing:.1%} is computing; communication is not known.", of_all=of_all, computing=computing
        )
    return say(
        "{of_all}, {computing:.1%} is computing, {exposed:.1%} exposed communication and {free:.1%} free.",
        of_all=of_all,
        computing=computing,
        exposed=exposed / total,
        free=free / total,
    )


def _said_of_gaps(counted: Sequence[tuple[int, int]], chosen: BreakdownOptions) -> str:
    """How many gaps there are in all, and which of them are listed."""
    listed = say("at most {most:,} of each device are listed, the longest first", most=chosen.gaps)
    if chosen.step is not None:
        listed = say(
            "those of step {step} of the {most:,} longest of each device are listed", step=chosen.step, most=chosen.gaps
        )
    return say(
        "Gaps between two compute tasks: {count:,}, together {total:,.3f} ms; {listed}.",
        count=sum(count for count, _ in counted),
        total=sum(total_ns for _, total_ns in counted) / 1e6,
        listed=listed,
    )


def _read_export(
    files: Sequence[FoundFile],
    unit: Unit,
    asked: Request[BreakdownOptions],
    found: CaptureBreakdown,
    left_out: LeftOut | None,
) -> None:
    """Take in what one export, all of its slices, tells of its devices; `left_out` where a table tells steps that are to be."""
    from aoe_reports.engine.captures import collect_events_of, only_device_of
    from aoe_reports.facts.breakdown import EVENT_COLUMNS, Activity
    from aoe_reports.topics.quality.trimming import steps_differ
    from aoe_reports.topics.rules import NO_TIMELINE

    chosen, notes, info = asked.options, asked.notes, unit.capture.info
    path, iteration = str(files[0].path), files[0].name.iteration
    events, wrong = collect_events_of(files, EVENT_COLUMNS, Activity)
    notes.add(wrong)
    devices = events.break_down(chosen.gaps)
    if not devices and not has(wrong, "error"):
        notes.add([NO_TIMELINE.found(path, say("no device task in this timeline"))])
    steps = _stated_steps(unit.capture) if any(device.steps for device in devices) else []
    numbers = [device.device_id for device in devices]
    if numbers == [None]:
        numbers = [only_device_of(files[0], unit.capture)]
    gone = _left_out(devices, numbers, unit, asked, left_out)
    if iteration is None and left_out is not None and any(gone.values()) and not _tell_any(devices, gone):
        gone = {}
        notes.add([steps_differ(path)])
    if any(gone.values()):
        devices = events.break_down(chosen.gaps, gone)
    for device, number in zip(devices, numbers, strict=True):
        rank, mine = info.rank_of(number), gone.get(device.device_id, frozenset())
        notes.add(_judged(device, rank, steps, path, is_trimmed=bool(mine)))
        if chosen.rank not in {None, rank} or chosen.device not in {None, number} or iteration in mine:
            continue
        found.activities.extend(
            replace(parts, run=unit.run, rank_id=rank, device_id=number, step=step)
            for step, parts in [(iteration, device.whole), *device.steps.items()]
            if chosen.step in {None, step}
        )
        found.counted.append((device.gap_count, device.gaps_ns))
        gaps = [gap for gap in device.gaps if chosen.step in {None, gap.step, iteration}]
        found.gaps.extend(
            replace(
                gap,
                position=position,
                run=unit.run,
                rank_id=rank,
                device_id=number,
                step=iteration if gap.step is None else gap.step,
            )
            for position, gap in enumerate(gaps, start=1)
        )


def _told_by_tables(capture: Capture, asked: Request[BreakdownOptions]) -> LeftOut | None:
    """The steps that --trim leaves out by a table of steps; null where that is not asked for, or only the timeline tells steps."""
    from aoe_reports.engine.captures import timeline_tells_steps
    from aoe_reports.topics.quality.trimming import note_unusual_of_table, read_unusual

    if not asked.options.trim:
        if asked.options.step is None:
            note_unusual_of_table(capture, asked.notes, rank=asked.options.rank, device=asked.options.device)
        return None
    if timeline_tells_steps(capture):
        return None

    return read_unusual(capture, asked.notes)


def _left_out(
    devices: Sequence[DeviceBreakdown],
    numbers: Sequence[int | None],
    unit: Unit,
    asked: Request[BreakdownOptions],
    out: LeftOut | None,
) -> dict[int | None, frozenset[int]]:
    """The steps of each device of an export that are left out."""
    if not asked.options.trim:
        return {}
    from aoe_reports.topics.quality.trimming import numbers_left_out, unusual_in_timeline

    rank_of = unit.capture.info.rank_of
    places = {(rank_of(number), number): one for one, number in zip(devices, numbers, strict=True)}
    return numbers_left_out(places, unusual_in_timeline(places, unit.path, asked.notes) if out is None else out)


def _tell_any(devices: Sequence[DeviceBreakdown], gone: Mapping[int | None, frozenset[int]]) -> bool:
    """Whether a timeline tells any of the steps that are left out."""
    return any(not gone.get(device.device_id, frozenset()).isdisjoint(device.steps) for device in devices)


def _stated_steps(capture: Capture) -> list[Step]:
    """What a table says of the steps; nothing where it cannot be read, which `check` says, and where only the timeline tells."""
    from aoe_reports.engine.captures import read_source, read_steps, timeline_tells_steps

    if timeline_tells_steps(capture):
        return []
    try:
        steps = read_steps(capture, lambda source: read_source(source, hashed=False))
    except (ReadError, OSError):
        return []
    return [step for step in steps if step.has_parts]


def _judged(
    device: DeviceBreakdown, rank: int | None, steps: Sequence[Step], path: str, *, is_trimmed: bool
) -> Iterator[Finding]:
    """Where the profiler says otherwise than its own tasks do, and what no step holds."""
    from aoe_reports.rules.rules import STEP_MISSING
    from aoe_reports.topics.rules import DEVICE_UNKNOWN

    if device.whole.communication_ns is None:
        message = say(
            "several devices: it is not known which of them the communication belongs to; only computing is reported"
        )
        yield DEVICE_UNKNOWN.found(path, message)
    if device.outside:
        message = say(
            "{count} tasks belong to no step: the head of the first step or the tail of the last is missing",
            count=device.outside,
        )
        yield STEP_MISSING.found(path, message, severity="info")
    if not is_trimmed:  # what the profiler sums up has all steps in it
        yield from _against_overlap(device, path)
    for step in steps:
        parts = device.steps.get(step.step) if step.step is not None else None
        if parts is not None and step.rank_id == rank and step.device_id in {None, device.device_id}:
            yield from _against_step(parts, step, path)


def _against_overlap(device: DeviceBreakdown, path: str) -> Iterator[Finding]:
    """Where Overlap Analysis of the timeline says otherwise than the tasks in it."""
    from aoe_reports.rules.forms.agreement import OVERLAP_THREADS

    for thread, name in OVERLAP_THREADS.items():
        stated = device.stated_ns.get(thread)
        if stated is not None:
            tolerance = _tolerance(device.stated_rows[thread] + device.whole.intervals)
            where = say("in Overlap Analysis")
            yield from _apart(thread, getattr(device.whole, name), stated, tolerance, where, path)


def _against_step(parts: Parts, step: Step, path: str) -> Iterator[Finding]:
    """Where the table of steps says otherwise than the tasks of the step."""
    from aoe_reports.rules.forms.agreement import OVERLAP_THREADS

    for thread, name in OVERLAP_THREADS.items():
        where = say("for step {step} in the step table", step=step.step)
        stated, tolerance = getattr(step, name), _tolerance(parts.intervals)
        yield from _apart(thread, getattr(parts, name), stated, tolerance, where, path)


def _tolerance(intervals: int) -> int:
    """What rounding explains: each printed interval to a nanosecond, and the printed sum."""
    from aoe_reports.rules.forms.agreement import COUNTED_TOLERANCE_NS, FORM_TOLERANCE_NS

    return COUNTED_TOLERANCE_NS + FORM_TOLERANCE_NS * intervals


def _apart(what: str, here: int | None, stated: int | None, tolerance: int, where: str, path: str) -> list[Finding]:
    from aoe_reports.rules.rules import FORMS_DISAGREE

    if here is None or stated is None or abs(here - stated) <= tolerance:
        return []
    message = say(
        (
            "{what}: {here:.3f} us from the tasks here, but {stated:.3f} us {where}: a difference of {apart:.3f} us; "
            "rounding explains {explained:.3f} us"
        ),
        what=what,
        here=here / 1000,
        stated=stated / 1000,
        where=where,
        apart=abs(here - stated) / 1000,
        explained=tolerance / 1000,
    )
    return [FORMS_DISAGREE.found(path, message)]
