"""The one place where a question is asked: it finds, reads unit by unit, goes on where one cannot be read, and answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from aoe_reports.engine.executors import Executor, executor_of
from aoe_reports.engine.question import Answer, Notes, Question, Request, RunOptions, answer_of
from aoe_reports.model.errors import ReadError
from aoe_reports.model.findings import has
from aoe_reports.model.options import check_options
from aoe_reports.model.texts import say

O = TypeVar("O", bound=RunOptions)  # noqa: E741 -- options
P = TypeVar("P")
Chosen = ParamSpec("Chosen")


def ask(question: Question[O, P], paths: Sequence[Path], chosen: O, *, executor: Executor | None = None) -> Answer:
    """The answer to a question about everything below some paths; what cannot be read is a finding."""
    check_options(chosen)
    notes, inputs = Notes(), tuple(map(str, paths))
    looking = Request(options=chosen, notes=notes, inputs=inputs)
    files = question.discover(paths, looking)
    context = question.prepare(files, looking)
    asked = Request(options=chosen, notes=notes, inputs=inputs, context=context)
    units = question.units(files, asked)
    found = _units_read(question, units, executor or executor_of(chosen.jobs), asked)
    parts: Any = list(found) if question.held else found
    finished = question.finish(parts, replace(asked, units=units))
    if question.nothing and not question.is_answered(finished) and not has(notes.findings, "error"):
        from aoe_reports.engine.captures import nothing_measured  # noqa: PLC0415 -- pyarrow

        notes.add([nothing_measured(paths, say(question.nothing), **question.asked_for(chosen))])
    return answer_of(question, finished, asked)


def _units_read(
    question: Question[O, P], units: Sequence[Any], executor: Executor, asked: Request[O]
) -> Iterator[tuple[Any, P]]:
    """Each unit with what it hands on, one after another, without those that cannot be read."""
    read = partial(_read, question, asked.context, asked.options)
    for unit, found in zip(units, executor.map(read, units), strict=True):
        if found is None:
            asked.notes.failed(unit.path, say("the process that read it was terminated"))
            continue
        part, noted = found
        asked.notes.take(noted)
        if part is not None:
            yield unit, part[0]


def _read(question: Question[O, P], context: Any, chosen: O, unit: Any) -> tuple[tuple[P] | None, Notes]:
    """(what one unit hands on, None where it cannot be read; what was found)."""
    notes = Notes()
    try:
        return (question.map_unit(unit, Request(options=chosen, notes=notes, context=context)),), notes
    except (ReadError, OSError) as error:
        notes.failed(unit.path, str(error))
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
