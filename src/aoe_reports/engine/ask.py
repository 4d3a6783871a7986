"""The one place where a question is asked: it finds, reads unit by unit, goes on where one cannot be read, and answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from aoe_reports.engine.executors import Executor, executor_of
from aoe_reports.engine.question import Answer, Notes, Question, Reader, Reading, Request, RunOptions, Unit, answer_of
from aoe_reports.model.errors import AoeReportsError, ReadError
from aoe_reports.model.findings import has
from aoe_reports.model.options import check_options
from aoe_reports.model.texts import Text, say

O = TypeVar("O", bound=RunOptions)  # noqa: E741 -- options
P = TypeVar("P")
Chosen = ParamSpec("Chosen")
Progress = Callable[[Callable[[], Text]], None]
"""Is handed what says what is done next, and asks it where somebody looks on: each line takes the place of the one before."""


def unseen(_: Callable[[], Text]) -> None:
    """Nobody looks on."""


def ask(
    question: Question[O, P],
    paths: Sequence[Path],
    chosen: O,
    *,
    executor: Executor | None = None,
    progress: Progress = unseen,
) -> Answer:
    """The answer to a question about everything below some paths; what cannot be read is a finding."""
    reading = read_units(question, paths, chosen, executor=executor, progress=progress)
    asked = reading.asked
    parts: Any = list(reading.parts) if question.held else reading.parts
    finished = question.finish(parts, asked)
    if question.nothing and not question.is_answered(finished) and not has(asked.notes.findings, "error"):
        from aoe_reports.engine.captures import nothing_measured  # noqa: PLC0415 -- pyarrow

        captures = [unit.capture for unit in asked.units if isinstance(unit, Unit)]
        asked.notes.add([nothing_measured(paths, say(question.nothing), captures, **question.asked_for(chosen))])
    return answer_of(question, finished, asked)


def read_units(
    reader: Reader[O, P],
    paths: Sequence[Path],
    chosen: O,
    *,
    executor: Executor | None = None,
    progress: Progress = unseen,
) -> Reading[P]:
    """Everything below some paths, read unit by unit as the parts are taken."""
    check_options(chosen)
    progress(lambda: say("looking for files"))
    asked = Request(options=chosen, notes=Notes(), inputs=tuple(map(str, paths)))
    files = reader.discover(paths, asked)
    asked = replace(asked, context=reader.prepare(files, asked))
    asked = replace(asked, units=reader.units(files, asked))
    return Reading(asked, _parts(reader, executor or executor_of(chosen.jobs), asked, progress))


def _parts(reader: Reader[O, P], executor: Executor, asked: Request[O], progress: Progress) -> Iterator[tuple[Any, P]]:
    """Each unit with what it hands on, one after another; of one that is done with nothing is held."""
    results, count = executor.map(partial(_read, reader, asked.context, asked.options), asked.units), len(asked.units)
    for number, unit in enumerate(asked.units, start=1):
        progress(partial(_reading, number, count, unit))
        found = next(results)
        if found is None:
            asked.notes.failed(unit.path, AoeReportsError(say("the process that read it was terminated")))
            continue
        part, noted = found
        asked.notes.take(noted)
        if part is not None:
            yield unit, part[0]
        del found, part


def _reading(number: int, count: int, unit: Any) -> Text:
    return say("reading {number:,} of {count:,}: {path}", number=number, count=count, path=unit.path)


def _read(reader: Reader[O, P], context: Any, chosen: O, unit: Any) -> tuple[tuple[P] | None, Notes]:
    """(what one unit hands on, None where it cannot be read; what was found)."""
    notes = Notes()
    try:
        return (reader.map_unit(unit, Request(options=chosen, notes=notes, context=context)),), notes
    except (ReadError, OSError) as error:
        notes.failed(unit.path, error)
        return None, notes


def asking(
    question: Question[Any, Any], options: Callable[Chosen, O]
) -> Callable[Concatenate[Sequence[Path], Chosen], Answer]:
    """A question as a function of paths and of its options by keyword."""

    def function(paths: Sequence[Path], /, *args: Chosen.args, **kwargs: Chosen.kwargs) -> Answer:
        return ask(question, paths, options(*args, **kwargs))

    function.__name__ = question.name
    function.__doc__ = question.__doc__
    return function
