"""Cuts parts out of the timelines of captures, of several runs side by side, and puts them into one timeline that viewers open."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import TypeVar

from aoe_reports.engine.ask import Progress, no_progress
from aoe_reports.engine.captures import (
    in_short,
    nothing_measured,
    ranges_at_a_glance,
    read_file,
    read_steps_noting,
    timeline_tells_steps,
)
from aoe_reports.engine.fleet.executors import threads_of_unit
from aoe_reports.engine.question import Notes, exit_code_of
from aoe_reports.engine.rules import NOTHING_MEASURED
from aoe_reports.engine.runs import find_runs, label_of
from aoe_reports.facts.steps import STEP_RANGE, step_of_range
from aoe_reports.formats.capture import Capture
from aoe_reports.formats.csv.summary import TableData
from aoe_reports.formats.sources.discovery import discover
from aoe_reports.formats.sources.expand import expanded
from aoe_reports.formats.sources.found import FoundFile
from aoe_reports.formats.trace.cutting.beside import Processes, Renamed, as_line, mark_of, name_of
from aoe_reports.formats.trace.cutting.cut import Cut
from aoe_reports.formats.trace.cutting.survey import Range, Survey, survey
from aoe_reports.formats.trace.cutting.texts import TextReading
from aoe_reports.formats.vendor import vendor_of
from aoe_reports.model.errors import UsageError
from aoe_reports.model.findings import Finding, has, place_of
from aoe_reports.model.texts import Text, join, say
from aoe_reports.topics.files.trace import TraceOptions

_MARGIN_MS = 10
_NO_WHOLE_LIST = ("json-truncated", "json-syntax")
"""Findings that a timeline is no whole list: an unknown number of events is missing."""
_LISTED = 10
_MS_NS = 1_000_000
Placed = tuple[Finding, int | None]
"""(a finding, the time that it is about, where that is known)."""
T = TypeVar("T")
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
    for file in files:
        part, found = _read(file, lambda path: survey(path, STEP_RANGE, threads_of_unit()))
        placed += found
        if part is not None:
            whole.merge(part)
    return whole, placed


def steps_of(files: Sequence[FoundFile], number: int) -> dict[int, tuple[int, int]]:
    """(start, end) of each step by the ranges that the framework's profiler recorded around them.

    A look at all events is taken only where a glance does not show the step.
    """
    steps = _steps_in([one for file in files for one in ranges_at_a_glance(file, STEP_RANGE)])
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
            placed += _read(file, lambda path: (None, cut.read(path, threads_of_unit())))[1]
        cut.pair_flows()
    except BaseException:
        cut.close()
        raise
    return cut, placed


def _read(file: FoundFile, read: Callable[[Path], tuple[T | None, TextReading]]) -> tuple[T | None, list[Placed]]:
    """(what was made of a timeline, None where nothing of it is used; what is wrong with it)."""
    made: T | None = None
    with expanded(file) as (path, wrong):
        if wrong is not None:
            found: list[Placed] = [(wrong, None)]
        else:
            made, told = read(path)
            found = told.findings
    return made, [(replace(finding, path=str(file.path)), time_ns) for finding, time_ns in found]


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


@dataclass(frozen=True, slots=True)
class Trace:
    """What was cut out, and what was found on the way; nothing is held in memory."""

    cuttings: Sequence[Cutting]
    notes: Notes

    def lines(self) -> Iterator[bytes]:
        """Its events, a line each, many lines at a time."""
        return events_of(self.cuttings)

    def exit_code(self, *, strict: bool = False) -> int:
        """As that of an answer."""
        return exit_code_of(self.notes.findings, unreadable=self.notes.unreadable, strict=strict)


@dataclass(frozen=True, slots=True)
class _Span:
    """What is cut from one capture."""

    capture: Capture
    start_ns: int
    end_ns: int
    placed: tuple[Placed, ...] = ()


@contextmanager
def traced(paths: Sequence[Path], chosen: TraceOptions, progress: Progress = no_progress) -> Iterator[Trace]:
    """What is cut from everything below some paths; each run after the first is moved to begin when the first one does."""
    _check(paths, chosen)
    progress(lambda: say("looking for files"))
    notes = Notes()
    every = _runs_below(paths, chosen, notes)
    runs = [those for run in every if (those := _usable(run, chosen.rank))]
    if not runs:
        what = say("no JSON timeline here to cut from (trace_view, msprof*, or another list of events)")
        notes.add([nothing_measured(paths, what, [one for run in every for one in run], rank=chosen.rank)])
    cuttings: list[Cutting] = []
    with ExitStack() as stack:
        begin: int | None = None
        for run, label in zip(runs, _labels(runs), strict=True):
            progress(partial(_reading, run))
            notes.add(finding for capture in run for finding in capture.findings)
            spans = _spans_of(run, chosen, notes)
            start = min((span.start_ns for span in spans), default=0)
            cut = _cut_run(spans, label, 0 if begin is None else begin - start, notes, stack)
            begin = start if cut and begin is None else begin
            cuttings += cut
        yield Trace(cuttings, notes)


def _reading(run: Sequence[Capture]) -> Text:
    return say("reading {path}", path=label_of(run))


def _runs_below(paths: Sequence[Path], chosen: TraceOptions, notes: Notes) -> list[tuple[Capture, ...]]:
    """The runs below some paths, in the order in which those are given."""
    runs: list[tuple[Capture, ...]] = []
    for path in paths:
        files = discover([path], max_expanded=chosen.max_expanded)
        notes.take(Notes(list(files.findings), files.unreadable))
        runs += find_runs(files)
    return runs


def _usable(run: Sequence[Capture], rank: int | None) -> list[Capture]:
    """The captures of a run that something can be cut from."""
    return [capture for capture in run if capture.info.may_hold(rank) and timelines_of(capture)]


def _cut_run(spans: Sequence[_Span], label: str, shift_ns: int, notes: Notes, stack: ExitStack) -> list[Cutting]:
    """What is cut from the captures of one run; it is held until the stack closes."""
    cuttings: list[Cutting] = []
    for span in spans:
        with notes.where_unreadable(span.capture.root):
            cut, placed = cut_of(timelines_of(span.capture), span.start_ns, span.end_ns)
            stack.callback(cut.close)
            wrong = [finding for finding, _ in placed]
            notes.add(wrong)
            if any(finding.rule in _NO_WHOLE_LIST for finding in wrong):
                notes.add([_damaged(span)])  # a part of it would pass for all that happened in that time
                continue
            if not cut.is_empty:
                name = _label(span.capture, label, alone=len(spans) == 1)
                cuttings.append(Cutting(cut, name, shift_ns, [*span.placed, *placed]))
            elif not has(wrong, "error"):
                notes.add([_nothing_in(span)])
    return cuttings


def _check(paths: Sequence[Path], chosen: TraceOptions) -> None:
    """Raises UsageError for options that say nothing, or too much."""
    for place, path in enumerate(paths):
        if path in paths[:place]:
            raise UsageError(say("{path}: given twice; once is enough", path=path))
    ends = (chosen.start is not None) + (chosen.end is not None)
    asked = (chosen.around is not None) + (chosen.step is not None) + (ends > 0)
    if asked > 1 or ends == 1 or (asked == 0 and chosen.rank is None):
        raise UsageError(say("trace: expected one of --around, --step, --from with --to, or --rank alone"))
    for name, text in (("--from", chosen.start), ("--to", chosen.end)):
        if text is not None and not _is_time(text):
            raise UsageError(
                say(
                    "trace {option} {text}: expected ns, such as 1736405443862052130 or +5000000",
                    option=name,
                    text=text,
                )
            )


def _is_time(text: str) -> bool:
    digits = text.removeprefix("+")
    return digits.isascii() and digits.isdigit() and len(digits) < 20  # noqa: PLR2004 -- 64 bits


def _spans_of(run: Sequence[Capture], chosen: TraceOptions, notes: Notes) -> list[_Span]:
    """What is to be cut from each capture of a run."""
    if chosen.around is not None:
        spans = _around(run, chosen.around, notes)
    elif chosen.step is not None:
        spans = _of_step(run, chosen.step, notes)
    else:
        spans = _between(run, chosen, notes)
    before = _MARGIN_MS if chosen.around is not None else 0
    margin = (before if chosen.margin_ms is None else chosen.margin_ms) * _MS_NS
    return [_Span(one.capture, one.start_ns - margin, one.end_ns + margin, one.placed) for one in spans]


def _between(run: Sequence[Capture], chosen: TraceOptions, notes: Notes) -> list[_Span]:
    """The time between two times, all of it where none are given; the first event is that of all ranks of the run."""
    if chosen.start is not None and chosen.end is not None:
        later = chosen.start.startswith("+") or chosen.end.startswith("+")
        first = _lasts(run, notes)[0] if later else 0
        start, end = (int(text) + first * text.startswith("+") for text in (chosen.start, chosen.end))
        if end <= start:
            raise UsageError(say("trace: --to {end} is not after --from {start}", start=start, end=end))
    else:
        start, end = _lasts(run, notes)
    return [_Span(capture, start, end) for capture in run]


def _lasts(run: Sequence[Capture], notes: Notes) -> tuple[int, int]:
    """(when the first event of a run begins, a nanosecond after the last one ends)."""
    surveys = [survey for capture in run for survey, _ in _surveyed(capture, notes)]
    starts = [one.start_ns for one in surveys if one.start_ns is not None]
    ends = [one.end_ns for one in surveys if one.end_ns is not None]
    return min(starts, default=0), max(ends, default=0) + 1


def _surveyed(capture: Capture, notes: Notes) -> list[tuple[Survey, list[Placed]]]:
    """What a look at the timelines of a capture tells; nothing where they cannot be read."""
    found: list[tuple[Survey, list[Placed]]] = []
    with notes.where_unreadable(capture.root):
        found.append(survey_of(timelines_of(capture)))
    return found


def _of_step(run: Sequence[Capture], number: int, notes: Notes) -> list[_Span]:
    """The time of a step of each capture that has it."""
    times = [(capture, _times_of_steps(capture, number, notes)) for capture in run]
    spans = [_Span(capture, *known[number]) for capture, known in times if number in known]
    if not spans:
        known = sorted({step for _, steps in times for step in steps})
        there = say("steps here: {steps}", steps=in_short(known)) if known else say("no step here has a beginning")
        message = say("step {step} cannot be cut out: {there}", step=number, there=there)
        notes.add([NOTHING_MEASURED.found(str(run[0].root), message)])
    return spans


def _times_of_steps(capture: Capture, number: int, notes: Notes) -> dict[int, tuple[int, int]]:
    """(start, end) of the steps of a capture: of all devices by their table, else as the timeline has ranges around them."""
    times: dict[int, tuple[int, int]] = {}
    models = set()
    with notes.where_unreadable(capture.root):
        for one in () if timeline_tells_steps(capture) else read_steps_noting(capture, notes.findings):
            if one.step is None or one.start_ns is None:
                continue
            start, end = times.get(one.step, (one.start_ns, one.start_ns))
            times[one.step] = (min(start, one.start_ns), max(end, one.start_ns + one.duration_ns))
            if one.step == number:
                models.add(one.model_id)
    if len(models) > 1:
        numbers = join(", ", sorted(map(str, models)))
        message = say(
            "trace: step {step} is one of models {models}; choose with --from and --to", step=number, models=numbers
        )
        raise UsageError(message)
    if not times:
        with notes.where_unreadable(capture.root):
            times = steps_of(timelines_of(capture), number)
    return times


def _around(run: Sequence[Capture], handle: str, notes: Notes) -> list[_Span]:
    """The moment of the one finding that a handle names. Raises UsageError where it names none, or several."""
    spans: dict[tuple[Path, int], _Span] = {}
    untimed: list[Finding] = []
    every: list[Finding] = []
    for capture in run:
        placed = [*_in_tables(capture, notes), *(one for _, found in _surveyed(capture, notes) for one in found)]
        every += [finding for finding, time_ns in placed if time_ns is not None]
        for finding, time_ns in placed:
            if not _is_named(finding, handle):
                continue
            if time_ns is None:
                untimed.append(finding)
            else:
                spans[capture.root, time_ns] = _Span(capture, time_ns, time_ns, tuple(placed))
    if len(spans) == 1:
        return list(spans.values())
    if spans:
        named = [finding for finding in every if _is_named(finding, handle)]
        raise UsageError(
            say(
                "trace --around {handle}: {count} findings; name one: {some}",
                handle=handle,
                count=len(spans),
                some=_some(named),
            )
        )
    there = say("findings here that have one: {some}", some=_some(every)) if every else say("no finding here has one")
    if untimed:
        raise UsageError(say("trace --around {handle}: this finding has no time; {there}", handle=handle, there=there))
    raise UsageError(say("trace --around {handle}: no such finding with a time; {there}", handle=handle, there=there))


def _in_tables(capture: Capture, notes: Notes) -> Iterator[Placed]:
    """What is wrong with the tables of a capture, each with the time of the row that it is about."""
    for file in capture.files:
        for kind in file.holds:
            with notes.where_unreadable(file.path):
                data = read_file(file, kind, hashed=False)
                yield from ((finding, _time_of(finding, data)) for finding in data.findings)


def _time_of(finding: Finding, data: TableData) -> int | None:
    """When the row that a finding is about began, or the one above it where that is left out."""
    columns = [column.field for column in data.table.columns if column.type == "timestamp"]
    times = next((data.frame[name] for name in columns if name in data.frame.column_names), None)
    if times is None or finding.line is None or not data.is_text or not len(times):
        return None
    row = bisect_right(range(len(times)), finding.line, key=lambda row: data.line(row) or 0) - 1
    time_ns: int | None = times[max(row, 0)].as_py()
    return time_ns


def _handle(finding: Finding) -> str:
    """What names a finding and no other one."""
    if finding.line is not None:
        return f"{finding.path}:{finding.line}"
    return finding.path if finding.pointer is None else f"{finding.path}#{finding.pointer}"


def _is_named(finding: Finding, handle: str) -> bool:
    """Whether a handle is that of a finding, its rule, or what is printed of it."""
    whole = _handle(finding)
    places = {whole, f"{whole}:{finding.column}"}
    names = {finding.rule, str(finding.as_text()), *places}
    return handle in names or any(place.endswith(f"/{handle}") for place in places)


def _some(findings: Sequence[Finding]) -> str:
    """The first of some findings by their handles and rules."""
    shown = list(dict.fromkeys(f"{_handle(finding)} ({finding.rule})" for finding in findings))
    more = ["…"] if len(shown) > _LISTED else []
    return join(", ", [*shown[:_LISTED], *more])


def _nothing_in(span: _Span) -> Finding:
    message = say("no event of the timeline is between {start} and {end} ns", start=span.start_ns, end=span.end_ns)
    return NOTHING_MEASURED.found(str(span.capture.root), message)


def _labels(runs: Sequence[Sequence[Capture]]) -> list[str]:
    """What tells the cuttings of each run from those of others: where it lies, without what all have in common."""
    parts = [Path(label_of(run)).parts for run in runs]
    if len(parts) == 1:
        return [""]
    common = len(list(takewhile(lambda level: len(set(level)) == 1, zip(*parts, strict=False))))
    return ["/".join(own[common:] or own[-1:]) for own in parts]


def _label(capture: Capture, label: str, *, alone: bool) -> str:
    """What tells the cuttings of a capture from those of others: its run, its rank."""
    rank = capture.info.rank_id
    name = capture.root.name if rank is None else f"rank {rank}"
    return label if label and alone else f"{label} {name}".strip()


def _damaged(span: _Span) -> Finding:
    return NOTHING_MEASURED.found(
        str(span.capture.root), say("no part is written: a list of events that is damaged may lack some of it")
    )
