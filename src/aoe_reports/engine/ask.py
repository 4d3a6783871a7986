"""The one place where a question is asked: it finds, reads unit by unit, goes on where one cannot be read, and answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, replace
from functools import partial
from inspect import Parameter, Signature, get_annotations
from os import PathLike
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from aoe_reports.engine.fleet.executors import Executor, executor_of, is_read_elsewhere
from aoe_reports.engine.fleet.partials import CachedReader, Keys, Partials, UnitResult
from aoe_reports.engine.question import (
    Answer,
    CaptureOptions,
    Notes,
    Question,
    Reader,
    Reading,
    Request,
    RunOptions,
    Unit,
    answer_of,
)
from aoe_reports.formats.rules import UNREADABLE
from aoe_reports.formats.sources.discovery import refuse_missing
from aoe_reports.formats.sources.objects import asked_path, fetching
from aoe_reports.model.classes import declared_fields
from aoe_reports.model.errors import AoeReportsError, ReadError
from aoe_reports.model.findings import has
from aoe_reports.model.names import near_names
from aoe_reports.model.options import check_options
from aoe_reports.model.texts import Text, say

O = TypeVar("O", bound=RunOptions)  # noqa: E741 -- options
P = TypeVar("P")
Chosen = ParamSpec("Chosen")
Progress = Callable[[Callable[[], Text]], None]
"""Is handed what says what is done next, and asks it where somebody looks on: each line takes the place of the one before."""


def no_progress(_: Callable[[], Text]) -> None:
    """Nobody looks on."""


def ask(
    question: Question[O, P],
    paths: Sequence[Path],
    chosen: O,
    *,
    executor: Executor | None = None,
    progress: Progress = no_progress,
) -> Answer:
    """The answer to a question about everything below some paths; what cannot be read is a finding."""
    reading = read_units(question, paths, chosen, executor=executor, progress=progress)
    return answer_to(question, reading)


def answer_to(question: Question[O, P], reading: Reading[P]) -> Answer:
    """The answer that a question makes of what was read."""
    asked = reading.asked
    parts: Any = list(reading.parts) if question.held else reading.parts
    finished = question.finish(parts, asked)
    if question.every_rank and len(asked.units) > 1:
        from aoe_reports.engine.absent import absent_from_answer  # noqa: PLC0415 -- pyarrow

        asked.notes.add(absent_from_answer(question, finished, asked))
    if question.nothing and not question.is_answered(finished) and not has(asked.notes.findings, "error"):
        from aoe_reports.engine.captures import nothing_measured  # noqa: PLC0415 -- pyarrow

        captures = [unit.capture for unit in asked.units if isinstance(unit, Unit)]
        asked_for = question.asked_for(asked.options)
        asked.notes.add([nothing_measured(asked.inputs, say(question.nothing), captures, **asked_for)])
    return answer_of(question, finished, asked)


def read_units(
    reader: Reader[O, P],
    paths: Sequence[Path],
    chosen: O,
    *,
    executor: Executor | None = None,
    progress: Progress = no_progress,
) -> Reading[P]:
    """Everything below some paths, read unit by unit as the parts are taken."""
    asked = request_of(reader, paths, chosen, progress=progress)
    return Reading(asked, _parts(reading_of(reader, asked), asked, executor or executor_of(chosen), progress))


def request_of(
    reader: Reader[O, P], paths: Sequence[Path], chosen: O, *, progress: Progress = no_progress
) -> Request[O]:
    """What is to be read below some paths, before any of it is."""
    check_options(chosen)
    progress(lambda: say("looking for files"))
    whole = [asked_path(path) for path in paths]
    if is_read_elsewhere(chosen):
        whole = [path.absolute() for path in whole]  # who reads has a folder of its own
    asked = Request(options=chosen, notes=Notes(), inputs=tuple(map(str, whole)))
    with fetching(holds=True) as failures:
        files = reader.discover(whole, asked)
        asked = replace(asked, context=reader.prepare(files, asked))
        asked = replace(asked, units=reader.units(files, asked))
    _note_unread(failures, asked.notes)
    return asked


def reading_of(reader: Reader[O, P], asked: Request[O]) -> Callable[[Any], UnitResult]:
    """What reads one unit, in any process; with a folder that keeps what was read, only once."""
    read = partial(_read, reader, asked.context, asked.options)
    if isinstance(asked.options, CaptureOptions) and asked.options.cache is not None and isinstance(reader, Question):
        return CachedReader(read=read, partials=Partials(asked.options.cache), keys=Keys(reader.name, asked))
    return read


def _parts(
    read: Callable[[Any], UnitResult], asked: Request[Any], executor: Executor, progress: Progress
) -> Iterator[tuple[Any, Any]]:
    """Each unit with what it hands on, one after another; of one that is done with nothing is held."""
    results = with_progress(executor.map(read, asked.units), asked.units, progress)
    for unit in asked.units:
        found = next(results)
        if found is None:
            asked.notes.failed(unit.path, lost())
            continue
        part, noted = found
        asked.notes.take(noted)
        if part is not None:
            yield unit, part[0]
        del found, part


def with_progress(results: Iterator[P], units: Sequence[Any], progress: Progress) -> Iterator[P]:
    """What comes of units, each after it is said that it is being read."""
    for number, unit in enumerate(units, start=1):
        progress(partial(_reading, number, len(units), unit))
        yield next(results)


def lost() -> AoeReportsError:
    """What is said of a unit whose process was killed."""
    return AoeReportsError(say("the process that read it was terminated"))


def _reading(number: int, count: int, unit: Any) -> Text:
    return say("reading {number:,} of {count:,}: {path}", number=number, count=count, path=unit.path)


def _read(reader: Reader[O, P], context: Any, chosen: O, unit: Any) -> UnitResult:
    """(what one unit hands on, None where it cannot be read; what was found)."""
    notes, part = Notes(), None
    with fetching() as failures:
        try:
            part = (reader.map_unit(unit, Request(options=chosen, notes=notes, context=context)),)
        except (ReadError, OSError) as error:
            notes.failed(unit.path, error)
    _note_unread(failures, notes)
    return part, notes


def _note_unread(failures: Mapping[str, OSError], notes: Notes) -> None:
    """Keep which objects could not be fetched, also where a reader can do without them."""
    told = {finding.path for finding in notes.findings if finding.rule == UNREADABLE.name}
    for path, error in failures.items():
        if path not in told:
            notes.failed(path, error)


Paths = str | PathLike[str] | Sequence[str | PathLike[str]]
"""One path or URI, or several."""


def asking(question: Question[Any, Any], options: Callable[Chosen, O]) -> Callable[Concatenate[Paths, Chosen], Answer]:
    """A question as a function of a path, or of several, and of its options by keyword."""

    def function(paths: Paths, /, *args: Chosen.args, **kwargs: Chosen.kwargs) -> Answer:
        if args:
            raise TypeError(f"{question.name} takes its paths as one list, and options by keyword")
        _check_names(question, kwargs)
        several = [asked_path(path) for path in ([paths] if isinstance(paths, str | PathLike) else paths)]
        _check_count(question, len(several))
        chosen = options(*args, **kwargs)
        refuse_missing([*several, *_paths_in(chosen)])
        return ask(question, several, chosen)

    function.__name__ = question.name
    function.__doc__ = question.__doc__
    function.__signature__ = _signature_of(question.options)  # type: ignore[attr-defined]
    return function


def _paths_in(chosen: RunOptions) -> list[Path]:
    """The options that are paths: further inputs, such as a bank."""
    values = (getattr(chosen, name) for name in declared_fields(type(chosen)))
    return [value for value in values if isinstance(value, Path)]


def _check_names(question: Question[Any, Any], given: Iterable[str]) -> None:
    """Refuse options that the question does not have, as Python does of any function."""
    known = declared_fields(question.options)
    for name in given:
        if name not in known:
            near = near_names(name, known)
            meant = f"; did you mean {near[0]!r}?" if near else f"; its options: {', '.join(known)}"
            function = question.name.replace(" ", "_").replace("-", "_")
            raise TypeError(f"{function}() has no option {name!r}{meant}")


def _check_count(question: Question[Any, Any], count: int) -> None:
    """Refuse fewer or more paths than the question is asked of."""
    least = sum(argument.needed for argument in question.arguments)
    open_end = any(argument.many for argument in question.arguments)
    if count < least or (count > least and not open_end):
        names = ", ".join(argument.name for argument in question.arguments)
        raise TypeError(f"{question.name} takes a list of paths ({names}); found {count}")


def _signature_of(options: type[Any]) -> Signature:
    """What editors and notebooks show of a question: its options, types as they are written."""
    types = {name: what for one in reversed(options.__mro__) for name, what in get_annotations(one).items()}
    parameters = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=_default_of(one.default), annotation=types[name])
        for name, one in declared_fields(options).items()
    ]
    paths = Parameter("paths", Parameter.POSITIONAL_ONLY, annotation="Paths")
    return Signature([paths, *parameters], return_annotation="Answer")


def _default_of(default: Any) -> Any:
    return Parameter.empty if default is MISSING else default
