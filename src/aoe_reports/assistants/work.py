"""One call, answered in a process of its own: it may be ended at any time, and what it meets ends nobody else."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from aoe_reports.assistants.documents import Document
from aoe_reports.assistants.places import Places
from aoe_reports.assistants.refusal import RefusedError
from aoe_reports.assistants.words import neutral
from aoe_reports.engine.question import Question
from aoe_reports.model.errors import AoeReportsError

_LOOK_S = 1.0


@dataclass(frozen=True, slots=True)
class Call:
    """What an assistant asks, and where it may look."""

    tool: str
    arguments: Mapping[str, Any]
    places: Places
    store: str | None
    questions: Mapping[str, Question[Any, Any]]
    server: int
    """The process that serves: without it nobody waits for the answer."""


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a call is not answered."""

    words: str


def answered(call: Call) -> Document | Refused:
    """The answer to a call, or why there is none; raises nothing."""
    _end_with(call.server)
    try:
        return _answer(call)
    except RefusedError as error:
        return Refused(str(error))
    except AoeReportsError as error:
        return Refused(neutral(str(error)))
    except MemoryError:
        return Refused("there is not enough memory for this: ask about one rank, or a folder below")
    except OSError as error:
        return Refused(neutral(f"this cannot be read: {error.strerror or type(error).__name__}"))
    except BaseException as error:  # noqa: BLE001 -- a panic of a library is no Exception, and ends no server
        return Refused(f"an internal error ({type(error).__name__}): please report it, with what was asked")


def _answer(call: Call) -> Document:
    return _ANSWERS[call.tool](call, call.arguments)


def _files(call: Call, given: Mapping[str, Any]) -> Document:
    from aoe_reports.assistants.files import files_below, roots_of  # noqa: PLC0415 -- pyarrow

    return files_below(call.places.checked(given["path"])) if "path" in given else roots_of(call.places, call.store)


def _ask(call: Call, given: Mapping[str, Any]) -> Document:
    from aoe_reports.assistants.questions import asked  # noqa: PLC0415

    question = call.questions[given["question"]]
    return asked(question, given["paths"], given.get("options", {}), given.get("table"), call.places)


def _describe(call: Call, given: Mapping[str, Any]) -> Document:
    from aoe_reports.assistants.questions import described  # noqa: PLC0415

    return described(call.questions, given.get("name"))


def _source(call: Call, given: Mapping[str, Any]) -> Document:
    from aoe_reports.assistants.sources import AROUND, lines_around  # noqa: PLC0415

    return lines_around(given["path"], given["line"], given.get("around", AROUND), call.places)


def _tables(call: Call, given: Mapping[str, Any]) -> Document:
    from aoe_reports.assistants.queries import listed_tables  # noqa: PLC0415

    return listed_tables(given.get("name"), has_store=call.store is not None)


def _sql(call: Call, given: Mapping[str, Any]) -> Document:
    from aoe_reports.assistants.queries import queried  # noqa: PLC0415 -- pyarrow

    return queried(call.places.checked(given["path"]) if "path" in given else None, call.store, given["query"])


def _history(call: Call, given: Mapping[str, Any]) -> Document:
    from aoe_reports.assistants.stored import listed  # noqa: PLC0415 -- polars

    return listed(_store_of(call), given.get("list", "incidents"), given.get("workload"))


def _incident(call: Call, given: Mapping[str, Any]) -> Document:
    from aoe_reports.assistants.stored import explained  # noqa: PLC0415 -- polars

    return explained(_store_of(call), given["id"], call.places)


def _store_of(call: Call) -> str:
    assert call.store is not None
    return call.store


_ANSWERS: Mapping[str, Callable[[Call, Mapping[str, Any]], Document]] = {
    "files": _files,
    "ask": _ask,
    "describe": _describe,
    "source": _source,
    "tables": _tables,
    "sql": _sql,
    "history": _history,
    "incident": _incident,
}
"""Modules are imported when a tool of theirs is used: the server starts at once."""


@cache
def _end_with(server: int) -> None:
    """End this process once the server is gone, however it went."""

    def look() -> None:
        while os.getppid() == server:
            time.sleep(_LOOK_S)
        os._exit(1)

    threading.Thread(target=look, daemon=True).start()
