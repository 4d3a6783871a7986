"""Cuts parts out of the timelines of captures, and puts them into one timeline that viewers open."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from aoe_reports.engine.fleet.executors import threads_of_unit
from aoe_reports.facts.steps import STEP_RANGE, step_of_range
from aoe_reports.formats.capture import Capture
from aoe_reports.formats.sources.expand import expanded
from aoe_reports.formats.sources.found import FoundFile
from aoe_reports.formats.trace.cutting.beside import Processes, Renamed, as_line, mark_of, name_of
from aoe_reports.formats.trace.cutting.cut import Cut
from aoe_reports.formats.trace.cutting.survey import Range, Survey, ranges_at_a_glance, survey
from aoe_reports.formats.trace.cutting.texts import Placed
from aoe_reports.formats.vendor import vendor_of
from aoe_reports.model.findings import Finding, place_of

__all__ = ["Cutting", "Placed", "Survey", "cut_of", "events_of", "steps_of", "survey_of", "timelines_of"]

MARKS = "Findings"
"""What the process of marks is called, and its thread."""


def timelines_of(capture: Capture) -> list[FoundFile]:
    """The JSON timelines of a capture that show whole devices, else those of one kind that are there."""
    whole = [file for files in vendor_of(capture.profiler).events(capture) for file in files if file.name.timeline]
    kinds = [file.name.kind for file in capture.timelines]
    return whole or [file for file in capture.timelines if file.name.kind == kinds[0]]


def survey_of(files: Sequence[FoundFile]) -> tuple[Survey, list[Placed]]:
    """(from when to when some timelines last, where their steps are; what is wrong with them)."""
    whole, placed = Survey(STEP_RANGE), list[Placed]()

    def read(path: Path) -> list[Placed]:
        part, wrong = survey(path, STEP_RANGE, threads_of_unit())
        if part is not None:
            whole.merge(part)
        return wrong

    for file in files:
        placed += _read(file, read)
    return whole, placed


def steps_of(files: Sequence[FoundFile], number: int) -> dict[int, tuple[int, int]]:
    """(start, end) of each step by the ranges that the framework's profiler recorded around them.

    A look at all events is taken only where a glance does not show the step.
    """
    ranges: list[Range] = []
    for file in files:
        with expanded(file) as (path, wrong):
            ranges += ranges_at_a_glance(path, STEP_RANGE) if wrong is None else []
    steps = _steps_in(ranges)
    return steps if number in steps else _steps_in(survey_of(files)[0].ranges)


def _steps_in(ranges: Sequence[Range]) -> dict[int, tuple[int, int]]:
    steps: dict[int, tuple[int, int]] = {}
    for name, start, end in ranges:
        if (step := step_of_range(name)) is not None:
            steps.setdefault(step, (start, end))
    return steps


def cut_of(files: Sequence[FoundFile], start_ns: int, end_ns: int) -> tuple[Cut, list[Placed]]:
    """(what reaches into some time of the timelines of one capture; what is wrong with them)."""
    cut, placed = Cut(start_ns, end_ns), list[Placed]()
    try:
        for file in files:
            placed += _read(file, lambda path: cut.read(path, threads_of_unit()))
        cut.pair_flows()
    except BaseException:
        cut.close()
        raise
    return cut, placed


def _read(file: FoundFile, read: Callable[[Path], list[Placed]]) -> list[Placed]:
    """Have a timeline read; what is wrong with it."""
    with expanded(file) as (path, wrong):
        found = read(path) if wrong is None else [(wrong, None)]
    return [(replace(finding, path=str(file.path)), time_ns) for finding, time_ns in found]


@dataclass(slots=True)
class Cutting:
    """What was cut from one capture: whose it is, how far it is moved, and what was found in that time."""

    cut: Cut
    label: str
    shift_ns: int = 0
    placed: list[Placed] = field(default_factory=list)
    """What was found in its capture."""

    @property
    def marks(self) -> list[tuple[Finding, int]]:
        """What was found in the time that was cut out, each once."""
        marks = {(one, at) for one, at in self.placed if at is not None and self.cut.start_ns <= at < self.cut.end_ns}
        return sorted(marks, key=lambda mark: (mark[1], place_of(mark[0])))


def events_of(cuttings: Sequence[Cutting]) -> Iterator[bytes]:
    """The events of all of them, a line each, many lines at a time; several keep to processes whose names tell whose they are.

    The first one keeps the numbers of its processes.
    """
    processes = Processes()
    for place, cutting in enumerate(cuttings):
        cut = cutting.cut
        if place == 0:
            processes.take(cut.processes)
        if len(cuttings) == 1:
            yield from cut.metadata()
            yield from cut.events()
        else:
            renamed = Renamed(cutting.label, place, cutting.shift_ns, processes if place else None)
            yield from renamed.metadata(cut.metadata(), cut.processes)
            yield from renamed.events(cut.events())
    yield from _marks(cuttings, processes.free())


def _marks(cuttings: Sequence[Cutting], pid: int) -> Iterator[bytes]:
    """The findings of the times that were cut out, as moments on a thread for each cutting."""
    marked = [(tid, cutting) for tid, cutting in enumerate(cuttings, start=1) if cutting.marks]
    if marked:
        yield as_line(name_of("process_name", pid, 0, MARKS))
    for tid, cutting in marked:
        yield as_line(name_of("thread_name", pid, tid, cutting.label if len(cuttings) > 1 else MARKS))
        for finding, time_ns in cutting.marks:
            yield as_line(mark_of(finding.rule, pid, tid, time_ns + cutting.shift_ns, finding.as_dict()))
